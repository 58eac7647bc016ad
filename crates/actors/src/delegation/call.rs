//! From the JSON a model wrote to a call that concerns other agents.

use tools::{Arguments, Faults, quoted};
use vocab::failure::{Failure, FailureClass};
use vocab::ids::{AgentId, Slug};
use vocab::tools::ToolName;

/// A call that concerns other agents, checked as far as that goes without them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DelegationCall {
    /// `spawn_subagent`
    Spawn {
        /// A profile of the caller's roster.
        agent: Slug,
        /// Its whole task, not blank.
        prompt: String,
    },
    /// `wait_for_subagents`
    Wait {
        /// Each once, as asked; empty for every child not collected yet.
        ids: Vec<AgentId>,
    },
    /// `send_message`
    Message {
        /// The child.
        id: AgentId,
        /// Not blank.
        message: String,
    },
    /// `exec`
    Exec {
        /// A profile of the caller's roster.
        agent: Slug,
        /// What it is left to do, where anything is said.
        prompt: Option<String>,
    },
    /// `fork`
    Fork {
        /// What the copy is to do, not blank.
        prompt: String,
    },
}

/// Reads a call. `roster` are the profiles its caller may put to work, in order.
pub(crate) fn parse(
    tool: ToolName,
    arguments: &str,
    roster: &[&Slug],
) -> Result<DelegationCall, Failure> {
    match tool {
        ToolName::SpawnSubagent => {
            let mut members = Arguments::read(arguments, &["agent", "prompt"])?;
            let agent = members.filled("agent");
            let prompt = members.filled("prompt");
            listed(&agent, roster, members.faults());
            members.finish(tool)?;
            let agent = agent.into();
            Ok(DelegationCall::Spawn { agent, prompt })
        }
        ToolName::WaitForSubagents => {
            let mut members = Arguments::read(arguments, &["ids"])?;
            let asked = members.texts("ids");
            members.finish(tool)?;
            Ok(DelegationCall::Wait { ids: once(&asked) })
        }
        ToolName::SendMessage => {
            let mut members = Arguments::read(arguments, &["id", "message"])?;
            let id = members.filled("id");
            let message = members.filled("message");
            members.finish(tool)?;
            let id = id.trim().into();
            Ok(DelegationCall::Message { id, message })
        }
        ToolName::Exec => {
            let mut members = Arguments::read(arguments, &["agent", "prompt"])?;
            let agent = members.filled("agent");
            let prompt = members.optional_text("prompt");
            members
                .faults()
                .optional_bounded("prompt", prompt.as_deref());
            listed(&agent, roster, members.faults());
            members.finish(tool)?;
            let agent = agent.into();
            let prompt = said(prompt);
            Ok(DelegationCall::Exec { agent, prompt })
        }
        ToolName::Fork => {
            let mut members = Arguments::read(arguments, &["prompt"])?;
            let prompt = members.filled("prompt");
            members.finish(tool)?;
            Ok(DelegationCall::Fork { prompt })
        }
        other => Err(Failure::new(
            FailureClass::Unavailable,
            format!("`{other}` concerns no other agent"),
        )),
    }
}

impl DelegationCall {
    /// `spawn_subagent`, as a program makes it.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once, as of every call here.
    pub(crate) fn spawn(agent: String, prompt: String, roster: &[&Slug]) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("agent", &agent);
        faults.filled("prompt", &prompt);
        listed(&agent, roster, &mut faults);
        faults.judge()?;
        let agent = agent.into();
        Ok(Self::Spawn { agent, prompt })
    }

    /// `wait_for_subagents`, as a program makes it.
    pub(crate) fn wait(ids: Option<Vec<String>>) -> Result<Self, Failure> {
        let asked = ids.unwrap_or_default();
        let mut faults = Faults::default();
        faults.list("ids", &asked);
        faults.judge()?;
        Ok(Self::Wait { ids: once(&asked) })
    }

    /// `send_message`, as a program makes it.
    pub(crate) fn message(id: String, message: String) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("id", &id);
        faults.filled("message", &message);
        faults.judge()?;
        let id = id.trim().into();
        Ok(Self::Message { id, message })
    }

    /// `exec`, as a program makes it.
    pub(crate) fn exec(
        agent: String,
        prompt: Option<String>,
        roster: &[&Slug],
    ) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("agent", &agent);
        faults.optional_bounded("prompt", prompt.as_deref());
        listed(&agent, roster, &mut faults);
        faults.judge()?;
        let (agent, prompt) = (agent.into(), said(prompt));
        Ok(Self::Exec { agent, prompt })
    }

    /// `fork`, as a program makes it.
    pub(crate) fn fork(prompt: String) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("prompt", &prompt);
        faults.judge()?;
        Ok(Self::Fork { prompt })
    }
}

/// Each id once, as asked.
fn once(asked: &[String]) -> Vec<AgentId> {
    let mut ids: Vec<AgentId> = Vec::with_capacity(asked.len());
    for id in asked.iter().map(|id| AgentId::from(id.trim())) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// A blank note says nothing.
fn said(note: Option<String>) -> Option<String> {
    note.filter(|note| !note.trim().is_empty())
}

/// Whether a profile stands on the roster; those that do are named where it does not. That none is
/// named has been told.
fn listed(agent: &str, roster: &[&Slug], faults: &mut Faults) {
    if !agent.is_empty() && roster.iter().all(|slug| slug.as_str() != agent) {
        let known: Vec<_> = roster.iter().map(|slug| format!("`{slug}`")).collect();
        faults.push(format!(
            "`agent` is `{}`; expected one of {}",
            quoted(agent),
            known.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tool: ToolName, arguments: &str) -> Result<DelegationCall, Failure> {
        parse(tool, arguments, &[&"scout".into(), &"mason".into()])
    }

    fn refusal(tool: ToolName, arguments: &str) -> String {
        let failure = read(tool, arguments).unwrap_err();
        assert_eq!(failure.class, FailureClass::InvalidArgument);
        failure.message
    }

    #[test]
    fn a_target_off_the_roster_is_refused_with_those_that_would_do() {
        let spawn = ToolName::SpawnSubagent;
        let message = refusal(spawn, r#"{"agent":"baker","prompt":"x"}"#);
        assert!(
            message.contains("`baker`; expected one of `scout`, `mason`"),
            "{message}"
        );
        assert!(refusal(spawn, r#"{"agent":"scout","prompt":" \n"}"#).contains("prompt"));
        assert!(refusal(spawn, r#"{"agent":"scout"}"#).contains("prompt"));
        let spawned = read(spawn, r#"{"agent":"scout","prompt":" as it is "}"#).unwrap();
        let agent = "scout".into();
        let prompt = " as it is ".to_owned();
        assert_eq!(spawned, DelegationCall::Spawn { agent, prompt });
    }

    #[test]
    fn who_is_to_come_next_stands_on_the_roster_and_may_be_left_without_a_note() {
        let exec = ToolName::Exec;
        let message = refusal(exec, r#"{"agent":"baker"}"#);
        assert!(
            message.contains("`baker`; expected one of `scout`, `mason`"),
            "{message}"
        );
        assert!(refusal(exec, r#"{"prompt":"x"}"#).contains("agent"));
        for (arguments, prompt) in [
            (r#"{"agent":"mason"}"#, None),
            (r#"{"agent":"mason","prompt":" "}"#, None),
            (r#"{"agent":"mason","prompt":null}"#, None),
            (r#"{"agent":"mason","prompt":" go on "}"#, Some(" go on ")),
        ] {
            let agent = "mason".into();
            let prompt = prompt.map(str::to_owned);
            let expected = DelegationCall::Exec { agent, prompt };
            assert_eq!(read(exec, arguments).unwrap(), expected, "{arguments}");
        }
        assert!(refusal(ToolName::Fork, r#"{"prompt":"\n"}"#).contains("prompt"));
    }

    #[test]
    fn a_wait_names_each_child_once_and_none_means_all() {
        let wait = |arguments| match read(ToolName::WaitForSubagents, arguments).unwrap() {
            DelegationCall::Wait { ids } => ids,
            other => panic!("{other:?}"),
        };
        assert_eq!(wait(""), []);
        assert_eq!(wait(r#"{"ids":[]}"#), []);
        assert_eq!(wait(r#"{"ids":null}"#), []);
        assert_eq!(
            wait(r#"{"ids":["agent-2","agent-1","agent-2"]}"#),
            ["agent-2".into(), "agent-1".into()]
        );
        assert!(refusal(ToolName::WaitForSubagents, r#"{"ids":"agent-1"}"#).contains("ids"));
    }

    #[test]
    fn values_and_json_come_to_the_same_call() {
        use ToolName as T;
        let (scout, mason): (Slug, Slug) = ("scout".into(), "mason".into());
        let roster = [&scout, &mason];
        let text = |text: &str| text.to_owned();
        assert_eq!(
            DelegationCall::spawn(text("scout"), text(" go "), &roster),
            read(T::SpawnSubagent, r#"{"agent":"scout","prompt":" go "}"#)
        );
        assert_eq!(
            DelegationCall::wait(Some(vec![text("agent-1"), text(" agent-1")])),
            read(T::WaitForSubagents, r#"{"ids":["agent-1"]}"#)
        );
        assert_eq!(DelegationCall::wait(None), read(T::WaitForSubagents, ""));
        assert_eq!(
            DelegationCall::message(text("agent-1"), text("hi")),
            read(T::SendMessage, r#"{"id":"agent-1","message":"hi"}"#)
        );
        assert_eq!(
            DelegationCall::exec(text("mason"), Some(text(" ")), &roster),
            read(T::Exec, r#"{"agent":"mason"}"#)
        );
        assert_eq!(
            DelegationCall::fork(text("x")),
            read(T::Fork, r#"{"prompt":"x"}"#)
        );
        for refused in [
            DelegationCall::spawn(text("baker"), text("x"), &roster),
            DelegationCall::spawn(text("scout"), text(" "), &roster),
            DelegationCall::wait(Some(vec![text(" ")])),
            DelegationCall::message(text(" "), text("hi")),
            DelegationCall::message(text("agent-1"), text(" ")),
            DelegationCall::exec(text("baker"), None, &roster),
            DelegationCall::fork(text("\n")),
        ] {
            assert_eq!(refused.unwrap_err().class, FailureClass::InvalidArgument);
        }
    }

    #[test]
    fn a_blank_message_is_refused() {
        let send = ToolName::SendMessage;
        assert!(refusal(send, r#"{"id":"agent-1","message":"  "}"#).contains("message"));
        assert!(refusal(send, r#"{"message":"x"}"#).contains("id"));
    }
}
