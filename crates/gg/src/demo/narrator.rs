//! A session as a person reads it while it goes: turns, what was called, what came of it, the cost.
//!
//! The narrator takes the stream's lines one by one and answers with what to print. It keeps only
//! what a later line needs: the arguments of open calls, who takes part, and the sums of the run. It reads the
//! stream as any reader must: unknown types and fields are ignored, missing ones are empty.
//!
//! Always true: what it prints holds no control character of the session's own, so that a
//! command's output cannot steer the terminal.

mod board;
mod family;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use vocab::figures::grouped;

use serde_json::Value;

use family::Family;

use crate::output;
use crate::page::{glimpse, prose};

/// Lines shown of what a command printed or a search found.
const SHOWN_LINES: usize = 8;
/// Characters shown of one line.
const SHOWN_CHARS: usize = 150;

/// Escape sequences, or nothing where the terminal wants none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Palette {
    bold: &'static str,
    dim: &'static str,
    good: &'static str,
    bad: &'static str,
    off: &'static str,
}

impl Palette {
    /// With colour or without.
    pub(crate) fn new(colour: bool) -> Self {
        if !colour {
            return Self::default();
        }
        Self {
            bold: "\x1b[1m",
            dim: "\x1b[2m",
            good: "\x1b[32m",
            bad: "\x1b[31m",
            off: "\x1b[0m",
        }
    }
}

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct Narrator {
    palette: Palette,
    /// Arguments of the calls that are open, by call id.
    open: HashMap<String, Value>,
    /// Words for each agent's last usage, printed when its turn is judged.
    usage: HashMap<String, String>,
    /// Who took part: the first one speaks without a name until there are more.
    family: Family,
    sums: Sums,
}

#[derive(Debug, Default)]
struct Sums {
    calls: u64,
    input: u64,
    cached: u64,
    output: u64,
    cost: Option<f64>,
}

impl Narrator {
    /// A narrator at the start of a stream.
    pub(crate) fn new(palette: Palette) -> Self {
        Self {
            palette,
            ..Self::default()
        }
    }

    /// What to print for one event; whole lines, or `None` for an event of no interest here.
    pub(crate) fn event(&mut self, event: &Value) -> Option<String> {
        let text = match event["type"].as_str()? {
            "agent_spawned" => self.family.spawned(event, &self.palette)?,
            "agent_message" => family::wrote(event, &self.palette),
            "issue_status" => board::moved(event, &self.palette),
            "issue_review" => board::reviewed(event, &self.palette),
            "worktree_merged" => board::landed(event, &self.palette),
            "assistant_message" => self.said(event),
            "tool_call" => {
                let arguments = event["arguments"].as_str().unwrap_or_default();
                let arguments = serde_json::from_str(arguments).unwrap_or_default();
                self.open.insert(call_key(event), arguments);
                return None;
            }
            "shell" => self.ran(event),
            "tool_result" => self.came(event)?,
            "usage" => {
                let words = spent(&event["tokens"], &event["cost"]);
                self.usage.insert(word(&event["agentId"]), words);
                return None;
            }
            "turn_outcome" => self.judged(event),
            "log" => self.noted(event)?,
            "slot_usage" => {
                self.sums.add(event);
                return None;
            }
            "agent_status" => self.family.changed(event, &self.palette)?,
            "session_ended" => self.ended(event),
            _ => return None,
        };
        Some(self.family.named(event, text, &self.palette))
    }

    fn said(&self, event: &Value) -> String {
        let Palette { bold, off, .. } = self.palette;
        let turn = event["turn"].as_u64().unwrap_or_default();
        let mut text = prose(event["text"].as_str().unwrap_or_default());
        if text.is_empty() {
            let calls = event["calls"].as_array().into_iter().flatten();
            let names: Vec<String> = calls.map(|call| word(&call["name"])).collect();
            text = names.join(", ");
        }
        format!("\n{bold}{turn:>3}{off}  {text}\n")
    }

    fn ran(&self, event: &Value) -> String {
        let Palette {
            dim,
            good,
            bad,
            off,
            ..
        } = self.palette;
        let code = event["exitCode"].as_i64().unwrap_or(-1);
        let hue = if code == 0 { good } else { bad };
        let command = prose(event["command"].as_str().unwrap_or_default());
        let mut text = format!("     {dim}${off} {command}  {hue}exit code {code}{off}\n");
        for stream in ["stdout", "stderr"] {
            tail(
                &mut text,
                event[stream].as_str().unwrap_or_default(),
                dim,
                off,
            );
        }
        text
    }

    fn came(&mut self, event: &Value) -> Option<String> {
        let Palette { dim, bad, off, .. } = self.palette;
        let arguments = self.open.remove(&call_key(event)).unwrap_or_default();
        let tool = word(&event["tool"]);
        let preview = event["preview"].as_str().unwrap_or_default();
        if event["ok"] == false {
            let mut text = format!("     {tool}  {bad}{}{off}\n", word(&event["failure"]));
            head(&mut text, preview, dim, off);
            return Some(text);
        }
        let first = glimpse(preview.lines().next().unwrap_or_default(), SHOWN_CHARS);
        let text = match tool.as_str() {
            // The `shell` event told it, with its exit code, and the agents' own events what became
            // of them; the summary is told at the end.
            "shell" | "finish" | "spawn_subagent" | "wait_for_subagents" | "send_message"
            | "wait_for_issue" | "approve" | "request_changes" => {
                return None;
            }
            "write_file" | "edit_file" => format!("     {dim}{tool}{off} {first}\n"),
            "list_dir" => {
                let names: Vec<String> = preview
                    .lines()
                    .map(|line| glimpse(line, SHOWN_CHARS))
                    .collect();
                format!("     {dim}{tool}{off} {}\n", names.join("  "))
            }
            _ => {
                let target = ["path", "query", "name"]
                    .iter()
                    .find_map(|name| arguments[name].as_str())
                    .map(|line| glimpse(line, SHOWN_CHARS))
                    .unwrap_or_default();
                let mut text = format!("     {dim}{tool}{off} {target}\n");
                head(&mut text, preview, dim, off);
                text
            }
        };
        Some(text)
    }

    fn judged(&mut self, event: &Value) -> String {
        let Palette { dim, bad, off, .. } = self.palette;
        let mut text = String::new();
        if event["outcome"] == "error" || event["outcome"] == "fatal" {
            let why = word(&event["errorType"]);
            writeln!(text, "     {bad}the turn failed{off} {why}")
                .expect("a string takes any text");
        }
        if let Some(usage) = self.usage.remove(&word(&event["agentId"])) {
            writeln!(text, "     {dim}{usage}{off}").expect("a string takes any text");
        }
        text
    }

    fn noted(&self, event: &Value) -> Option<String> {
        let Palette { bad, off, .. } = self.palette;
        let level = event["level"].as_str()?;
        let message = prose(event["message"].as_str().unwrap_or_default());
        (level != "info").then(|| format!("     {bad}{level}{off} {message}\n"))
    }

    fn ended(&self, event: &Value) -> String {
        let Palette {
            bold,
            good,
            bad,
            off,
            ..
        } = self.palette;
        let status = word(&event["status"]);
        let code = event["exitCode"].as_u64().unwrap_or(1);
        let hue = if code == 0 { good } else { bad };
        let mut text = format!(
            "\n{bold}{hue}{status}{off} with exit code {code}: {}\n",
            self.sums
        );
        if let Some(why) = event["error"].as_str() {
            writeln!(text, "{}", prose(why)).expect("a string takes any text");
        }
        text
    }
}

impl Sums {
    fn add(&mut self, event: &Value) {
        let tokens = |class: &str| event["tokens"][class].as_u64().unwrap_or(0);
        self.calls += event["calls"].as_u64().unwrap_or(0);
        self.input += tokens("uncachedInput") + tokens("cachedInput");
        self.cached += tokens("cachedInput");
        self.output += tokens("output") + tokens("reasoning");
        if let Some(cost) = price(&event["cost"]) {
            self.cost = Some(self.cost.unwrap_or(0.0) + cost);
        }
    }
}

impl std::fmt::Display for Sums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let calls = self.calls;
        let plural = if calls == 1 { "" } else { "s" };
        write!(
            f,
            "{calls} model call{plural}, {}",
            amounts(self.input, self.cached, self.output, self.cost)
        )
    }
}

/// A usage event in words.
fn spent(tokens: &Value, cost: &Value) -> String {
    let class = |class: &str| tokens[class].as_u64().unwrap_or(0);
    let cached = class("cachedInput");
    amounts(
        class("uncachedInput") + cached,
        cached,
        class("output") + class("reasoning"),
        price(cost),
    )
}

fn amounts(input: u64, cached: u64, output: u64, cost: Option<f64>) -> String {
    let cached = match cached {
        0 => String::new(),
        cached => format!(" ({} from the cache)", grouped(cached)),
    };
    let cost = cost.map_or_else(|| "no price".to_owned(), |cost| format!("${cost:.4}"));
    format!(
        "{} tokens in{cached}, {} out, {cost}",
        grouped(input),
        grouped(output)
    )
}

/// What the gateway charged; where it said nothing, what the list prices make of it.
fn price(cost: &Value) -> Option<f64> {
    cost["actual"]
        .as_f64()
        .or_else(|| cost["comparable"].as_f64())
}

/// The last lines of what a command printed, indented.
fn tail(into: &mut String, text: &str, dim: &str, off: &str) {
    let hidden = text.lines().count().saturating_sub(SHOWN_LINES);
    if hidden > 0 {
        writeln!(into, "       {dim}({hidden} lines before){off}")
            .expect("a string takes any text");
    }
    for line in text.lines().skip(hidden) {
        writeln!(into, "       {dim}{}{off}", glimpse(line, SHOWN_CHARS))
            .expect("a string takes any text");
    }
}

/// The first lines of what a tool answered, indented.
fn head(into: &mut String, text: &str, dim: &str, off: &str) {
    for line in text.lines().take(SHOWN_LINES) {
        writeln!(into, "       {dim}{}{off}", glimpse(line, SHOWN_CHARS))
            .expect("a string takes any text");
    }
    let hidden = text.lines().count().saturating_sub(SHOWN_LINES);
    if hidden > 0 {
        writeln!(into, "       {dim}({hidden} more lines){off}").expect("a string takes any text");
    }
}

/// What an open call is known by: two agents may use one id.
fn call_key(event: &Value) -> String {
    format!("{} {}", word(&event["agentId"]), word(&event["callId"]))
}

fn word(value: &Value) -> String {
    prose(value.as_str().unwrap_or_default())
}

/// The narrator as the place a stream is written to: takes bytes, prints what whole lines mean.
#[derive(Debug)]
pub(crate) struct Tap {
    narrator: Narrator,
    held: Vec<u8>,
    print: fn(&str) -> anyhow::Result<()>,
}

impl Tap {
    /// A tap that prints to stdout.
    pub(crate) fn to_stdout(narrator: Narrator) -> Self {
        Self {
            narrator,
            held: Vec::new(),
            print: output::print,
        }
    }
}

impl Write for Tap {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end + 1);
            self.held.extend_from_slice(line);
            rest = after;
            if let Ok(event) = serde_json::from_slice(&self.held)
                && let Some(text) = self.narrator.event(&event)
            {
                (self.print)(&text).map_err(io::Error::other)?;
            }
            self.held.clear();
        }
        self.held.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = r#"
{"type":"session_started","seq":0,"sessionId":"gg-demo"}
{"type":"log","level":"info","message":"ceilings: maxTurns 40"}
{"type":"assistant_message","turn":1,"text":"I look around.","calls":[{"id":"a","name":"list_dir","arguments":"{}"}]}
{"type":"usage","tokens":{"uncachedInput":1460,"cachedInput":null,"output":38},"cost":{"comparable":0.0016,"actual":0.0016},"figure":"work"}
{"type":"tool_call","callId":"a","tool":"list_dir","arguments":"{}"}
{"type":"tool_result","callId":"a","tool":"list_dir","ok":true,"chars":20,"preview":".gg/\ntelemetry.ndjson","durationMs":1}
{"type":"turn_outcome","outcome":"progressed","consecutiveErrors":0,"turns":1}
{"type":"usage","tokens":{"uncachedInput":40,"cachedInput":1460,"output":1200,"reasoning":34},"cost":{"comparable":null,"actual":null},"figure":"work"}
{"type":"assistant_message","turn":2,"text":null,"calls":[{"id":"b","name":"write_file"},{"id":"c","name":"shell"}]}
{"type":"tool_call","callId":"b","tool":"write_file","arguments":"{\"path\":\"a.txt\",\"contents\":\"x\"}"}
{"type":"tool_result","callId":"b","tool":"write_file","ok":true,"preview":"wrote 1 bytes to a.txt"}
{"type":"tool_call","callId":"c","tool":"shell","arguments":"{\"command\":\"sh check.sh\"}"}
{"type":"shell","origin":"tool","command":"sh check.sh","cwd":".","exitCode":1,"stdout":"ok    one\nFAIL  two\u001b[2J\n","stderr":"sh: gone\n"}
{"type":"tool_result","callId":"c","tool":"shell","ok":true,"preview":"exit code: 1\nok    one"}
{"type":"turn_outcome","outcome":"progressed","consecutiveErrors":0,"turns":2}
{"type":"assistant_message","turn":3,"text":"I read it.","calls":[]}
{"type":"tool_call","callId":"d","tool":"read_file","arguments":"{\"path\":\"a.txt\"}"}
{"type":"tool_result","callId":"d","tool":"read_file","ok":true,"preview":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10"}
{"type":"tool_call","callId":"e","tool":"edit_file","arguments":"{\"path\":\"a.txt\"}"}
{"type":"tool_result","callId":"e","tool":"edit_file","ok":false,"failure":"not-found","preview":"`edit_file` failed (not-found): no such text"}
{"type":"turn_outcome","outcome":"error","error":"missing_completion","errorType":"missing_completion_no_call","consecutiveErrors":1,"turns":3}
{"type":"log","level":"warn","code":"retry","message":"attempt 1 failed"}
{"type":"a_type_of_tomorrow","x":1}
{"type":"agent_status","status":"running"}
{"type":"agent_status","status":"done","endedAs":"completed","result":"All of it works."}
{"type":"slot_usage","profileId":"builder","modelId":"mock/demo","tokens":{"uncachedInput":1500,"cachedInput":1460,"output":1238,"reasoning":34},"cost":{"comparable":null,"actual":0.0016},"workCost":{},"calls":3}
{"type":"session_summary"}
{"type":"session_ended","status":"completed","exitCode":0}
"#;

    fn narrate(stream: &str, palette: Palette) -> String {
        let mut narrator = Narrator::new(palette);
        let events = stream.lines().filter(|line| !line.is_empty());
        events
            .filter_map(|line| narrator.event(&serde_json::from_str(line).unwrap()))
            .collect()
    }

    #[test]
    fn a_session_reads_as_reviewed() {
        insta::assert_snapshot!(narrate(STREAM, Palette::default()));
    }

    #[test]
    fn colour_changes_no_word_and_nothing_of_the_session_steers_the_terminal() {
        let mut coloured = narrate(STREAM, Palette::new(true));
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m"] {
            coloured = coloured.replace(code, "");
        }
        assert_eq!(coloured, narrate(STREAM, Palette::default()));
    }

    #[test]
    fn a_failed_session_says_why() {
        let line = r#"{"type":"session_ended","status":"model_error","exitCode":1,"error":"the script is over"}"#;
        assert_eq!(
            narrate(line, Palette::default()),
            "\nmodel_error with exit code 1: 0 model calls, 0 tokens in, 0 out, no price\n\
             the script is over\n"
        );
    }

    #[test]
    fn a_tap_waits_for_whole_lines() {
        let mut tap = Tap {
            narrator: Narrator::default(),
            held: Vec::new(),
            print: |text| anyhow::bail!("{text}"),
        };
        let line = b"{\"type\":\"log\",\"level\":\"warn\",\"message\":\"hm\"}\n";
        for byte in &line[..line.len() - 1] {
            tap.write_all(&[*byte]).unwrap();
        }
        let printed = tap.write_all(b"\n").unwrap_err().to_string();
        assert_eq!(printed, "     warn hm\n");
        tap.write_all(b"no json\n{\"type\":\"usage\"}\n").unwrap();
    }
}
