//! The merge token, conflicts and merge agents (03 §7.5).

use vocab::board::{IssueStatus, MergeOutcome};
use vocab::outcome::EndStatus;

use super::world::{World, put_away, stopped};
use crate::*;

fn merging(ask: &Ask) -> bool {
    matches!(ask, Ask::Merge { .. })
}

/// Two approved issues: the first has the token and a conflict.
fn in_conflict() -> World {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    world.until("ISSUE-1", merging);
    while world.asked("ISSUE-2").is_some() {
        world.go_on("ISSUE-2");
    }
    world.tell("ISSUE-1", World::conflict());
    world
}

fn last_landed(world: &World) -> &Landed {
    let landed = world.log.iter().rev().find_map(|effect| match effect {
        Effect::Landed(landed) => Some(landed),
        _ => None,
    });
    landed.expect("something landed")
}

#[test]
fn the_token_waits_for_a_conflict_to_be_settled_and_passes_in_order() {
    let mut world = in_conflict();
    assert_eq!(world.board.merging(), Some(&"ISSUE-1".into()));
    let run = world.until("ISSUE-1", |ask| matches!(ask, Ask::Run { .. }));
    let Ask::Run {
        seat,
        brief,
        worktree,
        ..
    } = run
    else {
        panic!("{run:?}");
    };
    assert_eq!(seat.agent.as_str(), "ISSUE-1.0m");
    assert_eq!(seat.profile.as_str(), "merger");
    assert_eq!(worktree, None, "it works in the workspace");
    assert!(matches!(*brief, Brief::Merge { .. }));
    assert_eq!(world.asked("ISSUE-2"), None);
    // However it ended, git is asked.
    world.tell("ISSUE-1", stopped(EndStatus::Exhausted));
    assert!(matches!(world.go_on("ISSUE-1"), Ask::Check));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Done);
    let landed = last_landed(&world);
    assert_eq!(landed.outcome, MergeOutcome::Resolved);
    assert_eq!(landed.merge_agent, Some("ISSUE-1.0m".into()));
    assert!(merging(&world.asked("ISSUE-2").unwrap().1));
}

#[test]
fn a_conflict_that_git_calls_unresolved_is_undone_before_the_next_merge() {
    let mut world = in_conflict();
    world.until("ISSUE-1", |ask| matches!(ask, Ask::Check));
    let why = "`a.txt` is still in conflict".to_owned();
    world.tell("ISSUE-1", Answer::Checked(Resolution::Unresolved(why)));
    assert_eq!(world.asked("ISSUE-2"), None);
    let kept = vec!["gg/issue-1-unmerged".to_owned()];
    world.tell("ISSUE-1", Answer::Restored(Ok(kept)));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
    let told = world.failure("ISSUE-1");
    assert!(
        told.contains("still in conflict") && told.contains("-unmerged`"),
        "{told}"
    );
    assert_eq!(last_landed(&world).outcome, MergeOutcome::Aborted);
    assert!(merging(&world.asked("ISSUE-2").unwrap().1));
    // Its branch came to its end once.
    world.finish();
    let landed = world
        .log
        .iter()
        .filter(|it| matches!(it, Effect::Landed(_)));
    assert_eq!(landed.count(), 2);
}

#[test]
fn after_a_merge_that_could_not_be_undone_nothing_is_merged() {
    let mut world = in_conflict();
    world.until("ISSUE-1", |ask| matches!(ask, Ask::Check));
    let why = "markers".to_owned();
    world.tell("ISSUE-1", Answer::Checked(Resolution::Unresolved(why)));
    world.tell("ISSUE-1", Answer::Restored(Err("it is locked".to_owned())));
    for id in ["ISSUE-1", "ISSUE-2"] {
        assert_eq!(world.status(id), IssueStatus::Failed);
        assert!(matches!(world.asked(id).unwrap().1, Ask::Discard { .. }));
    }
    assert!(
        world
            .failure("ISSUE-2")
            .contains("the merge of `ISSUE-1` is still open")
    );
}

#[test]
fn a_merge_that_git_refuses_fails_its_issue_alone() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    world.until("ISSUE-1", merging);
    let why = "it would write over `.env`".to_owned();
    world.tell("ISSUE-1", Answer::Merged(MergeEnd::Failed(why)));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
    world.finish();
    assert_eq!(world.status("ISSUE-2"), IssueStatus::Done);
}

#[test]
fn a_merge_agent_that_cannot_start_undoes_the_merge() {
    for refusal in [
        Refusal::Agents { max: 3 },
        Refusal::Impossible("no such profile".to_owned()),
        Refusal::Stopping,
    ] {
        for starts in [false, true] {
            let mut world = in_conflict();
            if starts {
                world.go_on("ISSUE-1");
            }
            world.tell("ISSUE-1", Answer::Refused(refusal.clone()));
            assert!(matches!(world.go_on("ISSUE-1"), Ask::Restore));
            assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
            assert_eq!(last_landed(&world).merge_agent, None);
        }
    }
}

#[test]
fn commits_that_go_with_a_worktree_are_named_and_those_of_one_that_stays_are_not() {
    for (end, named) in [
        (PutAway::Removed, true),
        (PutAway::BranchKept("it is locked".to_owned()), true),
        (PutAway::Kept("it is locked".to_owned()), false),
    ] {
        let mut world = World::new();
        world.file("a", &[], &[]);
        world.until("ISSUE-1", |ask| matches!(ask, Ask::Remove { .. }));
        let given_up = vec!["c0ffee".to_owned(), "dec0de".to_owned()];
        world.tell("ISSUE-1", Answer::PutAway { end, given_up });
        let warned = world.log.iter().any(
            |effect| matches!(effect, Effect::Warn { message, .. } if message.contains("`c0ffee`, `dec0de`")),
        );
        assert_eq!(warned, named);
    }
}

#[test]
fn a_worktree_that_stays_is_named_and_its_issue_is_done() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.until("ISSUE-1", |ask| matches!(ask, Ask::Remove { .. }));
    world.tell(
        "ISSUE-1",
        put_away(PutAway::Kept("it is locked".to_owned())),
    );
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Done);
    let warned = world.log.iter().any(
        |effect| matches!(effect, Effect::Warn { message, .. } if message.contains("/trees/1")),
    );
    assert!(warned);
}

#[test]
fn an_answer_that_fits_no_ask_is_a_defect_and_not_a_hang() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.until("ISSUE-1", |ask| matches!(ask, Ask::Commit { .. }));
    world.tell("ISSUE-1", Answer::Granted);
    assert!(world.log.iter().any(|it| matches!(it, Effect::Defect(_))));
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
    assert!(world.board.is_quiet());
}
