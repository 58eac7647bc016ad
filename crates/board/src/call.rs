//! The calls on the board, as both surfaces make them, and reading them from a model's JSON.

use tools::{Arguments, Faults};
use vocab::board::IssueStatus;
use vocab::failure::{Failure, FailureClass};
use vocab::ids::{EpicId, IssueId, Slug};
use vocab::tools::ToolName;

/// A call on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoardCall {
    /// `create_epic`
    CreateEpic(NewEpic),
    /// `create_issue`
    CreateIssue(NewIssue),
    /// `update_issue`
    UpdateIssue {
        /// Which.
        id: IssueId,
        /// What changes.
        changes: IssueChanges,
    },
    /// `set_issue_blocked_by`
    SetBlockedBy {
        /// Which.
        id: IssueId,
        /// All its blockers from now on.
        blocked_by: Vec<IssueId>,
    },
    /// `remove_epic`
    RemoveEpic {
        /// Which.
        id: EpicId,
    },
    /// `remove_issue`
    RemoveIssue {
        /// Which.
        id: IssueId,
    },
    /// `wait_for_issue`: see [`Board::wait`](crate::Board::wait).
    Wait {
        /// For which.
        id: IssueId,
    },
    /// `list_issues`
    List {
        /// Those that stand there.
        status: Option<IssueStatus>,
        /// Those of this epic.
        epic: Option<EpicId>,
    },
    /// `read_issue`
    Read {
        /// Which.
        id: IssueId,
    },
}

/// An epic to create.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewEpic {
    /// Its prefix, in any case.
    pub prefix: String,
    /// One line.
    pub title: String,
    /// What a title does not say.
    pub description: Option<String>,
}

/// An issue to file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewIssue {
    /// One line.
    pub title: String,
    /// What a title does not say.
    pub description: Option<String>,
    /// What belongs to it.
    pub in_scope: String,
    /// What does not.
    pub out_of_scope: String,
    /// How to see that it is done.
    pub completion_criteria: String,
    /// The profile that implements it.
    pub agent: String,
    /// The epic it belongs to.
    pub epic: Option<EpicId>,
    /// What has to be done before.
    pub blocked_by: Vec<IssueId>,
    /// The profiles that have to approve it.
    pub reviewers: Vec<Slug>,
}

/// What changes of an issue; `None` keeps what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssueChanges {
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: TextChange,
    /// What belongs to it.
    pub in_scope: Option<String>,
    /// What does not.
    pub out_of_scope: Option<String>,
    /// How to see that it is done.
    pub completion_criteria: Option<String>,
    /// The profile that implements it.
    pub agent: Option<Slug>,
    /// The profiles that have to approve it.
    pub reviewers: Option<Vec<Slug>>,
    /// `open` revives a failed issue; nothing else can be set.
    pub status: Option<IssueStatus>,
}

/// What becomes of a text that need not be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TextChange {
    /// It stays.
    #[default]
    Keep,
    /// It goes.
    Clear,
    /// It is this from now on.
    Set(String),
}

impl BoardCall {
    /// A call that a program made of values: with the faults that [`parse`] would find, in its
    /// words.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, with every fault in one sentence.
    pub fn judged(self) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        match &self {
            Self::CreateEpic(new) => {
                faults.filled("prefix", &new.prefix);
                faults.filled("title", &new.title);
                faults.optional_bounded("description", new.description.as_deref());
            }
            Self::CreateIssue(new) => new.judge(&mut faults),
            Self::UpdateIssue { id, changes } => {
                faults.filled("id", id.as_str());
                changes.judge(&mut faults);
            }
            Self::SetBlockedBy { id, blocked_by } => {
                faults.filled("id", id.as_str());
                faults.list("blockedBy", &names(blocked_by));
            }
            Self::RemoveEpic { id } => faults.filled("id", id.as_str()),
            Self::RemoveIssue { id } | Self::Wait { id } | Self::Read { id } => {
                faults.filled("id", id.as_str());
            }
            Self::List { status: _, epic } => {
                faults.optional_filled("epic", epic.as_ref().map(EpicId::as_str));
            }
        }
        faults.judge()?;
        Ok(self)
    }
}

impl NewIssue {
    fn judge(&self, faults: &mut Faults) {
        faults.filled("title", &self.title);
        faults.optional_bounded("description", self.description.as_deref());
        faults.filled("inScope", &self.in_scope);
        faults.filled("outOfScope", &self.out_of_scope);
        faults.filled("completionCriteria", &self.completion_criteria);
        faults.filled("agent", &self.agent);
        faults.optional_filled("epic", self.epic.as_ref().map(EpicId::as_str));
        faults.list("blockedBy", &names(&self.blocked_by));
        faults.list("reviewers", &names(&self.reviewers));
    }
}

impl IssueChanges {
    fn judge(&self, faults: &mut Faults) {
        faults.optional_filled("title", self.title.as_deref());
        if let TextChange::Set(text) = &self.description {
            faults.bounded("description", text);
        }
        faults.optional_filled("inScope", self.in_scope.as_deref());
        faults.optional_filled("outOfScope", self.out_of_scope.as_deref());
        let criteria = self.completion_criteria.as_deref();
        faults.optional_filled("completionCriteria", criteria);
        faults.optional_filled("agent", self.agent.as_ref().map(Slug::as_str));
        faults.list(
            "reviewers",
            &names(self.reviewers.as_deref().unwrap_or_default()),
        );
    }
}

fn names<T: ToString>(items: &[T]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

/// A tool of another family.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no call on the board")]
struct Stray(ToolName);

/// Reads a call.
///
/// # Errors
///
/// `invalid-argument`, with every fault of shape in one sentence.
pub fn parse(tool: ToolName, arguments: &str) -> Result<BoardCall, Failure> {
    let known: &'static [&'static str] = match tool {
        ToolName::CreateEpic => &["prefix", "title", "description"],
        ToolName::CreateIssue => &[
            "title",
            "description",
            "inScope",
            "outOfScope",
            "completionCriteria",
            "agent",
            "epic",
            "blockedBy",
            "reviewers",
        ],
        ToolName::UpdateIssue => &[
            "id",
            "title",
            "description",
            "inScope",
            "outOfScope",
            "completionCriteria",
            "agent",
            "reviewers",
            "status",
        ],
        ToolName::SetIssueBlockedBy => &["id", "blockedBy"],
        ToolName::RemoveEpic
        | ToolName::RemoveIssue
        | ToolName::WaitForIssue
        | ToolName::ReadIssue => &["id"],
        ToolName::ListIssues => &["status", "epic"],
        _ => {
            return Err(Failure::new(FailureClass::Other, Stray(tool).to_string()));
        }
    };
    let mut given = Arguments::read(arguments, known)?;
    let call = match tool {
        ToolName::CreateEpic => BoardCall::CreateEpic(NewEpic {
            prefix: given.filled("prefix"),
            title: given.filled("title"),
            description: given.optional_text("description"),
        }),
        ToolName::CreateIssue => BoardCall::CreateIssue(NewIssue {
            title: given.filled("title"),
            description: given.optional_text("description"),
            in_scope: given.filled("inScope"),
            out_of_scope: given.filled("outOfScope"),
            completion_criteria: given.filled("completionCriteria"),
            agent: given.filled("agent"),
            epic: given.optional_filled("epic").map(EpicId::from),
            blocked_by: ids(given.texts("blockedBy")),
            reviewers: slugs(given.texts("reviewers")),
        }),
        ToolName::UpdateIssue => BoardCall::UpdateIssue {
            id: given.filled("id").into(),
            changes: changes(&mut given),
        },
        ToolName::SetIssueBlockedBy => BoardCall::SetBlockedBy {
            id: given.filled("id").into(),
            blocked_by: ids(given.list("blockedBy")),
        },
        ToolName::RemoveEpic => BoardCall::RemoveEpic {
            id: given.filled("id").into(),
        },
        ToolName::RemoveIssue => BoardCall::RemoveIssue {
            id: given.filled("id").into(),
        },
        ToolName::WaitForIssue => BoardCall::Wait {
            id: given.filled("id").into(),
        },
        ToolName::ListIssues => BoardCall::List {
            status: status(&mut given),
            epic: given.optional_filled("epic").map(EpicId::from),
        },
        _ => BoardCall::Read {
            id: given.filled("id").into(),
        },
    };
    given.finish(tool)?;
    Ok(call)
}

fn changes(given: &mut Arguments) -> IssueChanges {
    let description = if given.is_null("description") {
        TextChange::Clear
    } else {
        (given.optional_text("description")).map_or(TextChange::Keep, TextChange::Set)
    };
    IssueChanges {
        title: given.optional_filled("title"),
        description,
        in_scope: given.optional_filled("inScope"),
        out_of_scope: given.optional_filled("outOfScope"),
        completion_criteria: given.optional_filled("completionCriteria"),
        agent: given.optional_filled("agent").map(Slug::from),
        reviewers: given.optional_texts("reviewers").map(slugs),
        status: status(given),
    }
}

fn status(given: &mut Arguments) -> Option<IssueStatus> {
    let word = given.optional_text("status")?;
    let status = word.trim().parse().ok();
    if status.is_none() {
        let all: Vec<_> = (IssueStatus::ALL.iter())
            .map(|status| format!("`{status}`"))
            .collect();
        given.fault(format!(
            "`status` is {word:?}; expected one of {}",
            all.join(", ")
        ));
    }
    status
}

fn ids(texts: Vec<String>) -> Vec<IssueId> {
    texts.into_iter().map(IssueId::from).collect()
}

fn slugs(texts: Vec<String>) -> Vec<Slug> {
    texts.iter().map(|text| Slug::from(text.trim())).collect()
}
