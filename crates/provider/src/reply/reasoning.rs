//! The items of a reply's reasoning, put together from pieces (R26).
//!
//! A stream sends an item in pieces: text after text, at last perhaps a signature. Pieces belong
//! together by type and index, or by type and id. An item that came in one piece is kept byte for
//! byte, because its maker may compare; one that came in several is written anew, its texts and the
//! pieces of its signature joined and every other field as it was first given.
//!
//! Always true: items stand in the order they were first seen; what is no object is no item, and
//! never an error.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, MapAccess, Visitor};
use serde_json::value::RawValue;
use vocab::message::ReasoningItem;

use super::chunk;
use super::text::Text;
use crate::message;

/// Items of one reply that are taken at most.
const MOST_ITEMS: usize = 1024;

/// Fields whose pieces are joined.
const JOINED: [&str; 3] = ["text", "summary", "data"];

/// The field that seals a text. What follows it, without a text, goes on with it.
const SIGNATURE: &str = "signature";

/// Fields that name an item and say nothing.
const NAMING: [&str; 4] = ["type", "id", "index", "format"];

/// The items so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Items {
    seen: Vec<Item>,
    deltas: u64,
}

#[derive(Clone, Debug)]
struct Item {
    kind: Option<String>,
    index: Option<u64>,
    id: Option<String>,
    /// Its one piece as it came, while there is one.
    whole: Option<Box<str>>,
    fields: Vec<(String, Field)>,
    /// The delta that touched it last, so that two entries of one delta are told apart.
    touched: u64,
}

#[derive(Clone, Debug)]
enum Field {
    Joined(Text),
    First(Box<RawValue>),
}

impl Items {
    /// Takes `reasoning_details` of one delta; what is no list of objects is passed over.
    pub(super) fn add(&mut self, raw: Option<&RawValue>) -> Result<(), String> {
        let Some(raw) = raw else { return Ok(()) };
        self.deltas += 1;
        let list = serde_json::from_str::<Vec<&RawValue>>(raw.get());
        // One item without its list, as a lenient reader takes it.
        for piece in list.unwrap_or_else(|_| vec![raw]) {
            if let Ok(Piece(fields)) = serde_json::from_str::<Piece<'_>>(piece.get())
                && !fields.is_empty()
            {
                self.add_piece(piece.get(), &fields)?;
            }
        }
        Ok(())
    }

    fn add_piece(&mut self, piece: &str, fields: &Fields<'_>) -> Result<(), String> {
        let named = |name: &str| {
            let field = fields.iter().find(|(key, _)| key == name);
            field.map(|(_, raw)| *raw).filter(|raw| raw.get() != "null")
        };
        let kind = chunk::word(named("type"));
        let id = chunk::word(named("id"));
        let index = chunk::index(named("index"));
        let speaks = JOINED.iter().any(|key| chunk::holds_anything(named(key)));
        if let Some(at) = self.find(kind.as_ref(), index, id.as_ref(), speaks) {
            let item = &mut self.seen[at];
            item.touched = self.deltas;
            item.whole = None;
            item.index = item.index.or(index);
            item.id = item.id.take().or(id);
            for (key, raw) in fields {
                item.take(key, raw);
            }
            return Ok(());
        }
        if self.seen.len() >= MOST_ITEMS {
            return Err(format!(
                "the reply holds more than {MOST_ITEMS} items of reasoning"
            ));
        }
        let mut item = Item {
            kind,
            index,
            id,
            whole: Some(piece.into()),
            fields: Vec::with_capacity(fields.len()),
            touched: self.deltas,
        };
        for (key, raw) in fields {
            item.take(key, raw);
        }
        self.seen.push(item);
        Ok(())
    }

    /// The item a piece continues.
    fn find(
        &self,
        kind: Option<&String>,
        index: Option<u64>,
        id: Option<&String>,
        speaks: bool,
    ) -> Option<usize> {
        let same = |item: &Item| {
            let other_id = id.is_some() && item.id.is_some() && item.id.as_ref() != id;
            // A signature closes what it signs: more text is another thought under an old index.
            let closed = speaks && item.signature();
            item.kind.as_ref() == kind && !other_id && !closed
        };
        if index.is_some() {
            let at = self
                .seen
                .iter()
                .rposition(|it| same(it) && it.index == index);
            if at.is_some() {
                return at;
            }
        }
        if id.is_some() {
            return self.seen.iter().rposition(|it| {
                let other_index = index.is_some() && it.index.is_some() && it.index != index;
                same(it) && it.id.as_ref() == id && !other_index
            });
        }
        // Without index and id readable text goes on where it stood; sealed data is never joined
        // by guess, nor are two entries of one delta.
        let last = self.seen.last()?;
        let guessed = index.is_none()
            && last.index.is_none()
            && last.touched < self.deltas
            && same(last)
            && !last.has("data");
        guessed.then(|| self.seen.len() - 1)
    }

    /// Whether there is any.
    pub(super) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// The items as they are sent back; one that says nothing is none.
    pub(super) fn settle(self) -> Vec<ReasoningItem> {
        self.seen
            .into_iter()
            .filter(Item::says_anything)
            .map(Item::settle)
            .collect()
    }
}

impl Item {
    fn take(&mut self, key: &str, raw: &RawValue) {
        let known = self.fields.iter_mut().find(|(known, _)| known == key);
        let mut text = Text::default();
        let joined = JOINED.contains(&key) && text.push_json(raw);
        match known {
            Some((_, Field::Joined(so_far))) if key == SIGNATURE => {
                so_far.push_json(raw);
            }
            Some((_, Field::Joined(so_far))) => so_far.append(&text),
            Some((_, field)) if !field.says_anything() => {
                *field = Field::of(joined.then_some(text), raw);
            }
            Some((_, field)) if key == SIGNATURE => field.sign_on(raw),
            Some(_) => {}
            None => {
                let field = Field::of(joined.then_some(text), raw);
                self.fields.push((key.to_owned(), field));
            }
        }
    }

    fn has(&self, key: &str) -> bool {
        let field = self.fields.iter().find(|(known, _)| known == key);
        field.is_some_and(|(_, field)| field.says_anything())
    }

    fn signature(&self) -> bool {
        self.has(SIGNATURE)
    }

    fn says_anything(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|(key, field)| !NAMING.contains(&key.as_str()) && field.says_anything())
    }

    /// Whether only its maker can read it.
    fn is_sealed(&self) -> bool {
        self.signature() || self.has("data") || self.kind.as_deref() == Some("reasoning.encrypted")
    }

    fn settle(self) -> ReasoningItem {
        let sealed = self.is_sealed();
        let json = match self.whole {
            Some(whole) => whole.into(),
            None => written(self.fields).into(),
        };
        ReasoningItem { json, sealed }
    }
}

impl Field {
    fn of(text: Option<Text>, raw: &RawValue) -> Self {
        text.map_or_else(|| Self::First(raw.to_owned()), Self::Joined)
    }

    /// Takes another piece of a signature: the same one again says nothing new, one that begins with
    /// the first is the whole of it, any other is its next part.
    fn sign_on(&mut self, next: &RawValue) {
        let Self::First(known) = &*self else { return };
        let read = |raw: &RawValue| serde_json::from_str::<String>(raw.get()).ok();
        let (Some(first), Some(second)) = (read(known), read(next)) else {
            return;
        };
        if second.starts_with(&first) {
            *self = Self::First(next.to_owned());
            return;
        }
        let mut whole = Text::default();
        if whole.push_json(known) && whole.push_json(next) {
            *self = Self::Joined(whole);
        }
    }

    fn says_anything(&self) -> bool {
        match self {
            Self::Joined(text) => !text.is_empty(),
            Self::First(raw) => raw.get() != "null" && chunk::holds_anything(Some(raw)),
        }
    }
}

fn written(fields: Vec<(String, Field)>) -> String {
    let mut out = vec![b'{'];
    for (place, (key, field)) in fields.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        message::string(&key, &mut out);
        out.push(b':');
        match field {
            Field::Joined(text) => message::string(&text.into_string(), &mut out),
            Field::First(raw) => out.extend_from_slice(raw.get().as_bytes()),
        }
    }
    out.push(b'}');
    String::from_utf8(out).expect("JSON of strings is UTF-8")
}

type Fields<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// The fields of an object in order.
struct Piece<'a>(Fields<'a>);

impl<'de> Deserialize<'de> for Piece<'de> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    fields.push((key, map.next_value()?));
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(InOrder).map(Self)
    }
}

/// A key, borrowed where it has no escape.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests;
