//! Random sessions of turns, refreshes, evictions, archivals and compactions, held to the
//! invariants of 02 §12 after every step.
//!
//! 256 sessions; 10,000 where `GG_LONG` is set.

mod session;
mod strategies;

use context::compaction::{Compaction, CompactionStrategy, Due, Policy, handoff};
use context::prompts;
use context::signal::{self, SignalPolicy};
use context::tokens;
use context::window::{BlockKind, NewItem, Window};
use proptest::prelude::*;
use session::{Act, Called, LABELS, PATHS, Session, user};
use vocab::band::Band;
use vocab::message::{Message, Role};
use vocab::rewrite::Rewrite;

#[derive(Clone, Debug)]
enum Step {
    Turn(Vec<Called>, Option<Act>, Vec<Called>),
    Prose(bool),
    Block(BlockKind, Option<u8>),
    View(usize, bool),
    Docs(u8),
    Compact(u8, usize, usize),
    Signal(f64),
    Strip,
    Request,
}

fn called() -> impl Strategy<Value = Called> {
    prop_oneof![
        3 => Just(Called::Output),
        3 => (0..PATHS.len()).prop_map(Called::File),
        1 => Just(Called::Picture),
        1 => Just(Called::Skill),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let range = (1..20_u32, 0..4_u32).prop_map(|(from, more)| (from, from + more));
    prop_oneof![
        proptest::option::of(0..PATHS.len()).prop_map(Act::Evict),
        proptest::collection::vec(range, 1..4).prop_map(Act::Archive),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let calls = || proptest::collection::vec(called(), 0..3);
    let block = proptest::sample::select(BlockKind::ALL.to_vec());
    prop_oneof![
        8 => (calls(), proptest::option::weighted(0.4, act()), calls())
            .prop_map(|(before, act, after)| Step::Turn(before, act, after)),
        1 => any::<bool>().prop_map(Step::Prose),
        2 => (block, proptest::option::weighted(0.8, 0..3_u8))
            .prop_map(|(kind, text)| Step::Block(kind, text)),
        2 => (0..LABELS.len(), any::<bool>()).prop_map(|(label, picture)| Step::View(label, picture)),
        1 => (0..3_u8).prop_map(Step::Docs),
        1 => (0..4_u8, 0..2_usize, 0..3_usize)
            .prop_map(|(answer, docs, files)| Step::Compact(answer, docs, files)),
        1 => (0.0..100.0).prop_map(Step::Signal),
        1 => Just(Step::Strip),
        5 => Just(Step::Request),
    ]
}

fn cases() -> ProptestConfig {
    let long = std::env::var_os("GG_LONG").is_some();
    ProptestConfig::with_cases(if long { 10_000 } else { 256 })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn whatever_is_done_to_a_window_its_promises_hold(
        (files, locked, headers) in (0..3_usize, any::<bool>(), any::<bool>()),
        steps in proptest::collection::vec(step(), 0..40),
    ) {
        let mut session = Session::open(2_000, files, locked, headers);
        session.request();
        for step in steps {
            match step {
                Step::Turn(ahead, act, behind) => session.turn(&ahead, act.as_ref(), &behind),
                Step::Prose(notice) => {
                    let said = Message::Assistant {
                        text: Some(session.text("prose").into()),
                        calls: Vec::new(),
                        reasoning: None,
                    };
                    let turn = session.turn;
                    session.window.push(NewItem::new(Band::Assistant, turn, said));
                    if notice {
                        let told = user(&session.text("notice"));
                        session.window.push(NewItem::new(Band::System, turn, told));
                    }
                    session.turn += 1;
                }
                Step::Block(kind, text) => {
                    let text = text.map(|text| format!("{} in state {text}", kind.band()));
                    let was = session.blocks.get(&(kind as u8)).cloned();
                    let turn = session.turn;
                    let changed = session.window.refresh_block(
                        kind,
                        text.as_deref().map(Into::into),
                        turn,
                    );
                    prop_assert_eq!(changed, was != text);
                    match text {
                        Some(text) => session.blocks.insert(kind as u8, text),
                        None => session.blocks.remove(&(kind as u8)),
                    };
                }
                Step::View(label, picture) => session.view(label, picture),
                Step::Docs(name) => {
                    let turn = session.turn;
                    let text = session.text("documentation");
                    session.window.push(NewItem {
                        selector: Some(format!("gg.{name}").into()),
                        ..NewItem::new(Band::DocsView, turn, user(&text))
                    });
                }
                Step::Compact(answer, docs, files) => session.compact(answer, docs, files),
                Step::Signal(threshold_percent) => {
                    let (ids, sums) = (session.window.ids(), session.window.breakdown());
                    let threads = ids.len() - usize::from(session.window.signal().is_some());
                    let policy = SignalPolicy {
                        threshold_percent,
                        top_file_views: 2,
                        evict: Some("evict_file_view".into()),
                        close: None,
                        archive: Some("archive_thread".into()),
                        search: Some("search_archive".into()),
                    };
                    signal::refresh(&mut session.window, &policy).unwrap();
                    prop_assert_eq!(&session.window.ids()[..threads], &ids[..threads]);
                    prop_assert_eq!(session.window.breakdown(), sums);
                }
                Step::Strip => {
                    for (text, pictures) in &mut session.pinned {
                        if std::mem::take(pictures) > 0 {
                            *text = prompts::picture_removed(text).unwrap();
                        }
                    }
                    session.window.strip_pictures(prompts::picture_removed).unwrap();
                }
                Step::Request => session.request(),
            }
            session.check();
        }
        session.request();
        for strategy in [CompactionStrategy::HandoffSummarization, CompactionStrategy::HandoffCompaction] {
            let ask = handoff::ask(&session.window, strategy, true).unwrap();
            prop_assert!(ask.messages[1..].iter().all(|it| it.role() == Role::User));
        }
    }
}

/// F59: three calls of one reply whose results cross the threshold.
#[test]
fn results_that_cross_the_threshold_are_compacted_at_the_boundary_with_their_calls() {
    let mut session = Session::open(2_000, 1, true, false);
    session.turn(&[Called::Output, Called::File(0), Called::Skill], None, &[]);
    session.request();
    session.compact(0, 0, 0);
    session.check();
    session.request();
    let items = session.window.items();
    assert!(items.iter().all(|it| it.message.role() == Role::User));
    assert_eq!(session.window.take_rewritten(), None);
}

#[test]
fn of_several_acts_the_one_that_broke_the_prefix_earliest_is_remembered() {
    let mut session = Session::open(2_000, 0, false, false);
    for _ in 0..3 {
        session.turn(&[Called::File(0), Called::File(1)], None, &[]);
    }
    session.request();
    session.archive(&[(3, 3)]);
    session.evict(Some(1));
    assert_eq!(
        session.window.take_rewritten(),
        Some(Rewrite::EvictFileView)
    );
    assert_eq!(session.window.take_rewritten(), None);
    session.evict(Some(1));
    assert_eq!(session.window.take_rewritten(), None, "nothing was there");
}

#[test]
fn a_superseded_view_is_rewritten_only_where_it_showed_a_picture() {
    let mut session = Session::open(2_000, 0, false, false);
    session.view(0, false);
    session.view(0, true);
    assert_eq!(
        session.window.items().len(),
        2,
        "an unsent copy is replaced"
    );
    session.request();
    session.view(0, false);
    session.check();
    let act = session.window.take_rewritten();
    assert_eq!(act, Some(Rewrite::SupersededPicture));
    session.before.clear();
    let [_, old, new] = session.window.items() else {
        panic!("task, history, view");
    };
    assert_eq!((old.band, &old.selector), (Band::History, &None));
    assert!(old.message.images().is_empty());
    assert!(old.message.text().contains("the newest view of plan"));
    assert_eq!(new.band, Band::TextView);
    session.request();
    session.view(0, false);
    session.request();
    assert_eq!(session.window.items().len(), 4);
}

#[test]
fn a_view_is_replaced_in_place_until_a_request_holds_it_whatever_is_edited_before_it() {
    let mut session = Session::open(2_000, 0, false, false);
    session.turn(&[Called::File(0)], None, &[]);
    session.request();
    session.view(0, true);
    session.evict(None);
    assert_eq!(
        session.window.take_rewritten(),
        Some(Rewrite::EvictFileView)
    );
    let items = session.window.items().len();
    session.view(0, true);
    session.check();
    assert_eq!(session.window.items().len(), items);
    assert_eq!(session.window.take_rewritten(), None);
    session.compact(0, 0, 0);
    session.view(1, false);
    session.view(1, false);
    assert_eq!(session.window.items().len(), 3, "task, summary, one view");
}

#[test]
fn what_is_left_of_an_evicted_view_keeps_its_header() {
    let mut session = Session::open(2_000, 0, false, true);
    session.turn(&[Called::File(1)], None, &[]);
    session.evict(None);
    let stub = session.window.items()[2].message.text();
    let lines: Vec<_> = stub.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[2]), (4, "Turn #1", "----"));
    let counted = tokens::count(lines[3]);
    assert_eq!(lines[1], format!("{counted} tokens"));
}

/// F62: what the tools take is part of how full the window is.
#[test]
fn tool_schemas_count_in_fullness_and_cannot_be_compacted() {
    let mut window = Window::new(4_000, "word ".repeat(3_900), provider::request::Shape::Bare);
    window.set_system("s");
    let policy = Policy {
        strategy: CompactionStrategy::SelfSummarization,
        headroom: 0.1,
        max_retries: 0,
        memory_calls: Vec::new(),
        names: context::calls::CallNames::default(),
    };
    let mut compaction = Compaction::new(policy, window.limit());
    let (_, usage) = window.breakdown();
    assert_eq!(compaction.check(usage, window.has_ephemeral()), Due::Pinned);
    assert_eq!(window.pinned_tokens(), usage);
}
