//! `gg study` by the real binary: what it runs, what it leaves, and how it goes on.
#![expect(
    clippy::disallowed_methods,
    reason = "the bans keep the arbiter free; what is tested here is another process"
)]

#[path = "study/fan_out.rs"]
mod fan_out;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request};
use tests::launch::Launch;
use tests::run::{CREDENTIAL, binary, census};

/// A launch document, a script and a workspace, and a study over them.
struct Study {
    folder: tempfile::TempDir,
}

struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Study {
    /// Of a document that is filled in with the workspace.
    fn of(launch: &Launch, script: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let study = Self { folder };
        fs::create_dir(study.path("workspace")).expect("the folder can be written");
        fs::write(study.path("workspace/a.txt"), "a\n").expect("the folder can be written");
        study.write("script.json", script);
        study.launch(launch);
        study
    }

    fn launch(&self, launch: &Launch) {
        let workspace = self.path("workspace");
        let workspace = workspace
            .to_str()
            .expect("temporary folders have UTF-8 names");
        self.write(
            "launch.json",
            launch.clone().set("/workspaceDir", workspace).json(),
        );
    }

    fn write(&self, name: &str, value: &Value) {
        fs::write(self.path(name), value.to_string()).expect("the folder can be written");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .current_dir(self.folder.path())
            .args(["study", "launch.json", "--out", "out"])
            .args(arguments)
            .env_remove("OPENROUTER_API_KEY")
            .env_remove("OPENROUTER_BASE_URL")
            .env_remove("RUST_LOG")
            .env_remove("GG_RUN")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments))
    }

    /// With the script for its mock models.
    fn mock(&self, arguments: &[&str]) -> Said {
        self.run(&[&["--mock-script", "script.json"], arguments].concat())
    }

    fn json(&self, name: &str) -> Value {
        let text = fs::read(self.path(name)).expect("the study has written it");
        serde_json::from_slice(&text).expect("it is JSON")
    }

    /// The stream of a run, line by line.
    fn stream(&self, run: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(&format!("out/runs/{run}/telemetry.ndjson")))
            .expect("the run has a stream");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a stream is JSON"))
            .collect()
    }

    /// What tells one run of a folder from the next.
    fn routing_key(&self, run: &str) -> Value {
        self.stream(run)[0]["routingKey"].clone()
    }
}

fn said(mut command: Command) -> Said {
    let output = command.output().expect("the binary can be started");
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("gg prints UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("gg prints UTF-8"),
    }
}

/// Turns that each run a command, as many as there are.
fn commands() -> Value {
    json!({ "profiles": { "*": [
        { "calls": [{ "tool": "shell", "arguments": { "command": "echo b >> a.txt" } }],
          "delayMs": 5, "repeat": 20 },
    ] } })
}

const TURNS: &str = "capabilitySet.limits.maxTurns=1,3";

#[test]
fn every_variation_is_run_in_its_own_copy_and_has_a_result() {
    let study = Study::of(&Launch::mock("scripted"), &commands());
    fs::create_dir(study.path("workspace/.gg")).unwrap();
    fs::write(
        study.path("workspace/.gg/replay.ndjson"),
        "an earlier run's",
    )
    .unwrap();
    let vary = [
        "--vary",
        TURNS,
        "--vary",
        "capabilitySet.limits.maxParallel=2,4",
        "--repeat",
        "2",
        "--jobs",
        "3",
    ];
    let said = study.mock(&vary);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(
        said.stderr.matches("exhausted in").count(),
        8,
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("[8/8]"), "{}", said.stderr);

    for turns in [1_u64, 3] {
        for cap in [2, 4] {
            for repeat in [1, 2] {
                let run = format!("maxTurns={turns},maxParallel={cap}.{repeat}");
                let result = study.json(&format!("out/runs/{run}/result.json"));
                assert_eq!(result["variation"]["capabilitySet.limits.maxTurns"], turns);
                assert_eq!(
                    (&result["status"], &result["exitCode"]),
                    (&json!("exhausted"), &json!(3))
                );
                assert_eq!(
                    (&result["modelCalls"], &result["maxParallel"]),
                    (&json!(turns), &json!(cap))
                );
                assert_eq!(
                    (&result["endings"], &result["findings"]),
                    (&json!({ "exhausted": 1 }), &json!(0))
                );
                let makespan = result["makespanMs"].as_u64().unwrap();
                let active = result["agents"][0]["activeMs"].as_u64().unwrap();
                assert!(5 * turns <= active && active <= makespan, "{result}");
                let utilisation = result["utilisation"].as_f64().unwrap();
                assert!(
                    (utilisation * (makespan * cap) as f64 - active as f64).abs() < 1e-6,
                    "{result}"
                );

                let own = study.path(&format!("out/runs/{run}/workspace"));
                let written = fs::read_to_string(own.join("a.txt")).unwrap();
                assert_eq!(written, format!("a\n{}", "b\n".repeat(turns as usize)));
                let started = &study.stream(&run)[0];
                assert_eq!(
                    started["workspace"],
                    own.canonicalize().unwrap().to_str().unwrap()
                );
                assert_eq!(started["sessionId"], format!("test-session/{run}"));
                let verified = tests::run::gg(["verify".as_ref(), own.parent().unwrap()]);
                assert_eq!(verified.status.code(), Some(0), "{run}");
            }
        }
    }
    assert_eq!(
        fs::read_to_string(study.path("workspace/a.txt")).unwrap(),
        "a\n"
    );
    let kept = fs::read_to_string(study.path("workspace/.gg/replay.ndjson")).unwrap();
    assert_eq!(kept, "an earlier run's");

    let rows: Vec<&str> = said.stdout.lines().take(5).collect();
    assert!(
        rows[0].starts_with("maxTurns  maxParallel  runs"),
        "{}",
        said.stdout
    );
    assert!(
        rows[4].starts_with("3         4               2"),
        "{}",
        said.stdout
    );
    let whole = study.json("out/study.json");
    assert_eq!(whole["combinations"].as_array().unwrap().len(), 4);
    assert_eq!(whole["combinations"][0]["modelCalls"]["median"], 1.0);
    assert_eq!(whole["runs"].as_array().unwrap().len(), 8);
    for run in whole["runs"].as_array().unwrap() {
        let place = study.path("out").join(run["result"].as_str().unwrap());
        assert!(place.is_file(), "{}", place.display());
    }
    let picture = fs::read_to_string(study.path("out/study.svg")).unwrap();
    // Four results in two panels, and two names in the legend.
    assert_eq!(picture.matches("<circle").count(), 4 * 2 + 2, "{picture}");
    assert!(picture.contains("maxParallel = 4"), "{picture}");
}

#[test]
fn the_same_command_runs_only_what_has_no_whole_result() {
    let study = Study::of(&Launch::mock("scripted"), &commands());
    let runs = ["maxTurns=1.1", "maxTurns=3.1"];
    let keys = || runs.map(|run| study.routing_key(run));
    let first = study.mock(&["--vary", TURNS]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let before = keys();

    let again = study.mock(&["--vary", TURNS]);
    assert_eq!((again.code, keys()), (Some(0), before.clone()));
    assert_eq!(
        again.stderr.matches("it was there already").count(),
        2,
        "{}",
        again.stderr
    );
    assert_eq!(again.stdout, first.stdout);

    // Killed: its stream stops before the summary.
    let stream = study.path("out/runs/maxTurns=1.1/telemetry.ndjson");
    let text = fs::read_to_string(&stream).unwrap();
    fs::write(
        &stream,
        &text[..text.find("\"session_summary\"").unwrap() + 40],
    )
    .unwrap();
    let again = study.mock(&["--vary", TURNS]);
    let after = keys();
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_ne!(after[0], before[0]);
    assert_eq!(after[1], before[1]);

    // More values and repeats leave what is there; another document or script does not.
    let more = study.mock(&[
        "--vary",
        "capabilitySet.limits.maxTurns=1,2,3",
        "--repeat",
        "2",
    ]);
    assert_eq!((more.code, keys()), (Some(0), after.clone()));
    assert_eq!(
        more.stderr.matches("it was there already").count(),
        2,
        "{}",
        more.stderr
    );
    study.launch(&Launch::mock("scripted").set("/prompt", "Something else."));
    assert_eq!(study.mock(&["--vary", TURNS]).code, Some(0));
    let other = keys();
    assert!(other[0] != after[0] && other[1] != after[1]);
    let mut script = commands();
    script["profiles"]["*"][0]["delayMs"] = json!(1);
    study.write("script.json", &script);
    assert_eq!(study.mock(&["--vary", TURNS]).code, Some(0));
    assert_ne!(keys(), other);
}

#[test]
fn one_refused_variation_refuses_all_before_any_is_run() {
    let study = Study::of(&Launch::mock("scripted"), &commands());
    let said = study.mock(&[
        "--vary",
        "capabilitySet.limits.maxTurns=1,0,2",
        "--vary",
        "capabilitySet.agents[root].modelId=mock/scripted,mock/other",
    ]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
    for sentence in [
        "no run was started",
        "capabilitySet.limits.maxTurns is 0; expected a whole number, 1 or more\n  in maxTurns = 0, \
         modelId = mock/scripted; maxTurns = 0, modelId = mock/other",
        "modelWindows: model `mock/other` is missing",
    ] {
        assert!(
            said.stderr.contains(sentence),
            "{sentence} in\n{}",
            said.stderr
        );
    }
    assert!(!study.path("out").exists());

    let said = study.mock(&[
        "--vary",
        "limits.maxTurns=1",
        "--vary",
        "capabilitySet.agents[7].name=x",
    ]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr.contains("`limits` is not in the document"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("the list has 1 items: root"),
        "{}",
        said.stderr
    );

    let text = fs::read_to_string(study.path("launch.json")).unwrap();
    fs::write(
        study.path("launch.json"),
        text.replacen('{', "{\"prompt\":\"twice\",", 1),
    )
    .unwrap();
    let said = study.mock(&["--vary", TURNS]);
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("in the document"), "{}", said.stderr);
    assert!(!study.path("out").exists());
}

/// A study of which the first run ends by itself and the second hangs in a command until a file is
/// there, and says on a pipe that it does.
fn hanging() -> (Study, PathBuf, PathBuf) {
    let study = Study::of(&Launch::mock("scripted"), &json!({}));
    let (pipe, go) = (study.path("pipe"), study.path("go"));
    let made = Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .expect("mkfifo can be started");
    assert!(made.success());
    let command = format!(
        "[ -e '{}' ] || {{ echo $GG_RUN > '{}'; sleep 600; }}",
        go.display(),
        pipe.display()
    );
    study.write(
        "script.json",
        &json!({ "profiles": {
            "quick": [{ "finish": "Done." }],
            "slow": [
                { "calls": [{ "tool": "shell", "arguments": { "command": command } }] },
                { "finish": "Done." },
            ],
        } }),
    );
    (study, pipe, go)
}

const SLUGS: [&str; 4] = [
    "--mock-script",
    "script.json",
    "--vary",
    "capabilitySet.agents[0].slug=quick,slow",
];

fn start(study: &Study) -> Child {
    let mut command = study.command(&SLUGS);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("the binary can be started")
}

/// Waits until the second run is in its command; the answer is what marks its processes.
fn hangs(pipe: &Path) -> String {
    let reader = BufReader::new(fs::File::open(pipe).expect("the pipe is there"));
    let line = reader.lines().next().expect("the command says something");
    line.expect("it is text")
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_child(child);
    kill_process(pid, signal).expect("the study runs");
}

#[test]
fn an_interrupt_ends_the_runs_in_order_and_the_study_goes_on_from_there() {
    let (study, pipe, go) = hanging();
    let child = start(&study);
    let mark = hangs(&pipe);
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("stopped: 1 run of 2 without a result"),
        "{stderr}"
    );
    assert_eq!(
        study.stream("slug=slow.1").last().unwrap()["status"],
        "canceled"
    );
    assert_eq!(census(&mark), []);
    assert!(!study.path("out/runs/slug=slow.1/result.json").exists());
    let quick = study.routing_key("slug=quick.1");
    assert_eq!(
        study.json("out/study.json")["runs"][1]["result"],
        Value::Null
    );

    fs::write(go, "").unwrap();
    let said = study.run(&SLUGS);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stderr.contains("slug=quick.1: completed"),
        "{}",
        said.stderr
    );
    assert_eq!(
        said.stderr.matches("it was there already").count(),
        1,
        "{}",
        said.stderr
    );
    assert_eq!(study.routing_key("slug=quick.1"), quick);
    assert_eq!(
        study.json("out/runs/slug=slow.1/result.json")["status"],
        "completed"
    );
}

#[test]
fn a_run_that_outlives_its_study_is_not_run_over() {
    let (study, pipe, _) = hanging();
    let mut child = start(&study);
    let mark = hangs(&pipe);
    let said = study.run(&SLUGS);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr.contains("another study is at work in"),
        "{}",
        said.stderr
    );

    child.kill().unwrap();
    child.wait().unwrap();
    let said = study.run(&SLUGS);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr
            .contains("slug=slow.1: no result: a run is at work in"),
        "{}",
        said.stderr
    );

    // The orphan: told to end as its study would have told it.
    let orphan = census(&mark);
    let sleeper = orphan.first().expect("its command runs");
    let status = fs::read_to_string(format!("/proc/{}/status", sleeper.pid)).unwrap();
    let parent = status
        .lines()
        .find_map(|line| line.strip_prefix("PPid:"))
        .unwrap();
    let mut gg: i32 = parent.trim().parse().unwrap();
    // A command's process may itself be a child of the command's shell.
    if orphan.iter().any(|it| it.pid.cast_signed() == gg) {
        let status = fs::read_to_string(format!("/proc/{gg}/status")).unwrap();
        let parent = status
            .lines()
            .find_map(|line| line.strip_prefix("PPid:"))
            .unwrap();
        gg = parent.trim().parse().unwrap();
    }
    let gg = Pid::from_raw(gg).unwrap();
    kill_process(gg, Signal::INT).unwrap();
    let descriptor = rustix::process::pidfd_open(gg, rustix::process::PidfdFlags::empty());
    if let Ok(descriptor) = descriptor {
        // Readable once the process has ended.
        let mut wait = [rustix::event::PollFd::new(
            &descriptor,
            rustix::event::PollFlags::IN,
        )];
        rustix::event::poll(&mut wait, None).unwrap();
    }
    assert_eq!(census(&mark), []);
}

#[test]
fn a_run_that_dies_is_said_to_have_no_result_and_the_others_have_theirs() {
    let script = json!({ "profiles": {
        "dies": [{ "calls": [{ "tool": "shell", "arguments": { "command": "kill -9 $PPID" } }] }],
        "lives": [{ "finish": "Done." }],
    } });
    let study = Study::of(&Launch::mock("scripted"), &script);
    let said = study.mock(&["--vary", "capabilitySet.agents[0].slug=dies,lives"]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(
        said.stderr
            .contains("slug=dies.1: no result: it left no summary: signal: 9"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("gg: 1 run of 2 without a result"),
        "{}",
        said.stderr
    );
    assert!(said.stdout.contains("0 of 1"), "{}", said.stdout);
    assert_eq!(
        study.json("out/runs/slug=lives.1/result.json")["status"],
        "completed"
    );
}

#[test]
fn each_run_has_the_key_and_no_file_of_the_study_has_it() {
    let gateway = Gateway::start(|_: &Request, _: usize| Answer::finish("Done."));
    let study = Study::of(&Launch::live(), &json!({}));
    let mut command = study.command(&["--vary", TURNS]);
    command
        .env("OPENROUTER_API_KEY", CREDENTIAL)
        .env("OPENROUTER_BASE_URL", gateway.url());
    let said = said(command);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let bearer = format!("Bearer {CREDENTIAL}");
    let requests = gateway.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!(request.header("authorization"), Some(bearer.as_str()));
    }
    let mut folders = vec![study.path("out")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                assert!(!text.contains(CREDENTIAL), "{}", path.display());
            }
        }
    }
}
