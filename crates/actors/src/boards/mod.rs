//! Boards on scripted models, in whole sessions in the process (03 §10.6): issues in a DAG whose
//! implementers work, fail at first or always, whose reviewers approve, demand or die, and whose
//! branches conflict. At random, with each of the board's actors panicking, and under each stop.
//!
//! Every stream passes the rules of `gg verify`; every repository is what the record says of it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod deaths;
mod random;
mod stops;

use std::collections::HashMap;
use std::path::Path;

use proptest::prelude::*;
use record::rules;
use serde_json::{Value, json};
use vocab::outcome::EndStatus;

use crate::nets::{Played, document, session};

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

/// Whether its implementers have a child do a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Help {
    None,
    Awaited,
    /// The child goes on when they have finished.
    Left,
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
    help: Help,
    /// The piece that its implementers wait for, by a figure that picks it.
    awaits: Option<u8>,
    delay_ms: u64,
}

/// What the root changes of an issue that it has filed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    Unblocks,
    Revives,
    Removes,
}

#[derive(Clone, Debug)]
struct Plan {
    pieces: Vec<Piece>,
    merger: Merger,
    retries: u64,
    /// Pieces that the root waits for, by figures that pick them.
    waits: Vec<u8>,
    /// What it changes then.
    edits: Vec<(Edit, u8)>,
    /// The piece whose first implementer stops the run.
    stops: Option<u8>,
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
            if piece.help != Help::None {
                let ask = json!({ "agent": "helper", "prompt": "Help." });
                let mut calls = vec![json!({ "tool": "spawn_subagent", "arguments": ask })];
                if piece.help == Help::Awaited {
                    calls.push(json!({ "tool": "wait_for_subagents", "arguments": {} }));
                }
                replies.push(json!({ "calls": calls }));
            }
            if let Some(figure) = piece.awaits {
                let awaited = json!({ "id": id(usize::from(figure) % self.pieces.len()) });
                let wait = json!({ "tool": "wait_for_issue", "arguments": awaited });
                replies.push(json!({ "calls": [wait] }));
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
        let helps = json!([
            { "calls": [{ "tool": "shell", "arguments": { "command": "echo helped >helped.txt" } }],
              "delayMs": 20 },
            { "finish": "helped" },
        ]);
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
        for (edit, figure) in &self.edits {
            let id = id(usize::from(*figure) % self.pieces.len());
            let (tool, arguments) = match edit {
                Edit::Unblocks => ("set_issue_blocked_by", json!({ "id": id, "blockedBy": [] })),
                Edit::Revives => ("update_issue", json!({ "id": id, "status": "open" })),
                Edit::Removes => ("remove_issue", json!({ "id": id })),
            };
            replies.push(json!({ "calls": [{ "tool": tool, "arguments": arguments }] }));
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
        let board = json!({
            "id": "project-management", "enabled": true, "params": {
                "mergeAgent": "merger", "maxEpics": 9, "maxIssues": 99, "maxRetries": self.retries,
            },
        });
        root["capabilities"]
            .as_array_mut()
            .unwrap()
            .push(board.clone());
        let calls = [
            "create_issue",
            "update_issue",
            "set_issue_blocked_by",
            "remove_issue",
            "wait_for_issue",
        ];
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
            if piece.awaits.is_some() {
                coder["capabilities"]
                    .as_array_mut()
                    .unwrap()
                    .push(board.clone());
                coder["tools"]
                    .as_array_mut()
                    .unwrap()
                    .push(json!("wait_for_issue"));
            }
            if piece.help != Help::None {
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
        Self::play_as(plan, cap, |_, _| ())
    }

    /// Plays a plan whose launch document and script are changed before.
    fn play_as(plan: &Plan, cap: u64, change: impl FnOnce(&mut Value, &mut Value)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut document = plan.document(folder.path(), cap);
        let mut script = plan.script(folder.path());
        change(&mut document["capabilitySet"], &mut script["profiles"]);
        let played = session(&document, &script);
        Self { folder, played }
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = git(&self.folder.path().join("w"), arguments);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Removes the worktrees that a run keeps on purpose.
    fn put_away(&self) {
        let list = self.git(&["worktree", "list", "--porcelain"]);
        let kept = list
            .lines()
            .filter_map(|line| line.strip_prefix("worktree "));
        for path in kept.skip(1) {
            self.git(&["worktree", "remove", "--force", path]);
            // The run's own folder, where it is empty now.
            Path::new(path).parent().map(std::fs::remove_dir);
        }
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
                    let succeeds = line["origin"]["kind"] == "succession";
                    prop_assert_eq!(line["parentId"].is_null(), !succeeds, "{}", id);
                    prop_assert_eq!(&line["depth"], 0, "{}", id);
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
        if plan.edits.is_empty() {
            self.fated(plan)?;
        }
        let told = self.played.lines("issue_status");
        let done = told.iter().filter(|line| line["status"] == "done").count();
        let landed = self.played.lines("worktree_merged");
        let landed = landed
            .iter()
            .filter(|line| matches!(line["outcome"].as_str(), Some("merged" | "resolved")));
        prop_assert_eq!(landed.count(), done);
        let worktrees = self.git(&["worktree", "list"]);
        prop_assert_eq!(worktrees.lines().count(), 1, "{}: {}", worktrees, stream);
        let waits = self.played.lines("tool_result");
        let waits = waits
            .iter()
            .filter(|line| line["tool"] == "wait_for_issue" && line["agentId"] == "root");
        prop_assert_eq!(waits.count(), plan.waits.len());
        Ok(())
    }

    /// What became of each issue of a run that nothing stopped.
    fn fated(&self, plan: &Plan) -> Result<(), TestCaseError> {
        let stream = &self.played.stream;
        let statuses = self.statuses();
        for (number, fate) in plan.fates().into_iter().enumerate() {
            let id = id(number);
            // An issue that was never begun was never told of.
            let status = statuses.get(&id).map_or("open", String::as_str);
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
            if status == "done" && piece.help != Help::None {
                let file = self.folder.path().join("w/helped.txt");
                prop_assert!(file.exists(), "{} was helped: {}", id, stream);
            }
            let branch = format!("refs/heads/gg/{}", id.to_lowercase());
            let stays = !self.git(&["for-each-ref", &branch]).is_empty();
            prop_assert_eq!(stays, status == "failed", "{}: {}", branch, stream);
        }
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

/// Four issues, two of which conflict, one of which is reworked.
fn eventful() -> Plan {
    let piece = |behind: &[u8], reviews: &[Review], shared| Piece {
        conduct: Conduct::Works,
        behind: behind.to_vec(),
        reviews: reviews.to_vec(),
        shared,
        help: Help::None,
        awaits: None,
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
        edits: Vec::new(),
        stops: None,
    }
}
