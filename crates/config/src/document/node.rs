//! The tree of a document: numbers as text, repeated keys counted, every value with its span.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Unreadable, place};

/// One value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Bytes of the document's text.
    pub(crate) span: Range<usize>,
    /// The value.
    pub(crate) kind: Kind,
}

/// A value as written.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Null,
    Flag(bool),
    /// The number's own text.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Object),
}

/// An object: its members in order, each key once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    members: Vec<(String, Node)>,
    repeated: Vec<String>,
}

impl Object {
    /// The first value written under a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.members
            .iter()
            .find_map(|(name, node)| (name == key).then_some(node))
    }

    /// The members, in order, each under the first of its repetitions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.members
            .iter()
            .map(|(name, node)| (name.as_str(), node))
    }

    /// Keys written more than once, each once.
    pub(crate) fn repeated(&self) -> &[String] {
        &self.repeated
    }
}

impl Kind {
    /// What kind of value it is, for a sentence.
    pub(crate) fn in_a_sentence(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// Longest piece of a value shown in a sentence, in characters.
const SHOWN: usize = 60;

/// A text as a sentence shows it: quoted and escaped as JSON, cut on a character.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    serde_json::Value::String(shown).to_string()
}

impl fmt::Display for Kind {
    /// The value as a sentence names it: scalars as written, lists and objects by their kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(text) if text.len() > SHOWN => write!(f, "{}…", &text[..SHOWN]),
            Self::Number(text) => f.write_str(text),
            Self::Text(text) => f.write_str(&quoted(text)),
            other => f.write_str(other.in_a_sentence()),
        }
    }
}

/// Reads a whole text whose depth is known to be bounded.
pub(super) fn read(text: &str) -> Result<Node, Unreadable> {
    let raw: &RawValue =
        serde_json::from_str(text).map_err(|error| unreadable(&error, text, text))?;
    node(raw.get(), text)
}

/// Reads one value that is known to be well formed, at most [`super::MAX_DEPTH`] deep.
fn node(raw: &str, document: &str) -> Result<Node, Unreadable> {
    let start = raw.as_ptr() as usize - document.as_ptr() as usize;
    let fault = |error: serde_json::Error| unreadable(&error, raw, document);
    let kind = match raw.as_bytes().first() {
        Some(b'n') => Kind::Null,
        Some(b't') => Kind::Flag(true),
        Some(b'f') => Kind::Flag(false),
        Some(b'"') => Kind::Text(serde_json::from_str(raw).map_err(fault)?),
        Some(b'[') => Kind::List(
            serde_json::Deserializer::from_str(raw)
                .deserialize_seq(Items)
                .map_err(fault)?
                .into_iter()
                .map(|item| node(item.get(), document))
                .collect::<Result<_, _>>()?,
        ),
        Some(b'{') => {
            let members = serde_json::Deserializer::from_str(raw)
                .deserialize_map(Members)
                .map_err(fault)?;
            let mut times: HashMap<String, usize> = HashMap::new();
            let mut object = Object::default();
            for (key, value) in members {
                let times = times.entry(key.clone()).or_default();
                *times += 1;
                match *times {
                    1 => object.members.push((key, node(value.get(), document)?)),
                    2 => object.repeated.push(key),
                    _ => {}
                }
            }
            Kind::Object(object)
        }
        _ => Kind::Number(raw.to_owned()),
    };
    Ok(Node {
        span: start..start + raw.len(),
        kind,
    })
}

/// A parser's complaint about a part of the document, at its place in the whole.
fn unreadable(error: &serde_json::Error, part: &str, document: &str) -> Unreadable {
    let start = part.as_ptr() as usize - document.as_ptr() as usize;
    let text = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    let reason = text.strip_suffix(&suffix).unwrap_or(&text);
    if error.is_eof() {
        let reason = reason.strip_prefix("EOF ").unwrap_or(reason);
        let end = start + part.len();
        return Unreadable::at(format_args!("it ends too early, {reason}"), document, end);
    }
    let offset = start + place::offset(part, error.line(), error.column());
    Unreadable::at(format_args!("it is no JSON: {reason}"), document, offset)
}

struct Items;

impl<'de> Visitor<'de> for Items {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(items)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}
