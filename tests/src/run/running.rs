//! A run under way: its stream as it comes, signals, probes.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::Value;

use super::builder::{Builder, Checks};
use super::probe::{Peak, Watch, census, probe};
use super::{Run, checks};
use crate::gateway::Gateway;

/// How long a run may take before it counts as hung.
const CEILING: Duration = Duration::from_secs(180);

/// A run under way. Dropped before it is finished, it is killed.
pub struct Running {
    child: Option<Child>,
    pid: u32,
    stream: Arc<Stream>,
    readers: Vec<JoinHandle<()>>,
    watch: Option<Watch>,
    rest: Option<Rest>,
}

struct Rest {
    gateway: Option<Gateway>,
    workspace: std::path::PathBuf,
    folder: tempfile::TempDir,
    checks: Checks,
}

#[derive(Default)]
struct Stream {
    state: Mutex<Seen>,
    changed: Condvar,
}

#[derive(Default)]
struct Seen {
    stdout: Vec<u8>,
    /// Complete lines of `stdout` that are JSON, parsed as they come.
    lines: Vec<Value>,
    stderr: Vec<u8>,
    ended: bool,
}

impl Running {
    pub(super) fn spawn(mut command: Command, builder: Builder) -> Self {
        let mut child = command.spawn().expect("the binary can be started");
        let pid = child.id();
        let stream = Arc::new(Stream::default());
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        let readers = vec![
            std::thread::spawn({
                let stream = Arc::clone(&stream);
                move || stream.read_stdout(BufReader::new(stdout))
            }),
            std::thread::spawn({
                let stream = Arc::clone(&stream);
                move || stream.read_stderr(stderr)
            }),
        ];
        Self {
            child: Some(child),
            pid,
            stream,
            readers,
            watch: Some(Watch::start(pid)),
            rest: Some(Rest {
                gateway: builder.gateway,
                workspace: builder.workspace,
                folder: builder.folder,
                checks: builder.checks,
            }),
        }
    }

    /// The process id of what was started.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The gateway it speaks to.
    ///
    /// # Panics
    ///
    /// Where it has none.
    pub fn gateway(&self) -> &Gateway {
        self.rest
            .as_ref()
            .and_then(|rest| rest.gateway.as_ref())
            .expect("this run has a gateway")
    }

    /// Where it works.
    pub fn workspace(&self) -> &std::path::Path {
        &self
            .rest
            .as_ref()
            .expect("a run under way has its folder")
            .workspace
    }

    /// The lines so far.
    pub fn lines(&self) -> Vec<Value> {
        self.stream.lock().lines.clone()
    }

    /// Its figures now; `None` once it is gone.
    pub fn probe(&self) -> Option<Peak> {
        probe(self.pid)
    }

    /// The largest figures so far.
    pub fn peak(&self) -> Peak {
        self.watch.as_ref().map(Watch::peak).unwrap_or_default()
    }

    /// Waits for a line that `wanted` accepts and returns the first.
    ///
    /// # Panics
    ///
    /// Where the stream ends, or the ceiling passes, without one.
    #[track_caller]
    pub fn wait_for(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + CEILING;
        let mut seen = 0;
        let mut state = self.stream.lock();
        loop {
            if let Some(line) = state.lines[seen..].iter().find(|line| wanted(line)) {
                return line.clone();
            }
            seen = state.lines.len();
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !state.ended && !left.is_zero(),
                "no line came that is {what}; stderr:\n{}\nlast line: {:?}",
                String::from_utf8_lossy(&state.stderr),
                state.lines.last(),
            );
            state = self
                .stream
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Waits for an event of a type.
    #[track_caller]
    pub fn wait_for_event(&self, kind: &str) -> Value {
        self.wait_for(kind, |line| line["type"] == kind)
    }

    /// Waits until the stream has `count` lines or has ended.
    pub fn wait_for_lines(&self, count: usize) {
        let mut state = self.stream.lock();
        while state.lines.len() < count && !state.ended {
            state = self
                .stream
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid.cast_signed()).expect("a child has a process id");
        // It may be gone already, which the test will see by how it ended.
        kill_process(pid, signal).ok();
    }

    /// Waits for its end and checks what it left.
    ///
    /// # Panics
    ///
    /// Where it hangs, or a check fails.
    #[track_caller]
    pub fn finish(mut self) -> Run {
        let mut child = self.child.take().expect("a run is finished once");
        if !ends_within(&child, CEILING) {
            // It hangs: what is left of it matters less than what it said.
            child.kill().ok();
            child.wait().ok();
            let state = self.stream.lock();
            panic!(
                "gg did not end within {CEILING:?}; stderr:\n{}\nlast line: {:?}",
                String::from_utf8_lossy(&state.stderr),
                state.lines.last()
            );
        }
        let status = child.wait().expect("a child can be waited for");
        let peak = self.watch.take().map(Watch::finish).unwrap_or_default();
        let routing_key = self
            .stream
            .lock()
            .lines
            .first()
            .and_then(|line| line["routingKey"].as_str().map(str::to_owned));
        let left = routing_key.map(|key| census(&key)).unwrap_or_default();
        for reader in self.readers.drain(..) {
            reader.join().ok();
        }
        let rest = self.rest.take().expect("a run is finished once");
        let state = std::mem::take(&mut *self.stream.lock());
        let run = Run {
            lines: state.lines,
            stdout: String::from_utf8_lossy(&state.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&state.stderr).into_owned(),
            code: status.code(),
            signal: status.signal(),
            pid: self.pid,
            peak,
            gateway: rest.gateway,
            left,
            workspace: rest.workspace,
            folder: rest.folder,
        };
        checks::after(&run, rest.checks);
        run
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Waits for the end of a process, without reaping it. False where the time is over first.
fn ends_within(child: &Child, time: Duration) -> bool {
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a child has a process id");
    let process =
        pidfd_open(pid, PidfdFlags::empty()).expect("a child that is not reaped is there");
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).expect("a ceiling of minutes");
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&left)) {
            Ok(ready) => return ready > 0,
            Err(Errno::INTR) => {}
            Err(error) => panic!("the run cannot be waited for: {error}"),
        }
    }
}

impl Stream {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_stdout(&self, mut stdout: impl BufRead) {
        let mut line = Vec::new();
        while let Ok(got) = stdout.read_until(b'\n', &mut line) {
            if got == 0 {
                break;
            }
            let mut state = self.lock();
            state.stdout.extend_from_slice(&line);
            if line.ends_with(b"\n")
                && let Ok(value) = serde_json::from_slice(&line)
            {
                state.lines.push(value);
            }
            line.clear();
            self.changed.notify_all();
        }
        self.lock().ended = true;
        self.changed.notify_all();
    }

    fn read_stderr(&self, mut stderr: impl std::io::Read) {
        let mut block = [0; 4096];
        while let Ok(got) = stderr.read(&mut block) {
            if got == 0 {
                break;
            }
            self.lock().stderr.extend_from_slice(&block[..got]);
        }
    }
}
