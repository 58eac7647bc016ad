//! Merges, conflicts, and merge agents of every kind.

use super::super::Repository;
use super::{Field, did, sh};
use crate::issue::Worktree;
use crate::protocol::{Committed, MergeEnd, PutAway, Resolution};

/// A field with a conflict open in `a.txt`, and how its main tree was before.
async fn conflicted(theirs: &str, ours: &str) -> (Field, Repository, Worktree, Committed, String) {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/x-1", theirs).await;
    let (other, done) = did(&repository, "gg/x-2", ours).await;
    let end = repository
        .merge(&other.branch, &done.commit, "Merge X-2")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    let before = field.state().await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge X-1")
        .await;
    let MergeEnd::Conflict {
        paths,
        into,
        output,
    } = end
    else {
        panic!("{end:?}");
    };
    assert_eq!(paths, ["a.txt"]);
    assert_eq!(into, "main");
    assert!(output.contains("CONFLICT"), "{output}");
    (field, repository, worktree, committed, before)
}

async fn usual() -> (Field, Repository, Worktree, Committed, String) {
    let theirs = "printf 'one\\ntheirs\\nthree\\n' >a.txt";
    let ours = "printf 'one\\nours\\nthree\\n' >a.txt";
    conflicted(theirs, ours).await
}

fn why(resolution: Resolution) -> String {
    match resolution {
        Resolution::Unresolved(why) => why,
        resolved @ Resolution::Resolved { .. } => panic!("{resolved:?}"),
    }
}

/// What a merge agent does, and how its failure is told.
async fn unresolved(script: &str, told: &str) {
    let (field, repository, worktree, committed, before) = usual().await;
    field.sh(script).await;
    let why = why(repository.check().await);
    assert!(why.contains(told), "{script}: {why}");
    let kept = repository.restore().await.unwrap();
    assert_eq!(field.state().await, before, "{script}");
    for branch in kept {
        field.sh(&format!("git rev-parse {branch}")).await;
    }
    // The branch is where it was, and the next merge works.
    assert_eq!(field.sh("git rev-parse gg/x-1").await, committed.commit);
    assert_eq!(
        repository.discard(&worktree, "unfinished").await,
        PutAway::Removed
    );
    let (next, work) = did(&repository, "gg/x-3", "echo 3 >three").await;
    let end = repository
        .merge(&next.branch, &work.commit, "Merge X-3")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{script}: {end:?}");
}

#[tokio::test]
async fn a_conflict_that_is_resolved_and_committed_counts() {
    let (field, repository, worktree, committed, _) = usual().await;
    field
        .sh("printf 'one\\nboth\\nthree\\n' >a.txt; git add -A; git commit -q --no-edit")
        .await;
    let resolution = repository.check().await;
    let commit = field.sh("git rev-parse HEAD").await;
    assert_eq!(resolution, Resolution::Resolved { commit });
    assert_eq!(
        repository.remove(&worktree, &committed.commit).await,
        PutAway::Removed
    );
    let line = field.sh("git log --first-parent --format=%s").await;
    assert!(line.contains("Merge X-1\nMerge X-2\nfirst"), "{line}");
}

/// F83
#[tokio::test]
async fn a_merge_agent_that_does_nothing_leaves_the_main_tree_as_before() {
    unresolved("true", "a merge is still open").await;
    unresolved("git add -A", "a merge is still open").await;
}

/// F82
#[tokio::test]
async fn markers_that_are_committed_are_no_resolution() {
    unresolved(
        "git add -A; git commit -q --no-edit",
        "still has the line `<<<<<<< HEAD`",
    )
    .await;
    let half = "sed -i '/^[<>]/d' a.txt; git add -A; git commit -q --no-edit";
    unresolved(half, "still has the line `=======`").await;
}

/// F84
#[tokio::test]
async fn a_merge_agent_that_aborts_or_goes_elsewhere_is_no_resolution() {
    unresolved("git merge --abort", "is not merged into `main`").await;
    unresolved(
        "git merge --abort; git checkout -q -b side",
        "has `side` checked out",
    )
    .await;
    let script = "git merge --abort; git checkout -q --detach gg/x-1";
    unresolved(script, "a detached HEAD").await;
}

#[tokio::test]
async fn a_merge_agent_that_rewrites_history_is_no_resolution() {
    let script = "git merge --abort; git reset -q --hard gg/x-1";
    unresolved(script, "was rewritten").await;
    let script = "git merge --abort; git checkout -q --detach gg/x-1; git merge -q -s ours main \
                  -m m; git branch -f main HEAD; git checkout -q main";
    unresolved(script, "was rewritten").await;
    let script = "git merge --abort; git checkout -q -b tmp; git branch -D main; \
                  echo x >x; git add -A; git commit -qm x";
    unresolved(script, "has `tmp` checked out").await;
    let script = "git merge --abort; git rebase -q gg/x-1 || true";
    unresolved(script, "").await;
}

#[tokio::test]
async fn what_a_merge_agent_committed_stays_on_a_branch_that_is_named() {
    let (field, repository, _, _, before) = usual().await;
    field
        .sh("git add -A; git commit -q --no-edit; echo 1 >extra; git add -A; git commit -qm e")
        .await;
    why(repository.check().await);
    let kept = repository.restore().await.unwrap();
    assert_eq!(kept, ["gg/x-1-unmerged"]);
    assert_eq!(field.sh("git show gg/x-1-unmerged:extra").await, "1");
    assert_eq!(field.state().await, before);
}

#[tokio::test]
async fn what_others_write_while_a_conflict_is_open_is_still_there_when_it_is_undone() {
    let (field, repository, ..) = usual().await;
    field.write("b.txt", "root writes");
    field.write(".gitignore", "*.log\n*.tmp\n");
    let cut = repository.cut("gg/x-9").await.unwrap();
    assert!(
        !cut.path.join("b.txt").exists(),
        "cut from HEAD as it stands"
    );
    repository.restore().await.unwrap();
    assert_eq!(field.read("b.txt"), "root writes");
    assert_eq!(field.read(".gitignore"), "*.log\n*.tmp\n");
    assert_eq!(field.read("a.txt"), "one\nours\nthree\n");
}

#[tokio::test]
async fn writing_that_stands_in_the_way_of_going_back_is_kept_on_a_branch() {
    let (field, repository, _, _, before) = usual().await;
    let script = "git add -A; git commit -q --no-edit; echo mine >>a.txt; \
                  git checkout -q --orphan o; echo more >>a.txt";
    field.sh(script).await;
    why(repository.check().await);
    let kept = repository.restore().await.unwrap();
    assert_eq!(field.state().await, before);
    let held = field
        .sh(&format!("git show {}:a.txt", kept.last().unwrap()))
        .await;
    assert!(!kept.is_empty() && held.contains('<'), "{kept:?} {held}");
}

/// F82
#[tokio::test]
async fn a_document_that_shows_markers_on_purpose_passes() {
    let shown = "printf 'doc\\n<<<<<<< HEAD\\nx\\n=======\\ny\\n>>>>>>> feature\\n' >a.txt";
    let (field, repository, ..) = conflicted(shown, "echo ours >a.txt").await;
    field
        .sh(&format!(
            "{shown}; echo ours >>a.txt; git add -A; git commit -q --no-edit"
        ))
        .await;
    let resolution = repository.check().await;
    assert!(
        matches!(resolution, Resolution::Resolved { .. }),
        "{resolution:?}"
    );

    let (field, repository, ..) = conflicted(shown, "echo ours >a.txt").await;
    field.sh("git add -A; git commit -q --no-edit").await;
    assert!(why(repository.check().await).contains("still has the line"));
}

#[tokio::test]
async fn markers_of_another_length_are_found_too() {
    let field = Field::new().await;
    field.write(".gitattributes", "a.txt conflict-marker-size=12\n");
    let (repository, _) = field.open().await;
    let (one, done) = did(&repository, "gg/x-1", "echo theirs >a.txt").await;
    field.write("a.txt", "ours\n");
    let end = repository
        .merge(&one.branch, &done.commit, "Merge X-1")
        .await;
    assert!(matches!(end, MergeEnd::Conflict { .. }), "{end:?}");
    field
        .sh("sed -i '/^[<>]/d' a.txt; git add -A; git commit -q --no-edit")
        .await;
    assert!(why(repository.check().await).contains("`============`"));
    repository.restore().await.unwrap();
}

#[tokio::test]
async fn a_deletion_against_a_change_is_a_conflict_that_can_be_resolved() {
    let (field, repository, ..) = conflicted("git rm -q a.txt", "echo ours >a.txt").await;
    field.sh("git rm -q a.txt; git commit -q --no-edit").await;
    let resolution = repository.check().await;
    assert!(
        matches!(resolution, Resolution::Resolved { .. }),
        "{resolution:?}"
    );
}

#[tokio::test]
async fn a_branch_that_moved_since_it_was_approved_is_not_merged() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/x-1", "echo 1 >one").await;
    sh(
        &worktree.path,
        "echo late >late; git add -A; git commit -qm late",
    )
    .await;
    let before = field.state().await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    assert!(
        matches!(&end, MergeEnd::Failed(why) if why.contains("has moved")),
        "{end:?}"
    );
    assert_eq!(field.state().await, before);
}

#[tokio::test]
async fn an_ignored_file_of_the_workspace_is_not_written_over() {
    let field = Field::new().await;
    field.write("secret.log", "mine");
    let (repository, _) = field.open().await;
    let script = "echo theirs >secret.log; git add -f secret.log; git commit -qm force";
    let (worktree, committed) = did(&repository, "gg/x-1", script).await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    let MergeEnd::Failed(why) = end else {
        panic!("{end:?}");
    };
    assert!(why.contains("`secret.log`"), "{why}");
    assert_eq!(field.read("secret.log"), "mine");
}

#[tokio::test]
async fn pending_work_is_committed_before_a_merge_and_both_stay() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/x-1", "echo 1 >one; echo t >both").await;
    field.write("both", "t\n");
    field.write("root.txt", "root");
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge X-1")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    assert_eq!(
        field.sh("git ls-files").await,
        ".gitignore\na.txt\nboth\none\nroot.txt"
    );
    let line = field.sh("git log --first-parent --format=%s").await;
    assert_eq!(line, "Merge X-1\nWork in the workspace\nfirst");
}

#[tokio::test]
async fn a_strangers_merge_is_not_touched() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/x-1", "echo 1 >one").await;
    field
        .sh(
            "git checkout -q -b s; echo s >a.txt; git commit -qam s; git checkout -q main; \
              echo m >a.txt; git commit -qam m; git merge -q s || true",
        )
        .await;
    let before = field.state().await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    assert!(
        matches!(&end, MergeEnd::Failed(why) if why.contains("not gg's")),
        "{end:?}"
    );
    assert_eq!(field.state().await, before);
    assert!(repository.cut("gg/x-2").await.is_ok());
    assert!(repository.restore().await.is_err());
}
