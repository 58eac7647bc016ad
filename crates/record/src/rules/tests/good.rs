//! The good stream.

use serde_json::{Value, json};

/// A fork that finishes within its turn, and a root that is capped, re-asked, and then stopped by
/// `maxTurns`. Its third turn leaves one provider for a spent schedule and the next for a miss,
/// and abandons a reply, which is paid for at the end. Its second turn changes everything it holds,
/// frees its window and compacts it; another model compacts it again before the third.
pub(super) fn good() -> Vec<Value> {
    let call = |id: &str, tool: &str| json!({"type": "tool_call", "callId": id, "tool": tool, "arguments": "{}"});
    let of = |agent: &str, turn: u64, mut line: Value| {
        line["agentId"] = json!(agent);
        if turn > 0 {
            line["turn"] = json!(turn);
        }
        line
    };
    let message = |id: &str| json!({"type": "context_message", "id": id, "role": "user", "band": "user_prompt", "tokens": 2, "content": "x"});
    let breakdown = |total: u64| json!({"type": "context_breakdown", "windowLimit": 100, "total": total, "bands": {"system": 1, "assistant": total - 1}});
    let prompt = |ids: &[&str], reply: Option<&str>, ms: u64| {
        let mut line = json!({"type": "prompt", "messages": ids, "finishReason": "stop", "tokens": {}, "durationMs": ms, "provider": "P"});
        if let Some(reply) = reply {
            line["reply"] = json!(reply);
        }
        line
    };
    let usage = |figure: &str, output: u64| json!({"type": "usage", "profileId": "root", "modelId": "m", "tokens": {"uncachedInput": 10, "cachedInput": null, "output": output, "reasoning": 0, "cacheWrite": null}, "cost": {"comparable": 0.2, "actual": 0.1}, "wire": {}, "figure": figure});
    let outcome = |verdict: &str, kind: Option<(&str, &str)>, streak: u64, turns: u64| {
        let mut line = json!({"type": "turn_outcome", "outcome": verdict, "consecutiveErrors": streak, "turns": turns, "responseChars": 5, "responseOutputTokens": 3});
        if let Some((base, kind)) = kind {
            line["error"] = json!(base);
            line["errorType"] = json!(kind);
        }
        line
    };
    let timing =
        |ms: u64| json!({"type": "turn_timing", "promptMs": 1, "requestMs": ms, "responseMs": 1});
    let log = |code: &str| json!({"type": "log", "level": "warn", "message": "x", "code": code});
    let switch = |from: &str, to: &str, fault: &str| json!({"type": "provider_switch", "modelId": "m", "from": from, "to": to, "fault": fault});
    let said = || json!({"type": "assistant_message", "text": "x", "calls": []});
    let result = |id: &str, tool: &str| json!({"type": "tool_result", "callId": id, "tool": tool, "ok": true, "chars": 1, "preview": "x", "durationMs": 1});
    let spawned = |id: &str| {
        of(
            id,
            0,
            json!({"type": "agent_spawned", "brief": "b", "depth": 0, "modelId": "m"}),
        )
    };
    let copied = |id: &str| {
        of(
            id,
            0,
            json!({"type": "agent_spawned", "brief": "b", "depth": 1, "modelId": "m",
                "parentId": "root", "origin": {"kind": "fork", "parent": "root", "ordinal": 0}}),
        )
    };
    let modules = |id: &str, stores: &[&str]| {
        let row = |store: &&str| json!({"kind": store.split('-').next(), "store": store});
        let mut rows: Vec<Value> = stores.iter().map(row).collect();
        rows.push(json!({"kind": "board", "store": null}));
        of(id, 0, json!({"type": "agent_modules", "modules": rows}))
    };
    let memory_state = |chars: &[u64], peak: u64| {
        let row = |chars: &u64| json!({"slug": format!("m{chars}"), "chars": chars, "lines": 1});
        let rows: Vec<Value> = chars.iter().map(row).collect();
        let count = chars.len();
        json!({"type": "memory_state", "module_id": "memories-0", "memories": rows,
            "totals": {"count": count, "chars": chars.iter().sum::<u64>(), "lines": count},
            "peaks": {"count": count, "chars": peak, "lines": count}})
    };
    let tasks_state = |done: bool| {
        json!({"type": "tasks_state", "module_id": "tasks-0", "tasks": [
            {"id": "t", "title": "x", "status": if done { "done" } else { "pending" }, "blockedBy": []},
            {"id": "u", "title": "x", "status": "pending", "blockedBy": ["t"]}]})
    };
    let skills_state = |read: bool| json!({"type": "skills_state", "module_id": "skills-0", "skills": [{"name": "csv", "description": "x", "read": read}]});
    let archive_state = |entries: u64| {
        let row = |ordinal: u64| json!({"ordinal": ordinal, "band": "tool_output", "role": "tool", "chars": 1, "preview": "x"});
        let rows: Vec<Value> = (1..=entries).map(row).collect();
        json!({"type": "archive_state", "module_id": "archive-0", "entries": rows})
    };
    let revision = |revision: u64, text: Value| json!({"type": "memory_revision", "module_id": "memories-0", "slug": "m4", "revision": revision, "text": text});
    let managed = |action: &str| json!({"type": "context_managed", "action": action, "reclaimedTokens": 2, "items": 1, "detail": "x", "firstIndex": 2});
    let compaction = |strategy: &str, before: i64, after: i64| {
        json!({"type": "compaction", "strategy": strategy, "trigger": 0.8,
            "reclaimedTokens": before - after,
            "before": {"tokens": before, "bands": {"system": 1, "assistant": before - 1}},
            "after": {"tokens": after, "bands": {"system": 1, "history": after - 1}},
            "summary": "x", "fallback": false, "modelId": "m"})
    };
    let surface = |id: &str| {
        of(
            id,
            0,
            json!({"type": "agent_surface", "tools": [], "apis": []}),
        )
    };
    let status = |id: &str, status: Value| {
        let mut line = json!({"type": "agent_status"});
        line.as_object_mut()
            .unwrap()
            .extend(status.as_object().unwrap().clone());
        of(id, 0, line)
    };
    let slot = json!({"profileId": "root", "modelId": "m",
        "tokens": {"uncachedInput": 60, "cachedInput": null, "output": 18, "reasoning": 0, "cacheWrite": null},
        "cost": {"comparable": 1.2, "actual": 0.6}, "workCost": {"comparable": 0.6, "actual": 0.3}, "calls": 6});
    let errors = json!({"turns": 5, "errors": 2, "maxConsecutive": 1, "loopAborts": 2, "loopAbortWords": 80, "loopAbortChars": 900, "modelApi": 1, "missingCompletion": 1,
                "byType": {"model_length_capped": 1, "missing_completion_no_call": 1}, "toolFailures": {"not-found": 1}});
    let mut slot_line = slot.clone();
    slot_line["type"] = json!("slot_usage");
    let mut lines = vec![
        json!({"type": "session_started", "routingKey": "k",
            "limits": {"maxModelRetries": 1, "providerCacheMissLimit": 1},
            "modelProviders": {"m": [{"provider": "P", "quantization": "fp8"}, {"provider": "Q", "quantization": "fp8"}, {"provider": "R", "quantization": "fp8"}]}}),
        spawned("root"),
        modules(
            "root",
            &[
                "history-0",
                "memories-0",
                "tasks-0",
                "skills-0",
                "archive-0",
            ],
        ),
        surface("root"),
        of("root", 0, memory_state(&[], 0)),
        of("root", 0, tasks_state(false)),
        of("root", 0, skills_state(false)),
        of("root", 0, archive_state(0)),
        status("root", json!({"status": "running"})),
        // Turn 1: a command, then a fork.
        of("root", 1, breakdown(4)),
        of("root", 1, message("01")),
        of("root", 1, message("02")),
        of("root", 1, message("03")),
        of("root", 1, prompt(&["01", "02"], Some("03"), 7)),
        of("root", 1, usage("work", 3)),
        of("root", 1, said()),
        of("root", 1, call("c1", "shell")),
        of(
            "root",
            1,
            json!({"type": "shell", "origin": "tool", "command": "true", "cwd": ".", "exitCode": 0, "stdout": "", "stderr": ""}),
        ),
        of("root", 1, result("c1", "shell")),
        of("root", 1, outcome("progressed", None, 0, 1)),
        of(
            "root",
            0,
            json!({"type": "agent_transition", "kind": "fork", "toAgentId": "agent-1", "modules": []}),
        ),
        copied("agent-1"),
        of("root", 1, timing(7)),
        of(
            "agent-1",
            0,
            json!({"type": "fsm_state", "machine": "m", "state": "s", "profileId": "root"}),
        ),
        modules("agent-1", &["history-1"]),
        surface("agent-1"),
        // The two agents' turns interleave. Root's reply is capped, then re-asked.
        of("root", 2, breakdown(6)),
        of("root", 2, message("04")),
        of("agent-1", 2, breakdown(9)),
        of("agent-1", 2, message("01")),
        of("agent-1", 2, message("09")),
        of("root", 2, prompt(&["01", "02", "03", "04"], None, 8)),
        of("root", 2, usage("total", 3)),
        of(
            "root",
            2,
            json!({"type": "response_rejected", "chars": 9, "tokens": {}, "modelId": "m"}),
        ),
        of("agent-1", 2, prompt(&["01"], Some("09"), 5)),
        of("agent-1", 2, usage("work", 3)),
        of(
            "root",
            2,
            outcome("error", Some(("model_api", "model_length_capped")), 1, 2),
        ),
        of("root", 2, timing(8)),
        of("agent-1", 2, said()),
        of("agent-1", 2, call("f", "finish")),
        of("agent-1", 2, result("f", "finish")),
        of("agent-1", 2, outcome("finished", None, 0, 2)),
        of("agent-1", 2, timing(5)),
        status("agent-1", json!({"status": "done", "endedAs": "completed"})),
        of("root", 2, message("05")),
        of("root", 2, prompt(&["01", "02", "03", "04"], Some("05"), 8)),
        of("root", 2, usage("work", 3)),
        of("root", 2, said()),
        of("root", 2, call("c2", "read_file")),
        of(
            "root",
            2,
            json!({"type": "tool_result", "callId": "c2", "tool": "read_file", "ok": false, "failure": "not-found", "chars": 1, "preview": "x", "durationMs": 1}),
        ),
        of("root", 2, json!({"type": "something_new", "any": [1, 2]})),
        of("root", 2, call("c3", "create_memory")),
        of("root", 2, result("c3", "create_memory")),
        of("root", 2, call("c4", "edit_memory")),
        of("root", 2, result("c4", "edit_memory")),
        of("root", 2, call("c5", "complete_task")),
        of("root", 2, result("c5", "complete_task")),
        of("root", 2, call("c6", "read_skill")),
        of("root", 2, result("c6", "read_skill")),
        of("root", 2, call("c7", "evict_file_view")),
        of("root", 2, managed("evict_file_views")),
        of("root", 2, result("c7", "evict_file_view")),
        of("root", 2, call("c8", "archive_thread")),
        of("root", 2, managed("archive_thread")),
        of("root", 2, result("c8", "archive_thread")),
        of("root", 2, revision(1, json!("four"))),
        of("root", 2, revision(2, json!("five!"))),
        of("root", 2, memory_state(&[5], 5)),
        of("root", 2, tasks_state(true)),
        of("root", 2, skills_state(true)),
        of("root", 2, archive_state(2)),
        of("root", 2, compaction("self-compaction", 9, 7)),
        of("root", 2, outcome("progressed", None, 0, 2)),
        of("root", 2, timing(8)),
        // Another agent wrote, and another model compacts in vain.
        of("root", 0, memory_state(&[5, 3], 8)),
        of("root", 3, {
            let mut line = compaction("handoff-compaction", 7, 8);
            line["fallback"] = json!(true);
            line["modelId"] = json!("s");
            line["tokens"] = json!({"uncachedInput": 9, "cachedInput": null, "output": 1, "reasoning": 0, "cacheWrite": null});
            line["cost"] = json!({"comparable": null, "actual": 0.4});
            line
        }),
        // Turn 3 calls nothing, and is the last that `maxTurns` allows.
        of("root", 3, breakdown(8)),
        of("root", 3, message("06")),
        of("root", 3, log("retry")),
        of("root", 3, log("retries_spent")),
        of("root", 3, switch("P", "Q", "failed_call")),
        of(
            "root",
            3,
            json!({"type": "provider_fault", "modelId": "m", "provider": "q", "kind": "cache_miss", "sharedPrefixTokens": 9000, "cachedTokens": 0}),
        ),
        of(
            "root",
            3,
            json!({"type": "prefix_broken", "modelId": "m", "provider": "Q", "message": 4, "byte": 17, "act": "compaction", "sharedTokens": 9, "lostTokens": 1}),
        ),
        of("root", 3, {
            let mut line = prompt(&["01", "02", "03", "04", "05"], Some("06"), 1);
            line["provider"] = json!("Q");
            line
        }),
        of("root", 3, usage("total", 3)),
        of("root", 3, said()),
        of("root", 3, {
            let kind = ("missing_completion", "missing_completion_no_call");
            let mut line = outcome("error", Some(kind), 1, 3);
            line["loopAborts"] = json!(2);
            line["loopAbortWords"] = json!(80);
            line["loopAbortChars"] = json!(900);
            line
        }),
        of("root", 3, timing(1)),
        of("root", 3, log("cache_misses")),
        of("root", 3, switch("Q", "R", "cache_miss")),
        of(
            "root",
            0,
            json!({"type": "log", "level": "warn", "message": "maxTurns"}),
        ),
        of(
            "root",
            0,
            json!({"type": "limit_exceeded", "limit": "turns", "threshold": 3.0, "observed": 3.0, "turns": 3.0}),
        ),
        status("root", json!({"status": "done", "endedAs": "exhausted"})),
        of("root", 0, usage("total", 3)),
        slot_line,
        json!({"type": "session_summary", "status": "exhausted", "exitCode": 3, "agents": 2, "forks": 1, "maxDepth": 1, "modelCalls": 5, "modelMs": 29,
            "tokens": slot["tokens"], "cost": 0.6, "workCost": 0.3, "comparableCost": 1.2, "unpricedCalls": 0, "unpricedTokens": 0,
            "slotCosts": [slot], "providerStats": [{"provider": "P", "modelId": "m", "calls": 4, "turns": 4, "working": 3, "errors": 1}, {"provider": "Q", "modelId": "m", "calls": 2, "turns": 1, "working": 0, "errors": 1}],
            "modelRetries": 1, "providerFaults": {"stall": 0, "cacheMiss": 1}, "providerSwitches": 2, "prefixBreaks": 1, "loopAbortUnpriced": 1,
            "compactions": 2, "compactionFallbacks": 1, "compactionCost": 0.4, "evictions": 1, "archivals": 1,
            "memoriesWritten": 2, "skillsRead": 1, "tasksCompleted": 1,
            "rejectedResponses": {"count": 1}, "toolCalls": 9, "shellCommands": 1, "peakContextTokens": 9,
            "maxResponseChars": 5, "maxResponseOutputTokens": 3,
            "errors": errors}),
        json!({"type": "session_ended", "status": "exhausted", "exitCode": 3}),
    ];
    for line in &mut lines {
        line["sessionId"] = json!("s");
        line["ts"] = json!("2026-01-31T09:08:07.123Z");
    }
    super::number(&mut lines);
    lines
}
