//! Memories that carry code: loaded with the write where they stand in the window, else with the
//! reading (02 §9.6).

use serde_json::json;
use tests::run::Run;

use super::{by_turn, place, request};
use crate::coders::{cast, coder, play, refused, shown};
use crate::memories::memories;

const SCRATCHPAD: [&str; 3] = [
    "memories.write_memory",
    "memories.update_memory",
    "memories.delete_memory",
];

const KEYWORDS: [&str; 3] = [
    "memories.create_memory",
    "memories.read_memory",
    "memories.delete_memory",
];

#[test]
fn code_of_a_scratchpad_loads_with_the_write_and_goes_with_it() {
    let run = play(
        &[memories("scratchpad")],
        &SCRATCHPAD,
        [
            r#"
            memories.writeMemory("word-count", "how", "counts words", {
              code: "export const count = (text) => text.split(' ').length;",
              onUse: "import { views } from 'gg';\nimport * as own from 'lib:wordCount';\nviews.openText('used', String(own.count('a b c')));",
            });
            attempt("long", () => memories.writeMemory("x", "d", "b", { code: "x".repeat(32769) }));
            show("first");
            "#,
            r#"
            import * as wordCount from "lib:wordCount";
            out.counted = wordCount.count("one two");
            memories.updateMemory("word-count", "how", "counts no more");
            show("second");
            "#,
            "import * as wordCount from \"lib:wordCount\";\nout.x = wordCount.count(\"a\");\nshow(\"third\");",
        ],
    );
    run.ended(0, "completed");
    refused(
        &shown(&run, "first"),
        "long",
        "limit-exceeded",
        "write_memory",
        &["`code` has 32769 characters"],
    );
    place(&request(&run, 1), "View: used\n----\n3");
    assert_eq!(shown(&run, "second")["counted"], 2);
    // The update said nothing of code, which clears it.
    assert_eq!(run.outcomes()[2], "program_unknown_name");
    let revisions = run.events("memory_revision");
    assert!(revisions[0]["code"].as_str().unwrap().contains("count"));
    assert!(revisions[0]["onUse"].as_str().unwrap().contains("openText"));
    assert!(revisions[1]["code"].is_null());
}

#[test]
fn code_of_other_memories_loads_with_the_reading() {
    let run = play(
        &[memories("keyword-search")],
        &KEYWORDS,
        [
            r#"
            memories.createMemory("greet", "says hello", { code: "export const hi = () => 'hi';" });
            show("kept");
            "#,
            "import * as greet from \"lib:greet\";\nout.early = greet.hi();\nshow(\"early\");",
            "attempt(\"read\", () => memories.readMemory(\"greet\"));\nshow(\"read\");",
            "import * as greet from \"lib:greet\";\nout.hi = greet.hi();\nshow(\"hi\");",
        ],
    );
    run.ended(0, "completed");
    assert_eq!(
        run.outcomes(),
        [
            "progressed",
            "program_unknown_name",
            "progressed",
            "progressed",
            "finished"
        ],
        "a program cannot import what was not read"
    );
    assert_eq!(shown(&run, "read")["read"], "says hello");
    assert_eq!(shown(&run, "hi")["hi"], "hi");
}

#[test]
fn a_tool_calling_holder_neither_sees_nor_touches_the_code() {
    let shared = |strategy: &str| {
        let mut declared = memories(strategy);
        declared["params"]["scope"] = json!("inherited");
        declared
    };
    let tools = json!({
        "slug": "helper", "name": "helper", "modelId": tests::launch::MODEL,
        "capabilities": [shared("scratchpad")],
        "tools": ["write_memory", "update_memory"], "operations": [],
    });
    let starts = json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": 2 } });
    let operations = [
        &SCRATCHPAD[..],
        &["delegation.spawn_subagent", "delegation.wait_for_subagents"],
    ]
    .concat();
    let root = coder(
        "root",
        &[memories("scratchpad"), starts],
        &operations,
        &["helper"],
    );
    let run = Run::builder()
        .launch(cast([root, tools]))
        .answers(
            |request: &tests::gateway::Request, _: usize| {
                let body = request.json();
                let tools = body["tools"].to_string();
                if !tools.contains("submit_program") {
                    assert!(!tools.contains("onUse"), "{tools}");
                    return if request.turn() > 0 {
                        tests::gateway::Answer::finish("Helped.")
                    } else {
                        tests::gateway::Answer::call(
                            "update_memory",
                            json!({ "name": "greet", "description": "d", "body": "anew" }),
                        )
                    };
                }
                by_turn([
                    "import { delegation, memories } from \"gg\";\n\
                     memories.writeMemory(\"greet\", \"d\", \"b\", { code: \"export const hi = () => 'hi';\" });\n\
                     const child = delegation.spawnSubagent(\"helper\", \"Help.\");\n\
                     delegation.waitForSubagents([child.id]);\n",
                    "import { views } from \"gg\";\nimport * as greet from \"lib:greet\";\n\
                     views.openText(\"hi\", greet.hi());\n",
                ])(request, request.turn())
            },
        )
        .run();
    run.ended(0, "completed");
    let revisions = run.events("memory_revision");
    // The root's stands behind its program, in which the helper's was made.
    let mut numbers: Vec<_> = revisions.iter().map(|it| it["revision"].as_u64()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [Some(1), Some(2)]);
    assert_eq!(revisions[1]["code"], revisions[0]["code"], "it stays");
    let requests = run.gateway.as_ref().unwrap().requests();
    assert!(requests.iter().any(|it| {
        it.method == "POST"
            && it.json()["messages"]
                .to_string()
                .contains("View: hi\\n----\\nhi")
    }));
}
