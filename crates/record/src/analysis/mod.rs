//! What a recorded stream comes to when it is read again: who took part, what the providers'
//! caches were worth, and what each message of a window has cost.
//!
//! [`Analysis`] takes the lines of one stream in order and keeps three folds of them. It reads as
//! any reader must: a type or a field it does not know says nothing, a line whose fields cannot
//! be read is counted and left out.
//!
//! Always true: every figure is a sum of figures of the stream; nothing is estimated but the
//! split of a request's price over its messages, which is by the stream's own token counts.

mod agents;
mod cache;
mod spend;

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use serde::Deserialize;
use vocab::ids::{MessageId, ModelId, ProviderName, SessionId};
use vocab::usage::{Cost, ListPrices, Tokens};

pub use agents::{AgentFacts, Agents};
pub use cache::{CacheRow, CacheTruth, Lost, PrefixBreak};
pub use spend::{MessageFacts, Own, Spend, WindowView};

use crate::lines::{Damage, Line, lines};

/// One stream, folded.
#[derive(Debug, Default)]
pub struct Analysis {
    /// The session's name.
    pub session: Option<SessionId>,
    /// How it ended, where it did.
    pub ended: Option<(String, u8)>,
    /// Who took part.
    pub agents: Agents,
    /// What the providers' caches were worth.
    pub cache: CacheTruth,
    /// What each message has cost.
    pub spend: Spend,
    /// Lines that are no event, or whose fields cannot be read.
    pub damaged: Vec<Damage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Started {
    session_id: Option<SessionId>,
    #[serde(default)]
    model_prices: BTreeMap<ModelId, ListPrices>,
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

impl Analysis {
    /// Reads a whole stream.
    pub fn read(reader: impl BufRead) -> io::Result<Self> {
        let mut analysis = Self::default();
        for line in lines(reader) {
            match line? {
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
        }
        Ok(analysis)
    }

    fn take(&mut self, line: &Line) -> serde_json::Result<()> {
        match line.kind.as_str() {
            "session_started" => {
                let started: Started = line.fields()?;
                self.session = started.session_id;
                self.cache.priced(started.model_prices);
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
            "context_message" => self.spend.logged(line, line.fields()?),
            "agent_spawned" => self.agents.spawned(line, line.fields()?),
            "agent_status" => self.agents.changed(line, line.fields()?),
            "turn_outcome" => self.agents.judged(line, line.fields()?),
            "provider_fault" => self.cache.faulted(line, line.fields()?),
            "prefix_broken" => self.cache.broke(line, line.fields()?),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
