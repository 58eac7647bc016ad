//! The board, its issues and its git as actors (03 §10.1).
//!
//! What becomes of an issue is decided by `board::Board`, the machine in here; the actor tells the
//! record of it, and has what the machine asks for carried out by the issue's own actor
//! ([`issue`]), which takes slots, has agents started and awaits them, and has [`git`] do the
//! rest. Answers come back as messages, in whatever order.
//!
//! Always true: whatever the machine asked for is answered once, also where whoever was to carry
//! it out died; the supervisor hears that something is under way before whoever made it so is
//! answered; a wait that is over is told once.

mod briefs;
mod caller;
mod git;
mod issue;
pub(crate) mod messages;
mod opening;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use actix::{Actor, AsyncContext, Context, MessageResult};
use board::{
    Answer, Ask, Board as Machine, BoardError, BoardPolicy, Effect, MergeEnd, Reply, Settled,
    Ticket, WaitId, Waiting, Worktree,
};
use record::event::{LogLevel, WorktreeRow};
use tokio::sync::oneshot;
use vocab::ids::{AgentId, IssueId};

use crate::flow::Tap;
use crate::link::{Link, Named, Receive, Routed, SHARED_MAILBOX, routes};
use crate::messages::{
    Answered, AwaitIssue, Busy, CallBoard, DescribeBoard, DropSlot, Forget, IssueDied, IssueWait,
    LookAgain, Perform, Quiet, RaiseDefect, StopBoard,
};
use crate::panics::{self, DeathWatch};
use crate::scheduler::Scheduler;
use crate::shared::Shared;
use crate::supervisor::Supervisor;
use crate::telemetry::{Telemetry, Voice};
use git::Git;
pub(crate) use git::{Closed, Hands};
use issue::Issue;
pub(crate) use opening::{examine, open};

/// The board's id among a run's stores.
pub(crate) const BOARD: &str = "board-0";

/// The code of what the operator is told of the board.
const CODE: Option<&str> = Some("board");

/// Whom the board and its issues speak to.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) supervisor: Link<Supervisor>,
    pub(crate) scheduler: Link<Scheduler>,
    pub(crate) telemetry: Link<Telemetry>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) tap: Option<Tap>,
}

/// See the module.
#[derive(Debug)]
pub struct Board {
    machine: Machine,
    /// What is under way, and for whom.
    under_way: BTreeMap<Ticket, IssueId>,
    /// Whose actor has a slot, or queues for it.
    slots: HashMap<Ticket, IssueId>,
    /// The actors of the issues that something was asked for.
    issues: HashMap<IssueId, Link<Issue>>,
    waits: HashMap<WaitId, Wait>,
    /// What the supervisor was told last.
    busy: bool,
    git: Link<Git>,
    around: Surroundings,
    own: Link<Self>,
    voice: Voice,
    _death: DeathWatch,
}

/// An agent that waits for an issue.
#[derive(Debug)]
struct Wait {
    agent: AgentId,
    over: oneshot::Sender<()>,
}

impl Board {
    /// Starts a board with the figures of a launch, and the git it works by.
    pub(crate) fn start(policy: BoardPolicy, hands: Hands, around: Surroundings) -> Link<Self> {
        let name = "board";
        let mut context = Context::new();
        context.set_mailbox_capacity(SHARED_MAILBOX);
        let link = Link::new(context.address(), name, around.tap.as_ref());
        let supervisor = around.supervisor.held_by(name);
        let git = Git::start(hands, &supervisor, around.tap.as_ref());
        let report = supervisor.clone();
        context.run(Self {
            machine: Machine::new(policy),
            under_way: BTreeMap::new(),
            slots: HashMap::new(),
            issues: HashMap::new(),
            waits: HashMap::new(),
            busy: false,
            git: git.held_by(name),
            voice: Voice {
                telemetry: around.telemetry.held_by(name),
                agent: None,
            },
            own: link.held_by("issue"),
            around,
            _death: DeathWatch::new(move |text| {
                report.tell(RaiseDefect {
                    agent: None,
                    profile: None,
                    cause: format!("the board panicked: {text}"),
                });
                // Nothing is under way that anybody will hear of.
                report.tell(Quiet);
            }),
        });
        link
    }

    /// Takes what became of an ask.
    fn take(&mut self, ticket: Ticket, answer: Answer) {
        self.under_way.remove(&ticket);
        let effects = self.machine.answer(ticket, answer);
        self.carry_out(effects);
    }

    /// Does what the machine says, in order, and tells the supervisor whether that leaves
    /// anything under way.
    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Some(event) = effect.event() {
                self.voice.say(event);
            }
            match effect {
                Effect::Ask { ticket, issue, ask } => self.ask(ticket, issue, ask),
                Effect::Withdraw(ticket) => {
                    self.under_way.remove(&ticket);
                    self.drop_slot(ticket);
                }
                Effect::GiveBack(ticket) => self.drop_slot(ticket),
                Effect::Wake(wait) => {
                    if let Some(Wait { over, .. }) = self.waits.remove(&wait) {
                        // A waiter that died has nobody to be woken.
                        over.send(()).ok();
                    }
                }
                Effect::Warn { issue: _, message } => {
                    self.voice.log(LogLevel::Warn, CODE, message);
                }
                Effect::Defect(cause) => self.around.supervisor.tell(RaiseDefect {
                    agent: None,
                    profile: None,
                    cause,
                }),
                // Told above.
                Effect::Moved(_) | Effect::Reviewed(_) | Effect::Landed(_) => {}
            }
        }
        let busy = !self.machine.is_quiet();
        if busy != self.busy {
            self.busy = busy;
            if busy {
                self.around.supervisor.tell(Busy);
            } else {
                self.around.supervisor.tell(Quiet);
            }
        }
    }

    /// Has an issue's actor carry something out.
    fn ask(&mut self, ticket: Ticket, issue: IssueId, ask: Ask) {
        match &ask {
            Ask::Slot(_) => {
                self.slots.insert(ticket, issue.clone());
            }
            // It goes to the agent, or back.
            Ask::Run { slot, .. } => {
                self.slots.remove(slot);
            }
            _ => {}
        }
        self.under_way.insert(ticket, issue.clone());
        let (around, git, own) = (&self.around, &self.git, &self.own);
        let actor = self
            .issues
            .entry(issue)
            .or_insert_with_key(|id| Issue::start(id.clone(), around, git, own));
        actor.held_by("board").tell(Perform { ticket, ask });
    }

    fn drop_slot(&mut self, ticket: Ticket) {
        let holder = self.slots.remove(&ticket);
        if let Some(actor) = holder.and_then(|issue| self.issues.get(&issue)) {
            actor.held_by("board").tell(DropSlot { ticket });
        }
    }
}

/// A worktree as the record shows it.
pub(crate) fn worktree_row(worktree: &Worktree) -> WorktreeRow {
    WorktreeRow {
        branch: worktree.branch.clone(),
        path: worktree.path.display().to_string(),
    }
}

impl Actor for Board {
    type Context = Context<Self>;
}

impl Named for Board {
    fn name(&self) -> &'static str {
        "board"
    }
}

routes!(
    Board: CallBoard, AwaitIssue, LookAgain, DescribeBoard, StopBoard, Forget, Answered, IssueDied
);

impl Receive<CallBoard> for Board {
    type Reply = Result<Reply, BoardError>;

    fn receive(&mut self, ask: CallBoard, _: &mut Context<Self>) -> Self::Reply {
        panics::trip("board_call");
        let CallBoard { caller, call } = ask;
        let (reply, effects) = self.machine.call(&caller, call)?;
        if let Reply::Waiting {
            waiting: Waiting::Suspended(wait),
            ..
        } = &reply
        {
            self.machine.forget(*wait);
        }
        self.carry_out(effects);
        Ok(reply)
    }
}

impl Receive<AwaitIssue> for Board {
    type Reply = Result<IssueWait, BoardError>;

    fn receive(&mut self, ask: AwaitIssue, _: &mut Context<Self>) -> Self::Reply {
        panics::trip("board_wait");
        Ok(match self.machine.wait(&ask.caller, &ask.issue)? {
            Waiting::Settled(settled) => IssueWait::Settled(settled),
            Waiting::Suspended(wait) => {
                let (over, awaited) = oneshot::channel();
                let agent = ask.agent;
                self.waits.insert(wait, Wait { agent, over });
                IssueWait::Later(awaited)
            }
        })
    }
}

impl Receive<LookAgain> for Board {
    type Reply = Result<Settled, BoardError>;

    fn receive(&mut self, ask: LookAgain, _: &mut Context<Self>) -> Self::Reply {
        self.machine.resumed(&ask.caller, &ask.issue)
    }
}

impl Receive<DescribeBoard> for Board {
    type Reply = MessageResult<Routed<DescribeBoard>>;

    fn receive(&mut self, _: DescribeBoard, _: &mut Context<Self>) -> Self::Reply {
        MessageResult(self.machine.snapshot(BOARD))
    }
}

impl Receive<StopBoard> for Board {
    type Reply = ();

    fn receive(&mut self, StopBoard { cause }: StopBoard, _: &mut Context<Self>) {
        panics::trip("board_stop");
        let effects = self.machine.stop(cause);
        self.carry_out(effects);
    }
}

impl Receive<Forget> for Board {
    type Reply = ();

    fn receive(&mut self, Forget { agent }: Forget, _: &mut Context<Self>) {
        let machine = &mut self.machine;
        self.waits.retain(|id, wait| {
            if wait.agent != agent {
                return true;
            }
            machine.forget(*id);
            false
        });
    }
}

impl Receive<Answered> for Board {
    type Reply = ();

    fn receive(&mut self, Answered { ticket, answer }: Answered, _: &mut Context<Self>) {
        panics::trip("board_answered");
        if matches!(answer, Answer::Merged(MergeEnd::Conflict { .. })) {
            panics::trip("board_conflict");
        }
        self.take(ticket, answer);
    }
}

impl Receive<IssueDied> for Board {
    type Reply = ();

    fn receive(&mut self, IssueDied { issue, why }: IssueDied, _: &mut Context<Self>) {
        // The slots it held were given back as it died. What is asked next has another actor.
        self.issues.remove(&issue);
        self.slots.retain(|_, holder| *holder != issue);
        let of_it = |(ticket, of): (&Ticket, &IssueId)| (*of == issue).then_some(*ticket);
        let lost: Vec<Ticket> = self.under_way.iter().filter_map(of_it).collect();
        for ticket in lost {
            self.take(ticket, Answer::Lost(why.clone()));
        }
    }
}
