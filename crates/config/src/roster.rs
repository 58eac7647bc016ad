//! Who puts whom to work, as the launched set says (03 §2).

use vocab::capability::CapabilityId;
use vocab::tools::{Target, ToolName};

use crate::Launch;
use crate::capability::Capability;
use crate::policies::BoardPolicy;
use crate::profile::{Profile, RosterEntry, RosterScope};

impl Profile {
    /// The entries of its roster that it may spawn, each profile once; none where `subagents` is
    /// off.
    pub fn spawns(&self) -> Vec<&RosterEntry> {
        if self.enabled(CapabilityId::Subagents) {
            self.subagent_entries()
        } else {
            Vec::new()
        }
    }

    /// The entries of its roster that it may become, each profile once; none where `exec` is off.
    pub fn successors(&self) -> Vec<&RosterEntry> {
        if self.enabled(CapabilityId::Exec) {
            self.subagent_entries()
        } else {
            Vec::new()
        }
    }

    /// The entries of its roster that its issues may name as their agents, each profile once; none
    /// where it has no board.
    pub fn implementers(&self) -> Vec<&RosterEntry> {
        self.board_entries(RosterScope::Implementer)
    }

    /// The entries of its roster that its issues may name as their reviewers, each profile once;
    /// none where it has no board.
    pub fn reviewers(&self) -> Vec<&RosterEntry> {
        self.board_entries(RosterScope::Reviewer)
    }

    fn board_entries(&self, scope: RosterScope) -> Vec<&RosterEntry> {
        if self.enabled(CapabilityId::ProjectManagement) {
            self.entries(scope)
        } else {
            Vec::new()
        }
    }

    /// Whether it may copy itself: the call is granted, and `subagents` is on to collect the copy.
    pub fn forks(&self) -> bool {
        if self.programs().is_none() {
            return self.offers(ToolName::Fork);
        }
        let mut granted = self.operations.iter();
        self.enabled(CapabilityId::Fork)
            && self.enabled(CapabilityId::Subagents)
            && granted.any(|id| id.operation().tool == Some(ToolName::Fork))
    }

    fn subagent_entries(&self) -> Vec<&RosterEntry> {
        self.entries(RosterScope::Subagent)
    }

    fn entries(&self, scope: RosterScope) -> Vec<&RosterEntry> {
        let mut entries: Vec<&RosterEntry> = Vec::new();
        for entry in &self.subagents {
            let listed = entries.iter().any(|it| it.agent_id == entry.agent_id);
            if entry.scopes.contains(&scope) && !listed {
                entries.push(entry);
            }
        }
        entries
    }
}

impl Launch {
    /// Those a profile may spawn, as its model is told of them.
    pub fn targets<'a>(&'a self, profile: &'a Profile) -> Vec<Target<'a>> {
        self.told(profile.spawns())
    }

    /// Those a profile may become, as its model is told of them.
    pub fn successors<'a>(&'a self, profile: &'a Profile) -> Vec<Target<'a>> {
        self.told(profile.successors())
    }

    /// Those that a profile's issues may name as their agents, as its model is told of them.
    pub fn implementers<'a>(&'a self, profile: &'a Profile) -> Vec<Target<'a>> {
        self.told(profile.implementers())
    }

    /// Those that a profile's issues may name as their reviewers, as its model is told of them.
    pub fn reviewers<'a>(&'a self, profile: &'a Profile) -> Vec<Target<'a>> {
        self.told(profile.reviewers())
    }

    /// The run's board, as the first profile that has one writes it (03 §7.1).
    pub fn board(&self) -> Option<BoardPolicy<'_>> {
        self.capability_set.agents.iter().find_map(Profile::board)
    }

    fn told<'a>(&'a self, entries: Vec<&'a RosterEntry>) -> Vec<Target<'a>> {
        let told = |entry: &'a RosterEntry| {
            let target = self.profile(&entry.agent_id)?;
            Some(Target {
                slug: target.slug.as_str(),
                name: &target.name,
                description: &entry.description,
            })
        };
        entries.into_iter().filter_map(told).collect()
    }

    /// Generations below the root, as the first profile with `subagents` on has it; 0 where none
    /// has.
    pub fn max_depth(&self) -> u64 {
        let figure = |profile: &Profile| match profile.capability(CapabilityId::Subagents)? {
            Capability::Subagents(subagents) if subagents.enabled => subagents.params.max_depth,
            _ => None,
        };
        let mut figures = self.capability_set.agents.iter().filter_map(figure);
        figures.next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn profile(slug: &str, enabled: bool, roster: &Value) -> Value {
        json!({
            "slug": slug, "name": slug.to_uppercase(), "modelId": "mock/test",
            "capabilities": [{ "id": "subagents", "enabled": enabled, "params": { "maxDepth": 3 } }],
            "tools": ["spawn_subagent", "wait_for_subagents"], "operations": [],
            "subagents": roster,
        })
    }

    fn launch(agents: &[Value]) -> Launch {
        serde_json::from_value(json!({
            "sessionId": "s", "workspaceDir": "/w", "prompt": "p",
            "modelWindows": { "mock/test": 1000 },
            "capabilitySet": {
                "limits": { "maxParallel": 1, "replayMaxBytes": 1 }, "agents": agents,
            },
        }))
        .unwrap()
    }

    #[test]
    fn a_target_is_an_entry_of_scope_subagent_under_its_profile_s_name() {
        let roster = json!([
            { "agentId": "scout", "description": "Looks.", "scopes": ["reviewer", "subagent"] },
            { "agentId": "mason", "description": "Builds.", "scopes": ["implementer"] },
            { "agentId": "scout", "description": "Again.", "scopes": ["subagent"] },
            { "agentId": "root", "description": "", "scopes": ["subagent"] },
        ]);
        let launch = launch(&[
            profile("root", true, &roster),
            profile("scout", false, &roster),
            profile("mason", true, &json!([])),
        ]);
        let root = launch.root();
        let told: Vec<_> = launch
            .targets(root)
            .iter()
            .map(|target| (target.slug, target.name, target.description))
            .collect();
        assert_eq!(told, [("scout", "SCOUT", "Looks."), ("root", "ROOT", "")]);
        let scout = launch.profile(&"scout".into()).unwrap();
        assert_eq!(launch.targets(scout), [], "its capability is off");
    }

    #[test]
    fn the_depth_is_the_first_one_that_is_on() {
        let off = profile("root", false, &json!([]));
        assert_eq!(launch(std::slice::from_ref(&off)).max_depth(), 0);
        let on = profile("scout", true, &json!([]));
        assert_eq!(launch(&[off, on]).max_depth(), 3);
    }

    #[test]
    fn a_call_is_offered_only_to_whoever_has_somebody_to_put_to_work() {
        use vocab::tools::ToolName as T;
        let roster = json!([{ "agentId": "root", "description": "", "scopes": ["subagent"] }]);
        let reviewers = json!([{ "agentId": "root", "description": "", "scopes": ["reviewer"] }]);
        let offers = |enabled, roster: &Value| {
            let launch = launch(&[profile("root", enabled, roster)]);
            let root = launch.root();
            [T::SpawnSubagent, T::WaitForSubagents].map(|tool| root.offers(tool))
        };
        assert_eq!(offers(true, &roster), [true, true]);
        assert_eq!(offers(false, &roster), [false, false]);
        assert_eq!(offers(true, &reviewers), [false, false]);
    }
}
