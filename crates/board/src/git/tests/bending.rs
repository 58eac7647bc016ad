//! What a repository's configuration may not bend.

use super::{Field, did, sh};
use crate::protocol::{MergeEnd, PutAway};

/// Makes a repository hostile, then checks that an issue goes its whole way.
async fn bent(set_up: &str) {
    let field = Field::new().await;
    field.sh(set_up).await;
    let (repository, _) = field.open().await;
    field.write("pending.txt", "pending\n");
    let script = "printf 'one\\ntwo\\nthree\\nfour\\n' >a.txt; printf 'new\\r\\nline\\n' >new.txt";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge UI-1: # a title")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{set_up}: {end:?}");
    let log = field.sh("git log -3 --format='%an|%ae|%cn|%G?|%s'").await;
    for line in log.lines().filter(|line| !line.contains("|first")) {
        assert!(
            line.starts_with("gg|gg@localhost|gg|N|"),
            "{set_up}: {line}"
        );
    }
    assert!(
        log.contains("|Merge UI-1: # a title") && log.contains("|work"),
        "{set_up}: {log}"
    );
    assert!(!field.workspace().join("HOOK").exists(), "{set_up}");
    assert!(!worktree.path.join("HOOK").exists(), "{set_up}");
    let show = format!("git show {}:new.txt | wc -l", worktree.branch);
    assert_eq!(field.sh(&show).await, "2", "{set_up}");
    assert_eq!(field.read("a.txt").lines().count(), 4, "{set_up}");
    let end = repository.remove(&worktree, &committed.commit).await;
    assert_eq!(end, PutAway::Removed, "{set_up}");
}

#[tokio::test]
async fn no_hook_runs() {
    bent(
        "for hook in pre-commit commit-msg prepare-commit-msg post-commit post-checkout \
         pre-merge-commit post-merge post-index-change reference-transaction pre-auto-gc; do \
         printf '#!/bin/sh\\ntouch \"$PWD/HOOK\"\\nexit 1\\n' >.git/hooks/$hook; \
         chmod +x .git/hooks/$hook; done",
    )
    .await;
    bent(
        "mkdir .git/elsewhere; printf '#!/bin/sh\\nexit 1\\n' >.git/elsewhere/pre-commit; \
         chmod +x .git/elsewhere/pre-commit; git config core.hooksPath .git/elsewhere",
    )
    .await;
}

#[tokio::test]
async fn nothing_is_signed_or_verified() {
    bent(
        "git config commit.gpgSign true; git config gpg.program false; \
         git config merge.verifySignatures true; git config user.signingKey nobody",
    )
    .await;
}

#[tokio::test]
async fn identity_message_and_ways_of_merging_are_ggs_own() {
    bent(
        "git config user.useConfigOnly true; git config --unset user.name; \
         git config --unset user.email; git config commit.template /nowhere; \
         git config commit.cleanup strip; git config commit.verbose true; \
         git config core.commentChar M; git config i18n.commitEncoding ISO-8859-1; \
         git config merge.ff only; git config merge.log 20; git config merge.conflictStyle diff3; \
         git config core.editor false; git config rerere.enabled true",
    )
    .await;
}

#[tokio::test]
async fn looking_for_changes_cannot_be_switched_off() {
    bent(
        "git config core.fsmonitor 'touch HOOK; exit 1'; git config core.ignoreStat true; \
         git config status.showUntrackedFiles no; git config core.untrackedCache true; \
         git config status.renames copies; git config status.relativePaths false; \
         git config color.ui always; git config core.quotePath true; git config diff.noprefix true; \
         git config diff.external false; git config diff.orderFile /nowhere",
    )
    .await;
}

#[tokio::test]
async fn a_filter_that_fails_loses_no_work() {
    bent(
        "git config filter.bad.clean false; git config filter.bad.smudge cat; \
         git config filter.bad.required true; echo 'new.txt filter=bad' >.gitattributes; \
         git add -A; git commit -qm attributes",
    )
    .await;
    bent(
        "git config filter.bad.clean cat; git config filter.bad.smudge false; \
         git config filter.bad.required true; echo '* filter=bad' >.gitattributes; \
         git add -A; git commit -qm attributes",
    )
    .await;
    bent("git config core.safecrlf true; git config core.autocrlf input").await;
}

#[tokio::test]
async fn a_file_that_cannot_be_converted_is_stored_as_it_is() {
    let field = Field::new().await;
    field.write(
        ".gitattributes",
        "new.txt working-tree-encoding=no-such-encoding\n",
    );
    let (repository, _) = field.open().await;
    let script = "echo new >new.txt; echo other >other.txt; rm a.txt";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    assert_eq!(committed.changes.files.len(), 3);
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    assert_eq!(field.read("new.txt"), "new\n");
    assert!(repository.cut("gg/ui-2").await.is_ok());
}

#[tokio::test]
async fn a_default_merge_driver_does_not_decide() {
    bent("git config merge.default mine; git config merge.mine.driver false").await;
}

#[tokio::test]
async fn odd_names_of_files_go_their_way() {
    let field = Field::new().await;
    let (repository, _) = field.open().await;
    let script = "echo 1 >'a b'; echo 2 >'ä\"q\"'; echo 3 >-x; echo 4 >':(top)y'; \
                  echo 5 >\"$(printf 'new\\nline')\"; mkdir '*'; echo 6 >'*/[z]'; ln -s nowhere l";
    let (worktree, committed) = did(&repository, "gg/ui-1", script).await;
    assert_eq!(committed.changes.files.len(), 7);
    let end = repository
        .merge(&worktree.branch, &committed.commit, "Merge")
        .await;
    assert!(matches!(end, MergeEnd::Merged { .. }), "{end:?}");
    assert_eq!(field.read("ä\"q\""), "2\n");
    assert_eq!(
        sh(&field.workspace(), "cat '*/[z]' -- -x | tr -d '\\n'").await,
        "63"
    );
    let end = repository.remove(&worktree, &committed.commit).await;
    assert_eq!(end, PutAway::Removed);
}
