//! The journal written, then read: whole, cut, overwritten, on a full disk.

mod agreement;
mod damage;
mod faults;
mod handoff;
mod roundtrip;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::value::RawValue;
use vocab::band::Band;
use vocab::ids::AgentId;
use vocab::message::{Message, ToolCall};

use super::*;
use crate::event::Origin;
use crate::mask::Mask;

/// A disk in memory, with as much room as a test leaves it.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<Platter>>);

#[derive(Default)]
struct Platter {
    bytes: Vec<u8>,
    room: Option<usize>,
    cannot_cut: bool,
}

impl Disk {
    fn with_room(room: usize) -> Self {
        let disk = Self::default();
        disk.0.lock().unwrap().room = Some(room);
        disk
    }

    fn make_room(&self) {
        self.0.lock().unwrap().room = None;
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().bytes.clone()
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut platter = self.0.lock().unwrap();
        let room = platter
            .room
            .map_or(bytes.len(), |room| room.saturating_sub(platter.bytes.len()));
        if room == 0 {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        let taken = room.min(bytes.len());
        platter.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Disk {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        let mut platter = self.0.lock().unwrap();
        if platter.cannot_cut {
            return Err(io::Error::other("read-only"));
        }
        platter.bytes.truncate(length as usize);
        Ok(())
    }
}

const ROOM: u64 = 256 << 20;

fn header() -> Header {
    Header {
        session_id: "a session".into(),
        routing_key: "abcdefghijklmnopqrstuvwx".into(),
        capability_set: Some(raw("{\n \"agents\": []\n}")),
        model_providers: None,
        recorder: Recorder {
            gg_version: "0.1.0".to_owned(),
            commit: None,
        },
    }
}

fn raw(json: &str) -> Arc<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap().into()
}

fn journal(disk: &Disk) -> Journal {
    Journal::start_with(Box::new(disk.clone()), ROOM, header(), Mask::default())
}

fn root() -> AgentId {
    AgentId::from("root")
}

fn system(text: &str) -> Arc<Message> {
    Arc::new(Message::System { text: text.into() })
}

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::User {
        text: text.into(),
        images: Vec::new(),
    })
}

fn assistant(text: Option<&str>, call: &str, arguments: &str) -> Arc<Message> {
    Arc::new(Message::Assistant {
        text: text.map(Into::into),
        calls: vec![ToolCall {
            id: call.into(),
            name: "shell".to_owned(),
            arguments: arguments.into(),
        }],
        reasoning: None,
    })
}

fn tool(call: &str, text: &str) -> Arc<Message> {
    Arc::new(Message::Tool {
        call: call.into(),
        text: text.into(),
        images: Vec::new(),
    })
}

fn request(messages: MessageList) -> RequestRecord {
    RequestRecord {
        role: RequestRole::Agent,
        shape: RequestShape::Forced,
        messages,
        toolset: Some(raw("[{\"type\":\"function\"}]")),
        model: "m".into(),
        provider: None,
    }
}

fn response(reply: Arc<Message>) -> ResponseRecord {
    ResponseRecord {
        reply,
        reasoning: Some("it is easy".into()),
        finish_reason: Some("tool_calls".to_owned()),
        usage: Some(raw("{\"prompt_tokens\": 1e400}")),
        provider: Some("P".into()),
        generation: None,
    }
}

fn agent_row() -> AgentRow {
    AgentRow {
        id: root(),
        profile: "root".into(),
        origin: Origin::Root,
        ended_as: None,
        limit: None,
    }
}

fn shell(command: &str, stdout: &str) -> Entry {
    Entry::Shell {
        origin: "tool",
        command: command.into(),
        cwd: ".".to_owned(),
        exit_code: 0,
        stdout: stdout.into(),
        stderr: "".into(),
        stdout_dropped: 0,
        stderr_dropped: 0,
    }
}

/// What one turn writes, with an output too long to stand in a line of its own.
fn turn(journal: &mut Journal, number: u32) {
    let agent = root();
    let output = format!("output {number} {}", "日本🦀 ".repeat(60));
    let call = format!("call_{number}");
    journal.entry(Some(&agent), Entry::CancelProbe { found: false });
    journal.entry(
        Some(&agent),
        Entry::Clock {
            elapsed_ms: u64::from(number),
            remaining_ms: None,
        },
    );
    let reply = assistant(Some("so"), &call, "{\"command\":\"true\"}");
    let push = if number == 1 {
        vec![system("You work on files."), user("do the task")]
    } else {
        vec![
            assistant(
                Some("so"),
                &format!("call_{}", number - 1),
                "{\"command\":\"true\"}",
            ),
            tool(
                &format!("call_{}", number - 1),
                &format!("output {} {}", number - 1, "日本🦀 ".repeat(60)),
            ),
        ]
    };
    let keep = 2 * (number as usize - 1);
    journal.entry(
        Some(&agent),
        Entry::ModelIo {
            request: request(MessageList {
                keep,
                push: push.clone(),
                signal: None,
            }),
            response: response(reply),
            latency_ms: 12,
        },
    );
    journal.entry(
        Some(&agent),
        Entry::PromptFrame {
            keep,
            push: push
                .into_iter()
                .map(|message| FrameRow {
                    message,
                    slot: Slot::Thread,
                    band: Band::ToolOutput,
                    survives: false,
                    turn: number,
                    region: None,
                })
                .collect(),
        },
    );
    journal.entry(Some(&agent), shell("true", &output));
    journal.entry(
        Some(&agent),
        Entry::ToolResult {
            call_id: call.as_str().into(),
            tool: "shell".to_owned(),
            arguments: "{\"command\":\"true\"}".into(),
            ok: true,
            failure: None,
            output: output.as_str().into(),
            images: Vec::new(),
        },
    );
}

/// Entries a [`turn`] writes.
const TURN_ENTRIES: usize = 6;

/// A whole journal of some turns.
fn good(turns: u32) -> Vec<u8> {
    let disk = Disk::default();
    let mut journal = journal(&disk);
    journal.seed(Seed::default());
    journal.agent(agent_row());
    for number in 1..=turns {
        turn(&mut journal, number);
        journal.settle();
    }
    journal.finish();
    disk.bytes()
}
