//! What git costs an issue: cut, commit, merge and removal of a hundred issues one after another,
//! beside the same commands in a shell loop. Run with `cargo run --release -p board --example
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
const LOOP: &str = r#"
set -e
n=1
while [ $n -le 100 ]; do
  tree=../sh/issue-$n
  git status --porcelain=v2 --branch -z --no-renames --untracked-files=all >/dev/null
  git worktree add -q --no-track -b gg/issue-$n $tree HEAD
  echo work >$tree/file-$n
  base=$(cat .git/refs/heads/main)
  git -C $tree status --porcelain=v2 --branch -z --no-renames --untracked-files=all \
    --ignored=matching >/dev/null
  git -C $tree add -A -- .
  git -C $tree commit -q -m work
  commit=$(git -C $tree rev-parse HEAD)
  git -C $tree diff-tree -r -z -M --raw --numstat $base $commit >/dev/null
  git status --porcelain=v2 --branch -z --no-renames --untracked-files=all >/dev/null
  git diff --name-only -z --no-renames --diff-filter=A HEAD...$commit >/dev/null
  git merge -q --no-ff --no-edit -m merge gg/issue-$n
  git rev-parse HEAD HEAD^2 >/dev/null
  git -C $tree status --porcelain=v2 --branch -z --no-renames --untracked-files=all >/dev/null
  git -C $tree ls-files -z >/dev/null
  git worktree remove $tree
  git update-ref -d refs/heads/gg/issue-$n $commit
  n=$((n + 1))
done
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (mut ours, mut shell) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir()?;
        let workspace = workspace(folder.path()).await?;
        let begun = Instant::now();
        issues(&workspace).await?;
        ours = ours.min(begun.elapsed());

        let folder = tempfile::tempdir()?;
        let workspace = self::workspace(folder.path()).await?;
        let begun = Instant::now();
        sh(&workspace, LOOP).await?;
        shell = shell.min(begun.elapsed());
    }
    let each = |all: Duration| all.as_secs_f64() * 1000.0 / f64::from(ISSUES);
    println!("board::git  {:.1} ms an issue", each(ours));
    println!("shell loop  {:.1} ms an issue", each(shell));
    println!(
        "ratio       {:.2}",
        ours.as_secs_f64() / shell.as_secs_f64()
    );
    Ok(())
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
