//! A gateway's providers: each with its name, quantization, cache, prices and bad days.
//!
//! A [`Market`] stands between the [`super::Gateway`] and a script of [`Answer`]s. It sends each
//! request to the provider that `provider.only` names, lets that provider's cache and prices make
//! the usage object, and keeps the ledger. Faults happen at a provider by the number of the request
//! there.
//!
//! Always true: every call that is charged stands in the ledger once, and what a reply reports is
//! what the ledger says.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::cache::{Cache, Family, Served, TOKEN};
use super::clock::Clock;
use super::fault::Fault;
use super::generation::{self, Desk, Lookups};
use super::ledger::{Account, Reported};
use super::prices::{Charged, Prices};
use super::request::opening;
use super::{Answer, Arguments, Reply, Request, Responder};

/// One provider of a gateway.
#[derive(Debug)]
pub struct Provider {
    name: String,
    says: String,
    quantization: String,
    prices: Prices,
    cache: Cache,
    faults: BTreeMap<usize, Fault>,
    always: Option<Fault>,
    tool_choice: Option<u16>,
    unknown: Vec<String>,
    asked: usize,
}

/// What a refused tool choice is told.
const NO_TOOL_CHOICE: &str = "No endpoints found that support the provided 'tool_choice' value. To \
                              learn more about provider routing, visit: \
                              https://openrouter.ai/docs/guides/routing/provider-selection";

/// What a request is told that allows no provider there is.
const NO_PROVIDER: &str = "No allowed providers are available for the selected model.";

impl Provider {
    /// One that serves every model at `fp8`, with the family's cache and prices.
    pub fn new(name: &str, family: Family) -> Self {
        let prices = match family {
            Family::OpenAi | Family::Gemini => Prices::automatic(1.0, 4.0),
            Family::Anthropic => Prices::marked(3.0, 15.0),
        };
        Self {
            name: name.to_owned(),
            says: name.to_owned(),
            quantization: "fp8".to_owned(),
            prices,
            cache: Cache::new(family),
            faults: BTreeMap::new(),
            always: None,
            tool_choice: None,
            unknown: Vec::new(),
            asked: 0,
        }
    }

    /// Serves at another level.
    #[must_use]
    pub fn at(mut self, quantization: &str) -> Self {
        quantization.clone_into(&mut self.quantization);
        self
    }

    /// Takes another cache than its family's usual one.
    #[must_use]
    pub fn caching(mut self, cache: Cache) -> Self {
        self.cache = cache;
        self
    }

    /// Takes other prices.
    #[must_use]
    pub fn charging(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Spells its name otherwise in its replies.
    #[must_use]
    pub fn saying(mut self, name: &str) -> Self {
        name.clone_into(&mut self.says);
        self
    }

    /// Meets a fault at request `n` of those that come to it, from 0.
    #[must_use]
    pub fn fault(mut self, n: usize, fault: Fault) -> Self {
        self.faults.insert(n, fault);
        self
    }

    /// Meets a fault at each of these requests.
    #[must_use]
    pub fn faults(mut self, places: impl IntoIterator<Item = usize>, fault: &Fault) -> Self {
        for n in places {
            self.faults.insert(n, fault.clone());
        }
        self
    }

    /// Meets a fault at every request that has no other.
    #[must_use]
    pub fn always(mut self, fault: Fault) -> Self {
        self.always = Some(fault);
        self
    }

    /// Refuses every tool choice but `auto`, under this status.
    #[must_use]
    pub fn refusing_tool_choice(mut self, status: u16) -> Self {
        self.tool_choice = Some(status);
        self
    }

    /// Knows none of these fields and refuses the first it meets, as a strict server does.
    #[must_use]
    pub fn not_knowing<'a>(mut self, fields: impl IntoIterator<Item = &'a str>) -> Self {
        self.unknown = fields.into_iter().map(str::to_owned).collect();
        self
    }

    /// What it refuses of a request, whatever the day.
    fn refusal(&self, body: &Value) -> Option<Reply> {
        if let Some(field) = self.unknown.iter().find(|field| body.get(field).is_some()) {
            let error = json!({ "error": {
                "message": format!("Unrecognized request argument supplied: {field}"),
                "type": "invalid_request_error", "param": null, "code": null,
            }});
            return Some(Reply::status(400, error.to_string()));
        }
        let choice = &body["tool_choice"];
        match self.tool_choice {
            Some(status) if !choice.is_null() && choice != "auto" => {
                Some(Reply::error(status, NO_TOOL_CHOICE))
            }
            _ => None,
        }
    }
}

/// The providers of a gateway, their clock and their ledger. Clones share all of it.
#[derive(Clone)]
pub struct Market {
    state: Arc<Mutex<State>>,
    clock: Clock,
}

struct State {
    providers: Vec<Provider>,
    accounts: Vec<Account>,
    /// What the next request of a conversation can read at a provider.
    repeatable: HashMap<(usize, String), u64>,
    desk: Desk,
    is_signal: fn(&Value) -> bool,
    chats: usize,
}

impl Market {
    /// A gateway with these providers; one that is asked for none takes the first.
    pub fn new(providers: impl IntoIterator<Item = Provider>) -> Self {
        let state = State {
            providers: providers.into_iter().collect(),
            accounts: Vec::new(),
            repeatable: HashMap::new(),
            desk: Desk::default(),
            is_signal: |_| false,
            chats: 0,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            clock: Clock::new(),
        }
    }

    /// Tells a last message that the next request does not repeat.
    #[must_use]
    pub fn with_signal(self, is_signal: fn(&Value) -> bool) -> Self {
        self.lock().is_signal = is_signal;
        self
    }

    /// When generations can be looked up; at once where this is not said.
    #[must_use]
    pub fn with_lookups(self, lookups: Lookups) -> Self {
        self.lock().desk.lookups = lookups;
        self
    }

    /// The clock of its caches.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Every call charged so far.
    pub fn ledger(&self) -> Vec<Account> {
        self.lock().accounts.clone()
    }

    /// Every generation looked up so far, repetitions included.
    pub fn looked_up(&self) -> Vec<String> {
        self.lock().desk.log()
    }

    /// How many chat requests came to a provider.
    ///
    /// # Panics
    ///
    /// Where there is none of that name.
    pub fn asked(&self, provider: &str) -> usize {
        let state = self.lock();
        let found = state.providers.iter().find(|one| one.name == provider);
        found.expect("the market has this provider").asked
    }

    /// A responder whose answers come from a script and everything else from the providers.
    ///
    /// The script is asked with the request and its number among the chat requests that are served.
    pub fn serve(
        &self,
        script: impl FnMut(&Request, usize) -> Answer + Send + 'static,
    ) -> impl Responder {
        Counter {
            market: self.clone(),
            script: Box::new(script),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Script = Box<dyn FnMut(&Request, usize) -> Answer + Send>;

struct Counter {
    market: Market,
    script: Script,
}

impl Responder for Counter {
    fn reply(&mut self, request: &Request, _: usize) -> Reply {
        let now = self.market.clock.now();
        let mut state = self.market.lock();
        let state = &mut *state;
        if let Some(id) = generation::asked_for(request) {
            return state.desk.answer(&id, &state.accounts);
        }
        let body = request.json();
        let Some(place) = state.allowed(&body) else {
            return Reply::error(404, NO_PROVIDER);
        };
        let provider = &mut state.providers[place];
        let n = provider.asked;
        provider.asked += 1;
        let fault = provider
            .faults
            .get(&n)
            .or(provider.always.as_ref())
            .cloned();
        if let Some(refusal) = provider.refusal(&body) {
            return refusal;
        }
        if let Some(reply) = fault.as_ref().and_then(|it| it.unserved(&provider.says)) {
            return reply;
        }
        let served = match provider.cache.serve(now, &request.body, state.is_signal) {
            Ok(served) => served,
            Err(fault) => return Reply::error(400, &fault),
        };
        let number = state.chats;
        state.chats += 1;
        let answer = (self.script)(request, number);
        state.charge(request, &body, place, served, answer, fault.as_ref())
    }
}

impl State {
    /// Which provider a request may go to.
    fn allowed(&self, body: &Value) -> Option<usize> {
        let routing = &body["provider"];
        let level = |provider: &Provider| match routing["quantizations"].as_array() {
            Some(levels) => levels.iter().any(|level| *level == *provider.quantization),
            None => true,
        };
        let place = match routing["only"].as_array() {
            Some(names) => names
                .iter()
                .filter_map(Value::as_str)
                .find_map(|name| self.named(name)),
            None => self.providers.iter().position(level),
        };
        place.filter(|place| level(&self.providers[*place]))
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.providers
            .iter()
            .position(|provider| plain(&provider.name) == plain(name))
    }

    /// Charges a call and makes its reply.
    fn charge(
        &mut self,
        request: &Request,
        body: &Value,
        place: usize,
        served: Served,
        mut answer: Answer,
        fault: Option<&Fault>,
    ) -> Reply {
        let provider = &self.providers[place];
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        let conversation = (place, conversation(body));
        let follows = self.repeatable.get(&conversation).copied();
        let missed = matches!(fault, Some(Fault::Miss));
        let (completion, reasoning) = output(&answer);
        let tokens = Charged {
            prompt: served.prompt,
            read: if missed { 0 } else { served.read },
            written: served.written + if missed { served.read } else { 0 },
            written_long: served.written_long,
            completion,
            reasoning,
        };
        let served_by = match fault {
            Some(Fault::ServedBy(name)) => name.clone(),
            _ => provider.says.clone(),
        };
        let reported = Reported {
            usage: !matches!(fault, Some(Fault::NoUsage | Fault::Sent(_))),
            cached: !matches!(fault, Some(Fault::NoCacheDetails)),
            price: !matches!(fault, Some(Fault::NoPrice)),
        };
        let account = Account {
            request: request.number,
            generation: format!("gen-{}-{}", request.number, self.accounts.len()),
            model: text(&body["model"]),
            provider: provider.name.clone(),
            served_by: served_by.clone(),
            key: text(&body["session_id"]),
            follows: follows.is_some(),
            expected: follows.unwrap_or(served.common),
            common: served.common,
            tokens,
            cost: provider.prices.cost(tokens),
            reported,
        };
        answer.id.clone_from(&account.generation);
        answer.provider = Some(served_by);
        let silent = matches!(fault, Some(Fault::NoUsage));
        answer.usage = (!silent).then(|| usage(&account, provider.cache.charges_writes()));
        if matches!(fault, Some(Fault::Capped)) {
            answer.finish_reason = Some("length".to_owned());
        }
        self.repeatable.insert(conversation, served.repeatable);
        self.accounts.push(account);
        match fault {
            Some(Fault::Sent(make)) => make(answer),
            _ => answer.into(),
        }
    }
}

/// The usage object of a call, as OpenRouter sends it.
fn usage(account: &Account, charges_writes: bool) -> Value {
    let tokens = account.tokens;
    let mut usage = json!({
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.completion,
        "total_tokens": tokens.prompt + tokens.completion,
        "completion_tokens_details": { "reasoning_tokens": tokens.reasoning },
    });
    if account.reported.cached {
        usage["prompt_tokens_details"] = json!({ "cached_tokens": tokens.read });
        if charges_writes {
            usage["prompt_tokens_details"]["cache_write_tokens"] =
                json!(tokens.written + tokens.written_long);
        }
    }
    if account.reported.price {
        usage["cost"] = json!(account.cost);
    }
    usage
}

/// Tokens of an answer, and how many of them are reasoning.
fn output(answer: &Answer) -> (u64, u64) {
    let details = answer
        .reasoning_details
        .as_ref()
        .map_or(0, |details| details.to_string().len());
    let reasoning = answer.reasoning.as_deref().unwrap_or("").len() + details;
    let calls: usize = answer
        .calls
        .iter()
        .map(|call| {
            call.name.len()
                + match &call.arguments {
                    Arguments::Text(text) => text.len(),
                    Arguments::Null | Arguments::Missing => 0,
                }
        })
        .sum();
    let said = answer.text.as_deref().unwrap_or("").len() + calls;
    let reasoning = reasoning as u64 / TOKEN;
    // A byte a token: what gg estimates of a reply must lie below what is reported, or it would
    // have to reconcile the two.
    (said as u64 + 8 + reasoning, reasoning)
}

/// What tells conversations apart: the run, the model and how the conversation opens.
fn conversation(body: &Value) -> String {
    let messages = body["messages"].as_array();
    format!(
        "{}\0{}\0{}",
        body["session_id"],
        body["model"],
        opening(messages.map_or(&[], Vec::as_slice))
    )
}

/// A name without case and punctuation.
pub(super) fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
