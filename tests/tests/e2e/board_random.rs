//! Random boards of fifty issues through the binary: implementers that fail, reviewers that reject,
//! merge agents that do not resolve, revisions while all of it runs, a cancel at some moment. None
//! hangs, no commit is lost, every rule holds of each stream.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use rustix::process::Signal;
use serde_json::json;
use tests::gateway::{Answer, Gateway, Reply, Request};
use tests::run::Run;

use crate::board::{
    Seat, board_launch, contained, git, main_tree_is_whole, new_issue, seat, standing,
};
use crate::families::task;
use crate::windowed::edited;

/// Issues of a board.
const ISSUES: usize = 50;
/// Issues filed in a turn.
const BATCH: usize = 10;

/// Draws that depend on nothing but what they are made of, so that a seed is one board however its
/// requests interleave.
struct Dice(u64);

impl Dice {
    fn of(parts: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        parts.hash(&mut hasher);
        Self(hasher.finish() | 1)
    }

    fn below(&mut self, count: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        drawn as usize % count
    }
}

fn name(number: usize) -> String {
    format!("ISSUE-{number}")
}

/// What the root says in a turn: it files in batches, revising what stands between them, and then
/// waits for some.
fn root(seed: u64, turn: usize) -> Reply {
    let mut dice = Dice::of((seed, "root", turn));
    let batches = ISSUES / BATCH;
    let mut answer = Answer::default();
    if turn < batches {
        for number in turn * BATCH + 1..=(turn + 1) * BATCH {
            let blockers: BTreeSet<usize> = (0..dice.below(3))
                .filter(|_| number > 1)
                .map(|_| 1 + dice.below(number - 1))
                .collect();
            let blockers: Vec<String> = blockers.into_iter().map(name).collect();
            let blockers: Vec<&str> = blockers.iter().map(String::as_str).collect();
            let reviewers = [&[][..], &["critic"], &["judge"], &["critic", "judge"]];
            let issue = new_issue(
                &format!("part {number}"),
                &blockers,
                reviewers[dice.below(4)],
            );
            answer = answer.and_call("create_issue", issue);
        }
    } else if turn >= batches + 6 {
        return Answer::finish("Filed.").into();
    }
    let filed = ((turn + 1) * BATCH).min(ISSUES);
    for _ in 0..4 {
        let id = name(1 + dice.below(filed));
        let (call, arguments) = match dice.below(6) {
            0 => (
                "update_issue",
                json!({ "id": id, "title": format!("part again {turn}") }),
            ),
            1 => ("update_issue", json!({ "id": id, "status": "open" })),
            2 => {
                let blocked_by: Vec<String> = (0..dice.below(3))
                    .map(|_| name(1 + dice.below(filed)))
                    .collect();
                (
                    "set_issue_blocked_by",
                    json!({ "id": id, "blockedBy": blocked_by }),
                )
            }
            3 => ("remove_issue", json!({ "id": id })),
            4 => ("list_issues", json!({ "status": "failed" })),
            _ => ("read_issue", json!({ "id": id })),
        };
        answer = answer.and_call(call, arguments);
    }
    if turn >= batches {
        let id = name(1 + dice.below(filed));
        answer = answer.and_call("wait_for_issue", json!({ "id": id }));
    }
    answer.into()
}

/// What an implementer does with its issue: writes, often where others write, commits itself, or
/// comes to no end. Every commit of its own is printed.
fn implementer(seed: u64, request: &Request, issue: &str) -> Reply {
    let mut dice = Dice::of((seed, issue, task(request)));
    let act = dice.below(12);
    let (last, fails) = (request.turn() > 0, act < 2);
    if last && fails {
        return if act == 0 {
            Reply::error(400, "no")
        } else {
            Answer::text("I do not end.").into()
        };
    }
    if last {
        return Answer::finish("Done.").into();
    }
    let commit = "git add -A && git -c user.name=i -c user.email=i@localhost commit -qm own && \
                  echo made $(git rev-parse HEAD)";
    let command = match act {
        0..4 => format!("echo {issue} >>'{issue}.txt'; {commit}"),
        4..6 => format!("echo {issue} >>shared.txt"),
        6 => format!("echo {issue} >>shared.txt; {commit}; echo more >>'{issue}.txt'"),
        7 => format!("git checkout -q -b own-{issue}; echo {issue} >'{issue}.txt'; {commit}"),
        8 => "true".to_owned(),
        _ => format!("mkdir -p d && echo {issue} >'d/{issue}.txt'"),
    };
    Answer::shell(&command).into()
}

fn reviewer(seed: u64, request: &Request, issue: &str) -> Reply {
    let task = task(request);
    let mut dice = Dice::of((seed, "review", issue, &task));
    // A round that goes on for ever would be the reviewers' doing, not the board's.
    let patient = task.contains("Review round 1:") || task.contains("Review round 2:");
    match dice.below(20) {
        0 => Reply::error(400, "no verdict"),
        1..6 if patient => {
            Answer::call("request_changes", json!({ "items": ["More.", "Shorter."] })).into()
        }
        _ => Answer::call("approve", json!({})).into(),
    }
}

fn merger(seed: u64, request: &Request, issue: &str) -> Reply {
    if request.turn() > 0 {
        return Answer::finish("Merged.").into();
    }
    let own = "git -c user.name=m -c user.email=m@localhost";
    let clean = "for f in $(git diff --name-only --diff-filter=U); do sed -i -e '/^<<<<<<< /d' \
                 -e '/^=======$/d' -e '/^>>>>>>> /d' \"$f\"; done; git add -A";
    let command = match Dice::of((seed, "merge", issue)).below(8) {
        0 => "git merge --abort".to_owned(),
        1 => format!("git add -A; {own} commit -q --no-edit; echo made $(git rev-parse HEAD)"),
        2 => "true".to_owned(),
        3 => "git merge --abort; git checkout -q -b astray".to_owned(),
        _ => format!("{clean}; {own} commit -q --no-edit; echo made $(git rev-parse HEAD)"),
    };
    Answer::shell(&command).into()
}

/// Plays the board of a seed, and cancels it once its stream has so many lines.
#[track_caller]
fn play(seed: u64, cap: u64, cancel_after: Option<usize>) {
    let gateway = Gateway::with_checker(
        Some(edited()),
        move |request: &Request, _: usize| -> Reply {
            match seat(request) {
                Seat::Root => root(seed, request.turn()),
                Seat::Implementer(issue) => implementer(seed, request, &issue),
                Seat::Reviewer(issue) => reviewer(seed, request, &issue),
                Seat::Merger(issue) => merger(seed, request, &issue),
            }
        },
    );
    let launch = board_launch(1)
        .limit("maxParallel", cap)
        .limit("maxConsecutiveErrors", 2);
    let running = contained()
        .launch(launch)
        .file("shared.txt", "first\n")
        .gateway(gateway)
        .start();
    if let Some(lines) = cancel_after {
        running.wait_for_lines(lines);
        running.signal(Signal::TERM);
    }
    let run = running.finish();
    let what = format!("seed {seed} at cap {cap}\n{}", run.describe());
    // Breaches and model errors of the board's agents are theirs.
    assert!(matches!(run.code, Some(0 | 3)), "{what}");
    let ended = standing(&run);
    for (id, status) in &ended {
        let settled = ["open", "done", "failed"].contains(&status.as_str());
        assert!(settled, "{id} is {status}\n{what}");
    }
    if cancel_after.is_none() {
        let done = ended.values().filter(|it| *it == "done").count();
        assert!(done > 5, "{done} are done\n{what}");
    }
    main_tree_is_whole(&run);
    assert_eq!(
        git(run.workspace(), &["symbolic-ref", "--short", "HEAD"]),
        "main"
    );
    nothing_is_lost(&run);
    what_is_kept_is_whole(&run);
}

/// Every commit that anybody printed can be reached from a branch.
#[track_caller]
fn nothing_is_lost(run: &Run) {
    let dir = run.workspace();
    let reachable = git(dir, &["rev-list", "--branches"]);
    let reachable: BTreeSet<&str> = reachable.lines().collect();
    let shells = run.events("shell").into_iter();
    let made = shells.filter_map(|it| it["stdout"].as_str()?.strip_prefix("made "));
    let mut count = 0;
    for commit in made.map(str::trim) {
        assert!(
            reachable.contains(commit),
            "{commit} is lost\n{}",
            run.describe()
        );
        count += 1;
    }
    assert!(
        count > 0 || run.events("shell").len() < 20,
        "nobody committed anything"
    );
}

/// The worktrees that a canceled run keeps are whole, and named by the record.
#[track_caller]
fn what_is_kept_is_whole(run: &Run) {
    let list = git(run.workspace(), &["worktree", "list", "--porcelain"]);
    let folders = list
        .lines()
        .filter_map(|line| line.strip_prefix("worktree "));
    for folder in folders.skip(1) {
        assert!(
            run.stdout.contains(folder),
            "{folder} is not named\n{}",
            run.describe()
        );
        git(folder.as_ref(), &["status", "--porcelain"]);
    }
}

#[test]
fn a_random_board_of_fifty_is_worked_off_at_four_slots() {
    play(1, 4, None);
}

#[test]
fn a_random_board_of_fifty_is_worked_off_at_sixteen_slots() {
    play(2, 16, None);
}

#[test]
fn a_random_board_of_fifty_is_worked_off_at_one_slot() {
    play(3, 1, None);
}

#[test]
fn a_random_board_that_is_canceled_at_some_moment_ends_and_loses_nothing() {
    let boards = std::env::var("GG_BOARDS").ok();
    let boards: u64 = boards.map_or(4, |it| it.parse().expect("GG_BOARDS is a number of boards"));
    for seed in 0..boards {
        let lines = Dice::of((seed, "cancel")).below(2_500) + 60;
        play(100 + seed, 8, Some(lines));
    }
}

#[test]
fn boards_hold_what_they_are_to_show() {
    let said: Vec<String> = (0..20)
        .flat_map(|seed| (0..12).map(move |turn| root(seed, turn)))
        .map(|reply| String::from_utf8_lossy(&reply.bytes()).into_owned())
        .collect();
    let all = said.join("\n");
    for call in [
        "create_issue",
        "update_issue",
        "set_issue_blocked_by",
        "remove_issue",
        "wait_for_issue",
        "list_issues",
        "read_issue",
    ] {
        assert!(all.matches(call).count() > 10, "{call}");
    }
}
