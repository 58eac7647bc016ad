//! What a program of the ECMAScript arms gives a call in a wrong shape: a failure that its author can
//! mend, under the call's own spelling, which reaches no service (04 §10).

use vocab::language::ProgramLanguage;

use crate::fakes::Fake;
use crate::trial::{ended, printed, program};

/// A call that is given a wrong shape, and what it fails with.
const CALLS: [(&str, &str); 21] = [
    (
        "files.listDir(7)",
        "list_dir: `path` is number; expected a string",
    ),
    (
        "files.search(\"a\", { path: 7 })",
        "search: `path` is number; expected a string",
    ),
    (
        "context.evictFileView({})",
        "evict_file_view: `path` is object; expected a string",
    ),
    ("programs.get(7)", "get: `id` is number; expected a string"),
    (
        "docs.search({ query: 7 })",
        "search: `query` is number; expected a string",
    ),
    (
        "docs.search({ modules: \"a\" })",
        "search: `modules` is no array; expected one",
    ),
    (
        "docs.search({ modules: [7] })",
        "search: `modules` is a number; expected a string",
    ),
    (
        "docs.search({ type: [] })",
        "search: `type` is object; expected a string",
    ),
    (
        "docs.search({ kind: \"class\" })",
        "search: `kind` is \"class\"; expected module, function, type",
    ),
    (
        "delegation.exec(\"a\", { prompt: 7 })",
        "exec: `prompt` is number; expected a string",
    ),
    (
        "delegation.transitionState(\"a\", { note: 7 })",
        "transition_state: `note` is number; expected a string",
    ),
    (
        "delegation.waitForSubagents(\"a\")",
        "wait_for_subagents: `ids` is no array; expected one",
    ),
    (
        "delegation.waitForSubagents([null])",
        "wait_for_subagents: `ids` is null; expected a string",
    ),
    (
        "memories.createMemory(\"a\", \"b\", { description: 7 })",
        "create_memory: `description` is number; expected a string",
    ),
    (
        "memories.writeMemory(\"a\", \"b\", \"c\", { onUse: 7 })",
        "write_memory: `onUse` is number; expected a string",
    ),
    (
        "board.createEpic(\"A\", \"b\", { description: true })",
        "create_epic: `description` is boolean; expected a string",
    ),
    (
        "board.listIssues({ status: \"lost\" })",
        "list_issues: `status` is \"lost\"; expected open, in-progress, in-review, done, failed",
    ),
    (
        "board.listIssues({ epic: 7 })",
        "list_issues: `epic` is number; expected a string",
    ),
    (
        "tasks.addTask({ id: \"a\", title: \"b\", inScope: 7 })",
        "add_task: `inScope` is a number; expected a string",
    ),
    (
        "tasks.updateTask(\"a\", { status: \"lost\" })",
        "update_task: `status` is none of the values it may be: pending, done",
    ),
    (
        "shell.shell(\"a\", { timeoutSecs: \"1\" })",
        "shell: `timeoutSecs` is string; expected a number",
    ),
];

#[test]
fn a_wrong_shape_is_the_call_s_failure_and_reaches_no_service() {
    let mut source = "import * as gg from \"gg\";\nconst { files, context, programs, docs, delegation, memories, \
                      board, tasks, shell } = gg;\n"
        .to_owned();
    for (call, _) in CALLS {
        source.push_str(&format!(
            "try {{ {call}; console.log(\"carried out\"); }}
             catch (error) {{
               console.log(error instanceof gg.ApiError ? error.code : error.name,
                 `${{error.operation}}: ${{error.message}}`);
             }}\n"
        ));
    }
    let fake = Fake::default();
    let execution = ended(program(ProgramLanguage::Javascript, &source), fake.clone());
    assert_eq!(execution.fault, None, "{}", execution.stderr);
    let told = printed(&execution);
    for ((call, expected), line) in CALLS.iter().zip(&told) {
        assert_eq!(*line, format!("invalid-argument {expected}"), "{call}");
    }
    assert_eq!(told.len(), CALLS.len());
    assert_eq!(fake.lines(), [""; 0]);
}
