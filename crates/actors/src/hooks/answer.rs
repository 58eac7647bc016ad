//! What a hook's run says: an exit and an output become an answer (01 §8.2, §8.3).
//!
//! Always true: of a script only a clean exit and a whole decision on the last line that is not
//! blank count; everything else has judged nothing.

use serde::Deserialize;
use tools::shell::{End, LastLine, Outcome};

/// What a hook said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing stands in the way.
    Continue,
    /// What it was asked about must not happen, for this reason.
    Block(String),
    /// The model is to read this.
    Message(String),
    /// It judged nothing, for this reason.
    Failed(String),
    /// The run's stop ended it.
    Stopped,
}

/// A decision as a script prints it.
#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
enum Decision {
    Continue {},
    Block { reason: String },
    Message { message: String },
}

/// What a command says: exit 0 passes its output on, any other code of its own blocks.
pub(super) fn of_command(outcome: &Outcome) -> Answer {
    match unfinished(outcome) {
        Some(answer) => answer,
        None if outcome.exit_code == 0 => message(outcome.output.trim_end()),
        None => {
            let code = outcome.exit_code;
            Answer::Block(match outcome.output.trim_end() {
                "" => format!("exit code {code}"),
                output => format!("exit code {code}\n{output}"),
            })
        }
    }
}

/// What a script says.
pub(super) fn of_script(outcome: &Outcome) -> Answer {
    match unfinished(outcome) {
        Some(answer) => answer,
        None if outcome.exit_code == 0 => decision(&outcome.last_line),
        None => Answer::Failed(format!("it exited with code {}", outcome.exit_code)),
    }
}

/// The answer of a run that came to no exit of its own.
fn unfinished(outcome: &Outcome) -> Option<Answer> {
    Some(match &outcome.end {
        End::Exited if outcome.exit_code < 0 => Answer::Failed("a signal ended it".to_owned()),
        End::Exited => return None,
        End::TimedOut { clock: true, .. } | End::Stopped => Answer::Stopped,
        End::TimedOut {
            after,
            clock: false,
        } => Answer::Failed(format!("it was killed after {} s", after.as_secs_f64())),
        End::NotStarted { why } => Answer::Failed(format!("it could not start: {why}")),
    })
}

fn decision(line: &LastLine) -> Answer {
    let line = match line {
        LastLine::Line(line) => line,
        LastLine::Nothing => return Answer::Failed("it printed no decision".to_owned()),
        LastLine::TooLong => {
            return Answer::Failed("the last line it printed is too long to be read".to_owned());
        }
    };
    match serde_json::from_str(line) {
        Ok(Decision::Continue {}) => Answer::Continue,
        Ok(Decision::Block { reason }) if reason.trim().is_empty() => {
            Answer::Block("no reason was given".to_owned())
        }
        Ok(Decision::Block { reason }) => Answer::Block(reason),
        Ok(Decision::Message { message: text }) => message(&text),
        Err(error) => Answer::Failed(format!("its last line is no decision: {error}")),
    }
}

/// A message; one that says nothing is none.
fn message(text: &str) -> Answer {
    if text.trim().is_empty() {
        Answer::Continue
    } else {
        Answer::Message(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use tools::shell::Record;

    use super::*;

    fn outcome(end: End, exit_code: i32, output: &str) -> Outcome {
        let last = output.lines().rfind(|line| !line.trim().is_empty());
        Outcome {
            end,
            exit_code,
            output: output.to_owned(),
            truncated: false,
            last_line: last.map_or(LastLine::Nothing, |line| LastLine::Line(line.to_owned())),
            record: Record {
                command: "x".into(),
                cwd: ".".to_owned(),
                exit_code,
                stdout: String::new(),
                stderr: String::new(),
                stdout_dropped: 0,
                stderr_dropped: 0,
            },
        }
    }

    fn command(exit_code: i32, output: &str) -> Answer {
        of_command(&outcome(End::Exited, exit_code, output))
    }

    fn script(exit_code: i32, output: &str) -> Answer {
        of_script(&outcome(End::Exited, exit_code, output))
    }

    fn failed(answer: Answer) -> String {
        match answer {
            Answer::Failed(why) => why,
            other => panic!("{other:?} is a judgement"),
        }
    }

    #[test]
    fn a_command_passes_its_output_on_or_blocks_with_it() {
        assert_eq!(command(0, ""), Answer::Continue);
        assert_eq!(command(0, " \n"), Answer::Continue);
        assert_eq!(command(0, "a\nb\n"), Answer::Message("a\nb".into()));
        assert_eq!(command(1, ""), Answer::Block("exit code 1".into()));
        assert_eq!(
            command(127, "x\n"),
            Answer::Block("exit code 127\nx".into())
        );
    }

    #[test]
    fn a_run_without_an_exit_of_its_own_judged_nothing() {
        let verdict = r#"{"action":"continue"}"#;
        let after = Duration::from_millis(1500);
        for judge in [of_command, of_script] {
            let of = |end, code| judge(&outcome(end, code, verdict));
            assert_eq!(failed(of(End::Exited, -1)), "a signal ended it");
            let late = End::TimedOut {
                after,
                clock: false,
            };
            assert_eq!(failed(of(late, -1)), "it was killed after 1.5 s");
            let why = "no".to_owned();
            assert!(failed(of(End::NotStarted { why }, -1)).contains("could not start: no"));
            assert_eq!(of(End::Stopped, -1), Answer::Stopped);
            let clock = End::TimedOut { after, clock: true };
            assert_eq!(of(clock, -1), Answer::Stopped);
        }
    }

    #[test]
    fn a_script_s_last_line_is_its_word() {
        let go = r#"{"action":"continue"}"#;
        assert_eq!(script(0, go), Answer::Continue);
        assert_eq!(
            script(
                0,
                &format!("{go}\nnoise {{\n{{\"action\":\"block\",\"reason\":\"no\"}}\n\n")
            ),
            Answer::Block("no".into())
        );
        assert_eq!(
            script(0, r#" {"action":"message","message":"hi","more":1} "#),
            Answer::Message("hi".into())
        );
        assert_eq!(
            script(0, r#"{"action":"message","message":" "}"#),
            Answer::Continue
        );
        assert!(matches!(
            script(0, r#"{"action":"block","reason":""}"#),
            Answer::Block(reason) if !reason.is_empty()
        ));
    }

    #[test]
    fn everything_else_a_script_does_is_a_failure() {
        assert_eq!(
            failed(script(1, r#"{"action":"continue"}"#)),
            "it exited with code 1"
        );
        assert_eq!(failed(script(0, "\n")), "it printed no decision");
        for junk in [
            "ok",
            "{}",
            "[]",
            "null",
            r#""continue""#,
            r#"{"action":"Continue"}"#,
            r#"{"action":"approve"}"#,
            r#"{"action":null}"#,
            r#"{"action":"block"}"#,
            r#"{"action":"block","reason":3}"#,
            r#"{"action":"message"}"#,
            r#"{"action":"block","action":"continue","reason":"x"}"#,
            r#"{"action":"continue"} {"action":"continue"}"#,
            "{\"action\":\"continue\"}\nbye",
            r#"{"action":"continue""#,
        ] {
            assert!(
                failed(script(0, junk)).starts_with("its last line is no decision"),
                "{junk}"
            );
        }
        let long = Outcome {
            last_line: LastLine::TooLong,
            ..outcome(End::Exited, 0, "")
        };
        assert!(failed(of_script(&long)).contains("too long"));
    }

    proptest! {
        /// No text approves but an object whose `action` says so.
        #[test]
        fn junk_never_approves(text in "\\PC{0,60}") {
            let answer = script(0, &text);
            prop_assert!(matches!(answer, Answer::Failed(_)), "{:?}", answer);
        }

        /// What stands before the last line has no part in the answer, and no exit code but 0 has
        /// an answer in it.
        #[test]
        fn only_the_last_line_of_a_clean_exit_counts(
            before in prop::collection::vec("[^\n]{0,30}", 0..5),
            code in -200_i32..200,
        ) {
            let mut lines = before.clone();
            lines.push(r#"{"action":"block","reason":"no"}"#.to_owned());
            let output = lines.join("\n");
            let answer = script(code, &output);
            if code == 0 {
                prop_assert_eq!(answer, Answer::Block("no".to_owned()));
            } else {
                prop_assert!(matches!(answer, Answer::Failed(_)));
            }
        }
    }
}
