//! Carrying a study out: each run a process of its own, in its own folder, several at once.
//!
//! A run's folder holds its launch document, its copy of the workspace, its stream and what it said
//! on stderr. Whether it has to be run is read off that folder alone. A run holds a lock on its
//! stderr file for as long as it lives, so that one which outlived its study is never run over.
//!
//! A first signal asks every run to end in an orderly way, as it would do by itself (R36); a second
//! one is passed on, too. Runs are in process groups of their own, so that a terminal's interrupt
//! reaches each of them once.

use std::collections::VecDeque;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actors::signals::Signals;
use anyhow::{Context as _, bail};
use provider::openrouter::Credential;
use record::lines::STREAM_FILE;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::copy;
use super::result::{self, Asked, RunResult};
use crate::credential;
use crate::output::replace_file;
use crate::page::one_line;

/// A run's launch document, in its folder.
const LAUNCH: &str = "launch.json";
/// The replies of its mock models, where the study was given some.
const SCRIPT: &str = "mock-script.json";
/// What it said on stderr.
const STDERR: &str = "stderr.log";
/// Where it works.
const WORKSPACE: &str = "workspace";
/// What it came to.
pub(crate) const RESULT: &str = "result.json";

/// A run to be carried out.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// What it is called and varies.
    pub(crate) asked: Asked,
    /// Its launch document, with the workspace to be copied.
    pub(crate) document: Value,
    /// That workspace.
    pub(crate) source: PathBuf,
}

/// With what runs are carried out.
#[derive(Debug)]
pub(crate) struct Means {
    /// The study's folder, absolute.
    pub(crate) out: PathBuf,
    /// Runs at once.
    pub(crate) jobs: usize,
    /// The replies of mock models.
    pub(crate) script: Option<Vec<u8>>,
    /// The gateway's key, for each run.
    pub(crate) credential: Option<Credential>,
}

/// What happened to one run.
#[derive(Debug)]
pub(crate) enum Fate {
    /// Its result was there already.
    Kept(RunResult),
    /// It was run.
    Ran(RunResult),
    /// It was stopped by the operator, or not begun because of that.
    Stopped,
    /// It left no result.
    Failed(anyhow::Error),
}

/// Carries the orders out, and tells of each as it is done: its place among them, and its fate. The
/// answer is whether the operator stopped the study.
pub(crate) fn carry_out(
    orders: Vec<Order>,
    means: Means,
    tell: impl FnMut(usize, Fate),
) -> anyhow::Result<bool> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("no runtime can be made")?;
    runtime.block_on(all(orders, means, tell))
}

async fn all(
    orders: Vec<Order>,
    means: Means,
    mut tell: impl FnMut(usize, Fate),
) -> anyhow::Result<bool> {
    let mut signals = Signals::listen().context("signals cannot be listened to")?;
    let jobs = means.jobs;
    let means = Arc::new(means);
    let stopping = Arc::new(AtomicBool::new(false));
    let (stop, stops) = watch::channel(0_u32);
    let mut waiting: VecDeque<(usize, Order)> = orders.into_iter().enumerate().collect();
    let mut running = JoinSet::new();
    loop {
        while running.len() < jobs
            && let Some((place, order)) = waiting.pop_front()
        {
            if stopping.load(Ordering::Relaxed) {
                tell(place, Fate::Stopped);
                continue;
            }
            let (means, stopping, stops) =
                (Arc::clone(&means), Arc::clone(&stopping), stops.clone());
            running.spawn(async move {
                let fate = one(order, means, stopping, stops).await;
                (place, fate.unwrap_or_else(Fate::Failed))
            });
        }
        tokio::select! {
            done = running.join_next() => match done {
                Some(Ok((place, fate))) => tell(place, fate),
                Some(Err(error)) => return Err(error).context("a run's task failed"),
                None => return Ok(stopping.load(Ordering::Relaxed)),
            },
            _ = signals.next() => {
                stopping.store(true, Ordering::Relaxed);
                stop.send_modify(|count| *count += 1);
            }
        }
    }
}

/// One run, from its folder to its result.
async fn one(
    order: Order,
    means: Arc<Means>,
    stopping: Arc<AtomicBool>,
    mut stops: watch::Receiver<u32>,
) -> anyhow::Result<Fate> {
    let folder = Folder::of(&means.out, &order.asked.run);
    let launch = launch(&order, &folder);
    let (asked, source) = (order.asked, order.source);

    let prepared = {
        let (folder, asked, means, stopping) = (
            folder.clone(),
            asked.clone(),
            Arc::clone(&means),
            Arc::clone(&stopping),
        );
        tokio::task::spawn_blocking(move || -> anyhow::Result<Prepared> {
            let script = means.script.as_deref();
            if let Some(result) = folder.standing(&asked, &launch, script)? {
                return Ok(Prepared::Kept(Box::new(result)));
            }
            let stderr = folder.make(&launch, script)?;
            let passed_over = copy::copy(&source, &folder.path(WORKSPACE), &means.out, &stopping);
            match passed_over {
                Ok(passed_over) => Ok(Prepared::Made {
                    stderr,
                    passed_over,
                }),
                Err(_) if stopping.load(Ordering::Relaxed) => Ok(Prepared::Stopped),
                Err(error) => Err(error),
            }
        })
        .await
        .context("a workspace's copy failed")??
    };
    let stderr = match prepared {
        Prepared::Kept(result) => return Ok(Fate::Kept(*result)),
        Prepared::Stopped => return Ok(Fate::Stopped),
        Prepared::Made {
            stderr,
            passed_over,
        } => {
            for place in passed_over {
                crate::output::complain(format_args!(
                    "gg: {}: `{}` is no file, link or directory, and is not copied",
                    asked.run,
                    place.display()
                ));
            }
            stderr
        }
    };
    if stopping.load(Ordering::Relaxed) {
        return Ok(Fate::Stopped);
    }
    let mut child = start(&folder, stderr, &means)?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status.context("a run cannot be waited for")?,
            changed = stops.changed() => match changed {
                Ok(()) => ask_to_end(&child),
                // The sender outlives every run; without it there is nothing more to hear.
                Err(_) => break child.wait().await.context("a run cannot be waited for")?,
            },
        }
    };
    tokio::task::spawn_blocking(move || folder.conclude(&asked, status, &stopping))
        .await
        .context("a result cannot be read")?
}

enum Prepared {
    Kept(Box<RunResult>),
    Made {
        stderr: File,
        passed_over: Vec<PathBuf>,
    },
    Stopped,
}

/// The document that a run is given: its own workspace, and a session of its own name.
fn launch(order: &Order, folder: &Folder) -> Vec<u8> {
    let mut document = order.document.clone();
    document["workspaceDir"] = Value::from(folder.path(WORKSPACE).to_string_lossy());
    if let Some(session) = document["sessionId"].as_str() {
        document["sessionId"] = Value::from(format!("{session}/{}", order.asked.run));
    }
    let mut text = serde_json::to_vec_pretty(&document).expect("a JSON value can be written");
    text.push(b'\n');
    text
}

fn start(folder: &Folder, stderr: File, means: &Means) -> anyhow::Result<Child> {
    let stream = folder.path(STREAM_FILE);
    let stdout =
        File::create(&stream).with_context(|| format!("`{}` cannot be made", stream.display()))?;
    let mut command = Command::new(credential::own_path());
    if let Some(key) = &means.credential {
        let key =
            credential::hand_over(key.expose(), None).context("the key cannot be handed over")?;
        command.arg(credential::HANDED_OVER).stdin(key);
    } else {
        command.stdin(Stdio::null());
    }
    command.arg("run").arg(folder.path(LAUNCH));
    if means.script.is_some() {
        command.arg("--mock-script").arg(folder.path(SCRIPT));
    }
    command
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0)
        .spawn()
        .context("gg cannot start itself")
}

fn ask_to_end(child: &Child) {
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if let Some(pid) = pid {
        // It may have ended just now, and that is what is wanted.
        kill_process(pid, Signal::INT).ok();
    }
}

/// One run's folder.
#[derive(Clone, Debug)]
struct Folder(PathBuf);

impl Folder {
    fn of(out: &Path, run: &str) -> Self {
        Self(out.join("runs").join(run))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The result of a run that was carried out already, from the same document and the same
    /// script. One that was canceled had no chance to come to anything.
    fn standing(
        &self,
        asked: &Asked,
        launch: &[u8],
        script: Option<&[u8]>,
    ) -> anyhow::Result<Option<RunResult>> {
        if contents(&self.path(LAUNCH))?.as_deref() != Some(launch)
            || contents(&self.path(SCRIPT))?.as_deref() != script
        {
            return Ok(None);
        }
        let stream = self.path(STREAM_FILE);
        if !stream.exists() {
            return Ok(None);
        }
        let result = result::read(asked, &stream)?.filter(|it| it.status != CANCELED);
        if let Some(result) = &result {
            self.keep(result)?;
        }
        Ok(result)
    }

    /// Makes the folder anew, and answers the locked file its run says things into.
    fn make(&self, launch: &[u8], script: Option<&[u8]>) -> anyhow::Result<File> {
        let name = self.0.display();
        let unwritten = || format!("`{name}` cannot be written");
        if self.0.exists() {
            let empty = fs::read_dir(&self.0)
                .with_context(unwritten)?
                .next()
                .is_none();
            if !empty && !self.path(LAUNCH).exists() {
                bail!("`{name}` is no run's folder, for it holds no {LAUNCH}; it is left as it is");
            }
            if let Ok(stderr) = File::open(self.path(STDERR)) {
                self.lock(&stderr)?;
            }
            copy::remove(&self.0).with_context(unwritten)?;
        }
        fs::create_dir_all(&self.0).with_context(unwritten)?;
        fs::write(self.path(LAUNCH), launch).with_context(unwritten)?;
        if let Some(script) = script {
            fs::write(self.path(SCRIPT), script).with_context(unwritten)?;
        }
        let stderr = File::create_new(self.path(STDERR)).with_context(unwritten)?;
        self.lock(&stderr)?;
        Ok(stderr)
    }

    fn lock(&self, stderr: &File) -> anyhow::Result<()> {
        let name = self.0.display();
        match stderr.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => bail!(
                "a run is at work in `{name}` still, although its study is gone; end it or wait \
                 for it"
            ),
            // A file system without locks: then there is none to ask.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("`{name}` cannot be locked"))
            }
        }
    }

    /// Reads what a run that ended came to.
    fn conclude(
        &self,
        asked: &Asked,
        status: ExitStatus,
        stopping: &AtomicBool,
    ) -> anyhow::Result<Fate> {
        let result = result::read(asked, &self.path(STREAM_FILE))?;
        match result {
            Some(result) if result.status == CANCELED && stopping.load(Ordering::Relaxed) => {
                Ok(Fate::Stopped)
            }
            Some(result) => {
                self.keep(&result)?;
                Ok(Fate::Ran(result))
            }
            None if stopping.load(Ordering::Relaxed) => Ok(Fate::Stopped),
            None => {
                let said = self.last_words();
                bail!("it left no summary: {status}{said}")
            }
        }
    }

    fn keep(&self, result: &RunResult) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec_pretty(result).expect("a result has string keys");
        text.push(b'\n');
        replace_file(&self.path(RESULT), &text)
    }

    /// The last line a run said on stderr, to be put behind a sentence.
    fn last_words(&self) -> String {
        let read = || -> io::Result<String> {
            let mut file = File::open(self.path(STDERR))?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(4096)))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let text = read().unwrap_or_default();
        match text.trim_end().lines().next_back() {
            Some(line) => format!("; it said: {}", one_line(line)),
            None => String::new(),
        }
    }
}

/// The status of a run that its operator ended.
const CANCELED: &str = "canceled";

/// A file's bytes; `None` where there is none.
fn contents(file: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("`{}` cannot be read", file.display())),
    }
}
