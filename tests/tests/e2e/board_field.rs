//! Field cases of the kind *git and worktrees* through the binary: F44, F75, F77, F79, F81 and the
//! board's part of F119. F82 to F84 stand with the example; each has its test on `board::git` too.

use std::path::Path;

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Reply, Request};
use tests::run::{Builder, Run};

use crate::board::{
    Seat, at, board_launch, contained, git, main_tree_is_whole, new_issue, reason, seat,
};
use crate::families::task;
use crate::windowed::edited;

/// A run whose root files these issues at once, and whose implementers run these commands, each in
/// a turn of its own, and finish. Reviewers approve.
fn board(issues: Vec<Value>, commands: impl Fn(&str) -> Vec<String> + Send + 'static) -> Builder {
    let gateway = Gateway::with_checker(
        Some(edited()),
        move |request: &Request, _: usize| -> Reply {
            let turn = request.turn();
            match seat(request) {
                Seat::Root if turn == 0 => (issues.iter())
                    .fold(Answer::default(), |answer, issue| {
                        answer.and_call("create_issue", issue.clone())
                    })
                    .into(),
                Seat::Implementer(issue) => match commands(&issue).get(turn) {
                    Some(command) => Answer::shell(command).into(),
                    None => Answer::finish("Done.").into(),
                },
                Seat::Reviewer(_) => Answer::call("approve", json!({})).into(),
                Seat::Root | Seat::Merger(_) => Answer::finish("Filed.").into(),
            }
        },
    );
    contained().launch(board_launch(0)).gateway(gateway)
}

/// Where an issue is worked on, as the stream says.
fn worktree(run: &Run, issue: &str) -> String {
    let moved = run.events("issue_status").into_iter();
    let mut places = moved.filter(|it| it["issueId"] == issue);
    let place = places.find_map(|it| it["worktree"]["path"].as_str());
    place
        .unwrap_or_else(|| panic!("{issue} has no worktree\n{}", run.describe()))
        .to_owned()
}

#[test]
fn f75_a_damaged_worktree_is_kept_and_named() {
    let issues = vec![new_issue("one", &[], &[]), new_issue("two", &[], &[])];
    let run = board(issues, |issue| {
        vec![match issue {
            "ISSUE-1" => "echo work >work.txt; echo broken >.git".to_owned(),
            _ => "echo other >other.txt".to_owned(),
        }]
    })
    .run();
    run.ended(0, "completed");
    assert_eq!(at(&run, "failed"), ["ISSUE-1"]);
    assert_eq!(at(&run, "done"), ["ISSUE-2"]);
    let folder = worktree(&run, "ISSUE-1");
    let why = reason(&run, "ISSUE-1");
    assert!(why.contains(&folder) && why.contains("damaged"), "{why}");
    assert!(
        Path::new(&folder).join("work.txt").exists(),
        "nothing is removed"
    );
    main_tree_is_whole(&run);
}

#[test]
fn f44_a_worktree_that_is_removed_under_its_agent_fails_its_issue_alone() {
    let issues = vec![new_issue("one", &[], &[]), new_issue("two", &[], &[])];
    let run = board(issues, |issue| match issue {
        "ISSUE-1" => ["rm -rf \"$PWD\"", "ls"].map(str::to_owned).into(),
        _ => vec!["echo other >other.txt".to_owned()],
    })
    .run();
    run.ended(0, "completed");
    assert_eq!(at(&run, "failed"), ["ISSUE-1"]);
    assert_eq!(at(&run, "done"), ["ISSUE-2"]);
    let folder = worktree(&run, "ISSUE-1");
    let failed = run
        .results("shell")
        .into_iter()
        .find(|it| it["ok"] == false);
    let failed = failed.unwrap_or_else(|| panic!("no command failed\n{}", run.describe()));
    assert_eq!(failed["failure"], "io-error", "{failed}");
    assert!(
        failed["preview"].as_str().unwrap().contains(&folder),
        "{failed}"
    );
    main_tree_is_whole(&run);
}

#[test]
fn f77_new_files_are_merged_and_ignored_ones_are_told_to_whoever_judges() {
    let run = board(vec![new_issue("one", &[], &["critic"])], |_| {
        vec!["mkdir -p new/deep; echo a >new/deep/a.txt; echo b >b.txt; echo c >c.log".to_owned()]
    })
    .file(".gitignore", "*.log\n")
    .run();
    run.ended(0, "completed");
    assert_eq!(at(&run, "done"), ["ISSUE-1"]);
    assert_eq!(run.file("new/deep/a.txt"), "a\n");
    assert_eq!(run.file("b.txt"), "b\n");
    assert!(!run.workspace().join("c.log").exists());
    let requests = run.gateway.as_ref().unwrap().requests();
    let brief = requests
        .iter()
        .find(|it| seat(it) == Seat::Reviewer("ISSUE-1".to_owned()));
    let brief = task(brief.unwrap());
    for words in [
        "added b.txt",
        "added new/deep/a.txt",
        "Ignored by git",
        "- c.log",
    ] {
        assert!(brief.contains(words), "{words} is not in {brief}");
    }
    main_tree_is_whole(&run);
}

#[test]
fn f79_eight_issues_filed_together_are_all_cut_and_merged() {
    let issues = (1..=8)
        .map(|n| new_issue(&format!("part {n}"), &[], &[]))
        .collect();
    let run = board(issues, |issue| vec![format!("echo {issue} >{issue}.txt")])
        .with(|launch| launch.limit("maxParallel", 8))
        .file("pending.txt", "not committed by anybody\n")
        .run();
    run.ended(0, "completed");
    assert_eq!(at(&run, "done").len(), 8);
    assert_eq!(run.events("worktree_merged").len(), 8);
    main_tree_is_whole(&run);
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test's own thread may wait, and the case is of time that passes"
)]
#[test]
fn f79_a_stale_lock_is_one_sentence_and_one_that_goes_is_waited_for() {
    let issue = || vec![new_issue("one", &[], &[])];
    let repository = |dir: &Path| {
        git(dir, &["init", "-q", "-b", "main"]);
        git(dir, &["commit", "-q", "--allow-empty", "-m", "first"]);
        std::fs::write(dir.join(".git/index.lock"), "").unwrap();
    };
    let run = board(issue(), |_| Vec::new()).prepare(repository).run();
    assert_eq!(run.code, Some(1), "{}", run.describe());
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(
        said.contains("index.lock") && said.contains("remove that file"),
        "{said}"
    );

    let builder = board(issue(), |_| vec!["echo a >a.txt".to_owned()]).prepare(repository);
    let lock = builder.workspace().join(".git/index.lock");
    let held = std::thread::spawn(move || {
        // The case is of a lock that is held for a time; what ends it is the holder.
        std::thread::sleep(std::time::Duration::from_secs(3));
        std::fs::remove_file(lock).unwrap();
    });
    let run = builder.run();
    held.join().unwrap();
    run.ended(0, "completed");
    assert_eq!(at(&run, "done"), ["ISSUE-1"]);
}

#[test]
fn f79_a_locked_worktree_is_left_and_named_and_its_issue_is_done() {
    let run = board(vec![new_issue("one", &[], &[])], |_| {
        vec!["echo a >a.txt; git worktree lock \"$PWD\"".to_owned()]
    })
    .run();
    run.ended(0, "completed");
    assert_eq!(at(&run, "done"), ["ISSUE-1"]);
    let folder = worktree(&run, "ISSUE-1");
    assert!(Path::new(&folder).exists());
    let warned = run.logs("warn").join("\n");
    assert!(warned.contains(&folder), "{warned}");
    main_tree_is_whole(&run);
}

#[test]
fn f81_submodules_are_refused_at_launch() {
    let builder = board(vec![new_issue("one", &[], &[])], |_| Vec::new());
    let inner = builder.folder().join("inner");
    std::fs::create_dir(&inner).unwrap();
    git(&inner, &["init", "-q", "-b", "main"]);
    git(&inner, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let place = inner.display().to_string();
    let run = builder
        .prepare(|dir| {
            git(dir, &["init", "-q", "-b", "main"]);
            let add = [
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "add",
                "-q",
                &place,
                "lib",
            ];
            git(dir, &add);
            git(dir, &["commit", "-q", "-m", "first"]);
        })
        .run();
    assert_eq!(run.code, Some(1), "{}", run.describe());
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("submodule") && said.contains("lib"), "{said}");
    assert!(run.gateway.as_ref().unwrap().requests().is_empty());
}

#[test]
fn f119_an_issue_of_wide_characters_goes_its_way() {
    let title = "漢字🙂".repeat(40);
    let run = board(vec![new_issue(&title, &[], &["critic"])], |_| {
        vec!["echo a >'漢字🙂.txt'".to_owned()]
    })
    .run();
    run.ended(0, "completed");
    assert_eq!(at(&run, "done"), ["ISSUE-1"]);
    assert_eq!(run.file("漢字🙂.txt"), "a\n");
    let subject = git(run.workspace(), &["log", "-1", "--format=%s"]);
    assert_eq!(subject, format!("Merge ISSUE-1: {title}"));
    main_tree_is_whole(&run);
}
