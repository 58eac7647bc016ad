//! Starting gg and the bare loop in the same way.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tests::gateway::Answer;
use tests::gateway::lean::Lean;
use tests::launch::{Launch, MODEL};

/// The command of every turn.
pub(super) const COMMAND: &str = "echo ok";

/// What becomes of a command's output, of both contestants alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// It goes into the reply alone: gg's shell policy `inline`.
    Inline,
    /// Both streams of every command are kept in files beside: gg's shell policy `offload`.
    Kept,
}

impl Output {
    /// In a figure's name.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Inline => "output inline",
            Self::Kept => "output kept in files",
        }
    }
}

/// A folder with a workspace, for one session.
pub(super) struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    pub(super) fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("gg-bench-").tempdir()?;
        std::fs::create_dir(folder.path().join("workspace"))?;
        Ok(Self { folder })
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A gateway for a session of that many turns: a command each, then the ending call.
pub(super) fn gateway(turns: usize) -> Lean {
    let last = Answer::default().and_call_as("end", "finish", "{\"summary\":\"Done.\"}");
    let commands = (1..turns).map(|turn| {
        let arguments = json!({ "command": COMMAND }).to_string();
        Answer::default().and_call_as(&format!("call_{turn}"), "shell", &arguments)
    });
    Lean::start(commands.chain([last]).map(Into::into))
}

/// gg on a launch document with every tool on.
pub(super) fn gg(ground: &Ground, gateway: &Lean, output: Output) -> Result<(Child, Instant)> {
    let document = ground.path("launch.json");
    let policy = match output {
        Output::Inline => "inline",
        Output::Kept => "offload",
    };
    let launch = Launch::live()
        .in_capability("shell", "/implementation", policy)
        .set("/workspaceDir", ground.workspace().display().to_string())
        // A window no bench fills.
        .set("/modelWindows", json!({ MODEL: 10_000_000 }));
    std::fs::write(&document, launch.json().to_string())?;
    let mut command = Command::new(binary("gg")?);
    command.arg("run").arg(&document);
    start(command, ground, gateway)
}

/// The bare loop on bodies of the sizes given.
pub(super) fn bare_loop(
    ground: &Ground,
    gateway: &Lean,
    sizes: &[usize],
    output: Output,
) -> Result<(Child, Instant)> {
    let list = ground.path("sizes");
    let lines: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    std::fs::write(&list, lines.join("\n"))?;
    let mut command = Command::new(binary("xtask")?);
    command
        .arg("bare-loop")
        .arg("--address")
        .arg(gateway.address().to_string())
        .arg("--sizes")
        .arg(&list)
        .arg("--folder")
        .arg(ground.workspace())
        .arg("--command")
        .arg(COMMAND);
    if output == Output::Kept {
        let kept = ground.path("kept");
        std::fs::create_dir(&kept)?;
        command.arg("--keep").arg(kept);
    }
    start(command, ground, gateway)
}

/// Waits for a contestant, which must end well.
pub(super) fn finish(mut child: Child, ground: &Ground) -> Result<()> {
    let status = child.wait()?;
    ensure!(
        status.success(),
        "a contestant ended with {status}: {}",
        std::fs::read_to_string(ground.path("stderr")).unwrap_or_default()
    );
    Ok(())
}

fn start(command: Command, ground: &Ground, gateway: &Lean) -> Result<(Child, Instant)> {
    start_at(command, ground, &gateway.url())
}

/// Starts a contestant whose gateway stands at this address.
pub(super) fn start_at(
    mut command: Command,
    ground: &Ground,
    url: &str,
) -> Result<(Child, Instant)> {
    command
        .env("OPENROUTER_BASE_URL", url)
        .env("OPENROUTER_API_KEY", "bench")
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(File::create(ground.path("stdout"))?)
        .stderr(File::create(ground.path("stderr"))?);
    let started = Instant::now();
    let child = command.spawn().context("a contestant cannot be started")?;
    Ok((child, started))
}

/// A program that stands beside this one.
pub(super) fn binary(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let path = own.parent().unwrap_or(Path::new(".")).join(name);
    ensure!(path.is_file(), "there is no {}", path.display());
    Ok(path)
}
