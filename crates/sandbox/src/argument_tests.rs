//! What a program of the ECMAScript arms gives a call in a wrong shape: a failure that its author can
//! mend, under the call's own spelling, which reaches no service (04 §10).

use vocab::language::ProgramLanguage;

use crate::fakes::Fake;
use crate::trial::{ended, printed, program};

/// A call that is given a wrong shape, and what it fails with.
const CALLS: [(&str, &str); 29] = [
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
        "search: `modules[0]` is number; expected a string",
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
        "wait_for_subagents: `ids[0]` is object; expected a string",
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
        "add_task: `inScope` is number; expected a string",
    ),
    (
        "tasks.updateTask(\"a\", { status: \"lost\" })",
        "update_task: `status` is \"lost\"; expected pending, done",
    ),
    (
        "shell.shell(\"a\", { timeoutSecs: \"1\" })",
        "shell: `timeoutSecs` is string; expected a number",
    ),
    (
        "board.updateIssue(\"a\", { status: \"lost\" })",
        "update_issue: `status` is \"lost\"; expected open, in-progress, in-review, done, failed",
    ),
    (
        "board.createIssue({ title: \"a\", inScope: \"b\", outOfScope: \"c\", \
         completionCriteria: \"d\", agent: \"e\", reviewers: [1] })",
        "create_issue: `reviewers[0]` is number; expected a string",
    ),
    (
        "session.requestChanges([5])",
        "request_changes: `items[0]` is number; expected a string",
    ),
    (
        "files.readFile(\"a\", { offset: 4294967296 })",
        "read_file: `offset` is 4294967296; expected 4294967295 at most",
    ),
    (
        "files.readFile(\"a\", { offset: \"3\" })",
        "read_file: `offset` is string; expected a whole number, 1 or more",
    ),
    (
        "files.readFile(\"a\", { offset: 0 })",
        "read_file: `offset` is 0; expected a whole number, 1 or more",
    ),
    (
        "views.openFile(\"a\", { maxLineChars: 1.5 })",
        "open_file: `maxLineChars` is 1.5; expected a whole number, 1 or more",
    ),
    (
        "docs.search({ offset: -1 })",
        "search: `offset` is -1; expected a whole number, 0 or more",
    ),
];

#[test]
fn a_wrong_shape_is_the_call_s_failure_and_reaches_no_service() {
    let mut source = "import * as gg from \"gg\";\nconst { files, context, programs, docs, delegation, memories, \
                      board, tasks, shell, session, views } = gg;\n"
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
