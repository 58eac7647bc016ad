//! The skills of a run: every directory that a profile names, read once, before the first turn
//! (02 §10.1, R49).
//!
//! Always true: profiles that name one directory share one copy of it, which nothing changes.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::Refusal;
use context::modules::skills::{DEFAULT_DIR, Directory, Skill, SkillRefusal};

/// What the directories hold.
#[derive(Clone, Debug, Default)]
pub struct Library {
    workspace: PathBuf,
    directories: HashMap<PathBuf, Arc<[Arc<Skill>]>>,
}

impl Library {
    /// Reads directories, each given by its locus and as it is written. Blocks on the disk: a
    /// launch is judged before there is an event loop.
    pub(crate) fn read(workspace: &Path, dirs: &[(String, String)]) -> (Self, Vec<Refusal>) {
        let mut library = Self {
            workspace: workspace.to_owned(),
            directories: HashMap::new(),
        };
        let mut refusals = Vec::new();
        for (locus, dir) in dirs {
            let place = library.place(dir);
            if library.directories.contains_key(&place) {
                continue;
            }
            let found = Directory::read(workspace, dir);
            refusals.extend(
                found
                    .refusals
                    .iter()
                    .map(|fault| refusal(locus, dir, fault)),
            );
            library.directories.insert(place, found.skills.into());
        }
        (library, refusals)
    }

    /// The skills of a directory, as a profile writes it.
    pub(crate) fn of(&self, dir: &str) -> Arc<[Arc<Skill>]> {
        self.directories
            .get(&self.place(dir))
            .cloned()
            .unwrap_or_default()
    }

    /// Makes the one directory that may be missing, where a profile names it and it is (R49).
    pub(crate) fn create_default(&self) -> io::Result<()> {
        let default = self.place(DEFAULT_DIR);
        if self.directories.contains_key(&default) {
            std::fs::create_dir_all(default)?;
        }
        Ok(())
    }

    /// What a directory is known by: the ways of writing it that differ in no meaning are one.
    fn place(&self, dir: &str) -> PathBuf {
        self.workspace.join(dir).components().collect()
    }
}

fn refusal(locus: &str, dir: &str, fault: &SkillRefusal) -> Refusal {
    match fault {
        SkillRefusal::Directory { dir, why } => {
            Refusal::new(locus, format!("is `{dir}`, which {why}")).with_hint(format!(
                "make the directory; `{DEFAULT_DIR}` is the one that gg makes itself"
            ))
        }
        fault => Refusal::new(locus, format!("is `{dir}`, where {fault}")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn dirs(dirs: &[&str]) -> Vec<(String, String)> {
        let dirs = dirs.iter().enumerate();
        dirs.map(|(n, dir)| (format!("agent {n}: params.dir"), (*dir).to_owned()))
            .collect()
    }

    #[test]
    fn a_directory_that_several_profiles_name_is_read_and_refused_once() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("know");
        fs::create_dir(&dir).unwrap();
        fs::write(
            dir.join("good.md"),
            "---\nname: good\ndescription: d\n---\nText.\n",
        )
        .unwrap();
        fs::write(dir.join("bad.md"), "no head").unwrap();
        let absolute = dir.display().to_string();
        let (library, refusals) =
            Library::read(folder.path(), &dirs(&["know", "./know/", &absolute]));
        assert_eq!(refusals.len(), 1, "{refusals:?}");
        let told = refusals[0].to_string();
        assert!(
            told.starts_with("agent 0: params.dir is `know`, where `bad.md` "),
            "{told}"
        );
        let (one, other) = (library.of("know"), library.of(&absolute));
        assert_eq!(one.len(), 1);
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn the_default_directory_may_be_missing_and_is_made_where_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (library, refusals) = Library::read(folder.path(), &dirs(&[".gg/skills", "none"]));
        assert_eq!(refusals.len(), 1, "{refusals:?}");
        let told = refusals[0].to_string();
        assert!(
            told.starts_with("agent 1: params.dir is `none`, which cannot be read: "),
            "{told}"
        );
        assert!(
            !folder.path().join(".gg").exists(),
            "reading creates nothing"
        );
        library.create_default().unwrap();
        assert!(folder.path().join(".gg/skills").is_dir());

        let other = tempfile::tempdir().unwrap();
        let (library, _) = Library::read(other.path(), &[]);
        library.create_default().unwrap();
        assert!(!other.path().join(".gg").exists(), "nobody named it");
    }
}
