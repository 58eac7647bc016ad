//! From the start of the process to the first byte of its first request.

use anyhow::{Context, Result};

use super::contestant::{Ground, Output, bare_loop, finish, gateway, gg};
use super::median;
use super::table::Row;

/// Takes the median of both, turn and turn about.
pub(super) fn measure(repeats: usize) -> Result<Vec<Row>> {
    let mut ours = Vec::new();
    let mut floor = Vec::new();
    for _ in 0..repeats {
        let (taken, sizes) = once(None)?;
        ours.push(taken);
        floor.push(once(Some(&sizes))?.0);
    }
    let (ours, floor) = (median(ours), median(floor));
    Ok(vec![Row {
        figure: "process start to first byte of first request".to_owned(),
        unit: "ms",
        gg: ours,
        floor: Some(floor),
        goal: "≤ 5 ms".to_owned(),
        met: Some(ours <= 5.0),
    }])
}

/// One start of the bare loop on these sizes, or of gg: milliseconds, and the bodies' sizes.
fn once(sizes: Option<&[usize]>) -> Result<(f64, Vec<usize>)> {
    let ground = Ground::new()?;
    let gateway = gateway(1);
    let (child, started) = match sizes {
        Some(sizes) => bare_loop(&ground, &gateway, sizes, Output::Kept)?,
        None => gg(&ground, &gateway, Output::Kept)?,
    };
    finish(child, &ground)?;
    let seen = gateway.seen();
    let first = seen.first_byte.context("no request came")?;
    Ok(((first - started).as_secs_f64() * 1e3, seen.bodies))
}
