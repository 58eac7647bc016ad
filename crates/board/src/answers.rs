//! What calls on the board answer a model.

use std::fmt::Write as _;

use vocab::ids::IssueId;
use vocab::listed::Listed;

use crate::board::BoardUsage;
use crate::edits::Reply;
use crate::issue::{Issue, IssueRow, Verdict};
use crate::waits::{Settled, Waiting};

/// The result of a call; `None` for a wait that is suspended.
pub fn answer(reply: &Reply) -> Option<String> {
    Some(match reply {
        Reply::EpicCreated { id, usage } => format!("epic `{id}` created; {}", held(*usage)),
        Reply::IssueCreated { id, usage } => {
            format!("issue `{id}` filed; it starts by itself; {}", held(*usage))
        }
        Reply::IssueUpdated { id, revived: true } => format!("`{id}` is open again"),
        Reply::IssueUpdated { id, revived: false } => format!("`{id}` updated"),
        Reply::BlockedBySet { id, unfinished } if unfinished.is_empty() => {
            format!("nothing blocks `{id}` now")
        }
        Reply::BlockedBySet { id, unfinished } => {
            format!("`{id}` is blocked by {}", Listed(unfinished))
        }
        Reply::EpicRemoved { id, usage } => format!("epic `{id}` removed; {}", held(*usage)),
        Reply::IssueRemoved { id, usage } => format!("issue `{id}` removed; {}", held(*usage)),
        Reply::Waiting {
            id,
            waiting: Waiting::Settled(how),
        } => settled(id, *how),
        Reply::Waiting {
            waiting: Waiting::Suspended(_),
            ..
        } => return None,
        Reply::Listed(rows) if rows.is_empty() => "no issue".to_owned(),
        Reply::Listed(rows) => rows.iter().map(row).collect::<Vec<_>>().join("\n"),
        Reply::Read(issue) => whole(issue),
    })
}

/// The result of a wait that is over.
pub fn settled(id: &IssueId, how: Settled) -> String {
    format!("`{id}` is {}", how.as_str())
}

fn held(usage: BoardUsage) -> String {
    let BoardUsage {
        epics,
        max_epics,
        issues,
        max_issues,
    } = usage;
    format!("the board holds {epics} of {max_epics} epics and {issues} of {max_issues} issues")
}

fn row(row: &IssueRow) -> String {
    let mut line = format!("{} [{}] {}", row.id, row.status, row.title);
    let mut more = vec![format!("agent {}", row.agent)];
    if !row.reviewers.is_empty() {
        more.push(format!("reviewers {}", joined(&row.reviewers)));
    }
    if !row.blocked_by.is_empty() {
        more.push(format!("blocked by {}", joined(&row.blocked_by)));
    }
    if row.attempts > 0 {
        more.push(format!("attempts {}", row.attempts));
    }
    // Writing to a string does not fail.
    write!(line, " ({})", more.join("; ")).ok();
    line
}

fn whole(issue: &Issue) -> String {
    let text = &issue.text;
    let mut parts = vec![row(&issue.row())];
    let sections = [
        ("Description", text.description.as_deref()),
        ("In scope", Some(text.in_scope.as_str())),
        ("Out of scope", Some(text.out_of_scope.as_str())),
        (
            "Completion criteria",
            Some(text.completion_criteria.as_str()),
        ),
        ("Reason", issue.failure.as_deref()),
    ];
    for (heading, body) in sections {
        if let Some(body) = body {
            parts.push(format!("{heading}:\n{body}"));
        }
    }
    parts.extend(issue.verdicts.iter().map(verdict));
    parts.join("\n\n")
}

fn verdict(verdict: &Verdict) -> String {
    let mut told = format!(
        "Review {} by {}: {}",
        verdict.round, verdict.reviewer, verdict.outcome
    );
    for (place, item) in verdict.items.iter().enumerate() {
        // As above.
        write!(told, "\n{}. {item}", place + 1).ok();
    }
    told
}

fn joined<T: std::fmt::Display>(items: &[T]) -> String {
    let items: Vec<_> = items.iter().map(ToString::to_string).collect();
    items.join(", ")
}
