//! Input nobody can work with: a sentence, an event where there is a stream, exit 1, nothing
//! half-written.

use std::net::TcpListener;

use tests::gateway::{Answer, script};
use tests::run::{Run, gg};

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
