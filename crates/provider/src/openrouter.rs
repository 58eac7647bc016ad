//! One attempt at a chat completion over HTTP, with OpenRouter or whatever stands in its place.
//!
//! [`client`] makes the one connection pool of a run, [`attempt`] sends one request and reads its
//! answer to the end, or to where it only repeats itself. [`generation`](generation()) looks up
//! what an answer cost that was not read to its end, and [`endpoints`] who serves a model. Both
//! clocks of a call run here: the silence allowed, restarted by content, reasoning and arguments
//! alone (F05), and the time allowed for the whole call.
//!
//! Always true: dropping the future of an attempt ends its exchange; no redirect is followed; the
//! credential is sent in one header and appears in no fault.
//!
//! Whether another attempt follows is [`crate::call`]'s business.

mod client;
mod endpoint;
mod generation;
mod listing;

use std::error::Error as _;
use std::time::{Duration, SystemTime};

pub use client::client;
pub use endpoint::{Credential, DEFAULT_BASE_URL, Endpoint, base_url_from_env};
pub use generation::{Generation, generation};
pub use listing::endpoints;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use tokio::time::{Instant, timeout, timeout_at};
use vocab::ids::ProviderName;
use vocab::looping::Knobs;

use crate::fault::{Fault, excerpt};
use crate::reading::Reading;
use crate::reply::Reply;
use crate::request::Body;
use crate::schedule::retry_after;

/// How long an answer that is no success may take to say why.
const REFUSAL_TIME: Duration = Duration::from_secs(10);

/// Bytes read of an answer that is no success.
const REFUSAL_BYTES: usize = 64 * 1024;

/// How long the end of a stream is awaited behind its announcement, so that the connection can
/// serve the next request: first with the reply in hand, then beside it.
const END_TIME: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));

/// The clocks of one attempt, both from the moment of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptLimits {
    /// For the whole call.
    pub whole: Duration,
    /// Without any content, reasoning or arguments.
    pub idle: Duration,
}

/// What holds for one attempt.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The provider the request allows; another one that answers is [`Fault::ProviderMismatch`].
    pub asked: Option<&'a ProviderName>,
    /// Its clocks.
    pub limits: AttemptLimits,
    /// The loop detector that reads along, where one is armed.
    pub knobs: Option<Knobs>,
}

/// Sends one request and reads its answer to the end.
///
/// An answer that trips the loop detector is [`Fault::Looped`]: its connection is closed with the
/// rest unread, which also tells the server to stop.
pub async fn attempt(
    http: &reqwest::Client,
    endpoint: &Endpoint,
    body: Body,
    terms: Terms<'_>,
) -> Result<Reply, Fault> {
    let Some(credential) = endpoint.credential() else {
        return Err(Fault::MissingCredential);
    };
    let header = credential.header().map_err(|why| Fault::Unusable { why })?;
    let request = http
        .post(endpoint.completions().clone())
        .header(AUTHORIZATION, header)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "text/event-stream, application/json")
        .body(reqwest::Body::wrap(body));
    exchange(request, endpoint, terms)
        .await
        .map_err(|fault| fault.mask(credential.expose()))
}

async fn exchange(
    request: reqwest::RequestBuilder,
    endpoint: &Endpoint,
    terms: Terms<'_>,
) -> Result<Reply, Fault> {
    let mut clock = Clock::start(terms.limits);
    let response = match clock.within(request.send()).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(unsent(error, endpoint)),
        Err(Elapsed) => return Err(clock.fault(None)),
    };
    if !response.status().is_success() {
        return Err(refusal(response, &clock).await);
    }
    answer(response, terms, &mut clock).await
}

/// Reads an answer of status 2xx.
async fn answer(
    mut response: Response,
    terms: Terms<'_>,
    clock: &mut Clock,
) -> Result<Reply, Fault> {
    let mut reading = Reading::new(terms.asked.cloned()).watched(terms.knobs);
    loop {
        let fault = match clock.within(response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                let progress = reading.push(&bytes)?;
                if progress.moved {
                    clock.restart();
                }
                if progress.done {
                    reach_end(response).await;
                    return reading.finish();
                }
                continue;
            }
            Ok(Ok(None)) => return reading.finish(),
            Ok(Err(error)) => Fault::Transport {
                why: format!(
                    "the connection ended inside the answer: {}",
                    innermost(&error)
                ),
                provider: reading.provider().cloned(),
            },
            Err(Elapsed) => clock.fault(reading.provider().cloned()),
        };
        // Behind its finish reason a reply misses nothing but its usage and a farewell.
        return if reading.is_whole() {
            reading.finish()
        } else {
            Err(fault)
        };
    }
}

/// Reads past the announced end of a stream: a connection whose answer was read to the last byte
/// is kept for the next request, any other is closed.
async fn reach_end(mut response: Response) {
    async fn drain(response: &mut Response) {
        while let Ok(Some(_)) = response.chunk().await {}
    }
    if timeout(END_TIME.0, drain(&mut response)).await.is_err() {
        tokio::spawn(async move { timeout(END_TIME.1, drain(&mut response)).await });
    }
}

/// What an answer of another status than 2xx means. Its head decides; its body only words it.
async fn refusal(mut response: Response, clock: &Clock) -> Fault {
    let status = response.status();
    let header = |name| {
        response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    if status.is_redirection()
        && let Some(location) = header(LOCATION)
    {
        let body = format!(
            "the server redirects to `{}` and redirects are not followed; set \
             OPENROUTER_BASE_URL to the address that answers",
            excerpt(location.as_bytes())
        );
        let status = status.as_u16();
        return Fault::Rejected { status, body };
    }
    let wait = match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            header(RETRY_AFTER).and_then(|value| retry_after(value, SystemTime::now()))
        }
        _ => None,
    };
    let mut body = Vec::new();
    let read = async {
        while body.len() < REFUSAL_BYTES
            && let Ok(Some(bytes)) = response.chunk().await
        {
            body.extend_from_slice(&bytes);
        }
    };
    // What did not arrive in time is left unsaid.
    timeout(REFUSAL_TIME, clock.within(read)).await.ok();
    Fault::of_status(status.as_u16(), wait, &body, None)
}

fn unsent(error: reqwest::Error, endpoint: &Endpoint) -> Fault {
    let innermost = innermost(&error);
    if error.is_builder() {
        return Fault::Unusable { why: innermost };
    }
    let host = endpoint.host();
    let why = if error.is_connect() {
        format!("no connection to `{host}`: {innermost}")
    } else {
        format!("the exchange with `{host}` failed: {innermost}")
    };
    Fault::Transport {
        why,
        provider: None,
    }
}

/// The cause at the bottom: the layers above it name only themselves.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    let mut text = None;
    while let Some(error) = cause {
        text = Some(error.to_string());
        cause = error.source();
    }
    excerpt(text.unwrap_or_else(|| error.to_string()).as_bytes())
}

/// A clock ran out.
struct Elapsed;

struct Clock {
    limits: AttemptLimits,
    whole: Instant,
    idle: Instant,
}

impl Clock {
    fn start(limits: AttemptLimits) -> Self {
        Self {
            limits,
            whole: after(limits.whole),
            idle: after(limits.idle),
        }
    }

    fn restart(&mut self) {
        self.idle = after(self.limits.idle);
    }

    async fn within<T>(&self, future: impl Future<Output = T>) -> Result<T, Elapsed> {
        timeout_at(self.whole.min(self.idle), future)
            .await
            .map_err(|_| Elapsed)
    }

    /// The fault of the clock that ran out first.
    fn fault(&self, provider: Option<ProviderName>) -> Fault {
        let secs = |limit: Duration| limit.as_secs() + u64::from(limit.subsec_nanos() > 0);
        if self.whole <= self.idle {
            Fault::Timeout {
                secs: secs(self.limits.whole),
                provider,
            }
        } else {
            Fault::Stall {
                secs: secs(self.limits.idle),
                provider,
            }
        }
    }
}

fn after(limit: Duration) -> Instant {
    const DECADES: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);
    Instant::now() + limit.min(DECADES)
}

#[cfg(test)]
mod tests;
