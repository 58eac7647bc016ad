//! Machines against an obvious model: the table as pairs of names.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;
use vocab::failure::{Failure, FailureClass};

use super::*;

fn states(table: &serde_json::Value) -> Vec<State> {
    serde_json::from_value(table.clone()).unwrap()
}

fn entry(states: &[State]) -> Position {
    let slug = Slug::from("process");
    Position::entry(Machine {
        slug: &slug,
        states,
    })
    .unwrap()
}

fn process() -> Vec<State> {
    states(&json!([
        { "name": "plan", "agent": "planner", "transitions": [
            { "to": "plan", "transfer": ["history", "tasks", "history"] },
            { "to": "build", "transfer": ["tasks"], "description": "When the plan stands." },
        ] },
        { "name": "build", "agent": "builder", "transitions": [] },
    ]))
}

fn call(position: &Position, state: &str) -> Result<Leave, Failure> {
    leave(&json!({ "state": state }).to_string(), Some(position))
}

#[test]
fn a_state_leads_to_its_targets_and_its_own_state_is_one() {
    let states = process();
    let plan = entry(&states);
    assert_eq!((plan.state(), plan.agent().as_str()), ("plan", "planner"));
    assert_eq!(plan.from(), None);
    let exits: Vec<_> = plan
        .exits()
        .iter()
        .map(|it| (it.state, it.history))
        .collect();
    assert_eq!(exits, [("plan", true), ("build", false)]);

    let again = call(&plan, "plan").unwrap();
    assert_eq!(again.next.from(), Some("plan"));
    assert_eq!(
        again.edge.transfer,
        [ModuleKind::History, ModuleKind::Tasks],
        "each kind once"
    );
    let build = call(&again.next, "build").unwrap().next;
    assert_eq!(
        (build.state(), build.agent().as_str()),
        ("build", "builder")
    );
    assert_eq!((build.from(), build.exits().len()), (Some("plan"), 0));
    assert_eq!(
        leaving(&build),
        "`builder` takes your place, in the state `build`, when this turn ends"
    );
}

#[test]
fn any_other_target_is_refused_with_those_that_would_do() {
    let plan = entry(&process());
    let refused = call(&plan, "test").unwrap_err();
    assert_eq!(refused.class, FailureClass::InvalidArgument);
    assert!(
        refused
            .message
            .contains("`state` is `test`; from `plan` you can go to `plan`, `build`"),
        "{}",
        refused.message
    );
    for arguments in [
        "{}",
        r#"{"state":" "}"#,
        r#"{"state":7}"#,
        r#"{"state":"build","to":"x"}"#,
    ] {
        let refused = leave(arguments, Some(&plan)).unwrap_err();
        assert_eq!(refused.class, FailureClass::InvalidArgument, "{arguments}");
    }
}

#[test]
fn a_note_is_kept_as_it_is_and_a_blank_one_says_nothing() {
    let plan = entry(&process());
    let note = |note: &str| {
        let arguments = json!({ "state": "build", "note": note }).to_string();
        leave(&arguments, Some(&plan)).unwrap().note
    };
    assert_eq!(note(" as it\nis ").as_deref(), Some(" as it\nis "));
    assert_eq!(note(" \n"), None);
}

#[test]
fn who_stands_nowhere_or_at_the_end_leaves_nothing() {
    let build = call(&entry(&process()), "build").unwrap().next;
    for position in [None, Some(&build)] {
        let refused = leave(r#"{"state":"plan"}"#, position).unwrap_err();
        assert_eq!(refused.class, FailureClass::Unavailable);
    }
}

#[test]
fn an_edge_of_another_table_leads_nowhere() {
    let plan = entry(&process());
    let mut edge = plan.edge("build").unwrap();
    edge.transfer.push(ModuleKind::History);
    assert_eq!(plan.follow(&edge), None);
    let build = call(&plan, "build").unwrap().next;
    assert_eq!(build.follow(&plan.edge("plan").unwrap()), None);
}

/// A sound table of up to six states: for each, where its edges lead.
fn tables() -> impl Strategy<Value = Vec<BTreeSet<usize>>> {
    (1usize..6).prop_flat_map(|count| {
        proptest::collection::vec(proptest::collection::btree_set(0..count, 0..=count), count)
    })
}

proptest! {
    #[test]
    fn a_walk_goes_along_edges_and_stays_where_none_leads(
        table in tables(),
        choices in proptest::collection::vec(0usize..8, 0..40),
    ) {
        let name = |at: usize| format!("s{at}");
        let rows: Vec<_> = table
            .iter()
            .enumerate()
            .map(|(at, exits)| {
                let exits: Vec<_> = exits.iter().map(|to| json!({ "to": name(*to) })).collect();
                json!({ "name": name(at), "agent": format!("a{at}"), "transitions": exits })
            })
            .collect();
        let mut position = entry(&states(&json!(rows)));
        let (mut at, mut from) = (0, None);
        for choice in choices {
            let legal: Vec<_> = table[at].iter().map(|to| name(*to)).collect();
            let listed: Vec<_> = position.exits().iter().map(|it| it.state.to_owned()).collect();
            prop_assert_eq!(&listed, &legal);
            let answer = call(&position, &name(choice));
            if table[at].contains(&choice) {
                let left = answer.unwrap();
                prop_assert_eq!(left.edge.from, name(at));
                position = left.next;
                (from, at) = (Some(at), choice);
            } else {
                let refused = answer.unwrap_err();
                let expected = if legal.is_empty() {
                    FailureClass::Unavailable
                } else {
                    FailureClass::InvalidArgument
                };
                prop_assert_eq!(refused.class, expected);
                for state in &legal {
                    let named = format!("`{state}`");
                    prop_assert!(refused.message.contains(&named));
                }
            }
            prop_assert_eq!(position.state(), name(at));
            prop_assert_eq!(position.agent().as_str(), format!("a{at}"));
            prop_assert_eq!(position.from().map(str::to_owned), from.map(name));
        }
    }
}
