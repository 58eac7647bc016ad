//! Attempts, retries, rework, rounds of review, and how each may end (03 §7.4, §7.6).

use vocab::board::{IssueStatus, MergeOutcome, ReviewOutcome};
use vocab::outcome::EndStatus;

use super::world::{World, filer, stopped};
use crate::*;

fn run(ask: Ask) -> (Seat, Brief) {
    match ask {
        Ask::Run { seat, brief, .. } => (seat, *brief),
        other => panic!("{other:?}"),
    }
}

fn is_run(ask: &Ask) -> bool {
    matches!(ask, Ask::Run { .. })
}

fn statuses(world: &World) -> Vec<IssueStatus> {
    let moved = world.log.iter().filter_map(|effect| match effect {
        Effect::Moved(moved) => Some(moved.status),
        _ => None,
    });
    moved.collect()
}

fn landed(world: &World) -> Vec<MergeOutcome> {
    let landed = world.log.iter().filter_map(|effect| match effect {
        Effect::Landed(landed) => Some(landed.outcome),
        _ => None,
    });
    landed.collect()
}

#[test]
fn an_issue_goes_from_slot_to_worktree_to_review_to_merge() {
    let mut world = World::new();
    world.file("a", &[], &["critic", "judge"]);
    let mut asks = Vec::new();
    while world.asked("ISSUE-1").is_some() {
        asks.push(match world.go_on("ISSUE-1") {
            Ask::Slot(seat) => format!("slot {} {}", seat.agent, seat.profile),
            Ask::Run { seat, .. } => format!("run {}", seat.agent),
            Ask::Cut { branch_stem } => format!("cut {branch_stem}"),
            Ask::Merge { branch, .. } => format!("merge {branch}"),
            other => format!("{other:?}")
                .split(' ')
                .next()
                .unwrap()
                .to_lowercase(),
        });
    }
    assert_eq!(
        asks,
        [
            "slot ISSUE-1.0i coder",
            "cut gg/issue-1",
            "run ISSUE-1.0i",
            "commit",
            "slot ISSUE-1.0i.0r critic",
            "run ISSUE-1.0i.0r",
            "reset",
            "slot ISSUE-1.0i.1r judge",
            "run ISSUE-1.0i.1r",
            "reset",
            "merge gg/issue-1",
            "remove",
        ]
    );
    assert_eq!(
        statuses(&world),
        [
            IssueStatus::InProgress,
            IssueStatus::InReview,
            IssueStatus::Done
        ]
    );
    assert_eq!(landed(&world), [MergeOutcome::Merged]);
    assert_eq!(world.board.issue(&"ISSUE-1".into()).unwrap().worktree, None);
}

#[test]
fn an_issue_starts_when_its_last_blocker_is_done_and_not_before() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    world.file("c", &["ISSUE-1", "ISSUE-2"], &[]);
    while world.status("ISSUE-1") != IssueStatus::Done {
        world.go_on("ISSUE-1");
    }
    assert_eq!(world.asked("ISSUE-3"), None);
    world.finish();
    assert_eq!(world.status("ISSUE-3"), IssueStatus::Done);
}

#[test]
fn an_attempt_that_does_not_finish_is_made_again_with_the_same_brief_and_worktree() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    let (_, brief) = run(world.until("ISSUE-1", is_run));
    world.tell("ISSUE-1", stopped(EndStatus::Exhausted));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Open);
    assert!(matches!(world.go_on("ISSUE-1"), Ask::Slot(_)));
    let (seat, again) = run(world.asked("ISSUE-1").unwrap().1);
    assert_eq!(seat.agent.as_str(), "ISSUE-1.1i");
    assert_eq!(again, brief);
    // One retry there is; its budget is the issue's.
    world.tell("ISSUE-1", stopped(EndStatus::LimitExceeded));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
    assert!(
        world
            .failure("ISSUE-1")
            .contains("`ISSUE-1.1i` ended as limit_exceeded")
    );
    assert!(matches!(world.go_on("ISSUE-1"), Ask::Discard { .. }));
    assert_eq!(landed(&world), [MergeOutcome::Discarded]);
}

#[test]
fn how_an_implementer_ends_decides_on_retry_and_worktree() {
    for (status, tried_again, kept) in [
        (EndStatus::Exhausted, true, false),
        (EndStatus::LimitExceeded, true, false),
        (EndStatus::ModelError, true, false),
        (EndStatus::CompactionFailed, true, false),
        (EndStatus::AuthError, false, false),
        (EndStatus::TimedOut, false, false),
        (EndStatus::Canceled, false, true),
        (EndStatus::HookError, false, true),
        (EndStatus::InternalError, false, true),
    ] {
        let mut world = World::new();
        world.file("a", &[], &[]);
        world.until("ISSUE-1", is_run);
        world.tell("ISSUE-1", stopped(status));
        let again = world.status("ISSUE-1") == IssueStatus::Open;
        assert_eq!(again, tried_again, "{status}");
        if !again {
            let discarded = matches!(world.asked("ISSUE-1"), Some((_, Ask::Discard { .. })));
            assert_eq!(discarded, !kept, "{status}");
            assert_eq!(
                world.failure("ISSUE-1").contains("/trees/1"),
                kept,
                "{status}"
            );
        }
    }
}

#[test]
fn changes_that_are_requested_go_to_the_same_profile_and_a_new_round_begins() {
    let mut world = World::new();
    world.file("a", &[], &["critic", "judge"]);
    let judge =
        |ask: &Ask| matches!(ask, Ask::Run { seat, .. } if seat.profile.as_str() == "judge");
    world.until("ISSUE-1", judge);
    let items = vec!["faster".to_owned(), "shorter".to_owned()];
    world.tell(
        "ISSUE-1",
        Answer::Ended(AgentEnd::RequestedChanges(items.clone())),
    );
    assert!(matches!(world.go_on("ISSUE-1"), Ask::Reset { .. }));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::InProgress);
    let (seat, brief) = run(world.until("ISSUE-1", is_run));
    assert_eq!(
        (seat.agent.as_str(), seat.duty),
        ("ISSUE-1.1i", Duty::Implement { ordinal: 1 })
    );
    let Brief::Fix {
        items: asked,
        round,
        ..
    } = &brief
    else {
        panic!("{brief:?}");
    };
    assert_eq!((asked, *round), (&items, 1));
    // A rework that fails is retried with the same brief, and spends the one retry.
    world.tell("ISSUE-1", stopped(EndStatus::ModelError));
    assert_eq!(run(world.until("ISSUE-1", is_run)).1, brief);
    world.go_on("ISSUE-1");
    let (seat, brief) = run(world.until("ISSUE-1", is_run));
    assert_eq!(seat.agent.as_str(), "ISSUE-1.2i.0r");
    assert_eq!(
        seat.duty,
        Duty::Review {
            round: 2,
            position: 0
        }
    );
    let Brief::Review { verdicts, .. } = brief else {
        panic!("{brief:?}");
    };
    assert_eq!(verdicts.len(), 2);
    world.finish();
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Done);
    let rounds: Vec<_> = (world.log.iter())
        .filter_map(|effect| match effect {
            Effect::Reviewed(it) => Some((it.round, it.outcome, it.approved_by.len())),
            _ => None,
        })
        .collect();
    assert_eq!(
        rounds,
        [
            (1, ReviewOutcome::ChangesRequested, 1),
            (2, ReviewOutcome::Approved, 2)
        ]
    );
}

#[test]
fn rounds_of_review_have_no_limit_and_spend_no_retry() {
    let mut world = World::new();
    world.file("a", &[], &["critic"]);
    let review = |ask: &Ask| matches!(ask, Ask::Run { seat, .. } if !matches!(seat.duty, Duty::Implement { .. }));
    for _ in 0..20 {
        world.until("ISSUE-1", review);
        let items = vec!["more".to_owned()];
        world.tell("ISSUE-1", Answer::Ended(AgentEnd::RequestedChanges(items)));
    }
    world.finish();
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Done);
    assert_eq!(world.board.issue(&"ISSUE-1".into()).unwrap().rounds, 21);
}

#[test]
fn a_reviewer_without_a_verdict_fails_the_issue() {
    let mut world = World::new();
    world.file("a", &[], &["critic"]);
    world.until(
        "ISSUE-1",
        |ask| matches!(ask, Ask::Run { seat, .. } if !matches!(seat.duty, Duty::Implement { .. })),
    );
    world.tell("ISSUE-1", stopped(EndStatus::Exhausted));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
    assert!(world.failure("ISSUE-1").contains("no verdict"));
    assert!(matches!(
        world.asked("ISSUE-1").unwrap().1,
        Ask::Discard { .. }
    ));
}

/// F75
#[test]
fn work_that_git_cannot_commit_fails_the_issue_and_stays() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.until("ISSUE-1", |ask| matches!(ask, Ask::Commit { .. }));
    let why = "the worktree is damaged".to_owned();
    world.tell("ISSUE-1", Answer::Committed(Err(why)));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
    let told = world.failure("ISSUE-1");
    assert!(
        told.contains("damaged") && told.contains("`/trees/1`"),
        "{told}"
    );
    assert_eq!(world.asked("ISSUE-1"), None);
}

/// R33
#[test]
fn an_issue_stays_open_when_the_run_starts_no_more_agents() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &["ISSUE-1"], &[]);
    world.tell("ISSUE-1", Answer::Refused(Refusal::Agents { max: 3 }));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Open);
    assert!(world.failure("ISSUE-1").contains("starts 3 agents at most"));
    assert!(world.board.is_quiet());
    let warnings = |world: &World| {
        let warned = world
            .log
            .iter()
            .filter(|it| matches!(it, Effect::Warn { .. }));
        warned.count()
    };
    assert_eq!(warnings(&world), 1);
    // Another one is told once as well, and nobody is asked again.
    world.file("c", &[], &[]);
    assert_eq!((world.asked("ISSUE-3"), warnings(&world)), (None, 2));
    let wait = world.board.wait(&filer(), &"ISSUE-2".into()).unwrap_err();
    assert!(
        wait.to_string()
            .contains("behind `ISSUE-1`, which is not begun"),
        "{wait}"
    );
}

#[test]
fn a_refusal_as_the_agent_starts_is_the_same_and_the_worktree_goes() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.until("ISSUE-1", is_run);
    world.tell("ISSUE-1", Answer::Refused(Refusal::Agents { max: 3 }));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Open);
    assert!(matches!(world.go_on("ISSUE-1"), Ask::Remove { .. }));
    assert_eq!(landed(&world), []);
    assert_eq!(world.board.issue(&"ISSUE-1".into()).unwrap().attempts, 0);
}

#[test]
fn a_retry_that_was_queued_when_the_agents_ran_out_fails() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    world.tell("ISSUE-2", Answer::Refused(Refusal::Agents { max: 3 }));
    world.until("ISSUE-1", is_run);
    world.tell("ISSUE-1", stopped(EndStatus::Exhausted));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
    assert!(world.failure("ISSUE-1").contains("cannot be tried again"));
}

#[test]
fn a_profile_that_cannot_be_stood_up_is_a_defect_and_keeps_the_worktree() {
    let mut world = World::new();
    world.file("a", &[], &["critic"]);
    world.until(
        "ISSUE-1",
        |ask| matches!(ask, Ask::Slot(seat) if !matches!(seat.duty, Duty::Implement { .. })),
    );
    let why = "no such profile".to_owned();
    world.tell("ISSUE-1", Answer::Refused(Refusal::Impossible(why)));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
    assert!(world.log.iter().any(|it| matches!(it, Effect::Defect(_))));
    assert!(world.board.is_quiet());
}

#[test]
fn a_stop_leaves_what_was_not_begun_open_and_fails_the_rest() {
    for (cause, kept) in [
        (StopCause::Deadline, false),
        (StopCause::Cost, false),
        (StopCause::Cancel, true),
        (StopCause::Defect, true),
    ] {
        let mut world = World::new();
        world.file("running", &[], &[]);
        world.file("queued", &[], &[]);
        world.file("blocked", &["ISSUE-1"], &[]);
        world.file("in review", &[], &["critic"]);
        world.until("ISSUE-1", is_run);
        world.until(
            "ISSUE-4",
            |ask| matches!(ask, Ask::Slot(seat) if !matches!(seat.duty, Duty::Implement { .. })),
        );
        world.stop(cause);
        assert_eq!(world.asked("ISSUE-2"), None);
        assert_eq!(world.status("ISSUE-4"), IssueStatus::Failed);
        // The agent under way ends at its own boundary.
        assert_eq!(world.status("ISSUE-1"), IssueStatus::InProgress);
        world.tell("ISSUE-1", stopped(EndStatus::Canceled));
        assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
        let discarded = matches!(world.asked("ISSUE-1"), Some((_, Ask::Discard { .. })));
        assert_eq!(discarded, !kept, "{cause:?}");
        world.finish();
        for id in ["ISSUE-2", "ISSUE-3"] {
            assert_eq!(world.status(id), IssueStatus::Open, "{cause:?}");
        }
        let told = world.failure("ISSUE-1");
        assert!(told.contains(cause.words()), "{told}");
    }
}

#[test]
fn a_merge_under_way_when_the_run_stops_counts_as_git_says() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    let merging = |ask: &Ask| matches!(ask, Ask::Merge { .. });
    world.until("ISSUE-1", merging);
    world.stop(StopCause::Cancel);
    world.go_on("ISSUE-1");
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Done);
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.until("ISSUE-1", merging);
    world.stop(StopCause::Cancel);
    world.tell("ISSUE-1", World::conflict());
    assert!(matches!(world.go_on("ISSUE-1"), Ask::Restore));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
    assert_eq!(landed(&world), [MergeOutcome::Aborted]);
}

#[test]
fn a_slot_granted_while_it_is_withdrawn_is_given_back() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    let (ticket, _) = world.asked("ISSUE-1").unwrap();
    world.stop(StopCause::Cost);
    assert!(world.log.contains(&Effect::Withdraw(ticket)));
    world.answer(ticket, Answer::Granted);
    assert_eq!(world.log.last(), Some(&Effect::GiveBack(ticket)));
}

#[test]
fn a_refusal_by_a_stop_that_is_still_on_its_way_asks_for_nobody_again() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    world.tell("ISSUE-1", Answer::Refused(Refusal::Stopping));
    assert_eq!(world.asked("ISSUE-1"), None);
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Open);
    world.stop(StopCause::Deadline);
    assert!(world.board.is_quiet());
    assert_eq!(world.status("ISSUE-2"), IssueStatus::Open);
}
