//! The board through the binary: the example, and what becomes of it where the merge agent does not
//! resolve.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tests::gateway::Request;
use tests::launch::Launch;
use tests::run::{Builder, Run, gg};

use crate::families::{inline_shell, profile, task};

/// The first line of a brief on an issue, up to its id.
const ISSUE: &str = "Issue `";

/// Runs git in a folder and returns what it says.
#[track_caller]
#[expect(
    clippy::disallowed_methods,
    reason = "the test runs git as a person would; no arbiter is held up"
)]
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
        .args(arguments)
        .output()
        .expect("git can be started");
    assert!(
        output.status.success(),
        "git {arguments:?} in {}: {}",
        dir.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A launch whose root files issues, with an implementer `coder`, reviewers `critic` and `judge`
/// and a merge agent `merger`, all with a shell, on the live model.
pub(crate) fn board_launch(max_retries: u64) -> Launch {
    let board = json!({ "id": "project-management", "enabled": true, "params": {
        "mergeAgent": "merger", "maxEpics": 5, "maxIssues": 200, "maxRetries": max_retries } });
    let calls = [
        "shell",
        "create_epic",
        "create_issue",
        "update_issue",
        "remove_epic",
        "remove_issue",
        "set_issue_blocked_by",
        "wait_for_issue",
        "list_issues",
        "read_issue",
    ];
    let worker = |slug: &str| profile(slug, &[inline_shell()], &["shell"], &[]);
    let mut root = profile("root", &[inline_shell(), board], &calls, &[]);
    root["subagents"] = json!([
        { "agentId": "coder", "description": "Works.", "scopes": ["implementer"] },
        { "agentId": "critic", "description": "Judges.", "scopes": ["reviewer"] },
        { "agentId": "judge", "description": "Judges.", "scopes": ["reviewer"] },
    ]);
    Launch::live().set(
        "/capabilitySet/agents",
        json!([
            root,
            worker("coder"),
            worker("critic"),
            worker("judge"),
            worker("merger")
        ]),
    )
}

/// A run whose worktrees stand in its own folder, and go with it, however it ends.
pub(crate) fn contained() -> Builder {
    let builder = Run::builder();
    let folder = builder.folder().as_os_str().to_owned();
    builder.environment("TMPDIR", folder)
}

/// The arguments of `create_issue`.
pub(crate) fn new_issue(title: &str, blocked_by: &[&str], reviewers: &[&str]) -> Value {
    json!({ "title": title, "inScope": "this", "outOfScope": "that",
        "completionCriteria": "it works", "agent": "coder", "blockedBy": blocked_by,
        "reviewers": reviewers })
}

/// Whose request it is, and of which issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seat {
    Root,
    Implementer(String),
    Reviewer(String),
    Merger(String),
}

/// Tells by its brief who asks.
pub(crate) fn seat(request: &Request) -> Seat {
    let task = task(request);
    let quoted = |text: &str| text.split('`').next().unwrap_or_default().to_owned();
    if let Some(rest) = task.strip_prefix(ISSUE) {
        let issue = quoted(rest);
        return if task.contains("\nReview round ") {
            Seat::Reviewer(issue)
        } else {
            Seat::Implementer(issue)
        };
    }
    match task.split_once("which implements issue `") {
        Some((_, rest)) => Seat::Merger(quoted(rest)),
        None => Seat::Root,
    }
}

/// Where each issue stands at the end, by its last status.
pub(crate) fn standing(run: &Run) -> std::collections::BTreeMap<String, String> {
    let snapshots = run.events("board_state").into_iter();
    let filed = snapshots.flat_map(|state| state["issues"].as_array().unwrap());
    let mut standing: std::collections::BTreeMap<String, String> = filed
        .map(|row| (row["id"].as_str().unwrap().to_owned(), "open".to_owned()))
        .collect();
    for moved in run.events("issue_status") {
        let text = |field: &str| moved[field].as_str().unwrap().to_owned();
        standing.insert(text("issueId"), text("status"));
    }
    standing
}

/// The issues at a status.
pub(crate) fn at(run: &Run, status: &str) -> Vec<String> {
    let standing = standing(run).into_iter();
    standing
        .filter(|(_, at)| at == status)
        .map(|(id, _)| id)
        .collect()
}

/// Why an issue failed.
pub(crate) fn reason(run: &Run, issue: &str) -> String {
    let moved = run.events("issue_status").into_iter();
    let mut failed = moved.filter(|it| it["issueId"] == issue && it["status"] == "failed");
    let last = failed
        .next_back()
        .unwrap_or_else(|| panic!("{issue} did not fail\n{}", run.describe()));
    last["reason"].as_str().unwrap().to_owned()
}

/// Asserts that the workspace is whole: nothing pending, nothing under way, its history that of the
/// merges the stream tells of, in their order.
#[track_caller]
pub(crate) fn main_tree_is_whole(run: &Run) {
    let dir = run.workspace();
    assert_eq!(
        git(dir, &["status", "--porcelain"]),
        "",
        "{}",
        run.describe()
    );
    assert!(!dir.join(".git/MERGE_HEAD").exists());
    git(dir, &["fsck", "--no-dangling"]);
    let merged: Vec<&str> = (run.events("worktree_merged").into_iter())
        .filter(|it| ["merged", "resolved"].contains(&it["outcome"].as_str().unwrap()))
        .map(|it| it["commit"].as_str().unwrap())
        .collect();
    let line = git(dir, &["rev-list", "--first-parent", "--reverse", "HEAD"]);
    let place = |commit: &&str| {
        let place = line.lines().position(|it| it == *commit);
        place.unwrap_or_else(|| panic!("{commit} is not on the first parents' line\n{line}"))
    };
    // A branch that changes nothing is merged by no commit of its own.
    let places: Vec<usize> = merged.iter().map(place).collect();
    assert!(places.is_sorted(), "{places:?}\n{line}");
}

/// The example as it stands, its folder put in.
fn example(change: impl FnOnce(&mut Value)) -> Builder {
    let read = |name: &str| {
        let path = format!("{}/../examples/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let (mut document, mut script) = (read("board"), read("board.script"));
    let builder = Run::builder();
    document["workspaceDir"] = json!(builder.workspace().display().to_string());
    change(&mut script);
    builder.document(document.to_string()).mock_script(&script)
}

#[test]
fn the_example_is_worked_off_and_its_conflict_resolved_by_the_merge_agent() {
    let run = example(|_| {}).run();
    run.ended(0, "completed");
    assert_eq!(at(&run, "done").len(), 8, "{:?}", standing(&run));
    let outcomes: Vec<(&str, &Value)> = (run.events("worktree_merged").into_iter())
        .map(|it| (it["outcome"].as_str().unwrap(), &it["mergeAgentId"]))
        .collect();
    assert_eq!(outcomes.len(), 8, "{outcomes:?}");
    let resolved = |it: &&(&str, &Value)| it.0 == "resolved" && it.1.is_string();
    assert_eq!(outcomes.iter().filter(resolved).count(), 1, "{outcomes:?}");
    // Blockers' merges stand before those of what they block.
    let order: Vec<&str> = (run.events("worktree_merged").into_iter())
        .map(|it| it["issueId"].as_str().unwrap())
        .collect();
    let place = |id: &str| order.iter().position(|it| *it == id).unwrap();
    for (before, after) in [
        (1, 2),
        (1, 3),
        (1, 4),
        (2, 5),
        (3, 6),
        (4, 7),
        (5, 8),
        (6, 8),
        (7, 8),
    ] {
        let [before, after] = [before, after].map(|n| place(&format!("GUIDE-{n}")));
        assert!(before < after, "{order:?}");
    }
    main_tree_is_whole(&run);
    let subjects = git(
        run.workspace(),
        &["log", "--first-parent", "--reverse", "--format=%s"],
    );
    let subjects: Vec<String> = (subjects.lines().skip(1))
        .map(|line| line.split(':').next().unwrap().replace("Merge ", ""))
        .collect();
    assert_eq!(subjects, order);
    let mut contents: Vec<String> = run.file("contents.md").lines().map(str::to_owned).collect();
    contents.sort();
    assert_eq!(contents, ["# Contents", "- guide-2", "- guide-3"]);
    // Nothing is left of what was merged.
    assert_eq!(git(run.workspace(), &["for-each-ref", "refs/heads/gg"]), "");
    assert_eq!(
        git(run.workspace(), &["worktree", "list"]).lines().count(),
        1
    );
    assert_eq!(run.summary()["issuesDone"], 8);
    assert_eq!(run.summary()["mergeConflicts"], 1);
    assert_eq!(run.summary()["reviewRounds"], 8);
}

#[test]
fn the_page_of_the_example_tells_each_story_and_gg_verify_accepts_it() {
    let run = example(|_| {}).run();
    run.ended(0, "completed");
    let stream = run.folder().join("telemetry.ndjson");
    std::fs::write(&stream, &run.stdout).unwrap();
    let stream = stream.display().to_string();
    let page = gg(["show", "--board", &stream]);
    let page = String::from_utf8(page.stdout).unwrap();
    for words in [
        "8 issues, 8 done; 8 rounds of review, 1 conflict",
        "Merges, in the order of first parents",
        "Waits for issues",
        "blocked by GUIDE-5 (done), GUIDE-6 (done), GUIDE-7 (done)",
        "its conflict resolved by GUIDE-",
    ] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
    let tree = String::from_utf8(gg(["show", &stream]).stdout).unwrap();
    let place = |words: &str| tree.lines().any(|line| line.starts_with(words));
    assert!(
        place("root") && place("GUIDE-1.0i ") && place("GUIDE-1.0i.0r"),
        "{tree}"
    );
    let journal = run
        .workspace()
        .join(".gg/replay.ndjson")
        .display()
        .to_string();
    let verified = gg(["verify", &stream, "--journal", &journal]);
    assert!(
        verified.status.success(),
        "{}",
        String::from_utf8_lossy(&verified.stdout)
    );
}

/// The example with a merge agent that does this and then ends, or never ends.
#[track_caller]
fn unresolved(command: &str, ends: bool, because: &str) -> Run {
    let run = example(|script| {
        let act = json!({ "calls": [{ "tool": "shell", "arguments": { "command": command } }] });
        let end = json!({ "finish": "Resolved." });
        let on = json!({ "calls": [{ "tool": "shell", "arguments": { "command": "true" } }],
            "repeat": 50 });
        script["profiles"]["merger"] = json!([act, if ends { end } else { on }]);
    })
    .run();
    let code = i32::from(!ends) * 3;
    run.ended(code, "completed");
    let failed = at(&run, "failed");
    let [failed] = failed.as_slice() else {
        panic!("{:?}\n{}", standing(&run), run.describe());
    };
    let why = reason(&run, failed);
    assert!(why.contains(because), "{why}");
    // What it blocks is never begun; all else is merged, behind the conflict too (F83).
    let open = if failed == "GUIDE-2" {
        ["GUIDE-5", "GUIDE-8"]
    } else {
        assert_eq!(failed, "GUIDE-3");
        ["GUIDE-6", "GUIDE-8"]
    };
    assert_eq!(at(&run, "open"), open, "{:?}", standing(&run));
    assert_eq!(at(&run, "done").len(), 5);
    let aborted = run.events("worktree_merged").into_iter();
    let aborted: Vec<&Value> = aborted.filter(|it| it["outcome"] == "aborted").collect();
    assert_eq!(aborted.len(), 1);
    assert_eq!(&aborted[0]["issueId"], failed);
    main_tree_is_whole(&run);
    let head = git(run.workspace(), &["symbolic-ref", "--short", "HEAD"]);
    assert_eq!(head, "main");
    let contents = run.file("contents.md");
    assert_eq!(contents.lines().count(), 2, "{contents}");
    // The history is the merges and nothing else, as if the conflict had never been.
    let line = git(run.workspace(), &["log", "--first-parent", "--format=%s"]);
    assert_eq!(line.lines().count(), 6, "{line}");
    // Its own branch keeps its work.
    let branch = format!("gg/{}", failed.to_lowercase());
    git(run.workspace(), &["rev-parse", "--verify", &branch]);
    // Whoever waits hears that nothing will complete it.
    let waited = run.results("wait_for_issue");
    assert_eq!(waited[0]["ok"], false, "{waited:?}");
    assert!(
        waited[0]["preview"]
            .as_str()
            .unwrap()
            .contains(failed.as_str()),
        "{waited:?}"
    );
    run
}

/// F84
#[test]
fn a_merge_agent_that_aborts_is_no_resolution() {
    unresolved("git merge --abort", true, "is not merged into");
}

/// F82
#[test]
fn a_merge_agent_that_commits_the_markers_is_no_resolution() {
    let commit = "git add -A && git -c user.name=m -c user.email=m@localhost commit -q --no-edit";
    let run = unresolved(commit, true, "still has the line");
    // What it committed is named and stays.
    let failed = at(&run, "failed").remove(0);
    assert!(
        reason(&run, &failed).contains("-unmerged"),
        "{}",
        reason(&run, &failed)
    );
}

/// F84
#[test]
fn a_merge_agent_that_goes_to_another_branch_is_no_resolution() {
    let branch = "git for-each-ref --format='%(refname:short)' refs/heads/gg | head -1";
    let leave = format!("git merge --abort; git checkout -q --ignore-other-worktrees $({branch})");
    unresolved(&leave, true, "checked out");
}

#[test]
fn a_merge_agent_that_does_nothing_is_no_resolution() {
    unresolved("true", true, "is still open");
}

/// F83
#[test]
fn a_merge_agent_that_runs_out_of_turns_leaves_the_main_tree_as_before() {
    unresolved("echo broken >contents.md", false, "exhausted");
}

#[test]
fn a_merge_agent_that_throws_the_history_away_is_no_resolution() {
    let rewrite = "git merge --abort; git reset -q --hard $(git rev-list --max-parents=0 HEAD)";
    unresolved(rewrite, true, "");
}
