//! Boards on real repositories, with agents that are scripts: what the stream would say and what
//! git says are one.

use std::collections::BTreeMap;

use vocab::board::{IssueStatus, MergeOutcome};
use vocab::ids::IssueId;
use vocab::outcome::EndStatus;

use super::dice::Dice;
use super::world::{filer, new_issue, policy};
use crate::git::Repository;
use crate::git::tests::{Field, sh};
use crate::*;

struct Play {
    field: Field,
    repository: Repository,
    board: Board,
    asks: BTreeMap<Ticket, (IssueId, Ask)>,
    landed: Vec<Landed>,
    defects: Vec<String>,
    /// Tips of worktrees after each implementer, whatever became of it.
    made: Vec<String>,
}

/// What a scripted agent does.
struct Act {
    script: String,
    end: AgentEnd,
}

impl Play {
    async fn new() -> Self {
        let field = Field::new().await;
        let (repository, _) = field.open().await;
        Self {
            field,
            repository,
            board: Board::new(policy()),
            asks: BTreeMap::new(),
            landed: Vec::new(),
            defects: Vec::new(),
            made: Vec::new(),
        }
    }

    fn file(&mut self, blocked_by: &[&str], reviewers: &[&str]) {
        let new = new_issue("an issue", blocked_by, reviewers);
        let (_, effects) = self
            .board
            .call(&filer(), BoardCall::CreateIssue(new))
            .unwrap();
        self.take(effects);
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Ask { ticket, issue, ask } => {
                    self.asks.insert(ticket, (issue, ask));
                }
                Effect::Withdraw(ticket) => {
                    self.asks.remove(&ticket);
                }
                Effect::Landed(landed) => self.landed.push(landed),
                Effect::Defect(what) => self.defects.push(what),
                _ => {}
            }
        }
    }

    /// Carries out one ask; false where there is none.
    async fn step(&mut self, place: usize, act: &mut impl FnMut(&Seat, &Brief) -> Act) -> bool {
        if self.asks.is_empty() {
            return false;
        }
        let ticket = *self.asks.keys().nth(place % self.asks.len()).unwrap();
        let (_, ask) = self.asks.remove(&ticket).unwrap();
        let answer = match &ask {
            Ask::Slot(_) => Answer::Granted,
            Ask::Run {
                seat,
                brief,
                worktree,
                ..
            } => {
                let Act { script, end } = act(seat, brief);
                let dir = match worktree {
                    Some(worktree) => worktree.path.clone(),
                    None => self.field.workspace(),
                };
                sh(&dir, &script).await;
                if matches!(seat.duty, Duty::Implement { .. }) {
                    self.made.push(sh(&dir, "git rev-parse HEAD").await);
                }
                Answer::Ended(end)
            }
            _ => self.repository.answer(ask).await.unwrap(),
        };
        let effects = self.board.answer(ticket, answer);
        self.take(effects);
        true
    }

    fn status(&self, id: &str) -> IssueStatus {
        self.board.issue(&id.into()).unwrap().status
    }

    /// What holds of the repository whenever the board is quiet.
    async fn settle(&self) {
        assert_eq!(self.defects, [""; 0]);
        let field = &self.field;
        assert_eq!(field.sh("git symbolic-ref --short HEAD").await, "main");
        assert_eq!(
            field
                .sh("ls .git/MERGE_HEAD .git/rebase-* 2>/dev/null || true")
                .await,
            ""
        );
        assert_eq!(field.sh("git diff --name-only HEAD").await, "");
        let merged: Vec<_> = (self.landed.iter())
            .filter(|it| matches!(it.outcome, MergeOutcome::Merged | MergeOutcome::Resolved))
            .collect();
        // The history lists the merges in their order.
        let line = field
            .sh("git log --first-parent --reverse --merges --format=%s")
            .await;
        let line: Vec<_> = (line.lines())
            .filter_map(|subject| subject.strip_prefix("Merge ")?.split(':').next())
            .collect();
        // Work of no change is merged already: no merge commit stands for it.
        let told: Vec<_> = (merged.iter())
            .map(|it| it.issue.as_str())
            .filter(|id| line.contains(id))
            .collect();
        assert_eq!(line, told);
        for landed in &merged {
            assert_eq!(self.status(landed.issue.as_str()), IssueStatus::Done);
            let commit = landed.commit.as_ref().unwrap();
            field
                .sh(&format!("git merge-base --is-ancestor {commit} main"))
                .await;
        }
        // Whatever an implementer committed can be reached.
        let refs = field.sh("git for-each-ref --format='%(refname)'").await;
        let refs = refs.replace('\n', " ");
        for commit in &self.made {
            let holds = format!(
                "git rev-list {refs} $(git worktree list --porcelain | sed -n 's/^HEAD //p') \
                 | grep -c {commit}"
            );
            assert_eq!(field.sh(&holds).await, "1");
        }
    }
}

fn writes(script: &str) -> Act {
    Act {
        script: script.to_owned(),
        end: AgentEnd::Finished,
    }
}

/// The line every agent changes in the deliberate conflict.
const RESOLVES: &str = "printf 'one\\nboth\\nthree\\n' >a.txt; git add -A; git commit -q --no-edit";

/// Eight issues in a DAG, two reviewers, one conflict.
async fn eight(merge_agent: &str) -> Play {
    let mut play = Play::new().await;
    for (blocked_by, reviewers) in [
        (&[][..], &["critic", "judge"][..]),
        (&[], &[]),
        (&["ISSUE-1"], &["critic"]),
        (&["ISSUE-1", "ISSUE-2"], &[]),
        (&["ISSUE-3"], &["critic", "judge"]),
        (&[], &["judge"]),
        (&["ISSUE-4", "ISSUE-6"], &[]),
        (&["ISSUE-5", "ISSUE-7"], &["critic"]),
    ] {
        play.file(blocked_by, reviewers);
    }
    let mut sent_back = false;
    let mut act = |seat: &Seat, brief: &Brief| match (seat.duty, brief) {
        (Duty::Implement { .. }, Brief::Fix { .. }) => writes("echo fixed >>fixes.txt"),
        (Duty::Implement { .. }, _) => {
            let name = seat.agent.as_str();
            let conflicts = ["ISSUE-1.0i", "ISSUE-2.0i"].contains(&name);
            let line = if conflicts {
                format!("printf 'one\\n{name}\\nthree\\n' >a.txt; ")
            } else {
                String::new()
            };
            writes(&format!("{line}echo {name} >{name}.txt"))
        }
        (Duty::Review { .. }, Brief::Review { changes, .. }) => {
            assert!(!changes.files.is_empty());
            let back = !std::mem::replace(&mut sent_back, true);
            Act {
                script: "echo scribble >>scribble.txt; rm -f a.txt".to_owned(),
                end: if back {
                    AgentEnd::RequestedChanges(vec!["fix it".to_owned()])
                } else {
                    AgentEnd::Approved
                },
            }
        }
        (_, brief) => {
            assert!(matches!(brief, Brief::Merge { paths, .. } if *paths == ["a.txt"]));
            writes(merge_agent)
        }
    };
    while play.step(0, &mut act).await {}
    play.settle().await;
    play
}

#[tokio::test]
async fn eight_issues_with_reviewers_and_a_conflict_are_all_done() {
    let play = eight(RESOLVES).await;
    for issue in play.board.issues() {
        assert_eq!(issue.status, IssueStatus::Done, "{issue:?}");
    }
    let resolved = (play.landed.iter()).filter(|it| it.outcome == MergeOutcome::Resolved);
    assert_eq!(resolved.count(), 1);
    assert_eq!(play.field.read("a.txt"), "one\nboth\nthree\n");
    // Reviewers wrote into worktrees, and nothing of it was merged.
    assert_eq!(play.field.sh("ls").await.matches("scribble").count(), 0);
    assert_eq!(
        play.field
            .sh("git for-each-ref refs/heads/gg; git status -s")
            .await,
        ""
    );
    assert_eq!(play.field.sh("git worktree list | wc -l").await, "1");
}

#[tokio::test]
async fn a_merge_agent_that_does_not_resolve_fails_its_issue_and_what_it_blocks_stays_open() {
    for script in [
        "git merge --abort",
        "git add -A; git commit -q --no-edit",
        "git merge --abort; git checkout -q gg/issue-1 2>/dev/null || git checkout -q -b elsewhere",
        "true",
    ] {
        let play = eight(script).await;
        let failed: Vec<_> = (play.board.issues())
            .filter(|issue| issue.status == IssueStatus::Failed)
            .collect();
        assert_eq!(failed.len(), 1, "{script}");
        let id = &failed[0].id;
        let branch = play
            .field
            .sh(&format!("git show {}:a.txt", failed[0].branch_stem()))
            .await;
        assert!(branch.contains(id.as_str()), "{script}: {branch}");
        assert!(play.field.read("a.txt").lines().count() == 3, "{script}");
        assert_eq!(play.status("ISSUE-4"), IssueStatus::Open, "{script}");
        assert_eq!(play.status("ISSUE-6"), IssueStatus::Done, "{script}");
    }
}

/// A random board on a real repository.
async fn random(seed: u64) {
    let mut play = Play::new().await;
    let mut dice = Dice(seed);
    for number in 1..=12 {
        let mut blocked_by = Vec::new();
        if number > 2 && dice.one_in(2) {
            blocked_by.push(format!("ISSUE-{}", 1 + dice.below(number - 1)));
        }
        let blocked_by: Vec<_> = blocked_by.iter().map(String::as_str).collect();
        let reviewers: &[&str] = if dice.one_in(2) { &["critic"] } else { &[] };
        play.file(&blocked_by, reviewers);
    }
    let stop = dice.below(150);
    let mut acts = Dice(seed ^ 1);
    let mut act = |seat: &Seat, _: &Brief| match seat.duty {
        Duty::Implement { .. } => {
            let name = &seat.agent;
            let scripts = [
                "echo NAME >a.txt",
                "echo NAME >a.txt; git add -A; git commit -qm NAME; echo more >>NAME.txt",
                "mkdir -p d; echo NAME >d/NAME; echo log >x.log",
                "git rm -q a.txt 2>/dev/null || true; echo NAME >b.txt",
                "git checkout -q --detach; echo NAME >a.txt; git add -A; git commit -qm NAME",
                "true",
            ];
            let script = scripts[acts.below(scripts.len())].replace("NAME", name.as_str());
            let end = match acts.below(5) {
                0 => AgentEnd::Stopped {
                    status: EndStatus::Exhausted,
                    text: None,
                },
                _ => AgentEnd::Finished,
            };
            Act { script, end }
        }
        Duty::Review { .. } => Act {
            script: "echo scribble >a.txt; git commit -qam scribble || true".to_owned(),
            end: if acts.one_in(3) {
                AgentEnd::RequestedChanges(vec!["more".to_owned()])
            } else {
                AgentEnd::Approved
            },
        },
        Duty::Merge { .. } => {
            let scripts = [
                "git add -A; for f in $(git ls-files); do sed -i '/^[<=>|]/d' $f; done; \
                 git add -A; git commit -q --no-edit",
                "git add -A; git commit -q --no-edit",
                "git merge --abort",
                "git merge --abort; git checkout -q -b other-$RANDOM$$",
                "git reset -q --hard HEAD~1 || true",
                "true",
            ];
            writes(scripts[acts.below(scripts.len())])
        }
    };
    let mut step = 0;
    loop {
        if step == stop && seed.is_multiple_of(2) {
            let causes = [StopCause::Deadline, StopCause::Cancel];
            let effects = play.board.stop(causes[dice.below(2)]);
            play.take(effects);
        }
        step += 1;
        let place = dice.below(50);
        if !play.step(place, &mut act).await {
            break;
        }
        assert!(step < 5000);
    }
    assert!(play.board.is_quiet());
    play.settle().await;
    for issue in play.board.issues() {
        assert!(!matches!(
            issue.status,
            IssueStatus::InProgress | IssueStatus::InReview
        ));
    }
}

#[tokio::test]
async fn on_random_boards_no_commit_is_lost_and_the_history_is_what_the_board_says() {
    let boards = std::env::var("GG_BOARDS").ok();
    let boards = boards.map_or(6, |number| number.parse().unwrap());
    for seed in 0..boards {
        println!("board {seed}");
        random(seed).await;
    }
}
