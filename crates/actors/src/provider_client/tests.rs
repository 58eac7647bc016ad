//! Calls of several agents at one client: what one learns, all know.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::time::Duration;

use provider::mock::Script;
use provider::openrouter::AttemptLimits;
use provider::request::{ModelRequest, Thread, ToolChoice, toolset};
use serde_json::{Value, json};
use vocab::ids::ProviderName;
use vocab::looping::Knobs;
use vocab::outcome::ErrorType;

use super::*;
use crate::heard::Heard;
use crate::stop::StopSwitch;

/// A client of a scripted model with two candidates, and what it tells.
struct Stage {
    client: Link<ProviderClient>,
    heard: Heard,
    ledger: Arc<Ledger>,
    stop: StopSwitch,
    // Nobody listens; an address is what a client is given.
    _supervisor: Context<Supervisor>,
}

impl Stage {
    fn set(script: &Value, max_retries: u32) -> Self {
        let heard = Heard::start();
        let (mailbox, supervisor) = Supervisor::open(None);
        let candidate = |provider: &str| Candidate {
            provider: provider.into(),
            quantization: "fp8".to_owned(),
        };
        let ledger = Arc::new(Ledger::default());
        let setup = Setup {
            model: "mock/m".into(),
            source: Source::mock(Arc::new(Script::from_json(&script.to_string()).unwrap())),
            candidates: ["Near", "Far"].map(candidate).into(),
            limits: CallLimits {
                attempt: AttemptLimits {
                    whole: Duration::from_secs(60),
                    idle: Duration::from_secs(60),
                },
                max_retries,
                max_delay: Duration::from_secs(60),
                miss_limit: 2,
            },
            routing_key: "abcdefghijklmnopqrstuvwx".into(),
            clock: RunClock::start(None),
            abandoned: Arc::clone(&ledger),
        };
        Self {
            client: ProviderClient::start(setup, &supervisor, &heard.telemetry, None),
            heard,
            ledger,
            stop: StopSwitch::new(),
            _supervisor: mailbox,
        }
    }

    /// Asks as an agent named like its profile.
    async fn ask(&self, agent: &str) -> Result<Completion, Box<Failure>> {
        self.ask_watched(agent, None).await
    }

    async fn ask_watched(
        &self,
        agent: &str,
        knobs: Option<Knobs>,
    ) -> Result<Completion, Box<Failure>> {
        let call = Complete {
            role: record::journal::RequestRole::Agent,
            agent: agent.into(),
            profile: agent.into(),
            turn: 1,
            request: ModelRequest {
                thread: Thread::new().snapshot(),
                signal: None,
                toolset: Arc::new(toolset(&[])),
                tool_choice: ToolChoice::Auto,
                rewritten: None,
            },
            pictures: false,
            settings: CallSettings {
                knobs,
                ..CallSettings::default()
            },
            stop: self.stop.watch(),
        };
        match self.client.ask(call).await.unwrap() {
            Ok(completion) => Ok(completion),
            Err(CallFailure::Failed(failure)) => Err(failure),
            Err(CallFailure::Stopped(cause)) => panic!("nobody stopped it: {cause:?}"),
        }
    }

    /// What was told by agents, in order: the type of an event, or the code of a log line.
    async fn told(self) -> Vec<(String, String)> {
        let lines = self.heard.told().await;
        lines
            .iter()
            .filter_map(|line| {
                let agent = line["agentId"].as_str()?.to_owned();
                let what = line["code"].as_str().or(line["type"].as_str())?;
                Some((agent, what.to_owned()))
            })
            .collect()
    }
}

fn asked(completion: &Completion) -> Option<&str> {
    completion.asked.as_ref().map(ProviderName::as_str)
}

fn count(told: &[(String, String)], what: &str) -> usize {
    told.iter().filter(|(_, told)| told == what).count()
}

#[actix::test]
async fn two_agents_that_spend_their_schedules_at_one_candidate_make_one_move() {
    let busy = json!({ "fault": { "status": 503, "body": "busy" }, "delayMs": 30 });
    let stage = Stage::set(
        &json!({ "profiles": { "*": [busy, { "finish": "done" }] } }),
        0,
    );
    let (one, two) = tokio::join!(stage.ask("one"), stage.ask("two"));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((asked(&one), asked(&two)), (Some("Far"), Some("Far")));
    assert_eq!((one.retries, two.retries), (1, 1));
    let told = stage.told().await;
    assert_eq!(count(&told, "provider_switch"), 1, "{told:?}");
    assert_eq!(count(&told, "provider_followed"), 1, "{told:?}");
    let at = told
        .iter()
        .position(|it| it.1 == "provider_switch")
        .unwrap();
    assert_eq!(
        told[at - 1],
        (told[at].0.clone(), "retries_spent".to_owned())
    );
}

#[actix::test]
async fn a_call_that_waits_for_a_candidate_follows_the_run_at_once() {
    let stage = Stage::set(
        &json!({ "profiles": {
            "patient": [
                { "fault": { "status": 503, "body": "busy", "retryAfter": "500" } },
                { "finish": "done" },
            ],
            "other": [
                { "fault": { "status": 404, "body": "no endpoints" }, "delayMs": 50 },
                { "finish": "done" },
            ],
        }}),
        3,
    );
    let (patient, other) = tokio::join!(stage.ask("patient"), stage.ask("other"));
    assert_eq!(asked(&patient.unwrap()), Some("Far"));
    assert_eq!(asked(&other.unwrap()), Some("Far"));
    let told = stage.told().await;
    let of = |agent: &str| -> Vec<&str> {
        let lines = told.iter().filter(|(who, _)| who == agent);
        lines.map(|(_, what)| what.as_str()).collect()
    };
    assert_eq!(of("patient"), ["retry", "provider_followed"]);
    assert_eq!(of("other"), ["unavailable", "provider_switch"]);
}

#[actix::test]
async fn a_wait_that_is_too_long_to_begin_is_why_the_run_moves() {
    let stage = Stage::set(
        &json!({ "profiles": { "*": [
            { "fault": { "status": 429, "body": "tomorrow", "retryAfter": "86400" } },
            { "finish": "done" },
        ]}}),
        3,
    );
    assert_eq!(asked(&stage.ask("root").await.unwrap()), Some("Far"));
    let told = stage.told().await;
    let codes: Vec<&str> = told.iter().map(|(_, what)| what.as_str()).collect();
    assert_eq!(codes, ["long_wait", "provider_switch"]);
}

#[actix::test]
async fn replies_that_only_loop_move_nothing_and_are_noted_for_their_price() {
    let loops = json!({ "text": "again ".repeat(40), "repeat": 2 });
    let stage = Stage::set(&json!({ "profiles": { "*": [loops] } }), 0);
    let knobs = Knobs {
        window_words: 8,
        repeat_threshold: 4,
        min_offenders: 1,
        min_saturated_run: 0,
        max_response_chars: 0,
    };
    let failure = stage.ask_watched("root", Some(knobs)).await.unwrap_err();
    assert_eq!(failure.error.error_type(), ErrorType::ModelResponseLoop);
    assert!(failure.error.is_reasked());
    assert_eq!(failure.error.loops.replies, 1);
    let noted = stage.ledger.take();
    assert_eq!(noted.len(), 1);
    assert_eq!(noted[0].provider, Some("Near".into()));
    assert_eq!(count(&stage.told().await, "provider_switch"), 0);
}

#[actix::test]
async fn an_agent_that_is_forgotten_starts_anew() {
    let stage = Stage::set(
        &json!({ "profiles": { "*": [{ "text": "first" }, { "text": "second" }] } }),
        0,
    );
    let said = async |stage: &Stage| stage.ask("root").await.unwrap().reply.text.unwrap();
    assert_eq!(&*said(&stage).await, "first");
    stage.client.tell(Forget {
        agent: "root".into(),
    });
    assert_eq!(&*said(&stage).await, "first");
    assert_eq!(&*said(&stage).await, "second");
}
