//! A program as a person reads it: its source by line, and what became of it.

use std::fmt::Write as _;

use record::analysis::{CallFacts, ProgramRun};
use serde::Deserialize;
use vocab::figures::grouped;
use vocab::tools::SUBMIT_PROGRAM;

use crate::page::{lines, one_line, plural};

/// Lines shown of what a program printed.
const PRINTED: usize = 20;

/// The argument of a submission.
#[derive(Deserialize)]
struct Submitted {
    program: String,
}

/// The source that a call submits, where it submits one.
fn source(call: &CallFacts) -> Option<String> {
    let submits = call.name == SUBMIT_PROGRAM;
    let submitted: Option<Submitted> = serde_json::from_str(&call.arguments).ok();
    submitted.filter(|_| submits).map(|it| it.program)
}

/// A submission: its source, each line with the number that errors name it by, and its verdict,
/// where it is known. `None` for any other call.
pub(super) fn submission(call: &CallFacts, run: Option<&ProgramRun>) -> Option<String> {
    let source = source(call)?;
    let mut text = format!("-> {}\n", one_line(&call.name));
    for (number, line) in lines(source.trim_end_matches('\n')).lines().enumerate() {
        writeln!(text, "{:>4} | {line}", number + 1).expect("a string takes any text");
    }
    if let Some(run) = run {
        writeln!(text, "   = {}", verdict(run)).expect("a string takes any text");
    }
    Some(text)
}

/// What became of a submission, in one line.
fn verdict(run: &ProgramRun) -> String {
    let mut text = if run.ok { "ran" } else { "failed" }.to_owned();
    write!(
        text,
        ": {}, {} ms of its own",
        plural(run.calls, "call"),
        grouped(run.own_ms)
    )
    .expect("a string takes any text");
    if run.compile_ms > 0 {
        write!(text, ", {} ms to prepare", grouped(run.compile_ms))
            .expect("a string takes any text");
    }
    text
}

/// What became of the submissions of one turn: verdict, error, ending, what was printed. Nothing
/// where there was none.
pub(super) fn of_turn<'a>(runs: impl Iterator<Item = &'a ProgramRun>) -> String {
    let mut text = String::new();
    for run in runs {
        if text.is_empty() {
            text.push_str("\nPrograms of this turn\n");
        }
        writeln!(text, "{} {}", one_line(&run.call), verdict(run))
            .expect("a string takes any text");
        for told in run.error.iter().chain(&run.finished) {
            text.push_str(&indented(told));
        }
        for line in run.logs.iter().take(PRINTED) {
            writeln!(text, "  printed: {}", one_line(line)).expect("a string takes any text");
        }
        let more = run.logs.len().saturating_sub(PRINTED) as u64;
        let more = more.saturating_add(run.logs_suppressed);
        if more > 0 {
            writeln!(text, "  {} more printed", plural(more, "line"))
                .expect("a string takes any text");
        }
    }
    text
}

fn indented(text: &str) -> String {
    let shown = lines(text.trim_end_matches('\n'));
    shown.lines().flat_map(|line| ["  ", line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(ok: bool) -> ProgramRun {
        ProgramRun {
            agent: "root".into(),
            turn: Some(1),
            call: "call_1".to_owned(),
            ok,
            error: (!ok).then(|| "Error: no\n    at program.js:2:7".to_owned()),
            finished: ok.then(|| "Done.".to_owned()),
            calls: 3,
            own_ms: 1_204,
            compile_ms: if ok { 95 } else { 0 },
            logs: vec!["a\u{1b}[2J".to_owned(); 22],
            logs_suppressed: 5,
        }
    }

    #[test]
    fn a_program_reads_as_reviewed() {
        let call = |name: &str, arguments: &str| CallFacts {
            id: "call_1".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let program = r#"{"program":"const a = 1;\nthrow new Error(\"no\");\u001b\n"}"#;
        let submits = call(SUBMIT_PROGRAM, program);
        let page = [
            submission(&submits, Some(&run(false))).unwrap(),
            submission(&submits, None).unwrap(),
            of_turn([&run(false), &run(true)].into_iter()),
        ];
        insta::assert_snapshot!(page.join("\n"));
        assert_eq!(submission(&call("other", program), None), None);
        assert_eq!(submission(&call(SUBMIT_PROGRAM, "{}"), None), None);
        assert_eq!(of_turn(std::iter::empty()), "");
    }
}
