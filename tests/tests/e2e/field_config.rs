//! F117, F119 and the document with fifteen bad values.

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request};
use tests::launch::Launch;
use tests::run::{Run, gg};

use crate::common::turns;

/// Starts a document that must be refused; no request may come.
#[track_caller]
fn refused(document: impl Into<Vec<u8>>) -> Run {
    let run = Run::builder()
        .document(document)
        .gateway(Gateway::start(|_: &Request, _| Answer::finish("never")))
        .run();
    run.ended(1, "launch_refused");
    assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 0);
    run
}

/// A good document for a workspace that is there.
fn good() -> Launch {
    Launch::live().set("/workspaceDir", std::env::temp_dir().display().to_string())
}

/// Every level of a document, by a document in which it stands and a pointer to it.
fn levels() -> Vec<(&'static str, Launch)> {
    let hook = json!({
        "event": "agent-stop", "name": "h",
        "action": { "type": "command", "command": "true" },
    });
    let states = json!({
        "id": "fsm", "enabled": false,
        "params": { "states": [{ "name": "a", "agent": "root", "on": [] }] },
    });
    let roster = json!([{ "agentId": "root", "description": "d", "scopes": ["subagent"] }]);
    let agent = "/capabilitySet/agents/0";
    [
        ("document", good(), String::new()),
        ("set", good(), "/capabilitySet".into()),
        ("limits", good(), "/capabilitySet/limits".into()),
        ("profile", good(), agent.into()),
        ("capability", good(), format!("{agent}/capabilities/0")),
        ("params", good(), format!("{agent}/capabilities/0/params")),
        (
            "hook",
            good().root("/hooks", json!([hook.clone()])),
            format!("{agent}/hooks/0"),
        ),
        (
            "action",
            good().root("/hooks", json!([hook])),
            format!("{agent}/hooks/0/action"),
        ),
        (
            "roster entry",
            good().root("/subagents", roster),
            format!("{agent}/subagents/0"),
        ),
        (
            "state",
            good().root("/capabilities/6", states),
            format!("{agent}/capabilities/6/params/states/0"),
        ),
        (
            "candidate",
            good().set(
                "/modelProviders",
                json!({ "acme/coder-1": [
                    { "provider": "Acme", "quantization": "fp8", "oddKey": 1 },
                ]}),
            ),
            "-".into(),
        ),
    ]
    .into_iter()
    .map(|(level, launch, place)| {
        let launch = if place == "-" {
            launch
        } else {
            launch.set(&format!("{place}/oddKey"), 1)
        };
        (level, launch)
    })
    .collect()
}

#[test]
fn f117_an_unknown_key_refuses_at_any_level() {
    for (level, launch) in levels() {
        let run = refused(launch.json().to_string());
        let named: Vec<&str> = run
            .logs("error")
            .into_iter()
            .filter(|message| message.contains("oddKey"))
            .collect();
        assert_eq!(named.len(), 1, "{level}\n{}", run.describe());
    }
}

#[test]
fn f117_all_unknown_keys_stand_in_one_refusal() {
    let mut all = good().json().clone();
    for (_, launch) in levels() {
        merge(&mut all, launch.json());
    }
    let run = refused(all.to_string());
    let named = run
        .logs("error")
        .into_iter()
        .filter(|message| message.contains("oddKey"))
        .count();
    assert_eq!(named, levels().len(), "{}", run.describe());
}

/// Adds to one document whatever another has beside it.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(from)) => {
            into.resize(into.len().max(from.len()), Value::Null);
            for (into, from) in into.iter_mut().zip(from) {
                merge(into, from);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// What is wrong, where it is said to be, and what the sentence must hold.
const FIFTEEN: [(&str, &str); 15] = [
    ("/oddKey", "oddKey"),
    ("/prompt", "prompt"),
    ("/workspaceDir", "workspaceDir"),
    ("/modelWindows/acme~coder", "modelWindows"),
    ("/modelProviders/acme~coder/0/provider", "modelProviders"),
    ("/capabilitySet/limits/maxParallel", "maxParallel"),
    ("/capabilitySet/limits/replayMaxBytes", "replayMaxBytes"),
    ("/capabilitySet/limits/maxTurns", "maxTurns"),
    ("/capabilitySet/limits/maxCost", "maxCost"),
    (
        "/capabilitySet/limits/maxConsecutiveErrors",
        "maxConsecutiveErrors",
    ),
    ("shell implementation", "offlod"),
    ("shell maxLines", "maxLines"),
    ("read-file lineCap", "lineCap"),
    ("tools", "reed_file"),
    ("capability id", "serch"),
];

/// The document; the huge number is written as text, since no number type holds it.
fn fifteen_faults() -> String {
    let mut launch = good()
        .set("/oddKey", 1)
        .set("/prompt", "")
        .set("/workspaceDir", "not/absolute")
        .set("/modelWindows", json!({ "acme/coder-1": 0 }))
        .set(
            "/modelProviders",
            json!({ "acme/coder-1": [{ "provider": " ", "quantization": "fp8" }] }),
        )
        .limit("maxParallel", 0)
        .limit("replayMaxBytes", "many")
        .limit("maxTurns", -1)
        .limit("maxCost", "HUGE")
        .limit("maxConsecutiveErrors", 1.5)
        .in_capability("shell", "/implementation", "offlod")
        .in_capability("shell", "/params/maxLines", "many")
        .in_capability("read-file", "/params/lineCap", 0)
        .root(
            "/tools",
            json!(["shell", "reed_file", "write_file", "edit_file", "list_dir"]),
        );
    launch = launch.in_capability("search", "/id", "serch");
    launch.json().to_string().replace("\"HUGE\"", "1e400")
}

#[test]
fn fifteen_bad_values_are_named_in_one_refusal() {
    let run = refused(fifteen_faults());
    let refusals: Vec<&str> = run
        .events("log")
        .into_iter()
        .filter(|log| log["code"] == "refusal")
        .filter_map(|log| log["message"].as_str())
        .collect();
    for (place, word) in FIFTEEN {
        assert!(
            refusals.iter().any(|refusal| refusal.contains(word)),
            "{place}: {word} is in none of {refusals:#?}"
        );
        assert!(run.stderr.contains(word), "{word} is not on stderr");
    }
    assert_eq!(refusals.len(), 15, "{refusals:#?}");
    // Nearest known names.
    for near in ["offload", "read_file", "search"] {
        assert!(run.stderr.contains(near), "{near}: {}", run.stderr);
    }
    assert!(!run.workspace().join(".gg").exists());
}

#[test]
fn checking_a_document_says_what_running_it_would() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("launch.json");
    std::fs::write(&path, fifteen_faults()).unwrap();
    let output = gg(["check".as_ref(), path.as_os_str()]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    for (place, word) in FIFTEEN {
        assert!(text.contains(word), "{place}: {word} is not in\n{text}");
    }
    std::fs::write(&path, good().json().to_string()).unwrap();
    let output = gg(["check".as_ref(), path.as_os_str()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_key_written_twice_refuses() {
    let text = good().json().to_string();
    let twice = text.replacen(
        "\"maxParallel\":4",
        "\"maxParallel\":4,\"maxParallel\":5",
        1,
    );
    assert_ne!(text, twice);
    let run = refused(twice);
    assert!(run.stderr.contains("maxParallel"), "{}", run.stderr);
}

/// A text of wide characters, at least `bytes` long, with every kind of width in it.
fn wide(bytes: usize) -> String {
    "界🔑é".chars().cycle().take(bytes / 3 + 1).collect()
}

#[test]
fn f119_long_texts_are_cut_on_characters_everywhere() {
    // Previews hold 160, 500, 2,048 and 16,384 characters.
    for chars in [400, 161, 501, 2_049, 16_385] {
        let text: String = wide(3 * chars).chars().take(chars).collect();
        // 240 bytes: as long as a file's name may be, nearly.
        let name: String = text.chars().take(80).collect();
        let run = Run::builder()
            .with(|launch| {
                launch
                    .set("/sessionId", text.clone())
                    .set("/prompt", text.clone())
                    .root("/name", text.clone())
            })
            .answers(turns([
                Answer::call("write_file", json!({ "path": name, "contents": text })),
                Answer::call("write_file", json!({ "path": text, "contents": "x" })),
                Answer::call("read_file", json!({ "path": name })),
                Answer::shell(&format!("printf %s '{text}'")),
                Answer::call(&text, json!({})),
                Answer::finish(&text),
            ]))
            .run();
        // That every line is UTF-8 JSON is checked after every run.
        run.ended(0, "completed");
        assert_eq!(run.lines[0]["sessionId"], text.as_str());
        assert_eq!(run.file(&name), text);
        for result in run.events("tool_result") {
            let preview = result["preview"].as_str().unwrap();
            assert!(preview.chars().count() <= 2_048);
            assert!(!preview.contains('\u{FFFD}'), "{preview}");
        }
        let shell = run.event("shell");
        let stdout = shell["stdout"].as_str().unwrap();
        assert!(text.ends_with(stdout));
        assert_eq!(stdout.chars().count(), chars.min(16_384));
        if chars > 16_384 {
            assert_eq!(shell["stdoutDropped"], 1);
        }
    }
}
