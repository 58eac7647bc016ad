//! Context spend: what each message of a window has cost so far (06 §5).
//!
//! A call's reported input tokens and their price are split over the messages of its request by
//! their estimated share, and summed per message. What a message cost once, to bring in, is its
//! own size; what it cost in every request that carried it is what it was billed.
//!
//! A message that stands in a request twice is two items of it, each with its own share. A message
//! is logged with the band that brought it in; a block that a newer one superseded is history.
//!
//! Output is attributed to nobody.
//!
//! Always true: what the items of all windows were billed sums to what their requests reported.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Deserialize;
use vocab::band::Band;
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
    /// The last one reported; it stands ahead of the prompt it is of.
    fullness: Option<(Option<u32>, Arc<Fullness>)>,
    /// A prompt whose usage has not come yet.
    open: bool,
}

/// A request as it was sent, and what was paid for it.
#[derive(Debug)]
struct Request {
    turn: Option<u32>,
    messages: Arc<[MessageId]>,
    fullness: Option<Arc<Fullness>>,
    input: Option<u64>,
    cost: Option<f64>,
}

/// How full a window is, as gg counts it: tool schemas with it, the signal not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fullness {
    /// Tokens in all.
    pub total: u64,
    /// Tokens there is room for.
    pub window_limit: u64,
    /// Tokens per band.
    #[serde(default)]
    pub bands: BTreeMap<String, u64>,
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
    /// Its pictures, described.
    #[serde(default)]
    pub images: Vec<PictureFacts>,
}

/// A picture a message carries; its bytes are in no stream.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PictureFacts {
    /// What it is, as `image/png`.
    pub media_type: String,
    /// Its size, decoded.
    pub bytes: u64,
    /// What it counts for.
    pub tokens: u64,
}

/// A call a message requests.
#[derive(Clone, Debug, Deserialize)]
pub struct CallFacts {
    /// Its id, by which other lines name it.
    #[serde(default)]
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Its arguments, as JSON text.
    #[serde(default)]
    pub arguments: String,
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
    /// The band it stands in.
    pub band: String,
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
    /// How full the window was, where that was told.
    pub fullness: Option<Arc<Fullness>>,
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
        for place in places(&request.messages) {
            let Some(message) = spend.pool.get(&place.0) else {
                undescribed += 1;
                continue;
            };
            let sums = billed.get(&place).copied().unwrap_or_default();
            messages.push(Own {
                band: message.band.clone(),
                message: Arc::clone(message),
                requests: sums.requests,
                billed_tokens: sums.tokens,
                billed_usd: sums.usd,
            });
        }
        supersede(&mut messages, request.fullness.as_deref());
        Some(WindowView {
            turn,
            messages,
            fullness: request.fullness.clone(),
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

    pub(super) fn filled(&mut self, line: &Line, fullness: Fullness) {
        if let Some(agent) = self.of(line) {
            agent.fullness = Some((line.turn, Arc::new(fullness)));
        }
    }

    pub(super) fn prompted(&mut self, line: &Line, prompt: PromptLine) {
        let Some(agent) = self.of(line) else { return };
        agent.requests.push(Request {
            turn: line.turn,
            messages: prompt.messages.into(),
            fullness: agent
                .fullness
                .as_ref()
                .filter(|(turn, _)| *turn == line.turn)
                .map(|(_, fullness)| Arc::clone(fullness)),
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
    /// What each item was billed in the first requests.
    fn billed_until(&self, requests: usize) -> HashMap<Place, Billed> {
        let mut billed: HashMap<Place, Billed> = HashMap::new();
        for request in &self.requests[..requests] {
            for (place, share) in self.shares(request) {
                billed.entry(place).or_default().add(share);
            }
        }
        billed
    }

    /// What each item of a request is billed for it.
    fn shares<'a>(&'a self, request: &'a Request) -> impl Iterator<Item = (Place, Billed)> {
        let size = |id: &MessageId| self.pool.get(id).map_or(0.0, |it| it.tokens as f64);
        let whole: f64 = request.messages.iter().map(size).sum();
        let input = request.input.unwrap_or(0) as f64;
        let usd = request.cost.unwrap_or(0.0);
        places(&request.messages).map(move |place| {
            let part = if whole == 0.0 {
                0.0
            } else {
                size(&place.0) / whole
            };
            let billed = Billed {
                tokens: input * part,
                usd: usd * part,
                requests: 1,
            };
            (place, billed)
        })
    }
}

/// An item of a request: its message, and how many equal ones stand before it.
type Place = (MessageId, usize);

fn places(messages: &[MessageId]) -> impl Iterator<Item = Place> + '_ {
    let mut seen: HashMap<MessageId, usize> = HashMap::new();
    messages.iter().map(move |id| {
        let before = seen.entry(*id).or_default();
        *before += 1;
        (*id, *before - 1)
    })
}

/// Moves blocks that newer ones superseded to the history: of each module the last one lives, and
/// it does not either where the band is empty.
fn supersede(messages: &mut [Own], fullness: Option<&Fullness>) {
    for band in [Band::Memory, Band::TaskList] {
        let of_band = |own: &Own| own.band == band.as_str();
        let empty = fullness.and_then(|it| it.bands.get(band.as_str())) == Some(&0);
        let live = messages.iter().rposition(of_band).filter(|_| !empty);
        for (place, own) in messages.iter_mut().enumerate() {
            if of_band(own) && Some(place) != live {
                Band::History.as_str().clone_into(&mut own.band);
            }
        }
    }
}

impl Billed {
    fn add(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.usd += other.usd;
        self.requests += other.requests;
    }
}
