//! Taking a workspace as it is found: what it is, what it lacks, and what earlier runs left in it
//! (03 §7.5).

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::error::GitError;
use super::process::{Git, Invocation};
use super::stage::Nested;
use super::{Inner, LOCK_PATIENCE, MainTree, Repository};

/// Where worktrees stand, below the folder for temporary files.
const FOLDER: &str = "gg-worktrees";

/// The line that keeps gg's own folder out of commits.
const EXCLUDED: &str = "/.gg/";

/// How a repository is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// The run's workspace.
    pub workspace: PathBuf,
    /// The run's own folder for worktrees, outside the workspace.
    pub trees: PathBuf,
    /// The mark of the run's commands (R38).
    pub run: String,
    /// What is started as `git`.
    pub program: PathBuf,
    /// How long a lock of another git is waited for.
    pub patience: Duration,
}

impl Options {
    /// What a run uses.
    pub fn new(workspace: impl Into<PathBuf>, run: &vocab::ids::RoutingKey) -> Self {
        Self {
            workspace: workspace.into(),
            trees: std::env::temp_dir().join(FOLDER).join(run.as_str()),
            run: run.as_str().to_owned(),
            program: "git".into(),
            patience: LOCK_PATIENCE,
        }
    }
}

/// What was found, and done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// There was no repository: one was made, the tree its first commit.
    pub initialized: bool,
    /// The commit that is checked out.
    pub commit: String,
    /// The branch that is; `None` where HEAD is detached. Merges then move HEAD alone.
    pub branch: Option<String>,
    /// What earlier runs left. It stands in nobody's way.
    pub leftovers: Vec<Leftover>,
    /// Repositories inside the workspace that it does not track: no worktree has them.
    pub nested: Vec<String>,
}

/// Something an earlier run left in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// A worktree, with a branch of gg's checked out.
    Worktree {
        /// Where.
        path: PathBuf,
        /// Its branch.
        branch: String,
    },
    /// A branch of gg's without one.
    Branch(String),
}

impl Opened {
    /// A sentence for the operator on what earlier runs left; `None` where they left nothing.
    pub fn leftover_note(&self) -> Option<String> {
        let told: Vec<_> = (self.leftovers.iter())
            .map(|leftover| match leftover {
                Leftover::Worktree { path, branch } => {
                    format!("the worktree `{}` on `{branch}`", path.display())
                }
                Leftover::Branch(branch) => format!("the branch `{branch}`"),
            })
            .collect();
        (!told.is_empty()).then(|| {
            format!(
                "an earlier run left {}; this run leaves them alone and takes other names; \
                 `git worktree remove` and `git branch -D` remove what is not needed",
                told.join(", ")
            )
        })
    }
}

impl Repository {
    /// Says whether a board can work on a workspace, as it is; it changes nothing. A lock is not
    /// looked at: whoever holds it may be done before the run begins.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), but for [`GitError::Locked`].
    pub async fn examine(options: &Options) -> Result<(), GitError> {
        let workspace = canonical(&options.workspace)?;
        let git = Git::unshielded(options.program.clone(), options.patience, &options.run);
        version(&git, &workspace).await?;
        let git = Git::new(
            options.program.clone(),
            Vec::new(),
            options.patience,
            &options.run,
        );
        if !workspace.join(".git").exists() {
            return stands_alone(&git, &workspace).await;
        }
        let (own, common) = folders(&git, &workspace).await?;
        usable(&git, &workspace, &own, &common).await
    }

    /// Opens the repository of a workspace, or makes one where there is none.
    ///
    /// # Errors
    ///
    /// [`GitError::Unsupported`] for a workspace a board cannot work on, [`GitError::Locked`]
    /// where another git holds it, each a sentence that says what to do.
    pub async fn open(options: Options) -> Result<(Self, Opened), GitError> {
        let workspace = canonical(&options.workspace)?;
        let Options {
            trees,
            run,
            program,
            patience,
            ..
        } = options;
        let own = Git::unshielded(program.clone(), patience, &run);
        version(&own, &workspace).await?;
        let filters = filters(&own, &workspace).await?;
        let git = Git::new(program, filters, patience, &run);

        let initialized = !workspace.join(".git").exists();
        if initialized {
            stands_alone(&git, &workspace).await?;
            let init = ["init", "-q", "--template=", "-b", "main"];
            git.run(Invocation::new(&workspace, init)).await?;
        }
        let (own, common) = folders(&git, &workspace).await?;
        let lock = own.join("index.lock");
        if !git.lock_goes(&lock).await {
            let secs = git.patience_secs();
            return Err(GitError::Locked { lock, secs });
        }
        usable(&git, &workspace, &own, &common).await?;
        exclude(&common)?;
        let trees = make_trees(&trees, &workspace)?;

        let mut status = git.status(&workspace, false).await?;
        if status.commit.is_none() {
            let message = "Baseline\n\nThe workspace as the run found it.";
            git.stage(&workspace, &status, Nested::Leave).await?;
            let commit = [
                "commit",
                "-q",
                "--no-verify",
                "--no-gpg-sign",
                "--allow-empty",
            ];
            let commit = Invocation::new(&workspace, commit).arg("-m").arg(message);
            git.run(commit).await?;
            let nested = status.nested;
            status = git.status(&workspace, false).await?;
            status.nested = nested;
        }
        let leftovers = leftovers(&git, &workspace).await?;
        let commit = status.commit.ok_or_else(|| GitError::Unreadable {
            what: "status",
            found: "no commit".to_owned(),
        })?;
        let opened = Opened {
            initialized,
            commit,
            branch: status.branch,
            leftovers,
            nested: status.nested,
        };
        let inner = Inner {
            git,
            workspace,
            own,
            trees,
            main: tokio::sync::Mutex::new(MainTree::default()),
            folders: tokio::sync::Mutex::default(),
        };
        Ok((Self(Arc::new(inner)), opened))
    }
}

/// Refuses a repository in which a board's work could not be done, or would not be whole.
async fn usable(git: &Git, workspace: &Path, own: &Path, common: &Path) -> Result<(), GitError> {
    if let Some(what) = under_way(own) {
        return Err(GitError::Unsupported(unfinished(workspace, own, what)));
    }
    if common.join("refs/heads/gg").is_file() {
        return Err(GitError::Unsupported(
            "the repository has a branch `gg`, so no branch `gg/…` can be made; rename it with \
             `git branch -m gg <name>`"
                .to_owned(),
        ));
    }
    submodules(git, workspace).await
}

/// Refuses a git that lacks what is needed.
async fn version(git: &Git, dir: &Path) -> Result<(), GitError> {
    let said = git.run(Invocation::new(dir, ["version"])).await?.text();
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

/// The content filters the user has configured, wherever: without them, files kept elsewhere (LFS)
/// would be committed whole, and checked out as pointers.
async fn filters(git: &Git, dir: &Path) -> Result<Vec<(String, String)>, GitError> {
    let list = ["config", "-z", "--get-regexp", r"^filter\."];
    let output = git.ask(&Invocation::new(dir, list)).await?;
    // Exit code 1: there are none. Any other: his configuration is broken, and his own git is too.
    let text = String::from_utf8_lossy(&output.stdout);
    Ok((text.split('\0'))
        .filter_map(|row| row.split_once('\n'))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect())
}

/// Refuses to make a repository within what another one tracks.
async fn stands_alone(git: &Git, workspace: &Path) -> Result<(), GitError> {
    let find = Invocation::new(workspace, ["rev-parse", "--absolute-git-dir"]);
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
    let tracked = Invocation::new(workspace, ["ls-files", "-z", "--", "."]);
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
async fn folders(git: &Git, workspace: &Path) -> Result<(PathBuf, PathBuf), GitError> {
    let ask = Invocation::new(
        workspace,
        [
            "rev-parse",
            "--absolute-git-dir",
            "--git-common-dir",
            "--is-bare-repository",
        ],
    );
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
    let top = Invocation::new(workspace, ["rev-parse", "--show-toplevel"]);
    let top = git.ask(&top).await?;
    if *bare == "true" || !top.ok() || canonical(Path::new(&top.text()))? != workspace {
        return Err(GitError::Unsupported(format!(
            "the repository of the workspace `{place}` has its work tree elsewhere (`core.bare` \
             or `core.worktree` is set); a board needs it in the workspace"
        )));
    }
    Ok((own.into(), canonical(&workspace.join(common))?))
}

/// Keeps gg's own folder out of commits. The line stands once.
fn exclude(common: &Path) -> Result<(), GitError> {
    let folder = common.join("info");
    let file = folder.join("exclude");
    let io = |error| GitError::io(&file, error);
    let there = match std::fs::read(&file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(io(error)),
    };
    if there.lines().any(|line| line.trim() == EXCLUDED) {
        return Ok(());
    }
    std::fs::create_dir_all(&folder).map_err(io)?;
    let mut file = (std::fs::OpenOptions::new().create(true).append(true))
        .open(&file)
        .map_err(io)?;
    let before = if there.is_empty() || there.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    writeln!(file, "{before}{EXCLUDED}").map_err(io)
}

/// What was begun in a work tree and is not finished, by its git folder.
pub(super) fn under_way(own: &Path) -> Option<&'static str> {
    [
        ("MERGE_HEAD", "merge"),
        ("rebase-merge", "rebase"),
        ("rebase-apply", "rebase"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
    ]
    .into_iter()
    .find_map(|(file, what)| own.join(file).exists().then_some(what))
}

/// The sentence on what an earlier run, or somebody else, left half done.
fn unfinished(workspace: &Path, own: &Path, what: &str) -> String {
    let message = std::fs::read_to_string(own.join("MERGE_MSG")).unwrap_or_default();
    let of = (message.lines().next())
        .filter(|line| what == "merge" && !line.is_empty())
        .map(|line| format!(" (“{line}”)"))
        .unwrap_or_default();
    format!(
        "a {what} is under way in the workspace `{}`{of}: an earlier run may have been killed in \
         it; finish it, or go back with `git {what} --abort`, then start again",
        workspace.display()
    )
}

/// Refuses submodules: what an issue changes in one is a commit that nobody else would have.
async fn submodules(git: &Git, workspace: &Path) -> Result<(), GitError> {
    let list = Invocation::new(workspace, ["ls-files", "--stage", "-z"]);
    let output = git.run(list).await?;
    let text = String::from_utf8_lossy(&output.stdout);
    let found: Vec<_> = (text.split('\0'))
        .filter(|row| row.starts_with("160000 "))
        .filter_map(|row| row.split_once('\t'))
        .map(|(_, path)| format!("`{path}`"))
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(GitError::Unsupported(format!(
        "the workspace has submodules ({}); boards do not support them, since what an issue \
         changes in one would be a commit that nobody else has; take them into the repository, or \
         run without `project-management`",
        found.join(", ")
    )))
}

/// Makes the folder that worktrees stand in, for nobody else's eyes.
fn make_trees(trees: &Path, workspace: &Path) -> Result<PathBuf, GitError> {
    let io = |error| GitError::io(trees, error);
    if let Some(parent) = trees.parent() {
        std::fs::create_dir_all(parent).map_err(io)?;
        if parent.ends_with(FOLDER) {
            // Shared by the users of a machine, like the folder it stands in; whoever made it
            // first may not be the one who runs now.
            let open = std::fs::Permissions::from_mode(0o1777);
            std::fs::set_permissions(parent, open).ok();
        }
    }
    match std::fs::DirBuilder::new().mode(0o700).create(trees) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(io(error)),
        _ => {}
    }
    let trees = canonical(trees)?;
    if trees.starts_with(workspace) {
        return Err(GitError::Unsupported(format!(
            "worktrees would stand in `{}`, inside the workspace; set TMPDIR to a folder outside \
             of it",
            trees.display()
        )));
    }
    Ok(trees)
}

/// Branches of gg's, and the worktrees that have them.
async fn leftovers(git: &Git, workspace: &Path) -> Result<Vec<Leftover>, GitError> {
    let refs = ["for-each-ref", "--format=%(refname)", "refs/heads/gg/"];
    let refs = git.run(Invocation::new(workspace, refs)).await?.text();
    if refs.is_empty() {
        return Ok(Vec::new());
    }
    let list = Invocation::new(workspace, ["worktree", "list", "--porcelain"]);
    let list = git.run(list).await?.text();
    let mut places = std::collections::HashMap::new();
    let mut path = None;
    for line in list.lines() {
        if let Some(place) = line.strip_prefix("worktree ") {
            path = Some(PathBuf::from(place));
        } else if let Some(branch) = line.strip_prefix("branch ")
            && let Some(path) = path.take().filter(|path| path.exists())
        {
            places.insert(branch.to_owned(), path);
        }
    }
    Ok((refs.lines())
        .map(|name| {
            let branch = name.trim_start_matches("refs/heads/").to_owned();
            match places.remove(name) {
                Some(path) => Leftover::Worktree { path, branch },
                None => Leftover::Branch(branch),
            }
        })
        .collect())
}

fn canonical(path: &Path) -> Result<PathBuf, GitError> {
    std::fs::canonicalize(path).map_err(|error| GitError::io(path, error))
}
