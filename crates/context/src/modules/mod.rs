//! The six kinds of module an agent holds, and the roster that tells a record which it has.
//!
//! Pure data: a row becomes one row of `agent_modules`. Only `history` exists yet, which is the
//! [window](crate::window) itself; the rows of the other kinds say that they are absent.

/// A kind of module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
}

/// How an agent came by a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModuleOrigin {
    /// It was made for this agent.
    Created,
    /// The agent does not hold it.
    Absent,
}

impl ModuleOrigin {
    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Absent => "absent",
        }
    }
}

/// Numbers the stores of a run, kind by kind: `history-0`, `history-1`, `tasks-0`.
#[derive(Clone, Debug, Default)]
pub struct StoreIds([u64; ModuleKind::ALL.len()]);

impl StoreIds {
    /// The next store's id.
    pub fn mint(&mut self, kind: ModuleKind) -> String {
        let next = &mut self.0[kind as usize];
        let id = format!("{}-{next}", kind.as_str());
        *next += 1;
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
}

/// The roster of a fresh agent: its history, and a row for each kind it does not hold.
pub fn roster(stores: &mut StoreIds) -> Vec<RosterRow> {
    let row = |kind| {
        let held = kind == ModuleKind::History;
        RosterRow {
            kind,
            store: held.then(|| stores.mint(kind)),
            enabled: held,
            carried: held,
            origin: if held {
                ModuleOrigin::Created
            } else {
                ModuleOrigin::Absent
            },
            writable: true,
        }
    };
    ModuleKind::ALL.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_row_for_every_kind_and_a_history_of_its_own() {
        let mut stores = StoreIds::default();
        let first = roster(&mut stores);
        let second = roster(&mut stores);
        assert_eq!(first.len(), 6);
        assert_eq!(first[0].store.as_deref(), Some("history-0"));
        assert_eq!(second[0].store.as_deref(), Some("history-1"));
        assert!(
            first[1..]
                .iter()
                .all(|row| !row.enabled && row.store.is_none())
        );
    }
}
