//! The board: epics, issues, and all that is decided about them.
//!
//! A pure state machine. Agents' calls come in by [`Board::call`] and [`Board::wait`], what was
//! asked of the world by [`Board::answer`], the run's stop by [`Board::stop`]; each returns what
//! to do next, in order.
//!
//! Always true:
//! - An issue that is neither settled nor blocked nor held has exactly one ask under way, or
//!   stands in line for the merge token, which one issue holds at most.
//! - No implementer is asked for before every blocker is `done`.
//! - An issue becomes `done` by a merge alone, and once.
//! - Every wait ends: by its issue, by the end of all hope for it, or by the run's stop.

use std::collections::{BTreeMap, HashMap, VecDeque};

use vocab::board::IssueStatus;
use vocab::ids::{EpicId, IssueId, Slug};

use crate::issue::{Epic, Issue, Worktree};
use crate::issues::Issues;
use crate::protocol::{Answer, Ask, Effect, Moved, StopCause, Ticket};
use crate::waits::Waits;
use crate::work::Phase;

/// The run's figures (03 §7.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardPolicy {
    /// The profile that resolves conflicts.
    pub merge_agent: Slug,
    /// Epics the board may hold; 0 is none.
    pub max_epics: u64,
    /// Issues the board may hold; 0 is none.
    pub max_issues: u64,
    /// Further attempts an issue has; 0 is one attempt only.
    pub max_retries: u64,
}

/// How full a board is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardUsage {
    /// Epics on it.
    pub epics: u64,
    /// Epics it may hold.
    pub max_epics: u64,
    /// Issues on it, settled ones included.
    pub issues: u64,
    /// Issues it may hold.
    pub max_issues: u64,
}

/// What a ticket stands for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) issue: IssueId,
    /// The worktree that is being put away, where one is.
    pub(crate) leaving: Option<Leaving>,
}

/// A worktree that is being put away.
#[derive(Clone, Debug)]
pub(crate) struct Leaving {
    pub(crate) worktree: Worktree,
    /// The record is yet to hear what became of its branch.
    pub(crate) lands: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Board {
    pub(crate) policy: BoardPolicy,
    pub(crate) epics: Vec<Epic>,
    pub(crate) issues: Issues,
    /// The last number given under a prefix.
    pub(crate) numbers: HashMap<String, u64>,
    pub(crate) waits: Waits,
    /// Who merges.
    pub(crate) token: Option<IssueId>,
    /// Who merges next.
    pub(crate) line: VecDeque<IssueId>,
    /// Why nothing can be merged any more.
    pub(crate) stuck: Option<String>,
    /// The agents the run may start, once it has.
    pub(crate) spent: Option<u64>,
    pub(crate) stopping: Option<StopCause>,
    /// Somebody was refused because the run stops: why will be told, and nobody is asked for.
    pub(crate) closing: bool,
    /// What is under way, and for whom.
    pub(crate) asked: BTreeMap<Ticket, Asked>,
    next_ticket: u64,
    pub(crate) out: Vec<Effect>,
}

impl Board {
    /// An empty board.
    pub fn new(policy: BoardPolicy) -> Self {
        Self {
            policy,
            epics: Vec::new(),
            issues: Issues::default(),
            numbers: HashMap::new(),
            waits: Waits::default(),
            token: None,
            line: VecDeque::new(),
            stuck: None,
            spent: None,
            stopping: None,
            closing: false,
            asked: BTreeMap::new(),
            next_ticket: 0,
            out: Vec::new(),
        }
    }

    /// The epics, in the order they were created.
    pub fn epics(&self) -> &[Epic] {
        &self.epics
    }

    /// The issues, in the order they were filed.
    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.issues.iter()
    }

    /// One issue.
    pub fn issue(&self, id: &IssueId) -> Option<&Issue> {
        self.issues.get(id)
    }

    /// How full it is.
    pub fn usage(&self) -> BoardUsage {
        BoardUsage {
            epics: self.epics.len() as u64,
            max_epics: self.policy.max_epics,
            issues: self.issues.len() as u64,
            max_issues: self.policy.max_issues,
        }
    }

    /// Whether nothing is under way. Nothing then ever will be, but by a call of an agent's.
    pub fn is_quiet(&self) -> bool {
        self.asked.is_empty()
    }

    /// Who holds the merge token.
    pub fn merging(&self) -> Option<&IssueId> {
        self.token.as_ref()
    }

    /// Takes what became of an ask.
    pub fn answer(&mut self, ticket: Ticket, answer: Answer) -> Vec<Effect> {
        let Some(Asked { issue, leaving }) = self.asked.remove(&ticket) else {
            // It was withdrawn while the grant was under way.
            if answer == Answer::Granted {
                self.out.push(Effect::GiveBack(ticket));
            }
            return self.settled();
        };
        match leaving {
            Some(leaving) => self.put_away(&issue, leaving, answer),
            None => self.advance(ticket, &issue, answer),
        }
        self.settled()
    }

    /// Does what follows of a change, and returns all there is to do.
    pub(crate) fn settled(&mut self) -> Vec<Effect> {
        self.dispatch();
        self.pass_token();
        self.wake_waiters();
        std::mem::take(&mut self.out)
    }

    /// Asks for something on an issue's behalf.
    pub(crate) fn ask(&mut self, issue: &IssueId, ask: Ask) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        let asked = Asked {
            issue: issue.clone(),
            leaving: None,
        };
        self.asked.insert(ticket, asked);
        self.out.push(Effect::Ask {
            ticket,
            issue: issue.clone(),
            ask,
        });
        ticket
    }

    /// Leaves the queue for a slot.
    pub(crate) fn withdraw(&mut self, ticket: Ticket) {
        if self.asked.remove(&ticket).is_some() {
            self.out.push(Effect::Withdraw(ticket));
        }
    }

    /// Gives an issue a status, and the record notice of it.
    pub(crate) fn move_to(&mut self, id: &IssueId, status: IssueStatus, reason: Option<String>) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        issue.status = status;
        issue.failure = reason;
        self.tell(id);
    }

    /// Gives the record notice of where an issue stands.
    pub(crate) fn tell(&mut self, id: &IssueId) {
        let Some(issue) = self.issues.get(id) else {
            return;
        };
        self.out.push(Effect::Moved(Moved {
            issue: id.clone(),
            status: issue.status,
            attempts: issue.attempts,
            blocked_by: issue.blocked_by.clone(),
            worktree: issue.worktree.clone(),
            reason: issue.failure.clone(),
        }));
    }

    pub(crate) fn phase(&mut self, id: &IssueId, phase: Phase) {
        if let Some(issue) = self.issues.get_mut(id) {
            issue.work.phase = phase;
        }
    }

    pub(crate) fn epic(&self, id: &EpicId) -> Option<&Epic> {
        self.epics.iter().find(|epic| epic.id == *id)
    }
}
