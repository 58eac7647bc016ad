//! Calls on the board: what they change, what they refuse (03 §7.3).

use vocab::board::IssueStatus;
use vocab::failure::{Failure, FailureClass};
use vocab::ids::{EpicId, Slug};
use vocab::outcome::EndStatus;
use vocab::tools::ToolName;

use super::world::{World, filer, id, new_issue, policy, stopped};
use crate::*;

fn epic(world: &mut World, prefix: &str) -> Result<Reply, BoardError> {
    let new = NewEpic {
        prefix: prefix.to_owned(),
        title: "an epic".to_owned(),
        description: None,
    };
    world.call(&filer(), BoardCall::CreateEpic(new))
}

fn update(world: &mut World, issue: &str, changes: IssueChanges) -> Result<Reply, BoardError> {
    let id = issue.into();
    world.call(&filer(), BoardCall::UpdateIssue { id, changes })
}

fn class(error: BoardError) -> FailureClass {
    Failure::from(error).class
}

#[test]
fn epics_are_prefixes_of_three_to_six_letters_in_any_case() {
    let mut world = World::new();
    for good in ["auth", " API ", "Search"] {
        assert!(epic(&mut world, good).is_ok(), "{good}");
    }
    for bad in ["", "AB", "ABCDEFG", "A1B", "ÄÖÜ", "issue"] {
        let error = epic(&mut world, bad).unwrap_err();
        assert_eq!(class(error), FailureClass::InvalidArgument, "{bad}");
    }
    let error = epic(&mut world, "AUTH").unwrap_err();
    assert_eq!(class(error), FailureClass::Conflict);
    let mut world = World::with(BoardPolicy {
        max_epics: 1,
        ..policy()
    });
    epic(&mut world, "one").unwrap();
    let error = epic(&mut world, "two").unwrap_err();
    assert!(error.to_string().contains("1 of 1 epics"), "{error}");
    assert_eq!(class(error), FailureClass::LimitExceeded);
}

#[test]
fn numbers_count_by_prefix_and_are_never_given_twice() {
    let mut world = World::new();
    epic(&mut world, "auth").unwrap();
    let mut file = |epic: Option<&str>| {
        let new = NewIssue {
            epic: epic.map(Into::into),
            ..new_issue("a", &[], &[])
        };
        match world.call(&filer(), BoardCall::CreateIssue(new)).unwrap() {
            Reply::IssueCreated { id, .. } => id.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(file(Some("auth")), "AUTH-1");
    assert_eq!(file(None), "ISSUE-1");
    assert_eq!(file(Some("AUTH")), "AUTH-2");
    let remove = |world: &mut World, issue: &str| {
        world.call(&filer(), BoardCall::RemoveIssue { id: id(issue) })
    };
    remove(&mut world, "AUTH-1").unwrap();
    remove(&mut world, "auth-2").unwrap();
    world
        .call(&filer(), BoardCall::RemoveEpic { id: "AUTH".into() })
        .unwrap();
    epic(&mut world, "auth").unwrap();
    let new = NewIssue {
        epic: Some("auth".into()),
        ..new_issue("a", &[], &[])
    };
    let reply = world.call(&filer(), BoardCall::CreateIssue(new)).unwrap();
    assert!(matches!(reply, Reply::IssueCreated { id, .. } if id.as_str() == "AUTH-3"));
}

#[test]
fn a_filing_that_is_refused_names_all_that_could_be_named() {
    let mut world = World::new();
    let mut refused = |change: &dyn Fn(&mut NewIssue)| {
        let mut new = new_issue("a", &[], &[]);
        change(&mut new);
        let failure = world
            .call(&filer(), BoardCall::CreateIssue(new))
            .unwrap_err();
        let failure = Failure::from(failure);
        (failure.class, failure.message)
    };
    let (class, told) = refused(&|new| {
        new.agent = "critic".to_owned();
        new.reviewers = vec!["coder".into(), "judge".into()];
    });
    assert_eq!(class, FailureClass::InvalidArgument);
    assert_eq!(
        told,
        "`agent`: you may not name `critic`; `reviewers`: you may not name `coder`; `agent` takes \
         `coder` and `writer`; `reviewers` takes `critic` and `judge`"
    );
    let (class, told) = refused(&|new| new.blocked_by = vec!["X-1".into(), "X-2".into()]);
    assert_eq!(class, FailureClass::NotFound);
    assert_eq!(
        told,
        "there is no issue `X-1` and `X-2`; the board holds no issue"
    );
    let (class, _) = refused(&|new| new.epic = Some("AUTH".into()));
    assert_eq!(class, FailureClass::NotFound);
    let (class, told) = refused(&|new| new.title = "a\nb".to_owned());
    assert_eq!(
        (class, told.contains("one line")),
        (FailureClass::InvalidArgument, true)
    );
    let (class, _) = refused(&|new| new.completion_criteria = " ".to_owned());
    assert_eq!(class, FailureClass::InvalidArgument);
    let caller = Caller {
        reviewers_required: true,
        ..filer()
    };
    let new = new_issue("a", &[], &[]);
    let error = world
        .call(&caller, BoardCall::CreateIssue(new))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("at least one of `critic` and `judge`"),
        "{error}"
    );
    // Nothing was counted either.
    assert_eq!(world.file("b", &[], &[]).as_str(), "ISSUE-1");
}

#[test]
fn edges_close_no_circle() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &["ISSUE-1", "ISSUE-1"], &[]);
    world.file("c", &["ISSUE-2"], &[]);
    let mut set = |issue: &str, blockers: &[&str]| {
        let blocked_by = blockers.iter().map(|it| id(it)).collect();
        world.call(
            &filer(),
            BoardCall::SetBlockedBy {
                id: id(issue),
                blocked_by,
            },
        )
    };
    let error = set("ISSUE-1", &["ISSUE-3"]).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("`ISSUE-1` → `ISSUE-3` → `ISSUE-2` → `ISSUE-1`"),
        "{error}"
    );
    assert_eq!(class(error), FailureClass::Conflict);
    assert_eq!(
        class(set("ISSUE-1", &["ISSUE-1"]).unwrap_err()),
        FailureClass::Conflict
    );
    let error = set("ISSUE-8", &["ISSUE-9"]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("there is no issue `ISSUE-8` and `ISSUE-9`"),
        "{error}"
    );
    let reply = set("ISSUE-3", &[]).unwrap();
    let unfinished = Vec::new();
    assert_eq!(
        reply,
        Reply::BlockedBySet {
            id: id("ISSUE-3"),
            unfinished
        }
    );
    // The issue that queued for a slot leaves the queue, the one that is free takes its place.
    assert!(world.asked("ISSUE-3").is_some());
    let blocked_by = vec![id("ISSUE-2")];
    world
        .call(
            &filer(),
            BoardCall::SetBlockedBy {
                id: id("ISSUE-3"),
                blocked_by,
            },
        )
        .unwrap();
    assert!(world.asked("ISSUE-3").is_none());
}

#[test]
fn only_what_is_not_begun_or_has_failed_can_be_changed() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    let title = |title: &str| IssueChanges {
        title: Some(title.to_owned()),
        ..IssueChanges::default()
    };
    update(&mut world, "ISSUE-1", title("better")).unwrap();
    let run = world.until("ISSUE-1", |ask| matches!(ask, Ask::Run { .. }));
    let Ask::Run { brief, .. } = run else {
        panic!("{run:?}");
    };
    let Brief::Issue(facts) = *brief else {
        panic!("{brief:?}");
    };
    assert_eq!(facts.text.title, "better");
    let error = update(&mut world, "ISSUE-1", title("late")).unwrap_err();
    assert!(
        error.to_string().starts_with("`ISSUE-1` is in_progress;"),
        "{error}"
    );
    assert_eq!(class(error), FailureClass::Refused);
    world.tell("ISSUE-1", stopped(EndStatus::Exhausted));
    let error = update(&mut world, "ISSUE-1", title("late")).unwrap_err();
    assert!(
        error.to_string().contains("is open and was begun"),
        "{error}"
    );
    let remove = BoardCall::RemoveIssue { id: id("ISSUE-1") };
    assert_eq!(
        class(world.call(&filer(), remove).unwrap_err()),
        FailureClass::Refused
    );
    world.finish();
    let error = update(&mut world, "ISSUE-1", title("late")).unwrap_err();
    assert!(
        error.to_string().starts_with("`ISSUE-1` is done;"),
        "{error}"
    );
}

#[test]
fn another_agent_queues_under_its_own_profile() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    let (first, _) = world.asked("ISSUE-1").unwrap();
    let changes = IssueChanges {
        agent: Some("writer".into()),
        ..IssueChanges::default()
    };
    update(&mut world, "ISSUE-1", changes).unwrap();
    assert!(world.log.contains(&Effect::Withdraw(first)));
    let Some((_, Ask::Slot(seat))) = world.asked("ISSUE-1") else {
        panic!("no slot");
    };
    assert_eq!(seat.profile.as_str(), "writer");
    assert_eq!(seat.agent.as_str(), "ISSUE-1.0i");
}

#[test]
fn a_failed_issue_is_revived_with_fresh_retries_once_its_worktree_is_away() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.file("b", &["ISSUE-1"], &[]);
    for _ in 0..2 {
        world.until("ISSUE-1", |ask| matches!(ask, Ask::Run { .. }));
        world.tell("ISSUE-1", stopped(EndStatus::Exhausted));
    }
    assert_eq!(world.status("ISSUE-1"), IssueStatus::Failed);
    let open = IssueChanges {
        status: Some(IssueStatus::Open),
        description: TextChange::Set("try it another way".to_owned()),
        ..IssueChanges::default()
    };
    let reply = update(&mut world, "issue-1", open).unwrap();
    assert_eq!(
        reply,
        Reply::IssueUpdated {
            id: id("ISSUE-1"),
            revived: true
        }
    );
    assert!(matches!(world.go_on("ISSUE-1"), Ask::Discard { .. }));
    assert!(matches!(world.go_on("ISSUE-1"), Ask::Slot(_)));
    assert!(matches!(world.go_on("ISSUE-1"), Ask::Cut { .. }));
    world.tell("ISSUE-1", stopped(EndStatus::Exhausted));
    assert_eq!(
        world.status("ISSUE-1"),
        IssueStatus::Open,
        "a retry is left"
    );
    world.finish();
    assert_eq!(world.status("ISSUE-2"), IssueStatus::Done);
    let started = [
        "ISSUE-1.0i",
        "ISSUE-1.1i",
        "ISSUE-1.2i",
        "ISSUE-1.3i",
        "ISSUE-2.0i",
    ];
    assert_eq!(world.started(), started);
    let landed = world
        .log
        .iter()
        .filter(|it| matches!(it, Effect::Landed(_)));
    assert_eq!(landed.count(), 3, "discarded, merged, merged");
    world.verify();
    for status in [IssueStatus::Done, IssueStatus::InReview] {
        let changes = IssueChanges {
            status: Some(status),
            ..IssueChanges::default()
        };
        world.file("c", &[], &[]);
        let error = update(&mut world, "ISSUE-3", changes).unwrap_err();
        assert_eq!(class(error), FailureClass::InvalidArgument);
    }
}

#[test]
fn an_issue_removed_while_its_worktree_goes_is_told_of_to_the_end() {
    let mut world = World::new();
    world.file("a", &[], &[]);
    world.until("ISSUE-1", |ask| matches!(ask, Ask::Run { .. }));
    world.tell("ISSUE-1", stopped(EndStatus::AuthError));
    world
        .call(&filer(), BoardCall::RemoveIssue { id: id("ISSUE-1") })
        .unwrap();
    assert!(!world.board.is_quiet());
    world.finish();
    assert!(world.board.is_quiet());
    assert!(matches!(world.log.last(), Some(Effect::Landed(_))));
}

#[test]
fn what_others_name_is_not_removed() {
    let mut world = World::new();
    epic(&mut world, "auth").unwrap();
    let new = NewIssue {
        epic: Some("auth".into()),
        ..new_issue("a", &[], &[])
    };
    world.call(&filer(), BoardCall::CreateIssue(new)).unwrap();
    world.file("b", &["AUTH-1"], &[]);
    let error = world
        .call(&filer(), BoardCall::RemoveIssue { id: id("AUTH-1") })
        .unwrap_err();
    assert!(error.to_string().contains("blocks `ISSUE-1`"), "{error}");
    let error = world
        .call(&filer(), BoardCall::RemoveEpic { id: "AUTH".into() })
        .unwrap_err();
    assert!(
        error.to_string().contains("has issues: `AUTH-1`"),
        "{error}"
    );
}

#[test]
fn listings_are_filtered_and_an_issue_is_read_whole() {
    let mut world = World::new();
    epic(&mut world, "auth").unwrap();
    let new = NewIssue {
        epic: Some("auth".into()),
        description: Some("why".to_owned()),
        ..new_issue("first", &[], &["critic"])
    };
    world.call(&filer(), BoardCall::CreateIssue(new)).unwrap();
    world.file("second", &["AUTH-1"], &[]);
    let list = |world: &mut World, status, epic: Option<&str>| {
        let call = BoardCall::List {
            status,
            epic: epic.map(Into::into),
        };
        let reply = world.call(&filer(), call)?;
        assert!(!reply.is_write());
        Ok::<_, BoardError>(answer(&reply).unwrap())
    };
    assert_eq!(
        list(&mut world, None, None).unwrap(),
        "AUTH-1 [open] first (agent coder; reviewers critic)\n\
         ISSUE-1 [open] second (agent coder; blocked by AUTH-1)"
    );
    assert_eq!(
        list(&mut world, Some(IssueStatus::Done), None).unwrap(),
        "no issue"
    );
    let of_auth = list(&mut world, Some(IssueStatus::Open), Some("auth")).unwrap();
    assert_eq!(of_auth.lines().count(), 1);
    let error = list(&mut world, None, Some("nope")).unwrap_err();
    assert!(
        error.to_string().contains("the board holds `AUTH`"),
        "{error}"
    );
    world.until(
        "AUTH-1",
        |ask| matches!(ask, Ask::Run { seat, .. } if !matches!(seat.duty, Duty::Implement { .. })),
    );
    let items = vec!["shorter".to_owned()];
    world.tell("AUTH-1", Answer::Ended(AgentEnd::RequestedChanges(items)));
    world.go_on("AUTH-1");
    let reply = world
        .call(&filer(), BoardCall::Read { id: id("auth-1") })
        .unwrap();
    assert_eq!(
        answer(&reply).unwrap(),
        "AUTH-1 [in_progress] first (agent coder; reviewers critic; attempts 1)\n\n\
         Description:\nwhy\n\nIn scope:\nthis\n\nOut of scope:\nthat\n\nCompletion criteria:\n\
         it works\n\nReview 1 by critic: changes_requested\n1. shorter"
    );
}

#[test]
fn the_json_of_a_call_is_read_whole_or_refused_with_every_fault() {
    let call = parse(
        ToolName::UpdateIssue,
        r#"{"id":"UI-1","description":null,"reviewers":[],"status":"open"}"#,
    );
    let changes = IssueChanges {
        description: TextChange::Clear,
        reviewers: Some(Vec::new()),
        status: Some(IssueStatus::Open),
        ..IssueChanges::default()
    };
    let id = id("UI-1");
    assert_eq!(call, Ok(BoardCall::UpdateIssue { id, changes }));
    let call = parse(ToolName::ListIssues, "").unwrap();
    assert_eq!(
        call,
        BoardCall::List {
            status: None,
            epic: None
        }
    );
    let fault = parse(ToolName::CreateIssue, r#"{"title":" ","agent":3,"prio":1}"#).unwrap_err();
    for told in [
        "`title` is blank",
        "`agent` is 3",
        "`inScope` is missing",
        "`prio` is no argument",
    ] {
        assert!(fault.message.contains(told), "{fault}");
    }
    let fault = parse(ToolName::ListIssues, r#"{"status":"closed"}"#).unwrap_err();
    assert!(
        fault.message.contains("`open`, `in_progress`, `in_review`"),
        "{fault}"
    );
    assert!(parse(ToolName::AddTask, "{}").is_err());
}

#[test]
fn a_call_made_of_values_is_judged_in_the_words_of_one_in_json() {
    let blank = || " ".to_owned();
    let new = NewIssue {
        title: blank(),
        in_scope: "this".to_owned(),
        out_of_scope: String::new(),
        completion_criteria: blank(),
        agent: "coder".to_owned(),
        epic: Some(EpicId::from(blank())),
        blocked_by: vec![id("UI-1"), id(" ")],
        reviewers: vec![Slug::from("")],
        ..NewIssue::default()
    };
    let json = r#"{"title":" ","inScope":"this","outOfScope":"","completionCriteria":" ",
        "agent":"coder","epic":" ","blockedBy":["UI-1"," "],"reviewers":[""]}"#;
    let alike = |values: BoardCall, tool: ToolName, json: &str| {
        let told = values.judged().unwrap_err().message;
        let of_json = parse(tool, json).unwrap_err().message;
        // A tool's names the arguments there are, too.
        let rest = of_json.strip_prefix(&told);
        assert!(
            rest.is_some_and(|rest| rest.starts_with("; ")),
            "{told}\n{of_json}"
        );
    };
    alike(BoardCall::CreateIssue(new), ToolName::CreateIssue, json);
    let changes = IssueChanges {
        title: Some(blank()),
        in_scope: Some(blank()),
        agent: Some(Slug::from(blank())),
        reviewers: Some(vec![Slug::from(" ")]),
        ..IssueChanges::default()
    };
    let json = r#"{"id":"","title":" ","inScope":" ","agent":" ","reviewers":[" "]}"#;
    let update = BoardCall::UpdateIssue {
        id: id(""),
        changes,
    };
    alike(update, ToolName::UpdateIssue, json);
    for (call, tool, json) in [
        (
            BoardCall::Read { id: id(" ") },
            ToolName::ReadIssue,
            r#"{"id":" "}"#,
        ),
        (
            BoardCall::Wait { id: id(" ") },
            ToolName::WaitForIssue,
            r#"{"id":" "}"#,
        ),
        (
            BoardCall::RemoveEpic {
                id: EpicId::from(""),
            },
            ToolName::RemoveEpic,
            r#"{"id":""}"#,
        ),
    ] {
        alike(call, tool, json);
    }
    let list = BoardCall::List {
        status: Some(IssueStatus::Done),
        epic: None,
    };
    assert_eq!(list.clone().judged(), Ok(list));
}

#[test]
fn a_board_that_is_full_takes_no_more() {
    let mut world = World::with(BoardPolicy {
        max_issues: 1,
        ..policy()
    });
    world.file("a", &[], &[]);
    let new = new_issue("b", &[], &[]);
    let error = world
        .call(&filer(), BoardCall::CreateIssue(new))
        .unwrap_err();
    assert!(error.to_string().contains("1 of 1 issues"), "{error}");
    assert_eq!(class(error), FailureClass::LimitExceeded);
}
