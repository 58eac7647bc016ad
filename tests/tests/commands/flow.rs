//! `gg flow` by the real binary, on runs with nothing to show.

use std::fs;

use super::{folder, said, text};

#[test]
fn a_run_that_started_nobody_is_said_to_be_one() {
    let folder = folder();
    fs::write(
        folder.path().join("telemetry.ndjson"),
        "{\"type\":\"session_started\",\"seq\":0,\"sessionId\":\"none\"}\n",
    )
    .unwrap();
    for format in ["waits", "gantt"] {
        let flow = said(["flow", text(folder.path()), "--format", format]);
        assert_eq!(flow.code, Some(1));
        assert!(
            flow.stderr.contains("no agent was started"),
            "{}",
            flow.stderr
        );
    }
}
