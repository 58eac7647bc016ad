//! Calls on what an agent holds: tasks, memories, skills (02 §8–10).
//!
//! The modules decide and word every answer; here it is carried to them and recorded. A tool call is
//! read from JSON and answered as text; what stands beneath is the same for a program, which has its
//! values from the start. A refused call changes nothing and is followed by no snapshot.

use std::sync::Arc;

use context::modules::ModuleKind;
use context::modules::memories::{self, MemoryAnswer, MemoryCall};
use context::modules::skills::{SkillRead, SkillSet};
use context::modules::tasks::{self, TaskCall, TaskChange, TaskList};
use vocab::capability::CapabilityId;
use vocab::failure::{Failure, FailureClass};
use vocab::knowledge::{MemoryStrategy, TaskMode};
use vocab::tools::ToolName;

use super::holdings::{self, Held};
use super::records::{memory_revision, skills_state, tasks_state};
use super::tool_turn::Answer;
use super::turns::Turns;
use super::undone::Undone;
use crate::messages::{CallMemories, CarriedOut};

impl Held {
    /// What a new task consists of.
    pub(super) fn task_mode(&self) -> Result<TaskMode, Failure> {
        let tasks = self.tasks.as_ref().ok_or_else(not_held)?;
        Ok(tasks.policy().mode)
    }

    /// The task list.
    pub(super) fn task_list(&self) -> Result<&TaskList, Failure> {
        self.tasks.as_ref().ok_or_else(not_held)
    }

    /// Carries out a call on the task list.
    pub(super) fn change_tasks(&mut self, call: TaskCall) -> Result<TaskChange, Failure> {
        let store = self.store(ModuleKind::Tasks);
        let tasks = self.tasks.as_mut().ok_or_else(not_held)?;
        let change = tasks.apply(call)?;
        let event = tasks_state(store, tasks);
        self.changed.push(event);
        Ok(change)
    }

    /// How the memories are kept.
    pub(super) fn memory_strategy(&self) -> Result<MemoryStrategy, Failure> {
        let memories = self.memories.as_ref().ok_or_else(not_held)?;
        Ok(memories.strategy)
    }

    /// Reads a skill.
    pub(super) fn use_skill(&mut self, name: &str) -> Result<SkillRead, Failure> {
        let store = self.store(ModuleKind::Skills);
        let skills = self.skills.as_mut().ok_or_else(not_held)?;
        let read = skills.read(name)?;
        if read.first {
            let event = skills_state(store, skills);
            self.changed.push(event);
        }
        Ok(read)
    }
}

impl Turns {
    /// Carries out a call of one of the three families.
    pub(super) async fn call_module(&mut self, tool: ToolName, arguments: &str) -> Answer {
        match tool.capability() {
            Some(CapabilityId::Tasks) => {
                Answer::of_call(self.call_tasks(tool, arguments).map_err(Undone::from))
            }
            Some(CapabilityId::Memories) => {
                let call = self
                    .held
                    .memory_strategy()
                    .and_then(|strategy| memories::parse(tool, arguments, strategy));
                let outcome = match call {
                    Ok(call) => self.call_memories(call).await,
                    Err(failure) => Err(failure.into()),
                };
                Answer::of_call(outcome.map(|answer| answer.as_text()))
            }
            _ => self.read_skill(tool, arguments),
        }
    }

    fn call_tasks(&mut self, tool: ToolName, arguments: &str) -> Result<String, Failure> {
        let call = tasks::parse(tool, arguments, self.held.task_mode()?)?;
        let change = self.held.change_tasks(call)?;
        Ok(change.as_text())
    }

    /// Carries out a call on the memories.
    pub(super) async fn call_memories(&mut self, call: MemoryCall) -> Result<MemoryAnswer, Undone> {
        let memories = self.held.memories.as_ref().ok_or_else(not_held)?;
        let ask = CallMemories {
            agent: self.spec.id.clone(),
            call,
        };
        let carried_out = match memories.link.ask(ask).await {
            Ok(Ok(carried_out)) => carried_out,
            Ok(Err(error)) => return Err(Failure::from(error).into()),
            Err(_) => return Err(Undone::Defect(holdings::gone())),
        };
        let CarriedOut { answer, state } = carried_out;
        if let MemoryAnswer::Written(written) = &answer {
            let store = self.held.store(ModuleKind::Memories);
            let event = memory_revision(store, &written.revision);
            self.held.changed.push(event);
        }
        if let Some(state) = state {
            let event = self.held.memory_state(state);
            self.held.changed.push(event);
        }
        Ok(answer)
    }

    fn read_skill(&mut self, tool: ToolName, arguments: &str) -> Answer {
        let read = SkillSet::parse(tool, arguments).and_then(|name| self.held.use_skill(&name));
        let read = match read {
            Ok(read) => read,
            Err(failure) => return Answer::failed(failure),
        };
        Answer {
            skill: read.pins().then(|| Arc::clone(&read.skill.name)),
            ..Answer::of_call(Ok(read.as_text()))
        }
    }
}

/// A call on a module the agent does not hold: it is not offered, so nobody gets here.
fn not_held() -> Failure {
    Failure::new(FailureClass::Unavailable, "you hold no such module")
}
