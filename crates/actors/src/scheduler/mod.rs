//! The scheduler: the slot pool behind messages (03 §3.5).
//!
//! A permit is a move-only value whose drop gives the slot back, so that a dead agent, a
//! suspended one and one that ended all release it the same way.

mod exchange;
mod pool;

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;

use actix::{Actor, AsyncContext, Context, ResponseFuture};
use tokio::sync::oneshot;
use vocab::ids::{AgentId, Slug};

use crate::flow::Tap;
use crate::link::{Link, Named, Receive, SHARED_MAILBOX, routes};
use crate::messages::{Acquire, Forget, RaiseDefect, Release, RunStopping, Stopping, SwapKey};
use crate::panics::{self, DeathWatch};
use crate::supervisor::Supervisor;
pub(crate) use exchange::{Exchange, exchange};
pub use pool::Class;
use pool::{Effect, Event, Pool, Ticket};

/// The right to run: one unit of the run's parallelism, and the key that was asked for with it.
#[derive(Debug)]
pub struct Permit {
    ticket: Ticket,
    key: Option<Slug>,
    scheduler: Link<Scheduler>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.scheduler.tell(Release {
            ticket: self.ticket,
        });
    }
}

/// A place in the queue for a slot; it is taken when this is made, and resolves into the permit.
pub struct Slot(Pin<Box<dyn Future<Output = Option<Permit>> + Send>>);

impl Slot {
    /// Asks for a slot at once.
    pub(crate) fn ask(scheduler: &Link<Scheduler>, acquire: Acquire) -> Self {
        let answer = scheduler.ask(acquire);
        // Without a permit the run is stopping, or the scheduler died and has said so: either way
        // the asker's next boundary ends it.
        Self(Box::pin(async { answer.await.ok()?.ok() }))
    }

    /// Waits until it is granted; `None` where the run stops first.
    pub(crate) async fn granted(self) -> Option<Permit> {
        self.0.await
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slot")
    }
}

/// One that waits for a slot.
#[derive(Debug)]
struct Waiter {
    key: Option<Slug>,
    reply: oneshot::Sender<Result<Permit, Stopping>>,
}

/// See the module.
#[derive(Debug)]
pub struct Scheduler {
    pool: Pool,
    waiters: HashMap<AgentId, Waiter>,
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

    /// Tells the pool, and gives slots to whoever it grants them. Whether a swap was carried out.
    fn step(&mut self, event: Event) -> bool {
        let mut swapped = false;
        for effect in self.pool.step(event) {
            match effect {
                Effect::Grant(agent, ticket) => self.grant(&agent, ticket),
                Effect::Swapped(_) => swapped = true,
                Effect::Contended(_) => {}
            }
        }
        swapped
    }

    fn grant(&mut self, agent: &AgentId, ticket: Ticket) {
        let waiter = self.waiters.remove(agent);
        let (key, reply) = waiter.map_or((None, None), |it| (it.key, Some(it.reply)));
        let permit = Permit {
            ticket,
            key,
            scheduler: self.own.clone(),
        };
        if let Some(reply) = reply {
            // The asker may have died while queued: the unsent permit drops here and its
            // release comes back as a message.
            reply.send(Ok(permit)).ok();
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

routes!(Scheduler: Acquire, SwapKey, Release, Forget, RunStopping);

impl Receive<Acquire> for Scheduler {
    type Reply = ResponseFuture<Result<Permit, Stopping>>;

    fn receive(&mut self, message: Acquire, _: &mut Context<Self>) -> Self::Reply {
        panics::trip("scheduler");
        if self.stopping {
            return Box::pin(async { Err(Stopping) });
        }
        let (reply, answer) = oneshot::channel();
        let Acquire { agent, class, key } = message;
        let waiter = Waiter {
            key: key.clone(),
            reply,
        };
        self.waiters.insert(agent.clone(), waiter);
        self.step(Event::Acquire(agent, class, key));
        Box::pin(async { answer.await.unwrap_or(Err(Stopping)) })
    }
}

impl Receive<SwapKey> for Scheduler {
    type Reply = Option<Permit>;

    fn receive(&mut self, message: SwapKey, _: &mut Context<Self>) -> Self::Reply {
        let SwapKey { mut permit, key } = message;
        let swapped = self.step(Event::Swap(permit.ticket, key.clone()));
        // One that was given up drops here: the pool knows its ticket no more.
        swapped.then(|| {
            permit.key = key;
            permit
        })
    }
}

impl Receive<Release> for Scheduler {
    type Reply = ();

    fn receive(&mut self, Release { ticket }: Release, _: &mut Context<Self>) {
        panics::trip("scheduler_release");
        self.step(Event::Release(ticket));
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
            waiter.reply.send(Err(Stopping)).ok();
        }
    }
}
