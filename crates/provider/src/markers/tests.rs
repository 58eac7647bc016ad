//! Markers against a reference that walks over the messages, and what no session may break.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use vocab::message::{Message, Reasoning, ReasoningItem, ToolCall};

use super::*;
use crate::request::Thread;

fn user(text: &str) -> Message {
    Message::User {
        text: text.into(),
        images: vec![],
    }
}

fn system() -> Message {
    Message::System { text: "s".into() }
}

fn result(text: &str) -> Message {
    Message::Tool {
        call: "c".into(),
        text: text.into(),
        images: vec![],
    }
}

fn said(text: Option<&str>, items: usize, calls: usize) -> Message {
    let call = ToolCall {
        id: "c".into(),
        name: "f".to_owned(),
        arguments: "{}".into(),
    };
    let item = ReasoningItem {
        json: "{}".into(),
        sealed: true,
    };
    Message::Assistant {
        text: text.map(Arc::from),
        calls: vec![call; calls],
        reasoning: (items > 0).then(|| {
            Arc::new(Reasoning {
                provider: None,
                items: vec![item; items],
                text: None,
            })
        }),
    }
}

fn thread(messages: &[Message]) -> Snapshot {
    let mut thread = Thread::of(Shape::Parts);
    thread.extend(messages);
    thread.snapshot()
}

fn marked(messages: &[Message]) -> Vec<usize> {
    let markers = markers(&thread(messages), CacheLifetime::Default);
    markers.iter().map(|marker| marker.message).collect()
}

// The reference, by walking.

fn carries(message: &Message) -> bool {
    !message.text().trim().is_empty()
}

fn blocks(message: &Message) -> u64 {
    let items = message.reasoning().map_or(0, |it| it.items.len()) as u64;
    items + u64::from(!message.text().is_empty()) + message.calls().len() as u64
}

/// Blocks up to the marker of a message.
fn depth(messages: &[Message], at: usize) -> u64 {
    let before: u64 = messages[..at].iter().map(blocks).sum();
    before + blocks(&messages[at]) - messages[at].calls().len() as u64
}

fn reaches(messages: &[Message], from: usize, entry: usize) -> bool {
    entry <= from && depth(messages, from) < depth(messages, entry) + LOOK_BACK
}

fn last_carrier(messages: &[Message], end: usize) -> Option<usize> {
    (0..end).rev().find(|&at| carries(&messages[at]))
}

fn reference(messages: &[Message]) -> Vec<usize> {
    let Some(tail) = last_carrier(messages, messages.len()) else {
        return vec![];
    };
    let from_model = |at: &usize| matches!(messages[*at], Message::Assistant { .. });
    let spoken: Vec<usize> = (0..messages.len()).filter(from_model).collect();
    let first = spoken.first().copied().unwrap_or(messages.len());
    let anchor = last_carrier(messages, first);
    // Of the grid, where each point comes to stand.
    let grid: Vec<(usize, usize)> = (0..tail)
        .step_by(GRID)
        .filter_map(|index| Some((index, last_carrier(messages, index + 1)?)))
        .collect();
    let mut wanted: Vec<(usize, usize)> = grid.last().copied().into_iter().collect();
    if let Some(asked) = spoken.last().and_then(|last| last_carrier(messages, *last)) {
        let behind = grid.iter().find(|(index, _)| *index >= asked);
        wanted.extend(behind.filter(|(_, point)| reaches(messages, *point, asked)));
        wanted.extend(grid.iter().rfind(|(index, _)| *index < asked));
    }
    wanted.extend(grid.iter().rev().nth(1));
    let mut rolling = Vec::new();
    for (_, point) in wanted {
        if rolling.len() < 2 && !rolling.contains(&point) && Some(point) > anchor && point < tail {
            rolling.push(point);
        }
    }
    let all: BTreeSet<usize> = anchor.into_iter().chain(rolling).chain([tail]).collect();
    all.into_iter().collect()
}

fn any_message() -> impl Strategy<Value = Message> {
    let text = prop_oneof![5 => Just("x"), 1 => Just(""), 1 => Just(" ")];
    (0..6, text, 0..3_usize, 0..14_usize).prop_map(|(role, text, items, calls)| match role {
        0 => user(text),
        1 => said(Some(text), items, calls),
        2 => said(None, items, calls),
        _ => result(text),
    })
}

/// What the opening and each turn add: an answer, then results and notices.
fn session(turn: impl Strategy<Value = Vec<Message>>) -> impl Strategy<Value = Vec<Vec<Message>>> {
    let opening = proptest::collection::vec(Just(user("task")), 1..12);
    let turns = proptest::collection::vec(turn, 1..14);
    (opening, turns).prop_map(|(mut opening, mut turns)| {
        opening.insert(0, system());
        turns.insert(0, opening);
        turns
    })
}

/// Turns as they are: each call has its result, and notices may follow.
fn ordinary_turn() -> impl Strategy<Value = Vec<Message>> {
    (any::<bool>(), 0..2_usize, 1..4_usize, 0..3_usize).prop_map(|(text, items, calls, notices)| {
        let mut turn = vec![said(text.then_some("x"), items, calls)];
        turn.extend((0..calls).map(|_| result("r")));
        turn.extend((0..notices).map(|_| user("n")));
        turn
    })
}

/// The thread at each request.
fn requests(turns: &[Vec<Message>]) -> Vec<Vec<Message>> {
    (1..=turns.len()).map(|end| turns[..end].concat()).collect()
}

proptest! {
    #[test]
    fn markers_stand_where_a_walk_over_the_messages_puts_them(
        messages in proptest::collection::vec(any_message(), 0..90),
    ) {
        prop_assert_eq!(marked(&messages), reference(&messages));
        let plain: Thread = messages.iter().collect();
        prop_assert!(markers(&plain.snapshot(), CacheLifetime::Extended).is_empty());
    }

    #[test]
    fn at_most_four_distinct_messages_that_say_something_are_marked(
        messages in proptest::collection::vec(any_message(), 0..90),
        lifetime in prop_oneof![Just(CacheLifetime::Default), Just(CacheLifetime::Extended)],
    ) {
        let markers = markers(&thread(&messages), lifetime);
        prop_assert!(markers.len() <= 4);
        prop_assert!(markers.windows(2).all(|pair| pair[0].message < pair[1].message));
        prop_assert!(markers.iter().all(|marker| carries(&messages[marker.message])));
        if lifetime == CacheLifetime::Default {
            prop_assert!(markers.iter().all(|marker| !marker.extended));
        } else {
            // An entry of an hour may not stand behind one of five minutes.
            prop_assert!(markers.windows(2).all(|pair| pair[0].extended >= pair[1].extended));
            prop_assert!(markers.iter().rev().skip(1).all(|marker| marker.extended));
        }
    }

    #[test]
    fn the_anchor_stays_and_rolling_points_only_come_and_go(
        turns in session(proptest::collection::vec(any_message(), 1..46)),
    ) {
        let mut anchors = BTreeSet::new();
        // Where each multiple of the grid stands never changes.
        let everything = turns.concat();
        let grid: BTreeSet<usize> = (0..everything.len())
            .step_by(GRID)
            .filter_map(|index| last_carrier(&everything, index + 1))
            .collect();
        for messages in requests(&turns) {
            let marked = marked(&messages);
            if messages.iter().any(|it| matches!(it, Message::Assistant { .. })) {
                anchors.insert(marked[0]);
            }
            for point in marked.iter().skip(1).rev().skip(1) {
                prop_assert!(grid.contains(point));
            }
        }
        prop_assert!(anchors.len() <= 1, "{:?}", anchors);
    }

    #[test]
    fn what_a_request_marked_is_in_sight_of_the_next_one_however_much_a_turn_adds(
        turns in session((1..46_usize).prop_map(|count| {
            let mut turn = vec![said(Some("x"), 0, 0)];
            turn.resize(count, result("r"));
            turn
        })),
    ) {
        let requests = requests(&turns);
        for pair in requests.windows(2) {
            let (before, now) = (marked(&pair[0]), marked(&pair[1]));
            // The tail, and the longest of those that may live an hour: while one of them is read,
            // what is shorter is worth nothing.
            for &entry in before.iter().rev().take(2) {
                prop_assert!(
                    now.iter().any(|&from| reaches(&pair[1], from, entry)),
                    "{entry} of {before:?} is out of sight of {now:?}"
                );
            }
        }
    }

    #[test]
    fn ordinary_turns_read_what_the_one_before_left(turns in session(ordinary_turn())) {
        let requests = requests(&turns);
        for pair in requests.windows(2) {
            let (before, now) = (marked(&pair[0]), marked(&pair[1]));
            for &entry in &before {
                prop_assert!(
                    now.iter().any(|&from| reaches(&pair[1], from, entry)),
                    "{entry} of {before:?} is out of sight of {now:?}"
                );
            }
        }
    }

    #[test]
    fn a_turn_of_any_size_reads_at_least_what_is_a_grid_s_width_before(
        turns in session((0..60_usize, 0..3_usize, 0..60_usize).prop_map(|(calls, items, rest)| {
            let mut turn = vec![said(None, items, calls)];
            turn.extend((0..calls + rest).map(|_| result("r")));
            turn
        })),
    ) {
        let requests = requests(&turns);
        for pair in requests.windows(2) {
            let (before, now) = (marked(&pair[0]), marked(&pair[1]));
            let deepest = before.iter().rfind(|&&entry| {
                now.iter().any(|&from| reaches(&pair[1], from, entry))
            });
            let tail = before.last().unwrap();
            prop_assert!(deepest.unwrap() + GRID >= *tail, "{before:?} {now:?}");
        }
    }
}

#[test]
fn the_first_request_marks_its_end_as_the_anchor() {
    let opening = [system(), user("task"), user("")];
    assert_eq!(marked(&opening), [1]);
    let lasting = markers(&thread(&opening), CacheLifetime::Extended);
    assert_eq!(
        lasting,
        [Marker {
            message: 1,
            extended: true
        }]
    );
    assert_eq!(marked(&[]), [0; 0]);
    assert_eq!(marked(&[user("")]), [0; 0]);
}

#[test]
fn what_nobody_reads_again_is_not_marked() {
    let opening = [system(), user("task")];
    assert!(markers(&thread(&opening), CacheLifetime::None).is_empty());
}

#[test]
fn a_session_s_markers_roll_along_the_grid() {
    let mut messages = vec![system(), user("task")];
    let mut seen = Vec::new();
    for _ in 0..13 {
        messages.push(said(None, 1, 1));
        messages.push(result("r"));
        seen.push(marked(&messages));
    }
    assert_eq!(
        seen,
        [
            vec![1, 3],
            vec![1, 5],
            vec![1, 7],
            // Message 8 is an answer without text; the one before it stands in.
            vec![1, 7, 9],
            vec![1, 7, 11],
            vec![1, 7, 13],
            vec![1, 7, 15],
            vec![1, 7, 15, 17],
            vec![1, 7, 15, 19],
            vec![1, 7, 15, 21],
            vec![1, 7, 15, 23],
            vec![1, 15, 23, 25],
            vec![1, 15, 23, 27],
        ]
    );
}

#[test]
fn only_the_tail_keeps_the_short_lifetime() {
    let mut messages = vec![system(), user("task")];
    for _ in 0..12 {
        messages.push(said(Some("x"), 0, 1));
        messages.push(result("r"));
    }
    let lasting: Vec<bool> = markers(&thread(&messages), CacheLifetime::Extended)
        .iter()
        .map(|marker| marker.extended)
        .collect();
    assert_eq!(lasting, [true, true, true, false]);
}
