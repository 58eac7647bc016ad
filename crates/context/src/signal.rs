//! The context-usage signal: how full the window is, by what, and what can be done about it
//! (02 §7.1).
//!
//! Built at each boundary, after blocks were refreshed and a compaction was applied.
//!
//! Always true: it stands in a slot of its own behind the thread, so it breaks no prefix, and it
//! never counts itself.

use std::sync::Arc;

use vocab::band::Band;
use vocab::message::Message;
use vocab::tools::ToolName;

use crate::prompts::{self, BandShare, PromptError, SignalContext, ViewShare};
use crate::window::Window;

/// When the signal is shown, and what it lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalPolicy {
    /// Fullness from which it is shown, percent of the working window; 0 is always.
    pub threshold_percent: f64,
    /// File views listed, largest first; 0 is none.
    pub top_file_views: usize,
    /// Whether the agent holds the call that evicts file views.
    pub evict: bool,
    /// Whether it holds the call that archives turns.
    pub archive: bool,
    /// Whether it holds the call that searches what was archived.
    pub search: bool,
}

/// Brings the window's signal slot up to date: filled from the threshold on, else empty.
///
/// # Errors
///
/// A template that does not render; the slot is as it was.
pub fn refresh(window: &mut Window, policy: &SignalPolicy) -> Result<(), PromptError> {
    let text = match measure(window, policy) {
        Some(figures) => Some(prompts::context_signal(&figures)?),
        None => None,
    };
    window.set_signal(text.map(|text| {
        Arc::new(Message::User {
            text: text.into(),
            images: Vec::new(),
        })
    }));
    Ok(())
}

/// The signal's figures; `None` below the threshold.
pub fn measure(window: &mut Window, policy: &SignalPolicy) -> Option<SignalContext> {
    let (bands, total) = window.breakdown();
    let limit = window.limit();
    if share(total, limit) < policy.threshold_percent {
        return None;
    }
    let evict = policy.evict.then_some(ToolName::EvictFileView.as_str());
    let listed = if policy.evict {
        policy.top_file_views
    } else {
        0
    };
    let mut views = window.top_file_views(listed);
    let bands = bands
        .iter()
        .filter(|(_, tokens)| *tokens > 0)
        .map(|(band, tokens)| BandShare {
            label: band.label(),
            percent: percent(tokens, limit),
            views: if band == Band::FileView {
                let views = std::mem::take(&mut views).into_iter();
                views
                    .map(|(path, tokens)| ViewShare {
                        path,
                        percent: percent(tokens, limit),
                    })
                    .collect()
            } else {
                Vec::new()
            },
        })
        .collect();
    Some(SignalContext {
        overall: percent(total, limit),
        bands,
        evict,
        archive: policy.archive.then_some(ToolName::ArchiveThread.as_str()),
        search: policy.search.then_some(ToolName::SearchArchive.as_str()),
    })
}

/// A share in percent; a window of no tokens at all is full.
#[expect(
    clippy::cast_precision_loss,
    reason = "no window comes near 2^53 tokens"
)]
fn share(tokens: u64, limit: u64) -> f64 {
    if limit == 0 {
        return 100.0;
    }
    tokens as f64 * 100.0 / limit as f64
}

fn percent(tokens: u64, limit: u64) -> String {
    format!("{:.1}", share(tokens, limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{NewItem, Retention};

    const ALL: SignalPolicy = SignalPolicy {
        threshold_percent: 75.0,
        top_file_views: 2,
        evict: true,
        archive: true,
        search: true,
    };

    fn item(band: Band, selector: Option<&str>, tokens: u64) -> NewItem {
        NewItem {
            selector: selector.map(Into::into),
            tokens: Some(tokens),
            ..NewItem::new(
                band,
                1,
                Message::User {
                    text: format!("{band} {selector:?}").into(),
                    images: Vec::new(),
                },
            )
        }
    }

    /// 800 of 1000 tokens.
    fn full() -> Window {
        let mut window = Window::new(1000, "", provider::request::Shape::Bare);
        window.push(item(Band::UserPrompt, None, 1));
        window.push(NewItem {
            retention: Retention::Pinned,
            ..item(Band::FileView, Some("spec.md"), 300)
        });
        for (path, tokens) in [("a.rs", 100), ("b.rs", 150), ("c.rs", 9), ("a.rs", 90)] {
            window.push(item(Band::FileView, Some(path), tokens));
        }
        window.push(item(Band::Assistant, None, 150));
        window
    }

    #[test]
    fn everything_held_is_named_with_its_trade() {
        let signal = prompts::context_signal(&measure(&mut full(), &ALL).unwrap()).unwrap();
        insta::assert_snapshot!(signal);
    }

    #[test]
    fn without_a_call_there_are_figures_alone() {
        let policy = SignalPolicy {
            evict: false,
            archive: false,
            search: false,
            ..ALL
        };
        let signal = prompts::context_signal(&measure(&mut full(), &policy).unwrap()).unwrap();
        assert_eq!(
            signal,
            "Context Usage:\n- Overall: 80.0%\n- Task Prompt: 0.1%\n- Your Messages: 15.0%\n- File \
             Views: 64.9%"
        );
    }

    #[test]
    fn a_list_of_none_is_no_list() {
        let none = SignalPolicy {
            top_file_views: 0,
            ..ALL
        };
        assert!(
            !prompts::context_signal(&measure(&mut full(), &none).unwrap())
                .unwrap()
                .contains("Top")
        );
        let mut window = Window::new(10, "", provider::request::Shape::Bare);
        window.push(NewItem {
            retention: Retention::Pinned,
            ..item(Band::FileView, Some("spec.md"), 10)
        });
        let signal = prompts::context_signal(&measure(&mut window, &ALL).unwrap()).unwrap();
        assert!(signal.contains("- File Views: 100.0%\n`evict"), "{signal}");
    }

    #[test]
    fn it_is_there_from_the_threshold_on_and_never_counts_itself() {
        let mut window = full();
        let (_, before) = window.breakdown();
        refresh(&mut window, &ALL).unwrap();
        assert!(window.signal().is_some());
        assert_eq!(window.breakdown().1, before);
        for (threshold_percent, shown) in [(80.0, true), (80.1, false), (0.0, true)] {
            let policy = SignalPolicy {
                threshold_percent,
                ..ALL
            };
            refresh(&mut window, &policy).unwrap();
            assert_eq!(window.signal().is_some(), shown, "{threshold_percent}");
        }
        let mut empty = Window::new(1000, "", provider::request::Shape::Bare);
        let always = SignalPolicy {
            threshold_percent: 0.0,
            ..ALL
        };
        assert!(measure(&mut empty, &always).is_some());
    }
}
