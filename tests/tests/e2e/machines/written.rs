//! What a launch writes of machines: refused where it is wrong, and nothing where it is off.

use serde_json::{Value, json};
use tests::launch::MODEL;
use tests::run::Run;

use super::*;

#[test]
fn a_table_that_is_written_and_off_changes_not_a_byte() {
    let first = |capabilities: &[Value]| {
        let run = play(launch(&[worker("planner", capabilities, &[])]), &[]);
        run.ended(0, "completed");
        let key = run.lines[0]["routingKey"].as_str().unwrap().to_owned();
        let request = requests_of(&run, "planner")[0].text();
        request.replace(&key, "KEY")
    };
    let off = json!({ "id": "fsm", "enabled": false, "params": { "states": [
        { "name": "only", "agent": "planner", "transitions": [] },
    ] } });
    assert_eq!(first(&[off]), first(&[]));
    // A state without a way out says nothing of machines either.
    let states = json!([{ "name": "only", "agent": "planner", "transitions": [] }]);
    let run = play(
        launch(&[machine("process", &states), worker("planner", &[], &[])]),
        &[],
    );
    run.ended(0, "completed");
    let key = run.lines[0]["routingKey"].as_str().unwrap().to_owned();
    let inside = requests_of(&run, "planner")[0].text().replace(&key, "KEY");
    assert_eq!(inside, first(&[]));
    assert_eq!(path(&run), [("root", "only", None)]);
}

#[test]
fn a_launch_is_refused_for_every_fault_of_its_machines_at_once() {
    let mut laden = machine("laden", &json!([]));
    laden["capabilities"][0]["params"] = json!({});
    laden["modelId"] = json!(MODEL);
    laden["customInstructions"] = json!("Be brief.");
    laden["capabilities"]
        .as_array_mut()
        .unwrap()
        .push(list_dir());
    let states = json!([
        { "name": "plan", "agent": "planner", "transitions": [
            { "to": "nowhere", "transfer": ["tasks", "window"] },
            { "to": "plan" },
            { "to": "plan" },
        ] },
        { "name": "", "agent": "laden", "transitions": [] },
        { "name": "plan", "agent": "nobody", "transitions": [] },
        { "name": "island", "agent": "planner", "transitions": [] },
    ]);
    let agents = [
        laden,
        machine("empty", &json!([])),
        machine("process", &states),
        worker("planner", &[], &[]),
    ];
    let run = Run::builder().launch(launch(&agents)).run();
    run.ended(1, "launch_refused");
    let refusals = run.events("log").into_iter();
    let refusals: Vec<_> = refusals
        .filter(|log| log["code"] == "refusal")
        .map(|log| log["message"].as_str().unwrap().to_owned())
        .collect();
    for (agent, fault) in [
        ("laden", "params.states is missing"),
        ("laden", "modelId is written, but the agent is a machine"),
        (
            "laden",
            "customInstructions is written, but the agent is a machine",
        ),
        (
            "laden",
            "capability `list-dir` is on, but the agent is a machine",
        ),
        ("empty", "params.states is empty"),
        ("process", "[0].transitions[0].to is \"nowhere\""),
        (
            "process",
            "lists `tasks`, which agent `planner` does not hold",
        ),
        ("process", "transfer[1] is \"window\""),
        (
            "process",
            "[0].transitions[2].to is \"plan\", where an earlier transition leads",
        ),
        ("process", "states[1].name is \"\""),
        ("process", "[1].agent is \"laden\", a machine itself"),
        (
            "process",
            "[2].name is \"plan\", which an earlier state has",
        ),
        ("process", "[2].agent is \"nobody\""),
        ("process", "[3] is the state \"island\", which no path"),
    ] {
        let found = refusals
            .iter()
            .filter(|it| it.starts_with(&format!("agent `{agent}`")) && it.contains(fault));
        assert_eq!(found.count(), 1, "{fault}: {refusals:#?}");
    }
    assert_eq!(refusals.len(), 14, "{refusals:#?}");
}
