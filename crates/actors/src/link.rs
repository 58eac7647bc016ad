//! Links: how one actor addresses another.
//!
//! A [`Link`] is an address, plus who holds it and a tap on the flow log. A message travels as a
//! [`Routed`] envelope that knows its sender, so that every message is accounted for without its
//! type saying so. Actors accept a message by implementing [`Receive`] and naming it in
//! `routes!`.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use actix::dev::{MessageResponse, ToEnvelope};
use actix::{Actor, Addr, Handler, MailboxError, Message};
use tokio::time::Instant;

use crate::clock;
use crate::flow::{Handled, Tap};

/// Mailbox places of a shared actor: actix gives 16 by default, which a few hundred agents fill.
pub const SHARED_MAILBOX: usize = 4_096;

/// An address held by somebody.
pub struct Link<A: Actor> {
    address: Addr<A>,
    to: Arc<str>,
    from: Arc<str>,
    meter: Option<Meter>,
}

#[derive(Clone)]
struct Meter {
    tap: Tap,
    depth: Arc<AtomicU32>,
}

impl<A: Actor> Clone for Link<A> {
    fn clone(&self) -> Self {
        Self {
            address: self.address.clone(),
            to: Arc::clone(&self.to),
            from: Arc::clone(&self.from),
            meter: self.meter.clone(),
        }
    }
}

impl<A: Actor> fmt::Debug for Link<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}

impl<A: Actor> Link<A> {
    /// A link to a new actor, held by the run itself until it is handed on.
    pub(crate) fn new(address: Addr<A>, name: &str, tap: Option<&Tap>) -> Self {
        let meter = tap.map(|tap| Meter {
            tap: tap.clone(),
            depth: Arc::default(),
        });
        Self {
            address,
            to: name.into(),
            from: "run".into(),
            meter,
        }
    }

    /// The same link, held by another.
    pub fn held_by(&self, holder: &str) -> Self {
        Self {
            from: holder.into(),
            ..self.clone()
        }
    }

    /// The name of the actor it leads to.
    pub fn name(&self) -> &str {
        &self.to
    }

    /// Whether the actor still takes messages.
    pub(crate) fn leads_somewhere(&self) -> bool {
        self.address.connected()
    }

    /// Sends one way. A dead receiver drops it: its guard has reported the death.
    pub fn tell<M>(&self, message: M)
    where
        M: Message + Send + 'static,
        M::Result: Send,
        A: Handler<Routed<M>>,
        A::Context: ToEnvelope<A, Routed<M>>,
    {
        self.address.do_send(self.seal(message));
    }

    /// Sends at once and resolves with the answer; an error where the receiver is gone.
    pub fn ask<M>(
        &self,
        message: M,
    ) -> impl Future<Output = Result<M::Result, MailboxError>> + use<A, M>
    where
        M: Message + Send + 'static,
        M::Result: Send,
        A: Handler<Routed<M>>,
        A::Context: ToEnvelope<A, Routed<M>>,
    {
        self.address.send(self.seal(message))
    }

    fn seal<M>(&self, message: M) -> Routed<M> {
        let stamp = self.meter.as_ref().map(|meter| {
            meter.tap.sent();
            meter.depth.fetch_add(1, Ordering::Relaxed);
            Stamp {
                meter: meter.clone(),
                from: Arc::clone(&self.from),
                to: Arc::clone(&self.to),
                sent: Instant::now(),
            }
        });
        Routed { message, stamp }
    }
}

/// A message in its envelope.
pub struct Routed<M> {
    message: M,
    stamp: Option<Stamp>,
}

struct Stamp {
    meter: Meter,
    from: Arc<str>,
    to: Arc<str>,
    sent: Instant,
}

impl<M: Message> Message for Routed<M> {
    type Result = M::Result;
}

/// What an actor does with one kind of message. It answers at once, or returns a future over a
/// stored one-shot; it never waits.
pub trait Receive<M: Message>: Actor {
    /// How the answer travels.
    type Reply: MessageResponse<Self, Routed<M>>;

    /// Handles one message.
    fn receive(&mut self, message: M, context: &mut Self::Context) -> Self::Reply;
}

/// Opens an envelope, lets the actor receive what is in it, and accounts for it.
pub(crate) fn deliver<A, M>(actor: &mut A, routed: Routed<M>, context: &mut A::Context) -> A::Reply
where
    A: Receive<M>,
    M: Message,
{
    let Some(stamp) = routed.stamp else {
        return actor.receive(routed.message, context);
    };
    let displaced = stamp.meter.tap.displaced();
    let begun = Instant::now();
    let at_us = clock::now_us();
    let depth = stamp.meter.depth.fetch_sub(1, Ordering::Relaxed);
    let reply = actor.receive(routed.message, context);
    let running = begun.elapsed();
    let displaced = displaced.and_then(|before| {
        let after = stamp.meter.tap.displaced()?;
        Some(after.saturating_sub(before).min(running))
    });
    stamp.meter.tap.handled(Handled {
        at_us,
        from: stamp.from,
        to: stamp.to,
        message: short_name::<M>(),
        queued: begun.duration_since(stamp.sent),
        running,
        displaced,
        depth,
    });
    reply
}

/// A type's own name, without its path.
fn short_name<M>() -> &'static str {
    let path = type_name::<M>();
    path.rsplit("::").next().unwrap_or(path)
}

/// Declares which messages an actor accepts: one actix handler each, in a span named for the
/// message.
macro_rules! routes {
    ($actor:ty: $($message:ty),+ $(,)?) => {
        $(
            impl actix::Handler<$crate::link::Routed<$message>> for $actor {
                type Result = <Self as $crate::link::Receive<$message>>::Reply;

                fn handle(
                    &mut self,
                    routed: $crate::link::Routed<$message>,
                    context: &mut Self::Context,
                ) -> Self::Result {
                    let span = tracing::debug_span!(
                        stringify!($message),
                        actor = self.name(),
                        agentId = self.agent_id(),
                    );
                    let _entered = span.enter();
                    $crate::link::deliver(self, routed, context)
                }
            }
        )+
    };
}

pub(crate) use routes;

/// What an actor is called in spans and in the flow log.
pub trait Named {
    /// `supervisor`, `agent root`.
    fn name(&self) -> &str;

    /// The agent it is, for actors that are one.
    fn agent_id(&self) -> Option<&str> {
        None
    }
}
