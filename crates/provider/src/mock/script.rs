//! The script of a mock: its JSON form, read and checked once, and each line turned into a step.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use vocab::ids::Slug;
use vocab::message::ToolCall;
use vocab::tools::EndingCall;

use super::{Outcome, Step};
use crate::fault::{Discarded, Fault};
use crate::price::UsageReport;
use crate::reply::{Reply, settle_arguments};
use crate::schedule::retry_after;

/// The most steps one line may stand for.
const MOST_REPEATS: u64 = 1_000_000;

/// What every profile of a mock model answers, in order.
#[derive(Clone, Debug)]
pub struct Script {
    profiles: BTreeMap<String, Vec<Arc<Line>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    profiles: BTreeMap<String, Vec<Line>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Line {
    text: Option<String>,
    reasoning: Option<String>,
    calls: Vec<WrittenCall>,
    /// Short for a `submit_program` call.
    program: Option<String>,
    /// Short for a `finish` call.
    finish: Option<String>,
    finish_reason: Option<String>,
    usage: Option<Box<RawValue>>,
    provider: Option<String>,
    delay_ms: u64,
    fault: Option<Value>,
    repeat: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    tool: String,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenStatus {
    status: u16,
    #[serde(default)]
    body: String,
    #[serde(default)]
    retry_after: Option<Value>,
}

const FAULT_WORDS: [&str; 6] = ["stall", "timeout", "transport", "length", "parse", "panic"];

impl Script {
    /// The script of `mock/<name>`, named without its prefix.
    ///
    /// `test` serves the check of a launch document (01 §11): every profile lists its directory
    /// and then says `finish` as often as five error turns need.
    pub fn built_in(name: &str) -> Option<Self> {
        match name {
            "test" => {
                let usage = json!({ "prompt_tokens": 1000, "completion_tokens": 20, "cost": 0 });
                let script = json!({ "profiles": { "*": [
                    {
                        "text": "I look at the workspace first.",
                        "calls": [{ "tool": "list_dir", "arguments": {} }],
                        "finishReason": "tool_calls",
                        "usage": usage,
                    },
                    {
                        "finish": "Nothing was asked of a mock model, and nothing was done.",
                        "finishReason": "tool_calls",
                        "usage": usage,
                        "repeat": 9,
                    },
                ] } });
                Some(Self::from_json(&script.to_string()).expect("the built-in script is legal"))
            }
            _ => None,
        }
    }

    /// Every name [`built_in`](Self::built_in) knows.
    pub const fn built_in_names() -> &'static [&'static str] {
        &["test"]
    }

    /// Reads a script. The error is a sentence that names the place.
    pub fn from_json(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('[') {
            return Err("the mock script: found a list; expected `{\"profiles\": {…}}`".to_owned());
        }
        let written: Written =
            serde_json::from_str(text).map_err(|error| format!("the mock script: {error}"))?;
        let mut profiles = BTreeMap::new();
        for (profile, lines) in written.profiles {
            if profile != "*" && !Slug::is_legal(&profile) {
                return Err(format!(
                    "the mock script: profiles: {profile:?} is neither a profile's slug nor `*`"
                ));
            }
            let mut steps = Vec::with_capacity(lines.len());
            for (place, line) in lines.into_iter().enumerate() {
                line.check()
                    .map_err(|why| format!("the mock script: profiles.{profile}[{place}].{why}"))?;
                let line = Arc::new(line);
                let times = line.repeat.unwrap_or(1) as usize;
                steps.extend(std::iter::repeat_n(line, times));
            }
            profiles.insert(profile, steps);
        }
        Ok(Self { profiles })
    }

    pub(super) fn steps(&self, profile: &Slug) -> Option<&[Arc<Line>]> {
        let own = self.profiles.get(profile.as_str());
        own.or_else(|| self.profiles.get("*")).map(Vec::as_slice)
    }
}

impl Line {
    fn check(&self) -> Result<(), String> {
        if let Some(times) = self.repeat
            && !(1..=MOST_REPEATS).contains(&times)
        {
            return Err(format!("repeat is {times}; expected 1 to {MOST_REPEATS}"));
        }
        if let Some(usage) = &self.usage
            && UsageReport::read(usage).is_none()
        {
            return Err("usage is no object".to_owned());
        }
        for (place, call) in self.calls.iter().enumerate() {
            if call.tool.trim().is_empty() {
                return Err(format!(
                    "calls[{place}].tool is blank; expected a tool's name"
                ));
            }
        }
        match &self.fault {
            None => Ok(()),
            Some(Value::String(word)) if FAULT_WORDS.contains(&word.as_str()) => Ok(()),
            Some(Value::Object(_)) => self.status().map(|_| ()),
            Some(other) => Err(format!(
                "fault is {other}; expected an object with a status, or one of {}",
                FAULT_WORDS.join(", ")
            )),
        }
    }

    fn status(&self) -> Result<WrittenStatus, String> {
        let written: WrittenStatus = serde_json::from_value(self.fault.clone().unwrap_or_default())
            .map_err(|error| format!("fault: {error}"))?;
        match written.status {
            300..=599 => Ok(written),
            status => Err(format!("fault.status is {status}; expected 300 to 599")),
        }
    }

    /// The step at a place of the list; the place makes its calls' ids.
    pub(super) fn play(&self, place: usize) -> Step {
        Step {
            delay: Duration::from_millis(self.delay_ms),
            outcome: self.outcome(place),
        }
    }

    fn outcome(&self, place: usize) -> Outcome {
        let secs = self.delay_ms.div_ceil(1000);
        let provider = self.provider.clone().map(Into::into);
        let fault = match &self.fault {
            None => {
                return self
                    .reply(place)
                    .map_or_else(Outcome::Fault, |reply| Outcome::Reply(Box::new(reply)));
            }
            Some(Value::String(word)) => match word.as_str() {
                "panic" => return Outcome::Panic,
                "stall" => Fault::Stall { secs, provider },
                "timeout" => Fault::Timeout { secs, provider },
                "length" => Fault::LengthCapped(Box::new(self.discarded())),
                "parse" => Fault::Parse {
                    why: "the mock script says so".to_owned(),
                    discarded: Box::new(self.discarded()),
                },
                _ => Fault::Transport {
                    why: "the mock script says so".to_owned(),
                    provider,
                },
            },
            Some(_) => match self.status() {
                Ok(written) => {
                    let wait = written.retry_after.and_then(|value| {
                        let text = value
                            .as_str()
                            .map_or_else(|| value.to_string(), str::to_owned);
                        retry_after(&text, std::time::SystemTime::now())
                    });
                    Fault::of_status(written.status, wait, written.body.as_bytes(), provider)
                }
                Err(why) => Fault::Unusable { why },
            },
        };
        Outcome::Fault(fault)
    }

    fn reply(&self, place: usize) -> Result<Reply, Fault> {
        if self.finish_reason.as_deref() == Some("length") {
            return Err(Fault::LengthCapped(Box::new(self.discarded())));
        }
        let mut calls = Vec::new();
        for (name, arguments, id) in self.written_calls() {
            let arguments = settle_arguments(arguments).map_err(|why| Fault::Parse {
                why: format!("the arguments of `{name}` are not JSON: {why}"),
                discarded: Box::new(self.discarded()),
            })?;
            let id = id.unwrap_or_else(|| format!("mock_{}_{}", place + 1, calls.len() + 1));
            calls.push(ToolCall {
                id: id.into(),
                name,
                arguments,
            });
        }
        Ok(Reply {
            text: self.text.as_deref().map(Into::into),
            reasoning: self.reasoning.as_deref().map(Into::into),
            reasoning_items: Vec::new(),
            calls,
            finish_reason: self.finish_reason.clone(),
            usage: self.usage.as_deref().and_then(UsageReport::read),
            provider: self.provider.clone().map(Into::into),
            generation: None,
        })
    }

    /// Every call as name, argument text and id: the listed ones, then the two shorthands.
    fn written_calls(&self) -> impl Iterator<Item = (String, String, Option<String>)> + '_ {
        let listed = self.calls.iter().map(|call| {
            let arguments = match &call.arguments {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                value => value.to_string(),
            };
            (call.tool.clone(), arguments, call.id.clone())
        });
        let short = |name: &str, key: &str, text: &Option<String>| {
            let arguments = json!({ key: text.as_ref()? }).to_string();
            Some((name.to_owned(), arguments, None))
        };
        listed
            .chain(short("submit_program", "program", &self.program))
            .chain(short(EndingCall::Finish.as_str(), "summary", &self.finish))
    }

    fn discarded(&self) -> Discarded {
        let mut content = self.text.clone().unwrap_or_default();
        for (_, arguments, _) in self.written_calls() {
            content.push_str(&arguments);
        }
        Discarded {
            content,
            usage: self.usage.as_deref().and_then(UsageReport::read),
            provider: self.provider.clone().map(Into::into),
            generation: None,
        }
    }
}
