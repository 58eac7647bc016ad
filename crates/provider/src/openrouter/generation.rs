//! What one generation cost, asked after the fact (01 §7, 06 §5).
//!
//! A reply that was abandoned while it streamed never came to its usage. The gateway accounts it
//! all the same, a moment later: until then it answers 404.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep_until, timeout_at};
use vocab::credential::hidden;
use vocab::ids::{GenerationId, ProviderName};

use super::{Endpoint, REFUSAL_BYTES, after, innermost};
use crate::fault::{Fault, excerpt};
use crate::price::{is_price, number};

/// The wait before the second question; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// The longest wait between two questions.
const LONGEST_WAIT: Duration = Duration::from_secs(4);

/// How long one answer may take.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// The gateway's account of one generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// USD.
    pub cost: f64,
    /// Input tokens as the provider counts them, cached ones included.
    pub prompt: Option<u64>,
    /// Input tokens read from the cache.
    pub cached: Option<u64>,
    /// Output tokens as the provider counts them, reasoning included.
    pub completion: Option<u64>,
    /// Reasoning tokens.
    pub reasoning: Option<u64>,
    /// Who served it, where named.
    pub provider: Option<ProviderName>,
}

/// Looks a generation up: `GET <base>/generation?id=…`.
///
/// What is not there yet (404) and a connection that fails are asked again, after waits that
/// grow, as long as `within` has room for them. Any other answer stands. The error is a sentence
/// that says why there is no price, without the credential.
pub async fn generation(
    http: &reqwest::Client,
    endpoint: &Endpoint,
    id: &GenerationId,
    within: Duration,
) -> Result<Generation, String> {
    let Some(credential) = endpoint.credential() else {
        return Err(Fault::MissingCredential.to_string());
    };
    let header = credential.header()?;
    let until = after(within);
    let mut wait = FIRST_WAIT;
    let why = loop {
        let turn = until.min(after(ANSWER_TIME));
        let answer = timeout_at(turn, ask(http, endpoint, id, &header))
            .await
            .unwrap_or_else(|_| Answer::Missing("no answer came in time".to_owned()));
        match answer {
            Answer::Account(account) => return Ok(account),
            Answer::Final(why) => break why,
            Answer::Missing(why) => {
                let next = Instant::now() + wait;
                if next >= until {
                    break why;
                }
                sleep_until(next).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        }
    };
    Err(hidden(&why, credential.expose()).into_owned())
}

/// What came of one question.
enum Answer {
    /// The account.
    Account(Generation),
    /// Nothing yet, and why.
    Missing(String),
    /// Nothing, and asking again would change nothing.
    Final(String),
}

async fn ask(
    http: &reqwest::Client,
    endpoint: &Endpoint,
    id: &GenerationId,
    header: &HeaderValue,
) -> Answer {
    let failed = |error: reqwest::Error| {
        Answer::Missing(format!("the look-up failed: {}", innermost(&error)))
    };
    let request = http
        .get(endpoint.generation(id))
        .header(AUTHORIZATION, header)
        .header(ACCEPT, "application/json");
    let mut response = match request.send().await {
        Ok(response) => response,
        Err(error) => return failed(error),
    };
    let mut body = Vec::new();
    while body.len() < REFUSAL_BYTES {
        match response.chunk().await {
            Ok(Some(bytes)) => body.extend_from_slice(&bytes),
            Ok(None) => break,
            // The head of a refusal says enough.
            Err(_) if !response.status().is_success() => break,
            Err(error) => return failed(error),
        }
    }
    let status = response.status();
    let refused = || {
        let status = status.as_u16();
        format!("the look-up was refused ({status}): {}", excerpt(&body))
    };
    match status {
        StatusCode::NOT_FOUND => Answer::Missing(refused()),
        status if !status.is_success() => Answer::Final(refused()),
        _ => read(&body).map_or_else(
            || Answer::Final(format!("the look-up names no cost: {}", excerpt(&body))),
            Answer::Account,
        ),
    }
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow, default)]
    total_cost: Option<&'a RawValue>,
    /// The same figure under its older name.
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    native_tokens_prompt: Option<&'a RawValue>,
    #[serde(borrow, default)]
    native_tokens_completion: Option<&'a RawValue>,
    #[serde(borrow, default)]
    native_tokens_reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    native_tokens_cached: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tokens_prompt: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tokens_completion: Option<&'a RawValue>,
    #[serde(borrow, default)]
    provider_name: Option<&'a RawValue>,
}

/// Reads an account; `None` where it is none or names no cost that can be.
fn read(body: &[u8]) -> Option<Generation> {
    let data = serde_json::from_slice::<Wire<'_>>(body).ok()?.data;
    let cost = |raw: Option<&RawValue>| raw.and_then(number).filter(|cost| is_price(*cost));
    let provider = data
        .provider_name
        .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
        .filter(|name| !name.trim().is_empty());
    Some(Generation {
        cost: cost(data.total_cost).or_else(|| cost(data.usage))?,
        prompt: tokens(data.native_tokens_prompt).or_else(|| tokens(data.tokens_prompt)),
        cached: tokens(data.native_tokens_cached),
        completion: tokens(data.native_tokens_completion)
            .or_else(|| tokens(data.tokens_completion)),
        reasoning: tokens(data.native_tokens_reasoning),
        provider: provider.map(Into::into),
    })
}

#[expect(clippy::cast_sign_loss, reason = "negative figures are sorted out")]
fn tokens(raw: Option<&RawValue>) -> Option<u64> {
    // Above 2^53 a count is not exact any more, and no exchange is that large.
    let figure = raw.and_then(number)?;
    (0.0..=9_007_199_254_740_992.0)
        .contains(&figure)
        .then_some(figure as u64)
}

#[cfg(test)]
mod tests {
    use super::super::client;
    use super::super::tests::{Act, Hold, Reset, Server, status};
    use super::*;

    const ACCOUNT: &str = r#"{"data":{"id":"gen-7","total_cost":0.0125,"usage":0.9,
        "native_tokens_prompt":1200,"native_tokens_completion":3100,"native_tokens_reasoning":40,
        "native_tokens_cached":1024,"tokens_prompt":1,"tokens_completion":1,
        "provider_name":"Acme","cancelled":true,"latency":12.5}}"#;

    fn account() -> Generation {
        Generation {
            cost: 0.0125,
            prompt: Some(1200),
            cached: Some(1024),
            completion: Some(3100),
            reasoning: Some(40),
            provider: Some("Acme".into()),
        }
    }

    async fn look_up(server: &Server, within: Duration) -> Result<Generation, String> {
        let endpoint = server.endpoint();
        let http = client(&endpoint).unwrap();
        generation(&http, &endpoint, &"gen-7".into(), within).await
    }

    async fn answered(script: Vec<Act>) -> Result<Generation, String> {
        let server = Server::start(vec![script]).await;
        look_up(&server, Duration::from_secs(30)).await
    }

    #[tokio::test]
    async fn what_is_not_there_yet_is_asked_for_again() {
        let server = Server::start(vec![
            status("404 Not Found", "", r#"{"error":{"message":"not found"}}"#),
            vec![Reset],
            status("200 OK", "", ACCOUNT),
        ])
        .await;
        let found = look_up(&server, Duration::from_secs(30)).await;
        assert_eq!(found, Ok(account()));
        let seen = server.seen.lock().unwrap();
        assert_eq!(seen.requests.len(), 3);
        for (head, _) in &seen.requests {
            assert!(
                head.starts_with("get /api/v1/generation?id=gen-7 http/1.1\r\n"),
                "{head}"
            );
            assert!(head.contains("\r\nauthorization: bearer sk-secret\r\n"));
        }
    }

    #[tokio::test]
    async fn the_time_given_bounds_the_questions() {
        let absent = || status("404 Not Found", "", "not yet");
        let server = Server::start(vec![absent(), absent(), absent()]).await;
        let why = look_up(&server, Duration::from_millis(700)).await;
        assert_eq!(
            why,
            Err("the look-up was refused (404): not yet".to_owned())
        );
        assert!(server.seen.lock().unwrap().requests.len() <= 2);
        let silent = Server::start(vec![vec![Hold], vec![Hold]]).await;
        let why = look_up(&silent, Duration::from_millis(200)).await;
        assert_eq!(why, Err("no answer came in time".to_owned()));
    }

    #[tokio::test]
    async fn any_other_answer_stands_and_hides_the_credential() {
        let why = answered(status("401 No", "", "bad key sk-secret")).await;
        assert_eq!(
            why,
            Err("the look-up was refused (401): bad key [credential]".to_owned())
        );
        let why = answered(status("503 Busy", "", "busy")).await;
        assert_eq!(why, Err("the look-up was refused (503): busy".to_owned()));
        for body in [
            r#"{"data":{"id":"gen-7","total_cost":null}}"#,
            r#"{"data":{"total_cost":-1}}"#,
            r#"{"data":{"total_cost":1e308}}"#,
            "<html>",
        ] {
            let why = answered(status("200 OK", "", body)).await.unwrap_err();
            assert!(why.starts_with("the look-up names no cost: "), "{why}");
        }
    }

    #[test]
    fn figures_are_read_however_they_are_written() {
        let read = |json: &str| read(json.as_bytes()).unwrap();
        let sparse = read(
            r#"{"data":{"total_cost":"0.5","native_tokens_prompt":null,"tokens_prompt":"7",
                "native_tokens_completion":-3,"tokens_completion":4.0,"provider_name":" "}}"#,
        );
        let expected = Generation {
            cost: 0.5,
            prompt: Some(7),
            cached: None,
            completion: Some(4),
            reasoning: None,
            provider: None,
        };
        assert_eq!(sparse, expected);
        let older = read(r#"{"data":{"usage":2e-3,"provider_name":{"a":1}}}"#);
        assert!((older.cost - 0.002).abs() < f64::EPSILON);
    }
}
