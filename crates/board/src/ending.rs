//! How issues fail, what becomes of their worktrees, and what the run's stop does (03 §7.4, §8).

use vocab::board::{IssueStatus, MergeOutcome};
use vocab::ids::IssueId;

use crate::board::{Board, Leaving};
use crate::protocol::{Answer, Ask, Effect, Landed, PutAway, StopCause};
use crate::work::{Phase, Work};

/// What becomes of the worktree of an issue that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disposal {
    /// What it holds is committed to its branch, and the folder goes (R44).
    Discard,
    /// It stays as it is, and is named.
    Keep,
}

impl Board {
    /// An issue ends without being done.
    pub(crate) fn fail(&mut self, id: &IssueId, why: String, disposal: Disposal) {
        self.release_token(id);
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        issue.work.phase = Phase::Idle;
        let kept = (issue.worktree.as_ref()).filter(|_| disposal == Disposal::Keep);
        let why = match kept {
            Some(worktree) => format!(
                "{why}; what there is of it stays in `{}`, on the branch `{}`",
                worktree.path.display(),
                worktree.branch
            ),
            None => why,
        };
        self.move_to(id, IssueStatus::Failed, Some(why));
        if disposal == Disposal::Discard {
            self.discard(id);
        }
    }

    /// Puts an issue's worktree away, its contents committed first.
    pub(crate) fn discard(&mut self, id: &IssueId) {
        let Some(issue) = self.issues.get(id) else {
            return;
        };
        let Some(worktree) = issue.worktree.clone() else {
            return;
        };
        let message = format!("{id}: {}\n\nUnfinished work.", issue.text.title);
        // Where nobody worked there is nothing to keep, and no branch to keep it on.
        let unused = issue.work.dispatched == 0;
        let lands = issue.status == IssueStatus::Failed && !issue.work.landed;
        let leaving = Leaving {
            worktree: worktree.clone(),
            lands,
        };
        let ask = if unused {
            let commit = worktree.baseline.clone();
            Ask::Remove { worktree, commit }
        } else {
            Ask::Discard { worktree, message }
        };
        self.put_away_by(id, leaving, ask);
    }

    /// Asks for a worktree to be put away. Its issue may be revived or removed meanwhile.
    pub(crate) fn put_away_by(&mut self, id: &IssueId, leaving: Leaving, ask: Ask) {
        let ticket = self.ask(id, ask);
        if let Some(asked) = self.asked.get_mut(&ticket) {
            asked.leaving = Some(leaving);
        }
        self.phase(id, Phase::PuttingAway);
    }

    /// A worktree was put away, or stays.
    pub(crate) fn put_away(&mut self, id: &IssueId, leaving: Leaving, answer: Answer) {
        let Leaving { worktree, lands } = leaving;
        let (answer, given_up) = match answer {
            Answer::PutAway { end, given_up } => (Ok(end), given_up),
            other => (Err(other), Vec::new()),
        };
        let kept = match answer {
            Ok(PutAway::Removed) => None,
            Ok(PutAway::BranchKept(why)) => {
                let branch = &worktree.branch;
                self.out.push(Effect::Warn {
                    issue: id.clone(),
                    message: format!("the branch `{branch}` of issue `{id}` stays: {why}"),
                });
                None
            }
            Ok(PutAway::Kept(why)) | Err(Answer::Lost(why)) => Some(why),
            Err(other) => {
                let what = format!("a worktree of `{id}` was put away, and {other:?}");
                self.out.push(Effect::Defect(what.clone()));
                Some(what)
            }
        };
        if kept.is_none() && !given_up.is_empty() {
            self.out.push(Effect::Warn {
                issue: id.clone(),
                message: format!(
                    "agents of issue `{id}` made commits that no branch keeps: `{}`; `git branch \
                     NAME COMMIT` keeps one, until git collects it",
                    given_up.join("`, `")
                ),
            });
        }
        if let Some(why) = kept {
            self.out.push(Effect::Warn {
                issue: id.clone(),
                message: format!(
                    "the worktree `{}` of issue `{id}` stays, on the branch `{}`: {why}",
                    worktree.path.display(),
                    worktree.branch
                ),
            });
        } else if lands {
            self.out.push(Effect::Landed(Landed {
                issue: id.clone(),
                branch: worktree.branch,
                outcome: MergeOutcome::Discarded,
                commit: None,
                merge_agent: None,
            }));
        }
        if let Some(issue) = self.issues.get_mut(id) {
            issue.worktree = None;
            issue.work.landed = false;
            issue.work.phase = Phase::Idle;
        }
    }

    /// Whoever worked for an issue is gone: nothing more is done for it, and nothing undone.
    pub(crate) fn lost(&mut self, id: &IssueId, phase: &Phase, why: &str) {
        match phase {
            Phase::Cutting { slot } => {
                self.out.push(Effect::GiveBack(*slot));
                self.fail(id, why.to_owned(), Disposal::Keep);
            }
            Phase::Merging
            | Phase::MergerQueued(_)
            | Phase::Resolving
            | Phase::Checking
            | Phase::Restoring(_) => {
                self.stuck
                    .get_or_insert(format!("what became of the merge of `{id}` is not known"));
                self.fail(id, why.to_owned(), Disposal::Keep);
            }
            Phase::Idle
            | Phase::Queued(_)
            | Phase::Implementing
            | Phase::Committing
            | Phase::ReviewerQueued(_)
            | Phase::Reviewing
            | Phase::Resetting(_)
            | Phase::InLine
            | Phase::PuttingAway => self.fail(id, why.to_owned(), Disposal::Keep),
        }
    }

    /// The run stops: nothing is started any more and every wait ends. What is under way is
    /// answered yet; the first cause stands, unless a later one keeps worktrees.
    pub fn stop(&mut self, cause: StopCause) -> Vec<Effect> {
        let first = self.stopping.is_none();
        if first || cause.keeps_worktrees() {
            self.stopping = Some(cause);
        }
        for id in self.issues.ids() {
            let Some(issue) = self.issues.get_mut(&id) else {
                continue;
            };
            let phase = issue.work.phase.clone();
            let begun = issue.status == IssueStatus::Open && issue.work.dispatched > 0;
            if let Some(ticket) = phase.queued() {
                self.withdraw(ticket);
            }
            match phase {
                Phase::Queued(_) | Phase::ReviewerQueued(_) | Phase::InLine => {
                    self.stopped(&id, cause);
                }
                Phase::MergerQueued(_) => {
                    let why = format!("its merge conflicted, and {}", cause.words());
                    self.ask(&id, Ask::Restore);
                    self.phase(&id, Phase::Restoring(why));
                }
                // Blocked behind others after an attempt: it was begun, and ends here.
                Phase::Idle if begun => self.stopped(&id, cause),
                Phase::Idle
                | Phase::Cutting { .. }
                | Phase::Implementing
                | Phase::Committing
                | Phase::Reviewing
                | Phase::Resetting(_)
                | Phase::Merging
                | Phase::Resolving
                | Phase::Checking
                | Phase::Restoring(_)
                | Phase::PuttingAway => {}
            }
        }
        self.settled()
    }

    /// What the stop does to an issue with nothing under way: one that was never begun stays
    /// `open`, any other fails without a further attempt (03 §7.4).
    pub(crate) fn stopped(&mut self, id: &IssueId, cause: StopCause) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        self.line.retain(|other| other != id);
        issue.work.phase = Phase::Idle;
        if issue.work.dispatched == 0 {
            let told = issue.status != IssueStatus::Open;
            issue.status = IssueStatus::Open;
            if told {
                self.tell(id);
            }
            // Nobody worked in it yet.
            return self.discard(id);
        }
        let disposal = if cause.keeps_worktrees() {
            Disposal::Keep
        } else {
            Disposal::Discard
        };
        self.fail(id, cause.words().to_owned(), disposal);
    }

    /// Makes a failed issue one that was never begun; its numbers go on.
    pub(crate) fn revive(&mut self, id: &IssueId) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        let phase = std::mem::take(&mut issue.work.phase);
        let mergers = issue.work.mergers;
        if phase != Phase::PuttingAway {
            // A folder that was kept stays with whoever reads of it; the issue gets another.
            issue.worktree = None;
        }
        issue.work = Work {
            phase,
            mergers,
            landed: issue.work.landed,
            ..Work::default()
        };
        self.move_to(id, IssueStatus::Open, None);
    }
}
