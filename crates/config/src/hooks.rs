//! Hooks: the operator's commands and scripts at ten points of a run (01 §8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vocab::tools::ShellMode;

use crate::validate::Shape;
use crate::words::words;

words! {
    /// When a hook fires.
    HookEvent {
        /// Once, before the root's first turn.
        SessionStart = "session-start",
        /// Once, after the root finished.
        SessionEnd = "session-end",
        /// An instance starts.
        AgentStart = "agent-start",
        /// An ending was declared.
        AgentStop = "agent-stop",
        /// Before any file write.
        PreWrite = "pre-write",
        /// After it.
        PostWrite = "post-write",
        /// Before a command.
        PreShell = "pre-shell",
        /// After it.
        PostShell = "post-shell",
        /// Before a compaction.
        PreCompact = "pre-compact",
        /// The window was rewritten.
        PostCompact = "post-compact",
    }
}

impl HookEvent {
    /// Whether it belongs to the run, so to `capabilitySet.hooks`, rather than to a profile.
    pub const fn is_of_session(self) -> bool {
        matches!(self, Self::SessionStart | Self::SessionEnd)
    }
}

words! {
    /// A hook that gg brings along.
    BuiltInHook {
        /// Returns each event as a message.
        Trace = "trace",
        /// Blocks writes that are empty or blank.
        RefuseEmptyWrite = "refuse-empty-write",
        /// Blocks commands that push, reset, or remove outside the workspace.
        GuardDestructiveShell = "guard-destructive-shell",
    }
}

/// One hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hook {
    /// When it fires.
    pub event: HookEvent,
    /// What the operator calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub name: Option<String>,
    /// What it does.
    pub action: HookAction,
}

impl Hook {
    pub(crate) const SHAPE: Shape = Shape {
        name: "Hook",
        keys: &["event", "name", "action"],
        required: &["event", "action"],
    };
}

/// What a hook does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum HookAction {
    /// Runs a command: exit 0 inserts its output, anything else blocks.
    Command {
        /// Given to `sh -c`.
        #[schemars(length(min = 1))]
        command: String,
        /// Where it runs: absolute, or relative to the agent's workspace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        cwd: Option<String>,
        /// Seconds before it is killed. Absent: 300.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
        timeout_secs: Option<f64>,
        /// Output mode, instead of the agent's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "ShellMode")]
        output: Option<ShellMode>,
    },
    /// Asks a script that gg brings along.
    BuiltIn {
        /// Which.
        script: BuiltInHook,
    },
    /// Asks a script of the operator's.
    Custom {
        /// Its text; a `#!` line picks the interpreter, else `sh`.
        #[schemars(length(min = 1))]
        source: String,
        /// Seconds before it is killed. Absent: 300.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
        timeout_secs: Option<f64>,
    },
}

words! {
    /// The kinds of action.
    HookKind {
        /// A command.
        Command = "command",
        /// A script that gg brings along.
        BuiltIn = "built-in",
        /// A script of the operator's.
        Custom = "custom",
    }
}

impl HookKind {
    pub(crate) const fn shape(self) -> Shape {
        match self {
            Self::Command => Shape {
                name: "HookAction command",
                keys: &["type", "command", "cwd", "timeoutSecs", "output"],
                required: &["type", "command"],
            },
            Self::BuiltIn => Shape {
                name: "HookAction built-in",
                keys: &["type", "script"],
                required: &["type", "script"],
            },
            Self::Custom => Shape {
                name: "HookAction custom",
                keys: &["type", "source", "timeoutSecs"],
                required: &["type", "source"],
            },
        }
    }
}
