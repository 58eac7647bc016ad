//! A recorded stream, read back line by line.
//!
//! Readers ignore types and fields they do not know (06 §1). A line that is no event is handed
//! over as damage, with its place: who asks decides whether to go on behind it.

use std::io::{self, BufRead, Read as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use vocab::ids::{AgentId, SessionId};

/// Bytes of the longest line that is read. A stream's own end at an eighth of it; what has no line
/// ends, as a device or a picture, is no stream and must not fill the memory.
const LONGEST: u64 = 64 << 20;

/// The stream's file within a run directory.
pub const STREAM_FILE: &str = "telemetry.ndjson";

/// The stream of a RUN as a command line names one: a stream file, or a run directory.
pub fn stream_of(run: &Path) -> PathBuf {
    if run.is_dir() {
        run.join(STREAM_FILE)
    } else {
        run.to_owned()
    }
}

/// One event as it was written.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its line in the file, from 1.
    pub number: usize,
    /// What it is.
    pub kind: String,
    /// The session it belongs to.
    pub session: Option<SessionId>,
    /// Whose it is; `None` on events of the run.
    pub agent: Option<AgentId>,
    /// The turn it belongs to.
    pub turn: Option<u32>,
    text: String,
}

impl Line {
    /// Its fields, as far as `T` asks for them.
    pub fn fields<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(&self.text)
    }
}

/// A line that is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {number}: {why}")]
pub struct Damage {
    /// Its line in the file, from 1.
    pub number: usize,
    /// What was found.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    session_id: Option<SessionId>,
    #[serde(default)]
    agent_id: Option<AgentId>,
    #[serde(default)]
    turn: Option<u32>,
}

/// The events of a stream, in order; blank lines are none. Ends at the first failure to read, and
/// at a line that no stream can hold.
pub fn lines(mut reader: impl BufRead) -> impl Iterator<Item = io::Result<Result<Line, Damage>>> {
    let mut number = 0;
    let mut over = false;
    // By bytes: a line cut inside a character is one damaged line, not the end of the file.
    std::iter::from_fn(move || {
        while !over {
            number += 1;
            match piece(&mut reader, number) {
                Err(error) => {
                    over = true;
                    return Some(Err(error));
                }
                Ok(None) => over = true,
                Ok(Some(bytes)) if bytes.trim_ascii().is_empty() => {}
                Ok(Some(bytes)) => return Some(Ok(event(number, bytes))),
            }
        }
        None
    })
}

/// The next line of a file of lines, the `number`th, with its end; `None` behind the last. A line
/// longer than any is an error of kind `InvalidData`.
pub fn piece(reader: &mut impl BufRead, number: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let read = reader.take(LONGEST + 1).read_until(b'\n', &mut bytes)?;
    if read as u64 > LONGEST {
        let why = format!(
            "its line {number} is longer than {} MiB, which none of such a file is",
            LONGEST >> 20
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok((read > 0).then_some(bytes))
}

fn event(number: usize, bytes: Vec<u8>) -> Result<Line, Damage> {
    let damage = |why: String| Damage { number, why };
    let text = String::from_utf8(bytes).map_err(|error| damage(error.to_string()))?;
    let envelope: Envelope =
        serde_json::from_str(&text).map_err(|error| damage(format!("no event: {error}")))?;
    Ok(Line {
        number,
        kind: envelope.kind,
        session: envelope.session_id,
        agent: envelope.agent_id,
        turn: envelope.turn,
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Log {
        message: String,
    }

    #[test]
    fn events_are_read_in_order_and_damage_has_its_place() {
        let stream = b"{\"type\":\"log\",\"agentId\":\"agent-1\",\"turn\":3,\"message\":\"m\"}\n\n\
                       {\"type\":\"lo\n\xff\n{\"type\":\"unheard_of\"}";
        let read: Vec<_> = lines(&stream[..]).map(Result::unwrap).collect();
        assert_eq!(read.len(), 4);
        let first = read[0].as_ref().unwrap();
        assert_eq!(
            (first.number, first.kind.as_str(), first.turn),
            (1, "log", Some(3))
        );
        assert_eq!(first.agent, Some("agent-1".into()));
        assert_eq!(first.fields::<Log>().unwrap().message, "m");
        assert_eq!(read[1].as_ref().unwrap_err().number, 3);
        assert_eq!(read[2].as_ref().unwrap_err().number, 4);
        assert_eq!(read[3].as_ref().unwrap().kind, "unheard_of");
    }

    #[test]
    fn what_has_no_line_ends_is_read_to_a_bound_and_no_further() {
        let mut endless = io::BufReader::new(io::repeat(0));
        let mut read = lines(&mut endless);
        let why = read.next().unwrap().unwrap_err().to_string();
        assert!(why.starts_with("its line 1 is longer than 64 MiB"), "{why}");
        assert!(read.next().is_none());
    }

    #[test]
    fn a_run_directory_stands_for_its_stream() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(stream_of(dir.path()), dir.path().join(STREAM_FILE));
        let file = dir.path().join("x.ndjson");
        assert_eq!(stream_of(&file), file);
    }
}
