//! The items of a reply's reasoning, put together from the pieces of a stream (R26).
//!
//! They go back to whoever made them, so an item that arrived whole is kept byte for byte, and one
//! that arrived in pieces has its texts joined and every other field as it first came. Which
//! pieces are of one item: those of one type and one `index`, or, where a server numbers nothing,
//! a text that goes on where the chunk before ended.
//!
//! Always true: items stand in the order in which they began; pieces that arrive in one chunk are
//! never joined with each other; what is no object is no item.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use vocab::message::ReasoningItem;

use super::text::Text;

/// The items so far.
#[derive(Debug, Default)]
pub(super) struct Details {
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    /// The object as its first piece had it; the whole item where no other followed.
    first: Box<RawValue>,
    kind: String,
    index: Option<String>,
    id: Option<String>,
    /// The fields in their order, once a second piece has come.
    joined: Option<Vec<(String, Field)>>,
}

#[derive(Debug)]
enum Field {
    Raw(Box<RawValue>),
    Text(Text),
}

impl Details {
    /// Takes the list of one delta. `whole` where it is no piece of a stream.
    pub(super) fn push(&mut self, raw: Option<&RawValue>, whole: bool) {
        let Some(raw) = raw else { return };
        let Ok(pieces) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else {
            return;
        };
        let earlier = self.items.len();
        for (place, piece) in pieces.into_iter().enumerate() {
            let Ok(Fields(fields)) = serde_json::from_str(piece.get()) else {
                continue;
            };
            let piece = Piece {
                raw: piece,
                kind: text_of(&fields, "type").unwrap_or_default(),
                index: raw_of(&fields, "index").map(str::to_owned),
                id: text_of(&fields, "id"),
                fields,
            };
            let begun = &mut self.items[..if whole { 0 } else { earlier }];
            match begun.iter_mut().rev().find(|item| item.is_of(&piece)) {
                Some(item) => item.join(piece.fields),
                // What has no number goes on with the last item alone.
                None if piece.index.is_none() && place == 0 => match begun.last_mut() {
                    Some(item) if item.goes_on_with(&piece) => item.join(piece.fields),
                    _ => self.items.push(piece.into()),
                },
                None => self.items.push(piece.into()),
            }
        }
    }

    /// The items as they are sent back.
    pub(super) fn finish(self) -> Vec<ReasoningItem> {
        self.items.into_iter().map(Item::finish).collect()
    }
}

struct Piece<'a> {
    raw: &'a RawValue,
    kind: String,
    index: Option<String>,
    id: Option<String>,
    fields: Vec<(String, &'a RawValue)>,
}

impl From<Piece<'_>> for Item {
    fn from(piece: Piece<'_>) -> Self {
        Self {
            first: piece.raw.to_owned(),
            kind: piece.kind,
            index: piece.index,
            id: piece.id,
            joined: None,
        }
    }
}

impl Item {
    /// Whether a piece with a number belongs to it.
    fn is_of(&self, piece: &Piece<'_>) -> bool {
        self.kind == piece.kind
            && piece.index.is_some()
            && self.index == piece.index
            && self.is_named_as(piece)
    }

    /// Whether a piece without a number goes on where it ended: readable text does, and encrypted
    /// items arrive whole.
    fn goes_on_with(&self, piece: &Piece<'_>) -> bool {
        self.kind == piece.kind
            && self.index.is_none()
            && self.kind != ENCRYPTED
            && self.is_named_as(piece)
    }

    /// Whether nothing says that they are two.
    fn is_named_as(&self, piece: &Piece<'_>) -> bool {
        self.id.is_none() || piece.id.is_none() || self.id == piece.id
    }

    fn join(&mut self, fields: Vec<(String, &RawValue)>) {
        let first = &self.first;
        let joined = self.joined.get_or_insert_with(|| {
            let Fields(fields) = serde_json::from_str(first.get()).unwrap_or_default();
            fields
                .into_iter()
                .map(|(name, raw)| {
                    let field = Field::of(&name, raw);
                    (name, field)
                })
                .collect()
        });
        for (name, raw) in fields {
            match joined.iter_mut().find(|(known, _)| *known == name) {
                Some((_, Field::Text(text))) => {
                    text.push_json(raw);
                }
                Some((_, field)) if field.is_empty() => *field = Field::of(&name, raw),
                Some(_) => {}
                None => {
                    let field = Field::of(&name, raw);
                    joined.push((name, field));
                }
            }
        }
    }

    fn finish(self) -> ReasoningItem {
        let json = match self.joined {
            None => self.first.get().to_owned(),
            Some(fields) => write(fields),
        };
        ReasoningItem {
            sealed: self.kind == ENCRYPTED || is_signed(&json),
            json: json.into(),
        }
    }
}

/// The type of an item that only its maker can read, whatever else it holds.
const ENCRYPTED: &str = "reasoning.encrypted";

/// Whether an item carries a signature or sealed data.
fn is_signed(json: &str) -> bool {
    let Fields(fields) = serde_json::from_str(json).unwrap_or_default();
    ["signature", "data"]
        .iter()
        .any(|name| text_of(&fields, name).is_some_and(|text| !text.is_empty()))
}

impl Field {
    /// A text that grows by its pieces, or a value that stays.
    fn of(name: &str, raw: &RawValue) -> Self {
        let mut text = Text::default();
        if ["text", "summary", "data"].contains(&name) && text.push_json(raw) {
            Self::Text(text)
        } else {
            Self::Raw(raw.to_owned())
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Raw(raw) if matches!(raw.get(), "null" | "\"\""))
    }
}

fn write(fields: Vec<(String, Field)>) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(name, field)| {
            let value = match field {
                Field::Raw(raw) => raw.get().to_owned(),
                Field::Text(text) => quoted(&text.into_string()),
            };
            format!("{}:{value}", quoted(&name))
        })
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn raw_of<'a>(fields: &[(String, &'a RawValue)], name: &str) -> Option<&'a str> {
    let (_, raw) = fields.iter().find(|(known, _)| known == name)?;
    Some(raw.get()).filter(|raw| *raw != "null")
}

fn text_of(fields: &[(String, &RawValue)], name: &str) -> Option<String> {
    serde_json::from_str(raw_of(fields, name)?).ok()
}

/// The members of an object in their order.
#[derive(Default)]
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        struct Members<'a>(Vec<(String, &'a RawValue)>);
        impl<'de: 'a, 'a> Visitor<'de> for Members<'a> {
            type Value = Vec<(String, &'a RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                mut self,
                mut members: A,
            ) -> Result<Self::Value, A::Error> {
                while let Some(member) = members.next_entry()? {
                    self.0.push(member);
                }
                Ok(self.0)
            }
        }
        object.deserialize_map(Members(Vec::new())).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn items(deltas: &[&str]) -> Vec<(String, bool)> {
        let mut details = Details::default();
        for delta in deltas {
            details.push(Some(serde_json::from_str(delta).unwrap()), false);
        }
        let items = details.finish().into_iter();
        items
            .map(|item| (item.json.to_string(), item.sealed))
            .collect()
    }

    #[test]
    fn an_item_that_arrived_whole_is_kept_byte_for_byte() {
        let text = r#"{"type":"reasoning.text",  "text":"a\u00e9","z":1.50,"a":[1,  2]}"#;
        let sealed = r#"{"type":"reasoning.encrypted","data":"xyz"}"#;
        assert_eq!(
            items(&[&format!("[{text},{sealed}]")]),
            [(text.to_owned(), false), (sealed.to_owned(), true)]
        );
    }

    #[test]
    fn pieces_of_one_number_become_one_item_with_its_signature() {
        assert_eq!(
            items(&[
                r#"[{"type":"reasoning.text","text":"I ","format":"f","index":0}]"#,
                r#"[{"type":"reasoning.text","text":"see","index":0},{"type":"reasoning.text","text":"then","index":1}]"#,
                r#"[{"type":"reasoning.text","signature":"sig","index":0,"text":null}]"#,
            ]),
            [
                (
                    r#"{"type":"reasoning.text","text":"I see","format":"f","index":0,"signature":"sig"}"#
                        .to_owned(),
                    true
                ),
                (
                    r#"{"type":"reasoning.text","text":"then","index":1}"#.to_owned(),
                    false
                ),
            ]
        );
    }

    #[test]
    fn without_numbers_text_goes_on_and_sealed_items_stand_alone() {
        let kinds = |deltas: &[&str]| items(deltas).len();
        let text = r#"[{"type":"reasoning.text","text":"a"}]"#;
        let sealed = r#"[{"type":"reasoning.encrypted","data":"a"}]"#;
        assert_eq!(kinds(&[text, text, text]), 1);
        assert_eq!(kinds(&[sealed, sealed]), 2);
        assert_eq!(kinds(&[text, sealed, text]), 3);
        let twice =
            r#"[{"type":"reasoning.text","text":"a"},{"type":"reasoning.text","text":"b"}]"#;
        assert_eq!(kinds(&[twice]), 2);
        let named = |id| format!(r#"[{{"type":"reasoning.summary","summary":"s","id":"{id}"}}]"#);
        assert_eq!(kinds(&[&named("a"), &named("a"), &named("b")]), 2);
    }

    #[test]
    fn what_is_no_object_is_no_item() {
        assert_eq!(items(&["[1,\"two\",null,[]]", "{}", "\"text\""]), []);
    }

    proptest! {
        #[test]
        fn a_text_is_the_same_however_it_was_cut(text in "\\PC{0,40}", cuts in prop::collection::vec(0_usize..40, 0..6)) {
            let chars: Vec<char> = text.chars().collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(chars.len())).collect();
            cuts.sort_unstable();
            cuts.push(chars.len());
            let mut details = Details::default();
            let mut from = 0;
            for cut in cuts {
                let piece: String = chars[from..cut].iter().collect();
                let delta = json!([{ "type": "reasoning.text", "text": piece, "index": 3 }]);
                let raw = RawValue::from_string(delta.to_string()).unwrap();
                details.push(Some(&raw), false);
                from = cut;
            }
            let items = details.finish();
            prop_assert_eq!(items.len(), 1);
            let item: Value = serde_json::from_str(&items[0].json).unwrap();
            prop_assert_eq!(item, json!({ "type": "reasoning.text", "text": text, "index": 3 }));
        }
    }
}
