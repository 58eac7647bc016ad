//! The six kinds of module an agent holds.
//!
//! A [`Module`] is one unit of per-agent state with fixed answers for a copy and for a new owner.
//! The window is one too ([`ModuleKind::History`]), and stands in [`crate::window`]; the board is
//! the run's, and an agent holds no more than its address. [`roster`] says which modules an agent
//! starts with, [`handover`] what becomes of each when an agent is copied or succeeded.

mod find;
mod name;

pub mod archive;
pub mod handover;
pub mod memories;
pub mod roster;
pub mod skills;
pub mod tasks;

use vocab::band::Band;
use vocab::knowledge::MemoryStrategy;

pub use name::{BadName, NotOneLine};
pub use roster::{ModuleOrigin, RosterRow, StoreIds};

/// A kind of module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModuleKind {
    /// The window.
    History,
    /// Knowledge the model curates.
    Memories,
    /// A list of to-dos with edges.
    Tasks,
    /// The run's board.
    Board,
    /// Pre-authored knowledge.
    Skills,
    /// Archived thread entries.
    Archive,
}

impl ModuleKind {
    /// Every kind, in the order of a roster.
    pub const ALL: [Self; 6] = [
        Self::History,
        Self::Memories,
        Self::Tasks,
        Self::Board,
        Self::Skills,
        Self::Archive,
    ];

    /// Its name on the wire and in a transition's `transfer`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Memories => "memories",
            Self::Tasks => "tasks",
            Self::Board => "board",
            Self::Skills => "skills",
            Self::Archive => "archive",
        }
    }

    /// Whether the prompt carries it, memories by how they are kept.
    pub const fn in_prompt(self, memories: Option<MemoryStrategy>) -> bool {
        match self {
            Self::History | Self::Tasks | Self::Skills => true,
            Self::Memories => match memories {
                Some(strategy) => strategy.in_window(),
                None => false,
            },
            Self::Board | Self::Archive => false,
        }
    }

    /// The band of what it pins into the window; that becomes ordinary history when the module is
    /// dropped and the window is not.
    pub const fn pinned_band(self) -> Option<Band> {
        match self {
            Self::Memories => Some(Band::Memory),
            Self::Tasks => Some(Band::TaskList),
            Self::Skills => Some(Band::Skill),
            Self::History | Self::Board | Self::Archive => None,
        }
    }
}

/// One unit of per-agent state.
pub trait Module: Sized {
    /// Its kind.
    const KIND: ModuleKind;

    /// What the profile of its owner says of it: caps, mode, catalogue.
    type Shape;

    /// A store of its own for a copy of its owner: the same contents, counters going on.
    #[must_use]
    fn copy(&self) -> Self;

    /// Re-resolves a module that was handed over against its new owner's profile. Contents stay
    /// as they are, whatever caps say from now on. False where they cannot be read under that
    /// shape: then nothing has changed, and the owner starts anew.
    #[must_use]
    fn rebind(&mut self, shape: &Self::Shape) -> bool;
}
