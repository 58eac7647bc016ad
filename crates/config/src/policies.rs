//! What a profile's capabilities come to: each one's figures as a whole, or nothing where it is
//! off.
//!
//! Params hold every figure as an option, because a disabled capability owes no completeness
//! (01 §3.2). A document that passed its check has what its enabled capabilities require, so
//! whoever runs one asks here. The figures that R48 gives an absence stand here and nowhere else.

use std::collections::BTreeMap;
use std::time::Duration;

use vocab::capability::CapabilityId;
use vocab::ids::{ModelId, Slug};
use vocab::knowledge::MemoryLimits;
use vocab::language::ProgramLanguage;

use crate::capability::Capability;
use crate::capability::knowledge::{BuiltInSkill, MemoryScope, MemoryStrategy, TaskMode};
use crate::capability::programs::ChosenTypes;
use crate::capability::window::{AutoloadMode, CompactionStrategy};
use crate::profile::Profile;

/// Boundaries in a row that may leave the window full, where a profile names none (R48).
const MAX_RETRIES: u64 = 0;

/// Fullness from which the signal is shown where a profile names none, percent (R48).
const SIGNAL_THRESHOLD_PERCENT: f64 = 75.0;

/// An agent's list of to-dos (02 §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPolicy {
    /// What a new task consists of.
    pub mode: TaskMode,
    /// Tasks a list may hold; 0 is no limit.
    pub max_tasks: u64,
}

/// What an agent keeps for itself (02 §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPolicy {
    /// Whose memories they are; a profile that does not say means its own.
    pub scope: MemoryScope,
    /// How they are kept.
    pub strategy: MemoryStrategy,
    /// How much of them; those that do not apply to the strategy too.
    pub limits: MemoryLimits,
}

/// Where an agent's skills come from (02 §10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkillPolicy<'a> {
    /// Their directory, as written: absolute, or relative to the workspace.
    pub dir: &'a str,
    /// Built-in manuals by whether they are offered; unnamed ones are.
    pub built_ins: &'a BTreeMap<BuiltInSkill, bool>,
}

/// When a window is compacted, and by whom (02 §6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompactionPolicy<'a> {
    /// By whom, and how.
    pub strategy: CompactionStrategy,
    /// The share of the window kept free, from 0.0 to 0.9.
    pub headroom: f64,
    /// Boundaries in a row that may leave the window full.
    pub max_retries: u64,
    /// The model a handoff asks; `None` is the agent's own. A strategy that asks no other model
    /// has none either, whatever is written.
    pub model: Option<&'a ModelId>,
}

/// What an agent is told of its window, besides the calls it is granted (02 §7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManagedPolicy {
    /// File views the signal lists, largest first; 0 is none.
    pub top_file_views: u64,
    /// Fullness from which the signal is shown, percent; 0 is every turn.
    pub threshold_percent: f64,
}

/// How an agent opens on the brief's files (02 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoloadPolicy {
    /// Whether they stay verbatim across every compaction.
    pub locked: bool,
    /// Whether pictures are attached where the model sees them.
    pub images: bool,
}

/// The run's board (03 §7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardPolicy<'a> {
    /// The profile that resolves conflicts.
    pub merge_agent: &'a Slug,
    /// Epics it may hold; 0 is none.
    pub max_epics: u64,
    /// Issues it may hold; 0 is none.
    pub max_issues: u64,
    /// Further attempts an issue has; 0 is one attempt only.
    pub max_retries: u64,
}

/// How an agent's programs are written and bounded (04 §6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramPolicy {
    /// Their language.
    pub language: ProgramLanguage,
    /// How long one may run, time in calls left out.
    pub timeout: Duration,
    /// Bytes of memory one may have.
    pub max_memory_bytes: u64,
    /// Which types a documentation view brings along.
    pub doc_view_types: ChosenTypes,
}

/// The longest time that is counted; nobody waits this long for a program.
const LONGEST: Duration = Duration::from_secs(u32::MAX as u64);

/// Which programs are kept (02 §11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryPolicy {
    /// Most recent programs kept; 0 is all.
    pub keep: u64,
    /// Characters of a program's id, from 2 to 32.
    pub id_length: u8,
}

impl Profile {
    /// Whether an issue of its own must name a reviewer.
    pub fn requires_reviewers(&self) -> bool {
        match self.running(CapabilityId::ProjectManagement) {
            Some(Capability::ProjectManagement(board)) => board.params.reviewers == Some(true),
            _ => false,
        }
    }

    /// The run's board, as this profile writes its figures; `None` where it has no board.
    pub(crate) fn board(&self) -> Option<BoardPolicy<'_>> {
        match self.running(CapabilityId::ProjectManagement)? {
            Capability::ProjectManagement(board) => Some(BoardPolicy {
                merge_agent: board.params.merge_agent.as_ref()?,
                max_epics: board.params.max_epics?,
                max_issues: board.params.max_issues?,
                max_retries: board.params.max_retries?,
            }),
            _ => None,
        }
    }

    /// How its programs are written and bounded; `None` where it calls tools instead.
    pub fn programs(&self) -> Option<ProgramPolicy> {
        match self.running(CapabilityId::ResponsesAsCode)? {
            Capability::ResponsesAsCode(code) => {
                let timeout = Duration::try_from_secs_f64(code.params.timeout_secs?);
                Some(ProgramPolicy {
                    language: code.params.language?,
                    timeout: timeout.unwrap_or(LONGEST).min(LONGEST),
                    max_memory_bytes: code.params.max_memory_bytes?,
                    doc_view_types: code.params.doc_view_types?.chosen(),
                })
            }
            _ => None,
        }
    }

    /// Its list of to-dos; `None` where `tasks` is off.
    pub fn tasks(&self) -> Option<TaskPolicy> {
        match self.running(CapabilityId::Tasks)? {
            Capability::Tasks(tasks) => Some(TaskPolicy {
                mode: tasks.params.mode?,
                max_tasks: tasks.params.max_tasks?,
            }),
            _ => None,
        }
    }

    /// Its memories; `None` where they are off.
    pub fn memories(&self) -> Option<MemoryPolicy> {
        match self.running(CapabilityId::Memories)? {
            Capability::Memories(memories) => {
                let params = &memories.params;
                Some(MemoryPolicy {
                    scope: params.scope.unwrap_or(MemoryScope::Isolated),
                    strategy: memories.implementation?,
                    limits: MemoryLimits {
                        max_count: params.max_count?,
                        max_len_per_memory: params.max_len_per_memory?,
                        max_total_len: params.max_total_len?,
                        max_len_index: params.max_len_index?,
                        max_len_description: params.max_len_description?,
                        max_results: params.max_results?,
                    },
                })
            }
            _ => None,
        }
    }

    /// Its skills; `None` where they are off.
    pub fn skills(&self) -> Option<SkillPolicy<'_>> {
        match self.running(CapabilityId::Skills)? {
            Capability::Skills(skills) => Some(SkillPolicy {
                dir: skills.params.dir.as_deref()?,
                built_ins: skills.params.built_ins.as_ref()?,
            }),
            _ => None,
        }
    }

    /// What becomes of its full window; `None` where compaction is off and the window overflows.
    pub fn compaction(&self) -> Option<CompactionPolicy<'_>> {
        match self.running(CapabilityId::Compaction)? {
            Capability::Compaction(compaction) => {
                let strategy = compaction.implementation?;
                let params = &compaction.params;
                Some(CompactionPolicy {
                    strategy,
                    headroom: params.summary_headroom?,
                    max_retries: params.max_retries.unwrap_or(MAX_RETRIES),
                    model: params.model.as_ref().filter(|_| strategy.is_handoff()),
                })
            }
            _ => None,
        }
    }

    /// The window it is narrowed to, tokens; `None` where the model's own stands.
    pub fn window_override(&self) -> Option<u64> {
        match self.running(CapabilityId::ContextWindowOverride)? {
            Capability::ContextWindowOverride(narrowed) => narrowed.params.window_limit,
            _ => None,
        }
    }

    /// What it is told of its window; `None` where it does not manage it.
    pub fn managed(&self) -> Option<ManagedPolicy> {
        match self.running(CapabilityId::AgentManagedContext)? {
            Capability::AgentManagedContext(managed) => Some(ManagedPolicy {
                top_file_views: managed.params.top_file_views?,
                threshold_percent: managed
                    .params
                    .signal_threshold_percent
                    .unwrap_or(SIGNAL_THRESHOLD_PERCENT),
            }),
            _ => None,
        }
    }

    /// Which of its programs are kept; `None` where none is, as of an agent that writes none.
    pub fn library(&self) -> Option<LibraryPolicy> {
        self.running(CapabilityId::ResponsesAsCode)?;
        match self.running(CapabilityId::ProgramLibrary)? {
            Capability::ProgramLibrary(library) => Some(LibraryPolicy {
                keep: library.params.keep?,
                id_length: u8::try_from(library.params.id_length?).ok()?,
            }),
            _ => None,
        }
    }

    /// How it opens on the brief's files; `None` where it does not.
    pub fn autoload(&self) -> Option<AutoloadPolicy> {
        match self.running(CapabilityId::AutoloadSpecifications)? {
            Capability::AutoloadSpecifications(autoload) => Some(AutoloadPolicy {
                locked: autoload.implementation == Some(AutoloadMode::Locked),
                images: autoload.params.images == Some(true),
            }),
            _ => None,
        }
    }

    /// Equal calls in a row that earn a notice; `None` where none is counted (R39).
    pub fn repeat_calls(&self) -> Option<u64> {
        self.repeat_detection.map(|detection| detection.calls)
    }

    /// The key that its instances take their slots under, one at a time; `None` where any number
    /// may run (03 §4).
    pub fn slot_key(&self) -> Option<&Slug> {
        self.enabled(CapabilityId::AgentPersistence)
            .then_some(&self.slug)
    }

    /// Every model it asks: its own, then the one a handoff names, where that is another. A machine
    /// asks none.
    pub fn models(&self) -> impl Iterator<Item = &ModelId> {
        let summarizer = self.compaction().and_then(|compaction| compaction.model);
        let other = summarizer.filter(|model| **model != self.model_id);
        let own = Some(&self.model_id).filter(|model| !model.as_str().is_empty());
        own.into_iter().chain(other)
    }

    /// The declaration of a capability that is on.
    fn running(&self, id: CapabilityId) -> Option<&Capability> {
        self.capability(id).filter(|held| held.enabled())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn profile(capabilities: &Value) -> Profile {
        serde_json::from_value(json!({
            "slug": "root", "name": "Root", "modelId": "acme/coder-1",
            "capabilities": capabilities, "tools": [], "operations": [],
            "repeatDetection": { "calls": 4 },
        }))
        .unwrap()
    }

    fn figures() -> Value {
        json!({ "maxCount": 1, "maxLenPerMemory": 2, "maxTotalLen": 3, "maxLenIndex": 4,
            "maxLenDescription": 5, "maxResults": 6 })
    }

    #[test]
    fn what_is_on_is_handed_out_whole() {
        let profile = profile(&json!([
            { "id": "tasks", "enabled": true, "params": { "mode": "issues", "maxTasks": 100 } },
            { "id": "memories", "enabled": true, "implementation": "markdown", "params": figures() },
            { "id": "skills", "enabled": true,
                "params": { "dir": ".gg/skills", "builtIns": { "gg-shell": false } } },
            { "id": "compaction", "enabled": true, "implementation": "handoff-compaction",
                "params": { "summaryHeadroom": 0.2, "maxRetries": 3, "model": "acme/small" } },
            { "id": "context-window-override", "enabled": true, "params": { "windowLimit": 9000 } },
            { "id": "agent-managed-context", "enabled": true,
                "params": { "topFileViews": 5, "signalThresholdPercent": 0 } },
            { "id": "autoload-specifications", "enabled": true, "implementation": "locked",
                "params": { "images": true } },
            { "id": "responses-as-code", "enabled": true, "params": {} },
            { "id": "program-library", "enabled": true, "params": { "keep": 20, "idLength": 4 } },
        ]));
        assert_eq!(
            profile.library(),
            Some(LibraryPolicy {
                keep: 20,
                id_length: 4
            })
        );
        assert_eq!(
            profile.tasks(),
            Some(TaskPolicy {
                mode: TaskMode::Issues,
                max_tasks: 100
            })
        );
        assert_eq!(
            profile.memories(),
            Some(MemoryPolicy {
                scope: MemoryScope::Isolated,
                strategy: MemoryStrategy::Markdown,
                limits: MemoryLimits {
                    max_count: 1,
                    max_len_per_memory: 2,
                    max_total_len: 3,
                    max_len_index: 4,
                    max_len_description: 5,
                    max_results: 6,
                },
            })
        );
        assert_eq!(
            profile.skills(),
            Some(SkillPolicy {
                dir: ".gg/skills",
                built_ins: &BTreeMap::from([(BuiltInSkill::Shell, false)]),
            })
        );
        let small = ModelId::from("acme/small");
        assert_eq!(
            profile.compaction(),
            Some(CompactionPolicy {
                strategy: CompactionStrategy::HandoffCompaction,
                headroom: 0.2,
                max_retries: 3,
                model: Some(&small),
            })
        );
        assert_eq!(profile.window_override(), Some(9000));
        assert_eq!(
            profile.managed(),
            Some(ManagedPolicy {
                top_file_views: 5,
                threshold_percent: 0.0
            })
        );
        assert_eq!(
            profile.autoload(),
            Some(AutoloadPolicy {
                locked: true,
                images: true
            })
        );
        assert_eq!(profile.repeat_calls(), Some(4));
        let models: Vec<_> = profile.models().map(ModelId::as_str).collect();
        assert_eq!(models, ["acme/coder-1", "acme/small"]);
    }

    #[test]
    fn programs_have_their_bounds_and_documentation_its_flags() {
        let code = |types: Value| {
            profile(
                &json!([{ "id": "responses-as-code", "enabled": true, "params": {
                "language": "javascript", "timeoutSecs": 1.5, "maxMemoryBytes": 5e8,
                "docViewTypes": types } }]),
            )
            .programs()
            .unwrap()
        };
        let policy = code(json!({ "return": true, "parameters": false, "errors": true }));
        assert_eq!(policy.language, ProgramLanguage::Javascript);
        assert_eq!(policy.timeout, Duration::from_millis(1500));
        assert_eq!(policy.max_memory_bytes, 500_000_000);
        assert_eq!(policy.doc_view_types.flags(), "return+errors");
        let all = code(json!(true)).doc_view_types;
        assert_eq!(all.flags(), "return+parameters+errors");
        assert_eq!(code(json!(false)).doc_view_types.flags(), "none");
    }

    #[test]
    fn absences_are_off_but_for_the_figures_that_are_named() {
        let profile = profile(&json!([
            { "id": "compaction", "enabled": true, "implementation": "self-summarization",
                "params": { "summaryHeadroom": 0.0, "model": "acme/small" } },
            { "id": "agent-managed-context", "enabled": true, "params": { "topFileViews": 0 } },
            { "id": "autoload-specifications", "enabled": true, "params": {} },
        ]));
        let compaction = profile.compaction().unwrap();
        assert_eq!((compaction.max_retries, compaction.model), (0, None));
        let threshold = profile.managed().map(|managed| managed.threshold_percent);
        assert_eq!(threshold, Some(75.0));
        assert_eq!(
            profile.autoload(),
            Some(AutoloadPolicy {
                locked: false,
                images: false
            })
        );
        assert_eq!(profile.models().count(), 1);
    }

    #[test]
    fn what_is_written_and_off_comes_to_nothing() {
        let written = json!([
            { "id": "tasks", "enabled": false, "params": { "mode": "simple", "maxTasks": 0 } },
            { "id": "memories", "enabled": false, "implementation": "scratchpad", "params": figures() },
            { "id": "skills", "enabled": false, "params": { "dir": ".gg/skills", "builtIns": {} } },
            { "id": "compaction", "enabled": false, "implementation": "handoff-compaction",
                "params": { "summaryHeadroom": 0.2, "model": "acme/small" } },
            { "id": "context-window-override", "enabled": false, "params": { "windowLimit": 9000 } },
            { "id": "agent-managed-context", "enabled": false, "params": { "topFileViews": 5 } },
            { "id": "autoload-specifications", "enabled": false, "params": { "images": true } },
            { "id": "program-library", "enabled": true, "params": { "keep": 20, "idLength": 4 } },
        ]);
        let profile = profile(&written);
        assert_eq!(profile.tasks(), None);
        assert_eq!(profile.memories(), None);
        assert_eq!(profile.skills(), None);
        assert_eq!(profile.compaction(), None);
        assert_eq!(profile.window_override(), None);
        assert_eq!(profile.managed(), None);
        assert_eq!(profile.autoload(), None);
        assert_eq!(profile.library(), None, "who writes no program keeps none");
        assert_eq!(profile.models().count(), 1);
    }

    #[test]
    fn a_call_that_the_profile_s_own_choice_leaves_without_use_is_not_offered() {
        use vocab::tools::ToolName as T;
        let offers = |capability: Value, tool: T| {
            let mut profile = profile(&json!([capability]));
            profile.tools.push(tool);
            profile.offers(tool)
        };
        let memories = |strategy: &str| {
            json!({ "id": "memories", "enabled": true, "implementation": strategy,
                "params": figures() })
        };
        assert!(offers(memories("scratchpad"), T::WriteMemory));
        assert!(!offers(memories("scratchpad"), T::SearchMemories));
        assert!(!offers(memories("markdown"), T::SearchMemories));
        assert!(offers(memories("keyword-search"), T::SearchMemories));
        assert!(!offers(memories("keyword-search"), T::WriteMemory));
        let compaction = |strategy: &str| {
            json!({ "id": "compaction", "enabled": true, "implementation": strategy,
                "params": { "summaryHeadroom": 0.2 } })
        };
        for strategy in CompactionStrategy::ALL {
            assert_eq!(
                offers(compaction(strategy.as_str()), T::Compact),
                *strategy == CompactionStrategy::SelfCompaction,
                "{strategy}"
            );
        }
    }
}
