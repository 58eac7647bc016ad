//! Items of reasoning as servers stream them, and as they do not.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::fault::Fault;
use crate::reply::{Assembly, Reply};

fn items(deltas: &[Value]) -> Vec<ReasoningItem> {
    let mut items = Items::default();
    for delta in deltas {
        let raw = serde_json::value::to_raw_value(delta).unwrap();
        items.add(Some(&raw)).unwrap();
    }
    items.settle()
}

fn shown(deltas: &[Value]) -> Vec<(Value, bool)> {
    let items = items(deltas).into_iter();
    let value = |json: &str| serde_json::from_str(json).unwrap();
    items.map(|item| (value(&item.json), item.sealed)).collect()
}

fn read(deltas: &[Value]) -> Result<Reply, Fault> {
    let mut assembly = Assembly::new(None);
    for delta in deltas {
        let chunk = json!({ "choices": [{ "index": 0, "delta": delta }] });
        assembly.push(chunk.to_string().as_bytes())?;
    }
    assembly.push(b"[DONE]")?;
    assembly.finish()
}

#[test]
fn a_signature_in_pieces_is_one() {
    let piece =
        |field: &str, value: &str| json!([{ "type": "reasoning.text", "index": 0, field: value }]);
    let signed = |pieces: &[&str]| {
        let mut deltas = vec![piece("text", "a")];
        deltas.extend(pieces.iter().map(|it| piece("signature", it)));
        let [item] = &*items(&deltas) else {
            panic!("one item: {pieces:?}");
        };
        let item: Value = serde_json::from_str(&item.json).unwrap();
        item["signature"].as_str().unwrap().to_owned()
    };
    assert_eq!(signed(&["si", "gna", "ture"]), "signature");
    assert_eq!(signed(&["sig", "\u{1F600}", "="]), "sig\u{1F600}=");
    // One that is only said again, or whole once more, is no next part.
    assert_eq!(signed(&["sig=", "sig="]), "sig=");
    assert_eq!(signed(&["si", "sig="]), "sig=");
}

#[test]
fn a_text_in_pieces_ends_in_its_signature() {
    let piece = |text: Value, signature: Value| {
        json!([{ "type": "reasoning.text", "text": text, "signature": signature,
            "format": "anthropic-claude-v1", "index": 0 }])
    };
    let deltas = [
        piece(json!("I thi"), Value::Null),
        piece(json!("nk \u{1F642}"), Value::Null),
        json!([{ "type": "reasoning.text", "signature": "sig=", "format": "anthropic-claude-v1", "index": 0 }]),
    ];
    assert_eq!(
        items(&deltas)[0].json.as_ref(),
        r#"{"type":"reasoning.text","text":"I think 🙂","signature":"sig=","format":"anthropic-claude-v1","index":0}"#
    );
    assert_eq!(shown(&deltas).len(), 1);
    assert!(shown(&deltas)[0].1);
}

#[test]
fn an_item_that_came_whole_is_kept_byte_for_byte() {
    let raw = "[ {\"b\" : 1.0,\"type\":\"reasoning.encrypted\", \"data\":\"\\u0041=\"} ]";
    let mut items = Items::default();
    items.add(Some(serde_json::from_str(raw).unwrap())).unwrap();
    let items = items.settle();
    assert_eq!(&*items[0].json, &raw[2..raw.len() - 2]);
    assert!(items[0].sealed);
}

#[test]
fn a_summary_and_its_sealed_twin_stay_two() {
    let deltas = [
        json!([{ "type": "reasoning.summary", "summary": "I ", "id": "rs_1", "index": 0 }]),
        json!([{ "type": "reasoning.summary", "summary": "look.", "id": "rs_1", "index": 0 }]),
        json!([{ "type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "index": 0 }]),
    ];
    assert_eq!(
        shown(&deltas),
        [
            (
                json!({ "type": "reasoning.summary", "summary": "I look.", "id": "rs_1", "index": 0 }),
                false
            ),
            (
                json!({ "type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "index": 0 }),
                true
            ),
        ]
    );
}

#[test]
fn interleaved_pieces_find_their_item_by_index_or_by_id() {
    let text = |index: Value, id: Value, text: &str| json!({ "type": "reasoning.text", "index": index, "id": id, "text": text });
    let by_index = [
        json!([
            text(json!(1), Value::Null, "a"),
            text(json!(0), Value::Null, "b")
        ]),
        json!([
            text(json!("0"), Value::Null, "c"),
            text(json!(1), Value::Null, "d")
        ]),
    ];
    let by_id = [
        json!([
            text(Value::Null, json!("x"), "a"),
            text(Value::Null, json!("y"), "b")
        ]),
        json!([
            text(Value::Null, json!("y"), "c"),
            text(Value::Null, json!("x"), "d")
        ]),
    ];
    for deltas in [by_index, by_id] {
        let texts: Vec<Value> = shown(&deltas)
            .into_iter()
            .map(|(it, _)| it["text"].clone())
            .collect();
        assert_eq!(texts, ["ad", "bc"]);
    }
}

#[test]
fn text_without_index_goes_on_and_sealed_data_is_never_joined_by_guess() {
    let text = |text: &str| json!([{ "type": "reasoning.text", "text": text }]);
    assert_eq!(shown(&[text("a"), text("b")])[0].0["text"], "ab");
    assert_eq!(shown(&[text("a"), text("b")]).len(), 1);
    let data = |data: &str| json!([{ "type": "reasoning.encrypted", "data": data }]);
    assert_eq!(shown(&[data("a"), data("b")]).len(), 2);
    let both = json!([{ "text": "a" }, { "text": "b" }]);
    assert_eq!(shown(&[both]).len(), 2);
    // Another id, or another index, is another item.
    let named =
        |id: &str| json!([{ "type": "reasoning.encrypted", "data": "d", "id": id, "index": 0 }]);
    assert_eq!(shown(&[named("call_1"), named("call_2")]).len(), 2);
}

#[test]
fn a_signed_text_is_closed() {
    let piece = |text: &str, signature: Value| json!([{ "type": "reasoning.text", "index": 0, "text": text, "signature": signature }]);
    let deltas = [
        piece("a", Value::Null),
        piece("", json!("s1")),
        piece("b", Value::Null),
        piece("", json!("s2")),
    ];
    let shown = shown(&deltas);
    let field = |name: &str| {
        shown
            .iter()
            .map(|(it, _)| it[name].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(field("text"), ["a", "b"]);
    assert_eq!(field("signature"), ["s1", "s2"]);
}

#[test]
fn a_field_is_what_was_first_said_of_it() {
    let deltas = [
        json!([{ "type": "reasoning.text", "index": 0, "text": null, "signature": "", "format": null }]),
        json!([{ "type": "reasoning.text", "index": 0, "text": "a", "format": "f" }]),
        json!([{ "type": "reasoning.text", "index": 0, "text": null, "signature": "s", "format": "g" }]),
        json!([{ "type": "reasoning.text", "index": 0, "text": null, "id": "late" }]),
    ];
    assert_eq!(
        shown(&deltas),
        [(
            json!({ "type": "reasoning.text", "index": 0, "text": "a", "signature": "s",
                "format": "f", "id": "late" }),
            true
        )]
    );
}

#[test]
fn what_says_nothing_is_no_reasoning() {
    let empty = json!([{ "type": "reasoning.text", "text": "", "signature": null, "index": 0, "format": "f" }]);
    assert!(items(&[empty.clone(), empty]).is_empty());
    assert!(
        items(&[
            json!([{}, null, 3, "x", [], [[1]]]),
            json!("text"),
            json!(4),
            Value::Null
        ])
        .is_empty()
    );
    let reply = read(&[json!({ "content": "a", "reasoning": " \n" })]).unwrap();
    assert_eq!(reply.reasoning_for(None), None);
    assert_eq!(
        read(&[json!({ "content": "a" })])
            .unwrap()
            .reasoning_for(None),
        None
    );
}

#[test]
fn only_what_is_signed_or_encrypted_is_sealed() {
    let sealed = |item: Value| shown(&[json!([item])])[0].1;
    assert!(sealed(
        json!({ "type": "reasoning.text", "text": "a", "signature": "s" })
    ));
    assert!(sealed(
        json!({ "type": "reasoning.encrypted", "blob": "a" })
    ));
    assert!(sealed(json!({ "data": "a" })));
    assert!(!sealed(
        json!({ "type": "reasoning.text", "text": "a", "signature": null })
    ));
    assert!(!sealed(
        json!({ "type": "reasoning.text", "text": "a", "signature": "" })
    ));
    assert!(!sealed(
        json!({ "type": "reasoning.summary", "summary": "a", "data": null })
    ));
}

#[test]
fn a_string_instead_of_a_list_stays_readable_text() {
    let reply = read(&[
        json!({ "reasoning_details": ["I ", "see"] }),
        json!({ "content": "a" }),
    ])
    .unwrap();
    assert_eq!(reply.reasoning.as_deref(), Some("I see"));
    let reply = read(&[
        json!({ "reasoning_details": "I see" }),
        json!({ "content": "a" }),
    ])
    .unwrap();
    assert_eq!(reply.reasoning.as_deref(), Some("I see"));
    assert!(reply.reasoning_items.is_empty());
    let thought = reply.reasoning_for(Some(&"Acme".into())).unwrap();
    assert_eq!(thought.provider, Some("Acme".into()));
    assert_eq!(thought.text.as_deref(), Some("I see"));
    assert!(thought.items.is_empty());
}

#[test]
fn items_come_beside_their_text_and_a_whole_message_says_them_once() {
    let item = json!({ "type": "reasoning.text", "text": "I see", "signature": "s", "index": 0 });
    let delta = json!({ "reasoning": "I see", "reasoning_details": [item] });
    let mut assembly = Assembly::new(None);
    let chunks = [
        json!({ "provider": "Acme", "choices": [{ "delta": delta }] }),
        json!({ "choices": [{ "message": delta, "finish_reason": "stop" }] }),
    ];
    for chunk in chunks {
        assembly.push(chunk.to_string().as_bytes()).unwrap();
    }
    let reply = assembly.finish().unwrap();
    assert_eq!(reply.reasoning_items.len(), 1);
    let thought = reply.reasoning_for(Some(&"other".into())).unwrap();
    assert_eq!(thought.provider, Some("Acme".into()));
    assert!(thought.items[0].sealed);
}

#[test]
fn endless_items_are_refused() {
    let list = |count: usize| json!({ "reasoning_details": vec![json!({ "data": "x" }); count] });
    assert_eq!(
        read(&[list(MOST_ITEMS)]).unwrap().reasoning_items.len(),
        MOST_ITEMS
    );
    assert!(matches!(
        read(&[list(MOST_ITEMS + 1)]),
        Err(Fault::Parse { .. })
    ));
}

/// An item and the way it is cut.
fn cut_item() -> impl Strategy<Value = (Value, Vec<Value>)> {
    let kind = prop_oneof![
        Just(("reasoning.text", "text")),
        Just(("reasoning.summary", "summary")),
        Just(("reasoning.encrypted", "data")),
    ];
    let pieces = proptest::collection::vec("[a-zé\"\\\\\u{1F642}]{0,4}", 1..6);
    (kind, pieces, proptest::option::of("[a-z]{1,4}")).prop_map(|((kind, field), pieces, signature)| {
        let piece = |text: &str, signature: Option<&String>| {
            json!({ "type": kind, field: text, "format": "f", "signature": signature })
        };
        let last = pieces.len() - 1;
        let cut = pieces.iter().enumerate().map(|(place, text)| {
            piece(text, signature.as_ref().filter(|_| place == last))
        });
        (piece(&pieces.concat(), signature.as_ref()), cut.collect())
    })
}

proptest! {
    #[test]
    fn items_are_the_same_however_they_were_cut_and_mixed(
        given in proptest::collection::vec(cut_item(), 1..6),
        order in proptest::collection::vec(any::<prop::sample::Index>(), 40),
        per_delta in 1..4_usize,
    ) {
        let with_index = |item: &Value, index: usize| {
            let mut item = item.clone();
            item["index"] = json!(index);
            item
        };
        // First pieces in order, then any order that keeps each item's own.
        let mut left: Vec<_> = given.iter().map(|(_, cut)| cut.iter()).collect();
        let mut pieces: Vec<Value> = Vec::new();
        for (index, cut) in left.iter_mut().enumerate() {
            pieces.extend(cut.next().map(|piece| with_index(piece, index)));
        }
        for at in order {
            let at = at.index(left.len());
            pieces.extend(left[at].next().map(|piece| with_index(piece, at)));
        }
        for (index, cut) in left.into_iter().enumerate() {
            pieces.extend(cut.map(|piece| with_index(piece, index)));
        }
        let deltas: Vec<Value> = pieces.chunks(per_delta).map(|pieces| json!(pieces)).collect();
        let field = |item: &Value| -> bool {
            JOINED.iter().chain(&["signature"]).any(|key| item[*key].as_str().is_some_and(|it| !it.is_empty()))
        };
        let expected: Vec<Value> = given
            .iter()
            .enumerate()
            .filter(|(_, (whole, _))| field(whole))
            .map(|(index, (whole, _))| with_index(whole, index))
            .collect();
        let found: Vec<Value> = shown(&deltas).into_iter().map(|(item, _)| item).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn no_junk_is_an_error_and_every_item_is_an_object(
        deltas in proptest::collection::vec(junk(), 0..8),
    ) {
        for item in items(&deltas) {
            prop_assert!(serde_json::from_str::<Value>(&item.json).unwrap().is_object());
        }
    }
}

fn junk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3).prop_map(Value::from),
        "[a-b]{0,2}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("type"),
        Just("index"),
        Just("id"),
        Just("text"),
        Just("data"),
        Just("signature"),
        Just("other"),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..5).prop_map(|fields| {
                Value::Object(
                    fields
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}
