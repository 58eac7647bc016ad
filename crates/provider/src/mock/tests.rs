//! Scripts as documents in, steps out.

use std::sync::Arc;
use std::time::Duration;

use super::*;

fn player(json: &str, profile: &str) -> Player {
    let script = Script::from_json(json).unwrap();
    Player::new(Arc::new(script), &profile.into())
}

fn reply(step: Step) -> Reply {
    match step.outcome {
        Outcome::Reply(reply) => *reply,
        other => panic!("{other:?}"),
    }
}

fn fault(step: Step) -> Fault {
    match step.outcome {
        Outcome::Fault(fault) => fault,
        other => panic!("{other:?}"),
    }
}

fn one(line: &str) -> Step {
    player(&format!(r#"{{"profiles":{{"*":[{line}]}}}}"#), "root").step()
}

#[test]
fn the_built_in_test_lists_and_then_finishes_often_enough() {
    for name in Script::built_in_names() {
        assert!(Script::built_in(name).is_some());
    }
    assert!(Script::built_in("nothing").is_none());
    let mut player = Player::new(Arc::new(Script::built_in("test").unwrap()), &"any".into());
    let first = reply(player.step());
    assert_eq!(first.calls[0].name, "list_dir");
    for _ in 0..5 {
        let next = reply(player.step());
        assert_eq!(next.calls[0].name, "finish");
        assert!(next.calls[0].arguments.contains("summary"));
        assert_eq!(next.usage.unwrap().cost, Some(0.0));
    }
}

#[test]
fn a_line_is_a_reply_with_its_delay_and_ids_of_its_place() {
    let script = r#"{"profiles":{"root":[
        {"text":"a","reasoning":"r","delayMs":40,"provider":"Acme","finishReason":"stop",
         "calls":[{"tool":"f","arguments":{"a":1}},{"tool":"g","arguments":"[1]","id":"mine"},{"tool":"h"}],
         "usage":{"prompt_tokens":9,"cost":0.5}},
        {"program":"void 0;"},{"finish":"Done."}]}}"#;
    let mut player = player(script, "root");
    let step = player.step();
    assert_eq!(step.delay, Duration::from_millis(40));
    let first = reply(step);
    let calls: Vec<_> = first
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), &*call.arguments))
        .collect();
    assert_eq!(
        calls,
        [
            ("mock_1_1", "f", "{\"a\":1}"),
            ("mine", "g", "[1]"),
            ("mock_1_3", "h", "{}")
        ]
    );
    assert_eq!(first.usage.unwrap().cost, Some(0.5));
    assert_eq!(first.provider, Some("Acme".into()));
    let program = reply(player.step()).calls.remove(0);
    assert_eq!(
        (program.name.as_str(), &*program.arguments),
        ("submit_program", "{\"program\":\"void 0;\"}")
    );
    assert_eq!(
        &*reply(player.step()).calls[0].arguments,
        "{\"summary\":\"Done.\"}"
    );
}

#[test]
fn each_incarnation_walks_from_the_start_and_the_end_says_so() {
    let script = r#"{"profiles":{"*":[{"text":"a","repeat":2}],"empty":[]}}"#;
    for profile in ["root", "scout"] {
        let mut player = player(script, profile);
        assert!(reply(player.step()).text.is_some());
        assert!(reply(player.step()).text.is_some());
        assert_eq!(
            fault(player.step()).to_string(),
            format!(
                "the call cannot be made: the mock script has 2 replies for profile `{profile}` and \
                 was asked for one more"
            )
        );
    }
    assert!(
        fault(player(script, "empty").step())
            .to_string()
            .contains("0 replies")
    );
    let none = player(r#"{"profiles":{"root":[]}}"#, "scout").step();
    assert!(
        fault(none)
            .to_string()
            .contains("no replies for profile `scout`")
    );
}

#[test]
fn faults_are_those_of_a_gateway() {
    let status = fault(one(
        r#"{"fault":{"status":503,"body":"busy","retryAfter":2}}"#,
    ));
    assert_eq!((status.status(), status.body()), (Some(503), Some("busy")));
    assert_eq!(status.retry_after(), Some(Duration::from_secs(2)));
    let wait = fault(one(r#"{"fault":{"status":429,"retryAfter":"1.5"}}"#)).retry_after();
    assert_eq!(wait, Some(Duration::from_millis(1500)));
    assert!(matches!(
        fault(one(r#"{"fault":{"status":401}}"#)),
        Fault::Auth { .. }
    ));
    assert!(matches!(
        fault(one(r#"{"fault":"stall","delayMs":1500}"#)),
        Fault::Stall { secs: 2, .. }
    ));
    assert!(matches!(
        fault(one(r#"{"fault":"timeout"}"#)),
        Fault::Timeout { .. }
    ));
    assert!(matches!(
        fault(one(r#"{"fault":"transport"}"#)),
        Fault::Transport { .. }
    ));
    assert!(matches!(
        fault(one(r#"{"fault":"parse"}"#)),
        Fault::Parse { .. }
    ));
    assert!(matches!(
        one(r#"{"fault":"panic"}"#).outcome,
        Outcome::Panic
    ));
    for line in [
        r#"{"fault":"length","text":"hé","usage":{"cost":1}}"#,
        r#"{"finishReason":"length","text":"hé","usage":{"cost":1}}"#,
    ] {
        let capped = fault(one(line));
        assert!(matches!(capped, Fault::LengthCapped(_)));
        assert_eq!(capped.discarded().unwrap().chars(), 2);
        assert_eq!(
            capped.discarded().unwrap().usage.as_ref().unwrap().cost,
            Some(1.0)
        );
    }
    let broken = fault(one(r#"{"calls":[{"tool":"f","arguments":"{"}]}"#));
    assert!(matches!(broken, Fault::Parse { .. }));
}

#[test]
fn a_reply_that_loops_is_abandoned_where_a_detector_is_armed() {
    let loops = "void 0;\n".repeat(2_000);
    let script = serde_json::json!({ "profiles": { "*": [
        { "reasoning": loops, "text": "Sorry.", "provider": "Acme" },
        { "text": loops },
        { "text": "Here it is:", "program": loops },
        { "text": "Done.", "finish": "Done." },
    ] } });
    let knobs = Knobs {
        window_words: 256,
        repeat_threshold: 32,
        min_offenders: 2,
        min_saturated_run: 3000,
        max_response_chars: 250_000,
    };
    let sizes = [(3065, 12_261), (3065, 12_261), (3069, 12_287)];
    let mut armed = player(&script.to_string(), "root").watched(Some(knobs));
    for size in sizes {
        let looped = fault(armed.step());
        let Fault::Looped { words, chars, .. } = looped else {
            panic!("{looped:?}")
        };
        assert_eq!((words, chars), size);
    }
    assert_eq!(reply(armed.step()).text.as_deref(), Some("Done."));
    let mut off = player(&script.to_string(), "root").watched(None);
    assert_eq!(reply(off.step()).text.as_deref(), Some("Sorry."));
}

#[test]
fn a_script_that_is_none_is_refused_at_its_place() {
    let refused = |json: &str| Script::from_json(json).unwrap_err();
    for (script, place) in [
        (
            r#"{"profiles":{"root":[{"texts":"a"}]}}"#,
            "unknown field `texts`",
        ),
        (r#"{"profiles":{}, "more":1}"#, "unknown field `more`"),
        (
            r#"{"profiles":{"root":[{"calls":[{"tool":"f","args":{}}]}]}}"#,
            "unknown field `args`",
        ),
        (
            r#"{"profiles":{"root":[{},{"repeat":0}]}}"#,
            "profiles.root[1].repeat is 0",
        ),
        (
            r#"{"profiles":{"root":[{"fault":"boom"}]}}"#,
            "profiles.root[0].fault is \"boom\"",
        ),
        (
            r#"{"profiles":{"root":[{"fault":{"status":200}}]}}"#,
            "fault.status is 200",
        ),
        (
            r#"{"profiles":{"root":[{"fault":{"status":500,"why":1}}]}}"#,
            "unknown field `why`",
        ),
        (
            r#"{"profiles":{"root":[{"usage":[1]}]}}"#,
            "profiles.root[0].usage",
        ),
        (
            r#"{"profiles":{"root":[{"calls":[{"tool":" "}]}]}}"#,
            "calls[0].tool is blank",
        ),
        (r#"{"profiles":{"Root!":[]}}"#, "\"Root!\""),
        ("", "line 1 column 0"),
    ] {
        let why = refused(script);
        assert!(
            why.contains(place) && why.starts_with("the mock script: "),
            "{why}"
        );
    }
}

#[test]
fn the_guide_s_example_is_a_script() {
    let guide = include_str!("../../../../docs/mock-scripts.md");
    let example = guide
        .split("```json\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let mut player = Player::new(
        Arc::new(Script::from_json(example).unwrap()),
        &"root".into(),
    );
    let replies = (0..6)
        .filter(|_| matches!(player.step().outcome, Outcome::Reply(_)))
        .count();
    assert_eq!(replies, 5, "one of the six is a fault");
    assert!(Script::from_json("[1]").unwrap_err().contains("profiles"));
}
