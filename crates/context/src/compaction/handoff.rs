//! A compaction by another model: what it is asked, and how its reply is read (02 §6.3).
//!
//! It is asked between two turns, with the conversation as a list of headed `user` messages: no
//! call and no result of the agent's stands in it, so there is nothing to pair and nothing the
//! summarizer could take for its own.

use provider::request::ToolChoice;
use vocab::band::Band;
use vocab::message::{Message, Role, ToolCall};
use vocab::tools::{Definition, ToolName, Variants, definition};

use super::{Answer, CompactionStrategy, read_compact};
use crate::prompts::{self, PromptError};
use crate::reframe::{SUMMARY, heading};
use crate::window::{BlockKind, Item, Window};

/// What a summarizer is asked.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Its system prompt, the conversation, what is wanted.
    pub messages: Vec<Message>,
    /// The tools offered: `compact` alone, or none at all (R55).
    pub tools: Vec<Definition>,
    /// The one call it is held to; not sent where no tool is offered. Where the provider refuses
    /// it, `auto` is (R28).
    pub choice: ToolChoice,
}

/// What another model is asked about a window. System prompt, skills and memories are left out;
/// `sees` says whether it takes pictures, which are else left out of their messages.
///
/// # Errors
///
/// A template that does not render.
pub fn ask(window: &Window, strategy: CompactionStrategy, sees: bool) -> Result<Ask, PromptError> {
    let said = |text: String| Message::User {
        text: text.into(),
        images: Vec::new(),
    };
    let compact = (strategy == CompactionStrategy::HandoffCompaction).then_some(ToolName::Compact);
    let mut messages = vec![Message::System {
        text: prompts::handoff_system()?.into(),
    }];
    // What memories once said is no more told than what they say: the agent keeps them.
    let kept = |item: &Item| {
        matches!(item.band, Band::Skill | Band::Memory)
            || item.was_block == Some(BlockKind::Memories)
    };
    let told = window.items().iter().filter(|item| !kept(item));
    for item in told {
        messages.push(retold(item, sees)?);
    }
    let wanted = prompts::handoff_instruction(compact.map(ToolName::as_str))?;
    messages.push(said(wanted));
    Ok(Ask {
        messages,
        tools: compact
            .and_then(|tool| definition(tool, Variants::default()))
            .into_iter()
            .collect(),
        choice: compact.map_or(ToolChoice::Auto, |tool| {
            ToolChoice::Named(tool.as_str().to_owned())
        }),
    })
}

/// One item as a headed `user` message.
fn retold(item: &Item, sees: bool) -> Result<Message, PromptError> {
    let message = &item.message;
    let mut text = message.text().to_owned();
    for call in message.calls() {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.extend([&*call.name, " ", &*call.arguments]);
    }
    let images = message.images();
    if !sees && !images.is_empty() {
        text = prompts::picture_removed(&text)?;
    }
    if !is_headed(item) {
        text = prompts::headed(&heading(item), &text)?;
    }
    Ok(Message::User {
        text: text.into(),
        images: if sees { images.to_vec() } else { Vec::new() },
    })
}

/// Whether a message of gg's own says already what it is. A task does only under its very word: its
/// author may underline a title.
fn is_headed(item: &Item) -> bool {
    let text = item.message.text();
    let mut lines = text.lines();
    let (Some(word), Some("----")) = (lines.next(), lines.next()) else {
        return false;
    };
    let own = heading(item).word;
    item.message.role() == Role::User
        && match item.band {
            Band::UserPrompt => word == own || word.starts_with(&format!("{own}: ")),
            Band::History => true,
            _ => word == SUMMARY || word.starts_with(own),
        }
}

/// What a reply comes to; [`Answer::Fallback`] where it cannot be used: blank prose, or no call of
/// `compact` that could be read. Of several calls the last stands.
pub fn read(strategy: CompactionStrategy, text: Option<&str>, calls: &[ToolCall]) -> Answer {
    if strategy == CompactionStrategy::HandoffCompaction {
        let compact = calls
            .iter()
            .filter(|call| call.name == ToolName::Compact.as_str());
        let mut read = compact.rev().map(|call| read_compact(&call.arguments));
        return read
            .find_map(Result::ok)
            .map_or(Answer::Fallback, Answer::Compact);
    }
    match text {
        Some(text) if !text.trim().is_empty() => Answer::Prose(text.to_owned()),
        _ => Answer::Fallback,
    }
}

#[cfg(test)]
mod tests {
    use vocab::message::{Image, ImageFormat};

    use super::*;
    use crate::window::NewItem;

    fn user(text: &str) -> Message {
        Message::User {
            text: text.into(),
            images: Vec::new(),
        }
    }

    fn window() -> Window {
        let mut window = Window::new(1000, "", provider::request::Shape::Bare);
        window.set_system("you are an agent");
        window.push(NewItem::new(Band::UserPrompt, 0, user("Build\n----\nit")));
        window.push(NewItem::new(
            Band::Assistant,
            1,
            Message::Assistant {
                text: Some("I look.".into()),
                calls: vec![ToolCall {
                    id: "c".into(),
                    name: "read_file".to_owned(),
                    arguments: r#"{"path":"a.png"}"#.into(),
                }],
                reasoning: None,
            },
        ));
        let picture = Image {
            format: ImageFormat::Png,
            bytes: vec![1].into(),
            dimensions: None,
        };
        window.push(NewItem {
            selector: Some("a.png".into()),
            ..NewItem::new(
                Band::FileView,
                1,
                Message::Tool {
                    call: "c".into(),
                    text: "a picture".into(),
                    images: vec![picture],
                },
            )
        });
        window.push(NewItem::new(Band::Skill, 1, user("a skill")));
        window.push(NewItem::new(Band::Memory, 1, user("a memory")));
        window.push(NewItem::new(
            Band::History,
            1,
            user("Summary\n----\nearlier"),
        ));
        window.set_signal(Some(user("80% full").into()));
        window
    }

    #[test]
    fn everything_is_told_as_headed_user_messages() {
        let ask = ask(&window(), CompactionStrategy::HandoffSummarization, true).unwrap();
        assert_eq!(ask.messages[0].role(), Role::System);
        assert!(ask.messages[1..].iter().all(|it| it.role() == Role::User));
        let told: Vec<_> = ask.messages.iter().map(Message::text).collect();
        assert_eq!(
            told[1..told.len() - 1],
            [
                "Task\n----\nBuild\n----\nit",
                "Assistant\n----\nI look.\n\nread_file {\"path\":\"a.png\"}",
                "File: a.png\n----\na picture",
                "Summary\n----\nearlier",
            ]
        );
        assert_eq!(ask.messages[3].images().len(), 1);
        assert!(ask.tools.is_empty());
        assert!(!told.last().unwrap().contains("compact`"));
    }

    #[test]
    fn memories_are_told_neither_as_they_are_nor_as_they_were() {
        let mut window = window();
        for (turn, text) in (2..).zip(["memories then", "memories now"]) {
            window.refresh_block(BlockKind::Memories, Some(text.into()), turn);
        }
        window.strip_pictures(prompts::picture_removed).unwrap();
        let ask = ask(&window, CompactionStrategy::HandoffSummarization, true).unwrap();
        assert!(
            ask.messages
                .iter()
                .all(|it| !it.text().contains("memories "))
        );
        assert_eq!(ask.messages.len(), 6);
    }

    #[test]
    fn a_summarizer_without_eyes_is_told_that_a_picture_stood_there() {
        let ask = ask(&window(), CompactionStrategy::HandoffSummarization, false).unwrap();
        let view = &ask.messages[3];
        assert!(view.images().is_empty());
        assert!(
            view.text().starts_with("File: a.png\n----\na picture\n["),
            "{}",
            view.text()
        );
    }

    #[test]
    fn a_handoff_compaction_is_held_to_the_one_call() {
        let ask = ask(&window(), CompactionStrategy::HandoffCompaction, true).unwrap();
        assert_eq!(ask.tools.len(), 1);
        assert_eq!(ask.choice, ToolChoice::Named("compact".to_owned()));
        assert!(ask.messages.last().unwrap().text().contains("`compact`"));
    }

    #[test]
    fn an_unusable_reply_is_a_fallback() {
        let call = |name: &str, arguments: &str| ToolCall {
            id: "c".into(),
            name: name.to_owned(),
            arguments: arguments.into(),
        };
        let prose = CompactionStrategy::HandoffSummarization;
        let by_call = CompactionStrategy::HandoffCompaction;
        assert_eq!(read(prose, Some(" \n"), &[]), Answer::Fallback);
        assert_eq!(read(prose, None, &[]), Answer::Fallback);
        assert_eq!(read(prose, Some("s"), &[]), Answer::Prose("s".to_owned()));
        assert_eq!(read(by_call, Some("s"), &[]), Answer::Fallback);
        let blank = call("compact", r#"{"summary":""}"#);
        assert_eq!(
            read(by_call, None, std::slice::from_ref(&blank)),
            Answer::Fallback
        );
        assert_eq!(
            read(by_call, None, &[call("shell", "{}")]),
            Answer::Fallback
        );
        let calls = [
            call("compact", r#"{"summary":"one"}"#),
            call("compact", r#"{"summary":"two"}"#),
            blank,
        ];
        let Answer::Compact(stands) = read(by_call, None, &calls) else {
            panic!("a usable call was not read");
        };
        assert_eq!(stands.summary, "two");
    }
}
