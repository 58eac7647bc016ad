//! Whether a journal and a stream tell of one run.
//!
//! The two are written by two threads, so a killed process leaves them at different points: of
//! each agent's exchanges, tool results and commands, one must then be a prefix of the other.
//! Where both are whole, they must be equally long.
//!
//! A summarizer's exchange has no `prompt`: the stream tells of it in the `compaction` it came to.
//! The last one of an agent may have come to none, where the agent ended on it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use serde_json::Value;
use vocab::failure::FailureClass;
use vocab::ids::{CallId, ProviderName};

use super::entry::{ModelErrorKind, RequestRole};
use super::line::{MessageBody, Text};
use super::replay::{Input, Replay, Request, StopReason};

/// A place where a journal and a stream differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Whose.
    pub agent: String,
    /// What each of them says.
    pub message: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.agent, self.message)
    }
}

/// Every difference between what a journal holds and what a stream tells, whole or killed.
pub fn agree(replay: &Replay, stream: &str) -> Vec<Disagreement> {
    let lines: Vec<Value> = stream
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .filter_map(|line| serde_json::from_str(line).ok())
        .map(with_joined_ids)
        .collect();
    let mut found = Found(Vec::new());
    if let (Some(header), Some(first)) = (&replay.header, lines.first()) {
        found.compare(
            "",
            "sessionId",
            header.session_id.as_str(),
            text(first, "sessionId"),
        );
    }
    let told = of_stream(&lines);
    let held = of_journal(replay);
    let agents: std::collections::BTreeSet<&str> =
        told.keys().chain(held.keys()).copied().collect();
    let stream_whole = lines
        .last()
        .is_some_and(|line| text(line, "type") == "session_ended");
    let (no_told, no_held) = (Told::default(), Held::default());
    for agent in agents {
        let told = told.get(agent).unwrap_or(&no_told);
        let held = held.get(agent).unwrap_or(&no_held);
        let lengths = [
            ("exchanges", held.exchanges.len(), told.prompts.len()),
            ("tool results", held.results.len(), told.results.len()),
            ("commands", held.commands.len(), told.commands.len()),
        ];
        for (what, held, told) in lengths {
            let short_stream = stream_whole && told < held;
            let short_journal = held < told && replay.stopped.is_none() && stream_whole;
            if short_stream || short_journal {
                found.add(
                    agent,
                    format!("the journal has {held} {what}, the stream {told}"),
                );
            }
        }
        // A call that failed before it reached an implementation is one of the stream's alone.
        if stream_whole && held.dispatched > told.dispatched {
            found.add(
                agent,
                format!(
                    "the journal has {} calls of programs, the stream {}",
                    held.dispatched, told.dispatched
                ),
            );
        }
        if stream_whole && replay.stopped.is_none() && held.summaries.len() < told.summaries.len() {
            found.add(
                agent,
                format!(
                    "the journal has {} requests of a summarizer, the stream {}",
                    held.summaries.len(),
                    told.summaries.len()
                ),
            );
        }
        compare_summaries(agent, held, told, &mut found);
        compare_exchanges(replay, agent, held, told, &mut found);
        compare_reasoning(replay, agent, held, told, &mut found);
        for (at, (held, told)) in held.results.iter().zip(&told.results).enumerate() {
            found.compare(agent, &format!("tool result {at}"), held, told);
        }
        for (at, (held, told)) in held.commands.iter().zip(&told.commands).enumerate() {
            found.compare(agent, &format!("command {at}"), held, told);
        }
    }
    if replay.stopped.as_ref().map(|stopped| stopped.reason) == Some(StopReason::SessionKilled)
        && stream_whole
    {
        found.add(
            "",
            "the journal was killed, the stream has its last line".to_owned(),
        );
    }
    found.0
}

/// A prompt with the ids of its messages as one text: a window's ids stand in every one of them, and
/// a value each would be most of the memory this takes.
fn with_joined_ids(mut line: Value) -> Value {
    if line["type"] == "prompt"
        && let Some(ids) = line["messages"].as_array()
    {
        let ids: Vec<&str> = ids.iter().filter_map(Value::as_str).collect();
        line["messages"] = Value::from(ids.join(" "));
    }
    line
}

struct Found(Vec<Disagreement>);

impl Found {
    fn add(&mut self, agent: &str, message: String) {
        self.0.push(Disagreement {
            agent: agent.to_owned(),
            message,
        });
    }

    fn compare<T: PartialEq + fmt::Debug + ?Sized>(
        &mut self,
        agent: &str,
        what: &str,
        held: &T,
        told: &T,
    ) {
        if held != told {
            self.add(
                agent,
                format!("{what} is {held:?} in the journal, {told:?} in the stream"),
            );
        }
    }
}

/// The outcome of a call, as both sides have it: call, tool, ok, failure class.
type Outcome<'a> = (&'a str, &'a str, bool, Option<&'a str>);

/// What a stream tells of an agent.
#[derive(Default)]
struct Told<'a> {
    messages: HashMap<&'a str, &'a Value>,
    prompts: Vec<&'a Value>,
    said: Vec<&'a Value>,
    results: Vec<Outcome<'a>>,
    commands: Vec<(&'a str, i64)>,
    /// Calls that programs dispatched.
    dispatched: u64,
    /// Compactions that another request was made for.
    summaries: Vec<&'a Value>,
}

fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}

fn of_stream(lines: &[Value]) -> BTreeMap<&str, Told<'_>> {
    let mut agents: BTreeMap<&str, Told<'_>> = BTreeMap::new();
    for line in lines {
        let Some(agent) = line["agentId"].as_str() else {
            continue;
        };
        let told = agents.entry(agent).or_default();
        match text(line, "type") {
            "context_message" => {
                told.messages.insert(text(line, "id"), line);
            }
            "prompt" => told.prompts.push(line),
            "assistant_message" => told.said.push(line),
            "compaction" if text(line, "strategy").starts_with("handoff") => {
                told.summaries.push(line);
            }
            "tool_result" if !is_ending(text(line, "tool")) => told.results.push((
                text(line, "callId"),
                text(line, "tool"),
                line["ok"].as_bool().unwrap_or_default(),
                line["failure"].as_str(),
            )),
            "code_execution" => {
                told.dispatched += line["toolCalls"].as_u64().unwrap_or_default();
            }
            "shell" => told.commands.push((
                text(line, "command"),
                line["exitCode"].as_i64().unwrap_or_default(),
            )),
            _ => {}
        }
    }
    agents
}

/// What a journal holds of an agent.
#[derive(Default)]
struct Held<'a> {
    exchanges: Vec<Exchange<'a>>,
    results: Vec<Outcome<'a>>,
    commands: Vec<(&'a str, i64)>,
    /// Calls that programs dispatched.
    dispatched: u64,
    /// What a summarizer was asked, and whether it replied.
    summaries: Vec<(&'a Request, bool)>,
}

struct Exchange<'a> {
    request: &'a Request,
    /// The reply that entered the window; `None` of a capped one.
    reply: Option<u32>,
    finish_reason: Option<&'a str>,
    provider: Option<&'a str>,
    reasoning: Option<&'a Text>,
}

/// A call of a program is told of in the stream as an operation; only their number is compared.
fn is_of_program(call: &str) -> bool {
    call.starts_with("program:")
}

/// Endings are the loop's own: they consume no input, so a journal need not have them.
fn is_ending(tool: &str) -> bool {
    ["finish", "approve", "request_changes"].contains(&tool)
}

fn of_journal(replay: &Replay) -> BTreeMap<&str, Held<'_>> {
    let mut agents: BTreeMap<&str, Held<'_>> = BTreeMap::new();
    for entry in &replay.entries {
        let Some(agent) = &entry.agent else {
            continue;
        };
        let held = agents.entry(agent.as_str()).or_default();
        match &entry.input {
            Input::ModelIo {
                request, response, ..
            } if request.role == RequestRole::Agent => held.exchanges.push(Exchange {
                request,
                reply: Some(response.message),
                finish_reason: response.finish_reason.as_deref(),
                provider: response.provider.as_ref().map(ProviderName::as_str),
                reasoning: response.reasoning.as_ref(),
            }),
            Input::ModelError { request, error }
                if request.role == RequestRole::Agent
                    && error.kind == ModelErrorKind::LengthCapped =>
            {
                held.exchanges.push(Exchange {
                    request,
                    reply: None,
                    finish_reason: None,
                    provider: None,
                    reasoning: None,
                });
            }
            Input::ModelIo { request, .. } => held.summaries.push((request, true)),
            // Refused for its pictures, it was asked again without them.
            Input::ModelError { request, error }
                if request.role == RequestRole::Compaction
                    && error.kind != ModelErrorKind::ImageUnsupported =>
            {
                held.summaries.push((request, false));
            }
            Input::ToolResult {
                call_id,
                tool,
                ok,
                failure,
                ..
            } if is_of_program(call_id.as_str()) => held.dispatched += 1,
            Input::ToolResult {
                call_id,
                tool,
                ok,
                failure,
                ..
            } if !is_ending(tool) => held.results.push((
                call_id.as_str(),
                tool,
                *ok,
                failure.map(FailureClass::as_str),
            )),
            Input::Shell {
                command, exit_code, ..
            } => held
                .commands
                .push((replay.text(command), i64::from(*exit_code))),
            _ => {}
        }
    }
    agents
}

fn compare_exchanges(
    replay: &Replay,
    agent: &str,
    held: &Held<'_>,
    told: &Told<'_>,
    found: &mut Found,
) {
    // A window's messages come again turn after turn; each pair is compared once.
    let mut compared = HashSet::new();
    for (at, (exchange, prompt)) in held.exchanges.iter().zip(&told.prompts).enumerate() {
        let indexes: Vec<u32> = exchange
            .request
            .messages
            .iter()
            .chain(&exchange.request.signal)
            .copied()
            .collect();
        let ids: Vec<&str> = text(prompt, "messages").split_whitespace().collect();
        found.compare(
            agent,
            &format!("exchange {at}: the number of messages"),
            &indexes.len(),
            &ids.len(),
        );
        let mut pairs: Vec<(u32, &str)> = indexes.into_iter().zip(ids).collect();
        if let Some(reply) = exchange.reply {
            found.compare(
                agent,
                &format!("exchange {at}: the finish reason"),
                &exchange.finish_reason,
                &prompt["finishReason"].as_str(),
            );
            if let (Some(asked), Some(served)) = (
                &exchange.request.provider,
                prompt["provider"].as_str().map(ProviderName::from),
            ) && !asked.same_as(&served)
            {
                found.add(
                    agent,
                    format!(
                        "exchange {at}: `{asked}` was asked in the journal, `{served}` served in \
                         the stream"
                    ),
                );
            }
            found.compare(
                agent,
                &format!("exchange {at}: who served"),
                &exchange.provider,
                &prompt["provider"].as_str(),
            );
            pairs.extend(prompt["reply"].as_str().map(|id| (reply, id)));
        }
        for (index, id) in pairs {
            if compared.insert((index, id))
                && let Some(difference) = differ(replay, index, told.messages.get(id).copied())
            {
                found.add(agent, format!("exchange {at}: message {id}: {difference}"));
            }
        }
    }
}

/// Whom each compaction asked, and that a summary has a reply it comes from.
fn compare_summaries(agent: &str, held: &Held<'_>, told: &Told<'_>, found: &mut Found) {
    for (at, ((request, replied), told)) in held.summaries.iter().zip(&told.summaries).enumerate() {
        found.compare(
            agent,
            &format!("compaction {at}: the model"),
            request.model.as_str(),
            text(told, "modelId"),
        );
        if !replied && told["fallback"] == false {
            found.add(
                agent,
                format!("compaction {at} has a summary, and the journal no reply"),
            );
        }
    }
}

/// What a model reasoned on the way to each reply that entered the window.
fn compare_reasoning(
    replay: &Replay,
    agent: &str,
    held: &Held<'_>,
    told: &Told<'_>,
    found: &mut Found,
) {
    let answered = held.exchanges.iter().filter(|it| it.reply.is_some());
    for (at, (exchange, said)) in answered.zip(&told.said).enumerate() {
        let whole = exchange.reasoning.map(|text| replay.text(text));
        let told = said["reasoning"].as_str();
        let is_cut = !said["clippedChars"].is_null();
        let alike = match (whole, told) {
            (Some(whole), Some(told)) if is_cut => whole.starts_with(told),
            (whole, told) => whole == told,
        };
        if !alike {
            found.add(
                agent,
                format!(
                    "the reasoning of reply {at} is {:?} in the journal, {:?} in the stream",
                    whole.map(|text| crate::text::head(text, 80)),
                    told.map(|text| crate::text::head(text, 80))
                ),
            );
        }
    }
}

/// How a message of the journal differs from one of the stream.
fn differ(replay: &Replay, index: u32, told: Option<&Value>) -> Option<String> {
    let Some(told) = told else {
        return Some("the stream does not log it".to_owned());
    };
    let held: &MessageBody = replay.message(index)?;
    if held.role.as_str() != text(told, "role") {
        return Some(format!(
            "role {} in the journal, {} in the stream",
            held.role,
            text(told, "role")
        ));
    }
    let whole = held.text.as_ref().map_or("", |text| replay.text(text));
    let content = text(told, "content");
    let alike = if told["clippedChars"].is_null() {
        whole == content
    } else {
        whole.starts_with(content)
    };
    if !alike {
        return Some(format!(
            "text {:?} in the journal, {:?} in the stream",
            crate::text::head(whole, 80),
            crate::text::head(content, 80)
        ));
    }
    let calls: Vec<&str> = held.calls.iter().map(|call| call.id.as_str()).collect();
    let told_calls: Vec<&str> = told["toolCalls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| text(call, "id"))
        .collect();
    if calls != told_calls {
        return Some(format!(
            "calls {calls:?} in the journal, {told_calls:?} in the stream"
        ));
    }
    let answers = held.answers.as_ref().map(CallId::as_str);
    if answers != told["toolCallId"].as_str() {
        return Some(format!(
            "it answers {answers:?} in the journal, {} in the stream",
            told["toolCallId"]
        ));
    }
    let pictures = told["images"].as_array().map_or(0, Vec::len);
    (held.images.len() != pictures).then(|| {
        format!(
            "{} pictures in the journal, {pictures} in the stream",
            held.images.len()
        )
    })
}
