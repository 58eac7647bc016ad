//! Taking a workspace as it is found: what it is, what it lacks, and what earlier runs left in it
//! (03 §7.5).

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::error::GitError;
use super::journal::Note;
use super::lease::{Lease, Taken};
use super::process::{Git, Invocation};
use super::stage::Nested;
use super::sweep::{self, Stays};
use super::text::shown;
use super::usable::{folders, stands_alone, usable, version};
use super::{Inner, LOCK_PATIENCE, MainTree, Repository};

/// What a run holds of its workspace, in the workspace's git folder.
const LEASE: &str = "gg-board";

/// Where worktrees stand, below the folder for temporary files.
pub(super) const FOLDER: &str = "gg-worktrees";

/// Folders of earlier runs that a sentence names before it counts.
const TOLD: usize = 10;

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
    /// A sentence on what was committed in an earlier run's conflict, and judged by nobody.
    pub unjudged: Option<String>,
    /// Folders of earlier runs that were not swept away.
    pub stays: Vec<Stays>,
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

impl Opened {
    /// A sentence on folders of earlier runs that stay, wherever their workspaces are; `None` where
    /// none does.
    pub fn stays_note(&self) -> Option<String> {
        let told: Vec<_> = (self.stays.iter().take(TOLD))
            .map(|stays| format!("`{}` ({})", stays.path.display(), stays.why))
            .collect();
        let more = self.stays.len() - told.len();
        let more = (more > 0).then(|| format!(" and {more} more"));
        (!told.is_empty()).then(|| {
            format!(
                "worktrees of earlier runs stay where they are, and may be removed by hand: {}{}",
                told.join(", "),
                more.unwrap_or_default()
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
        usable(&git, &workspace, &own, &common).await.map(drop)
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
            git.run(Invocation::anywhere(&workspace, init)).await?;
        }
        let (own, common) = folders(&git, &workspace).await?;
        let held = own.join(LEASE);
        let lease = git.lease(&workspace, &held).await?;
        git.keep(
            lease
                .hand_on()
                .map_err(|error| GitError::io(&held, error))?,
        );
        let lock = own.join("index.lock");
        let found = loop {
            if !git.lock_goes(&lock).await {
                return Err(match Note::read(&own) {
                    Some(note) => GitError::Unsupported(note.killed_with_lock(&workspace, &lock)),
                    None => GitError::Locked {
                        lock,
                        secs: git.patience_secs(),
                    },
                });
            }
            let found = usable(&git, &workspace, &own, &common).await?;
            if !found.locked {
                break found;
            }
        };
        // What an earlier run noted is over.
        Note::clear(&own)?;
        exclude(&common)?;
        let (trees, run_lease) = make_trees(&trees, &workspace)?;
        let stays = git.sweep(&trees).await;

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
            nested: shown(&status.nested),
            unjudged: found.unjudged,
            stays: (stays.into_iter())
                .filter(|stays| !known(&leftovers, &stays.path))
                .collect(),
            leftovers,
        };
        let inner = Inner {
            git,
            workspace,
            own,
            common,
            trees,
            held: run_lease,
            workspace_held: lease,
            unseen: found.unseen,
            main: tokio::sync::Mutex::new(MainTree::default()),
            folders: tokio::sync::Mutex::default(),
        };
        Ok((Self(Arc::new(inner)), opened))
    }
}

/// The content filters the user has configured, wherever: without them, files kept elsewhere (LFS)
/// would be committed whole, and checked out as pointers.
async fn filters(git: &Git, dir: &Path) -> Result<Vec<(String, String)>, GitError> {
    let list = ["config", "-z", "--get-regexp", r"^filter\."];
    let output = git.ask(&Invocation::anywhere(dir, list)).await?;
    // Exit code 1: there are none. Any other: his configuration is broken, and his own git is too.
    let text = String::from_utf8_lossy(&output.stdout);
    Ok((text.split('\0'))
        .filter_map(|row| row.split_once('\n'))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect())
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

/// Whether what earlier runs left in this repository is told of already.
fn known(leftovers: &[Leftover], place: &Path) -> bool {
    (leftovers.iter())
        .any(|leftover| matches!(leftover, Leftover::Worktree { path, .. } if path == place))
}

/// Makes the folder that worktrees stand in, for nobody else's eyes.
fn make_trees(trees: &Path, workspace: &Path) -> Result<(PathBuf, Lease), GitError> {
    let io = |error| GitError::io(trees, error);
    let inside = |place: &Path| {
        GitError::Unsupported(format!(
            "worktrees would stand in `{}`, inside the workspace; set TMPDIR to a folder outside \
             of it",
            place.display()
        ))
    };
    if let Some(parent) = trees.parent() {
        std::fs::create_dir_all(parent).map_err(io)?;
        if parent.ends_with(FOLDER) {
            // Shared by the users of a machine, like the folder it stands in; whoever made it
            // first may not be the one who runs now.
            let open = std::fs::Permissions::from_mode(0o1777);
            std::fs::set_permissions(parent, open).ok();
        }
        if canonical(parent)?.starts_with(workspace) {
            return Err(inside(trees));
        }
    }
    // Held before there is a folder: one without a lease is of a gg that knew none.
    let lease = sweep::lease_of(trees);
    let lease = match Lease::take(&lease).map_err(|error| GitError::io(&lease, error))? {
        Taken::Mine(lease) => lease,
        Taken::Theirs(by) => {
            return Err(GitError::Unsupported(format!(
                "another run (process {by}) has its worktrees in `{}`",
                trees.display()
            )));
        }
    };
    match std::fs::DirBuilder::new().mode(0o700).create(trees) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(io(error)),
        _ => {}
    }
    let trees = canonical(trees)?;
    if trees.starts_with(workspace) {
        return Err(inside(&trees));
    }
    Ok((trees, lease))
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

pub(super) fn canonical(path: &Path) -> Result<PathBuf, GitError> {
    std::fs::canonicalize(path).map_err(|error| GitError::io(path, error))
}
