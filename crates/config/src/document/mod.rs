//! The launch document as written: parsed, but not yet judged.
//!
//! JSON's grammar is read by `serde_json`; this room keeps what its data model would lose and a
//! total check needs: repeated keys, the text of every number, and each member as written.
//!
//! Always true: a parsed document is one object, its nesting is at most [`MAX_DEPTH`], and its
//! text at most [`MAX_BYTES`]. Nothing here panics, whatever the bytes.

mod node;
mod place;

use std::fmt;

use serde_json::value::RawValue;

pub(crate) use node::{Kind, Node, Object, quoted};
use place::Place;

use crate::validate::{self, Checked};

/// Deepest nesting of lists and objects. The deepest legal document has eleven levels.
pub const MAX_DEPTH: usize = 64;

/// Longest text of a document, in bytes.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Why a text is no launch document at all: one sentence, with line and column where there is one
/// (R50).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the launch document cannot be read: {reason}")]
pub struct Unreadable {
    reason: String,
}

impl Unreadable {
    pub(crate) fn new(reason: impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
        }
    }

    pub(crate) fn at(reason: impl fmt::Display, text: &str, offset: usize) -> Self {
        Self::new(format_args!("{reason} at {}", Place::of(text, offset)))
    }
}

/// A launch document that parsed.
#[derive(Clone, Debug)]
pub struct Document {
    text: String,
    root: Object,
}

/// Parses a text. Every fault of the values is left to [`Document::check`]; only a text that is
/// not one JSON object is unreadable.
pub fn parse(text: &str) -> Result<Document, Unreadable> {
    if text.len() > MAX_BYTES {
        return Err(Unreadable::new(format_args!(
            "it is {} bytes long; at most {MAX_BYTES} are read",
            text.len()
        )));
    }
    if text.trim_ascii().is_empty() {
        return Err(Unreadable::new("it is empty"));
    }
    if text.starts_with('\u{feff}') {
        return Err(Unreadable::at(
            "it begins with a byte order mark, which JSON does not allow,",
            text,
            0,
        ));
    }
    place::check_depth(text)?;
    let node = node::read(text)?;
    match node.kind {
        Kind::Object(root) => Ok(Document {
            text: text.to_owned(),
            root,
        }),
        other => Err(Unreadable::at(
            format_args!(
                "its top level is {}; expected one object",
                other.in_a_sentence()
            ),
            text,
            node.span.start,
        )),
    }
}

/// Parses bytes as they came from a file.
pub fn parse_bytes(bytes: &[u8]) -> Result<Document, Unreadable> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text),
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            Err(Unreadable::at("it is not UTF-8", &valid, valid.len()))
        }
    }
}

impl Document {
    /// Judges every value (01 §3.2): all refusals at once, none left for later but those that
    /// only disk, templates and toolchains can tell.
    pub fn check(&self) -> Checked {
        validate::check(&self.root)
    }

    /// The session's id, where a non-empty text is there: enough to stamp the events of a refusal.
    pub fn session_id(&self) -> Option<&str> {
        match &self.root.get("sessionId")?.kind {
            Kind::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// A member of the top level exactly as written; the first, where the key is repeated.
    pub fn raw(&self, key: &str) -> Option<Box<RawValue>> {
        let span = self.root.get(key)?.span.clone();
        RawValue::from_string(self.text.get(span)?.to_owned()).ok()
    }
}
