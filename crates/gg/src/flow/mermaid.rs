//! A window of a run as a Mermaid sequence diagram, repetition folded into loops.
//!
//! Mermaid gives up on diagrams of thousands of arrows, so the diagram shows a window of messages
//! in the order of handling and a note says what stands outside it. Inside a loop an arrow carries
//! the name alone, since its times differ from round to round; so does a repeated message.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::duration;
use super::fold::{Step, fold};
use super::log::{FlowLog, Message};
use crate::page::plural;

/// The diagram of `limit` messages after the first `skip`.
pub(crate) fn render(log: &FlowLog, skip: usize, limit: usize) -> String {
    let total = log.messages.len();
    let first = skip.min(total);
    let last = first.saturating_add(limit).min(total);
    let shown = &log.messages[first..last];
    let actors = log.actors(shown);

    let mut text = String::from("sequenceDiagram\n");
    for remark in &log.remarks {
        writeln!(text, "  %% {}", remark.replace(['\n', '\r'], " "))
            .expect("a string takes any text");
    }
    for (place, actor) in actors.iter().enumerate() {
        writeln!(
            text,
            "  participant p{place} as {}",
            label(log.name(*actor))
        )
        .expect("a string takes any text");
    }
    let diagram = Diagram {
        log,
        places: actors
            .iter()
            .enumerate()
            .map(|(place, actor)| (*actor, place))
            .collect(),
        last_place: actors.len().saturating_sub(1),
    };
    if first > 0 {
        diagram.note(
            &mut text,
            &format!("{} before this", plural(first as u64, "message")),
        );
    }
    diagram.steps(&mut text, &fold(&arrows(shown)), &mut shown.iter(), 1);
    if last < total {
        let later = plural((total - last) as u64, "later message");
        diagram.note(
            &mut text,
            &format!("{later} left out: --skip {last} shows the next"),
        );
    }
    if shown.is_empty() {
        writeln!(text, "  %% no message in this window").expect("a string takes any text");
    }
    text
}

/// What makes two messages the same arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arrow {
    from: u32,
    to: u32,
    kind: u32,
}

fn arrows(messages: &[Message]) -> Vec<Arrow> {
    messages
        .iter()
        .map(|m| Arrow {
            from: m.from,
            to: m.to,
            kind: m.kind,
        })
        .collect()
}

struct Diagram<'a> {
    log: &'a FlowLog,
    places: HashMap<u32, usize>,
    last_place: usize,
}

impl Diagram<'_> {
    fn note(&self, text: &mut String, note: &str) {
        match self.places.len() {
            0 => writeln!(text, "  %% {note}"),
            1 => writeln!(text, "  Note over p0: {}", label(note)),
            _ => writeln!(text, "  Note over p0,p{}: {}", self.last_place, label(note)),
        }
        .expect("a string takes any text");
    }

    /// `messages` are those the steps stand for; a loop takes all of its rounds' at once.
    fn steps(
        &self,
        text: &mut String,
        steps: &[Step<Arrow>],
        messages: &mut std::slice::Iter<'_, Message>,
        depth: usize,
    ) {
        for step in steps {
            match step {
                Step::One(arrow) => {
                    let handled = messages
                        .next()
                        .map(|m| format!(" ({})", duration(m.handled_us)))
                        .unwrap_or_default();
                    self.arrow(text, arrow, &handled, depth);
                }
                Step::Loop { times, body } => {
                    let of_loop = times * length(body);
                    for _ in 0..of_loop {
                        messages.next();
                    }
                    let indent = "  ".repeat(depth);
                    match body.as_slice() {
                        [Step::One(arrow)] => self.arrow(text, arrow, &format!(" ×{times}"), depth),
                        body => {
                            writeln!(text, "{indent}loop {times} times")
                                .expect("a string takes any text");
                            self.steps(text, body, &mut [].iter(), depth + 1);
                            writeln!(text, "{indent}end").expect("a string takes any text");
                        }
                    }
                }
            }
        }
    }

    fn arrow(&self, text: &mut String, arrow: &Arrow, suffix: &str, depth: usize) {
        let place = |actor| self.places.get(&actor).copied().unwrap_or(0);
        writeln!(
            text,
            "{}p{}->>p{}: {}{suffix}",
            "  ".repeat(depth),
            place(arrow.from),
            place(arrow.to),
            label(self.log.name(arrow.kind)),
        )
        .expect("a string takes any text");
    }
}

fn length<T>(steps: &[Step<T>]) -> usize {
    steps
        .iter()
        .map(|step| match step {
            Step::One(_) => 1,
            Step::Loop { times, body } => times * length(body),
        })
        .sum()
}

/// A text that Mermaid takes as words: its own signs as entities, no line breaks.
fn label(text: &str) -> String {
    let mut label = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '#' | ';' | '<' | '>' | '%' | '"' => {
                write!(label, "#{};", c as u32).expect("a string takes any text");
            }
            c if c.is_control() => label.push(' '),
            c => label.push(c),
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use super::super::log::tests::{line, log, two_turns};
    use super::*;

    #[test]
    fn turns_fold_into_a_loop() {
        insta::assert_snapshot!(render(&log(&two_turns()), 0, 200));
    }

    #[test]
    fn a_window_says_what_stands_outside_it() {
        insta::assert_snapshot!(render(&log(&two_turns()), 3, 2));
    }

    #[test]
    fn a_window_past_the_end_is_a_diagram_without_arrows() {
        insta::assert_snapshot!(render(&log(&two_turns()), 99, 10));
    }

    #[test]
    fn names_with_mermaids_own_signs_stay_words() {
        let text = line(0, 0, "Agent a#1", "b;c", "M<T>");
        let diagram = render(&log(&text), 0, 10);
        assert!(
            diagram.contains("participant p0 as Agent a#35;1\n"),
            "{diagram}"
        );
        assert!(
            diagram.contains("p0->>p1: M#60;T#62; (100 µs)\n"),
            "{diagram}"
        );
    }
}
