//! The private tree an agent's programs are compiled in (05 §8).
//!
//! Always true: two agents never share a tree; a preparation finds nothing of the one before but the
//! builds of loaded modules and what its arm declared to keep.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use super::alive::Alive;
use super::compile::Redirected;

/// The folder of the work directory that builds of modules stand in.
const MODULES: &str = "modules";

/// One agent's tree, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: TempDir,
    /// What compilers in it are ended with.
    alive: Alive,
    modules: BTreeMap<String, Build>,
    /// How often a module was built here.
    #[cfg(test)]
    built: usize,
}

/// The build of a module.
#[derive(Debug)]
struct Build {
    /// What it was built from.
    source: String,
    /// The extension that its file has.
    extension: &'static str,
    /// What it came to.
    artifacts: Vec<PathBuf>,
}

impl Workspace {
    /// A new tree of nobody else's.
    pub(super) fn create(alive: Alive) -> io::Result<Self> {
        let moment = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        // The builder counts on where a name is taken, and lets nobody else in.
        let root = tempfile::Builder::new()
            .prefix(&format!("gg-compile-{}-{moment}-", std::process::id()))
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        let workspace = Self {
            root,
            alive,
            modules: BTreeMap::new(),
            #[cfg(test)]
            built: 0,
        };
        for folder in ["work", "output", "home", "tmp"] {
            make(&workspace.root.path().join(folder))?;
        }
        make(&workspace.work().join(MODULES))?;
        Ok(workspace)
    }

    /// Empties what a preparation is to find empty.
    pub(super) fn reset(&self, kept: &[&str]) -> io::Result<()> {
        empty(self.output(), &[])?;
        empty(self.root.path().join("tmp"), &[])?;
        let kept: Vec<&str> = kept.iter().copied().chain([MODULES]).collect();
        empty(self.work(), &kept)
    }

    /// Where sources are put and a compiler runs.
    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Where a compiler puts what it makes.
    pub(crate) fn output(&self) -> PathBuf {
        self.root.path().join("output")
    }

    /// What a compiler takes for its own.
    pub(crate) fn redirected(&self) -> Redirected {
        Redirected {
            cwd: self.work(),
            home: self.root.path().join("home"),
            temporary: self.root.path().join("tmp"),
            alive: self.alive.clone(),
        }
    }

    /// Puts a source into the work directory, under a path from there.
    pub(crate) fn write(&self, path: &str, contents: &str) -> io::Result<PathBuf> {
        let path = self.work().join(path);
        std::fs::write(&path, contents)?;
        Ok(path)
    }

    /// The same of a source that is kept from one preparation to the next, and may be there.
    pub(crate) fn keep(&self, path: &str, contents: &str) -> io::Result<PathBuf> {
        let there = std::fs::read(self.work().join(path));
        if there.is_ok_and(|there| there == contents.as_bytes()) {
            return Ok(self.work().join(path));
        }
        self.write(path, contents)
    }

    /// The folder of a module's build.
    pub(crate) fn module(&self, key: &str) -> PathBuf {
        self.work().join(MODULES).join(key)
    }

    /// Whether a module's build is there, whole, and of this source in a file of this extension.
    pub(crate) fn has_module(&self, key: &str, source: &str, extension: &str) -> bool {
        let build = self.build(key, source);
        build.is_some_and(|build| {
            build.extension == extension && build.artifacts.iter().all(|path| path.is_file())
        })
    }

    /// The extension of the file that a module was last built from, where it was of this source.
    pub(crate) fn module_extension(&self, key: &str, source: &str) -> Option<&'static str> {
        self.build(key, source).map(|build| build.extension)
    }

    fn build(&self, key: &str, source: &str) -> Option<&Build> {
        let build = self.modules.get(key);
        build.filter(|build| build.source == source)
    }

    /// Makes the folder for a module's build, empty; what was there counts as gone.
    pub(crate) fn open_module(&mut self, key: &str) -> io::Result<PathBuf> {
        self.modules.remove(key);
        let folder = self.module(key);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        make(&folder)?;
        #[cfg(test)]
        {
            self.built += 1;
        }
        Ok(folder)
    }

    /// Records a module's build, which then need not be made again.
    pub(crate) fn record_module(
        &mut self,
        key: &str,
        source: &str,
        extension: &'static str,
        artifacts: Vec<PathBuf>,
    ) {
        let build = Build {
            source: source.to_owned(),
            extension,
            artifacts,
        };
        self.modules.insert(key.to_owned(), build);
    }

    /// How often a module was built here.
    #[cfg(test)]
    pub(crate) fn module_builds(&self) -> usize {
        self.built
    }

    /// Where it is.
    #[cfg(test)]
    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }
}

fn make(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// Removes what is in a folder, but for some.
fn empty(folder: PathBuf, kept: &[&str]) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let stays = entry
            .file_name()
            .to_str()
            .is_some_and(|name| kept.contains(&name));
        if stays {
            continue;
        }
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preparation_finds_only_modules_and_what_is_kept() {
        let mut workspace = Workspace::create(Alive::default()).unwrap();
        let built = workspace.open_module("a").unwrap().join("a.js");
        std::fs::write(&built, "").unwrap();
        workspace.record_module("a", "source", "js", vec![built.clone()]);
        workspace.write("program.ts", "x").unwrap();
        workspace.write("kept", "x").unwrap();
        for says in ["x", "y", "y"] {
            let path = workspace.keep("kept", says).unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), says);
        }
        std::fs::create_dir(workspace.output().join("deep")).unwrap();
        workspace.reset(&["kept"]).unwrap();
        let left: std::collections::BTreeSet<_> = std::fs::read_dir(workspace.work())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(
            left,
            ["kept".to_owned(), "modules".to_owned()]
                .into_iter()
                .collect()
        );
        assert_eq!(std::fs::read_dir(workspace.output()).unwrap().count(), 0);
        assert!(workspace.has_module("a", "source", "js"));
        assert!(!workspace.has_module("a", "other", "js"));
        assert!(!workspace.has_module("a", "source", "ts"));
        std::fs::remove_file(built).unwrap();
        assert!(!workspace.has_module("a", "source", "js"));
        assert_eq!(workspace.module_extension("a", "source"), Some("js"));
        assert_eq!(workspace.module_extension("a", "other"), None);
    }

    #[test]
    fn a_tree_is_its_owners_alone_and_goes_with_it() {
        let workspace = Workspace::create(Alive::default()).unwrap();
        let path = workspace.path().to_owned();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
        drop(workspace);
        assert!(!path.exists());
    }
}
