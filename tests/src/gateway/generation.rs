//! `GET …/generation?id=…`: what the gateway tells of a call after the fact, its price above all.

use std::collections::HashMap;

use serde_json::json;

use super::ledger::Account;
use super::{Reply, Request};

/// When a generation can be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookups {
    /// After so many answers of 404 for each; 0: at once.
    After(usize),
    /// At no time: always 404.
    Never,
    /// Refused under this status, whatever the id.
    Refused(u16),
}

/// The generations there are, by how often each was asked for.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) lookups: Lookups,
    asked: HashMap<String, usize>,
    log: Vec<String>,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            lookups: Lookups::After(0),
            asked: HashMap::new(),
            log: Vec::new(),
        }
    }
}

/// The id a look-up asks for; `None` where the request is none.
pub(super) fn asked_for(request: &Request) -> Option<String> {
    let (path, query) = request.path.split_once('?')?;
    if request.method != "GET" || !path.ends_with("/generation") {
        return None;
    }
    query
        .split('&')
        .find_map(|pair| pair.strip_prefix("id="))
        .map(str::to_owned)
}

impl Desk {
    /// Answers a look-up from the ledger.
    pub(super) fn answer(&mut self, id: &str, accounts: &[Account]) -> Reply {
        self.log.push(id.to_owned());
        let asked = self.asked.entry(id.to_owned()).or_default();
        *asked += 1;
        let ready = match self.lookups {
            Lookups::After(misses) => *asked > misses,
            Lookups::Never => false,
            Lookups::Refused(status) => return Reply::error(status, "Not for you"),
        };
        let account = accounts.iter().find(|account| account.generation == id);
        match account {
            Some(account) if ready => Reply::status(200, whole(account)),
            _ => Reply::error(404, &format!("Generation {id} not found")),
        }
    }

    /// Every id asked for, in order, repetitions included.
    pub(super) fn log(&self) -> Vec<String> {
        self.log.clone()
    }
}

fn whole(account: &Account) -> String {
    let tokens = account.tokens;
    json!({ "data": {
        "id": account.generation,
        "model": account.model,
        "provider_name": account.served_by,
        "streamed": true,
        "cancelled": false,
        "total_cost": account.cost,
        "usage": account.cost,
        "tokens_prompt": tokens.prompt,
        "tokens_completion": tokens.completion,
        "native_tokens_prompt": tokens.prompt,
        "native_tokens_completion": tokens.completion,
        "native_tokens_reasoning": tokens.reasoning,
        "native_tokens_cached": tokens.read,
    }})
    .to_string()
}
