//! The board by programs, on every arm.

use serde_json::{Value, json};
use tests::gateway::Answer;
use tests::run::Run;

use super::{ITEM, board, figures, play, waited_on};
use crate::arms::{
    Arm, Attempt, Texts, all_refused, attempts, both, coder_of, covered, failed_in_each_way,
    finish, on, on_each, shown_attempts, submit,
};
use crate::coders::{shown, told};

/// A root that answers with programs of an arm and may do all there is to do to a board.
fn root(arm: Arm, capabilities: &[Value], more: &[&str]) -> Value {
    let capabilities = [capabilities, &[board()]].concat();
    let calls = super::CALLS.map(|call| format!("board.{call}"));
    let operations = calls.iter().map(String::as_str).chain(more.iter().copied());
    coder_of(
        arm,
        "root",
        &capabilities,
        &operations.collect::<Vec<_>>(),
        &[],
    )
}

/// Runs a root that submits these programs, one a turn, and then finishes.
#[track_caller]
fn run(arm: Arm, programs: &[Texts]) -> Run {
    let mut answers: Vec<Answer> = programs.iter().map(|it| submit(arm, it)).collect();
    answers.push(finish(arm, "Done."));
    play(root(arm, &[], &[]), answers)
}

/// What is asked of an issue, in ECMAScript and in Python, with more members behind it.
fn issue(agent: &str, more: &str, python: &str) -> (String, String) {
    (
        format!(
            r#"board.createIssue({{ title: "A thing", inScope: "this", outOfScope: "that", completionCriteria: "it is there", agent: "{agent}"{more} }})"#
        ),
        format!(
            r#"board.create_issue("A thing", "this", "that", "it is there", "{agent}"{python})"#
        ),
    )
}

/// What may be called while nobody works: everything, each way.
fn first() -> Texts {
    let filed = [
        (
            "one",
            issue(
                "coder",
                r#", epic: "web", reviewers: ["critic"]"#,
                r#", epic="web", reviewers=["critic"]"#,
            ),
        ),
        (
            "two",
            issue(
                "coder",
                r#", blockedBy: ["WEB-1"], description: "why""#,
                r#", blocked_by=["WEB-1"], description="why""#,
            ),
        ),
        ("three", issue("quitter", "", "")),
        ("stranger", issue("critic", "", "")),
        (
            "judge",
            issue(
                "coder",
                r#", reviewers: ["coder"]"#,
                r#", reviewers=["coder"]"#,
            ),
        ),
        (
            "noEpic",
            issue("coder", r#", epic: "XYZ""#, r#", epic="XYZ""#),
        ),
        (
            "noBlocker",
            issue(
                "coder",
                r#", blockedBy: ["XYZ-1"]"#,
                r#", blocked_by=["XYZ-1"]"#,
            ),
        ),
        (
            "blankAgent",
            issue(" ", r#", blockedBy: [" "]"#, r#", blocked_by=[" "]"#),
        ),
        ("four", issue("coder", "", "")),
        ("full", issue("coder", "", "")),
    ];
    let filed = filed
        .iter()
        .map(|(name, (ecmascript, python))| (*name, ecmascript.as_str(), python.as_str()));
    let epics: [Attempt; 6] = [
        (
            "epic",
            r#"board.createEpic("web", "Surface", { description: "All of it." })"#,
            r#"board.create_epic("web", "Surface", description="All of it.")"#,
        ),
        (
            "epicTaken",
            r#"board.createEpic("WEB", "Again")"#,
            r#"board.create_epic("WEB", "Again")"#,
        ),
        (
            "epicBad",
            r#"board.createEpic("a1", "Bad")"#,
            r#"board.create_epic("a1", "Bad")"#,
        ),
        (
            "epicBlank",
            r#"board.createEpic(" ", "")"#,
            r#"board.create_epic(" ", "")"#,
        ),
        (
            "epicTwo",
            r#"board.createEpic("api", "Other")"#,
            r#"board.create_epic("api", "Other")"#,
        ),
        (
            "epicFull",
            r#"board.createEpic("doc", "Third")"#,
            r#"board.create_epic("doc", "Third")"#,
        ),
    ];
    let edits: [Attempt; 27] = [
        (
            "updated",
            r#"board.updateIssue("issue-1", { title: "Two", description: null, reviewers: [] })"#,
            r#"board.update_issue("issue-1", title="Two", description=None, reviewers=[])"#,
        ),
        (
            "noUpdate",
            r#"board.updateIssue("XYZ-1", { title: "x" })"#,
            r#"board.update_issue("XYZ-1", title="x")"#,
        ),
        (
            "blankUpdate",
            r#"board.updateIssue("ISSUE-1", { inScope: " " })"#,
            r#"board.update_issue("ISSUE-1", in_scope=" ")"#,
        ),
        (
            "badStatus",
            r#"board.updateIssue("ISSUE-1", { status: "done" })"#,
            r#"board.update_issue("ISSUE-1", status=board.IssueStatus.DONE)"#,
        ),
        (
            "blocked",
            r#"board.setIssueBlockedBy("ISSUE-3", ["ISSUE-2"])"#,
            r#"board.set_issue_blocked_by("ISSUE-3", ["ISSUE-2"])"#,
        ),
        (
            "circle",
            r#"board.setIssueBlockedBy("WEB-1", ["ISSUE-1"])"#,
            r#"board.set_issue_blocked_by("WEB-1", ["ISSUE-1"])"#,
        ),
        (
            "self",
            r#"board.setIssueBlockedBy("WEB-1", ["WEB-1"])"#,
            r#"board.set_issue_blocked_by("WEB-1", ["WEB-1"])"#,
        ),
        (
            "noSet",
            r#"board.setIssueBlockedBy("WEB-1", ["XYZ-9"])"#,
            r#"board.set_issue_blocked_by("WEB-1", ["XYZ-9"])"#,
        ),
        (
            "usedIssue",
            r#"board.removeIssue("WEB-1")"#,
            r#"board.remove_issue("WEB-1")"#,
        ),
        (
            "usedEpic",
            r#"board.removeEpic("WEB")"#,
            r#"board.remove_epic("WEB")"#,
        ),
        (
            "noEpicGone",
            r#"board.removeEpic("XYZ")"#,
            r#"board.remove_epic("XYZ")"#,
        ),
        (
            "epicGone",
            r#"board.removeEpic("api")"#,
            r#"board.remove_epic("api")"#,
        ),
        ("listed", "board.listIssues()", "board.list_issues()"),
        (
            "ofEpic",
            r#"board.listIssues({ status: "open", epic: "web" })"#,
            r#"board.list_issues(status=board.IssueStatus.OPEN, epic="web")"#,
        ),
        (
            "done",
            r#"board.listIssues({ status: "done" })"#,
            r#"board.list_issues(status=board.IssueStatus.DONE)"#,
        ),
        (
            "noList",
            r#"board.listIssues({ epic: "XYZ" })"#,
            r#"board.list_issues(epic="XYZ")"#,
        ),
        (
            "gone",
            r#"board.removeIssue("ISSUE-3")"#,
            r#"board.remove_issue("ISSUE-3")"#,
        ),
        (
            "noGone",
            r#"board.removeIssue("ISSUE-3")"#,
            r#"board.remove_issue("ISSUE-3")"#,
        ),
        (
            "read",
            r#"board.readIssue("ISSUE-1")"#,
            r#"board.read_issue("ISSUE-1")"#,
        ),
        (
            "noRead",
            r#"board.readIssue("ISSUE-3")"#,
            r#"board.read_issue("ISSUE-3")"#,
        ),
        (
            "noWait",
            r#"board.waitForIssue("ISSUE-3")"#,
            r#"board.wait_for_issue("ISSUE-3")"#,
        ),
        (
            "blankWait",
            r#"board.waitForIssue(" ")"#,
            r#"board.wait_for_issue(" ")"#,
        ),
        (
            "blankSet",
            r#"board.setIssueBlockedBy(" ", [])"#,
            r#"board.set_issue_blocked_by(" ", [])"#,
        ),
        (
            "blankEpicGone",
            r#"board.removeEpic("")"#,
            r#"board.remove_epic("")"#,
        ),
        (
            "blankGone",
            r#"board.removeIssue("")"#,
            r#"board.remove_issue("")"#,
        ),
        (
            "blankList",
            r#"board.listIssues({ epic: " " })"#,
            r#"board.list_issues(epic=" ")"#,
        ),
        (
            "blankRead",
            r#"board.readIssue(" ")"#,
            r#"board.read_issue(" ")"#,
        ),
    ];
    let waits: [Attempt; 3] = [
        (
            "wait",
            r#"board.waitForIssue("issue-1")"#,
            r#"board.wait_for_issue("issue-1")"#,
        ),
        (
            "waitOther",
            r#"board.waitForIssue("ISSUE-2")"#,
            r#"board.wait_for_issue("ISSUE-2")"#,
        ),
        (
            "waitAgain",
            r#"board.waitForIssue("ISSUE-1")"#,
            r#"board.wait_for_issue("ISSUE-1")"#,
        ),
    ];
    attempts(epics.into_iter().chain(filed))
        .and(&attempts(edits.into_iter().chain(waits)))
        .and(&both("show(\"first\");", "show(\"first\")"))
}

/// What may be called once they have worked.
fn second() -> Texts {
    let (behind, behind_in_python) = issue(
        "coder",
        r#", blockedBy: ["ISSUE-2"]"#,
        r#", blocked_by=["ISSUE-2"]"#,
    );
    attempts([
        (
            "reviewed",
            r#"board.readIssue("WEB-1")"#,
            r#"board.read_issue("WEB-1")"#,
        ),
        (
            "failed",
            r#"board.readIssue("ISSUE-2")"#,
            r#"board.read_issue("ISSUE-2")"#,
        ),
        (
            "isDone",
            r#"board.waitForIssue("issue-1")"#,
            r#"board.wait_for_issue("issue-1")"#,
        ),
        (
            "hasFailed",
            r#"board.waitForIssue("ISSUE-2")"#,
            r#"board.wait_for_issue("ISSUE-2")"#,
        ),
        ("behind", &behind, &behind_in_python),
        (
            "hopeless",
            r#"board.waitForIssue("ISSUE-4")"#,
            r#"board.wait_for_issue("ISSUE-4")"#,
        ),
        (
            "notNow",
            r#"board.updateIssue("WEB-1", { title: "x" })"#,
            r#"board.update_issue("WEB-1", title="x")"#,
        ),
        (
            "setLate",
            r#"board.setIssueBlockedBy("WEB-1", [])"#,
            r#"board.set_issue_blocked_by("WEB-1", [])"#,
        ),
        (
            "revived",
            r#"board.updateIssue("ISSUE-2", { agent: "coder", status: "open" })"#,
            r#"board.update_issue("ISSUE-2", agent="coder", status=board.IssueStatus.OPEN)"#,
        ),
        (
            "hopeful",
            r#"board.waitForIssue("ISSUE-4")"#,
            r#"board.wait_for_issue("ISSUE-4")"#,
        ),
    ])
    .and(&both("show(\"second\");", "show(\"second\")"))
}

#[test]
fn a_program_files_issues_revises_them_and_is_told_how_they_ended() {
    on_each(|arm| {
        let run = run(arm, &[first(), second()]);
        covered(&run, &["board"]);
        // What is filed and removed within one turn is no issue of the run.
        assert_eq!(figures(&run), [4, 4, 0, 1, 2, 0]);

        let out = shown(&run, "first");
        let usage = |epics: u64, issues: u64| json!({ "epics": epics, "maxEpics": 2, "issues": issues, "maxIssues": 4 });
        assert_eq!(out["epic"], json!({ "id": "WEB", "board": usage(1, 0) }));
        assert_eq!(out["one"], json!({ "id": "WEB-1", "board": usage(2, 1) }));
        assert_eq!(out["two"]["id"], "ISSUE-1");
        assert_eq!(
            out["four"],
            json!({ "id": "ISSUE-3", "board": usage(2, 4) })
        );
        assert_eq!(
            (&out["epicGone"], &out["gone"]),
            (&usage(1, 4), &usage(1, 3))
        );
        for name in ["updated", "blocked"] {
            assert_eq!(out[name], "ok", "{out:#}");
        }
        let row = |id: &str, title: &str, agent: &str, reviewers: &[&str], blockers: &[&str]| {
            json!({ "id": id, "title": title, "status": "open", "agent": agent,
                "reviewers": reviewers, "blockedBy": blockers, "attempts": 0 })
        };
        let mut one = row("WEB-1", "A thing", "coder", &["critic"], &[]);
        one["epic"] = json!("WEB");
        let mut two = row("ISSUE-1", "Two", "coder", &[], &["WEB-1"]);
        let three = row("ISSUE-2", "A thing", "quitter", &[], &[]);
        let four = row("ISSUE-3", "A thing", "coder", &[], &["ISSUE-2"]);
        assert_eq!(out["listed"], json!([one, two, three, four]));
        assert_eq!(out["ofEpic"], json!([one]));
        assert_eq!(out["done"], json!([]));
        for (key, value) in [
            ("inScope", json!("this")),
            ("outOfScope", json!("that")),
            ("completionCriteria", json!("it is there")),
            ("rounds", json!(0)),
            ("verdicts", json!([])),
        ] {
            two[key] = value;
        }
        assert_eq!(out["read"], two);
        let (invalid, absent) = ("invalid-argument", "not-found");
        let (epic, issue) = ("create_epic", "create_issue");
        all_refused(
            arm,
            &out,
            &[
                ("epicTaken", "conflict", epic, &["`WEB` already"]),
                ("epicBad", invalid, epic, &["3 to 6 letters"]),
                (
                    "epicBlank",
                    invalid,
                    epic,
                    &["`prefix` is blank", "`title` is blank"],
                ),
                ("epicFull", "limit-exceeded", epic, &["2 of 2 epics"]),
                (
                    "stranger",
                    invalid,
                    issue,
                    &["`critic`", "`coder` and `quitter`"],
                ),
                ("judge", invalid, issue, &["`reviewers` takes `critic`"]),
                ("noEpic", absent, issue, &["`XYZ`", "`WEB`"]),
                ("noBlocker", absent, issue, &["`XYZ-1`", "`WEB-1`"]),
                (
                    "blankAgent",
                    invalid,
                    issue,
                    &["`agent` is blank", "`blockedBy[0]` is blank"],
                ),
                ("full", "limit-exceeded", issue, &["4 of 4 issues"]),
                ("noUpdate", absent, "update_issue", &["`XYZ-1`"]),
                (
                    "blankUpdate",
                    invalid,
                    "update_issue",
                    &["`inScope` is blank"],
                ),
                ("badStatus", invalid, "update_issue", &["only `open`"]),
                ("circle", "conflict", "set_issue_blocked_by", &["`ISSUE-1`"]),
                ("self", "conflict", "set_issue_blocked_by", &["by itself"]),
                ("noSet", absent, "set_issue_blocked_by", &["`XYZ-9`"]),
                ("usedIssue", "refused", "remove_issue", &["`ISSUE-1`"]),
                ("usedEpic", "refused", "remove_epic", &["`WEB-1`"]),
                ("noEpicGone", absent, "remove_epic", &["`XYZ`"]),
                ("noList", absent, "list_issues", &["`XYZ`"]),
                ("noGone", absent, "remove_issue", &["`ISSUE-3`"]),
                ("noRead", absent, "read_issue", &["`ISSUE-3`"]),
                ("noWait", absent, "wait_for_issue", &["`ISSUE-3`"]),
                ("blankWait", invalid, "wait_for_issue", &["`id` is blank"]),
            ],
        );
        let registered = out["wait"].as_str().unwrap();
        assert!(
            registered.starts_with("`ISSUE-1` is waited for"),
            "{registered}"
        );
        assert_eq!(out["wait"], out["waitAgain"]);

        // Both at once, each once, and told before the next turn.
        assert_eq!(
            waited_on(&run),
            [
                &json!({ "issues": ["ISSUE-1", "ISSUE-2"] }),
                &json!({ "issue": "ISSUE-4" })
            ]
        );
        let notices = told(&run, "Notice\n----\nIssue ");
        assert_eq!(notices.len(), 3, "{notices:?}");
        assert_eq!(notices[0], "Notice\n----\nIssue `ISSUE-1` is done.");
        assert!(notices[1].contains("`ISSUE-2` failed: `ISSUE-2.0i` ended as model_error"));
        assert_eq!(notices[2], "Notice\n----\nIssue `ISSUE-4` is done.");

        let before = out;
        let out = shown(&run, "second");
        let verdicts = json!([
            { "round": 1, "reviewer": "critic", "kind": "changes-requested", "items": [ITEM] },
            { "round": 2, "reviewer": "critic", "kind": "approved", "items": [] },
        ]);
        assert_eq!(out["reviewed"]["verdicts"], verdicts);
        assert_eq!(
            (&out["reviewed"]["rounds"], &out["reviewed"]["attempts"]),
            (&json!(2), &json!(2))
        );
        assert_eq!(out["failed"]["status"], "failed");
        assert!(
            out["failed"]["failure"]
                .as_str()
                .unwrap()
                .contains("model_error")
        );
        assert_eq!(out["isDone"], "`ISSUE-1` is done");
        assert_eq!(out["hasFailed"], "`ISSUE-2` is failed");
        all_refused(
            arm,
            &out,
            &[
                (
                    "hopeless",
                    "refused",
                    "wait_for_issue",
                    &["behind `ISSUE-2`"],
                ),
                ("notNow", "refused", "update_issue", &["`WEB-1` is done"]),
            ],
        );
        let operations = vocab::operations::OPERATIONS.iter();
        let board = operations.filter(|row| row.module() == "board");
        let board: Vec<_> = board.map(|row| row.id).collect();
        failed_in_each_way(&[&before, &out], &board, &[]);

        // On arrival, and once behind each turn that wrote.
        let states = run.events("board_state");
        let turns: Vec<_> = states.iter().map(|it| it["turn"].as_u64()).collect();
        assert_eq!(turns, [None, Some(1), Some(2)]);
    });
}

#[test]
fn a_wait_stands_where_its_program_fails_and_is_past_hope_where_its_issue_is() {
    on_each(|arm| {
        let (blocker, blocker_in_python) = issue("quitter", "", "");
        let (behind, behind_in_python) = issue(
            "coder",
            r#", blockedBy: ["ISSUE-1"]"#,
            r#", blocked_by=["ISSUE-1"]"#,
        );
        let body = attempts([
            ("blocker", blocker.as_str(), blocker_in_python.as_str()),
            ("behind", &behind, &behind_in_python),
            (
                "wait",
                r#"board.waitForIssue("ISSUE-2")"#,
                r#"board.wait_for_issue("ISSUE-2")"#,
            ),
        ])
        .and(&both(
            "throw new Error(\"no\");",
            "raise ValueError(\"no\")",
        ));
        let run = run(arm, &[body]);
        let notices = told(&run, "Notice\n----\nIssue ");
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(
            notices[0].contains("`ISSUE-2` is waited for no more: nothing will complete `ISSUE-2`"),
            "{notices:?}"
        );
        assert_eq!(waited_on(&run), [&json!({ "issue": "ISSUE-2" })]);
        let outcomes = run.events("turn_outcome");
        let errors = outcomes.iter().filter(|it| it["agentId"] == "root");
        let errors: Vec<_> = errors.map(|it| &it["outcome"]).collect();
        assert_eq!(errors, ["error", "finished"]);
        assert_eq!(figures(&run), [2, 0, 1, 0, 0, 0]);
    });
}

#[test]
fn an_ending_awaits_nothing_and_the_board_is_worked_off_behind_it() {
    on_each(|arm| {
        let (file, file_in_python) = issue("coder", "", "");
        let ends = attempts([
            ("one", file.as_str(), file_in_python.as_str()),
            (
                "wait",
                r#"board.waitForIssue("ISSUE-1")"#,
                r#"board.wait_for_issue("ISSUE-1")"#,
            ),
        ])
        .and(&both(
            "session.finish(\"Bye.\");",
            "session.finish(\"Bye.\")",
        ));
        let run = run(arm, &[ends]);
        assert_eq!(waited_on(&run).len(), 0);
        assert_eq!(figures(&run), [1, 1, 0, 0, 0, 0]);
    });
}

#[test]
fn whoever_takes_the_place_of_a_waiting_agent_awaits_nothing() {
    on(&[Arm::Javascript], |arm| {
        let (file, file_in_python) = issue("coder", "", "");
        let leaves = shown_attempts([
            ("one", file.as_str(), file_in_python.as_str()),
            ("wait", r#"board.waitForIssue("ISSUE-1")"#, ""),
            (
                "exec",
                r#"delegation.exec("root", { prompt: "Go on." })"#,
                "",
            ),
        ]);
        let plain = json!({ "id": "exec", "enabled": true, "params": {} });
        let mut root = root(arm, &[plain], &["delegation.exec"]);
        root["subagents"] = json!([]);
        let answers = vec![submit(arm, &leaves), finish(arm, "Bye.")];
        let mut launch = super::with_workers(root);
        let mut roster = super::roster();
        let own = json!({ "agentId": "root", "description": "", "scopes": ["subagent"] });
        roster.as_array_mut().unwrap().push(own);
        launch = launch.root("/subagents", roster);
        let run = super::play_launch(launch, answers);
        assert_eq!(waited_on(&run).len(), 0, "{}", run.describe());
        assert_eq!(run.events("agent_transition").len(), 1);
        assert_eq!(figures(&run), [1, 1, 0, 0, 0, 0]);
    });
}
