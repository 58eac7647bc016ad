//! What a script is told: one JSON object, its sole argument (01 §8.1, §8.3).
//!
//! Always true: the argument fits into what one argument of a process may be; what does not fit is
//! moved to a file and named.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use config::hooks::HookEvent;
use record::event::WorktreeRow;
use serde_json::{Map, Value, json};
use vocab::ids::{AgentId, Slug};
use vocab::outcome::EndStatus;
use vocab::tools::ShellPolicy;

use crate::agent::AgentSpec;
use crate::board::worktree_row;

/// Bytes of the argument. Linux takes 128 KiB for one.
const ARGUMENT_BYTES: usize = 120 * 1024;

/// Characters of a long text that a trace shows.
const TRACED_CHARS: usize = 2_048;

/// The agent an event is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// The incarnation.
    pub agent: AgentId,
    /// Its profile.
    pub profile: Slug,
    /// `root`, `subagent`, `issue-implementer`, `issue-reviewer`, `issue-merger`.
    pub kind: &'static str,
    /// Its workspace.
    pub root: PathBuf,
    /// The issue's worktree, where it works in one.
    pub worktree: Option<WorktreeRow>,
    /// What becomes of its commands' output.
    pub policy: Option<ShellPolicy>,
}

impl Who {
    /// An agent, as its hooks are told of it.
    pub(crate) fn of(spec: &AgentSpec) -> Self {
        Self {
            agent: spec.id.clone(),
            profile: spec.profile.slug.clone(),
            kind: spec.kind,
            root: spec.cwd.clone(),
            worktree: spec.worktree.as_ref().map(worktree_row),
            policy: spec.profile.shell(),
        }
    }
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Facts {
    /// Nothing more than that it happens.
    Nothing,
    /// The run has ended so.
    RunEnded(EndStatus),
    /// This call declared an ending.
    Declared(&'static str),
    /// A file is to be written, or was.
    Write {
        /// Absolute.
        path: PathBuf,
        /// The whole file as it becomes.
        contents: Arc<str>,
        /// Once it was tried: whether it was written.
        ok: Option<bool>,
    },
    /// A command is to be run, or was.
    Command {
        /// As given to `sh -c`.
        command: Arc<str>,
        /// Once it ran: whether it exited with 0.
        ok: Option<bool>,
    },
    /// A window is compacted so.
    Compaction(&'static str),
}

impl Facts {
    /// The one part of it that may be long, and its key.
    fn long(&self) -> Option<(&'static str, &Arc<str>)> {
        match self {
            Self::Write { contents, .. } => Some(("contents", contents)),
            Self::Command { command, .. } => Some(("command", command)),
            Self::Nothing | Self::RunEnded(_) | Self::Declared(_) | Self::Compaction(_) => None,
        }
    }
}

/// A script's argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// It fits.
    Whole(Arc<str>),
    /// A text has to be put into a file first: [`Moved`] says which.
    TooLong(Moved),
}

/// A payload whose long text goes into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    object: Map<String, Value>,
    key: &'static str,
    /// The text.
    pub(super) text: Arc<str>,
}

impl Moved {
    /// The argument, once the text stands in a file.
    pub(super) fn into(mut self, file: &Path) -> Arc<str> {
        self.object.insert(self.key.to_owned(), Value::Null);
        self.object
            .insert(format!("{}File", self.key), file.to_string_lossy().into());
        Value::Object(self.object).to_string().into()
    }
}

/// What a script is told.
pub(super) fn argument(event: HookEvent, who: &Who, facts: &Facts) -> Argument {
    let object = object(event, who, facts);
    let whole = Value::Object(object);
    let text = whole.to_string();
    let Value::Object(object) = whole else {
        return Argument::Whole(text.into());
    };
    match facts.long() {
        Some((key, long)) if text.len() > ARGUMENT_BYTES => Argument::TooLong(Moved {
            object,
            key,
            text: Arc::clone(long),
        }),
        _ => Argument::Whole(text.into()),
    }
}

/// The same for a reader, long texts cut.
pub(super) fn traced(event: HookEvent, who: &Who, facts: &Facts) -> String {
    let mut object = object(event, who, facts);
    if let Some((key, long)) = facts.long() {
        let head = record::text::head(long, TRACED_CHARS);
        let rest = long[head.len()..].chars().count();
        if rest > 0 {
            let cut = format!("{head}[{rest} more characters]");
            object.insert(key.to_owned(), cut.into());
        }
    }
    Value::Object(object).to_string()
}

fn object(event: HookEvent, who: &Who, facts: &Facts) -> Map<String, Value> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("event", event.as_str().into());
    put("agentId", who.agent.as_str().into());
    put("agent", who.profile.as_str().into());
    put("agentKind", who.kind.into());
    put("worktree", json!(who.worktree));
    match facts {
        Facts::Nothing => {}
        Facts::RunEnded(status) => drop(put("status", status.as_str().into())),
        Facts::Declared(call) => drop(put("call", (*call).into())),
        Facts::Write { path, contents, ok } => {
            put("path", path.to_string_lossy().into());
            put("contents", json!(contents));
            if let Some(ok) = ok {
                put("ok", (*ok).into());
            }
        }
        Facts::Command { command, ok } => {
            put("command", json!(command));
            if let Some(ok) = ok {
                put("ok", (*ok).into());
            }
        }
        Facts::Compaction(strategy) => drop(put("strategy", (*strategy).into())),
    }
    object
}

/// An absolute path without `.` and `..`, so that a script that compares its beginning is not led
/// astray: what exists of it is asked of the kernel, what does not is read as written. Blocks on
/// the disk.
pub(crate) fn plain(path: &Path) -> PathBuf {
    if !path.components().any(|part| part == Component::ParentDir) {
        return path.components().collect();
    }
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                // Where a link leads is known to the kernel alone.
                if let Ok(real) = plain.canonicalize() {
                    plain = real;
                }
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::samples::write;

    fn who() -> Who {
        Who {
            agent: "agent-3".into(),
            profile: "coder".into(),
            kind: "subagent",
            root: "/work".into(),
            worktree: None,
            policy: None,
        }
    }

    fn read(argument: &str) -> Value {
        serde_json::from_str(argument).unwrap()
    }

    #[test]
    fn a_payload_names_the_event_its_agent_and_its_facts() {
        let facts = Facts::Command {
            command: "ls \"x\"\n".into(),
            ok: Some(false),
        };
        let Argument::Whole(text) = argument(HookEvent::PostShell, &who(), &facts) else {
            panic!("it is short");
        };
        assert_eq!(
            read(&text),
            json!({
                "event": "post-shell", "agentId": "agent-3", "agent": "coder",
                "agentKind": "subagent", "worktree": null, "command": "ls \"x\"\n", "ok": false,
            })
        );
    }

    #[test]
    fn who_works_on_an_issue_is_told_with_its_worktree() {
        let who = Who {
            worktree: Some(WorktreeRow {
                branch: "gg/ui-1".into(),
                path: "/trees/ui-1".into(),
            }),
            ..who()
        };
        let Argument::Whole(text) = argument(HookEvent::AgentStart, &who, &Facts::Nothing) else {
            panic!("it is short");
        };
        assert_eq!(
            read(&text)["worktree"],
            json!({ "branch": "gg/ui-1", "path": "/trees/ui-1" })
        );
    }

    #[test]
    fn contents_past_what_an_argument_holds_are_moved() {
        let short = "x".repeat(ARGUMENT_BYTES - 1_000);
        assert!(matches!(
            argument(HookEvent::PreWrite, &who(), &write(&short)),
            Argument::Whole(_)
        ));
        // The length that counts is that of the argument: a control character takes six bytes.
        let long = "\u{1}".repeat(ARGUMENT_BYTES / 6);
        let Argument::TooLong(moved) = argument(HookEvent::PreWrite, &who(), &write(&long)) else {
            panic!("it is long");
        };
        assert_eq!(&*moved.text, long);
        let text = moved.into(Path::new("/work/.gg/x"));
        assert!(text.len() < 1_000);
        let payload = read(&text);
        assert_eq!(payload["contents"], Value::Null);
        assert_eq!(payload["contentsFile"], "/work/.gg/x");
        assert_eq!(payload["path"], "/work/a");
    }

    #[test]
    fn a_trace_shows_the_beginning_of_long_texts() {
        let text = traced(HookEvent::PreWrite, &who(), &write(&"漢".repeat(3_000)));
        let shown = read(&text)["contents"].as_str().unwrap().to_owned();
        assert!(shown.ends_with("漢[952 more characters]"), "{shown}");
    }

    #[test]
    fn paths_are_plain_where_links_lead_out_and_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("far/away")).unwrap();
        std::os::unix::fs::symlink("far/away", root.join("near")).unwrap();
        assert_eq!(plain(Path::new("/work/./a//b")), Path::new("/work/a/b"));
        assert_eq!(plain(&root.join("near/../x")), root.join("far/x"));
        assert_eq!(plain(&root.join("new/deep/../x")), root.join("new/x"));
        assert_eq!(plain(Path::new("/../../etc")), Path::new("/etc"));
    }
}
