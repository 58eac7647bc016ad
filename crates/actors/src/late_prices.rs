//! What abandoned replies cost, asked when every agent has ended (01 §7, 06 §5).
//!
//! Each generation the gateway named is looked up once, several at a time, within a time for all
//! of them. A price that is found is a usage delta on its caller's stream, of the total alone;
//! what is not found is counted.
//!
//! Always true: no ceiling sees these prices; a signal or the cancel file hurries the asking, and a
//! second signal ends it at once (R36).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use provider::openrouter::{self, Endpoint, Generation};
use provider::price;
use record::event::{Event, LogLevel, Usage};
use tokio::time::Instant;
use vocab::ids::ModelId;
use vocab::usage::{Cost, Figure, ListPrices, Tokens};

use crate::provider_client::Abandoned;
use crate::run::CANCEL_PROBE;
use crate::signals::Signals;
use crate::supervisor;
use crate::telemetry::Voice;

/// For all look-ups of a run.
const IN_ALL: Duration = Duration::from_secs(30);

/// The same where the operator has stopped the run: its last line is due within five seconds, and
/// commands may have taken two of them.
const WHEN_STOPPED: Duration = Duration::from_secs(2);

/// Look-ups under way at one time.
const AT_ONCE: usize = 8;

/// Where and by what the prices are asked for.
pub(crate) struct Enquiry<'a> {
    /// The gateway; `None` where no live model is bound.
    pub(crate) endpoint: Option<&'a Endpoint>,
    /// List prices by model.
    pub(crate) prices: &'a BTreeMap<ModelId, ListPrices>,
    /// Whether the operator has stopped the run.
    pub(crate) stopped: bool,
    /// The file by which the operator may yet do so.
    pub(crate) cancel_file: Option<&'a Path>,
}

/// Asks for the price of every abandoned reply; how many have none.
pub(crate) async fn settle(
    abandoned: Vec<Abandoned>,
    enquiry: Enquiry<'_>,
    voice: &Voice,
    signals: &mut Signals,
) -> u64 {
    let mut unpriced = abandoned.len() as u64;
    if unpriced == 0 {
        return 0;
    }
    let found = look_up(abandoned, &enquiry, voice, signals, &mut unpriced);
    if let Err(why) = found.await {
        let replies = if unpriced == 1 { "reply" } else { "replies" };
        voice.log(
            LogLevel::Warn,
            Some("loop_abort_unpriced"),
            format!("{unpriced} abandoned {replies} without a price: {why}"),
        );
    }
    unpriced
}

/// Takes one off `unpriced` for each price that is found; an error is why one was not.
async fn look_up(
    abandoned: Vec<Abandoned>,
    enquiry: &Enquiry<'_>,
    voice: &Voice,
    signals: &mut Signals,
    unpriced: &mut u64,
) -> Result<(), String> {
    const NO_ID: &str = "the gateway gave no id to ask with";
    const HURRIED: &str = "the run was stopped while they were asked for";
    let endpoint = enquiry.endpoint.ok_or(NO_ID)?;
    if signals.seen() > 1 {
        return Err("a second signal ended the run".to_owned());
    }
    let http = openrouter::client(endpoint).map_err(|fault| fault.to_string())?;
    let allowed = if enquiry.stopped {
        WHEN_STOPPED
    } else {
        IN_ALL
    };
    let last = Instant::now() + allowed;
    let mut until = last;
    let mut awaited: Option<Arc<Path>> = enquiry
        .cancel_file
        .filter(|_| !enquiry.stopped)
        .map(Into::into);
    let mut probe = tokio::time::interval(CANCEL_PROBE);
    let ask = |reply: Abandoned| {
        let http = &http;
        async move {
            let found = match &reply.generation {
                None => Err(NO_ID.to_owned()),
                Some(id) => {
                    let left = last.saturating_duration_since(Instant::now());
                    openrouter::generation(http, endpoint, id, left).await
                }
            };
            (reply, found)
        }
    };
    let mut answers = stream::iter(abandoned).map(ask).buffer_unordered(AT_ONCE);
    let mut outcome = Ok(());
    loop {
        tokio::select! {
            answer = answers.next() => match answer {
                None => return outcome,
                Some((reply, Ok(found))) => {
                    *unpriced -= 1;
                    tell(reply, found, enquiry.prices, voice);
                }
                Some((_, Err(why))) => outcome = Err(why),
            },
            _ = signals.next() => {
                if signals.seen() > 1 {
                    return Err("a second signal ended the run".to_owned());
                }
                until = until.min(Instant::now() + WHEN_STOPPED);
                awaited = None;
            }
            _ = probe.tick(), if awaited.is_some() => {
                if let Some(path) = awaited.clone()
                    && supervisor::exists(path).await
                {
                    until = until.min(Instant::now() + WHEN_STOPPED);
                    awaited = None;
                }
            }
            () = tokio::time::sleep_until(until) => {
                return Err(if until < last {
                    HURRIED.to_owned()
                } else {
                    format!("not answered within {} s", allowed.as_secs())
                });
            }
        }
    }
}

/// One usage delta, on the stream of who had asked.
fn tell(
    reply: Abandoned,
    found: Generation,
    prices: &BTreeMap<ModelId, ListPrices>,
    voice: &Voice,
) {
    let cached_input = found
        .cached
        .map(|cached| cached.min(found.prompt.unwrap_or(cached)));
    let reasoning = found
        .reasoning
        .map(|tokens| tokens.min(found.completion.unwrap_or(tokens)));
    let tokens = Tokens {
        uncached_input: found.prompt.map(|all| all - cached_input.unwrap_or(0)),
        cached_input,
        output: found.completion.map(|all| all - reasoning.unwrap_or(0)),
        reasoning,
        cache_write: None,
    };
    let comparable = prices
        .get(&reply.model)
        .and_then(|prices| price::comparable(&tokens, prices));
    let caller = voice.of(&reply.agent);
    caller.say(Event::Usage(Box::new(Usage {
        profile_id: reply.profile,
        model_id: reply.model,
        tokens,
        cost: Some(Cost {
            comparable,
            actual: Some(found.cost),
        }),
        provider: found.provider.or(reply.provider),
        expected_cached_tokens: None,
        wire: None,
        reconciled: false,
        clamped: false,
        figure: Figure::Total,
    })));
}
