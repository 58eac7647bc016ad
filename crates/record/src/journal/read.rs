//! Reading a journal: all of it, or as much as is whole (06 §8.7, F99, F101).
//!
//! Lines are taken in order until one is torn, unreadable, foreign or out of place; what stood
//! before it is the answer, marked partial with the place. A gap in a pool refuses the whole,
//! because no later reference could be trusted.

use std::collections::HashMap;

use serde::Deserialize;
use vocab::ids::AgentId;

use super::FORMAT_VERSION;
use super::entry::{AgentRow, Header, RequestRole, Seed};
use super::line::{
    CancelProbeLine, ClockLine, End, EntryMark, Format, FrameLine, GitLine, HookLine, Mark,
    MessageBody, ModelErrorLine, ModelIoLine, PoolLine, Reply, RequestLine, ShellLine, Text,
    ToolResultLine, run_mark,
};
use super::replay::{
    Frame, Input, Pooled, Recorded, Refused, Replay, Request, StopReason, Stopped,
};

/// Reads a journal from its bytes.
pub fn read(bytes: &[u8]) -> Result<Replay, Refused> {
    let mut reader = Reader::default();
    let mut offset = 0;
    let mut number = 0;
    while offset < bytes.len() {
        number += 1;
        reader.line = number;
        let rest = &bytes[offset..];
        let taken = match rest.iter().position(|byte| *byte == b'\n') {
            Some(length) => reader.take(&rest[..length]).map(|()| length + 1),
            None => Err(Halt::Corrupt("its end is missing".to_owned())),
        };
        match taken {
            Ok(length) => offset += length,
            Err(Halt::Refused(refused)) => return Err(refused),
            Err(Halt::Corrupt(detail)) => {
                reader.stop(StopReason::CorruptJournal, offset, detail);
                return Ok(reader.replay);
            }
        }
    }
    reader.line = number + 1;
    reader.conclude(offset);
    Ok(reader.replay)
}

/// Why reading ends at a line.
enum Halt {
    /// Up to here it holds.
    Corrupt(String),
    /// None of it can be used.
    Refused(Refused),
}

impl From<serde_json::Error> for Halt {
    fn from(error: serde_json::Error) -> Self {
        Self::Corrupt(format!("it cannot be read: {error}"))
    }
}

#[derive(Default)]
struct Reader {
    replay: Replay,
    line: usize,
    run: String,
    lists: HashMap<Option<AgentId>, Lists>,
    end: Option<End>,
}

/// An agent's last lists, which the next ones are deltas on.
#[derive(Default)]
struct Lists {
    requests: HashMap<RequestRole, Vec<u32>>,
    frame: Vec<Frame>,
}

impl Reader {
    fn stop(&mut self, reason: StopReason, offset: usize, detail: String) {
        self.replay.stopped = Some(Stopped {
            reason,
            last_seq: self.replay.entries.last().map(|entry| entry.seq),
            line: self.line,
            offset,
            detail,
        });
    }

    fn conclude(&mut self, offset: usize) {
        match self.end.take() {
            None => self.stop(
                StopReason::SessionKilled,
                offset,
                "the journal ends without its last line".to_owned(),
            ),
            Some(End {
                stopped: Some(word),
                detail,
                ..
            }) => {
                let reason = if word == StopReason::ByteCeiling.as_str() {
                    StopReason::ByteCeiling
                } else {
                    StopReason::WriteFailed
                };
                self.stop(reason, offset, detail.unwrap_or(word));
            }
            Some(End { stopped: None, .. }) => {}
        }
    }

    fn take(&mut self, line: &[u8]) -> Result<(), Halt> {
        if self.end.is_some() {
            return Err(Halt::Corrupt("it stands behind the last line".to_owned()));
        }
        let line = std::str::from_utf8(line)
            .map_err(|error| Halt::Corrupt(format!("it is no UTF-8: {error}")))?;
        let mark: Mark<'_> = serde_json::from_str(line)?;
        if self.replay.header.is_none() {
            return self.header(line, &mark);
        }
        if mark.run != self.run {
            return Err(Halt::Corrupt(format!(
                "it belongs to run `{}`, this is `{}`",
                mark.run, self.run
            )));
        }
        match mark.t.as_ref() {
            "seed" => self.replay.seed = Some(parse::<Seed>(line)?),
            "agent" => self.agent(parse(line)?),
            "message" => {
                let pooled: PoolLine<MessageBody> = parse(line)?;
                self.check_message(&pooled.body)?;
                add(&mut self.replay.messages, pooled, "message", self.line)?;
            }
            "toolset" => add(
                &mut self.replay.toolsets,
                parse(line)?,
                "toolset",
                self.line,
            )?,
            "text" => add(&mut self.replay.texts, parse(line)?, "text", self.line)?,
            "entry" => self.entry(line)?,
            "end" => {
                let end: End = parse(line)?;
                let known = self.replay.entries.len() as u64;
                if end.entries != known {
                    return Err(Halt::Corrupt(format!(
                        "it counts {} entries where {known} stand",
                        end.entries
                    )));
                }
                self.end = Some(end);
            }
            other => return Err(Halt::Corrupt(format!("its type `{other}` is unknown"))),
        }
        Ok(())
    }

    fn header(&mut self, line: &str, mark: &Mark<'_>) -> Result<(), Halt> {
        if mark.t != "header" {
            return Err(Halt::Refused(Refused::NoHeader {
                found: mark.t.clone().into_owned(),
            }));
        }
        let Format { format_version } = parse(line)?;
        if format_version != u64::from(FORMAT_VERSION) {
            return Err(Halt::Refused(Refused::Format {
                found: format_version,
            }));
        }
        let header: Header = parse(line)?;
        run_mark(&header.routing_key).clone_into(&mut self.run);
        self.replay.header = Some(header);
        Ok(())
    }

    fn agent(&mut self, agent: AgentRow) {
        match self.replay.agents.iter_mut().find(|row| row.id == agent.id) {
            Some(row) => *row = agent,
            None => self.replay.agents.push(agent),
        }
    }

    fn entry(&mut self, line: &str) -> Result<(), Halt> {
        let mark: EntryMark = parse(line)?;
        let next = self.replay.entries.len() as u64;
        if mark.seq != next {
            return Err(Halt::Corrupt(format!(
                "it is entry {}, expected {next}",
                mark.seq
            )));
        }
        let agent = mark.agent_id;
        let input = match mark.kind.as_str() {
            "model_io" => {
                let ModelIoLine {
                    request,
                    response,
                    latency_ms,
                } = parse(line)?;
                let request = self.request(agent.as_ref(), request)?;
                self.check_reply(&response)?;
                Input::ModelIo {
                    request,
                    response,
                    latency_ms,
                }
            }
            "model_error" => {
                let ModelErrorLine { request, error } = parse(line)?;
                let request = self.request(agent.as_ref(), request)?;
                if let Some(response) = &error.response {
                    self.check_reply(response)?;
                }
                Input::ModelError { request, error }
            }
            "tool_result" => {
                let ToolResultLine {
                    call_id,
                    tool,
                    arguments,
                    ok,
                    failure,
                    output,
                    images,
                } = parse(line)?;
                self.check_texts([&arguments, &output])?;
                Input::ToolResult {
                    call_id,
                    tool,
                    arguments,
                    ok,
                    failure,
                    output,
                    images,
                }
            }
            "prompt_frame" => Input::PromptFrame {
                rows: self.frame(agent.as_ref(), parse(line)?)?,
            },
            "shell" => {
                let ShellLine {
                    origin,
                    command,
                    cwd,
                    exit_code,
                    stdout,
                    stderr,
                    stdout_dropped,
                    stderr_dropped,
                } = parse(line)?;
                self.check_texts([&command, &stdout, &stderr])?;
                Input::Shell {
                    origin,
                    command,
                    cwd,
                    exit_code,
                    stdout,
                    stderr,
                    stdout_dropped,
                    stderr_dropped,
                }
            }
            "hook" => {
                let HookLine {
                    event,
                    name,
                    action,
                    decision,
                    text,
                } = parse(line)?;
                self.check_texts(&text)?;
                Input::Hook {
                    event,
                    name,
                    action,
                    decision,
                    text,
                }
            }
            "git" => {
                let GitLine {
                    args,
                    cwd,
                    exit_code,
                    stdout,
                    stderr,
                } = parse(line)?;
                self.check_texts([&stdout, &stderr])?;
                Input::Git {
                    args,
                    cwd,
                    exit_code,
                    stdout,
                    stderr,
                }
            }
            "cancel_probe" => {
                let CancelProbeLine { found } = parse(line)?;
                Input::CancelProbe { found }
            }
            "clock" => {
                let ClockLine {
                    elapsed_ms,
                    remaining_ms,
                } = parse(line)?;
                Input::Clock {
                    elapsed_ms,
                    remaining_ms,
                }
            }
            other => return Err(Halt::Corrupt(format!("its kind `{other}` is unknown"))),
        };
        self.replay.entries.push(Recorded {
            seq: mark.seq,
            agent,
            input,
        });
        Ok(())
    }

    fn request(&mut self, agent: Option<&AgentId>, line: RequestLine) -> Result<Request, Halt> {
        for index in line.messages.push.iter().chain(&line.messages.signal) {
            self.check("message", *index, self.replay.messages.len())?;
        }
        if let Some(toolset) = line.toolset {
            self.check("toolset", toolset, self.replay.toolsets.len())?;
        }
        let at = self.line;
        let lists = self.lists.entry(agent.cloned()).or_default();
        let list = lists.requests.entry(line.role).or_default();
        resolve(list, line.messages.keep, line.messages.push, at)?;
        Ok(Request {
            role: line.role,
            shape: line.shape,
            messages: list.clone(),
            signal: line.messages.signal,
            toolset: line.toolset,
            model: line.model,
            provider: line.provider,
        })
    }

    fn frame(&mut self, agent: Option<&AgentId>, line: FrameLine) -> Result<Vec<Frame>, Halt> {
        for row in &line.push {
            self.check("message", row.message, self.replay.messages.len())?;
        }
        let push = line
            .push
            .into_iter()
            .map(|row| Frame {
                message: row.message,
                slot: row.slot,
                band: row.band,
                survives: row.survives,
                turn: row.turn,
                region: row.region,
            })
            .collect();
        let at = self.line;
        let list = &mut self.lists.entry(agent.cloned()).or_default().frame;
        resolve(list, line.keep, push, at)?;
        Ok(list.clone())
    }

    fn check_message(&self, body: &MessageBody) -> Result<(), Halt> {
        self.check_texts(&body.text)?;
        self.check_texts(body.calls.iter().map(|call| &call.arguments))?;
        if let Some(reasoning) = &body.reasoning {
            self.check_texts(&reasoning.text)?;
            self.check_texts(reasoning.items.iter().map(|item| &item.json))?;
        }
        Ok(())
    }

    fn check_reply(&self, reply: &Reply) -> Result<(), Halt> {
        self.check("message", reply.message, self.replay.messages.len())?;
        self.check_texts(&reply.reasoning)
    }

    fn check_texts<'a>(&self, texts: impl IntoIterator<Item = &'a Text>) -> Result<(), Halt> {
        for text in texts {
            if let Text::Pooled(index) = text {
                self.check("text", *index, self.replay.texts.len())?;
            }
        }
        Ok(())
    }

    fn check(&self, what: &'static str, index: u32, known: usize) -> Result<(), Halt> {
        if (index as usize) < known {
            return Ok(());
        }
        Err(Halt::Refused(Refused::Dangling {
            line: self.line,
            what,
            index: index as usize,
            known,
        }))
    }
}

fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, Halt> {
    Ok(serde_json::from_str(line)?)
}

fn add<B>(
    pool: &mut Vec<Pooled<B>>,
    line: PoolLine<B>,
    name: &'static str,
    number: usize,
) -> Result<(), Halt> {
    if line.index as usize != pool.len() {
        return Err(Halt::Refused(Refused::PoolGap {
            line: number,
            pool: name,
            found: line.index,
            expected: pool.len(),
        }));
    }
    pool.push(Pooled {
        id: line.id,
        body: line.body,
        clip: line.clip,
    });
    Ok(())
}

fn resolve<T>(list: &mut Vec<T>, keep: usize, push: Vec<T>, line: usize) -> Result<(), Halt> {
    if keep > list.len() {
        return Err(Halt::Refused(Refused::Dangling {
            line,
            what: "kept row",
            index: keep,
            known: list.len(),
        }));
    }
    list.truncate(keep);
    list.extend(push);
    Ok(())
}
