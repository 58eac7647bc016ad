//! What becomes of each module when an agent is copied or succeeded: the rows of
//! `agent_transition`, and the roster of whoever comes (02 §3.1, 03 §5.2).
//!
//! | Kind | fork | exec, or an edge that names it | an edge that does not |
//! | --- | --- | --- | --- |
//! | `history` | copied | carried | dropped, and a new one |
//! | `memories` | by scope: copied or linked | carried; linked where the receiver's are shared; dropped, and new, where kept otherwise | dropped, then as new; linked where that is the same store |
//! | `tasks`, `archive`, `skills` | copied | carried | dropped, and new |
//! | `board` | linked | carried | carried |
//!
//! What the receiver's profile has off is dropped, what only it has is initialized.
//!
//! Always true: a copy and a share leave the original's stores where they are; a store that is
//! carried keeps its id, one that is copied gets a new one.

use vocab::band::Band;
use vocab::knowledge::{MemoryScope, MemoryStrategy};

use super::memories::{StartedAs, StoreSource, resolve};
use super::roster::{self, ModuleSet, Start, StoreIds, StrategyClash, agree, board, fresh};
use super::{ModuleKind, ModuleOrigin, RosterRow};

/// How one agent comes of another.
#[derive(Clone, Copy, Debug)]
pub enum Passage<'a> {
    /// It is a copy, under the same profile; the original goes on.
    Fork,
    /// It succeeds it, and gets whatever both profiles have.
    Exec,
    /// It succeeds it out of a machine's state, and gets what the edge names.
    Transition(&'a [ModuleKind]),
}

impl Passage<'_> {
    fn carries(self, kind: ModuleKind) -> bool {
        match self {
            Self::Fork | Self::Exec => true,
            // A run with a board has it everywhere.
            Self::Transition(named) => named.contains(&kind) || kind == ModuleKind::Board,
        }
    }
}

/// What became of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// It moved, live.
    Carried,
    /// The newcomer has a copy of its own.
    Copied,
    /// The newcomer shares a store.
    Linked,
    /// It was let go of; where the newcomer has the kind on, it starts anew.
    Dropped,
    /// Only the newcomer has it.
    Initialized,
    /// Neither has it.
    Absent,
}

impl Disposition {
    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Carried => "carried",
            Self::Copied => "copied",
            Self::Linked => "linked",
            Self::Dropped => "dropped",
            Self::Initialized => "initialized",
            Self::Absent => "absent",
        }
    }
}

/// Why a module was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The receiver has it off.
    Off,
    /// The edge does not name it.
    NotNamed,
    /// The receiver keeps memories in another way.
    Strategy {
        /// How these are kept.
        from: MemoryStrategy,
        /// How the receiver keeps its own.
        to: MemoryStrategy,
    },
}

/// One module of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoverRow {
    /// Its kind.
    pub kind: ModuleKind,
    /// What became of it.
    pub disposition: Disposition,
    /// The store of whoever was there.
    pub from: Option<String>,
    /// The store of whoever comes.
    pub to: Option<String>,
    /// Why it was dropped, where it was.
    pub reason: Option<DropReason>,
}

/// All modules of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    /// A row a kind.
    pub rows: Vec<HandoverRow>,
    /// What the newcomer holds.
    pub roster: Vec<RosterRow>,
}

impl Handover {
    /// What became of a kind.
    pub fn of(&self, kind: ModuleKind) -> Option<&HandoverRow> {
        self.rows.iter().find(|row| row.kind == kind)
    }

    fn history_comes(&self) -> bool {
        self.of(ModuleKind::History).is_some_and(|row| {
            matches!(row.disposition, Disposition::Carried | Disposition::Copied)
        })
    }

    /// The bands of a carried window whose pinned items become ordinary history, since the module
    /// they show was dropped.
    pub fn demoted(&self) -> Vec<Band> {
        if !self.history_comes() {
            return Vec::new();
        }
        let dropped = self
            .rows
            .iter()
            .filter(|row| row.disposition == Disposition::Dropped);
        dropped.filter_map(|row| row.kind.pinned_band()).collect()
    }

    /// Whether the skills that were read are to be forgotten: the window that held them did not
    /// come along.
    pub fn forgets_skills(&self) -> bool {
        !self.history_comes()
    }
}

/// A passage that cannot be: a launch refuses it where it can be seen there, so that met live it
/// is a defect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandoverFault {
    /// An edge names a module that is not there.
    #[error("the edge hands over `{}`, which the agent does not hold", .0.as_str())]
    NotHeld(ModuleKind),
    /// Memories that cannot be shared.
    #[error(transparent)]
    Clash(#[from] StrategyClash),
}

/// What becomes of an agent's modules.
///
/// `from` is its roster, `set` the profile of whoever comes. `lineage` is how the lineage began,
/// which is how a successor starts with what is not handed over; a fork begins none.
pub fn hand_over(
    stores: &mut StoreIds,
    passage: Passage<'_>,
    from: &[RosterRow],
    set: &ModuleSet,
    lineage: Start<'_>,
) -> Result<Handover, HandoverFault> {
    let held = |kind| {
        from.iter()
            .find(|row| row.kind == kind && row.store.is_some())
    };
    if let Passage::Transition(named) = passage
        && let Some(kind) = named.iter().find(|kind| held(**kind).is_none())
    {
        return Err(HandoverFault::NotHeld(*kind));
    }
    let mut handover = Handover {
        rows: Vec::with_capacity(ModuleKind::ALL.len()),
        roster: Vec::with_capacity(ModuleKind::ALL.len()),
    };
    for kind in ModuleKind::ALL {
        let before = held(kind);
        let mut comes = Comes {
            kind,
            stores,
            set,
            lineage,
        };
        let (disposition, after, reason) = comes.resolve(passage, before)?;
        handover.rows.push(HandoverRow {
            kind,
            disposition,
            from: before.and_then(|row| row.store.clone()),
            to: after.store.clone(),
            reason,
        });
        handover.roster.push(after);
    }
    Ok(handover)
}

/// One kind of whoever comes.
struct Comes<'a> {
    kind: ModuleKind,
    stores: &'a mut StoreIds,
    set: &'a ModuleSet,
    lineage: Start<'a>,
}

type Outcome = (Disposition, RosterRow, Option<DropReason>);

impl Comes<'_> {
    fn resolve(
        &mut self,
        passage: Passage<'_>,
        before: Option<&RosterRow>,
    ) -> Result<Outcome, StrategyClash> {
        let Some(before) = before else {
            let after = self.fresh()?;
            let disposition = if after.store.is_some() {
                Disposition::Initialized
            } else {
                Disposition::Absent
            };
            return Ok((disposition, after, None));
        };
        if self.kind == ModuleKind::Board {
            let disposition = match passage {
                Passage::Fork => Disposition::Linked,
                Passage::Exec | Passage::Transition(_) => Disposition::Carried,
            };
            return Ok((disposition, board(self.set, before.store.as_deref()), None));
        }
        if !self.set.has(self.kind) {
            return self.dropped(before, DropReason::Off);
        }
        if !passage.carries(self.kind) {
            return self.dropped(before, DropReason::NotNamed);
        }
        match (self.kind, self.set.memories) {
            (ModuleKind::Memories, Some(memories)) => self.memories(passage, before, memories),
            _ => Ok(match passage {
                Passage::Fork => self.copied(),
                Passage::Exec | Passage::Transition(_) => self.carried(before, true),
            }),
        }
    }

    fn memories(
        &mut self,
        passage: Passage<'_>,
        before: &RosterRow,
        memories: roster::MemorySetting,
    ) -> Result<Outcome, StrategyClash> {
        let started = match passage {
            Passage::Fork => StartedAs::Fork,
            Passage::Exec | Passage::Transition(_) => StartedAs::Successor,
        };
        let binding = resolve(memories.scope, started, true);
        if started == StartedAs::Successor
            && memories.scope != MemoryScope::Shared
            && let Err(clash) = agree(before, memories)
        {
            let (from, to) = (clash.theirs, clash.own);
            return self.dropped(before, DropReason::Strategy { from, to });
        }
        if binding.store.comes_from_another() {
            agree(before, memories)?;
        }
        let linked = |store: Option<String>| {
            let origin = binding.store.origin();
            roster::row(self.kind, self.set, store, origin, binding.writable)
        };
        Ok(match binding.store {
            StoreSource::Profile => {
                let store = self.stores.of_profile(&self.set.profile);
                let kept = started == StartedAs::Successor && before.store.as_ref() == Some(&store);
                let disposition = if kept {
                    Disposition::Carried
                } else {
                    Disposition::Linked
                };
                (disposition, linked(Some(store)), None)
            }
            StoreSource::Spawner => (Disposition::Linked, linked(before.store.clone()), None),
            StoreSource::Copy | StoreSource::Own => self.copied(),
            StoreSource::Transferred => self.carried(before, binding.writable),
        })
    }

    fn copied(&mut self) -> Outcome {
        let store = self.stores.mint(self.kind);
        let after = roster::row(self.kind, self.set, Some(store), ModuleOrigin::Forked, true);
        (Disposition::Copied, after, None)
    }

    fn carried(&self, before: &RosterRow, writable: bool) -> Outcome {
        let store = before.store.clone();
        let origin = ModuleOrigin::Transferred;
        let after = roster::row(self.kind, self.set, store, origin, writable);
        (Disposition::Carried, after, None)
    }

    /// Lets go of a module and starts as the lineage did. Shared and inherited memories may then
    /// be the same again: whoever comes is linked to them anew.
    fn dropped(
        &mut self,
        before: &RosterRow,
        reason: DropReason,
    ) -> Result<Outcome, StrategyClash> {
        let after = self.fresh()?;
        Ok(if after.store == before.store {
            (Disposition::Linked, after, None)
        } else {
            (Disposition::Dropped, after, Some(reason))
        })
    }

    fn fresh(&mut self) -> Result<RosterRow, StrategyClash> {
        fresh(self.kind, self.stores, self.set, self.lineage)
    }
}

#[cfg(test)]
mod tests;
