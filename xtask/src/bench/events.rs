//! Events a second through the stream writer into a file.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc;
use std::time::Instant;

use anyhow::{Result, ensure};
use record::event::{Emission, Event, Log, LogLevel};
use record::stream::Stream;
use vocab::ids::{AgentId, SessionId};

use super::median;
use super::table::Row;

const EVENTS: usize = 400_000;
/// As many as the telemetry actor hands over at once.
const BATCH: usize = 256;
/// Lines under way before the producer waits, as agents do.
const ROOM: usize = record::stream::QUEUE_LINES;

/// Small events, in batches, with the producer waiting for room; the floor writes ready lines of
/// the same length.
pub(super) fn measure(repeats: usize) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("stream.ndjson");
    let mut ours = Vec::new();
    let mut floor = Vec::new();
    for _ in 0..repeats {
        let started = Instant::now();
        write_events(&path)?;
        ours.push(EVENTS as f64 / started.elapsed().as_secs_f64());

        let line = vec![b'x'; (std::fs::metadata(&path)?.len() as usize / EVENTS).max(1)];
        let started = Instant::now();
        write_lines(&path, &line)?;
        floor.push(EVENTS as f64 / started.elapsed().as_secs_f64());
    }
    let (ours, floor) = (median(ours), median(floor));
    Ok(vec![Row {
        figure: "small events through the stream writer into a file".to_owned(),
        unit: "/s",
        gg: ours,
        floor: Some(floor),
        goal: "≥ 200,000 /s".to_owned(),
        met: Some(ours >= 200_000.0),
    }])
}

fn write_events(path: &std::path::Path) -> Result<()> {
    let (room, has_room) = mpsc::channel();
    let stream = Stream::start(
        SessionId::from("bench"),
        Box::new(File::create(path)?),
        None,
        Box::new(move || {
            // Whoever waited has gone where nobody listens.
            room.send(()).ok();
        }),
    )?;
    let agent = AgentId::from("root");
    let mut sent = 0;
    while sent < EVENTS {
        let batch: Vec<Emission> = (sent..EVENTS.min(sent + BATCH))
            .map(|n| Emission {
                at_ms: 1_700_000_000_000 + n.cast_signed() as i64 / 50,
                agent: Some(agent.clone()),
                turn: Some(n as u32 / 10),
                event: Event::Log(Log {
                    level: LogLevel::Info,
                    message: "a small event, as most of them are".to_owned(),
                    code: None,
                }),
            })
            .collect();
        sent += batch.len();
        stream.send(batch);
        while stream.backlog() > ROOM {
            has_room.recv()?;
        }
    }
    let report = stream.finish();
    ensure!(report.error.is_none(), "the stream broke");
    Ok(())
}

fn write_lines(path: &std::path::Path, line: &[u8]) -> Result<()> {
    let mut file = File::create(path)?;
    let batch = line.repeat(BATCH);
    for _ in 0..EVENTS / BATCH {
        file.write_all(&batch)?;
    }
    Ok(())
}
