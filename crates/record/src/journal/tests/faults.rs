//! What stops capture, and that nothing else stops with it.

use std::sync::mpsc;

use proptest::prelude::*;

use super::*;

fn run_into(disk: &Disk, turns: u32) -> Journal {
    let mut journal = journal(disk);
    journal.agent(agent_row());
    for number in 1..=turns {
        turn(&mut journal, number);
    }
    journal
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// F103: the run goes on, the file stays readable up to its last whole line.
    #[test]
    fn a_full_disk_stops_capture_and_leaves_a_readable_file(room in 0usize..9000) {
        let whole = good(4);
        let disk = Disk::with_room(room);
        let report = run_into(&disk, 4).finish();
        let bytes = disk.bytes();
        prop_assert_eq!(bytes.len() as u64, report.bytes);
        prop_assert!(bytes.is_empty() || bytes.ends_with(b"\n"));
        let replay = read(&bytes).unwrap();
        prop_assert_eq!(replay.entries.len() as u64, report.entries);
        if room < whole.len() - 200 {
            prop_assert_eq!(report.stopped.as_deref(), Some("write_failed"));
            prop_assert!(replay.is_partial());
        }
    }

    #[test]
    fn a_ceiling_stops_capture_and_is_never_passed(ceiling in 0u64..9000) {
        let disk = Disk::default();
        let mut journal = Journal::start_with(Box::new(disk.clone()), ceiling, header(), Mask::default());
        for number in 1..=4 {
            turn(&mut journal, number);
        }
        let report = journal.finish();
        let bytes = disk.bytes();
        prop_assert!(bytes.len() as u64 <= ceiling);
        let replay = read(&bytes).unwrap();
        prop_assert_eq!(replay.entries.len() as u64, report.entries);
        if let Some(why) = report.stopped {
            prop_assert_eq!(why.as_str(), "byte_ceiling");
            let stopped = replay.stopped.unwrap();
            if bytes.is_empty() {
                prop_assert_eq!(stopped.reason, StopReason::SessionKilled);
            } else {
                prop_assert_eq!(stopped.reason, StopReason::ByteCeiling);
            }
        }
    }
}

#[test]
fn when_space_returns_the_file_says_why_it_stopped() {
    let disk = Disk::with_room(3000);
    let journal = run_into(&disk, 10);
    while journal.stopped().is_none() {
        std::thread::yield_now();
    }
    assert!(
        journal
            .stopped_because()
            .unwrap()
            .contains("no storage space")
    );
    disk.make_room();
    let report = journal.finish();
    assert_eq!(report.stopped.as_deref(), Some("write_failed"));
    let replay = read(&disk.bytes()).unwrap();
    let stopped = replay.stopped.unwrap();
    assert_eq!(stopped.reason, StopReason::WriteFailed);
    assert!(stopped.detail.contains("no storage space"), "{stopped}");
    assert_eq!(replay.entries.len() as u64, report.entries);
}

#[test]
fn a_torn_end_that_cannot_be_cut_is_told() {
    let disk = Disk::with_room(3000);
    disk.0.lock().unwrap().cannot_cut = true;
    let report = run_into(&disk, 10).finish();
    assert!(report.detail.unwrap().contains("torn end stays"));
    let stopped = read(&disk.bytes()).unwrap().stopped.unwrap();
    assert_eq!(stopped.reason, StopReason::CorruptJournal);
}

#[test]
fn a_journal_that_cannot_be_opened_is_a_stopped_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let path = file.join("replay.ndjson");
    let mut journal = Journal::start(&path, ROOM, header(), Mask::default());
    assert_eq!(journal.stopped().as_deref(), Some("write_failed"));
    turn(&mut journal, 1);
    let report = journal.finish();
    assert_eq!((report.bytes, report.entries), (0, 0));
    assert!(report.detail.unwrap().contains("cannot be opened"));
}

#[test]
fn a_journal_makes_its_folder_and_replaces_an_older_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".gg/replay.ndjson");
    for turns in [3, 1] {
        let mut journal = Journal::start(&path, ROOM, header(), Mask::default());
        for number in 1..=turns {
            turn(&mut journal, number);
        }
        let report = journal.finish();
        let replay = read(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(replay.stopped, None);
        assert_eq!(replay.entries.len(), turns as usize * TURN_ENTRIES);
        assert_eq!(report.bytes, std::fs::metadata(&path).unwrap().len());
    }
}

/// A sink that takes nothing before it is let.
struct Gate(mpsc::Receiver<()>, Disk);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Later writes find the sender gone and pass.
        let _ = self.0.recv();
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Gate {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.1.cut(length)
    }
}

#[test]
fn a_queue_that_overruns_stops_capture_and_never_the_run() {
    let (open, gate) = mpsc::channel::<()>();
    let disk = Disk::default();
    let mut journal = Journal::start_with(
        Box::new(Gate(gate, disk.clone())),
        ROOM,
        header(),
        Mask::default(),
    );
    for _ in 0..2 * QUEUE_BATCHES {
        journal.entry(None, Entry::CancelProbe { found: false });
    }
    assert_eq!(journal.stopped().as_deref(), Some("write_failed"));
    drop(open);
    let report = journal.finish();
    let replay = read(&disk.bytes()).unwrap();
    assert_eq!(replay.entries.len() as u64, report.entries);
    assert_eq!(
        report.entries, QUEUE_BATCHES as u64,
        "what was accepted is written"
    );
    assert_eq!(replay.stopped.unwrap().reason, StopReason::WriteFailed);
}

#[test]
fn what_is_told_in_one_batch_takes_one_place_of_the_queue() {
    let (open, gate) = mpsc::channel::<()>();
    let disk = Disk::default();
    let mut journal = Journal::start_with(
        Box::new(Gate(gate, disk.clone())),
        ROOM,
        header(),
        Mask::default(),
    );
    for _ in 0..8 {
        journal.batch(|journal| {
            for _ in 0..QUEUE_BATCHES {
                journal.entry(None, Entry::CancelProbe { found: false });
            }
        });
    }
    assert_eq!(journal.stopped(), None);
    drop(open);
    let report = journal.finish();
    assert_eq!(report.stopped, None);
    assert_eq!(report.entries, 8 * QUEUE_BATCHES as u64);
    let replay = read(&disk.bytes()).unwrap();
    assert_eq!(replay.entries.len() as u64, report.entries);
}

#[test]
fn a_delta_on_more_than_there_was_stops_capture() {
    let disk = Disk::default();
    let mut journal = journal(&disk);
    turn(&mut journal, 1);
    turn(&mut journal, 3);
    let report = journal.finish();
    assert_eq!(report.stopped.as_deref(), Some("write_failed"));
    assert!(report.detail.unwrap().contains("keeps 4 rows"));
    let replay = read(&disk.bytes()).unwrap();
    assert_eq!(replay.entries.len(), TURN_ENTRIES + 2);
}
