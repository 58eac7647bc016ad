//! What is said of other agents: the roster in the system prompt, and a message from above.

use serde::Serialize;
use vocab::tools::Target;

use super::PromptError;
use super::template::Embedded;

static AGENT_MESSAGE: Embedded = Embedded::new(
    "agent_message",
    include_str!("../../../../templates/agent_message.hbs"),
);

/// Every template of this file.
pub(super) static ALL: [&Embedded; 1] = [&AGENT_MESSAGE];

/// What the system prompt says of putting other agents to work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentsSection {
    /// The call that starts one.
    pub spawn: &'static str,
    /// The call that waits for some; `null` where the agent does not have it.
    pub wait: Option<&'static str>,
    /// Who may be started, in configured order.
    pub roster: Vec<RosterLine>,
}

/// One profile that may be put to work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RosterLine {
    /// What it is called by.
    pub slug: String,
    /// Its display name.
    pub name: String,
    /// When to use it; empty where nothing is said.
    pub description: String,
}

impl From<&Target<'_>> for RosterLine {
    fn from(target: &Target<'_>) -> Self {
        Self {
            slug: target.slug.to_owned(),
            name: target.name.to_owned(),
            description: target.description.trim().to_owned(),
        }
    }
}

/// What a message from the agent that started this one may reference.
#[derive(Clone, Copy, Debug, Serialize)]
struct AgentMessage<'a> {
    from: &'a str,
    text: &'a str,
}

/// A message from the agent that started this one, as it stands in the window.
pub fn agent_message(from: &str, text: &str) -> Result<String, PromptError> {
    AGENT_MESSAGE.render(&AgentMessage { from, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_its_sender_and_stands_as_it_was_written() {
        assert_eq!(
            agent_message("root", "Use {{tabs}} & <spaces>.\nOr not.").unwrap(),
            "Task: message from `root`\n----\nUse {{tabs}} & <spaces>.\nOr not."
        );
    }
}
