//! Calls on what an agent holds: tasks, memories, skills (02 §8–10).
//!
//! The modules decide and word every answer; here it is carried to them and recorded. A refused
//! call changes nothing and is followed by no snapshot.

use std::sync::Arc;

use context::modules::ModuleKind;
use context::modules::memories::{self, MemoryAnswer};
use context::modules::skills::SkillSet;
use context::modules::tasks;
use tools::Done;
use vocab::capability::CapabilityId;
use vocab::failure::{Failure, FailureClass};
use vocab::tools::ToolName;

use super::holdings;
use super::records::{memory_revision, skills_state, tasks_state};
use super::tool_turn::Answer;
use super::turns::Turns;
use crate::messages::{CallMemories, CarriedOut};

impl Turns {
    /// Carries out a call of one of the three families.
    pub(super) async fn call_module(&mut self, tool: ToolName, arguments: &str) -> Answer {
        match tool.capability() {
            Some(CapabilityId::Tasks) => Answer::text(self.call_tasks(tool, arguments)),
            Some(CapabilityId::Memories) => self.call_memories(tool, arguments).await,
            _ => self.read_skill(tool, arguments),
        }
    }

    fn call_tasks(&mut self, tool: ToolName, arguments: &str) -> Result<String, Failure> {
        let store = self.held.store(ModuleKind::Tasks);
        let tasks = self.held.tasks.as_mut().ok_or_else(not_held)?;
        let call = tasks::parse(tool, arguments, tasks.policy().mode)?;
        let change = tasks.apply(call)?;
        let event = tasks_state(store, tasks);
        self.held.changed.push(event);
        Ok(change.as_text())
    }

    async fn call_memories(&mut self, tool: ToolName, arguments: &str) -> Answer {
        let Some(memories) = &self.held.memories else {
            return Answer::failed(not_held());
        };
        let call = match memories::parse(tool, arguments, memories.strategy) {
            Ok(call) => call,
            Err(failure) => return Answer::failed(failure),
        };
        let ask = CallMemories {
            agent: self.spec.id.clone(),
            call,
        };
        let carried_out = match memories.link.ask(ask).await {
            Ok(Ok(carried_out)) => carried_out,
            Ok(Err(error)) => return Answer::failed(error.into()),
            Err(_) => return Answer::defect(holdings::gone()),
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
        Answer::text(Ok(answer.as_text()))
    }

    fn read_skill(&mut self, tool: ToolName, arguments: &str) -> Answer {
        let store = self.held.store(ModuleKind::Skills);
        let Some(skills) = &mut self.held.skills else {
            return Answer::failed(not_held());
        };
        let read = SkillSet::parse(tool, arguments)
            .and_then(|name| skills.read(&name).map_err(Failure::from));
        let read = match read {
            Ok(read) => read,
            Err(failure) => return Answer::failed(failure),
        };
        if read.first {
            let event = skills_state(store, skills);
            self.held.changed.push(event);
        }
        Answer {
            skill: read.pins().then(|| Arc::clone(&read.skill.name)),
            ..Answer::text(Ok(read.as_text()))
        }
    }
}

/// A call on a module the agent does not hold: it is not offered, so nobody gets here.
fn not_held() -> Failure {
    Failure::new(FailureClass::Unavailable, "you hold no such module")
}

impl Answer {
    /// A text, or why there is none.
    fn text(outcome: Result<String, Failure>) -> Self {
        Self::of(outcome.map(|text| Done {
            text,
            ..Done::default()
        }))
    }
}
