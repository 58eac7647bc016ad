//! A window in other hands: handed on to a successor, or copied for a copy of its agent (02 §1.1).

use std::sync::Arc;

use provider::request::Shape;
use vocab::band::Band;
use vocab::message::Message;

use super::{Item, NewItem, Retention, Toolset, Window};
use crate::tokens::Measured;

/// Whoever a window passes to.
#[derive(Clone, Debug)]
pub struct Receiver<'a> {
    /// Its working window, tokens.
    pub limit: u64,
    /// Its tools array as it is sent, empty where a request offers none.
    pub toolset: Measured,
    /// How its model's family is written to.
    pub shape: Shape,
    /// Its system prompt: the one that was there describes somebody else.
    pub system: Measured,
    /// The bands whose pinned items become ordinary history, since what they show did not come
    /// along.
    pub demoted: &'a [Band],
}

impl Window {
    /// Makes the window another agent's. Its items stay as they are, in their order, so that for
    /// a model of the same family they are the same bytes behind another system prompt; its
    /// messages are all reported anew, and its signal is gone.
    #[must_use]
    pub fn pass_on(mut self, receiver: Receiver<'_>) -> Self {
        let Receiver {
            limit,
            toolset,
            shape,
            system,
            demoted,
        } = receiver;
        for index in 0..self.items.len() {
            let item = &self.items[index];
            if !item.is_ephemeral() && demoted.contains(&item.band) {
                self.demote(index);
            }
        }
        let text = Arc::clone(system.text());
        let slot = Item::from(NewItem {
            retention: Retention::Pinned,
            ..NewItem::new(Band::System, 0, Message::System { text })
        });
        self.limit = limit;
        self.toolset = Toolset::Sent(toolset);
        self.shape = shape;
        self.system = Some(slot);
        self.prompt = Some(system);
        self.signal = None;
        self.pool.clear();
        self.changes.clear();
        // The receiver has sent nothing that could be broken.
        self.rewritten = None;
        let items = std::mem::take(&mut self.items);
        self.reserialize(items);
        self
    }
}
