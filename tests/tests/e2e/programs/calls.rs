//! Every call on files, commands and views, on every arm, once with success (04 §3, §4, §7, §9).

use serde_json::{Value, json};
use tests::gateway::Gateway;

use super::{ON_FILES, workshop};
use crate::arms::{covered, on_each, playing, programs, shown_attempts, spelled};
use crate::coders::shown;
use crate::windowed::edited;

/// A picture that is one by its first bytes, which is what tells.
pub(super) const PICTURE: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";

#[test]
fn each_call_on_files_does_its_work() {
    on_each(|arm| {
        let calls = [
            (
                "wrote",
                r#"files.writeFile("made/a.txt", "alpha\nbeta\né\n")"#,
                r#"files.write_file("made/a.txt", "alpha\nbeta\né\n")"#,
            ),
            (
                "edited",
                r#"files.editFile("made/a.txt", "beta", "gamma")"#,
                r#"files.edit_file("made/a.txt", "beta", "gamma")"#,
            ),
            (
                "listed",
                r#"files.listDir("made")"#,
                r#"files.list_dir("made")"#,
            ),
            (
                "here",
                "files.listDir().map((entry) => entry.name)",
                "[entry.name for entry in files.list_dir()]",
            ),
            (
                "found",
                r#"files.search("gam+a")"#,
                r#"files.search("gam+a")"#,
            ),
            (
                "bounded",
                r#"files.search(".", { path: "made", limit: 1 })"#,
                r#"files.search(".", path="made", limit=1)"#,
            ),
            (
                "read",
                r#"files.readFile("made/a.txt")"#,
                r#"files.read_file("made/a.txt")"#,
            ),
            (
                "part",
                r#"files.readFile("made/a.txt", { offset: 2, limit: 1 })"#,
                r#"files.read_file("made/a.txt", offset=2, limit=1)"#,
            ),
            (
                "text",
                r#"files.readTextFile("made/a.txt", { offset: 3 })"#,
                r#"files.read_text_file("made/a.txt", offset=3)"#,
            ),
            (
                "picture",
                r#"files.readFile("p.png")"#,
                r#"files.read_file("p.png")"#,
            ),
            (
                "ran",
                r#"shell.shell("printf no; exit 3")"#,
                r#"shell.shell("printf no; exit 3")"#,
            ),
            (
                "patient",
                r#"shell.shell("pwd", { timeoutSecs: 9.5 }).exitCode"#,
                r#"shell.shell("pwd", timeout_secs=9.5).exit_code"#,
            ),
        ];
        let run = playing(arm, &workshop(), &ON_FILES, &[shown_attempts(calls)])
            .file("p.png", PICTURE)
            .run();
        run.ended(0, "completed");
        covered(&run, &["files", "shell"]);
        let out = shown(&run, "out");
        assert_eq!(out["wrote"], 14);
        assert_eq!(out["edited"], "ok");
        assert_eq!(out["listed"], json!([{ "name": "a.txt", "kind": "file" }]));
        assert_eq!(out["here"], json!([".gg", "made", "p.png"]));
        let found = json!({ "path": "made/a.txt", "line": 2, "text": "gamma" });
        assert_eq!(out["found"], json!([found]));
        assert_eq!(out["bounded"][0]["line"], 1);
        assert_eq!(out["bounded"].as_array().unwrap().len(), 1);
        let whole = &out["read"];
        assert_eq!(whole["contents"], "alpha\ngamma\né\n");
        assert_eq!(
            (&whole["lastLine"], &whole["truncated"]),
            (&json!(3), &json!(false))
        );
        let part = &out["part"];
        assert_eq!(part["contents"], "gamma\n");
        assert_eq!(
            (&part["firstLine"], &part["totalLines"], &part["truncated"]),
            (&json!(2), &json!(3), &json!(false))
        );
        assert_eq!(out["text"], "é\n");
        assert_eq!(out["picture"]["format"], "png");
        assert_eq!(out["picture"]["shown"], false);
        assert_eq!(
            out["ran"],
            json!({ "exitCode": 3, "output": "no", "truncated": false })
        );
        assert_eq!(out["patient"], 0);
        assert_eq!(run.file("made/a.txt"), "alpha\ngamma\né\n");
        assert_eq!(run.events("shell")[0]["origin"], "program");
    });
}

#[test]
fn each_call_on_views_does_its_work() {
    on_each(|arm| {
        let first = shown_attempts([
            ("file", r#"views.openFile("a")"#, r#"views.open_file("a")"#),
            (
                "text",
                r#"views.openText("t", "")"#,
                r#"views.open_text("t", "")"#,
            ),
            (
                "page",
                "views.openDocsView(views.openText)",
                "views.open_docs_view(views.open_text)",
            ),
            (
                "again",
                r#"views.openText("t", "later")"#,
                r#"views.open_text("t", "later")"#,
            ),
        ]);
        let second = shown_attempts([
            ("open", "views.current()", "views.current()"),
            ("closed", r#"views.close("a")"#, r#"views.close("a")"#),
            ("none", r#"views.close("never")"#, r#"views.close("never")"#),
        ]);
        let run = playing(arm, &workshop(), &ON_FILES, &[])
            .gateway(Gateway::with_checker(
                Some(edited()),
                programs(arm, &[first, second]),
            ))
            .file("a", "x\n")
            .run();
        run.ended(0, "completed");
        covered(&run, &["views"]);
        let out = shown(&run, "out");
        let open: Vec<(&Value, &Value)> = out["open"]
            .as_array()
            .unwrap()
            .iter()
            .map(|view| (&view["kind"], &view["selector"]))
            .collect();
        let page = json!(spelled(arm, "views.open_text"));
        for view in [
            (&json!("file"), &json!("a")),
            (&json!("text"), &json!("t")),
            (&json!("documentation"), &page),
        ] {
            assert!(open.contains(&view), "{view:?}: {out:#}");
        }
        assert_eq!((&out["closed"], &out["none"]), (&json!(1), &json!(0)));
    });
}
