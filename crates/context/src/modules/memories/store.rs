//! One notebook: its memories, its limits, its revisions and its holders.
//!
//! Always true:
//! - A refused call changes nothing and makes no revision.
//! - Totals are the sums over the memories; peaks never fall.
//! - A limit is exceeded only by what was there when a transfer tightened it.
//! - Revision numbers of a name rise by one a write, over its deletion too.

use std::collections::BTreeMap;
use std::sync::Arc;

use vocab::ids::AgentId;
use vocab::knowledge::{MemoryLimits, MemoryStrategy};

use super::limits::Proposed;
use super::notices::{Holder, News};
use super::search::{self, Hit};
use super::{MemoryCall, MemoryCode, MemoryError, MemoryPolicy, MemoryTotals};
use crate::modules::{Module, ModuleKind};

/// One memory; its name is its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// One line; `None` only where none is shown.
    pub description: Option<Arc<str>>,
    /// The text.
    pub body: Arc<str>,
    /// Characters of the text.
    pub chars: u64,
    /// Lines of the text.
    pub lines: u64,
    /// The code it carries.
    pub code: MemoryCode,
}

impl Memory {
    fn new(description: Option<Arc<str>>, body: Arc<str>, code: MemoryCode) -> Self {
        Self {
            code,
            chars: chars(&body),
            lines: body.lines().count() as u64,
            description,
            body,
        }
    }
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

/// How a memory was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// It came.
    Created,
    /// Description and body were replaced.
    Replaced,
    /// A place of the body was replaced.
    Edited,
    /// It went.
    Deleted,
}

/// One successful write, as `memory_revision` reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The memory.
    pub name: Arc<str>,
    /// From 1; goes on after a deletion.
    pub number: u64,
    /// The whole text it has now; `None` where it went.
    pub text: Option<Arc<str>>,
    /// The description it has now.
    pub description: Option<Arc<str>>,
    /// The code it has now.
    pub code: MemoryCode,
}

/// How full a store is. A limit that does not apply is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUsage {
    /// How its memories are kept.
    pub strategy: MemoryStrategy,
    /// What they come to.
    pub totals: MemoryTotals,
    /// Characters of the index, where there is one.
    pub index_chars: Option<u64>,
    /// What they may come to.
    pub limits: MemoryLimits,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// How.
    pub kind: WriteKind,
    /// What it made of the memory.
    pub revision: Revision,
    /// How full the store is now.
    pub usage: MemoryUsage,
}

/// What a call answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryAnswer {
    /// A write was carried out.
    Written(Written),
    /// A memory that was read.
    Body {
        /// Its body.
        body: Arc<str>,
        /// The code it carries, which a program's reading loads.
        code: MemoryCode,
    },
    /// What a search found.
    Hits(Vec<Hit>),
}

/// A store as `memory_state` shows it to one holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryState {
    /// How memories are kept.
    pub strategy: MemoryStrategy,
    /// The memories, by name.
    pub memories: Vec<MemoryRow>,
    /// What they come to.
    pub totals: MemoryTotals,
    /// The limits as configured, those that do not apply too.
    pub limits: MemoryLimits,
    /// The most there ever was.
    pub peaks: MemoryTotals,
    /// Whether this holder may write.
    pub writable: bool,
}

/// A memory of a state, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRow {
    /// Its name.
    pub name: Arc<str>,
    /// Its description.
    pub description: Option<Arc<str>>,
    /// Characters of its body.
    pub chars: u64,
    /// Lines of its body.
    pub lines: u64,
}

/// A store of memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryStore {
    policy: MemoryPolicy,
    memories: BTreeMap<Arc<str>, Memory>,
    /// The last revision of every name there ever was.
    revisions: BTreeMap<Arc<str>, u64>,
    totals: MemoryTotals,
    /// Characters of the lines of the index, without the line ends between them.
    index_lines: u64,
    peaks: MemoryTotals,
    holders: BTreeMap<AgentId, Holder>,
}

impl MemoryStore {
    /// An empty store that nobody holds.
    pub const fn new(policy: MemoryPolicy) -> Self {
        const NOTHING: MemoryTotals = MemoryTotals {
            count: 0,
            chars: 0,
            lines: 0,
        };
        Self {
            policy,
            memories: BTreeMap::new(),
            revisions: BTreeMap::new(),
            totals: NOTHING,
            index_lines: 0,
            peaks: NOTHING,
            holders: BTreeMap::new(),
        }
    }

    /// How memories are kept, and how much of them.
    pub const fn policy(&self) -> MemoryPolicy {
        self.policy
    }

    /// The memories, by name.
    pub fn memories(&self) -> impl Iterator<Item = (&Arc<str>, &Memory)> {
        self.memories.iter()
    }

    /// Makes an agent a holder. It knows the store as it is: earlier writes are no news to it.
    pub fn attach(&mut self, holder: AgentId, writable: bool) {
        self.holders.insert(holder, Holder::new(writable));
    }

    /// Takes an agent off the holders, and answers whether any is left.
    pub fn detach(&mut self, holder: &AgentId) -> bool {
        self.holders.remove(holder);
        !self.holders.is_empty()
    }

    /// Puts a successor in its predecessor's place: it is told what the predecessor was not yet.
    pub fn succeed(&mut self, predecessor: &AgentId, successor: AgentId, writable: bool) {
        let mut holder = self
            .holders
            .remove(predecessor)
            .unwrap_or_else(|| Holder::new(writable));
        holder.writable = writable;
        self.holders.insert(successor, holder);
    }

    /// Whether more than one agent holds it.
    pub fn is_linked(&self) -> bool {
        self.holders.len() > 1
    }

    /// Carries out a call of a holder.
    pub fn apply(
        &mut self,
        holder: &AgentId,
        call: MemoryCall,
    ) -> Result<MemoryAnswer, MemoryError> {
        let held = self.holders.get(holder).ok_or(MemoryError::NotHeld)?;
        let writes = !matches!(call, MemoryCall::Read { .. } | MemoryCall::Search { .. });
        if writes && !held.writable {
            return Err(MemoryError::ReadOnly(self.policy.strategy));
        }
        let (kind, name, memory) = match call {
            MemoryCall::Read { name } => {
                let memory = self.get(&name)?;
                return Ok(MemoryAnswer::Body {
                    body: Arc::clone(&memory.body),
                    code: memory.code.clone(),
                });
            }
            MemoryCall::Search { keywords } => {
                let max = self.policy.limits.max_results;
                let hits = search::search(self.memories.iter(), &keywords, max);
                return Ok(MemoryAnswer::Hits(hits));
            }
            MemoryCall::Create {
                name,
                description,
                body,
                code,
            } => {
                if self.memories.contains_key(name.as_str()) {
                    return Err(MemoryError::Taken(name));
                }
                let memory = Memory::new(description.map(Arc::from), body.into(), code);
                (WriteKind::Created, name, Some(memory))
            }
            MemoryCall::Replace {
                name,
                description,
                body,
                code,
            } => {
                let held = self.get(&name)?;
                let code = code.unwrap_or_else(|| held.code.clone());
                let memory = Memory::new(description.map(Arc::from), body.into(), code);
                (WriteKind::Replaced, name, Some(memory))
            }
            MemoryCall::Edit { name, old, new } => {
                let edited = self.edited(&name, &old, &new)?;
                (WriteKind::Edited, name, Some(edited))
            }
            MemoryCall::Delete { name } => {
                self.get(&name)?;
                (WriteKind::Deleted, name, None)
            }
        };
        if let Some(memory) = &memory {
            self.admit(kind, &name, memory)?;
        }
        Ok(MemoryAnswer::Written(self.put(holder, kind, name, memory)))
    }

    /// What a boundary has to tell a holder. Asked again, nothing.
    pub fn take_news(&mut self, holder: &AgentId) -> News {
        let memories = &self.memories;
        self.holders
            .get_mut(holder)
            .map(|holder| holder.take_news(|name| memories.get(name)))
            .unwrap_or_default()
    }

    /// The store as a holder's `memory_state` shows it.
    pub fn state(&self, holder: &AgentId) -> MemoryState {
        let row = |(name, memory): (&Arc<str>, &Memory)| MemoryRow {
            name: Arc::clone(name),
            description: memory.description.clone(),
            chars: memory.chars,
            lines: memory.lines,
        };
        MemoryState {
            strategy: self.policy.strategy,
            memories: self.memories.iter().map(row).collect(),
            totals: self.totals,
            limits: self.policy.limits,
            peaks: self.peaks,
            writable: self
                .holders
                .get(holder)
                .is_some_and(|holder| holder.writable),
        }
    }

    /// How full it is.
    pub fn usage(&self) -> MemoryUsage {
        let strategy = self.policy.strategy;
        MemoryUsage {
            strategy,
            totals: self.totals,
            index_chars: (strategy == MemoryStrategy::Markdown)
                .then(|| index_chars(self.index_lines, self.totals.count)),
            limits: self.policy.limits.of(strategy),
        }
    }

    fn get(&self, name: &str) -> Result<&Memory, MemoryError> {
        self.memories.get(name).ok_or_else(|| MemoryError::Unknown {
            name: name.to_owned(),
            held: self.memories.keys().map(ToString::to_string).collect(),
        })
    }

    fn edited(&self, name: &str, old: &str, new: &str) -> Result<Memory, MemoryError> {
        let memory = self.get(name)?;
        // Places may overlap, and each of them is one the edit may mean.
        let places: Vec<_> = places(&memory.body, old).collect();
        let body = match places.as_slice() {
            [] => return Err(MemoryError::Absent(name.to_owned())),
            [place] => {
                let (before, after) = (&memory.body[..*place], &memory.body[place + old.len()..]);
                [before, new, after].concat()
            }
            places => {
                return Err(MemoryError::Several {
                    name: name.to_owned(),
                    times: places.len(),
                });
            }
        };
        if body.trim().is_empty() {
            return Err(MemoryError::Emptied(name.to_owned()));
        }
        Ok(Memory::new(
            memory.description.clone(),
            body.into(),
            memory.code.clone(),
        ))
    }

    /// Refuses a write that would breach a limit.
    fn admit(&self, kind: WriteKind, name: &str, memory: &Memory) -> Result<(), MemoryError> {
        let before = self.memories.get(name);
        let described = kind != WriteKind::Edited;
        let lines = self.index_lines - before.map_or(0, |memory| index_line(name, memory))
            + index_line(name, memory);
        let count = self.totals.count + u64::from(before.is_none());
        memory.code.admit()?;
        self.policy.admit(Proposed {
            description: memory
                .description
                .as_deref()
                .filter(|_| described)
                .map(chars),
            body: Some(memory.chars),
            count: before.is_none().then_some(count),
            total: Some(self.totals.chars - before.map_or(0, |memory| memory.chars) + memory.chars),
            index: described.then(|| index_chars(lines, count)),
        })
    }

    /// Puts a memory in its place, or takes it away, and tells the holders.
    fn put(
        &mut self,
        by: &AgentId,
        kind: WriteKind,
        name: String,
        memory: Option<Memory>,
    ) -> Written {
        let name: Arc<str> = match self.memories.get_key_value(name.as_str()) {
            Some((name, _)) => Arc::clone(name),
            None => name.into(),
        };
        let (text, description, code) = match &memory {
            Some(memory) => (
                Some(Arc::clone(&memory.body)),
                memory.description.clone(),
                memory.code.clone(),
            ),
            None => (None, None, MemoryCode::default()),
        };
        if let Some(memory) = &memory {
            self.totals.count += 1;
            self.totals.chars += memory.chars;
            self.totals.lines += memory.lines;
            self.index_lines += index_line(&name, memory);
        }
        let before = match memory {
            Some(memory) => self.memories.insert(Arc::clone(&name), memory),
            None => self.memories.remove(&name),
        };
        if let Some(memory) = &before {
            self.totals.count -= 1;
            self.totals.chars -= memory.chars;
            self.totals.lines -= memory.lines;
            self.index_lines -= index_line(&name, memory);
        }
        let (peaks, totals) = (&mut self.peaks, self.totals);
        peaks.count = peaks.count.max(totals.count);
        peaks.chars = peaks.chars.max(totals.chars);
        peaks.lines = peaks.lines.max(totals.lines);
        for (agent, holder) in &mut self.holders {
            if agent == by {
                holder.writes(&name, kind);
            } else {
                holder.hears(&name, before.is_some());
            }
        }
        let number = self.revisions.entry(Arc::clone(&name)).or_default();
        *number += 1;
        Written {
            kind,
            revision: Revision {
                name,
                number: *number,
                text,
                description,
                code,
            },
            usage: self.usage(),
        }
    }
}

/// Characters of a memory's line of the index: ``- `name` — description``.
fn index_line(name: &str, memory: &Memory) -> u64 {
    let description = memory
        .description
        .as_deref()
        .map_or(0, |text| 3 + chars(text));
    4 + chars(name) + description
}

/// Characters of an index of so many lines.
const fn index_chars(lines: u64, count: u64) -> u64 {
    lines + count.saturating_sub(1)
}

/// Every place where a text occurs in another, overlapping ones too. `old` is not empty.
fn places<'a>(text: &'a str, old: &'a str) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let place = from + text.get(from..)?.find(old)?;
        from = place + old.chars().next()?.len_utf8();
        Some(place)
    })
}

impl Module for MemoryStore {
    const KIND: ModuleKind = ModuleKind::Memories;
    type Shape = MemoryPolicy;

    /// The copy has its revisions and peaks, and no holder.
    fn copy(&self) -> Self {
        Self {
            holders: BTreeMap::new(),
            ..self.clone()
        }
    }

    /// Memories kept in one way cannot be read in another. Caps are re-pointed for a sole holder
    /// only: others were promised the ones there are.
    fn rebind(&mut self, shape: &MemoryPolicy) -> bool {
        if shape.strategy != self.policy.strategy {
            return false;
        }
        if !self.is_linked() {
            self.policy = *shape;
        }
        true
    }
}
