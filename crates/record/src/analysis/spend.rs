//! Context spend: what each message of a window has cost so far (06 §5).
//!
//! A call's reported input tokens and their price are split over the messages of its request by
//! their estimated share, and summed per message. What a message cost once, to bring in, is its
//! own size; what it cost in every request that carried it is what it was billed.
//!
//! Output is attributed to nobody.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use vocab::ids::{AgentId, MessageId};

use super::{PromptLine, UsageLine};
use crate::lines::Line;

/// The windows of a stream's agents, and what their messages cost.
#[derive(Debug, Default)]
pub struct Spend {
    agents: HashMap<AgentId, AgentSpend>,
}

#[derive(Debug, Default)]
struct AgentSpend {
    pool: HashMap<MessageId, Arc<MessageFacts>>,
    requests: Vec<Request>,
    /// A prompt whose usage has not come yet.
    open: bool,
}

/// A request as it was sent, and what was paid for it.
#[derive(Debug)]
struct Request {
    turn: Option<u32>,
    messages: Arc<[MessageId]>,
    input: Option<u64>,
    cost: Option<f64>,
}

/// A message as it was logged.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageFacts {
    /// Its fingerprint.
    pub id: MessageId,
    /// `system`, `user`, `assistant`, `tool`.
    pub role: String,
    /// The band it is counted in.
    pub band: String,
    /// Its tokens, estimated.
    #[serde(default)]
    pub tokens: u64,
    /// What addresses it: a path, a view's label.
    #[serde(default)]
    pub label: Option<String>,
    /// Its text.
    #[serde(default)]
    pub content: String,
    /// The calls it requests.
    #[serde(default)]
    pub tool_calls: Vec<CallFacts>,
}

/// A call a message requests.
#[derive(Clone, Debug, Deserialize)]
pub struct CallFacts {
    /// The tool's name.
    pub name: String,
}

/// Sums of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Billed {
    tokens: f64,
    usd: f64,
    requests: u64,
}

/// What a message of a window has cost.
#[derive(Clone, Debug)]
pub struct Own {
    /// The message.
    pub message: Arc<MessageFacts>,
    /// Requests that carried it, up to the turn asked about.
    pub requests: u64,
    /// Its share of their reported input tokens.
    pub billed_tokens: f64,
    /// Its share of their price; 0 where none was reported.
    pub billed_usd: f64,
}

/// A window as the model saw it.
#[derive(Clone, Debug)]
pub struct WindowView {
    /// The turn.
    pub turn: u32,
    /// Its messages, in order.
    pub messages: Vec<Own>,
    /// Input tokens as reported, where they were.
    pub input: Option<u64>,
    /// What the request cost, where it was reported.
    pub cost: Option<f64>,
    /// Messages of the request that the stream never described.
    pub undescribed: usize,
    /// Requests up to this one whose price was not reported, and is in no sum (R35).
    pub unpriced: usize,
}

impl Spend {
    /// The window of an agent at a turn, as the turn's last request sent it; `None` where there
    /// was no such request.
    pub fn window(&self, agent: &AgentId, turn: u32) -> Option<WindowView> {
        let spend = self.agents.get(agent)?;
        let last = spend
            .requests
            .iter()
            .rposition(|it| it.turn == Some(turn))?;
        let request = &spend.requests[last];
        let billed = spend.billed_until(last + 1);
        let mut undescribed = 0;
        let mut messages = Vec::with_capacity(request.messages.len());
        for id in &*request.messages {
            let Some(message) = spend.pool.get(id) else {
                undescribed += 1;
                continue;
            };
            let sums = billed.get(id).copied().unwrap_or_default();
            messages.push(Own {
                message: Arc::clone(message),
                requests: sums.requests,
                billed_tokens: sums.tokens,
                billed_usd: sums.usd,
            });
        }
        Some(WindowView {
            turn,
            messages,
            input: request.input,
            cost: request.cost,
            undescribed,
            unpriced: spend.requests[..=last]
                .iter()
                .filter(|it| it.cost.is_none())
                .count(),
        })
    }

    /// The turns of an agent that sent a request, first and last.
    pub fn turns(&self, agent: &AgentId) -> Option<(u32, u32)> {
        let turns = self.agents.get(agent)?.requests.iter();
        let turns = turns.filter_map(|it| it.turn);
        Some((turns.clone().min()?, turns.max()?))
    }

    pub(super) fn logged(&mut self, line: &Line, message: MessageFacts) {
        if let Some(agent) = self.of(line) {
            agent.pool.insert(message.id, Arc::new(message));
        }
    }

    pub(super) fn prompted(&mut self, line: &Line, prompt: PromptLine) {
        let Some(agent) = self.of(line) else { return };
        agent.requests.push(Request {
            turn: line.turn,
            messages: prompt.messages.into(),
            input: None,
            cost: None,
        });
        agent.open = true;
    }

    /// The usage that follows a prompt in its turn pays for it. Any other is of a reply that was
    /// discarded, priced at the session's end perhaps, and says nothing of a window.
    pub(super) fn used(&mut self, line: &Line, usage: &UsageLine) {
        let Some(agent) = self.of(line) else { return };
        if !std::mem::take(&mut agent.open) {
            return;
        }
        if let Some(last) = agent.requests.last_mut()
            && last.turn == line.turn
        {
            last.input = usage.tokens.input();
            last.cost = usage.cost.and_then(|cost| cost.actual);
        }
    }

    fn of(&mut self, line: &Line) -> Option<&mut AgentSpend> {
        Some(self.agents.entry(line.agent.clone()?).or_default())
    }
}

impl AgentSpend {
    /// What each message was billed in the first requests.
    fn billed_until(&self, requests: usize) -> HashMap<MessageId, Billed> {
        let mut billed: HashMap<MessageId, Billed> = HashMap::new();
        for request in &self.requests[..requests] {
            for (id, share) in self.shares(request) {
                billed.entry(id).or_default().add(share);
            }
        }
        billed
    }

    /// What each message of a request is billed for it.
    fn shares<'a>(&'a self, request: &'a Request) -> impl Iterator<Item = (MessageId, Billed)> {
        let size = |id: &MessageId| self.pool.get(id).map_or(0.0, |it| it.tokens as f64);
        let whole: f64 = request.messages.iter().map(size).sum();
        let input = request.input.unwrap_or(0) as f64;
        let usd = request.cost.unwrap_or(0.0);
        request.messages.iter().map(move |id| {
            let part = if whole == 0.0 { 0.0 } else { size(id) / whole };
            let billed = Billed {
                tokens: input * part,
                usd: usd * part,
                requests: 1,
            };
            (*id, billed)
        })
    }
}

impl Billed {
    fn add(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.usd += other.usd;
        self.requests += other.requests;
    }
}
