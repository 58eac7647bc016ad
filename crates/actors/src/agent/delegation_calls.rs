//! Calls that concern other agents: spawn, wait, message (03 §3.2), exec and fork (03 §5).
//!
//! The supervisor decides; here its answers become results, and a wait gives the slot up until it
//! is over. A tool call is read from JSON and answered as text; what stands beneath is the same for
//! a program.
//!
//! Always true: no slot is held across a suspension; a wait ends by its condition or by the run's
//! stop, whichever is first.

use std::ops::ControlFlow;
use std::sync::Arc;

use config::profile::Profile;
use context::prompts;
use context::window::Retention;
use record::event::{AgentMessage, AgentState, AgentStatus, Event, LogLevel, WaitingOn};
use record::text;
use vocab::band::Band;
use vocab::failure::Failure;
use vocab::ids::{AgentId, Slug};
use vocab::tools::ToolName;

use super::LoopEnd;
use super::succession::{Copy, Successor};
use super::tool_turn::Answer;
use super::turns::Turns;
use super::undone::Undone;
use crate::delegation::{self, Delegated, DelegationCall, Letter, ReturnValue};
use crate::messages::{Deliver, Join, Joined, ReserveFork, Resumed, Spawn};
use crate::panics;
use crate::scheduler::Class;
use crate::succession::Succession;
use crate::supervisor::WaitRefusal;

/// Characters of a message that its event shows.
const PREVIEW_CHARS: usize = 500;

impl Turns {
    /// Carries out a call of the family, from its JSON to the text of its result.
    pub(super) async fn delegate(&mut self, turn: u32, tool: ToolName, arguments: &str) -> Answer {
        let profile = Arc::clone(&self.spec.profile);
        let outcome = match delegation::parse(tool, arguments, &roster(&profile, tool)) {
            Ok(call) => self.delegated(turn, call).await,
            Err(failure) => Err(failure.into()),
        };
        Answer::of_call(outcome.map(|delegated| delegated.as_text()))
    }

    /// Carries out a call of the family.
    pub(super) async fn delegated(
        &mut self,
        turn: u32,
        call: DelegationCall,
    ) -> Result<Delegated, Undone> {
        Ok(match call {
            DelegationCall::Spawn { agent, prompt } => Delegated::Spawned {
                id: self.spawn(agent.clone(), prompt.into()).await?,
                agent,
            },
            DelegationCall::Wait { ids } => Delegated::Awaited(self.wait(ids).await?),
            DelegationCall::Message { id, message } => {
                self.send(turn, id.clone(), message.into()).await?;
                Delegated::Sent(id)
            }
            DelegationCall::Exec { agent, prompt } => {
                self.exec(agent.clone(), prompt.map(Into::into))?;
                Delegated::Becoming(agent)
            }
            DelegationCall::Fork { prompt } => Delegated::Forked(self.fork(prompt.into()).await?),
        })
    }

    /// Starts a child; its handle.
    async fn spawn(&mut self, target: Slug, prompt: Arc<str>) -> Result<AgentId, Undone> {
        let ask = Spawn {
            agent: self.spec.id.clone(),
            target,
            prompt,
        };
        match self.links.supervisor.ask(ask).await {
            Ok(Ok(id)) => Ok(id),
            Ok(Err(refusal)) => Err(Failure::from(refusal).into()),
            Err(_) => Err(gone()),
        }
    }

    /// Declares who takes the agent's place as the turn closes.
    fn exec(&mut self, target: Slug, note: Option<Arc<str>>) -> Result<(), Failure> {
        self.declared.succeed(Successor {
            kind: Succession::Exec,
            target,
            note,
        })
    }

    /// Promises a copy, made as the turn closes; its handle.
    async fn fork(&mut self, prompt: Arc<str>) -> Result<AgentId, Undone> {
        let ask = ReserveFork {
            agent: self.spec.id.clone(),
        };
        match self.links.supervisor.ask(ask).await {
            Ok(Ok(id)) => {
                self.declared.forks.push(Copy {
                    id: id.clone(),
                    prompt,
                });
                Ok(id)
            }
            Ok(Err(refusal)) => Err(Failure::from(refusal).into()),
            Err(_) => Err(gone()),
        }
    }

    /// Writes to a child.
    async fn send(&mut self, turn: u32, to: AgentId, text: Arc<str>) -> Result<(), Undone> {
        let ask = Deliver {
            agent: self.spec.id.clone(),
            to: to.clone(),
            text: Arc::clone(&text),
        };
        match self.links.supervisor.ask(ask).await {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => return Err(Failure::from(refusal).into()),
            Err(_) => return Err(gone()),
        }
        let message = AgentMessage {
            to,
            chars: text.chars().count() as u64,
            preview: text::head(&text, PREVIEW_CHARS).to_owned(),
        };
        let voice = &self.links.voice;
        voice.say_in_turn(turn, Event::AgentMessage(message));
        Ok(())
    }

    /// Waits for children, without a slot where there is something to wait for; what they left, in
    /// asked order.
    async fn wait(&mut self, ids: Vec<AgentId>) -> Result<Vec<ReturnValue>, Undone> {
        let ask = Join {
            agent: self.spec.id.clone(),
            ids,
        };
        match self.links.supervisor.ask(ask).await {
            Ok(Ok(Joined::Met(values))) => Ok(values),
            Ok(Ok(Joined::Later { awaited, over })) => match self.suspend(awaited, over).await {
                Some(values) => Ok(values),
                None => Err(Failure::from(WaitRefusal::Stopping).into()),
            },
            Ok(Err(refusal)) => Err(Failure::from(refusal).into()),
            Err(_) => Err(gone()),
        }
    }

    /// Gives the slot up until a wait is over, and takes one again. `None` where the run's stop
    /// ended the wait.
    async fn suspend(
        &mut self,
        awaited: Vec<AgentId>,
        over: tokio::sync::oneshot::Receiver<Resumed>,
    ) -> Option<Vec<ReturnValue>> {
        self.links.voice.say(Event::AgentStatus(AgentStatus {
            waiting_on: Some(WaitingOn::Agents(awaited)),
            ..AgentStatus::of(AgentState::Blocked)
        }));
        drop(self.seat.leave());
        panics::trip("suspended");
        // Values that came in time are not lost to a stop that came as well.
        let resumed = tokio::select! {
            biased;
            resumed = over => resumed.ok(),
            _ = self.stop.thrown() => None,
        };
        let (values, slot) = match resumed {
            Some(Resumed { values, slot }) => (Some(values), slot),
            None => (None, self.queue(Class::Resume)),
        };
        self.sit_down(slot).await;
        values
    }

    /// Puts what was written to this agent at the window's tail (03 §3.7).
    pub(super) fn read_letters(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        for Letter { from, text } in std::mem::take(&mut self.letters) {
            let text = prompts::agent_message(from.as_str(), &text);
            let text = self.rendered(turn, text)?;
            self.put(turn, Band::UserPrompt, Retention::Pinned, text);
        }
        ControlFlow::Continue(())
    }

    /// Messages that came with a boundary's refusal are read by nobody.
    pub(super) fn drop_letters(&self, letters: &[Letter]) {
        for letter in letters {
            let voice = &self.links.voice;
            voice.log(LogLevel::Warn, Some("message_dropped"), dropped(letter));
        }
    }
}

/// What the operator is told of a message that nobody reads.
pub(crate) fn dropped(letter: &Letter) -> String {
    let Letter { from, text } = letter;
    let chars = text.chars().count();
    format!("a message of {chars} characters from `{from}` is dropped: its reader has ended")
}

/// The profiles that a call of an agent may name, in order.
pub(super) fn roster(profile: &Profile, tool: ToolName) -> Vec<&Slug> {
    let roster = if tool == ToolName::Exec {
        profile.successors()
    } else {
        profile.spawns()
    };
    roster.into_iter().map(|entry| &entry.agent_id).collect()
}

/// The supervisor does not answer: it died, and the run ends of that.
fn gone() -> Undone {
    Undone::Defect(panics::supervisor_died())
}
