//! `kill -9` while a board works: whatever moment it was, the next run over the same workspace
//! starts clean, or says in a sentence what is there and what to do. No tree is broken.

use std::path::Path;

use rustix::process::Signal;
use serde_json::json;
use tests::executable::executable;
use tests::gateway::{Answer, End, Gateway, Reply, Request};
use tests::run::{Run, Running};

use crate::board::{Seat, at, board_launch, contained, git, main_tree_is_whole, new_issue, seat};
use crate::windowed::edited;

/// Resolves the conflict by keeping both sides, as one who was told to does.
const RESOLVES: &str = "sed -i -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' shared.txt && \
    git add -A && git -c user.name=m -c user.email=m@localhost commit -q --no-edit";

/// Two issues that conflict; whoever merges is answered as `merger` says.
fn two(merger: impl Fn(usize) -> Reply + Send + 'static) -> Gateway {
    Gateway::with_checker(
        Some(edited()),
        move |request: &Request, _: usize| -> Reply {
            let turn = request.turn();
            match (seat(request), turn) {
                (Seat::Root, 0) => Answer::call("create_issue", new_issue("one", &[], &[]))
                    .and_call("create_issue", new_issue("two", &[], &[]))
                    .into(),
                (Seat::Implementer(issue), 0) => Answer::shell(&format!(
                    "echo {issue} >>shared.txt; echo {issue} >{issue}.txt"
                ))
                .into(),
                (Seat::Merger(_), turn) => merger(turn),
                (Seat::Root | Seat::Implementer(_) | Seat::Reviewer(_), _) => {
                    Answer::finish("Done.").into()
                }
            }
        },
    )
}

fn resolves(turn: usize) -> Reply {
    match turn {
        0 => Answer::shell(RESOLVES).into(),
        _ => Answer::finish("Resolved.").into(),
    }
}

/// A run of two issues that conflict, in a workspace of its own.
fn start(gateway: Gateway) -> Running {
    contained()
        .launch(board_launch(1))
        .file("shared.txt", "first\n")
        .gateway(gateway)
        .without_census()
        .start()
}

/// Another run over a workspace.
fn again(workspace: &Path) -> Run {
    let place = workspace.display().to_string();
    contained()
        .launch(board_launch(1).set("/workspaceDir", place))
        .gateway(two(resolves))
        .run()
}

/// The workspace of the first run, seen through a second.
#[track_caller]
fn works(run: &Run, workspace: &Path) {
    run.ended(0, "completed");
    assert_eq!(at(run, "done").len(), 2, "{}", run.describe());
    assert_eq!(git(workspace, &["status", "--porcelain"]), "");
    assert!(!workspace.join(".git/MERGE_HEAD").exists());
    git(workspace, &["fsck", "--no-dangling"]);
    for issue in ["ISSUE-1", "ISSUE-2"] {
        assert!(workspace.join(format!("{issue}.txt")).exists());
    }
}

#[test]
fn a_run_over_the_open_merge_of_a_killed_one_says_what_is_there_and_what_to_do() {
    // The merge agent never gets an answer.
    let running = start(two(|_| Reply::hang_up(End::HoldOpen)));
    running.wait_for("the start of the merge agent", |line| {
        line["type"] == "agent_spawned" && line["agentKind"] == "issue-merger"
    });
    running.signal(Signal::KILL);
    let killed = running.finish();
    let workspace = killed.workspace();
    assert!(workspace.join(".git/MERGE_HEAD").exists());
    let before = git(workspace, &["status", "--porcelain"]);

    let refused = again(workspace);
    assert_eq!(refused.code, Some(1), "{}", refused.describe());
    let said = format!("{}{}", refused.stdout, refused.stderr);
    for words in ["a merge is under way", "Merge ISSUE-", "git merge --abort"] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
    assert!(refused.gateway.as_ref().unwrap().requests().is_empty());
    assert_eq!(git(workspace, &["status", "--porcelain"]), before);

    // Going back as it said, the next run works, and names what else was left.
    git(workspace, &["merge", "--abort"]);
    let run = again(workspace);
    works(&run, workspace);
    let warned = run.logs("warn").join("\n");
    assert!(warned.contains("an earlier run left"), "{warned}");
    // What the killed run's other issue had done is where it was left.
    let branches = git(
        workspace,
        &["for-each-ref", "--format=%(refname:short)", "refs/heads/gg"],
    );
    assert!(branches.contains("gg/issue-"), "{branches}");
}

/// A second run over the workspace of a killed one, and a third where the second says that it
/// needs a merge undone first.
#[track_caller]
fn goes_on(killed: &Run, what: &str) {
    let workspace = killed.workspace();
    // A git that was under way ends by itself; the next run waits for its lock.
    let run = again(workspace);
    if run.code == Some(1) {
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(
            said.contains("a merge is under way"),
            "{what}: {}",
            run.describe()
        );
        git(workspace, &["merge", "--abort"]);
        works(&again(workspace), workspace);
    } else {
        works(&run, workspace);
    }
}

/// Kills a run as a line of the stream comes, and runs again.
#[track_caller]
fn killed_at(what: &str, nth: usize, wanted: impl Fn(&serde_json::Value) -> bool) {
    let running = start(two(resolves));
    let seen = std::cell::Cell::new(0);
    running.wait_for(what, |line| {
        if wanted(line) {
            seen.set(seen.get() + 1);
        }
        seen.get() > nth
    });
    running.signal(Signal::KILL);
    goes_on(&running.finish(), what);
}

/// A `git` that kills gg before or behind the first command that begins so, and works as ever.
fn deadly(folder: &Path, command: &str, before: bool) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&path)
        .map(|it| it.join("git"))
        .find(|it| it.is_file());
    let real = real.expect("git is installed");
    let real = real.display();
    let act = if before {
        "kill -9 $PPID; exit 1".to_owned()
    } else {
        format!("'{real}' \"$@\"; kill -9 $PPID; exit 1")
    };
    let text =
        format!("#!/bin/sh\ncase \"$*\" in\n'{command}'*) {act};;\nesac\nexec '{real}' \"$@\"\n");
    let place = folder.join("deadly");
    std::fs::create_dir(&place).unwrap();
    executable(&place.join("git"), &text);
    let all = std::iter::once(place).chain(std::env::split_paths(&path));
    std::env::join_paths(all).unwrap()
}

#[test]
fn a_run_killed_around_any_of_its_git_commands_leaves_a_workspace_that_works() {
    for command in [
        "init -q",
        "add -A --",
        "commit -q --no-verify",
        "worktree add",
        "merge --no-ff",
        "rev-parse HEAD HEAD^2",
        "worktree remove",
        "update-ref -d",
    ] {
        for before in [true, false] {
            let builder = contained();
            let path = deadly(builder.folder(), command, before);
            let killed = builder
                .launch(board_launch(1))
                .file("shared.txt", "first\n")
                .gateway(two(resolves))
                .environment("PATH", path)
                .without_census()
                .run();
            let what = format!("{command}, before: {before}");
            assert_eq!(killed.signal, Some(9), "{what}: {}", killed.describe());
            goes_on(&killed, &what);
        }
    }
}

#[test]
fn a_run_killed_as_its_issues_are_merged_leaves_a_workspace_that_works() {
    let status = |line: &serde_json::Value, status: &str| {
        line["type"] == "issue_status" && line["status"] == status
    };
    for nth in 0..2 {
        killed_at("an issue in work", nth, |line| status(line, "in_progress"));
        killed_at("an issue about to be merged", nth, |line| {
            status(line, "in_review")
        });
        killed_at("a merge", nth, |line| line["type"] == "worktree_merged");
        killed_at("an issue that is done", nth, |line| status(line, "done"));
    }
    for command in 0..3 {
        killed_at("a command", command, |line| line["type"] == "shell");
    }
}

#[test]
fn a_run_whose_conflict_is_resolved_leaves_a_whole_tree() {
    let run = contained()
        .launch(board_launch(1))
        .file("shared.txt", "first\n")
        .gateway(two(resolves))
        .run();
    run.ended(0, "completed");
    assert_eq!(at(&run, "done").len(), 2);
    assert_eq!(run.summary()["mergeConflicts"], json!(1));
    main_tree_is_whole(&run);
    assert_eq!(run.file("shared.txt").lines().count(), 3);
}
