//! When a compaction is due, what satisfies it, what is refused meanwhile, and when it has failed.

use CompactionStrategy::{
    HandoffSummarization, MemoryCompaction, SelfCompaction, SelfSummarization,
};
use vocab::band::Band;
use vocab::message::Message;

use super::*;
use crate::calls::Functions;
use crate::prompts::Unread;
use crate::window::{NewItem, Retention, Window, working_window};

fn compaction(strategy: CompactionStrategy, max_retries: u64) -> Compaction {
    let policy = Policy {
        strategy,
        headroom: 0.2,
        max_retries,
        memory_calls: vec![ToolName::WriteMemory, ToolName::DeleteMemory],
        names: CallNames::default(),
    };
    Compaction::new(policy, working_window(200_000, None, Some(0.2)))
}

fn pending(strategy: CompactionStrategy) -> Compaction {
    let mut compaction = compaction(strategy, 0);
    assert_eq!(compaction.check(128_000, true), Due::Instruct);
    compaction
}

fn call(summary: &str) -> CompactCall {
    CompactCall {
        summary: summary.to_owned(),
        ..CompactCall::default()
    }
}

#[test]
fn it_is_due_from_the_threshold_on_and_only_where_something_can_go() {
    let mut own = compaction(SelfSummarization, 0);
    assert_eq!(own.check(127_999, true), Due::Nothing);
    assert_eq!(own.check(128_000, false), Due::Pinned);
    assert_eq!(own.check(128_000, true), Due::Instruct);
    assert!(own.is_pending());
    assert_eq!(own.check(150_000, true), Due::Nothing, "it is asked once");
    let mut handoff = compaction(HandoffSummarization, 0);
    assert_eq!(handoff.check(128_000, true), Due::Handoff);
    assert!(!handoff.is_pending());
}

#[test]
fn while_one_is_pending_every_other_call_is_refused_by_name() {
    let cases = [
        (SelfSummarization, None, "plain text"),
        (SelfCompaction, Some(ToolName::Compact), "`compact`"),
        (
            MemoryCompaction,
            Some(ToolName::WriteMemory),
            "`write_memory`, `delete_memory`",
        ),
    ];
    for (strategy, wanted, told) in cases {
        let compaction = pending(strategy);
        for tool in ToolName::ALL {
            let refused = compaction.refusal(*tool);
            if Some(*tool) == wanted || told.contains(&format!("`{tool}`")) {
                assert_eq!(refused, None);
                continue;
            }
            let refused = refused.unwrap();
            assert_eq!(refused.class, FailureClass::Refused);
            assert!(refused.message.contains(told), "{refused}");
            assert!(refused.message.contains(&format!("`{tool}`")), "{refused}");
        }
    }
    let idle = compaction(SelfCompaction, 0);
    assert_eq!(idle.refusal(ToolName::Shell), None);
}

#[test]
fn a_plain_reply_is_the_summary_and_a_blank_one_is_an_error() {
    let mut own = pending(SelfSummarization);
    assert_eq!(own.close(Some("  "), &[]), Close::Restate(Missing::Text));
    assert_eq!(own.close(None, &[]), Close::Restate(Missing::Text));
    assert_eq!(own.close(Some("aside"), &[false]), Close::Nothing);
    assert!(own.is_pending());
    let summary = Answer::Prose("all of it".to_owned());
    assert_eq!(own.close(Some("all of it"), &[]), Close::Apply(summary));
    assert!(!own.is_pending());
    assert_eq!(own.close(Some("a word"), &[]), Close::Nothing);
}

#[test]
fn the_last_compact_call_of_a_turn_stands_whether_it_was_asked_for_or_not() {
    for mut own in [pending(SelfCompaction), compaction(SelfCompaction, 0)] {
        own.register(call("one"));
        own.register(call("two"));
        let stands = Close::Apply(Answer::Compact(call("two")));
        assert_eq!(own.close(Some("text"), &[true, true]), stands);
        assert_eq!(own.close(None, &[true]), Close::Nothing);
    }
    let mut own = pending(SelfCompaction);
    assert_eq!(own.close(Some("text"), &[]), Close::Restate(Missing::Call));
    assert_eq!(own.close(None, &[false]), Close::Nothing);
    assert!(own.is_pending());
}

#[test]
fn memories_are_saved_once_all_calls_of_one_reply_succeed_and_one_of_them_saves() {
    let mut own = pending(MemoryCompaction);
    assert_eq!(own.close(Some("text"), &[]), Close::Restate(Missing::Call));
    own.succeeded(ToolName::WriteMemory);
    assert_eq!(own.close(None, &[true, false]), Close::Nothing);
    assert_eq!(own.close(None, &[false]), Close::Nothing);
    own.succeeded(ToolName::ReadMemory);
    own.succeeded(ToolName::DeleteMemory);
    assert_eq!(
        own.close(None, &[true, true]),
        Close::Restate(Missing::Deed),
        "an earlier reply saved, and did not succeed"
    );
    own.succeeded(ToolName::UpdateMemory);
    own.succeeded(ToolName::DeleteMemory);
    assert_eq!(
        own.close(None, &[true, true]),
        Close::Apply(Answer::Memories)
    );
}

/// One that an agent which writes programs is asked for.
fn pending_in_code(strategy: CompactionStrategy) -> Compaction {
    let function = |tool: ToolName, name: &str| (tool, name.to_owned());
    let policy = Policy {
        names: CallNames::functions(Functions {
            calls: vec![
                function(ToolName::Compact, "context.compact"),
                function(ToolName::WriteMemory, "memories.writeMemory"),
                function(ToolName::DeleteMemory, "memories.deleteMemory"),
                function(ToolName::Shell, "shell.shell"),
            ],
            context: "context".to_owned(),
            memories: "memories".to_owned(),
        }),
        ..compaction(strategy, 0).policy
    };
    let mut compaction = Compaction::new(policy, 160_000);
    assert_eq!(compaction.check(128_000, true), Due::Instruct);
    compaction
}

#[test]
fn a_program_compacts_by_the_call_under_both_strategies_of_its_own() {
    for strategy in [SelfSummarization, SelfCompaction] {
        let mut own = pending_in_code(strategy);
        assert_eq!(own.takes_files(), strategy == SelfCompaction);
        assert_eq!(own.refusal(ToolName::Compact), None);
        let refused = own.refusal(ToolName::Shell).unwrap();
        assert!(
            refused
                .message
                .contains("`shell.shell` is not carried out now; call `context.compact`"),
            "{refused}"
        );
        assert_eq!(own.close_programs(None), Close::Restate(Missing::Program));
        assert_eq!(
            own.close_programs(Some(true)),
            Close::Restate(Missing::Deed),
            "text beside a program is no summary"
        );
        own.register(call("all of it"));
        assert_eq!(
            own.close_programs(Some(true)),
            Close::Apply(Answer::Compact(call("all of it")))
        );
        assert_eq!(own.close_programs(None), Close::Nothing);
        assert_eq!(own.close_programs(Some(false)), Close::Nothing);
    }
    assert!(Missing::Program.is_error() && Missing::Call.is_error() && Missing::Text.is_error());
    assert!(!Missing::Deed.is_error());
}

#[test]
fn a_program_saves_its_memories_once_all_calls_of_one_reply_succeed_and_one_of_them_saves() {
    let mut own = pending_in_code(MemoryCompaction);
    assert_eq!(own.refusal(ToolName::WriteMemory), None);
    let refused = own.refusal(ToolName::Compact).unwrap();
    assert!(
        refused
            .message
            .ends_with("call only `memories.writeMemory`, `memories.deleteMemory`"),
        "{refused}"
    );
    let asked = Close::Restate(Missing::Deed);
    own.succeeded(ToolName::WriteMemory);
    assert_eq!(own.close_programs(Some(false)), asked);
    own.succeeded(ToolName::SearchMemories);
    assert_eq!(own.close_programs(Some(true)), asked);
    own.succeeded(ToolName::CreateMemory);
    assert_eq!(
        own.close_programs(Some(true)),
        Close::Apply(Answer::Memories)
    );
}

#[test]
fn a_code_agent_is_asked_for_a_program_and_told_what_it_lacked() {
    let own = pending_in_code(SelfSummarization);
    let asked = own.instruction().unwrap();
    assert!(
        asked.contains("`context`") && !asked.contains("`compact`"),
        "{asked}"
    );
    let memories = pending_in_code(MemoryCompaction).instruction().unwrap();
    assert!(memories.contains("`memories`"), "{memories}");
    let none = own.restatement(Missing::Program).unwrap();
    let undone = own.restatement(Missing::Deed).unwrap();
    assert!(
        none.starts_with("Your reply submitted no program"),
        "{none}"
    );
    assert!(undone.starts_with("Your program did not do it"), "{undone}");
    assert!(undone.ends_with(&asked));
}

#[test]
fn boundaries_that_do_not_relieve_are_counted_in_a_row() {
    let mut own = compaction(HandoffSummarization, 2);
    assert_eq!(own.applied(128_000, 9), Relief::Again);
    assert_eq!(own.applied(127_999, 9), Relief::Relieved);
    assert_eq!(own.applied(500_000, 9), Relief::Again);
    assert_eq!(own.check(1, true), Due::Nothing, "usage was seen below");
    assert_eq!(own.applied(128_000, 9), Relief::Again);
    assert_eq!(own.applied(128_000, 9), Relief::Again);
    let Relief::Failed(failed) = own.applied(128_000, 9) else {
        panic!("the third in a row is one too many");
    };
    assert_eq!(failed.boundaries, 3);
    let mut none = compaction(SelfCompaction, 0);
    assert!(matches!(none.applied(128_000, 9), Relief::Failed(_)));
}

#[test]
fn a_failure_says_whether_the_pinned_part_alone_fills_the_window() {
    let failed = |pinned| {
        let mut own = compaction(SelfCompaction, 0);
        match own.applied(130_000, pinned) {
            Relief::Failed(failed) => failed.to_string(),
            other => panic!("{other:?}"),
        }
    };
    insta::assert_snapshot!([failed(129_000), failed(1_000)].join("\n"));
}

/// F57: a window of 8,000 with a pinned specification of 7,500.
#[test]
fn a_pinned_part_over_the_threshold_fails_after_the_retries_and_never_loops() {
    for strategy in [SelfSummarization, SelfCompaction, HandoffSummarization] {
        let mut window = Window::new(
            working_window(8_000, None, Some(0.1)),
            "",
            provider::request::Shape::Bare,
        );
        let message = Message::User {
            text: "spec".into(),
            images: Vec::new(),
        };
        window.push(NewItem {
            retention: Retention::Pinned,
            tokens: Some(7_500),
            ..NewItem::new(Band::FileView, 0, message.clone())
        });
        let policy = Policy {
            strategy,
            headroom: 0.1,
            max_retries: 2,
            memory_calls: Vec::new(),
            names: CallNames::default(),
        };
        let mut compaction = Compaction::new(policy, window.limit());
        let (_, usage) = window.breakdown();
        assert_eq!(
            compaction.check(usage, window.has_ephemeral()),
            Due::Pinned,
            "with nothing to take there is nothing to do"
        );
        window.push(NewItem::new(Band::Assistant, 1, message));
        let mut boundaries = 0;
        let failed = loop {
            let (_, usage) = window.breakdown();
            assert_ne!(
                compaction.check(usage, window.has_ephemeral()),
                Due::Nothing
            );
            let answer = Answer::Prose("well summarized".to_owned());
            let applied = apply(&mut window, &answer, Material::default(), 2).unwrap();
            boundaries += 1;
            let pinned = window.pinned_tokens();
            match compaction.applied(applied.restarted.after.total(), pinned) {
                Relief::Again => {}
                Relief::Failed(failed) => break failed,
                Relief::Relieved => panic!("7,500 pinned tokens are not relieved"),
            }
        };
        assert_eq!(boundaries, 3);
        assert!(failed.to_string().contains("the pinned part alone"));
    }
}

/// F61: only gg's own estimate is asked; what a provider reports has no way in.
#[test]
fn the_trigger_follows_the_estimate() {
    let mut window = Window::new(
        working_window(200_000, None, Some(0.2)),
        "",
        provider::request::Shape::Bare,
    );
    window.push(NewItem {
        tokens: Some(20_000),
        ..NewItem::new(
            Band::ToolOutput,
            1,
            Message::User {
                text: "x".into(),
                images: Vec::new(),
            },
        )
    });
    let mut own = compaction(SelfSummarization, 0);
    let (_, usage) = window.breakdown();
    assert_eq!(own.check(usage, window.has_ephemeral()), Due::Nothing);
}

#[test]
fn instructions_and_their_restatements() {
    let mut texts = Vec::new();
    for (strategy, missing) in [
        (SelfSummarization, Missing::Text),
        (SelfCompaction, Missing::Call),
        (MemoryCompaction, Missing::Call),
        (MemoryCompaction, Missing::Deed),
    ] {
        let own = compaction(strategy, 0);
        let restated = own.restatement(missing).unwrap();
        assert!(restated.ends_with(&own.instruction().unwrap()));
        texts.push(restated);
    }
    insta::assert_snapshot!(texts.join("\n\n====\n\n"));
}

#[test]
fn a_boundary_without_a_summary_says_so_and_a_fallback_is_flagged() {
    let mut texts = Vec::new();
    for (answer, fallback) in [(Answer::Memories, false), (Answer::Fallback, true)] {
        let mut window = Window::new(10, "", provider::request::Shape::Bare);
        let material = Material {
            memories: !fallback,
            unread: vec![Unread {
                path: "gone.rs".to_owned(),
                why: "no such file".to_owned(),
            }],
            ..Material::default()
        };
        let applied = apply(&mut window, &answer, material, 3).unwrap();
        assert_eq!(applied.fallback, fallback);
        let last = &window.items()[0];
        assert_eq!((last.turn, last.band), (3, Band::History));
        assert!(last.is_ephemeral());
        texts.push(last.message.text().to_owned());
    }
    insta::assert_snapshot!(texts.join("\n\n====\n\n"));
}

#[test]
fn a_file_read_anew_is_headed_and_can_be_evicted() {
    let view = file_view("a.rs", None, "fn a() {}\n", None, 4).unwrap();
    assert_eq!(view.message.text(), "File: a.rs\n----\nfn a() {}\n");
    let mut window = Window::new(10, "", provider::request::Shape::Bare);
    let material = Material {
        files: vec![view],
        ..Material::default()
    };
    let answer = Answer::Compact(call("s"));
    let applied = apply(&mut window, &answer, material, 4).unwrap();
    assert_eq!(applied.restarted.kept.files, 1);
    assert_eq!(&*applied.summary, "s");
    let evicted = crate::managed::evict(&mut window, Some("./a.rs"), false).unwrap();
    assert_eq!((evicted.items, evicted.first_index), (1, Some(0)));
    assert_eq!(
        window.items().len(),
        1,
        "no call was answered, so none is stubbed"
    );
}

#[test]
fn beside_an_ending_only_the_call_that_was_made_is_applied() {
    let mut asked = pending(SelfCompaction);
    assert_eq!(asked.close_ending(), Close::Nothing);
    assert!(
        asked.is_pending(),
        "an ending that does not stand leaves it due"
    );
    asked.register(call("so far"));
    assert_eq!(
        asked.close_ending(),
        Close::Apply(Answer::Compact(call("so far")))
    );
    assert!(!asked.is_pending());
    for strategy in [SelfSummarization, MemoryCompaction] {
        assert_eq!(pending(strategy).close_ending(), Close::Nothing);
    }
}
