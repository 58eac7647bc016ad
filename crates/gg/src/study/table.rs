//! A study as a table: one row a variation, medians over its repeats.

use std::fmt::Write as _;
use vocab::figures::grouped;

use serde_json::Value;

use super::combine::{Combination, Spread};
use super::knee::Knee;
use super::plan::{Variable, short, shown};
use crate::page::{columns, glimpse, plural};

/// Characters of a value before it is cut.
const GLIMPSE: usize = 40;

/// The table, with what a reader has to know of it below.
pub(crate) fn render(
    variables: &[Variable],
    combinations: &[Combination],
    knees: &[Knee],
) -> String {
    let varied = variables.len();
    let mut heading: Vec<String> = (0..varied).map(|at| short(variables, at)).collect();
    heading.extend(
        [
            "runs",
            "makespan",
            "utilisation",
            "peak",
            "queued",
            "waiting",
            "active",
            "calls",
            "in",
            "out",
            "cost",
            "agents ended",
        ]
        .map(str::to_owned),
    );
    let mut rows = vec![heading];
    rows.extend(combinations.iter().map(row));
    let figures: Vec<usize> = (varied..varied + 11).collect();
    let mut text = columns(&rows, &figures);
    text.push_str(
        "\nMedians over the runs of a row, least and most in brackets. Queued, waiting and active \
         are sums over\na run's agents; utilisation is active time over makespan × maxParallel.\n",
    );
    for knee in knees {
        let others: Vec<String> = knee
            .others
            .values()
            .enumerate()
            .map(|(at, value)| format!("{} = {}", short(variables, at + 1), self::value(value)))
            .collect();
        let with = match others.as_slice() {
            [] => String::new(),
            others => format!(", with {}", others.join(" and ")),
        };
        writeln!(
            text,
            "From {} = {} on, more shortens the makespan by less than a twentieth{with}.",
            short(variables, 0),
            value(&knee.value),
        )
        .expect("a string takes any text");
    }
    let findings: u64 = combinations.iter().map(|it| it.findings).sum();
    if findings > 0 {
        let lines = plural(findings, "line");
        writeln!(
            text,
            "{lines} of their streams break a rule: `gg verify` on a run's folder names them."
        )
        .expect("a string takes any text");
    }
    text
}

fn row(of: &Combination) -> Vec<String> {
    let mut cells: Vec<String> = of.variation.values().map(value).collect();
    let count = |spread: Option<Spread>| median(spread, |it| grouped(whole(it)));
    cells.extend([
        match of.missing {
            0 => of.runs.to_string(),
            missing => format!("{} of {}", of.runs, of.runs + missing),
        },
        spread(of.makespan_ms, duration),
        spread(of.utilisation, percent),
        count(of.peak_parallel),
        median(of.queued_ms, duration),
        median(of.waiting_ms, duration),
        median(of.active_ms, duration),
        count(of.model_calls),
        count(of.input_tokens),
        count(of.output_tokens),
        median(of.cost, dollars),
        of.endings
            .iter()
            .map(|(ending, count)| format!("{} {ending}", grouped(*count)))
            .collect::<Vec<_>>()
            .join(", "),
    ]);
    cells
}

fn value(value: &Value) -> String {
    glimpse(&shown(value), GLIMPSE)
}

fn median(spread: Option<Spread>, show: impl Fn(f64) -> String) -> String {
    spread.map_or_else(|| "-".to_owned(), |it| show(it.median))
}

/// The median, and the least and the most where they show as other figures.
fn spread(spread: Option<Spread>, show: impl Fn(f64) -> String) -> String {
    let Some(it) = spread else {
        return "-".to_owned();
    };
    let [min, median, max] = [it.min, it.median, it.max].map(show);
    if min == max {
        median
    } else {
        format!("{median} [{min}, {max}]")
    }
}

#[expect(clippy::cast_sign_loss, reason = "counts are never below zero")]
fn whole(figure: f64) -> u64 {
    figure.round() as u64
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn dollars(usd: f64) -> String {
    match usd {
        0.0 => "$0".to_owned(),
        usd if usd < 1.0 => format!("${usd:.6}"),
        usd => format!("${usd:.2}"),
    }
}

/// Milliseconds in the unit a person reads them in.
pub(crate) fn duration(ms: f64) -> String {
    if ms < 1_000.0 {
        format!("{ms:.0} ms")
    } else if ms < 600_000.0 {
        format!("{:.2} s", ms / 1e3)
    } else {
        format!("{:.1} min", ms / 6e4)
    }
}

#[cfg(test)]
mod tests {
    use super::super::combine::tests::combinations;
    use super::*;

    #[test]
    fn a_study_reads_as_reviewed() {
        let (variables, combinations) = combinations();
        insta::assert_snapshot!(render(&variables, &combinations, &[]));
    }

    #[test]
    fn times_have_the_unit_they_are_read_in() {
        let shown = [0.0, 999.0, 1_000.0, 61_500.0, 600_000.0].map(duration);
        assert_eq!(shown, ["0 ms", "999 ms", "1.00 s", "61.50 s", "10.0 min"]);
    }
}
