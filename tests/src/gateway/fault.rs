//! What goes wrong at a provider, by schedule.

use std::fmt;
use std::sync::Arc;

use serde_json::json;

use super::answer::events;
use super::{Answer, End, Reply};

/// What happens instead of, or to, a good reply.
#[derive(Clone)]
pub enum Fault {
    /// This reply; nothing is served or charged.
    Reply(Reply),
    /// A first delta and then silence; nothing is charged.
    Stall,
    /// An error object inside a stream of status 200, behind a first delta; nothing is charged.
    InStream {
        /// Its `code`.
        code: u16,
        /// Its message.
        message: String,
    },
    /// The cache is passed over: nothing is read.
    Miss,
    /// Another provider serves the call, and says so.
    ServedBy(String),
    /// The usage object tells no cached tokens.
    NoCacheDetails,
    /// The usage object tells no price.
    NoPrice,
    /// There is no usage object.
    NoUsage,
    /// The reply is cut at the provider's cap: its finish reason is `length`.
    Capped,
    /// The finished answer, made into a reply otherwise; it is charged, and its usage object
    /// counts as one that never arrives.
    Sent(Arc<dyn Fn(Answer) -> Reply + Send + Sync>),
}

impl Fault {
    /// An error as OpenRouter words it.
    pub fn status(status: u16, message: &str) -> Self {
        Self::Reply(Reply::error(status, message))
    }

    /// A 429 with this `Retry-After`.
    pub fn slow_down(retry_after: &str) -> Self {
        Self::Reply(
            Reply::error(429, "Rate limit exceeded").with_header("Retry-After", retry_after),
        )
    }

    /// A 502 whose body is a proxy's page.
    pub fn bad_gateway_page() -> Self {
        let page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n\
                    <center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n";
        let mut reply = Reply::status(502, page);
        for (name, value) in &mut reply.headers {
            if name.eq_ignore_ascii_case("content-type") {
                "text/html".clone_into(value);
            }
        }
        Self::Reply(reply)
    }

    /// A 404 as OpenRouter words it where the account's settings exclude a provider.
    pub fn excluded() -> Self {
        Self::status(
            404,
            "No endpoints found matching your data policy. Configure: \
             https://openrouter.ai/settings/privacy",
        )
    }

    /// The connection is reset before a byte.
    pub fn reset() -> Self {
        Self::Reply(Reply::hang_up(End::Reset))
    }

    /// An answer that is sent otherwise.
    pub fn sent(make: impl Fn(Answer) -> Reply + Send + Sync + 'static) -> Self {
        Self::Sent(Arc::new(make))
    }

    /// The reply of a fault that serves nothing; `None` where the call is served.
    pub(super) fn unserved(&self, provider: &str) -> Option<Reply> {
        let begun = || Reply::from(Answer::text("Let me think").served_by(Some(provider)));
        match self {
            Self::Reply(reply) => Some(reply.clone()),
            Self::Stall => Some(unsaid(begun().take(2).ending(End::HoldOpen))),
            Self::InStream { code, message } => {
                let error = json!({
                    "provider": provider,
                    "error": { "code": code, "message": message },
                    "choices": [{ "index": 0, "delta": {}, "finish_reason": "error" }],
                });
                let tail = events([error.to_string(), "[DONE]".to_owned()]);
                let reply = begun().take(2);
                Some(unsaid(tail.steps.into_iter().fold(reply, Reply::then)))
            }
            Self::Miss
            | Self::ServedBy(_)
            | Self::NoCacheDetails
            | Self::NoPrice
            | Self::NoUsage
            | Self::Capped
            | Self::Sent(_) => None,
        }
    }
}

/// A reply that nobody may accept is nothing the model said.
fn unsaid(mut reply: Reply) -> Reply {
    reply.said = None;
    reply
}

impl fmt::Debug for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply(reply) => write!(out, "Reply({})", reply.status),
            Self::Stall => out.write_str("Stall"),
            Self::InStream { code, .. } => write!(out, "InStream({code})"),
            Self::Miss => out.write_str("Miss"),
            Self::ServedBy(name) => write!(out, "ServedBy({name})"),
            Self::NoCacheDetails => out.write_str("NoCacheDetails"),
            Self::NoPrice => out.write_str("NoPrice"),
            Self::NoUsage => out.write_str("NoUsage"),
            Self::Capped => out.write_str("Capped"),
            Self::Sent(_) => out.write_str("Sent"),
        }
    }
}
