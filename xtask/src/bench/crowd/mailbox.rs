//! The busiest actor of a session, from its flow log, and what actix itself can carry.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use actix::prelude::{Actor, Context as Mailbox, Handler, Message, System};
use anyhow::{Context, Result};

use super::super::flow;

/// Pings of one measurement.
const PINGS: u32 = 300_000;

/// What the busiest actor did.
pub(super) struct Busiest {
    pub(super) name: String,
    pub(super) messages: u64,
    /// Time in its handlers, seconds.
    pub(super) handled: f64,
    /// Most messages in its mailbox.
    pub(super) depth: u64,
}

/// Reads a flow log.
pub(super) fn busiest(log: &Path) -> Result<Busiest> {
    let mut actors: HashMap<String, (u64, u64, u64)> = HashMap::new();
    for line in flow::lines(log)? {
        let line = line?;
        if let Some(to) = line.to {
            let (messages, handled, depth) = actors.entry(to).or_default();
            *messages += 1;
            *handled += line.handled_us;
            *depth = line.depth.max(*depth);
        }
    }
    let (name, (messages, handled, depth)) = actors
        .into_iter()
        .max_by_key(|(_, (messages, ..))| *messages)
        .context("the flow log holds no message")?;
    Ok(Busiest {
        name,
        messages,
        handled: handled as f64 / 1e6,
        depth,
    })
}

struct Ping;

impl Message for Ping {
    type Result = ();
}

struct Ponger;

impl Actor for Ponger {
    type Context = Mailbox<Self>;
}

impl Handler<Ping> for Ponger {
    type Result = ();

    fn handle(&mut self, _: Ping, _: &mut Mailbox<Self>) {}
}

/// Asks a second that actix carries, each waited for before the next.
pub(super) fn pings() -> Result<f64> {
    System::new().block_on(async {
        let ponger = Ponger.start();
        let start = Instant::now();
        for _ in 0..PINGS {
            ponger.send(Ping).await?;
        }
        Ok(f64::from(PINGS) / start.elapsed().as_secs_f64())
    })
}
