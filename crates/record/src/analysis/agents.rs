//! Who took part in a session, and what each came to.

use serde::Deserialize;
use vocab::ids::{AgentId, ModelId, Slug};
use vocab::usage::Tokens;

use super::UsageLine;
use crate::lines::Line;

/// The agents of a stream, in order of their first line.
#[derive(Debug, Default)]
pub struct Agents(Vec<AgentFacts>);

/// One agent.
#[derive(Clone, Debug)]
pub struct AgentFacts {
    /// Its id.
    pub id: AgentId,
    /// Its profile.
    pub profile: Option<Slug>,
    /// Its model.
    pub model: Option<ModelId>,
    /// Who spawned it.
    pub parent: Option<AgentId>,
    /// Turns it took itself.
    pub turns: u64,
    /// Its last turn's number: a successor and a copy count on from whom they come from.
    pub last_turn: u64,
    /// How it ended; `None` while it has not.
    pub ended: Option<String>,
    /// Tokens by class.
    pub tokens: Tokens,
    /// USD as reported; `None` where none of its calls had a price.
    pub cost: Option<f64>,
    /// Calls that reported no price (R35).
    pub unpriced_calls: u64,
    /// Their tokens.
    pub unpriced_tokens: u64,
}

#[derive(Deserialize)]
pub(super) struct Spawned {
    #[serde(rename = "profileId")]
    profile: Option<Slug>,
    #[serde(rename = "modelId")]
    model: Option<ModelId>,
    #[serde(rename = "parentId", default)]
    parent: Option<AgentId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    #[serde(default)]
    ended_as: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Outcome {
    #[serde(default)]
    turns: u64,
}

impl Agents {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &AgentFacts> {
        self.0.iter()
    }

    /// One of them.
    pub fn get(&self, id: &AgentId) -> Option<&AgentFacts> {
        self.0.iter().find(|it| it.id == *id)
    }

    pub(super) fn spawned(&mut self, line: &Line, fields: Spawned) {
        if let Some(agent) = self.of(line) {
            agent.profile = fields.profile;
            agent.model = fields.model;
            agent.parent = fields.parent;
        }
    }

    pub(super) fn changed(&mut self, line: &Line, fields: Status) {
        if let Some(agent) = self.of(line)
            && fields.ended_as.is_some()
        {
            agent.ended = fields.ended_as;
        }
    }

    pub(super) fn judged(&mut self, line: &Line, fields: Outcome) {
        if let Some(agent) = self.of(line) {
            agent.turns += u64::from(fields.turns > agent.last_turn);
            agent.last_turn = agent.last_turn.max(fields.turns);
        }
    }

    pub(super) fn used(&mut self, line: &Line, usage: &UsageLine) {
        if let Some(agent) = self.of(line) {
            agent.tokens.add(&usage.tokens);
            if let Some(usd) = usage.cost.and_then(|cost| cost.actual) {
                agent.cost = Some(agent.cost.unwrap_or(0.0) + usd);
            } else {
                let sides = [usage.tokens.input(), usage.tokens.completion()];
                agent.unpriced_calls += 1;
                agent.unpriced_tokens = sides
                    .into_iter()
                    .flatten()
                    .fold(agent.unpriced_tokens, u64::saturating_add);
            }
        }
    }

    fn of(&mut self, line: &Line) -> Option<&mut AgentFacts> {
        let id = line.agent.as_ref()?;
        let known = self.0.iter().position(|it| it.id == *id);
        let place = known.unwrap_or_else(|| {
            self.0.push(AgentFacts {
                id: id.clone(),
                profile: None,
                model: None,
                parent: None,
                turns: 0,
                last_turn: 0,
                ended: None,
                tokens: Tokens::default(),
                cost: None,
                unpriced_calls: 0,
                unpriced_tokens: 0,
            });
            self.0.len() - 1
        });
        self.0.get_mut(place)
    }
}
