//! What a workspace may be when a run begins.

use super::super::{Leftover, Repository};
use super::{Field, did, sh};
use crate::protocol::{MergeEnd, PutAway};

#[tokio::test]
async fn a_workspace_without_a_repository_gets_one_with_its_files_in_the_first_commit() {
    let field = Field::bare();
    field.write("a.txt", "text");
    field.sh("mkdir .gg && echo x >.gg/replay.ndjson").await;
    let (_, opened) = field.open().await;
    assert!(opened.initialized);
    assert_eq!(opened.branch.as_deref(), Some("main"));
    assert_eq!(field.sh("git ls-files").await, "a.txt");
    assert_eq!(field.sh("git status --porcelain").await, "");
    assert_eq!(
        field.sh("git log --format=%an:%cn:%ae").await,
        "gg:gg:gg@localhost"
    );
    // A second run finds a repository, and one line in its exclusions.
    let (_, again) = field.open().await;
    assert!(!again.initialized);
    assert_eq!(again.commit, opened.commit);
    assert_eq!(field.sh("grep -c '^/.gg/$' .git/info/exclude").await, "1");
}

#[tokio::test]
async fn an_empty_folder_and_a_repository_without_a_commit_get_a_first_one() {
    let field = Field::bare();
    let (repository, opened) = field.open().await;
    assert!(opened.initialized && !opened.commit.is_empty());
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo hi >hi.txt").await;
    assert_eq!(committed.changes.files.len(), 1);
    assert_ne!(committed.commit, worktree.baseline);

    let field = Field::bare();
    field.write("a.txt", "text");
    field.sh("git init -q -b trunk .").await;
    let (_, opened) = field.open().await;
    assert!(!opened.initialized);
    assert_eq!(opened.branch.as_deref(), Some("trunk"));
    assert_eq!(field.sh("git ls-files").await, "a.txt");
}

#[tokio::test]
async fn what_a_board_cannot_work_on_is_refused_in_one_sentence() {
    let field = Field::new().await;
    field
        .sh("mkdir sub && echo x >sub/x && git add -A && git commit -qm sub")
        .await;
    let mut options = field.options();
    options.workspace = field.workspace().join("sub");
    let error = Repository::open(options).await.unwrap_err().to_string();
    assert!(error.contains("is a folder of the repository"), "{error}");

    let field = Field::bare();
    field.sh("git init -q --bare .").await;
    assert!(field.refused().await.contains("bare repository"));

    let field = Field::bare();
    field.write(".git", "nonsense");
    assert!(
        field
            .refused()
            .await
            .contains("`.git` that git cannot read")
    );

    let field = Field::new().await;
    field.sh("git branch gg").await;
    assert!(field.refused().await.contains("git branch -m gg"));

    let field = Field::new().await;
    let mut options = field.options();
    options.trees = field.workspace().join("trees");
    let error = Repository::open(options).await.unwrap_err().to_string();
    assert!(error.contains("inside the workspace"), "{error}");

    let mut options = field.options();
    options.program = "no-such-git".into();
    let error = Repository::open(options).await.unwrap_err().to_string();
    assert!(
        error.contains("`no-such-git` could not be started"),
        "{error}"
    );
}

#[tokio::test]
async fn a_look_at_a_workspace_leaves_it_as_it_was() {
    let bare = Field::bare();
    Repository::examine(&bare.options()).await.unwrap();
    let left: Vec<_> = std::fs::read_dir(bare.workspace()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");

    let field = Field::new().await;
    field.write("pending.txt", "not committed");
    let look = "git status --porcelain; git rev-parse HEAD; cat .git/info/exclude; ls .git";
    let before = field.sh(look).await;
    Repository::examine(&field.options()).await.unwrap();
    assert_eq!(field.sh(look).await, before);
    assert!(!field.options().trees.exists());
}

/// F81
#[tokio::test]
async fn submodules_are_refused_by_name() {
    let field = Field::new().await;
    let library = field.workspace().join("../lib");
    std::fs::create_dir(&library).unwrap();
    sh(
        &library,
        "git init -q . && git commit -q --allow-empty -m lib",
    )
    .await;
    field
        .sh(
            "git -c protocol.file.allow=always submodule --quiet add ../lib vendor/lib \
             && git commit -qm sub",
        )
        .await;
    let told = field.refused().await;
    assert!(
        told.contains("`vendor/lib`") && told.contains("do not support"),
        "{told}"
    );
}

#[tokio::test]
async fn a_merge_of_a_killed_run_is_told_with_what_to_do_and_left_alone() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo theirs >a.txt").await;
    field.write("a.txt", "ours\n");
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge UI-1: a title")
        .await;
    assert!(matches!(end, MergeEnd::Conflict { .. }), "{end:?}");
    // The run dies here: nothing is undone.
    drop(repository);
    let before = field.state().await;
    let told = field.refused().await;
    assert!(told.contains("Merge UI-1: a title"), "{told}");
    assert!(told.contains("`git merge --abort`"), "{told}");
    assert_eq!(field.state().await, before);
    field.sh("git merge --abort").await;
    let (repository, opened) = field.open().await;
    assert!(opened.leftover_note().unwrap().contains("gg/ui-1"));
    assert!(repository.cut("gg/ui-1").await.is_ok());
}

#[tokio::test]
async fn branches_and_worktrees_of_earlier_runs_are_told_and_stand_in_nobodys_way() {
    let field = Field::new().await;
    let (repository, opened) = field.open().await;
    assert_eq!(opened.leftover_note(), None);
    let (failed, _) = did(&repository, "gg/ui-1", "echo 1 >one").await;
    assert_eq!(
        repository.discard(&failed, "unfinished").await,
        PutAway::Removed
    );
    let killed = repository.cut("gg/ui-2").await.unwrap();
    sh(&killed.path, "echo 2 >two").await;

    drop(repository);
    let mut options = field.options();
    options.trees = field.workspace().join("../trees-2");
    let (next, opened) = Repository::open(options).await.unwrap();
    assert_eq!(
        opened.leftovers,
        [
            Leftover::Branch("gg/ui-1".to_owned()),
            Leftover::Worktree {
                path: killed.path.clone(),
                branch: "gg/ui-2".to_owned()
            }
        ]
    );
    for (stem, branch) in [("gg/ui-1", "gg/ui-1-2"), ("gg/ui-2", "gg/ui-2-2")] {
        assert_eq!(next.cut(stem).await.unwrap().branch, branch);
    }
    assert!(killed.path.join("two").exists());
    assert_eq!(field.sh("git show gg/ui-1:one").await, "1");
}

/// F79
#[tokio::test]
async fn a_stale_lock_is_one_clear_sentence_and_a_held_one_is_waited_for() {
    let field = Field::new().await;
    field.write(".git/index.lock", "");
    let told = field.refused().await;
    assert!(told.contains("index.lock` was there for"), "{told}");
    assert!(told.contains("remove that file"), "{told}");
    assert!(field.workspace().join(".git/index.lock").exists());

    let lock = field.workspace().join(".git/index.lock");
    let opening = tokio::spawn(Repository::open(field.options()));
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(!opening.is_finished());
    std::fs::remove_file(&lock).unwrap();
    let (repository, _) = opening.await.unwrap().unwrap();

    // The same while the run goes on.
    field.write("b.txt", "pending");
    std::fs::write(&lock, "").unwrap();
    let cutting = tokio::spawn(async move { repository.cut("gg/ui-1").await });
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(!cutting.is_finished());
    std::fs::remove_file(&lock).unwrap();
    assert!(cutting.await.unwrap().unwrap().path.join("b.txt").exists());
}

#[tokio::test]
async fn a_detached_head_is_worked_on_as_it_is() {
    let field = Field::new().await;
    field.sh("git checkout -q --detach").await;
    let (repository, opened) = field.open().await;
    assert_eq!(opened.branch, None);
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo 1 >one").await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    assert_eq!(field.read("one"), "1\n");
    assert_eq!(
        field.sh("git symbolic-ref -q HEAD || echo none").await,
        "none"
    );
    assert_eq!(field.sh("git ls-tree main one").await, "");
}

#[tokio::test]
async fn a_workspace_that_is_a_worktree_itself_is_worked_on_like_any_other() {
    let field = Field::new().await;
    field.sh("git worktree add -q -b side ../side").await;
    let mut options = field.options();
    options.workspace = field.workspace().join("../side");
    let (repository, opened) = Repository::open(options).await.unwrap();
    assert_eq!(opened.branch.as_deref(), Some("side"));
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo 1 >one").await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    assert!(field.workspace().join("../side/one").exists());
    assert!(!field.workspace().join("one").exists());
}

#[tokio::test]
async fn repositories_inside_the_workspace_are_told_and_left_out() {
    let field = Field::new().await;
    field
        .sh(
            "mkdir -p deep/inner empty && git -C deep/inner init -q . && git -C empty init -q . \
             && echo x >deep/inner/x && git -C deep/inner add -A && git -C deep/inner commit -qm x \
             && echo y >deep/y",
        )
        .await;
    let (repository, opened) = field.open().await;
    assert_eq!(opened.nested, ["deep/inner", "empty"]);
    let worktree = repository.cut("gg/ui-1").await.unwrap();
    assert!(worktree.path.join("deep/y").exists());
    assert!(!worktree.path.join("deep/inner").exists());
    assert_eq!(field.sh("git ls-files deep empty").await, "deep/y");
}
