//! `shell`: commands, each `sh -c` in a process group of its own (04 §4).
//!
//! One thread with a small runtime of its own, started by the first command, spawns every command,
//! reads its pipes, writes its files and keeps its time. Whoever asks only awaits an answer, on
//! whatever runtime: neither a spawn nor a disk nor two gigabytes of output ever cost its thread
//! more than that.
//!
//! Always true: memory a command takes is bounded whatever it writes; a command that exits, with
//! whatever code, is a result; every group is known until nothing of it lives ([`Runner::end_all`]).

pub(crate) mod capture;
mod groups;
mod last_line;
pub(crate) mod lines;
mod pipes;
mod run;
mod script;
pub(crate) mod spool;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use vocab::failure::{Failure, FailureClass};
use vocab::ids::RoutingKey;
use vocab::tools::ShellPolicy;

use crate::paths::{Place, reason};
use groups::Groups;
pub use groups::{GRACE, Leftover, MARK};
pub use last_line::LastLine;
pub use script::Script;

/// A command to run.
#[derive(Clone, Debug)]
pub struct Request {
    /// As given to `sh -c`; of a script, what it goes by.
    pub command: Arc<str>,
    /// What is run instead of `sh -c`.
    pub script: Option<Script>,
    /// Where it runs.
    pub place: Place,
    /// What it may take.
    pub timeout: Duration,
    /// What is left of the run's time, where that has an end.
    pub time_left: Option<Duration>,
    /// What becomes of its output; without one, the byte cap alone counts.
    pub policy: Option<ShellPolicy>,
}

impl Request {
    /// What the command gets, and whether that is the run's time rather than its own.
    fn limit(&self) -> (Duration, bool) {
        match self.time_left {
            Some(left) if left < self.timeout => (left, true),
            _ => (self.timeout, false),
        }
    }
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with a code or by a signal of its own.
    Exited,
    /// Its time was up and its group was killed.
    TimedOut {
        /// The time it had.
        after: Duration,
        /// It was the run's time, not its own, that was up.
        clock: bool,
    },
    /// It was stopped from outside.
    Stopped,
    /// It could not start.
    NotStarted {
        /// Why, in words.
        why: String,
    },
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Its exit code; −1 for a signal, a timeout, a stop or a failed launch.
    pub exit_code: i32,
    /// The merged output under the policy, its note included.
    pub output: String,
    /// Whether some of the output is not in it.
    pub truncated: bool,
    /// Of a script, the last line of its stdout that is not blank.
    pub last_line: LastLine,
    /// What a record says of it.
    pub record: Record,
}

/// A command as the event `shell` records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// As given to `sh -c`.
    pub command: Arc<str>,
    /// Relative to the agent's root, absolute outside it.
    pub cwd: String,
    /// As in [`Outcome::exit_code`].
    pub exit_code: i32,
    /// The last 16,384 characters of the stream, before any policy.
    pub stdout: String,
    /// The last 16,384 characters of the stream, before any policy.
    pub stderr: String,
    /// Characters before those.
    pub stdout_dropped: u64,
    /// Characters before those.
    pub stderr_dropped: u64,
}

impl Outcome {
    /// The result of the tool call.
    ///
    /// # Errors
    ///
    /// `limit-exceeded` for a timeout, with the partial output; `io-error` for a command that could
    /// not start; `other` for one that was stopped.
    pub fn result(&self) -> Result<String, Failure> {
        let output = if self.output.is_empty() {
            "(no output)"
        } else {
            &self.output
        };
        match &self.end {
            End::Exited => Ok(format!("exit code: {}\n{output}", self.exit_code)),
            End::TimedOut { clock: true, .. } => Err(Failure::new(
                FailureClass::LimitExceeded,
                format!("killed, since the run's time is spent\n{output}"),
            )),
            End::TimedOut {
                after,
                clock: false,
            } => Err(Failure::new(
                FailureClass::LimitExceeded,
                format!(
                    "timed out after {} s and was killed\n{output}",
                    after.as_secs_f64()
                ),
            )),
            End::Stopped => Err(Failure::new(
                FailureClass::Other,
                format!("stopped, since the run is ending\n{output}"),
            )),
            End::NotStarted { why } => {
                Err(Failure::io(format!("the command could not start: {why}")))
            }
        }
    }
}

/// What the runner and its thread share.
struct Shared {
    run: RoutingKey,
    /// Commands inherit gg's environment as it stands.
    inherits: bool,
    groups: Groups,
    folder: PathBuf,
    file_cap: u64,
    spare: spool::Spare,
    pipes: pipes::Spare,
}

/// What the thread is asked for.
enum Job {
    Run {
        request: Request,
        stop: run::Stop,
        answer: oneshot::Sender<Outcome>,
    },
    EndAll {
        grace: Duration,
        answer: oneshot::Sender<Vec<Leftover>>,
    },
}

/// Runs the commands of one run. Dropping it lets go of commands without ending them.
pub struct Runner {
    shared: Arc<Shared>,
    /// The way to the thread, once there is one.
    jobs: Mutex<Option<mpsc::UnboundedSender<Job>>>,
}

impl Runner {
    /// A runner whose commands carry the run's key as `GG_RUN`. Starts nothing.
    pub fn new(run: &RoutingKey) -> Self {
        Self::with(run, spool::FOLDER.into(), spool::CAP)
    }

    fn with(run: &RoutingKey, folder: PathBuf, file_cap: u64) -> Self {
        let shared = Shared {
            run: run.clone(),
            inherits: run::environment_fits(run),
            groups: Groups::of(run),
            folder,
            file_cap,
            spare: spool::Spare::default(),
            pipes: pipes::Spare::default(),
        };
        Self {
            shared: Arc::new(shared),
            jobs: Mutex::new(None),
        }
    }

    /// Runs a command to its end. It is started by this call, before the future is awaited. When
    /// `stop` resolves, or the future is dropped, its group gets SIGTERM, and SIGKILL after
    /// [`GRACE`].
    pub fn run<Stop>(
        &self,
        request: Request,
        stop: Stop,
    ) -> impl Future<Output = Outcome> + use<Stop>
    where
        Stop: Future<Output = ()> + Send + 'static,
    {
        let (answer, outcome) = oneshot::channel();
        let asked = self.ask(Job::Run {
            request: request.clone(),
            stop: Box::pin(stop),
            answer,
        });
        async move {
            let why = match asked {
                Ok(()) => match outcome.await {
                    Ok(outcome) => return outcome,
                    Err(_) => "its runner failed".to_owned(),
                },
                Err(error) => reason(&error),
            };
            run::not_started(&request, why)
        }
    }

    /// Ends what commands left running: SIGTERM to every group that still lives, SIGKILL after
    /// `grace`. Names them.
    pub async fn end_all(&self, grace: Duration) -> Vec<Leftover> {
        // Without a thread no command ever ran.
        let jobs = self.jobs().clone();
        let (answer, leftovers) = oneshot::channel();
        let asked = jobs.is_some_and(|jobs| jobs.send(Job::EndAll { grace, answer }).is_ok());
        if asked {
            leftovers.await.unwrap_or_default()
        } else {
            Vec::new()
        }
    }

    /// Kills every group at once, and waits for nothing.
    pub fn kill_all(&self) {
        self.shared.groups.kill_all();
    }

    fn ask(&self, job: Job) -> std::io::Result<()> {
        let mut jobs = self.jobs();
        let sender = match &*jobs {
            Some(sender) => sender,
            None => jobs.insert(self.start()?),
        };
        sender
            .send(job)
            .map_err(|_| std::io::Error::other("the runner's thread is gone"))
    }

    fn start(&self) -> std::io::Result<mpsc::UnboundedSender<Job>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (sender, mut jobs) = mpsc::unbounded_channel();
        let shared = self.shared.clone();
        let serve = async move {
            while let Some(job) = jobs.recv().await {
                let shared = shared.clone();
                match job {
                    Job::Run {
                        request,
                        stop,
                        answer,
                    } => {
                        tokio::spawn(run::run(shared, request, stop, answer));
                    }
                    Job::EndAll { grace, answer } => {
                        tokio::spawn(async move {
                            let leftovers = shared.groups.end_all(grace).await;
                            shared.spare.discard();
                            shared.pipes.discard();
                            // Whoever asked may have run out of time itself.
                            answer.send(leftovers).ok();
                        });
                    }
                }
            }
        };
        std::thread::Builder::new()
            .name("gg-shell".to_owned())
            .spawn(move || runtime.block_on(serve))?;
        Ok(sender)
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, Option<mpsc::UnboundedSender<Job>>> {
        // Whole between any two statements, whoever panicked.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
