//! How many files gg may hold open at once: as many as the system lets it, for itself alone.
//!
//! Each running command holds a few, each model call one. A shell's usual limit of 1024 is soft: a
//! process may raise its own up to the hard one, and gg does. The commands it starts get back what
//! gg was started with, since some programs walk or index by every number up to the limit.

use std::io;
use std::sync::OnceLock;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

/// What the process was started with, once it was raised. The limit is the process's, and so is
/// this.
static FOUND: OnceLock<Rlimit> = OnceLock::new();

/// Raises the process's soft limit on open files to its hard one. Once is enough.
///
/// # Errors
/// What the system says where it refuses; the process then has what it had.
pub fn raise_limit() -> io::Result<()> {
    let found = getrlimit(Resource::Nofile);
    if found.current == found.maximum {
        return Ok(());
    }
    let raised = Rlimit {
        current: found.maximum,
        ..found
    };
    setrlimit(Resource::Nofile, raised)?;
    FOUND.get_or_init(|| found);
    Ok(())
}

/// Gives a process that was just started the limit gg itself was started with. It has run for a
/// moment under the higher one, which no program notices: a hook before `exec` would make every
/// start a fork of all gg holds.
pub(crate) fn give_back(process: Pid) {
    if let Some(found) = FOUND.get() {
        // It may have ended already, or have become another user's: then it keeps what it has.
        prlimit(Some(process), Resource::Nofile, *found).ok();
    }
}

/// What an error says, where it is that no file could be opened any more.
pub(crate) fn spent(error: &io::Error) -> Option<String> {
    // By its text: an error that was given a path on its way keeps the number nowhere else.
    let number = format!("(os error {})", rustix::io::Errno::MFILE.raw_os_error());
    if !error.to_string().contains(&number) {
        return None;
    }
    let limit = getrlimit(Resource::Nofile).current?;
    Some(format!(
        "gg has too many files open at once; its limit is {limit} (`ulimit -Hn`), and a higher \
         one or a lower `limits.maxParallel` helps"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_out_of_files_names_the_limit_and_what_helps() {
        let error: io::Error = rustix::io::Errno::MFILE.into();
        let said = spent(&error).unwrap();
        let limit = getrlimit(Resource::Nofile).current.unwrap().to_string();
        let placed = io::Error::new(error.kind(), format!("{error} at path \"/a/.b\""));
        assert_eq!(spent(&placed).as_ref(), Some(&said));
        assert!(
            said.contains(&limit) && said.contains("maxParallel"),
            "{said}"
        );
        assert_eq!(spent(&io::ErrorKind::NotFound.into()), None);
    }
}
