//! One program on a thread of its own, from its source to how it ended (04 §11, §13; R37).
//!
//! The thread drives the guest on a small runtime of its own, so that whatever the guest waits for
//! outside of gg's calls (a sleep, a poll, a read) can be dropped: that ends it. What cannot be
//! dropped is a file operation the operating system is in the middle of; its thread is left behind and
//! counted.
//!
//! A program is handed to the thread that waits for one of its guest, with an instance made ahead; to
//! a new one where none waits. Beside it the next instance is made, and whoever asked for it is told
//! how it ended before its own is taken down.
//!
//! Always true: time in calls is charged to neither clock; whoever waits for a program hears of its
//! end, or, where the thread panicked, that its sender is gone.

use std::ffi::CStr;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use vocab::grant::Offer;
use vocab::operations::EndingRole;
use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::I32Exit;

use crate::components::Guest;
use crate::contract::{self, CodeModule};
use crate::engine::{EngineError, runtime};
use crate::host::{Calls, Logs, Membrane, ModuleError};
use crate::locations::Locations;
use crate::outcome::{Clock, Evidence, Fault, Return, judge};
use crate::services::Services;
use crate::stderr::Captured;
use crate::surroundings::{Outlook, Surroundings, stated};
use crate::vessel::{self, Instance, State, Vessel, waiting};

/// How long a guest may wait outside of calls beyond its budget (R37).
pub const GRACE: Duration = Duration::from_secs(5);

/// Threads left behind, past which gg is at fault (R37).
pub const MAX_ABANDONED: usize = 8;

/// A thread that has not ended this long after its program is one left behind.
const LEFT_BEHIND: Duration = Duration::from_secs(1);

/// Bytes that one call of a guest may bring the host to copy. A guest is to refuse its program's
/// call before that; this bound is what stands behind it.
pub const MAX_CALL_BYTES: usize = 48 * 1024 * 1024;

/// Linear memory past which an instance is taken down before its end is told: an agent's next program
/// may have begun by the time it is.
const LIGHT_BYTES: u64 = 64 * 1024 * 1024;

/// What is run.
pub struct Program {
    /// The guest that runs it.
    pub guest: Guest,
    /// Its text; empty for a guest that is the program.
    pub source: String,
    /// Code it may import.
    pub modules: Vec<CodeModule>,
    /// From places in these to places in what was written.
    pub locations: Locations,
    /// Whether its agent keeps programs.
    pub has_library: bool,
    /// What its agent may call.
    pub offer: Offer,
    /// How long it may run, calls left out.
    pub budget: Duration,
    /// How much linear memory it may have.
    pub max_memory_bytes: u64,
    /// Where it runs.
    pub surroundings: Surroundings,
    /// The threads that its own is counted among.
    pub threads: Threads,
}

impl Program {
    /// What its guest can read of the machine as it starts.
    pub fn outlook(&self) -> Outlook {
        Outlook {
            surroundings: self.surroundings.clone(),
            budget: self.budget,
        }
    }
}

/// What became of a program.
pub struct Execution {
    /// Why it did not end well, where it did not.
    pub fault: Option<Fault>,
    /// What it called.
    pub calls: Calls,
    /// What it printed.
    pub logs: Logs,
    /// Failures that its runtime told beyond those of the fault.
    pub reports_dropped: u64,
    /// Modules that failed to load.
    pub module_errors: Vec<ModuleError>,
    /// How many more of them there were.
    pub module_errors_dropped: u64,
    /// What it wrote on standard error.
    pub stderr: String,
    /// How long it took, calls left out.
    pub guest_time: Duration,
    /// What its calls ended in, given back; `None` once somebody took it.
    pub services: Option<Box<dyn Services>>,
}

/// A program that could not be started; a defect of gg's or of the machine.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Too many threads hang in the operating system.
    #[error(
        "{0} programs left threads behind that the operating system does not end, and gg runs no more \
         programs\nhint: look for files they opened that the system does not answer for: on a network mount, \
         or leased by another process"
    )]
    Abandoned(usize),
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The operating system gave nothing to wait with.
    #[error(
        "what a program's thread waits with could not be made: {0}\nhint: see how many files a process \
         may open (`ulimit -n`)"
    )]
    Runtime(#[source] std::io::Error),
    /// The operating system gave no thread.
    #[error(
        "no thread could be had for a program: {0}\nhint: see how many threads a user may have \
         (`ulimit -u`)"
    )]
    Thread(#[source] std::io::Error),
}

/// Ends a program from outside, at once, whatever it waits for; clones end the same one.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Notify>);

impl Stop {
    /// Ends the program, now or as soon as it starts.
    pub fn stop(&self) {
        // The permit is kept where nobody waits yet.
        self.0.notify_one();
    }
}

/// Time in calls, as the program's thread counts it and its clocks read it.
#[derive(Clone, Debug, Default)]
pub(crate) struct InCalls(Arc<AtomicU64>);

impl InCalls {
    pub(crate) fn add(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }

    fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// When a program began, and what of the time since then is its own.
#[derive(Clone, Debug)]
struct Stopwatch {
    began: Instant,
    in_calls: InCalls,
}

impl Stopwatch {
    fn guest_time(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.in_calls.get())
    }
}

/// Ends a program whose own time ran out.
#[derive(Debug, thiserror::Error)]
#[error("out of time")]
struct OutOfTime;

/// A program on its way to its thread.
pub(crate) struct Job {
    program: Program,
    services: Box<dyn Services>,
    stop: Stop,
    sender: oneshot::Sender<Execution>,
}

/// Starts a program; the answer comes when it has ended. A closed channel means that it panicked in
/// gg's own code.
pub fn start(
    program: Program,
    services: Box<dyn Services>,
    stop: Stop,
) -> Result<oneshot::Receiver<Execution>, StartError> {
    let abandoned = program.threads.abandoned();
    if abandoned > MAX_ABANDONED {
        return Err(StartError::Abandoned(abandoned));
    }
    runtime()?;
    let standby = Arc::clone(&program.guest.standby);
    let (sender, receiver) = oneshot::channel();
    let job = Job {
        program,
        services,
        stop,
        sender,
    };
    if let Err(job) = standby.hand(job) {
        let vessel = Vessel::bare(waiting().map_err(StartError::Runtime)?);
        thread(move || work(job, vessel)).map_err(StartError::Thread)?;
    }
    Ok(receiver)
}

/// Has a thread make an instance for a guest's next program and wait for it, where none does. A
/// program with another outlook will make its own.
pub fn stand_by(guest: Guest, outlook: Outlook) -> Result<(), StartError> {
    if guest.standby.is_taken() {
        return Ok(());
    }
    // Before a job may come, since it could not be told why it is not done.
    let tokio = waiting().map_err(StartError::Runtime)?;
    // Taken here and not by the thread: a program that comes meanwhile waits for it.
    let Some(offered) = guest.standby.offer() else {
        return Ok(());
    };
    let begin = move || {
        call(WAITS);
        let vessel = Vessel::ready(&guest, outlook, tokio);
        // A thread that waits keeps no guest: it would wait for itself.
        drop(guest);
        if let Some(job) = offered.wait() {
            work(job, vessel);
        }
    };
    thread(begin).map_err(StartError::Thread)
}

/// What a thread is called that runs a program, or ran one.
const RUNS: &CStr = c"gg-program";

/// What it is called while it waits for one.
const WAITS: &CStr = c"gg-standby";

fn thread(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().spawn(work).map(drop)
}

/// Names this thread, for whoever looks at the process from outside.
fn call(name: &CStr) {
    if let Err(error) = rustix::thread::set_name(name) {
        tracing::debug!("a program's thread has no name: {error}");
    }
}

/// What a program's thread does: it runs the program and tells how it ended.
fn work(job: Job, vessel: Vessel) {
    call(RUNS);
    let Job {
        program,
        services,
        stop,
        sender,
    } = job;
    let Vessel { tokio, instance } = vessel;
    let threads = program.threads.clone();
    let (guest, outlook) = (program.guest.clone(), program.outlook());
    let (execution, store) = tokio.block_on(run(program, services, stop, instance));
    let leaves = threads.leave();
    // Behind the program and not beside it: of two threads that touch new memory each interrupts the
    // other's processor for every page that comes to be written.
    if let Err(why) = stand_by(guest, outlook) {
        // The next program makes its own instance, and says so where it cannot.
        tracing::debug!("no thread waits for a program: {why}");
    }
    // Nobody may be interested any more: the run has stopped.
    sender.send(execution).ok();
    drop(store);
    // Waits for file operations that are under way.
    drop(tokio);
    threads.left(leaves);
}

/// Runs a program; beside how it ended, what is left of its instance, to be taken down.
async fn run(
    program: Program,
    services: Box<dyn Services>,
    stop: Stop,
    instance: Option<Instance>,
) -> (Execution, Option<Store<State>>) {
    let Program {
        guest,
        source,
        modules,
        locations,
        has_library,
        offer,
        budget,
        max_memory_bytes,
        surroundings,
        threads: _,
    } = program;
    let outlook = Outlook {
        surroundings,
        budget,
    };
    let stderr = Captured::default();
    let watch = Stopwatch {
        began: Instant::now(),
        in_calls: InCalls::default(),
    };
    let mut granted: Vec<_> = offer.operations().map(|row| row.id.to_owned()).collect();
    granted.sort_unstable();
    let role = match offer.grant.role {
        EndingRole::Standard => contract::EndingRole::Standard,
        EndingRole::Review => contract::EndingRole::Review,
    };
    let state = State::new(
        Membrane::new(services, offer, watch.in_calls.clone()),
        outlook.context(stderr.clone()),
        max_memory_bytes,
    );
    let (mut store, sandbox) = match instance.filter(|made| made.fits(&outlook, max_memory_bytes)) {
        Some(made) => {
            let (store, sandbox) = made.take_in(state);
            (store, Some(sandbox))
        }
        None => (vessel::store(guest.engine(), state), None),
    };
    store.set_epoch_deadline(1);
    let ticking = watch.clone();
    store.epoch_deadline_callback(move |_| {
        if ticking.guest_time() >= budget {
            return Err(OutOfTime.into());
        }
        // The thread's runtime gets a turn, to see the outer clock and the stop.
        Ok(UpdateDeadline::Yield(1))
    });
    let returned = {
        let call = pin!(async {
            let sandbox = match sandbox {
                Some(sandbox) => sandbox,
                None => guest.instantiate(&mut store).await?,
            };
            sandbox
                .call_run(&mut store, &source, &modules, &granted, role, has_library)
                .await
        });
        tokio::select! {
            biased;
            result = call => returned(result),
            () = outer(&watch, budget + GRACE) => Return::Clock(Clock::Outer),
            () = stop.0.notified() => Return::Stopped,
        }
    };
    let guest_time = watch.guest_time();
    let mut left = store.data_mut().end().into_left();
    let limiter = &store.data().limiter;
    let (denied_memory, is_light) = (limiter.denied(), limiter.taken() <= LIGHT_BYTES);
    for report in &mut left.reports.items {
        report.rendering = locations.original(&report.rendering);
    }
    for error in &mut left.module_errors.items {
        error.message = locations.original(&error.message);
    }
    let fault = judge(Evidence {
        returned,
        reports: left.reports.items,
        denied_memory,
        guest_time,
        budget,
        stated: stated(budget),
        cap: max_memory_bytes,
    });
    let execution = Execution {
        fault,
        calls: left.calls,
        logs: left.logs,
        reports_dropped: left.reports.dropped,
        module_errors: left.module_errors.items,
        module_errors_dropped: left.module_errors.dropped,
        stderr: locations.original(&stderr.text()),
        guest_time,
        services: Some(left.services),
    };
    (execution, is_light.then_some(store))
}

/// The ids of the operations that a guest binds, in its order; whatever it calls meanwhile ends in
/// `services`.
#[cfg(test)]
pub(crate) fn bound_operations(
    guest: &Guest,
    offer: Offer,
    services: Box<dyn Services>,
) -> wasmtime::Result<Vec<String>> {
    let state = State::new(
        Membrane::new(services, offer, InCalls::default()),
        Surroundings::default().context(GRACE, Captured::default()),
        1 << 28,
    );
    let mut store = vessel::store(guest.engine(), state);
    store.set_epoch_deadline(GRACE.as_millis() as u64 / crate::engine::TICK.as_millis() as u64);
    let tokio = waiting()?;
    tokio.block_on(async {
        let sandbox = guest.instantiate(&mut store).await?;
        sandbox.call_bound_operations(&mut store).await
    })
}

/// Ends when a program has had its time outside of calls.
async fn outer(watch: &Stopwatch, allowed: Duration) {
    loop {
        let left = allowed.saturating_sub(watch.guest_time());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left).await;
    }
}

fn returned(result: wasmtime::Result<()>) -> Return {
    let Err(error) = result else {
        return Return::Returned;
    };
    if error.is::<OutOfTime>() {
        return Return::Clock(Clock::Guest);
    }
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        return Return::Exit(exit.0 == 0);
    }
    Return::Trap(match error.downcast_ref::<Trap>() {
        Some(trap) => trap.to_string(),
        None => error.root_cause().to_string(),
    })
}

/// Threads of programs that have ended while the threads have not; clones count the same ones.
#[derive(Clone, Debug, Default)]
pub struct Threads(Arc<Mutex<Leaving>>);

#[derive(Debug, Default)]
struct Leaving {
    /// How many have begun to leave.
    begun: u64,
    /// Those that have not left, and since when they leave.
    under_way: Vec<(u64, Instant)>,
}

impl Threads {
    /// How many should have ended by now: something they wait for does not.
    pub fn abandoned(&self) -> usize {
        let leaving = self.leaving();
        let late = |(_, since): &&(u64, Instant)| since.elapsed() >= LEFT_BEHIND;
        leaving.under_way.iter().filter(late).count()
    }

    /// The program of a thread has ended; by what the thread is known.
    fn leave(&self) -> u64 {
        let mut leaving = self.leaving();
        leaving.begun += 1;
        let id = leaving.begun;
        leaving.under_way.push((id, Instant::now()));
        id
    }

    /// A thread is about to end.
    fn left(&self, id: u64) {
        self.leaving().under_way.retain(|(other, _)| *other != id);
    }

    fn leaving(&self) -> MutexGuard<'_, Leaving> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
