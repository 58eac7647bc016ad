//! Compaction: when a window is due, what is asked for, what satisfies it, and when it has failed
//! (02 §6).
//!
//! [`Compaction`] is one incarnation's state, a pure machine over figures and replies. The loop
//! asks it at each turn boundary ([`Compaction::check`]), at each call while one is pending
//! ([`Compaction::refusal`]) and at each turn's close ([`Compaction::close`], of programs
//! [`Compaction::close_programs`]); what satisfied it
//! becomes an [`Answer`], the loop applies it to the window ([`apply`]) and says what came of it
//! ([`Compaction::applied`]). What another model is asked, and how its reply is read, is the matter
//! of `handoff`; the call `compact` is that of `call`.
//!
//! Always true: an ending call is never refused; no chain of boundaries that do not relieve is
//! longer than `maxRetries` + 1; a compaction is only ever asked for at a boundary.

mod apply;
mod call;
pub mod handoff;

use vocab::failure::{Failure, FailureClass};
use vocab::knowledge::saves;
use vocab::tools::ToolName;

pub use apply::{Applied, Material, apply, file_view};
pub use call::{CompactCall, read_compact};
pub use config::capability::window::CompactionStrategy;

use crate::calls::CallNames;
use crate::prompts::{self, CodeCompaction, CompactionInstruction, PromptError, Undone};
use crate::window::trigger;

/// What a profile says of compaction, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Who summarizes, and how.
    pub strategy: CompactionStrategy,
    /// The share of the window kept free.
    pub headroom: f64,
    /// Boundaries in a row that may leave the window full before the next one is a failure.
    pub max_retries: u64,
    /// The memory calls the agent holds, for the strategy that asks for them.
    pub memory_calls: Vec<ToolName>,
    /// How calls are named to the agent.
    pub names: CallNames,
}

/// What a boundary calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// The instruction is appended; from now on the compaction is pending.
    Instruct,
    /// Another model is asked now, before the turn.
    Handoff,
    /// The window is full of what no compaction can take.
    Pinned,
}

/// What satisfied a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A summary in plain text.
    Prose(String),
    /// The call `compact`.
    Compact(CompactCall),
    /// Memories were saved: nothing stands for the conversation.
    Memories,
    /// Nobody answered usably: the boundary happens with the fixed note.
    Fallback,
}

/// What a turn's close calls for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Close {
    /// Nothing: none is pending, or the replies to refused calls have said it.
    Nothing,
    /// The compaction is applied.
    Apply(Answer),
    /// It was not done: the instruction is restated. Where the reply made no call at all the turn
    /// is the error `missing_completion_compaction`.
    Restate(Missing),
}

/// What a reply lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A call.
    Call,
    /// Anything at all.
    Text,
    /// A program.
    Program,
    /// In its calls, what was asked for.
    Deed,
}

impl Missing {
    /// Whether the turn is an error: one that called something is none, whatever that did.
    pub const fn is_error(self) -> bool {
        !matches!(self, Self::Deed)
    }
}

/// What a boundary left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relief {
    /// The window has room.
    Relieved,
    /// It has not: a handoff is asked for again at once, an agent at the next boundary.
    Again,
    /// It has not, once too often: the agent ends `compaction_failed`.
    Failed(NotRelieved),
}

/// Why compacting has failed, for whoever reads the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "after {boundaries} compaction(s) in a row the window still holds {after} of {limit} tokens, \
     and a compaction is due from {trigger}{}",
    if *.pinned >= *.trigger {
        Cause::Pinned(*.pinned)
    } else {
        Cause::Summary(*.pinned)
    }
)]
pub struct NotRelieved {
    /// Boundaries in a row that did not relieve.
    pub boundaries: u64,
    /// Tokens after the last of them.
    pub after: u64,
    /// Tokens no compaction can take.
    pub pinned: u64,
    /// Tokens from which one is due.
    pub trigger: u64,
    /// The working window.
    pub limit: u64,
}

/// What keeps a window full.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Cause {
    #[error(
        ": the pinned part alone takes {0} tokens and fills the window, so that no compaction can \
         relieve it"
    )]
    Pinned(u64),
    #[error(": the pinned part takes {0} tokens, the rest is what the compactions left")]
    Summary(u64),
}

/// One incarnation's compaction.
#[derive(Clone, Debug)]
pub struct Compaction {
    policy: Policy,
    /// The working window, tokens.
    limit: u64,
    /// Tokens from which one is due.
    trigger: u64,
    /// Whether the agent has been asked and has not complied yet.
    pending: bool,
    /// The call `compact` of this turn; the last stands.
    called: Option<CompactCall>,
    /// Whether a call of this turn put something down in memories.
    saved: bool,
    /// Boundaries in a row that left the window full.
    unrelieved: u64,
}

impl Compaction {
    /// Of an incarnation that has not compacted yet. `limit` is its working window.
    pub fn new(policy: Policy, limit: u64) -> Self {
        Self {
            trigger: trigger(limit, policy.headroom),
            policy,
            limit,
            pending: false,
            called: None,
            saved: false,
            unrelieved: 0,
        }
    }

    /// Its strategy.
    pub const fn strategy(&self) -> CompactionStrategy {
        self.policy.strategy
    }

    /// Whether the agent has been asked for a compaction and has not complied yet.
    pub const fn is_pending(&self) -> bool {
        self.pending
    }

    /// Judges a window at a turn boundary by gg's own estimate of its tokens.
    pub fn check(&mut self, usage: u64, has_ephemeral: bool) -> Due {
        if usage < self.trigger {
            self.unrelieved = 0;
            return Due::Nothing;
        }
        if self.pending {
            return Due::Nothing;
        }
        if !has_ephemeral {
            return Due::Pinned;
        }
        if self.policy.strategy.is_handoff() {
            return Due::Handoff;
        }
        self.pending = true;
        Due::Instruct
    }

    /// Why a call is not carried out while a compaction is pending; `None` where it is. Ending
    /// calls are not asked about: they stay accepted.
    pub fn refusal(&self, tool: ToolName) -> Option<Failure> {
        if !self.pending {
            return None;
        }
        let names = &self.policy.names;
        let called = names.of(tool).to_owned();
        let pending = match self.policy.strategy {
            // A program has no text beside it that could be the summary (R43).
            CompactionStrategy::SelfSummarization if !names.is_code() => Pending::Prose(called),
            CompactionStrategy::SelfCompaction | CompactionStrategy::SelfSummarization => {
                if tool == ToolName::Compact {
                    return None;
                }
                Pending::Compact(called, names.of(ToolName::Compact).to_owned())
            }
            CompactionStrategy::MemoryCompaction if self.policy.memory_calls.contains(&tool) => {
                return None;
            }
            CompactionStrategy::MemoryCompaction => {
                let calls = self.policy.memory_calls.iter();
                let quoted: Vec<_> = calls.map(|call| format!("`{}`", names.of(*call))).collect();
                Pending::Memories(called, quoted.join(", "))
            }
            // A handoff asks the agent nothing, so that none is ever pending.
            CompactionStrategy::HandoffSummarization | CompactionStrategy::HandoffCompaction => {
                Pending::Prose(called)
            }
        };
        Some(Failure::new(FailureClass::Refused, pending.to_string()))
    }

    /// Whether `compact` takes files to read again: they go with a summary that the agent may hand
    /// in at any time.
    pub const fn takes_files(&self) -> bool {
        matches!(self.policy.strategy, CompactionStrategy::SelfCompaction)
    }

    /// Registers a call of `compact`, asked for or not; the last one of a turn stands.
    pub fn register(&mut self, call: CompactCall) {
        self.called = Some(call);
    }

    /// Takes in a call that was carried out and succeeded.
    pub const fn succeeded(&mut self, tool: ToolName) {
        self.saved |= saves(tool);
    }

    /// Judges a turn whose calls have all been answered: the reply's text, and for each of its
    /// calls whether it succeeded. Not for a turn that ended the agent.
    pub fn close(&mut self, text: Option<&str>, calls: &[bool]) -> Close {
        let saved = std::mem::take(&mut self.saved);
        if let Some(call) = self.called.take() {
            return self.satisfied(Answer::Compact(call));
        }
        if !self.pending {
            return Close::Nothing;
        }
        match self.policy.strategy {
            CompactionStrategy::SelfSummarization if calls.is_empty() => match text {
                Some(text) if !text.trim().is_empty() => {
                    self.satisfied(Answer::Prose(text.to_owned()))
                }
                _ => Close::Restate(Missing::Text),
            },
            CompactionStrategy::SelfSummarization => Close::Nothing,
            _ if calls.is_empty() => Close::Restate(Missing::Call),
            CompactionStrategy::MemoryCompaction if calls.iter().all(|ok| *ok) => {
                if saved {
                    self.satisfied(Answer::Memories)
                } else {
                    // Nothing failed that would have told it.
                    Close::Restate(Missing::Deed)
                }
            }
            _ => Close::Nothing,
        }
    }

    /// Judges a turn of programs: `None` where its reply submitted none, else whether they called
    /// something and every call succeeded. Not for a turn that ended the agent.
    pub fn close_programs(&mut self, succeeded: Option<bool>) -> Close {
        let saved = std::mem::take(&mut self.saved);
        if let Some(call) = self.called.take() {
            return self.satisfied(Answer::Compact(call));
        }
        if !self.pending {
            return Close::Nothing;
        }
        match succeeded {
            None => Close::Restate(Missing::Program),
            Some(true) if saved && self.policy.strategy == CompactionStrategy::MemoryCompaction => {
                self.satisfied(Answer::Memories)
            }
            Some(_) => Close::Restate(Missing::Deed),
        }
    }

    /// Judges a turn that declared an ending: only a call of `compact` beside it is applied first
    /// (R19). One that was asked for and not made stays pending, should the ending not stand.
    pub fn close_ending(&mut self) -> Close {
        self.saved = false;
        match self.called.take() {
            Some(call) => self.satisfied(Answer::Compact(call)),
            None => Close::Nothing,
        }
    }

    fn satisfied(&mut self, answer: Answer) -> Close {
        self.pending = false;
        Close::Apply(answer)
    }

    /// Judges the window a boundary left: its tokens, and those no compaction can take.
    pub fn applied(&mut self, after: u64, pinned: u64) -> Relief {
        self.pending = false;
        if after < self.trigger {
            self.unrelieved = 0;
            return Relief::Relieved;
        }
        self.unrelieved += 1;
        if self.unrelieved <= self.policy.max_retries {
            return Relief::Again;
        }
        Relief::Failed(NotRelieved {
            boundaries: self.unrelieved,
            after,
            pinned,
            trigger: self.trigger,
            limit: self.limit,
        })
    }

    /// The instruction a pending compaction is asked for with.
    ///
    /// # Errors
    ///
    /// A template that does not render.
    pub fn instruction(&self) -> Result<String, PromptError> {
        if let Some(functions) = self.policy.names.as_functions() {
            let memories = self.policy.strategy == CompactionStrategy::MemoryCompaction;
            return prompts::code_compaction(CodeCompaction {
                module: if memories {
                    &functions.memories
                } else {
                    &functions.context
                },
                memories,
                files: self.takes_files(),
            });
        }
        let nothing = CompactionInstruction::default();
        prompts::compaction_instruction(&match self.policy.strategy {
            CompactionStrategy::SelfCompaction => CompactionInstruction {
                compact: Some(ToolName::Compact.as_str()),
                ..nothing
            },
            CompactionStrategy::MemoryCompaction => {
                let calls = self.policy.memory_calls.iter();
                CompactionInstruction {
                    memories: calls.map(|call| call.as_str()).collect(),
                    ..nothing
                }
            }
            CompactionStrategy::SelfSummarization
            | CompactionStrategy::HandoffSummarization
            | CompactionStrategy::HandoffCompaction => CompactionInstruction {
                prose: true,
                ..nothing
            },
        })
    }

    /// The instruction again, with what the last reply lacked.
    ///
    /// # Errors
    ///
    /// A template that does not render.
    pub fn restatement(&self, missing: Missing) -> Result<String, PromptError> {
        let instruction = self.instruction()?;
        if self.policy.names.is_code() {
            let ran = missing == Missing::Deed;
            return prompts::code_compaction_restated(&instruction, ran);
        }
        let deed = match missing {
            Missing::Call | Missing::Program => Undone::Uncalled,
            Missing::Text => Undone::Blank,
            Missing::Deed => Undone::Unsaved,
        };
        prompts::compaction_restated(&instruction, deed)
    }
}

/// Why a call is not carried out now.
#[derive(Debug, thiserror::Error)]
enum Pending {
    #[error(
        "your window is being compacted, so `{0}` is not carried out now; reply with the summary in \
         plain text, and call nothing"
    )]
    Prose(String),
    #[error("your window is being compacted, so `{0}` is not carried out now; call `{1}` first")]
    Compact(String, String),
    #[error(
        "your window is being compacted, so `{0}` is not carried out now; save what you need first, \
         and call only {1}"
    )]
    Memories(String, String),
}

#[cfg(test)]
mod tests;
