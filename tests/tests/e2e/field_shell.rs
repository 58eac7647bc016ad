//! F34–F46: commands.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request};
use tests::run::{CREDENTIAL, Run, census};

use crate::common::{failed, play, result_text, turns};

/// Runs a session of commands, one a turn.
#[track_caller]
fn commands(commands: &[&str]) -> Run {
    let run = Run::builder()
        .answers(turns(commands.iter().map(|command| Answer::shell(command))))
        .run();
    run.ended(0, "completed");
    run
}

/// The files that hold a run's whole output.
fn files_on_disk(run: &Run) -> Vec<PathBuf> {
    let prefix = format!("cmd-{}-", run.pid);
    let mut files: Vec<PathBuf> = fs::read_dir("/tmp/gg-shell")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn f34_a_child_in_the_background_holds_nobody_up() {
    // Both streams held; standard output closed and standard error held.
    for command in [
        "sleep 300 & echo $! > pid; echo done",
        "sleep 300 > /dev/null & echo $! > pid; echo done",
        "sleep 300 2> /dev/null & echo $! > pid; echo done",
    ] {
        let run = commands(&[command, "kill -0 $(cat pid) && echo alive"]);
        let results = run.results("shell");
        assert!(result_text(&run, 0).contains("exit code: 0"), "{command}");
        assert!(result_text(&run, 0).contains("done"), "{command}");
        assert!(result_text(&run, 1).contains("alive"), "{command}");
        let waited = results[0]["durationMs"].as_u64().unwrap();
        assert!(waited < 60_000, "{command} held gg for {waited} ms");
    }
}

#[test]
fn f36_a_command_past_its_timeout_is_killed_with_its_group() {
    let command = "mkfifo p; (while :; do echo x; sleep 1; done) > p & cat p";
    let run = Run::builder()
        .answers(move |request: &Request, _| {
            if request.turn() == 0 {
                return Answer::call("shell", json!({ "command": command, "timeoutSecs": 3 }));
            }
            let left = census(request.json()["session_id"].as_str().unwrap());
            assert!(left.is_empty(), "left of the group: {left:?}");
            Answer::finish("Done.")
        })
        .run();
    run.ended(0, "completed");
    failed(&run, run.results("shell")[0], "limit-exceeded", &["3"]);
    assert!(
        result_text(&run, 0).contains('x'),
        "partial output is shown"
    );
    assert_eq!(run.event("shell")["exitCode"], -1);
}

#[test]
fn f38_commands_read_the_end_of_input_at_once() {
    let run = commands(&["cat", "read x", "python3 -c 'input()'"]);
    let codes: Vec<&Value> = run
        .events("shell")
        .iter()
        .map(|shell| &shell["exitCode"])
        .collect();
    assert_eq!(codes[0], 0);
    assert_eq!(codes[1], 1);
    // 1 where there is a Python, 127 where there is none.
    assert!(codes[2] == 1 || codes[2] == 127, "{codes:?}");
    assert!(
        run.results("shell")
            .iter()
            .all(|result| result["ok"] == true)
    );
}

#[test]
fn f40_output_without_bound_costs_no_memory() {
    let running = Run::builder()
        .answers(turns([
            Answer::shell("timeout 5 yes"),
            Answer::shell("head -c 2G /dev/zero"),
            Answer::shell("head -c 150M /dev/zero | tr '\\0' a"),
        ]))
        .start();
    running.wait_for_event("agent_surface");
    let before = running.probe().unwrap().memory;
    let run = running.finish();
    run.ended(0, "completed");
    let files = files_on_disk(&run);
    let sizes: Vec<u64> = files
        .iter()
        .map(|file| fs::metadata(file).unwrap().len())
        .collect();
    for file in &files {
        fs::remove_file(file).unwrap();
    }
    let risen = run.peak.memory.saturating_sub(before);
    assert!(risen < 64 << 20, "memory rose by {} MiB", risen >> 20);
    assert!(result_text(&run, 0).contains("\ny\n"));
    assert!(result_text(&run, 0).contains("exit code: 124"));
    // Complete, or said to be capped.
    let last = result_text(&run, 2);
    assert!(
        sizes.contains(&(150 << 20)) || last.contains("capped"),
        "{sizes:?}\n{last}"
    );
    assert!(last.contains(&(150_u64 << 20).to_string()), "{last}");
}

#[test]
fn f42_bytes_that_are_no_text_are_marked_and_kept_on_disk() {
    let run = commands(&["printf 'a\\377b\\360\\237'; head -c 4096 /dev/urandom"]);
    // That every line of the stream is UTF-8 JSON is checked after every run.
    assert!(result_text(&run, 0).contains('\u{FFFD}'));
    assert!(
        run.event("shell")["stdout"]
            .as_str()
            .unwrap()
            .starts_with("a\u{FFFD}b")
    );
    String::from_utf8(run.journal()).unwrap();
    assert!(!run.journal_lines().is_empty());
    let stdout = files_on_disk(&run)
        .into_iter()
        .find(|file| file.extension().is_some_and(|kind| kind == "stdout"))
        .unwrap();
    let bytes = fs::read(stdout).unwrap();
    assert_eq!(&bytes[..5], b"a\xffb\xf0\x9f");
    assert_eq!(bytes.len(), 5 + 4096);
}

#[test]
fn f44_a_working_directory_that_is_gone_can_come_back() {
    let run = Run::builder()
        .answers(turns([
            Answer::shell("rm -rf \"$PWD\""),
            Answer::shell("ls"),
            Answer::call("list_dir", json!({})),
            Answer::call("write_file", json!({ "path": "a.txt", "contents": "back" })),
            Answer::shell("ls"),
        ]))
        .run();
    run.ended(0, "completed");
    let workspace = run.workspace().display().to_string();
    failed(&run, run.results("shell")[1], "io-error", &[&workspace]);
    assert_eq!(run.results("list_dir")[0]["ok"], false);
    assert_eq!(run.results("write_file")[0]["ok"], true);
    assert!(result_text(&run, 4).contains("a.txt"));
}

#[test]
fn f46_an_unknown_argument_is_named_with_the_known_ones() {
    let run = play([
        Answer::call("shell", json!({ "command": "ls", "cwd": "/" }))
            .and_call("read_file", json!({ "path": "x", "lines": 3 })),
        Answer::finish("Done."),
    ]);
    run.ended(0, "completed");
    failed(
        &run,
        run.results("shell")[0],
        "invalid-argument",
        &["cwd", "command", "timeoutSecs"],
    );
    failed(
        &run,
        run.results("read_file")[0],
        "invalid-argument",
        &["lines", "path", "offset", "limit"],
    );
    assert_eq!(run.events("shell").len(), 0);
}

#[test]
fn what_a_run_leaves_running_ends_with_it() {
    // One that goes when told, one that does not; the census after the run finds neither.
    let run = commands(&[
        "sleep 300 & echo started",
        "(trap '' TERM; while :; do sleep 1; done) > /dev/null 2>&1 & echo started",
    ]);
    let told = run.logs("warn").join("\n") + &run.logs("info").join("\n");
    assert!(told.contains("sleep 300"), "{told}");
}

#[test]
fn commands_know_their_run_and_not_the_credential() {
    let run = commands(&[
        "echo run=$GG_RUN; env | grep -c OPENROUTER_API_KEY",
        "tr '\\0' '\\n' < /proc/$PPID/environ | grep -c OPENROUTER_API_KEY",
    ]);
    let key = run.lines[0]["routingKey"].as_str().unwrap();
    assert!(result_text(&run, 0).contains(&format!("run={key}\n0")));
    let own = result_text(&run, 1);
    // gg is not dumpable, so whoever may not look gets nothing at all.
    assert!(own.contains("exit code: 1"), "{own}");
    let gateway = run.gateway.as_ref().unwrap();
    assert_eq!(
        gateway.requests()[0].header("authorization"),
        Some(format!("Bearer {CREDENTIAL}").as_str())
    );
}

#[test]
fn a_run_inside_another_ones_command_marks_its_commands_and_stays_marked_itself() {
    let run = Run::builder()
        .environment("GG_RUN", "outer")
        .answers(turns([Answer::shell(
            "echo inner=$GG_RUN; tr '\\0' '\\n' < /proc/$PPID/environ | grep GG_RUN",
        )]))
        .run();
    run.ended(0, "completed");
    let key = run.lines[0]["routingKey"].as_str().unwrap();
    let told = result_text(&run, 0);
    assert!(told.contains(&format!("inner={key}\n")), "{told}");
    assert!(!told.contains(&format!("GG_RUN={key}")), "{told}");
}

#[test]
fn a_credential_that_turns_up_in_a_text_is_masked() {
    let gateway = Gateway::start(turns([Answer::shell(&format!(
        "echo {} | rev",
        CREDENTIAL.chars().rev().collect::<String>()
    ))]));
    let run = Run::builder().gateway(gateway).run();
    run.ended(0, "completed");
    let shell = run.event("shell");
    assert!(
        shell["stdout"].as_str().unwrap().contains("[credential]"),
        "{shell}"
    );
}

#[test]
fn processes_that_left_their_group_end_with_the_run() {
    let daemons = "setsid sleep 301 >/dev/null 2>&1 & \
                   setsid sh -c 'trap \"\" TERM; sleep 302; sleep 303' >/dev/null 2>&1 & sleep 0.5";
    // That nothing of the run is left is looked at after every run.
    let run = Run::builder()
        .answers(turns([Answer::shell(daemons)]))
        .run();
    run.ended(0, "completed");
    let logs = run.logs("warn").join("\n");
    for named in ["sleep 301", "sleep 302"] {
        assert!(logs.contains(named), "{named} is not in:\n{logs}");
    }
}
