//! The window against the obvious: every list recomputed from the messages pushed.

use std::collections::HashSet;
use std::sync::Arc;

use context::tokens;
use context::window::{Cursor, NewItem, Region, Retention, Slot, Window, fingerprint};
use proptest::prelude::*;
use provider::request::Shape;
use vocab::band::{Band, BandTokens};
use vocab::message::{Image, ImageFormat, Message, ToolCall};

const TOOLSET: &str = r#"[{"type":"function","function":{"name":"list_dir"}}]"#;

fn user(text: &str) -> Message {
    Message::User {
        text: text.into(),
        images: Vec::new(),
    }
}

fn any_message() -> impl Strategy<Value = Message> {
    // Few texts, so that equal messages are pushed often.
    let text = prop_oneof!["[a-c]{0,2}", "\\PC{0,40}"];
    let image = (any::<bool>(), 0_u8..3).prop_map(|(readable, byte)| Image {
        format: ImageFormat::Png,
        bytes: vec![byte; 4].into(),
        dimensions: readable.then_some((700, 400)),
    });
    let images = proptest::collection::vec(image, 0..2);
    (0..3, text, images, 0..4_u8).prop_map(|(role, text, images, call)| {
        let id = format!("call-{call}");
        match role {
            0 => Message::User {
                text: text.into(),
                images,
            },
            1 => Message::Assistant {
                text: (call > 0).then(|| text.as_str().into()),
                calls: vec![ToolCall {
                    id: id.into(),
                    name: "search".to_owned(),
                    arguments: format!("{{\"query\":\"{text}\"}}").into(),
                }],
                reasoning: None,
            },
            _ => Message::Tool {
                call: id.into(),
                text: text.into(),
                images,
            },
        }
    })
}

#[derive(Clone, Debug)]
enum Step {
    Push(Band, Message, bool),
    Signal(Option<String>),
    Breakdown,
    Log,
    Journal,
    Rebuild,
}

fn step() -> impl Strategy<Value = Step> {
    let band = proptest::sample::select(Band::ALL);
    prop_oneof![
        6 => (band, any_message(), any::<bool>()).prop_map(|(band, message, known)| Step::Push(band, message, known)),
        1 => proptest::option::of("[a-z]{0,6}").prop_map(Step::Signal),
        2 => Just(Step::Breakdown),
        2 => Just(Step::Log),
        2 => Just(Step::Journal),
        1 => Just(Step::Rebuild),
    ]
}

proptest! {
    #[test]
    fn a_request_extends_the_one_before_and_all_sums_agree(
        system in "\\PC{0,40}",
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        let mut window = Window::new(1000, TOOLSET, Shape::Bare);
        window.set_system(system.as_str());
        let mut model = vec![(Band::System, Message::System { text: system.as_str().into() })];
        let mut signal: Option<Message> = None;
        let mut before = Vec::new();
        let mut reported = HashSet::new();
        let mut journal = Vec::new();
        let mut cursor = Cursor::default();
        for step in steps {
            match step {
                Step::Push(band, message, known) => {
                    let mut item = NewItem::new(band, 1, message.clone());
                    item.tokens = known.then(|| tokens::of_message(&message));
                    prop_assert_eq!(window.push(item), fingerprint(&message));
                    model.push((band, message));
                }
                Step::Signal(text) => {
                    signal = text.as_deref().map(user);
                    window.set_signal(signal.clone().map(Arc::new));
                }
                Step::Breakdown => {
                    let mut bands = BandTokens::default();
                    bands.add(Band::System, tokens::count(TOOLSET));
                    for (band, message) in &model {
                        bands.add(*band, tokens::of_message(message));
                    }
                    prop_assert_eq!(window.breakdown(), (bands, bands.total()));
                }
                Step::Log => {
                    for logged in window.unlogged() {
                        prop_assert!(reported.insert(logged.id), "reported twice");
                        prop_assert_eq!(logged.id, fingerprint(&logged.message));
                        prop_assert_eq!(logged.tokens, tokens::of_message(&logged.message));
                    }
                    prop_assert!(window.ids().iter().all(|id| reported.contains(id)));
                }
                Step::Journal => {
                    let delta = window.since(cursor);
                    cursor = delta.cursor;
                    journal.truncate(delta.keep);
                    journal.extend(delta.rows.iter().map(|row| (*row.message).clone()));
                    prop_assert!(journal.iter().eq(model.iter().map(|(_, message)| message)));
                    prop_assert!(window.since(cursor).rows.is_empty());
                }
                Step::Rebuild => window.rebuild(vocab::rewrite::Rewrite::Toolset),
            }
            let now = window.request_thread().to_vec();
            prop_assert!(now.starts_with(&before));
            before = now;
            let messages = model.iter().map(|(_, message)| message).chain(&signal);
            prop_assert!(window.ids().into_iter().eq(messages.map(fingerprint)));
            for call in 0..4 {
                let id = format!("call-{call}").as_str().into();
                let held = model.iter().any(|(_, message)| message.calls().iter().any(|call| call.id == id));
                prop_assert_eq!(window.has_call(&id), held);
            }
        }
    }
}

#[test]
fn a_request_is_the_messages_as_the_provider_writes_them() {
    let mut window = Window::new(1000, "", Shape::Bare);
    window.set_system("be brief");
    window.push(NewItem::new(Band::UserPrompt, 0, user("do it")));
    let mut expected = Vec::new();
    provider::message::write(
        &Message::System {
            text: "be brief".into(),
        },
        Shape::Bare,
        &mut expected,
    );
    expected.push(b',');
    provider::message::write(&user("do it"), Shape::Bare, &mut expected);
    assert_eq!(window.request_thread().to_vec(), expected);
}

#[test]
fn tokens_the_caller_knows_are_believed_and_the_rest_is_counted_when_asked_for() {
    let mut window = Window::new(1000, "", Shape::Bare);
    let mut item = NewItem::new(Band::Assistant, 1, user("some words"));
    item.tokens = Some(7);
    window.push(item);
    window.push(NewItem::new(Band::ToolOutput, 1, user("some words")));
    let (bands, total) = window.breakdown();
    assert_eq!(bands.of(Band::Assistant), 7);
    assert_eq!(bands.of(Band::ToolOutput), 2);
    assert_eq!(total, 9);
}

#[test]
fn a_system_prompt_that_comes_late_or_changes_stands_first() {
    let mut window = Window::new(1000, "", Shape::Bare);
    window.push(NewItem::new(Band::UserPrompt, 0, user("task")));
    let cursor = window.since(Cursor::default()).cursor;
    for prompt in ["one", "two words", "two words"] {
        window.set_system(prompt);
        let text = String::from_utf8(window.request_thread().to_vec()).unwrap();
        assert!(text.starts_with(r#"{"role":"system""#) && text.contains(prompt));
        assert_eq!(text.matches("\"role\"").count(), 2);
        assert_eq!(window.breakdown().1, tokens::count(prompt) + 1);
    }
    let delta = window.since(cursor);
    assert_eq!((delta.keep, delta.rows.len()), (0, 2));
    assert_eq!(delta.rows[0].slot, Slot::System);
    assert_eq!(delta.rows[1].slot, Slot::Thread);
}

#[test]
fn an_item_keeps_what_a_frame_and_a_log_say_of_it() {
    let mut window = Window::new(1000, "", Shape::Bare);
    window.push(NewItem {
        retention: Retention::Pinned,
        selector: Some("src/main.rs".into()),
        region: Some(Region {
            first: 1,
            last: 3,
            total: 9,
        }),
        ..NewItem::new(Band::FileView, 4, user("fn main() {}"))
    });
    let row = window.since(Cursor::default()).rows.remove(0);
    assert_eq!((row.band, row.turn), (Band::FileView, 4));
    assert_eq!(row.retention, Retention::Pinned);
    assert_eq!(row.region.unwrap().total, 9);
    let logged = window.unlogged().remove(0);
    assert_eq!(logged.label.as_deref(), Some("src/main.rs"));
    assert!(window.unlogged().is_empty());
}

#[test]
fn the_signal_comes_last_in_the_ids_and_costs_nothing() {
    let mut window = Window::new(1000, "", Shape::Bare);
    window.set_system("s");
    window.push(NewItem::new(Band::UserPrompt, 0, user("task")));
    let (bytes, cost) = (window.request_thread().to_vec(), window.breakdown());
    let signal = Arc::new(user("90 % full"));
    window.set_signal(Some(signal.clone()));
    assert_eq!(window.ids().last(), Some(&fingerprint(&signal)));
    assert_eq!(window.request_thread().to_vec(), bytes);
    assert_eq!(window.breakdown(), cost);
    assert_eq!(window.unlogged().len(), 3);
    assert_eq!(window.signal_row().unwrap().slot, Slot::Signal);
    window.set_signal(None);
    assert_eq!(window.ids().len(), 2);
}

#[test]
fn a_stripped_picture_leaves_its_result_and_a_note() {
    let picture = Image {
        format: ImageFormat::Png,
        bytes: vec![1; 30].into(),
        dimensions: Some((1, 1)),
    };
    let mut window = Window::new(1_000, "[]", Shape::Bare);
    window.set_system("s");
    let result = |text: &str, images| Message::Tool {
        call: "a".into(),
        text: text.into(),
        images,
    };
    window.push(NewItem::new(
        Band::FileView,
        1,
        result("a.png", vec![picture]),
    ));
    window.push(NewItem::new(Band::ToolOutput, 1, result("plain", vec![])));
    let (_, with_picture) = window.breakdown();
    let before = window.ids();
    assert_eq!(window.picture_bytes(), 40);
    window.unlogged();

    window
        .strip_pictures(|text| Ok::<_, ()>(format!("{text}\n[gone]")))
        .unwrap();
    assert_eq!(window.picture_bytes(), 0);
    let (_, without) = window.breakdown();
    assert!(without < with_picture);
    let after = window.ids();
    assert_ne!(before[1], after[1]);
    assert_eq!((before[0], before[2]), (after[0], after[2]));
    let fresh = window.unlogged();
    assert_eq!(fresh.len(), 1, "only what changed is reported again");
    assert_eq!(fresh[0].message.text(), "a.png\n[gone]");
    assert_eq!(fresh[0].message.answers(), Some(&"a".into()));
    let sent = String::from_utf8(window.request_thread().to_vec()).unwrap();
    assert!(!sent.contains("image_url"), "{sent}");
}

#[test]
fn views_that_are_disowned_become_history_and_keep_every_byte() {
    let mut window = Window::new(1_000, TOOLSET, Shape::Bare);
    let view = |band, selector: &str| NewItem {
        selector: Some(selector.into()),
        ..NewItem::new(band, 1, user(&format!("body of {selector}")))
    };
    for (band, selector) in [
        (Band::DocsView, "gg.views.openText"),
        (Band::DocsView, "csvTools.cells"),
        (Band::TextView, "csvTools.cells"),
    ] {
        let opened = window.open_view(view(band, selector), |_| Err(()));
        assert!(opened.is_ok());
    }
    let (before, _) = window.breakdown();
    let ids = window.ids();
    window.disown_views(|band, key| band == Band::DocsView && key.starts_with("csvTools"));
    assert_eq!(window.ids(), ids);
    let bands: Vec<_> = window.items().iter().map(|item| item.band).collect();
    assert_eq!(bands, [Band::DocsView, Band::History, Band::TextView]);
    assert_eq!(window.items()[1].selector, None);
    assert_eq!(window.open_views().count(), 2);
    let (after, _) = window.breakdown();
    assert_eq!(after.total(), before.total());
    // What is opened again is a view of its own.
    let again = view(Band::DocsView, "csvTools.cells");
    assert!(window.open_view(again, |_| Err(())).is_ok());
    assert_eq!(window.open_views().count(), 3);
}
