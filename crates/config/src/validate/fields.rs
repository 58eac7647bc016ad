//! Reading one object: every key judged where it stands, nothing given up at the first fault.
//!
//! Each reader answers `Some` for a value gg can honour. For anything else it has recorded one
//! refusal already (or the key is absent and may be), and answers `None`.

use super::bounds::{Count, Shape, Span};
use crate::document::{Kind, Node, Object};
use crate::number;
use crate::refusal::{Report, Spot, listed, nearest};

/// A list's entry, or a map's: where it stands, and what.
pub(crate) type Entry<'a> = (Spot, &'a Node);

/// One object being read.
pub(crate) struct Fields<'a> {
    pub(crate) report: &'a Report,
    pub(crate) spot: Spot,
    object: &'a Object,
    shape: Shape,
    complete: bool,
}

impl<'a> Fields<'a> {
    /// Opens an object, refusing what is none, unknown keys and repeated keys.
    pub(crate) fn open(
        report: &'a Report,
        spot: Spot,
        node: &'a Node,
        shape: Shape,
    ) -> Option<Self> {
        let Kind::Object(object) = &node.kind else {
            let expected = shape.expected();
            report.refuse(&spot, format!("is {}; expected {expected}", node.kind));
            return None;
        };
        Some(Self::of(report, spot, object, shape))
    }

    /// Opens what is known to be an object.
    pub(crate) fn of(report: &'a Report, spot: Spot, object: &'a Object, shape: Shape) -> Self {
        for (key, _) in object.iter() {
            if !shape.keys.contains(&key) {
                refuse_unknown_key(report, &spot, key, shape);
            }
        }
        refuse_repeated(report, &spot, object);
        Self {
            report,
            spot,
            object,
            shape,
            complete: true,
        }
    }

    /// The same, but owing no completeness: what is written is judged, what is absent is not asked
    /// for (01 §3.2, a disabled capability).
    pub(crate) fn incomplete(mut self) -> Self {
        self.complete = false;
        self
    }

    /// The opposite: what is written has a type with no place for an absent key, so it is whole
    /// even in a disabled capability.
    pub(crate) fn whole_or_absent(mut self) -> Self {
        self.complete = true;
        self
    }

    /// Where a member stands, or would.
    pub(crate) fn at(&self, key: &str) -> Spot {
        self.spot.key(key)
    }

    /// Whether a key is written, whatever its value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.object.get(key).is_some()
    }

    /// What is written under a key, unjudged.
    pub(crate) fn peek(&self, key: &str) -> Option<&'a Kind> {
        self.object.get(key).map(|node| &node.kind)
    }

    /// The value of a key; where it is required and absent, a refusal naming what was expected.
    fn find(&self, key: &str, expected: &str) -> Option<&'a Node> {
        self.find_or(key, || expected.to_owned())
    }

    /// The same, where naming what was expected is work.
    fn find_or(&self, key: &str, expected: impl FnOnce() -> String) -> Option<&'a Node> {
        debug_assert!(
            self.shape.keys.contains(&key),
            "{key} is read but not a key of {}",
            self.shape.name
        );
        let found = self.object.get(key);
        if found.is_none() && self.complete && self.shape.required.contains(&key) {
            self.report.refuse(
                &self.at(key),
                format!("is missing; expected {}", expected()),
            );
        }
        found
    }

    fn bad<T>(&self, key: &str, node: &Node, expected: &str) -> Option<T> {
        self.report.refuse(
            &self.at(key),
            format!("is {}; expected {expected}", node.kind),
        );
        None
    }

    /// Any value, for a judge of the caller's.
    pub(crate) fn any(&self, key: &str, expected: &str) -> Option<Entry<'a>> {
        Some((self.at(key), self.find(key, expected)?))
    }

    /// Any text, the empty one included.
    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        let node = self.find(key, "text")?;
        match &node.kind {
            Kind::Text(text) => Some(text),
            _ => self.bad(key, node, "text"),
        }
    }

    /// Text of at least one character.
    pub(crate) fn some_text(&self, key: &str) -> Option<&'a str> {
        const EXPECTED: &str = "text, not empty";
        let node = self.find(key, EXPECTED)?;
        match &node.kind {
            Kind::Text(text) if !text.is_empty() => Some(text),
            _ => self.bad(key, node, EXPECTED),
        }
    }

    /// Text of at least one character that is no blank.
    pub(crate) fn word_text(&self, key: &str) -> Option<&'a str> {
        const EXPECTED: &str = "text, not blank";
        let node = self.find(key, EXPECTED)?;
        match &node.kind {
            Kind::Text(text) if !text.trim().is_empty() => Some(text),
            _ => self.bad(key, node, EXPECTED),
        }
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        let node = self.find(key, "true or false")?;
        match node.kind {
            Kind::Flag(flag) => Some(flag),
            _ => self.bad(key, node, "true or false"),
        }
    }

    /// A whole number.
    pub(crate) fn whole(&self, key: &str, bounds: Count) -> Option<u64> {
        let node = self.find(key, &bounds.expected())?;
        whole(self.report, &self.at(key), node, bounds)
    }

    /// A number that may have a fraction.
    pub(crate) fn number(&self, key: &str, bounds: Span) -> Option<f64> {
        let expected = bounds.expected();
        let node = self.find(key, &expected)?;
        match &node.kind {
            Kind::Number(text) => number::finite(text)
                .filter(|number| bounds.admits(*number))
                .or_else(|| self.bad(key, node, &expected)),
            _ => self.bad(key, node, &expected),
        }
    }

    /// A word of a closed vocabulary.
    pub(crate) fn word<T: Copy>(
        &self,
        key: &str,
        all: &[T],
        spelling: fn(T) -> &'static str,
    ) -> Option<T> {
        let node = self.find_or(key, || one_of(all, spelling))?;
        word(self.report, &self.at(key), node, all, spelling)
    }

    /// The entries of a list.
    pub(crate) fn list(&self, key: &str, expected: &str) -> Option<Vec<Entry<'a>>> {
        let expected = format!("a list of {expected}");
        let node = self.find(key, &expected)?;
        let spot = self.at(key);
        match &node.kind {
            Kind::List(items) => Some(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| (spot.index(index), item))
                    .collect(),
            ),
            _ => self.bad(key, node, &expected),
        }
    }

    /// A list of texts, none blank. Entries that are none are refused and left out.
    pub(crate) fn texts(&self, key: &str, expected: &str) -> Option<Vec<&'a str>> {
        let entries = self.list(key, expected)?;
        Some(
            entries
                .into_iter()
                .filter_map(|(spot, node)| word_text(self.report, &spot, node))
                .collect(),
        )
    }

    /// An object of a known shape.
    pub(crate) fn object(&self, key: &str, shape: Shape) -> Option<Self> {
        let node = self.find_or(key, || shape.expected())?;
        self.child(self.at(key), node, shape)
    }

    /// An object standing somewhere in this one; it owes as much completeness.
    pub(crate) fn child(&self, spot: Spot, node: &'a Node, shape: Shape) -> Option<Self> {
        let child = Fields::open(self.report, spot, node, shape)?;
        Some(Self {
            complete: self.complete,
            ..child
        })
    }

    /// A list of words of a closed vocabulary. Entries that are none are refused and left out.
    pub(crate) fn words<T: Copy>(
        &self,
        key: &str,
        all: &[T],
        spelling: fn(T) -> &'static str,
    ) -> Option<Vec<T>> {
        let entries = self.list(key, &listed(all.iter().map(|word| spelling(*word))))?;
        Some(
            entries
                .into_iter()
                .filter_map(|(spot, node)| word(self.report, &spot, node, all, spelling))
                .collect(),
        )
    }

    /// The word a key of a map stands for.
    pub(crate) fn known<T: Copy>(
        &self,
        map: &Spot,
        key: &str,
        all: &[T],
        spelling: fn(T) -> &'static str,
    ) -> Option<T> {
        let found = all.iter().copied().find(|word| spelling(*word) == key);
        if found.is_none() {
            let known = || all.iter().map(|word| spelling(*word));
            let message = format!("is not a known key; the known keys are {}", listed(known()));
            let near = nearest(key, known()).unwrap_or_default();
            self.report.refuse_with_hint(
                &map.key(key),
                message,
                format!("the nearest known key is `{near}`"),
            );
        }
        found
    }

    /// The entries of an object whose keys are names: model ids, built-in ids.
    pub(crate) fn entries(&self, key: &str, expected: &str) -> Option<Vec<(&'a str, &'a Node)>> {
        let expected = format!("an object of {expected}");
        let node = self.find(key, &expected)?;
        let Kind::Object(object) = &node.kind else {
            return self.bad(key, node, &expected);
        };
        refuse_repeated(self.report, &self.at(key), object);
        Some(object.iter().collect())
    }
}

/// Text of at least one character that is no blank.
pub(crate) fn word_text<'a>(report: &Report, spot: &Spot, node: &'a Node) -> Option<&'a str> {
    match &node.kind {
        Kind::Text(text) if !text.trim().is_empty() => Some(text),
        other => {
            report.refuse(spot, format!("is {other}; expected text, not blank"));
            None
        }
    }
}

/// A whole number.
pub(crate) fn whole(report: &Report, spot: &Spot, node: &Node, bounds: Count) -> Option<u64> {
    if let Kind::Number(text) = &node.kind
        && let Some(number) = number::whole(text)
        && bounds.admits(number)
    {
        return Some(number);
    }
    // Only a number too large for any bound needs to be told the largest.
    let too_large = matches!(&node.kind, Kind::Number(text)
        if number::whole(text).is_none() && text.parse().is_ok_and(|n: f64| n > 9e15));
    let most = if too_large && bounds.is_open() {
        format!(" and at most {}", number::MAX_WHOLE)
    } else {
        String::new()
    };
    report.refuse(
        spot,
        format!("is {}; expected {}{most}", node.kind, bounds.expected()),
    );
    None
}

/// A word of a closed vocabulary.
pub(crate) fn word<T: Copy>(
    report: &Report,
    spot: &Spot,
    node: &Node,
    all: &[T],
    spelling: fn(T) -> &'static str,
) -> Option<T> {
    let near = match &node.kind {
        Kind::Text(text) => {
            let found = all.iter().copied().find(|word| spelling(*word) == text);
            if found.is_some() {
                return found;
            }
            nearest(text, all.iter().map(|word| spelling(*word)))
        }
        _ => None,
    };
    let message = format!("is {}; expected {}", node.kind, one_of(all, spelling));
    match near {
        Some(near) => report.refuse_with_hint(spot, message, format!("the nearest is `{near}`")),
        None => report.refuse(spot, message),
    }
    None
}

fn one_of<T: Copy>(all: &[T], spelling: fn(T) -> &'static str) -> String {
    let words = listed(all.iter().map(|word| spelling(*word)));
    if all.len() == 1 {
        words
    } else {
        format!("one of {words}")
    }
}

fn refuse_unknown_key(report: &Report, spot: &Spot, key: &str, shape: Shape) {
    let spot = spot.key(key);
    let message = if shape.keys.is_empty() {
        "is not a known key; nothing is configured here".to_owned()
    } else {
        format!(
            "is not a known key; the known keys are {}",
            listed(shape.keys.iter().copied())
        )
    };
    match advice(key).or_else(|| {
        nearest(key, shape.keys.iter().copied())
            .map(|near| format!("the nearest known key is `{near}`"))
    }) {
        Some(hint) => report.refuse_with_hint(&spot, message, hint),
        None => report.refuse(&spot, message),
    }
}

/// What to do about keys of older documents and of authoring tools.
fn advice(key: &str) -> Option<String> {
    Some(match key {
        "modelSlot" | "slot" | "slots" | "passthrough" => {
            "slots belong to authoring tools; a launch names the model itself".to_owned()
        }
        "healing" | "assistantMessages" => {
            "replies are taken as they were sent; nothing repairs them".to_owned()
        }
        "ownership" => "there is nothing left for it to decide; leave it out".to_owned(),
        "mergeAgentId" => "the key is `mergeAgent`".to_owned(),
        "disabledTools" => {
            "a profile lists what it is given, in `tools` or `operations`".to_owned()
        }
        _ => return None,
    })
}

fn refuse_repeated(report: &Report, spot: &Spot, object: &Object) {
    for key in object.repeated() {
        report.refuse(
            &spot.key(key),
            "is written more than once; expected each key once",
        );
    }
}
