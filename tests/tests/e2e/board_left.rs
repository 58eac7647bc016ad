//! What runs leave to one another: a merge in which git was killed together with gg, a workspace
//! that another run works on, worktrees of a run that is gone.

use std::path::Path;

use rustix::process::Signal;
use tests::gateway::{Answer, End, Gateway, Reply, Request};
use tests::run::{Builder, Run};

use crate::board::{Seat, at, board_launch, contained, git, main_tree_is_whole, new_issue, seat};
use crate::windowed::edited;

/// One issue whose implementer runs a command and finishes; without one it is never answered.
fn one(command: Option<&'static str>) -> Gateway {
    Gateway::with_checker(
        Some(edited()),
        move |request: &Request, _: usize| -> Reply {
            match (seat(request), request.turn(), command) {
                (Seat::Root, 0, _) => {
                    Answer::call("create_issue", new_issue("one", &[], &[])).into()
                }
                (Seat::Implementer(_), _, None) => Reply::hang_up(End::HoldOpen),
                (Seat::Implementer(_), 0, Some(command)) => Answer::shell(command).into(),
                _ => Answer::finish("Done.").into(),
            }
        },
    )
}

fn run_of(gateway: Gateway) -> Builder {
    contained()
        .launch(board_launch(0))
        .gateway(gateway)
        .without_census()
}

/// Another run over a workspace.
fn over(workspace: &Path, command: &'static str) -> Builder {
    let place = workspace.display().to_string();
    contained()
        .launch(board_launch(0).set("/workspaceDir", place))
        .gateway(one(Some(command)))
}

fn said(run: &Run) -> String {
    format!("{}{}", run.stdout, run.stderr)
}

/// A repository in which the first file `m.slow` that git writes kills that git and who ran it.
fn deadly(dir: &Path) {
    git(dir, &["init", "-q", "-b", "main"]);
    std::fs::write(dir.join(".gitattributes"), "*.slow filter=deadly\n").unwrap();
    std::fs::write(dir.join("shared.txt"), "first\n").unwrap();
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-q", "-m", "first"]);
    let filter = "if [ -e .git/fired ]; then exec cat; fi; touch .git/fired; \
                  kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat) $PPID";
    git(dir, &["config", "filter.deadly.smudge", filter]);
}

#[test]
fn a_merge_in_which_git_and_gg_are_killed_is_told_of_and_no_half_of_it_is_committed() {
    let work = "echo a >a.txt; echo m >m.slow; echo more >>shared.txt; echo z >z.txt";
    let killed = run_of(one(Some(work))).prepare(deadly).run();
    assert_eq!(killed.signal, Some(9), "{}", killed.describe());
    let workspace = killed.workspace();
    // It is half written: git never came to the last file.
    assert!(workspace.join("a.txt").exists() && !workspace.join("z.txt").exists());
    let lock = workspace.join(".git/index.lock");
    assert!(lock.exists() && !workspace.join(".git/MERGE_HEAD").exists());
    let first = git(workspace, &["rev-parse", "HEAD"]);

    let refused = over(workspace, "true").run();
    assert_eq!(refused.code, Some(1), "{}", refused.describe());
    for words in ["git was killed", "`gg/issue-1` into `main`", "index.lock"] {
        assert!(said(&refused).contains(words), "{}", said(&refused));
    }
    std::fs::remove_file(lock).unwrap();
    let refused = over(workspace, "true").run();
    assert_eq!(refused.code, Some(1), "{}", refused.describe());
    for words in ["git was killed", "`a.txt`", "git stash -u"] {
        assert!(said(&refused).contains(words), "{}", said(&refused));
    }
    assert!(refused.gateway.as_ref().unwrap().requests().is_empty());
    assert_eq!(git(workspace, &["rev-parse", "HEAD"]), first);

    // As it says; nothing of the killed merge is in what the next run makes.
    git(workspace, &["stash", "-q", "-u"]);
    let run = over(workspace, "echo b >b.txt").run();
    run.ended(0, "completed");
    assert_eq!(at(&run, "done"), ["ISSUE-1"]);
    assert_eq!(git(workspace, &["status", "--porcelain"]), "");
    let files = git(workspace, &["ls-files"]);
    assert_eq!(files, ".gitattributes\nb.txt\nshared.txt");
    git(workspace, &["fsck", "--no-dangling"]);
    // And what the killed run's issue had done is on its branch.
    assert_eq!(git(workspace, &["show", "gg/issue-1:z.txt"]), "z");
}

#[test]
fn a_second_run_on_a_workspace_is_refused_while_the_first_one_works() {
    let running = run_of(one(None)).start();
    running.wait_for("an implementer", |line| {
        line["type"] == "issue_status" && line["status"] == "in_progress"
    });
    let workspace = running.workspace().to_owned();
    let refused = over(&workspace, "true").run();
    assert_eq!(refused.code, Some(1), "{}", refused.describe());
    assert!(
        said(&refused).contains("another run of gg (process "),
        "{}",
        said(&refused)
    );
    assert!(refused.gateway.as_ref().unwrap().requests().is_empty());
    running.signal(Signal::KILL);
    let killed = running.finish();
    // Whoever is killed holds it no longer.
    let run = over(killed.workspace(), "echo b >b.txt").run();
    run.ended(0, "completed");
    assert_eq!(at(&run, "done"), ["ISSUE-1"]);
}

#[test]
fn worktrees_of_a_killed_run_go_where_all_is_committed_and_else_stay_and_are_named() {
    for pending in [false, true] {
        let running = run_of(one(None)).start();
        let status = running.wait_for("an implementer", |line| {
            line["type"] == "issue_status"
                && line["status"] == "in_progress"
                && line["worktree"].is_object()
        });
        let worktree = status["worktree"]["path"].as_str().unwrap().to_owned();
        let worktree = Path::new(&worktree);
        running.signal(Signal::KILL);
        let killed = running.finish();
        assert!(worktree.exists(), "{}", killed.describe());
        if pending {
            std::fs::write(worktree.join("pending.txt"), "work").unwrap();
        }
        // Another workspace, the same folder for temporary files.
        let temporary = worktree.ancestors().nth(3).unwrap();
        let run = contained()
            .launch(board_launch(0))
            .gateway(one(Some("echo b >b.txt")))
            .environment("TMPDIR", temporary)
            .run();
        run.ended(0, "completed");
        main_tree_is_whole(&run);
        assert_eq!(worktree.exists(), pending);
        let told = run.logs("info").join("\n");
        let name = worktree.display().to_string();
        assert_eq!(told.contains(&name), pending, "{told}");
        assert_eq!(worktree.join("pending.txt").exists(), pending);
        let branch = ["rev-parse", "--verify", "gg/issue-1"];
        git(killed.workspace(), &branch);
    }
}
