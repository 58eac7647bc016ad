//! What the kernel says of a process: memory, threads, files, and who descends from a run.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The largest figures seen of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Resident memory in bytes (`VmHWM`).
    pub memory: u64,
    /// Threads.
    pub threads: u64,
    /// Open files, where they can be seen.
    pub files: u64,
}

/// The figures of a process now; `None` once it is gone.
pub fn probe(pid: u32) -> Option<Peak> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|figure| figure.parse::<u64>().ok())
    };
    Some(Peak {
        // A process that is exiting has given its memory back already.
        memory: field("VmHWM:")? * 1024,
        threads: field("Threads:")?,
        files: fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |files| files.count() as u64),
    })
}

/// A thread that looks at a process until told to stop.
pub(super) struct Watch {
    stop: Arc<AtomicBool>,
    peak: Arc<Mutex<Peak>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(super) fn start(pid: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let peak = Arc::new(Mutex::new(Peak::default()));
        let thread = std::thread::spawn({
            let (stop, peak) = (Arc::clone(&stop), Arc::clone(&peak));
            move || {
                while !stop.load(Ordering::Relaxed) {
                    let Some(now) = probe(pid) else { return };
                    {
                        let mut peak = peak.lock().unwrap_or_else(PoisonError::into_inner);
                        peak.memory = peak.memory.max(now.memory);
                        peak.threads = peak.threads.max(now.threads);
                        peak.files = peak.files.max(now.files);
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        });
        Self {
            stop,
            peak,
            thread: Some(thread),
        }
    }

    pub(super) fn peak(&self) -> Peak {
        *self.peak.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn finish(mut self) -> Peak {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
        self.peak()
    }
}

/// A process of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its command line, blanks between arguments.
    pub command: String,
}

/// Every living process whose environment carries `GG_RUN=<key>` (R38), but for the gg whose run that
/// is: it carries the mark so that commands inherit it.
pub fn census(routing_key: &str) -> Vec<Process> {
    let marker = format!("GG_RUN={routing_key}");
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
                environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == marker.as_bytes())
            })
        })
        .map(|pid| Process {
            pid,
            command: fs::read(format!("/proc/{pid}/cmdline"))
                .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
                .unwrap_or_default(),
        })
        .filter(|process| !process.command.contains(" --credential-on-stdin "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_can_be_measured_and_found_by_its_marker() {
        let own = probe(std::process::id()).unwrap();
        assert!(own.memory > 0 && own.threads > 0 && own.files > 0);
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .env("GG_RUN", "census-test")
            .spawn()
            .unwrap();
        // The environment is there once the child has executed its program.
        while census("census-test")
            .iter()
            .all(|p| !p.command.starts_with("sleep"))
        {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(census("census-test"), []);
    }
}
