//! Waiting for issues: who may, when a wait is over, and who can never be served (03 §7.7).
//!
//! A suspended agent works on nothing, so the issue it works for needs the issue it waits for, as
//! much as an issue needs its blockers. Over the edges of both kinds one rule decides: a wait
//! stands as long as nothing failed and nothing that cannot start is on the way to its target, and
//! the way does not lead back to the waiter's own issue.

use std::collections::{BTreeMap, HashMap, HashSet};

use vocab::board::IssueStatus;
use vocab::ids::IssueId;

use crate::board::Board;
use crate::caller::Caller;
use crate::error::BoardError;
use crate::protocol::Effect;

/// A suspended wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaitId(pub u64);

/// What a wait comes to at the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The issue is settled already: nothing is given up for it.
    Settled(Settled),
    /// The agent suspends until [`Effect::Wake`] names this.
    Suspended(WaitId),
}

/// How an issue that was waited for ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Approved and merged.
    Done,
    /// Not.
    Failed,
}

impl Settled {
    /// The word a model reads.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => IssueStatus::Done.as_str(),
            Self::Failed => IssueStatus::Failed.as_str(),
        }
    }
}

#[derive(Clone, Debug)]
struct Wait {
    target: IssueId,
    on_behalf: Option<IssueId>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    suspended: BTreeMap<WaitId, Wait>,
    next: u64,
}

/// Why nothing will complete an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hopeless {
    /// This one failed, and the issue is behind it.
    Behind(IssueId),
    /// This one needs an agent, and the run starts no more than so many.
    NoAgents(IssueId, u64),
    /// It needs the waiter's own issue, along this way.
    Circle(Vec<IssueId>),
}

impl Board {
    /// `wait_for_issue`, at the call.
    ///
    /// # Errors
    ///
    /// See [`BoardError`]: an unknown issue, the caller's own, one nothing will complete, a caller
    /// that holds the merge token, a run that stops.
    pub fn wait(&mut self, caller: &Caller, id: &IssueId) -> Result<Waiting, BoardError> {
        let issue = self.known(id)?;
        let target = issue.id.clone();
        let settled = settled(issue.status);
        if let Some(works_for) = &caller.works_for {
            if works_for.issue == target {
                return Err(BoardError::OwnIssue(target));
            }
            if works_for.merges {
                return Err(BoardError::MergeAgentWaits);
            }
        }
        if let Some(settled) = settled {
            return Ok(Waiting::Settled(settled));
        }
        if self.stopping.is_some() {
            return Err(BoardError::Stopping);
        }
        let on_behalf = (caller.works_for.as_ref()).map(|works_for| works_for.issue.clone());
        if let Some(why) = self.hopeless(&target, on_behalf.as_ref()) {
            return Err(BoardError::Hopeless { id: target, why });
        }
        let id = WaitId(self.waits.next);
        self.waits.next += 1;
        let wait = Wait { target, on_behalf };
        self.waits.suspended.insert(id, wait);
        Ok(Waiting::Suspended(id))
    }

    /// What a woken agent is told, once it has a slot again: how the issue stands now.
    ///
    /// # Errors
    ///
    /// See [`BoardError`]: the issue is gone, live again, or nothing will complete it; the run
    /// stops.
    pub fn resumed(&self, caller: &Caller, id: &IssueId) -> Result<Settled, BoardError> {
        let Some(issue) = self.find(id) else {
            return Err(BoardError::Removed(id.clone()));
        };
        if let Some(settled) = settled(issue.status) {
            return Ok(settled);
        }
        if self.stopping.is_some() {
            return Err(BoardError::Stopping);
        }
        let on_behalf = caller.works_for.as_ref().map(|works_for| &works_for.issue);
        match self.hopeless(&issue.id, on_behalf) {
            Some(why) => Err(BoardError::Hopeless {
                id: issue.id.clone(),
                why,
            }),
            None => Err(BoardError::LiveAgain {
                id: issue.id.clone(),
                status: issue.status,
            }),
        }
    }

    /// Forgets a wait whose agent is gone.
    pub fn forget(&mut self, wait: WaitId) {
        self.waits.suspended.remove(&wait);
    }

    /// Waits that are suspended.
    pub fn suspended(&self) -> usize {
        self.waits.suspended.len()
    }

    /// Wakes whoever waits for what is settled, gone, or past hope.
    pub(crate) fn wake_waiters(&mut self) {
        let waits: Vec<_> = self.waits.suspended.keys().copied().collect();
        for id in waits {
            let Some(wait) = self.waits.suspended.get(&id) else {
                continue;
            };
            let over = self.stopping.is_some()
                || (self.issues.get(&wait.target)).is_none_or(|it| it.status.is_terminal())
                || self
                    .hopeless(&wait.target, wait.on_behalf.as_ref())
                    .is_some();
            // One after another: a wait that ends may be what makes the next one possible.
            if over {
                self.waits.suspended.remove(&id);
                self.out.push(Effect::Wake(id));
            }
        }
    }

    /// Why nothing will complete an issue, as things stand, for a waiter that works for `own`.
    fn hopeless(&self, target: &IssueId, own: Option<&IssueId>) -> Option<Hopeless> {
        // What an agent waits for wakes it however that ends, so here blockers alone count.
        let mut seen = HashSet::from([target]);
        let mut open = vec![target];
        let mut held = None;
        while let Some(id) = open.pop() {
            let Some(issue) = self.issues.get(id) else {
                continue;
            };
            match issue.status {
                IssueStatus::Done => continue,
                IssueStatus::Failed => return Some(Hopeless::Behind(id.clone())),
                IssueStatus::Open => {
                    if let Some(max) = self.spent
                        && issue.work.dispatched == 0
                        && issue.work.phase.queued().is_none()
                    {
                        // The one deepest down is the one to name.
                        held = Some(Hopeless::NoAgents(id.clone(), max));
                    }
                }
                IssueStatus::InProgress | IssueStatus::InReview => {}
            }
            open.extend(issue.blocked_by.iter().filter(|next| seen.insert(next)));
        }
        held.or_else(|| self.leads_back(target, own?).map(Hopeless::Circle))
    }

    /// The way from a target back to the waiter's own issue, over blockers and over what suspended
    /// agents wait for.
    fn leads_back(&self, target: &IssueId, own: &IssueId) -> Option<Vec<IssueId>> {
        let mut waited: HashMap<&IssueId, Vec<&IssueId>> = HashMap::new();
        for wait in self.waits.suspended.values() {
            if let Some(issue) = &wait.on_behalf {
                waited.entry(issue).or_default().push(&wait.target);
            }
        }
        let mut open = vec![target];
        let mut seen = HashSet::from([target]);
        let mut way: HashMap<&IssueId, &IssueId> = HashMap::new();
        while let Some(id) = open.pop() {
            let Some(issue) = self.issues.get(id) else {
                continue;
            };
            if issue.status.is_terminal() {
                continue;
            }
            let waits = waited.get(id).into_iter().flatten().copied();
            for next in issue.blocked_by.iter().chain(waits) {
                if next == own {
                    way.insert(next, id);
                    return Some(circle(&way, target, next));
                }
                if seen.insert(next) {
                    way.insert(next, id);
                    open.push(next);
                }
            }
        }
        None
    }
}

/// The way from the waiter's own issue over the target back to itself.
fn circle(way: &HashMap<&IssueId, &IssueId>, target: &IssueId, own: &IssueId) -> Vec<IssueId> {
    let mut back = vec![own.clone()];
    let mut at = own;
    while let Some(before) = way.get(at) {
        back.push((*before).clone());
        at = before;
        if at == target {
            break;
        }
    }
    back.push(own.clone());
    back.reverse();
    back
}

const fn settled(status: IssueStatus) -> Option<Settled> {
    match status {
        IssueStatus::Done => Some(Settled::Done),
        IssueStatus::Failed => Some(Settled::Failed),
        IssueStatus::Open | IssueStatus::InProgress | IssueStatus::InReview => None,
    }
}
