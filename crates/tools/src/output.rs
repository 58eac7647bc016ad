//! The output policy: what of a command's output a model reads (04 §4).
//!
//! Under `offload` the tail that satisfies both ceilings, and where that is not all, a note that
//! names the two files and what they hold. Under `inline`, and wherever the files cannot be had,
//! the tail under the byte cap alone. 16,384 bytes stand behind every mode.

use std::borrow::Cow;

use vocab::tools::{ShellMode, ShellPolicy};

use crate::shell::capture::{BYTE_CAP, Capture, Source};
use crate::shell::lines::{Lines, Long};
use crate::shell::spool::Spool;
use crate::text;

/// The output as shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The text, its note included; empty where the command wrote nothing.
    pub(crate) text: String,
    /// Whether some of the output is not in it.
    pub(crate) truncated: bool,
}

/// Whether a policy keeps the streams on disk.
pub(crate) fn offloads(policy: Option<ShellPolicy>) -> bool {
    policy.is_some_and(|policy| policy.mode == ShellMode::Offload)
}

/// Applies a policy to what was captured. Without one, the byte cap alone counts.
pub(crate) fn shown(policy: Option<ShellPolicy>, capture: &Capture) -> Shown {
    let all = capture.merged().text();
    let mut start = 0;
    if let (Some(policy), Some(Ok(_))) = (policy, capture.disk()) {
        start =
            text::last_lines(all, policy.max_lines).max(text::last_chars(all, policy.max_chars));
    }
    let by_bytes = text::ceil(all, all.len().saturating_sub(BYTE_CAP));
    let capped = by_bytes > start;
    start = start.max(by_bytes);
    let tail = &all[start..];
    let truncated = start > 0 || capture.merged().dropped();

    let mut notes = Vec::new();
    if truncated {
        let mut note = format!("[Output truncated: last {} lines", text::lines(tail));
        if capped {
            note += &format!(", capped at {BYTE_CAP} bytes");
        }
        notes.push(note + "]");
    }
    match capture.disk() {
        Some(Ok(pair)) if truncated => {
            for (name, source) in [("stdout", Source::Stdout), ("stderr", Source::Stderr)] {
                notes.push(file(name, pair.spool(source), capture.lines(source)));
            }
        }
        Some(Err(reason)) => notes.push(format!("[Output is not kept on disk: {reason}]")),
        _ => {}
    }
    let mut text = tail.to_owned();
    if !notes.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text += &notes.join("\n");
    }
    Shown { text, truncated }
}

/// The rows of a note about one file.
fn file(name: &str, spool: &Spool, lines: &Lines) -> String {
    let capped = match spool.capped() {
        Some((kept, came)) => Cow::Owned(format!(" (the first {kept} of {came} bytes)")),
        None => Cow::Borrowed(""),
    };
    let path = spool.path().display();
    let mut rows = format!("{name}: {path}{capped}\n  {} lines", lines.count());
    if lines.count() > 0 {
        let [p50, p95, p99] = [50, 95, 99].map(|percent| lines.percentile(percent));
        rows += &format!("; line length p50 {p50}, p95 {p95}, p99 {p99}\n  longest lines: ");
        for (at, Long { chars, line }) in lines.longest().iter().enumerate() {
            // The unit stands once, with the first.
            rows += &match at {
                0 => format!("{chars} chars @ {line}"),
                _ => format!(", {chars} @ {line}"),
            };
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::spool::Pair;

    const OFFLOAD: ShellPolicy = ShellPolicy {
        mode: ShellMode::Offload,
        max_lines: 3,
        max_chars: 40,
    };
    const INLINE: ShellPolicy = ShellPolicy {
        mode: ShellMode::Inline,
        ..OFFLOAD
    };

    /// The output of a command that wrote these, with the folder of its files named `DIR` and its
    /// files `CMD`.
    fn check(policy: Option<ShellPolicy>, cap: u64, wrote: &[(Source, &str)]) -> Shown {
        let folder = tempfile::tempdir().unwrap();
        let disk = offloads(policy).then(|| Pair::create(folder.path(), cap));
        let stem = match &disk {
            Some(Ok(pair)) => pair.spool(Source::Stdout).path().with_extension(""),
            _ => "/nowhere".into(),
        };
        let mut capture = Capture::new(disk);
        for (source, text) in wrote {
            capture.take(*source, text.as_bytes());
        }
        capture.finish();
        let mut shown = shown(policy, &capture);
        shown.text = shown.text.replace(stem.to_str().unwrap(), "CMD");
        shown
    }

    fn offloaded(text: &str) -> Shown {
        check(Some(OFFLOAD), 100_000, &[(Source::Stdout, text)])
    }

    #[test]
    fn output_that_fits_has_no_note() {
        for text in ["", "a", "a\nb\nc\n", &"x".repeat(40)] {
            assert_eq!(
                offloaded(text),
                Shown {
                    text: text.to_owned(),
                    truncated: false
                }
            );
        }
    }

    #[test]
    fn the_tighter_ceiling_wins_and_the_note_tells_what_the_files_hold() {
        let wrote = [
            (Source::Stdout, "one\ntwo\n"),
            (Source::Stderr, "漢漢\n"),
            (Source::Stdout, "three"),
        ];
        assert_eq!(
            check(Some(OFFLOAD), 100_000, &wrote).text,
            "two\n漢漢\nthree\n[Output truncated: last 3 lines]\n\
             stdout: CMD.stdout\n  3 lines; line length p50 3, p95 5, p99 5\n  \
             longest lines: 5 chars @ 3, 3 @ 1, 3 @ 2\n\
             stderr: CMD.stderr\n  1 lines; line length p50 2, p95 2, p99 2\n  \
             longest lines: 2 chars @ 1"
        );
        assert_eq!(
            offloaded(&format!("{}\n", "漢".repeat(60))).text,
            format!(
                "{}\n[Output truncated: last 1 lines]\n\
                 stdout: CMD.stdout\n  1 lines; line length p50 60, p95 60, p99 60\n  \
                 longest lines: 60 chars @ 1\nstderr: CMD.stderr\n  0 lines",
                "漢".repeat(39)
            )
        );
    }

    #[test]
    fn the_byte_cap_stands_behind_both_modes() {
        let text = "漢".repeat(10_000);
        let kept = "漢".repeat(BYTE_CAP / 3);
        let policy = ShellPolicy {
            max_chars: 100_000,
            ..OFFLOAD
        };
        let shown = check(Some(policy), 1 << 20, &[(Source::Stdout, &text)]);
        let (tail, note) = shown.text.split_once('\n').unwrap();
        assert_eq!(tail, kept);
        assert!(
            note.starts_with("[Output truncated: last 1 lines, capped at 16384 bytes]\nstdout: ")
        );
        for policy in [Some(INLINE), None] {
            assert_eq!(
                check(policy, 0, &[(Source::Stdout, &text)]).text,
                format!("{kept}\n[Output truncated: last 1 lines, capped at 16384 bytes]")
            );
        }
    }

    #[test]
    fn inline_output_knows_no_ceilings() {
        let text = "line\n".repeat(1_000);
        let shown = check(Some(INLINE), 0, &[(Source::Stdout, &text)]);
        assert_eq!(
            shown,
            Shown {
                text,
                truncated: false
            }
        );
    }

    #[test]
    fn ceilings_inside_the_byte_cap_do_not_mention_it() {
        let shown = offloaded(&"line\n".repeat(100_000));
        assert!(
            shown
                .text
                .starts_with("line\nline\nline\n[Output truncated: last 3 lines]\n")
        );
    }

    #[test]
    fn a_capped_file_says_what_it_holds() {
        let shown = check(
            Some(OFFLOAD),
            10,
            &[(Source::Stdout, &"line\n".repeat(100))],
        );
        assert!(
            shown
                .text
                .contains("\nstdout: CMD.stdout (the first 10 of 500 bytes)\n  100 lines;")
        );
    }

    #[test]
    fn files_that_cannot_be_written_mean_inline_and_the_reason() {
        let mut capture = Capture::new(Some(Err("cannot write /x: No space".to_owned())));
        let text = "line\n".repeat(100);
        capture.take(Source::Stdout, text.as_bytes());
        capture.finish();
        assert_eq!(
            shown(Some(OFFLOAD), &capture).text,
            format!("{text}[Output is not kept on disk: cannot write /x: No space]")
        );
    }
}
