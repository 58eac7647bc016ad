//! Worktrees: cut, worked in, committed, put back, put away.

use super::executable::executable;
use super::{Field, did, sh, worked};
use crate::git::{Options, Repository};
use crate::protocol::{Answer, Ask, MergeEnd, PutAway};

fn kept(end: PutAway) -> String {
    match end {
        PutAway::Kept(why) => why,
        other => panic!("{other:?}"),
    }
}

/// F79
#[tokio::test]
async fn eight_issues_that_start_together_all_get_a_worktree_with_what_is_pending() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    field.write("pending.txt", "not committed");
    let cuts: Vec<_> = (0..8)
        .map(|n| {
            let repository = repository.clone();
            tokio::spawn(async move { repository.cut(&format!("gg/ui-{n}")).await })
        })
        .collect();
    for cut in cuts {
        let worktree = cut.await.unwrap().unwrap();
        assert!(worktree.path.join("pending.txt").exists());
        let head = sh(&worktree.path, "git rev-parse HEAD").await;
        assert_eq!(head, worktree.baseline);
    }
    // What was pending is one commit of gg's.
    assert_eq!(field.sh("git log --format=%an").await, "gg\nagent");
}

#[tokio::test]
async fn a_worktree_goes_while_another_one_comes() {
    let field = Field::new().await;
    // As slow as a git may be between two files of what it notes of a worktree.
    let slow = "#!/bin/sh\ncase \"$*\" in *'worktree add'*)\n\
                half=.git/worktrees/half; mkdir -p $half; echo /gone/.git >$half/gitdir; : >$half/commondir; sleep 0.3\n\
                rm -r $half;;\nesac\nexec git \"$@\"\n";
    let program = field.workspace().with_file_name("slow-git");
    executable(&program, slow);
    let options = Options {
        program,
        ..field.options()
    };
    let (repository, _) = Repository::open(options).await.unwrap();
    let goes = repository.cut("gg/ui-1").await.unwrap();
    let (came, gone) = tokio::join!(
        repository.cut("gg/ui-2"),
        repository.discard(&goes, "nothing")
    );
    assert!(came.unwrap().path.exists());
    assert_eq!(gone, PutAway::Removed);
}

/// F77
#[tokio::test]
async fn new_files_and_folders_are_committed_and_ignored_ones_are_listed() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let script = "echo 1 >new.txt; mkdir dir; echo 2 >dir/deep.txt; echo 3 >run.log; \
                  mkdir out; echo 4 >out/x.log; printf 'one\\n2\\nthree\\nfour\\n' >a.txt";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    let rows: Vec<_> = (committed.changes.files.iter())
        .map(|file| (file.path.as_str(), file.kind.as_str(), file.lines))
        .collect();
    assert_eq!(
        rows,
        [
            ("a.txt", "modified", Some((2, 1))),
            ("dir/deep.txt", "added", Some((1, 0))),
            ("new.txt", "added", Some((1, 0))),
        ]
    );
    assert_eq!(committed.ignored, ["out/x.log", "run.log"]);
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge UI-1")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    assert_eq!(field.read("dir/deep.txt"), "2\n");
    assert!(!field.workspace().join("run.log").exists());
    let end = repository.remove(&worktree, &committed.commit).await;
    assert_eq!(end, PutAway::Removed);
    assert!(!worktree.path.exists());
    assert_eq!(field.sh("git for-each-ref refs/heads/gg").await, "");
    repository.close().unwrap();
    assert!(!worktree.path.parent().unwrap().exists());
    repository.close().unwrap();
}

#[tokio::test]
async fn work_of_no_change_is_the_baseline_and_merges_as_nothing() {
    let field = Field::new().await;
    let (repository, opened) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/ui-1", "true").await;
    assert_eq!(committed.commit, opened.commit);
    assert_eq!(committed.changes.files, []);
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    let commit = opened.commit;
    assert_eq!(end, MergeEnd::Merged { commit });
    let end = repository.remove(&worktree, &committed.commit).await;
    assert_eq!(end, PutAway::Removed);
}

/// F75
#[tokio::test]
async fn a_damaged_worktree_is_named_and_nothing_of_it_is_removed() {
    let field = Field::new().await;
    // Above the worktrees there is a repository that a git would find and write to.
    sh(
        &field.workspace().join(".."),
        "git init -q . && git commit -q --allow-empty -m outer",
    )
    .await;
    let (repository, _) = field.open().await;
    for (number, damage) in [
        "rm .git",
        "echo nonsense >.git",
        "echo 'gitdir: /nowhere' >.git",
        "rm .git; git init -q .",
    ]
    .into_iter()
    .enumerate()
    {
        let script = format!("echo work >work.txt; {damage}");
        let (worktree, committed) = worked(&repository, &format!("gg/ui-{number}"), &script).await;
        let error = committed.unwrap_err().to_string();
        assert!(
            error.contains("is damaged") && error.contains(".git"),
            "{damage}: {error}"
        );
        assert!(
            error.contains(&worktree.path.display().to_string()),
            "{error}"
        );
        let why = kept(repository.discard(&worktree, "unfinished").await);
        assert!(why.contains("is damaged"), "{why}");
        let why = kept(repository.remove(&worktree, &worktree.baseline).await);
        assert!(why.contains("is damaged"), "{why}");
        assert!(worktree.path.join("work.txt").exists());
    }
    let outer = sh(
        &field.workspace().join(".."),
        "git log --format=%s; git status -s | head -1",
    )
    .await;
    assert!(outer.starts_with("outer"), "{outer}");
}

/// F44, at this level
#[tokio::test]
async fn a_worktree_whose_folder_is_gone_is_an_error_and_its_commits_are_not() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo 1 >one").await;
    std::fs::remove_dir_all(&worktree.path).unwrap();
    assert!(repository.commit(&worktree, "work").await.is_err());
    let why = kept(repository.discard(&worktree, "unfinished").await);
    assert!(why.contains("is not there"), "{why}");
    assert_eq!(field.sh("git rev-parse gg/ui-1").await, committed.commit);
}

/// F79
#[tokio::test]
async fn a_locked_worktree_is_left_and_named() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let script = "echo 1 >one; git worktree lock --reason mine .";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    let why = kept(repository.remove(&worktree, &committed.commit).await);
    assert!(why.contains("locked"), "{why}");
    assert!(worktree.path.join("one").exists());
    assert_eq!(field.read("one"), "1\n");
}

/// R44
#[tokio::test]
async fn a_discarded_worktree_leaves_everything_on_its_branch() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let worktree = repository.cut("gg/ui-1").await.unwrap();
    sh(
        &worktree.path,
        "echo 1 >one; git add one; echo 2 >two; rm a.txt",
    )
    .await;
    assert_eq!(
        repository.discard(&worktree, "unfinished").await,
        PutAway::Removed
    );
    assert!(!worktree.path.exists());
    assert_eq!(
        field.sh("git ls-tree --name-only gg/ui-1").await,
        ".gitignore\none\ntwo"
    );
    assert_eq!(
        field.sh("git log -1 --format=%s gg/ui-1").await,
        "unfinished"
    );
}

#[tokio::test]
async fn what_comes_in_after_the_merge_keeps_the_folder() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo 1 >one").await;
    repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    sh(&worktree.path, "echo late >late").await;
    let why = kept(repository.remove(&worktree, &committed.commit).await);
    assert!(why.contains("not merged"), "{why}");
    sh(&worktree.path, "git add -A && git commit -qm late").await;
    kept(repository.remove(&worktree, &committed.commit).await);
    assert!(worktree.path.join("late").exists());
}

#[tokio::test]
async fn a_reset_leaves_what_was_approved_and_nothing_else() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let (worktree, committed) = did(&repository, "gg/ui-1", "echo 1 >one; echo x >x.log").await;
    for mess in [
        "echo 2 >one; echo 3 >more; rm a.txt",
        "echo 2 >one; git add -A; git commit -qm mine",
        "git checkout -q -b other; echo 4 >four; git add -A; git commit -qm four",
        "git checkout -q --detach; mkdir app; git -C app init -q .; echo 1 >app/x",
        "git checkout -q -b c HEAD~1; echo 9 >one; git add -A; git commit -qm nine; \
         git merge gg/ui-1 || true",
        "git rebase -q --exec false HEAD~1 || true",
    ] {
        sh(&worktree.path, mess).await;
        repository
            .reset(&worktree, &committed.commit)
            .await
            .unwrap();
        let state = sh(
            &worktree.path,
            "git symbolic-ref HEAD; git rev-parse HEAD; \
                                        git status --porcelain; cat one; ls",
        )
        .await;
        let right = format!(
            "refs/heads/gg/ui-1\n{}\n1\na.txt\none\nx.log",
            committed.commit
        );
        assert_eq!(state, right, "{mess}");
        let again = repository.commit(&worktree, "again").await.unwrap();
        assert_eq!(again.commit, committed.commit, "{mess}");
        sh(
            &worktree.path,
            "git branch | grep -v '^[*+]' | xargs -r git branch -q -D",
        )
        .await;
    }
}

#[tokio::test]
async fn whatever_an_implementer_checked_out_ends_up_on_the_issues_branch() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    for (number, script) in [
        "git checkout -q -b mine; echo 1 >one; git add -A; git commit -qm mine; echo 2 >two",
        "git checkout -q --detach; echo 1 >one; git add -A; git commit -qm mine; echo 2 >two",
        "git checkout -q --orphan mine; echo 1 >one; git add -A; git commit -qm mine; echo 2 >two",
        "echo 1 >one; git add -A; git commit -qm x; git checkout -q -b o HEAD~1; echo 2 >two; \
         git add -A; git commit -qm y; git merge -q gg/ui-4 -m m; echo 3 >>two",
        "echo 1 >one; git add -A; git commit -qm x; echo 2 >two; git add -A; git commit -qm y; \
         GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~2; echo 2 >two",
    ]
    .into_iter()
    .enumerate()
    {
        let stem = format!("gg/ui-{}", number + 1);
        let (worktree, committed) = did(&repository, &stem, &format!("true; {script}")).await;
        let dir = &worktree.path;
        assert_eq!(
            sh(dir, "git symbolic-ref --short HEAD").await,
            stem,
            "{script}"
        );
        assert_eq!(sh(dir, "git status --porcelain").await, "", "{script}");
        let files = sh(dir, "cat one two | head -2 | tr -d '\\n'").await;
        assert_eq!(files, "12", "{script}");
        assert_eq!(
            sh(dir, &format!("git rev-parse {stem}")).await,
            committed.commit
        );
        sh(
            dir,
            &format!("git merge-base --is-ancestor {} HEAD", worktree.baseline),
        )
        .await;
        sh(
            dir,
            "for b in mine o; do git branch -q -D $b 2>/dev/null || true; done",
        )
        .await;
    }
}

#[tokio::test]
async fn a_merge_left_open_by_an_implementer_is_committed_with_both_parents() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let script = "echo mine >a.txt; git commit -qam mine; git checkout -q -b o HEAD~1; \
                  echo other >a.txt; git commit -qam other; git checkout -q gg/ui-1; \
                  git merge -q o || true; echo both >a.txt";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    let parents = sh(&worktree.path, "git log -1 --format=%p").await;
    assert_eq!(parents.split(' ').count(), 2);
    assert_eq!(sh(&worktree.path, "git show HEAD:a.txt").await, "both");
    assert_eq!(committed.changes.files.len(), 1);
}

#[tokio::test]
async fn a_repository_that_a_tool_made_inside_is_carried_as_files() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let script = "mkdir -p app/src app/lib; cd app; git init -q .; echo main >src/main; \
                  echo '*.o' >.gitignore; echo o >x.o; ln -s src/main link; chmod +x src/main; \
                  git add -A; git commit -qm app; echo new >new; git -C lib init -q .; \
                  echo deep >lib/deep";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    let paths: Vec<_> = (committed.changes.files.iter())
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(
        paths,
        [
            "app/.gitignore",
            "app/lib/deep",
            "app/link",
            "app/new",
            "app/src/main"
        ]
    );
    assert!(committed.ignored.contains(&"app/.git/".to_owned()));
    let again = repository.commit(&worktree, "again").await.unwrap();
    assert_eq!(again.commit, committed.commit);
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    assert_eq!(
        field
            .sh("cat app/lib/deep app/link; test -x app/src/main")
            .await,
        "deep\nmain"
    );
    assert!(!field.workspace().join("app/.git").exists());
    // Its own history is nowhere else: the folder stays.
    kept(repository.remove(&worktree, &committed.commit).await);
    assert!(worktree.path.join("app/.git").exists());
}

#[tokio::test]
async fn a_branch_that_names_a_commit_of_another_repository_is_refused() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let script = "mkdir app; git -C app init -q .; git -C app commit -q --allow-empty -m x; \
                  git -c advice.addEmbeddedRepo=false add app; git commit -qm app";
    let (worktree, committed) = worked(&repository, "gg/ui-1", script).await;
    let error = committed.unwrap_err().to_string();
    assert!(
        error.contains("`app`") && error.contains("nobody else has"),
        "{error}"
    );
    assert!(worktree.path.join("app").exists());
}

#[tokio::test]
async fn a_lock_that_an_ended_agent_left_in_its_worktree_stands_in_nobodys_way() {
    let field = Field::new().await;
    let mut options = field.options();
    options.patience = std::time::Duration::from_millis(50);
    let (repository, _) = super::super::Repository::open(options).await.unwrap();
    let script = "echo 1 >one; touch $(git rev-parse --git-dir)/index.lock";
    let (_, committed) = did(&repository, "gg/ui-1", script).await;
    assert_eq!(committed.changes.files.len(), 1);
}

/// Commits that an agent took back are named when their worktree goes, and not those that a branch,
/// a tag or what was merged keeps.
#[tokio::test]
async fn commits_that_nothing_keeps_are_known_before_their_worktree_goes() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let untouched = repository.cut("gg/ui-1").await.unwrap();
    assert_eq!(repository.given_up(&untouched).await.unwrap(), [""; 0]);
    let worktree = repository.cut("gg/ui-2").await.unwrap();
    let script = "commit() { echo $1 >$1; git add -A; git commit -qm $1; git rev-parse HEAD; }\n\
                  commit kept; commit one; commit two; git reset -q --hard HEAD~2; commit three;\n\
                  git commit -q --amend -m four; commit five >/dev/null; git tag five; git reset -q --hard HEAD~1";
    let made = sh(&worktree.path, script).await;
    let made: Vec<_> = made.lines().collect();
    let mut lost = vec![made[1], made[2], made[3]];
    lost.sort_unstable();
    let mut given_up = repository.given_up(&worktree).await.unwrap();
    given_up.sort_unstable();
    assert_eq!(given_up, lost);
    let ask = Ask::Discard {
        worktree,
        message: "gg".to_owned(),
    };
    match repository.answer(ask).await.unwrap() {
        Answer::PutAway { end, given_up } => {
            assert_eq!(end, PutAway::Removed);
            assert_eq!(given_up.len(), 3);
        }
        other => panic!("{other:?}"),
    }
}

/// What an agent had checked out away from its branch is brought to it, so nothing is given up.
#[tokio::test]
async fn a_detached_head_is_nothing_given_up() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let worktree = repository.cut("gg/ui-1").await.unwrap();
    let script = "git checkout -q --detach; echo 1 >b; git add -A; git commit -qm b";
    sh(&worktree.path, script).await;
    assert_eq!(repository.given_up(&worktree).await.unwrap(), [""; 0]);
}
