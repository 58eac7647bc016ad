//! Sessions of programs: gg as a process, on a model in it that answers from a script at once.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tests::gateway::Answer;
use tests::gateway::lean::Lean;
use tests::launch::{self, Launch};
use vocab::tools::SUBMIT_PROGRAM;

use super::super::contestant::{Ground, binary, finish, start_at};
use super::arms::{Arm, WAIT};
use crate::step::target;

/// The model of every session.
const MODEL: &str = "mock/bench";

/// How long agents may take to arrive where they wait.
const ARRIVAL: Duration = Duration::from_secs(60);

/// The file that programs read.
const NOTES: &str = "One line.\nAnother line.\n";

/// A workspace with the one file that programs read.
pub(super) fn ground() -> Result<Ground> {
    let ground = Ground::new()?;
    std::fs::write(ground.workspace().join("notes.txt"), NOTES)?;
    Ok(ground)
}

/// A profile whose programs are in this language.
pub(super) fn coder(arm: &Arm, slug: &str, timeout_secs: f64) -> Value {
    json!({
        "slug": slug, "name": slug, "modelId": MODEL,
        "capabilities": [
            { "id": "responses-as-code", "enabled": true, "params": {
                "language": arm.language, "timeoutSecs": timeout_secs,
                "maxMemoryBytes": 268_435_456_u64, "docViewTypes": false } },
            { "id": "program-library", "enabled": true, "params": { "keep": 1, "idLength": 4 } },
            { "id": "read-file", "enabled": true, "implementation": "unlimited",
                "params": { "lineCap": 250 } },
            { "id": "shell", "enabled": true, "implementation": "inline",
                "params": { "maxLines": 250, "maxChars": 4096 } },
        ],
        "tools": [],
        "operations": ["files.read_text_file", "programs.history", "shell.shell"],
        "openingTurn": { "modules": [], "functions": [], "tree": { "include": false, "depth": 1 } },
    })
}

/// A turn of a script that submits a program.
pub(super) fn submits(program: &str) -> Value {
    json!({ "program": program })
}

/// gg, started on a script.
pub(super) struct Session {
    child: Child,
    started: Instant,
    ground: Ground,
}

impl Session {
    /// Starts one: what each of these profiles answers, turn by turn.
    pub(super) fn start(profiles: &[(Value, Vec<Value>)]) -> Result<Self> {
        let ground = ground()?;
        let mut documents = Vec::new();
        let mut scripts = serde_json::Map::new();
        for (profile, steps) in profiles {
            let slug = profile["slug"].as_str().context("a profile has a slug")?;
            scripts.insert(slug.to_owned(), json!(steps));
            documents.push(profile);
        }
        let launch = Launch::mock("bench")
            .set("/workspaceDir", ground.workspace().display().to_string())
            // A window no bench fills.
            .set("/modelWindows", json!({ MODEL: 10_000_000 }))
            .set("/capabilitySet/agents", json!(documents))
            .limit("maxParallel", 64);
        let (document, script) = (ground.path("launch.json"), ground.path("script.json"));
        std::fs::write(&document, launch.json().to_string())?;
        std::fs::write(&script, json!({ "profiles": scripts }).to_string())?;
        let mut command = Command::new(binary("gg")?);
        command
            .arg("run")
            .arg(&document)
            .arg("--mock-script")
            .arg(&script)
            // Not the user's: the first session of a bench may find no compiled guest there.
            .env("XDG_CACHE_HOME", cache())
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(ground.path("stdout"))?)
            .stderr(std::fs::File::create(ground.path("stderr"))?);
        let started = Instant::now();
        let child = command.spawn().context("gg cannot be started")?;
        Ok(Self {
            child,
            started,
            ground,
        })
    }

    /// Waits for its end, which must be a good one: how long it took, in seconds.
    pub(super) fn wall(self) -> Result<f64> {
        finish(self.child, &self.ground)?;
        Ok(self.started.elapsed().as_secs_f64())
    }

    /// The memory that is its own alone, in bytes, once as many of its agents as that wait in a
    /// command; then it is let go.
    pub(super) fn memory_of(mut self, waiting: usize) -> Result<u64> {
        let end = Instant::now() + ARRIVAL;
        let folder = self.ground.workspace();
        loop {
            let here = std::fs::read_dir(&folder)?.filter_map(Result::ok);
            let here = here.filter(|file| file.file_name().to_string_lossy().starts_with("here."));
            if here.count() >= waiting {
                break;
            }
            if Instant::now() > end || self.child.try_wait()?.is_some() {
                // It would hold the bench, and what it started, for ever.
                self.child.kill().ok();
                bail!("{waiting} agents did not arrive where they wait");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let memory = own_memory(self.child.id())?;
        std::fs::write(folder.join("gate"), "")?;
        finish(self.child, &self.ground)?;
        Ok(memory)
    }
}

/// Seconds of a session of one agent whose turns these are.
pub(super) fn wall(arm: &Arm, timeout_secs: f64, programs: &[Value]) -> Result<f64> {
    let steps = [programs, &[submits(arm.finish)]].concat();
    Session::start(&[(coder(arm, "root", timeout_secs), steps)])?.wall()
}

/// Seconds from the reply that submits the first program of a process to the request behind it, of a
/// model behind a socket that takes no time: what is to be loaded is not loaded meanwhile.
pub(super) fn first_program(arm: &Arm, timeout_secs: f64) -> Result<f64> {
    let ground = ground()?;
    let answer = |program: &str| {
        let arguments = json!({ "program": program }).to_string();
        Answer::default().and_call_as("call", SUBMIT_PROGRAM, &arguments)
    };
    let gateway = Lean::start([answer(arm.turn).into(), answer(arm.finish).into()]);
    let mut root = coder(arm, "root", timeout_secs);
    root["modelId"] = json!(launch::MODEL);
    let launch = Launch::live()
        .set("/workspaceDir", ground.workspace().display().to_string())
        .set("/capabilitySet/agents", json!([root]));
    let document = ground.path("launch.json");
    std::fs::write(&document, launch.json().to_string())?;
    let mut command = Command::new(binary("gg")?);
    command
        .arg("run")
        .arg(&document)
        .env("XDG_CACHE_HOME", cache());
    let (child, _) = start_at(command, &ground, &gateway.url())?;
    finish(child, &ground)?;
    match gateway.seen().sent.as_slice() {
        [first, second] => Ok((*second - *first).as_secs_f64()),
        sent => bail!("{} requests came where 2 were expected", sent.len()),
    }
}

/// Bytes of a session in which so many agents wait in the same command: in a program of this
/// language, or in the call of a tool.
pub(super) fn memory(arm: Option<&Arm>, waiting: usize) -> Result<u64> {
    let launch = Launch::mock("bench");
    let mut root = launch.json()["capabilitySet"]["agents"][0].clone();
    let mut worker = root.clone();
    root["subagents"] = json!([
        { "agentId": "worker", "description": "Waits.", "scopes": ["subagent"] },
    ]);
    root["capabilities"] = json!([
        { "id": "subagents", "enabled": true, "params": { "maxDepth": 1 } },
    ]);
    root["tools"] = json!(["spawn_subagent", "wait_for_subagents"]);
    let call = |tool: &str, arguments: Value| json!({ "tool": tool, "arguments": arguments });
    let spawn = call(
        "spawn_subagent",
        json!({ "agent": "worker", "prompt": "Wait." }),
    );
    let steps = vec![
        json!({ "calls": vec![spawn; waiting] }),
        json!({ "calls": [call("wait_for_subagents", json!({}))] }),
        json!({ "finish": "Done." }),
    ];
    let waits = if let Some(arm) = arm {
        worker = coder(arm, "worker", 30.0);
        vec![submits(arm.parked), submits(arm.finish)]
    } else {
        worker["slug"] = json!("worker");
        worker["name"] = json!("Worker");
        let wait = call("shell", json!({ "command": WAIT }));
        vec![json!({ "calls": [wait] }), json!({ "finish": "Done." })]
    };
    Session::start(&[(root, steps), (worker, waits)])?.memory_of(waiting)
}

/// The folder compiled guests are kept in.
pub(super) fn cache() -> PathBuf {
    target().join("bench-cache")
}

/// Bytes of a process that nobody else has: what is mapped from files is left out.
fn own_memory(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let figure = line.and_then(|rest| rest.split_whitespace().next());
    let kib: u64 = figure.context("the kernel tells no `RssAnon`")?.parse()?;
    Ok(kib * 1024)
}
