//! What holds of hooks: what each may answer, where it stands, and what follows from it (01 §8).

use std::collections::HashMap;

use vocab::outcome::EndStatus;

use super::line::Line;
use super::{Ending, Found, rule};

/// Events whose block stops something.
const BLOCKING: [&str; 3] = ["agent-stop", "pre-write", "pre-shell"];

/// Events whose message reaches nobody.
const MUTE: [&str; 2] = ["session-end", "pre-compact"];

/// Tools that write, by what a write's hooks are asked of.
const WRITES: [&str; 2] = ["write_file", "edit_file"];

pub(super) fn check(lines: &[Line], ending: Ending, found: &mut Found) {
    let mut hooks = Hooks::default();
    for line in lines {
        if let Some(agent) = line.agent.as_deref() {
            hooks
                .agents
                .entry(agent)
                .or_default()
                .take(line, &mut hooks.failed, found);
        }
        if line.kind == "session_ended" {
            hooks.conclude(line, found);
        }
    }
    if ending == Ending::Finished {
        for agent in hooks.agents.values_mut() {
            agent.answered(None, found);
        }
    }
}

/// Whether a line may stand behind its agent's end: hooks of `session-end` run once everybody has
/// ended.
pub(super) fn follows_an_end(line: &Line) -> bool {
    match line.kind.as_str() {
        "hook" => line.text("event") == "session-end",
        "shell" => line.text("origin") == "hook",
        _ => false,
    }
}

#[derive(Default)]
struct Hooks<'a> {
    agents: HashMap<&'a str, Agent<'a>>,
    /// The first hook that judged nothing, of those that may not.
    failed: Option<usize>,
}

impl Hooks<'_> {
    fn conclude(&self, end: &Line, found: &mut Found) {
        let Some(failed) = self.failed else {
            return;
        };
        let status = end.text("status").parse();
        if !matches!(
            status,
            Ok(EndStatus::HookError | EndStatus::InternalError | EndStatus::Canceled)
        ) {
            let message = format!("the run ends as {} all the same", end.get("status"));
            found.add(failed, rule::HOOKS, message);
        }
    }
}

/// One agent's hooks.
#[derive(Default)]
struct Agent<'a> {
    /// A hook's command whose answer has to follow.
    command: Option<&'a Line>,
    /// The call that is open.
    call: Option<&'a str>,
    /// The hook that blocked it.
    blocked: Option<&'a Line>,
    /// The hook that blocked the turn's ending.
    stays: Option<&'a Line>,
    /// The hook that ended the agent.
    failed: Option<&'a Line>,
}

impl<'a> Agent<'a> {
    fn take(&mut self, line: &'a Line, failed: &mut Option<usize>, found: &mut Found) {
        // Logs are written as things are met, also between a command and its answer.
        if line.kind != "log" {
            self.answered(Some(line), found);
        }
        let mut wrong = |message: String| found.add(line.number, rule::HOOKS, message);
        match line.kind.as_str() {
            "hook" => {
                self.hook(line, found);
                if line.text("decision") == "error" && line.text("event") != "session-end" {
                    failed.get_or_insert(line.number);
                }
            }
            "shell" if line.text("origin") == "hook" => self.command = Some(line),
            "shell" if self.blocked.is_some() => {
                wrong("a command that a hook had blocked".to_owned());
            }
            "tool_call" => {
                self.call = Some(line.text("tool"));
                self.blocked = None;
            }
            // A program's call says by its operation what it is, and no tool's name.
            "api_call" => self.blocked = None,
            "tool_result" | "api_result" => {
                self.call = None;
                if self.blocked.take().is_some() && line.text("failure") != "refused" {
                    let failure = line.get("failure");
                    wrong(format!("a blocked call fails as {failure}, not as refused"));
                }
            }
            "turn_outcome" => {
                let stays = self.stays.take().is_some();
                if stays && line.text("outcome") == "finished" {
                    wrong("the turn finished what a hook had blocked".to_owned());
                }
            }
            "prompt" if self.failed.is_some() => {
                wrong("a model call behind a hook that judged nothing".to_owned());
            }
            "agent_status" if matches!(line.text("status"), "done" | "failed") => {
                let as_told = ["hook_error", "internal_error", "canceled"];
                if self.failed.take().is_some() && !as_told.contains(&line.text("endedAs")) {
                    let ended = line.get("endedAs");
                    wrong(format!(
                        "a hook judged nothing, and the agent ends as {ended}"
                    ));
                }
            }
            _ => {}
        }
    }

    fn hook(&mut self, line: &'a Line, found: &mut Found) {
        let (event, decision) = (line.text("event"), line.text("decision"));
        let mut wrong = |message: String| found.add(line.number, rule::HOOKS, message);
        if decision == "block" && !BLOCKING.contains(&event) {
            wrong(format!("a block at {event}, which has nothing to stop"));
        }
        if decision == "message" && MUTE.contains(&event) {
            wrong(format!("a message at {event}, which reaches nobody"));
        }
        if matches!(decision, "block" | "error") == line.get("reason").is_null() {
            wrong(format!("{decision} with the reason {}", line.get("reason")));
        }
        let expected: Option<&[&str]> = match event {
            "pre-write" | "post-write" => Some(&WRITES),
            "pre-shell" | "post-shell" => Some(&["shell"]),
            _ => None,
        };
        if let Some(expected) = expected {
            // A program's calls are open one within the other: nothing is told of them here.
            if let Some(call) = self.call
                && !expected.contains(&call)
            {
                wrong(format!("{event} within a call of `{call}`"));
            }
            if line.turn.is_none() {
                wrong(format!("{event} outside any turn"));
            }
        }
        if self.blocked.is_some() || self.stays.is_some() {
            wrong(format!("{event} behind a block, which is the last word"));
        }
        match (decision, event) {
            ("block", "agent-stop") => self.stays = Some(line),
            ("block", _) => self.blocked = Some(line),
            ("error", event) if event != "session-end" => self.failed = Some(line),
            _ => {}
        }
    }

    /// A hook's command is answered by the agent's next line.
    fn answered(&mut self, next: Option<&Line>, found: &mut Found) {
        if let Some(command) = self.command.take()
            && next.is_none_or(|next| next.kind != "hook")
        {
            let message = "a hook's command whose answer does not follow";
            found.add(command.number, rule::HOOKS, message);
        }
    }
}
