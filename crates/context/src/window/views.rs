//! Views that a program opens: one live copy a selector, superseded by appending (02 §1.4).

use std::sync::Arc;

use vocab::band::Band;
use vocab::ids::MessageId;
use vocab::message::Role;
use vocab::rewrite::Rewrite;

use super::edit::without_pictures;
use super::{Item, NewItem, Region, Window};

/// What addresses a view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ViewKey {
    band: Band,
    selector: Arc<str>,
    region: Option<Region>,
}

impl ViewKey {
    /// The key of an item that is a view of its own: what answers a call is none.
    pub(super) fn of(item: &Item) -> Option<Self> {
        let selector = item.selector.clone()?;
        (item.message.role() == Role::User).then_some(Self {
            band: item.band,
            selector,
            region: item.region,
        })
    }
}

/// What opening a view did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// It is the first of its selector.
    Fresh(MessageId),
    /// An earlier copy that had not been sent was replaced where it stood.
    Replaced(MessageId),
    /// An earlier copy that had been sent became history.
    Superseded(MessageId),
}

/// What closing views took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// The views, in the order of the window.
    pub views: Vec<ClosedView>,
    /// Tokens by which the window is smaller.
    pub tokens: u64,
    /// The place of the first among a request's messages.
    pub first_index: Option<usize>,
}

/// A view that was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedView {
    /// What its tokens were spent on.
    pub band: Band,
    /// What addressed it.
    pub selector: Arc<str>,
    /// Its tokens.
    pub tokens: u64,
}

impl Window {
    /// Closes every view that `of` says by its band and selector; answers to calls stay.
    pub fn close_views(&mut self, of: impl Fn(Band, &str) -> bool) -> Closed {
        let closes = |item: &Item| ViewKey::of(item).is_some_and(|key| of(key.band, &key.selector));
        let is_closed = |item: &Item| item.is_ephemeral() && closes(item);
        if !self.items.iter().any(is_closed) {
            return Closed::default();
        }
        self.settle();
        let before = self.bands.total();
        let (gone, left): (Vec<_>, Vec<_>) = self.items.iter().cloned().partition(is_closed);
        let act = if gone.iter().all(|item| item.band == Band::DocsView) {
            Rewrite::CloseDocs
        } else {
            Rewrite::CloseView
        };
        let first_index = self.replace_items(left, act);
        self.settle();
        let view = |item: Item| ClosedView {
            band: item.band,
            selector: item.selector.unwrap_or_default(),
            tokens: item.tokens.unwrap_or_default(),
        };
        Closed {
            tokens: before.saturating_sub(self.bands.total()),
            first_index,
            views: gone.into_iter().map(view).collect(),
        }
    }

    /// The live view of a selector that is no part of a file.
    pub fn live_view(&self, band: Band, selector: &str) -> Option<&Item> {
        let key = ViewKey {
            band,
            selector: selector.into(),
            region: None,
        };
        self.views.get(&key).map(|index| &self.items[*index])
    }

    /// The views that are open, in order.
    pub fn open_views(&mut self) -> impl Iterator<Item = &Item> {
        self.settle();
        self.items.iter().filter(|item| {
            let view = matches!(
                item.band,
                Band::FileView | Band::TextView | Band::DocsView | Band::SearchResults
            );
            view && item.selector.is_some()
        })
    }

    /// Makes views ordinary history, since what they are of is not the agent's any more; `foreign`
    /// tells which. No byte of the window changes.
    pub fn disown_views(&mut self, foreign: impl Fn(Band, &str) -> bool) {
        let mut indexes: Vec<_> = self
            .views
            .iter()
            .filter(|(key, _)| foreign(key.band, &key.selector))
            .map(|(_, index)| *index)
            .collect();
        indexes.sort_unstable();
        for index in indexes {
            self.demote(index);
        }
    }

    /// Opens a view. A sent copy of the same selector stays where it is as history, without its
    /// picture: that alone changes what was sent, and `reworded` then makes the text that stays,
    /// with a line that points at the live copy. A copy that was not sent is replaced in place.
    ///
    /// # Errors
    ///
    /// What `reworded` fails with; then nothing has changed.
    pub fn open_view<E>(
        &mut self,
        view: NewItem,
        reworded: impl FnOnce(&str) -> Result<String, E>,
    ) -> Result<Opened, E> {
        let view = Item::from(view);
        let id = view.id;
        let live = ViewKey::of(&view).and_then(|key| self.views.get(&key).copied());
        let Some(index) = live else {
            self.enter(view);
            return Ok(Opened::Fresh(id));
        };
        if !self.items[index].sent {
            let mut items = self.items.clone();
            items[index] = view;
            // No request held it, so this is no act that any request would show.
            self.replace_items(items, Rewrite::CloseView);
            return Ok(Opened::Replaced(id));
        }
        let bare = without_pictures(&self.items[index].message, reworded)?;
        self.demote(index);
        if let Some(bare) = bare {
            let mut items = self.items.clone();
            items[index] = items[index].with(bare);
            self.replace_items(items, Rewrite::SupersededPicture);
        }
        self.enter(view);
        Ok(Opened::Superseded(id))
    }
}
