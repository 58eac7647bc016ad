//! What agents do to a repository that would make a git look elsewhere, lose a path, or take back a
//! promise: gg's git works on its folders alone, and on every name of a file.

use super::super::{GitError, Options, Repository};
use super::executable::executable;
use super::{Field, did, sh, worked};
use crate::protocol::{MergeEnd, PutAway, Resolution};

/// A name that is no text.
const ODD: &str = "f=$(printf 'bad\\377name')";

fn failed(end: MergeEnd) -> String {
    match end {
        MergeEnd::Failed(why) => why,
        other => panic!("it did not fail: {other:?}"),
    }
}

#[tokio::test]
async fn a_work_tree_set_elsewhere_by_an_agent_is_not_worked_on() {
    for (key, value) in [("core.worktree", ".."), ("core.bare", "true")] {
        let field = Field::new().await;
        let outside = field.workspace().join("../outside.txt");
        std::fs::write(&outside, "not gg's").unwrap();
        let (repository, _) = field.open().await;
        let place = field.workspace().join("..").display().to_string();
        let value = value.replace("..", &place);
        let script = format!("git config {key} '{value}'; echo work >work.txt");
        let (worktree, committed) = did(&repository, "gg/ui-1", &script).await;
        field.write("pending.txt", "pending");
        let end = repository
            .merge(&worktree.branch, &committed.commit, "Merge ui-1")
            .await;
        assert!(matches!(end, MergeEnd::Merged { .. }), "{key}: {end:?}");
        assert_eq!(field.read("work.txt"), "work\n");
        let files = field
            .sh("git config --unset core.worktree || git config core.bare false; git ls-files")
            .await;
        assert_eq!(files, ".gitignore\na.txt\npending.txt\nwork.txt", "{key}");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "not gg's");
    }
}

#[tokio::test]
async fn a_repository_that_is_removed_under_a_run_is_not_taken_for_the_one_around_it() {
    let field = Field::new().await;
    let around = field.workspace().join("..");
    sh(
        &around,
        "git init -q -b outer . && git commit -q --allow-empty -m outer",
    )
    .await;
    let before = sh(&around, "git rev-parse HEAD").await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo work >work.txt").await;
    field.sh("rm -rf .git; echo more >more.txt").await;
    let error = repository.cut("gg/ui-2").await.unwrap_err().to_string();
    assert!(error.contains("not a git repository"), "{error}");
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(failed(end).contains("not a git repository"));
    assert_eq!(sh(&around, "git rev-parse HEAD").await, before);
    assert_eq!(sh(&around, "git worktree list | wc -l").await, "1");
    assert_eq!(sh(&around, "git for-each-ref | wc -l").await, "1");
}

#[tokio::test]
async fn a_second_run_on_a_workspace_is_refused_until_the_first_is_over() {
    let field = Field::new().await;
    let (first, _) = field.open().await;
    let mut options = field.options();
    options.trees = field.workspace().join("../trees-2");
    let error = Repository::open(options.clone()).await.unwrap_err();
    assert!(matches!(error, GitError::Held { .. }), "{error}");
    let told = error.to_string();
    let own = format!("(process {})", std::process::id());
    assert!(
        told.contains(&own) && told.contains("wait for its end"),
        "{told}"
    );
    drop(first);
    Repository::open(options).await.unwrap();
}

/// The lease of a workspace as a run leaves it that was killed while a git of its worked.
async fn held_by_the_dead(field: &Field) -> tokio::process::Child {
    let mut dead = tokio::process::Command::new("true").spawn().unwrap();
    let id = dead.id().unwrap().to_string();
    dead.wait().await.unwrap();
    let path = field.workspace().join(".git/gg-board");
    let mut lease = std::fs::File::create(path).unwrap();
    std::io::Write::write_all(&mut lease, id.as_bytes()).unwrap();
    lease.lock().unwrap();
    tokio::process::Command::new("sleep")
        .arg("600")
        .stdin(lease)
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn a_run_begins_once_the_git_of_a_killed_one_has_ended() {
    let field = Field::new().await;
    let mut git = held_by_the_dead(&field).await;
    let (opened, killed) = tokio::join!(Repository::open(field.options()), git.kill());
    killed.unwrap();
    opened.unwrap();
    let _git = held_by_the_dead(&field).await;
    let hasty = Options {
        patience: std::time::Duration::from_millis(50),
        ..field.options()
    };
    let error = Repository::open(hasty).await.unwrap_err();
    assert!(matches!(error, GitError::Outlived { .. }), "{error}");
}

#[tokio::test]
async fn every_command_of_a_run_holds_the_workspace_as_long_as_it_works() {
    let field = Field::new().await;
    let seen = field.workspace().with_file_name("seen");
    let text = format!(
        "#!/bin/sh\necho \"$1 $(readlink /proc/$$/fd/0)\" >>'{}'\nexec git \"$@\"\n",
        seen.display()
    );
    let program = field.workspace().with_file_name("seeing-git");
    executable(&program, &text);
    let options = Options {
        program,
        ..field.options()
    };
    let (repository, _) = Repository::open(options).await.unwrap();
    std::fs::write(&seen, "").unwrap();
    let worktree = repository.cut("gg/ui-1").await.unwrap();
    std::fs::write(worktree.path.join("new"), "new").unwrap();
    let committed = repository.commit(&worktree, "work").await.unwrap();
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    let seen = std::fs::read_to_string(&seen).unwrap();
    let lease = format!("{}/.git/gg-board", repository.workspace().display());
    for command in ["worktree", "commit", "merge"] {
        let line = format!("{command} {lease}\n");
        assert!(seen.contains(&line), "{command} of {seen}");
    }
}

#[tokio::test]
async fn names_that_are_no_text_are_told_apart_by_their_bytes() {
    // Markers are found in such a file.
    let field = Field::new().await;
    field
        .sh(&format!(
            "{ODD}; echo x >\"$f\"; git add -A; git commit -qm odd"
        ))
        .await;
    let (repository, _) = field.open().await;
    let add = |text: &str| format!("{ODD}; echo {text} >\"$f\"");
    let (worktree, committed) = did(&repository, "gg/ui-1", &add("theirs")).await;
    field.sh(&add("ours")).await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(matches!(end, MergeEnd::Conflict { .. }), "{end:?}");
    field.sh("git add -A; git commit -qm markers").await;
    match repository.check().await {
        Resolution::Unresolved(why) => assert!(why.contains("still has the line"), "{why}"),
        resolved @ Resolution::Resolved { .. } => panic!("{resolved:?}"),
    }
    repository.restore().await.unwrap();

    // An ignored one is not written over.
    field.sh(&format!("{ODD}; echo precious >\"$f.log\"")).await;
    let script = format!("{ODD}; echo mine >\"$f.log\"; git add -f \"$f.log\"; git commit -qm f");
    let (worktree, committed) = did(&repository, "gg/ui-2", &script).await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-2")
        .await;
    assert!(failed(end).contains("holds and ignores"));
    assert_eq!(
        field.sh(&format!("{ODD}; cat \"$f.log\"")).await,
        "precious"
    );

    // A repository of that name is carried in a worktree, and left out in the workspace.
    let make = format!("{ODD}-dir; git init -q \"$f\"; echo in >\"$f/in.txt\"");
    let (_, committed) = did(&repository, "gg/ui-3", &make).await;
    assert_eq!(committed.changes.files.len(), 1);
    field.sh(&format!("{make}; echo p >p.txt")).await;
    repository.cut("gg/ui-4").await.unwrap();
    let tracked = field.sh("git ls-files --stage | cut -c1-6 | sort -u").await;
    assert_eq!(tracked, "100644");
}

#[tokio::test]
async fn an_ignored_file_where_a_branch_needs_a_folder_is_not_written_over() {
    let field = Field::new().await;
    field
        .sh("echo build >>.gitignore; git commit -qam ignore")
        .await;
    field.write("build", "precious");
    let (repository, _) = field.open().await;
    let script = "mkdir build; echo x >build/x; git add -f build/x; git commit -qm b";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    let why = failed(end);
    assert!(why.contains("`build`") && why.contains("ignores"), "{why}");
    assert_eq!(field.read("build"), "precious");
}

#[tokio::test]
async fn a_tracked_folder_may_become_a_file() {
    let field = Field::new().await;
    field
        .sh("mkdir thing; echo x >thing/x; git add -A; git commit -qm thing")
        .await;
    let (repository, _) = field.open().await;
    let script = "rm -r thing; echo file >thing";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    assert_eq!(field.read("thing"), "file\n");
}

#[tokio::test]
async fn what_is_taken_for_unchanged_is_neither_written_over_nor_removed() {
    let field = Field::new().await;
    field.sh("git update-index --assume-unchanged a.txt").await;
    field.write("a.txt", "precious");
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo mine >a.txt").await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(failed(end).contains("`a.txt`, which git was told"));
    assert_eq!(field.read("a.txt"), "precious");

    let script = "git update-index --assume-unchanged a.txt; echo hidden >a.txt; echo b >b.txt";
    let (worktree, committed) = did(&repository, "gg/ui-2", script).await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-2")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    match repository.remove(&worktree, &committed.commit).await {
        PutAway::Kept(why) => assert!(why.contains("`a.txt`"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert!(worktree.path.join("a.txt").exists());
}

#[tokio::test]
async fn a_sparse_workspace_takes_merges_of_what_it_leaves_out() {
    let field = Field::new().await;
    field
        .sh(
            "mkdir in out; echo i >in/i; echo o >out/o; git add -A; git commit -qm both; \
             git sparse-checkout set in",
        )
        .await;
    let (repository, _) = field.open().await;
    let script = "git sparse-checkout disable; echo more >out/o";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    assert_eq!(field.sh("git show HEAD:out/o").await, "more");
    let removed = repository.remove(&worktree, &committed.commit).await;
    assert_eq!(removed, PutAway::Removed);
}

#[tokio::test]
async fn work_is_put_upon_its_baseline_whatever_became_of_the_branch() {
    let scripts = [
        "sed -i s/two/2/ a.txt; git commit -qa --amend -m amended",
        "git reset -q --hard HEAD~; sed -i s/two/2/ a.txt; git commit -qam again",
        "git update-ref -d refs/heads/gg/ui-1; sed -i s/two/2/ a.txt",
        "git checkout -q --orphan x; git commit -qm x; git branch -M gg/ui-1; \
         sed -i s/two/2/ a.txt",
    ];
    for script in scripts {
        let field = Field::new().await;
        field
            .sh("sed -i s/three/3/ a.txt; git commit -qam second")
            .await;
        let (repository, _) = field.open().await;
        let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
        let paths: Vec<_> = (committed.changes.files.iter())
            .map(|file| file.path.as_str())
            .collect();
        assert_eq!(paths, ["a.txt"], "{script}");
        let end = repository
            .merge(&worktree.branch, &committed.commit, "Merge ui-1")
            .await;
        assert!(matches!(end, MergeEnd::Merged { .. }), "{script}: {end:?}");
        // What was reviewed is what is merged.
        let same = format!("git diff --exit-code {} HEAD", committed.commit);
        field.sh(&same).await;
        let removed = repository.remove(&worktree, &committed.commit).await;
        assert_eq!(removed, PutAway::Removed, "{script}");
    }
}

#[tokio::test]
async fn patches_and_sequences_that_an_implementer_left_open_are_committed_as_they_are() {
    let scripts = [
        "echo b >c.txt; git add -A; git commit -qm b; git format-patch -1 --stdout >../p; \
         git reset -q --hard HEAD~; echo c >c.txt; git add -A; git commit -qm c; \
         ! git am ../p 2>/dev/null; rm ../p",
        "git checkout -qb o; echo b >a.txt; git commit -qam b; echo n >n; git add n; \
         git commit -qm n; git checkout -q gg/ui-1; echo c >a.txt; git commit -qam c; \
         ! git cherry-pick o~1 o 2>/dev/null; git checkout -q HEAD -- a.txt; \
         git commit -q --allow-empty -m skipped",
        "git commit -q --allow-empty -m 2; git commit -q --allow-empty -m 3; \
         git bisect start HEAD HEAD~2 >/dev/null",
    ];
    for script in scripts {
        let field = Field::new().await;
        let (repository, _) = field.open().await;
        let script = format!("{script}\necho work >work.txt");
        let (worktree, committed) = worked(&repository, "gg/ui-1", &script).await;
        let committed = committed.unwrap_or_else(|error| panic!("{script}: {error}"));
        let shown = format!("git show {}:work.txt", committed.commit);
        assert_eq!(field.sh(&shown).await, "work", "{script}");
        assert_eq!(
            repository.discard(&worktree, "unfinished").await,
            PutAway::Removed,
            "{script}"
        );
    }
}

#[tokio::test]
async fn a_file_that_is_gone_and_one_that_cannot_be_converted_are_stored_under_either_hash() {
    for hash in ["sha1", "sha256"] {
        let field = Field::bare();
        field
            .sh(&format!(
                "git init -q -b main --object-format={hash} . && echo gone >gone.u && \
                 git add -A && git commit -qm first && \
                 echo '*.u working-tree-encoding=UTF-16' >.gitattributes && git add .gitattributes \
                 && git commit -qm attributes"
            ))
            .await;
        let (repository, _) = field.open().await;
        let script = "rm gone.u; printf 'no utf-16' >a.u";
        let (_, committed) = did(&repository, "gg/ui-1", script).await;
        let files = format!("git ls-tree --name-only {}", committed.commit);
        assert_eq!(field.sh(&files).await, ".gitattributes\na.u", "{hash}");
    }
}

#[tokio::test]
async fn every_lock_that_an_ended_agent_left_on_its_own_goes() {
    let field = Field::new().await;
    let mut options = field.options();
    options.patience = std::time::Duration::from_millis(100);
    let (repository, _) = Repository::open(options).await.unwrap();
    let script = "echo work >work.txt; own=$(git rev-parse --git-dir); touch $own/index.lock \
                  $own/HEAD.lock $(git rev-parse --git-common-dir)/refs/heads/gg/ui-1.lock";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    assert_ne!(committed.commit, worktree.baseline);
}

#[tokio::test]
async fn a_branch_that_cannot_be_removed_is_what_is_told_of() {
    let field = Field::new().await;
    let mut options = field.options();
    options.patience = std::time::Duration::from_millis(100);
    let (repository, _) = Repository::open(options).await.unwrap();
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo work >work.txt").await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    field.write(".git/packed-refs.lock", "");
    match repository.remove(&worktree, &committed.commit).await {
        PutAway::BranchKept(why) => assert!(why.contains("packed-refs.lock"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert!(!worktree.path.exists());
}

#[tokio::test]
async fn a_resolution_that_names_a_commit_of_another_repository_is_none() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo theirs >a.txt").await;
    field.write("a.txt", "ours\n");
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(matches!(end, MergeEnd::Conflict { .. }), "{end:?}");
    field
        .sh(
            "git init -q n; git -C n commit -q --allow-empty -m n; echo both >a.txt; \
             git add -A 2>/dev/null; git commit -qm resolved",
        )
        .await;
    match repository.check().await {
        Resolution::Unresolved(why) => assert!(why.contains("`n` names a commit"), "{why}"),
        resolved @ Resolution::Resolved { .. } => panic!("{resolved:?}"),
    }
    repository.restore().await.unwrap();
}

#[tokio::test]
async fn a_lock_on_the_branch_is_waited_for_and_is_no_conflict() {
    let field = Field::new().await;
    let mut options = field.options();
    options.patience = std::time::Duration::from_millis(200);
    let (repository, _) = Repository::open(options).await.unwrap();
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo work >work.txt").await;
    let state = field.state().await;
    for lock in ["refs/heads/main.lock", "HEAD.lock", "index.lock"] {
        let lock = format!(".git/{lock}");
        field.write(&lock, "");
        let end = repository
            .merge(&worktree.branch, &committed.commit, "Merge ui-1")
            .await;
        let why = failed(end);
        assert!(why.contains("remove that file"), "{lock}: {why}");
        std::fs::remove_file(field.workspace().join(&lock)).unwrap();
        assert_eq!(field.state().await, state, "{lock}");
    }
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge ui-1")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
}
