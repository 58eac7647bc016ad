//! F103: a disk that fills up, and has room again.

use serde_json::json;
use tests::gateway::{Answer, Request};
use tests::run::Run;

use crate::common::failed;

/// Mounts a small file system over the workspace in a mount namespace of its own, runs gg there,
/// and carries the journal out before the namespace goes.
const LINE: &str = r#"
mount -t tmpfs -o size=2m none workspace || exit 99
"$@"
code=$?
cp workspace/.gg/replay.ndjson journal
ls workspace > listing
exit $code
"#;

/// Namespaces as root, else as root of a user namespace.
fn unshare() -> Vec<String> {
    let flags = if rustix::process::geteuid().is_root() {
        "-m"
    } else {
        "-rm"
    };
    ["unshare", flags, "sh", "-c", LINE, "sh"]
        .map(str::to_owned)
        .to_vec()
}

#[test]
fn f103_a_full_disk_stops_the_capture_and_not_the_run() {
    let megabyte = "x".repeat(1 << 20);
    let run = Run::builder()
        .through(unshare())
        .answers(move |request: &Request, _| match request.turn() {
            0 => Answer::shell("head -c 4M /dev/zero > fill"),
            1 => Answer::call("write_file", json!({ "path": "big", "contents": megabyte })),
            2..=5 => Answer::shell("head -c 20000 /dev/urandom | base64 | tail -n 200"),
            6 => Answer::call(
                "write_file",
                json!({ "path": "small", "contents": "no room" }),
            ),
            7 => Answer::shell("rm fill"),
            8 => Answer::call("write_file", json!({ "path": "after", "contents": "room" })),
            _ => Answer::finish("Done."),
        })
        .run();
    assert_ne!(
        run.code,
        Some(99),
        "a file system cannot be mounted here, not even in a user namespace: this test needs \
         root, or unprivileged user namespaces\n{}",
        run.stderr
    );
    run.ended(0, "completed");
    let writes = run.results("write_file");
    failed(&run, writes[0], "io-error", &["big"]);
    failed(&run, writes[1], "io-error", &["small"]);
    assert_eq!(writes[2]["ok"], true);
    let stopped = run.summary()["captureStopped"].as_str().unwrap_or("");
    assert!(!stopped.is_empty(), "{}", run.summary());
    assert!(
        run.logs("warn")
            .iter()
            .any(|warning| warning.contains("capture")),
        "{:?}",
        run.logs("warn")
    );

    let journal = std::fs::read(run.folder().join("journal")).unwrap();
    let replay = record::journal::read(&journal).unwrap();
    assert!(replay.is_partial());
    // Nothing half-written: no temporary file of a failed write is left.
    let listing = std::fs::read_to_string(run.folder().join("listing")).unwrap();
    assert_eq!(listing, "after\n", "{listing}");
}

#[test]
fn a_workspace_that_is_full_from_the_start() {
    let line = LINE.replace(
        "\"$@\"\n",
        "head -c 4M /dev/zero > workspace/fill\n\"$@\"\n",
    );
    let mut wrapper = unshare();
    wrapper[4] = line;
    let run = Run::builder()
        .through(wrapper)
        .answers(|request: &Request, _| match request.turn() {
            0 => Answer::call("write_file", json!({ "path": "a", "contents": "no room" })),
            1 => Answer::shell("echo goes on"),
            _ => Answer::finish("Done."),
        })
        .run();
    run.ended(0, "completed");
    failed(&run, run.results("write_file")[0], "io-error", &["a"]);
    assert!(!run.summary()["captureStopped"].is_null());
}
