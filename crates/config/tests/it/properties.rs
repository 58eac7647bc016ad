//! What holds for any text at all, and for any document that passes.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{EVERYTHING, SPECIFICATION};

/// Parses and checks; what must hold of any answer is asserted here.
fn drive(bytes: &[u8]) {
    let Ok(document) = config::parse_bytes(bytes) else {
        return;
    };
    let checked = document.check();
    assert_eq!(checked.launch.is_some(), checked.refusals.is_empty());
    for refusal in &checked.refusals {
        let text = refusal.to_string();
        assert!(text.lines().count() <= 2, "{text}");
        assert!(!refusal.locus.is_empty(), "{text}");
    }
    for key in ["capabilitySet", "modelProviders", "sessionId"] {
        let _ = document.raw(key);
    }
    let _ = document.session_id();
    if let Some(launch) = checked.launch {
        let typed: config::Launch = serde_json::from_slice(bytes).expect("accepted documents read");
        assert_eq!(typed, launch);
        let written = serde_json::to_string(&launch).expect("a launch serializes");
        let again = config::parse(&written)
            .expect("what is written parses")
            .check();
        assert_eq!(again.launch, Some(launch));
    }
}

/// Any JSON value, a few levels deep, with our own words among its texts.
fn value() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "",
        "id",
        "enabled",
        "params",
        "shell",
        "fsm",
        "compaction",
        "root",
        "mock/test",
        "slug",
        "\u{0}",
        "日本",
        "a\nb",
        "memory-compaction",
        "command",
        "type",
        "states",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((words.clone(), inner), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect()),
        ]
    })
}

/// The pointers of every value of a document.
fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{at}/{index}"), out);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(member, &format!("{at}/{key}"), out);
            }
        }
        _ => {}
    }
}

fn everything() -> (Value, Vec<String>) {
    let document: Value = serde_json::from_str(EVERYTHING).unwrap();
    let mut places = Vec::new();
    pointers(&document, "", &mut places);
    (document, places)
}

/// The same with every capability off, which then owes no completeness.
fn everything_off() -> (Value, Vec<String>) {
    let (mut document, mut places) = everything();
    for place in places.iter().filter(|place| place.ends_with("/enabled")) {
        *document.pointer_mut(place).unwrap() = json!(false);
    }
    for agent in document["capabilitySet"]["agents"].as_array_mut().unwrap() {
        // What was a machine is an agent now.
        let members = agent.as_object_mut().unwrap();
        members
            .entry("modelId")
            .or_insert_with(|| json!("mock/test"));
    }
    let checked = config::parse(&document.to_string()).unwrap().check();
    assert_eq!(checked.refusals, []);
    places.clear();
    pointers(&document, "", &mut places);
    (document, places)
}

/// A short decimal: `serde_json` reads longer ones to the last digit but one.
fn thousandths(number: u32) -> Value {
    json!(f64::from(number) / 1000.0)
}

/// Documents of this build: figures, grants and switches at random.
fn sound() -> impl Strategy<Value = Value> {
    let count = || prop_oneof![1u64..10_000, Just(1u64 << 53)];
    let limits = (
        (
            count(),
            count(),
            prop::option::of(count()),
            prop::option::of(count()),
        ),
        prop::option::of((0u32..=1000, count())),
        prop::option::of(1u32..1_000_000),
        prop::option::of(0u64..100),
    )
        .prop_map(|((parallel, bytes, turns, secs), rate, cost, retries)| {
            let mut limits = json!({ "maxParallel": parallel, "replayMaxBytes": bytes });
            let mut put = |key: &str, value: Option<Value>| {
                if let Some(value) = value {
                    limits[key] = value;
                }
            };
            put("maxTurns", turns.map(Value::from));
            put("maxRuntimeSecs", secs.map(Value::from));
            put("maxErrorRate", rate.map(|rate| thousandths(rate.0)));
            put("errorRateWindow", rate.map(|rate| rate.1.into()));
            put("maxCost", cost.map(thousandths));
            put("maxModelRetries", retries.map(Value::from));
            limits
        });
    let capability = |id: &'static str, rest: fn(u64) -> Value| {
        prop::option::of((any::<bool>(), 1u64..1000)).prop_map(move |chosen| {
            chosen.map(|(enabled, figure)| {
                let mut declared = rest(figure);
                declared["id"] = json!(id);
                declared["enabled"] = json!(enabled);
                declared
            })
        })
    };
    let capabilities = (
        capability(
            "shell",
            |n| json!({ "implementation": "inline", "params": { "maxLines": n, "maxChars": n } }),
        ),
        capability(
            "read-file",
            |n| json!({ "implementation": "unlimited", "params": { "lineCap": n } }),
        ),
        capability("search", |_| json!({ "params": {} })),
        capability("list-dir", |_| json!({ "params": {} })),
    )
        .prop_map(|(a, b, c, d)| [a, b, c, d].into_iter().flatten().collect::<Value>());
    let tools = prop::sample::subsequence(vec!["shell", "read_file", "add_task", "search"], 0..=4);
    (
        limits,
        capabilities,
        tools,
        ".+",
        "[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}",
    )
        .prop_map(|(limits, capabilities, tools, text, slug)| {
            let mut document: Value = serde_json::from_str(SPECIFICATION).unwrap();
            document["prompt"] = json!(text);
            document["sessionId"] = json!(text);
            let set = &mut document["capabilitySet"];
            set["limits"] = limits;
            set["agents"][0]["slug"] = json!(slug);
            set["agents"][0]["capabilities"] = capabilities;
            set["agents"][0]["tools"] = json!(tools);
            document
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_judged_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        drive(&bytes);
    }

    #[test]
    fn any_json_is_judged_without_a_panic(value in value()) {
        drive(value.to_string().as_bytes());
    }

    #[test]
    fn a_document_with_any_value_put_anywhere_is_judged_without_a_panic(
        at in any::<prop::sample::Index>(),
        value in value(),
    ) {
        let (mut document, places) = everything();
        *document.pointer_mut(&places[at.index(places.len())]).unwrap() = value;
        drive(document.to_string().as_bytes());
    }

    #[test]
    fn a_document_with_any_byte_changed_is_judged_without_a_panic(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = EVERYTHING.as_bytes().to_vec();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        drive(&bytes);
    }

    #[test]
    fn what_is_accepted_is_the_typed_document(document in sound()) {
        let text = document.to_string();
        let checked = config::parse(&text).unwrap().check();
        prop_assert_eq!(&checked.refusals, &[]);
        drive(text.as_bytes());
    }

    #[test]
    fn a_sound_document_with_a_key_misspelt_is_refused(
        document in sound(),
        at in any::<prop::sample::Index>(),
    ) {
        let mut places = Vec::new();
        pointers(&document, "", &mut places);
        let objects: Vec<_> = places
            .iter()
            .filter(|place| !place.starts_with("/model"))
            .filter(|place| document.pointer(place).unwrap().is_object())
            .collect();
        let place = *at.get(&objects);
        let mut document = document.clone();
        document.pointer_mut(place).unwrap()["parms"] = json!({});
        let refusals = config::parse(&document.to_string()).unwrap().check().refusals;
        prop_assert_eq!(refusals.len(), 1);
        prop_assert!(refusals[0].locus.ends_with("parms"));
    }
}

/// What chance may miss: one value of each kind, put in every place of a document in turn.
#[test]
fn a_document_with_each_kind_of_value_put_in_each_place_is_judged_without_a_panic() {
    let kinds = [
        json!(null),
        json!(false),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("root"),
        json!([]),
        json!([null]),
        json!([false, false, false]),
        json!([1]),
        json!(["root"]),
        json!([{}]),
        json!({}),
        json!({ "id": null }),
        json!({ "id": "root" }),
    ];
    for (document, places) in [everything(), everything_off()] {
        for place in &places {
            for kind in &kinds {
                let mut document = document.clone();
                *document.pointer_mut(place).unwrap() = kind.clone();
                drive(document.to_string().as_bytes());
            }
        }
    }
}
