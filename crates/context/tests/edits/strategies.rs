//! Compaction as a session lives it: any strategy, any size, and five hundred turns under each.

use context::calls::CallNames;
use context::compaction::{
    Answer, Close, Compaction, CompactionStrategy, Due, Material, Missing, Policy, Relief, apply,
    handoff, read_compact,
};
use context::signal::{self, SignalPolicy};
use context::window::{BlockKind, NewItem, Retention, Window, trigger, working_window};
use proptest::prelude::*;
use vocab::band::Band;
use vocab::message::{Message, Role, ToolCall};
use vocab::tools::ToolName;

use crate::cases;
use crate::session::{Called, RENDERS, Session, strictly_paired, user};

proptest! {
    #![proptest_config(cases())]

    /// Whatever size a turn and a summary are, a session ends by its turns or by a failure that is
    /// named: no boundary is asked for twice in one place, and none follows the last failure.
    #[test]
    fn a_session_under_any_strategy_ends(
        strategy in proptest::sample::select(CompactionStrategy::ALL.to_vec()),
        headroom in 0.0..0.9_f64,
        max_retries in 0..3_u64,
        pinned in 0..1_200_u64,
        turns in proptest::collection::vec((1..400_u64, 0..1_000_u64), 1..60),
    ) {
        let mut window = Window::new(working_window(1_500, None, Some(headroom)), "", provider::request::Shape::Bare);
        let sized = |band, turn, tokens| NewItem {
            tokens: Some(tokens),
            ..NewItem::new(band, turn, user("x"))
        };
        window.push(NewItem { retention: Retention::Pinned, ..sized(Band::UserPrompt, 0, pinned) });
        let policy = Policy {
            strategy,
            headroom,
            max_retries,
            memory_calls: vec![ToolName::WriteMemory],
            names: CallNames::default(),
        };
        let mut compaction = Compaction::new(policy, window.limit());
        let mut unrelieved = 0;
        'session: for (turn, (work, summary)) in turns.into_iter().enumerate() {
            let turn = u32::try_from(turn).unwrap() + 1;
            let mut boundary = |window: &mut Window, compaction: &mut Compaction| {
                let answer = Answer::Prose("s".to_owned());
                apply(window, &answer, Material::default(), turn).unwrap();
                window.push(sized(Band::History, turn, summary));
                let (_, after) = window.breakdown();
                let pinned = window.pinned_tokens();
                let relief = compaction.applied(after, pinned);
                unrelieved = if relief == Relief::Relieved { 0 } else { unrelieved + 1 };
                assert!(unrelieved <= max_retries + 1);
                assert_eq!(unrelieved == max_retries + 1, matches!(relief, Relief::Failed(_)));
                relief
            };
            loop {
                let (_, usage) = window.breakdown();
                match compaction.check(usage, window.has_ephemeral()) {
                    Due::Nothing | Due::Pinned => break,
                    Due::Handoff => match boundary(&mut window, &mut compaction) {
                        Relief::Relieved => break,
                        Relief::Again => {}
                        Relief::Failed(_) => break 'session,
                    },
                    Due::Instruct => {
                        prop_assert!(compaction.is_pending());
                        prop_assert_eq!(compaction.check(usage, true), Due::Nothing);
                        if let Relief::Failed(_) = boundary(&mut window, &mut compaction) {
                            break 'session;
                        }
                        prop_assert!(!compaction.is_pending());
                        break;
                    }
                }
            }
            let (_, usage) = window.breakdown();
            if usage < trigger(window.limit(), headroom) {
                unrelieved = 0;
            }
            window.push(sized(Band::ToolOutput, turn, work));
        }
    }
}

/// What an agent does with the instruction: it is refused a call, says nothing, and then complies.
fn comply(session: &mut Session, compaction: &mut Compaction) -> Answer {
    let turn = session.turn;
    let instruction = compaction.instruction().expect(RENDERS);
    let told = NewItem::new(Band::System, turn, user(&instruction));
    session.window.push(told);
    session.request();
    assert!(compaction.refusal(ToolName::Shell).is_some());
    session.turn(&[Called::Output], None, &[]);
    assert_eq!(compaction.close(None, &[false]), Close::Nothing);
    session.request();

    let missing = match compaction.close(Some(" "), &[]) {
        Close::Restate(missing) => missing,
        other => panic!("a blank reply is no answer: {other:?}"),
    };
    let wanted = compaction.strategy() == CompactionStrategy::SelfSummarization;
    assert_eq!(missing == Missing::Text, wanted);
    let restated = compaction.restatement(missing).expect(RENDERS);
    let told = NewItem::new(Band::System, session.turn, user(&restated));
    session.window.push(told);
    session.request();

    let close = match compaction.strategy() {
        CompactionStrategy::SelfSummarization => compaction.close(Some("all of it"), &[]),
        CompactionStrategy::SelfCompaction => {
            let call = read_compact(r#"{"summary":"all of it","files":["src/a.rs"]}"#);
            compaction.register(call.expect("the call is well formed"));
            session.turn(&[Called::Output], None, &[]);
            compaction.close(None, &[true])
        }
        _ => {
            assert_eq!(compaction.refusal(ToolName::WriteMemory), None);
            session.turn(&[Called::Output, Called::Output], None, &[]);
            assert_eq!(compaction.close(None, &[true, false]), Close::Nothing);
            session.request();
            session.turn(&[Called::Output], None, &[]);
            compaction.succeeded(ToolName::WriteMemory);
            compaction.close(None, &[true])
        }
    };
    match close {
        Close::Apply(answer) => answer,
        other => panic!("it complied: {other:?}"),
    }
}

/// What another model does: every third time nothing usable.
fn hand_off(session: &Session, strategy: CompactionStrategy, boundary: usize) -> Answer {
    let ask = handoff::ask(&session.window, strategy, true).expect(RENDERS);
    assert_eq!(ask.messages[0].role(), Role::System);
    assert!(ask.messages[1..].iter().all(|it| it.role() == Role::User));
    let skills = ask
        .messages
        .iter()
        .filter(|it| it.text().contains("skill number"));
    assert_eq!(skills.count(), 0);
    let pictures = |messages: &[&Message]| -> usize {
        messages.iter().map(|message| message.images().len()).sum()
    };
    let told: Vec<_> = ask.messages.iter().collect();
    let held: Vec<_> = session
        .window
        .items()
        .iter()
        .map(|it| &*it.message)
        .collect();
    assert_eq!(pictures(&told), pictures(&held));
    if boundary % 3 == 2 {
        return handoff::read(strategy, Some(" "), &[]);
    }
    let call = ToolCall {
        id: "c".into(),
        name: "compact".to_owned(),
        arguments: r#"{"summary":"all of it"}"#.into(),
    };
    handoff::read(strategy, Some("all of it"), &[call])
}

/// A boundary: the memories another holder wrote since are in the block that is rebuilt for it.
fn boundary(session: &mut Session, compaction: &mut Compaction, answer: &Answer) -> Relief {
    let turn = session.turn;
    let written = format!("memories as of turn {turn}");
    session
        .window
        .refresh_block(BlockKind::Memories, Some(written.as_str().into()), turn);
    session.blocks.insert(BlockKind::Memories as u8, written);
    let applied = apply(&mut session.window, answer, Material::default(), turn).expect(RENDERS);
    assert_eq!(applied.fallback, *answer == Answer::Fallback);
    let pinned = session.window.pinned_tokens();
    let relief = compaction.applied(applied.restarted.after.total(), pinned);
    session.check();
    relief
}

#[test]
fn five_hundred_turns_under_each_strategy_lose_nothing_and_keep_every_pair() {
    for strategy in CompactionStrategy::ALL.iter().copied() {
        let headroom = 0.5;
        let limit = working_window(32_000, None, Some(headroom));
        let mut session = Session::open(limit, 2, true, true);
        let mut compaction = Compaction::new(
            Policy {
                strategy,
                headroom,
                max_retries: 1,
                memory_calls: vec![ToolName::WriteMemory],
                names: CallNames::default(),
            },
            limit,
        );
        let policy = SignalPolicy {
            threshold_percent: 30.0,
            top_file_views: 5,
            evict: Some("evict_file_view".into()),
            close: None,
            archive: Some("archive_thread".into()),
            search: Some("search_archive".into()),
        };
        let (mut boundaries, mut signals) = (0, 0);
        while session.turn <= 500 {
            let turn = session.turn;
            if turn.is_multiple_of(7) {
                let tasks = format!("tasks as of turn {turn}");
                session
                    .window
                    .refresh_block(BlockKind::Tasks, Some(tasks.as_str().into()), turn);
                session.blocks.insert(BlockKind::Tasks as u8, tasks);
            }
            let (_, usage) = session.window.breakdown();
            let answer = match compaction.check(usage, session.window.has_ephemeral()) {
                Due::Nothing => None,
                Due::Instruct => Some(comply(&mut session, &mut compaction)),
                Due::Handoff => Some(hand_off(&session, strategy, boundaries)),
                Due::Pinned => panic!("little is pinned"),
            };
            if let Some(answer) = answer {
                let relief = boundary(&mut session, &mut compaction, &answer);
                assert_eq!(relief, Relief::Relieved);
                boundaries += 1;
            }
            signal::refresh(&mut session.window, &policy).expect(RENDERS);
            signals += usize::from(session.window.signal().is_some());
            session.request();
            let called = match turn % 40 {
                0 => [Called::Picture, Called::Output],
                1 if turn < 300 => [Called::Skill, Called::File(1)],
                _ => [Called::File(0), Called::Long],
            };
            session.turn(&called, None, &[Called::Long]);
        }
        session.request();
        session.check();
        strictly_paired(&session.window);
        assert!(boundaries >= 20, "{strategy:?}: {boundaries}");
        assert!(signals > boundaries, "{signals}");
    }
}
