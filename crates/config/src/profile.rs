//! One configured agent (01 §4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vocab::capability::CapabilityId;
use vocab::ids::{ModelId, Slug};
use vocab::looping::Knobs;
use vocab::tools::{ReadPolicy, ShellPolicy, ToolName, Variants};

use crate::capability::Capability;
use crate::capability::window::CompactionStrategy;
use crate::grants::OperationId;
use crate::hooks::Hook;
use crate::number;
use crate::validate::Shape;
use crate::words::words;

/// One configured agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Profile {
    /// The only name a model or a record uses: lowercase letters and digits in groups joined by
    /// single hyphens, unique in the set.
    #[schemars(regex(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$"))]
    pub slug: Slug,
    /// Display text; never resolved, may repeat.
    pub name: String,
    /// The one model it runs on; empty on a machine, whose states' agents bring theirs.
    #[serde(default = "no_model", skip_serializing_if = "is_no_model")]
    pub model_id: ModelId,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// Tools it is given; read on a tool-calling agent.
    pub tools: Vec<ToolName>,
    /// Operations it is given; read on a code agent.
    pub operations: Vec<OperationId>,
    /// What a code agent's seeded first program lists and opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "OpeningTurn")]
    pub opening_turn: Option<OpeningTurn>,
    /// The profiles it may put to work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subagents: Vec<RosterEntry>,
    /// Text ahead of gg's own system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub custom_instructions: Option<String>,
    /// A Handlebars template instead of gg's own system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub system_prompt: Option<String>,
    /// Hooks of this agent: all events but the two of the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Hook>,
    /// How long a provider keeps its prompt cache. Absent: the provider's own five minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PromptCacheTtl")]
    pub prompt_cache_ttl: Option<PromptCacheTtl>,
    /// How much the model reasons. Absent: no parameter is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Reasoning")]
    pub reasoning: Option<Reasoning>,
    /// Abandons replies that repeat themselves. Absent: off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "LoopDetection")]
    pub loop_detection: Option<LoopDetection>,
    /// Notices calls that repeat themselves across turns. Absent: off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RepeatDetection")]
    pub repeat_detection: Option<RepeatDetection>,
}

fn no_model() -> ModelId {
    ModelId::new("")
}

fn is_no_model(model: &ModelId) -> bool {
    model.as_str().is_empty()
}

impl Profile {
    pub(crate) const SHAPE: Shape = Shape {
        name: "Profile",
        keys: &[
            "slug",
            "name",
            "modelId",
            "capabilities",
            "tools",
            "operations",
            "openingTurn",
            "subagents",
            "customInstructions",
            "systemPrompt",
            "hooks",
            "promptCacheTtl",
            "reasoning",
            "loopDetection",
            "repeatDetection",
        ],
        // `modelId` and `openingTurn` depend on the agent's type and are asked for by hand.
        required: &["slug", "name", "capabilities", "tools", "operations"],
    };

    /// The declaration of a capability, on or off.
    pub fn capability(&self, id: CapabilityId) -> Option<&Capability> {
        self.capabilities.iter().find(|item| item.id() == id)
    }

    /// Whether a capability is on.
    pub fn enabled(&self, id: CapabilityId) -> bool {
        self.capability(id).is_some_and(Capability::enabled)
    }

    /// What becomes of a command's output; `None` where the shell is off.
    pub fn shell(&self) -> Option<ShellPolicy> {
        match self.capability(CapabilityId::Shell)? {
            Capability::Shell(shell) if shell.enabled => Some(ShellPolicy {
                mode: shell.implementation?,
                max_lines: shell.params.max_lines?,
                max_chars: shell.params.max_chars?,
            }),
            _ => None,
        }
    }

    /// How files are read; `None` where reading is off.
    pub fn read(&self) -> Option<ReadPolicy> {
        match self.capability(CapabilityId::ReadFile)? {
            Capability::ReadFile(read) if read.enabled => Some(ReadPolicy {
                mode: read.implementation?,
                line_cap: read.params.line_cap?,
            }),
            _ => None,
        }
    }

    /// How long a provider is asked to keep this agent's prefix.
    pub fn cache_lifetime(&self) -> PromptCacheTtl {
        self.prompt_cache_ttl.unwrap_or(PromptCacheTtl::Default)
    }

    /// The figures its replies are watched by; `None` where nothing watches them.
    pub fn loop_knobs(&self) -> Option<Knobs> {
        let detection = self.loop_detection.filter(|detection| detection.enabled)?;
        Some(Knobs {
            window_words: detection.window_words?,
            repeat_threshold: detection.repeat_threshold?,
            min_offenders: detection.min_offenders?,
            min_saturated_run: detection.min_saturated_run?,
            max_response_chars: detection.max_response_chars?,
        })
    }

    /// Whether a tool is a tool-calling agent's to call, as far as its profile tells: its
    /// capability is on and serves it, and it is on the allowlist. Whether there is a skill to
    /// read, only the disk can tell.
    pub fn offers(&self, tool: ToolName) -> bool {
        self.tools.contains(&tool) && self.serves(tool)
    }

    /// Whether a capability that is on has a use for a tool.
    fn serves(&self, tool: ToolName) -> bool {
        match tool.capability() {
            None => false,
            Some(CapabilityId::Memories) => self
                .memories()
                .is_some_and(|memories| memories.strategy.serves(tool, true)),
            // The other strategies are answered in prose, by memories, or by another model.
            Some(CapabilityId::Compaction) => self.compaction().is_some_and(|compaction| {
                compaction.strategy == CompactionStrategy::SelfCompaction
            }),
            // Nobody to put to work, nobody to wait for.
            Some(CapabilityId::Subagents) => {
                let forks = tool != ToolName::SpawnSubagent && self.forks();
                self.enabled(CapabilityId::Subagents) && (forks || !self.spawns().is_empty())
            }
            // A copy that nobody could collect.
            Some(CapabilityId::Fork) => {
                self.enabled(CapabilityId::Fork) && self.enabled(CapabilityId::Subagents)
            }
            Some(CapabilityId::Exec) => !self.successors().is_empty(),
            // Nobody to work on what it would file.
            Some(CapabilityId::ProjectManagement) if tool == ToolName::CreateIssue => {
                !self.implementers().is_empty()
            }
            Some(id) => self.enabled(id),
        }
    }

    /// The figures its tool definitions interpolate, as far as the profile tells: whoever has
    /// seen its skills says whether there are any, and the set says whom it may put to work.
    pub fn variants(&self) -> Variants<'static> {
        Variants {
            read: self.read(),
            shell: self.shell(),
            tasks: self.tasks().map(|tasks| tasks.mode),
            memories: self.memories().map(|memories| memories.strategy),
            skills: false,
            ..Variants::default()
        }
    }
}

/// What a code agent's seeded first program lists and opens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpeningTurn {
    /// Modules whose functions are listed.
    pub modules: Vec<String>,
    /// Operations whose documentation is opened.
    pub functions: Vec<OperationId>,
    /// Whether the workspace's directories are shown, and how deep.
    pub tree: Tree,
}

impl OpeningTurn {
    pub(crate) const SHAPE: Shape = Shape {
        name: "OpeningTurn",
        keys: &["modules", "functions", "tree"],
        required: &["modules", "functions", "tree"],
    };
}

/// The workspace tree of an opening turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tree {
    /// Whether it is shown.
    pub include: bool,
    /// Levels of directories.
    #[serde(deserialize_with = "number::read_whole")]
    #[schemars(range(min = 1, max = 6))]
    pub depth: u64,
}

impl Tree {
    pub(crate) const SHAPE: Shape = Shape {
        name: "Tree",
        keys: &["include", "depth"],
        required: &["include", "depth"],
    };
}

/// A profile another one may put to work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RosterEntry {
    /// The slug of a declared profile; a profile may list itself.
    pub agent_id: Slug,
    /// When to use it, as the model is told.
    pub description: String,
    /// What it may be used for.
    #[schemars(length(min = 1))]
    pub scopes: Vec<RosterScope>,
}

impl RosterEntry {
    pub(crate) const SHAPE: Shape = Shape {
        name: "RosterEntry",
        keys: &["agentId", "description", "scopes"],
        required: &["agentId", "description", "scopes"],
    };
}

words! {
    /// What a roster entry may be used for.
    RosterScope {
        /// May be spawned, and become by `exec`.
        Subagent = "subagent",
        /// May be named as a board issue's agent.
        Implementer = "implementer",
        /// May be named among a board issue's reviewers.
        Reviewer = "reviewer",
    }
}

words! {
    /// How long a provider keeps its prompt cache.
    PromptCacheTtl {
        /// The provider's five minutes, as if absent.
        Default = "default",
        /// One hour, where the provider offers it.
        Extended = "extended",
    }
}

words! {
    /// How hard a model reasons.
    Effort {
        /// Most.
        Xhigh = "xhigh",
        /// Much.
        High = "high",
        /// Some.
        Medium = "medium",
        /// Little.
        Low = "low",
        /// As little as it can.
        Minimal = "minimal",
        /// Not at all.
        None = "none",
    }
}

/// How much a model reasons: exactly one of the two is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Reasoning {
    /// By word.
    Effort(Effort),
    /// By budget, in tokens.
    #[serde(deserialize_with = "number::read_whole")]
    MaxTokens(#[schemars(range(min = 1))] u64),
}

pub(crate) const REASONING: Shape = Shape {
    name: "Reasoning",
    keys: &["effort", "maxTokens"],
    required: &[],
};

/// Abandons replies that repeat themselves (01 §7). All five figures are required while it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoopDetection {
    /// Whether it is on.
    pub enabled: bool,
    /// Words of the rolling window, and the least sample.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub window_words: Option<u64>,
    /// Occurrences in the window past which a word is an offender.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub repeat_threshold: Option<u64>,
    /// Distinct offenders that saturate the window.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub min_offenders: Option<u64>,
    /// Words in a row while saturated; 0 is the plain frequency rule.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub min_saturated_run: Option<u64>,
    /// Characters past which a reply is abandoned outright; 0 is off.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_response_chars: Option<u64>,
}

impl LoopDetection {
    pub(crate) const SHAPE: Shape = Shape {
        name: "LoopDetection",
        keys: &[
            "enabled",
            "windowWords",
            "repeatThreshold",
            "minOffenders",
            "minSaturatedRun",
            "maxResponseChars",
        ],
        required: &[
            "enabled",
            "windowWords",
            "repeatThreshold",
            "minOffenders",
            "minSaturatedRun",
            "maxResponseChars",
        ],
    };
}

/// Notices calls that repeat themselves across turns (R39).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RepeatDetection {
    /// The same call, arguments and result in a row that earn a notice.
    #[serde(deserialize_with = "number::read_whole")]
    #[schemars(range(min = 1))]
    pub calls: u64,
}

impl RepeatDetection {
    pub(crate) const SHAPE: Shape = Shape {
        name: "RepeatDetection",
        keys: &["calls"],
        required: &["calls"],
    };
}
