//! What holds where a window was cut: what its agent took out lies within a call, a compaction
//! lies between turns or behind a turn's work (02 §6.1, 06 §2.5).

use super::line::Line;
use super::turn::{Cycle, Place};
use super::{Found, rule};

/// Checks a `context_managed` line. `open` are the names of the calls it lies within.
pub(super) fn managed<'a>(line: &Line, open: impl Iterator<Item = &'a str>, found: &mut Found) {
    let action = line.text("action");
    let fits = |name: &str| match action {
        // A program closes a file's view as it closes any other.
        "evict_file_views" => name.ends_with("evict_file_view") || name.contains("close"),
        "archive_thread" => name.ends_with("archive_thread"),
        // A view closes through its own handle too.
        _ => name.contains("close"),
    };
    let mut open = open.peekable();
    if open.peek().is_none() || !open.any(fits) {
        found.add(
            line.number,
            rule::ENCLOSURE,
            format!("{action} outside any call that does it"),
        );
    }
    let items = line.get("items").as_u64().unwrap_or_default();
    if (items > 0) == line.get("firstIndex").is_null() {
        found.add(
            line.number,
            rule::RECLAIMED,
            format!("{items} items, the first at {}", line.get("firstIndex")),
        );
    }
}

/// Checks where a compaction stands, and that what follows in its turn is no work.
pub(super) fn compaction(
    line: &Line,
    cycle: &mut Option<Cycle>,
    has_open_calls: bool,
    found: &mut Found,
) {
    figures(line, found);
    let turn = line.turn.unwrap_or_default();
    let mut wrong = |message: String| found.add(line.number, rule::COMPACTION, message);
    match cycle {
        Some(cycle) if !cycle.has_timing => {
            if turn != cycle.turn {
                wrong(format!("of turn {turn}, while turn {} goes on", cycle.turn));
            } else if cycle.place < Place::Assistant || has_open_calls {
                wrong(format!("within turn {turn}, behind its {:?}", cycle.place));
            }
            cycle.place = cycle.place.max(Place::Snapshots);
        }
        Some(cycle) if turn != cycle.turn + 1 => {
            wrong(format!(
                "of turn {turn}, behind the end of turn {}",
                cycle.turn
            ));
        }
        _ => {}
    }
}

fn figures(line: &Line, found: &mut Found) {
    let mut totals = [0_u64; 2];
    for (side, total) in ["before", "after"].into_iter().zip(&mut totals) {
        let window = line.get(side);
        let bands = window["bands"].as_object().into_iter().flatten();
        *total = bands.filter_map(|(_, tokens)| tokens.as_u64()).sum();
        if window["tokens"].as_u64() != Some(*total) {
            found.add(
                line.number,
                rule::BANDS,
                format!(
                    "{side}: tokens are {}, the bands sum to {total}",
                    window["tokens"]
                ),
            );
        }
    }
    let reclaimed = i128::from(totals[0]) - i128::from(totals[1]);
    let told = line.get("reclaimedTokens").as_i64().map(i128::from);
    if told != Some(reclaimed) {
        found.add(
            line.number,
            rule::RECLAIMED,
            format!(
                "reclaimedTokens is {}, the windows differ by {reclaimed}",
                line.get("reclaimedTokens")
            ),
        );
    }
}
