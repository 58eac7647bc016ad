//! What holds of profiles that run one agent at a time (03 §4).

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::line::Line;
use super::{Found, rule};

pub(super) fn check(lines: &[Line], found: &mut Found) {
    let mut exclusive = HashSet::new();
    // Of each agent of such a profile, the profile; of each such profile, who runs.
    let mut profiles: HashMap<&str, &str> = HashMap::new();
    let mut running: HashMap<&str, &str> = HashMap::new();
    for line in lines {
        let agent = line.agent.as_deref().unwrap_or_default();
        match line.kind.as_str() {
            "session_started" => exclusive = persistent(line.get("capabilitySet")),
            "agent_spawned" => {
                let profile = line.text("profileId");
                if exclusive.contains(profile) {
                    profiles.insert(agent, profile);
                }
            }
            "agent_status" => {
                let Some(profile) = profiles.get(agent) else {
                    continue;
                };
                if line.text("status") != "running" {
                    if running.get(profile) == Some(&agent) {
                        running.remove(profile);
                    }
                } else if let Some(other) = running.insert(profile, agent)
                    && other != agent
                {
                    let message = format!("`{agent}` and `{other}` run, both of `{profile}`");
                    found.add(line.number, rule::EXCLUSIVE, message);
                }
            }
            _ => {}
        }
    }
}

/// The profiles of a capability set that have `agent-persistence` on.
fn persistent(set: &Value) -> HashSet<&str> {
    let agents = set["agents"].as_array().into_iter().flatten();
    let on = |agent: &&Value| {
        let capabilities = agent["capabilities"].as_array().into_iter().flatten();
        capabilities
            .filter(|it| it["id"] == "agent-persistence")
            .any(|it| it["enabled"] == true)
    };
    let slugs = agents.filter(on).filter_map(|agent| agent["slug"].as_str());
    slugs.collect()
}
