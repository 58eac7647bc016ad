//! A message made to stand alone: the same text and pictures as a headed `user` message.
//!
//! A result becomes one when the call it answers leaves the window (02 §1.3), and everything does
//! in a summarizer's request, which would else read an agent's words as its own (02 §6.3).

use vocab::band::Band;
use vocab::message::Message;

use crate::prompts::{self, Heading, PromptError};
use crate::window::Item;

/// What heads a summary of the conversation.
pub(crate) const SUMMARY: &str = "Summary";

/// What heads an item: the word of its band, and what addresses it.
pub fn heading(item: &Item) -> Heading<'_> {
    let named = |word| Heading {
        word,
        name: item.selector.as_deref(),
        region: item.region,
    };
    match item.band {
        Band::System => Heading::of("Notice"),
        Band::UserPrompt => Heading::of("Task"),
        Band::Assistant => Heading::of("Assistant"),
        Band::ToolOutput => Heading::of("Output"),
        Band::CompilerError => Heading::of("Compiler error"),
        Band::RuntimeError => Heading::of("Runtime error"),
        Band::FileView => named("File"),
        Band::TextView | Band::SearchResults => named("View"),
        Band::DocsView => named("Documentation"),
        // A used skill's body stands under the bare word (02 §10.2).
        Band::Skill => Heading::of("Documentation"),
        Band::Memory => Heading::of("Memories"),
        Band::TaskList => Heading::of("Tasks"),
        Band::Board => Heading::of("Board"),
        Band::History => Heading::of("History"),
    }
}

/// An item's text and pictures under its heading, as a message that answers no call.
///
/// # Errors
///
/// A template that does not render.
pub fn reframed(item: &Item) -> Result<Message, PromptError> {
    Ok(Message::User {
        text: prompts::headed(&heading(item), item.message.text())?.into(),
        images: item.message.images().to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use vocab::message::{Image, ImageFormat};

    use super::*;
    use crate::window::{NewItem, Region, Window};

    fn shown(new: NewItem) -> String {
        let mut window = Window::new(1, "", provider::request::Shape::Bare);
        window.push(new);
        reframed(&window.items()[0]).unwrap().text().to_owned()
    }

    fn result(text: &str) -> Message {
        Message::Tool {
            call: "c".into(),
            text: text.into(),
            images: Vec::new(),
        }
    }

    #[test]
    fn a_result_is_headed_and_keeps_every_byte() {
        let text = shown(NewItem::new(Band::ToolOutput, 1, result("a\n\n")));
        assert_eq!(text, "Output\n----\na\n\n");
    }

    #[test]
    fn a_file_view_names_its_path_and_lines() {
        let view = NewItem {
            selector: Some("src/a & b.rs".into()),
            ..NewItem::new(Band::FileView, 1, result("x"))
        };
        assert_eq!(shown(view.clone()), "File: src/a & b.rs\n----\nx");
        let region = Some(Region {
            first: 3,
            last: 4,
            total: 10,
        });
        assert_eq!(
            shown(NewItem { region, ..view }),
            "File: src/a & b.rs:3-4 of 10 lines\n----\nx"
        );
    }

    #[test]
    fn a_skill_stands_under_the_bare_word() {
        let skill = NewItem {
            selector: Some("csv".into()),
            ..NewItem::new(Band::Skill, 1, result("body"))
        };
        assert_eq!(shown(skill), "Documentation\n----\nbody");
    }

    #[test]
    fn pictures_stay_beside_the_text() {
        let mut window = Window::new(1, "", provider::request::Shape::Bare);
        let picture = Image {
            format: ImageFormat::Png,
            bytes: vec![1].into(),
            dimensions: None,
        };
        window.push(NewItem::new(
            Band::FileView,
            1,
            Message::Tool {
                call: "c".into(),
                text: "a.png".into(),
                images: vec![picture.clone()],
            },
        ));
        assert_eq!(
            reframed(&window.items()[0]).unwrap().images(),
            std::slice::from_ref(&picture)
        );
    }
}
