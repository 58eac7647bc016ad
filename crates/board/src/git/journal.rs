//! What a merge that is under way leaves behind should gg and its git be killed in it: which branch,
//! into what, and the commit before it.
//!
//! Git itself writes down a merge only once it conflicts. One that is killed while it writes files
//! leaves a tree of which half is the branch's, and the next run would commit that half as work of
//! the workspace.
//!
//! Always true: the note is there before git begins to change the tree, and as long as the tree may
//! be neither as it was before the merge nor as it is after it.

use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};

use vocab::listed::Listed;

use super::error::GitError;
use super::process::{Git, Invocation};
use super::status::Status;
use super::text::{path, records, shown};

/// The note, in the git folder of the work tree it is about.
const FILE: &str = "gg-merge";

/// How far a merge has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Git merges.
    Merging,
    /// It conflicted, and somebody resolves it.
    Conflict,
    /// It is undone, from wherever HEAD is by then.
    Undoing,
}

/// A merge as it is noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) stage: Stage,
    /// The branch that is merged.
    pub(super) branch: String,
    /// Its commit.
    pub(super) commit: String,
    /// The branch merged into, or `HEAD`.
    pub(super) into: String,
    /// HEAD before.
    pub(super) before: String,
}

impl Note {
    /// Writes it, in place of another.
    pub(super) fn write(&self, own: &Path) -> Result<(), GitError> {
        let stage = match self.stage {
            Stage::Merging => "merging",
            Stage::Conflict => "conflict",
            Stage::Undoing => "undoing",
        };
        let Self {
            branch,
            commit,
            into,
            before,
            ..
        } = self;
        let text = format!("{stage}\n{branch}\n{commit}\n{into}\n{before}\n");
        let (file, new) = (own.join(FILE), own.join(format!("{FILE}.new")));
        std::fs::write(&new, text).map_err(|error| GitError::io(&new, error))?;
        std::fs::rename(&new, &file).map_err(|error| GitError::io(&file, error))
    }

    /// What is noted; `None` where nothing is, or nothing that can be read.
    pub(super) fn read(own: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(own.join(FILE)).ok()?;
        let mut lines = text.split('\n').map(str::to_owned);
        let stage = match lines.next()?.as_str() {
            "merging" => Stage::Merging,
            "conflict" => Stage::Conflict,
            "undoing" => Stage::Undoing,
            _ => return None,
        };
        let [branch, commit, into, before] =
            [lines.next()?, lines.next()?, lines.next()?, lines.next()?];
        // The last line is whole where another begins behind it.
        lines.next()?;
        Some(Self {
            stage,
            branch,
            commit,
            into,
            before,
        })
    }

    /// Nothing is under way any more.
    pub(super) fn clear(own: &Path) -> Result<(), GitError> {
        let file = own.join(FILE);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != NotFound => Err(GitError::io(file, error)),
            _ => Ok(()),
        }
    }

    /// The paths of a tree that may be half of a merge that was killed.
    pub(super) async fn half_written(
        &self,
        git: &Git,
        dir: &Path,
        status: &Status,
    ) -> Result<Vec<PathBuf>, GitError> {
        let differs = (status.changed.iter())
            .chain(&status.unmerged)
            .chain(&status.untracked);
        match self.stage {
            Stage::Merging if status.commit.as_ref() == Some(&self.before) => {}
            Stage::Undoing => return Ok(differs.cloned().collect()),
            Stage::Merging | Stage::Conflict => return Ok(Vec::new()),
        }
        let range = format!("{}...{}", self.before, self.commit);
        let args = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff"];
        let touched = git.ask(&Invocation::new(dir, args).arg(range)).await?;
        // Without the commit nothing can be told of it; then nothing of it can be there either.
        let touched: Vec<_> = (records(&touched.stdout).into_iter()).map(path).collect();
        let differs = differs.filter(|path| touched.contains(path));
        Ok(differs.cloned().collect())
    }

    /// What was killed, in a sentence.
    fn killed_as(&self, workspace: &Path) -> String {
        let it = match self.stage {
            Stage::Merging | Stage::Conflict => "it merged",
            Stage::Undoing => "a merge was undone, of",
        };
        format!(
            "git was killed in the workspace `{}` as {it} `{}` into `{}`",
            workspace.display(),
            self.branch,
            self.into
        )
    }

    /// The sentence on a merge that was killed while git wrote.
    pub(super) fn killed(&self, workspace: &Path, paths: &[PathBuf]) -> String {
        format!(
            "{}: {} may be half of that merge; put it away with `git stash -u`, which loses \
             nothing, or commit what is yours, then start again",
            self.killed_as(workspace),
            Listed(&shown(paths))
        )
    }

    /// The same, with git's own lock still there.
    pub(super) fn killed_with_lock(&self, workspace: &Path, lock: &Path) -> String {
        format!(
            "{}, and left `{}`: if no git runs there, remove that file, and put what is half \
             merged away with `git stash -u`, which loses nothing; then start again",
            self.killed_as(workspace),
            lock.display()
        )
    }

    /// The sentence on a conflict that somebody committed and nobody judged.
    pub(super) fn unjudged(&self, status: &Status) -> Option<String> {
        let moved = status.commit.as_ref() != Some(&self.before);
        (self.stage != Stage::Merging && moved).then(|| {
            format!(
                "an earlier run was killed while the conflict of `{}` was resolved in `{}`, and \
                 nobody judged what was committed: `git diff {} HEAD` shows it",
                self.branch, self.into, self.before
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_and_half_of_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path();
        assert_eq!(Note::read(own), None);
        let note = Note {
            stage: Stage::Conflict,
            branch: "gg/ui-1".to_owned(),
            commit: "aa".to_owned(),
            into: "main".to_owned(),
            before: "bb".to_owned(),
        };
        note.write(own).unwrap();
        assert_eq!(Note::read(own), Some(note));
        let whole = std::fs::read(own.join(FILE)).unwrap();
        for end in 0..whole.len() {
            std::fs::write(own.join(FILE), &whole[..end]).unwrap();
            assert_eq!(Note::read(own), None, "{end}");
        }
        Note::clear(own).unwrap();
        Note::clear(own).unwrap();
        assert_eq!(Note::read(own), None);
    }
}
