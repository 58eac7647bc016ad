//! A git that is killed in the middle of a merge, together with whoever ran it: the next run tells
//! of what is there, and commits nothing of it.

use std::path::PathBuf;

use super::super::journal::{Note, Stage};
use super::super::{GitError, Repository};
use super::executable::executable;
use super::{Field, did};
use crate::protocol::{MergeEnd, Resolution};

/// A `git` that, asked to merge, does what a merge does to the disk up to some moment, and is
/// killed there.
fn dies(field: &Field, until: &str) -> PathBuf {
    let place = field.workspace().join("../git");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = merge ]; then\n{until}\nkill -9 $$\nfi\nexec git \"$@\"\n"
    );
    executable(&place, &script);
    place
}

/// A workspace as it is once gg and its git were killed in a merge, at the moment that a script
/// brings about.
async fn killed(until: &str) -> Field {
    let field = Field::new().await;
    let (repository, opened) = field.open().await;
    let script = "sed -i s/two/2/ a.txt; echo new >new.txt";
    let (_, committed) = did(&repository, "gg/ui-1", script).await;
    let note = Note {
        stage: Stage::Merging,
        branch: "gg/ui-1".to_owned(),
        commit: committed.commit,
        into: "main".to_owned(),
        before: opened.commit,
    };
    note.write(&field.workspace().join(".git")).unwrap();
    field.sh(until).await;
    field
}

#[tokio::test]
async fn a_tree_that_is_half_merged_is_told_of_and_not_committed() {
    // It wrote one file and half of the other.
    let field = killed("sed -i s/two/2/ a.txt; printf n >new.txt").await;
    let before = field.sh("git rev-parse HEAD").await;
    let told = field.refused().await;
    for words in [
        "was killed",
        "`gg/ui-1` into `main`",
        "`a.txt`",
        "git stash -u",
    ] {
        assert!(told.contains(words), "{words} is not in {told}");
    }
    assert_eq!(field.sh("git rev-parse HEAD").await, before);
    // As it says, and the next run begins clean.
    field.sh("git stash -q -u").await;
    let (_, opened) = field.open().await;
    assert_eq!((opened.commit, opened.unjudged), (before, None));
    assert!(!field.workspace().join(".git/gg-merge").exists());
    // Later work on the same files is the user's own.
    field.write("a.txt", "mine\n");
    field.open().await;
}

/// As [`dies`], but that git says why and ends: as where the disk is full.
fn fails(field: &Field, until: &str) -> PathBuf {
    dies(
        field,
        &format!("{until}\necho 'No space left' >&2\nexit 128"),
    )
}

#[tokio::test]
async fn what_a_merge_wrote_that_failed_is_taken_back() {
    for (until, kept) in [
        ("sed -i s/two/2/ a.txt; printf n >new.txt", None),
        ("rm a.txt", None),
        ("true", None),
        // That is not of the merge.
        ("echo mine >new.txt", Some("mine")),
        ("echo mine >a.txt; echo new >new.txt", Some("new")),
    ] {
        let field = Field::new().await;
        let mut options = field.options();
        options.program = fails(&field, until);
        let (repository, _) = Repository::open(options).await.unwrap();
        let script = "sed -i s/two/2/ a.txt; echo new >new.txt";
        let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
        field.write("pending.txt", "mine");
        let end = repository
            .merge(&worktree.branch, &committed.commit, "Merge ui-1")
            .await;
        let MergeEnd::Failed(why) = end else {
            panic!("{until}: {end:?}");
        };
        assert!(why.contains("No space left"), "{until}: {why}");
        assert_eq!(field.sh("git status --porcelain").await, "", "{until}");
        assert_eq!(field.read("a.txt"), "one\ntwo\nthree\n", "{until}");
        assert!(!field.workspace().join("new.txt").exists(), "{until}");
        assert!(!field.workspace().join(".git/gg-merge").exists());
        assert_eq!(why.contains("gg/ui-1-unmerged"), kept.is_some(), "{why}");
        if let Some(text) = kept {
            let new = field.sh("git show gg/ui-1-unmerged:new.txt").await;
            assert_eq!(new, text, "{until}");
        }
        // The next one merges.
        let again = field.workspace().join("../git");
        executable(&again, "#!/bin/sh\nexec git \"$@\"\n");
        let (worktree, committed) = did(&repository, "gg/ui-2", "echo b >b.txt").await;
        let end = repository
            .merge(&worktree.branch, &committed.commit, "Merge ui-2")
            .await;
        assert!(matches!(end, MergeEnd::Merged { .. }), "{until}: {end:?}");
        let files = field.sh("git ls-files").await;
        assert_eq!(files, ".gitignore\na.txt\nb.txt\npending.txt", "{until}");
    }
}

#[tokio::test]
async fn the_lock_of_a_killed_merge_is_told_of_with_the_merge() {
    let field = killed("sed -i s/two/2/ a.txt; touch .git/index.lock").await;
    let mut options = field.options();
    options.patience = std::time::Duration::from_millis(100);
    let told = Repository::open(options).await.unwrap_err().to_string();
    for words in ["it merged `gg/ui-1`", "index.lock`", "git stash -u"] {
        assert!(told.contains(words), "{words} is not in {told}");
    }
}

#[tokio::test]
async fn a_merge_that_was_killed_before_it_wrote_leaves_a_clean_start() {
    let field = killed("true").await;
    // What else is pending is no half of the merge.
    field.write("mine.txt", "mine");
    let (_, opened) = field.open().await;
    assert_eq!(opened.unjudged, None);
}

#[tokio::test]
async fn the_note_of_a_merge_is_there_as_long_as_it_is_open() {
    let field = Field::new().await;
    let own = field.workspace().join(".git");
    let seen = field.workspace().join("../seen");
    let mut options = field.options();
    let copy = format!("cp .git/gg-merge '{}'; exec git \"$@\"", seen.display());
    options.program = dies(&field, &copy);
    let (repository, opened) = Repository::open(options).await.unwrap();
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo new >new.txt").await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    // It was there before git began, and is gone once it is merged.
    let text = std::fs::read_to_string(&seen).unwrap();
    let expected = format!(
        "merging\ngg/ui-1\n{}\nmain\n{}\n",
        committed.commit, opened.commit
    );
    assert_eq!(text, expected);
    assert_eq!(Note::read(&own), None);

    let (worktree, committed) = did(&repository, "gg/ui-2", "echo theirs >a.txt").await;
    field.write("a.txt", "ours\n");
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-2")
        .await;
    assert!(matches!(end, MergeEnd::Conflict { .. }), "{end:?}");
    assert_eq!(Note::read(&own).unwrap().stage, Stage::Conflict);
    assert!(matches!(
        repository.check().await,
        Resolution::Unresolved(_)
    ));
    assert_eq!(Note::read(&own).unwrap().stage, Stage::Conflict);
    repository.restore().await.unwrap();
    assert_eq!(Note::read(&own), None);
}

#[tokio::test]
async fn a_resolution_that_nobody_judged_is_told_of() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo theirs >a.txt").await;
    field.write("a.txt", "ours\n");
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(matches!(end, MergeEnd::Conflict { .. }), "{end:?}");
    field
        .sh("git add -A; git commit -qm 'markers and all'")
        .await;
    drop(repository);
    let (_, opened) = field.open().await;
    let told = opened.unjudged.unwrap();
    assert!(
        told.contains("`gg/ui-1`") && told.contains("git diff"),
        "{told}"
    );
    // Once.
    assert_eq!(field.open().await.1.unjudged, None);
}

#[tokio::test]
async fn undoing_that_was_killed_is_told_of_wherever_head_is() {
    let field = Field::new().await;
    let before = field.sh("git rev-parse HEAD").await;
    field
        .sh("echo x >x; git add -A; git commit -qm agents")
        .await;
    let note = Note {
        stage: Stage::Undoing,
        branch: "gg/ui-1".to_owned(),
        commit: before.clone(),
        into: "main".to_owned(),
        before,
    };
    note.write(&field.workspace().join(".git")).unwrap();
    field.write("a.txt", "half");
    let told = field.refused().await;
    assert!(told.contains("as a merge was undone"), "{told}");
    assert!(!matches!(
        Repository::examine(&field.options()).await,
        Err(GitError::Locked { .. })
    ));
}
