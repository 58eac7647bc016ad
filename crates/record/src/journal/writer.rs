//! The journal's thread: commands in, batches of lines out.
//!
//! Always true: the file ends at the end of a batch, as far as the disk lets it; after the first
//! fault nothing but the last line is tried.

use std::collections::HashMap;
use std::sync::Arc;

use crossbeam_channel::Receiver;
use serde::Serialize;
use vocab::ids::AgentId;

use super::FORMAT_VERSION;
use super::entry::{
    AgentRow, Entry, Header, MessageList, ModelErrorRecord, RequestRecord, RequestRole,
    ResponseRecord, Seed,
};
use super::handle::State;
use super::line::{
    CancelProbeLine, ClockLine, End, EntryMark, FrameLine, FrameRowLine, GitLine, HookLine,
    ListLine, ModelErrorLine, ModelIoLine, Reply, ReplyError, RequestLine, ShellLine,
    ToolResultLine, run_mark,
};
use super::pool::{Pools, describe};
use super::replay::StopReason;
use super::sink::Sink;
use crate::json;
use crate::mask::Mask;

/// Bytes kept of one command's or `git`'s stream (06 §8.6).
const STREAM_BYTES: usize = 32 << 10;

/// Bytes kept of one tool payload: the file tool's own cap.
const PAYLOAD_BYTES: usize = 256 << 10;

/// Bytes gathered before a write, where more commands are waiting.
const WRITE_BYTES: usize = 256 << 10;

/// Bytes of the ceiling that only the last line may use.
const END_BYTES: u64 = 512;

pub(super) enum Command {
    Seed(Box<Seed>),
    Agent(Box<AgentRow>),
    Entry(Option<AgentId>, Box<Entry>),
}

/// The lines of one command, in one buffer.
pub(super) struct Batch {
    bytes: Vec<u8>,
    line_start: usize,
    body: Vec<u8>,
    /// `","run":"…"`
    run: Vec<u8>,
    mask: Mask,
}

impl Batch {
    /// Appends a line: the type, the run's mark, and the body's members.
    pub(super) fn line(&mut self, kind: &str, body: &impl Serialize) {
        self.open(kind);
        self.members(body);
        self.close();
    }

    fn entry(&mut self, mark: &EntryMark, body: &impl Serialize) {
        self.open("entry");
        self.members(mark);
        self.members(body);
        self.close();
    }

    fn open(&mut self, kind: &str) {
        self.line_start = self.bytes.len();
        self.bytes.extend_from_slice(b"{\"t\":\"");
        self.bytes.extend_from_slice(kind.as_bytes());
        self.bytes.extend_from_slice(&self.run);
    }

    fn members(&mut self, body: &impl Serialize) {
        self.body.clear();
        serde_json::to_writer(&mut self.body, body).expect("lines have text keys only");
        if let [b'{', members @ .., b'}'] = self.body.as_slice()
            && !members.is_empty()
        {
            self.bytes.push(b',');
            self.bytes.extend_from_slice(members);
        }
    }

    fn close(&mut self) {
        self.bytes.push(b'}');
        json::keep_on_one_line(&mut self.bytes, self.line_start);
        self.mask.apply_to_json(&mut self.bytes, self.line_start);
        self.bytes.push(b'\n');
    }
}

/// Lengths of an agent's last lists, against which the next ones are deltas.
#[derive(Default)]
struct Lengths {
    requests: HashMap<RequestRole, usize>,
    frame: usize,
}

pub(super) struct Writer {
    sink: Box<dyn Sink>,
    ceiling: u64,
    /// Bytes in the file, all of them whole lines.
    written: u64,
    /// Whole batches on their way to the file.
    pending: Vec<u8>,
    pending_entries: u64,
    batch: Batch,
    pools: Pools,
    lengths: HashMap<Option<AgentId>, Lengths>,
    entries_written: u64,
    seq: u64,
    state: Arc<State>,
    /// The writer's own fault. An overrun of the queue is the handle's: what was accepted before
    /// it is still written.
    failed: bool,
}

impl Writer {
    pub(super) fn new(sink: Box<dyn Sink>, ceiling: u64, mask: Mask, state: Arc<State>) -> Self {
        Self {
            sink,
            ceiling,
            written: 0,
            pending: Vec::with_capacity(64 << 10),
            pending_entries: 0,
            batch: Batch {
                bytes: Vec::with_capacity(64 << 10),
                line_start: 0,
                body: Vec::with_capacity(4 << 10),
                run: Vec::new(),
                mask,
            },
            pools: Pools::default(),
            lengths: HashMap::new(),
            entries_written: 0,
            seq: 0,
            state,
            failed: false,
        }
    }

    /// Writes until the handle is gone. Returns the file's bytes and entries.
    pub(super) fn run(mut self, header: Header, incoming: &Receiver<Vec<Command>>) -> (u64, u64) {
        self.header(&header);
        self.flush();
        while let Ok(commands) = incoming.recv() {
            self.take_all(commands);
            while self.pending.len() < WRITE_BYTES
                && let Ok(commands) = incoming.try_recv()
            {
                self.take_all(commands);
            }
            self.flush();
        }
        self.end();
        (self.written, self.entries_written)
    }

    fn header(&mut self, header: &Header) {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Line<'a> {
            format_version: u32,
            #[serde(flatten)]
            header: &'a Header,
        }

        let mark =
            serde_json::to_string(run_mark(&header.routing_key)).expect("a text always serializes");
        self.batch.run = format!("\",\"run\":{mark}").into_bytes();
        self.batch.line(
            "header",
            &Line {
                format_version: FORMAT_VERSION,
                header,
            },
        );
        self.accept(0);
    }

    fn take_all(&mut self, commands: Vec<Command>) {
        for command in commands {
            self.take(command);
            if self.pending.len() >= WRITE_BYTES {
                self.flush();
            }
        }
    }

    fn take(&mut self, command: Command) {
        if self.failed {
            return;
        }
        match command {
            Command::Seed(seed) => {
                self.batch.line("seed", &seed);
                self.accept(0);
            }
            Command::Agent(agent) => {
                self.batch.line("agent", &agent);
                self.accept(0);
            }
            Command::Entry(agent, entry) => match self.entry(agent, *entry) {
                Ok(()) => self.accept(1),
                Err(gap) => self.fail(StopReason::WriteFailed, gap),
            },
        }
    }

    /// Moves a whole batch to the pending bytes, or stops where the ceiling is.
    fn accept(&mut self, entries: u64) {
        let length = self.written + (self.pending.len() + self.batch.bytes.len()) as u64;
        if length + END_BYTES > self.ceiling {
            self.fail(
                StopReason::ByteCeiling,
                format!("the journal reached its ceiling of {} bytes", self.ceiling),
            );
            return;
        }
        self.pending.append(&mut self.batch.bytes);
        self.batch.bytes.shrink_to(1 << 20);
        self.pending_entries += entries;
    }

    fn fail(&mut self, reason: StopReason, why: String) {
        self.failed = true;
        self.batch.bytes.clear();
        self.state.stop(reason, why);
    }

    fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let entries = std::mem::take(&mut self.pending_entries);
        if pending.is_empty() {
            return;
        }
        match self.put(&pending) {
            Ok(()) => self.entries_written += entries,
            Err((error, whole_lines)) => {
                self.entries_written += entries_in(&pending[..whole_lines]);
                self.fail(StopReason::WriteFailed, error);
            }
        }
        self.pending = pending;
        self.pending.clear();
        self.pending.shrink_to(1 << 20);
    }

    /// Writes bytes that are whole lines. On an error the file is cut back to its last whole
    /// line; how many of the bytes stayed is returned with it.
    fn put(&mut self, bytes: &[u8]) -> Result<(), (String, usize)> {
        let mut taken = 0;
        while taken < bytes.len() {
            let error = match self.sink.write(&bytes[taken..]) {
                Ok(0) => "the file takes no more bytes".to_owned(),
                Ok(count) => {
                    taken += count;
                    continue;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => error.to_string(),
            };
            let whole = bytes[..taken]
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |at| at + 1);
            self.written += whole as u64;
            return match self.sink.cut(self.written) {
                Ok(()) => Err((error, whole)),
                Err(also) => Err((format!("{error}; its torn end stays: {also}"), whole)),
            };
        }
        self.written += taken as u64;
        Ok(())
    }

    /// The last line. After a fault it is tried all the same: the disk may have room again, and
    /// the reason is worth a line.
    fn end(&mut self) {
        self.batch.bytes.clear();
        let why = self.state.why();
        let end = End {
            entries: self.entries_written,
            stopped: why.as_ref().map(|(reason, _)| reason.to_string()),
            detail: why.map(|(_, detail)| crate::text::preview(&detail, 80)),
        };
        self.batch.line("end", &end);
        let line = std::mem::take(&mut self.batch.bytes);
        if self.written == 0 || self.written + line.len() as u64 > self.ceiling {
            return;
        }
        if let Err((error, _)) = self.put(&line) {
            self.fail(StopReason::WriteFailed, error);
        }
    }

    fn entry(&mut self, agent: Option<AgentId>, entry: Entry) -> Result<(), String> {
        let mark = |seq, agent_id, kind: &str| EntryMark {
            seq,
            agent_id,
            kind: kind.to_owned(),
        };
        let seq = self.seq;
        let Self { batch, pools, .. } = self;
        match entry {
            Entry::ModelIo {
                request,
                response,
                latency_ms,
            } => {
                let request = self.request(agent.as_ref(), request)?;
                let response = self.response(&response);
                self.batch.entry(
                    &mark(seq, agent, "model_io"),
                    &ModelIoLine {
                        request,
                        response,
                        latency_ms,
                    },
                );
            }
            Entry::ModelError { request, error } => {
                let request = self.request(agent.as_ref(), request)?;
                let error = self.error(*error);
                self.batch.entry(
                    &mark(seq, agent, "model_error"),
                    &ModelErrorLine { request, error },
                );
            }
            Entry::ToolResult {
                call_id,
                tool,
                arguments,
                ok,
                failure,
                output,
                images,
            } => {
                let line = ToolResultLine {
                    call_id,
                    tool,
                    arguments: pools.clipped_text(&arguments, PAYLOAD_BYTES, batch),
                    ok,
                    failure,
                    output: pools.clipped_text(&output, PAYLOAD_BYTES, batch),
                    images: images.iter().map(describe).collect(),
                };
                batch.entry(&mark(seq, agent, "tool_result"), &line);
            }
            Entry::PromptFrame { keep, push } => {
                let push: Vec<FrameRowLine> = push
                    .into_iter()
                    .map(|row| FrameRowLine {
                        message: pools.message(&row.message, batch),
                        slot: row.slot,
                        band: row.band,
                        survives: row.survives,
                        turn: row.turn,
                        region: row.region,
                    })
                    .collect();
                let lengths = self.lengths.entry(agent.clone()).or_default();
                lengths.frame = next_length("frame", lengths.frame, keep, push.len())?;
                batch.entry(&mark(seq, agent, "prompt_frame"), &FrameLine { keep, push });
            }
            Entry::Shell {
                origin,
                command,
                cwd,
                exit_code,
                stdout,
                stderr,
                stdout_dropped,
                stderr_dropped,
            } => {
                let line = ShellLine {
                    origin: origin.to_owned(),
                    command: pools.whole_text(&command, batch),
                    cwd,
                    exit_code,
                    stdout: pools.clipped_text(&stdout, STREAM_BYTES, batch),
                    stderr: pools.clipped_text(&stderr, STREAM_BYTES, batch),
                    stdout_dropped,
                    stderr_dropped,
                };
                batch.entry(&mark(seq, agent, "shell"), &line);
            }
            Entry::Hook {
                event,
                name,
                kind,
                decision,
                text,
            } => {
                let line = HookLine {
                    event: event.to_owned(),
                    name: name.to_string(),
                    action: kind.to_owned(),
                    decision,
                    text: text.map(|text| pools.clipped_text(&text, PAYLOAD_BYTES, batch)),
                };
                batch.entry(&mark(seq, agent, "hook"), &line);
            }
            Entry::Git {
                args,
                cwd,
                exit_code,
                stdout,
                stderr,
            } => {
                let line = GitLine {
                    args,
                    cwd,
                    exit_code,
                    stdout: pools.clipped_text(&stdout, STREAM_BYTES, batch),
                    stderr: pools.clipped_text(&stderr, STREAM_BYTES, batch),
                };
                batch.entry(&mark(seq, agent, "git"), &line);
            }
            Entry::CancelProbe { found } => {
                batch.entry(
                    &mark(seq, agent, "cancel_probe"),
                    &CancelProbeLine { found },
                );
            }
            Entry::Clock {
                elapsed_ms,
                remaining_ms,
            } => {
                let line = ClockLine {
                    elapsed_ms,
                    remaining_ms,
                };
                batch.entry(&mark(seq, agent, "clock"), &line);
            }
        }
        self.seq += 1;
        Ok(())
    }

    fn request(
        &mut self,
        agent: Option<&AgentId>,
        request: RequestRecord,
    ) -> Result<RequestLine, String> {
        let MessageList { keep, push, signal } = request.messages;
        let Self { batch, pools, .. } = self;
        let push: Vec<u32> = push
            .iter()
            .map(|message| pools.message(message, batch))
            .collect();
        let signal = signal.map(|signal| pools.message(&signal, batch));
        let toolset = request
            .toolset
            .map(|toolset| pools.toolset(&toolset, batch));
        let lengths = self.lengths.entry(agent.cloned()).or_default();
        let length = lengths.requests.entry(request.role).or_default();
        *length = next_length("request", *length, keep, push.len())?;
        Ok(RequestLine {
            role: request.role,
            shape: request.shape,
            messages: ListLine { keep, push, signal },
            toolset,
            model: request.model,
            provider: request.provider,
        })
    }

    fn response(&mut self, response: &ResponseRecord) -> Reply {
        let Self { batch, pools, .. } = self;
        Reply {
            message: pools.message(&response.reply, batch),
            reasoning: response
                .reasoning
                .as_ref()
                .map(|text| pools.whole_text(text, batch)),
            finish_reason: response.finish_reason.clone(),
            usage: response.usage.clone(),
            provider: response.provider.clone(),
            generation: response.generation.clone(),
        }
    }

    fn error(&mut self, error: ModelErrorRecord) -> ReplyError {
        ReplyError {
            kind: error.kind,
            message: error.message,
            status: error.status,
            attempts: error.attempts,
            discarded: error.discarded,
            served: error.served,
            response: error.response.map(|response| self.response(&response)),
        }
    }
}

/// The length of a list that keeps part of the one before. A delta that keeps more than there
/// was cannot be resolved by any reader.
fn next_length(list: &str, before: usize, keep: usize, push: usize) -> Result<usize, String> {
    if keep > before {
        return Err(format!(
            "a {list} keeps {keep} rows of the agent's last one, which had {before}"
        ));
    }
    Ok(keep + push)
}

fn entries_in(lines: &[u8]) -> u64 {
    lines
        .split(|byte| *byte == b'\n')
        .filter(|line| line.starts_with(b"{\"t\":\"entry\""))
        .count() as u64
}
