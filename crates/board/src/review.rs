//! Rounds of review: one reviewer after another, until one wants changes or all approve (03 §7.6).

use vocab::board::{IssueStatus, ReviewOutcome};
use vocab::ids::{AgentId, IssueId};
use vocab::outcome::EndStatus;

use crate::attempt::{ended_as, no_more_agents};
use crate::board::Board;
use crate::brief::{Brief, IssueFacts};
use crate::ending::Disposal;
use crate::issue::{Issue, Verdict};
use crate::protocol::{AgentEnd, Ask, Duty, Effect, Refusal, Reviewed, Seat, Ticket};
use crate::work::Phase;

impl Board {
    /// Begins a round; without reviewers there is none, and the issue stands in line.
    pub(crate) fn begin_review(&mut self, id: &IssueId) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        issue.work.approved_by.clear();
        if issue.reviewers.is_empty() {
            return self.stand_in_line(id);
        }
        issue.rounds += 1;
        self.next_reviewer(id);
    }

    fn next_reviewer(&mut self, id: &IssueId) {
        let Some(seat) = self.issues.get(id).and_then(reviewer) else {
            return self.stand_in_line(id);
        };
        let ticket = self.ask(id, Ask::Slot(seat));
        self.phase(id, Phase::ReviewerQueued(ticket));
    }

    pub(crate) fn reviewer_granted(&mut self, id: &IssueId, slot: Ticket) {
        let Some(issue) = self.issues.get(id) else {
            return;
        };
        let parts = (reviewer(issue))
            .zip(issue.worktree.clone())
            .zip(issue.work.committed.clone());
        let Some(((seat, worktree), committed)) = parts else {
            self.out.push(Effect::GiveBack(slot));
            return self.impossible(id, "a review without a reviewer or without work".to_owned());
        };
        let brief = Brief::Review {
            issue: IssueFacts::of(issue),
            round: issue.rounds,
            verdicts: issue.verdicts.clone(),
            worktree: worktree.clone(),
            commit: committed.commit,
            changes: committed.changes,
            ignored: committed.ignored,
        };
        let run = Ask::Run {
            slot,
            seat,
            brief: Box::new(brief),
            worktree: Some(worktree),
        };
        self.ask(id, run);
        self.phase(id, Phase::Reviewing);
    }

    pub(crate) fn reviewer_refused(&mut self, id: &IssueId, refusal: Refusal) {
        match refusal {
            Refusal::Agents { max } => {
                self.spent = Some(max);
                let why = format!("it cannot be reviewed: {}", no_more_agents(max));
                self.fail(id, why, Disposal::Discard);
            }
            Refusal::Stopping => {
                let cause = self.refused_by_stop();
                self.stopped(id, cause);
            }
            Refusal::Impossible(why) => self.impossible(id, why),
        }
    }

    /// A reviewer ended, and all it started: the worktree goes back to what it judged.
    pub(crate) fn reviewer_ended(&mut self, id: &IssueId, end: AgentEnd) {
        let Some(issue) = self.issues.get(id) else {
            return;
        };
        let parts = (reviewer(issue))
            .zip(issue.worktree.clone())
            .zip(issue.work.committed.as_ref().map(|it| it.commit.clone()));
        let Some(((seat, worktree), commit)) = parts else {
            return self.impossible(id, "a verdict without a review".to_owned());
        };
        let round = issue.rounds;
        let (outcome, items) = match end {
            AgentEnd::Approved => (ReviewOutcome::Approved, Vec::new()),
            AgentEnd::RequestedChanges(items) => (ReviewOutcome::ChangesRequested, items),
            AgentEnd::Stopped { status, text } => {
                if let Some(cause) = self.stopping {
                    return self.stopped(id, cause);
                }
                let ended = ended_as(seat.agent.as_str(), status, text.as_deref());
                let disposal = match status {
                    EndStatus::Canceled | EndStatus::HookError | EndStatus::InternalError => {
                        Disposal::Keep
                    }
                    _ => Disposal::Discard,
                };
                return self.fail(id, format!("no verdict of a reviewer: {ended}"), disposal);
            }
            AgentEnd::Finished => {
                let why = format!("reviewer `{}` finished", seat.agent);
                return self.impossible(id, why);
            }
        };
        let verdict = Verdict {
            round,
            reviewer: seat.profile,
            by: seat.agent,
            outcome,
            items,
        };
        self.ask(id, Ask::Reset { worktree, commit });
        self.phase(id, Phase::Resetting(verdict));
    }

    /// A verdict stands.
    pub(crate) fn judged(&mut self, id: &IssueId, verdict: Verdict) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        issue.verdicts.push(verdict.clone());
        let by = (verdict.by.clone(), verdict.reviewer.clone());
        let wants_changes = verdict.outcome == ReviewOutcome::ChangesRequested;
        if !wants_changes {
            issue.work.approved_by.push(by.clone());
        }
        let over = wants_changes || issue.work.approved_by.len() >= issue.reviewers.len();
        if over {
            self.out.push(Effect::Reviewed(Reviewed {
                issue: id.clone(),
                round: verdict.round,
                outcome: verdict.outcome,
                items: verdict.items.clone(),
                by,
                approved_by: issue.work.approved_by.clone(),
            }));
        }
        if wants_changes {
            issue.work.fix = Some(verdict);
        }
        if let Some(cause) = self.stopping {
            self.stopped(id, cause);
        } else if wants_changes {
            self.rework(id);
        } else {
            self.next_reviewer(id);
        }
    }

    /// Back to its own profile, with what the reviewer wants changed.
    fn rework(&mut self, id: &IssueId) {
        let Some(issue) = self.issues.get(id) else {
            return;
        };
        let seat = Self::implementer(issue);
        self.move_to(id, IssueStatus::InProgress, None);
        let ticket = self.ask(id, Ask::Slot(seat));
        self.phase(id, Phase::Queued(ticket));
    }
}

/// Who reviews next in the round under way.
fn reviewer(issue: &Issue) -> Option<Seat> {
    let position = issue.work.approved_by.len();
    let profile = issue.reviewers.get(position)?.clone();
    let attempt = issue.attempts.saturating_sub(1);
    Some(Seat {
        agent: AgentId::new(format!("{}.{attempt}i.{position}r", issue.id)),
        profile,
        duty: Duty::Review {
            round: issue.rounds,
            position: position as u32,
        },
    })
}
