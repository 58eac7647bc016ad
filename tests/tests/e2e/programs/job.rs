//! One job done by an agent that calls tools, by agents that write programs in each language, and by
//! trees of both: the workspace is the same to the byte.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use tests::gateway::{Answer, Request};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use super::{ON_FILES, launch, workshop};
use crate::arms::{Arm, Texts, both, coder_of, finish, on_each, submit};
use crate::coders::cast;
use crate::families::{And, DELEGATING, profile, start, subagents, task};

/// The job's parts, each of which a child can do.
const PARTS: usize = 3;

/// The files of the workspace before the job.
const BEFORE: [(&str, &str); 3] = [
    ("src/a.txt", "alpha\r\nTODO: beta\r\n\u{e9} \u{6f22}\n"),
    ("src/b.txt", "TODO one\n\tother"),
    ("notes.md", "\u{feff}TODO: read\r\n"),
];

/// What a part is by calls of tools: each step is given what the calls of the one before answered.
fn by_tools(part: usize) -> Vec<fn(&[String]) -> Answer> {
    match part {
        0 => vec![
            |_| Answer::call("read_file", json!({ "path": "src/a.txt" })),
            |read| {
                Answer::call(
                    "write_file",
                    json!({ "path": "out/copy.txt", "contents": read[0] }),
                )
            },
        ],
        1 => vec![|_| {
            let edit = json!({ "path": "src/b.txt", "oldString": "TODO one", "newString": "d\u{e9}j\u{e0}\r" });
            Answer::call("edit_file", edit)
                .and_call("shell", json!({ "command": "wc -c < src/b.txt > out/count.txt; printf ' \u{e9}' >> src/b.txt" }))
        }],
        _ => vec![
            |_| Answer::call("search", json!({ "query": "TODO:?", "limit": 10 })),
            |found| {
                Answer::call(
                    "write_file",
                    json!({ "path": "out/found.txt", "contents": found[0] }),
                )
            },
        ],
    }
}

/// What a part is by a program.
fn by_program(part: usize) -> Texts {
    match part {
        0 => both(
            r#"files.writeFile("out/copy.txt", files.readTextFile("src/a.txt"));"#,
            r#"files.write_file("out/copy.txt", files.read_text_file("src/a.txt"))"#,
        ),
        1 => both(
            "files.editFile('src/b.txt', 'TODO one', 'd\u{e9}j\u{e0}\\r');\n\
             shell.shell(\"wc -c < src/b.txt > out/count.txt; printf ' \u{e9}' >> src/b.txt\");",
            "files.edit_file('src/b.txt', 'TODO one', 'd\u{e9}j\u{e0}\\r')\n\
             shell.shell(\"wc -c < src/b.txt > out/count.txt; printf ' \u{e9}' >> src/b.txt\")",
        ),
        _ => both(
            r#"
            const found = files.search("TODO:?", { limit: 10 });
            const lines = found.map((match) => `${match.path}:${match.line}: ${match.text}`);
            files.writeFile("out/found.txt", lines.join("\n"));
            "#,
            r#"
            found = files.search("TODO:?", limit=10)
            lines = [f"{match.path}:{match.line}: {match.text}" for match in found]
            files.write_file("out/found.txt", "\n".join(lines))
            "#,
        ),
    }
}

/// The parts one after another, and the end.
fn whole(parts: impl IntoIterator<Item = usize>) -> Texts {
    let ending = both("session.finish('Done.');", "session.finish('Done.')");
    let all = parts.into_iter().map(by_program);
    all.reduce(|all, next| all.and(&next)).unwrap().and(&ending)
}

/// The next step of an agent that does these parts by tools.
fn next_step(parts: impl IntoIterator<Item = usize>, request: &Request) -> Answer {
    let steps: Vec<_> = parts.into_iter().flat_map(by_tools).collect();
    match steps.get(request.turn()) {
        Some(step) => step(&request.results()),
        None => Answer::finish("Done."),
    }
}

/// The part that a child was given.
fn part(request: &Request) -> Option<usize> {
    task(request).strip_prefix("part ")?.parse().ok()
}

/// Every file of a workspace but gg's own, by its path.
fn files(workspace: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![workspace.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(workspace).unwrap().display().to_string();
            if name == ".gg" {
            } else if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

/// Does the job in a workspace of its own; what it then holds.
#[track_caller]
fn done(
    launch: Launch,
    agents: usize,
    answers: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> BTreeMap<String, Vec<u8>> {
    let mut builder = Run::builder()
        .launch(launch)
        .answers(move |request: &Request, _: usize| answers(request));
    for (path, contents) in BEFORE {
        builder = builder.file(path, contents);
    }
    let run = builder.run();
    run.ended(0, "completed");
    assert_eq!(run.summary()["agents"], agents);
    let results = [run.events("tool_result"), run.events("api_result")].concat();
    assert!(results.iter().all(|it| it["ok"] == true), "{results:?}");
    files(run.workspace())
}

/// What an agent that calls tools makes of it, to which all else is held.
fn by_one_that_calls_tools() -> BTreeMap<String, Vec<u8>> {
    done(Launch::live(), 1, |request| next_step(0..PARTS, request))
}

/// A profile that calls tools on files.
fn clerk(slug: &str, more: &[Value], tools: &[&str], roster: &[&str]) -> Value {
    let on_files = ["read_file", "write_file", "edit_file", "search", "shell"];
    let declared = Launch::live();
    let declared = declared.json()["capabilitySet"]["agents"][0]["capabilities"].clone();
    let capabilities = [declared.as_array().unwrap(), more].concat();
    let mut profile = profile(
        slug,
        &capabilities,
        &[&on_files[..], tools].concat(),
        roster,
    );
    profile["modelId"] = json!(MODEL);
    profile
}

#[test]
fn an_agent_that_calls_tools_does_the_job() {
    let files = by_one_that_calls_tools();
    let text = |path: &str| String::from_utf8(files[path].clone()).unwrap();
    assert_eq!(text("out/copy.txt"), BEFORE[0].1);
    assert_eq!(text("src/b.txt"), "d\u{e9}j\u{e0}\r\n\tother \u{e9}");
    assert_eq!(text("out/count.txt").trim(), "14");
    assert_eq!(
        text("out/found.txt"),
        "notes.md:1: TODO: read\nout/copy.txt:2: TODO: beta\nsrc/a.txt:2: TODO: beta"
    );
    assert_eq!(text("notes.md"), BEFORE[2].1);
    assert_eq!(files.len(), 6);
}

#[test]
fn an_agent_that_writes_programs_leaves_the_same_files() {
    let expected = by_one_that_calls_tools();
    on_each(|arm| {
        // In one turn, and a part a turn.
        let at_once = done(launch(arm), 1, move |_| submit(arm, &whole(0..PARTS)));
        assert_eq!(at_once, expected);
        let by_parts = done(launch(arm), 1, move |request| match request.turn() {
            turn if turn < PARTS => submit(arm, &by_program(turn)),
            _ => finish(arm, "Done."),
        });
        assert_eq!(by_parts, expected);
    });
}

#[test]
fn a_root_that_calls_tools_has_it_done_by_programs_of_three_languages() {
    let root = clerk(
        "root",
        &[subagents(1)],
        &DELEGATING,
        &["typescript", "javascript", "python"],
    );
    let children = Arm::ALL
        .iter()
        .map(|arm| coder_of(*arm, arm.as_str(), &workshop(), &ON_FILES, &[]));
    let cast = cast([root].into_iter().chain(children));
    let files = done(cast, 1 + PARTS, |request| match part(request) {
        Some(part) => submit(Arm::ALL[part], &whole([part])),
        None if request.turn() < PARTS => {
            let turn = request.turn();
            start(Arm::ALL[turn].as_str(), &format!("part {turn}"))
                .and_wait(&[&format!("agent-{}", turn + 1)])
        }
        None => Answer::finish("Done."),
    });
    assert_eq!(files, by_one_that_calls_tools());
}

#[test]
fn a_root_that_writes_programs_has_it_done_by_calls_of_tools() {
    let expected = by_one_that_calls_tools();
    on_each(|arm| {
        let delegates = ["delegation.spawn_subagent", "delegation.wait_for_subagents"];
        let root = coder_of(arm, "root", &[subagents(1)], &delegates, &["clerk"]);
        let cast = cast([root, clerk("clerk", &[], &[], &[])]);
        let body = both(
            r#"
            for (let part = 0; part < 3; part += 1) {
              const child = delegation.spawnSubagent("clerk", `part ${part}`);
              delegation.waitForSubagents([child.id]);
            }
            session.finish("Done.");
            "#,
            r#"
            for part in range(3):
                child = delegation.spawn_subagent("clerk", f"part {part}")
                delegation.wait_for_subagents([child.id])
            session.finish("Done.")
            "#,
        );
        let files = done(cast, 1 + PARTS, move |request| match part(request) {
            Some(part) => next_step([part], request),
            None => submit(arm, &body),
        });
        assert_eq!(files, expected);
    });
}
