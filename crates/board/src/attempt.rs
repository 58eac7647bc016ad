//! Attempts: who may be started, in what worktree, and what follows of how it ended (03 §7.4).

use vocab::board::IssueStatus;
use vocab::ids::{AgentId, IssueId};
use vocab::outcome::EndStatus;

use crate::board::Board;
use crate::brief::{Brief, IssueFacts};
use crate::dag;
use crate::ending::Disposal;
use crate::issue::Issue;
use crate::protocol::{
    AgentEnd, Answer, Ask, Committed, Duty, Effect, Refusal, Seat, StopCause, Ticket,
};
use crate::work::Phase;

impl Board {
    /// Queues an implementer for every issue that can be started.
    pub(crate) fn dispatch(&mut self) {
        if self.stopping.is_some() || self.closing {
            return;
        }
        let ready: Vec<_> = (self.issues.iter())
            .filter(|issue| issue.status == IssueStatus::Open && issue.work.phase == Phase::Idle)
            .filter(|issue| dag::unfinished(&self.issues, issue).next().is_none())
            .map(|issue| issue.id.clone())
            .collect();
        for id in ready {
            if let Some(max) = self.spent {
                self.not_started(&id, Refusal::Agents { max });
            } else if let Some(issue) = self.issues.get(&id) {
                let seat = Self::implementer(issue);
                let ticket = self.ask(&id, Ask::Slot(seat));
                self.phase(&id, Phase::Queued(ticket));
            }
        }
    }

    /// The next implementer of an issue.
    pub(crate) fn implementer(issue: &Issue) -> Seat {
        Seat {
            agent: AgentId::new(format!("{}.{}i", issue.id, issue.attempts)),
            profile: issue.agent.clone(),
            duty: Duty::Implement {
                ordinal: issue.attempts,
            },
        }
    }

    /// Takes what became of what an issue asked for.
    pub(crate) fn advance(&mut self, ticket: Ticket, id: &IssueId, answer: Answer) {
        let Some(issue) = self.issues.get_mut(id) else {
            // What is under way for an issue keeps it from being removed.
            return;
        };
        let phase = std::mem::take(&mut issue.work.phase);
        match (phase, answer) {
            (phase, Answer::Lost(why)) => self.lost(id, &phase, &why),
            (Phase::Queued(_), Answer::Granted) => self.implementer_granted(id, ticket),
            (Phase::Queued(_), Answer::Refused(refusal)) => self.not_started(id, refusal),
            (Phase::Cutting { slot }, Answer::Cut(Ok(worktree))) => {
                issue.worktree = Some(worktree);
                if let Some(cause) = self.stopping {
                    self.out.push(Effect::GiveBack(slot));
                    self.stopped(id, cause);
                } else {
                    self.implement(id, slot);
                }
            }
            (Phase::Cutting { slot }, Answer::Cut(Err(why))) => {
                self.out.push(Effect::GiveBack(slot));
                self.fail(id, why, Disposal::Keep);
            }
            (Phase::Implementing, Answer::Ended(end)) => self.implemented(id, end),
            (Phase::Implementing, Answer::Refused(refusal)) => {
                issue.attempts -= 1;
                issue.work.dispatched -= 1;
                self.not_started(id, refusal);
            }
            (Phase::Committing, Answer::Committed(Ok(committed))) => self.committed(id, committed),
            (Phase::Committing, Answer::Committed(Err(why))) => {
                self.fail(id, why, Disposal::Keep);
            }
            (Phase::ReviewerQueued(_), Answer::Granted) => self.reviewer_granted(id, ticket),
            (Phase::ReviewerQueued(_) | Phase::Reviewing, Answer::Refused(refusal)) => {
                self.reviewer_refused(id, refusal);
            }
            (Phase::Reviewing, Answer::Ended(end)) => self.reviewer_ended(id, end),
            (Phase::Resetting(verdict), Answer::Reset(Ok(()))) => self.judged(id, verdict),
            (Phase::Resetting(_), Answer::Reset(Err(why))) => self.fail(id, why, Disposal::Keep),
            (Phase::Merging, Answer::Merged(end)) => self.merged(id, end),
            (Phase::MergerQueued(_), Answer::Granted) => self.merger_granted(id, ticket),
            (Phase::MergerQueued(_) | Phase::Resolving, Answer::Refused(refusal)) => {
                self.merger_refused(id, refusal);
            }
            (Phase::Resolving, Answer::Ended(end)) => self.merger_ended(id, &end),
            (Phase::Checking, Answer::Checked(resolution)) => self.checked(id, resolution),
            (Phase::Restoring(why), Answer::Restored(end)) => self.restored(id, why, end),
            (phase, answer) => {
                let what = format!("issue `{id}` was {phase:?} and was answered {answer:?}");
                self.out.push(Effect::Defect(what.clone()));
                self.lost(id, &phase, &what);
            }
        }
    }

    /// An implementer has its slot: status and worktree follow (03 §7.4).
    fn implementer_granted(&mut self, id: &IssueId, slot: Ticket) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        let stem = issue.branch_stem();
        issue.status = IssueStatus::InProgress;
        issue.failure = None;
        if issue.worktree.is_some() {
            self.implement(id, slot);
        } else {
            self.ask(id, Ask::Cut { branch_stem: stem });
            self.phase(id, Phase::Cutting { slot });
        }
    }

    /// Starts an implementer with its slot.
    fn implement(&mut self, id: &IssueId, slot: Ticket) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        let seat = Self::implementer(issue);
        issue.attempts += 1;
        issue.work.dispatched += 1;
        let facts = IssueFacts::of(issue);
        let brief = match &issue.work.fix {
            None => Brief::Issue(facts),
            Some(verdict) => Brief::Fix {
                issue: facts,
                reviewer: verdict.reviewer.clone(),
                round: verdict.round,
                items: verdict.items.clone(),
            },
        };
        let run = Ask::Run {
            slot,
            seat,
            brief: Box::new(brief),
            worktree: issue.worktree.clone(),
        };
        self.tell(id);
        self.ask(id, run);
        self.phase(id, Phase::Implementing);
    }

    /// An implementer could not be started.
    fn not_started(&mut self, id: &IssueId, refusal: Refusal) {
        let begun = (self.issues.get(id)).is_some_and(|issue| issue.work.dispatched > 0);
        match refusal {
            Refusal::Agents { max } => {
                self.spent = Some(max);
                if begun {
                    let why = format!("it cannot be tried again: {}", no_more_agents(max));
                    self.fail(id, why, Disposal::Discard);
                } else {
                    self.hold(id, max);
                }
            }
            Refusal::Stopping => {
                let cause = self.refused_by_stop();
                self.stopped(id, cause);
            }
            Refusal::Impossible(why) => self.impossible(id, why),
        }
    }

    /// The run stops, and may not have said so here yet.
    pub(crate) fn refused_by_stop(&mut self) -> StopCause {
        self.closing = true;
        self.stopping.unwrap_or(StopCause::Cancel)
    }

    /// An issue that was not begun stays `open` once the run starts no more agents (R33).
    fn hold(&mut self, id: &IssueId, max: u64) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        if issue.work.held {
            return;
        }
        issue.work.held = true;
        let why = format!("it is not started: {}", no_more_agents(max));
        let worktree = issue.worktree.is_some();
        self.move_to(id, IssueStatus::Open, Some(why.clone()));
        self.out.push(Effect::Warn {
            issue: id.clone(),
            message: format!("issue `{id}` stays open: {}", no_more_agents(max)),
        });
        if worktree {
            self.discard(id);
        }
    }

    /// gg cannot stand a profile up: the issue fails at once, and so does the run (03 §7.4).
    pub(crate) fn impossible(&mut self, id: &IssueId, why: String) {
        self.out
            .push(Effect::Defect(format!("issue `{id}`: {why}")));
        self.fail(id, why, Disposal::Keep);
    }

    /// An implementer ended, and all it started.
    fn implemented(&mut self, id: &IssueId, end: AgentEnd) {
        let Some(issue) = self.issues.get(id) else {
            return;
        };
        let agent = format!("{id}.{}i", issue.attempts.saturating_sub(1));
        let worktree = issue.worktree.clone();
        let message = format!("{id}: {}\n\nWork of {agent}.", issue.text.title);
        let (status, text) = match (end, worktree) {
            (AgentEnd::Finished, Some(worktree)) => {
                self.ask(id, Ask::Commit { worktree, message });
                self.phase(id, Phase::Committing);
                return;
            }
            (AgentEnd::Stopped { status, text }, _) => (status, text),
            // Its role has no other ending, and it was started in a worktree.
            (end, _) => return self.impossible(id, format!("implementer `{agent}`: {end:?}")),
        };
        let why = ended_as(&agent, status, text.as_deref());
        if let Some(cause) = self.stopping {
            return self.stopped(id, cause);
        }
        match status {
            EndStatus::Canceled | EndStatus::HookError | EndStatus::InternalError => {
                self.fail(id, why, Disposal::Keep);
            }
            // Its time is the run's, and a refused credential is refused at the next attempt.
            EndStatus::TimedOut | EndStatus::AuthError => self.fail(id, why, Disposal::Discard),
            _ => self.retry(id, why),
        }
    }

    /// A further attempt with the same brief, where there is one left.
    fn retry(&mut self, id: &IssueId, why: String) {
        let max = self.policy.max_retries;
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        if issue.work.retries >= max {
            return self.fail(id, why, Disposal::Discard);
        }
        issue.work.retries += 1;
        self.move_to(id, IssueStatus::Open, Some(why));
    }

    /// An attempt is committed: on to its review.
    fn committed(&mut self, id: &IssueId, committed: Committed) {
        if let Some(cause) = self.stopping {
            return self.stopped(id, cause);
        }
        if let Some(issue) = self.issues.get_mut(id) {
            issue.work.fix = None;
            issue.work.committed = Some(committed);
        }
        self.move_to(id, IssueStatus::InReview, None);
        self.begin_review(id);
    }
}

/// The reason R33 gives.
pub(crate) fn no_more_agents(max: u64) -> String {
    let plural = if max == 1 { "" } else { "s" };
    format!("the run starts {max} agent{plural} at most, and has")
}

/// How an agent ended that made no declaration.
pub(crate) fn ended_as(agent: &str, status: EndStatus, text: Option<&str>) -> String {
    match text.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => format!("`{agent}` ended as {status}: {text}"),
        None => format!("`{agent}` ended as {status}"),
    }
}
