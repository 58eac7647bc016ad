//! What holds after every run.

use record::rules::{Ending, check_with};

use super::builder::Checks;
use super::{CREDENTIAL, Run};

/// Panics where something a run must leave behind is not so.
#[track_caller]
pub(super) fn after(run: &Run, checks: Checks) {
    if let Some(gateway) = &run.gateway {
        let violations = gateway.violations();
        assert!(
            violations.is_empty(),
            "the strict gateway refused requests:\n{}\n{}",
            violations.join("\n"),
            run.describe()
        );
    }
    if checks.rules {
        rules(run);
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

/// The rules of 06 §1, and that the last line and the process agree. A run that was refused before
/// it had a stream has none.
#[track_caller]
fn rules(run: &Run) {
    if run.stdout.is_empty() {
        return;
    }
    let ending = if run.signal.is_some() {
        Ending::Killed
    } else {
        Ending::Finished
    };
    let violations: Vec<String> = check_with(&run.stdout, ending)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        violations.is_empty(),
        "the stream breaks rules:\n{}\n{}",
        violations.join("\n"),
        run.describe()
    );
    if ending == Ending::Finished {
        assert_eq!(
            run.last()["exitCode"].as_i64(),
            run.code.map(i64::from),
            "the last line and the process disagree\n{}",
            run.describe()
        );
    }
}
