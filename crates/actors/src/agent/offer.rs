//! What an agent was granted, and what of it this instance can service (04 §1): one answer for the
//! tools of a tool agent and for the operations of a code agent.

use config::capability::window::CompactionStrategy;
use config::profile::Profile;
use context::modules::{ModuleKind, RosterRow};
use vocab::capability::CapabilityId;
use vocab::grant::{Grant, HeldMemories, Offer, Servicing};
use vocab::operations::EndingRole;

/// What decides an offer beside the profile.
#[derive(Clone, Copy)]
pub(super) struct Holds<'a> {
    /// What the agent holds.
    pub(super) roster: &'a [RosterRow],
    /// Whether there is a skill to read.
    pub(super) skills: bool,
    /// Of an agent in a machine's state, whether a way leads out of it.
    pub(super) leaves_state: Option<bool>,
}

/// What an instance can service.
pub(super) fn servicing(profile: &Profile, holds: Holds<'_>) -> Servicing {
    let memories = profile.memories().map(|policy| HeldMemories {
        strategy: policy.strategy,
        writable: holds
            .roster
            .iter()
            .all(|row| row.kind != ModuleKind::Memories || row.writable),
    });
    let compacts = profile.compaction().is_some_and(|policy| {
        // In a program the call serves both (R43).
        let own = policy.strategy == CompactionStrategy::SelfCompaction;
        let prose = policy.strategy == CompactionStrategy::SelfSummarization;
        own || prose && profile.programs().is_some()
    });
    Servicing {
        memories,
        skills: holds.skills,
        compacts,
        subagents: !profile.spawns().is_empty() || !profile.successors().is_empty(),
        children: !profile.spawns().is_empty() || profile.forks(),
        implementers: !profile.implementers().is_empty(),
        driven: holds.leaves_state.is_some(),
        scripted: false,
    }
}

/// What a code agent may call.
pub(super) fn offer(profile: &Profile, role: EndingRole, holds: Holds<'_>) -> Offer {
    let enabled = CapabilityId::ALL.iter().copied();
    let operations = profile.operations.iter().map(|id| id.as_str());
    Offer {
        grant: Grant {
            capabilities: enabled.filter(|id| profile.enabled(*id)).collect(),
            operations: operations.collect(),
            role,
            leaves_state: holds.leaves_state == Some(true),
        },
        servicing: servicing(profile, holds),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn offered(
        capabilities: Value,
        operations: &[&str],
        leaves_state: Option<bool>,
    ) -> Vec<String> {
        let code = json!({ "id": "responses-as-code", "enabled": true, "params": {
            "language": "javascript", "timeoutSecs": 1, "maxMemoryBytes": 1,
            "docViewTypes": false } });
        let mut all = vec![code];
        all.extend(capabilities.as_array().cloned().unwrap_or_default());
        let profile: Profile = serde_json::from_value(json!({
            "slug": "root", "name": "Root", "modelId": "mock/m", "tools": [],
            "capabilities": all, "operations": operations,
        }))
        .unwrap();
        let holds = Holds {
            roster: &[],
            skills: true,
            leaves_state,
        };
        let offer = offer(&profile, EndingRole::Standard, holds);
        offer.operations().map(|row| row.id.to_owned()).collect()
    }

    #[test]
    fn an_operation_needs_its_capability_and_its_place_on_the_list() {
        let files = json!([
            { "id": "write-file", "enabled": true, "params": {} },
            { "id": "list-dir", "enabled": false, "params": {} },
        ]);
        assert_eq!(
            offered(
                files,
                &["files.write_file", "files.edit_file", "files.list_dir"],
                None
            ),
            [
                "files.write_file",
                "docs.search",
                "views.open_text",
                "views.open_docs_view",
                "session.finish"
            ]
        );
    }

    #[test]
    fn a_summary_in_prose_is_handed_in_by_the_call_that_compacts() {
        for (strategy, calls) in [
            ("self-summarization", true),
            ("self-compaction", true),
            ("handoff-compaction", false),
        ] {
            let compaction = json!([{ "id": "compaction", "enabled": true,
                "implementation": strategy, "params": { "summaryHeadroom": 0.2 } }]);
            let offered = offered(compaction, &["context.compact"], None);
            assert_eq!(
                offered.iter().any(|id| id == "context.compact"),
                calls,
                "{strategy}"
            );
        }
    }

    #[test]
    fn a_state_with_a_way_out_confers_the_call_that_takes_it() {
        let leaves = |state| {
            offered(json!([]), &[], state)
                .iter()
                .any(|id| id == "delegation.transition_state")
        };
        assert!(leaves(Some(true)));
        assert!(!leaves(Some(false)));
        assert!(!leaves(None));
    }
}
