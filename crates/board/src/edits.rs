//! What calls do to the board (03 §7.3).

use std::collections::HashSet;

use vocab::board::IssueStatus;
use vocab::ids::{EpicId, IssueId, Slug};

use crate::board::{Board, BoardUsage};
use crate::call::{BoardCall, IssueChanges, NewEpic, NewIssue, TextChange};
use crate::caller::Caller;
use crate::dag;
use crate::error::{BoardError, Place};
use crate::issue::{Epic, Issue, IssueRow, IssueText};
use crate::protocol::Effect;
use crate::waits::Waiting;
use crate::work::{Phase, Work};

/// What prefixes ids of issues without an epic; no epic may have it.
const NO_EPIC: &str = "ISSUE";

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// An epic came.
    EpicCreated {
        /// Its id.
        id: EpicId,
        /// How full the board is now.
        usage: BoardUsage,
    },
    /// An issue came.
    IssueCreated {
        /// Its id.
        id: IssueId,
        /// How full the board is now.
        usage: BoardUsage,
    },
    /// An issue changed.
    IssueUpdated {
        /// Which.
        id: IssueId,
        /// Whether it had failed and is open again.
        revived: bool,
    },
    /// An issue's edges were replaced.
    BlockedBySet {
        /// Which.
        id: IssueId,
        /// Those of its blockers that are not done.
        unfinished: Vec<IssueId>,
    },
    /// An epic went.
    EpicRemoved {
        /// Which.
        id: EpicId,
        /// How full the board is now.
        usage: BoardUsage,
    },
    /// An issue went.
    IssueRemoved {
        /// Which.
        id: IssueId,
        /// How full the board is now.
        usage: BoardUsage,
    },
    /// What a wait came to at the call.
    Waiting {
        /// For which.
        id: IssueId,
        /// Whether it is over.
        waiting: Waiting,
    },
    /// Issues, in the order they were filed.
    Listed(Vec<IssueRow>),
    /// One issue, whole.
    Read(Box<Issue>),
}

impl Reply {
    /// Whether the board changed, so that the caller's stream shows it anew.
    pub const fn is_write(&self) -> bool {
        !matches!(self, Self::Waiting { .. } | Self::Listed(_) | Self::Read(_))
    }
}

impl Board {
    /// Carries out a call, and returns what to do next.
    ///
    /// # Errors
    ///
    /// See [`BoardError`]; the board is then as it was.
    pub fn call(
        &mut self,
        caller: &Caller,
        call: BoardCall,
    ) -> Result<(Reply, Vec<Effect>), BoardError> {
        let reply = match call {
            BoardCall::CreateEpic(new) => self.create_epic(new)?,
            BoardCall::CreateIssue(new) => self.create_issue(caller, new)?,
            BoardCall::UpdateIssue { id, changes } => self.update(caller, &id, changes)?,
            BoardCall::SetBlockedBy { id, blocked_by } => self.set_blocked_by(&id, blocked_by)?,
            BoardCall::RemoveEpic { id } => self.remove_epic(&id)?,
            BoardCall::RemoveIssue { id } => self.remove_issue(&id)?,
            BoardCall::Wait { id } => Reply::Waiting {
                waiting: self.wait(caller, &id)?,
                id: self.known(&id)?.id.clone(),
            },
            BoardCall::List { status, epic } => self.list(status, epic)?,
            BoardCall::Read { id } => Reply::Read(Box::new(self.known(&id)?.clone())),
        };
        Ok((reply, self.settled()))
    }

    fn create_epic(&mut self, new: NewEpic) -> Result<Reply, BoardError> {
        let prefix = new.prefix.trim().to_ascii_uppercase();
        let letters = prefix.bytes().all(|byte| byte.is_ascii_uppercase());
        if !letters || !(3..=6).contains(&prefix.len()) || prefix == NO_EPIC {
            return Err(BoardError::BadPrefix(new.prefix));
        }
        let id = EpicId::from(prefix);
        let title = one_line("title", &new.title)?;
        if self.epic(&id).is_some() {
            return Err(BoardError::EpicTaken(id));
        }
        let usage = self.usage();
        if usage.epics >= usage.max_epics {
            return Err(BoardError::EpicsFull(usage));
        }
        self.epics.push(Epic {
            id: id.clone(),
            title,
            description: filled(new.description),
        });
        let usage = self.usage();
        Ok(Reply::EpicCreated { id, usage })
    }

    fn create_issue(&mut self, caller: &Caller, new: NewIssue) -> Result<Reply, BoardError> {
        let text = IssueText {
            title: one_line("title", &new.title)?,
            description: filled(new.description),
            in_scope: not_blank("inScope", new.in_scope)?,
            out_of_scope: not_blank("outOfScope", new.out_of_scope)?,
            completion_criteria: not_blank("completionCriteria", new.completion_criteria)?,
        };
        let agent = Slug::from(new.agent.trim());
        let reviewers = once(new.reviewers);
        on_roster(caller, Some(&agent), Some(&reviewers))?;
        let epic = match new.epic {
            Some(epic) => Some(self.known_epic(&epic)?),
            None => None,
        };
        let blocked_by = self.known_all(&new.blocked_by)?;
        let usage = self.usage();
        if usage.issues >= usage.max_issues {
            return Err(BoardError::IssuesFull(usage));
        }
        let prefix = epic.as_ref().map_or(NO_EPIC, EpicId::as_str);
        let number = self.numbers.entry(prefix.to_owned()).or_default();
        *number += 1;
        let id = IssueId::from(format!("{prefix}-{number}"));
        self.issues.push(Issue {
            id: id.clone(),
            epic,
            text,
            agent,
            reviewers,
            blocked_by,
            status: IssueStatus::Open,
            attempts: 0,
            rounds: 0,
            verdicts: Vec::new(),
            failure: None,
            worktree: None,
            work: Work::default(),
        });
        let usage = self.usage();
        Ok(Reply::IssueCreated { id, usage })
    }

    fn update(
        &mut self,
        caller: &Caller,
        id: &IssueId,
        changes: IssueChanges,
    ) -> Result<Reply, BoardError> {
        let issue = self.revisable(id)?;
        let id = issue.id.clone();
        let failed = issue.status == IssueStatus::Failed;
        let mut text = issue.text.clone();
        if let Some(status) = changes.status
            && status != IssueStatus::Open
        {
            return Err(BoardError::BadStatus(status));
        }
        if let Some(title) = changes.title {
            text.title = one_line("title", &title)?;
        }
        match changes.description {
            TextChange::Keep => {}
            TextChange::Clear => text.description = None,
            TextChange::Set(set) => text.description = filled(Some(set)),
        }
        for (key, held, given) in [
            ("inScope", &mut text.in_scope, changes.in_scope),
            ("outOfScope", &mut text.out_of_scope, changes.out_of_scope),
            (
                "completionCriteria",
                &mut text.completion_criteria,
                changes.completion_criteria,
            ),
        ] {
            if let Some(given) = given {
                *held = not_blank(key, given)?;
            }
        }
        let agent = changes.agent.map(|agent| Slug::from(agent.as_str().trim()));
        let reviewers = changes.reviewers.map(once);
        on_roster(caller, agent.as_ref(), reviewers.as_deref())?;

        let revived = failed && changes.status.is_some();
        if revived {
            self.revive(&id);
        }
        let Some(issue) = self.issues.get_mut(&id) else {
            return Err(BoardError::Removed(id));
        };
        issue.text = text;
        if let Some(reviewers) = reviewers {
            issue.reviewers = reviewers;
        }
        if let Some(agent) = agent
            && agent != issue.agent
        {
            issue.agent = agent;
            // Whoever queues does so as the profile that was named before.
            self.requeue(&id);
        }
        Ok(Reply::IssueUpdated { id, revived })
    }

    fn set_blocked_by(
        &mut self,
        id: &IssueId,
        blocked_by: Vec<IssueId>,
    ) -> Result<Reply, BoardError> {
        let named = std::iter::once(id).chain(&blocked_by).cloned();
        self.known_all(&named.collect::<Vec<_>>())?;
        let id = self.revisable(id)?.id.clone();
        let blocked_by = self.known_all(&blocked_by)?;
        if blocked_by.contains(&id) {
            return Err(BoardError::SelfEdge(id));
        }
        if let Some(circle) = dag::circle(&self.issues, &id, &blocked_by) {
            return Err(BoardError::Circle(circle));
        }
        if let Some(issue) = self.issues.get_mut(&id) {
            issue.blocked_by = blocked_by;
        }
        let unfinished: Vec<_> = (self.issues.get(&id).into_iter())
            .flat_map(|issue| dag::unfinished(&self.issues, issue))
            .cloned()
            .collect();
        if !unfinished.is_empty() {
            self.requeue(&id);
        }
        Ok(Reply::BlockedBySet { id, unfinished })
    }

    fn remove_epic(&mut self, id: &EpicId) -> Result<Reply, BoardError> {
        let id = self.known_epic(id)?;
        let issues: Vec<_> = (self.issues.iter())
            .filter(|issue| issue.epic.as_ref() == Some(&id))
            .map(|issue| issue.id.clone())
            .collect();
        if !issues.is_empty() {
            return Err(BoardError::HasIssues { id, issues });
        }
        self.epics.retain(|epic| epic.id != id);
        let usage = self.usage();
        Ok(Reply::EpicRemoved { id, usage })
    }

    fn remove_issue(&mut self, id: &IssueId) -> Result<Reply, BoardError> {
        let issue = self.known(id)?;
        let id = issue.id.clone();
        let begun = issue.status == IssueStatus::Open && issue.work.dispatched > 0;
        let busy = matches!(
            issue.status,
            IssueStatus::InProgress | IssueStatus::InReview
        );
        if busy || begun {
            return Err(BoardError::NotNow {
                id,
                status: issue.status,
                begun,
                what: "it can be removed once it is settled",
            });
        }
        let blocks: Vec<_> = (self.issues.iter())
            .filter(|other| other.blocked_by.contains(&id))
            .map(|other| other.id.clone())
            .collect();
        if !blocks.is_empty() {
            return Err(BoardError::Blocks { id, blocks });
        }
        self.requeue(&id);
        self.issues.remove(&id);
        let usage = self.usage();
        Ok(Reply::IssueRemoved { id, usage })
    }

    fn list(&self, status: Option<IssueStatus>, epic: Option<EpicId>) -> Result<Reply, BoardError> {
        let epic = match epic {
            Some(epic) => Some(self.known_epic(&epic)?),
            None => None,
        };
        let rows = (self.issues.iter())
            .filter(|issue| status.is_none_or(|status| issue.status == status))
            .filter(|issue| epic.is_none() || issue.epic == epic)
            .map(Issue::row);
        Ok(Reply::Listed(rows.collect()))
    }

    /// Leaves the queue for an implementer's slot; what is still to be dispatched queues anew.
    fn requeue(&mut self, id: &IssueId) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        if let Phase::Queued(ticket) = issue.work.phase {
            issue.work.phase = Phase::Idle;
            self.withdraw(ticket);
        }
    }

    /// An issue that may still be changed: not begun, or failed.
    fn revisable(&self, id: &IssueId) -> Result<&Issue, BoardError> {
        let issue = self.known(id)?;
        let begun = issue.work.dispatched > 0;
        match issue.status {
            IssueStatus::Failed => Ok(issue),
            IssueStatus::Open if !begun => Ok(issue),
            status => Err(BoardError::NotNow {
                id: issue.id.clone(),
                status,
                begun: begun && status == IssueStatus::Open,
                what: "only an issue that is open and not begun, or that failed, can be changed",
            }),
        }
    }

    /// An issue by its id, in any case and with blanks around it.
    pub(crate) fn find(&self, id: &IssueId) -> Option<&Issue> {
        let named = || IssueId::from(id.as_str().trim().to_ascii_uppercase());
        (self.issues.get(id)).or_else(|| self.issues.get(&named()))
    }

    pub(crate) fn known(&self, id: &IssueId) -> Result<&Issue, BoardError> {
        self.find(id).ok_or_else(|| BoardError::UnknownIssue {
            ids: vec![id.clone()],
            held: self.issues.ids(),
        })
    }

    /// Issues by their ids, each once.
    fn known_all(&self, ids: &[IssueId]) -> Result<Vec<IssueId>, BoardError> {
        let unknown: Vec<_> = (ids.iter())
            .filter(|id| self.find(id).is_none())
            .cloned()
            .collect();
        if !unknown.is_empty() {
            return Err(BoardError::UnknownIssue {
                ids: unknown,
                held: self.issues.ids(),
            });
        }
        let found = ids.iter().filter_map(|id| self.find(id));
        Ok(once(found.map(|issue| issue.id.clone()).collect()))
    }

    fn known_epic(&self, id: &EpicId) -> Result<EpicId, BoardError> {
        let named = EpicId::from(id.as_str().trim().to_ascii_uppercase());
        match self.epic(&named) {
            Some(epic) => Ok(epic.id.clone()),
            None => Err(BoardError::UnknownEpic {
                id: id.clone(),
                held: self.epics.iter().map(|epic| epic.id.clone()).collect(),
            }),
        }
    }
}

/// Whether every profile that a call names is one its caller may name.
fn on_roster(
    caller: &Caller,
    agent: Option<&Slug>,
    reviewers: Option<&[Slug]>,
) -> Result<(), BoardError> {
    let mut given = Vec::new();
    let mut legal = Vec::new();
    if let Some(agent) = agent
        && !caller.implementers.contains(agent)
    {
        given.push((Place::Agent, agent.clone()));
        legal.push((Place::Agent, caller.implementers.clone()));
    }
    let strangers: Vec<_> = (reviewers.unwrap_or_default().iter())
        .filter(|slug| !caller.reviewers.contains(slug))
        .map(|slug| (Place::Reviewers, slug.clone()))
        .collect();
    if !strangers.is_empty() {
        given.extend(strangers);
        legal.push((Place::Reviewers, caller.reviewers.clone()));
    }
    if !given.is_empty() {
        return Err(BoardError::OffRoster { given, legal });
    }
    if caller.reviewers_required && reviewers.is_some_and(<[Slug]>::is_empty) {
        return Err(BoardError::NoReviewer(caller.reviewers.clone()));
    }
    Ok(())
}

/// Each item once, where it stood first.
fn once<T: Clone + Eq + std::hash::Hash>(mut items: Vec<T>) -> Vec<T> {
    let mut seen = HashSet::new();
    items.retain(|item| seen.insert(item.clone()));
    items
}

/// A text that says something, or none.
fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

fn not_blank(key: &str, text: String) -> Result<String, BoardError> {
    if text.trim().is_empty() {
        return Err(BoardError::BadText(format!("`{key}` is blank")));
    }
    Ok(text)
}

/// A text that listings show in one line.
fn one_line(key: &str, text: &str) -> Result<String, BoardError> {
    let text = not_blank(key, text.trim().to_owned())?;
    // What a terminal and `str::lines` both take for the end of a line, and the two of Unicode.
    if text.contains([
        '\n', '\r', '\u{0b}', '\u{0c}', '\u{85}', '\u{2028}', '\u{2029}',
    ]) {
        return Err(BoardError::BadText(format!(
            "`{key}` has a line break; it is one line"
        )));
    }
    Ok(text)
}
