//! F47–F55: what edits and writes leave of a file.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};
use tests::gateway::Answer;
use tests::run::{Builder, Run};

use crate::common::{failed, result_text, turns};

fn edit(path: &str, old: &str, new: &str) -> Answer {
    Answer::call(
        "edit_file",
        json!({ "path": path, "oldString": old, "newString": new }),
    )
}

fn write(path: &str, contents: &str) -> Answer {
    Answer::call("write_file", json!({ "path": path, "contents": contents }))
}

fn read(path: &str) -> Answer {
    Answer::call("read_file", json!({ "path": path }))
}

#[track_caller]
fn play(builder: Builder, answers: impl IntoIterator<Item = Answer>) -> Run {
    let run = builder.answers(turns(answers)).run();
    run.ended(0, "completed");
    run
}

fn results(run: &Run) -> Vec<&Value> {
    let all = run.events("tool_result");
    all.into_iter()
        .filter(|one| one["tool"] != "finish")
        .collect()
}

#[track_caller]
fn all_ok(run: &Run) {
    for result in results(run) {
        assert_eq!(result["ok"], true, "{result}");
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn f47_an_edit_in_line_feeds_matches_through_carriage_returns() {
    let run = play(
        Run::builder().file("a.txt", "one\r\ntwo\r\nthree\r\nfour"),
        [
            edit("a.txt", "one\ntwo\n", "uno\ndos\n"),
            edit("a.txt", "three", "tres"),
        ],
    );
    all_ok(&run);
    assert_eq!(run.file("a.txt"), "uno\r\ndos\r\ntres\r\nfour");
}

#[test]
fn f49_a_byte_order_mark_is_kept_and_not_shown() {
    let run = play(
        Run::builder().file("a.txt", "\u{FEFF}first\nsecond\n"),
        [
            read("a.txt"),
            edit("a.txt", "second", "zweite"),
            edit("a.txt", "first\n", "erste\n"),
        ],
    );
    all_ok(&run);
    assert!(result_text(&run, 0).starts_with("first\n"));
    assert_eq!(run.file("a.txt"), "\u{FEFF}erste\nzweite\n");
}

#[test]
fn f51_writes_go_through_links() {
    let builder = Run::builder()
        .file("real.md", "old text")
        .file("deep/end.md", "old text")
        .prepare(|workspace| {
            symlink("real.md", workspace.join("link.md")).unwrap();
            symlink("chain2.md", workspace.join("chain1.md")).unwrap();
            symlink("deep/end.md", workspace.join("chain2.md")).unwrap();
            symlink("new.md", workspace.join("dangling.md")).unwrap();
            symlink("loop2.md", workspace.join("loop1.md")).unwrap();
            symlink("loop1.md", workspace.join("loop2.md")).unwrap();
        });
    let run = play(
        builder,
        [
            edit("link.md", "old", "new"),
            edit("chain1.md", "old", "new"),
            write("chain1.md", "whole"),
            write("dangling.md", "made"),
            write("loop1.md", "x"),
            edit("loop2.md", "a", "b"),
        ],
    );
    for name in [
        "link.md",
        "chain1.md",
        "chain2.md",
        "dangling.md",
        "loop1.md",
    ] {
        let kept = fs::symlink_metadata(run.workspace().join(name)).unwrap();
        assert!(kept.file_type().is_symlink(), "{name} is no link any more");
    }
    assert_eq!(run.file("real.md"), "new text");
    assert_eq!(run.file("deep/end.md"), "whole");
    assert_eq!(run.file("new.md"), "made");
    failed(&run, results(&run)[4], "io-error", &["loop1.md"]);
    failed(&run, results(&run)[5], "io-error", &["loop2.md"]);
    let made = ["deep", ".gg"];
    let strays: Vec<_> = fs::read_dir(run.workspace())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.contains(".md") && !made.contains(&name.as_str()))
        .collect();
    assert_eq!(strays, Vec::<String>::new(), "temporary files were left");
}

/// As `f52_modes_…`, for a process that a closed directory stops: a superuser's is stopped by
/// none, until it has given its capabilities up.
#[test]
fn f52_a_writable_file_in_a_closed_directory_is_written_in_place() {
    let mut builder = Run::builder()
        .file("closed/open.txt", "old text")
        .prepare(|workspace| {
            let closed = fs::Permissions::from_mode(0o555);
            fs::set_permissions(workspace.join("closed"), closed).unwrap();
        });
    if rustix::process::geteuid().is_root() {
        builder = builder.through([
            "setpriv",
            "--bounding-set",
            "-all",
            "--inh-caps",
            "-all",
            "--",
        ]);
    }
    let run = play(
        builder,
        [
            edit("closed/open.txt", "old", "new"),
            write("closed/other.txt", "x"),
        ],
    );
    let results = results(&run);
    assert_eq!(results[0]["ok"], true, "{}", results[0]);
    assert_eq!(run.file("closed/open.txt"), "new text");
    // The directory really is closed to whoever ran this.
    assert_eq!(results[1]["failure"], "io-error");
    let closed = run.workspace().join("closed");
    fs::set_permissions(closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn f52_modes_hard_links_and_closed_directories() {
    let builder = Run::builder()
        .file("run.sh", "#!/bin/sh\necho old\n")
        .file("secret", "old")
        .file("one", "old text")
        .file("closed/open.txt", "old text")
        .prepare(|workspace| {
            let set = |name: &str, mode| {
                fs::set_permissions(workspace.join(name), fs::Permissions::from_mode(mode))
                    .unwrap();
            };
            set("run.sh", 0o755);
            set("secret", 0o600);
            fs::hard_link(workspace.join("one"), workspace.join("other")).unwrap();
            set("closed", 0o555);
        });
    let run = play(
        builder,
        [
            edit("run.sh", "old", "new"),
            write("secret", "new"),
            edit("one", "old", "new"),
            edit("closed/open.txt", "old", "new"),
        ],
    );
    let at = |name: &str| run.workspace().join(name);
    assert_eq!(mode(&at("run.sh")), 0o755);
    assert_eq!(mode(&at("secret")), 0o600);
    assert_eq!(run.file("secret"), "new");
    // Several links: written in place, so that both names keep showing one file.
    assert_eq!(run.file("other"), "new text");
    assert_eq!(
        fs::metadata(at("one")).unwrap().ino(),
        fs::metadata(at("other")).unwrap().ino()
    );
    let closed = results(&run)[3];
    if closed["ok"] == true {
        assert_eq!(run.file("closed/open.txt"), "new text");
    } else {
        assert_eq!(closed["failure"], "io-error");
        assert_eq!(run.file("closed/open.txt"), "old text");
    }
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn f53_a_file_without_a_last_line_end_stays_so() {
    let run = play(
        Run::builder().file("a.txt", "first\nlast"),
        [
            edit("a.txt", "first", "1st"),
            edit("a.txt", "last", "final"),
        ],
    );
    all_ok(&run);
    assert_eq!(run.file("a.txt"), "1st\nfinal");
}

const MAKEFILE: &str = "a:\n\techo start\n\techo same\n\nb:\n\techo same\n\nc:\n\techo same\n";

#[test]
fn f55_tabs_and_repeated_blocks() {
    let run = play(
        Run::builder().file("Makefile", MAKEFILE),
        [
            edit("Makefile", "    echo start", "    echo begin"),
            edit("Makefile", "\techo same\n", "\techo other\n"),
            edit("Makefile", "b:\n\techo same\n", "b:\n\techo other\n"),
        ],
    );
    let results = results(&run);
    // A near miss says where and why.
    failed(&run, results[0], "not-found", &["whitespace"]);
    failed(&run, results[1], "conflict", &["3"]);
    assert_eq!(results[2]["ok"], true);
    assert_eq!(
        run.file("Makefile"),
        MAKEFILE.replace("b:\n\techo same", "b:\n\techo other")
    );
}

#[test]
fn failures_of_file_tools_have_their_classes() {
    let run = play(
        Run::builder()
            .file("a.txt", "one\n")
            .file("bin", b"\xff\xfe\x00"),
        [
            read("none.txt"),
            read("."),
            Answer::call("read_file", json!({ "path": "a.txt", "offset": 9 })),
            read(""),
            edit("none.txt", "a", "b"),
            edit("a.txt", "same", "same"),
            edit("bin", "a", "b"),
            Answer::call("list_dir", json!({ "path": "a.txt" })),
            Answer::call("search", json!({ "query": "(" })),
            write("a.txt/b.txt", "x"),
        ],
    );
    let classes: Vec<&Value> = results(&run).iter().map(|one| &one["failure"]).collect();
    assert_eq!(
        classes,
        [
            "not-found",
            "invalid-argument",
            "invalid-argument",
            "invalid-argument",
            "not-found",
            "invalid-argument",
            "invalid-argument",
            "invalid-argument",
            "invalid-argument",
            "io-error",
        ]
    );
    assert_eq!(run.file("a.txt"), "one\n");
}

#[test]
fn a_search_does_not_find_itself_in_the_journal() {
    let search = |path: &str| Answer::call("search", json!({ "query": "needle", "path": path }));
    let run = Run::builder()
        .file("a.txt", "needle\n")
        .file("deep/.gg/b.txt", "needle\n")
        .file(".gg/notes.txt", "needle\n")
        .answers(turns([search("."), search(".gg")]))
        .run();
    run.ended(0, "completed");
    let results = run.results("search");
    let found = results[0]["preview"].as_str().unwrap();
    assert_eq!(found, "a.txt:1: needle\ndeep/.gg/b.txt:1: needle");
    let named = results[1]["preview"].as_str().unwrap();
    // How much of the journal is on disk by then is its writer's affair.
    assert!(named.starts_with(".gg/notes.txt:1: needle"), "{named}");
}
