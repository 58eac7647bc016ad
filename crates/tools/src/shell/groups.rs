//! The process groups a run's commands lead, and their end (R36, R38).
//!
//! A group is entered as its command starts and forgotten once nothing of it lives. The number of
//! a group whose leader is gone may come to name another one, so before such a group is signalled
//! its members are looked at: they must be of gg's own session, or carry this run's mark.
//!
//! A process can leave its group (`setsid`, a shell's job control). Such ones are looked for once,
//! when all are to end: by the mark, which they inherited.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use vocab::ids::RoutingKey;

/// From SIGTERM to SIGKILL.
pub const GRACE: Duration = Duration::from_secs(2);

/// From SIGKILL to giving up: a process dies of it as soon as the system gets to it.
const KILLED: Duration = Duration::from_millis(250);

/// From one look at ending groups to the next.
const LOOK: Duration = Duration::from_millis(10);

/// Groups of ended commands kept before dead ones are looked for.
const MANY: usize = 64;

/// Characters kept of a stray's command line.
const LINE_CHARS: usize = 200;

/// The environment variable that marks a run's commands.
pub const MARK: &str = "GG_RUN";

/// A process group that outlived its command and was ended with the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The group's number.
    pub group: i32,
    /// The command that led it.
    pub command: Arc<str>,
    /// Whether it had to be killed.
    pub killed: bool,
}

#[derive(Debug)]
struct Group {
    command: Arc<str>,
    /// The leader is not waited for yet, so the number is ours for certain.
    led: bool,
}

/// The groups of one run. Clones are the same groups.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    known: Arc<Mutex<BTreeMap<i32, Group>>>,
    /// A command started: before, nothing can be left.
    begun: Arc<AtomicBool>,
    mark: Arc<str>,
}

impl Groups {
    pub(crate) fn of(run: &RoutingKey) -> Self {
        Self {
            known: Arc::default(),
            begun: Arc::default(),
            mark: format!("{MARK}={run}").into(),
        }
    }

    /// A command started as leader of its group.
    pub(crate) fn enter(&self, leader: Pid, command: Arc<str>) {
        self.begun.store(true, Ordering::Relaxed);
        let group = Group { command, led: true };
        self.known().insert(leader.as_raw_nonzero().get(), group);
    }

    /// A command ended and was waited for.
    pub(crate) fn leave(&self, leader: Pid) {
        let mut known = self.known();
        if let Some(group) = known.get_mut(&leader.as_raw_nonzero().get()) {
            group.led = false;
        }
        if !exists(leader) {
            known.remove(&leader.as_raw_nonzero().get());
        }
        if known.len() > MANY {
            known.retain(|group, of| of.led || Pid::from_raw(*group).is_some_and(exists));
        }
    }

    /// Kills every group at once.
    pub(crate) fn kill_all(&self) {
        self.find_strays();
        for group in self.living() {
            signal(group, Signal::KILL);
        }
    }

    /// Asks every group that still lives to end, kills after `grace` what did not, and names them.
    pub(crate) async fn end_all(&self, grace: Duration) -> Vec<Leftover> {
        self.find_strays();
        let asked = self.living();
        for group in &asked {
            signal(*group, Signal::TERM);
        }
        let mut left = asked.clone();
        self.await_end(&mut left, grace).await;
        let killed = left.clone();
        for group in &killed {
            signal(*group, Signal::KILL);
        }
        self.await_end(&mut left, KILLED).await;
        let mut known = self.known();
        asked
            .into_iter()
            .filter_map(|group| {
                let command = known.remove(&group)?.command;
                Some(Leftover {
                    group,
                    command,
                    killed: killed.contains(&group),
                })
            })
            .collect()
    }

    /// Waits until none of the groups lives, for so long at most; those that do stay in the set.
    async fn await_end(&self, left: &mut BTreeSet<i32>, longest: Duration) {
        let until = tokio::time::Instant::now() + longest;
        while !left.is_empty() && tokio::time::Instant::now() < until {
            tokio::time::sleep(LOOK).await;
            let living = self.living();
            left.retain(|group| living.contains(group));
        }
    }

    /// Enters the groups that no command leads and that processes of the run have made.
    ///
    /// In gg's own session such a group must be the run's through and through: a process may also
    /// have joined a group that was there before.
    fn find_strays(&self) {
        if !self.begun.load(Ordering::Relaxed) {
            return;
        }
        let (Ok(processes), Some(own)) = (std::fs::read_dir("/proc"), Process::read("self")) else {
            return;
        };
        let mut strays = BTreeMap::new();
        let mut strangers = BTreeSet::new();
        for entry in processes.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| is_number(name)) else {
                continue;
            };
            let Some(process) = Process::read(name).filter(|process| process.alive) else {
                continue;
            };
            if process.group == own.group || self.known().contains_key(&process.group) {
                continue;
            }
            if self.marked(name) {
                let leads = name.parse() == Ok(process.group);
                let line = strays.entry(process.group).or_insert_with(|| line_of(name));
                if leads {
                    *line = line_of(name);
                }
            } else if process.session == own.session {
                strangers.insert(process.group);
            }
        }
        strays.retain(|group, _| !strangers.contains(group));
        let strays = strays.into_iter().map(|(group, line)| {
            let of = Group {
                command: line,
                led: false,
            };
            (group, of)
        });
        self.known().extend(strays);
    }

    /// The groups that have a living process.
    fn living(&self) -> BTreeSet<i32> {
        let known: BTreeMap<i32, bool> = self
            .known()
            .iter()
            .map(|(group, of)| (*group, of.led))
            .collect();
        if known.is_empty() {
            return BTreeSet::new();
        }
        let Ok(processes) = std::fs::read_dir("/proc") else {
            // Without /proc nothing tells a member from a stranger: existing has to do.
            let exists = |group: &i32| Pid::from_raw(*group).is_some_and(exists);
            return known.into_keys().filter(exists).collect();
        };
        let own = Process::read("self").map(|own| own.session);
        processes
            .filter_map(|entry| {
                let name = entry.ok()?.file_name();
                let name = name.to_str().filter(|name| is_number(name))?;
                let process = Process::read(name).filter(|process| process.alive)?;
                let led = *known.get(&process.group)?;
                let ours = led || Some(process.session) == own || self.marked(name);
                ours.then_some(process.group)
            })
            .collect()
    }

    /// Whether a process carries this run's mark in its environment.
    fn marked(&self, process: &str) -> bool {
        std::fs::read(format!("/proc/{process}/environ")).is_ok_and(|variables| {
            variables
                .split(|byte| *byte == 0)
                .any(|v| v == self.mark.as_bytes())
        })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<i32, Group>> {
        // The map is whole between any two statements, whoever panicked.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a signal to a group; one that is gone needs none.
pub(crate) fn signal(group: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group) {
        rustix::process::kill_process_group(group, signal).ok();
    }
}

fn is_number(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_digit())
}

/// The command line of a process, cut where it gets long.
fn line_of(process: &str) -> Arc<str> {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let line: String = line.trim().chars().take(LINE_CHARS).collect();
    line.into()
}

fn exists(group: Pid) -> bool {
    rustix::process::test_kill_process_group(group).is_ok()
}

/// What the system says of a process.
struct Process {
    group: i32,
    session: i32,
    /// It is more than a zombie.
    alive: bool,
}

impl Process {
    /// `None` for one that is gone, or is none.
    fn read(name: &str) -> Option<Self> {
        let status = std::fs::read(format!("/proc/{name}/stat")).ok()?;
        // The name in brackets may hold anything, brackets included; the last one closes it.
        let rest = status.get(memchr::memrchr(b')', &status)? + 1..)?;
        let mut fields = std::str::from_utf8(rest).ok()?.split_ascii_whitespace();
        let alive = !matches!(fields.next()?, "Z" | "X");
        let group = fields.nth(1)?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        Some(Self {
            group,
            session,
            alive,
        })
    }
}
