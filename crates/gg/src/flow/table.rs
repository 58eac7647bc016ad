//! The edges of a run, ranked: which cost the most time, and which carry the most messages. Below
//! them, how full its mailboxes were.
//!
//! An edge is a sender, a receiver and a message's name. Ranking by time is by the sum of handling
//! times, since that is what keeps the one actor thread busy; ties go to the more frequent, then
//! to the first in the alphabet, so that one log always gives one table.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;

use super::log::FlowLog;
use super::{duration, mailboxes};
use crate::page::{columns, plural};

/// What one edge carried.
#[derive(Debug, PartialEq, Eq)]
struct Edge {
    from: u32,
    to: u32,
    kind: u32,
    queued: Spread,
    handled: Spread,
    depth: u32,
}

/// A sorted sample of durations.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Spread(pub(super) Vec<u64>);

impl Spread {
    pub(super) fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, us| sum.saturating_add(*us))
    }

    /// The smallest value that at least `percent` of the sample do not exceed (nearest rank).
    pub(super) fn percentile(&self, percent: usize) -> u64 {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }

    pub(super) fn max(&self) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }
}

/// The table, `top` rows a ranking.
pub(crate) fn render(log: &FlowLog, top: usize) -> String {
    let mut edges = edges(log);
    let mut text = heading(log, edges.len());
    if edges.is_empty() {
        return text;
    }

    edges.sort_by_key(|e| {
        (
            Reverse(e.handled.total()),
            Reverse(e.handled.0.len()),
            names(log, e),
        )
    });
    let all = edges.len() <= top;
    let title = if all {
        "Edges, by time in their handlers".to_owned()
    } else {
        format!(
            "The {top} slowest edges of {}, by time in their handlers",
            edges.len()
        )
    };
    text.push_str(&rows(log, &title, &edges[..top.min(edges.len())]));
    if !all {
        edges.sort_by_key(|e| (Reverse(e.handled.0.len()), names(log, e)));
        text.push_str(&rows(
            log,
            &format!("The {top} most frequent"),
            &edges[..top],
        ));
    }
    text.push_str(&mailboxes::render(log, top));
    text
}

fn heading(log: &FlowLog, edges: usize) -> String {
    let mut text = format!(
        "{} over {}, between {} on {}\n",
        plural(log.messages.len() as u64, "message"),
        duration(log.span_us()),
        plural(log.actors(&log.messages).len() as u64, "actor"),
        plural(edges as u64, "edge"),
    );
    if let Some(end) = log.end {
        let unhandled = match end.unhandled {
            0 => "every message sent was handled".to_owned(),
            count => format!("{} sent and never handled", plural(count, "message")),
        };
        writeln!(text, "{unhandled}").expect("a string takes any text");
    }
    for remark in &log.remarks {
        writeln!(text, "note: {remark}").expect("a string takes any text");
    }
    text
}

fn edges(log: &FlowLog) -> Vec<Edge> {
    let mut edges: HashMap<(u32, u32, u32), Edge> = HashMap::new();
    for m in &log.messages {
        let edge = edges.entry((m.from, m.to, m.kind)).or_insert_with(|| Edge {
            from: m.from,
            to: m.to,
            kind: m.kind,
            queued: Spread::default(),
            handled: Spread::default(),
            depth: 0,
        });
        edge.queued.0.push(m.queued_us);
        edge.handled.0.push(m.handled_us);
        edge.depth = edge.depth.max(m.depth);
    }
    let mut edges: Vec<Edge> = edges.into_values().collect();
    for edge in &mut edges {
        edge.queued.0.sort_unstable();
        edge.handled.0.sort_unstable();
    }
    edges
}

fn names<'a>(log: &'a FlowLog, edge: &Edge) -> (&'a str, &'a str, &'a str) {
    (log.name(edge.from), log.name(edge.to), log.name(edge.kind))
}

const COLUMNS: [&str; 13] = [
    "from", "to", "message", "count", "handled", "median", "p95", "max", "queued", "median", "p95",
    "max", "depth",
];
/// The first columns are words and stand left; the rest are figures and stand right.
const WORDS: usize = 3;

fn rows(log: &FlowLog, title: &str, edges: &[Edge]) -> String {
    let mut cells: Vec<[String; 13]> = vec![COLUMNS.map(str::to_owned)];
    for edge in edges {
        let (from, to, message) = names(log, edge);
        let [handled, queued] = [&edge.handled, &edge.queued].map(|spread| {
            [
                spread.total(),
                spread.percentile(50),
                spread.percentile(95),
                spread.max(),
            ]
            .map(duration)
        });
        let [h0, h1, h2, h3] = handled;
        let [q0, q1, q2, q3] = queued;
        cells.push([
            from.to_owned(),
            to.to_owned(),
            message.to_owned(),
            edge.handled.0.len().to_string(),
            h0,
            h1,
            h2,
            h3,
            q0,
            q1,
            q2,
            q3,
            edge.depth.to_string(),
        ]);
    }
    let figures: Vec<usize> = (WORDS..COLUMNS.len()).collect();
    format!("\n{title}\n{}", columns(&cells, &figures))
}

#[cfg(test)]
mod tests {
    use super::super::log::tests::{log, two_turns};
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let hundred = Spread((1..=100).collect());
        assert_eq!((hundred.percentile(50), hundred.percentile(95)), (50, 95));
        let one = Spread(vec![7]);
        assert_eq!(
            (one.percentile(50), one.percentile(95), one.max()),
            (7, 7, 7)
        );
        let two = Spread(vec![1, 9]);
        assert_eq!((two.percentile(50), two.percentile(95)), (1, 9));
        assert_eq!(Spread::default().percentile(95), 0);
    }

    #[test]
    fn a_short_log_is_one_table() {
        insta::assert_snapshot!(render(&log(&two_turns()), 15));
    }

    #[test]
    fn a_long_log_is_two_rankings_with_its_damage_named() {
        let text = two_turns();
        insta::assert_snapshot!(render(&log(&text[..text.len() - 60]), 2));
    }

    #[test]
    fn an_empty_log_is_a_heading() {
        insta::assert_snapshot!(render(&log(""), 5), @r"
        0 messages over 0 µs, between 0 actors on 0 edges
        note: the log is empty
        ");
    }
}
