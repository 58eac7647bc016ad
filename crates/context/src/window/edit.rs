//! Edits of what was sent: the frame all of them share, evicting file views, taking pictures out.

use std::sync::Arc;

use provider::request::Thread;
use vocab::band::{Band, BandTokens};
use vocab::message::Message;
use vocab::rewrite::Rewrite;

use super::{BlockKind, Item, Toolset, Window, fingerprint};

/// What an eviction took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evicted {
    /// File views that went.
    pub items: usize,
    /// Tokens by which the window is smaller.
    pub tokens: u64,
    /// The paths they were of, each once, in the order of the window.
    pub paths: Vec<Arc<str>>,
    /// The place of the first among a request's messages.
    pub first_index: Option<usize>,
}

impl Window {
    /// Evicts the file views of a path, or all of them; locked specifications are spared.
    ///
    /// A view that answers a call keeps its call: its content is swapped for the line that `stub`
    /// makes of it. `of` tells which paths are meant.
    ///
    /// # Errors
    ///
    /// What `stub` fails with; then nothing has changed.
    pub fn evict_file_views<E>(
        &mut self,
        of: impl Fn(Option<&str>) -> bool,
        stub: impl Fn(&Item) -> Result<String, E>,
    ) -> Result<Evicted, E> {
        self.settle();
        let before = self.bands.total();
        let mut evicted = Evicted::default();
        let mut items = Vec::with_capacity(self.items.len());
        for item in &self.items {
            let view = item.band == Band::FileView && item.is_ephemeral();
            if !view || !of(item.selector.as_deref()) {
                items.push(item.clone());
                continue;
            }
            evicted.items += 1;
            if let Some(path) = &item.selector
                && !evicted.paths.contains(path)
            {
                evicted.paths.push(Arc::clone(path));
            }
            if let Message::Tool { call, .. } = &*item.message {
                let message = Message::Tool {
                    call: call.clone(),
                    text: stub(item)?.into(),
                    images: Vec::new(),
                };
                items.push(Item {
                    band: Band::ToolOutput,
                    region: None,
                    ..item.with(message)
                });
            }
        }
        evicted.first_index = self.replace_items(items, Rewrite::EvictFileView);
        self.settle();
        evicted.tokens = before.saturating_sub(self.bands.total());
        Ok(evicted)
    }

    /// Takes every picture out and keeps each message's pairing; `reworded` makes the text that
    /// stays of the one that stood beside it.
    ///
    /// # Errors
    ///
    /// What `reworded` fails with; then nothing has changed.
    pub fn strip_pictures<E>(
        &mut self,
        reworded: impl Fn(&str) -> Result<String, E>,
    ) -> Result<(), E> {
        let mut items = Vec::with_capacity(self.items.len());
        for item in &self.items {
            items.push(match without_pictures(&item.message, &reworded)? {
                Some(bare) => item.with(bare),
                None => item.clone(),
            });
        }
        self.replace_items(items, Rewrite::PicturesRefused);
        Ok(())
    }

    /// Serializes the window anew and remembers the act that makes it differ from what was sent.
    /// What was counted stays counted, what was reported stays reported.
    pub fn rebuild(&mut self, act: Rewrite) {
        self.changes.push(0);
        self.remember(act, 0);
        let items = std::mem::take(&mut self.items);
        self.reserialize(items);
    }

    /// Puts other items in the place of all, and answers the first of a request's messages that
    /// differs; `None` where none does.
    pub(super) fn replace_items(&mut self, items: Vec<Item>, act: Rewrite) -> Option<usize> {
        let row = |item: &Item| (item.id, item.band, item.retention, item.turn, item.region);
        let same_rows = common(&self.items, &items, |old, new| row(old) == row(new));
        let same_messages = common(&self.items, &items, |old, new| old.id == new.id);
        let whole = |same| same == self.items.len() && same == items.len();
        let broken = (!whole(same_messages)).then(|| self.row_of(same_messages));
        if whole(same_rows) {
            return None;
        }
        self.changes.push(self.row_of(same_rows));
        if let Some(message) = broken
            && self.items[same_messages..].iter().any(|item| item.sent)
        {
            self.remember(act, message);
        }
        self.reserialize(items);
        broken
    }

    /// Of several acts the one that broke the prefix earliest is what the next request shows.
    fn remember(&mut self, act: Rewrite, row: usize) {
        if self.rewritten.is_none_or(|(_, earliest)| row < earliest) {
            self.rewritten = Some((act, row));
        }
    }

    pub(super) fn reserialize(&mut self, items: Vec<Item>) {
        self.thread = Thread::of(self.shape);
        self.ids.clear();
        self.calls.clear();
        self.picture_bytes = 0;
        self.ephemeral = 0;
        self.blocks = [None; BlockKind::ALL.len()];
        self.views.clear();
        self.ranking = super::Ranking::default();
        self.bands = BandTokens::default();
        self.settled = 0;
        self.logged = 0;
        if let Toolset::Counted(tokens) = self.toolset {
            self.bands.add(Band::System, tokens);
        }
        if let Some(system) = &self.system {
            self.thread.push(&system.message);
            self.ids.push(system.id);
            self.bands
                .add(Band::System, system.tokens.unwrap_or_default());
        }
        self.items = Vec::with_capacity(items.len());
        for item in items {
            self.enter(item);
        }
        let unsent = self.items.iter().position(|item| !item.sent);
        self.sent = unsent.unwrap_or(self.items.len());
    }
}

impl Item {
    /// The same item with another message, not counted yet.
    pub(super) fn with(&self, message: Message) -> Self {
        Self {
            id: fingerprint(&message),
            message: message.into(),
            tokens: None,
            sent: false,
            ..self.clone()
        }
    }
}

/// How many items two lists begin with that are the same.
fn common(old: &[Item], new: &[Item], same: impl Fn(&Item, &Item) -> bool) -> usize {
    let pairs = old.iter().zip(new);
    pairs.take_while(|(old, new)| same(old, new)).count()
}

/// A message without its pictures and with its text reworded; `None` where it has none.
pub(super) fn without_pictures<E>(
    message: &Message,
    reworded: impl FnOnce(&str) -> Result<String, E>,
) -> Result<Option<Message>, E> {
    Ok(match message {
        Message::Tool { call, text, images } if !images.is_empty() => Some(Message::Tool {
            call: call.clone(),
            text: reworded(text)?.into(),
            images: Vec::new(),
        }),
        Message::User { text, images } if !images.is_empty() => Some(Message::User {
            text: reworded(text)?.into(),
            images: Vec::new(),
        }),
        _ => None,
    })
}
