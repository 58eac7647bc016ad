//! Input nobody can work with: a sentence, an event where there is a stream, exit 1, nothing
//! half-written.

use std::net::TcpListener;

use serde_json::json;
use tests::gateway::{Answer, script};
use tests::run::{Run, gg};

use crate::families::{DELEGATING, profile, subagents};

/// Asserts that a refusal is told in words on stderr.
#[track_caller]
fn says(stderr: &str, words: &[&str]) {
    for word in words {
        assert!(stderr.contains(word), "{word:?} is not in:\n{stderr}");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(!stderr.contains("RUST_BACKTRACE"), "{stderr}");
}

#[test]
fn a_document_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.json");
    for path in [missing.as_path(), folder.path()] {
        let output = gg(["run".as_ref(), path.as_os_str()]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(output.stdout, b"");
        let stderr = String::from_utf8(output.stderr).unwrap();
        says(&stderr, &[path.to_str().unwrap()]);
        assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
    }
}

#[test]
fn a_document_that_is_no_document() {
    for (text, words) in [
        (&b""[..], &["empty"][..]),
        (b"{ \"a\": 1,\n  oops }", &["line 2"]),
        (b"[1, 2]", &["object"]),
        (b"\"text\"", &["object"]),
        (b"{} {}", &["line 1"]),
        (b"\xff\xfe{\0}\0", &["UTF-8"]),
        (b"{ \"prompt\": \"\xff\" }", &["UTF-8"]),
    ] {
        let run = Run::builder().document(text).run();
        assert_eq!(run.code, Some(1), "{}", run.describe());
        assert_eq!(run.stdout, "", "{}", String::from_utf8_lossy(text));
        says(&run.stderr, words);
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "{}", run.stderr);
    }
}

#[test]
fn an_empty_object_names_all_it_lacks() {
    let run = Run::builder().document("{}").run();
    run.ended(1, "launch_refused");
    says(
        &run.stderr,
        &[
            "sessionId",
            "workspaceDir",
            "prompt",
            "modelWindows",
            "capabilitySet",
        ],
    );
}

#[test]
fn a_workspace_that_is_not_there() {
    let builder = Run::builder();
    let missing = builder.folder().join("none").display().to_string();
    let file = builder.folder().join("file");
    std::fs::write(&file, "").unwrap();
    let run = builder
        .with(|launch| launch.set("/workspaceDir", missing.clone()))
        .answers(script([Answer::finish("never")]))
        .run();
    run.ended(1, "launch_refused");
    says(&run.stderr, &["workspaceDir", &missing]);
    assert!(!std::path::Path::new(&missing).exists());

    let run = Run::builder()
        .with(|launch| launch.set("/workspaceDir", file.display().to_string()))
        .answers(script([Answer::finish("never")]))
        .run();
    run.ended(1, "launch_refused");
    says(&run.stderr, &["workspaceDir"]);
}

#[test]
fn nobody_answers_at_the_base_url() {
    // A port that was free a moment ago.
    let port = TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://127.0.0.1:{port}/api/v1");
    let run = Run::builder()
        .base_url(&url)
        .with(|launch| launch.limit("maxModelRetries", 1))
        .run();
    run.ended(1, "model_error");
    assert_eq!(run.outcomes(), ["model_retry_exhausted"]);
    says(&run.stderr, &[&format!("127.0.0.1:{port}")]);
    assert_eq!(run.journal_lines().last().unwrap()["t"], "end");
}

#[test]
fn a_base_url_that_is_none() {
    for url in ["not a url", "ftp://127.0.0.1/", "http://"] {
        let run = Run::builder().base_url(url).run();
        assert_eq!(run.code, Some(1), "{url:?}\n{}", run.describe());
        says(&run.stderr, &["OPENROUTER_BASE_URL"]);
    }
}

#[test]
fn a_base_url_where_something_else_answers() {
    use tests::gateway::{End, Gateway, Reply, Request};
    let html = "<html><body>It works!</body></html>";
    let run = Run::builder()
        .with(|launch| launch.limit("maxConsecutiveErrors", 2))
        .gateway(Gateway::lenient(move |_: &Request, _| {
            let mut reply = Reply::status(200, html);
            reply.headers = vec![("Content-Type".into(), "text/html".into())];
            reply
        }))
        .run();
    assert!(
        run.code == Some(1) || run.code == Some(3),
        "{}",
        run.describe()
    );
    assert_eq!(run.last()["type"], "session_ended");

    let run = Run::builder()
        .with(|launch| launch.limit("maxModelRetries", 1))
        .gateway(Gateway::lenient(|_: &Request, _| {
            let mut reply = Reply::hang_up(End::Close);
            reply.steps = vec![tests::gateway::Step::Bytes(b"SSH-2.0-x\r\n".to_vec())];
            reply
        }))
        .run();
    run.ended(1, "model_error");
}

#[test]
fn a_mock_script_that_is_not_there_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.json");
    std::fs::write(&bad, "{ \"profiles\": { \"*\": [{ \"txet\": 1 }] } }").unwrap();
    let missing = folder.path().join("none.json");
    for (path, word) in [(bad, "txet"), (missing, "none.json")] {
        let run = Run::builder()
            .launch(tests::launch::Launch::mock("script"))
            .arguments(["--mock-script".as_ref(), path.as_os_str()])
            .run();
        assert_eq!(run.code, Some(1), "{}", run.describe());
        says(&run.stderr, &[word]);
        assert_eq!(run.events("turn_outcome").len(), 0);
    }
}

#[test]
fn a_run_dir_that_cannot_be_made() {
    let builder = Run::builder();
    let file = builder.folder().join("file");
    std::fs::write(&file, "").unwrap();
    let run = builder
        .arguments(["--run-dir".as_ref(), file.join("below").as_os_str()])
        .answers(script([Answer::finish("never")]))
        .run();
    assert_eq!(run.code, Some(1), "{}", run.describe());
    says(&run.stderr, &["file/below"]);
    assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 0);
}

/// Starts gg with what a shell does before.
fn after(shell: &str) -> [String; 4] {
    ["sh", "-c", &format!("{shell} exec \"$@\""), "sh"].map(str::to_owned)
}

#[test]
fn a_stderr_that_cannot_be_written_changes_no_exit_code() {
    let run = Run::builder()
        .document("{}")
        .through(after("exec 2>/dev/full;"))
        .run();
    run.ended(1, "launch_refused");
    let run = Run::builder()
        .through(after("exec 2>/dev/full;"))
        .without_credential()
        .answers(script([Answer::finish("never")]))
        .run();
    run.ended(1, "auth_error");
}

#[test]
fn too_few_open_files_are_a_sentence_or_a_run_and_never_another_exit_code() {
    for files in 4..16 {
        let run = Run::builder()
            .launch(tests::launch::Launch::mock("test"))
            .through(after(&format!("ulimit -n {files};")))
            .without_credential()
            .without_rules()
            .run();
        let ended = matches!(run.code, Some(0 | 1));
        assert!(ended, "{files} files\n{}", run.describe());
        if run.code == Some(1) {
            says(&run.stderr, &["oo many"]);
        }
    }
}

/// A run of sixty agents, all of whom run one command at once, behind this limit on open files.
fn sixty_commands_behind(limit: &str) -> Run {
    let start = json!({ "tool": "spawn_subagent", "arguments": { "agent": "c", "prompt": "Go." } });
    let script = json!({ "profiles": {
        "root": [
            { "calls": vec![start; 60] },
            { "calls": [{ "tool": "wait_for_subagents", "arguments": {} }] },
            { "finish": "All." },
        ],
        "c": [
            { "calls": [{ "tool": "shell", "arguments": { "command": FEWER } }] },
            { "finish": "Done." },
        ],
    }});
    let shell = json!({
        "id": "shell", "enabled": true, "implementation": "offload",
        "params": { "maxLines": 100, "maxChars": 4000 },
    });
    let mut profiles = [
        profile("root", &[subagents(1)], &DELEGATING, &["c"]),
        profile("c", &[shell], &["shell"], &[]),
    ];
    for profile in &mut profiles {
        profile["modelId"] = json!("mock/script");
    }
    let launch = tests::launch::Launch::mock("script")
        .set("/capabilitySet/agents", json!(profiles))
        .limit("maxParallel", 100);
    Run::builder()
        .launch(launch)
        .mock_script(&script)
        .without_credential()
        .through(after(limit))
        .run()
}

/// Waits until the limit is what gg was started with, and for the others.
const FEWER: &str = "until [ \"$(ulimit -Sn)\" = 128 ]; do :; done; sleep 1; ulimit -Sn";

#[test]
fn a_soft_limit_on_open_files_bounds_the_commands_and_not_gg() {
    let run = sixty_commands_behind("ulimit -Sn 128;");
    run.ended(0, "completed");
    let results = run.results("shell");
    assert_eq!(results.len(), 60);
    for result in results {
        assert_eq!(result["preview"], "exit code: 0\n128\n");
    }
}

#[test]
fn a_hard_limit_on_open_files_is_named_with_what_helps() {
    let run = sixty_commands_behind("ulimit -n 128;");
    run.ended(0, "completed");
    let results = run.results("shell");
    let failed: Vec<_> = results.iter().filter(|it| it["ok"] == false).collect();
    assert!(!failed.is_empty() && failed.len() < 60, "{}", failed.len());
    for result in failed {
        let told = result["preview"].as_str().unwrap();
        says(told, &["limit is 128", "`limits.maxParallel`"]);
    }
}

#[test]
fn a_flow_log_that_cannot_be_made_is_named() {
    let run = Run::builder()
        .launch(tests::launch::Launch::mock("test"))
        .arguments(["--flow", "/nowhere/flow.ndjson"])
        .run();
    assert_eq!(run.code, Some(1), "{}", run.describe());
    says(&run.stderr, &["the flow log", "/nowhere/flow.ndjson"]);
}

#[test]
fn a_flow_log_on_a_full_disk_is_told_and_the_run_goes_on() {
    let run = Run::builder()
        .launch(tests::launch::Launch::mock("test"))
        .arguments(["--flow", "/dev/full"])
        .run();
    run.ended(0, "completed");
    says(&run.stderr, &["the flow log is incomplete"]);
}

#[test]
fn a_file_that_may_not_grow_is_a_full_disk_and_no_death() {
    let run = Run::builder()
        .launch(tests::launch::Launch::mock("test"))
        .through(after("ulimit -f 1;"))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.summary()["captureStopped"], "write_failed");
}

#[test]
fn pipes_in_the_place_of_files_of_the_workspace_hold_nothing_up() {
    let pipes = [
        ".gg/replay.ndjson",
        ".git",
        ".git/HEAD",
        ".git/info/exclude",
    ];
    for pipe in pipes {
        let run = Run::builder()
            .launch(tests::launch::Launch::mock("test"))
            .prepare(|workspace| {
                let path = workspace.join(pipe);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                let kind = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
            })
            .run();
        run.ended(0, "completed");
    }
}

#[test]
fn the_journal_is_not_written_through_a_link_of_the_workspace() {
    let builder = Run::builder();
    let outside = builder.folder().join("outside");
    std::fs::write(&outside, "precious").unwrap();
    let run = builder
        .launch(tests::launch::Launch::mock("test"))
        .prepare(|workspace| {
            std::fs::create_dir(workspace.join(".gg")).unwrap();
            std::os::unix::fs::symlink(&outside, workspace.join(".gg/replay.ndjson")).unwrap();
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
    assert_eq!(run.journal_lines().last().unwrap()["t"], "end");
}

#[test]
fn a_journal_that_the_agent_removed_is_told() {
    let script = serde_json::json!({ "profiles": { "*": [
        { "calls": [{ "tool": "shell", "arguments": { "command": "rm -rf .gg" } }] },
        { "finish": "done" },
    ] } });
    let run = Run::builder()
        .launch(tests::launch::Launch::mock("script"))
        .mock_script(&script)
        .run();
    run.ended(0, "completed");
    assert_eq!(run.summary()["captureStopped"], "write_failed");
    says(&run.stderr, &["removed or replaced"]);
}

#[test]
fn a_document_without_an_end_is_refused() {
    for arguments in [["run", "/dev/zero"], ["check", "/dev/full"]] {
        let output = gg(arguments.map(std::ffi::OsStr::new));
        assert_eq!(output.status.code(), Some(1));
        says(&String::from_utf8(output.stderr).unwrap(), &["larger than"]);
    }
}

#[test]
fn a_path_that_is_no_text_is_refused_in_a_sentence() {
    use std::os::unix::ffi::OsStrExt as _;

    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"w\xffw"));
    std::fs::create_dir(&odd).unwrap();
    let document = folder.path().join("launch.json");
    let new = [
        "new".as_ref(),
        document.as_os_str(),
        "--workspace".as_ref(),
        odd.as_os_str(),
    ];
    let demo = ["demo".as_ref(), odd.as_os_str()];
    for output in [gg(new), gg(demo)] {
        assert_eq!(output.status.code(), Some(1));
        says(&String::from_utf8(output.stderr).unwrap(), &["UTF-8"]);
    }
    assert!(!document.exists());
    assert_eq!(std::fs::read_dir(&odd).unwrap().count(), 0);
}
