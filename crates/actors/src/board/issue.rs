//! The actor of one issue: it takes slots for the issue's agents, has them started and awaits
//! them, and has git do what the board asks of it.
//!
//! It decides nothing: what comes after what the board's machine says. Started by the first thing
//! that is asked for its issue.
//!
//! Always true: what is asked is answered once, unless the actor dies, which its guard tells the
//! board; a slot is held from its grant until an agent has it or it is dropped.

use std::collections::HashMap;

use actix::{Actor, ActorFutureExt as _, AsyncContext, Context, SpawnHandle, WrapFuture as _};
use board::{AgentEnd, Answer, Ask, Refusal, Seat, Ticket};
use vocab::ids::{AgentId, IssueId};

use super::git::Git;
use super::{Board, Surroundings, briefs};
use crate::agent::Ending;
use crate::delegation::ReturnValue;
use crate::link::{Link, Named, Receive, routes};
use crate::messages::{
    Acquire, Answered, CarryOut, Dispatch, DropSlot, Forget, IssueDied, MayStart, Perform,
    RaiseDefect,
};
use crate::panics::{self, DeathWatch};
use crate::scheduler::{Class, Permit, Scheduler, Slot};
use crate::supervisor::Supervisor;

/// See the module.
#[derive(Debug)]
pub(super) struct Issue {
    id: IssueId,
    name: String,
    queued: HashMap<Ticket, Queued>,
    permits: HashMap<Ticket, Permit>,
    supervisor: Link<Supervisor>,
    scheduler: Link<Scheduler>,
    git: Link<Git>,
    board: Link<Board>,
    shared: std::sync::Arc<crate::shared::Shared>,
    _death: DeathWatch,
}

/// A slot that is waited for.
#[derive(Debug)]
struct Queued {
    agent: AgentId,
    wait: SpawnHandle,
}

impl Issue {
    pub(super) fn start(
        id: IssueId,
        around: &Surroundings,
        git: &Link<Git>,
        board: &Link<Board>,
    ) -> Link<Self> {
        let name = format!("issue {id}");
        let context = Context::new();
        let link = Link::new(context.address(), &name, around.tap.as_ref());
        let supervisor = around.supervisor.held_by(&name);
        let board = board.held_by(&name);
        let (report, bereaved, of) = (supervisor.clone(), board.clone(), id.clone());
        context.run(Self {
            queued: HashMap::new(),
            permits: HashMap::new(),
            supervisor,
            scheduler: around.scheduler.held_by(&name),
            git: git.held_by(&name),
            board,
            shared: std::sync::Arc::clone(&around.shared),
            _death: DeathWatch::new(move |text| {
                let why = format!("the actor of issue `{of}` panicked: {text}");
                report.tell(RaiseDefect {
                    agent: None,
                    profile: None,
                    cause: why.clone(),
                });
                bereaved.tell(IssueDied { issue: of, why });
            }),
            id,
            name,
        });
        link
    }

    fn answer(&self, ticket: Ticket, answer: Answer) {
        self.board.tell(Answered { ticket, answer });
    }

    /// Answers with what a future comes to.
    fn answer_with(
        &self,
        ticket: Ticket,
        answer: impl Future<Output = Answer> + 'static,
        context: &mut Context<Self>,
    ) {
        let answered = answer.into_actor(self);
        context.spawn(answered.map(move |answer, issue, _| {
            panics::trip("issue_answers");
            issue.answer(ticket, answer);
        }));
    }

    /// Queues for a slot for an agent, under the key of its profile.
    fn queue(&mut self, ticket: Ticket, seat: Seat, context: &mut Context<Self>) {
        let Some(worker) = self.shared.workers.get(&seat.profile) else {
            let why = format!("no profile is called `{}`", seat.profile);
            return self.answer(ticket, Answer::Refused(Refusal::Impossible(why)));
        };
        let acquire = Acquire {
            agent: seat.agent.clone(),
            class: Class::Start,
            key: worker.profile.slot_key().cloned(),
        };
        let may = self.supervisor.ask(MayStart);
        let scheduler = self.scheduler.clone();
        let granted = async move {
            // Whoever died has said so: the run stops.
            may.await.unwrap_or(Err(Refusal::Stopping))?;
            let slot = Slot::ask(&scheduler, acquire);
            slot.granted().await.ok_or(Refusal::Stopping)
        };
        let wait = context.spawn(granted.into_actor(self).map(move |granted, issue, _| {
            issue.queued.remove(&ticket);
            let answer = match granted {
                Ok(permit) => {
                    issue.permits.insert(ticket, permit);
                    Answer::Granted
                }
                Err(refusal) => Answer::Refused(refusal),
            };
            issue.answer(ticket, answer);
        }));
        let agent = seat.agent;
        self.queued.insert(ticket, Queued { agent, wait });
    }

    /// The agent that is asked for, with the slot it was granted.
    fn dispatch(&mut self, ask: Ask) -> Result<Dispatch, Refusal> {
        let Ask::Run {
            slot,
            seat,
            brief,
            worktree,
        } = ask
        else {
            return Err(Refusal::Impossible("it is no agent".to_owned()));
        };
        let permit = self.permits.remove(&slot);
        let Some(permit) = permit else {
            let why = format!("`{}` was to start without a slot", seat.agent);
            return Err(Refusal::Impossible(why));
        };
        let text = briefs::text(&brief)
            .map_err(|error| Refusal::Impossible(format!("its brief does not render: {error}")))?;
        let Seat {
            agent,
            profile,
            duty,
        } = seat;
        Ok(Dispatch {
            agent,
            profile,
            duty,
            issue: self.id.clone(),
            brief: text.into(),
            worktree,
            permit,
        })
    }

    /// Has an agent started, and awaits it with all it starts.
    fn run(&mut self, ticket: Ticket, ask: Ask, context: &mut Context<Self>) {
        let dispatch = match self.dispatch(ask) {
            Ok(dispatch) => dispatch,
            Err(refusal) => return self.answer(ticket, Answer::Refused(refusal)),
        };
        let started = self.supervisor.ask(dispatch);
        let lost = || Answer::Lost(panics::supervisor_died());
        let ended = async move {
            match started.await {
                Ok(Ok(over)) => match over.await {
                    Ok(value) => Answer::Ended(end_of(value)),
                    Err(_) => lost(),
                },
                Ok(Err(refusal)) => Answer::Refused(refusal),
                Err(_) => lost(),
            }
        };
        self.answer_with(ticket, ended, context);
    }

    /// Has git do something.
    fn have_done(&self, ticket: Ticket, ask: Ask, context: &mut Context<Self>) {
        let done = self.git.ask(CarryOut { ask });
        let done = async move {
            match done.await {
                Ok(Ok(answer)) => answer,
                Ok(Err(why)) => Answer::Lost(why),
                Err(_) => Answer::Lost("the actor of the board's git is gone".to_owned()),
            }
        };
        self.answer_with(ticket, done, context);
    }
}

/// How an agent ended, as the board takes it: by what it declared, never by its words.
fn end_of(value: ReturnValue) -> AgentEnd {
    match value.ending {
        Some(Ending::Finish { .. }) => AgentEnd::Finished,
        Some(Ending::Approve) => AgentEnd::Approved,
        Some(Ending::RequestChanges { items }) => AgentEnd::RequestedChanges(items),
        None => AgentEnd::Stopped {
            status: value.status,
            text: value.text,
        },
    }
}

impl Actor for Issue {
    type Context = Context<Self>;
}

impl Named for Issue {
    fn name(&self) -> &str {
        &self.name
    }
}

routes!(Issue: Perform, DropSlot);

impl Receive<Perform> for Issue {
    type Reply = ();

    fn receive(&mut self, Perform { ticket, ask }: Perform, context: &mut Context<Self>) {
        panics::trip("issue");
        match ask {
            Ask::Slot(seat) => self.queue(ticket, seat, context),
            Ask::Run { .. } => self.run(ticket, ask, context),
            Ask::Cut { .. }
            | Ask::Commit { .. }
            | Ask::Reset { .. }
            | Ask::Merge { .. }
            | Ask::Check
            | Ask::Restore
            | Ask::Remove { .. }
            | Ask::Discard { .. } => self.have_done(ticket, ask, context),
        }
    }
}

impl Receive<DropSlot> for Issue {
    type Reply = ();

    fn receive(&mut self, DropSlot { ticket }: DropSlot, context: &mut Context<Self>) {
        if let Some(Queued { agent, wait }) = self.queued.remove(&ticket) {
            context.cancel_future(wait);
            self.scheduler.tell(Forget { agent });
        }
        // Dropped, it gives its slot back.
        self.permits.remove(&ticket);
    }
}
