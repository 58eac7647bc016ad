//! What one incarnation is offered: its tools, its ending calls, its policies (04 §1).

use std::sync::Arc;

use config::Launch;
use config::capability::window::CompactionStrategy;
use config::profile::Profile;
use config::profile::{PromptCacheTtl, Reasoning};
use context::prompts::{
    CompactionSection, ExecSection, ForkSection, ManagedSection, ReadFile, RosterLine, Shell,
    SubagentsSection, SystemContext,
};
use context::tokens::Measured;
use provider::request::{CacheLifetime, ReasoningSetting, ToolChoice, Toolset, toolset};
use record::event::AgentSurface;
use tools::{FilePolicy, REQUEST_PICTURES};
use vocab::operations::EndingRole;
use vocab::tools::{
    BoardRoster, Definition, EndingCall, Exit, ReadMode, SUBMIT_PROGRAM, ShellMode, Target,
    ToolName, Variants, definition, ending_definition, submission_definition,
};

use super::AgentSpec;
use super::api::Programs;
use super::offer::{Holds, servicing};
use crate::provider_client::CallSettings;

/// A resolved surface; it never changes during an incarnation.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    pub(crate) tools: Vec<ToolName>,
    pub(crate) endings: &'static [EndingCall],
    pub(crate) toolset: Arc<Toolset>,
    /// The same as a window counts it.
    pub(crate) schemas: Measured,
    pub(crate) files: FilePolicy,
    /// Of an agent that answers with programs: what they may call. Its tools are then those that
    /// its operations dispatch, and none of them is a name it could call.
    pub(crate) code: Option<Programs>,
}

/// How an agent's requests are made rather than what they say.
pub(crate) fn call_settings(profile: &Profile) -> CallSettings {
    CallSettings {
        reasoning: profile.reasoning.map(|setting| match setting {
            Reasoning::Effort(effort) => ReasoningSetting::Effort(effort.as_str()),
            Reasoning::MaxTokens(tokens) => ReasoningSetting::MaxTokens(tokens),
        }),
        lifetime: match profile.cache_lifetime() {
            PromptCacheTtl::Default => CacheLifetime::Default,
            PromptCacheTtl::Extended => CacheLifetime::Extended,
        },
        knobs: profile.loop_knobs(),
    }
}

/// What an agent is told of how its full window is compacted.
fn compaction(strategy: CompactionStrategy) -> CompactionSection {
    let nothing = CompactionSection::default();
    match strategy {
        CompactionStrategy::SelfSummarization => CompactionSection {
            prose: true,
            ..nothing
        },
        CompactionStrategy::SelfCompaction => CompactionSection {
            compact: Some(ToolName::Compact.as_str()),
            ..nothing
        },
        CompactionStrategy::MemoryCompaction => CompactionSection {
            memories: true,
            ..nothing
        },
        CompactionStrategy::HandoffSummarization | CompactionStrategy::HandoffCompaction => {
            CompactionSection {
                handoff: true,
                ..nothing
            }
        }
    }
}

/// Whom an agent's calls may name, and where it may go.
#[derive(Clone, Copy, Default)]
pub(crate) struct Others<'a> {
    /// Those it may spawn.
    pub(crate) targets: &'a [Target<'a>],
    /// Those it may become.
    pub(crate) successors: &'a [Target<'a>],
    /// The states it may go to.
    pub(crate) exits: &'a [Exit<'a>],
    /// Whom its issues may name, where it has the board.
    pub(crate) board: Option<BoardRoster<'a>>,
}

/// Enabled capabilities, cut down to the profile's list and to what the instance's modules can
/// service. Whether there is a skill to read is not known yet: it depends on what else is offered.
pub(crate) fn granted(
    profile: &Profile,
    holds: Holds<'_>,
    others: Others<'_>,
) -> Vec<(ToolName, Definition)> {
    let variants = Variants {
        targets: others.targets,
        forks: profile.forks(),
        successors: others.successors,
        exits: others.exits,
        board: others.board,
        skills: profile.skills().is_some(),
        ..profile.variants()
    };
    let servicing = servicing(profile, holds);
    ToolName::ALL
        .iter()
        .copied()
        // Without a way out of a state, the call that takes one has no definition.
        .filter(|tool| *tool == ToolName::TransitionState || profile.offers(*tool))
        .filter(|tool| servicing.serves_tool(*tool))
        .filter_map(|tool| definition(tool, variants).map(|definition| (tool, definition)))
        .collect()
}

/// What a called name means to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// A tool it is offered.
    Tool(ToolName),
    /// One of its ending calls.
    Ending(EndingCall),
    /// The one tool of an agent that answers with programs.
    Program,
    /// Nothing it is offered.
    Unavailable,
}

impl Surface {
    /// What the instance is granted and can service, then the role's endings.
    pub(crate) fn resolve(
        profile: &Profile,
        role: EndingRole,
        attach_images: bool,
        offered: Vec<(ToolName, Definition)>,
    ) -> Self {
        let tools = offered.iter().map(|(tool, _)| *tool).collect();
        let endings = EndingCall::of_role(role);
        let definitions: Vec<_> = offered
            .into_iter()
            .map(|(_, definition)| definition)
            .chain(endings.iter().map(|call| ending_definition(*call)))
            .collect();
        let toolset = Arc::new(toolset(&definitions));
        Self {
            tools,
            endings,
            schemas: Measured::from(toolset.json.get()),
            toolset,
            files: FilePolicy {
                read: profile.read(),
                attach_images,
                picture_room: REQUEST_PICTURES,
                whole: false,
            },
            code: None,
        }
    }

    /// The surface of an agent that answers with programs.
    pub(crate) fn of_programs(
        profile: &Profile,
        role: EndingRole,
        attach_images: bool,
        programs: Programs,
    ) -> Self {
        let definition = submission_definition(programs.arm.display_name());
        let toolset = Arc::new(toolset(&[definition]));
        let mut tools: Vec<_> = programs
            .offer
            .operations()
            .filter_map(|row| row.tool)
            .collect();
        tools.dedup();
        Self {
            tools,
            endings: EndingCall::of_role(role),
            schemas: Measured::from(toolset.json.get()),
            toolset,
            files: FilePolicy {
                read: profile.read(),
                attach_images,
                picture_room: REQUEST_PICTURES,
                whole: false,
            },
            code: Some(programs),
        }
    }

    /// The call that waits for others, as the agent writes it, where it has it.
    pub(crate) fn waits(&self) -> Option<String> {
        match &self.code {
            Some(programs) => programs.named("delegation.wait_for_subagents"),
            None => self
                .tools
                .contains(&ToolName::WaitForSubagents)
                .then(|| ToolName::WaitForSubagents.to_string()),
        }
    }

    /// What may answer a request.
    pub(crate) fn tool_choice(&self) -> ToolChoice {
        match self.code {
            Some(_) => ToolChoice::Named(SUBMIT_PROGRAM.to_owned()),
            None => ToolChoice::Auto,
        }
    }

    /// What a name means here.
    pub(crate) fn called(&self, name: &str) -> Called {
        if self.code.is_some() {
            return if name == SUBMIT_PROGRAM {
                Called::Program
            } else {
                Called::Unavailable
            };
        }
        if let Some(tool) = self.tools.iter().find(|tool| tool.as_str() == name) {
            return Called::Tool(*tool);
        }
        match self.endings.iter().find(|call| call.as_str() == name) {
            Some(call) => Called::Ending(*call),
            None => Called::Unavailable,
        }
    }

    /// Every offered name, ending calls last.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let tools = self.tools.iter().map(|tool| tool.as_str());
        tools
            .chain(self.endings.iter().map(|call| call.as_str()))
            .collect()
    }

    /// Fills in what the system prompt says of agents to put to work, of copies, and of those the
    /// agent may become.
    pub(crate) fn describe_others(
        &self,
        context: &mut SystemContext,
        launch: &Launch,
        profile: &Profile,
    ) {
        let call = |tool: ToolName| self.tools.contains(&tool).then(|| tool.as_str());
        let lines = |targets: Vec<Target<'_>>| targets.iter().map(RosterLine::from).collect();
        let wait = call(ToolName::WaitForSubagents);
        context.subagents = call(ToolName::SpawnSubagent).map(|spawn| SubagentsSection {
            spawn,
            wait,
            roster: lines(launch.targets(profile)),
        });
        context.fork = call(ToolName::Fork).map(|call| ForkSection { call, wait });
        let listed = context.subagents.is_some();
        context.exec = call(ToolName::Exec).map(|call| ExecSection {
            call,
            // One roster is for both: it is not read twice.
            roster: if listed {
                Vec::new()
            } else {
                lines(launch.successors(profile))
            },
        });
    }

    /// What a system template may reference for this agent.
    pub(crate) fn prompt_context(&self, spec: &AgentSpec) -> SystemContext {
        let on = |tool| self.tools.contains(&tool);
        let variants = spec.profile.variants();
        SystemContext {
            read_file: variants
                .read
                .filter(|_| on(ToolName::ReadFile))
                .map(|policy| ReadFile {
                    line_cap: (policy.mode == ReadMode::DefaultCap).then_some(policy.line_cap),
                    blind: !self.files.attach_images,
                }),
            write_file: on(ToolName::WriteFile),
            edit_file: on(ToolName::EditFile),
            list_dir: on(ToolName::ListDir),
            search: on(ToolName::Search),
            shell: variants
                .shell
                .filter(|_| on(ToolName::Shell))
                .map(|policy| Shell {
                    offload: policy.mode == ShellMode::Offload,
                    max_lines: policy.max_lines,
                    max_chars: policy.max_chars,
                }),
            compaction: spec
                .profile
                .compaction()
                .map(|policy| compaction(policy.strategy)),
            managed: Some(ManagedSection {
                evict: on(ToolName::EvictFileView).then_some(ToolName::EvictFileView.as_str()),
                archive: on(ToolName::ArchiveThread).then_some(ToolName::ArchiveThread.as_str()),
            })
            .filter(|section| section.evict.is_some() || section.archive.is_some()),
            ..self.bare_context(spec)
        }
    }

    fn bare_context(&self, spec: &AgentSpec) -> SystemContext {
        match &self.code {
            None => SystemContext::new(spec.role, spec.window_limit),
            Some(programs) => {
                let code = programs.describe(&spec.profile);
                SystemContext::of_code(spec.role, spec.window_limit, code)
            }
        }
    }

    /// The event that reports it.
    pub(crate) fn event(&self) -> AgentSurface {
        if let Some(programs) = &self.code {
            return AgentSurface {
                execution_mode: "responses_as_code",
                program_language: Some(programs.arm.id()),
                doc_view_types: Some(programs.policy.doc_view_types.flags()),
                tools: Vec::new(),
                apis: programs.apis(),
            };
        }
        AgentSurface {
            execution_mode: "tool_calling",
            program_language: None,
            doc_view_types: None,
            tools: self.names(),
            apis: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use context::modules::{ModuleKind, ModuleOrigin, RosterRow};
    use serde_json::json;

    use super::*;

    #[test]
    fn who_may_not_write_is_granted_the_calls_that_read() {
        let profile: Profile = serde_json::from_value(json!({
            "slug": "reader", "name": "Reader", "modelId": "mock/m", "operations": [],
            "tools": ["list_dir", "create_memory", "read_memory", "edit_memory",
                "search_memories", "delete_memory"],
            "capabilities": [
                { "id": "list-dir", "enabled": true, "params": {} },
                {
                    "id": "memories", "enabled": true, "implementation": "keyword-search",
                    "params": {
                        "scope": "read-only", "maxCount": 0, "maxLenPerMemory": 0,
                        "maxTotalLen": 0, "maxLenIndex": 0, "maxLenDescription": 0,
                        "maxResults": 0,
                    },
                },
            ],
        }))
        .unwrap();
        let granted = |writable| -> Vec<_> {
            let row = RosterRow {
                kind: ModuleKind::Memories,
                store: Some("memories-0".to_owned()),
                enabled: true,
                carried: false,
                origin: ModuleOrigin::Inherited,
                writable,
                scope: None,
                strategy: None,
            };
            let holds = Holds {
                roster: &[row],
                skills: true,
                leaves_state: None,
            };
            let tools = granted(&profile, holds, Others::default()).into_iter();
            tools.map(|(tool, _)| tool.as_str()).collect()
        };
        assert_eq!(
            granted(false),
            ["list_dir", "read_memory", "search_memories"]
        );
        assert_eq!(granted(true).len(), 6);
    }
}
