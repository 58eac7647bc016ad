//! The stores of a run: their numbers, and the memories that are open (03 §10.1).
//!
//! Always true: a store has one actor, whoever holds it; memories that nobody holds are closed,
//! except those of a profile, which its next agent finds as they were left.

use std::collections::{BTreeSet, HashMap};

use config::profile::Profile;
use context::modules::handover::{Handover, HandoverFault, Passage, hand_over};
use context::modules::memories::{self, MemoryPolicy, StartedAs};
use context::modules::roster::{MemorySetting, ModuleSet, Start, StrategyClash, open};
use context::modules::{ModuleKind, ModuleOrigin, RosterRow, StoreIds};
use vocab::capability::CapabilityId;
use vocab::ids::AgentId;

use super::Supervisor;
use crate::flow::Tap;
use crate::link::Link;
use crate::memory_store::MemoryStore;
use crate::messages::{Attach, Forget, HandOver};

/// What an agent is given as it starts.
#[derive(Clone, Debug)]
pub(crate) struct Holdings {
    /// A row for every kind of module.
    pub(crate) roster: Vec<RosterRow>,
    /// Its memories, where it holds some.
    pub(crate) memories: Option<Link<MemoryStore>>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Stores {
    ids: StoreIds,
    memories: HashMap<String, Open>,
    /// The run's board, where there is one: every agent holds it.
    board: Option<&'static str>,
}

/// A store with its holders.
#[derive(Debug)]
struct Open {
    link: Link<MemoryStore>,
    holders: BTreeSet<AgentId>,
    of_profile: bool,
}

impl Open {
    /// An agent holds it as well from here on.
    fn attach(&mut self, agent: &AgentId, writable: bool) -> Link<MemoryStore> {
        let agent = agent.clone();
        self.holders.insert(agent.clone());
        let link = self.link.held_by("supervisor");
        link.tell(Attach { agent, writable });
        self.link.clone()
    }

    /// An agent holds it in place of another from here on.
    fn pass_on(
        &mut self,
        from: &AgentId,
        to: &AgentId,
        writable: bool,
        policy: MemoryPolicy,
    ) -> Link<MemoryStore> {
        self.holders.remove(from);
        self.holders.insert(to.clone());
        self.link.held_by("supervisor").tell(HandOver {
            from: from.clone(),
            to: to.clone(),
            writable,
            policy,
        });
        self.link.clone()
    }
}

impl Stores {
    /// The stores of a run, none open yet; `board` names its board, where it has one.
    pub(super) fn new(board: Option<&'static str>) -> Self {
        Self {
            board,
            ..Self::default()
        }
    }

    /// The modules of a fresh agent. The memories it holds are running and know it.
    pub(super) fn open(
        &mut self,
        agent: &AgentId,
        profile: &Profile,
        start: Start<'_>,
        supervisor: &Link<Supervisor>,
        tap: Option<&Tap>,
    ) -> Result<Holdings, StrategyClash> {
        let start = Start {
            board: self.board,
            ..start
        };
        let roster = open(&mut self.ids, &module_set(profile), start)?;
        let memories = self.running(&roster, profile, None, supervisor, tap);
        let memories = memories.map(|(writable, _, open)| open.attach(agent, writable));
        Ok(Holdings { roster, memories })
    }

    /// The memories of a roster, and whether and how they are kept. Those that nobody holds begin
    /// as the notebook, or empty.
    fn running(
        &mut self,
        roster: &[RosterRow],
        profile: &Profile,
        notebook: Option<memories::MemoryStore>,
        supervisor: &Link<Supervisor>,
        tap: Option<&Tap>,
    ) -> Option<(bool, MemoryPolicy, &mut Open)> {
        let row = roster.iter().find(|row| row.kind == ModuleKind::Memories)?;
        let (id, policy) = (row.store.as_deref()?, memory_policy(profile)?);
        let open = self.memories.entry(id.to_owned()).or_insert_with(|| Open {
            link: MemoryStore::start(
                id,
                notebook.unwrap_or_else(|| memories::MemoryStore::new(policy)),
                supervisor,
                tap,
            ),
            holders: BTreeSet::new(),
            of_profile: row.origin == ModuleOrigin::Profile,
        });
        Some((row.writable, policy, open))
    }

    /// The modules of an agent that comes of another. The memories it holds are running and know
    /// it; the other still holds its own.
    pub(super) fn hand_over(
        &mut self,
        from: (&AgentId, &[RosterRow]),
        agent: &AgentId,
        coming: Coming<'_>,
        supervisor: &Link<Supervisor>,
        tap: Option<&Tap>,
    ) -> Result<(Holdings, Handover), HandoverFault> {
        let Coming {
            profile,
            passage,
            start,
            notebook,
        } = coming;
        let (predecessor, before) = from;
        let open = |row: &&RosterRow| row.store.as_ref().is_some_and(|id| self.is_open(id));
        let start = Start {
            spawner: start.spawner.filter(open),
            board: self.board,
            ..start
        };
        let set = module_set(profile);
        let handover = hand_over(&mut self.ids, passage, before, &set, start)?;
        let roster = handover.roster.clone();
        let stays = handover.of(ModuleKind::Memories);
        let stays = stays.is_some_and(|row| row.from == row.to);
        let succeeds = stays && !matches!(passage, Passage::Fork);
        let memories = self.running(&roster, profile, notebook, supervisor, tap);
        let memories = memories.map(|(writable, policy, open)| {
            if succeeds {
                open.pass_on(predecessor, agent, writable, policy)
            } else {
                open.attach(agent, writable)
            }
        });
        Ok((Holdings { roster, memories }, handover))
    }

    fn is_open(&self, store: &str) -> bool {
        self.memories.contains_key(store)
    }

    /// An agent is gone: it holds nothing any more.
    pub(super) fn forget(&mut self, agent: &AgentId) {
        self.memories.retain(|_, open| {
            if !open.holders.remove(agent) {
                return true;
            }
            open.link.held_by("supervisor").tell(Forget {
                agent: agent.clone(),
            });
            open.of_profile || !open.holders.is_empty()
        });
    }
}

/// An agent that comes of another.
pub(super) struct Coming<'a> {
    /// Its profile.
    pub(super) profile: &'a Profile,
    /// How it comes.
    pub(super) passage: Passage<'a>,
    /// How its lineage began.
    pub(super) start: Start<'a>,
    /// What a store of its own holds where it is a copy.
    pub(super) notebook: Option<memories::MemoryStore>,
}

/// How the run's first agent starts.
pub(super) const ROOT: Start<'static> = Start {
    started: StartedAs::Root,
    spawner: None,
    board: None,
};

/// What a profile says of its agents' modules.
fn module_set(profile: &Profile) -> ModuleSet {
    ModuleSet {
        profile: profile.slug.clone(),
        memories: profile.memories().map(|memories| MemorySetting {
            strategy: memories.strategy,
            scope: memories.scope,
        }),
        tasks: profile.tasks().is_some(),
        board: profile.enabled(CapabilityId::ProjectManagement),
        skills: profile.skills().is_some(),
        archive: profile.enabled(CapabilityId::AgentManagedContext),
    }
}

/// How a profile's memories are kept, and how much of them; `None` where they are off.
pub(crate) fn memory_policy(profile: &Profile) -> Option<MemoryPolicy> {
    let memories = profile.memories()?;
    Some(MemoryPolicy {
        strategy: memories.strategy,
        limits: memories.limits,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vocab::knowledge::MemoryScope;

    use super::*;

    fn profile(slug: &str, scope: MemoryScope) -> Profile {
        serde_json::from_value(json!({
            "slug": slug, "name": slug, "modelId": "mock/m", "tools": [], "operations": [],
            "capabilities": [{
                "id": "memories", "enabled": true, "implementation": "markdown",
                "params": {
                    "scope": scope.as_str(), "maxCount": 0, "maxLenPerMemory": 0,
                    "maxTotalLen": 0, "maxLenIndex": 0, "maxLenDescription": 0, "maxResults": 0,
                },
            }],
        }))
        .unwrap()
    }

    /// The stores of a run in which agents come and go.
    struct Stage {
        stores: Stores,
        supervisor: Link<Supervisor>,
        // Nobody listens; an address is what a store is given.
        _mailbox: actix::Context<Supervisor>,
    }

    impl Stage {
        fn set() -> Self {
            let (mailbox, supervisor) = Supervisor::open(None);
            Self {
                stores: Stores::default(),
                supervisor,
                _mailbox: mailbox,
            }
        }

        fn start(&mut self, agent: &str, profile: &Profile, start: Start<'_>) -> RosterRow {
            let (agent, supervisor) = (AgentId::from(agent), &self.supervisor);
            let opened = self.stores.open(&agent, profile, start, supervisor, None);
            let opened = opened.unwrap();
            assert!(opened.memories.is_some());
            let mut rows = opened.roster.into_iter();
            rows.find(|row| row.kind == ModuleKind::Memories).unwrap()
        }

        fn open(&self) -> Vec<&str> {
            let mut open: Vec<_> = self.stores.memories.keys().map(String::as_str).collect();
            open.sort_unstable();
            open
        }
    }

    #[actix::test]
    async fn memories_nobody_holds_are_closed_and_a_profile_s_stay_open() {
        let mut stage = Stage::set();
        let own = profile("own", MemoryScope::Isolated);
        let shared = profile("shared", MemoryScope::Shared);
        stage.start("a", &own, ROOT);
        let first = stage.start("b", &shared, ROOT);
        assert_eq!(stage.open(), ["memories-0", "memories-1"]);
        stage.stores.forget(&AgentId::from("a"));
        stage.stores.forget(&AgentId::from("b"));
        assert_eq!(stage.open(), ["memories-1"]);
        assert_eq!(stage.start("c", &shared, ROOT).store, first.store);
        assert_eq!(stage.open(), ["memories-1"]);
    }

    #[actix::test]
    async fn memories_that_are_inherited_are_open_as_long_as_either_holds_them() {
        let mut stage = Stage::set();
        let spawner = stage.start("a", &profile("own", MemoryScope::Isolated), ROOT);
        let child = Start {
            started: StartedAs::Subagent,
            spawner: Some(&spawner),
            board: None,
        };
        let reader = profile("reader", MemoryScope::ReadOnly);
        let inherited = stage.start("b", &reader, child);
        assert_eq!(inherited.store, spawner.store);
        assert!(!inherited.writable);
        stage.stores.forget(&AgentId::from("a"));
        assert_eq!(stage.open(), ["memories-0"]);
        stage.stores.forget(&AgentId::from("b"));
        assert_eq!(stage.open(), [""; 0]);
    }
}
