//! Which modules an agent holds: the rows of `agent_modules` (02 §3.3, 06 §2.3).
//!
//! Always true: a roster has a row for every kind, switched-off ones too; an agent holds a history
//! of its own; a store's id is minted once in a run.

use std::collections::BTreeMap;

use vocab::ids::Slug;
use vocab::knowledge::{MemoryScope, MemoryStrategy};

use super::ModuleKind;
use super::memories::{StartedAs, StoreSource, resolve};

/// How an agent came by a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModuleOrigin {
    /// It was made for this agent.
    Created,
    /// It is linked to that of the agent that started this one.
    Inherited,
    /// It is its profile's.
    Profile,
    /// It is the run's.
    Run,
    /// Its predecessor handed it over.
    Transferred,
    /// It is a copy of that of the agent this one is a copy of.
    Forked,
    /// The agent does not hold it.
    Absent,
}

impl ModuleOrigin {
    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Inherited => "inherited",
            Self::Profile => "profile",
            Self::Run => "run",
            Self::Transferred => "transferred",
            Self::Forked => "forked",
            Self::Absent => "absent",
        }
    }
}

/// Numbers the stores of a run, kind by kind: `history-0`, `history-1`, `tasks-0`; and knows the
/// memories that profiles share.
#[derive(Clone, Debug, Default)]
pub struct StoreIds {
    next: [u64; ModuleKind::ALL.len()],
    of_profiles: BTreeMap<Slug, String>,
}

impl StoreIds {
    /// The next store's id.
    pub fn mint(&mut self, kind: ModuleKind) -> String {
        let next = &mut self.next[kind as usize];
        let id = format!("{}-{next}", kind.as_str());
        *next += 1;
        id
    }

    /// The one store of memories of a profile, minted when it is first asked for.
    pub fn of_profile(&mut self, profile: &Slug) -> String {
        if let Some(id) = self.of_profiles.get(profile) {
            return id.clone();
        }
        let id = self.mint(ModuleKind::Memories);
        self.of_profiles.insert(profile.clone(), id.clone());
        id
    }
}

/// One module of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterRow {
    /// Its kind.
    pub kind: ModuleKind,
    /// Its store, where the agent holds one.
    pub store: Option<String>,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Whether the prompt carries it.
    pub carried: bool,
    /// How the agent came by it.
    pub origin: ModuleOrigin,
    /// Whether the agent may write to it; true where no access model exists.
    pub writable: bool,
    /// Of memories: whose they are, as declared.
    pub scope: Option<MemoryScope>,
    /// Of memories: how they are kept.
    pub strategy: Option<MemoryStrategy>,
}

/// What a profile says of its agents' modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSet {
    /// The profile.
    pub profile: Slug,
    /// Its memories, where they are on.
    pub memories: Option<MemorySetting>,
    /// Whether it has a task list.
    pub tasks: bool,
    /// Whether it works on the board.
    pub board: bool,
    /// Whether it has skills.
    pub skills: bool,
    /// Whether it may archive.
    pub archive: bool,
}

/// What a profile says of its agents' memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySetting {
    /// How they are kept.
    pub strategy: MemoryStrategy,
    /// Whose they are.
    pub scope: MemoryScope,
}

impl ModuleSet {
    /// A profile without any module but the window.
    pub const fn bare(profile: Slug) -> Self {
        Self {
            profile,
            memories: None,
            tasks: false,
            board: false,
            skills: false,
            archive: false,
        }
    }

    /// Whether a kind is on.
    pub const fn has(&self, kind: ModuleKind) -> bool {
        match kind {
            ModuleKind::History => true,
            ModuleKind::Memories => self.memories.is_some(),
            ModuleKind::Tasks => self.tasks,
            ModuleKind::Board => self.board,
            ModuleKind::Skills => self.skills,
            ModuleKind::Archive => self.archive,
        }
    }
}

/// Two agents would share memories that they keep in different ways: refused at launch where it
/// can be seen there, a defect where it is met live.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("memories kept as {theirs} cannot be shared with a profile that keeps them as {own}")]
pub struct StrategyClash {
    /// How the store's memories are kept.
    pub theirs: MemoryStrategy,
    /// How the profile keeps its own.
    pub own: MemoryStrategy,
}

/// How a fresh agent starts.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// As what.
    pub started: StartedAs,
    /// The memories of the agent that started it, where there is one.
    pub spawner: Option<&'a RosterRow>,
    /// The run's board, where there is one.
    pub board: Option<&'a str>,
}

/// The modules of a fresh agent: everything its profile has on, with stores of its own, but for
/// the run's board and memories that its scope links.
pub fn open(
    stores: &mut StoreIds,
    set: &ModuleSet,
    start: Start<'_>,
) -> Result<Vec<RosterRow>, StrategyClash> {
    ModuleKind::ALL
        .into_iter()
        .map(|kind| fresh(kind, stores, set, start))
        .collect()
}

/// The row of a kind for a fresh agent.
pub(super) fn fresh(
    kind: ModuleKind,
    stores: &mut StoreIds,
    set: &ModuleSet,
    start: Start<'_>,
) -> Result<RosterRow, StrategyClash> {
    if kind == ModuleKind::Board {
        return Ok(board(set, start.board));
    }
    if let (ModuleKind::Memories, Some(memories)) = (kind, set.memories) {
        let theirs = start.spawner.filter(|row| row.store.is_some());
        let binding = resolve(memories.scope, start.started, theirs.is_some());
        let store = match (binding.store, theirs) {
            (StoreSource::Profile, _) => stores.of_profile(&set.profile),
            (StoreSource::Spawner, Some(row)) => {
                agree(row, memories)?;
                row.store.clone().unwrap_or_default()
            }
            _ => stores.mint(kind),
        };
        let origin = binding.store.origin();
        return Ok(row(kind, set, Some(store), origin, binding.writable));
    }
    if set.has(kind) {
        let store = stores.mint(kind);
        return Ok(row(kind, set, Some(store), ModuleOrigin::Created, true));
    }
    Ok(row(kind, set, None, ModuleOrigin::Absent, true))
}

/// The board's row: whoever runs while there is one holds it.
pub(super) fn board(set: &ModuleSet, board: Option<&str>) -> RosterRow {
    let origin = match board {
        Some(_) => ModuleOrigin::Run,
        None => ModuleOrigin::Absent,
    };
    row(
        ModuleKind::Board,
        set,
        board.map(str::to_owned),
        origin,
        true,
    )
}

/// A row as a profile makes it.
pub(super) fn row(
    kind: ModuleKind,
    set: &ModuleSet,
    store: Option<String>,
    origin: ModuleOrigin,
    writable: bool,
) -> RosterRow {
    let memories = set.memories.filter(|_| kind == ModuleKind::Memories);
    let strategy = memories.map(|memories| memories.strategy);
    RosterRow {
        kind,
        enabled: set.has(kind),
        carried: store.is_some() && set.has(kind) && kind.in_prompt(strategy),
        store,
        origin,
        writable,
        scope: memories.map(|memories| memories.scope),
        strategy,
    }
}

/// Whether memories of another agent can be read by this profile's.
pub(super) fn agree(theirs: &RosterRow, own: MemorySetting) -> Result<(), StrategyClash> {
    match theirs.strategy {
        Some(theirs) if theirs != own.strategy => Err(StrategyClash {
            theirs,
            own: own.strategy,
        }),
        _ => Ok(()),
    }
}
