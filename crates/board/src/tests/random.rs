//! Random boards in a random world: whatever happens, nothing hangs and nothing is forgotten.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use vocab::board::IssueStatus;
use vocab::ids::IssueId;
use vocab::outcome::EndStatus;

use super::dice::Dice;
use super::world::{World, filer, new_issue, policy, put_away, stopped};
use crate::*;

/// A world with agents that wait for issues.
struct Play {
    world: World,
    dice: Dice,
    /// Agents under way that are suspended: by their ask, what they wait for.
    waiting: BTreeMap<WaitId, Suspended>,
    /// Agents that may start yet.
    agents: usize,
}

struct Suspended {
    /// The agent's own ask; none for an agent outside the board.
    ask: Option<Ticket>,
    caller: Caller,
    target: IssueId,
}

impl Play {
    fn ids(&self) -> Vec<IssueId> {
        let issues = self.world.board.issues();
        issues.map(|issue| issue.id.clone()).collect()
    }

    fn file(&mut self) {
        let ids = self.ids();
        let mut blocked_by = BTreeSet::new();
        for _ in 0..self.dice.below(4) {
            blocked_by.extend(self.dice.pick(&ids));
        }
        let blocked_by: Vec<_> = blocked_by.iter().map(IssueId::as_str).collect();
        let reviewers: &[&str] = match self.dice.below(3) {
            0 => &[],
            1 => &["critic"],
            _ => &["critic", "judge"],
        };
        let new = new_issue("an issue", &blocked_by, reviewers);
        let filed = self.world.call(&filer(), BoardCall::CreateIssue(new));
        assert!(filed.is_ok(), "{filed:?}");
    }

    /// A call of somebody outside the board.
    fn revise(&mut self) {
        let ids = self.ids();
        let (Some(id), Some(other)) = (self.dice.pick(&ids), self.dice.pick(&ids)) else {
            return;
        };
        let call = match self.dice.below(5) {
            0 => BoardCall::UpdateIssue {
                id,
                changes: IssueChanges {
                    agent: Some("writer".into()),
                    ..IssueChanges::default()
                },
            },
            1 | 2 => BoardCall::UpdateIssue {
                id,
                changes: IssueChanges {
                    status: Some(IssueStatus::Open),
                    ..IssueChanges::default()
                },
            },
            3 => BoardCall::SetBlockedBy {
                id,
                blocked_by: vec![other],
            },
            _ => BoardCall::RemoveIssue { id },
        };
        // What is refused has changed nothing, which the world checks.
        self.world.call(&filer(), call).ok();
    }

    /// Somebody waits: an agent under way, or one outside the board.
    fn wait(&mut self) {
        let ids = self.ids();
        let Some(target) = self.dice.pick(&ids) else {
            return;
        };
        let runs: Vec<_> = (self.world.asks.iter())
            .filter_map(|(ticket, (issue, ask))| match ask {
                Ask::Run { seat, .. } => Some((*ticket, issue.clone(), seat.duty)),
                _ => None,
            })
            .filter(|(ticket, ..)| !self.suspended(*ticket))
            .collect();
        let (ask, works_for) = match self.dice.pick(&runs) {
            Some((ticket, issue, duty)) if !self.dice.one_in(4) => {
                let merges = matches!(duty, Duty::Merge { .. });
                (Some(ticket), Some(WorksFor { issue, merges }))
            }
            _ => (None, None),
        };
        let caller = Caller {
            works_for,
            ..filer()
        };
        if let Ok(Waiting::Suspended(wait)) = self.world.board.wait(&caller, &target) {
            let suspended = Suspended {
                ask,
                caller,
                target,
            };
            self.waiting.insert(wait, suspended);
        }
    }

    fn suspended(&self, ticket: Ticket) -> bool {
        self.waiting.values().any(|it| it.ask == Some(ticket))
    }

    /// Every woken agent asks how the issue stands.
    fn resume(&mut self) {
        for wait in std::mem::take(&mut self.world.woken) {
            let it = self.waiting.remove(&wait).expect("it was suspended");
            self.world.board.resumed(&it.caller, &it.target).ok();
        }
    }

    /// Answers one ask; false where none can be.
    fn answer(&mut self) -> bool {
        let open: Vec<_> = (self.world.asks.iter())
            .filter(|(ticket, _)| !self.suspended(**ticket))
            .map(|(ticket, (_, ask))| (*ticket, ask.clone()))
            .collect();
        let Some((ticket, ask)) = self.dice.pick(&open) else {
            return false;
        };
        let answer = self.outcome(&ask);
        self.world.answer(ticket, answer);
        true
    }

    fn outcome(&mut self, ask: &Ask) -> Answer {
        if self.dice.one_in(200) {
            return Answer::Lost("it is gone".to_owned());
        }
        let fault = || "git would not".to_owned();
        match ask {
            Ask::Slot(_) if self.agents == 0 => Answer::Refused(Refusal::Agents { max: 7 }),
            Ask::Slot(_) => {
                self.agents -= 1;
                Answer::Granted
            }
            Ask::Run { seat, .. } => match (seat.duty, self.dice.below(8)) {
                (_, 0) => stopped(EndStatus::Exhausted),
                (_, 1) => stopped(EndStatus::ModelError),
                (Duty::Review { .. }, 2..=4) => {
                    Answer::Ended(AgentEnd::RequestedChanges(vec!["more".to_owned()]))
                }
                _ => self.world.well(ask),
            },
            Ask::Cut { .. } if self.dice.one_in(20) => Answer::Cut(Err(fault())),
            Ask::Commit { .. } if self.dice.one_in(20) => Answer::Committed(Err(fault())),
            Ask::Reset { .. } if self.dice.one_in(20) => Answer::Reset(Err(fault())),
            Ask::Merge { .. } => match self.dice.below(4) {
                0 => Answer::Merged(MergeEnd::Failed(fault())),
                1 => World::conflict(),
                _ => self.world.well(ask),
            },
            Ask::Check if self.dice.one_in(2) => {
                Answer::Checked(Resolution::Unresolved("markers".to_owned()))
            }
            Ask::Restore if self.dice.one_in(20) => Answer::Restored(Err(fault())),
            Ask::Remove { .. } | Ask::Discard { .. } if self.dice.one_in(5) => {
                put_away(PutAway::Kept("it is locked".to_owned()))
            }
            _ => self.world.well(ask),
        }
    }
}

/// Plays a run to its end.
fn play(seed: u64, issues: usize, agents: usize, stop: Option<(usize, StopCause)>) {
    let mut play = Play {
        world: World::with(BoardPolicy {
            max_retries: seed % 3,
            ..policy()
        }),
        dice: Dice(seed),
        waiting: BTreeMap::new(),
        agents,
    };
    let mut filed = 0;
    let mut revisions = 60;
    let mut step = 0;
    loop {
        if let Some((at, cause)) = stop
            && step == at
        {
            play.world.stop(cause);
            // A grant that crossed the withdrawal comes back at once.
            for ticket in play.world.late.clone() {
                play.world.answer(ticket, Answer::Granted);
            }
        }
        step += 1;
        play.resume();
        if filed < issues && (play.dice.one_in(2) || play.world.asks.is_empty()) {
            play.file();
            filed += 1;
        } else if revisions > 0 && play.dice.one_in(4) {
            revisions -= 1;
            if play.dice.one_in(2) {
                play.revise();
            } else {
                play.wait();
            }
        } else if !play.answer() && filed == issues {
            break;
        }
        assert!(step < 100_000, "it goes on for ever");
    }
    play.resume();
    // Nothing can be answered any more: then nothing is asked for, and nobody waits.
    let Play { world, waiting, .. } = play;
    assert!(world.asks.is_empty(), "hangs: {:?}", world.asks);
    assert!(waiting.is_empty() && world.board.suspended() == 0);
    assert!(world.permits.is_empty(), "{:?}", world.permits);
    assert!(world.board.is_quiet() && world.board.merging().is_none());
    world.verify();
    let halted = stop.is_some_and(|(at, _)| at < step) || agents < 1000;
    for issue in world.board.issues() {
        let blocked = (issue.blocked_by.iter())
            .any(|id| world.board.issue(id).unwrap().status != IssueStatus::Done);
        match issue.status {
            IssueStatus::Done | IssueStatus::Failed => {}
            IssueStatus::Open => assert!(blocked || halted, "{issue:?}"),
            IssueStatus::InProgress | IssueStatus::InReview => panic!("{issue:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn fifty_issues_come_to_their_end_whatever_happens(seed: u64) {
        play(seed, 50, 100_000, None);
    }

    #[test]
    fn a_stop_at_any_moment_leaves_nothing_under_way(
        seed: u64,
        at in 0..600_usize,
        cause in prop_oneof![
            Just(StopCause::Deadline),
            Just(StopCause::Cost),
            Just(StopCause::Cancel),
            Just(StopCause::Defect),
        ],
    ) {
        play(seed, 50, 100_000, Some((at, cause)));
    }

    #[test]
    fn a_run_that_starts_no_more_agents_comes_to_its_end(seed: u64, agents in 0..60_usize) {
        play(seed, 50, agents, None);
    }
}
