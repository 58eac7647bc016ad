//! The lines of what an agent holds and reclaims, as readers know them.

use vocab::knowledge::MemoryLimits;
use vocab::usage::Cost;

use super::*;

fn memory_state() -> MemoryState {
    MemoryState {
        module_id: "memories-0".to_owned(),
        strategy: vocab::knowledge::MemoryStrategy::KeywordSearch,
        memories: vec![
            MemoryRow {
                slug: "build".into(),
                description: Some("How to build".into()),
                chars: 12,
                lines: 2,
            },
            MemoryRow {
                slug: "bare".into(),
                description: None,
                chars: 3,
                lines: 1,
            },
        ],
        totals: MemoryTotals {
            count: 2,
            chars: 15,
            lines: 3,
        },
        limits: MemoryLimits {
            max_results: 25,
            ..MemoryLimits::default()
        },
        peaks: MemoryTotals {
            count: 4,
            chars: 99,
            lines: 9,
        },
        scope: MemoryScope::ReadOnly,
        writable: false,
    }
}

fn compaction(tokens: Option<Tokens>) -> Compaction {
    let mut before = BandTokens::default();
    before.add(Band::System, 10);
    before.add(Band::ToolOutput, 90);
    let mut after = BandTokens::default();
    after.add(Band::System, 10);
    after.add(Band::History, 120);
    Compaction {
        strategy: "handoff-compaction",
        trigger: 0.8125,
        reclaimed_tokens: -30,
        before: before.into(),
        after: after.into(),
        retained: Retained {
            skills: 1,
            tasks: 2,
            memories: 3,
            specs: 4,
            files: 5,
            docs_views: 6,
        },
        summary: "all went well".into(),
        fallback: false,
        model_id: "acme/small-1".into(),
        tokens,
        cost: tokens.map(|_| Cost {
            comparable: None,
            actual: Some(0.25),
        }),
    }
}

#[test]
fn what_is_held_and_reclaimed_reads_as_ever() {
    let task = |id: &str, status, blocked_by: &[&str]| TaskRow {
        id: id.to_owned(),
        title: "Parse".to_owned(),
        description: None,
        in_scope: None,
        out_of_scope: None,
        completion_criteria: None,
        status,
        blocked_by: blocked_by.iter().map(|id| (*id).to_owned()).collect(),
    };
    let whole = TaskRow {
        description: Some("All of it".to_owned()),
        in_scope: Some("Empty input".to_owned()),
        out_of_scope: Some("Speed".to_owned()),
        completion_criteria: Some("Tests pass".to_owned()),
        ..task("a", TaskStatus::Done, &[])
    };
    let revision = |text: Option<&str>| MemoryRevision {
        module_id: "memories-0".to_owned(),
        slug: "build".into(),
        revision: 3,
        description: text.map(|_| "How to build".into()),
        text: text.map(Into::into),
        code: None,
        on_use: None,
    };
    let managed = |action, items, first_index| ContextManaged {
        action,
        reclaimed_tokens: 40,
        items,
        detail: "src/lib.rs".to_owned(),
        first_index,
    };
    let tokens = Tokens {
        uncached_input: Some(9),
        output: Some(1),
        ..Tokens::default()
    };
    let events = [
        Event::MemoryState(Box::new(memory_state())),
        Event::MemoryRevision(Box::new(revision(Some("make\ntest")))),
        Event::MemoryRevision(Box::new(revision(None))),
        Event::TasksState(TasksState {
            module_id: "tasks-0".to_owned(),
            tasks: vec![whole, task("b", TaskStatus::Pending, &["a"])],
        }),
        Event::SkillsState(SkillsState {
            module_id: "skills-0".to_owned(),
            skills: vec![SkillRow {
                name: "csv".into(),
                description: "Reading CSV".into(),
                read: true,
            }],
        }),
        Event::ArchiveState(ArchiveState {
            module_id: "archive-0".to_owned(),
            entries: vec![ArchiveRow {
                ordinal: 1,
                band: Band::ToolOutput,
                role: Role::Tool,
                chars: 900,
                preview: "total 12".to_owned(),
            }],
        }),
        Event::ContextManaged(managed(ManagedAction::EvictFileViews, 2, Some(7))),
        Event::ContextManaged(managed(ManagedAction::ArchiveThread, 0, None)),
        Event::Compaction(Box::new(compaction(None))),
        Event::Compaction(Box::new(compaction(Some(tokens)))),
    ];
    let lines: Vec<String> = events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_program_s_calls_carry_no_arguments_and_what_is_zero_is_left_out() {
    let line = |event: Event| serde_json::to_value(event).unwrap();
    assert_eq!(
        line(Event::ApiCall(ApiCall {
            call_id: "call-1.2".into(),
            operation: "files.read_file",
        })),
        serde_json::json!({ "type": "api_call", "callId": "call-1.2", "operation": "files.read_file" })
    );
    assert_eq!(
        line(Event::ApiResult(ApiResult {
            call_id: "call-1.2".into(),
            operation: "files.read_file",
            ok: false,
            failure: Some(FailureClass::NotFound),
            duration_ms: 3,
        })),
        serde_json::json!({ "type": "api_result", "callId": "call-1.2",
            "operation": "files.read_file", "ok": false, "failure": "not-found", "durationMs": 3 })
    );
    let execution = CodeExecution {
        call_id: "call-1".into(),
        ok: true,
        tool_calls: 0,
        api_calls: 0,
        duration_ms: 7,
        error: None,
        finished: None,
        logs: Vec::new(),
        logs_suppressed: 0,
        compile_wait_ms: None,
        compile_ms: None,
        undocumented_calls: None,
    };
    assert_eq!(
        line(Event::CodeExecution(Box::new(execution.clone()))),
        serde_json::json!({ "type": "code_execution", "callId": "call-1", "ok": true,
            "toolCalls": 0, "durationMs": 7 })
    );
    let told = CodeExecution {
        ok: false,
        error: Some("no".to_owned()),
        finished: Some("done".to_owned()),
        logs: vec![ProgramLog {
            level: ProgramLogLevel::Debug,
            text: "x".to_owned(),
        }],
        logs_suppressed: 2,
        undocumented_calls: Some(UndocumentedCalls {
            calls: 1,
            operations: BTreeMap::from([("shell.shell", 1)]),
        }),
        ..execution
    };
    let told = line(Event::CodeExecution(Box::new(told)));
    assert_eq!(
        told["logs"],
        serde_json::json!([{ "level": "debug", "text": "x" }])
    );
    assert_eq!(told["undocumentedCalls"]["operations"]["shell.shell"], 1);
}
