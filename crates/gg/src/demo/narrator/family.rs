//! Who takes part in a session, as a person reads it: who was started by whom, who waits for whom,
//! and a name in front of what each says, once there is more than one.
//!
//! Always true: a session of one agent reads as if there were no names.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::{Palette, word};
use crate::page::{glimpse, prose};

/// Characters shown of a task or a message.
const SHOWN: usize = 110;
/// Names of those waited for that are written out.
const NAMED: usize = 6;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Family {
    members: HashSet<String>,
}

impl Family {
    /// An agent was started. Of the first one there is nothing to say.
    pub(super) fn spawned(&mut self, event: &Value, palette: &Palette) -> Option<String> {
        let Palette { bold, dim, off, .. } = palette;
        let id = word(&event["agentId"]);
        self.members.insert(id.clone());
        let parent = word(&event["parentId"]);
        let issue = word(&event["origin"]["issue"]);
        let why = match (parent.is_empty(), issue.is_empty()) {
            (false, _) => format!("started by {parent}"),
            (true, false) => format!("for issue {issue}"),
            (true, true) => return None,
        };
        let profile = word(&event["profileId"]);
        let task = event["brief"].as_str().unwrap_or_default();
        let task = glimpse(task, SHOWN);
        Some(format!(
            "     {bold}+ {id}{off} {dim}({profile}, {why}){off} {task}\n"
        ))
    }

    /// An agent waits, or has ended.
    pub(super) fn changed(&self, event: &Value, palette: &Palette) -> Option<String> {
        let Palette { dim, bad, off, .. } = palette;
        match event["status"].as_str()? {
            "blocked" => {
                let on = &event["waitingOn"];
                let issues = on["issues"].as_array().into_iter().flatten();
                let issues = issues.chain(Some(&on["issue"]).filter(|issue| issue.is_string()));
                let agents = on["agents"].as_array().into_iter().flatten().map(word);
                let names: Vec<String> = agents
                    .chain(issues.map(|issue| format!("issue {}", word(issue))))
                    .collect();
                let mut whom = names[..names.len().min(NAMED)].join(", ");
                if names.len() > NAMED {
                    write!(whom, " and {} more", names.len() - NAMED)
                        .expect("a string takes any text");
                }
                Some(format!("     {dim}waits for {whom}{off}\n"))
            }
            "done" | "failed" => {
                let mut text = String::new();
                if let Some(result) = event["result"].as_str() {
                    writeln!(text, "     {}", prose(result)).expect("a string takes any text");
                } else if self.members.len() > 1 {
                    let how = word(&event["endedAs"]);
                    writeln!(text, "     {bad}ended as {how}{off}")
                        .expect("a string takes any text");
                }
                (!text.is_empty()).then_some(text)
            }
            _ => None,
        }
    }

    /// Puts the name of whoever an event is of in front of its first line, where several take part.
    pub(super) fn named(&self, event: &Value, text: String, palette: &Palette) -> String {
        let Palette { dim, off, .. } = palette;
        let id = word(&event["agentId"]);
        let about = event["type"].as_str();
        if self.members.len() < 2 || id.is_empty() || about == Some("agent_spawned") {
            return text;
        }
        let blank = text.len() - text.trim_start_matches('\n').len();
        let (before, text) = text.split_at(blank);
        format!("{before}{dim}{id}{off} {}\n", text.trim_end_matches('\n'))
    }
}

/// An agent wrote to one it had started.
pub(super) fn wrote(event: &Value, palette: &Palette) -> String {
    let Palette { dim, off, .. } = palette;
    let to = word(&event["to"]);
    let text = glimpse(event["preview"].as_str().unwrap_or_default(), SHOWN);
    format!("     {dim}to {to}:{off} {text}\n")
}

#[cfg(test)]
mod tests {
    use super::super::Narrator;
    use super::*;

    const STREAM: &str = r#"
{"type":"agent_spawned","agentId":"root","profileId":"builder","brief":"Make it."}
{"type":"assistant_message","agentId":"root","turn":1,"text":"Two can do this."}
{"type":"tool_call","agentId":"root","callId":"a","tool":"spawn_subagent","arguments":"{}"}
{"type":"agent_spawned","agentId":"agent-1","parentId":"root","profileId":"tester","brief":"Write the check.\nAnd run it."}
{"type":"tool_result","agentId":"root","callId":"a","tool":"spawn_subagent","ok":true,"preview":"agent-1"}
{"type":"agent_message","agentId":"root","to":"agent-1","chars":9,"preview":"Be quick."}
{"type":"agent_status","agentId":"root","status":"blocked","waitingOn":{"agents":["agent-1"]}}
{"type":"assistant_message","agentId":"agent-1","turn":1,"text":"I look."}
{"type":"shell","agentId":"agent-1","command":"ls","exitCode":0,"stdout":"a\nb\n","stderr":""}
{"type":"usage","agentId":"agent-1","tokens":{"uncachedInput":10,"output":2},"cost":{"actual":0.1}}
{"type":"usage","agentId":"root","tokens":{"uncachedInput":99,"output":9},"cost":{"actual":0.9}}
{"type":"turn_outcome","agentId":"agent-1","outcome":"progressed","turns":1}
{"type":"agent_status","agentId":"agent-1","status":"done","endedAs":"completed","result":"It holds."}
{"type":"agent_status","agentId":"agent-2","status":"failed","endedAs":"model_error"}
{"type":"turn_outcome","agentId":"root","outcome":"progressed","turns":1}
"#;

    #[test]
    fn a_family_reads_as_reviewed() {
        let mut narrator = Narrator::new(Palette::default());
        let events = STREAM.lines().filter(|line| !line.is_empty());
        let text: String = events
            .filter_map(|line| narrator.event(&serde_json::from_str(line).unwrap()))
            .collect();
        insta::assert_snapshot!(text);
    }
}
