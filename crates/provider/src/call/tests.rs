//! Calls at a few candidates, step by step.

use std::time::Duration;

use vocab::candidate::CandidateFault;
use vocab::outcome::ErrorType;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

/// A run's shared state, and one call in it.
struct Run {
    candidates: Candidates,
    degraded: Degraded,
}

impl Run {
    fn of(providers: &[&str]) -> Self {
        let candidate = |provider: &&str| Candidate {
            provider: (*provider).into(),
            quantization: "fp8".to_owned(),
        };
        Self {
            candidates: Candidates::new(providers.iter().map(candidate), 2),
            degraded: Degraded::new(false),
        }
    }

    fn next(&mut self, call: &mut Call) -> Next {
        call.next(&mut self.candidates, &mut self.degraded)
    }

    /// Whom the call asks next, past waits and notices, which are collected.
    fn asks(&mut self, call: &mut Call, told: &mut Vec<String>) -> Result<Attempt, Box<CallError>> {
        loop {
            match self.next(call) {
                Next::Attempt(attempt) => return Ok(attempt),
                Next::Wait(wait) => told.push(wait.sentence(&"m".into())),
                Next::Tell(notice) => told.push(notice.sentence(&"m".into())),
                Next::GiveUp(error) => return Err(error),
            }
        }
    }

    /// Fails attempt after attempt with these faults, then says what follows.
    fn meets(
        &mut self,
        call: &mut Call,
        faults: impl IntoIterator<Item = Fault>,
    ) -> (Vec<String>, Result<String, Box<CallError>>) {
        let mut told = Vec::new();
        for fault in faults {
            match self.asks(call, &mut told) {
                Ok(_) => call.failed(fault, None),
                Err(error) => return (told, Err(error)),
            }
        }
        let end = self
            .asks(call, &mut told)
            .map(|attempt| provider(&attempt).to_owned());
        (told, end)
    }
}

fn provider(attempt: &Attempt) -> &str {
    attempt
        .candidate
        .as_ref()
        .map_or("nobody", |it| it.provider.as_str())
}

fn call(max_retries: u32) -> Call {
    Call::new(Asks::default(), max_retries, MINUTE)
}

fn status(status: u16, body: &str) -> Fault {
    Fault::of_status(status, None, body.as_bytes(), None)
}

fn busy() -> Fault {
    status(503, "busy")
}

fn looped(id: Option<&str>) -> Fault {
    Fault::Looped {
        words: 3_065,
        chars: 12_261,
        generation: id.map(Into::into),
        provider: None,
    }
}

#[test]
fn a_spent_schedule_moves_the_run_and_starts_again_there() {
    let mut run = Run::of(&["Acme", "Beta"]);
    let (told, end) = run.meets(&mut call(1), [busy(), busy(), busy()]);
    assert_eq!(
        told,
        [
            "model `m` at `Acme` (fp8): retry 1 of 1 in 1 s, after server failure (503): busy",
            "model `m` leaves `Acme` (fp8) for `Beta` (fp8): the one retry is used up; the last: \
             server failure (503): busy",
            "model `m` at `Beta` (fp8): retry 1 of 1 in 1 s, after server failure (503): busy",
        ]
    );
    assert_eq!(end.unwrap(), "Beta");
}

#[test]
fn a_call_that_fails_everywhere_says_where_and_why() {
    let mut run = Run::of(&["Acme", "Beta", "Gamma"]);
    let faults = [busy(), busy(), status(404, "no endpoints"), busy(), busy()];
    let (_, end) = run.meets(&mut call(1), faults);
    let error = end.unwrap_err();
    assert_eq!(
        error.to_string(),
        "gave up after 2 attempts at `Gamma` (fp8), the one retry is used up; the last: server \
         failure (503): busy; before it `Acme` (fp8) was left after 2 attempts, the one retry is \
         used up; its last: server failure (503): busy; then `Beta` (fp8) was left after 1 \
         attempt, nothing serves the model there; its last: not found (404): no endpoints"
    );
    assert_eq!((error.attempts, error.retries()), (5, 4));
    assert_eq!(error.error_type(), ErrorType::ModelRetryExhausted);
}

#[test]
fn absence_moves_at_once_and_is_fatal_at_the_last_candidate() {
    let mut run = Run::of(&["Acme", "Beta"]);
    let (told, end) = run.meets(
        &mut call(10),
        [status(404, "gone"), status(404, "gone too")],
    );
    assert_eq!(told.len(), 1, "no wait: {told:?}");
    let error = end.unwrap_err();
    assert_eq!(error.error_type(), ErrorType::ModelRejected);
    assert_eq!(
        error.to_string(),
        "at `Beta` (fp8): not found (404): gone too; before it `Acme` (fp8) was left after 1 \
         attempt, nothing serves the model there; its last: not found (404): gone"
    );
}

#[test]
fn a_refusal_fails_the_call_where_it_is_and_moves_nothing() {
    for fault in [
        status(400, "no"),
        status(401, "no"),
        status(402, "no"),
        Fault::MissingCredential,
        Fault::Timeout {
            secs: 900,
            provider: None,
        },
    ] {
        let mut run = Run::of(&["Acme", "Beta"]);
        let (told, end) = run.meets(&mut call(10), [fault.clone()]);
        let error = end.unwrap_err();
        assert_eq!(error.attempts, 1);
        assert!(told.is_empty());
        assert_eq!(run.candidates.position(), Position::default());
        let named = error.to_string().contains("at `Acme` (fp8)");
        assert_eq!(named, !matches!(fault, Fault::MissingCredential));
    }
}

#[test]
fn a_refused_picture_is_the_askers_to_mend_and_moves_nothing() {
    let refusal = status(404, "No endpoints found that support image input");
    let asks = Asks {
        pictures: true,
        ..Asks::default()
    };
    let mut run = Run::of(&["Acme", "Beta"]);
    let (_, end) = run.meets(&mut Call::new(asks, 10, MINUTE), [refusal.clone()]);
    assert!(end.unwrap_err().fault.refuses_pictures());
    assert_eq!(run.candidates.position(), Position::default());

    let (_, end) = run.meets(&mut call(10), [refusal]);
    assert_eq!(end.unwrap(), "Beta", "it asked with no picture");
}

#[test]
fn a_call_follows_the_run_that_another_call_moved() {
    let mut run = Run::of(&["Acme", "Beta", "Gamma"]);
    let (mut waits, mut sends, mut moves) = (call(10), call(10), call(10));
    let mut told = Vec::new();
    run.asks(&mut waits, &mut told).unwrap();
    waits.failed(busy(), None);
    assert!(matches!(run.next(&mut waits), Next::Wait(_)));
    run.asks(&mut sends, &mut told).unwrap();
    run.meets(&mut moves, [status(404, "gone")]).1.unwrap();

    assert!(waits.is_behind(&run.candidates));
    let attempt = run.asks(&mut waits, &mut told).unwrap();
    assert_eq!(provider(&attempt), "Beta");
    assert_eq!(
        told.pop().unwrap(),
        "model `m` goes on at `Beta` (fp8), since the run has left `Acme` (fp8); the last: server \
         failure (503): busy"
    );
    // Its attempt was out when the run moved: neither its schedule nor its 404 counts any more.
    sends.failed(status(404, "gone"), None);
    let attempt = run.asks(&mut sends, &mut told).unwrap();
    assert_eq!(provider(&attempt), "Beta");
    assert_eq!(
        run.candidates.current().unwrap().provider,
        "Beta".into(),
        "one move for both"
    );
}

#[test]
fn a_provider_that_missed_its_cache_too_often_is_left_by_the_next_request() {
    let mut run = Run::of(&["Acme", "Beta"]);
    let mut under_way = call(10);
    let mut told = Vec::new();
    run.asks(&mut under_way, &mut told).unwrap();
    run.candidates.missed(&"Acme".into());
    run.candidates.missed(&"Acme".into());
    let mut next = call(10);
    let Next::Tell(Notice::Moved(moved)) = run.next(&mut next) else {
        panic!("a move");
    };
    assert_eq!(moved.moved.fault, CandidateFault::CacheMiss);
    assert_eq!(
        moved.to_string(),
        "leaves `Acme` (fp8) for `Beta` (fp8): it missed its cache 2 times"
    );
    let attempt = run.asks(&mut next, &mut told).unwrap();
    assert_eq!(provider(&attempt), "Beta");
    assert!(told.is_empty());
}

#[test]
fn a_wait_that_is_too_long_moves_instead() {
    let mut run = Run::of(&["Acme", "Beta"]);
    let wait = Some(Duration::from_secs(86_400));
    let patience = Fault::of_status(429, wait, b"later", None);
    let (told, end) = run.meets(&mut call(10), [patience.clone(), patience]);
    assert_eq!(
        told,
        [
            "model `m` leaves `Acme` (fp8) for `Beta` (fp8): the wait of 86400 s asked for is longer \
          than the 600 s that are waited at most; the last: rate limited (429): later"
        ]
    );
    let error = end.unwrap_err();
    assert_eq!(error.fault.status(), Some(429));
    assert!(error.spent.unwrap().contains("86400 s"));
}

#[test]
fn a_reply_that_loops_on_every_attempt_moves_nothing() {
    let mut run = Run::of(&["Acme", "Beta"]);
    let (told, end) = run.meets(&mut call(1), [looped(Some("a")), looped(None)]);
    let error = end.unwrap_err();
    assert_eq!(told.len(), 1);
    assert_eq!(error.error_type(), ErrorType::ModelResponseLoop);
    assert!(error.is_reasked());
    assert_eq!(run.candidates.position(), Position::default());
    assert_eq!(
        error.loops.to_string(),
        "2 looping replies of 6130 words and 24522 characters in all"
    );
    let ids: Vec<_> = error
        .loops
        .generations
        .iter()
        .map(|it| &it.generation)
        .collect();
    assert_eq!(ids, [&Some("a".into()), &None]);
}

#[test]
fn mixed_causes_move_and_at_the_last_candidate_classify_by_the_last() {
    let mut run = Run::of(&["Acme", "Beta"]);
    let (_, end) = run.meets(&mut call(1), [busy(), looped(None), busy(), looped(None)]);
    let error = end.unwrap_err();
    assert_eq!(error.error_type(), ErrorType::ModelResponseLoop);
    assert_eq!(error.loops.replies, 2);
    assert_eq!(error.left.len(), 1);

    let mut run = Run::of(&["Acme"]);
    let (_, end) = run.meets(&mut call(1), [looped(None), busy()]);
    let error = end.unwrap_err();
    assert_eq!(error.error_type(), ErrorType::ModelRetryExhausted);
}

#[test]
fn a_call_that_succeeds_in_the_end_tells_what_looped() {
    let mut run = Run::of(&["Acme"]);
    let mut call = call(1);
    run.meets(&mut call, [looped(Some("a"))]).1.unwrap();
    assert_eq!(call.retries(), 1);
    let loops = call.into_loop_aborts();
    assert_eq!(
        loops.to_string(),
        "1 looping reply of 3065 words and 12261 characters"
    );
}

#[test]
fn a_refused_tool_choice_is_sent_again_as_auto_at_the_same_candidate() {
    let refusal = status(
        404,
        "No endpoints found that support the provided 'tool_choice' value",
    );
    let asks = Asks {
        tool_choice: true,
        ..Asks::default()
    };
    let mut run = Run::of(&["Acme", "Beta"]);
    let (mut first, mut second) = (Call::new(asks, 0, MINUTE), Call::new(asks, 0, MINUTE));
    let mut told = Vec::new();
    run.asks(&mut first, &mut told).unwrap();
    run.asks(&mut second, &mut told).unwrap();
    for call in [&mut first, &mut second] {
        call.failed(refusal.clone(), None);
        let attempt = run.asks(call, &mut told).unwrap();
        assert!(attempt.concessions.auto);
        assert_eq!(provider(&attempt), "Acme");
    }
    assert_eq!(
        told,
        [
            "model `m` is sent the tool choice `auto` for the rest of the run: not found (404): No \
          endpoints found that support the provided 'tool_choice' value"
        ]
    );
    // Said of `auto` it is an absence like any other.
    first.failed(refusal, None);
    let attempt = run.asks(&mut first, &mut told).unwrap();
    assert_eq!(provider(&attempt), "Beta");
}

#[test]
fn an_unknown_routing_field_is_dropped_and_refused_for_good_if_named_again() {
    let refusal = status(400, r#"json: unknown field "session_id""#);
    let mut run = Run::of(&["Acme"]);
    let mut call = call(0);
    let (told, end) = run.meets(&mut call, [refusal.clone()]);
    assert_eq!(end.unwrap(), "Acme");
    assert_eq!(
        told,
        [
            "model `m` is sent no `session_id` for the rest of the run: request refused (400): json: \
          unknown field \"session_id\""
        ]
    );
    assert!(
        run.degraded
            .concessions()
            .dropped
            .contains(RoutingField::SessionId)
    );
    call.failed(refusal, None);
    let end = run.asks(&mut call, &mut Vec::new());
    assert_eq!(end.unwrap_err().error_type(), ErrorType::ModelRejected);
}

#[test]
fn a_model_without_candidates_retries_and_names_nobody() {
    let mut run = Run::of(&[]);
    let (told, end) = run.meets(&mut call(1), [busy(), busy()]);
    assert_eq!(
        told,
        ["model `m`: retry 1 of 1 in 1 s, after server failure (503): busy"]
    );
    assert_eq!(
        end.unwrap_err().to_string(),
        "gave up after 2 attempts, the one retry is used up; the last: server failure (503): busy"
    );
}

#[test]
fn a_call_that_is_over_stays_over() {
    let mut run = Run::of(&["Acme", "Beta"]);
    let mut call = call(0);
    run.meets(&mut call, [status(400, "no")]).1.unwrap_err();
    call.failed(busy(), None);
    assert!(matches!(run.next(&mut call), Next::GiveUp(error) if error.attempts == 1));
}
