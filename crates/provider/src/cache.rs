//! What an agent's last request left in its provider's cache, and what that says of the next reply.
//!
//! A request that repeats the tools and leading messages of the one before reads them from the
//! cache, unless the provider lost or ignored them. [`CacheMemory`] keeps one request an agent;
//! [`CacheMemory::expect`] compares the next one with it before it is sent, and
//! [`Expectation::judge`] the reply with what was expected. Where a request does not extend the
//! one before, the expectation says at which byte, and which act of gg's own did it: that is no
//! fault of the provider's, and it has a price.
//!
//! Pure: time is what the caller says, as the time since the run began.
//!
//! Always true: requests of a window that only grows, sent to one provider, are never broken; a
//! provider that reports no cached tokens never misses (F31).

use std::sync::Arc;
use std::time::Duration;

use vocab::ids::ProviderName;
use vocab::message::Message;
use vocab::rewrite::Rewrite;

use crate::markers::{markers, sees};
use crate::message::{self, Shape};
use crate::price::UsageReport;
use crate::request::{CacheLifetime, ModelRequest, Snapshot, Toolset, equal_bytes};

/// How long a cached prefix is relied on: the shortest lifetime gg asks for.
pub const LIFETIME: Duration = Duration::from_secs(300);

/// Tokens a repeated prefix must have for a miss to count; above every provider's least size.
pub const LEAST_SHARED: u64 = 4096;

/// What an agent's last request left at its provider.
#[derive(Clone, Debug, Default)]
pub struct CacheMemory {
    last: Option<Last>,
}

#[derive(Clone, Debug)]
struct Last {
    sent: Duration,
    provider: Option<ProviderName>,
    thread: Snapshot,
    toolset: Arc<Toolset>,
    signal_bytes: usize,
    /// Input tokens the provider counted; `None` where it did not say.
    input: Option<u64>,
}

/// What a reply may be expected to read from the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// Tokens of the prefix that the last request left and this one repeats; zero where its input
    /// tokens are not known.
    pub shared_tokens: u64,
    /// Whether the last request went to the same provider less than five minutes before.
    pub fresh: bool,
    /// Where this request does not extend the last one.
    pub broken: Option<Broken>,
    /// Tokens of the last request, without its signal, that a broken prefix makes unreadable.
    pub lost_tokens: u64,
}

/// Where a request stops repeating the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The first message that is not the same, by its number from zero. Other tools, which stand
    /// before all messages, are message zero.
    pub message: usize,
    /// The first byte of it that is not the same, as the last request sent it.
    pub byte: usize,
    /// What did it; `None` where no act is known, which is a defect.
    pub act: Option<Rewrite>,
}

/// A reply that read far less from the cache than was left there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Tokens of the shared prefix.
    pub shared_tokens: u64,
    /// Tokens read.
    pub cached_tokens: u64,
}

impl Expectation {
    /// Whether the reply is an unexpected cache miss (01 §6.2), given the cached tokens it reported.
    pub fn judge(&self, cached: Option<u64>) -> Option<Miss> {
        let cached_tokens = cached?;
        let shared_tokens = self.shared_tokens;
        let missed = self.fresh
            && shared_tokens >= LEAST_SHARED
            && cached_tokens < shared_tokens.div_ceil(2);
        missed.then_some(Miss {
            shared_tokens,
            cached_tokens,
        })
    }
}

impl CacheMemory {
    /// What a request about to be sent may read, `now` being the time and `provider` the one that
    /// shall serve it. Before the first answer nothing is expected.
    pub fn expect(
        &self,
        now: Duration,
        provider: Option<&ProviderName>,
        request: &ModelRequest,
    ) -> Expectation {
        let Some(last) = &self.last else {
            return Expectation::default();
        };
        let same_provider = match (&last.provider, provider) {
            (Some(last), Some(now)) => last.same_as(now),
            (last, now) => last.is_none() && now.is_none(),
        };
        let broken = last.broken(provider, request);
        let tools = last.toolset.json.get().len();
        let asked = last.provider.as_ref();
        let messages = last.thread.messages();
        let repeated = broken.map_or(messages, |broken| broken.message);
        let shared = match readable(&last.thread, &request.thread, repeated) {
            Some(messages) if same_tools(&last.toolset, &request.toolset) => {
                tools + sent_bytes(&last.thread, asked, messages)
            }
            _ => 0,
        };
        let left = tools + sent_bytes(&last.thread, asked, messages);
        let whole = left + last.signal_bytes;
        let tokens = |bytes| share(last.input.unwrap_or(0), bytes, whole);
        let shared_tokens = tokens(shared);
        Expectation {
            shared_tokens,
            fresh: same_provider && now.saturating_sub(last.sent) < LIFETIME,
            broken,
            lost_tokens: match broken {
                Some(_) => tokens(left).saturating_sub(shared_tokens),
                None => 0,
            },
        }
    }

    /// A request was answered: `sent` is when it was sent, `provider` who was asked, `usage` what
    /// the answer reported. An answer that is not used has filled the cache all the same.
    pub fn answered(
        &mut self,
        sent: Duration,
        provider: Option<&ProviderName>,
        request: &ModelRequest,
        usage: Option<&UsageReport>,
    ) {
        let shape = request.thread.shape();
        self.last = Some(Last {
            sent,
            provider: provider.cloned(),
            thread: request.thread.clone(),
            toolset: Arc::clone(&request.toolset),
            signal_bytes: request.signal.as_ref().map_or(0, |it| written(it, shape)),
            input: usage.and_then(|usage| usage.prompt),
        });
    }
}

impl Last {
    fn broken(&self, provider: Option<&ProviderName>, request: &ModelRequest) -> Option<Broken> {
        if !same_tools(&self.toolset, &request.toolset) {
            return Some(Broken {
                message: 0,
                byte: 0,
                act: Some(Rewrite::Toolset),
            });
        }
        let common = self.thread.common_prefix(&request.thread);
        let before = self.provider.as_ref();
        // Messages that are held alike may be sent otherwise: one provider is not sent what the
        // other is, or they are held of two makers.
        let moved = first_apart(
            self.thread
                .foreign([before, None])
                .map(|(_, it)| it.message),
            request
                .thread
                .foreign([provider, None])
                .map(|(_, it)| it.message),
        );
        let alike = common.messages.min(moved.unwrap_or(usize::MAX));
        (alike..self.thread.messages()).find_map(|message| {
            let was = self.thread.sent(message, before)?;
            let is = request.thread.sent(message, provider).unwrap_or_default();
            if was == is {
                return None;
            }
            let byte = equal_bytes(&was, &is);
            // The move did it where it alone breaks the message as early.
            let moved = self.thread.sent(message, provider)?;
            let by_move = moved != was && equal_bytes(&was, &moved) <= byte;
            Some(Broken {
                message,
                byte,
                act: if by_move {
                    Some(Rewrite::ProviderMove)
                } else {
                    request.rewritten
                },
            })
        })
    }
}

/// The first number that stands in one of two rising sequences alone.
fn first_apart(
    mut one: impl Iterator<Item = usize>,
    mut other: impl Iterator<Item = usize>,
) -> Option<usize> {
    loop {
        match (one.next(), other.next()) {
            (None, None) => return None,
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => return Some(a.min(b)),
            (only, None) | (None, only) => return only,
        }
    }
}

fn same_tools(one: &Arc<Toolset>, other: &Arc<Toolset>) -> bool {
    Arc::ptr_eq(one, other) || one.json.get() == other.json.get()
}

/// How many leading messages can be read of those repeated; `None` where not even the tools can.
///
/// A provider that caches by itself can read them all. One that caches what is marked has an entry
/// where the last request marked a repeated message, and finds it only in sight of a marker of this
/// one: whatever lies behind is lost by gg's own doing and is no miss.
fn readable(last: &Snapshot, now: &Snapshot, repeated: usize) -> Option<usize> {
    if last.shape() == Shape::Bare {
        return Some(repeated);
    }
    let marked = markers(now, CacheLifetime::Default);
    let seen = |entry| marked.iter().any(|it| sees(now, it.message, entry));
    markers(last, CacheLifetime::Default)
        .iter()
        .map(|marker| marker.message)
        .rfind(|&entry| entry < repeated && seen(entry))
        .map(|entry| entry + 1)
}

/// Bytes of the first messages as a provider is sent them.
fn sent_bytes(thread: &Snapshot, provider: Option<&ProviderName>, messages: usize) -> usize {
    let left_out: usize = thread
        .foreign([provider, None])
        .take_while(|(_, foreign)| foreign.message < messages)
        .map(|(_, foreign)| foreign.span.len() - foreign.readable.len())
        .sum();
    thread.bytes_before(messages) - left_out
}

fn written(message: &Message, shape: Shape) -> usize {
    let mut bytes = Vec::new();
    message::write(message, shape, &mut bytes);
    bytes.len()
}

/// The part of `tokens` that `bytes` are of `whole`.
fn share(tokens: u64, bytes: usize, whole: usize) -> u64 {
    if whole == 0 {
        return 0;
    }
    let part = u128::from(tokens) * bytes as u128 / whole as u128;
    u64::try_from(part).unwrap_or(tokens)
}

#[cfg(test)]
mod tests;
