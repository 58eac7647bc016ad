//! `kill -9` at any moment: the journal reads up to its last complete line and agrees with the
//! stream.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use record::journal::{Replay, StopReason, agree, read};
use rustix::process::Signal;
use tests::gateway::{Answer, Request};
use tests::run::Run;

use crate::long_session::turn;

const MOMENTS: usize = 20;
const TURNS: usize = 60;

#[test]
fn a_journal_of_a_killed_run_reads_to_its_last_complete_line() {
    // A few thousand lines at most; the hasher's keys are the randomness of the standard library.
    let random = RandomState::new();
    for moment in 0..MOMENTS {
        let lines = (random.hash_one(moment) % 700) as usize;
        let running = Run::builder()
            .without_census()
            .answers(|request: &Request, _| match request.turn() {
                n if n + 1 < TURNS => turn(n),
                _ => Answer::finish("Done."),
            })
            .start();
        running.wait_for_lines(lines);
        running.signal(Signal::KILL);
        let run = running.finish();
        let journal = run.journal();
        if !journal.is_empty() {
            let replay =
                read(&journal).unwrap_or_else(|refused| panic!("after {lines} lines: {refused}"));
            reads_to_its_end(&run, &journal, &replay);
        }
        agrees(&run);
    }
}

/// Asserts that nothing but a torn last line is missing of what was read.
#[track_caller]
fn reads_to_its_end(run: &Run, journal: &[u8], replay: &Replay) {
    let Some(stopped) = &replay.stopped else {
        // The end was faster than the signal.
        let last = run.journal_lines().pop().unwrap();
        assert_eq!(last["t"], "end", "{last}");
        return;
    };
    assert!(run.signal.is_some(), "{stopped}");
    assert!(
        [StopReason::SessionKilled, StopReason::CorruptJournal].contains(&stopped.reason),
        "{stopped}"
    );
    let torn = &journal[stopped.offset.min(journal.len())..];
    assert!(
        !torn.contains(&b'\n'),
        "complete lines were not read: {stopped}"
    );
}

/// Asserts that a run's journal and stream tell of one run, each as far as it goes.
#[track_caller]
pub(crate) fn agrees(run: &Run) {
    let journal = run.journal();
    if journal.is_empty() {
        return;
    }
    let replay = read(&journal).unwrap();
    // A killed stream may end in half a line.
    let whole = run.stdout.rfind('\n').map_or("", |end| &run.stdout[..=end]);
    let disagreements: Vec<String> = agree(&replay, whole)
        .into_iter()
        .map(|one| one.message)
        .collect();
    assert!(
        disagreements.is_empty(),
        "{}\n{}",
        disagreements.join("\n"),
        run.describe()
    );
}
