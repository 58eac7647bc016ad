//! Calls on the run's board (03 §7.3), and waits for its issues (03 §7.7).
//!
//! The board decides and words every answer. A tool call is read from JSON and answered as text;
//! what stands beneath is the same for a program. A tool's wait suspends its agent where it is
//! made; a program's is declared, and all that a turn declared are awaited together behind its
//! close.
//!
//! Always true: no slot is held across a suspension; how an issue ended is asked anew once the
//! agent has a slot again; a refused call is followed by no snapshot.

use std::ops::ControlFlow;

use board::{BoardCall, BoardError, Reply, Settled, Waiting};
use context::modules::ModuleKind;
use context::prompts::{self, CodeNotice};
use context::window::Retention;
use record::event::{AgentState, AgentStatus, Event, WaitingOn};
use tokio::sync::oneshot;
use vocab::band::Band;
use vocab::board::IssueStatus;
use vocab::failure::{Failure, FailureClass};
use vocab::ids::IssueId;
use vocab::tools::ToolName;

use super::LoopEnd;
use super::tool_turn::Answer;
use super::turns::Turns;
use super::undone::Undone;
use crate::board::Board;
use crate::link::Link;
use crate::messages::{AwaitIssue, CallBoard, DescribeBoard, IssueWait, LookAgain};
use crate::panics;
use crate::scheduler::Class;

/// How an issue that was waited for stands now.
type Awaited = (IssueId, Result<Settled, BoardError>);

impl Turns {
    /// Carries out a call of the family, from its JSON to the text of its result.
    pub(super) async fn call_board(&mut self, tool: ToolName, arguments: &str) -> Answer {
        let outcome = match board::parse(tool, arguments) {
            Ok(BoardCall::Wait { id }) => self.wait_for_issue(id).await,
            Ok(call) => self.on_board(call).await.map(|reply| told(&reply)),
            Err(failure) => Err(failure.into()),
        };
        Answer::of_call(outcome)
    }

    /// Carries out a call. A wait is only tried: nothing stands of it.
    pub(super) async fn on_board(&mut self, call: BoardCall) -> Result<Reply, Undone> {
        let ask = CallBoard {
            caller: self.spec.caller(),
            call,
        };
        match self.board()?.ask(ask).await {
            Ok(Ok(reply)) => {
                self.held.wrote_board |= reply.is_write();
                Ok(reply)
            }
            Ok(Err(error)) => Err(Failure::from(error).into()),
            Err(_) => Err(Undone::Defect(gone())),
        }
    }

    /// Declares a wait of a program's, where the issue has not ended already.
    pub(super) async fn declare_wait(&mut self, id: IssueId) -> Result<Reply, Undone> {
        let reply = self.on_board(BoardCall::Wait { id }).await?;
        if let Reply::Waiting {
            id,
            waiting: Waiting::Suspended(_),
        } = &reply
        {
            self.declared.wait_for(id);
        }
        Ok(reply)
    }

    /// Waits for an issue at once.
    async fn wait_for_issue(&mut self, id: IssueId) -> Result<String, Undone> {
        let reply = self.on_board(BoardCall::Wait { id }).await?;
        let Reply::Waiting {
            id,
            waiting: Waiting::Suspended(_),
        } = reply
        else {
            return Ok(told(&reply));
        };
        let awaited = self.await_issues(vec![id]).await.map_err(Undone::Defect)?;
        let ended: Result<Vec<String>, BoardError> = awaited
            .into_iter()
            .map(|(id, how)| Ok(board::settled(&id, how?)))
            .collect();
        Ok(ended.map_err(Failure::from)?.join("\n"))
    }

    /// Awaits what the closed turn declared, and tells the model how each ended.
    pub(super) async fn await_declared(&mut self) -> ControlFlow<LoopEnd> {
        let ids = std::mem::take(&mut self.declared.waits);
        if ids.is_empty() {
            return ControlFlow::Continue(());
        }
        let awaited = match self.await_issues(ids).await {
            Ok(awaited) => awaited,
            Err(defect) => return ControlFlow::Break(LoopEnd::internal(defect)),
        };
        if !self.seat.is_taken() {
            // A stop of the run ended the wait: nobody reads on, and the next boundary says so.
            return ControlFlow::Continue(());
        }
        let turn = self.turn_number();
        for (id, how) in awaited {
            let notice = match how {
                Ok(Settled::Done) => prompts::code_notice(CodeNotice::IssueEnded {
                    id: id.as_str(),
                    failed: None,
                }),
                Ok(Settled::Failed) => {
                    let why = self.why_failed(&id).await;
                    prompts::code_notice(CodeNotice::IssueEnded {
                        id: id.as_str(),
                        failed: Some(&why),
                    })
                }
                Err(error) => prompts::code_notice(CodeNotice::IssueUnsettled {
                    id: id.as_str(),
                    reason: &error.to_string(),
                }),
            };
            let notice = self.rendered(turn, notice)?;
            self.put(turn, Band::System, Retention::Ephemeral, notice);
        }
        ControlFlow::Continue(())
    }

    /// Why an issue failed, as the board has it.
    async fn why_failed(&mut self, id: &IssueId) -> String {
        let read = BoardCall::Read { id: id.clone() };
        match self.on_board(read).await {
            Ok(Reply::Read(issue)) => issue.failure,
            // It was removed meanwhile.
            _ => None,
        }
        .unwrap_or_else(|| IssueStatus::Failed.to_string())
    }

    /// Waits until every issue has ended or is past hope, without a slot where there is something
    /// to wait for; how each stands then, in order. `Err` is a defect.
    async fn await_issues(&mut self, ids: Vec<IssueId>) -> Result<Vec<Awaited>, String> {
        let mut awaited = Vec::with_capacity(ids.len());
        let (mut pending, mut over) = (Vec::new(), Vec::new());
        let board = self.board().map_err(|failure| failure.message)?.clone();
        for issue in ids {
            let ask = AwaitIssue {
                agent: self.spec.id.clone(),
                caller: self.spec.caller(),
                issue: issue.clone(),
            };
            match board.ask(ask).await {
                Ok(Ok(IssueWait::Settled(how))) => awaited.push((issue, Some(Ok(how)))),
                Ok(Ok(IssueWait::Later(ended))) => {
                    pending.push(issue.clone());
                    over.push(ended);
                    awaited.push((issue, None));
                }
                Ok(Err(error)) => awaited.push((issue, Some(Err(error)))),
                Err(_) => return Err(gone()),
            }
        }
        if !over.is_empty() {
            self.suspend_for(pending, over).await;
        }
        let mut stand = Vec::with_capacity(awaited.len());
        for (issue, how) in awaited {
            let how = if let Some(how) = how {
                how
            } else {
                let ask = LookAgain {
                    caller: self.spec.caller(),
                    issue: issue.clone(),
                };
                board.ask(ask).await.map_err(|_| gone())?
            };
            stand.push((issue, how));
        }
        Ok(stand)
    }

    /// Gives the slot up until all of it is over or the run stops, and takes one again.
    async fn suspend_for(&mut self, issues: Vec<IssueId>, over: Vec<oneshot::Receiver<()>>) {
        self.links.voice.say(Event::AgentStatus(AgentStatus {
            waiting_on: Some(WaitingOn::issues(issues)),
            ..AgentStatus::of(AgentState::Blocked)
        }));
        drop(self.seat.leave());
        panics::trip("suspended");
        let all = async {
            for ended in over {
                // Closed where the board died: the run stops of that.
                ended.await.ok();
            }
        };
        tokio::select! {
            biased;
            () = all => {}
            _ = self.stop.thrown() => {}
        }
        let slot = self.queue(Class::Resume);
        self.sit_down(slot).await;
    }

    /// A snapshot of the board, where the turn's calls changed it (06 §2.4).
    pub(super) async fn tell_board(&mut self, turn: u32) {
        if !std::mem::take(&mut self.held.wrote_board) {
            return;
        }
        if let Ok(board) = self.board()
            // A board that is gone has died, and the run ends of that.
            && let Ok(state) = board.ask(DescribeBoard).await
        {
            let voice = &self.links.voice;
            voice.say_in_turn(turn, Event::BoardState(Box::new(state)));
        }
    }

    /// A snapshot of the board, of an agent that arrives and may call it.
    pub(super) async fn show_board(&self) -> ControlFlow<LoopEnd> {
        let row = self.held.row(ModuleKind::Board);
        if !row.is_some_and(|row| row.enabled) {
            return ControlFlow::Continue(());
        }
        let Some(board) = &self.links.board else {
            return ControlFlow::Continue(());
        };
        match board.ask(DescribeBoard).await {
            Ok(state) => {
                self.links.voice.say(Event::BoardState(Box::new(state)));
                ControlFlow::Continue(())
            }
            Err(_) => ControlFlow::Break(LoopEnd::internal(gone())),
        }
    }

    /// The run's board.
    fn board(&self) -> Result<&Link<Board>, Failure> {
        let none = || Failure::new(FailureClass::Unavailable, "this run has no board");
        self.links.board.as_ref().ok_or_else(none)
    }
}

/// What a call came to, as its result says it.
pub(super) fn told(reply: &Reply) -> String {
    board::answer(reply).unwrap_or_else(|| match reply {
        Reply::Waiting { id, .. } => {
            format!("`{id}` is waited for as this turn ends; you are told then how it ended")
        }
        // Every other call is answered at once.
        _ => String::new(),
    })
}

/// Why the board does not answer.
pub(super) fn gone() -> String {
    format!("the board died: {}", panics::last())
}
