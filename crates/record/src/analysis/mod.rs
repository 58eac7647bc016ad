//! What a recorded stream comes to when it is read again: who took part, what the providers'
//! caches were worth, what each message of a window has cost, where the agents' time went, and what
//! became of the board.
//!
//! [`Analysis`] takes the lines of one stream in order and keeps a few folds of them. It reads as
//! any reader must: a type or a field it does not know says nothing, a line whose fields cannot
//! be read is counted and left out.
//!
//! A line of another session, which a damaged disk or a joined file may hold, counts for nothing.
//!
//! Always true: every figure is a sum of figures of the stream; nothing is estimated but the
//! split of a request's price over its messages, which is by the stream's own token counts.

mod agents;
mod board;
mod cache;
mod lives;
mod programs;
mod spend;
mod timing;

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use serde::Deserialize;
use vocab::ids::{MessageId, ModelId, ProviderName, SessionId};
use vocab::usage::{Cost, Tokens};

pub use agents::{AgentFacts, Agents};
pub use board::{BoardFacts, Dispatched, Duty, IssueStory, Step};
pub use cache::{CacheRow, CacheTruth, Lost, PrefixBreak};
pub use lives::{Life, Lives, Span};
pub use programs::{ProgramFacts, ProgramRun, Programs};
pub use spend::{CallFacts, Fullness, MessageFacts, Own, PictureFacts, Spend, WindowView};
pub use timing::AgentTime;

use crate::lines::{Damage, Line, lines};

/// One stream, folded.
#[derive(Debug, Default)]
pub struct Analysis {
    /// The session's name, as its lines give it.
    pub session: Option<SessionId>,
    /// How it ended, where it did.
    pub ended: Option<(String, u8)>,
    /// Who took part.
    pub agents: Agents,
    /// What the providers' caches were worth.
    pub cache: CacheTruth,
    /// What each message has cost.
    pub spend: Spend,
    /// What each agent's programs came to.
    pub programs: Programs,
    /// What each agent was when, and where the time of all went.
    pub lives: Lives,
    /// What became of the board.
    pub board: BoardFacts,
    /// Lines that are no event, or whose fields cannot be read.
    pub damaged: Vec<Damage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Started {
    #[serde(default)]
    model_prices: Option<BTreeMap<ModelId, serde_json::Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    status: String,
    exit_code: u8,
}

/// A `usage` line, as the folds need it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsageLine {
    pub(crate) model_id: Option<ModelId>,
    #[serde(default)]
    pub(crate) tokens: Tokens,
    #[serde(default)]
    pub(crate) cost: Option<Cost>,
    #[serde(default)]
    pub(crate) provider: Option<ProviderName>,
    #[serde(default)]
    pub(crate) expected_cached_tokens: Option<u64>,
}

/// A `prompt` line, as the folds need it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PromptLine {
    pub(crate) messages: Vec<MessageId>,
}

/// Lines that are no event, after which a file without one of a session is read no further.
const NO_STREAM: usize = 1000;

impl Analysis {
    /// Reads a whole stream; of a file that is none, the start.
    pub fn read(reader: impl BufRead) -> io::Result<Self> {
        let mut analysis = Self::default();
        for line in lines(reader) {
            match line? {
                Ok(line) if analysis.is_foreign(&line) => {
                    analysis.damaged.push(Damage {
                        number: line.number,
                        why: format!("`{}`: it is of another session", line.kind),
                    });
                }
                Ok(line) => {
                    if let Err(error) = analysis.take(&line) {
                        analysis.damaged.push(Damage {
                            number: line.number,
                            why: format!("`{}`: {error}", line.kind),
                        });
                    }
                }
                Err(damage) => analysis.damaged.push(damage),
            }
            if analysis.session.is_none() && analysis.damaged.len() >= NO_STREAM {
                break;
            }
        }
        Ok(analysis)
    }

    /// Whether a line belongs to another session than the first that named one.
    fn is_foreign(&mut self, line: &Line) -> bool {
        match (&self.session, &line.session) {
            (None, Some(named)) => {
                self.session = Some(named.clone());
                false
            }
            (Some(own), Some(named)) => own != named,
            (_, None) => false,
        }
    }

    fn take(&mut self, line: &Line) -> serde_json::Result<()> {
        match line.kind.as_str() {
            "session_started" => {
                let started: Started = line.fields()?;
                let prices = started.model_prices.into_iter().flatten();
                // A price of another shape than today's prices nothing; the rest stands.
                self.cache.priced(
                    prices
                        .filter_map(|(model, prices)| {
                            Some((model, serde_json::from_value(prices).ok()?))
                        })
                        .collect(),
                );
            }
            "session_ended" => {
                let ended: Ended = line.fields()?;
                self.ended = Some((ended.status, ended.exit_code));
            }
            "usage" => {
                let usage: UsageLine = line.fields()?;
                self.agents.used(line, &usage);
                self.cache.used(line, &usage);
                self.spend.used(line, &usage);
            }
            "prompt" => self.spend.prompted(line, line.fields()?),
            "context_breakdown" => self.spend.filled(line, line.fields()?),
            "context_message" => self.spend.logged(line, line.fields()?),
            "agent_spawned" => {
                self.agents.spawned(line, line.fields()?);
                self.board.spawned(line, line.fields()?);
            }
            "board_state" => self.board.shown(line.fields()?),
            "issue_status" => self.board.moved(line.fields()?),
            "issue_review" => self.board.reviewed(line.fields()?),
            "worktree_merged" => self.board.landed(line.fields()?),
            "agent_surface" => self.programs.surfaced(line, line.fields()?),
            "code_execution" => self.programs.ran(line, line.fields()?),
            "api_result" => self.programs.called(line, &line.fields()?),
            "agent_status" => self.agents.changed(line, line.fields()?),
            "turn_outcome" => self.agents.judged(line, line.fields()?),
            "provider_fault" => self.cache.faulted(line, line.fields()?),
            "prefix_broken" => self.cache.broke(line, line.fields()?),
            _ => {}
        }
        self.lives.take(line)
    }
}

#[cfg(test)]
mod tests;
