//! What an agent holds beside its window: its task list and its skills by value, its memories by
//! their store's address; and what of them stands in the window (02 §1.3, §3).
//!
//! Always true: a module that is off is not here, and says nothing anywhere.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use actix::MailboxError;
use config::Launch;
use config::profile::Profile;
use context::modules::memories::MemoryState;
use context::modules::skills::{self, Catalogue, Families, Skill, SkillSet};
use context::modules::tasks::TaskList;
use context::modules::{ModuleKind, ModuleOrigin, RosterRow};
use context::prompts::{MemoriesSection, PromptError, SkillsSection, SystemContext, TasksSection};
use context::window::BlockKind;
use record::event::Event;
use vocab::capability::CapabilityId;
use vocab::ids::Slug;
use vocab::knowledge::{BuiltInSkill, MemoryScope, MemoryStrategy};
use vocab::tools::{Definition, ToolName};

use super::api::Programs;
use super::records::{archive_state, memory_state, skills_state, tasks_state};
use super::turns::Turns;
use super::{AgentSpec, LoopEnd};
use crate::link::Link;
use crate::memory_store::MemoryStore;
use crate::messages::{DescribeMemories, MemoryNews, ShowMemories, TakeNews};
use crate::panics;
use crate::shared::Shared;
use crate::supervisor::{self, Holdings};

/// What an agent holds.
pub(super) struct Held {
    /// A row for every kind.
    pub(super) roster: Vec<RosterRow>,
    pub(super) tasks: Option<TaskList>,
    pub(super) memories: Option<Memories>,
    pub(super) skills: Option<SkillSet>,
    /// Why what its skills come to is not known. It is told of nobody but the operator.
    unread: Option<PromptError>,
    /// Revisions and snapshots of what the turn's calls changed, in order: they stand behind the
    /// turn's work (06 §1 rule 5).
    pub(super) changed: Vec<Event>,
    /// Whether they changed the board, which the run holds.
    pub(super) wrote_board: bool,
}

/// An agent's memories.
pub(super) struct Memories {
    pub(super) link: Link<MemoryStore>,
    pub(super) strategy: MemoryStrategy,
    /// Whether the block has to be looked at: the window opens, or the agent wrote (R5).
    stale: bool,
}

impl Held {
    /// Takes what the supervisor gives and makes what is the agent's own. `granted` are the tools
    /// of its profile that its modules service, `read_skill` in any case.
    pub(super) fn open(
        spec: &AgentSpec,
        shared: &Shared,
        holdings: Holdings,
        granted: &[(ToolName, Definition)],
        programs: Option<&Programs>,
    ) -> Self {
        let Holdings { roster, memories } = holdings;
        let held = spec.profile.memories();
        let (skills, unread) = match open_skills(&spec.profile, shared, granted, programs) {
            Ok(skills) => (skills, None),
            Err(error) => (None, Some(error)),
        };
        Self {
            tasks: spec.profile.tasks().map(TaskList::new),
            memories: memories.zip(held).map(|(link, policy)| Memories {
                link: link.held_by(&format!("agent {}", spec.id)),
                strategy: policy.strategy,
                stale: true,
            }),
            roster,
            skills,
            unread,
            changed: Vec::new(),
            wrote_board: false,
        }
    }

    /// What stands in its place while it is lent to a program.
    pub(super) const fn lent() -> Self {
        Self {
            roster: Vec::new(),
            tasks: None,
            memories: None,
            skills: None,
            unread: None,
            changed: Vec::new(),
            wrote_board: false,
        }
    }

    /// Whether there is a skill to read.
    pub(super) fn has_skills(&self) -> bool {
        let catalogue = self.skills.as_ref().map(SkillSet::catalogue);
        catalogue.is_some_and(|catalogue| !catalogue.is_empty())
    }

    /// The store of a kind. What the agent holds has one.
    pub(super) fn store(&self, kind: ModuleKind) -> String {
        self.row(kind)
            .and_then(|row| row.store.clone())
            .unwrap_or_default()
    }

    /// A snapshot of the memories.
    pub(super) fn memory_state(&self, state: MemoryState) -> Event {
        let row = self.row(ModuleKind::Memories);
        let scope = row.and_then(|row| row.scope);
        memory_state(
            self.store(ModuleKind::Memories),
            scope.unwrap_or(MemoryScope::Isolated),
            state,
        )
    }

    pub(super) fn row(&self, kind: ModuleKind) -> Option<&RosterRow> {
        self.roster.iter().find(|row| row.kind == kind)
    }

    /// Fills in what the system prompt says of tasks, memories and skills. `tools` are the calls
    /// the agent is offered: what it has no call for is not taught.
    pub(super) fn describe(
        &self,
        context: &mut SystemContext,
        profile: &Profile,
        launch: &Launch,
        tools: &[ToolName],
    ) {
        let offered = |id| tools.iter().any(|tool| tool.capability() == Some(id));
        context.tasks = self
            .tasks
            .as_ref()
            .filter(|_| offered(CapabilityId::Tasks))
            .map(|tasks| TasksSection::of(tasks.policy()));
        context.memories = self
            .row(ModuleKind::Memories)
            .zip(supervisor::memory_policy(profile))
            .filter(|(row, _)| !row.writable || offered(CapabilityId::Memories))
            .map(|(row, policy)| {
                MemoriesSection::of(policy, row.writable, may_be_linked(row, profile, launch))
            });
        context.skills = self
            .skills
            .as_ref()
            .filter(|_| offered(CapabilityId::Skills))
            .and_then(|skills| SkillsSection::of(skills.catalogue()));
    }
}

/// Whether others may come to hold an agent's memories: it got them from one, its profile shares
/// them, or it can put one to work that inherits them.
fn may_be_linked(row: &RosterRow, profile: &Profile, launch: &Launch) -> bool {
    if row.origin == ModuleOrigin::Inherited || row.scope == Some(MemoryScope::Shared) {
        return true;
    }
    let starts = profile.enabled(CapabilityId::Subagents);
    let inherits = |slug: &Slug| {
        let workers = launch.profile(slug).map(|profile| launch.workers(profile));
        let mut memories = workers.into_iter().flatten().filter_map(Profile::memories);
        memories.any(|memories| memories.scope.inherits())
    };
    let mut roster = profile.subagents.iter();
    let forks = profile.enabled(CapabilityId::Fork) && row.scope.is_some_and(MemoryScope::inherits);
    forks || starts && roster.any(|entry| inherits(&entry.agent_id))
}

/// The skills of a profile: what its directory holds, and manuals of the calls it is granted.
fn open_skills(
    profile: &Profile,
    shared: &Shared,
    granted: &[(ToolName, Definition)],
    programs: Option<&Programs>,
) -> Result<Option<SkillSet>, PromptError> {
    let Some(policy) = profile.skills() else {
        return Ok(None);
    };
    if let Some(programs) = programs {
        let catalogue = coded_skills(&shared.skills.of(policy.dir), policy.built_ins, programs);
        return Ok(Some(SkillSet::new(Arc::new(catalogue))));
    }
    let (reads, others): (Vec<_>, Vec<_>) = granted
        .iter()
        .partition(|(tool, _)| *tool == ToolName::ReadSkill);
    let others: Vec<_> = others.into_iter().map(|(_, it)| it.clone()).collect();
    let reads = reads.first().map(|(_, definition)| definition);
    let authored: Arc<[Arc<Skill>]> = shared.skills.of(policy.dir);
    let manuals = skills::manuals(&others, reads, !authored.is_empty(), policy.built_ins)?;
    let catalogue = Catalogue::new(&authored, manuals);
    Ok(Some(SkillSet::new(Arc::new(catalogue))))
}

/// The skills of an agent that answers with programs: each with the code its language can use, and
/// manuals that are scripts.
fn coded_skills(
    authored: &[Arc<Skill>],
    built_ins: &BTreeMap<BuiltInSkill, bool>,
    programs: &Programs,
) -> Catalogue {
    let arm = programs.arm;
    let extensions = arm.module_extensions();
    let authored: Vec<_> = authored
        .iter()
        .map(|skill| Arc::new(skill.in_language(extensions)))
        .collect();
    let families = Families {
        offer: &programs.offer,
        withheld: built_ins,
    };
    let extension = extensions.first().copied().unwrap_or_default();
    let manuals = families.manuals(!authored.is_empty(), extension, |calls| {
        let names: Vec<_> = calls.iter().map(|row| arm.spelling(row)).collect();
        arm.documentation_program(&names)
    });
    Catalogue::new(&authored, manuals)
}

impl Turns {
    /// A snapshot of every module it holds (06 §2.4); directly behind its surface.
    pub(super) async fn tell_holdings(&mut self) -> ControlFlow<LoopEnd> {
        if let Some(error) = self.held.unread.take() {
            return ControlFlow::Break(LoopEnd::internal(format!(
                "a manual does not render: {error}"
            )));
        }
        if let Some(memories) = &self.held.memories {
            let ask = DescribeMemories {
                agent: self.spec.id.clone(),
            };
            let state = memories.link.ask(ask).await;
            let state = reached(state)?;
            self.links.voice.say(self.held.memory_state(state));
        }
        let voice = &self.links.voice;
        if let Some(tasks) = &self.held.tasks {
            voice.say(tasks_state(self.held.store(ModuleKind::Tasks), tasks));
        }
        if let Some(skills) = &self.held.skills {
            voice.say(skills_state(self.held.store(ModuleKind::Skills), skills));
        }
        self.show_board().await?;
        let voice = &self.links.voice;
        if let Some(archive) = &self.upkeep.archive {
            voice.say(archive_state(self.held.store(ModuleKind::Archive), archive));
        }
        ControlFlow::Continue(())
    }

    /// Snapshots of what the turn's calls changed.
    pub(super) async fn tell_changes(&mut self, turn: u32) {
        for event in self.held.changed.drain(..) {
            self.links.voice.say_in_turn(turn, event);
        }
        self.tell_board(turn).await;
    }

    /// What other holders of linked memories changed since this agent's last turn (02 §9.5).
    pub(super) async fn hear_of_others(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        let Some(memories) = &self.held.memories else {
            return ControlFlow::Continue(());
        };
        let reads = self.surface.tools.contains(&ToolName::ReadMemory);
        let ask = TakeNews {
            agent: self.spec.id.clone(),
            read: reads.then_some(ToolName::ReadMemory.as_str()),
        };
        let news = memories.link.ask(ask).await;
        let news = reached(news)?;
        let MemoryNews {
            notice,
            state,
            wrote,
        } = self.rendered(turn, news)?;
        if let Some(memories) = &mut self.held.memories {
            memories.stale |= wrote;
        }
        if let Some(state) = state {
            // Of no turn: it is not this agent's work that changed it.
            self.links.voice.say(self.held.memory_state(state));
        }
        if let Some(text) = notice {
            self.notice(turn, text)?;
        }
        ControlFlow::Continue(())
    }

    /// What others changed while this agent queued is in the block it is about to open: no notice
    /// tells it again.
    pub(super) async fn take_known_news(&mut self) -> ControlFlow<LoopEnd> {
        let Some(memories) = &self.held.memories else {
            return ControlFlow::Continue(());
        };
        if !memories.strategy.in_window() {
            return ControlFlow::Continue(());
        }
        let ask = TakeNews {
            agent: self.spec.id.clone(),
            read: None,
        };
        let news = reached(memories.link.ask(ask).await)?;
        if let Some(state) = self.rendered(0, news)?.state {
            self.links.voice.say(self.held.memory_state(state));
        }
        ControlFlow::Continue(())
    }

    /// The pinned blocks, where what they show has changed: memories as the window opens and after
    /// a write of the agent's own (R5), the task list always.
    pub(super) async fn refresh_blocks(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        if self.held.memories.as_ref().is_some_and(|held| held.stale) {
            self.refresh_memories(turn).await?;
        }
        self.refresh_tasks(turn)
    }

    /// Both blocks as their modules are now, whoever wrote: a compaction is about to rewrite the
    /// window.
    pub(super) async fn refresh_before_compaction(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        self.refresh_memories(turn).await?;
        self.refresh_tasks(turn)
    }

    /// How many tasks and memories stand in the blocks.
    pub(super) async fn kept_in_blocks(&mut self) -> ControlFlow<LoopEnd, (u64, u64)> {
        let tasks = self.held.tasks.as_ref();
        let tasks = tasks.map_or(0, |tasks| tasks.tasks().len() as u64);
        let Some(memories) = &self.held.memories else {
            return ControlFlow::Continue((tasks, 0));
        };
        if !memories.strategy.in_window() {
            return ControlFlow::Continue((tasks, 0));
        }
        let ask = DescribeMemories {
            agent: self.spec.id.clone(),
        };
        let state = reached(memories.link.ask(ask).await)?;
        ControlFlow::Continue((tasks, state.totals.count))
    }

    async fn refresh_memories(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        let Some(memories) = &mut self.held.memories else {
            return ControlFlow::Continue(());
        };
        memories.stale = false;
        let block = memories.link.ask(ShowMemories).await;
        let block = reached(block)?;
        let block = self.rendered(turn, block)?;
        let block = block.map(|block| self.labeled("Memories", block));
        let block = self.rendered(turn, block.transpose())?.map(Into::into);
        self.window.refresh_block(BlockKind::Memories, block, turn);
        ControlFlow::Continue(())
    }

    fn refresh_tasks(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        let Some(tasks) = &self.held.tasks else {
            return ControlFlow::Continue(());
        };
        let block = tasks.block();
        let block = self.rendered(turn, block)?;
        let block = block.map(|block| self.labeled("Tasks", block));
        let block = self.rendered(turn, block.transpose())?.map(Into::into);
        self.window.refresh_block(BlockKind::Tasks, block, turn);
        ControlFlow::Continue(())
    }
}

/// What a store answered. One that is gone has died, and whoever needs it ends of that.
fn reached<T>(answer: Result<T, MailboxError>) -> ControlFlow<LoopEnd, T> {
    match answer {
        Ok(answer) => ControlFlow::Continue(answer),
        Err(_) => ControlFlow::Break(LoopEnd::internal(gone())),
    }
}

/// Why a store does not answer.
pub(super) fn gone() -> String {
    format!("the memory store died: {}", panics::last())
}
