//! Other agents, as a program reaches them (03 §3, §5, §6).
//!
//! Every call crosses to the loop. A wait parks the program's thread there and gives the agent's slot
//! up until it is over; what is declared (exec, fork, transition) is carried out as the turn closes.

use std::sync::Arc;

use sandbox::contract as wit;
use sandbox::services::{Call, Delegation};
use serde_json::Value;
use vocab::failure::Failure;
use vocab::ids::Slug;
use vocab::outcome::EndStatus;
use vocab::tools::ToolName;

use super::given::Given;
use super::{Carried, Serving};
use crate::agent::Ending;
use crate::agent::delegation_calls::roster;
use crate::agent::turns::Turns;
use crate::agent::undone::stopping;
use crate::delegation::{Delegated, DelegationCall, ReturnValue};
use crate::machine;

impl Serving {
    /// Carries out a call. `make` judges it against the profiles that its caller may name.
    fn delegate(
        &mut self,
        call: &Call,
        arguments: &Value,
        make: impl FnOnce(&[&Slug]) -> Result<DelegationCall, Failure> + Send + 'static,
    ) -> Result<Delegated, Failure> {
        // Only the one call looks at the roster of successors.
        let tool = call.operation().tool.unwrap_or(ToolName::SpawnSubagent);
        self.across(call, arguments, async move |turns, turn| {
            turns.still_works()?;
            let profile = Arc::clone(&turns.spec.profile);
            let call = make(&roster(&profile, tool))?;
            let delegated = turns.delegated(turn, call).await;
            let delegated = delegated.map_err(|undone| turns.code.undone(undone))?;
            let text = delegated.as_text();
            Ok(Carried::new(delegated, text))
        })
    }
}

impl Turns {
    /// Whether the agent may still have something done: a stop of the run may have ended its wait
    /// and left it without a slot to go on in.
    pub(super) fn still_works(&self) -> Result<(), Failure> {
        if self.seat.is_taken() {
            return Ok(());
        }
        Err(stopping())
    }
}

impl Delegation for Serving {
    fn spawn_subagent(
        &mut self,
        call: &Call,
        agent: String,
        prompt: String,
    ) -> Result<wit::SubagentHandle, Failure> {
        let arguments = Given::default()
            .with("agent", agent.as_str())
            .with("prompt", prompt.as_str());
        let spawned = self.delegate(call, &arguments.json(), |roster| {
            DelegationCall::spawn(agent, prompt, roster)
        });
        match spawned? {
            Delegated::Spawned { id, .. } => Ok(handle(id)),
            _ => Err(self.mismatched()),
        }
    }

    fn wait_for_subagents(
        &mut self,
        call: &Call,
        ids: Option<Vec<String>>,
    ) -> Result<Vec<wit::SubagentOutcome>, Failure> {
        let arguments = Given::default().maybe("ids", ids.clone());
        let waited = self.delegate(call, &arguments.json(), |_| DelegationCall::wait(ids));
        match waited? {
            Delegated::Awaited(values) => Ok(values.into_iter().map(outcome).collect()),
            _ => Err(self.mismatched()),
        }
    }

    fn send_message(&mut self, call: &Call, id: String, message: String) -> Result<(), Failure> {
        let arguments = Given::default()
            .with("id", id.as_str())
            .with("message", message.as_str());
        self.delegate(call, &arguments.json(), |_| {
            DelegationCall::message(id, message)
        })
        .map(drop)
    }

    fn exec(&mut self, call: &Call, agent: String, prompt: Option<String>) -> Result<(), Failure> {
        let arguments = Given::default()
            .with("agent", agent.as_str())
            .maybe("prompt", prompt.as_deref());
        self.delegate(call, &arguments.json(), |roster| {
            DelegationCall::exec(agent, prompt, roster)
        })
        .map(drop)
    }

    fn fork(&mut self, call: &Call, prompt: String) -> Result<wit::SubagentHandle, Failure> {
        let arguments = Given::default().with("prompt", prompt.as_str());
        let forked = self.delegate(call, &arguments.json(), |_| DelegationCall::fork(prompt));
        match forked? {
            Delegated::Forked(id) => Ok(handle(id)),
            _ => Err(self.mismatched()),
        }
    }

    fn transition_state(
        &mut self,
        call: &Call,
        state: String,
        note: Option<String>,
    ) -> Result<(), Failure> {
        let arguments = Given::default()
            .with("state", state.as_str())
            .maybe("note", note.as_deref());
        self.across(call, &arguments.json(), async move |turns, _| {
            turns.still_works()?;
            let leave = machine::leave_for(&state, note, turns.spec.position.as_ref())?;
            let told = machine::leaving(&leave.next);
            turns.leave_state(leave)?;
            Ok(Carried::new((), told))
        })
    }
}

fn handle(id: impl ToString) -> wit::SubagentHandle {
    wit::SubagentHandle { id: id.to_string() }
}

fn outcome(value: ReturnValue) -> wit::SubagentOutcome {
    wit::SubagentOutcome {
        id: value.id.to_string(),
        text: value.text,
        status: status(value.status),
        ending: value.ending.map(|ending| match ending {
            Ending::Finish { summary } => wit::Ending::Finish(summary),
            Ending::Approve => wit::Ending::Approve,
            Ending::RequestChanges { items } => wit::Ending::RequestChanges(items),
        }),
    }
}

const fn status(status: EndStatus) -> wit::AgentStatus {
    match status {
        EndStatus::Completed => wit::AgentStatus::Completed,
        EndStatus::Exhausted => wit::AgentStatus::Exhausted,
        EndStatus::TimedOut => wit::AgentStatus::TimedOut,
        EndStatus::LimitExceeded => wit::AgentStatus::LimitExceeded,
        EndStatus::Canceled => wit::AgentStatus::Canceled,
        EndStatus::ModelError => wit::AgentStatus::ModelError,
        EndStatus::AuthError => wit::AgentStatus::AuthError,
        EndStatus::HookError => wit::AgentStatus::HookError,
        EndStatus::CompactionFailed => wit::AgentStatus::CompactionFailed,
        // A lineage ends neither by handing itself on nor before its session began.
        EndStatus::InternalError | EndStatus::Transitioned | EndStatus::LaunchRefused => {
            wit::AgentStatus::InternalError
        }
    }
}
