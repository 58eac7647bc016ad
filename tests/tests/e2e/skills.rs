//! Skills: the directory as a launch reads it, and reading one (02 §10, R49).

use std::fs;

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, content_text, script};
use tests::launch::Launch;
use tests::run::{Builder, Run, gg};

use crate::common::{failed, result_text, turns};
use crate::compaction;
use crate::windowed::{by_turn, edited, own_requests, texts};

/// A declaration of skills without built-in manuals but these.
pub(crate) fn skills(dir: &str, manuals: &[&str]) -> Value {
    const ALL: [&str; 12] = [
        "gg-filesystem",
        "gg-shell",
        "gg-project",
        "gg-tasks",
        "gg-memory",
        "gg-skills",
        "gg-context",
        "gg-delegation",
        "gg-docs",
        "gg-views",
        "gg-programs",
        "gg-session",
    ];
    let withheld = ALL
        .iter()
        .map(|id| ((*id).to_owned(), json!(manuals.contains(id))));
    let built_ins: serde_json::Map<_, _> = withheld.collect();
    json!({ "id": "skills", "enabled": true, "params": { "dir": dir, "builtIns": built_ins } })
}

fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: When {name} is due\n---\n\n{body}\n")
}

/// A root that reads skills.
fn builder(dir: &str, manuals: &[&str]) -> Builder {
    Run::builder().launch(Launch::live().granting(skills(dir, manuals), &["read_skill"]))
}

fn read(name: &str) -> Answer {
    Answer::call("read_skill", json!({ "name": name }))
}

/// The system prompt of the first request.
fn system(run: &Run) -> String {
    let requests = run.gateway.as_ref().unwrap().requests();
    content_text(&requests[0].messages()[0]["content"])
}

fn offers(run: &Run, tool: &str) -> bool {
    let tools = run.event("agent_surface")["tools"].as_array().unwrap();
    tools.contains(&json!(tool))
}

#[test]
fn a_skill_is_listed_read_and_pinned_once() {
    let run = builder(".gg/skills", &[])
        .file(
            ".gg/skills/release.md",
            skill("release", "Tag it.\n\nThen push."),
        )
        .file(
            ".gg/skills/csv/skill.md",
            skill("csv-tools", "Use the module."),
        )
        .file(".gg/skills/csv/skill.py", "def rows(): ...\n")
        .file(".gg/skills/.hidden.md", "no head")
        .file(".gg/skills/notes.txt", "no skill")
        .answers(turns([
            read("release"),
            read("release"),
            read("none"),
            read("csv-tools"),
        ]))
        .run();
    run.ended(0, "completed");
    let system = system(&run);
    assert!(
        system.ends_with(
            "- `csv-tools` — When csv-tools is due (with code)\n- `release` — When release is due"
        ),
        "{system}"
    );
    assert_eq!(result_text(&run, 0), "Tag it.\n\nThen push.");
    assert!(
        result_text(&run, 1).contains("already"),
        "{}",
        result_text(&run, 1)
    );
    let calls = run.results("read_skill");
    failed(&run, calls[2], "not-found", &["`csv-tools` and `release`"]);

    let pinned: Vec<_> = run
        .events("context_message")
        .into_iter()
        .filter(|message| message["band"] == "skill")
        .map(|message| (message["label"].clone(), message["content"].clone()))
        .collect();
    assert_eq!(
        pinned,
        [
            (json!("release"), json!("Tag it.\n\nThen push.")),
            (json!("csv-tools"), json!("Use the module.")),
        ]
    );
    let frames = run.journal_lines();
    let survives = frames
        .iter()
        .filter_map(|line| line["push"].as_array())
        .flatten()
        .filter(|row| row["band"] == "skill")
        .map(|row| row["survives"].clone());
    assert_eq!(survives.collect::<Vec<_>>(), [true, true]);

    let states = run.events("skills_state");
    let read: Vec<Vec<_>> = states
        .iter()
        .map(|state| {
            let rows = state["skills"].as_array().unwrap().iter();
            rows.map(|row| row["read"].clone()).collect()
        })
        .collect();
    assert_eq!(read, [[false, false], [false, true], [true, true]]);
    crate::kill9::agrees(&run);
}

#[test]
fn every_fault_of_a_directory_is_refused_in_one_list_and_nothing_is_made() {
    let builder = builder("know", &[])
        .file("know/a.md", "no head")
        .file("know/b.md", "---\nname: b\n")
        .file("know/c.md", "---\nname: c\n---\ntext\n")
        .file("know/d.md", skill("twin", "text"))
        .file("know/e.md", skill("twin", "text"))
        .file("know/f.md", [0xff, 0xfe])
        .file("know/g/notes.md", "no prose")
        .file("know/h/skill.md", skill("h", ""))
        .file("know/h/skill.ts", "  \n")
        .file("know/i.md", skill("i", ""))
        .with(|launch| launch.root("/name", 7))
        .answers(script([Answer::finish("never")]));
    let workspace = builder.workspace().to_owned();
    let file = builder.folder().join("checked.json");
    let launch = Launch::live()
        .granting(skills("know", &[]), &["read_skill"])
        .root("/name", 7)
        .set("/workspaceDir", workspace.display().to_string());
    fs::write(&file, launch.json().to_string()).unwrap();
    let check = gg(["check".as_ref(), file.as_os_str()]);
    assert_eq!(check.status.code(), Some(1));
    let checked = String::from_utf8(check.stdout).unwrap();
    assert!(!workspace.join(".gg").exists(), "a check makes nothing");

    let run = builder.run();
    run.ended(1, "launch_refused");
    for told in [&checked, &run.stderr] {
        for place in [
            "a.md",
            "b.md",
            "c.md",
            "e.md",
            "f.md",
            "g/",
            "h/skill.ts",
            "i.md",
        ] {
            let fault = format!("params.dir is `know`, where `{place}");
            assert_eq!(told.matches(&fault).count(), 1, "{place} in\n{told}");
        }
        assert!(
            told.contains("name is 7"),
            "the document's own faults too:\n{told}"
        );
        assert!(told.contains("for 9 values"), "{told}");
    }
    assert!(!run.workspace().join(".gg/skills").exists());
}

#[test]
fn a_directory_that_is_not_there_is_refused_but_for_the_one_that_gg_makes() {
    let run = builder("none", &[])
        .answers(script([Answer::finish("never")]))
        .run();
    run.ended(1, "launch_refused");
    assert!(
        run.stderr
            .contains("params.dir is `none`, which cannot be read"),
        "{}",
        run.stderr
    );

    let run = builder("./.gg/skills/", &[])
        .answers(script([Answer::finish("Done.")]))
        .run();
    run.ended(0, "completed");
    assert!(run.workspace().join(".gg/skills").is_dir());
    // Nothing to read: no call, no word of it.
    assert!(!offers(&run, "read_skill"));
    assert!(!system(&run).contains("Skills"));
    assert_eq!(run.event("skills_state")["skills"], json!([]));
}

#[test]
fn a_pipe_or_a_device_among_the_skills_keeps_nobody_waiting() {
    let run = builder(".gg/skills", &[])
        .prepare(|workspace| {
            let dir = workspace.join(".gg/skills");
            fs::create_dir_all(&dir).unwrap();
            rustix::fs::mknodat(
                rustix::fs::CWD,
                dir.join("a.md"),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::RUSR,
                0,
            )
            .unwrap();
            // The last one says that it is a regular file, and has no end.
            for (name, target) in [
                ("b.md", "a.md"),
                ("c.md", "/dev/zero"),
                ("d.md", "/proc/kmsg"),
            ] {
                std::os::unix::fs::symlink(target, dir.join(name)).unwrap();
            }
        })
        .answers(script([Answer::finish("never")]))
        .run();
    run.ended(1, "launch_refused");
    for name in ["a.md", "b.md", "c.md"] {
        let told = format!("`{name}` is no regular file");
        assert!(run.stderr.contains(&told), "{}", run.stderr);
    }
    // Whether it may be opened at all is up to the system.
    assert!(run.stderr.contains("`d.md` "), "{}", run.stderr);
}

#[test]
fn built_in_manuals_are_made_of_the_calls_that_are_offered() {
    let run = builder(
        ".gg/skills",
        &["gg-shell", "gg-filesystem", "gg-tasks", "gg-skills"],
    )
    .with(|launch| launch.root("/tools", json!(["shell", "read_file", "read_skill"])))
    .answers(turns([read("gg-filesystem"), read("gg-skills")]))
    .run();
    run.ended(0, "completed");
    let system = system(&run);
    // Sorted by name; no manual of calls that are not offered.
    let listed: Vec<_> = system
        .lines()
        .filter(|line| line.starts_with("- `gg-"))
        .collect();
    assert_eq!(
        listed,
        [
            "- `gg-filesystem` — Reading, writing and searching files",
            "- `gg-shell` — Running commands",
            "- `gg-skills` — Using skills",
        ]
    );
    let manual = result_text(&run, 0);
    assert!(
        manual.contains("read_file") && manual.contains("offset"),
        "{manual}"
    );
    assert!(!manual.contains("write_file"), "{manual}");
    assert!(result_text(&run, 1).contains("read_skill"));
}

#[test]
fn an_authored_skill_stands_before_a_manual_of_its_name() {
    let run = builder(".gg/skills", &["gg-shell"])
        .file(".gg/skills/shell.md", skill("gg-shell", "Our own words."))
        .answers(turns([read("gg-shell")]))
        .run();
    run.ended(0, "completed");
    assert_eq!(result_text(&run, 0), "Our own words.");
}

#[test]
fn a_skill_that_was_read_outlives_every_compaction_under_its_heading() {
    let launch = compaction::launch("handoff-summarization", &json!({}))
        .granting(skills(".gg/skills", &[]), &["read_skill"]);
    let run = compaction::with_files(launch)
        .file(".gg/skills/release.md", skill("release", "Tag it."))
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(
                |_, n| match n {
                    0 | 29 => read("release"),
                    30 => Answer::finish("Done."),
                    n => compaction::read(n),
                },
                |_, _| Answer::text("S"),
            ),
        ))
        .run();
    run.ended(0, "completed");
    let boundaries = run.events("compaction");
    assert!(boundaries.len() > 1, "{}", run.describe());
    assert!(
        boundaries
            .iter()
            .all(|boundary| boundary["retained"]["skills"] == 1)
    );
    // Its call is gone with the conversation, so the text stands by itself; once.
    let last = own_requests(&run).last().cloned().unwrap();
    let texts = texts(&last);
    assert_eq!(texts[2], "Documentation\n----\nTag it.");
    assert_eq!(texts.concat().matches("Tag it.").count(), 1);
    assert!(texts.last().unwrap().contains("already"), "{texts:?}");
}
