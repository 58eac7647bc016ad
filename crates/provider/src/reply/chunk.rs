//! One chunk of a completion, as servers write it.
//!
//! Every field that servers disagree about is kept raw here and read leniently by the functions
//! below: `null` is absent, a figure may be a string, a text may be a list of parts.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::text::Text;

type Raw<'a> = Option<&'a RawValue>;

/// The top level, of a stream's chunk and of a whole answer alike.
#[derive(Default, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) id: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) provider: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) choices: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) usage: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) error: Raw<'a>,
    /// `error` where the chunk itself is the error object.
    #[serde(borrow, default)]
    pub(super) object: Raw<'a>,
}

/// One of the alternatives; only the first is ever asked for.
#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow, default)]
    pub(super) index: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) delta: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) message: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) error: Raw<'a>,
}

/// A piece of the message, or all of it.
#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_details: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Raw<'a>,
}

/// A piece of one call, or all of it.
#[derive(Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(borrow, default)]
    pub(super) index: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) id: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionDelta<'a>>,
}

#[derive(Default, Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Raw<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Raw<'a>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Raw<'a>,
    #[serde(borrow, default)]
    summary: Raw<'a>,
}

/// A string that says something; `None` for anything else.
pub(super) fn word(raw: Raw<'_>) -> Option<String> {
    let text: String = serde_json::from_str(raw?.get()).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// A whole number, or a string that holds one.
pub(super) fn index(raw: Raw<'_>) -> Option<u64> {
    raw?.get().trim_matches('"').trim().parse().ok()
}

/// Adds a text, or the texts of a list of parts; true where that was anything.
pub(super) fn add_text(raw: Raw<'_>, to: &mut Text) -> bool {
    let Some(raw) = raw else { return false };
    let before = to.bytes().len();
    if !to.push_json(raw)
        && let Ok(parts) = serde_json::from_str::<Vec<&RawValue>>(raw.get())
    {
        for part in parts {
            if !to.push_json(part)
                && let Ok(part) = serde_json::from_str::<Part<'_>>(part.get())
                && let Some(text) = part.text.or(part.summary)
            {
                to.push_json(text);
            }
        }
    }
    to.bytes().len() > before
}

/// Whether a list or an object holds anything.
pub(super) fn holds_anything(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| !matches!(raw.get(), "[]" | "{}" | "\"\""))
}

/// An error that is one: not `null`, `false` or an empty text.
pub(super) fn error(raw: Raw<'_>) -> Raw<'_> {
    raw.filter(|raw| !matches!(raw.get(), "false" | "\"\""))
}
