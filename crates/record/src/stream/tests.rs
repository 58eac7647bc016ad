//! The writer through its handle, into outputs that take, fail or wait.

use std::sync::mpsc;

use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use super::*;
use crate::event::{Event, Log, LogLevel, SessionStarted};
use crate::sample;

/// An output whose bytes stay readable.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Vec<u8>>>);

impl Shelf {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Shelf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An output that answers each write from a list, then takes everything.
struct Moody(Vec<io::Result<usize>>, Shelf);

impl Write for Moody {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return self.1.write(bytes);
        }
        let taken = self.0.remove(0)?.min(bytes.len());
        self.1.write(&bytes[..taken])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn written(session: &str, emissions: Vec<Emission>) -> String {
    let shelf = Shelf::default();
    let stream = Stream::start(
        session.into(),
        Box::new(shelf.clone()),
        None,
        Box::new(|| {}),
    )
    .unwrap();
    stream.send(emissions);
    stream.finish();
    shelf.text()
}

fn log(message: &str) -> Emission {
    Emission {
        at_ms: 1_709_210_096_007,
        agent: Some("root".into()),
        turn: Some(3),
        event: Event::Log(Log {
            level: LogLevel::Warn,
            message: message.to_owned(),
            code: Some("retry"),
        }),
    }
}

#[test]
fn a_line_is_its_envelope_then_its_fields() {
    insta::assert_snapshot!(
        written("a \"quoted\" name", vec![log("try\nagain"), log("")]),
        @r#"
    {"type":"log","ts":"2024-02-29T12:34:56.007Z","seq":0,"sessionId":"a \"quoted\" name","agentId":"root","turn":3,"level":"warn","message":"try\nagain","code":"retry"}
    {"type":"log","ts":"2024-02-29T12:34:56.007Z","seq":1,"sessionId":"a \"quoted\" name","agentId":"root","turn":3,"level":"warn","message":"","code":"retry"}
    "#
    );
}

#[test]
fn a_session_s_stream_reads_as_ever() {
    insta::assert_snapshot!(written("sample", sample::session(2)));
}

#[test]
fn a_document_written_over_many_lines_takes_one() {
    let pretty =
        "{\n  \"limits\": {\n    \"maxParallel\": 4\n  },\r\n  \"text\": \"two  blanks\"\n}";
    let started = SessionStarted {
        capability_set: Some(RawValue::from_string(pretty.to_owned()).unwrap().into()),
        model_providers: None,
        model_prices: None,
        routing_key: "key".into(),
        configuration: None,
        gg_version: "0",
        commit: None,
        workspace: None,
        windows: std::collections::BTreeMap::new(),
        limits: std::collections::BTreeMap::new(),
    };
    let text = written(
        "s",
        vec![Emission {
            at_ms: 0,
            agent: None,
            turn: None,
            event: Event::SessionStarted(Box::new(started)),
        }],
    );
    assert_eq!(text.lines().count(), 1);
    let line: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["capabilitySet"]["limits"]["maxParallel"], 4);
    assert_eq!(line["capabilitySet"]["text"], "two  blanks");
}

#[test]
fn a_body_beyond_the_ceiling_keeps_its_head_and_counts_what_was_cut() {
    let message = "é🦀".repeat(LINE_CEILING_BYTES / 4);
    let text = written("s", vec![log(&message), log("next")]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].len() < LINE_CEILING_BYTES, "{}", lines[0].len());
    let line: Value = serde_json::from_str(lines[0]).unwrap();
    let kept = line["message"].as_str().unwrap();
    assert!(message.starts_with(kept));
    let cut = message.chars().count() - kept.chars().count();
    assert_eq!(line["clippedChars"], cut);
    assert_eq!(line["sessionId"], "s");
    assert!(lines[1].contains("\"next\""));
}

#[test]
fn the_credential_reaches_no_line() {
    let shelf = Shelf::default();
    let stream = Stream::start_masked(
        "s".into(),
        Box::new(shelf.clone()),
        None,
        Box::new(|| {}),
        Mask::new("sk-or-v1-secret"),
    )
    .unwrap();
    stream.send(vec![log("key sk-or-v1-secret and sk-or-v1-secret")]);
    stream.finish();
    assert!(shelf.text().contains("key [credential] and [credential]"));
    assert!(!shelf.text().contains("secret"));
}

#[test]
fn the_tee_gets_the_same_bytes_and_its_failure_stays_its_own() {
    let (out, tee) = (Shelf::default(), Shelf::default());
    let full = || Err(io::Error::other("disk full"));
    for (mood, expected) in [(vec![], None), (vec![full()], Some("disk full".to_owned()))] {
        let moody = Moody(mood, tee.clone());
        let stream = Stream::start(
            "s".into(),
            Box::new(out.clone()),
            Some(Box::new(moody)),
            Box::new(|| {}),
        )
        .unwrap();
        stream.send(vec![log("one"), log("two")]);
        let report = stream.finish();
        assert_eq!(report.tee_error, expected);
        assert_eq!((report.lines, report.error), (2, None));
    }
    assert_eq!(out.text(), [tee.text(), tee.text()].concat());
}

#[test]
fn a_slow_pipe_is_not_a_broken_one() {
    let shelf = Shelf::default();
    let again = |kind| Err(io::Error::from(kind));
    let moody = Moody(
        vec![
            again(io::ErrorKind::Interrupted),
            Ok(5),
            again(io::ErrorKind::WouldBlock),
            Ok(1),
        ],
        shelf.clone(),
    );
    let stream = Stream::start("s".into(), Box::new(moody), None, Box::new(|| {})).unwrap();
    stream.send(vec![log("one"), log("two")]);
    let report = stream.finish();
    assert_eq!(report.error, None);
    assert_eq!(report.bytes as usize, shelf.text().len());
    assert_eq!(shelf.text().lines().count(), 2);
}

#[test]
fn a_broken_output_is_told_at_once_and_later_lines_are_counted() {
    let shelf = Shelf::default();
    let (tell, told) = mpsc::channel();
    let moody = Moody(
        vec![Err(io::Error::from(io::ErrorKind::BrokenPipe))],
        shelf.clone(),
    );
    let tee = Shelf::default();
    let stream = Stream::start(
        "s".into(),
        Box::new(moody),
        Some(Box::new(tee.clone())),
        Box::new(move || tell.send(()).unwrap()),
    )
    .unwrap();
    assert_eq!(stream.broken(), None);
    stream.send(vec![log("one")]);
    told.recv().unwrap();
    assert!(stream.broken().unwrap().contains("pipe"));
    // There is room for lines, and yet whoever makes them asks: it is to hear of this.
    let gauge = stream.gauge();
    assert!(gauge.has_room() && !gauge.is_open());
    stream.send(vec![log("two"), log("three")]);
    let report = stream.finish();
    assert_eq!((report.lines, report.bytes), (3, 0));
    assert!(report.error.is_some());
    assert_eq!(shelf.text(), "");
    assert_eq!(tee.text().lines().count(), 3);
}

/// An output that takes nothing before it is let.
struct Gate(mpsc::Receiver<()>, bool);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.1 {
            self.0.recv().unwrap();
            self.1 = true;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn room_is_told_when_the_backlog_falls_under_the_threshold() {
    let (open, gate) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let stream = Stream::start(
        "s".into(),
        Box::new(Gate(gate, false)),
        None,
        Box::new(move || tell.send(()).unwrap()),
    )
    .unwrap();
    let gauge = stream.gauge();
    for _ in 0..QUEUE_LINES / 64 {
        assert!(gauge.has_room() && gauge.is_open());
        stream.send(vec![log("waiting"); 64]);
    }
    assert_eq!(stream.backlog(), QUEUE_LINES);
    assert!(!gauge.has_room() && !gauge.is_open());
    assert!(told.try_recv().is_err());
    open.send(()).unwrap();
    told.recv().unwrap();
    assert!(gauge.is_open());
    let report = stream.finish();
    assert_eq!(report.lines as usize, QUEUE_LINES);
    assert!(told.try_recv().is_err(), "told once");
}

proptest! {
    /// F119, and everything else a text can hold.
    #[test]
    fn any_text_gives_a_valid_line_that_gives_it_back(
        session in ".{1,500}",
        message in any::<String>(),
        agent in any::<String>(),
    ) {
        let mut emission = log(&message);
        emission.agent = Some(agent.as_str().into());
        let text = written(&session, vec![emission]);
        prop_assert_eq!(text.matches('\n').count(), 1);
        let line: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(line["sessionId"].as_str(), Some(session.as_str()));
        prop_assert_eq!(line["agentId"].as_str(), Some(agent.as_str()));
        prop_assert_eq!(line["message"].as_str(), Some(message.as_str()));
    }
}
