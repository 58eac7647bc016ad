//! Hooks: the operator's commands and scripts at ten points of a run (01 §8).

use std::time::Duration;

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

    /// Whether a block has anything to stop.
    pub const fn blocks(self) -> bool {
        matches!(self, Self::AgentStop | Self::PreWrite | Self::PreShell)
    }

    /// Whether a message reaches a model.
    pub const fn inserts(self) -> bool {
        !matches!(self, Self::SessionEnd | Self::PreCompact)
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

/// What a hook has where its `timeoutSecs` is absent.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

impl Hook {
    /// What kind it is.
    pub const fn kind(&self) -> HookKind {
        match self.action {
            HookAction::Command { .. } => HookKind::Command,
            HookAction::BuiltIn { .. } => HookKind::BuiltIn,
            HookAction::Custom { .. } => HookKind::Custom,
        }
    }

    /// What it may take.
    pub fn timeout(&self) -> Duration {
        let given = match self.action {
            HookAction::Command { timeout_secs, .. } | HookAction::Custom { timeout_secs, .. } => {
                timeout_secs
            }
            HookAction::BuiltIn { .. } => None,
        };
        // A time that no clock can hold is no bound.
        given.map_or(DEFAULT_TIMEOUT, |secs| {
            Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX)
        })
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_events_block_and_eight_insert() {
        let count = |holds: fn(HookEvent) -> bool| {
            HookEvent::ALL.iter().filter(|event| holds(**event)).count()
        };
        assert_eq!(count(HookEvent::blocks), 3);
        assert_eq!(count(HookEvent::inserts), 8);
        assert_eq!(count(HookEvent::is_of_session), 2);
    }

    #[test]
    fn a_hook_without_a_time_has_five_minutes() {
        let hook = |timeout_secs| Hook {
            event: HookEvent::PreShell,
            name: None,
            action: HookAction::Custom {
                source: "x".to_owned(),
                timeout_secs,
            },
        };
        assert_eq!(hook(None).timeout(), Duration::from_secs(300));
        assert_eq!(hook(Some(0.5)).timeout(), Duration::from_millis(500));
        assert_eq!(hook(Some(1e300)).timeout(), Duration::MAX);
    }
}
