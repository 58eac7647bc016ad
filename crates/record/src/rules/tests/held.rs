//! What breaks the rules about modules and about what left a window.

use super::*;

#[test]
fn a_module_is_shown_as_it_arrives_and_behind_the_work_that_changed_it() {
    assert_breaks(&[
        // On arrival.
        (Drop("memory_state", 0), rule::HELD),
        (Drop("archive_state", 0), rule::HELD),
        (Move(("agent_status", 0), ("archive_state", 0)), rule::HELD),
        (
            Move(("tasks_state", 0), ("agent_surface", 0)),
            rule::OPENING,
        ),
        (
            Set("tasks_state", 0, "/module_id", json!("tasks-1")),
            rule::HELD,
        ),
        (
            Set("agent_modules", 0, "/modules/2/store", json!(null)),
            rule::HELD,
        ),
        // Behind a turn's work.
        (Drop("memory_state", 1), rule::HELD),
        (Drop("tasks_state", 1), rule::HELD),
        (Twice("tasks_state", 1), rule::HELD),
        (Twice("archive_state", 1), rule::HELD),
        (Set("tool_result", 5, "/ok", json!(false)), rule::HELD),
        (Move(("tasks_state", 1), ("tool_call", 4)), rule::TURN_ORDER),
        (
            Move(("skills_state", 1), ("turn_timing", 3)),
            rule::TURN_ORDER,
        ),
        // Another's write is shown between turns or behind a turn's work.
        (Set("memory_state", 2, "/turn", json!(2)), rule::TURN_ORDER),
        // Revisions.
        (Drop("memory_revision", 0), rule::HELD),
        (Twice("memory_revision", 1), rule::HELD),
        (Set("memory_revision", 0, "/revision", json!(2)), rule::HELD),
        (Set("memory_revision", 0, "/revision", json!(0)), rule::HELD),
        (
            Set("memory_revision", 0, "/module_id", json!("memories-1")),
            rule::HELD,
        ),
        (
            Move(("memory_revision", 0), ("tool_call", 5)),
            rule::TURN_ORDER,
        ),
    ]);
}

#[test]
fn a_snapshot_s_figures_are_those_of_its_rows() {
    assert_breaks(&[
        (
            Set("memory_state", 1, "/totals/chars", json!(6)),
            rule::HELD,
        ),
        (
            Set("memory_state", 1, "/totals/lines", json!(0)),
            rule::HELD,
        ),
        (Set("memory_state", 1, "/memories", json!([])), rule::HELD),
        (Set("memory_state", 1, "/peaks/chars", json!(4)), rule::HELD),
        (
            Set("tasks_state", 1, "/tasks/0/status", json!("ready")),
            rule::HELD,
        ),
        (Set("tasks_state", 1, "/tasks/0/id", json!("u")), rule::HELD),
        (
            Set("tasks_state", 1, "/tasks/1/blockedBy", json!(["v"])),
            rule::HELD,
        ),
        (
            Set("tasks_state", 1, "/tasks/1/blockedBy", json!(["u"])),
            rule::HELD,
        ),
        (
            Set("archive_state", 1, "/entries/1/ordinal", json!(3)),
            rule::HELD,
        ),
        (
            Set(
                "archive_state",
                1,
                "/entries/0/preview",
                json!("x".repeat(161)),
            ),
            rule::HELD,
        ),
        (
            Set(
                "archive_state",
                0,
                "/entries",
                json!([{"ordinal": 1}, {"ordinal": 2}, {"ordinal": 3}]),
            ),
            rule::HELD,
        ),
    ]);
}

#[test]
fn what_an_agent_takes_out_lies_within_the_call_that_did_it() {
    assert_breaks(&[
        (
            Move(("context_managed", 0), ("tool_call", 7)),
            rule::ENCLOSURE,
        ),
        (
            Move(("context_managed", 0), ("tool_result", 8)),
            rule::ENCLOSURE,
        ),
        (
            Set("context_managed", 1, "/action", json!("close_text_views")),
            rule::ENCLOSURE,
        ),
        (
            Set("context_managed", 0, "/firstIndex", json!(null)),
            rule::RECLAIMED,
        ),
        (
            Set("context_managed", 0, "/items", json!(0)),
            rule::RECLAIMED,
        ),
        (
            Set("context_managed", 0, "/turn", json!(null)),
            rule::ENVELOPE,
        ),
        (
            Set("prefix_broken", 0, "/act", json!("close_docs")),
            rule::PREFIX,
        ),
    ]);
    let evicted = changed(
        &good(),
        &Set("prefix_broken", 0, "/act", json!("evict_file_view")),
    );
    assert_eq!(check(&text(&evicted)), []);
}

#[test]
fn a_compaction_never_stands_between_a_request_and_its_results() {
    assert_breaks(&[
        (Move(("compaction", 0), ("prompt", 3)), rule::COMPACTION),
        (Move(("compaction", 0), ("tool_call", 3)), rule::TURN_ORDER),
        (
            Move(("compaction", 0), ("tool_result", 4)),
            rule::COMPACTION,
        ),
        (
            Move(("compaction", 1), ("context_message", 7)),
            rule::COMPACTION,
        ),
        (Move(("compaction", 1), ("prompt", 4)), rule::COMPACTION),
        (Set("compaction", 0, "/turn", json!(3)), rule::COMPACTION),
        (Set("compaction", 1, "/turn", json!(2)), rule::COMPACTION),
        (Set("compaction", 0, "/turn", json!(null)), rule::ENVELOPE),
        (
            Set("compaction", 0, "/reclaimedTokens", json!(3)),
            rule::RECLAIMED,
        ),
        (
            Set("compaction", 1, "/reclaimedTokens", json!(1)),
            rule::RECLAIMED,
        ),
        (
            Set("compaction", 0, "/before/tokens", json!(8)),
            rule::BANDS,
        ),
        (
            Set("compaction", 0, "/after/bands/system", json!(2)),
            rule::BANDS,
        ),
    ]);
    // It may follow the outcome: what a turn defers is carried out at its close.
    let behind = changed(&good(), &Move(("compaction", 0), ("turn_timing", 3)));
    assert_eq!(check(&text(&behind)), []);
}

#[test]
fn a_message_that_a_compaction_brings_is_logged_before_its_prompt() {
    assert_breaks(&[
        (
            Move(("prompt", 4), ("context_message", 7)),
            rule::TURN_ORDER,
        ),
        (Drop("context_message", 7), rule::POOL),
    ]);
}

#[test]
fn the_summary_counts_what_was_held_and_reclaimed() {
    let figures = [
        "/compactions",
        "/compactionFallbacks",
        "/compactionCost",
        "/evictions",
        "/archivals",
        "/memoriesWritten",
        "/skillsRead",
        "/tasksCompleted",
    ];
    let changes: Vec<_> = figures
        .into_iter()
        .map(|path| {
            (
                Set("session_summary", 0, path, json!(7)),
                rule::SUMMARY_SUMS,
            )
        })
        .collect();
    assert_breaks(&changes);
}
