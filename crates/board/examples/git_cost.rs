//! What git costs an issue: cut, commit, merge and removal of a hundred issues one after another,
//! beside the same commands in a shell loop, on the clock and by what processors spent, which a
//! busy machine changes less. Run with `cargo run --release -p board --example
//! git_cost`.
#![expect(clippy::print_stdout, reason = "it is read by whoever runs it")]

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use board::git::{GitThread, Options, Repository};
use tokio::process::Command;
use tokio::time::Instant;
use vocab::ids::RoutingKey;

/// Issues of a round.
const ISSUES: u32 = 100;

/// Rounds, of which the fastest counts.
const ROUNDS: u32 = 3;

/// The same commands as `board::git` runs, in its order.
const LOOP: &str = include_str!("git_cost.sh");

/// What a round took: on the clock, and of all processors in gg and in the processes it started.
#[derive(Clone, Copy)]
struct Took {
    wall: Duration,
    own_ms: f64,
    git_ms: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir()?;
        let workspace = workspace(folder.path()).await?;
        let begun = Moment::now()?;
        issues(&workspace).await?;
        let ours = begun.until_now()?;

        let folder = tempfile::tempdir()?;
        let workspace = self::workspace(folder.path()).await?;
        let begun = Moment::now()?;
        sh(&workspace, LOOP).await?;
        rounds.push((ours, begun.until_now()?));
    }
    let least = |figure: &dyn Fn(&(Took, Took)) -> f64| {
        rounds.iter().map(figure).fold(f64::INFINITY, f64::min) / f64::from(ISSUES)
    };
    let wall = |took: &Took| took.wall.as_secs_f64() * 1000.0;
    let cpu = |took: &Took| took.own_ms + took.git_ms;
    println!("an issue, ms        clock   processors");
    println!(
        "board::git         {:>6.1}  {:>6.1}, of them {:.1} its own",
        least(&|(ours, _)| wall(ours)),
        least(&|(ours, _)| cpu(ours)),
        least(&|(ours, _)| ours.own_ms),
    );
    println!(
        "shell loop         {:>6.1}  {:>6.1}",
        least(&|(_, shell)| wall(shell)),
        least(&|(_, shell)| cpu(shell)),
    );
    println!(
        "ratio              {:>6.2}  {:>6.2}",
        least(&|(ours, _)| wall(ours)) / least(&|(_, shell)| wall(shell)),
        least(&|(ours, _)| cpu(ours)) / least(&|(_, shell)| cpu(shell)),
    );
    Ok(())
}

/// A moment on the clock and on the processors.
struct Moment {
    at: Instant,
    own_ms: f64,
    git_ms: f64,
}

impl Moment {
    fn now() -> Result<Self, Box<dyn Error>> {
        // Fields 14 to 17 of proc_pid_stat(5), in hundredths of a second; the name before them may
        // hold blanks.
        let stat = std::fs::read_to_string("/proc/self/stat")?;
        let (_, fields) = stat.rsplit_once(')').ok_or("no name in /proc/self/stat")?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let ms = |place: usize| -> Result<f64, Box<dyn Error>> {
            let field = fields.get(place).ok_or("too few fields")?;
            Ok(field.parse::<f64>()? * 10.0)
        };
        Ok(Self {
            at: Instant::now(),
            own_ms: ms(11)? + ms(12)?,
            git_ms: ms(13)? + ms(14)?,
        })
    }

    fn until_now(&self) -> Result<Took, Box<dyn Error>> {
        let now = Self::now()?;
        Ok(Took {
            wall: now.at - self.at,
            own_ms: now.own_ms - self.own_ms,
            git_ms: now.git_ms - self.git_ms,
        })
    }
}

async fn issues(workspace: &Path) -> Result<(), Box<dyn Error>> {
    let thread = GitThread::new();
    let run = RoutingKey::from("bench");
    let mut options = Options::new(workspace, &run);
    options.trees = workspace.join("../gg");
    let (repository, _) = thread.run(Repository::open(options)).await??;
    for number in 1..=ISSUES {
        let git = repository.clone();
        let worktree = thread
            .run(async move { git.cut(&format!("gg/issue-{number}")).await })
            .await??;
        std::fs::write(worktree.path.join(format!("file-{number}")), "work\n")?;
        let git = repository.clone();
        let done = thread.run(async move {
            let committed = git.commit(&worktree, "work").await?;
            git.merge(&worktree.branch, &committed.commit, "merge")
                .await;
            git.remove(&worktree, &committed.commit).await;
            Ok::<_, board::git::GitError>(())
        });
        done.await??;
    }
    let line = sh(workspace, "git rev-list --count --first-parent HEAD").await?;
    assert_eq!(
        line.trim(),
        (ISSUES + 1).to_string(),
        "every issue was merged"
    );
    Ok(())
}

/// A repository of a few hundred files.
async fn workspace(folder: &Path) -> Result<std::path::PathBuf, Box<dyn Error>> {
    let workspace = folder.join("ws");
    std::fs::create_dir_all(&workspace)?;
    std::fs::create_dir_all(folder.join("sh"))?;
    let make = "git init -q -b main . && git config user.name a && git config user.email a@b && \
                for d in $(seq 20); do mkdir d$d; for f in $(seq 20); do echo $d $f >d$d/f$f; \
                done; done; git add -A; git commit -qm first";
    sh(&workspace, make).await?;
    Ok(workspace)
}

async fn sh(dir: &Path, script: &str) -> Result<String, Box<dyn Error>> {
    let output = Command::new("sh")
        .arg("-c")
        .arg(script)
        .current_dir(dir)
        .output()
        .await?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
