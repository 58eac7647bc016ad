//! What happens to a window between a boundary's leave and the request (02 §1.5), in this order:
//! messages from above, notices of linked memories, pinned blocks, compaction, signal.
//!
//! Always true: a request that is asked again is prepared once, so that it is the same byte for
//! byte.

use std::ops::ControlFlow;
use std::sync::Arc;

use context::prompts::{self, Heading, PromptError};
use context::signal;
use context::tokens;
use context::window::{NewItem, Retention};
use vocab::band::Band;
use vocab::message::Message;

use super::LoopEnd;
use super::tool_turn::COUNT_HERE;
use super::turns::{ReplySize, Turns};

/// What heads a fact about the session.
const NOTICE: &str = "Notice";

impl Turns {
    /// Makes the window what this turn's request sends.
    pub(super) async fn prepare(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        if std::mem::take(&mut self.reasked) {
            return ControlFlow::Continue(());
        }
        self.read_letters(turn)?;
        self.hear_of_others(turn).await?;
        self.refresh_blocks(turn).await?;
        self.count_aside().await;
        self.compact_where_due(turn).await?;
        self.refresh_signal(turn)
    }

    /// Counts what is long on another thread, so that no other agent waits for it.
    pub(super) async fn count_aside(&mut self) {
        let long = self.window.uncounted(COUNT_HERE);
        if long.is_empty() {
            return;
        }
        let counting = tokio::task::spawn_blocking(move || {
            let count = |(place, message): (usize, Arc<Message>)| {
                let tokens = tokens::of_message(&message);
                (place, message, tokens)
            };
            long.into_iter().map(count).collect::<Vec<_>>()
        });
        // A counter that panicked leaves them to be counted on the loop, where the net is.
        for (place, message, tokens) in counting.await.unwrap_or_default() {
            self.window.counted(place, &message, tokens);
        }
    }

    fn refresh_signal(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        let Some(policy) = &self.upkeep.signal else {
            return ControlFlow::Continue(());
        };
        let shown = signal::refresh(&mut self.window, policy);
        self.rendered(turn, shown)
    }

    /// Says something of gg's own to the model, at the end of the window.
    pub(super) fn notice(&mut self, turn: u32, text: String) -> ControlFlow<LoopEnd> {
        let text = self.labeled(NOTICE, text);
        let text = self.rendered(turn, text)?;
        self.put(turn, Band::System, Retention::Ephemeral, text);
        ControlFlow::Continue(())
    }

    /// A text as its agent reads it: one that answers with programs is sent nothing but programs,
    /// receipts and what stands under a word for its kind (04 §6.8).
    pub(super) fn labeled(&self, word: &str, text: String) -> Result<String, PromptError> {
        if self.surface.code.is_none() {
            return Ok(text);
        }
        prompts::headed(&Heading::of(word), &text)
    }

    /// Puts a text that is not the model's own at the end of the window.
    pub(super) fn put(
        &mut self,
        turn: u32,
        band: Band,
        retention: Retention,
        text: impl Into<Arc<str>>,
    ) {
        let message = Message::User {
            text: text.into(),
            images: Vec::new(),
        };
        self.window.push(NewItem {
            retention,
            ..NewItem::new(band, turn, message)
        });
    }

    /// A text of gg's own; one that does not render is a defect, and the agent ends of it.
    pub(super) fn rendered<T>(
        &mut self,
        turn: u32,
        text: Result<T, PromptError>,
    ) -> ControlFlow<LoopEnd, T> {
        match text {
            Ok(text) => ControlFlow::Continue(text),
            Err(error) => {
                let cause = format!("a text of gg's own does not render: {error}");
                self.close_fatal(turn, cause, ReplySize::default())
            }
        }
    }
}
