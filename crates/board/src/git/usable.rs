//! Whether a board can work on a workspace: what is refused, each in a sentence that says what to
//! do. Nothing here changes anything.

use std::path::{Path, PathBuf};

use vocab::listed::Listed;

use super::begun::{Begun, under_way};
use super::error::GitError;
use super::hidden;
use super::journal::Note;
use super::open::canonical;
use super::process::{Git, Invocation};
use super::text::{path, records, shown};

/// What a look at a usable repository found.
pub(super) struct Found {
    /// A git was at work, so that what a killed run left could not be told.
    pub(super) locked: bool,
    /// A sentence on a resolution that nobody judged.
    pub(super) unjudged: Option<String>,
    /// Files that git takes for unchanged.
    pub(super) unseen: Vec<PathBuf>,
}

/// Refuses a repository in which a board's work could not be done, or would not be whole.
pub(super) async fn usable(
    git: &Git,
    workspace: &Path,
    own: &Path,
    common: &Path,
) -> Result<Found, GitError> {
    if let Some(begun) = under_way(own) {
        return Err(GitError::Unsupported(unfinished(workspace, own, begun)));
    }
    let (locked, unjudged) = interrupted(git, workspace, own).await?;
    if common.join("refs/heads/gg").is_file() {
        return Err(GitError::Unsupported(
            "the repository has a branch `gg`, so no branch `gg/…` can be made; rename it with \
             `git branch -m gg <name>`"
                .to_owned(),
        ));
    }
    let unseen = tracked(git, workspace).await?;
    Ok(Found {
        locked,
        unjudged,
        unseen,
    })
}

/// Refuses a tree in which half of a killed run's merge may stand. While a git holds the lock
/// nothing can be told: one that a killed run began ends by itself.
async fn interrupted(
    git: &Git,
    workspace: &Path,
    own: &Path,
) -> Result<(bool, Option<String>), GitError> {
    let Some(note) = Note::read(own) else {
        return Ok((false, None));
    };
    let mut again = false;
    loop {
        if own.join("index.lock").exists() {
            return Ok((true, None));
        }
        let status = git.status(workspace, false).await?;
        let half = note.half_written(git, workspace, &status).await?;
        if half.is_empty() {
            return Ok((false, note.unjudged(&status)));
        }
        if let Some(begun) = under_way(own) {
            return Err(GitError::Unsupported(unfinished(workspace, own, begun)));
        }
        // A git that ended meanwhile left something else than half.
        if again {
            return Err(GitError::Unsupported(note.killed(workspace, &half)));
        }
        again = true;
    }
}

/// Refuses a git that lacks what is needed.
pub(super) async fn version(git: &Git, dir: &Path) -> Result<(), GitError> {
    let said = git
        .run(Invocation::anywhere(dir, ["version"]))
        .await?
        .text();
    let mut numbers = said
        .split_ascii_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or_default()
        .split('.')
        .map(|number| number.parse::<u32>().unwrap_or_default());
    let found = (numbers.next(), numbers.next());
    if found >= (Some(2), Some(31)) {
        Ok(())
    } else {
        Err(GitError::Old(said))
    }
}

/// Refuses to make a repository within what another one tracks.
pub(super) async fn stands_alone(git: &Git, workspace: &Path) -> Result<(), GitError> {
    let find = Invocation::anywhere(workspace, ["rev-parse", "--absolute-git-dir"]);
    let found = git.ask(&find).await?;
    if !found.ok() {
        return Ok(());
    }
    let folder = PathBuf::from(found.text());
    let place = workspace.display();
    if folder == workspace {
        return Err(GitError::Unsupported(format!(
            "the workspace `{place}` is a bare repository; a board works on a checked-out one: \
             `git clone` it, and make the clone the workspace"
        )));
    }
    let tracked = Invocation::anywhere(workspace, ["ls-files", "-z", "--", "."]);
    if git.run(tracked).await?.stdout.is_empty() {
        return Ok(());
    }
    let outer = folder.parent().unwrap_or(&folder).display();
    Err(GitError::Unsupported(format!(
        "the workspace `{place}` is a folder of the repository `{outer}`; a board works on whole \
         repositories: make `{outer}` the workspace"
    )))
}

/// The workspace's own git folder, and the one all its worktrees share.
pub(super) async fn folders(git: &Git, workspace: &Path) -> Result<(PathBuf, PathBuf), GitError> {
    let ask = Invocation::anywhere(
        workspace,
        [
            "rev-parse",
            "--absolute-git-dir",
            "--git-common-dir",
            "--is-bare-repository",
        ],
    );
    // A `.git` that is no repository must not be taken for one further up.
    let above = workspace.parent().unwrap_or(workspace);
    let ask = ask.variable("GIT_CEILING_DIRECTORIES", above);
    let output = git.ask(&ask).await?;
    let text = output.text();
    let lines: Vec<_> = text.lines().collect();
    let place = workspace.display();
    let [own, common, bare] = lines.as_slice() else {
        return Err(GitError::Unsupported(format!(
            "the workspace `{place}` has a `.git` that git cannot read: {}; mend it, or move it \
             away to let gg make a repository",
            output.said()
        )));
    };
    let top = Invocation::anywhere(workspace, ["rev-parse", "--show-toplevel"]);
    let top = git.ask(&top).await?;
    if *bare == "true" || !top.ok() || canonical(Path::new(&top.text()))? != workspace {
        return Err(GitError::Unsupported(format!(
            "the repository of the workspace `{place}` has its work tree elsewhere (`core.bare` \
             or `core.worktree` is set); a board needs it in the workspace"
        )));
    }
    Ok((own.into(), canonical(&workspace.join(common))?))
}

/// The sentence on what an earlier run, or somebody else, left half done.
fn unfinished(workspace: &Path, own: &Path, begun: Begun) -> String {
    let message = std::fs::read_to_string(own.join("MERGE_MSG")).unwrap_or_default();
    let of = (message.lines().next())
        .filter(|line| own.join("MERGE_HEAD").exists() && !line.is_empty())
        .map(|line| format!(" (“{line}”)"))
        .unwrap_or_default();
    let Begun { what, back, .. } = begun;
    format!(
        "{what} is under way in the workspace `{}`{of}: an earlier run may have been killed in it; \
         finish it, or go back with `git {}`, then start again",
        workspace.display(),
        back.join(" ")
    )
}

/// Refuses submodules: what an issue changes in one is a commit that nobody else would have. Its
/// answer is the files that git takes for unchanged, whatever they hold: those it leaves out of the
/// work tree it does not write over.
pub(super) async fn tracked(git: &Git, workspace: &Path) -> Result<Vec<PathBuf>, GitError> {
    let list = Invocation::new(workspace, ["ls-files", "--stage", "-v", "-z"]);
    let output = git.run(list).await?;
    let (mut submodules, mut unseen) = (Vec::new(), Vec::new());
    // Of each: how git looks at it, mode, name and stage, a tab, its path.
    for row in records(&output.stdout) {
        let Some(tab) = row.iter().position(|byte| *byte == b'\t') else {
            continue;
        };
        let (fields, file) = (&row[..tab], path(&row[tab + 1..]));
        let tag = fields.first().copied().unwrap_or_default();
        if fields.get(2..).is_some_and(|of| of.starts_with(b"160000 ")) {
            submodules.push(file);
        } else if hidden::taken_for_unchanged(tag) {
            unseen.push(file);
        }
    }
    if submodules.is_empty() {
        return Ok(unseen);
    }
    Err(GitError::Unsupported(format!(
        "the workspace has submodules ({}); boards do not support them, since what an issue \
         changes in one would be a commit that nobody else has; take them into the repository, or \
         run without `project-management`",
        Listed(&shown(&submodules))
    )))
}
