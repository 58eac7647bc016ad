//! Random boards on scripted models, in the process (03 §10.6): issues in a DAG whose implementers
//! work, fail at first or always, whose reviewers approve, reject or die, whose branches conflict,
//! and a cancel in the middle; and each of the board's actors panicking at named places.
//!
//! Every stream passes the rules of `gg verify`; every repository is what the record says of it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;
use std::path::Path;

use proptest::prelude::*;
use record::rules;
use serde_json::{Value, json};
use vocab::outcome::EndStatus;

use crate::nets::{Played, document, session};
use crate::panics::tripping;

/// What one issue's implementers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conduct {
    /// Writes a file and finishes.
    Works,
    /// The same, but for the first attempt, which fails.
    Flaky,
    /// Fails.
    Fails,
    /// Finishes without having done anything.
    Idles,
}

/// What one of its reviewers does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Review {
    Approves,
    /// Wants changes of a first attempt.
    Demands,
    /// Gives no verdict.
    Dies,
}

impl Review {
    const fn slug(self) -> &'static str {
        match self {
            Self::Approves => "approves",
            Self::Demands => "demands",
            Self::Dies => "dies",
        }
    }
}

/// What a merge agent does of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merger {
    Resolves,
    Aborts,
    CommitsMarkers,
    Dies,
}

impl Merger {
    fn script(self) -> Value {
        let commit = "git -c user.name=m -c user.email=m@m commit -qam resolved";
        let resolved = format!("echo merged >shared.txt && git add -A && {commit}");
        let marked = format!("git add -A && {commit}");
        match self {
            Self::Resolves => json!([shell(&resolved), { "finish": "resolved" }]),
            Self::Aborts => json!([shell("git merge --abort"), { "finish": "resolved" }]),
            Self::CommitsMarkers => json!([shell(&marked), { "finish": "resolved" }]),
            Self::Dies => json!([refusal()]),
        }
    }
}

#[derive(Clone, Debug)]
struct Piece {
    conduct: Conduct,
    /// Figures that pick its blockers among the pieces before it.
    behind: Vec<u8>,
    reviews: Vec<Review>,
    /// Whether it writes to the file that others write to as well.
    shared: bool,
    /// Whether it has a child do a part of it.
    helped: bool,
    delay_ms: u64,
}

#[derive(Clone, Debug)]
struct Plan {
    pieces: Vec<Piece>,
    merger: Merger,
    retries: u64,
    /// Pieces that the root waits for, by figures that pick them.
    waits: Vec<u8>,
    /// The piece whose first implementer stops the run.
    stops: Option<u8>,
}

fn piece() -> impl Strategy<Value = Piece> {
    let conduct = prop_oneof![
        6 => Just(Conduct::Works),
        1 => Just(Conduct::Flaky),
        1 => Just(Conduct::Fails),
        1 => Just(Conduct::Idles),
    ];
    let review = prop_oneof![
        4 => Just(Review::Approves),
        2 => Just(Review::Demands),
        1 => Just(Review::Dies),
    ];
    (
        conduct,
        proptest::collection::vec(any::<u8>(), 0..3),
        proptest::collection::vec(review, 0..3),
        proptest::bool::weighted(0.4),
        proptest::bool::weighted(0.2),
        0..20_u64,
    )
        .prop_map(|(conduct, behind, mut reviews, shared, helped, delay_ms)| {
            let mut seen = Vec::new();
            reviews.retain(|review| {
                !seen.contains(review) && {
                    seen.push(*review);
                    true
                }
            });
            Piece {
                conduct,
                behind,
                reviews,
                shared,
                helped,
                delay_ms,
            }
        })
}

fn plan() -> impl Strategy<Value = Plan> {
    let merger = prop_oneof![
        3 => Just(Merger::Resolves),
        1 => Just(Merger::Aborts),
        1 => Just(Merger::CommitsMarkers),
        1 => Just(Merger::Dies),
    ];
    (
        proptest::collection::vec(piece(), 1..9),
        merger,
        0..3_u64,
        proptest::collection::vec(any::<u8>(), 0..3),
        proptest::option::weighted(0.25, any::<u8>()),
    )
        .prop_map(|(pieces, merger, retries, waits, stops)| Plan {
            pieces,
            merger,
            retries,
            waits,
            stops,
        })
}

fn shell(command: &str) -> Value {
    json!({ "calls": [{ "tool": "shell", "arguments": { "command": command } }] })
}

fn refusal() -> Value {
    json!({ "fault": { "status": 400, "body": "no such thing" } })
}

/// A hook that keeps agents whose id holds a word from ending by a call.
fn holds_back(word: &str, call: &str) -> Value {
    let source = format!(
        "case \"$1\" in\n*'{word}'*{call}*|*{call}*'{word}'*)\n\
         echo '{{\"action\":\"block\",\"reason\":\"not yet\"}}';;\n\
         *) echo '{{\"action\":\"continue\"}}';;\nesac"
    );
    json!([{ "event": "agent-stop", "action": { "type": "custom", "source": source } }])
}

fn id(piece: usize) -> String {
    format!("ISSUE-{}", piece + 1)
}

fn coder(piece: usize) -> String {
    format!("c{piece}")
}

/// What becomes of an issue in a run that nothing stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Done,
    Failed,
    /// It is never begun.
    Open,
    /// Its branch may conflict, or a blocker's may, and the merge agent does not help.
    Either,
}

impl Plan {
    fn blockers(&self, piece: usize) -> Vec<usize> {
        let behind = &self.pieces[piece].behind;
        let mut blockers: Vec<_> = behind
            .iter()
            .filter(|_| piece > 0)
            .map(|figure| usize::from(*figure) % piece.max(1))
            .collect();
        blockers.sort_unstable();
        blockers.dedup();
        blockers
    }

    fn awaited(&self) -> Vec<usize> {
        let pieces = self.pieces.len();
        let picked = self
            .waits
            .iter()
            .map(|figure| usize::from(*figure) % pieces);
        picked.collect()
    }

    fn fates(&self) -> Vec<Fate> {
        let mut fates: Vec<Fate> = Vec::new();
        for (number, piece) in self.pieces.iter().enumerate() {
            let blockers: Vec<Fate> = self.blockers(number).iter().map(|it| fates[*it]).collect();
            let fails = match piece.conduct {
                Conduct::Fails => true,
                Conduct::Flaky => self.retries == 0,
                Conduct::Works | Conduct::Idles => false,
            };
            let own = if fails || piece.reviews.contains(&Review::Dies) {
                Fate::Failed
            } else if piece.shared && self.merger != Merger::Resolves {
                Fate::Either
            } else {
                Fate::Done
            };
            let held = |fate| matches!(fate, Fate::Failed | Fate::Open);
            fates.push(if blockers.iter().any(|fate| held(*fate)) {
                Fate::Open
            } else if blockers.contains(&Fate::Either) {
                Fate::Either
            } else {
                own
            });
        }
        fates
    }

    fn script(&self, folder: &Path) -> Value {
        let mut profiles = serde_json::Map::new();
        let stops = self
            .stops
            .map(|figure| usize::from(figure) % self.pieces.len());
        for (number, piece) in self.pieces.iter().enumerate() {
            let mut replies = Vec::new();
            if stops == Some(number) {
                let stop = folder.join("stop");
                replies.push(shell(&format!("touch {}", stop.display())));
            }
            let file = if piece.shared {
                "shared.txt".to_owned()
            } else {
                format!("{}.txt", id(number))
            };
            if piece.conduct != Conduct::Idles {
                replies.push(shell(&format!("echo {number} >{file}")));
            }
            if piece.helped {
                let ask = json!({ "agent": "helper", "prompt": "Help." });
                replies.push(json!({ "calls": [
                    { "tool": "spawn_subagent", "arguments": ask },
                    { "tool": "wait_for_subagents", "arguments": {} },
                ] }));
            }
            if piece.conduct != Conduct::Fails {
                replies.push(json!({ "finish": "done", "delayMs": piece.delay_ms }));
            }
            // Whoever is held back once is asked again.
            replies.push(refusal());
            profiles.insert(coder(number), replies.into());
        }
        let verdict = |tool: &str, arguments: Value| json!({ "calls": [{ "tool": tool, "arguments": arguments }] });
        let approve = verdict("approve", json!({}));
        let demand = verdict("request_changes", json!({ "items": ["Do it again."] }));
        profiles.insert("approves".to_owned(), json!([approve]));
        profiles.insert("demands".to_owned(), json!([approve, demand]));
        profiles.insert("dies".to_owned(), json!([refusal()]));
        profiles.insert("merger".to_owned(), self.merger.script());
        let helps = json!([shell("echo helped >helped.txt"), { "finish": "helped" }]);
        profiles.insert("helper".to_owned(), helps);
        profiles.insert("root".to_owned(), self.root());
        json!({ "profiles": profiles })
    }

    fn root(&self) -> Value {
        let filings: Vec<Value> = (0..self.pieces.len())
            .map(|number| {
                let reviews = &self.pieces[number].reviews;
                let reviewers: Vec<_> = reviews.iter().map(|review| review.slug()).collect();
                let blockers: Vec<_> = self.blockers(number).into_iter().map(id).collect();
                json!({ "tool": "create_issue", "arguments": {
                    "title": format!("Piece {number}"), "inScope": "It.", "outOfScope": "The rest.",
                    "completionCriteria": "It is there.", "agent": coder(number),
                    "reviewers": reviewers, "blockedBy": blockers,
                } })
            })
            .collect();
        let mut replies = vec![json!({ "calls": filings })];
        for number in self.awaited() {
            let wait = json!({ "tool": "wait_for_issue", "arguments": { "id": id(number) } });
            replies.push(json!({ "calls": [wait] }));
        }
        replies.push(json!({ "finish": "filed" }));
        replies.into()
    }

    /// The launch of this plan; the workspace is the folder `w` of the one given.
    fn document(&self, folder: &Path, cap: u64) -> Value {
        let workspace = folder.join("w");
        std::fs::create_dir_all(&workspace).unwrap();
        let mut document = document(&workspace, false);
        document["cancelFile"] = json!(folder.join("stop"));
        let set = &mut document["capabilitySet"];
        set["limits"]["maxParallel"] = json!(cap);
        let shells = json!({ "id": "shell", "enabled": true, "implementation": "inline",
            "params": { "maxLines": 10, "maxChars": 1000 } });
        let agent = |slug: &str| {
            json!({
                "slug": slug, "name": slug, "modelId": "mock/script",
                "capabilities": [shells], "tools": ["shell"], "operations": [],
            })
        };
        let entry = |slug: &str, scope: &str| json!({ "agentId": slug, "description": "Is.", "scopes": [scope] });
        let mut root = agent("root");
        root["capabilities"].as_array_mut().unwrap().push(json!({
            "id": "project-management", "enabled": true, "params": {
                "mergeAgent": "merger", "maxEpics": 9, "maxIssues": 99, "maxRetries": self.retries,
            },
        }));
        let calls = ["create_issue", "wait_for_issue"];
        let tools = root["tools"].as_array_mut().unwrap();
        tools.extend(calls.map(Value::from));
        let reviewers = ["approves", "demands", "dies"];
        let coders = (0..self.pieces.len()).map(|number| entry(&coder(number), "implementer"));
        let roster = coders.chain(reviewers.map(|slug| entry(slug, "reviewer")));
        root["subagents"] = roster.collect();
        let mut agents = vec![root, agent("merger"), agent("helper")];
        agents.extend(reviewers.map(|slug| {
            let mut reviewer = agent(slug);
            if slug == "demands" {
                reviewer["hooks"] = holds_back(".0i.", "approve");
            }
            reviewer
        }));
        agents.extend(self.pieces.iter().enumerate().map(|(number, piece)| {
            let mut coder = agent(&coder(number));
            if piece.conduct == Conduct::Flaky {
                coder["hooks"] = holds_back(".0i\"", "finish");
            }
            if piece.helped {
                let spawns = json!({ "id": "subagents", "enabled": true,
                    "params": { "maxDepth": 1 } });
                coder["capabilities"].as_array_mut().unwrap().push(spawns);
                let tools = coder["tools"].as_array_mut().unwrap();
                tools.extend(["spawn_subagent", "wait_for_subagents"].map(Value::from));
                coder["subagents"] = json!([entry("helper", "subagent")]);
            }
            coder
        }));
        set["agents"] = agents.into();
        document
    }
}

/// A plan that was played.
struct Board {
    folder: tempfile::TempDir,
    played: Played,
}

impl Board {
    fn play(plan: &Plan, cap: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let document = plan.document(folder.path(), cap);
        let played = session(&document, &plan.script(folder.path()));
        Self { folder, played }
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = git(&self.folder.path().join("w"), arguments);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Where each issue stood last.
    fn statuses(&self) -> HashMap<String, String> {
        let moved = self.played.lines("issue_status");
        let row = |line: &Value| {
            let text = |field: &str| line[field].as_str().unwrap().to_owned();
            (text("issueId"), text("status"))
        };
        moved.iter().map(row).collect()
    }

    /// What holds of any run, however it ended.
    fn sound(&self) -> Result<(), TestCaseError> {
        let stream = &self.played.stream;
        prop_assert_eq!(rules::check(stream), [], "{}", stream);
        let state = self.git(&["status", "--porcelain"]);
        prop_assert_eq!(state, "", "the workspace is clean: {}", stream);
        let merging = self.folder.path().join("w/.git/MERGE_HEAD");
        prop_assert!(!merging.exists(), "no merge is open: {}", stream);
        self.agents()
    }

    /// Where agents work, and what they are.
    fn agents(&self) -> Result<(), TestCaseError> {
        let spawned = self.played.lines("agent_spawned");
        let by_id: HashMap<&str, &Value> = spawned
            .iter()
            .map(|line| (line["agentId"].as_str().unwrap(), line))
            .collect();
        for line in &spawned {
            let (id, kind) = (&line["agentId"], line["agentKind"].as_str().unwrap());
            match kind {
                "issue-implementer" | "issue-reviewer" => {
                    prop_assert_eq!(&line["cwd"], &line["worktree"]["path"], "{}", id);
                    prop_assert!(line["parentId"].is_null() && line["depth"] == 0);
                }
                "subagent" => {
                    let parent = by_id[line["parentId"].as_str().unwrap()];
                    prop_assert_eq!(&line["worktree"], &parent["worktree"], "{}", id);
                    prop_assert_eq!(&line["cwd"], &parent["cwd"], "{}", id);
                }
                "root" | "issue-merger" => {
                    prop_assert!(line["worktree"].is_null(), "{}", id);
                    prop_assert_eq!(&line["cwd"], &by_id["root"]["cwd"], "{}", id);
                }
                other => prop_assert!(false, "{}", other),
            }
        }
        Ok(())
    }

    /// What a run came to that nothing stopped.
    fn judge(&self, plan: &Plan) -> Result<(), TestCaseError> {
        let report = self.played.report.as_ref().unwrap();
        let stream = &self.played.stream;
        prop_assert_eq!(report.status, EndStatus::Completed, "{}", stream);
        let statuses = self.statuses();
        let mut done = 0;
        for (number, fate) in plan.fates().into_iter().enumerate() {
            let id = id(number);
            // An issue that was never begun was never told of.
            let status = statuses.get(&id).map_or("open", String::as_str);
            done += usize::from(status == "done");
            match fate {
                Fate::Done => prop_assert_eq!(status, "done", "{}: {}", id, stream),
                Fate::Failed => prop_assert_eq!(status, "failed", "{}: {}", id, stream),
                Fate::Open => prop_assert_eq!(status, "open", "{}: {}", id, stream),
                Fate::Either => {}
            }
            let piece = &plan.pieces[number];
            if status == "done" && piece.conduct != Conduct::Idles && !piece.shared {
                let file = self.folder.path().join(format!("w/{id}.txt"));
                prop_assert!(file.exists(), "{} is merged: {}", id, stream);
            }
            let branch = format!("refs/heads/gg/{}", id.to_lowercase());
            let stays = !self.git(&["for-each-ref", &branch]).is_empty();
            prop_assert_eq!(stays, status == "failed", "{}: {}", branch, stream);
        }
        let landed = self.played.lines("worktree_merged");
        let landed = landed
            .iter()
            .filter(|line| matches!(line["outcome"].as_str(), Some("merged" | "resolved")));
        prop_assert_eq!(landed.count(), done);
        let worktrees = self.git(&["worktree", "list"]);
        prop_assert_eq!(worktrees.lines().count(), 1, "{}: {}", worktrees, stream);
        let waits = self.played.lines("tool_result");
        let waits = waits.iter().filter(|line| line["tool"] == "wait_for_issue");
        prop_assert_eq!(waits.count(), plan.waits.len());
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "a test looks at what a run left")]
fn git(dir: &Path, arguments: &[&str]) -> std::process::Output {
    std::process::Command::new("git")
        .current_dir(dir)
        .args(arguments)
        .output()
        .unwrap()
}

/// A board takes about as long as half a second; `GG_BOARDS` asks for more of them.
fn cases() -> u32 {
    let all = std::env::var("GG_BOARDS").ok();
    all.map_or(12, |all| {
        all.parse().expect("GG_BOARDS is a number of boards")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn every_board_ends_with_its_issues_where_their_agents_left_them(
        plan in plan(),
        cap in prop_oneof![Just(1_u64), Just(2), Just(16)],
    ) {
        let board = Board::play(&plan, cap);
        board.sound()?;
        if plan.stops.is_none() {
            board.judge(&plan)?;
        }
    }
}

/// Four issues, two of which conflict, one of which is reworked.
fn eventful() -> Plan {
    let piece = |behind: &[u8], reviews: &[Review], shared| Piece {
        conduct: Conduct::Works,
        behind: behind.to_vec(),
        reviews: reviews.to_vec(),
        shared,
        helped: false,
        delay_ms: 0,
    };
    Plan {
        pieces: vec![
            piece(&[], &[Review::Approves, Review::Demands], false),
            piece(&[], &[], true),
            piece(&[], &[], true),
            piece(&[0], &[], false),
        ],
        merger: Merger::Resolves,
        retries: 1,
        waits: vec![3, 1],
        stops: None,
    }
}

#[test]
fn at_one_slot_a_root_files_waits_and_completes() {
    let plan = eventful();
    let board = Board::play(&plan, 1);
    board.sound().unwrap();
    board.judge(&plan).unwrap();
    let statuses = board.statuses();
    assert!(statuses.values().all(|status| status == "done"));
}

#[track_caller]
fn ended_as_a_defect(place: &'static str, cause: &str) -> Board {
    tripping::arm(place);
    let board = Board::play(&eventful(), 2);
    let report = board.played.report.as_ref().unwrap();
    let stream = &board.played.stream;
    assert_eq!(
        (report.status, report.exit_code),
        (EndStatus::InternalError, 1),
        "{place}: {stream}"
    );
    let error = report.error.as_deref().unwrap_or_default();
    assert!(error.contains(cause), "{place}: {error}");
    board.sound().unwrap();
    let agents = board.played.lines("agent_spawned");
    for agent in &agents {
        let ends = board.played.lines("agent_status");
        let ends = ends
            .iter()
            .filter(|line| line["agentId"] == agent["agentId"] && !line["endedAs"].is_null());
        assert_eq!(ends.count(), 1, "{place}: {} of {stream}", agent["agentId"]);
    }
    board
}

#[test]
fn a_board_that_panics_in_a_call_ends_the_run() {
    ended_as_a_defect("board_call", "the board panicked: tripped in board_call");
}

#[test]
fn a_board_that_panics_as_a_wait_begins_ends_the_run() {
    ended_as_a_defect("board_wait", "the board panicked: tripped in board_wait");
}

#[test]
fn a_board_that_panics_at_an_answer_ends_the_run() {
    ended_as_a_defect(
        "board_answered",
        "the board panicked: tripped in board_answered",
    );
}

#[test]
fn an_issue_that_panics_at_what_it_is_asked_fails_with_the_run() {
    let board = ended_as_a_defect("issue", "the actor of issue `ISSUE-1` panicked");
    let told = board.played.lines("issue_status");
    let failed = told.iter().find(|line| line["status"] == "failed").unwrap();
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("panicked: tripped in issue"), "{reason}");
}

#[test]
fn an_issue_that_panics_as_it_answers_ends_the_run() {
    ended_as_a_defect("issue_answers", "panicked: tripped in issue_answers");
}

#[test]
fn a_git_that_panics_ends_the_run() {
    let cause = "the actor of the board's git panicked: tripped in git";
    let board = ended_as_a_defect("git", cause);
    let told = board.played.lines("issue_status");
    assert!(told.iter().any(|line| line["status"] == "failed"));
}

#[test]
fn a_supervisor_that_dies_with_a_board_leaves_a_closing_line() {
    tripping::arm("supervisor_dispatch");
    let board = Board::play(&eventful(), 2);
    let report = board.played.report.as_ref().unwrap();
    assert_eq!(report.exit_code, 1);
    let last: Value = serde_json::from_str(board.played.stream.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "session_ended");
    assert_eq!(last["status"], "internal_error");
}

#[test]
fn a_workspace_no_board_can_work_on_refuses_the_launch() {
    let folder = tempfile::tempdir().unwrap();
    let plan = eventful();
    let document = plan.document(folder.path(), 2);
    let workspace = folder.path().join("w");
    git(&workspace, &["init", "-q"]);
    let identity = ["-c", "user.name=a", "-c", "user.email=a@a"];
    let commit = ["commit", "-q", "--allow-empty", "-m", "first"];
    git(&workspace, &[&identity[..], &commit[..]].concat());
    git(&workspace, &["branch", "gg"]);
    let played = session(&document, &plan.script(folder.path()));
    let report = played.report.as_ref().unwrap();
    assert_eq!(
        (report.status, report.exit_code),
        (EndStatus::LaunchRefused, 1)
    );
    let error = report.error.as_deref().unwrap_or_default();
    assert!(error.contains("git branch -m gg"), "{error}");
    assert_eq!(rules::check(&played.stream), [], "{}", played.stream);
    assert_eq!(played.lines("agent_spawned").len(), 0);
}
