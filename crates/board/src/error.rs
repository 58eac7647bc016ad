//! Why a call on the board is refused.

use std::fmt;

use vocab::board::IssueStatus;
use vocab::failure::{Failure, FailureClass};
use vocab::ids::{EpicId, IssueId, Slug};
use vocab::listed::Listed;

use crate::board::BoardUsage;
use crate::waits::Hopeless;

/// A refused call; the board is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// A text that is no prefix.
    #[error("`prefix` is {0:?}; expected 3 to 6 letters of A to Z, and not `ISSUE`")]
    BadPrefix(String),
    /// A new epic's prefix is in use.
    #[error("there is an epic `{0}` already; choose another prefix")]
    EpicTaken(EpicId),
    /// No such epic.
    #[error("there is no epic `{id}`; {}", there_are("epic", .held))]
    UnknownEpic {
        /// As it was named.
        id: EpicId,
        /// The epics there are.
        held: Vec<EpicId>,
    },
    /// No such issues.
    #[error("there is no issue {}; {}", Listed(.ids), there_are("issue", .held))]
    UnknownIssue {
        /// All of them that the call named.
        ids: Vec<IssueId>,
        /// The issues there are.
        held: Vec<IssueId>,
    },
    /// The board takes no more epics.
    #[error("the board holds {} of {} epics; remove one first", .0.epics, .0.max_epics)]
    EpicsFull(BoardUsage),
    /// The board takes no more issues.
    #[error(
        "the board holds {} of {} issues, settled ones included; remove one first",
        .0.issues,
        .0.max_issues
    )]
    IssuesFull(BoardUsage),
    /// A profile that may not be named here.
    #[error("{}", off_roster(.given, .legal))]
    OffRoster {
        /// Each with the place it was given at.
        given: Vec<(Place, Slug)>,
        /// Who could be named, by place.
        legal: Vec<(Place, Vec<Slug>)>,
    },
    /// An issue without a reviewer, where one is required.
    #[error("`reviewers` names nobody; an issue of yours needs at least one of {}", Listed(.0))]
    NoReviewer(Vec<Slug>),
    /// A text of an issue that is blank, or of more than one line where one is expected.
    #[error("{0}")]
    BadText(String),
    /// A status that no call sets.
    #[error("`status` is `{0}`; only `open` can be set, which revives a failed issue")]
    BadStatus(IssueStatus),
    /// An issue named as its own blocker.
    #[error("`{0}` cannot be blocked by itself")]
    SelfEdge(IssueId),
    /// Edges that would close a circle.
    #[error("that closes a circle, in which each issue is blocked by the next: {}", way(.0))]
    Circle(Vec<IssueId>),
    /// An issue that is past being changed.
    #[error("`{id}` is {status}{}; {what}", if *.begun { " and was begun" } else { "" })]
    NotNow {
        /// Which.
        id: IssueId,
        /// Where it stands.
        status: IssueStatus,
        /// An attempt at it was made.
        begun: bool,
        /// What would be needed.
        what: &'static str,
    },
    /// An issue that others are blocked by.
    #[error("`{id}` blocks {}; set what blocks those first", Listed(.blocks))]
    Blocks {
        /// Which.
        id: IssueId,
        /// Whom.
        blocks: Vec<IssueId>,
    },
    /// An epic that has issues.
    #[error("`{id}` has issues: {}; remove those first", Listed(.issues))]
    HasIssues {
        /// Which.
        id: EpicId,
        /// Its issues.
        issues: Vec<IssueId>,
    },
    /// A wait for the issue the caller works for.
    #[error("`{0}` is the issue you work for; it waits for you")]
    OwnIssue(IssueId),
    /// A wait of a merge agent.
    #[error(
        "you resolve a conflict, and nothing else is merged until you are done; no issue can be \
         waited for"
    )]
    MergeAgentWaits,
    /// A wait that nothing would end.
    #[error("{}", no_hope(.id, .why))]
    Hopeless {
        /// The issue.
        id: IssueId,
        /// Why.
        why: Hopeless,
    },
    /// The issue is live once more since it was settled.
    #[error("`{id}` was revived meanwhile and is {status}; wait again")]
    LiveAgain {
        /// Which.
        id: IssueId,
        /// Where it stands.
        status: IssueStatus,
    },
    /// The issue was removed while it was waited for.
    #[error("`{0}` no longer exists; it was removed from the board")]
    Removed(IssueId),
    /// The run stops.
    #[error("the run is stopping; no issue is waited for")]
    Stopping,
}

/// Where a call names a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `agent`
    Agent,
    /// `reviewers`
    Reviewers,
}

impl Place {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Reviewers => "reviewers",
        }
    }
}

fn there_are<T: fmt::Display>(thing: &str, ids: &[T]) -> String {
    if ids.is_empty() {
        format!("the board holds no {thing}")
    } else {
        format!("the board holds {}", Listed(ids))
    }
}

fn off_roster(given: &[(Place, Slug)], legal: &[(Place, Vec<Slug>)]) -> String {
    let faults: Vec<_> = (given.iter())
        .map(|(place, slug)| format!("`{}`: you may not name `{slug}`", place.as_str()))
        .chain(legal.iter().map(|(place, slugs)| {
            if slugs.is_empty() {
                format!("nobody can be named in `{}`", place.as_str())
            } else {
                format!("`{}` takes {}", place.as_str(), Listed(slugs))
            }
        }))
        .collect();
    faults.join("; ")
}

fn way(ids: &[IssueId]) -> String {
    let quoted: Vec<_> = ids.iter().map(|id| format!("`{id}`")).collect();
    quoted.join(" → ")
}

fn no_hope(id: &IssueId, why: &Hopeless) -> String {
    match why {
        Hopeless::Behind(blocker) => format!(
            "nothing will complete `{id}`: it is behind `{blocker}`, which failed; drop the \
             dependency, revive `{blocker}` or refile it"
        ),
        Hopeless::NoAgents(blocker, max) if blocker == id => format!(
            "nothing will complete `{id}`: it is not begun, and {}",
            crate::attempt::no_more_agents(*max)
        ),
        Hopeless::NoAgents(blocker, max) => format!(
            "nothing will complete `{id}`: it is behind `{blocker}`, which is not begun, and {}",
            crate::attempt::no_more_agents(*max)
        ),
        Hopeless::Circle(ids) => format!(
            "`{id}` needs the issue you work for, so neither would end: {}",
            way(ids)
        ),
    }
}

impl From<BoardError> for Failure {
    fn from(error: BoardError) -> Self {
        use BoardError as E;
        let class = match &error {
            E::BadPrefix(_)
            | E::OffRoster { .. }
            | E::NoReviewer(_)
            | E::BadText(_)
            | E::BadStatus(_)
            | E::OwnIssue(_) => FailureClass::InvalidArgument,
            E::EpicTaken(_) | E::SelfEdge(_) | E::Circle(_) => FailureClass::Conflict,
            E::UnknownEpic { .. } | E::UnknownIssue { .. } | E::Removed(_) => {
                FailureClass::NotFound
            }
            E::EpicsFull(_) | E::IssuesFull(_) => FailureClass::LimitExceeded,
            E::NotNow { .. }
            | E::Blocks { .. }
            | E::HasIssues { .. }
            | E::MergeAgentWaits
            | E::Hopeless { .. }
            | E::LiveAgain { .. }
            | E::Stopping => FailureClass::Refused,
        };
        Self::new(class, error.to_string())
    }
}
