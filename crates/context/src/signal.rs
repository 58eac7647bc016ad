//! The context-usage signal: how full the window is, by what, and what can be done about it
//! (02 §7.1).
//!
//! Built at each boundary, after blocks were refreshed and a compaction was applied.
//!
//! Always true: it stands in a slot of its own behind the thread, so it breaks no prefix, and it
//! never counts itself.

use std::borrow::Cow;
use std::sync::Arc;

use vocab::band::Band;
use vocab::line::one_line;
use vocab::message::Message;

use crate::prompts::{self, BandShare, PromptError, SignalContext, ViewShare};
use crate::window::Window;

/// When the signal is shown, and what it lists.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalPolicy {
    /// Fullness from which it is shown, percent of the working window; 0 is always.
    pub threshold_percent: f64,
    /// File views listed, largest first; 0 is none.
    pub top_file_views: usize,
    /// The call that evicts file views, as it is named to the agent; `None` where it has none.
    pub evict: Option<Arc<str>>,
    /// The call that closes views a program opened.
    pub close: Option<Arc<str>>,
    /// The call that archives turns.
    pub archive: Option<Arc<str>>,
    /// The call that searches what was archived.
    pub search: Option<Arc<str>>,
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
    let listed = if policy.evict.is_some() {
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
                        path: match one_line(&path) {
                            Cow::Borrowed(_) => path,
                            Cow::Owned(escaped) => escaped.into(),
                        },
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
        evict: policy.evict.clone(),
        close: policy.close.clone(),
        archive: policy.archive.clone(),
        search: policy.search.clone(),
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

    fn all() -> SignalPolicy {
        SignalPolicy {
            threshold_percent: 75.0,
            top_file_views: 2,
            evict: Some("evict_file_view".into()),
            close: None,
            archive: Some("archive_thread".into()),
            search: Some("search_archive".into()),
        }
    }

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
        let signal = prompts::context_signal(&measure(&mut full(), &all()).unwrap()).unwrap();
        insta::assert_snapshot!(signal);
    }

    #[test]
    fn a_code_agent_s_calls_are_named_as_its_programs_spell_them() {
        let policy = SignalPolicy {
            evict: Some("context.evictFileView".into()),
            close: Some("views.close".into()),
            archive: None,
            search: None,
            ..all()
        };
        let signal = prompts::context_signal(&measure(&mut full(), &policy).unwrap()).unwrap();
        assert!(
            signal.ends_with(
                "`context.evictFileView` frees what file views take; an evicted file can be read \
                 again.\n`views.close` frees what a text view takes; a closed one was the only copy."
            ),
            "{signal}"
        );
    }

    #[test]
    fn without_a_call_there_are_figures_alone() {
        let policy = SignalPolicy {
            evict: None,
            archive: None,
            search: None,
            ..all()
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
            ..all()
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
        let signal = prompts::context_signal(&measure(&mut window, &all()).unwrap()).unwrap();
        assert!(signal.contains("- File Views: 100.0%\n`evict"), "{signal}");
    }

    #[test]
    fn it_is_there_from_the_threshold_on_and_never_counts_itself() {
        let mut window = full();
        let (_, before) = window.breakdown();
        refresh(&mut window, &all()).unwrap();
        assert!(window.signal().is_some());
        assert_eq!(window.breakdown().1, before);
        for (threshold_percent, shown) in [(80.0, true), (80.1, false), (0.0, true)] {
            let policy = SignalPolicy {
                threshold_percent,
                ..all()
            };
            refresh(&mut window, &policy).unwrap();
            assert_eq!(window.signal().is_some(), shown, "{threshold_percent}");
        }
        let mut empty = Window::new(1000, "", provider::request::Shape::Bare);
        let always = SignalPolicy {
            threshold_percent: 0.0,
            ..all()
        };
        assert!(measure(&mut empty, &always).is_some());
    }
}
