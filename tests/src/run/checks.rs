//! What holds after every run.

use super::builder::Checks;
use super::{CREDENTIAL, Run};

/// Panics where something a run must leave behind is not so.
#[track_caller]
pub(super) fn after(run: &Run, checks: Checks) {
    if checks.violations
        && let Some(gateway) = &run.gateway
    {
        let violations = gateway.violations();
        assert!(
            violations.is_empty(),
            "the strict gateway refused requests:\n{}\n{}",
            violations.join("\n"),
            run.describe()
        );
    }
    if checks.rules {
        assert_eq!(
            run.lines.len(),
            run.stdout.lines().count(),
            "a line of the stream is no JSON\n{}",
            run.describe()
        );
        if !run.stdout.is_empty() {
            rules(run);
        }
    }
    for (place, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        assert!(!text.contains(CREDENTIAL), "the credential is on {place}");
    }
    let journal = String::from_utf8_lossy(&run.journal()).into_owned();
    assert!(
        !journal.contains(CREDENTIAL),
        "the credential is in the journal"
    );
    if checks.census {
        assert!(
            run.left.is_empty(),
            "processes outlived the run: {:?}\n{}",
            run.left,
            run.describe()
        );
    }
}

#[track_caller]
fn rules(run: &Run) {
    let first = &run.lines[0];
    assert_eq!(first["type"], "session_started", "{}", run.describe());
    for (place, line) in run.lines.iter().enumerate() {
        assert_eq!(line["seq"], place, "{}", run.describe());
    }
    assert_eq!(run.last()["type"], "session_ended", "{}", run.describe());
    assert_eq!(
        run.last()["exitCode"].as_i64(),
        run.code.map(i64::from),
        "the last line and the process disagree\n{}",
        run.describe()
    );
}
