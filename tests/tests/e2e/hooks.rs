//! Hooks that judge: the ten events and what each is told, blocks, insertions, order (01 §8).

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request, content_text};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::{failed, turns};
use crate::windowed::edited;

/// A hook that asks a script.
pub(crate) fn custom(event: &str, source: &str) -> Value {
    json!({ "event": event, "action": { "type": "custom", "source": source } })
}

/// A hook that runs a command.
pub(crate) fn command(event: &str, command: &str) -> Value {
    json!({ "event": event, "action": { "type": "command", "command": command } })
}

fn built_in(event: &str, script: &str) -> Value {
    json!({ "event": event, "action": { "type": "built-in", "script": script } })
}

/// Puts each hook where its event belongs.
pub(crate) fn hooked(launch: Launch, hooks: impl IntoIterator<Item = Value>) -> Launch {
    let is_of_session = |hook: &Value| hook["event"].as_str().unwrap().starts_with("session");
    let (of_run, of_root): (Vec<_>, Vec<_>) = hooks.into_iter().partition(is_of_session);
    launch
        .set("/capabilitySet/hooks", of_run)
        .root("/hooks", of_root)
}

pub(crate) fn with_hooks(hooks: impl IntoIterator<Item = Value>) -> Launch {
    hooked(Launch::live(), hooks)
}

const CONTINUE: &str = r#"echo '{"action":"continue"}'"#;

const BLOCKING: [&str; 3] = ["agent-stop", "pre-write", "pre-shell"];

const EVENTS: [&str; 10] = [
    "session-start",
    "agent-start",
    "pre-write",
    "post-write",
    "pre-shell",
    "post-shell",
    "pre-compact",
    "post-compact",
    "agent-stop",
    "session-end",
];

/// A script that prints a message.
fn says(text: &str) -> String {
    let decision = json!({ "action": "message", "message": text });
    format!("echo '{decision}'")
}

/// A script that blocks.
fn blocks(reason: &str) -> String {
    let decision = json!({ "action": "block", "reason": reason });
    format!("echo '{decision}'")
}

/// What hooks answered, as `event decision`, in order.
pub(crate) fn decisions(run: &Run) -> Vec<String> {
    let text = |hook: &Value, key: &str| hook[key].as_str().unwrap().to_owned();
    run.events("hook")
        .into_iter()
        .map(|hook| format!("{} {}", text(hook, "event"), text(hook, "decision")))
        .collect()
}

/// The texts of the messages of the `n`th request that heads notices.
fn notices(run: &Run, n: usize) -> Vec<String> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let messages = requests[n].messages();
    let texts = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| content_text(&message["content"]));
    texts
        .filter_map(|text| text.strip_prefix("Notice\n----\n").map(str::to_owned))
        .collect()
}

/// A session that meets all ten events, with the hooks it is given.
fn whole_session(hooks: impl IntoIterator<Item = Value>) -> Run {
    let compaction = json!({
        "id": "compaction", "enabled": true, "implementation": "self-compaction",
        "params": { "summaryHeadroom": 0.2 },
    });
    Run::builder()
        .launch(hooked(
            Launch::live().granting(compaction, &["compact"]),
            hooks,
        ))
        .gateway(Gateway::with_checker(
            Some(edited()),
            |_: &Request, n: usize| match n {
                0 => Answer::call(
                    "write_file",
                    json!({ "path": "sub/../a.txt", "contents": "one two\n" }),
                ),
                1 => Answer::call(
                    "edit_file",
                    json!({ "path": "a.txt", "oldString": "two", "newString": "2" }),
                ),
                2 => Answer::shell("echo out; exit 3"),
                3 => Answer::call("compact", json!({ "summary": "So far.", "files": [] })),
                _ => Answer::finish("Done."),
            },
        ))
        .run()
}

#[test]
fn ten_events_fire_in_their_places_and_tell_scripts_what_happens() {
    let source = format!("printf '%s\\n' \"$1\" >> told.ndjson\n{CONTINUE}");
    let run = whole_session(EVENTS.map(|event| custom(event, &source)));
    run.ended(0, "completed");
    let told: Vec<Value> = run
        .file("told.ndjson")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let root = run.workspace().canonicalize().unwrap();
    let path = root.join("a.txt").display().to_string();
    let of = |event: &str, more: Value| {
        let mut payload = json!({
            "event": event, "agentId": "root", "agent": "root", "agentKind": "root",
            "worktree": null,
        });
        let more = more.as_object().unwrap().clone();
        payload.as_object_mut().unwrap().extend(more);
        payload
    };
    let written = "one two\n";
    let edited = "one 2\n";
    let write = |contents: &str| json!({ "path": path, "contents": contents });
    let wrote = |contents: &str| json!({ "path": path, "contents": contents, "ok": true });
    let line = "echo out; exit 3";
    assert_eq!(
        told,
        [
            of("session-start", json!({})),
            of("agent-start", json!({})),
            of("pre-write", write(written)),
            of("post-write", wrote(written)),
            of("pre-write", write(edited)),
            of("post-write", wrote(edited)),
            of("pre-shell", json!({ "command": line })),
            of("post-shell", json!({ "command": line, "ok": false })),
            of("pre-compact", json!({ "strategy": "self-compaction" })),
            of("post-compact", json!({ "strategy": "self-compaction" })),
            of("agent-stop", json!({ "call": "finish" })),
            of("session-end", json!({ "status": "completed" })),
        ]
    );
    assert_eq!(run.summary()["hooksRun"], 12);
    assert_eq!(run.summary()["hooksBlocked"], 0);
    crate::kill9::agrees(&run);
}

#[test]
fn eight_events_insert_and_two_cannot() {
    let run = whole_session(EVENTS.map(|event| custom(event, &says(event))));
    run.ended(0, "completed");
    assert_eq!(
        notices(&run, 3),
        [
            "session-start",
            "agent-start",
            "pre-write",
            "post-write",
            "pre-write",
            "post-write",
            "pre-shell",
            "post-shell",
        ]
    );
    // Of those, what stood before the compaction is gone; what stands behind it is pinned.
    assert_eq!(notices(&run, 4), ["post-compact"]);
    let journal = run.journal_lines();
    let frames = journal.iter().rfind(|line| line["kind"] == "prompt_frame");
    let rows = frames.unwrap()["push"].as_array().unwrap();
    let pinned = rows.iter().filter(|row| row["survives"] == true).count();
    assert_eq!(pinned, 1, "{rows:?}");
    let warned: Vec<&str> = run
        .logs("warn")
        .into_iter()
        .filter(|log| log.contains("nothing to tell"))
        .collect();
    assert_eq!(warned.len(), 2, "{warned:?}");
    assert!(warned[0].contains("pre-compact") && warned[1].contains("session-end"));
}

#[test]
fn three_events_block_and_the_others_go_on() {
    let mut events = EVENTS.to_vec();
    events.retain(|event| !BLOCKING.contains(event));
    let run = whole_session(events.iter().map(|event| custom(event, &blocks("no"))));
    run.ended(0, "completed");
    assert_eq!(run.file("a.txt"), "one 2\n");
    assert_eq!(run.summary()["hooksBlocked"], 0);
    let ignored = run.logs("warn").into_iter();
    let ignored = ignored.filter(|log| log.contains("it is ignored: no"));
    // Each fires once, `post-write` twice.
    assert_eq!(ignored.count(), 8);
}

#[test]
fn a_blocked_write_leaves_the_file_and_refuses_the_call_with_the_reason() {
    let run = Run::builder()
        .file("a.txt", "as it was")
        .launch(with_hooks([
            custom("pre-write", &says("first")),
            custom("pre-write", &blocks("the file is frozen")),
            custom("pre-write", &says("never")),
            custom("post-write", &says("never")),
        ]))
        .answers(turns([Answer::call(
            "write_file",
            json!({ "path": "a.txt", "contents": "x" }),
        )
        .and_call(
            "edit_file",
            json!({ "path": "a.txt", "oldString": "was", "newString": "is" }),
        )
        .and_call("write_file", json!({ "path": "", "contents": "x" }))]))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.file("a.txt"), "as it was");
    let results = run.events("tool_result");
    for result in &results[..2] {
        failed(&run, result, "refused", &["the file is frozen"]);
    }
    // A write that cannot be is none: nobody is asked.
    failed(&run, results[2], "invalid-argument", &[]);
    assert_eq!(
        decisions(&run),
        ["pre-write message", "pre-write block"].repeat(2)
    );
    // Behind all three results, in order.
    assert_eq!(notices(&run, 1), ["first", "first"]);
    assert_eq!(run.summary()["hooksBlocked"], 2);
}

#[test]
fn a_blocked_command_does_not_run() {
    let run = Run::builder()
        .launch(with_hooks([
            command("pre-shell", "echo not here; exit 9"),
            command("post-shell", "echo never"),
        ]))
        .answers(turns([Answer::shell("touch ran")]))
        .run();
    run.ended(0, "completed");
    assert!(!run.workspace().join("ran").exists());
    failed(
        &run,
        run.results("shell")[0],
        "refused",
        &["exit code 9", "not here"],
    );
    assert_eq!(decisions(&run), ["pre-shell block"]);
    // The hook's own command is recorded as such, and the blocked one is not.
    let commands = run.events("shell");
    assert_eq!(commands.len(), 1);
    assert_eq!(commands[0]["origin"], "hook");
    assert_eq!(commands[0]["exitCode"], 9);
}

#[test]
fn a_command_runs_where_it_is_told_without_input_and_its_output_is_inserted() {
    let mut inside = command("agent-start", "pwd; cat; echo \"run $GG_RUN\" | cut -c1-4");
    inside["action"]["cwd"] = json!("sub");
    let mut long = command("agent-start", "seq 1 1000");
    long["action"]["output"] = json!("inline");
    let run = Run::builder()
        .file("sub/x", "")
        .launch(with_hooks([
            inside,
            long,
            command("agent-start", "seq 1 1000"),
        ]))
        .answers(turns([]))
        .run();
    run.ended(0, "completed");
    let notices = notices(&run, 0);
    let sub = run.workspace().canonicalize().unwrap().join("sub");
    assert_eq!(notices[0], format!("{}\nrun", sub.display()));
    assert_eq!(notices[1].lines().count(), 1000);
    // Without a mode of its own, the agent's: 250 lines and where the rest is.
    assert!(
        notices[2].contains("[Output truncated: last 250 lines"),
        "{}",
        notices[2]
    );
    let cwds: Vec<_> = run.events("shell").iter().map(|it| &it["cwd"]).collect();
    assert_eq!(cwds, ["sub", ".", "."]);
}

#[test]
fn built_in_hooks_guard_writes_and_commands_and_trace() {
    let run = Run::builder()
        .launch(with_hooks([
            built_in("pre-write", "refuse-empty-write"),
            built_in("pre-shell", "guard-destructive-shell"),
            built_in("post-shell", "trace"),
        ]))
        .answers(turns([
            Answer::call("write_file", json!({ "path": "a", "contents": " \n" })),
            Answer::shell("cd / && rm -rf 'no such folder of mine'"),
            Answer::shell("git \"push\" nowhere"),
            Answer::shell("echo fine"),
        ]))
        .run();
    run.ended(0, "completed");
    let results = run.events("tool_result");
    failed(&run, results[0], "refused", &["would be empty"]);
    failed(&run, results[1], "refused", &["outside the workspace"]);
    failed(&run, results[2], "refused", &["git push"]);
    assert_eq!(results[3]["ok"], true);
    let traces = notices(&run, 4);
    let trace: Value = serde_json::from_str(&traces[0]).unwrap();
    assert_eq!(
        (&trace["command"], &trace["ok"]),
        (&json!("echo fine"), &json!(true))
    );
    let names: Vec<_> = run.events("hook").iter().map(|it| &it["name"]).collect();
    assert_eq!(
        names,
        [
            "refuse-empty-write",
            "guard-destructive-shell",
            "guard-destructive-shell",
            "guard-destructive-shell",
            "trace"
        ]
    );
}

#[test]
fn a_script_is_read_by_the_interpreter_it_names() {
    let python = "#!/usr/bin/env python3\nimport json, sys\npayload = json.loads(sys.argv[1])\n\
                  print(json.dumps({'action': 'message', 'message': payload['event'] + ' seen'}))";
    let run = Run::builder()
        .launch(with_hooks([
            custom("agent-start", python),
            custom(
                "agent-start",
                &format!("test -t 0 || read x || {}", says("no input")),
            ),
        ]))
        .answers(turns([]))
        .run();
    run.ended(0, "completed");
    assert_eq!(notices(&run, 0), ["agent-start seen", "no input"]);
    let script = run.workspace().join(".gg/hooks/agents/root/0-agent-start");
    assert!(script.is_file());
}

#[test]
fn contents_too_long_for_an_argument_are_in_a_file() {
    let source = "#!/usr/bin/env python3\nimport json, sys\np = json.loads(sys.argv[1])\n\
                  assert p['contents'] is None\ntext = open(p['contentsFile']).read()\n\
                  print(json.dumps({'action': 'message', 'message': str(len(text))}))";
    let long = "x\n".repeat(200_000);
    let run = Run::builder()
        .launch(with_hooks([custom("pre-write", source)]))
        .answers(turns([Answer::call(
            "write_file",
            json!({ "path": "a", "contents": long }),
        )]))
        .run();
    run.ended(0, "completed");
    assert_eq!(notices(&run, 1), ["400000"]);
    assert_eq!(run.file("a"), long);
}

#[test]
fn f97_megabytes_before_a_verdict_and_two_verdicts_follow_the_last_line() {
    let run = Run::builder()
        .launch(with_hooks([
            custom(
                "pre-shell",
                &format!(
                    "head -c 5000000 /dev/zero | tr '\\0' 'x'; echo; {}",
                    says("five")
                ),
            ),
            custom(
                "pre-shell",
                &format!("yes line | head -c 5000000; {}", says("many")),
            ),
            custom(
                "pre-shell",
                &format!("{}; {}", blocks("no"), says("the last")),
            ),
            custom(
                "pre-shell",
                &format!("{CONTINUE}; echo; {}; echo; echo '  '", blocks("after all")),
            ),
        ]))
        .answers(turns([Answer::shell("touch ran")]))
        .run();
    run.ended(0, "completed");
    assert!(!run.workspace().join("ran").exists());
    failed(&run, run.results("shell")[0], "refused", &["after all"]);
    assert_eq!(notices(&run, 1), ["five", "many", "the last"]);
}

#[test]
fn an_edit_that_a_hook_changes_the_ground_under_is_not_applied() {
    let run = Run::builder()
        .file("a.txt", "one\n")
        .launch(with_hooks([custom(
            "pre-write",
            &format!("echo one more >> a.txt; {CONTINUE}"),
        )]))
        .answers(turns([Answer::call(
            "edit_file",
            json!({ "path": "a.txt", "oldString": "one\n", "newString": "two\n" }),
        )]))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.file("a.txt"), "one\none more\n");
    failed(
        &run,
        run.results("edit_file")[0],
        "conflict",
        &["changed while"],
    );
}

#[test]
fn f96_a_write_of_an_edit_is_seen_whole() {
    let run = Run::builder()
        .file("a.txt", "one two three\n")
        .launch(with_hooks([custom(
            "pre-write",
            &format!("printf '%s' \"$1\" > seen.json; {CONTINUE}"),
        )]))
        .answers(turns([Answer::call(
            "edit_file",
            json!({ "path": "a.txt", "oldString": "two", "newString": "2" }),
        )]))
        .run();
    run.ended(0, "completed");
    let seen: Value = serde_json::from_str(&run.file("seen.json")).unwrap();
    assert_eq!(seen["contents"], "one 2 three\n");
}

#[test]
fn without_hooks_no_request_and_no_event_is_different() {
    let session = |launch: Launch| {
        Run::builder()
            .launch(launch)
            .answers(turns([
                Answer::text("Both.")
                    .and_call_as("call_1", "write_file", r#"{"path":"a","contents":"x"}"#)
                    .and_call_as("call_2", "shell", r#"{"command":"cat a"}"#),
                Answer::text("One.").and_call_as("call_3", "shell", r#"{"command":"echo b"}"#),
            ]))
            .run()
    };
    let bodies = |run: &Run| {
        let requests = run.gateway.as_ref().unwrap().requests();
        requests
            .iter()
            .map(|request| {
                let mut body = request.json();
                for key in ["session_id", "prompt_cache_key"] {
                    body[key] = Value::Null;
                }
                body.to_string()
            })
            .collect::<Vec<_>>()
    };
    let kinds = |run: &Run| {
        let lines = run.lines.iter();
        lines.map(|line| line["type"].clone()).collect::<Vec<_>>()
    };
    let plain = session(Launch::live());
    // Those that have nothing to say change nothing a model sees.
    let silent = EVENTS.map(|event| command(event, "true"));
    let hooked = session(with_hooks(silent));
    assert_eq!(bodies(&plain), bodies(&hooked));
    assert_eq!(kinds(&plain), kinds(&session(Launch::live())));
    assert!(plain.events("hook").is_empty());
    assert_eq!(hooked.events("hook").len(), 10);
    assert!(!plain.workspace().join(".gg/hooks").exists());
}

#[test]
fn the_example_with_hooks_runs() {
    let text = include_str!("../../../examples/hooked-session.json");
    let builder = Run::builder();
    let workspace = builder.workspace().display().to_string();
    let run = builder
        .document(text.replace("/path/to/workspace", &workspace))
        .run();
    run.ended(0, "completed");
    let told: Value = serde_json::from_str(&run.file(".gg/endings.ndjson")).unwrap();
    assert_eq!(told["call"], "finish");
    assert!(run.workspace().join(".gg/ended").is_file());
}
