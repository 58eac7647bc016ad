//! Who waited for whom, and who waited for a slot: a run's waits, the longest first.

use std::cmp::Reverse;
use std::fmt::Write as _;

use record::analysis::{Analysis, Life, Span};
use record::event::AgentState;

use crate::page::{columns, duration, plural};

/// Names of those waited for that are written out.
const NAMED: usize = 3;

/// A wait for others.
struct Wait<'a> {
    waiter: &'a Life,
    span: &'a Span,
    /// From its end to the slot it then had.
    resumed_ms: u64,
}

/// The page, `top` rows a ranking.
pub(crate) fn render(analysis: &Analysis, top: usize) -> String {
    let lives: Vec<Life> = analysis.lives.agents().collect();
    let timing = &analysis.lives;
    let spent = |state| lives.iter().map(|life| life.spent_ms(state)).sum::<u64>();
    let mut text = format!(
        "{} over {}, at most {} at once{}\n",
        plural(lives.len() as u64, "agent"),
        time(timing.makespan_ms()),
        timing.peak_parallel(),
        timing
            .cap()
            .map_or_else(String::new, |cap| format!(" of {cap}")),
    );
    writeln!(
        text,
        "All of them together: running {}, queued for a slot {}, waiting for others {}{}",
        time(spent(AgentState::Running)),
        time(spent(AgentState::Queued)),
        time(spent(AgentState::Blocked)),
        timing.utilisation().map_or_else(String::new, |share| {
            format!("; {:.1}% of the cap used", share * 100.0)
        }),
    )
    .expect("a string takes any text");

    let mut waits: Vec<Wait<'_>> = lives.iter().flat_map(waits).collect();
    waits.sort_by_key(|wait| (Reverse(wait.span.length_ms()), wait.span.from_ms));
    if !waits.is_empty() {
        text.push_str(&title("Waits for others", waits.len(), top));
        let mut rows = vec![cells([
            "agent",
            "waited for",
            "from",
            "waited",
            "then queued",
        ])];
        rows.extend(waits.iter().take(top).map(|wait| {
            cells([
                wait.waiter.id.as_str(),
                &whom(wait.span),
                &time(wait.span.from_ms),
                &time(wait.span.length_ms()),
                &time(wait.resumed_ms),
            ])
        }));
        text.push_str(&columns(&rows, &[2, 3, 4]));
    }

    let mut queued: Vec<&Life> = lives
        .iter()
        .filter(|life| life.spent_ms(AgentState::Queued) > 0)
        .collect();
    queued.sort_by_key(|life| {
        (
            Reverse(life.spent_ms(AgentState::Queued)),
            life.spawned_ms(),
        )
    });
    if !queued.is_empty() {
        text.push_str(&title("Agents that queued for a slot", queued.len(), top));
        let mut rows = vec![cells([
            "agent", "profile", "started", "queued", "ran", "waited",
        ])];
        rows.extend(queued.iter().take(top).map(|life| {
            cells([
                life.id.as_str(),
                life.profile.as_ref().map_or("", |slug| slug.as_str()),
                &time(life.spawned_ms()),
                &time(life.spent_ms(AgentState::Queued)),
                &time(life.spent_ms(AgentState::Running)),
                &time(life.spent_ms(AgentState::Blocked)),
            ])
        }));
        text.push_str(&columns(&rows, &[2, 3, 4, 5]));
    }
    text
}

fn waits(life: &Life) -> impl Iterator<Item = Wait<'_>> {
    let spans = life.spans.iter().enumerate();
    let blocked = spans.filter(|(_, span)| span.state == AgentState::Blocked);
    blocked.map(|(place, span)| {
        let next = life.spans.get(place + 1);
        let queued = next.filter(|next| next.state == AgentState::Queued);
        Wait {
            waiter: life,
            span,
            resumed_ms: queued.map_or(0, Span::length_ms),
        }
    })
}

fn whom(span: &Span) -> String {
    let agents = span.waits_for.iter().map(ToString::to_string);
    let issues = span.issues.iter().map(|issue| format!("issue {issue}"));
    let awaited: Vec<_> = agents.chain(issues).collect();
    let names = awaited[..awaited.len().min(NAMED)].join(", ");
    match awaited.len() {
        0 => "-".to_owned(),
        all if all > NAMED => format!("{names} and {} more", all - NAMED),
        _ => names,
    }
}

fn title(what: &str, count: usize, top: usize) -> String {
    if count > top {
        format!("\n{what}: the {top} longest of {count}\n")
    } else {
        format!("\n{what}\n")
    }
}

fn time(ms: u64) -> String {
    duration(ms as f64)
}

fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::gantt::tests::fan;
    use super::*;

    #[test]
    fn the_waits_of_a_fan_read_as_reviewed() {
        insta::assert_snapshot!(render(&fan(5, 2), 3));
    }

    #[test]
    fn who_waits_for_an_issue_stands_beside_those_the_board_started() {
        let stream = crate::show::board::tests::stream();
        insta::assert_snapshot!(render(&Analysis::read(stream.as_bytes()).unwrap(), 3));
    }

    #[test]
    fn a_run_of_nobody_is_a_heading() {
        let page = render(&Analysis::default(), 3);
        assert_eq!(page.lines().count(), 2, "{page}");
    }
}
