//! One session of many agents: gg's, or the bare crowd's on bodies of the same sizes.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tests::gateway::crowd::Play;
use tests::launch::{Launch, MODEL};
use tests::run::probe;

use super::super::contestant::{Ground, binary, finish, start_at};
use super::served::{Seen, Served};

/// The model's latency in the sessions that are timed.
pub(super) const LATENCY: Duration = Duration::from_millis(50);

/// A session.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) play: Play,
    /// Agents that may run at once; the root waits without a slot.
    pub(super) cap: usize,
}

/// What came of one.
pub(super) struct Outcome {
    pub(super) seen: Seen,
    /// Memory while everybody was held, bytes.
    pub(super) memory: u64,
    /// gg's flow log, where it was asked for.
    pub(super) flow: Option<PathBuf>,
    /// Keeps the files for as long as they are read.
    _ground: Ground,
}

impl Outcome {
    /// From the first request to the last reply, milliseconds.
    pub(super) fn makespan(&self) -> f64 {
        self.seen.last - self.seen.first
    }
}

impl Session {
    /// Workers with so many turns each, at a latency.
    pub(super) fn new(workers: usize, turns: usize, cap: usize, latency: Duration) -> Self {
        Self {
            play: Play {
                workers,
                turns,
                latency,
                command: None,
                newcomers: None,
            },
            cap,
        }
    }

    /// The same with a command a turn.
    pub(super) fn with_command(mut self, command: &str) -> Self {
        self.play.command = Some(command.to_owned());
        self
    }

    /// What the arithmetic says it takes at least, milliseconds: the root's two requests, and the
    /// workers' wave after wave.
    pub(super) fn ideal(&self) -> f64 {
        let waves = self.play.workers.div_ceil(self.cap.min(self.play.workers));
        (waves * self.play.turns + 2) as f64 * self.play.latency.as_secs_f64() * 1e3
    }

    fn requests(&self) -> usize {
        let newcomers = self.play.newcomers.map_or(0, |count| 2 * count + 1);
        self.play.workers * self.play.turns + 2 + newcomers
    }

    /// gg's.
    pub(super) fn by_gg(&self, flow: bool) -> Result<Outcome> {
        let ground = ground()?;
        let served = Served::start(&self.play)?;
        let document = ground.path("launch.json");
        std::fs::write(&document, self.launch(&ground).to_string())?;
        let mut command = Command::new(binary("gg")?);
        command.arg("run").arg(&document);
        let flow = flow.then(|| ground.path("flow.ndjson"));
        if let Some(flow) = &flow {
            command.arg("--flow").arg(flow);
        }
        let url = format!("http://{}/api/v1", served.address);
        let (child, _) = start_at(command, &ground, &url)?;
        self.watch(child, served, ground, flow)
    }

    /// The bare crowd's, on the sizes that gg sent.
    pub(super) fn by_floor(&self, sizes: &Seen) -> Result<Outcome> {
        let ground = ground()?;
        let served = Served::start(&self.play)?;
        let list = |sizes: &[usize]| {
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            sizes.join(",")
        };
        let mut command = Command::new(binary("xtask")?);
        command
            .arg("bare-crowd")
            .args(["--address", &served.address.to_string()])
            .args(["--workers", &self.play.workers.to_string()])
            .args(["--cap", &self.cap.to_string()])
            .args(["--root", &list(&sizes.root_bodies)])
            .args(["--worker", &list(&sizes.worker_bodies)])
            .arg("--folder")
            .arg(ground.workspace());
        if let Some(newcomers) = self.play.newcomers {
            command.args(["--newcomers", &newcomers.to_string()]);
        }
        if let Some(line) = &self.play.command {
            command.args(["--command", line]);
        }
        let (child, _) = start_at(command, &ground, "")?;
        self.watch(child, served, ground, None)
    }

    fn watch(
        &self,
        child: Child,
        mut served: Served,
        ground: Ground,
        flow: Option<PathBuf>,
    ) -> Result<Outcome> {
        let mut memory = 0;
        if self.play.newcomers.is_some() {
            served.all_held()?;
            memory = probe(child.id()).map_or(0, |now| now.memory);
            served.let_go()?;
        }
        finish(child, &ground)?;
        let seen = served.end()?;
        ensure!(
            seen.requests == self.requests(),
            "{} requests came where {} were expected",
            seen.requests,
            self.requests()
        );
        Ok(Outcome {
            seen,
            memory,
            flow,
            _ground: ground,
        })
    }

    /// A root with workers, who have every tool that works on files.
    fn launch(&self, ground: &Ground) -> Value {
        let roster = json!([
            { "agentId": "worker", "description": "Works.", "scopes": ["subagent"] },
        ]);
        let launch = Launch::live();
        let mut root = launch.json()["capabilitySet"]["agents"][0].clone();
        let mut worker = root.clone();
        worker["slug"] = json!("worker");
        worker["name"] = json!("Worker");
        root["subagents"] = roster;
        root["capabilities"] = json!([
            { "id": "subagents", "enabled": true, "params": { "maxDepth": 1 } },
        ]);
        root["tools"] = json!(["spawn_subagent", "wait_for_subagents"]);
        launch
            .set("/workspaceDir", ground.workspace().display().to_string())
            .set("/modelWindows", json!({ MODEL: 10_000_000 }))
            .set("/capabilitySet/agents", json!([root, worker]))
            .limit("maxParallel", self.cap as u64)
            .limit("maxAgents", self.play.workers as u64 + 100)
            .json()
            .clone()
    }
}

/// A workspace with the one file that workers read.
fn ground() -> Result<Ground> {
    let ground = Ground::new()?;
    let notes = "One line.\nAnother line.\n";
    std::fs::write(ground.workspace().join("notes.txt"), notes)?;
    Ok(ground)
}
