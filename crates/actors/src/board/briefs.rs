//! The facts of a brief in words: what an agent of the board's is told as it starts (03 §7.4).

use board::{Brief, ChangeKind, FileChange, IssueFacts, Verdict};
use context::prompts::PromptError;
use context::prompts::{
    ChangeLine, IssueBrief, MergeBrief, ReviewBrief, VerdictLine, brief_fix, brief_implement,
    brief_merge, brief_review, items,
};

/// A brief as its reader is told it.
pub(super) fn text(brief: &Brief) -> Result<String, PromptError> {
    match brief {
        Brief::Issue(issue) => brief_implement(&facts(issue), issue.reviewed),
        Brief::Fix {
            issue,
            reviewer,
            round,
            items,
        } => brief_fix(&facts(issue), reviewer.as_str(), *round, items),
        Brief::Review {
            issue,
            round,
            verdicts,
            worktree,
            commit,
            changes,
            ignored,
        } => {
            let review = ReviewBrief {
                round: *round,
                verdicts: verdicts.iter().map(verdict).collect(),
                branch: &worktree.branch,
                baseline: &worktree.baseline,
                commit,
                changes: changes.files.iter().map(change).collect(),
                ignored,
            };
            brief_review(&facts(issue), &review)
        }
        Brief::Merge {
            issue,
            title,
            branch,
            into,
            paths,
            output,
        } => brief_merge(&MergeBrief {
            issue: issue.as_str(),
            title,
            branch,
            into,
            paths,
            output,
        }),
    }
}

fn facts(issue: &IssueFacts) -> IssueBrief<'_> {
    IssueBrief {
        id: issue.id.as_str(),
        title: &issue.text.title,
        description: issue.text.description.as_deref(),
        in_scope: &issue.text.in_scope,
        out_of_scope: &issue.text.out_of_scope,
        completion_criteria: &issue.text.completion_criteria,
    }
}

fn verdict(verdict: &Verdict) -> VerdictLine<'_> {
    VerdictLine {
        round: verdict.round,
        reviewer: verdict.reviewer.as_str(),
        items: items(&verdict.items),
    }
}

fn change(change: &FileChange) -> ChangeLine<'_> {
    let (added, removed) = change.lines.unwrap_or_default();
    ChangeLine {
        kind: change.kind.as_str(),
        path: &change.path,
        from: match &change.kind {
            ChangeKind::Renamed { from } => Some(from),
            ChangeKind::Added
            | ChangeKind::Modified
            | ChangeKind::Deleted
            | ChangeKind::TypeChanged => None,
        },
        text: change.lines.is_some(),
        added,
        removed,
    }
}
