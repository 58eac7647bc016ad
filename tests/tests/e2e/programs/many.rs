//! Many agents at once, of every arm: none meets anything of another's.

use std::path::Path;

use serde_json::{Value, json};
use tests::gateway::{Answer, Request};
use tests::launch::Launch;
use tests::run::Run;

use super::{ON_FILES, answers, launch, workshop};
use crate::arms::{Arm, Texts, both, coder_of, each, exactly, finish, on_each, submit};
use crate::coders::{cast, code};
use crate::common::wait_for;

/// How many agents work at once, beside the one that waits for them.
const WORKERS: usize = 16;

/// The arm of a worker.
fn arm_of(number: usize) -> Arm {
    Arm::ALL[number % Arm::ALL.len()]
}

/// What is a worker's alone; none is the beginning of another.
fn mark(number: usize) -> String {
    format!("mark-{number:02}-end")
}

/// A worker's first program marks whatever it can mark, and waits until all have; what it then finds
/// of marks is shown, as it is by the next.
fn marking(number: usize) -> [Texts; 2] {
    let look = each(
        r#"
        const names = Object.keys(globalThis).filter((name) => name.startsWith("mark"));
        const open = views.current().map((view) => view.selector);
        views.openText(`seen ${step}`, JSON.stringify({ names, open, mark: "MARK" }));
        "#,
        r#"
        const names = Object.keys(globalThis).filter((name) => name.startsWith("mark"));
        const open = views.current().map((view) => view.selector);
        views.openText(`seen ${step}`, JSON.stringify({ names, open, mark: "MARK" }));
        "#,
        r#"
        import builtins
        names = [name for name in dir(builtins) if name.startswith("mark")]
        open_views = [view.selector for view in views.current()]
        seen = {"names": names, "open": open_views, "mark": "MARK"}
        views.open_text(f"seen {step}", json.dumps(seen))
        "#,
    );
    let first = each(
        r#"
        const step = 1;
        (globalThis as any)["mark_NUMBER"] = "MARK";
        views.openText("MARK", "MARK");
        files.writeFile("marks/NUMBER", "MARK");
        shell.shell("until test -e go; do sleep 0.02; done");
        "#,
        r#"
        const step = 1;
        globalThis["mark_NUMBER"] = "MARK";
        views.openText("MARK", "MARK");
        files.writeFile("marks/NUMBER", "MARK");
        shell.shell("until test -e go; do sleep 0.02; done");
        "#,
        r#"
        import builtins
        step = 1
        builtins.mark_NUMBER = "MARK"
        views.open_text("MARK", "MARK")
        files.write_file("marks/NUMBER", "MARK")
        shell.shell("until test -e go; do sleep 0.02; done")
        "#,
    );
    let second = both("const step = 2;", "step = 2");
    let ending = both(
        r#"session.finish(files.readTextFile("marks/NUMBER"));"#,
        r#"session.finish(files.read_text_file("marks/NUMBER"))"#,
    );
    [first.and(&look), second.and(&look).and(&ending)].map(|text| {
        text.replacing("NUMBER", &number.to_string())
            .replacing("MARK", &mark(number))
    })
}

/// The worker that a request is of.
fn worker(request: &Request) -> Option<usize> {
    let task = request.messages()[1]["content"].to_string();
    let (_, rest) = task.split_once("number ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Threads of a process on which programs run.
pub(super) fn program_threads(pid: u32) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let names = tasks.filter_map(|task| {
        // A thread may end while its name is asked for.
        std::fs::read_to_string(task.ok()?.path().join("comm")).ok()
    });
    names.filter(|name| name.trim() == "gg-program").count()
}

/// Waits until a folder holds so many files.
fn wait_for_files(folder: &Path, count: usize) {
    wait_for(folder);
    while std::fs::read_dir(folder).unwrap().count() < count {
        std::thread::yield_now();
    }
}

#[test]
fn sixteen_agents_of_three_arms_at_once_meet_nothing_of_each_other_s() {
    let starts = json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": 2 } });
    let delegates = ["delegation.spawn_subagent", "delegation.wait_for_subagents"];
    let slugs = ["typescript", "javascript", "python"];
    let root = coder_of(Arm::Typescript, "root", &[starts], &delegates, &slugs);
    let workers = Arm::ALL
        .iter()
        .map(|arm| coder_of(*arm, arm.as_str(), &workshop(), &ON_FILES, &[]));
    let spawning = both(
        &format!(
            r#"
            const arms = ["typescript", "javascript", "python"];
            for (let number = 0; number < {WORKERS}; number += 1) {{
              delegation.spawnSubagent(arms[number % 3]!, `number ${{number}}`);
            }}
            const all = delegation.waitForSubagents();
            session.finish(all.map((one) => one.text).sort().join(" "));
            "#
        ),
        "",
    );
    let running = Run::builder()
        .launch(cast([root].into_iter().chain(workers)).limit("maxParallel", WORKERS))
        .answers(move |request: &Request, _: usize| match worker(request) {
            None => submit(Arm::Typescript, &spawning),
            Some(number) => {
                let bodies = marking(number);
                submit(arm_of(number), &bodies[request.turn().min(1)])
            }
        })
        .start();
    wait_for_files(&running.workspace().join("marks"), WORKERS);
    // One thread a program: those that work, and the one that waits for them.
    assert_eq!(program_threads(running.pid()), WORKERS + 1);
    std::fs::write(running.workspace().join("go"), "").unwrap();
    let run = running.finish();
    run.ended(0, "completed");
    let marks: Vec<String> = (0..WORKERS).map(mark).collect();
    assert_eq!(crate::coders::handed_in(&run), marks.join(" "));
    assert_eq!(run.summary()["codeExecutions"], 1 + 2 * WORKERS);
    assert_eq!(run.summary()["agents"], 1 + WORKERS);
    let requests = run.gateway.as_ref().unwrap().requests();
    let mut looked = 0;
    for request in requests.iter().filter(|it| it.method == "POST") {
        let Some(number) = worker(request) else {
            continue;
        };
        let text = request.text();
        for other in (0..WORKERS).filter(|other| *other != number) {
            assert!(!text.contains(&mark(other)), "{number} sees {other}'s");
        }
        for message in request.messages() {
            let text = tests::gateway::content_text(&message["content"]);
            let Some((head, body)) = text.split_once("\n----\n") else {
                continue;
            };
            let Some(step) = head.strip_prefix("View: seen ") else {
                continue;
            };
            let seen: Value = serde_json::from_str(body).unwrap();
            let own = mark(number);
            let (names, open) = match step {
                "1" => (json!([format!("mark_{number}")]), json!([own])),
                // A program finds nothing of the one before but what its agent holds.
                _ => (json!([]), json!([own, "seen 1"])),
            };
            assert_eq!((&seen["names"], &seen["open"]), (&names, &open), "{number}");
            looked += 1;
        }
    }
    assert_eq!(
        looked, WORKERS,
        "each was asked again behind its first program"
    );
}

#[test]
fn the_mock_model_answers_with_programs() {
    on_each(|arm| {
        let write = each(
            "import { files } from \"gg\";\nfiles.writeFile('a', 'b');",
            "import { files } from \"gg\";\nfiles.writeFile('a', 'b');",
            "import gg\ngg.files.write_file('a', 'b')",
        );
        let end = both(
            "import { session } from \"gg\";\nsession.finish('Done.');",
            "import gg\ngg.session.finish('Done.')",
        );
        let script = json!({ "profiles": { "root": [
            { "program": write.of(arm) }, { "program": end.of(arm) },
        ]}});
        let mut capabilities = workshop();
        capabilities.push(code());
        let document = Launch::mock("script")
            .root("/capabilities", json!(capabilities))
            .in_capability("responses-as-code", "/params/language", arm.as_str())
            .root("/tools", json!([]))
            .root("/operations", json!(ON_FILES))
            .root(
                "/openingTurn",
                json!({ "modules": [], "functions": [], "tree": { "include": false, "depth": 1 } }),
            );
        let run = Run::builder()
            .launch(document)
            .without_credential()
            .mock_script(&script)
            .run();
        run.ended(0, "completed");
        assert_eq!(run.file("a"), "b");
    });
}

#[test]
fn each_request_extends_the_one_before_byte_for_byte() {
    // The gateway holds every request against the one before; here is much for it to hold.
    on_each(|arm| {
        let turn = |turn: usize| -> Answer {
            let body = both(
                r#"
                views.openText("turn TURN", "x".repeat(TURN00));
                files.writeFile("fTURN", "x");
                views.openText("same", "TURN");
                "#,
                r#"
                views.open_text("turn TURN", "x" * TURN00)
                files.write_file("fTURN", "x")
                views.open_text("same", "TURN")
                "#,
            );
            submit(arm, &body.replacing("TURN", &turn.to_string()))
        };
        let run = Run::builder()
            .launch(launch(arm))
            .answers(answers(
                (1..12).map(turn).chain([exactly(""), finish(arm, "Done.")]),
            ))
            .run();
        run.ended(0, "completed");
        assert_eq!(run.events("prefix_broken").len(), 0);
    });
}
