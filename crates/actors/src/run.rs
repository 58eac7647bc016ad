//! The frame of a session: start the cast, wait for its end, write the epilogue (01 §9.7).
//!
//! One actix system, one arbiter. The frame itself owns what outlives every actor: the process
//! groups that commands left, the signals, the flow log's thread.

mod clients;
mod last_hooks;

use std::io;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::board::BoardPolicy;
use ::board::git::GitError;
use config::Launch;
use config::limits::Limits;
use context::prompts;
use provider::openrouter::{Credential, Endpoint};
use record::event::{Event, LogLevel, Origin, SessionStarted};
use record::journal::{Entry, Header, Journal, Recorder, Seed};
use record::mask::Mask;
use record::stream::{Gauge, StreamReport};
use record::summary::Conclusion;
use tools::shell::{GRACE, Runner};
use vocab::capability::CapabilityId;
use vocab::ids::RoutingKey;
use vocab::listed::Listed;
use vocab::looping::Knobs;
use vocab::operations::EndingRole;
use vocab::outcome::{EndStatus, exit_code};

use crate::agent::AgentSpec;
use crate::board::{self, Board, Closed, Hands, Surroundings};
use crate::clock::{RunClock, millis};
use crate::flow::{FlowWriter, Tap};
use crate::late_prices::{self, Enquiry};
use crate::launch::{self, Build, Prepared};
use crate::link::Link;
use crate::machine::Position;
use crate::messages::{Begin, Cancel, CloseJournal, Conclude, Keep, KeepSeed, RunEnd};
use crate::panics;
use crate::programs::Host;
use crate::provider_client::Ledger;
use crate::scheduler::Scheduler;
use crate::shared::{Recording, Shared, working_window};
use crate::signals::Signals;
use crate::supervisor::{self, Cast, Supervisor};
use crate::telemetry::{Outputs, Telemetry, Voice, Watch};
use crate::workspace;
use clients::{Common, start_clients};

/// How often the cancel file is looked for while agents wait. It may appear on any file system,
/// network ones included, where no event tells of it.
pub(crate) const CANCEL_PROBE: Duration = Duration::from_millis(200);

/// What a run is given beside its launch document.
#[derive(Debug)]
pub struct RunOptions {
    /// The checked launch.
    pub prepared: Prepared,
    /// Where the stream goes.
    pub outputs: Outputs,
    /// The binary, for the record.
    pub build: Build,
    /// Where the flow log goes, if anywhere.
    pub flow: Option<PathBuf>,
    /// The gateway; `None` where no live model is bound.
    pub endpoint: Option<Endpoint>,
    /// The key, which no captured text may carry (R23).
    pub credential: Option<Credential>,
    /// Where compiled guests are kept from run to run; `None` keeps none.
    pub guests: Option<PathBuf>,
    /// The run's key, where the process's environment carries it; else one is made.
    pub routing_key: Option<RoutingKey>,
}

/// A key for a new run.
pub fn new_routing_key() -> RoutingKey {
    RoutingKey::from(cuid2::create_id())
}

/// How a run ended.
#[derive(Debug)]
pub struct RunReport {
    /// The process's exit code.
    pub exit_code: u8,
    /// The run's status.
    pub status: EndStatus,
    /// What it failed of.
    pub error: Option<String>,
    /// What became of the stream.
    pub stream: StreamReport,
}

/// Runs one session to its end. Blocks; the calling thread becomes the arbiter.
///
/// An error is a run that could not start: its threads or the flow file.
pub fn run(options: RunOptions) -> io::Result<RunReport> {
    panics::install_hook();
    let launch = &options.prepared.launch;
    if launch.root().system_prompt.is_none() {
        let code = launch.root().enabled(CapabilityId::ResponsesAsCode);
        // Beside the start of the cast; without the thread, the first agent compiles it itself.
        std::thread::Builder::new()
            .name("gg-prompts".to_owned())
            .spawn(move || prompts::warm(code))
            .ok();
    }
    let flow = options.flow.as_deref().map(FlowWriter::start).transpose()?;
    let (tap, writer) = flow.unzip();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| io::Error::new(error.kind(), format!("its event loop: {error}")))?;
    // Never dropped: that would wait for every blocking call, and a file on a server that is gone
    // may never answer. The process is about to end.
    let system = ManuallyDrop::new(actix::System::with_tokio_rt(move || runtime));
    // A task of its own: the future a runtime blocks on is polled at every wake of any task.
    let session = system.block_on(async { actix::spawn(session(options, tap)).await });
    let report = session.unwrap_or_else(|_| Err(io::Error::other(panics::last())));
    if let Some(writer) = writer
        && let Err(error) = writer.finish()
    {
        tracing::error!("the flow log is incomplete: {error}");
    }
    report
}

async fn session(options: RunOptions, tap: Option<Tap>) -> io::Result<RunReport> {
    let RunOptions {
        prepared,
        outputs,
        build,
        endpoint,
        credential,
        guests,
        routing_key,
        ..
    } = options;
    let launch = Arc::clone(&prepared.launch);
    let limits = launch.capability_set.limits.clone();
    let clock = RunClock::start(limits.max_runtime_secs.map(Duration::from_secs));
    let routing_key = routing_key.unwrap_or_else(new_routing_key);
    let mut signals = Signals::listen()?;
    let ground = match board::open(&launch, &routing_key).await {
        Ok(ground) => ground,
        Err(error) => return refused(&prepared, &error, build, outputs),
    };
    // Of every run, also of one on mock models: a command may print the key it found elsewhere.
    let mask = credential.map_or_else(Mask::default, |key| Mask::new(key.expose()));
    let (telemetry, room) =
        start_telemetry(&prepared, build, outputs, &routing_key, &mask, tap.as_ref())?;
    let voice = Voice {
        telemetry: telemetry.held_by("run"),
        agent: None,
    };
    let seed = open_record(&prepared, build, &routing_key, &voice);
    if let Some(ground) = &ground {
        ground.tell(&voice);
    }

    let programs = Host::new(&launch, guests, &mask, &voice);
    let shared = Arc::new(Shared::new(
        Arc::clone(&launch),
        clock,
        Runner::new(&routing_key),
        Recording { mask, seed, room },
        prepared.skills.clone(),
        programs,
    ));
    let (mailbox, supervisor) = Supervisor::open(tap.as_ref());
    let alarm = supervisor.held_by("telemetry");
    telemetry.tell(Watch(Arc::new(move |defect| alarm.tell(defect))));
    let abandoned = Arc::new(Ledger::default());
    let scheduler = Scheduler::start(limits.max_parallel, supervisor.clone(), tap.as_ref());
    let hands = ground.map(|ground| ground.hands);
    let surroundings = Surroundings {
        supervisor: supervisor.clone(),
        scheduler: scheduler.clone(),
        telemetry: telemetry.clone(),
        shared: Arc::clone(&shared),
        tap: tap.clone(),
    };
    let cast = Cast {
        board: start_board(&launch, hands.as_ref(), surroundings),
        scheduler,
        clients: start_clients(
            &prepared,
            &Common {
                routing_key: &routing_key,
                clock,
                endpoint: endpoint.as_ref(),
                abandoned: &abandoned,
            },
            &supervisor,
            &telemetry,
            tap.as_ref(),
        ),
        telemetry: telemetry.clone(),
    };
    let root = root_spec(&launch);
    let setup = supervisor::Setup {
        limits: limits.clone(),
        cancel_file: launch.cancel_file.clone(),
        root: root.clone(),
        shared: Arc::clone(&shared),
    };
    Supervisor::start(mailbox, &supervisor, setup, cast, tap);

    let end = await_end(
        &supervisor,
        launch.cancel_file.as_deref(),
        &mut signals,
        &shared,
        &voice.telemetry,
    )
    .await;
    shared.programs.end();
    last_hooks::run(&end, &root, &supervisor, &shared, &voice, &mut signals).await;
    let frame = Frame {
        shared: &shared,
        hands: hands.as_ref(),
        endpoint: endpoint.as_ref(),
        abandoned: &abandoned,
        telemetry: &telemetry,
        voice: &voice,
        limits: &limits,
    };
    epilogue(end, frame, &mut signals).await
}

/// The end of a run whose workspace no board can work on: nothing was begun.
fn refused(
    prepared: &Prepared,
    why: &GitError,
    build: Build,
    outputs: Outputs,
) -> io::Result<RunReport> {
    let refusal = launch::unworkable(why);
    let error = refusal.to_string();
    let stream = launch::refuse_prepared(prepared, &[refusal], build, outputs)?;
    let status = EndStatus::LaunchRefused;
    Ok(RunReport {
        exit_code: exit_code(status, false, false, false),
        status,
        error: Some(error),
        stream,
    })
}

/// The run's board, where its launch has one.
fn start_board(
    launch: &Launch,
    hands: Option<&Hands>,
    surroundings: Surroundings,
) -> Option<Link<Board>> {
    let policy = launch.board()?;
    let policy = BoardPolicy {
        merge_agent: policy.merge_agent.clone(),
        max_epics: policy.max_epics,
        max_issues: policy.max_issues,
        max_retries: policy.max_retries,
    };
    Some(Board::start(policy, hands?.clone(), surroundings))
}

fn start_telemetry(
    prepared: &Prepared,
    build: Build,
    outputs: Outputs,
    routing_key: &RoutingKey,
    mask: &Mask,
    tap: Option<&Tap>,
) -> io::Result<(Link<Telemetry>, Gauge)> {
    let launch = &prepared.launch;
    let journal = Journal::start(
        &launch.workspace_dir.join(".gg/replay.ndjson"),
        launch.capability_set.limits.replay_max_bytes,
        Header {
            session_id: launch.session_id.clone(),
            routing_key: routing_key.clone(),
            capability_set: Some(Arc::clone(&prepared.capability_set)),
            model_providers: Some(Arc::clone(&prepared.model_providers)),
            recorder: Recorder {
                gg_version: build.version.to_owned(),
                commit: build.commit.map(str::to_owned),
            },
        },
        mask.clone(),
    );
    Telemetry::start(
        launch.session_id.clone(),
        outputs,
        mask.clone(),
        journal,
        tap,
    )
}

/// The first lines of the stream and of the journal.
fn open_record(prepared: &Prepared, build: Build, routing_key: &RoutingKey, voice: &Voice) -> Seed {
    let launch = &prepared.launch;
    let limits = launch.capability_set.limits.in_force();
    voice.say(Event::SessionStarted(Box::new(SessionStarted {
        capability_set: Some(Arc::clone(&prepared.capability_set)),
        model_providers: Some(Arc::clone(&prepared.model_providers)),
        model_prices: prepared.model_prices.clone(),
        routing_key: routing_key.clone(),
        configuration: launch.capability_set.preset.clone(),
        gg_version: build.version,
        commit: build.commit,
        workspace: Some(launch.workspace_dir.display().to_string()),
        windows: launch.model_windows.clone(),
        limits: limits.clone(),
    })));
    voice.log(
        LogLevel::Info,
        Some("limits_armed"),
        armed(&launch.capability_set.limits),
    );
    if let Some(knobs) = launch.root().loop_knobs() {
        voice.log(
            LogLevel::Info,
            Some("loop_detection_armed"),
            watched(&knobs),
        );
    }
    for warning in &prepared.warnings {
        voice.log(LogLevel::Warn, Some("launch"), warning.clone());
    }
    if let Err(error) = workspace::exclude_from_git(&launch.workspace_dir) {
        voice.log(
            LogLevel::Warn,
            Some("launch"),
            format!("`/.gg/` cannot be added to the repository's info/exclude: {error}"),
        );
    }
    if let Err(error) = prepared.skills.create_default() {
        voice.log(
            LogLevel::Warn,
            Some("launch"),
            format!("the directory of skills cannot be made: {error}"),
        );
    }
    let seed = Seed {
        // Two small reads: cheaper than the thread that would do them later.
        baseline: workspace::git_head(&launch.workspace_dir),
        build_prompt: launch.prompt.clone(),
        windows: launch.model_windows.clone(),
        modalities: launch.model_modalities.clone(),
    };
    voice.telemetry.tell(KeepSeed(seed.clone()));
    seed
}

/// The line that names every armed ceiling, or says that none is.
fn armed(limits: &Limits) -> String {
    const CEILINGS: [&str; 6] = [
        "maxTurns",
        "maxRuntimeSecs",
        "maxConsecutiveErrors",
        "maxErrorRate",
        "errorRateWindow",
        "maxCost",
    ];
    let in_force = limits.in_force();
    let armed: Vec<_> = CEILINGS
        .iter()
        .filter_map(|key| in_force.get(key).map(|value| format!("{key} {value}")))
        .collect();
    if armed.is_empty() {
        "no ceiling is armed: only the clock of whoever started this run bounds it".to_owned()
    } else {
        format!("ceilings armed: {}", armed.join(", "))
    }
}

/// The line that names the figures of the root's loop detector.
fn watched(knobs: &Knobs) -> String {
    format!(
        "loop detection armed: windowWords {}, repeatThreshold {}, minOffenders {}, \
         minSaturatedRun {}, maxResponseChars {}",
        knobs.window_words,
        knobs.repeat_threshold,
        knobs.min_offenders,
        knobs.min_saturated_run,
        knobs.max_response_chars
    )
}

fn root_spec(launch: &Launch) -> AgentSpec {
    let first = launch.worker(&launch.capability_set.agents[0]);
    let profile = Arc::new(first.profile.clone());
    AgentSpec {
        id: "root".into(),
        lineage: "root".into(),
        kind: "root",
        origin: Origin::Root,
        role: EndingRole::Standard,
        brief: launch.prompt.as_str().into(),
        cwd: launch.workspace_dir.clone(),
        works_for: None,
        worktree: None,
        depth: 0,
        window_limit: working_window(launch, &profile),
        position: first.machine.and_then(Position::entry),
        profile,
    }
}

/// Begins, and passes on whatever stops the run before its agents are done.
async fn await_end(
    supervisor: &Link<Supervisor>,
    cancel_file: Option<&Path>,
    signals: &mut Signals,
    shared: &Shared,
    telemetry: &Link<Telemetry>,
) -> RunEnd {
    // Nobody looks for the file again once it was seen: the latch never clears.
    let mut awaited: Option<Arc<Path>> = cancel_file.map(Into::into);
    let cancel = |path: &Path| {
        telemetry.tell(Keep {
            agent: None,
            entry: Entry::CancelProbe { found: true },
        });
        supervisor.tell(Cancel {
            origin: format!("the cancel file {}", path.display()),
        });
    };
    if let Some(path) = awaited.clone()
        && supervisor::exists(Arc::clone(&path)).await
    {
        cancel(&path);
        awaited = None;
    }
    let mut end = std::pin::pin!(supervisor.ask(Begin));
    let mut signaled = false;
    let mut probe = tokio::time::interval(CANCEL_PROBE);
    loop {
        tokio::select! {
            end = &mut end => {
                return end.unwrap_or_else(|error| {
                    let why = format!("the supervisor is gone ({error}): {}", panics::last());
                    RunEnd::unsupervised(why)
                });
            }
            name = signals.next() => {
                if signaled {
                    shared.runner.kill_all();
                }
                signaled = true;
                supervisor.tell(Cancel { origin: name.to_owned() });
            }
            _ = probe.tick(), if awaited.is_some() => {
                if let Some(path) = awaited.clone()
                    && supervisor::exists(Arc::clone(&path)).await
                {
                    cancel(&path);
                    awaited = None;
                }
            }
        }
    }
}

/// What is left of a run when its agents are done.
struct Frame<'a> {
    shared: &'a Shared,
    /// The repository that a board worked on.
    hands: Option<&'a Hands>,
    endpoint: Option<&'a Endpoint>,
    abandoned: &'a Ledger,
    telemetry: &'a Link<Telemetry>,
    voice: &'a Voice,
    limits: &'a Limits,
}

async fn epilogue(end: RunEnd, frame: Frame<'_>, signals: &mut Signals) -> io::Result<RunReport> {
    let Frame {
        shared,
        telemetry,
        voice,
        limits,
        ..
    } = frame;
    let left = {
        let mut ending = std::pin::pin!(shared.runner.end_all(GRACE));
        loop {
            tokio::select! {
                left = &mut ending => break left,
                _ = signals.next() => shared.runner.kill_all(),
            }
        }
    };
    for group in left {
        voice.log(
            LogLevel::Warn,
            Some("left_running"),
            format!(
                "process group {} was still running and was ended: {}",
                group.group, group.command
            ),
        );
    }
    if let Some(hands) = frame.hands {
        close_repository(hands, voice, signals).await;
    }
    let enquiry = Enquiry {
        endpoint: frame.endpoint,
        prices: &shared.launch.model_prices,
        stopped: end.status == EndStatus::Canceled || signals.seen() > 0,
        cancel_file: shared.launch.cancel_file.as_deref(),
    };
    let loop_abort_unpriced =
        late_prices::settle(frame.abandoned.take(), enquiry, voice, signals).await;
    let status = end.status;
    let code = exit_code(status, end.defect.is_some(), end.mismatch, end.any_breach);
    voice.log(
        LogLevel::Info,
        Some("ended"),
        format!("run ended as {status}, exit code {code}"),
    );
    let gone = |_| io::Error::other(format!("telemetry died: {}", panics::last()));
    let journal = telemetry.ask(CloseJournal).await.map_err(gone)?;
    let conclusion = Conclusion {
        status,
        exit_code: code,
        limits: limits.in_force(),
        limit_hit: end.limit_hit,
        wall_ms: millis(shared.clock.elapsed()),
        loop_abort_unpriced,
        capture_bytes: journal.bytes,
        capture_stopped: journal.stopped,
    };
    let conclude = Conclude {
        conclusion,
        error: end.error.clone(),
    };
    let stream = tokio::select! {
        stream = telemetry.ask(conclude) => stream.map_err(gone)?,
        // The stream waits for its reader, however slow; a reader that has stopped may not keep
        // the process from ending.
        () = signals.insisted() => {
            let why = "stdout is not being read: the last lines of the stream are lost";
            let stream = StreamReport {
                error: Some(why.to_owned()),
                ..StreamReport::default()
            };
            return Ok(lost_stream(why.to_owned(), stream));
        }
    };
    if let Some(lost) = &stream.error {
        let why = format!("the event stream cannot be written to stdout: {lost}");
        return Ok(lost_stream(why, stream));
    }
    Ok(RunReport {
        exit_code: code,
        status,
        error: end.error,
        stream,
    })
}

/// Leaves the repository that a board worked on.
async fn close_repository(hands: &Hands, voice: &Voice, signals: &mut Signals) {
    let told = tokio::select! {
        closed = hands.close() => match closed {
            Closed::InOrder => None,
            Closed::Undone(kept) if kept.is_empty() => {
                Some("a merge was left open and was undone".to_owned())
            }
            Closed::Undone(kept) => Some(format!(
                "a merge was left open and was undone; what was committed meanwhile is on {}",
                Listed(&kept)
            )),
            Closed::Failed(why) => Some(format!("the board's git is left as it is: {why}")),
        },
        () = signals.insisted() => Some("the board's git was not waited for".to_owned()),
    };
    if let Some(told) = told {
        voice.log(LogLevel::Warn, Some("board"), told);
    }
}

/// The report of a run whose record was lost. The record is what a run leaves: losing it is gg's
/// failure (06 §1), also where nothing was left to stop.
fn lost_stream(why: String, stream: StreamReport) -> RunReport {
    let status = EndStatus::InternalError;
    RunReport {
        exit_code: exit_code(status, true, false, false),
        status,
        error: Some(why),
        stream,
    }
}
