//! What holds of the stream as a whole: its first line, its last lines, its hand-overs.

use super::line::Line;
use super::{Ending, Found, rule};

pub(super) fn check(lines: &[Line], ending: Ending, found: &mut Found) {
    first_line(lines, found);
    last_lines(lines, ending, found);
    transitions(lines, ending, found);
}

fn first_line(lines: &[Line], found: &mut Found) {
    for (at, line) in lines.iter().enumerate() {
        let is_start = line.kind == "session_started";
        if is_start != (at == 0) {
            found.add(
                line.number,
                rule::FIRST_LINE,
                format!("{} as line {}", line.kind, at + 1),
            );
        }
    }
    if lines.is_empty() {
        found.add(1, rule::FIRST_LINE, "the stream is empty");
    }
}

/// The place of a type among the last lines.
fn place(line: &Line) -> u8 {
    match line.kind.as_str() {
        "slot_usage" => 1,
        "session_summary" => 2,
        "session_ended" => 3,
        _ => 0,
    }
}

fn last_lines(lines: &[Line], ending: Ending, found: &mut Found) {
    let mut reached = 0;
    for line in lines {
        let place = place(line);
        // Only `slot_usage` may repeat.
        if place < reached || (place == reached && place > 1) {
            found.add(
                line.number,
                rule::LAST_LINES,
                format!("{} stands behind the stream's last lines", line.kind),
            );
        }
        if place == 3 && reached < 2 && line.text("status") != "launch_refused" {
            found.add(
                line.number,
                rule::LAST_LINES,
                "session_ended without a session_summary before it",
            );
        }
        reached = reached.max(place);
    }
    if ending == Ending::Finished
        && reached < 3
        && let Some(last) = lines.last()
    {
        found.add(
            last.number,
            rule::LAST_LINES,
            "the stream ends without session_ended",
        );
    }
}

fn transitions(lines: &[Line], ending: Ending, found: &mut Found) {
    for (at, line) in lines.iter().enumerate() {
        if line.kind != "agent_transition" {
            continue;
        }
        let newcomer = line.text("toAgentId");
        let follows = match lines.get(at + 1) {
            Some(next) => next.kind == "agent_spawned" && next.agent.as_deref() == Some(newcomer),
            None => ending == Ending::Killed,
        };
        if !follows {
            found.add(
                line.number,
                rule::TRANSITION,
                format!("the spawn of `{newcomer}` does not follow directly"),
            );
        }
    }
}
