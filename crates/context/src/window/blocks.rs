//! A module's pinned block: one live copy in the window, refreshed by appending (02 §1.3).

use std::sync::Arc;

use vocab::band::Band;
use vocab::message::Message;

use super::{BlockKind, Item, NewItem, Retention, ViewKey, Window};

impl Window {
    /// Brings a module's block up to date, and answers whether that changed anything.
    ///
    /// `text` is the block as the model reads it, `None` where the store is empty. The same text
    /// is skipped and keeps its place; another one goes to the tail, pinned, and the copy it
    /// replaces stays where it is as ephemeral `history`. No byte that was sent changes.
    pub fn refresh_block(&mut self, kind: BlockKind, text: Option<Arc<str>>, turn: u32) -> bool {
        let live = self.blocks[kind as usize];
        let held = live.map(|index| self.items[index].message.text());
        if held == text.as_deref() {
            return false;
        }
        if let Some(index) = live {
            self.demote(index);
        }
        if let Some(text) = text {
            let message = Message::User {
                text,
                images: Vec::new(),
            };
            let mut item = Item::from(NewItem {
                retention: Retention::Pinned,
                ..NewItem::new(kind.band(), turn, message)
            });
            item.block = Some(kind);
            self.enter(item);
        }
        true
    }

    /// The live block of a module.
    pub fn block(&self, kind: BlockKind) -> Option<&Item> {
        self.blocks[kind as usize].map(|index| &self.items[index])
    }

    /// Makes an item a superseded copy: it stays where it is, as ephemeral history that nothing
    /// addresses.
    pub(super) fn demote(&mut self, index: usize) {
        let item = &mut self.items[index];
        if index < self.settled {
            let tokens = item.count();
            self.bands.remove(item.band, tokens);
            self.bands.add(Band::History, tokens);
            if let Some(path) = item.evictable_path() {
                self.ranking.remove(path, tokens);
            }
        }
        if let Some(key) = ViewKey::of(item)
            && self.views.get(&key) == Some(&index)
        {
            self.views.remove(&key);
        }
        if let Some(kind) = item.block.take() {
            self.blocks[kind as usize] = None;
            item.was_block = Some(kind);
        }
        if !item.is_ephemeral() {
            self.ephemeral += 1;
        }
        item.band = Band::History;
        item.retention = Retention::Ephemeral;
        item.selector = None;
        item.region = None;
        let row = self.row_of(index);
        self.changes.push(row);
    }
}
