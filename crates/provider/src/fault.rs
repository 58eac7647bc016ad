//! What can go wrong with one attempt at a model call, and how a status says so.
//!
//! A [`Fault`] is a fact about one attempt. What follows from it (another attempt, a move, the end
//! of the call) is [`crate::call`]'s to decide, and its words are for a log line.
//!
//! Always true: a text taken from a server is cut to [`EXCERPT_CHARS`] characters and holds no
//! control character.

mod excerpt;

use std::borrow::Cow;
use std::time::Duration;

pub use excerpt::{EXCERPT_CHARS, excerpt, is_hidden};
use serde_json::value::RawValue;
use vocab::credential::hidden;
use vocab::ids::{GenerationId, ProviderName};
use vocab::outcome::ErrorType;

use crate::price::UsageReport;

/// Why one attempt gave no reply.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Fault {
    /// The gateway or the provider asks for patience (429).
    #[error("{}: {body}", headline("rate limited", *status, provider.as_ref()))]
    RateLimited {
        /// As answered, or as the error object inside a 200 stream gave it.
        status: u16,
        /// How long to wait at least, where the answer says it in a form that can be read.
        retry_after: Option<Duration>,
        /// What the answer said.
        body: String,
        /// Who answered, where named.
        provider: Option<ProviderName>,
    },
    /// The gateway or the provider failed (5xx, 408, an error object without a code).
    #[error("{}: {body}", headline("server failure", *status, provider.as_ref()))]
    Server {
        /// As answered, or as the error object inside a 200 stream gave it; 500 where it gave
        /// none.
        status: u16,
        /// How long to wait at least, where the answer says it in a form that can be read.
        retry_after: Option<Duration>,
        /// What the answer said.
        body: String,
        /// Who answered, where named.
        provider: Option<ProviderName>,
    },
    /// No connection, or one that ended before the reply did.
    #[error("transport failure{}: {why}", from(provider.as_ref()))]
    Transport {
        /// What happened.
        why: String,
        /// Who was answering, where named.
        provider: Option<ProviderName>,
    },
    /// Nothing of a reply arrived for the whole silence allowed.
    #[error("stalled: nothing of a reply for {secs} s{}", from(provider.as_ref()))]
    Stall {
        /// The silence allowed, in seconds.
        secs: u64,
        /// Who was answering, where named.
        provider: Option<ProviderName>,
    },
    /// The attempt outlived the time allowed for a whole call.
    #[error("timed out: no whole reply within {secs} s{}", from(provider.as_ref()))]
    Timeout {
        /// The time allowed, in seconds.
        secs: u64,
        /// Who was answering, where named.
        provider: Option<ProviderName>,
    },
    /// Nothing serves the model as asked (404).
    #[error("not found (404): {body}")]
    NotFound {
        /// What the answer said.
        body: String,
    },
    /// The credential was refused (401, 403).
    #[error("credential refused ({status}): {body}")]
    Auth {
        /// As answered.
        status: u16,
        /// What the answer said.
        body: String,
    },
    /// The request was refused for good: any other status.
    #[error("request refused ({status}): {body}")]
    Rejected {
        /// As answered.
        status: u16,
        /// What the answer said.
        body: String,
    },
    /// An answer of status 200 that cannot be read as a reply.
    #[error("unreadable reply{}: {why}", from(discarded.provider.as_ref()))]
    Parse {
        /// What was found.
        why: String,
        /// What had arrived.
        discarded: Box<Discarded>,
    },
    /// The reply was cut at the output cap and is rejected whole.
    #[error(
        "reply cut at the output cap after {} characters{}",
        .0.chars(),
        from(.0.provider.as_ref())
    )]
    LengthCapped(Box<Discarded>),
    /// The reply repeated itself, or outgrew its limit, and was abandoned while it streamed
    /// (01 §7).
    #[error(
        "looping reply{} abandoned after {words} words, {chars} characters",
        from(provider.as_ref())
    )]
    Looped {
        /// Words read of it.
        words: u64,
        /// Characters read of it.
        chars: u64,
        /// The gateway's id of it, for its price.
        generation: Option<GenerationId>,
        /// Who was answering, where named.
        provider: Option<ProviderName>,
    },
    /// Another provider answered than the one asked.
    #[error("provider mismatch: `{asked}` was asked and `{served}` answered")]
    ProviderMismatch {
        /// The candidate.
        asked: ProviderName,
        /// Who answered.
        served: ProviderName,
    },
    /// There is no credential to ask with.
    #[error("OPENROUTER_API_KEY is not set, and a live model needs it")]
    MissingCredential,
    /// The call cannot be made at all.
    #[error("the call cannot be made: {why}")]
    Unusable {
        /// Why not.
        why: String,
    },
}

/// A reply that arrived and is not used: what it held, and what it cost.
#[derive(Clone, Debug, Default)]
pub struct Discarded {
    /// Its text followed by the arguments of its calls.
    pub content: String,
    /// Its usage, where reported.
    pub usage: Option<UsageReport>,
    /// Who served it, where named.
    pub provider: Option<ProviderName>,
    /// The gateway's id of it.
    pub generation: Option<GenerationId>,
}

impl Discarded {
    /// Characters of the reply's text and arguments.
    pub fn chars(&self) -> u64 {
        self.content.chars().count() as u64
    }
}

impl Fault {
    /// What an answer other than success means (01 §6.2–6.3; 408 is the server's own timeout).
    ///
    /// `body` is the answer's text, not cut yet. A redirect is a refusal that names its target.
    pub fn of_status(
        status: u16,
        retry_after: Option<Duration>,
        body: &[u8],
        provider: Option<ProviderName>,
    ) -> Self {
        let provider = provider.or_else(|| provider_in(body));
        let body = excerpt(body);
        match status {
            429 => Self::RateLimited {
                status,
                retry_after,
                body,
                provider,
            },
            408 | 500..=599 => Self::Server {
                status,
                retry_after,
                body,
                provider,
            },
            401 | 403 => Self::Auth { status, body },
            404 => Self::NotFound { body },
            _ => Self::Rejected { status, body },
        }
    }

    /// How a turn that met it is recorded, where no other attempt follows.
    pub const fn error_type(&self) -> ErrorType {
        match self {
            Self::RateLimited { .. }
            | Self::Server { .. }
            | Self::Transport { .. }
            | Self::Stall { .. } => ErrorType::ModelRetryExhausted,
            Self::Timeout { .. } => ErrorType::ModelTimeout,
            Self::Auth { .. } | Self::MissingCredential => ErrorType::ModelAuth,
            Self::NotFound { .. } | Self::Rejected { .. } | Self::Unusable { .. } => {
                ErrorType::ModelRejected
            }
            Self::Parse { .. } => ErrorType::ModelParse,
            Self::LengthCapped(_) => ErrorType::ModelLengthCapped,
            Self::Looped { .. } => ErrorType::ModelResponseLoop,
            Self::ProviderMismatch { .. } => ErrorType::ModelProviderMismatch,
        }
    }

    /// Who answered or failed to, where named.
    pub fn provider(&self) -> Option<&ProviderName> {
        match self {
            Self::RateLimited { provider, .. }
            | Self::Server { provider, .. }
            | Self::Transport { provider, .. }
            | Self::Stall { provider, .. }
            | Self::Timeout { provider, .. }
            | Self::Looped { provider, .. } => provider.as_ref(),
            Self::Parse { discarded, .. } | Self::LengthCapped(discarded) => {
                discarded.provider.as_ref()
            }
            Self::ProviderMismatch { served, .. } => Some(served),
            Self::NotFound { .. }
            | Self::Auth { .. }
            | Self::Rejected { .. }
            | Self::MissingCredential
            | Self::Unusable { .. } => None,
        }
    }

    /// The status of the answer, where there was one to speak of.
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::RateLimited { status, .. }
            | Self::Server { status, .. }
            | Self::Auth { status, .. }
            | Self::Rejected { status, .. } => Some(*status),
            Self::NotFound { .. } => Some(404),
            _ => None,
        }
    }

    /// What the answer said, where it was a refusal or a failure.
    pub fn body(&self) -> Option<&str> {
        match self {
            Self::RateLimited { body, .. }
            | Self::Server { body, .. }
            | Self::Auth { body, .. }
            | Self::Rejected { body, .. }
            | Self::NotFound { body } => Some(body),
            _ => None,
        }
    }

    /// How long the answer asks to wait.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// The reply that arrived in vain and may have cost something.
    pub fn discarded(&self) -> Option<&Discarded> {
        match self {
            Self::Parse { discarded, .. } | Self::LengthCapped(discarded) => Some(discarded),
            _ => None,
        }
    }

    /// Whether a request with pictures was refused for them: too large a body, or a 4xx that speaks
    /// of pictures (04 §3, R32). Asked only of requests that carry some.
    pub fn refuses_pictures(&self) -> bool {
        const WORDS: [&str; 4] = ["image", "picture", "vision", "multimodal"];
        match self {
            // A context's length may be told with its part of pictures.
            _ if self.overflows_context() => false,
            Self::Rejected { status: 413, .. } => true,
            Self::Rejected { status, body } if (400..500).contains(status) => speaks(body, &WORDS),
            Self::NotFound { body } => speaks(body, &WORDS),
            _ => false,
        }
    }

    /// Whether a request was refused because it is longer than the model's context (F62, F63). No
    /// status is reserved for it; these are the words of the servers there are.
    pub fn overflows_context(&self) -> bool {
        const WORDS: [&str; 11] = [
            "context length",
            "context_length",
            "context window",
            "context size",
            "context_size",
            "context limit",
            "maximum context",
            "too many tokens",
            "number of tokens allowed",
            "prompt is too long",
            "input is too long",
        ];
        match self {
            Self::Rejected { status, body } => (400..500).contains(status) && speaks(body, &WORDS),
            _ => false,
        }
    }

    /// Replaces every occurrence of a secret in what the server said (R23).
    pub(crate) fn mask(mut self, secret: &str) -> Self {
        let text = match &mut self {
            Self::RateLimited { body, .. }
            | Self::Server { body, .. }
            | Self::NotFound { body }
            | Self::Auth { body, .. }
            | Self::Rejected { body, .. } => body,
            Self::Transport { why, .. } | Self::Parse { why, .. } | Self::Unusable { why } => why,
            _ => return self,
        };
        if let Cow::Owned(masked) = hidden(text, secret) {
            *text = masked;
        }
        self
    }
}

fn speaks(body: &str, words: &[&str]) -> bool {
    let body = body.to_ascii_lowercase();
    words.iter().any(|word| body.contains(word))
}

fn headline(what: &str, status: u16, provider: Option<&ProviderName>) -> String {
    format!("{what} ({status}){}", from(provider))
}

fn from(provider: Option<&ProviderName>) -> String {
    provider.map_or_else(String::new, |name| format!(" from `{name}`"))
}

/// The provider that the error in an answer's body names.
fn provider_in(body: &[u8]) -> Option<ProviderName> {
    #[derive(serde::Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        error: &'a RawValue,
    }
    let body: Body<'_> = serde_json::from_slice(body).ok()?;
    named_in(body.error)
}

/// The provider that a gateway's error object names, as OpenRouter writes it.
fn named_in(error: &RawValue) -> Option<ProviderName> {
    #[derive(serde::Deserialize)]
    struct Object {
        metadata: Metadata,
    }
    #[derive(serde::Deserialize)]
    struct Metadata {
        provider_name: String,
    }
    let object: Object = serde_json::from_str(error.get()).ok()?;
    let name = object.metadata.provider_name;
    (!name.trim().is_empty()).then(|| name.into())
}

/// What an error object inside an answer of status 200 means: classified by its code as if that
/// were the status; without one, as a server failure (R25).
pub(crate) fn of_error_object(error: &RawValue, provider: Option<ProviderName>) -> Fault {
    #[derive(serde::Deserialize)]
    struct Coded<'a> {
        #[serde(borrow, default)]
        code: Option<&'a RawValue>,
    }
    let coded: Option<Coded<'_>> = serde_json::from_str(error.get()).ok();
    let code = coded
        .and_then(|coded| coded.code)
        .and_then(|code| code.get().trim_matches('"').trim().parse().ok())
        .filter(|code| (400..=599).contains(code));
    Fault::of_status(
        code.unwrap_or(500),
        None,
        error.get().as_bytes(),
        provider.or_else(|| named_in(error)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> Fault {
        of_error_object(serde_json::from_str(json).unwrap(), None)
    }

    #[test]
    fn statuses_divide_into_retry_credential_absence_and_refusal() {
        let of = |status| Fault::of_status(status, None, b"", None);
        assert!(matches!(of(429), Fault::RateLimited { .. }));
        for status in [408, 500, 502, 503, 504, 529] {
            assert!(matches!(of(status), Fault::Server { .. }), "{status}");
        }
        for status in [401, 403] {
            assert!(matches!(of(status), Fault::Auth { .. }), "{status}");
        }
        assert!(matches!(of(404), Fault::NotFound { .. }));
        for status in [301, 307, 400, 402, 409, 413, 422] {
            assert!(matches!(of(status), Fault::Rejected { .. }), "{status}");
        }
    }

    #[test]
    fn an_error_object_is_classified_by_its_code_however_it_is_written() {
        assert_eq!(error(r#"{"code":429,"message":"m"}"#).status(), Some(429));
        assert_eq!(error(r#"{"code":"502"}"#).status(), Some(502));
        assert_eq!(error(r#"{"code":401}"#).status(), Some(401));
        assert_eq!(error(r#"{"message":"no code"}"#).status(), Some(500));
        assert_eq!(error(r#"{"code":"server_error"}"#).status(), Some(500));
        assert_eq!(error(r#"{"code":0}"#).status(), Some(500));
        assert_eq!(error(r#"{"code":{}}"#).status(), Some(500));
        assert_eq!(error(r#""just words""#).status(), Some(500));
    }

    #[test]
    fn the_provider_is_taken_from_the_error_where_nothing_else_names_it() {
        let json = r#"{"code":502,"metadata":{"provider_name":"Acme"}}"#;
        assert_eq!(error(json).provider(), Some(&"Acme".into()));
        let body = format!(r#"{{"error":{json}}}"#);
        let fault = Fault::of_status(502, None, body.as_bytes(), None);
        assert_eq!(fault.provider(), Some(&"Acme".into()));
        assert!(
            fault
                .to_string()
                .starts_with("server failure (502) from `Acme`: ")
        );
    }

    #[test]
    fn a_refusal_of_pictures_is_told_by_its_size_or_its_words() {
        let refuses = |status, body: &str| {
            Fault::of_status(status, None, body.as_bytes(), None).refuses_pictures()
        };
        assert!(refuses(413, "Payload Too Large"));
        assert!(refuses(404, "No endpoints found that support image input"));
        assert!(refuses(
            400,
            "At least one of the Image dimensions exceeds 8000 pixels"
        ));
        assert!(!refuses(400, "context length exceeded"));
        assert!(!refuses(404, "no such model"));
        assert!(!refuses(503, "the image service is down"));
    }

    #[test]
    fn an_overflow_of_the_context_is_told_by_its_words() {
        let refused = |status, body: &str| Fault::of_status(status, None, body.as_bytes(), None);
        for body in [
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens","code":"context_length_exceeded"}}"#,
            "prompt is too long: 208310 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000",
            "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
            "the request exceeds the available context size, try increasing it",
            "Input is too long for requested model.",
            "Too many tokens: 9000 > 8192",
        ] {
            assert!(refused(400, body).overflows_context(), "{body}");
            assert!(!refused(429, body).overflows_context(), "{body}");
        }
        assert!(!refused(400, "temperature is out of range").overflows_context());
        let counted = "maximum context length is 8192 tokens, 9000 were sent (600 of an image)";
        assert!(!refused(400, counted).refuses_pictures());
    }

    #[test]
    fn a_secret_that_is_echoed_is_masked() {
        let fault = Fault::of_status(401, None, b"bad key sk-or-123", None).mask("sk-or-123");
        assert_eq!(fault.body(), Some("bad key [credential]"));
        // What a server of one's own is given for a key may be a part of any word.
        let body = b"unknown field prompt_cache_key";
        let fault = Fault::of_status(400, None, body, None).mask("key");
        assert_eq!(fault.body(), Some("unknown field prompt_cache_key"));
    }
}
