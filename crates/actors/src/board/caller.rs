//! Agents as the board sees them.

use board::Caller;
use config::profile::RosterEntry;
use vocab::ids::Slug;

use crate::agent::AgentSpec;

impl AgentSpec {
    /// The agent as the board sees it: whom its roster lets it name, and for which issue it works.
    pub(crate) fn caller(&self) -> Caller {
        let slugs = |entries: Vec<&RosterEntry>| -> Vec<Slug> {
            let slugs = entries.into_iter().map(|entry| entry.agent_id.clone());
            slugs.collect()
        };
        Caller {
            works_for: self.works_for.clone(),
            implementers: slugs(self.profile.implementers()),
            reviewers: slugs(self.profile.reviewers()),
            reviewers_required: self.profile.requires_reviewers(),
        }
    }
}
