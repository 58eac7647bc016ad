//! What the agents of a run share to prepare programs: large inputs of compilers, and compilers
//! that are kept warm (05 §8).
//!
//! It lives as long as any agent's context does: with the last of them the folder goes and the warm
//! processes end.
//!
//! Always true: a file in the shared folder is whole and never changes.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{self, Write};
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::TempDir;

use super::alive::Alive;
use super::compile::Redirected;
use super::pool::CompilerPool;
use super::{PrepareError, unusable};

/// The most compilers that are kept warm.
const MAX_WARM: usize = 8;

/// What is shared.
#[derive(Debug)]
pub(crate) struct Shared {
    root: TempDir,
    /// What compilers kept warm are ended with.
    alive: Alive,
    pools: Mutex<BTreeMap<PathBuf, Arc<CompilerPool>>>,
}

impl Shared {
    pub(super) fn create(alive: Alive) -> io::Result<Self> {
        let root = tempfile::Builder::new()
            .prefix(&format!("gg-toolchains-{}-", std::process::id()))
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        for folder in ["home", "tmp"] {
            std::fs::create_dir(root.path().join(folder))?;
        }
        Ok(Self {
            root,
            alive,
            pools: Mutex::default(),
        })
    }

    /// The folder of a name, which holds these files, each under its own: made when it is first asked
    /// for. Whoever asks by a name means the same files every time.
    pub(crate) fn toolchain_dir(
        &self,
        name: &'static str,
        files: &[(&str, &str)],
    ) -> Result<PathBuf, PrepareError> {
        let folder = self.root.path().join(name);
        if !folder.is_dir() {
            place_tree(&folder, files).map_err(unusable)?;
        }
        Ok(folder)
    }

    /// The warm processes of a compiler; as many as there are processors to work on.
    pub(crate) fn pool(&self, program: &Path) -> Arc<CompilerPool> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        pools
            .entry(program.to_owned())
            .or_insert_with(|| Arc::new(CompilerPool::new(processors.clamp(2, MAX_WARM))))
            .clone()
    }

    /// What a warm process takes for its own.
    pub(crate) fn redirected(&self) -> Redirected {
        Redirected {
            cwd: self.root.path().to_owned(),
            home: self.root.path().join("home"),
            temporary: self.root.path().join("tmp"),
            alive: self.alive.clone(),
        }
    }
}

/// Makes a folder of files that appears whole or not at all.
fn place_tree(folder: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    let parent = folder.parent().unwrap_or(folder);
    let beside = tempfile::Builder::new().prefix("new-").tempdir_in(parent)?;
    for (name, contents) in files {
        let path = beside.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = std::fs::File::create(&path)?;
        file.write_all(contents.as_bytes())?;
        file.set_permissions(Permissions::from_mode(0o400))?;
    }
    match std::fs::rename(beside.path(), folder) {
        // What was made is now at its place, and not to be removed.
        Ok(()) => {
            let _ = beside.keep();
            Ok(())
        }
        // Somebody else placed the same files first.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_are_placed_once_and_do_not_change() {
        let shared = Shared::create(Alive::default()).unwrap();
        let files = [("a/b", "x"), ("c", "y")];
        let folder = shared.toolchain_dir("it", &files).unwrap();
        assert_eq!(std::fs::read_to_string(folder.join("a/b")).unwrap(), "x");
        let mode = std::fs::metadata(folder.join("c")).unwrap().permissions();
        assert!(mode.readonly());
        let made = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
        let then = made(&folder);
        assert_eq!(shared.toolchain_dir("it", &files).unwrap(), folder);
        assert_eq!(made(&folder), then);
        assert_ne!(shared.toolchain_dir("other", &files).unwrap(), folder);
    }

    #[test]
    fn it_lives_as_long_as_somebody_holds_it() {
        let first = Shared::create(Alive::default()).unwrap();
        let path = first.redirected().cwd;
        assert!(path.is_dir());
        drop(first);
        assert!(!path.exists());
    }
}
