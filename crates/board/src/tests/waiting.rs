//! Waits, their errors, and who can never be served (03 §7.7).

use vocab::board::IssueStatus;
use vocab::failure::{Failure, FailureClass};
use vocab::outcome::EndStatus;

use super::world::{World, filer, id, stopped};
use crate::*;

fn worker(issue: &str, merges: bool) -> Caller {
    Caller {
        works_for: Some(WorksFor {
            issue: issue.into(),
            merges,
        }),
        ..filer()
    }
}

fn suspended(world: &mut World, caller: &Caller, issue: &str) -> WaitId {
    match world.board.wait(caller, &id(issue)).unwrap() {
        Waiting::Suspended(wait) => wait,
        other @ Waiting::Settled(_) => panic!("{other:?}"),
    }
}

fn refused(world: &mut World, caller: &Caller, issue: &str) -> (FailureClass, String) {
    let failure = Failure::from(world.board.wait(caller, &id(issue)).unwrap_err());
    (failure.class, failure.message)
}

fn is_run(ask: &Ask) -> bool {
    matches!(ask, Ask::Run { .. })
}

fn revive(world: &mut World, issue: &str) {
    let changes = IssueChanges {
        status: Some(IssueStatus::Open),
        ..IssueChanges::default()
    };
    let id = issue.into();
    world
        .call(&filer(), BoardCall::UpdateIssue { id, changes })
        .unwrap();
}

fn fail(world: &mut World, issue: &str) {
    world.until(issue, is_run);
    world.tell(issue, stopped(EndStatus::AuthError));
}

#[test]
fn a_wait_ends_with_the_issue_and_tells_how_it_ended() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    let one = suspended(&mut world, &filer(), "issue-1 ");
    let two = suspended(&mut world, &filer(), "ISSUE-2");
    fail(&mut world, "ISSUE-2");
    assert_eq!(world.woken, [two]);
    world.finish();
    assert_eq!(world.woken, [two, one]);
    let told = |issue| world.board.resumed(&filer(), &id(issue));
    assert_eq!(told("ISSUE-1"), Ok(Settled::Done));
    assert_eq!(told("ISSUE-2"), Ok(Settled::Failed));
    // What is settled already is told at once.
    let wait = world.board.wait(&filer(), &id("ISSUE-1"));
    assert_eq!(wait, Ok(Waiting::Settled(Settled::Done)));
    assert_eq!(world.board.suspended(), 0);
}

#[test]
fn nobody_waits_for_the_issue_they_work_for_and_merge_agents_for_none() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    let own = refused(&mut world, &worker("ISSUE-1", false), "ISSUE-1");
    assert_eq!(own.0, FailureClass::InvalidArgument);
    let merges = refused(&mut world, &worker("ISSUE-1", true), "ISSUE-2");
    assert_eq!(merges.0, FailureClass::Refused);
    let unknown = refused(&mut world, &filer(), "ISSUE-9");
    assert_eq!(unknown.0, FailureClass::NotFound);
    assert!(
        unknown.1.ends_with("holds `ISSUE-1` and `ISSUE-2`"),
        "{}",
        unknown.1
    );
}

#[test]
fn what_is_behind_a_failed_issue_is_refused_at_the_call_and_released_later() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &["ISSUE-1"], &[]);
    world.file("c", &["ISSUE-2"], &[]);
    let wait = suspended(&mut world, &filer(), "ISSUE-3");
    fail(&mut world, "ISSUE-1");
    assert_eq!(world.woken, [wait]);
    let error = world.board.resumed(&filer(), &id("ISSUE-3")).unwrap_err();
    let why = Hopeless::Behind(id("ISSUE-1"));
    assert_eq!(
        error,
        BoardError::Hopeless {
            id: id("ISSUE-3"),
            why
        }
    );
    let (class, told) = refused(&mut world, &filer(), "ISSUE-2");
    assert_eq!(class, FailureClass::Refused);
    assert!(told.contains("behind `ISSUE-1`, which failed"), "{told}");
    // Revived before the agent has its slot again, it is live.
    revive(&mut world, "ISSUE-1");
    let error = world.board.resumed(&filer(), &id("ISSUE-3")).unwrap_err();
    assert!(matches!(error, BoardError::LiveAgain { .. }), "{error}");
}

#[test]
fn a_wait_for_what_is_removed_meanwhile_ends_as_not_found() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &["ISSUE-1"], &[]);
    let wait = suspended(&mut world, &filer(), "ISSUE-2");
    world
        .call(&filer(), BoardCall::RemoveIssue { id: id("ISSUE-2") })
        .unwrap();
    assert_eq!(world.woken, [wait]);
    let failure = Failure::from(world.board.resumed(&filer(), &id("ISSUE-2")).unwrap_err());
    assert_eq!(failure.class, FailureClass::NotFound);
    assert!(failure.message.contains("no longer exists"));
}

#[test]
fn a_stop_releases_every_wait() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    let waits: Vec<_> = (0..3)
        .map(|_| suspended(&mut world, &filer(), "ISSUE-1"))
        .collect();
    world.stop(StopCause::Cancel);
    assert_eq!(world.woken, waits);
    let error = world.board.resumed(&filer(), &id("ISSUE-1")).unwrap_err();
    assert_eq!(error, BoardError::Stopping);
    let error = world.board.wait(&filer(), &id("ISSUE-1")).unwrap_err();
    assert_eq!(error, BoardError::Stopping);
}

#[test]
fn two_issues_whose_agents_would_wait_for_each_other_are_refused() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    world.file("c", &["ISSUE-2"], &[]);
    world.until("ISSUE-1", is_run);
    world.until("ISSUE-2", is_run);
    suspended(&mut world, &worker("ISSUE-1", false), "ISSUE-3");
    let (class, told) = refused(&mut world, &worker("ISSUE-2", false), "ISSUE-1");
    assert_eq!(class, FailureClass::Refused);
    assert!(
        told.ends_with("`ISSUE-2` → `ISSUE-1` → `ISSUE-3` → `ISSUE-2`"),
        "{told}"
    );
    // The root may wait for all of them.
    suspended(&mut world, &filer(), "ISSUE-1");
    assert!(world.woken.is_empty());
}

#[test]
fn an_edge_that_makes_a_wait_impossible_releases_it() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    world.until("ISSUE-1", is_run);
    let wait = suspended(&mut world, &worker("ISSUE-1", false), "ISSUE-2");
    let call = BoardCall::SetBlockedBy {
        id: id("ISSUE-2"),
        blocked_by: vec![id("ISSUE-1")],
    };
    world.call(&filer(), call).unwrap();
    assert_eq!(world.woken, [wait]);
    let error = world
        .board
        .resumed(&worker("ISSUE-1", false), &id("ISSUE-2"))
        .unwrap_err();
    let told = error.to_string();
    assert!(told.contains("needs the issue you work for"), "{told}");
}

#[test]
fn a_wait_whose_agent_is_gone_is_forgotten_and_counts_no_more() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &[], &[]);
    world.until("ISSUE-1", is_run);
    world.until("ISSUE-2", is_run);
    let wait = suspended(&mut world, &worker("ISSUE-1", false), "ISSUE-2");
    world.board.forget(wait);
    suspended(&mut world, &worker("ISSUE-2", false), "ISSUE-1");
}
