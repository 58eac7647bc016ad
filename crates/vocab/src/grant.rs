//! What a code agent may call: one predicate that the membrane, the documentation, the opening turn
//! and the prompt all ask (04 §1).
//!
//! Always true: each binding is answered by its own part of the grant and by nothing else, so what a
//! model can find and what it can call are one set.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::capability::CapabilityId;
use crate::knowledge::MemoryStrategy;
use crate::operations::{Binding, EndingRole, OPERATIONS, Operation};
use crate::tools::ToolName;

/// What was granted to one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Capabilities its profile enables.
    pub capabilities: BTreeSet<CapabilityId>,
    /// Ids of operations its profile allows; the list is the whole grant.
    pub operations: BTreeSet<&'static str>,
    /// The role it was dispatched in.
    pub role: EndingRole,
    /// Whether it stands in a machine state with an outgoing edge.
    pub leaves_state: bool,
}

impl Grant {
    /// Whether an operation is bought by this grant.
    pub fn permits(&self, operation: &Operation) -> bool {
        match operation.binding {
            Binding::Capability(capability) => {
                self.capabilities.contains(&capability) && self.operations.contains(operation.id)
            }
            Binding::Ending(role) => self.role == role,
            Binding::Machine => self.leaves_state,
            Binding::Always => true,
        }
    }

    /// The ending calls of its role, as operations.
    pub fn endings(&self) -> impl Iterator<Item = &'static Operation> {
        let role = self.role;
        OPERATIONS
            .iter()
            .filter(move |row| row.binding == Binding::Ending(role))
    }
}

/// The notebook an agent holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldMemories {
    /// How it is kept.
    pub strategy: MemoryStrategy,
    /// Whether this agent may write to it.
    pub writable: bool,
}

/// What an instance can serve of what it was granted, on both surfaces (04 §1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Servicing {
    /// Its notebook, where one is bound.
    pub memories: Option<HeldMemories>,
    /// Whether there is a skill to read.
    pub skills: bool,
    /// Whether its compaction takes a summary of the agent's own making (R43).
    pub compacts: bool,
    /// Whether its roster names somebody to spawn or to become.
    pub subagents: bool,
    /// Whether it can have children, by spawning or by forking.
    pub children: bool,
    /// Whether its roster names somebody to give an issue to.
    pub implementers: bool,
    /// Whether it is driven by a machine, which then decides who comes after it.
    pub driven: bool,
    /// Whether what runs is a script that came with a skill or a memory: neither the session nor the
    /// turn's programs are its, so it ends the one and hands over to none of the others.
    pub scripted: bool,
}

impl Servicing {
    /// Whether a granted operation can be serviced.
    pub fn serves(&self, operation: &Operation) -> bool {
        let of_the_turn =
            matches!(operation.binding, Binding::Ending(_)) || operation.id == HAND_OVER;
        if self.scripted && of_the_turn {
            return false;
        }
        operation.tool.is_none_or(|tool| self.serves_tool(tool))
    }

    /// The same of the tool behind it.
    pub fn serves_tool(&self, tool: ToolName) -> bool {
        use ToolName as T;
        match tool {
            T::WriteMemory
            | T::UpdateMemory
            | T::CreateMemory
            | T::ReadMemory
            | T::EditMemory
            | T::SearchMemories
            | T::DeleteMemory => self
                .memories
                .is_some_and(|held| held.strategy.serves(tool, held.writable)),
            T::ReadSkill => self.skills,
            T::Compact => self.compacts,
            T::SpawnSubagent => self.subagents,
            T::WaitForSubagents | T::SendMessage => self.children,
            T::Exec => self.subagents && !self.driven,
            T::CreateIssue => self.implementers,
            T::TransitionState => self.driven,
            T::ReadFile
            | T::WriteFile
            | T::EditFile
            | T::ListDir
            | T::Search
            | T::Shell
            | T::AddTask
            | T::UpdateTask
            | T::SetBlockedBy
            | T::CompleteTask
            | T::RemoveTask
            | T::Fork
            | T::CreateEpic
            | T::UpdateIssue
            | T::SetIssueBlockedBy
            | T::RemoveEpic
            | T::RemoveIssue
            | T::WaitForIssue
            | T::ListIssues
            | T::ReadIssue
            | T::EvictFileView
            | T::ArchiveThread
            | T::SearchArchive => true,
        }
    }
}

/// The operation by which a program has another run in its place.
const HAND_OVER: &str = "programs.rerun";

/// What a program may call: granted, and serviced by the instance that runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What was granted.
    pub grant: Grant,
    /// What can be served.
    pub servicing: Servicing,
}

impl Offer {
    /// Everything one role can be offered at once: of a notebook, that with a search; not what only
    /// an agent in a machine or a script can call.
    pub fn everything(role: EndingRole) -> Self {
        Self {
            grant: Grant {
                capabilities: CapabilityId::ALL.iter().copied().collect(),
                operations: OPERATIONS.iter().map(|row| row.id).collect(),
                role,
                leaves_state: true,
            },
            servicing: Servicing {
                memories: Some(HeldMemories {
                    strategy: MemoryStrategy::KeywordSearch,
                    writable: true,
                }),
                skills: true,
                compacts: true,
                subagents: true,
                children: true,
                implementers: true,
                driven: false,
                scripted: false,
            },
        }
    }

    /// What an agent of a role is offered to which nothing was granted and nothing can be served.
    pub fn nothing(role: EndingRole) -> Self {
        Self {
            grant: Grant {
                capabilities: BTreeSet::new(),
                operations: BTreeSet::new(),
                role,
                leaves_state: false,
            },
            servicing: Servicing::default(),
        }
    }

    /// Whether a program may call an operation.
    pub fn offers(&self, operation: &Operation) -> bool {
        self.grant.permits(operation) && self.servicing.serves(operation)
    }

    /// What its agent is offered, also where it is a script's: what there is to read is the agent's,
    /// whoever opens it.
    pub fn of_its_agent(&self) -> Cow<'_, Self> {
        if !self.servicing.scripted {
            return Cow::Borrowed(self);
        }
        let mut offer = self.clone();
        offer.servicing.scripted = false;
        Cow::Owned(offer)
    }

    /// The same for a script that came with a skill or a memory.
    #[must_use]
    pub fn for_script(&self) -> Self {
        let mut offer = self.clone();
        offer.servicing.scripted = true;
        offer
    }

    /// The endings it may call.
    pub fn endings(&self) -> impl Iterator<Item = &'static Operation> {
        let served = |row: &&'static Operation| self.servicing.serves(row);
        self.grant.endings().filter(served)
    }

    /// All it may call, in the table's order.
    pub fn operations(&self) -> impl Iterator<Item = &'static Operation> {
        OPERATIONS.iter().filter(|row| self.offers(row))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nothing(role: EndingRole) -> Grant {
        Grant {
            capabilities: BTreeSet::new(),
            operations: BTreeSet::new(),
            role,
            leaves_state: false,
        }
    }

    #[test]
    fn every_row_is_bought_by_its_own_binding_alone() {
        for row in OPERATIONS {
            let whole = Offer::everything(EndingRole::Standard).grant;
            let mut lacking = whole.clone();
            let mut enough = nothing(EndingRole::Review);
            match row.binding {
                Binding::Capability(capability) => {
                    lacking.capabilities.remove(&capability);
                    enough.capabilities.insert(capability);
                    assert!(!enough.permits(row), "{} without the list", row.id);
                    enough.operations.insert(row.id);
                    let mut unlisted = whole.clone();
                    unlisted.operations.remove(row.id);
                    assert!(!unlisted.permits(row), "{} off the list", row.id);
                }
                Binding::Ending(role) => {
                    enough.role = role;
                    lacking.role = match role {
                        EndingRole::Standard => EndingRole::Review,
                        EndingRole::Review => EndingRole::Standard,
                    };
                }
                Binding::Machine => {
                    lacking.leaves_state = false;
                    enough.leaves_state = true;
                }
                Binding::Always => lacking = nothing(EndingRole::Review),
            }
            assert!(enough.permits(row), "{} with its binding", row.id);
            let expected = row.binding == Binding::Always;
            assert_eq!(lacking.permits(row), expected, "{} without it", row.id);
        }
    }

    #[test]
    fn an_agent_without_any_capability_has_the_calls_of_every_program_and_its_ending() {
        let ids = |role| -> Vec<_> {
            let offer = Offer {
                grant: nothing(role),
                servicing: Servicing::default(),
            };
            offer.operations().map(|row| row.id).collect()
        };
        let always = ["docs.search", "views.open_text", "views.open_docs_view"];
        assert_eq!(ids(EndingRole::Standard)[..3], always);
        assert_eq!(ids(EndingRole::Standard)[3..], ["session.finish"]);
        assert_eq!(
            ids(EndingRole::Review)[3..],
            ["session.approve", "session.request_changes"]
        );
    }

    #[test]
    fn a_condition_withholds_just_the_calls_it_stands_for() {
        let withheld = |change: fn(&mut Servicing)| -> Vec<_> {
            let mut offer = Offer::everything(EndingRole::Standard);
            let before: Vec<_> = offer.operations().map(|row| row.id).collect();
            change(&mut offer.servicing);
            let left: BTreeSet<_> = offer.operations().map(|row| row.id).collect();
            before.into_iter().filter(|id| !left.contains(id)).collect()
        };
        assert_eq!(withheld(|s| s.skills = false), ["skills.read_skill"]);
        assert_eq!(withheld(|s| s.compacts = false), ["context.compact"]);
        assert_eq!(withheld(|s| s.driven = true), ["delegation.exec"]);
        assert_eq!(withheld(|s| s.implementers = false), ["board.create_issue"]);
        assert_eq!(
            withheld(|s| s.subagents = false),
            ["delegation.spawn_subagent", "delegation.exec"]
        );
        assert_eq!(
            withheld(|s| s.children = false),
            ["delegation.wait_for_subagents", "delegation.send_message"]
        );
        assert_eq!(
            withheld(|s| {
                s.memories = Some(HeldMemories {
                    strategy: MemoryStrategy::KeywordSearch,
                    writable: false,
                });
            }),
            [
                "memories.create_memory",
                "memories.edit_memory",
                "memories.delete_memory"
            ]
        );
        assert_eq!(withheld(|s| s.memories = None).len(), 5);
        assert_eq!(
            withheld(|s| s.scripted = true),
            ["programs.rerun", "session.finish"]
        );
    }

    proptest! {
        /// A larger grant never takes a call away.
        #[test]
        fn a_grant_that_holds_another_permits_all_the_other_does(
            capabilities in prop::collection::btree_set(0..CapabilityId::ALL.len(), 0..CapabilityId::ALL.len()),
            rows in prop::collection::btree_set(0..OPERATIONS.len(), 0..OPERATIONS.len()),
            extra in 0..OPERATIONS.len(),
        ) {
            let small = Grant {
                capabilities: capabilities.iter().map(|at| CapabilityId::ALL[*at]).collect(),
                operations: rows.iter().map(|at| OPERATIONS[*at].id).collect(),
                ..nothing(EndingRole::Standard)
            };
            let mut large = small.clone();
            large.operations.insert(OPERATIONS[extra].id);
            large.leaves_state = true;
            large.capabilities.extend(CapabilityId::ALL.iter().take(extra % CapabilityId::ALL.len()));
            for row in OPERATIONS {
                prop_assert!(!small.permits(row) || large.permits(row), "{}", row.id);
            }
        }
    }

    #[test]
    fn a_script_ends_nothing_and_reads_what_its_agent_may_read() {
        let agent = Offer::everything(EndingRole::Standard);
        let script = agent.for_script();
        let finish = Operation::find("session.finish").unwrap();
        let hand_over = Operation::find("programs.rerun").unwrap();
        for row in [finish, hand_over] {
            assert!(agent.offers(row) && !script.offers(row));
            assert!(script.of_its_agent().offers(row));
        }
        assert_eq!(*script.of_its_agent(), agent);
        assert_eq!(*agent.of_its_agent(), agent);
    }
}
