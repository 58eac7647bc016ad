//! What a window is made of: items, and the views of them a log or a journal takes.

use std::sync::Arc;

use vocab::band::Band;
use vocab::ids::MessageId;
use vocab::message::{Message, Role};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// First line.
    pub first: u64,
    /// Last line, inclusive.
    pub last: u64,
    /// Lines of the file.
    pub total: u64,
}

/// An item to append.
#[derive(Clone, Debug)]
pub struct NewItem {
    /// What its tokens are spent on.
    pub band: Band,
    /// What is sent.
    pub message: Arc<Message>,
    /// Whether it survives a compaction.
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
    pub(super) generation: u64,
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
