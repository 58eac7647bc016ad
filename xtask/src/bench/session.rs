//! Whole sessions at latency 0, a command a turn: time a turn, its growth, memory.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tests::gateway::lean::Seen;
use tests::run::probe;

use super::contestant::{Ground, Output, bare_loop, finish, gateway, gg};
use super::median;
use super::table::Row;

/// The turns from which growth is read, each a hundred around its place.
const SPAN: usize = 50;

/// Time a turn of both, turn and turn about; over long sessions, its growth too.
pub(super) fn time(turns: usize, repeats: usize, output: Output) -> Result<Vec<Row>> {
    let mut ours = Vec::new();
    let mut floor = Vec::new();
    for _ in 0..repeats {
        let seen = play(turns, None, output)?;
        floor.push(Times::of(&play(turns, Some(&seen.bodies), output)?)?);
        ours.push(Times::of(&seen)?);
    }
    let of = |all: &[Times], which: fn(&Times) -> f64| median(all.iter().map(which).collect());
    let (gg_turn, floor_turn) = (of(&ours, |t| t.mean), of(&floor, |t| t.mean));
    let mut rows = vec![Row {
        figure: format!(
            "a turn with one command, {}, over {turns} turns",
            output.words()
        ),
        unit: "ms",
        gg: gg_turn,
        floor: Some(floor_turn),
        goal: "≤ 1.25 × floor".to_owned(),
        met: Some(gg_turn <= 1.25 * floor_turn),
    }];
    if turns >= 4 * SPAN {
        let (early, late) = (of(&ours, |t| t.early), of(&ours, |t| t.late));
        let growth = of(&ours, |t| t.late - t.early);
        let floor_growth = of(&floor, |t| t.late - t.early);
        rows.push(Row {
            figure: format!(
                "growth of a turn, {}, from turn 100 ({early:.2} ms) to {turns} ({late:.2} ms)",
                output.words()
            ),
            unit: "ms",
            gg: growth,
            floor: Some(floor_growth),
            // A tenth of an early turn is what two runs of one program differ by.
            goal: "the floor's + 10 % of a turn".to_owned(),
            met: Some(growth <= floor_growth + 0.1 * early),
        });
    }
    Ok(rows)
}

/// Peak memory of both over a session.
pub(super) fn memory(turns: usize) -> Result<Vec<Row>> {
    let (seen, ours) = watched(turns, None)?;
    let (_, floor) = watched(turns, Some(&seen.bodies))?;
    let window = seen.bodies.last().copied().unwrap_or(0) as u64;
    let beyond = ours.saturating_sub(window);
    let mb = |bytes: u64| bytes as f64 / 1e6;
    Ok(vec![Row {
        figure: format!(
            "peak memory over {turns} turns, beyond the {:.2} MB of the window",
            mb(window)
        ),
        unit: "MB",
        gg: mb(beyond),
        floor: Some(mb(floor.saturating_sub(window))),
        goal: "≤ 20 MB".to_owned(),
        met: Some(beyond <= 20_000_000),
    }])
}

struct Times {
    mean: f64,
    early: f64,
    late: f64,
}

impl Times {
    /// Milliseconds a turn, from reply to reply.
    fn of(seen: &Seen) -> Result<Self> {
        let first = seen.first_byte.context("no request came")?;
        let last = seen.sent.last().context("no reply was sent")?;
        let turns: Vec<f64> = seen
            .sent
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e3)
            .collect();
        let around = |from: usize, to: usize| {
            median(turns[from.min(turns.len())..to.min(turns.len())].to_vec())
        };
        Ok(Self {
            mean: (*last - first).as_secs_f64() * 1e3 / seen.sent.len() as f64,
            early: around(100 - SPAN, 100 + SPAN),
            late: around(turns.len().saturating_sub(2 * SPAN), turns.len()),
        })
    }
}

/// One session of gg, or of the bare loop on these sizes.
fn play(turns: usize, sizes: Option<&[usize]>, output: Output) -> Result<Seen> {
    let ground = Ground::new()?;
    let gateway = gateway(turns);
    let (child, _) = match sizes {
        Some(sizes) => bare_loop(&ground, &gateway, sizes, output)?,
        None => gg(&ground, &gateway, output)?,
    };
    finish(child, &ground)?;
    let seen = gateway.seen();
    anyhow::ensure!(
        seen.bodies.len() == turns,
        "{} requests came where {turns} were expected",
        seen.bodies.len()
    );
    Ok(seen)
}

/// The same, looked at while it runs: its peak memory in bytes.
fn watched(turns: usize, sizes: Option<&[usize]>) -> Result<(Seen, u64)> {
    let output = Output::Kept;
    let ground = Ground::new()?;
    let gateway = gateway(turns);
    let (child, _) = match sizes {
        Some(sizes) => bare_loop(&ground, &gateway, sizes, output)?,
        None => gg(&ground, &gateway, output)?,
    };
    let pid = child.id();
    let mut peak = 0;
    let end = Instant::now() + Duration::from_secs(120);
    // The kernel keeps the peak itself, so the last look before the end has it all but exactly.
    while gateway.seen().sent.len() < turns && Instant::now() < end {
        if let Some(now) = probe(pid) {
            peak = peak.max(now.memory);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    while let Some(now) = probe(pid).filter(|now| now.memory > 0) {
        peak = peak.max(now.memory);
        if Instant::now() > end {
            break;
        }
        std::thread::yield_now();
    }
    finish(child, &ground)?;
    Ok((gateway.seen(), peak))
}
