//! The window: what one agent sends with every request, and what it costs.
//!
//! Two slots and a list of items: the system prompt, the items in order, the context-usage
//! signal. Each message is serialized once, into the provider's request thread, when it is
//! pushed; a request is a snapshot of that thread. Tokens are counted once an item, and only when
//! somebody asks, so that the first request can leave before its prompt has been counted.
//!
//! Always true:
//! - The serialized messages of a request, without the signal, are a byte prefix of the next
//!   request's, unless one of the acts of 02 §1.3 came between; [`Window::take_rewritten`] names
//!   it.
//! - The bands' sums are the sums of the items; the signal is in none of them. The tool schemas
//!   are a fixed part of the `system` band (R31).
//! - No edit takes a pinned item, and none leaves a call without its result or a result without
//!   its call.
//! - Equal messages have equal ids, and are reported once.
//! - What a turn asks for (sums, whether anything is ephemeral, the largest file views) is kept
//!   up as items come, so that no turn but one with an edit walks over the window.
//!
//! It leaves to others what an item says, when a signal is due, and every decision to remove.
//! The edits stand in files of their own: `edit` (evicting, taking pictures out), `archive`,
//! `restart` (compaction), `passing` (to another agent), `blocks` (a module's pinned block) and
//! `views`.

mod archive;
mod blocks;
mod edit;
mod fingerprint;
mod item;
mod limits;
mod passing;
mod ranking;
mod restart;
mod views;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use provider::request::{Shape, Snapshot, Thread};
use vocab::band::{Band, BandTokens};
use vocab::ids::{CallId, MessageId};
use vocab::message::{Image, Message};
use vocab::rewrite::Rewrite;

pub use archive::{Archived, Swept, TurnRange};
pub use edit::Evicted;
pub use fingerprint::fingerprint;
pub use item::{
    BlockKind, Cursor, Delta, Item, LoggedMessage, NewItem, Region, Retention, Row, Slot,
};
pub use limits::{trigger, working_window};
pub use passing::Receiver;
pub use restart::{Kept, Restart, Restarted};
pub use views::{Closed, ClosedView, Opened};

use crate::tokens::Measured;
use ranking::Ranking;
use views::ViewKey;

/// One agent's window.
#[derive(Clone)]
pub struct Window {
    limit: u64,
    toolset: Toolset,
    system: Option<Item>,
    /// The system slot's text, which many windows may share.
    prompt: Option<Measured>,
    items: Vec<Item>,
    signal: Option<Item>,
    shape: Shape,
    /// System and items, serialized.
    thread: Thread,
    /// Ids of system and items.
    ids: Vec<MessageId>,
    calls: HashSet<CallId>,
    bands: BandTokens,
    /// Items before this one are counted in `bands`.
    settled: usize,
    pool: HashSet<MessageId>,
    /// Items before this one have been looked at for the log.
    logged: usize,
    /// For every change of rows that were there already, the first row it changed: how many there
    /// are is the window's generation, by which cursors notice.
    changes: Vec<usize>,
    /// The act that broke the prefix earliest since the last request, and where.
    rewritten: Option<(Rewrite, usize)>,
    /// Bytes of the encoded pictures among the items.
    picture_bytes: u64,
    /// How many items are ephemeral.
    ephemeral: usize,
    /// Where each module's live block stands.
    blocks: [Option<usize>; BlockKind::ALL.len()],
    /// Where each view that a program opened stands.
    views: HashMap<ViewKey, usize>,
    /// Items before this one have been sent.
    sent: usize,
    /// The file views that may be evicted, by what they cost. Of settled items.
    ranking: Ranking,
}

/// The offered tools as sent, until somebody asks what they cost.
#[derive(Clone)]
enum Toolset {
    Sent(Measured),
    Counted(u64),
}

impl Window {
    /// An empty window.
    ///
    /// `limit` is the working window in tokens, the denominator of every figure of fullness.
    /// `toolset` is the tools array as it is sent, empty where a request offers none. `shape` is
    /// how the model's family is written to.
    pub fn new(limit: u64, toolset: impl Into<Measured>, shape: Shape) -> Self {
        Self {
            limit,
            toolset: Toolset::Sent(toolset.into()),
            system: None,
            prompt: None,
            items: Vec::new(),
            signal: None,
            shape,
            thread: Thread::of(shape),
            ids: Vec::new(),
            calls: HashSet::new(),
            bands: BandTokens::default(),
            settled: 0,
            pool: HashSet::new(),
            logged: 0,
            changes: Vec::new(),
            rewritten: None,
            picture_bytes: 0,
            ephemeral: 0,
            blocks: [None; BlockKind::ALL.len()],
            views: HashMap::new(),
            sent: 0,
            ranking: Ranking::default(),
        }
    }

    /// The working window, tokens.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Fills the system slot. The same text again changes nothing; another one, or a first one
    /// after items were pushed, serializes the window anew.
    pub fn set_system(&mut self, text: impl Into<Measured>) {
        let prompt = text.into();
        let text = Arc::clone(prompt.text());
        if self
            .system
            .as_ref()
            .is_some_and(|item| item.message.text() == &*text)
        {
            return;
        }
        let mut item = Item::from(NewItem::new(Band::System, 0, Message::System { text }));
        item.retention = Retention::Pinned;
        self.prompt = Some(prompt);
        if self.system.is_none() && self.items.is_empty() {
            self.thread.push(&item.message);
            self.ids.push(item.id);
            self.system = Some(item);
        } else {
            self.system = Some(item);
            self.rebuild(Rewrite::SystemPrompt);
        }
    }

    /// Appends an item, and answers its message's id.
    pub fn push(&mut self, item: NewItem) -> MessageId {
        let item = Item::from(item);
        let id = item.id;
        self.enter(item);
        id
    }

    /// Takes an item in at the tail: its bytes, and what is kept up about all items.
    fn enter(&mut self, item: Item) {
        let index = self.items.len();
        self.thread.push(&item.message);
        self.ids.push(item.id);
        self.calls
            .extend(item.message.calls().iter().map(|call| call.id.clone()));
        self.picture_bytes += pictures(&item.message);
        self.ephemeral += usize::from(item.is_ephemeral());
        if let Some(kind) = item.block {
            self.blocks[kind as usize] = Some(index);
        }
        if let Some(key) = ViewKey::of(&item) {
            self.views.insert(key, index);
        }
        self.items.push(item);
    }

    /// Sets or empties the signal slot. A signal is a message of the log like any other; it costs
    /// no band anything.
    pub fn set_signal(&mut self, message: Option<Arc<Message>>) {
        self.signal = message.map(|message| Item::from(NewItem::new(Band::System, 0, message)));
    }

    /// The signal, sent after the thread.
    pub fn signal(&self) -> Option<&Arc<Message>> {
        self.signal.as_ref().map(|item| &item.message)
    }

    /// The system slot's item, where it is filled.
    pub const fn system(&self) -> Option<&Item> {
        self.system.as_ref()
    }

    /// The items in order, without the slots.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The serialized messages of a request that is about to leave, without the signal. Cheap.
    ///
    /// From now on its items have been sent: an edit of one is remembered, and a view among them is
    /// superseded, not replaced.
    pub fn request_thread(&mut self) -> Snapshot {
        for item in &mut self.items[self.sent..] {
            item.sent = true;
        }
        self.sent = self.items.len();
        self.thread.snapshot()
    }

    /// Ids of a request's messages: system, items, signal.
    pub fn ids(&self) -> Vec<MessageId> {
        let mut ids = Vec::with_capacity(self.ids.len() + 1);
        ids.extend_from_slice(&self.ids);
        ids.extend(self.signal.as_ref().map(|item| item.id));
        ids
    }

    /// Whether a call of that id was requested in this window.
    pub fn has_call(&self, id: &CallId) -> bool {
        self.calls.contains(id)
    }

    /// Whether a compaction would find anything to take.
    pub const fn has_ephemeral(&self) -> bool {
        self.ephemeral > 0
    }

    /// The items that are not counted yet and hold more than so many bytes, for whoever counts them
    /// elsewhere: each by its place.
    pub fn uncounted(&self, bytes: usize) -> Vec<(usize, Arc<Message>)> {
        let items = self.items.iter().enumerate().skip(self.settled);
        items
            .filter(|(_, item)| item.tokens.is_none() && size(&item.message) > bytes)
            .map(|(place, item)| (place, Arc::clone(&item.message)))
            .collect()
    }

    /// Takes the tokens of an item of [`Window::uncounted`], where it still stands in its place.
    pub fn counted(&mut self, place: usize, message: &Arc<Message>, tokens: u64) {
        if let Some(item) = self.items.get_mut(place)
            && item.tokens.is_none()
            && Arc::ptr_eq(&item.message, message)
        {
            item.tokens = Some(tokens);
        }
    }

    /// Counts what has not been counted yet.
    pub fn settle(&mut self) {
        if let Toolset::Sent(text) = &self.toolset {
            let tokens = text.tokens();
            self.toolset = Toolset::Counted(tokens);
            self.bands.add(Band::System, tokens);
        }
        if let Some(item) = &mut self.system
            && item.tokens.is_none()
        {
            item.tokens = self.prompt.as_ref().map(Measured::tokens);
            let tokens = item.count();
            self.bands.add(Band::System, tokens);
        }
        for item in &mut self.items[self.settled..] {
            let tokens = item.count();
            self.bands.add(item.band, tokens);
            if let Some(path) = item.evictable_path() {
                self.ranking.add(path, tokens);
            }
        }
        self.settled = self.items.len();
    }

    /// Tokens per band and their sum: tool schemas, system slot, items.
    pub fn breakdown(&mut self) -> (BandTokens, u64) {
        self.settle();
        (self.bands, self.bands.total())
    }

    /// The paths whose file views may be evicted and cost most, at most `count`, largest first:
    /// each with the tokens of all its views. Equal ones stand by path.
    pub fn top_file_views(&mut self, count: usize) -> Vec<(Arc<str>, u64)> {
        self.settle();
        self.ranking.top(count)
    }

    /// Tokens that no compaction can take: tool schemas, system slot, pinned items. Walks over all
    /// items.
    pub fn pinned_tokens(&mut self) -> u64 {
        self.settle();
        let ephemeral = self.items.iter().filter(|item| item.is_ephemeral());
        self.bands.total() - ephemeral.filter_map(Item::tokens).sum::<u64>()
    }

    /// The messages not reported yet, each distinct one once, in order.
    pub fn unlogged(&mut self) -> Vec<LoggedMessage> {
        self.settle();
        if let Some(signal) = &mut self.signal {
            signal.count();
        }
        let mut fresh = Vec::new();
        // The system slot is cheap to look at each time, so that it needs no state of its own.
        let items = self
            .system
            .iter()
            .chain(&self.items[self.logged..])
            .chain(&self.signal);
        for item in items {
            if self.pool.insert(item.id) {
                fresh.push(LoggedMessage {
                    id: item.id,
                    role: item.message.role(),
                    band: item.band,
                    tokens: item.tokens.unwrap_or_default(),
                    label: item.selector.clone(),
                    message: item.message.clone(),
                });
            }
        }
        self.logged = self.items.len();
        fresh
    }

    /// What the list of system and items has become since a cursor: while the window only grows,
    /// the rows are the new ones; after an edit they begin at the first row it changed.
    pub fn since(&self, cursor: Cursor) -> Delta {
        let changes = self.changes.get(cursor.generation..).unwrap_or_default();
        let keep = changes.iter().copied().fold(cursor.rows, usize::min);
        // Both by slice: walking over what is kept would cost every turn the whole window.
        let slot = self.system.as_slice();
        let system = slot.get(keep..).unwrap_or_default();
        let items = &self.items[keep.saturating_sub(slot.len())..];
        let system = system.iter().map(|item| item.row(Slot::System));
        let items = items.iter().map(|item| item.row(Slot::Thread));
        Delta {
            keep,
            rows: system.chain(items).collect(),
            cursor: Cursor {
                rows: self.ids.len(),
                generation: self.changes.len(),
            },
        }
    }

    /// The signal's row, where one is set.
    pub fn signal_row(&self) -> Option<Row> {
        self.signal.as_ref().map(|item| item.row(Slot::Signal))
    }

    /// Bytes of encoded pictures a request carries (R32).
    pub const fn picture_bytes(&self) -> u64 {
        self.picture_bytes
    }

    /// The act that broke the prefix since this was last asked; of several the one that did so
    /// earliest in the window. For the request that follows it.
    pub fn take_rewritten(&mut self) -> Option<Rewrite> {
        self.rewritten.take().map(|(act, _)| act)
    }

    /// The row of an item: its place among a request's messages.
    const fn row_of(&self, index: usize) -> usize {
        index + self.system.as_slice().len()
    }
}

fn pictures(message: &Message) -> u64 {
    message.images().iter().map(Image::encoded_len).sum()
}
/// Bytes of a message that are counted.
fn size(message: &Message) -> usize {
    let calls = message.calls().iter().map(|call| call.arguments.len());
    message.text().len() + calls.sum::<usize>()
}
