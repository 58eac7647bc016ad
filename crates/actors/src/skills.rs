//! The skills of a run: every directory that a profile names, read once, before the first turn
//! (02 §10.1, R49).
//!
//! Always true: profiles that name one directory share one copy of it, which nothing changes.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{Refusal, SkillDir};
use context::modules::skills::{DEFAULT_DIR, Directory, Skill, SkillRefusal};
use sandbox::arms;
use vocab::language::ProgramLanguage;

/// What the directories hold.
#[derive(Clone, Debug, Default)]
pub struct Library {
    workspace: PathBuf,
    directories: HashMap<PathBuf, Arc<[Arc<Skill>]>>,
}

impl Library {
    /// Reads directories, each given by its locus and as it is written. Blocks on the disk: a
    /// launch is judged before there is an event loop.
    pub(crate) fn read(workspace: &Path, dirs: &[SkillDir]) -> (Self, Vec<Refusal>) {
        let mut library = Self {
            workspace: workspace.to_owned(),
            directories: HashMap::new(),
        };
        let mut refusals = Vec::new();
        let mut judged = HashSet::new();
        for SkillDir {
            locus,
            dir,
            language,
        } in dirs
        {
            let place = library.place(dir);
            if library.directories.contains_key(&place) {
                refusals.extend(library.foreign(locus, dir, *language, &mut judged));
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
            refusals.extend(library.foreign(locus, dir, *language, &mut judged));
        }
        (library, refusals)
    }

    /// Skills whose code no program of an agent can use; of each language told once.
    fn foreign(
        &self,
        locus: &str,
        dir: &str,
        language: Option<ProgramLanguage>,
        judged: &mut HashSet<(PathBuf, ProgramLanguage)>,
    ) -> Vec<Refusal> {
        let Some(language) = language.filter(|it| judged.insert((self.place(dir), *it))) else {
            return Vec::new();
        };
        let arm = arms::of(language);
        let told = |skill: &Arc<Skill>| {
            let foreign = skill.foreign(arm.display_name(), arm.module_extensions());
            let told = foreign
                .into_iter()
                .map(|fault| Refusal::new(locus, format!("is `{dir}`, where {fault}")));
            told.collect::<Vec<_>>()
        };
        self.of(dir).iter().flat_map(told).collect()
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

    fn dirs(dirs: &[&str]) -> Vec<SkillDir> {
        let dirs = dirs.iter().enumerate();
        dirs.map(|(n, dir)| SkillDir {
            locus: format!("agent {n}: params.dir"),
            dir: (*dir).to_owned(),
            language: None,
        })
        .collect()
    }

    #[test]
    fn code_in_no_language_of_an_agent_is_refused_at_each_language_once() {
        let folder = tempfile::tempdir().unwrap();
        let skill = folder.path().join("know/csv");
        fs::create_dir_all(&skill).unwrap();
        let head = "---\nname: csv\ndescription: d\n---\n";
        fs::write(skill.join("skill.md"), head).unwrap();
        fs::write(skill.join("skill.js"), "export const x = 1;").unwrap();
        let mut named = dirs(&["know", "know", "./know", "know"]);
        let languages = [
            None,
            Some(ProgramLanguage::Typescript),
            Some(ProgramLanguage::Python),
            Some(ProgramLanguage::Python),
        ];
        for (dir, language) in named.iter_mut().zip(languages) {
            dir.language = language;
        }
        let (library, refusals) = Library::read(folder.path(), &named);
        let told: Vec<_> = refusals.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "agent 2: params.dir is `./know`, where skill `csv` carries `skill.js` and nothing \
              that programs in Python can use; add `skill.py`"
            ]
        );
        assert_eq!(library.of("know").len(), 1);
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
