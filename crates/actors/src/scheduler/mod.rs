//! The scheduler: the slot pool behind messages (03 §3.5).
//!
//! A permit is a move-only value whose drop gives the slot back, so that a dead agent, a
//! suspended one and one that ended all release it the same way.

mod pool;

use std::collections::HashMap;

use actix::{Actor, AsyncContext, Context, ResponseFuture};
use tokio::sync::oneshot;
use vocab::ids::AgentId;

use crate::flow::Tap;
use crate::link::{Link, Named, Receive, SHARED_MAILBOX, routes};
use crate::messages::{Acquire, Forget, RaiseDefect, Release, RunStopping, Stopping};
use crate::panics::{self, DeathWatch};
use crate::supervisor::Supervisor;
pub use pool::Class;
use pool::{Effect, Event, Pool};

/// The right to run: one unit of the run's parallelism.
#[derive(Debug)]
pub struct Permit {
    scheduler: Link<Scheduler>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.scheduler.tell(Release);
    }
}

/// See the module.
#[derive(Debug)]
pub struct Scheduler {
    pool: Pool,
    waiters: HashMap<AgentId, oneshot::Sender<Result<Permit, Stopping>>>,
    stopping: bool,
    own: Link<Self>,
    _death: DeathWatch,
}

impl Scheduler {
    /// Starts it with `max_parallel` slots.
    pub(crate) fn start(
        max_parallel: u64,
        supervisor: Link<Supervisor>,
        tap: Option<&Tap>,
    ) -> Link<Self> {
        let mut context = Context::new();
        context.set_mailbox_capacity(SHARED_MAILBOX);
        let link = Link::new(context.address(), "scheduler", tap);
        let supervisor = supervisor.held_by("scheduler");
        context.run(Self {
            pool: Pool::new(max_parallel),
            waiters: HashMap::new(),
            stopping: false,
            own: link.held_by("permit"),
            _death: DeathWatch::new(move |text| {
                supervisor.tell(RaiseDefect {
                    agent: None,
                    profile: None,
                    cause: format!("the scheduler panicked: {text}"),
                });
            }),
        });
        link
    }

    fn step(&mut self, event: Event) {
        for Effect::Grant(agent) in self.pool.step(event) {
            let permit = Permit {
                scheduler: self.own.clone(),
            };
            if let Some(waiter) = self.waiters.remove(&agent) {
                // The asker may have died while queued: the unsent permit drops here and its
                // release comes back as a message.
                waiter.send(Ok(permit)).ok();
            }
        }
    }
}

impl Actor for Scheduler {
    type Context = Context<Self>;
}

impl Named for Scheduler {
    fn name(&self) -> &'static str {
        "scheduler"
    }
}

routes!(Scheduler: Acquire, Release, Forget, RunStopping);

impl Receive<Acquire> for Scheduler {
    type Reply = ResponseFuture<Result<Permit, Stopping>>;

    fn receive(&mut self, message: Acquire, _: &mut Context<Self>) -> Self::Reply {
        panics::trip("scheduler");
        if self.stopping {
            return Box::pin(async { Err(Stopping) });
        }
        let (reply, answer) = oneshot::channel();
        self.waiters.insert(message.agent.clone(), reply);
        self.step(Event::Acquire(message.agent, message.class));
        Box::pin(async { answer.await.unwrap_or(Err(Stopping)) })
    }
}

impl Receive<Release> for Scheduler {
    type Reply = ();

    fn receive(&mut self, _: Release, _: &mut Context<Self>) {
        self.step(Event::Release);
    }
}

impl Receive<Forget> for Scheduler {
    type Reply = ();

    fn receive(&mut self, message: Forget, _: &mut Context<Self>) {
        self.waiters.remove(&message.agent);
        self.step(Event::Forget(message.agent));
    }
}

impl Receive<RunStopping> for Scheduler {
    type Reply = ();

    fn receive(&mut self, _: RunStopping, _: &mut Context<Self>) {
        self.stopping = true;
        for (agent, waiter) in self.waiters.drain() {
            self.pool.step(Event::Forget(agent));
            // As above: the asker may be gone.
            waiter.send(Err(Stopping)).ok();
        }
    }
}
