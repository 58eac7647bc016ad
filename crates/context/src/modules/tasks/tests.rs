//! Calls on a list, and what holds after any of them.

use proptest::prelude::*;
use vocab::failure::{Failure, FailureClass};
use vocab::knowledge::TaskMode;
use vocab::tools::ToolName;

use super::*;

const SIMPLE: TaskPolicy = TaskPolicy {
    mode: TaskMode::Simple,
    max_tasks: 4,
};

const ISSUES: TaskPolicy = TaskPolicy {
    mode: TaskMode::Issues,
    max_tasks: 0,
};

/// Reads and carries out a call as a model makes it.
fn call(list: &mut TaskList, tool: ToolName, arguments: &str) -> Result<String, Failure> {
    let call = parse(tool, arguments, list.policy().mode)?;
    Ok(list.apply(call)?.as_text())
}

fn add(list: &mut TaskList, id: &str) {
    let arguments = format!(r#"{{"id":"{id}","title":"Title of {id}"}}"#);
    call(list, ToolName::AddTask, &arguments).unwrap();
}

fn block_by(list: &mut TaskList, id: &str, blockers: &str) -> Result<String, Failure> {
    let arguments = format!(r#"{{"id":"{id}","blockedBy":{blockers}}}"#);
    call(list, ToolName::SetBlockedBy, &arguments)
}

fn list_of(ids: &[&str]) -> TaskList {
    let mut list = TaskList::new(SIMPLE);
    for id in ids {
        add(&mut list, id);
    }
    list
}

#[track_caller]
fn refused(list: &mut TaskList, tool: ToolName, arguments: &str, class: FailureClass, said: &str) {
    let before = list.clone();
    let failure = call(list, tool, arguments).unwrap_err();
    assert_eq!((failure.class, failure.message.as_str()), (class, said));
    assert_eq!(*list, before, "a refused call changes nothing");
}

#[test]
fn every_call_says_what_became_of_it() {
    let mut list = TaskList::new(SIMPLE);
    let said = [
        (ToolName::AddTask, r#"{"id":"a","title":"First"}"#),
        (
            ToolName::AddTask,
            r#"{"id":"b","title":" Second ","description":"why"}"#,
        ),
        (
            ToolName::SetBlockedBy,
            r#"{"id":"b","blockedBy":["a","a"]}"#,
        ),
        (ToolName::UpdateTask, r#"{"id":"b","title":"Zweite"}"#),
        (ToolName::CompleteTask, r#"{"id":"a"}"#),
        (ToolName::CompleteTask, r#"{"id":"a"}"#),
        (ToolName::SetBlockedBy, r#"{"id":"b","blockedBy":[]}"#),
        (ToolName::RemoveTask, r#"{"id":"a"}"#),
    ]
    .map(|(tool, arguments)| call(&mut list, tool, arguments).unwrap());
    assert_eq!(
        said,
        [
            "`a` added; the list holds 1 of 4 tasks",
            "`b` added; the list holds 2 of 4 tasks",
            "`b` is blocked by `a`",
            "`b` updated",
            "`a` is done; now ready: `b`",
            "`a` is done",
            "`b` is ready",
            "`a` removed; the list holds 1 of 4 tasks",
        ]
    );
    let task = &list.tasks()[0];
    assert_eq!(
        (&*task.title, task.description.as_deref()),
        ("Zweite", Some("why"))
    );
}

#[test]
fn an_id_is_legal_and_new() {
    use FailureClass as C;
    let mut list = list_of(&["a"]);
    refused(
        &mut list,
        ToolName::AddTask,
        r#"{"id":"a","title":"x"}"#,
        C::Conflict,
        "there is a task `a` already; choose another id, or update it",
    );
    let failure = call(&mut list, ToolName::AddTask, r#"{"id":"a b","title":"x"}"#).unwrap_err();
    assert_eq!(failure.class, C::InvalidArgument);
    assert!(
        failure
            .message
            .starts_with("`id` is \"a b\"; expected 1 to 64")
    );
}

#[test]
fn a_full_list_takes_no_more() {
    let mut list = list_of(&["a", "b", "c", "d"]);
    refused(
        &mut list,
        ToolName::AddTask,
        r#"{"id":"e","title":"x"}"#,
        FailureClass::LimitExceeded,
        "the list holds 4 of 4 tasks, done ones included; remove one first",
    );
    let mut unbounded = TaskList::new(TaskPolicy {
        max_tasks: 0,
        ..SIMPLE
    });
    for id in 0..200 {
        add(&mut unbounded, &id.to_string());
    }
    assert_eq!(unbounded.usage().tasks, 200);
}

#[test]
fn every_unknown_task_is_named_at_once() {
    let mut list = list_of(&["a", "b"]);
    refused(
        &mut list,
        ToolName::SetBlockedBy,
        r#"{"id":"x","blockedBy":["a","y"]}"#,
        FailureClass::NotFound,
        "there is no task `x` and `y`; the list holds `a` and `b`",
    );
    for tool in [
        ToolName::CompleteTask,
        ToolName::RemoveTask,
        ToolName::UpdateTask,
    ] {
        refused(
            &mut TaskList::new(SIMPLE),
            tool,
            r#"{"id":"x"}"#,
            FailureClass::NotFound,
            "there is no task `x`; the list is empty",
        );
    }
}

#[test]
fn edges_close_no_circle() {
    let mut list = list_of(&["a", "b", "c"]);
    block_by(&mut list, "a", r#"["b"]"#).unwrap();
    block_by(&mut list, "b", r#"["c"]"#).unwrap();
    refused(
        &mut list,
        ToolName::SetBlockedBy,
        r#"{"id":"c","blockedBy":["a"]}"#,
        FailureClass::Conflict,
        "that closes a circle, in which each task is blocked by the next: `c` → `a` → `b` → `c`",
    );
    refused(
        &mut list,
        ToolName::SetBlockedBy,
        r#"{"id":"c","blockedBy":["c"]}"#,
        FailureClass::Conflict,
        "`c` cannot be blocked by itself",
    );
    // Replaced edges no longer count.
    block_by(&mut list, "b", "[]").unwrap();
    block_by(&mut list, "c", r#"["a"]"#).unwrap();
}

#[test]
fn issues_asks_for_all_sections_and_simple_knows_none() {
    let mut list = TaskList::new(ISSUES);
    let missing = call(
        &mut list,
        ToolName::AddTask,
        r#"{"id":"a","title":"x","inScope":" "}"#,
    );
    assert_eq!(
        missing.unwrap_err().message,
        "`inScope` is blank; `outOfScope` is missing; `completionCriteria` is missing; `add_task` \
         takes `id`, `title`, `description`, `inScope`, `outOfScope` and `completionCriteria`"
    );
    let whole = r#"{"id":"a","title":"x","inScope":"1","outOfScope":"2","completionCriteria":"3"}"#;
    assert_eq!(
        call(&mut list, ToolName::AddTask, whole).unwrap(),
        "`a` added; the list holds 1 task"
    );
    call(
        &mut list,
        ToolName::UpdateTask,
        r#"{"id":"a","inScope":"4"}"#,
    )
    .unwrap();
    let sections = &list.tasks()[0].sections;
    assert_eq!(sections.in_scope.as_deref(), Some("4"));
    assert_eq!(sections.out_of_scope.as_deref(), Some("2"));
    let stray = call(&mut TaskList::new(SIMPLE), ToolName::AddTask, whole).unwrap_err();
    assert!(
        stray
            .message
            .starts_with("`inScope`, `outOfScope` and `completionCriteria` are no")
    );
}

#[test]
fn an_update_keeps_what_it_does_not_give_and_blanks_no_required_text() {
    let mut list = list_of(&["a"]);
    let update = |list: &mut TaskList, rest: &str| {
        call(
            list,
            ToolName::UpdateTask,
            &format!(r#"{{"id":"a",{rest}}}"#),
        )
    };
    update(&mut list, r#""description":"why""#).unwrap();
    update(&mut list, r#""title":null"#).unwrap();
    assert_eq!(list.tasks()[0].title, "Title of a");
    assert_eq!(list.tasks()[0].description.as_deref(), Some("why"));
    for blank in [r#""title":"""#, r#""title":" \n""#, r#""title":"a\nb""#] {
        let failure = update(&mut list, blank).unwrap_err();
        assert_eq!(failure.class, FailureClass::InvalidArgument, "{blank}");
    }
    for cleared in ["null", "\" \""] {
        update(&mut list, r#""description":"why""#).unwrap();
        update(&mut list, &format!(r#""description":{cleared}"#)).unwrap();
        assert_eq!(list.tasks()[0].description, None);
    }
}

#[test]
fn blockers_do_not_forbid_completion_and_removal_takes_their_edges_away() {
    let mut list = list_of(&["a", "b", "c"]);
    block_by(&mut list, "b", r#"["a"]"#).unwrap();
    block_by(&mut list, "c", r#"["a","b"]"#).unwrap();
    assert_eq!(
        call(&mut list, ToolName::CompleteTask, r#"{"id":"b"}"#).unwrap(),
        "`b` is done"
    );
    call(&mut list, ToolName::RemoveTask, r#"{"id":"a"}"#).unwrap();
    assert!(
        list.tasks()
            .iter()
            .all(|task| !task.blocked_by.contains(&"a".to_owned()))
    );
    assert!(list.rows()[1].ready);
}

#[test]
fn a_receiver_s_mode_and_cap_bind_what_comes_after() {
    let mut list = list_of(&["a", "b"]);
    assert!(list.rebind(&TaskPolicy {
        mode: TaskMode::Issues,
        max_tasks: 1,
    }));
    assert_eq!(list.tasks().len(), 2);
    refused(
        &mut list,
        ToolName::AddTask,
        r#"{"id":"c","title":"x","inScope":"1","outOfScope":"2","completionCriteria":"3"}"#,
        FailureClass::LimitExceeded,
        "the list holds 2 of 1 tasks, done ones included; remove one first",
    );
    call(&mut list, ToolName::UpdateTask, r#"{"id":"a","title":"y"}"#).unwrap();
}

#[test]
fn a_copy_goes_its_own_way() {
    let mut list = list_of(&["a"]);
    let mut copy = list.copy();
    add(&mut copy, "b");
    add(&mut list, "c");
    assert_eq!(copy.tasks().len(), 2);
    assert_eq!(list.tasks()[1].id, "c");
}

#[test]
fn an_empty_list_has_no_block() {
    assert_eq!(TaskList::new(SIMPLE).block(), Ok(None));
}

#[test]
fn a_tool_of_another_family_is_unavailable() {
    let failure = parse(ToolName::Shell, "{}", TaskMode::Simple).unwrap_err();
    assert_eq!(failure.class, FailureClass::Unavailable);
}

fn any_call() -> impl Strategy<Value = TaskCall> {
    let id = || "[a-e]";
    prop_oneof![
        (id(), "[ab]{0,1}").prop_map(|(id, title)| TaskCall::Add(NewTask {
            id,
            title,
            ..NewTask::default()
        })),
        (id(), proptest::collection::vec(id(), 0..4))
            .prop_map(|(id, blocked_by)| TaskCall::SetBlockedBy { id, blocked_by }),
        id().prop_map(|id| TaskCall::Complete { id }),
        id().prop_map(|id| TaskCall::Remove { id }),
        id().prop_map(|id| TaskCall::Update {
            id,
            changes: TaskChanges {
                description: TextChange::Clear,
                ..TaskChanges::default()
            },
        }),
    ]
}

/// Whether every task can be put behind all its blockers.
fn has_order(list: &TaskList) -> bool {
    let mut placed: HashSet<&str> = HashSet::new();
    while placed.len() < list.tasks().len() {
        let next = list.tasks().iter().find(|task| {
            !placed.contains(task.id.as_str())
                && task
                    .blocked_by
                    .iter()
                    .all(|id| placed.contains(id.as_str()))
        });
        match next {
            Some(task) => placed.insert(&task.id),
            None => return false,
        };
    }
    true
}

proptest! {
    #[test]
    fn the_list_stays_an_acyclic_graph_within_its_cap(
        calls in proptest::collection::vec(any_call(), 0..60),
        tightened in proptest::option::of((0_usize..60, 1_u64..4)),
    ) {
        let mut list = TaskList::new(SIMPLE);
        for (at, call) in calls.into_iter().enumerate() {
            if let Some((when, max_tasks)) = tightened && when == at {
                let readable = list.rebind(&TaskPolicy { max_tasks, ..SIMPLE });
                prop_assert!(readable);
            }
            let before = list.clone();
            let grows = matches!(call, TaskCall::Add(_));
            match list.apply(call) {
                Err(_) => prop_assert_eq!(&list, &before),
                Ok(_) if grows => {
                    prop_assert!(list.usage().tasks <= list.policy().max_tasks);
                }
                Ok(_) => prop_assert!(list.usage().tasks <= before.usage().tasks),
            }
            prop_assert!(has_order(&list));
            let done = list.done();
            for (row, task) in list.rows().iter().zip(list.tasks()) {
                let open = task.blocked_by.iter().any(|id| !done.contains(id.as_str()));
                prop_assert_eq!(row.ready, !task.done && !open);
                let distinct: HashSet<_> = task.blocked_by.iter().collect();
                prop_assert_eq!(distinct.len(), task.blocked_by.len());
                prop_assert!(task.blocked_by.iter().all(|id| list.find(id).is_some()));
            }
        }
    }

    #[test]
    fn what_completion_calls_newly_ready_was_blocked_by_it_alone(
        calls in proptest::collection::vec(any_call(), 0..40)
    ) {
        let mut list = TaskList::new(TaskPolicy { max_tasks: 0, ..SIMPLE });
        for call in calls {
            let ready = |list: &TaskList| -> Vec<String> {
                let rows = list.rows();
                let ready = rows.iter().filter(|row| row.ready);
                ready.map(|row| row.id.to_owned()).collect()
            };
            let before = ready(&list);
            if let Ok(TaskChange::Completed { newly_ready, .. }) = list.apply(call) {
                let after = ready(&list);
                let new: Vec<_> = after.into_iter().filter(|id| !before.contains(id)).collect();
                prop_assert_eq!(newly_ready, new);
            }
        }
    }
}
