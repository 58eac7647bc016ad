//! What a lineage leaves to whoever put it to work (03 §3.6).

use vocab::ids::{AgentId, Slug};
use vocab::outcome::{Breach, EndStatus, Limit};

use crate::agent::{Ending, LoopEnd};

/// A return value. It is kept for the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnValue {
    /// The handle its dispatcher was given.
    pub id: AgentId,
    /// The profile that ended the lineage.
    pub agent: Slug,
    /// How its loop ended.
    pub status: EndStatus,
    /// Its final word; `None` where gg's own defect ended it.
    pub text: Option<String>,
    /// What it declared, where it did.
    pub ending: Option<Ending>,
}

impl ReturnValue {
    /// The value of an agent whose loop ended so.
    pub(crate) fn of(id: AgentId, agent: Slug, end: &LoopEnd) -> Self {
        let defect = end.panicked || end.status == EndStatus::InternalError;
        Self {
            id,
            agent,
            status: end.status,
            text: (!defect).then(|| final_word(end)),
            ending: end.ending.clone().filter(|_| !defect),
        }
    }

    /// Whether it failed. A ceiling or a cancel is no failure of its own.
    pub const fn failed(&self) -> bool {
        self.status.is_failure()
    }
}

/// The last an agent has to say, by how it really ended.
fn final_word(end: &LoopEnd) -> String {
    match (&end.ending, end.status) {
        (Some(ending), EndStatus::Completed) => ending.text(),
        (_, EndStatus::Exhausted) => match &end.breach {
            Some(breach) => format!("its {} turns were spent", breach.threshold),
            None => "its turns were spent".to_owned(),
        },
        (_, EndStatus::TimedOut) => "the run's time was spent".to_owned(),
        (_, EndStatus::LimitExceeded) => match &end.breach {
            Some(breach) => ceiling(breach),
            None => "it met a ceiling".to_owned(),
        },
        (_, EndStatus::Canceled) => "it was stopped with the run".to_owned(),
        (_, EndStatus::AuthError) => told("its model refused the credential", end),
        (_, EndStatus::ModelError) => told("its model could not be asked", end),
        (_, EndStatus::HookError) => told("a hook of the operator's failed", end),
        (_, EndStatus::CompactionFailed) => told("its window stayed full", end),
        (_, status) => told(&format!("it ended as {status}"), end),
    }
}

/// What a ceiling other than turns and time came to.
fn ceiling(breach: &Breach) -> String {
    match breach.limit {
        Limit::ConsecutiveErrors => {
            format!("{} turns in a row were errors", breach.observed)
        }
        Limit::ErrorRate => "too many of its turns were errors".to_owned(),
        Limit::Cost => "the run's money was spent".to_owned(),
        Limit::Turns => "its turns were spent".to_owned(),
        Limit::Runtime => "the run's time was spent".to_owned(),
    }
}

fn told(what: &str, end: &LoopEnd) -> String {
    match &end.error {
        Some(error) => format!("{what}: {error}"),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(end: LoopEnd) -> ReturnValue {
        ReturnValue::of("agent-1".into(), "scout".into(), &end)
    }

    #[test]
    fn a_declared_ending_is_the_final_word() {
        let ending = Ending::Finish {
            summary: "all green".to_owned(),
        };
        let value = value(LoopEnd {
            ending: Some(ending.clone()),
            ..LoopEnd::of(EndStatus::Completed)
        });
        assert_eq!(value.text.as_deref(), Some("all green"));
        assert_eq!((value.failed(), value.ending), (false, Some(ending)));
    }

    #[test]
    fn a_ceiling_or_a_cancel_is_done_and_says_so() {
        for status in [
            EndStatus::Exhausted,
            EndStatus::TimedOut,
            EndStatus::LimitExceeded,
            EndStatus::Canceled,
        ] {
            let value = value(LoopEnd::of(status));
            assert!(!value.failed(), "{status}");
            assert!(value.text.is_some() && value.ending.is_none(), "{status}");
        }
    }

    #[test]
    fn a_failure_names_what_it_failed_of() {
        let value = value(LoopEnd {
            error: Some("HTTP 503".to_owned()),
            ..LoopEnd::of(EndStatus::ModelError)
        });
        assert!(value.failed());
        assert!(value.text.unwrap().ends_with(": HTTP 503"));
    }

    #[test]
    fn a_defect_of_gg_s_own_brings_neither_word_nor_ending() {
        let panicked = value(LoopEnd::panicked("over here".to_owned()));
        assert_eq!(panicked.status, EndStatus::InternalError);
        assert_eq!(
            (panicked.text.clone(), panicked.ending.clone()),
            (None, None)
        );
        assert!(panicked.failed());
    }
}
