//! Memories across agents: who holds which store, who is told of a write, and what is not rebuilt
//! for it (02 §9.4, §9.5; R5).
//!
//! Agents take turns here by waiting for each other, so that every boundary is where it is said.

use serde_json::{Value, json};
use tests::gateway::{Answer, Gate, Reply, Request, Step};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::failed;
use crate::families::{And, DELEGATING, profile, start, subagents, task, wait};
use crate::memories::{memories, tools};

/// The words every notice begins with.
const NOTICE: &str = "Another agent that shares your memories";
const BLOCK: &str = "# Your memories";

/// A root whose workers keep memories too, each side in its own scope.
fn launch(strategy: &str, root: &str, worker: &str) -> Launch {
    let agent = |slug: &str, scope: &str| {
        let mut keeping = memories(strategy);
        keeping["params"]["scope"] = json!(scope);
        let listing = json!({ "id": "list-dir", "enabled": true, "params": {} });
        let calls = [tools(strategy), &["list_dir"], &DELEGATING].concat();
        profile(slug, &[keeping, listing, subagents(1)], &calls, &["worker"])
    };
    Launch::live().set(
        "/capabilitySet/agents",
        json!([agent("root", root), agent("worker", worker)]),
    )
}

fn memory(name: &str, body: &str) -> Value {
    json!({ "name": name, "description": format!("about {name}"), "body": body })
}

fn create(name: &str) -> Answer {
    Answer::call("create_memory", memory(name, "first"))
}

fn edit(name: &str) -> Answer {
    Answer::call(
        "edit_memory",
        json!({ "name": name, "oldString": "first", "newString": "second" }),
    )
}

/// Plays each agent's turns by its task, the root's under `root`; past them it finishes.
fn play(launch: Launch, scripts: &[(&str, Vec<Answer>)]) -> Run {
    let scripts: Vec<(String, Vec<Answer>)> = scripts
        .iter()
        .map(|(task, turns)| ((*task).to_owned(), turns.clone()))
        .collect();
    Run::builder()
        .launch(launch)
        .answers(move |request: &Request, _| {
            let task = task(request);
            let of = |(whose, _): &&(String, Vec<Answer>)| *whose == task;
            let (_, turns) = scripts.iter().find(of).unwrap_or(&scripts[0]);
            let turn = turns.get(request.turn()).cloned();
            turn.unwrap_or_else(|| Answer::finish("Done."))
        })
        .run()
}

/// What an agent was told in a band, in order, where it begins with some words.
fn told<'a>(run: &'a Run, agent: &str, words: &str) -> Vec<&'a str> {
    run.events("context_message")
        .into_iter()
        .filter(|message| message["agentId"] == agent)
        .filter_map(|message| message["content"].as_str())
        .filter(|text| text.starts_with(words))
        .collect()
}

/// The row of an agent's memories.
#[track_caller]
fn held(run: &Run, agent: &str) -> Value {
    let modules = run.events("agent_modules").into_iter();
    let mut modules = modules.filter(|event| event["agentId"] == agent);
    let rows = modules.next().unwrap()["modules"].as_array().unwrap();
    let row = rows.iter().find(|row| row["kind"] == "memories");
    row.unwrap().clone()
}

/// How many memories an agent's store held, each time it was told of.
fn counts(run: &Run, agent: &str) -> Vec<u64> {
    run.events("memory_state")
        .into_iter()
        .filter(|state| state["agentId"] == agent)
        .filter_map(|state| state["totals"]["count"].as_u64())
        .collect()
}

#[test]
fn what_a_child_writes_is_told_to_its_parent_whose_block_waits_for_its_own_write() {
    let run = play(
        launch("markdown", "isolated", "inherited"),
        &[
            (
                "root",
                vec![
                    create("own"),
                    start("worker", "One.").and_wait(&[]),
                    Answer::call("list_dir", json!({})),
                    start("worker", "Two.").and_wait(&[]),
                    create("later"),
                    Answer::call("list_dir", json!({})),
                ],
            ),
            (
                "One.",
                vec![
                    create("theirs").and_call("create_memory", memory("passing", "first")),
                    Answer::call("read_memory", json!({ "name": "own" })),
                ],
            ),
            (
                "Two.",
                vec![
                    edit("theirs").and_call("delete_memory", json!({ "name": "passing" })),
                    create("gone").and_call("delete_memory", json!({ "name": "gone" })),
                ],
            ),
        ],
    );
    run.ended(0, "completed");
    let notices = told(&run, "root", NOTICE);
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(
        notices[0].contains("- added `passing` — about passing\n- added `theirs` — about theirs")
    );
    assert!(
        notices[0].ends_with("`read_memory` shows what one says now."),
        "{notices:?}"
    );
    assert!(notices[1].contains("- deleted `passing`\n- updated `theirs` — about theirs"));
    // What nobody else ever knew of is told to nobody.
    assert!(!notices[1].contains("`gone`"), "{notices:?}");

    // One block a write of its own, each as the store then was.
    let blocks = told(&run, "root", BLOCK);
    assert_eq!(blocks.len(), 2, "{blocks:?}");
    assert!(blocks[0].contains("`own`") && !blocks[0].contains("`theirs`"));
    assert!(blocks[1].contains("`later`") && blocks[1].contains("`theirs`"));
    assert!(!blocks[1].contains("`passing`"));

    // A child comes upon the store as it is: nobody tells it of what was there.
    assert_eq!(told(&run, "agent-1", NOTICE), [""; 0]);
    assert!(told(&run, "agent-1", BLOCK)[0].contains("`own`"));
    assert!(told(&run, "agent-2", BLOCK)[0].contains("`theirs`"));
    let (root, child) = (held(&run, "root"), held(&run, "agent-1"));
    assert_eq!(
        (&root["origin"], &child["origin"], &child["scope"]),
        (&json!("created"), &json!("inherited"), &json!("inherited"))
    );
    assert_eq!(root["store"], child["store"]);

    // A revision is its writer's; a snapshot follows whoever wrote.
    let revised: Vec<_> = run
        .events("memory_revision")
        .into_iter()
        .map(|line| [&line["agentId"], &line["slug"]].map(|it| it.as_str().unwrap()))
        .collect();
    assert_eq!(
        revised,
        [
            ["root", "own"],
            ["agent-1", "theirs"],
            ["agent-1", "passing"],
            ["agent-2", "theirs"],
            ["agent-2", "passing"],
            ["agent-2", "gone"],
            ["agent-2", "gone"],
            ["root", "later"],
        ]
    );
    assert_eq!(counts(&run, "root"), [0, 1, 3, 2, 3]);
}

#[test]
fn under_a_scratchpad_a_notice_carries_the_bodies_and_searched_memories_have_no_block() {
    for strategy in ["scratchpad", "keyword-search"] {
        let write = tools(strategy)[0];
        let run = play(
            launch(strategy, "isolated", "inherited"),
            &[
                ("root", vec![start("worker", "One.").and_wait(&[])]),
                (
                    "One.",
                    vec![Answer::call(write, memory("theirs", "first\nsecond"))],
                ),
            ],
        );
        run.ended(0, "completed");
        let notices = told(&run, "root", NOTICE);
        assert_eq!(notices.len(), 1, "{strategy}");
        let bodies = notices[0].contains("first\n  second");
        assert_eq!(bodies, strategy == "scratchpad", "{notices:?}");
        assert_eq!(notices[0].contains("read_memory"), !bodies, "{notices:?}");
        assert_eq!(told(&run, "root", BLOCK), [""; 0], "{strategy}");
    }
}

#[test]
fn a_read_only_holder_reads_and_is_told_and_cannot_write() {
    // The child's second turn waits until the root has written.
    let written = Gate::new();
    let opener = written.clone();
    let run = Run::builder()
        .launch(launch("markdown", "isolated", "read-only"))
        .answers(move |request: &Request, _| -> Reply {
            match (task(request).as_str(), request.turn()) {
                ("Look.", 0) => Answer::call("create_memory", memory("mine", "first"))
                    .and_call("read_memory", json!({ "name": "own" }))
                    .into(),
                ("Look.", 1) => Reply::from(Answer::call("read_memory", json!({ "name": "own" })))
                    .insert(0, Step::Hold(written.clone())),
                ("Look.", 2) => Answer::call("read_memory", json!({ "name": "later" })).into(),
                ("Look.", _) => Answer::finish("Seen.").into(),
                (_, 0) => create("own").into(),
                (_, 1) => start("worker", "Look.").into(),
                (_, 2) => create("later").into(),
                (_, 3) => {
                    opener.open();
                    wait(&[]).into()
                }
                _ => Answer::finish("Done.").into(),
            }
        })
        .run();
    run.ended(0, "completed");
    let child = held(&run, "agent-1");
    assert_eq!(
        (&child["scope"], &child["origin"]),
        (&json!("read-only"), &json!("inherited"))
    );
    assert_eq!(child["store"], held(&run, "root")["store"]);
    let mine = run.results("create_memory").into_iter();
    let mine: Vec<_> = mine
        .filter(|result| result["agentId"] == "agent-1")
        .collect();
    failed(&run, mine[0], "unavailable", &["create_memory"]);
    let read: Vec<_> = run
        .results("read_memory")
        .into_iter()
        .map(|result| &result["ok"])
        .collect();
    assert_eq!(read, [true, true, true]);
    let notices = told(&run, "agent-1", NOTICE);
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("- added `later`"), "{notices:?}");
    assert_eq!(told(&run, "agent-1", BLOCK).len(), 1);
    assert_eq!(told(&run, "root", NOTICE), [""; 0]);
}

#[test]
fn a_profile_s_memories_outlive_their_holders_and_are_nobody_else_s() {
    let run = play(
        launch("markdown", "isolated", "shared"),
        &[
            (
                "root",
                vec![
                    create("own"),
                    start("worker", "One.").and_wait(&[]),
                    Answer::call("read_memory", json!({ "name": "theirs" })),
                    start("worker", "Two.").and_wait(&[]),
                ],
            ),
            ("One.", vec![create("theirs")]),
            (
                "Two.",
                vec![Answer::call("read_memory", json!({ "name": "theirs" }))],
            ),
        ],
    );
    run.ended(0, "completed");
    let [root, first, second] = ["root", "agent-1", "agent-2"].map(|agent| held(&run, agent));
    assert_eq!(first["origin"], "profile");
    assert_eq!(first["store"], second["store"]);
    assert_ne!(root["store"], first["store"]);
    // Nobody held it between the two, and the second finds it as it was left.
    assert!(told(&run, "agent-2", BLOCK)[0].contains("`theirs`"));
    let read = run.results("read_memory");
    failed(&run, read[0], "not-found", &["theirs"]);
    assert_eq!(read[1]["ok"], true, "{}", read[1]);
    for agent in ["root", "agent-1", "agent-2"] {
        assert_eq!(told(&run, agent, NOTICE), [""; 0], "{agent}");
    }
}

#[test]
fn memories_that_are_isolated_are_each_one_s_own() {
    let run = play(
        launch("markdown", "isolated", "isolated"),
        &[
            (
                "root",
                vec![
                    create("own"),
                    start("worker", "One.")
                        .and_start("worker", "Two.")
                        .and_wait(&[]),
                ],
            ),
            ("One.", vec![create("own")]),
            ("Two.", vec![create("own")]),
        ],
    );
    run.ended(0, "completed");
    let mut stores: Vec<_> = ["root", "agent-1", "agent-2"]
        .into_iter()
        .map(|agent| held(&run, agent)["store"].to_string())
        .collect();
    stores.dedup();
    assert_eq!(stores.len(), 3, "{stores:?}");
    let created = run.results("create_memory");
    assert!(created.iter().all(|result| result["ok"] == true));
    assert_eq!(told(&run, "root", NOTICE), [""; 0]);
}

/// A gate that opens once so many have come to it.
fn meeting(count: usize) -> impl FnMut(Answer) -> Reply {
    let gate = Gate::new();
    let mut come = 0;
    move |answer| {
        come += 1;
        if come == count {
            gate.open();
        }
        Reply::from(answer).insert(0, Step::Hold(gate.clone()))
    }
}

#[test]
fn every_write_is_told_to_every_other_holder_exactly_once() {
    const TURNS: usize = 40;
    const HOLDERS: usize = 3;
    for strategy in ["scratchpad", "markdown", "keyword-search"] {
        let write = tools(strategy)[0];
        let look = || Answer::call("list_dir", json!({}));
        // Nobody writes before everybody holds the store, and everybody has a boundary behind the
        // last write.
        let (mut before, mut behind) = (meeting(HOLDERS), meeting(HOLDERS));
        let run = Run::builder()
            .launch(launch(strategy, "shared", "shared"))
            .answers(move |request: &Request, _| -> Reply {
                let task = task(request);
                let writer = task.strip_prefix("Writer ");
                match (writer, request.turn()) {
                    (None, 0) => (0..HOLDERS)
                        .fold(Answer::default(), |answer, n| {
                            answer.and_start("worker", &format!("Writer {n}"))
                        })
                        .and_wait(&[])
                        .into(),
                    (Some(_), 0) => before(look()),
                    (Some(writer), turn) if turn <= TURNS => {
                        Answer::call(write, memory(&format!("m-{writer}-{turn}"), "first")).into()
                    }
                    (Some(_), turn) if turn == TURNS + 1 => behind(look()),
                    _ => Answer::finish("Done.").into(),
                }
            })
            .run();
        run.ended(0, "completed");
        let revisions = run.events("memory_revision");
        assert_eq!(revisions.len(), HOLDERS * TURNS, "{strategy}");
        for reader in (1..=HOLDERS).map(|n| format!("agent-{n}")) {
            let notices = told(&run, &reader, NOTICE).concat();
            for revision in &revisions {
                let name = revision["slug"].as_str().unwrap();
                let told = notices.matches(&format!("- added `{name}`")).count();
                let own = revision["agentId"] == reader.as_str();
                assert_eq!(told, usize::from(!own), "{strategy}: {reader} of `{name}`");
            }
            let blocks = told(&run, &reader, BLOCK).len();
            let expected = if strategy == "keyword-search" {
                0
            } else {
                TURNS
            };
            assert_eq!(blocks, expected, "{strategy}: {reader}");
        }
    }
}
