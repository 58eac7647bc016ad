//! A board that was played, and what it left: held to the rules of the record, and to its plan.

use std::collections::HashMap;
use std::path::Path;

use proptest::prelude::*;
use record::rules;
use serde_json::Value;
use vocab::outcome::EndStatus;

use super::{Conduct, Fate, Help, Plan, id};
use crate::nets::{Played, session};

/// A plan that was played.
pub(super) struct Board {
    pub(super) folder: tempfile::TempDir,
    pub(super) played: Played,
}

impl Board {
    pub(super) fn play(plan: &Plan, cap: u64) -> Self {
        Self::play_as(plan, cap, |_, _| ())
    }

    /// Plays a plan whose launch document and script are changed before.
    pub(super) fn play_as(
        plan: &Plan,
        cap: u64,
        change: impl FnOnce(&mut Value, &mut Value),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut document = plan.document(folder.path(), cap);
        let mut script = plan.script(folder.path());
        change(&mut document["capabilitySet"], &mut script["profiles"]);
        let played = session(&document, &script);
        Self { folder, played }
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let output = git(&self.folder.path().join("w"), arguments);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Removes the worktrees that a run keeps on purpose.
    pub(super) fn put_away(&self) {
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
    pub(super) fn statuses(&self) -> HashMap<String, String> {
        let moved = self.played.lines("issue_status");
        let row = |line: &Value| {
            let text = |field: &str| line[field].as_str().unwrap().to_owned();
            (text("issueId"), text("status"))
        };
        moved.iter().map(row).collect()
    }

    /// What holds of any run, however it ended.
    pub(super) fn sound(&self) -> Result<(), TestCaseError> {
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
    pub(super) fn judge(&self, plan: &Plan) -> Result<(), TestCaseError> {
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
pub(super) fn git(dir: &Path, arguments: &[&str]) -> std::process::Output {
    std::process::Command::new("git")
        .current_dir(dir)
        .args(arguments)
        .output()
        .unwrap()
}
