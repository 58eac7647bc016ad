//! What many agents cost: makespans beside a bare crowd that sends the same requests, memory and
//! start of an agent at a thousand live ones, messages through the busiest actor.
//!
//! The model is a gateway in a process of its own, over real sockets, at a latency of 50 ms. Both
//! contestants meet the same one, turn and turn about.

pub(crate) mod bare;
mod contest;
mod mailbox;
pub(crate) mod served;

use std::time::Duration;

use anyhow::Result;

use super::contestant::COMMAND;
use super::median;
use super::table::Row;
use contest::{LATENCY, Session};

/// Requests of a worker.
const TURNS: usize = 5;

/// Agents that live while memory and newcomers are measured.
const LIVE: usize = 1_000;

/// The same, where they are few.
const FEW: usize = 10;

/// Agents started one by one beside them.
const NEWCOMERS: usize = 40;

/// Measures all of it.
pub(super) fn measure(repeats: usize) -> Result<Vec<Row>> {
    let session = |workers, cap| Session::new(workers, TURNS, cap, LATENCY);
    let mut rows = Vec::new();
    for (words, session, goal) in [
        ("200 agents, cap 16", session(200, 16), 1.03),
        ("200 agents, uncapped", session(200, 200), 1.1),
        (
            "200 agents with a command a turn, cap 16",
            session(200, 16).with_command(COMMAND),
            1.03,
        ),
        ("1,000 agents, cap 64", session(1_000, 64), 1.03),
        (
            "1,000 agents with a command a turn, cap 64",
            session(1_000, 64).with_command(COMMAND),
            1.03,
        ),
    ] {
        println!("    {words}");
        rows.extend(makespan(words, &session, goal, repeats)?);
    }
    println!("    {LIVE} live agents");
    rows.extend(at_many(repeats)?);
    println!("    the busiest actor");
    rows.extend(busiest(repeats)?);
    Ok(rows)
}

/// One session of both, and of both over the arithmetic.
fn makespan(words: &str, session: &Session, goal: f64, repeats: usize) -> Result<Vec<Row>> {
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let outcome = session.by_gg(false)?;
        floor.push(session.by_floor(&outcome.seen)?.makespan());
        ours.push(outcome.makespan());
    }
    let (ours, floor, ideal) = (median(ours), median(floor), session.ideal());
    Ok(vec![
        Row {
            figure: format!("makespan of {words}, {TURNS} turns each at 50 ms"),
            unit: "ms",
            gg: ours,
            floor: Some(floor),
            goal: format!("≤ {goal} × floor"),
            met: Some(ours <= goal * floor),
        },
        Row {
            figure: format!("the same over the arithmetic's {ideal:.0} ms"),
            unit: "×",
            gg: ours / ideal,
            floor: Some(floor / ideal),
            goal: String::new(),
            met: None,
        },
    ])
}

/// Memory of an agent, and the start of another, while a thousand wait for their model.
fn at_many(repeats: usize) -> Result<Vec<Row>> {
    let session = |workers: usize| {
        let mut session = Session::new(workers, 3, workers + 2, Duration::from_millis(5));
        session.play.newcomers = Some(NEWCOMERS);
        session
    };
    let (mut memory, mut ours, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..repeats {
        let few = session(FEW).by_gg(false)?;
        let many = session(LIVE).by_gg(false)?;
        let grown = many.memory.saturating_sub(few.memory) as f64 / (LIVE - FEW) as f64;
        memory.push((grown - many.seen.window as f64) / 1024.0);
        let bare = session(LIVE).by_floor(&many.seen)?;
        ours.extend(starts(&many.seen));
        floor.extend(starts(&bare.seen));
    }
    let (memory, ours, floor) = (median(memory), median(ours), median(floor));
    Ok(vec![
        Row {
            figure: "memory of a live agent beyond its window, its model call in flight".to_owned(),
            unit: "KiB",
            gg: memory,
            floor: None,
            goal: "≤ 64 KiB".to_owned(),
            met: Some(memory <= 64.0),
        },
        Row {
            figure: "spawn to first request beside 1,000 live agents".to_owned(),
            unit: "ms",
            gg: ours,
            floor: Some(floor),
            goal: String::new(),
            met: None,
        },
    ])
}

/// From each of the root's replies that starts an agent to that agent's first request.
fn starts(seen: &served::Seen) -> impl Iterator<Item = f64> {
    let replies = seen.root_sent.iter().skip(1);
    replies.zip(&seen.newcomers).map(|(sent, came)| came - sent)
}

/// Messages a second through the busiest actor where no model keeps anybody waiting.
fn busiest(repeats: usize) -> Result<Vec<Row>> {
    let session = Session::new(LIVE, TURNS, 64, Duration::ZERO);
    let (mut ours, mut floor, mut share) = (Vec::new(), Vec::new(), Vec::new());
    let mut words = String::new();
    for _ in 0..repeats {
        let outcome = session.by_gg(true)?;
        let seconds = outcome.makespan() / 1e3;
        if let Some(flow) = &outcome.flow {
            let busiest = mailbox::busiest(flow)?;
            ours.push(busiest.messages as f64 / seconds);
            share.push(100.0 * busiest.handled / seconds);
            words = format!(
                "{} ({} of them, {} deep at most)",
                busiest.name, busiest.messages, busiest.depth
            );
        }
        floor.push(mailbox::pings()?);
    }
    Ok(vec![
        Row {
            figure: format!("messages a second through {words}, beside actix's pings"),
            unit: "/s",
            gg: median(ours),
            floor: Some(median(floor)),
            goal: String::new(),
            met: None,
        },
        Row {
            figure: "of that actor's time, in its handlers".to_owned(),
            unit: "%",
            gg: median(share),
            floor: None,
            goal: String::new(),
            met: None,
        },
    ])
}
