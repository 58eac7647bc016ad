//! What a holder of linked memories has not been told yet (02 §9.5).
//!
//! A holder knows the store as it was when it came, plus what it was told, plus what it wrote
//! itself. Per memory it is enough to remember whether the memory existed when the holder last
//! knew it: what the line says follows from whether it exists now.
//!
//! Always true: a write of another holder shows in exactly one piece of news, unless the memory is
//! gone again before the holder ever knew of it, or the holder has itself replaced the whole
//! memory since. A holder's own write never shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::store::WriteKind;

/// What became of a memory, seen from one holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NetChange {
    /// It is new.
    Added,
    /// It is another.
    Updated,
    /// It is gone.
    Deleted,
}

/// One memory of a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeLine {
    /// What became of it.
    pub change: NetChange,
    /// Its name.
    pub name: Arc<str>,
    /// Its description, unless it is gone or has none.
    pub description: Option<Arc<str>>,
    /// Its body, unless it is gone.
    pub body: Option<Arc<str>>,
}

/// What a boundary has to tell a holder, once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Whether another holder wrote since the last time, so that this holder's `memory_state` is
    /// out of date.
    pub changed: bool,
    /// A line a memory, in order of names. Empty: no notice.
    pub lines: Vec<NoticeLine>,
    /// Whether the holder itself wrote since the last time, so that its block is rebuilt (R5).
    pub wrote: bool,
}

/// A holder of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    /// Whether it may write.
    pub(super) writable: bool,
    /// Memories others wrote: whether each existed when the holder last knew it.
    pending: BTreeMap<Arc<str>, bool>,
    changed: bool,
    wrote: bool,
}

impl Holder {
    /// A holder that knows the store as it is.
    pub(super) const fn new(writable: bool) -> Self {
        Self {
            writable,
            pending: BTreeMap::new(),
            changed: false,
            wrote: false,
        }
    }

    /// Another holder wrote; `existed` is whether the memory was there before.
    pub(super) fn hears(&mut self, name: &Arc<str>, existed: bool) {
        self.changed = true;
        self.pending.entry(Arc::clone(name)).or_insert(existed);
    }

    /// The holder wrote. Whoever gives a memory whole knows it; an edit shows nothing of what
    /// others did around it.
    pub(super) fn writes(&mut self, name: &str, kind: WriteKind) {
        self.wrote = true;
        if kind != WriteKind::Edited {
            self.pending.remove(name);
        }
    }

    /// What there is to tell, and forgets it.
    pub(super) fn take_news<'a>(
        &mut self,
        now: impl Fn(&str) -> Option<&'a super::Memory>,
    ) -> News {
        let pending = std::mem::take(&mut self.pending);
        let line = |(name, existed): (Arc<str>, bool)| {
            let memory = now(&name);
            let change = match (existed, memory) {
                (false, Some(_)) => NetChange::Added,
                (true, Some(_)) => NetChange::Updated,
                (true, None) => NetChange::Deleted,
                (false, None) => return None,
            };
            Some(NoticeLine {
                change,
                name,
                description: memory.and_then(|memory| memory.description.clone()),
                body: memory.map(|memory| Arc::clone(&memory.body)),
            })
        };
        News {
            changed: std::mem::take(&mut self.changed),
            lines: pending.into_iter().filter_map(line).collect(),
            wrote: std::mem::take(&mut self.wrote),
        }
    }
}
