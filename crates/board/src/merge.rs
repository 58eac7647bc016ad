//! Merging: one issue at a time, and who resolves a conflict (03 §7.5).
//!
//! The token passes in the order of approval and is held until nothing of a merge is open in the
//! workspace: through the merge agent's work, the check of it, and the undoing of a merge that was
//! not resolved.

use vocab::board::{IssueStatus, MergeOutcome};
use vocab::ids::{AgentId, IssueId};

use crate::attempt::{ended_as, no_more_agents};
use crate::board::{Board, Leaving};
use crate::brief::Brief;
use crate::ending::Disposal;
use crate::issue::Issue;
use crate::protocol::{
    AgentEnd, Ask, Duty, Effect, Landed, MergeEnd, Refusal, Resolution, Seat, Ticket,
};
use crate::work::{Conflict, Phase};

impl Board {
    /// An issue that is approved waits for its turn to merge.
    pub(crate) fn stand_in_line(&mut self, id: &IssueId) {
        self.line.push_back(id.clone());
        self.phase(id, Phase::InLine);
    }

    /// Lets the next in line merge, where nobody does.
    pub(crate) fn pass_token(&mut self) {
        while self.token.is_none() {
            let Some(id) = self.line.pop_front() else {
                return;
            };
            if let Some(why) = &self.stuck {
                let why = format!("it cannot be merged: {why}");
                self.fail(&id, why, Disposal::Discard);
                continue;
            }
            let Some(issue) = self.issues.get(&id) else {
                continue;
            };
            let work = (issue.worktree.as_ref()).zip(issue.work.committed.as_ref());
            let Some((worktree, committed)) = work else {
                self.impossible(&id, "a merge of no work".to_owned());
                continue;
            };
            let merge = Ask::Merge {
                branch: worktree.branch.clone(),
                commit: committed.commit.clone(),
                message: format!("Merge {id}: {}", issue.text.title),
            };
            self.token = Some(id.clone());
            self.ask(&id, merge);
            self.phase(&id, Phase::Merging);
        }
    }

    /// Gives the token up, where an issue holds it.
    pub(crate) fn release_token(&mut self, id: &IssueId) {
        if self.token.as_ref() == Some(id) {
            self.token = None;
        }
        self.line.retain(|other| other != id);
    }

    pub(crate) fn merged(&mut self, id: &IssueId, end: MergeEnd) {
        match end {
            MergeEnd::Merged { commit } => self.done(id, MergeOutcome::Merged, commit),
            MergeEnd::Failed(why) => self.fail(id, why, Disposal::Discard),
            MergeEnd::Conflict {
                paths,
                into,
                output,
            } => {
                let Some(issue) = self.issues.get_mut(id) else {
                    return;
                };
                issue.work.conflict = Some(Conflict {
                    paths,
                    into,
                    output,
                });
                let seat = merger(issue, &self.policy.merge_agent);
                if let Some(cause) = self.stopping {
                    let why = format!("its merge conflicted, and {}", cause.words());
                    return self.restore(id, why);
                }
                let ticket = self.ask(id, Ask::Slot(seat));
                self.phase(id, Phase::MergerQueued(ticket));
            }
        }
    }

    pub(crate) fn merger_granted(&mut self, id: &IssueId, slot: Ticket) {
        let profile = self.policy.merge_agent.clone();
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        let seat = merger(issue, &profile);
        let (Some(worktree), Some(conflict)) = (&issue.worktree, issue.work.conflict.take()) else {
            self.out.push(Effect::GiveBack(slot));
            return self.impossible(id, "a conflict of no merge".to_owned());
        };
        let brief = Brief::Merge {
            issue: id.clone(),
            title: issue.text.title.clone(),
            branch: worktree.branch.clone(),
            into: conflict.into,
            paths: conflict.paths,
            output: conflict.output,
        };
        issue.work.mergers += 1;
        issue.work.merger = Some(seat.agent.clone());
        let run = Ask::Run {
            slot,
            seat,
            brief: Box::new(brief),
            worktree: None,
        };
        self.ask(id, run);
        self.phase(id, Phase::Resolving);
    }

    pub(crate) fn merger_refused(&mut self, id: &IssueId, refusal: Refusal) {
        if let Some(issue) = self.issues.get_mut(id)
            && issue.work.merger.take().is_some()
        {
            issue.work.mergers -= 1;
        }
        let why = match refusal {
            Refusal::Agents { max } => {
                self.spent = Some(max);
                format!("its conflict stays: {}", no_more_agents(max))
            }
            Refusal::Stopping => {
                let cause = self.refused_by_stop();
                format!("its merge conflicted, and {}", cause.words())
            }
            Refusal::Impossible(why) => {
                self.out
                    .push(Effect::Defect(format!("issue `{id}`: {why}")));
                why
            }
        };
        self.restore(id, why);
    }

    /// Git is asked, whatever the agent says (03 §7.5).
    pub(crate) fn merger_ended(&mut self, id: &IssueId, end: &AgentEnd) {
        if let Some(issue) = self.issues.get_mut(id) {
            let agent = issue.work.merger.as_ref().map_or("", AgentId::as_str);
            issue.work.last_word = match end {
                AgentEnd::Stopped { status, text } => {
                    Some(ended_as(agent, *status, text.as_deref()))
                }
                _ => None,
            };
        }
        self.ask(id, Ask::Check);
        self.phase(id, Phase::Checking);
    }

    pub(crate) fn checked(&mut self, id: &IssueId, resolution: Resolution) {
        match resolution {
            Resolution::Resolved { commit } => self.done(id, MergeOutcome::Resolved, commit),
            Resolution::Unresolved(why) => {
                let word = (self.issues.get_mut(id)).and_then(|issue| issue.work.last_word.take());
                let why = match word {
                    Some(word) => format!("its conflict was not resolved: {why}; {word}"),
                    None => format!("its conflict was not resolved: {why}"),
                };
                self.restore(id, why);
            }
        }
    }

    /// Undoes the open merge, then fails.
    fn restore(&mut self, id: &IssueId, why: String) {
        self.ask(id, Ask::Restore);
        self.phase(id, Phase::Restoring(why));
    }

    pub(crate) fn restored(
        &mut self,
        id: &IssueId,
        mut why: String,
        end: Result<Vec<String>, String>,
    ) {
        match end {
            Ok(kept) if kept.is_empty() => {}
            Ok(kept) => {
                let kept = kept.join("`, `");
                why = format!("{why}; what was committed meanwhile stays on `{kept}`");
            }
            Err(fault) => {
                why = format!("{why}; the merge could not be undone: {fault}");
                self.out.push(Effect::Warn {
                    issue: id.clone(),
                    message: format!("the merge of `{id}` could not be undone: {fault}"),
                });
                self.stuck = Some(format!("the merge of `{id}` is still open: {fault}"));
            }
        }
        self.land(id, MergeOutcome::Aborted, None);
        match self.stopping {
            Some(cause) if cause.keeps_worktrees() => self.fail(id, why, Disposal::Keep),
            _ => self.fail(id, why, Disposal::Discard),
        }
    }

    /// It is merged: nothing of it is open any more.
    fn done(&mut self, id: &IssueId, outcome: MergeOutcome, commit: String) {
        self.release_token(id);
        self.land(id, outcome, Some(commit));
        self.move_to(id, IssueStatus::Done, None);
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        let work = (issue.worktree.clone()).zip(issue.work.committed.take());
        if let Some((worktree, committed)) = work {
            let leaving = Leaving {
                worktree: worktree.clone(),
                lands: false,
            };
            let commit = committed.commit;
            self.put_away_by(id, leaving, Ask::Remove { worktree, commit });
        }
    }

    /// Tells the record what became of an issue's branch.
    pub(crate) fn land(&mut self, id: &IssueId, outcome: MergeOutcome, commit: Option<String>) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        let merge_agent = issue.work.merger.take();
        issue.work.landed = true;
        let Some(worktree) = &issue.worktree else {
            return;
        };
        self.out.push(Effect::Landed(Landed {
            issue: id.clone(),
            branch: worktree.branch.clone(),
            outcome,
            commit,
            merge_agent,
        }));
    }
}

/// Who resolves an issue's next conflict.
fn merger(issue: &Issue, profile: &vocab::ids::Slug) -> Seat {
    let ordinal = issue.work.mergers;
    Seat {
        agent: AgentId::new(format!("{}.{ordinal}m", issue.id)),
        profile: profile.clone(),
        duty: Duty::Merge { ordinal },
    }
}
