//! The board of a run: its issues by status, what happened to each, what was merged in which
//! order, who waited for what, and what is left on branches.

use std::fmt::Write as _;

use record::analysis::{Analysis, BoardFacts, Dispatched, Duty, IssueStory, Life, Span, Step};
use record::event::{AgentState, IssueReview, ReviewerRow, WorktreeMerged};
use vocab::board::{IssueStatus, MergeOutcome, ReviewOutcome};
use vocab::figures::grouped;
use vocab::ids::IssueId;

use crate::page::{columns, duration, one_line, plural, prose};

/// Characters of a commit's name.
const COMMIT: usize = 12;

/// The statuses in the order of the page, each with its heading.
const STATUSES: [(IssueStatus, &str); 5] = [
    (IssueStatus::InProgress, "In progress"),
    (IssueStatus::InReview, "In review"),
    (IssueStatus::Open, "Open"),
    (IssueStatus::Failed, "Failed"),
    (IssueStatus::Done, "Done"),
];

/// The page.
///
/// # Errors
///
/// A sentence, where the run had no board.
pub(crate) fn render(analysis: &Analysis) -> anyhow::Result<String> {
    let board = &analysis.board;
    if !board.is_told() {
        anyhow::bail!(
            "the run has no board: no profile of its launch enables `project-management`, or it \
             ended before anybody held one"
        );
    }
    let mut text = heading(analysis);
    if !board.epics().is_empty() {
        text.push_str("\nEpics\n");
        let rows: Vec<_> = (board.epics().iter())
            .map(|epic| vec![epic.id.to_string(), prose(&epic.title)])
            .collect();
        text.push_str(&columns(&rows, &[]));
    }
    for (status, title) in STATUSES {
        let issues: Vec<_> = (standing(board).filter(|it| it.status == status)).collect();
        if issues.is_empty() {
            continue;
        }
        tell(&mut text, format_args!("\n{title}: {}", issues.len()));
        for story in issues {
            issue(&mut text, analysis, story);
        }
    }
    let removed: Vec<_> = (board.issues().iter().filter(|it| it.removed))
        .map(|it| one_line(it.id.as_str()))
        .collect();
    if !removed.is_empty() {
        tell(
            &mut text,
            format_args!("\nRemoved from the board: {}", removed.join(", ")),
        );
    }
    merges(&mut text, board);
    waits(&mut text, analysis);
    branches(&mut text, board);
    Ok(text)
}

/// The issues that are on the board.
fn standing(board: &BoardFacts) -> impl Iterator<Item = &IssueStory> {
    board.issues().iter().filter(|it| !it.removed)
}

fn heading(analysis: &Analysis) -> String {
    let board = &analysis.board;
    let session = one_line(analysis.session.as_ref().map_or("", |id| id.as_str()));
    let counts: Vec<String> = (STATUSES.iter().rev())
        .filter_map(|(status, title)| {
            let count = standing(board).filter(|it| it.status == *status).count();
            (count > 0).then(|| format!("{count} {}", title.to_lowercase()))
        })
        .collect();
    let rounds = rounds(board).count() as u64;
    let conflicts = (board.issues().iter())
        .filter(|it| it.dispatched(|duty| duty == Duty::Merge).next().is_some())
        .count() as u64;
    let rounds = match rounds {
        1 => "1 round of review".to_owned(),
        rounds => format!("{} rounds of review", grouped(rounds)),
    };
    let issues = plural(standing(board).count() as u64, "issue");
    let conflicts = plural(conflicts, "conflict");
    let issues: Vec<String> = std::iter::once(issues).chain(counts).collect();
    format!(
        "Board of session {session}: {}; {rounds}, {conflicts}\n",
        issues.join(", ")
    )
}

fn rounds(board: &BoardFacts) -> impl Iterator<Item = &IssueReview> {
    let steps = board.issues().iter().flat_map(|it| &it.steps);
    steps.filter_map(|step| match step {
        Step::Reviewed(review) => Some(review),
        _ => None,
    })
}

/// One issue and its story.
fn issue(text: &mut String, analysis: &Analysis, story: &IssueStory) {
    let agent = story.agent.as_ref().map_or("-", |slug| slug.as_str());
    let mut who = format!("by {}", one_line(agent));
    if !story.reviewers.is_empty() {
        let names: Vec<_> = (story.reviewers.iter())
            .map(|slug| one_line(slug.as_str()))
            .collect();
        write!(who, ", reviewed by {}", names.join(", ")).expect("a string takes any text");
    }
    tell(
        text,
        format_args!(
            "{}  {} ({who})",
            one_line(story.id.as_str()),
            prose(&story.title)
        ),
    );
    if !story.blocked_by.is_empty() {
        let edges: Vec<_> = (story.blocked_by.iter())
            .map(|id| blocker(&analysis.board, id))
            .collect();
        tell(text, format_args!("    blocked by {}", edges.join(", ")));
    }
    let mut attempt = 0;
    for step in &story.steps {
        match step {
            Step::Dispatched(it) => match it.duty {
                Duty::Implement => {
                    attempt += 1;
                    tell(
                        text,
                        format_args!("    attempt {attempt}: {}", ended(analysis, it)),
                    );
                }
                Duty::Review { round } if !judged(story, it) => tell(
                    text,
                    format_args!("    round {round}: no verdict of {}", ended(analysis, it)),
                ),
                Duty::Review { .. } => {}
                Duty::Merge => {
                    tell(
                        text,
                        format_args!("    merge agent: {}", ended(analysis, it)),
                    );
                }
            },
            Step::Reviewed(review) => reviewed(text, review),
            Step::Landed(landed) => tell(text, format_args!("    {}", end_of_branch(landed))),
            Step::Moved { from, to, reason } => moved(text, *from, *to, reason.as_deref()),
        }
    }
}

/// A blocker, and where it stands.
fn blocker(board: &BoardFacts, id: &IssueId) -> String {
    let status = board.issue(id).map_or("unknown", |it| it.status.as_str());
    format!("{} ({status})", one_line(id.as_str()))
}

/// Whether a round tells of a reviewer's verdict.
fn judged(story: &IssueStory, reviewer: &Dispatched) -> bool {
    story.steps.iter().any(|step| match step {
        Step::Reviewed(review) => (review.approved_by.iter().chain([&review.by]))
            .any(|row| row.agent_id == reviewer.agent || row.agent_id == reviewer.last),
        _ => false,
    })
}

/// An agent, its profile and how it ended.
fn ended(analysis: &Analysis, dispatched: &Dispatched) -> String {
    let profile = dispatched
        .profile
        .as_ref()
        .map_or("-", |slug| slug.as_str());
    let facts = analysis.agents.get(&dispatched.last);
    let how = facts.and_then(|it| it.ended.as_deref());
    let how = how.map_or_else(|| "has not ended".into(), one_line);
    let mut text = format!(
        "{} ({}), {how}",
        one_line(dispatched.agent.as_str()),
        one_line(profile)
    );
    if dispatched.last != dispatched.agent {
        write!(text, " as {}", one_line(dispatched.last.as_str()))
            .expect("a string takes any text");
    }
    text
}

fn reviewed(text: &mut String, review: &IssueReview) {
    let round = review.round;
    let approved: Vec<_> = review.approved_by.iter().map(reviewer).collect();
    match review.outcome {
        ReviewOutcome::Approved => tell(
            text,
            format_args!("    round {round}: approved by {}", approved.join(", ")),
        ),
        ReviewOutcome::ChangesRequested => {
            let by = reviewer(&review.by);
            let before = if approved.is_empty() {
                String::new()
            } else {
                format!(", after {} approved", approved.join(", "))
            };
            tell(
                text,
                format_args!("    round {round}: changes requested by {by}{before}"),
            );
            for (number, item) in review.items.iter().enumerate() {
                tell(text, format_args!("      {}. {}", number + 1, prose(item)));
            }
        }
    }
}

fn reviewer(row: &ReviewerRow) -> String {
    format!(
        "{} ({})",
        one_line(row.agent_id.as_str()),
        one_line(row.profile_id.as_str())
    )
}

/// A step that its neighbours do not tell already.
fn moved(text: &mut String, from: IssueStatus, to: IssueStatus, reason: Option<&str>) {
    let reason = reason.map(prose);
    match (from, to, reason) {
        (IssueStatus::Failed, IssueStatus::Open, _) => tell(text, format_args!("    revived")),
        (IssueStatus::InProgress, IssueStatus::Open, Some(why)) => {
            tell(text, format_args!("    tried again: {why}"));
        }
        (_, IssueStatus::Open, Some(why)) => tell(text, format_args!("    not begun: {why}")),
        (_, IssueStatus::Failed, why) => tell(
            text,
            format_args!(
                "    failed: {}",
                why.as_deref().unwrap_or("no reason is told")
            ),
        ),
        _ => {}
    }
}

fn end_of_branch(landed: &WorktreeMerged) -> String {
    let agent = landed.merge_agent_id.as_ref();
    let agent = agent.map(|id| one_line(id.as_str()));
    let branch = one_line(&landed.branch);
    match (landed.outcome, agent) {
        (MergeOutcome::Merged, _) => format!("merged as {}", commit(landed)),
        (MergeOutcome::Resolved, Some(agent)) => {
            format!(
                "its conflict resolved by {agent}, merged as {}",
                commit(landed)
            )
        }
        (MergeOutcome::Resolved, None) => {
            format!("its conflict resolved, merged as {}", commit(landed))
        }
        (MergeOutcome::Aborted, _) => format!("its merge was undone; `{branch}` is as it was"),
        (MergeOutcome::Discarded, _) => {
            format!("its folder was removed; `{branch}` keeps its work")
        }
    }
}

/// The start of the commit that a merge made.
fn commit(landed: &WorktreeMerged) -> String {
    let name = landed.commit.as_deref().unwrap_or("-");
    one_line(name).chars().take(COMMIT).collect()
}

fn merges(text: &mut String, board: &BoardFacts) {
    if board.merges().is_empty() {
        return;
    }
    text.push_str("\nMerges, in the order of first parents\n");
    let mut rows = vec![cells(["", "issue", "branch", "outcome", "commit"])];
    for (number, landed) in board.merges().iter().enumerate() {
        let mut outcome = landed.outcome.as_str().to_owned();
        if let Some(agent) = &landed.merge_agent_id {
            write!(outcome, " by {agent}").expect("a string takes any text");
        }
        rows.push(cells([
            &format!("{}", number + 1),
            landed.issue_id.as_str(),
            &landed.branch,
            &outcome,
            &commit(landed),
        ]));
    }
    text.push_str(&columns(&rows, &[0]));
}

fn waits(text: &mut String, analysis: &Analysis) {
    let lives: Vec<Life> = analysis.lives.agents().collect();
    let waits: Vec<(&Life, &Span)> = (lives.iter())
        .flat_map(|life| life.spans.iter().map(move |span| (life, span)))
        .filter(|(_, span)| span.state == AgentState::Blocked && !span.issues.is_empty())
        .collect();
    if waits.is_empty() {
        return;
    }
    text.push_str("\nWaits for issues\n");
    let mut rows = vec![cells(["agent", "issue", "from", "waited"])];
    rows.extend((waits.into_iter()).map(|(life, span)| {
        let issues: Vec<&str> = span.issues.iter().map(IssueId::as_str).collect();
        cells([
            life.id.as_str(),
            &issues.join(", "),
            &duration(span.from_ms as f64),
            &duration(span.length_ms() as f64),
        ])
    }));
    text.push_str(&columns(&rows, &[2, 3]));
}

/// Unfinished work, and where it is.
fn branches(text: &mut String, board: &BoardFacts) {
    let mut rows = Vec::new();
    for story in standing(board) {
        if let Some(branch) = story.kept_branch() {
            rows.push(cells([branch, story.id.as_str()]));
        }
    }
    if rows.is_empty() {
        return;
    }
    text.push_str("\nBranches that keep unfinished work\n");
    rows.insert(0, cells(["branch", "issue"]));
    text.push_str(&columns(&rows, &[]));
}

fn tell(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a string takes any text");
}

fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Four issues: one sent back once and merged, one whose conflict is resolved, one that fails
    /// with its merge undone, one behind it that is never begun; and a root that waits.
    pub(crate) fn stream() -> String {
        let row = |id: &str, title: &str, blocked: &[&str]| {
            json!({"id": id, "epic": "UI", "title": title, "inScope": "a", "outOfScope": "b",
                "completionCriteria": "c", "status": "open", "agent": "coder",
                "reviewers": ["critic", "judge"], "blockedBy": blocked, "attempts": 0})
        };
        let state = json!({"type": "board_state", "agentId": "root", "module_id": "board-0",
            "epics": [{"id": "UI", "title": "User interface"}],
            "issues": [row("UI-1", "Draw the field", &[]), row("UI-2", "Score", &["UI-1"]),
                row("UI-3", "Sound\nand music", &[]), row("UI-4", "Levels", &["UI-3"])]});
        let moved = |id: &str, status: &str, reason: Option<&str>| {
            let mut line = json!({"type": "issue_status", "issueId": id, "status": status,
                "attempts": 1, "worktree": {"branch": format!("gg/{}", id.to_lowercase()),
                "path": format!("/t/{}", id.to_lowercase())}});
            match id {
                "UI-2" => line["blockedBy"] = json!(["UI-1"]),
                "UI-4" => line["blockedBy"] = json!(["UI-3"]),
                _ => {}
            }
            if let Some(reason) = reason {
                line["reason"] = json!(reason);
            }
            line
        };
        let spawned = |id: &str, profile: &str, origin: Value| {
            json!({"type": "agent_spawned", "agentId": id, "profileId": profile,
                "origin": origin, "brief": "b"})
        };
        let attempt =
            |issue: &str, n: u64| json!({"kind": "issue_attempt", "issue": issue, "ordinal": n});
        let judge = |issue: &str, round: u64, position: u64| json!({"kind": "reviewer", "issue": issue, "round": round, "position": position});
        let merger = |issue: &str| json!({"kind": "merge", "issue": issue, "ordinal": 0});
        let status = |id: &str, status: &str, how: &str| json!({"type": "agent_status", "agentId": id, "status": status, "endedAs": how});
        let by = |id: &str, profile: &str| json!({"agentId": id, "profileId": profile});
        let merged = |id: &str, outcome: &str, commit: Option<&str>, agent: Option<&str>| {
            let mut line = json!({"type": "worktree_merged", "issueId": id, "outcome": outcome,
                "branch": format!("gg/{}", id.to_lowercase())});
            if let Some(commit) = commit {
                line["commit"] = json!(commit);
            }
            if let Some(agent) = agent {
                line["mergeAgentId"] = json!(agent);
            }
            line
        };
        let lines = [
            json!({"type": "session_started"}),
            spawned("root", "lead", json!({"kind": "root"})),
            json!({"type": "agent_status", "agentId": "root", "status": "running"}),
            state,
            json!({"type": "agent_status", "agentId": "root", "status": "blocked",
                "waitingOn": {"issue": "UI-2"}}),
            moved("UI-1", "in_progress", None),
            spawned("UI-1.0i", "coder", attempt("UI-1", 0)),
            moved("UI-3", "in_progress", None),
            spawned("UI-3.0i", "coder", attempt("UI-3", 0)),
            status("UI-3.0i", "done", "exhausted"),
            moved("UI-3", "open", Some("`UI-3.0i` ended as exhausted")),
            status("UI-1.0i", "done", "completed"),
            moved("UI-1", "in_review", None),
            spawned("UI-1.0i.0r", "critic", judge("UI-1", 1, 0)),
            status("UI-1.0i.0r", "done", "completed"),
            spawned("UI-1.0i.1r", "judge", judge("UI-1", 1, 1)),
            status("UI-1.0i.1r", "done", "completed"),
            json!({"type": "issue_review", "issueId": "UI-1", "round": 1,
                "outcome": "changes_requested", "items": ["Name the keys.\nAll of them.", "Test it."],
                "by": by("UI-1.0i.1r", "judge"), "approvedBy": [by("UI-1.0i.0r", "critic")]}),
            moved("UI-1", "in_progress", None),
            spawned("UI-1.1i", "coder", attempt("UI-1", 1)),
            status("UI-1.1i", "done", "transitioned"),
            json!({"type": "agent_spawned", "agentId": "agent-1", "parentId": "UI-1.1i",
                "profileId": "coder", "brief": "b",
                "origin": {"kind": "succession", "predecessor": "UI-1.1i", "ordinal": 1}}),
            status("agent-1", "done", "completed"),
            moved("UI-1", "in_review", None),
            json!({"type": "issue_review", "issueId": "UI-1", "round": 2, "outcome": "approved",
                "by": by("UI-1.1i.1r", "judge"),
                "approvedBy": [by("UI-1.1i.0r", "critic"), by("UI-1.1i.1r", "judge")]}),
            merged("UI-1", "merged", Some("0123456789abcdef"), None),
            moved("UI-1", "done", None),
            moved("UI-2", "in_progress", None),
            spawned("UI-2.0i", "coder", attempt("UI-2", 0)),
            status("UI-2.0i", "done", "completed"),
            moved("UI-2", "in_review", None),
            json!({"type": "issue_review", "issueId": "UI-2", "round": 1, "outcome": "approved",
                "by": by("UI-2.0i.1r", "judge"),
                "approvedBy": [by("UI-2.0i.0r", "critic"), by("UI-2.0i.1r", "judge")]}),
            spawned("UI-2.0m", "merger", merger("UI-2")),
            status("UI-2.0m", "done", "completed"),
            merged(
                "UI-2",
                "resolved",
                Some("fedcba9876543210"),
                Some("UI-2.0m"),
            ),
            moved("UI-2", "done", None),
            json!({"type": "agent_status", "agentId": "root", "status": "running"}),
            moved("UI-3", "in_progress", None),
            spawned("UI-3.1i", "coder", attempt("UI-3", 1)),
            status("UI-3.1i", "done", "completed"),
            moved("UI-3", "in_review", None),
            spawned("UI-3.1i.0r", "critic", judge("UI-3", 1, 0)),
            status("UI-3.1i.0r", "failed", "model_error"),
            moved(
                "UI-3",
                "failed",
                Some("no verdict of a reviewer: `UI-3.1i.0r` ended as model_error"),
            ),
            merged("UI-3", "discarded", None, None),
            json!({"type": "session_ended", "status": "completed", "exitCode": 0}),
        ];
        let told: Vec<String> = (lines.into_iter().enumerate())
            .map(|(at, mut line)| {
                line["sessionId"] = json!("board-7");
                line["ts"] = json!(format!(
                    "2026-01-31T09:08:{:02}.{:03}Z",
                    at / 10,
                    at % 10 * 100
                ));
                line.to_string()
            })
            .collect();
        told.join("\n")
    }

    #[test]
    fn a_board_reads_as_reviewed() {
        let analysis = Analysis::read(stream().as_bytes()).unwrap();
        assert_eq!(analysis.damaged, []);
        insta::assert_snapshot!(render(&analysis).unwrap());
    }

    #[test]
    fn a_board_is_shown_at_every_moment_of_a_killed_run() {
        let whole = stream();
        let lines: Vec<&str> = whole.lines().collect();
        for count in 4..lines.len() {
            let text = lines[..count].join("\n");
            let page = render(&Analysis::read(text.as_bytes()).unwrap()).unwrap();
            assert!(
                page.starts_with("Board of session board-7: 4 issues"),
                "{page}"
            );
        }
    }

    #[test]
    fn a_run_without_a_board_says_so() {
        let error = render(&Analysis::default()).unwrap_err();
        assert!(error.to_string().contains("project-management"), "{error}");
    }

    #[test]
    fn words_of_the_session_steer_no_terminal() {
        let stream = stream().replace("Sound", "\\u001b[2JSound");
        let page = render(&Analysis::read(stream.as_bytes()).unwrap()).unwrap();
        assert!(!page.contains('\u{1b}'));
    }
}
