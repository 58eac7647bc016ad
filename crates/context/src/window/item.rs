//! What a window is made of: items, and the views of them a log or a journal takes.

use std::sync::Arc;

use vocab::band::Band;
use vocab::ids::MessageId;
use vocab::message::{Message, Role};

use crate::tokens;
use crate::window::fingerprint;

/// Whether an item survives a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retention {
    /// It stays verbatim.
    Pinned,
    /// It is summarized away, and may be evicted, closed or archived.
    Ephemeral,
}

/// The part of a request a message stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// The system prompt: first and once.
    System,
    /// The ordered items.
    Thread,
    /// The context-usage signal: last, and never part of the prefix.
    Signal,
}

/// The lines of a file that an item holds, from 1 as they were returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Region {
    /// First line.
    pub first: u64,
    /// Last line, inclusive.
    pub last: u64,
    /// Lines of the file.
    pub total: u64,
}

/// What a module pins into the window: one live block each, refreshed by appending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// The task list.
    Tasks,
    /// The memories, or their index.
    Memories,
}

impl BlockKind {
    /// Every kind, in the order a restarted window holds them.
    pub const ALL: [Self; 2] = [Self::Tasks, Self::Memories];

    /// The band its tokens are spent in.
    pub const fn band(self) -> Band {
        match self {
            Self::Tasks => Band::TaskList,
            Self::Memories => Band::Memory,
        }
    }
}

/// An item to append.
#[derive(Clone, Debug)]
pub struct NewItem {
    /// What its tokens are spent on.
    pub band: Band,
    /// What is sent.
    pub message: Arc<Message>,
    /// Whether it survives a compaction. What the model said never does: an assistant message is
    /// ephemeral whatever stands here.
    pub retention: Retention,
    /// What addresses it: a path, a view's label, a documentation key. The `label` of its
    /// `context_message`.
    pub selector: Option<Arc<str>>,
    /// The lines it holds, of a file view.
    pub region: Option<Region>,
    /// The turn it is pushed in; 0 is the opening context.
    pub turn: u32,
    /// Its tokens where the caller has counted them; else they are counted when first asked for.
    pub tokens: Option<u64>,
}

impl NewItem {
    /// An ephemeral item without selector, counted when first asked for.
    pub fn new(band: Band, turn: u32, message: impl Into<Arc<Message>>) -> Self {
        Self {
            band,
            message: message.into(),
            retention: Retention::Ephemeral,
            selector: None,
            region: None,
            turn,
            tokens: None,
        }
    }
}

impl From<NewItem> for Item {
    fn from(new: NewItem) -> Self {
        let said = new.message.role() == Role::Assistant;
        Self {
            id: fingerprint(&new.message),
            band: new.band,
            message: new.message,
            retention: if said {
                Retention::Ephemeral
            } else {
                new.retention
            },
            selector: new.selector,
            region: new.region,
            turn: new.turn,
            tokens: new.tokens,
            sent: false,
            block: None,
            was_block: None,
        }
    }
}

/// An item of a window.
#[derive(Clone, Debug)]
pub struct Item {
    /// What its tokens are spent on.
    pub band: Band,
    /// What is sent.
    pub message: Arc<Message>,
    /// Its fingerprint: equal for equal messages.
    pub id: MessageId,
    /// Whether it survives a compaction.
    pub retention: Retention,
    /// What addresses it.
    pub selector: Option<Arc<str>>,
    /// The lines it holds, of a file view.
    pub region: Option<Region>,
    /// The turn it was pushed in.
    pub turn: u32,
    /// Its tokens; `None` until the window is settled.
    pub(super) tokens: Option<u64>,
    /// Whether a request held it as it stands.
    pub(super) sent: bool,
    /// The module whose live block it is.
    pub(super) block: Option<BlockKind>,
    /// The module whose block it was, where a newer one superseded it.
    pub(crate) was_block: Option<BlockKind>,
}

impl Item {
    /// Whether a compaction, an eviction or an archival may take it.
    pub fn is_ephemeral(&self) -> bool {
        self.retention == Retention::Ephemeral
    }

    /// Its tokens, once the window has been settled.
    pub const fn tokens(&self) -> Option<u64> {
        self.tokens
    }

    /// The path whose file view it is, where it is one that may be evicted.
    pub(super) fn evictable_path(&self) -> Option<&Arc<str>> {
        let view = self.band == Band::FileView && self.is_ephemeral();
        self.selector.as_ref().filter(|_| view)
    }

    /// Its tokens, counted at the first asking.
    pub(super) fn count(&mut self) -> u64 {
        *self
            .tokens
            .get_or_insert_with(|| tokens::of_message(&self.message))
    }

    pub(super) fn row(&self, slot: Slot) -> Row {
        Row {
            slot,
            band: self.band,
            retention: self.retention,
            turn: self.turn,
            region: self.region,
            id: self.id,
            message: self.message.clone(),
        }
    }
}

/// A message of the pool that has not been reported yet: one `context_message`.
#[derive(Clone, Debug)]
pub struct LoggedMessage {
    /// Its fingerprint.
    pub id: MessageId,
    /// Who it is from.
    pub role: Role,
    /// The band of the item that brought it in.
    pub band: Band,
    /// Its tokens.
    pub tokens: u64,
    /// That item's selector.
    pub label: Option<Arc<str>>,
    /// The message.
    pub message: Arc<Message>,
}

/// One row of a request, as a journal keeps it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The part of the request it stands in.
    pub slot: Slot,
    /// Its band.
    pub band: Band,
    /// Whether it survives a compaction.
    pub retention: Retention,
    /// The turn it was pushed in.
    pub turn: u32,
    /// The lines it holds, of a file view.
    pub region: Option<Region>,
    /// Its fingerprint.
    pub id: MessageId,
    /// The message.
    pub message: Arc<Message>,
}

/// Where a reader of a window's rows has stopped. The default has read nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Rows read.
    pub(super) rows: usize,
    /// The window's generation they were read in.
    pub(super) generation: usize,
}

/// What a list of rows has become since a cursor: its first `keep` rows stand, `rows` follow.
#[derive(Clone, Debug)]
pub struct Delta {
    /// Rows of the earlier list that stand.
    pub keep: usize,
    /// The rows after them.
    pub rows: Vec<Row>,
    /// What to ask with next.
    pub cursor: Cursor,
}
