//! Calls that concern other agents: spawn, wait, message (03 §3.2), exec and fork (03 §5).
//!
//! The supervisor decides; here its answers become results, and a wait gives the slot up until it
//! is over.
//!
//! Always true: no slot is held across a suspension; a wait ends by its condition or by the run's
//! stop, whichever is first.

use std::ops::ControlFlow;
use std::sync::Arc;

use context::prompts;
use context::window::Retention;
use record::event::{AgentMessage, AgentState, AgentStatus, Event, LogLevel, WaitingOn};
use record::text;
use tools::Done;
use vocab::band::Band;
use vocab::failure::Failure;
use vocab::ids::{AgentId, Slug};
use vocab::tools::ToolName;

use super::LoopEnd;
use super::succession::{Copy, Successor};
use super::tool_turn::Answer;
use super::turns::Turns;
use crate::delegation::{self, DelegationCall, Letter, ReturnValue};
use crate::messages::{Deliver, Join, Joined, ReserveFork, Resumed, Spawn};
use crate::panics;
use crate::scheduler::Class;
use crate::succession::Succession;
use crate::supervisor::WaitRefusal;

/// Characters of a message that its event shows.
const PREVIEW_CHARS: usize = 500;

impl Turns {
    /// Carries out a call of the family.
    pub(super) async fn delegate(&mut self, turn: u32, tool: ToolName, arguments: &str) -> Answer {
        let profile = Arc::clone(&self.spec.profile);
        let roster = if tool == ToolName::Exec {
            profile.successors()
        } else {
            profile.spawns()
        };
        let roster: Vec<&Slug> = roster.into_iter().map(|entry| &entry.agent_id).collect();
        let call = match delegation::parse(tool, arguments, &roster) {
            Ok(call) => call,
            Err(failure) => return Answer::failed(failure),
        };
        match call {
            DelegationCall::Spawn { agent, prompt } => self.spawn(agent, prompt.into()).await,
            DelegationCall::Wait { ids } => self.wait(ids).await,
            DelegationCall::Message { id, message } => self.send(turn, id, message.into()).await,
            DelegationCall::Exec { agent, prompt } => self.exec(agent, prompt.map(Into::into)),
            DelegationCall::Fork { prompt } => self.fork(prompt.into()).await,
        }
    }

    async fn spawn(&mut self, target: Slug, prompt: Arc<str>) -> Answer {
        let ask = Spawn {
            agent: self.spec.id.clone(),
            target: target.clone(),
            prompt,
        };
        match self.links.supervisor.ask(ask).await {
            Ok(Ok(id)) => text_answer(delegation::spawned(&id, &target)),
            Ok(Err(refusal)) => Answer::failed(refusal.into()),
            Err(_) => gone(),
        }
    }

    fn exec(&mut self, target: Slug, note: Option<Arc<str>>) -> Answer {
        let answer = delegation::becoming(&target);
        let successor = Successor {
            kind: Succession::Exec,
            target,
            note,
        };
        match self.declared.succeed(successor) {
            Ok(()) => text_answer(answer),
            Err(refusal) => Answer::failed(refusal),
        }
    }

    async fn fork(&mut self, prompt: Arc<str>) -> Answer {
        let ask = ReserveFork {
            agent: self.spec.id.clone(),
        };
        match self.links.supervisor.ask(ask).await {
            Ok(Ok(id)) => {
                let answer = text_answer(delegation::forked(&id));
                self.declared.forks.push(Copy { id, prompt });
                answer
            }
            Ok(Err(refusal)) => Answer::failed(refusal.into()),
            Err(_) => gone(),
        }
    }

    async fn send(&mut self, turn: u32, to: AgentId, text: Arc<str>) -> Answer {
        let ask = Deliver {
            agent: self.spec.id.clone(),
            to: to.clone(),
            text: Arc::clone(&text),
        };
        match self.links.supervisor.ask(ask).await {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => return Answer::failed(refusal.into()),
            Err(_) => return gone(),
        }
        let answer = text_answer(delegation::delivered(&to));
        let message = AgentMessage {
            to,
            chars: text.chars().count() as u64,
            preview: text::head(&text, PREVIEW_CHARS).to_owned(),
        };
        let voice = &self.links.voice;
        voice.say_in_turn(turn, Event::AgentMessage(message));
        answer
    }

    async fn wait(&mut self, ids: Vec<AgentId>) -> Answer {
        let ask = Join {
            agent: self.spec.id.clone(),
            ids,
        };
        match self.links.supervisor.ask(ask).await {
            Ok(Ok(Joined::Met(values))) => text_answer(delegation::awaited(&values)),
            Ok(Ok(Joined::Later { awaited, over })) => match self.suspend(awaited, over).await {
                Some(values) => text_answer(delegation::awaited(&values)),
                None => Answer::failed(WaitRefusal::Stopping.into()),
            },
            Ok(Err(refusal)) => Answer::failed(refusal.into()),
            Err(_) => gone(),
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

pub(super) fn text_answer(text: String) -> Answer {
    Answer::of(Ok::<_, Failure>(Done {
        text,
        ..Done::default()
    }))
}

/// The supervisor does not answer: it died, and the run ends of that.
fn gone() -> Answer {
    Answer::defect(panics::supervisor_died())
}
