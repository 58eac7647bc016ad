//! What calls that concern other agents answer a model.

use vocab::failure::{Failure, FailureClass};
use vocab::ids::{AgentId, Slug};

use super::ReturnValue;
use crate::agent::Ending;
use crate::supervisor::{MessageRefusal, SpawnRefusal, WaitRefusal};

/// What a call that concerns other agents came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Delegated {
    /// A child was started.
    Spawned {
        /// Its handle.
        id: AgentId,
        /// Its profile.
        agent: Slug,
    },
    /// What children left, in asked order.
    Awaited(Vec<ReturnValue>),
    /// A message was accepted, for this child.
    Sent(AgentId),
    /// An agent of this profile takes the caller's place.
    Becoming(Slug),
    /// A copy is promised, under this handle.
    Forked(AgentId),
}

impl Delegated {
    /// The text of the result.
    pub(crate) fn as_text(&self) -> String {
        match self {
            Self::Spawned { id, agent } => {
                format!("`{id}` ({agent}) started; it works by itself from here")
            }
            Self::Awaited(values) => awaited(values),
            Self::Sent(id) => format!("`{id}` finds the message before its next turn"),
            Self::Becoming(agent) => format!("you become `{agent}` when this turn ends"),
            Self::Forked(id) => format!(
                "`{id}` will start as a copy of you when this turn ends; wait for it from the \
                 next on"
            ),
        }
    }
}

/// The return values of a wait, in asked order.
fn awaited(values: &[ReturnValue]) -> String {
    if values.is_empty() {
        return "there is nobody to wait for: all you started are collected".to_owned();
    }
    let rows: Vec<_> = values.iter().map(row).collect();
    rows.join("\n\n")
}

fn row(value: &ReturnValue) -> String {
    let ReturnValue {
        id, agent, status, ..
    } = value;
    let how = match &value.ending {
        Some(Ending::Finish { .. }) => "finished".to_owned(),
        Some(Ending::Approve) => "approved".to_owned(),
        Some(Ending::RequestChanges { .. }) => "requested changes".to_owned(),
        None if value.failed() => format!("failed, {status}"),
        None => format!("did not finish, {status}"),
    };
    match (&value.ending, &value.text) {
        (Some(Ending::Approve), _) | (_, None) => format!("`{id}` ({agent}) {how}"),
        (_, Some(text)) => format!("`{id}` ({agent}) {how}:\n{text}"),
    }
}

/// Names, as a sentence lists them.
fn listed(ids: &[AgentId]) -> String {
    let ids: Vec<_> = ids.iter().map(|id| format!("`{id}`")).collect();
    ids.join(", ")
}

/// A number of things, in words.
fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Whom its caller may name.
fn known(children: &[AgentId]) -> String {
    if children.is_empty() {
        "you have started nobody".to_owned()
    } else {
        format!("those you started are {}", listed(children))
    }
}

impl From<SpawnRefusal> for Failure {
    fn from(refusal: SpawnRefusal) -> Self {
        match refusal {
            SpawnRefusal::Depth { max } => Self::new(
                FailureClass::LimitExceeded,
                format!(
                    "agents are started {} below the first at most, and you are on the last; do \
                     the work yourself",
                    counted(max, "level")
                ),
            ),
            SpawnRefusal::Agents { max } => Self::new(
                FailureClass::LimitExceeded,
                format!(
                    "this run starts {} at most, and has; do the work yourself",
                    counted(max, "agent")
                ),
            ),
            SpawnRefusal::Stopping => Self::new(
                FailureClass::Refused,
                "the run is stopping; nobody is started any more",
            ),
            SpawnRefusal::Impossible => {
                Self::new(FailureClass::Other, "gg could not start the agent")
            }
        }
    }
}

impl From<WaitRefusal> for Failure {
    fn from(refusal: WaitRefusal) -> Self {
        match refusal {
            WaitRefusal::NoChild { ids, children } => Self::not_found(format!(
                "{} {} no agent you started; {}",
                listed(&ids),
                if ids.len() == 1 { "is" } else { "are" },
                known(&children)
            )),
            WaitRefusal::NotYet { ids } => Self::new(
                FailureClass::Refused,
                format!(
                    "{} {} when this turn ends; wait from the next on",
                    listed(&ids),
                    if ids.len() == 1 {
                        "is a copy of you that starts"
                    } else {
                        "are copies of you that start"
                    },
                ),
            ),
            WaitRefusal::Stopping => Self::new(
                FailureClass::Refused,
                "the run is stopping; nobody is waited for",
            ),
        }
    }
}

impl From<MessageRefusal> for Failure {
    fn from(refusal: MessageRefusal) -> Self {
        match refusal {
            MessageRefusal::NoChild { id, children } => Self::not_found(format!(
                "`{id}` is no agent you started; {}",
                known(&children)
            )),
            MessageRefusal::NotYet { id } => Self::new(
                FailureClass::Refused,
                format!("`{id}` is a copy of you that starts when this turn ends"),
            ),
            MessageRefusal::Ended { id, status } => Self::new(
                FailureClass::Refused,
                format!("`{id}` has ended, {status}; it reads no more"),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use vocab::outcome::EndStatus;

    use super::*;

    fn value(status: EndStatus, text: Option<&str>, ending: Option<Ending>) -> ReturnValue {
        ReturnValue {
            id: "agent-1".into(),
            agent: "scout".into(),
            status,
            text: text.map(str::to_owned),
            ending,
        }
    }

    #[test]
    fn each_return_value_is_a_paragraph_in_asked_order() {
        let summary = "done:\nall of it".to_owned();
        let text = summary.clone();
        let finished = value(
            EndStatus::Completed,
            Some(&text),
            Some(Ending::Finish { summary }),
        );
        let exhausted = value(EndStatus::Exhausted, Some("its 5 turns were spent"), None);
        let panicked = value(EndStatus::InternalError, None, None);
        assert_eq!(
            awaited(&[finished, exhausted, panicked]),
            "`agent-1` (scout) finished:\ndone:\nall of it\n\n\
             `agent-1` (scout) did not finish, exhausted:\nits 5 turns were spent\n\n\
             `agent-1` (scout) failed, internal_error"
        );
    }

    #[test]
    fn refusals_name_the_figure_or_whom_could_be_meant() {
        let failure = Failure::from(SpawnRefusal::Depth { max: 2 });
        assert_eq!(failure.class, FailureClass::LimitExceeded);
        assert!(failure.message.contains("2 levels"), "{failure}");
        let failure = Failure::from(SpawnRefusal::Depth { max: 1 });
        assert!(failure.message.contains("1 level below"), "{failure}");
        let failure = Failure::from(SpawnRefusal::Agents { max: 1 });
        assert!(failure.message.contains("1 agent at most"), "{failure}");
        let failure = Failure::from(WaitRefusal::NoChild {
            ids: vec!["agent-9".into()],
            children: vec!["agent-1".into(), "agent-2".into()],
        });
        assert_eq!(failure.class, FailureClass::NotFound);
        assert!(
            failure.message.ends_with("are `agent-1`, `agent-2`"),
            "{failure}"
        );
        let failure = Failure::from(MessageRefusal::Ended {
            id: "agent-1".into(),
            status: EndStatus::Exhausted,
        });
        assert_eq!(failure.class, FailureClass::Refused);
        assert!(failure.message.contains("exhausted"));
    }
}
