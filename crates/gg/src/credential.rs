//! The gateway's key, taken out of the environment before anything else runs (R23).
//!
//! A process that starts with `OPENROUTER_API_KEY` replaces itself by one without it, and hands
//! the key over on a pipe that is the new process's standard input, which gg does not otherwise
//! read. The new process reads it to the end and makes itself non-dumpable. So no command, no
//! record and no `/proc/<gg>/environ` carries the key.
//!
//! The new process is also given the key of its run, as the variable that commands are to carry: an
//! environment that is inherited as it stands costs a command nothing, one that is made anew 20 µs.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use actors::run;
use provider::openrouter::Credential;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use tools::shell::MARK;
use vocab::credential::VARIABLE;
use vocab::ids::RoutingKey;

/// The first argument of a process that finds the key on its standard input. Nobody types it.
pub(crate) const HANDED_OVER: &str = "--credential-on-stdin";

/// What fits into a pipe before anybody reads; no key comes near it.
const LONGEST: usize = 16 * 1024;

/// What a process was handed by the one it replaced.
#[derive(Debug, Default)]
pub(crate) struct Handed {
    /// The gateway's key, where there is one.
    pub(crate) credential: Option<Credential>,
    /// The key of the run this process is for: its environment carries it.
    pub(crate) run: Option<RoutingKey>,
}

/// Takes the key, and gives back the arguments the user wrote.
///
/// Where the environment holds a key this does not return: the process is replaced.
pub(crate) fn take(mut arguments: Vec<OsString>) -> io::Result<(Handed, Vec<OsString>)> {
    if arguments.get(1).is_some_and(|first| first == HANDED_OVER) {
        arguments.remove(1);
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        let mut text = String::new();
        io::stdin()
            .lock()
            .take(LONGEST as u64)
            .read_to_string(&mut text)?;
        return Ok((read(&text), arguments));
    }
    match std::env::var(VARIABLE) {
        Err(std::env::VarError::NotPresent) => Ok((Handed::default(), arguments)),
        Err(std::env::VarError::NotUnicode(_)) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{VARIABLE} is no valid UTF-8; set it to the key as the gateway gave it"),
        )),
        Ok(key) if key.trim().len() > LONGEST => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "{VARIABLE} holds {} bytes; a key has some dozens",
                key.len()
            ),
        )),
        Ok(key) => Err(replace_process(key.trim(), &arguments)),
    }
}

/// What a process that is started with [`HANDED_OVER`] reads: on a line of its own the key of the run
/// that its environment carries, empty where it carries none, and behind it the gateway's key.
pub(crate) fn hand_over(key: &str, run: Option<&RoutingKey>) -> io::Result<io::PipeReader> {
    let (reader, mut writer) = io::pipe()?;
    writeln!(writer, "{}", run.map_or("", RoutingKey::as_str))?;
    writer.write_all(key.as_bytes())?;
    Ok(reader)
}

/// Reads what [`hand_over`] wrote.
fn read(text: &str) -> Handed {
    let (run, key) = text.split_once('\n').unwrap_or(("", text));
    Handed {
        credential: Credential::new(key),
        run: (!run.is_empty()).then(|| RoutingKey::from(run)),
    }
}

/// A key for the run of the process that replaces this one. None inside another run's command, whose
/// processes are known by the outer run's key.
fn own_run() -> Option<RoutingKey> {
    std::env::var_os(MARK).is_none().then(run::new_routing_key)
}

/// Becomes the same program without the variable. Returns only where that fails.
fn replace_process(key: &str, arguments: &[OsString]) -> io::Error {
    let own_run = own_run();
    let reader = match hand_over(key, own_run.as_ref()) {
        Ok(reader) => reader,
        Err(error) => return error,
    };
    let (program, rest) = match arguments.split_first() {
        Some((program, rest)) => (program.clone(), rest),
        None => (OsString::from("gg"), &[][..]),
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "there is no arbiter yet, and this replaces the process rather than starting one"
    )]
    std::process::Command::new(own_path())
        .arg0(program)
        .arg(HANDED_OVER)
        .args(rest)
        .env_remove(VARIABLE)
        .envs(own_run.map(|run| (MARK, run.as_str().to_owned())))
        .stdin(reader)
        .exec()
}

/// This program. By its path, so that process lists show its name; by the kernel's own
/// link where the path is gone.
pub(crate) fn own_path() -> PathBuf {
    std::env::current_exe()
        .ok()
        .filter(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}
