//! One command from its start to its result, on the runner's thread.
//!
//! The command runs until it exits, its time is up or it is stopped; then its pipes are drained to
//! their end, for a while at most. What it leaves running keeps its pipes, so that writing into
//! them does not kill it: they are read on into the files until they end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::sleep;
use vocab::credential::VARIABLE;
use vocab::ids::RoutingKey;

use super::capture::{Capture, Source};
use super::groups::{GRACE, MARK, signal};
use super::pipes::{Far, Pipes};
use super::{End, LastLine, Outcome, Record, Request, Shared, script};
use crate::paths::reason;
use crate::{open_files, output};

/// How long pipes are drained after `sh` is gone.
const DRAIN: Duration = Duration::from_secs(2);

/// How long pipes are drained once a stopped command was killed: the run is ending.
const LAST_DRAIN: Duration = Duration::from_millis(250);

/// How often, and how long apart, a script is tried that somebody still holds open: no event tells
/// of its being let go.
const BUSY_TRIES: u32 = 100;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Whether gg's own environment is what a command of the run is to see.
pub(super) fn environment_fits(run: &RoutingKey) -> bool {
    std::env::var_os(VARIABLE).is_none()
        && std::env::var_os(MARK).is_some_and(|mark| mark == run.as_str())
}

/// Resolves when a command is to be stopped.
pub(super) type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs a command and answers. An asker that is gone stops it.
pub(super) async fn run(
    shared: Arc<Shared>,
    request: Request,
    stop: Stop,
    mut answer: oneshot::Sender<Outcome>,
) {
    let (mut child, leader, mut pipes) = match start(&shared, &request).await {
        Ok(started) => started,
        Err(why) => {
            // Nobody waits for the answer any more, then nobody misses it.
            answer.send(not_started(&request, why)).ok();
            return;
        }
    };
    shared.groups.enter(leader, request.command.clone());
    let offloads = output::offloads(request.policy);
    let disk = offloads.then(|| shared.spare.take(&shared.folder, shared.file_cap));
    let mut capture = Capture::new(disk);
    if request.script.is_some() {
        capture.watch_last_line();
    }
    let ended = {
        let stopped = async {
            tokio::select! {
                () = stop => {}
                () = answer.closed() => {}
            }
        };
        follow(
            &mut child,
            leader,
            &mut pipes,
            &mut capture,
            &request,
            stopped,
        )
        .await
    };
    let waited = ended.waited;
    capture.finish();
    // As above: who asked may be gone, and the pipes are still to be emptied.
    answer.send(outcome(&request, &capture, ended)).ok();
    // What the answer does not need is done behind it.
    if waited {
        shared.groups.leave(leader);
    }
    shared.pipes.refill();
    if offloads {
        shared.spare.refill(&shared.folder, shared.file_cap);
    }
    while pipes.open() {
        pipes
            .read(|source, bytes| capture.spool(source, bytes))
            .await;
    }
}

/// Starts `sh`, or a script, at the head of its own group, without input.
async fn start(shared: &Shared, request: &Request) -> Result<(Child, Pid, Pipes), String> {
    let mut tries = BUSY_TRIES;
    let spawned = loop {
        let spawned = shared.pipes.take().and_then(|(pipes, far)| {
            let child = spawn(shared, request, far)?;
            Ok((child, pipes))
        });
        match spawned {
            // A process started at this moment by another thread may still hold the script open
            // as it was when gg wrote it; it lets go as it becomes what it is to be.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries > 0 => {
                tries -= 1;
                sleep(BUSY_PAUSE).await;
            }
            spawned => break spawned,
        }
    };
    let (child, pipes) = spawned.map_err(|error| why_not(&error, request))?;
    let leader = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    let leader = leader.ok_or("the process was gone at once")?;
    open_files::give_back(leader);
    Ok((child, leader, pipes))
}

fn spawn(shared: &Shared, request: &Request, far: Far) -> io::Result<Child> {
    // The group and the directory are set by attributes and no hook runs before `exec`: so the
    // process is spawned, not forked, at the same price however large gg has grown.
    let mut command = match &request.script {
        None => {
            let mut command = Command::new("/bin/sh");
            command.arg0("sh").arg("-c").arg(&*request.command);
            command
        }
        Some(script) => script.command(),
    };
    // An environment that is changed is made anew for each command.
    if !shared.inherits {
        command.env_remove(VARIABLE).env(MARK, shared.run.as_str());
    }
    command
        .current_dir(&request.place.cwd)
        .stdin(far.stdin)
        .stdout(far.stdout)
        .stderr(far.stderr)
        .process_group(0)
        .spawn()
}

/// Why a command could not start. The directory is looked at only now: it is nearly always there.
fn why_not(error: &io::Error, request: &Request) -> String {
    let cwd = &request.place.cwd;
    match std::fs::metadata(cwd) {
        Ok(found) if !found.is_dir() => {
            format!(
                "the working directory `{}` is not a directory",
                cwd.display()
            )
        }
        Ok(_) if request.script.is_some() => script::why_not(error),
        Ok(_) if error.kind() == io::ErrorKind::ArgumentListTooLong => format!(
            "the command is too long ({} bytes); write it to a file and run that",
            request.command.len()
        ),
        Ok(_) => reason(error),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
            format!("the working directory `{}` does not exist", cwd.display())
        }
        Err(other) => format!(
            "the working directory `{}`: {}",
            cwd.display(),
            reason(&other)
        ),
    }
}

/// Where a command stands, and what happens when its timer runs out.
enum Phase {
    /// `sh` runs: its time is up.
    Running,
    /// `sh` exited by itself: no more output is waited for.
    Draining,
    /// Asked to end: killed.
    Terminating,
    /// Killed: given up.
    Killed,
}

/// How a command was left.
struct Ended {
    end: End,
    /// It was waited for. Without, not even SIGKILL ended it in time.
    waited: bool,
    /// Its code, where it exited with one.
    code: Option<i32>,
}

/// Follows a command to its end.
async fn follow(
    child: &mut Child,
    leader: Pid,
    pipes: &mut Pipes,
    capture: &mut Capture,
    request: &Request,
    stopped: impl Future<Output = ()>,
) -> Ended {
    let group = leader.as_raw_nonzero().get();
    let (limit, clock) = request.limit();
    let timer = sleep(limit);
    tokio::pin!(timer, stopped);
    let again = |timer: Pin<&mut tokio::time::Sleep>, after: Duration| {
        timer.reset(tokio::time::Instant::now() + after);
    };
    let mut ended = Ended {
        end: End::Exited,
        waited: false,
        code: None,
    };
    let (mut phase, mut stop_seen) = (Phase::Running, false);
    while !ended.waited || pipes.open() {
        tokio::select! {
            biased;
            () = &mut stopped, if !stop_seen => {
                stop_seen = true;
                match phase {
                    Phase::Running => {
                        ended.end = End::Stopped;
                        signal(group, Signal::TERM);
                        phase = Phase::Terminating;
                        again(timer.as_mut(), GRACE);
                    }
                    // The command is done; what it left is ended with the run.
                    Phase::Draining => break,
                    Phase::Terminating | Phase::Killed => again(timer.as_mut(), LAST_DRAIN),
                }
            }
            () = &mut timer => match phase {
                Phase::Running => {
                    ended.end = End::TimedOut { after: limit, clock };
                    signal(group, Signal::KILL);
                    phase = Phase::Killed;
                    again(timer.as_mut(), DRAIN);
                }
                Phase::Terminating => {
                    signal(group, Signal::KILL);
                    phase = Phase::Killed;
                    again(timer.as_mut(), LAST_DRAIN);
                }
                Phase::Draining | Phase::Killed => break,
            },
            exited = child.wait(), if !ended.waited => {
                // A wait that fails has lost the child to someone else's: its code is unknown.
                ended.waited = true;
                ended.code = exited.ok().and_then(|status| status.code());
                if matches!(phase, Phase::Running) {
                    phase = Phase::Draining;
                    // Where nothing is left to drain, none is waited for: a timer is a system call.
                    if pipes.open() {
                        again(timer.as_mut(), DRAIN);
                    }
                }
            }
            () = pipes.read(|source, bytes| capture.take(source, bytes)), if pipes.open() => {}
        }
    }
    ended
}

fn outcome(request: &Request, capture: &Capture, ended: Ended) -> Outcome {
    let exit_code = match ended.end {
        End::Exited => ended.code.unwrap_or(-1),
        End::TimedOut { .. } | End::Stopped | End::NotStarted { .. } => -1,
    };
    let shown = output::shown(request.policy, capture);
    let (stdout, stdout_dropped) = capture.recorded(Source::Stdout);
    let (stderr, stderr_dropped) = capture.recorded(Source::Stderr);
    let record = Record {
        stdout,
        stderr,
        stdout_dropped,
        stderr_dropped,
        ..record(request, exit_code)
    };
    Outcome {
        end: ended.end,
        exit_code,
        output: shown.text,
        truncated: shown.truncated,
        last_line: capture.last_line(),
        record,
    }
}

/// The outcome of a command that never ran.
pub(super) fn not_started(request: &Request, why: String) -> Outcome {
    Outcome {
        end: End::NotStarted { why },
        exit_code: -1,
        output: String::new(),
        truncated: false,
        last_line: LastLine::Nothing,
        record: record(request, -1),
    }
}

fn record(request: &Request, exit_code: i32) -> Record {
    Record {
        command: request.command.clone(),
        cwd: request.place.shown_cwd(),
        exit_code,
        stdout: String::new(),
        stderr: String::new(),
        stdout_dropped: 0,
        stderr_dropped: 0,
    }
}
