//! What is refused, and in which words.

use config::refusal::report;
use serde_json::{Value, json};
use vocab::language::ProgramLanguage;

use crate::common::{EVERYTHING, FAN_OUT, HOOKED, LIVE, MOCK, SPECIFICATION, refusals};

fn spec() -> Value {
    serde_json::from_str(SPECIFICATION).unwrap()
}

/// Refusals of the specification's example with one value changed.
fn with(pointer: &str, value: Value) -> Vec<String> {
    let mut document = spec();
    set(&mut document, pointer, value);
    refusals(&document.to_string())
}

fn set(document: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(members) => {
            members.insert(key.to_owned(), value);
        }
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer} stands in nothing"),
    }
}

#[test]
fn the_example_of_the_specification_and_our_own_pass() {
    for text in [SPECIFICATION, MOCK, HOOKED, LIVE, FAN_OUT] {
        let checked = config::parse(text).unwrap().check();
        assert_eq!(checked.refusals, []);
        assert_eq!(checked.warnings, [""; 0]);
        let typed: config::Launch = serde_json::from_str(text).unwrap();
        assert_eq!(checked.launch, Some(typed));
    }
}

#[test]
fn the_typed_document_answers_what_a_run_asks() {
    use vocab::tools::{ShellMode, ShellPolicy, ToolName};
    let checked = config::parse(SPECIFICATION).unwrap().check();
    let launch = checked.launch.unwrap();
    let root = launch.root();
    assert_eq!(
        root.shell(),
        Some(ShellPolicy {
            mode: ShellMode::Offload,
            max_lines: 120,
            max_chars: 6000
        })
    );
    assert_eq!(root.read(), None);
    assert!(root.offers(ToolName::Shell));
    assert!(!root.offers(ToolName::ReadFile));
    assert!(!launch.sees_images(&root.model_id));
    assert!(launch.sees_images(&"mock/other".into()));
    assert_eq!(
        checked.loose.live_models,
        std::slice::from_ref(&root.model_id)
    );
    assert_eq!(
        checked.loose.workspace_dir.as_deref(),
        Some("/w/demo".as_ref())
    );
}

#[test]
fn fifteen_bad_values_are_fifteen_refusals() {
    let document = config::parse(include_str!("documents/fifteen.json")).unwrap();
    let refusals = document.check().refusals;
    insta::assert_snapshot!(report(&refusals));
    assert_eq!(refusals.len(), 15);
}

#[test]
fn f92_every_limit_at_its_odd_values() {
    const WHOLES: &[&str] = &[
        "maxParallel",
        "replayMaxBytes",
        "maxTurns",
        "maxRuntimeSecs",
        "maxConsecutiveErrors",
        "errorRateWindow",
        "modelCallTimeoutSecs",
        "modelStreamIdleSecs",
        "modelRetryMaxDelaySecs",
        "providerCacheMissLimit",
        "maxAgents",
        "maxModelRetries",
    ];
    let legal = |key: &str, value: &str| {
        matches!(
            (key, value),
            ("maxModelRetries" | "maxErrorRate", "0") | ("maxCost", "1.5")
        )
    };
    for value in ["0", "-1", "1.5", "\"3\"", "1e400", "null"] {
        let keys = WHOLES.iter().chain(&["maxErrorRate", "maxCost"]);
        let members: Vec<_> = keys
            .clone()
            .map(|key| format!("\"{key}\":{value}"))
            .collect();
        let text = spec().to_string().replace(
            &spec()["capabilitySet"]["limits"].to_string(),
            &format!("{{{}}}", members.join(",")),
        );
        let refused = refusals(&text);
        for key in keys.clone() {
            let start = format!("capabilitySet.limits.{key} is {value}; expected a");
            let count = refused
                .iter()
                .filter(|text| text.starts_with(&start))
                .count();
            assert_eq!(
                count,
                usize::from(!legal(key, value)),
                "{key} {value}: {refused:#?}"
            );
        }
        let expected = keys.filter(|key| !legal(key, value)).count();
        assert_eq!(refused.len(), expected, "{value}: {refused:#?}");
    }
}

#[test]
fn an_integral_number_is_the_integer_it_stands_for() {
    let text = SPECIFICATION
        .replace("\"maxTurns\": 80", "\"maxTurns\": 8e1")
        .replace("262144", "262144.0");
    let checked = config::parse(&text).unwrap().check();
    assert_eq!(checked.refusals, []);
    let launch = checked.launch.unwrap();
    assert_eq!(launch.capability_set.limits.max_turns, Some(80));
    assert_eq!(
        serde_json::from_str::<config::Launch>(&text).unwrap(),
        launch
    );
}

/// F117: ten at once.
#[test]
fn ten_unknown_keys_at_ten_levels_are_ten_refusals() {
    let mut document: Value = serde_json::from_str(EVERYTHING).unwrap();
    let before = refusals(&document.to_string()).len();
    for place in [
        "",
        "/capabilitySet",
        "/capabilitySet/limits",
        "/capabilitySet/agents/0",
        "/capabilitySet/agents/0/capabilities/0",
        "/capabilitySet/agents/0/capabilities/0/params",
        "/capabilitySet/agents/0/hooks/0",
        "/capabilitySet/agents/0/hooks/0/action",
        "/capabilitySet/agents/0/subagents/0",
        "/capabilitySet/agents/3/capabilities/0/params/states/0",
        "/modelProviders/acme~1coder-1/0",
    ] {
        let object = document.pointer_mut(place).unwrap();
        object["unheardOf"] = json!(true);
    }
    let refused = refusals(&document.to_string());
    assert_eq!(refused.len(), before + 11);
    let unknown: Vec<_> = refused
        .iter()
        .filter(|text| text.contains("unheardOf is not a known key"))
        .map(String::as_str)
        .collect();
    assert_eq!(unknown.len(), 11);
    insta::assert_snapshot!(unknown.join("\n"));
}

#[test]
fn a_repeated_key_is_refused_at_its_place() {
    let text = SPECIFICATION
        .replace("\"maxTurns\": 80", "\"maxTurns\": 80, \"maxTurns\": 81")
        .replace("\"maxLines\": 120", "\"maxLines\": 120, \"maxLines\": 120")
        .replace(
            "{ \"acme/coder-1\": 262144 }",
            "{ \"acme/coder-1\": 1, \"acme/coder-1\": 2 }",
        )
        .replace(
            "{\n  \"sessionId\"",
            "{ \"prompt\": \"twice\",\n  \"sessionId\"",
        );
    insta::assert_snapshot!(refusals(&text).join("\n"));
}

#[test]
fn an_unreadable_text_is_one_sentence_with_a_place() {
    let deep = "[".repeat(100_000);
    let texts: &[&str] = &[
        "",
        " \n ",
        "[]",
        "\n  17",
        "{",
        "{\"a\": }",
        "{\n  \"日本\": 1,\n  \"b\" 2\n}",
        "{\"a\": 1,}",
        "{\"a\": \"\\ud800\"}",
        "{\"a\": \"tab\there\"}",
        "{} {}",
        "{\"a\": 01}",
        "\u{feff}{}",
        "sessionId: x",
        &deep,
    ];
    let sentences: Vec<_> = texts
        .iter()
        .map(|text| config::parse(text).unwrap_err().to_string())
        .chain([config::parse_bytes(b"{\n\"a\": \"\xff\"}")
            .unwrap_err()
            .to_string()])
        .collect();
    insta::assert_snapshot!(sentences.join("\n"));
}

/// F119.
#[test]
fn long_texts_of_wide_characters_are_cut_on_a_character() {
    for text in ["日本語".repeat(45), "🦀👩‍🚀".repeat(30), "é".repeat(201)] {
        assert!(text.len() >= 400);
        for pointer in [
            "/sessionId",
            "/prompt",
            "/cancelFile",
            "/capabilitySet/preset",
        ] {
            assert_eq!(with(pointer, json!(text)), [""; 0], "{pointer}");
        }
        for pointer in [
            "/workspaceDir",
            "/capabilitySet/agents/0/slug",
            "/capabilitySet/agents/0/tools/0",
            "/capabilitySet/agents/0/capabilities/0/id",
            "/capabilitySet/agents/0/capabilities/0/params/maxLines",
            "/capabilitySet/limits/maxTurns",
        ] {
            let refused = with(pointer, json!(text));
            assert_eq!(refused.len(), 1, "{pointer}: {refused:?}");
            assert!(refused[0].contains('…'), "{refused:?}");
        }
        let mut document = spec();
        document[&text] = json!(1);
        document["modelWindows"][&text] = json!(0);
        assert_eq!(refusals(&document.to_string()).len(), 2);
    }
}

#[test]
fn a_disabled_capability_owes_no_completeness_and_still_refuses_bad_values() {
    let capability = "/capabilitySet/agents/0/capabilities/1";
    assert_eq!(
        with(capability, json!({ "id": "memories", "enabled": false })),
        [""; 0]
    );
    let off = json!({ "id": "memories", "enabled": false, "implementation": "scratch",
        "params": { "maxCount": -1, "scope": "shared" } });
    let refused = with(capability, off).join("\n");
    insta::assert_snapshot!(refused);
    let on = json!({ "id": "memories", "enabled": true, "params": { "maxCount": 1 } });
    insta::assert_snapshot!(with(capability, on).join("\n"));
}

#[test]
fn grants_say_which_list_a_name_belongs_in() {
    let mut document = spec();
    document["capabilitySet"]["agents"][0]["tools"] = json!([
        "shel",
        "files.read_file",
        "approve",
        "transition_state",
        4,
        "add_task"
    ]);
    document["capabilitySet"]["agents"][0]["operations"] = json!([
        "read_file",
        "files.readfile",
        "session.finish",
        "delegation.transition_state"
    ]);
    insta::assert_snapshot!(refusals(&document.to_string()).join("\n"));
}

#[test]
fn references_are_judged_over_the_whole_set() {
    let mut document: Value = serde_json::from_str(EVERYTHING).unwrap();
    let before = refusals(&document.to_string());
    let agents = &mut document["capabilitySet"]["agents"];
    // The root's figures, and a second board and tree that differ.
    agents[0]["subagents"][0]["agentId"] = json!("worke");
    agents[0]["subagents"][1]["scopes"] = json!([]);
    let worker = agents[1]["capabilities"].as_array_mut().unwrap();
    worker.push(json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": 2 } }));
    worker.push(
        json!({ "id": "project-management", "enabled": true, "params":
        { "mergeAgent": "machine", "maxEpics": 50, "maxIssues": 1, "maxRetries": 1 } }),
    );
    worker.push(json!({ "id": "fork", "enabled": true, "params": {} }));
    worker.push(json!({ "id": "exec", "enabled": true, "params": {} }));
    worker.push(json!({ "id": "shell", "enabled": false }));
    worker[4]["implementation"] = json!("memory-compaction");
    worker[3]["params"]["scope"] = json!("read-only");
    worker[5]["params"]["windowLimit"] = json!(4001);
    agents[2]["capabilities"] = json!([{ "id": "fork", "enabled": true, "params": {} }]);
    agents[2]["modelId"] = json!("acme/coder-2");
    agents[3]["customInstructions"] = json!("None.");
    agents[3]["capabilities"][0]["params"]["states"] = json!([
        { "name": "plan", "agent": "machine", "transitions": [
            { "to": "bild", "transfer": ["tasks"] }, { "to": "plan" }, { "to": "plan" }] },
        { "name": "plan", "agent": "worker", "transitions": [{ "to": "build", "transfer": ["archive", "skill"] }] },
        { "name": "build", "agent": "jumper", "transitions": [{ "to": "plan", "transfer": ["tasks"] }] },
    ]);
    let refused: Vec<_> = refusals(&document.to_string())
        .into_iter()
        .filter(|text| !before.contains(text))
        .collect();
    insta::assert_snapshot!(refused.join("\n"));
}

#[test]
fn what_is_legal_and_not_meant_is_a_warning() {
    let mut document: Value = serde_json::from_str(SPECIFICATION).unwrap();
    document["capabilitySet"]["limits"]["maxErrorRate"] = json!(0.5);
    document["capabilitySet"]["limits"]["errorRateWindow"] = json!(80);
    document["capabilitySet"]["agents"][0]["loopDetection"] =
        json!({ "enabled": false, "windowWords": 4, "minOffenders": 5 });
    let checked = config::parse(&document.to_string()).unwrap().check();
    assert_eq!(checked.refusals, []);
    insta::assert_snapshot!(checked.warnings.join("\n"));
}

#[test]
fn older_shapes_say_what_to_write_instead() {
    let mut document = spec();
    document["modelProviders"]["acme/coder-1"] = json!("Acme");
    document["capabilitySet"]["agents"][0]["modelSlot"] = json!("main");
    document["capabilitySet"]["agents"][0]["capabilities"][1]["implementation"] = json!("fast");
    document["capabilitySet"]["hooks"] =
        json!([{ "event": "pre-write", "action": { "type": "command", "command": "true" } }]);
    document["capabilitySet"]["agents"][0]["reasoning"] =
        json!({ "effort": "high", "maxTokens": 100 });
    insta::assert_snapshot!(refusals(&document.to_string()).join("\n"));
}

#[test]
fn a_refused_document_still_gives_what_can_be_read() {
    let document = config::parse(include_str!("documents/fifteen.json")).unwrap();
    assert_eq!(document.session_id(), None);
    let checked = document.check();
    assert_eq!(checked.launch, None);
    assert_eq!(checked.loose.live_models, ["acme/coder-1".into()]);
    assert_eq!(checked.loose.mock_models, ["mock/test".into()]);
    assert_eq!(checked.loose.workspace_dir, None);

    let document = config::parse(EVERYTHING).unwrap();
    assert_eq!(document.session_id(), Some("everything-1"));
    assert_eq!(
        document.check().loose.system_prompts,
        [(
            "agent `root`: systemPrompt".to_owned(),
            "You are an agent.".to_owned()
        )]
    );
    assert_eq!(
        document.check().loose.skill_dirs,
        [config::SkillDir {
            locus: "agent `worker`: capability `skills`: params.dir".to_owned(),
            dir: ".gg/skills".to_owned(),
            language: None,
        }]
    );
    // That of the worker is switched off.
    assert_eq!(
        document.check().loose.languages,
        [(
            "agent `root`: capability `responses-as-code`: params.language".to_owned(),
            ProgramLanguage::Typescript
        )]
    );
    let prices = document.raw("modelPrices").unwrap();
    assert!(EVERYTHING.contains(prices.get()));
    assert!(document.raw("nothing").is_none());
}

#[test]
fn a_roster_s_scopes_are_legal_in_any_mixture() {
    let roster = |scopes: &[&str]| {
        let mut document = spec();
        let root = &mut document["capabilitySet"]["agents"][0];
        root["subagents"] = json!([{ "agentId": "root", "description": "", "scopes": scopes }]);
        root["capabilities"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": 0 } }));
        document["capabilitySet"]["limits"]["maxAgents"] = json!(1);
        refusals(&document.to_string())
    };
    for scopes in [
        &["subagent"][..],
        &["implementer"],
        &["subagent", "reviewer"],
        &["reviewer", "implementer", "subagent"],
    ] {
        assert_eq!(roster(scopes), [""; 0], "{scopes:?}");
    }
}

#[test]
fn a_candidate_stands_in_its_list_once() {
    let at = |provider: &str, quantization: &str| json!({ "provider": provider, "quantization": quantization });
    let list = |list: &[Value]| {
        let mut document = spec();
        document["modelProviders"]["acme/coder-1"] = json!(list);
        refusals(&document.to_string())
    };
    let twice = list(&[at("Z.AI", "fp8"), at("Acme", "fp8"), at("z-ai", "FP8")]);
    assert_eq!(twice.len(), 1, "{twice:?}");
    assert!(
        twice[0].starts_with(
            "modelProviders: model `acme/coder-1`: [2] is \"z-ai\" at \"FP8\" once more"
        ),
        "{twice:?}"
    );
    // Another level of the same provider is another candidate.
    assert_eq!(list(&[at("Acme", "fp8"), at("Acme", "bf16")]), [""; 0]);
}
