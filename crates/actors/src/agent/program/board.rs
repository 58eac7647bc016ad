//! The run's board, as a program reaches it (03 §7.3). Every agent may hold it, so that every call
//! crosses to the loop, which asks the board.
//!
//! A wait is declared: the program goes on, and its agent waits as the turn closes.

use ::board::{
    BoardCall, BoardUsage, Issue, IssueChanges, IssueRow, NewEpic, NewIssue, Reply, TextChange,
    Verdict,
};
use sandbox::contract as wit;
use sandbox::services::{Board, Call};
use serde_json::Value;
use vocab::board::{IssueStatus, ReviewOutcome};
use vocab::failure::Failure;
use vocab::ids::{EpicId, IssueId, Slug};

use super::given::{Given, count};
use super::{Carried, Serving};
use crate::agent::board_calls::told;

impl Serving {
    /// Carries out a call.
    fn on_board(
        &mut self,
        call: &Call,
        arguments: &Value,
        on_board: BoardCall,
    ) -> Result<Reply, Failure> {
        self.across(call, arguments, async move |turns, _| {
            turns.still_works()?;
            let reply = match on_board.judged()? {
                BoardCall::Wait { id } => turns.declare_wait(id).await,
                call => turns.on_board(call).await,
            };
            let reply = reply.map_err(|undone| turns.code.undone(undone))?;
            let text = told(&reply);
            Ok(Carried::new(reply, text))
        })
    }
}

impl Board for Serving {
    fn create_epic(
        &mut self,
        call: &Call,
        prefix: String,
        title: String,
        description: Option<String>,
    ) -> Result<wit::EpicCreated, Failure> {
        let arguments = Given::default()
            .with("prefix", prefix.as_str())
            .with("title", title.as_str())
            .maybe("description", description.as_deref());
        let new = NewEpic {
            prefix,
            title,
            description,
        };
        match self.on_board(call, &arguments.json(), BoardCall::CreateEpic(new))? {
            Reply::EpicCreated { id, usage } => Ok(wit::EpicCreated {
                id: id.to_string(),
                board: fullness(usage),
            }),
            _ => Err(self.mismatched()),
        }
    }

    fn create_issue(
        &mut self,
        call: &Call,
        issue: wit::IssueDraft,
    ) -> Result<wit::IssueCreated, Failure> {
        let arguments = Given::default()
            .with("title", issue.title.as_str())
            .maybe("description", issue.description.as_deref())
            .with("inScope", issue.in_scope.as_str())
            .with("outOfScope", issue.out_of_scope.as_str())
            .with("completionCriteria", issue.completion_criteria.as_str())
            .with("agent", issue.agent.as_str())
            .maybe("epic", issue.epic.as_deref())
            .maybe("blockedBy", issue.blocked_by.clone())
            .maybe("reviewers", issue.reviewers.clone());
        let new = NewIssue {
            title: issue.title,
            description: issue.description,
            in_scope: issue.in_scope,
            out_of_scope: issue.out_of_scope,
            completion_criteria: issue.completion_criteria,
            agent: issue.agent,
            epic: issue.epic.map(EpicId::from),
            blocked_by: ids(issue.blocked_by.unwrap_or_default()),
            reviewers: slugs(&issue.reviewers.unwrap_or_default()),
        };
        match self.on_board(call, &arguments.json(), BoardCall::CreateIssue(new))? {
            Reply::IssueCreated { id, usage } => Ok(wit::IssueCreated {
                id: id.to_string(),
                board: fullness(usage),
            }),
            _ => Err(self.mismatched()),
        }
    }

    fn update_issue(
        &mut self,
        call: &Call,
        id: String,
        changes: wit::IssueChanges,
    ) -> Result<(), Failure> {
        let status = changes.status.map(status);
        let mut arguments = Given::default()
            .with("id", id.as_str())
            .maybe("title", changes.title.as_deref())
            .maybe("inScope", changes.in_scope.as_deref())
            .maybe("outOfScope", changes.out_of_scope.as_deref())
            .maybe("completionCriteria", changes.completion_criteria.as_deref())
            .maybe("agent", changes.agent.as_deref())
            .maybe("reviewers", changes.reviewers.clone())
            .maybe("status", status.map(IssueStatus::as_str));
        let description = match changes.description {
            wit::TextEdit::Keep => TextChange::Keep,
            wit::TextEdit::Clear => {
                arguments = arguments.with("description", Value::Null);
                TextChange::Clear
            }
            wit::TextEdit::Set(text) => {
                arguments = arguments.with("description", text.as_str());
                TextChange::Set(text)
            }
        };
        let changes = IssueChanges {
            title: changes.title,
            description,
            in_scope: changes.in_scope,
            out_of_scope: changes.out_of_scope,
            completion_criteria: changes.completion_criteria,
            agent: changes.agent.map(Slug::from),
            reviewers: changes.reviewers.as_deref().map(slugs),
            status,
        };
        let id = IssueId::from(id);
        let update = BoardCall::UpdateIssue { id, changes };
        self.on_board(call, &arguments.json(), update).map(drop)
    }

    fn set_issue_blocked_by(
        &mut self,
        call: &Call,
        id: String,
        blocked_by: Vec<String>,
    ) -> Result<(), Failure> {
        let arguments = Given::default()
            .with("id", id.as_str())
            .with("blockedBy", blocked_by.clone());
        let set = BoardCall::SetBlockedBy {
            id: id.into(),
            blocked_by: ids(blocked_by),
        };
        self.on_board(call, &arguments.json(), set).map(drop)
    }

    fn remove_epic(&mut self, call: &Call, id: String) -> Result<wit::BoardUsage, Failure> {
        let arguments = Given::default().with("id", id.as_str());
        let remove = BoardCall::RemoveEpic { id: id.into() };
        match self.on_board(call, &arguments.json(), remove)? {
            Reply::EpicRemoved { usage, .. } => Ok(fullness(usage)),
            _ => Err(self.mismatched()),
        }
    }

    fn remove_issue(&mut self, call: &Call, id: String) -> Result<wit::BoardUsage, Failure> {
        let arguments = Given::default().with("id", id.as_str());
        let remove = BoardCall::RemoveIssue { id: id.into() };
        match self.on_board(call, &arguments.json(), remove)? {
            Reply::IssueRemoved { usage, .. } => Ok(fullness(usage)),
            _ => Err(self.mismatched()),
        }
    }

    fn wait_for_issue(&mut self, call: &Call, id: String) -> Result<String, Failure> {
        let arguments = Given::default().with("id", id.as_str());
        let wait = BoardCall::Wait { id: id.into() };
        let reply = self.on_board(call, &arguments.json(), wait)?;
        Ok(told(&reply))
    }

    fn list_issues(
        &mut self,
        call: &Call,
        of: Option<wit::IssueStatus>,
        epic: Option<String>,
    ) -> Result<Vec<wit::IssueRow>, Failure> {
        let status = of.map(status);
        let arguments = Given::default()
            .maybe("status", status.map(IssueStatus::as_str))
            .maybe("epic", epic.as_deref());
        let list = BoardCall::List {
            status,
            epic: epic.map(EpicId::from),
        };
        match self.on_board(call, &arguments.json(), list)? {
            Reply::Listed(rows) => Ok(rows.into_iter().map(row).collect()),
            _ => Err(self.mismatched()),
        }
    }

    fn read_issue(&mut self, call: &Call, id: String) -> Result<wit::Issue, Failure> {
        let arguments = Given::default().with("id", id.as_str());
        let read = BoardCall::Read { id: id.into() };
        match self.on_board(call, &arguments.json(), read)? {
            Reply::Read(issue) => Ok(whole(*issue)),
            _ => Err(self.mismatched()),
        }
    }
}

fn ids(ids: Vec<String>) -> Vec<IssueId> {
    ids.into_iter().map(IssueId::from).collect()
}

fn slugs(slugs: &[String]) -> Vec<Slug> {
    slugs.iter().map(|slug| Slug::from(slug.trim())).collect()
}

fn fullness(usage: BoardUsage) -> wit::BoardUsage {
    wit::BoardUsage {
        epics: count(usage.epics),
        max_epics: count(usage.max_epics),
        issues: count(usage.issues),
        max_issues: count(usage.max_issues),
    }
}

fn row(row: IssueRow) -> wit::IssueRow {
    let text = |slug: Slug| slug.to_string();
    wit::IssueRow {
        id: row.id.to_string(),
        epic: row.epic.map(|epic| epic.to_string()),
        title: row.title,
        status: stands(row.status),
        agent: text(row.agent),
        reviewers: row.reviewers.into_iter().map(text).collect(),
        blocked_by: row.blocked_by.iter().map(IssueId::to_string).collect(),
        attempts: row.attempts,
    }
}

fn whole(issue: Issue) -> wit::Issue {
    wit::Issue {
        row: row(issue.row()),
        description: issue.text.description,
        in_scope: issue.text.in_scope,
        out_of_scope: issue.text.out_of_scope,
        completion_criteria: issue.text.completion_criteria,
        rounds: issue.rounds,
        verdicts: issue.verdicts.into_iter().map(verdict).collect(),
        failure: issue.failure,
    }
}

fn verdict(verdict: Verdict) -> wit::Verdict {
    wit::Verdict {
        round: verdict.round,
        reviewer: verdict.reviewer.to_string(),
        kind: match verdict.outcome {
            ReviewOutcome::Approved => wit::VerdictKind::Approved,
            ReviewOutcome::ChangesRequested => wit::VerdictKind::ChangesRequested,
        },
        items: verdict.items,
    }
}

const fn status(status: wit::IssueStatus) -> IssueStatus {
    match status {
        wit::IssueStatus::Open => IssueStatus::Open,
        wit::IssueStatus::InProgress => IssueStatus::InProgress,
        wit::IssueStatus::InReview => IssueStatus::InReview,
        wit::IssueStatus::Done => IssueStatus::Done,
        wit::IssueStatus::Failed => IssueStatus::Failed,
    }
}

const fn stands(status: IssueStatus) -> wit::IssueStatus {
    match status {
        IssueStatus::Open => wit::IssueStatus::Open,
        IssueStatus::InProgress => wit::IssueStatus::InProgress,
        IssueStatus::InReview => wit::IssueStatus::InReview,
        IssueStatus::Done => wit::IssueStatus::Done,
        IssueStatus::Failed => wit::IssueStatus::Failed,
    }
}
