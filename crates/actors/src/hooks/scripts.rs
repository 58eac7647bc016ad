//! The operator's scripts, laid down in the workspace as the run starts (01 §8.3).
//!
//! Always true: what is run is what the launch document says; a script that is not as it was laid
//! down is not run. Nothing is written through a link.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use config::Launch;
use config::hooks::{Hook, HookAction};
use vocab::ids::Slug;

/// Where a hook is declared: a profile, or the run; and its place in that list.
pub(super) type Site = (Option<Slug>, usize);

/// A script in the workspace.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) path: PathBuf,
    source: String,
    /// Files that were put beside it: many agents may have the script asked at one time.
    texts: AtomicU64,
}

impl Written {
    /// Whether its first line names its interpreter.
    pub(super) fn names_interpreter(&self) -> bool {
        self.source.starts_with("#!")
    }

    /// Whether it still is what it was. Blocks on the disk.
    pub(super) fn check(&self) -> Result<(), String> {
        match fs::read(&self.path) {
            Ok(found) if found == self.source.as_bytes() => Ok(()),
            Ok(_) => Err("it was changed while the run went on".to_owned()),
            Err(error) => Err(format!("it is gone: {error}")),
        }
    }

    /// Puts a text into a file of its own beside it. Blocks on the disk.
    pub(super) fn beside(&self, text: &str) -> io::Result<PathBuf> {
        let number = self.texts.fetch_add(1, Ordering::Relaxed);
        let path = self.path.with_extension(format!("{number}.txt"));
        create(&path, text, 0o600)?;
        Ok(path)
    }
}

/// The scripts of a launch.
#[derive(Debug, Default)]
pub(crate) struct Scripts(HashMap<Site, Result<Arc<Written>, String>>);

impl Scripts {
    /// Lays them down. Those that cannot be are known by why, and judge nothing when they are
    /// asked. Blocks on the disk, for as many small files as there are scripts.
    pub(crate) fn lay_down(launch: &Launch) -> Self {
        let folder = launch.workspace_dir.join(".gg/hooks");
        let set = &launch.capability_set;
        let of_run = (None, folder.join("session"), &set.hooks);
        let of_agents = set.agents.iter().map(|profile| {
            let site = folder.join("agents").join(profile.slug.as_str());
            (Some(&profile.slug), site, &profile.hooks)
        });
        let mut scripts = HashMap::new();
        for (slug, site, hooks) in std::iter::once(of_run).chain(of_agents) {
            for (at, hook) in hooks.iter().enumerate() {
                if let HookAction::Custom { source, .. } = &hook.action {
                    let written = write(&launch.workspace_dir, &site, at, hook, source);
                    scripts.insert((slug.cloned(), at), written);
                }
            }
        }
        Self(scripts)
    }

    /// The script of a hook.
    pub(super) fn find(&self, site: &Site) -> Result<Arc<Written>, String> {
        let found = self.0.get(site);
        found
            .cloned()
            .unwrap_or_else(|| Err("it was never laid down".to_owned()))
    }
}

fn write(
    workspace: &Path,
    site: &Path,
    at: usize,
    hook: &Hook,
    source: &str,
) -> Result<Arc<Written>, String> {
    let path = site.join(format!("{at}-{}", hook.event));
    let written = folders(workspace, site).and_then(|()| create(&path, source, 0o700));
    match written {
        Ok(()) => Ok(Arc::new(Written {
            path,
            source: source.to_owned(),
            texts: AtomicU64::new(0),
        })),
        Err(error) => Err(format!("{} cannot be written: {error}", path.display())),
    }
}

/// Makes the folders from the workspace down to a site. A link among them leads elsewhere.
fn folders(workspace: &Path, site: &Path) -> io::Result<()> {
    let below = site.strip_prefix(workspace).unwrap_or(site);
    let mut folder = workspace.to_path_buf();
    for part in below.components() {
        folder.push(part);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        if !fs::symlink_metadata(&folder)?.is_dir() {
            let what = format!("{} is not a directory", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotADirectory, what));
        }
    }
    Ok(())
}

/// Makes a file anew. What a run that was killed left there is unlinked, and so is a link.
fn create(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use config::hooks::HookEvent;

    use super::*;

    fn lay(workspace: &Path, source: &str) -> Result<Arc<Written>, String> {
        let hook = Hook {
            event: HookEvent::PreWrite,
            name: None,
            action: HookAction::Custom {
                source: source.to_owned(),
                timeout_secs: None,
            },
        };
        write(
            workspace,
            &workspace.join(".gg/hooks/agents/root"),
            2,
            &hook,
            source,
        )
    }

    #[test]
    fn a_script_is_laid_down_executable_over_what_an_earlier_run_left() {
        let folder = tempfile::tempdir().unwrap();
        lay(folder.path(), "old").unwrap();
        let script = lay(folder.path(), "#!/bin/sh\nnew").unwrap();
        assert_eq!(
            script.path,
            folder.path().join(".gg/hooks/agents/root/2-pre-write")
        );
        assert_eq!(fs::read_to_string(&script.path).unwrap(), "#!/bin/sh\nnew");
        let mode = fs::metadata(&script.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(script.names_interpreter());
        assert_eq!(script.check(), Ok(()));
    }

    #[test]
    fn a_text_beside_a_script_is_one_of_its_own_over_what_an_earlier_run_left() {
        let folder = tempfile::tempdir().unwrap();
        // A run that is killed leaves its text, and the next one counts from the beginning.
        let left = lay(folder.path(), "exit 0").unwrap();
        left.beside("left").unwrap();
        let script = lay(folder.path(), "exit 0").unwrap();
        let (first, second) = (script.beside("1").unwrap(), script.beside("2").unwrap());
        assert_eq!(fs::read_to_string(first).unwrap(), "1");
        assert_eq!(fs::read_to_string(second).unwrap(), "2");
    }

    #[test]
    fn a_script_that_was_touched_is_not_what_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let script = lay(folder.path(), "exit 0").unwrap();
        fs::write(&script.path, "exit 1").unwrap();
        assert!(script.check().unwrap_err().contains("changed"));
        fs::remove_file(&script.path).unwrap();
        assert!(script.check().unwrap_err().contains("gone"));
    }

    #[test]
    fn a_link_on_the_way_is_not_followed() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(folder.path().join(".gg")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join(".gg/hooks")).unwrap();
        assert!(
            lay(folder.path(), "x")
                .unwrap_err()
                .contains("not a directory")
        );
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
