//! A file that does not open: what waits for it waits in the operating system, where no program and no
//! thread of gg's can be ended.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Holds a file by a lease of another process until it is dropped. The system breaks a lease by itself
/// after 45 seconds.
#[derive(Debug)]
pub struct Leased(Child);

impl Leased {
    /// Makes the file and leases it.
    ///
    /// # Panics
    ///
    /// Where there is no Python, or no lease to be had.
    pub fn at(path: &Path) -> Self {
        let holds = "import fcntl, os, signal, sys\n\
                     signal.signal(signal.SIGIO, signal.SIG_IGN)\n\
                     file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n\
                     fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n\
                     print('held', flush=True)\n\
                     sys.stdin.read()";
        let started = Command::new("python3")
            .args(["-c", holds])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = started.expect("python3 starts");
        let mut said = [0; 4];
        let stdout = child.stdout.as_mut().expect("it is piped");
        stdout.read_exact(&mut said).expect("it holds the lease");
        Self(child)
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        // It may have ended by itself; then there is no lease either.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
