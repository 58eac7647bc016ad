//! What a later run does with the folders of runs that were killed.

use std::path::PathBuf;

use super::super::lease::Lease;
use super::super::sweep::lease_of;
use super::super::{Options, Repository, Stays};
use super::{Field, sh};
use crate::protocol::PutAway;

/// A run's options, its worktrees among those of all runs.
fn run(field: &Field, name: &str) -> Options {
    Options {
        trees: field.workspace().join("../gg-worktrees").join(name),
        ..field.options()
    }
}

/// The folder of a run that cut three worktrees, had a script run in the second, and was killed.
async fn left(field: &Field, script: &str) -> PathBuf {
    let (repository, _) = Repository::open(run(field, "one")).await.unwrap();
    for stem in ["gg/ui-1", "gg/ui-2", "gg/ui-3"] {
        repository.cut(stem).await.unwrap();
    }
    let trees = repository.0.trees.clone();
    sh(&trees.join("ui-2"), script).await;
    trees
}

/// What stays once another run, on a workspace of its own, has begun.
async fn stays(field: &Field) -> Vec<Stays> {
    let other = field.workspace().join("../other");
    std::fs::create_dir_all(&other).unwrap();
    let options = Options {
        workspace: other,
        ..run(field, "two")
    };
    let (repository, opened) = Repository::open(options).await.unwrap();
    repository.close().unwrap();
    opened.stays
}

#[tokio::test]
async fn worktrees_that_are_whole_on_their_branches_go_and_the_branches_stay() {
    let field = Field::new().await;
    let trees = left(
        &field,
        "echo work >work.txt; git add -A; git commit -qm work",
    )
    .await;
    assert_eq!(stays(&field).await, []);
    assert!(!trees.exists() && !lease_of(&trees).exists());
    let all = trees.parent().unwrap();
    assert_eq!(std::fs::read_dir(all).unwrap().count(), 0);
    assert_eq!(field.sh("git show gg/ui-2:work.txt").await, "work");
    assert_eq!(field.sh("git worktree list | wc -l").await, "1");
}

#[tokio::test]
async fn what_holds_anything_else_stays_and_is_named() {
    let cases = [
        ("echo work >work.txt", "not committed"),
        ("echo more >>a.txt", "not committed"),
        ("rm a.txt", "not committed"),
        ("echo x >x.log", "`x.log`, which git ignores"),
        ("git checkout -q --detach", "on no branch"),
        ("git bisect start", "a bisect"),
        (
            "echo x >x; git add -A; git commit -qm x; git reset -q --hard HEAD~1",
            "no branch keeps",
        ),
        ("git worktree lock .", "locked"),
        (
            "git init -q n; git -C n commit -q --allow-empty -m n",
            "not committed",
        ),
        (
            "git update-index --assume-unchanged a.txt; echo x >a.txt",
            "for unchanged",
        ),
        ("rm .git", "damaged"),
        ("echo broken >.git", "damaged"),
    ];
    for (script, why) in cases {
        let field = Field::new().await;
        let trees = left(&field, script).await;
        let files = sh(&trees.join("ui-2"), "ls -a; cat a.txt || true").await;
        let stays = stays(&field).await;
        let [stay] = stays.as_slice() else {
            panic!("{script}: {stays:?}");
        };
        assert_eq!(stay.path, trees.join("ui-2"), "{script}");
        assert!(stay.why.contains(why), "{script}: {}", stay.why);
        assert_eq!(
            sh(&trees.join("ui-2"), "ls -a; cat a.txt || true").await,
            files
        );
        // The others went.
        assert!(!trees.join("ui-1").exists() && !trees.join("ui-3").exists());
    }
}

#[tokio::test]
async fn nothing_goes_of_a_run_that_lives_or_that_has_no_lease() {
    let field = Field::new().await;
    let (living, _) = Repository::open(run(&field, "one")).await.unwrap();
    let worktree = living.cut("gg/ui-1").await.unwrap();
    let all = field.workspace().join("../gg-worktrees");
    std::fs::create_dir_all(all.join("old")).unwrap();
    let named = stays(&field).await;
    assert_eq!(named.len(), 1, "{named:?}");
    assert!(named[0].path.ends_with("old") && named[0].why.contains("no lease"));
    assert!(worktree.path.exists() && all.join("old").exists());
    // The living one goes on, and ends as ever.
    let removed = living.remove(&worktree, &worktree.baseline).await;
    assert_eq!(removed, PutAway::Removed);
    living.close().unwrap();
    assert!(!all.join("one").exists() && !all.join("one.lease").exists());
}

#[tokio::test]
async fn a_worktree_whose_repository_is_gone_stays() {
    let field = Field::new().await;
    let trees = left(&field, "true").await;
    std::fs::rename(field.workspace(), field.workspace().join("../moved")).unwrap();
    assert_eq!(stays(&field).await.len(), 3);
    for tree in ["ui-1", "ui-2", "ui-3"] {
        assert!(trees.join(tree).join("a.txt").exists());
    }
}

#[tokio::test]
async fn a_lease_without_a_folder_goes_and_an_earlier_runs_own_worktrees_are_told_once() {
    let field = Field::new().await;
    let trees = left(&field, "echo work >work.txt").await;
    let all = trees.parent().unwrap();
    drop(Lease::take(&all.join("three.lease")).unwrap());
    let (_, opened) = Repository::open(run(&field, "two")).await.unwrap();
    assert!(!all.join("three.lease").exists());
    assert_eq!(opened.stays, []);
    let told = opened.leftover_note().unwrap();
    assert!(told.contains("ui-2` on `gg/ui-2`"), "{told}");
    assert!(told.contains("the branch `gg/ui-1`"), "{told}");
}
