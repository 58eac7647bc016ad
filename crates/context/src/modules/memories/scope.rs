//! Whose memories an agent holds: the one answer to a scope and a start (02 §9.4, 03 §5.2).

use vocab::knowledge::MemoryScope;

use crate::modules::ModuleOrigin;

/// How an agent came to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartedAs {
    /// The run's first.
    Root,
    /// The board's: an issue's implementer, a reviewer, a merge agent.
    Board,
    /// Spawned.
    Subagent,
    /// The copy of another.
    Fork,
    /// Another's successor, by `exec` or out of a machine's state.
    Successor,
}

/// Where the store comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreSource {
    /// A new store, of the agent's own.
    Own,
    /// The one store of its profile.
    Profile,
    /// The store of its spawner, or of the agent it is a copy of, linked.
    Spawner,
    /// A copy of the store of the agent it is a copy of.
    Copy,
    /// Its predecessor's, which holds it no longer.
    Transferred,
}

impl StoreSource {
    /// How a roster says it.
    pub const fn origin(self) -> ModuleOrigin {
        match self {
            Self::Own => ModuleOrigin::Created,
            Self::Profile => ModuleOrigin::Profile,
            Self::Spawner => ModuleOrigin::Inherited,
            Self::Copy => ModuleOrigin::Forked,
            Self::Transferred => ModuleOrigin::Transferred,
        }
    }

    /// Whether the store comes from the other agent, so that both must keep memories in one way.
    pub const fn comes_from_another(self) -> bool {
        matches!(self, Self::Spawner | Self::Copy | Self::Transferred)
    }
}

/// Which store an agent holds, and whether it may write to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBinding {
    /// The store.
    pub store: StoreSource,
    /// Whether the agent may write. It is the holder's, not the store's.
    pub writable: bool,
}

/// Resolves a scope. `giver` is whether there is a store to be had from the other agent: the
/// spawner's, the forker's, or the one that a predecessor hands over. A successor that is handed
/// none starts as its lineage did.
pub const fn resolve(scope: MemoryScope, started: StartedAs, giver: bool) -> MemoryBinding {
    use MemoryScope as M;
    use StoreSource as S;
    let (store, writable) = match (started, scope) {
        (_, M::Shared) => (S::Profile, true),
        (StartedAs::Root | StartedAs::Board, _) => (S::Own, true),
        _ if !giver => (S::Own, true),
        (StartedAs::Subagent, M::Isolated) => (S::Own, true),
        (StartedAs::Fork, M::Isolated) => (S::Copy, true),
        (StartedAs::Subagent | StartedAs::Fork, M::Inherited) => (S::Spawner, true),
        (StartedAs::Subagent | StartedAs::Fork, M::ReadOnly) => (S::Spawner, false),
        (StartedAs::Successor, M::Isolated | M::Inherited) => (S::Transferred, true),
        (StartedAs::Successor, M::ReadOnly) => (S::Transferred, false),
    };
    MemoryBinding { store, writable }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemoryScope as M;
    use StartedAs as A;
    use StoreSource as S;

    #[track_caller]
    fn check(started: StartedAs, giver: bool, expected: [(StoreSource, bool); 4]) {
        let scopes = [M::Isolated, M::Shared, M::Inherited, M::ReadOnly];
        let found = scopes.map(|scope| {
            let binding = resolve(scope, started, giver);
            (binding.store, binding.writable)
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn every_start_gets_the_store_its_scope_says() {
        let own = [
            (S::Own, true),
            (S::Profile, true),
            (S::Own, true),
            (S::Own, true),
        ];
        check(A::Root, false, own);
        check(A::Board, false, own);
        check(A::Board, true, own);
        check(
            A::Subagent,
            true,
            [
                (S::Own, true),
                (S::Profile, true),
                (S::Spawner, true),
                (S::Spawner, false),
            ],
        );
        check(
            A::Fork,
            true,
            [
                (S::Copy, true),
                (S::Profile, true),
                (S::Spawner, true),
                (S::Spawner, false),
            ],
        );
        check(
            A::Successor,
            true,
            [
                (S::Transferred, true),
                (S::Profile, true),
                (S::Transferred, true),
                (S::Transferred, false),
            ],
        );
    }

    #[test]
    fn without_anybody_to_inherit_from_a_store_is_the_agent_s_own_and_writable() {
        let own = [
            (S::Own, true),
            (S::Profile, true),
            (S::Own, true),
            (S::Own, true),
        ];
        for started in [A::Subagent, A::Fork, A::Successor] {
            check(started, false, own);
        }
    }
}
