//! The crowd's gateway as a process of its own, so that what it costs is nobody else's.
//!
//! The process says its address, then answers each line it is told: `held` once everybody is,
//! `go` by letting them go, `end` with what it saw.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use tests::gateway::crowd::{Crowd, Play};

use super::super::contestant::binary;

/// What the gateway's process serves.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Workers the root starts.
    #[arg(long)]
    workers: usize,
    /// Requests of each.
    #[arg(long)]
    turns: usize,
    /// From a request to its reply.
    #[arg(long)]
    latency_ms: u64,
    /// The command of a worker's turn.
    #[arg(long)]
    command: Option<String>,
    /// Agents started one by one while everybody is held.
    #[arg(long)]
    newcomers: Option<usize>,
}

/// What it saw: see [`tests::gateway::crowd::Seen`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) requests: usize,
    pub(super) first: f64,
    pub(super) last: f64,
    pub(super) root_sent: Vec<f64>,
    pub(super) newcomers: Vec<f64>,
    pub(super) root_bodies: Vec<usize>,
    pub(super) worker_bodies: Vec<usize>,
    pub(super) window: usize,
    pub(super) in_flight: usize,
}

/// The gateway's process: serves until it is told to end.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let crowd = Crowd::start(Play {
        workers: arguments.workers,
        turns: arguments.turns,
        latency: Duration::from_millis(arguments.latency_ms),
        command: arguments.command,
        newcomers: arguments.newcomers,
    });
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", crowd.address())?;
    for line in std::io::stdin().lines() {
        match line?.as_str() {
            "held" => {
                crowd.all_held();
                writeln!(out, "held")?;
            }
            "go" => crowd.let_go(),
            _ => break,
        }
    }
    let seen = crowd.seen();
    let seen = Seen {
        requests: seen.requests,
        first: seen.first,
        last: seen.last,
        root_sent: seen.root_sent,
        newcomers: seen.newcomers,
        root_bodies: seen.root_bodies,
        worker_bodies: seen.worker_bodies,
        window: seen.window,
        in_flight: seen.in_flight,
    };
    writeln!(out, "{}", serde_json::to_string(&seen)?)?;
    Ok(())
}

/// A gateway in its process.
pub(super) struct Served {
    child: Child,
    told: ChildStdin,
    says: BufReader<ChildStdout>,
    pub(super) address: SocketAddr,
}

impl Served {
    /// Starts one.
    pub(super) fn start(play: &Play) -> Result<Self> {
        let mut command = Command::new(binary("xtask")?);
        command
            .arg("crowd-gateway")
            .args(["--workers", &play.workers.to_string()])
            .args(["--turns", &play.turns.to_string()])
            .args(["--latency-ms", &play.latency.as_millis().to_string()]);
        if let Some(line) = &play.command {
            command.args(["--command", line]);
        }
        if let Some(newcomers) = play.newcomers {
            command.args(["--newcomers", &newcomers.to_string()]);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the gateway cannot be started")?;
        let told = child.stdin.take().context("its stdin is a pipe")?;
        let says = child.stdout.take().context("its stdout is a pipe")?;
        let mut says = BufReader::new(says);
        let mut line = String::new();
        says.read_line(&mut line)?;
        let address = line.trim().parse().context("the gateway says no address")?;
        Ok(Self {
            child,
            told,
            says,
            address,
        })
    }

    /// Waits until everybody is held.
    pub(super) fn all_held(&mut self) -> Result<()> {
        writeln!(self.told, "held")?;
        let mut line = String::new();
        self.says.read_line(&mut line)?;
        ensure!(line.trim() == "held", "the gateway ended");
        Ok(())
    }

    /// Lets go who is held.
    pub(super) fn let_go(&mut self) -> Result<()> {
        writeln!(self.told, "go")?;
        Ok(())
    }

    /// Ends it and gives what it saw.
    pub(super) fn end(mut self) -> Result<Seen> {
        writeln!(self.told, "end")?;
        let mut line = String::new();
        self.says.read_line(&mut line)?;
        self.child.wait()?;
        serde_json::from_str(&line).context("the gateway says nothing of what it saw")
    }
}
