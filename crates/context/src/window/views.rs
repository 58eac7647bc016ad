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

impl Window {
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
