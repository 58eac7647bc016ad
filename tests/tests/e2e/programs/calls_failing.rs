//! Every call on files, commands and views, on every arm, in each way it can fail (04 §3, §4, §7, §9).

use std::os::unix::fs::symlink;

use serde_json::json;
use tests::run::Run;

use super::calls::PICTURE;
use super::{ON_FILES, workshop};
use crate::arms::{
    Arm, Attempt, ends_of, failed_in_each_way, in_words_of, on_each, play, playing, shown_attempts,
};
use crate::coders::{refused, shown};
use crate::hooks::custom;

/// A call that fails: how it is attempted, its class, and what its message says.
type Failing<'a> = (Attempt<'a>, &'a str, &'a str);

/// Attempts that the language's own library refuses, before there is a call.
const UNMADE: [&str; 3] = ["read zero", "search none", "open cut"];

/// Asserts what attempts on one operation each came to, and that each was one call and one result.
#[track_caller]
fn fails(arm: Arm, run: &Run, operation: &str, rows: &[Failing]) {
    let out = shown(run, "out");
    let (_, key) = operation.split_once('.').unwrap();
    for ((name, ..), class, text) in rows {
        refused(&out, name, class, key, &[&in_words_of(arm, text)]);
    }
    let ends = ends_of(run, operation);
    let made = rows
        .iter()
        .filter(|((name, ..), ..)| !UNMADE.contains(name));
    let expected: Vec<&str> = made.map(|(_, class, _)| *class).collect();
    assert_eq!(ends, expected, "{operation}\n{}", run.describe());
}

#[test]
fn each_call_on_files_fails_in_each_of_its_ways() {
    let tables: &[(&str, &[Failing])] = &[
        (
            "files.read_file",
            &[
                (
                    (
                        "read missing",
                        r#"files.readFile("never")"#,
                        r#"files.read_file("never")"#,
                    ),
                    "not-found",
                    "never",
                ),
                (
                    (
                        "read folder",
                        r#"files.readFile("folder")"#,
                        r#"files.read_file("folder")"#,
                    ),
                    "invalid-argument",
                    "directory",
                ),
                (
                    (
                        "read zero",
                        r#"files.readFile("a", { offset: 0 })"#,
                        r#"files.read_file("a", offset=0)"#,
                    ),
                    "invalid-argument",
                    "`offset`",
                ),
                (
                    (
                        "read past",
                        r#"files.readFile("a", { offset: 9 })"#,
                        r#"files.read_file("a", offset=9)"#,
                    ),
                    "invalid-argument",
                    "2",
                ),
                (
                    (
                        "read loop",
                        r#"files.readFile("loop")"#,
                        r#"files.read_file("loop")"#,
                    ),
                    "io-error",
                    "loop",
                ),
            ],
        ),
        (
            "files.read_text_file",
            &[
                (
                    (
                        "text missing",
                        r#"files.readTextFile("never")"#,
                        r#"files.read_text_file("never")"#,
                    ),
                    "not-found",
                    "never",
                ),
                (
                    (
                        "text picture",
                        r#"files.readTextFile("p.png")"#,
                        r#"files.read_text_file("p.png")"#,
                    ),
                    "invalid-argument",
                    "image/png",
                ),
                (
                    (
                        "text loop",
                        r#"files.readTextFile("loop")"#,
                        r#"files.read_text_file("loop")"#,
                    ),
                    "io-error",
                    "loop",
                ),
            ],
        ),
        (
            "files.write_file",
            &[
                (
                    (
                        "write nowhere",
                        r#"files.writeFile("", "x")"#,
                        r#"files.write_file("", "x")"#,
                    ),
                    "invalid-argument",
                    "`path`",
                ),
                (
                    (
                        "write below",
                        r#"files.writeFile("a/b", "x")"#,
                        r#"files.write_file("a/b", "x")"#,
                    ),
                    "io-error",
                    "a",
                ),
                (
                    (
                        "write checked",
                        r#"files.writeFile("kept.lock", "x")"#,
                        r#"files.write_file("kept.lock", "x")"#,
                    ),
                    "refused",
                    "not this one",
                ),
            ],
        ),
        (
            "files.edit_file",
            &[
                (
                    (
                        "edit missing",
                        r#"files.editFile("never", "x", "y")"#,
                        r#"files.edit_file("never", "x", "y")"#,
                    ),
                    "not-found",
                    "never",
                ),
                (
                    (
                        "edit absent",
                        r#"files.editFile("a", "zzz", "y")"#,
                        r#"files.edit_file("a", "zzz", "y")"#,
                    ),
                    "not-found",
                    "a",
                ),
                (
                    (
                        "edit several",
                        r#"files.editFile("a", "x", "y")"#,
                        r#"files.edit_file("a", "x", "y")"#,
                    ),
                    "conflict",
                    "2",
                ),
                (
                    (
                        "edit equal",
                        r#"files.editFile("a", "x", "x")"#,
                        r#"files.edit_file("a", "x", "x")"#,
                    ),
                    "invalid-argument",
                    "equal",
                ),
                (
                    (
                        "edit loop",
                        r#"files.editFile("loop", "x", "y")"#,
                        r#"files.edit_file("loop", "x", "y")"#,
                    ),
                    "io-error",
                    "loop",
                ),
                (
                    (
                        "edit checked",
                        r#"files.editFile("made.lock", "x", "y")"#,
                        r#"files.edit_file("made.lock", "x", "y")"#,
                    ),
                    "refused",
                    "not this one",
                ),
            ],
        ),
        (
            "files.list_dir",
            &[
                (
                    (
                        "list missing",
                        r#"files.listDir("never")"#,
                        r#"files.list_dir("never")"#,
                    ),
                    "not-found",
                    "never",
                ),
                (
                    (
                        "list file",
                        r#"files.listDir("a")"#,
                        r#"files.list_dir("a")"#,
                    ),
                    "invalid-argument",
                    "directory",
                ),
                (
                    (
                        "list loop",
                        r#"files.listDir("loop")"#,
                        r#"files.list_dir("loop")"#,
                    ),
                    "io-error",
                    "loop",
                ),
            ],
        ),
        (
            "files.search",
            &[
                (
                    ("search bad", r#"files.search("(")"#, r#"files.search("(")"#),
                    "invalid-argument",
                    "(",
                ),
                (
                    (
                        "search blank",
                        r#"files.search(" ")"#,
                        r#"files.search(" ")"#,
                    ),
                    "invalid-argument",
                    "`query`",
                ),
                (
                    (
                        "search none",
                        r#"files.search("x", { limit: 0 })"#,
                        r#"files.search("x", limit=0)"#,
                    ),
                    "invalid-argument",
                    "`limit`",
                ),
                (
                    (
                        "search missing",
                        r#"files.search("x", { path: "never" })"#,
                        r#"files.search("x", path="never")"#,
                    ),
                    "not-found",
                    "never",
                ),
                (
                    (
                        "search loop",
                        r#"files.search("x", { path: "loop" })"#,
                        r#"files.search("x", path="loop")"#,
                    ),
                    "io-error",
                    "loop",
                ),
            ],
        ),
        (
            "shell.shell",
            &[
                (
                    (
                        "shell late",
                        r#"shell.shell("echo part; sleep 60", { timeoutSecs: 0.2 })"#,
                        r#"shell.shell("echo part; sleep 60", timeout_secs=0.2)"#,
                    ),
                    "limit-exceeded",
                    "part",
                ),
                (
                    (
                        "shell never",
                        r#"shell.shell("true", { timeoutSecs: 0 })"#,
                        r#"shell.shell("true", timeout_secs=0)"#,
                    ),
                    "invalid-argument",
                    "`timeoutSecs`",
                ),
                (
                    (
                        "shell checked",
                        r#"shell.shell("touch forbidden")"#,
                        r#"shell.shell("touch forbidden")"#,
                    ),
                    "refused",
                    "not this one",
                ),
            ],
        ),
        (
            "views.open_file",
            &[
                (
                    (
                        "open missing",
                        r#"views.openFile("never")"#,
                        r#"views.open_file("never")"#,
                    ),
                    "not-found",
                    "never",
                ),
                (
                    (
                        "open loop",
                        r#"views.openFile("loop")"#,
                        r#"views.open_file("loop")"#,
                    ),
                    "io-error",
                    "loop",
                ),
                (
                    (
                        "open cut",
                        r#"views.openFile("a", { maxLineChars: 0 })"#,
                        r#"views.open_file("a", max_line_chars=0)"#,
                    ),
                    "invalid-argument",
                    "`maxLineChars` is 0",
                ),
                (
                    (
                        "open long",
                        r#"views.openFile("long")"#,
                        r#"views.open_file("long")"#,
                    ),
                    "limit-exceeded",
                    "70,000 bytes",
                ),
            ],
        ),
        (
            "views.close",
            &[(
                ("close nothing", r#"views.close("")"#, r#"views.close("")"#),
                "invalid-argument",
                "`selector`",
            )],
        ),
    ];
    let hooks = json!([
        custom("pre-write", &blocking(".lock")),
        custom("pre-shell", &blocking("forbidden")),
    ]);
    on_each(|arm| {
        let rows = tables.iter().flat_map(|(_, rows)| rows.iter());
        let run = playing(
            arm,
            &workshop(),
            &ON_FILES,
            &[shown_attempts(rows.map(|(attempt, ..)| *attempt))],
        )
        .with(|launch| launch.root("/hooks", hooks.clone()))
        .file("a", "x\nx\n")
        .file("made.lock", "x\n")
        .file("p.png", PICTURE)
        .file("long", "y".repeat(70_000))
        .prepare(|workspace| {
            std::fs::create_dir(workspace.join("folder")).unwrap();
            symlink("loop", workspace.join("loop")).unwrap();
        })
        .run();
        run.ended(0, "completed");
        for (operation, rows) in tables {
            fails(arm, &run, operation, rows);
        }
        let operations: Vec<&str> = tables.iter().map(|(operation, _)| *operation).collect();
        let below = [("shell.shell", "io-error")];
        failed_in_each_way(&[&shown(&run, "out")], &operations, &below);
        assert_eq!(run.file("a"), "x\nx\n");
        assert_eq!(run.file("made.lock"), "x\n");
        assert!(!run.workspace().join("forbidden").exists());
    });
}

/// A hook's script that blocks whatever names this.
fn blocking(what: &str) -> String {
    format!(
        "case \"$1\" in *{what}*) echo '{{\"action\":\"block\",\"reason\":\"not this one\"}}';; \
         *) echo '{{\"action\":\"continue\"}}';; esac"
    )
}

#[test]
fn a_command_whose_folder_is_gone_cannot_be_started() {
    on_each(|arm| {
        let run = playing(
            arm,
            &workshop(),
            &ON_FILES,
            &[shown_attempts([
                (
                    "gone",
                    r#"shell.shell("rm -r \"$PWD\"").exitCode"#,
                    r#"shell.shell("rm -r \"$PWD\"").exit_code"#,
                ),
                ("lost", r#"shell.shell("true")"#, r#"shell.shell("true")"#),
            ])],
        )
        .run();
        run.ended(0, "completed");
        let out = shown(&run, "out");
        assert_eq!(out["gone"], 0);
        refused(&out, "lost", "io-error", "shell", &["workspace"]);
    });
}

#[test]
fn what_a_view_may_hold_is_bounded() {
    on_each(|arm| {
        let run = play(
            arm,
            &workshop(),
            &ON_FILES,
            &[shown_attempts([
                (
                    "unnamed",
                    r#"views.openText("", "x")"#,
                    r#"views.open_text("", "x")"#,
                ),
                (
                    "named",
                    r#"views.openText("l".repeat(201), "x")"#,
                    r#"views.open_text("l" * 201, "x")"#,
                ),
                (
                    "long",
                    r#"views.openText("big", "x".repeat(65537))"#,
                    r#"views.open_text("big", "x" * 65537)"#,
                ),
            ])],
        );
        let out = shown(&run, "out");
        for (name, class, text) in [
            ("unnamed", "invalid-argument", "`label` is empty"),
            ("named", "limit-exceeded", "`label` holds 201 bytes"),
            ("long", "limit-exceeded", "`body` holds 65,537 bytes"),
        ] {
            refused(&out, name, class, "open_text", &[text]);
        }
        failed_in_each_way(&[&out], &["views.open_text"], &[]);
        assert!(
            run.logs("warn")
                .iter()
                .any(|it| it.contains("views refused"))
        );
    });
}
