//! Refusals: what a document says that gg cannot honour, each at its place.
//!
//! A refusal reads as one sentence that begins with its locus:
//!
//! ```text
//! agent `scout`: capability `shell`: params.maxLines is "many"; expected a whole number, 1 or more
//! ```

use std::cell::RefCell;
use std::fmt;

use crate::document::quoted;

/// One bad value of a launch document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where it stands: named things by name, the rest by path.
    pub locus: String,
    /// What is wrong there and what was expected; reads on from the locus.
    pub message: String,
    /// What to do about it, where that is not plain from the message.
    pub hint: Option<String>,
}

impl Refusal {
    /// A refusal without a hint.
    pub fn new(locus: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            locus: locus.into(),
            message: message.into(),
            hint: None,
        }
    }

    /// The same with a hint.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.locus, self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

/// The whole list as a person reads it: a line that counts, then each refusal.
pub fn report(refusals: &[Refusal]) -> String {
    use fmt::Write as _;
    let mut text = match refusals.len() {
        1 => "the launch document is refused for 1 value\n".to_owned(),
        count => format!("the launch document is refused for {count} values\n"),
    };
    for refusal in refusals {
        writeln!(text, "{refusal}").expect("a String takes every write");
    }
    text
}

/// Where refusals and warnings collect while a document is walked.
#[derive(Debug, Default)]
pub(crate) struct Report {
    refusals: RefCell<Vec<Refusal>>,
    warnings: RefCell<Vec<String>>,
}

impl Report {
    pub(crate) fn refuse(&self, spot: &Spot, message: impl Into<String>) {
        self.push(Refusal::new(spot.to_string(), message));
    }

    pub(crate) fn refuse_with_hint(
        &self,
        spot: &Spot,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(Refusal::new(spot.to_string(), message).with_hint(hint));
    }

    pub(crate) fn warn(&self, spot: &Spot, message: impl fmt::Display) {
        self.warnings.borrow_mut().push(format!("{spot} {message}"));
    }

    pub(crate) fn into_parts(self) -> (Vec<Refusal>, Vec<String>) {
        (self.refusals.into_inner(), self.warnings.into_inner())
    }

    fn push(&self, refusal: Refusal) {
        self.refusals.borrow_mut().push(refusal);
    }
}

/// A place in the document: the named things it stands in, then a path of keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spot {
    named: String,
    path: String,
}

impl Spot {
    /// The document itself.
    pub(crate) fn root() -> Self {
        Self::default()
    }

    /// A member of this place.
    pub(crate) fn key(&self, key: &str) -> Self {
        let plain = key.len() <= 60
            && !key.is_empty()
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_/:".contains(&byte));
        let key = if plain { key.to_owned() } else { quoted(key) };
        let dot = if self.path.is_empty() { "" } else { "." };
        Self {
            named: self.named.clone(),
            path: format!("{}{dot}{key}", self.path),
        }
    }

    /// An entry of a list, from 0.
    pub(crate) fn index(&self, index: usize) -> Self {
        Self {
            named: self.named.clone(),
            path: format!("{}[{index}]", self.path),
        }
    }

    /// A thing with a name of its own: ``agent `root` ``. Its members' paths start anew.
    pub(crate) fn named(&self, kind: &str, name: &str) -> Self {
        let name = shortened(name);
        let colon = if self.path.is_empty() { "" } else { ": " };
        Self {
            named: format!("{}{}{colon}{kind} `{name}`: ", self.named, self.path),
            path: String::new(),
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}{}", self.named, self.path)
        } else if self.named.is_empty() {
            f.write_str("the launch document")
        } else {
            f.write_str(self.named.trim_end_matches(": "))
        }
    }
}

/// A name fit for a sentence: on one line, cut on a character.
pub(crate) fn shortened(name: &str) -> String {
    let quoted = quoted(name);
    quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(&quoted)
        .to_owned()
}

/// The known word nearest to a text, by edits (R40).
pub(crate) fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A long text is near nothing; its beginning is enough to choose by.
    let text: String = text.chars().take(80).collect::<String>().to_lowercase();
    known
        .into_iter()
        .map(|word| {
            let distance = strsim::normalized_damerau_levenshtein(&text, &word.to_lowercase());
            (distance, word)
        })
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, word)| word)
}

/// How alike two words have to be for one to be taken as a slip of the other: one letter in three.
const SLIP: f64 = 0.66;

/// The known word that a text is a slip of, where it is plainly one.
pub(crate) fn meant<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = nearest(text, known)?;
    let alike = strsim::normalized_damerau_levenshtein(&text.to_lowercase(), &near.to_lowercase());
    (alike >= SLIP).then_some(near)
}

/// Names as a sentence lists them.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_names_what_has_a_name_and_paths_the_rest() {
        let agent = Spot::root().named("agent", "scout");
        assert_eq!(agent.to_string(), "agent `scout`");
        let params = agent.named("capability", "shell").key("params");
        assert_eq!(
            params.key("maxLines").to_string(),
            "agent `scout`: capability `shell`: params.maxLines"
        );
        assert_eq!(
            Spot::root()
                .key("modelProviders")
                .named("model", "acme/x")
                .index(1)
                .key("provider")
                .to_string(),
            "modelProviders: model `acme/x`: [1].provider"
        );
        assert_eq!(Spot::root().key("a b\n").to_string(), "\"a b\\n\"");
    }

    #[test]
    fn the_nearest_word_is_by_edits_and_ignores_case() {
        let known = ["maxTurns", "maxCost", "maxParallel"];
        assert_eq!(nearest("maxturn", known), Some("maxTurns"));
        assert_eq!(nearest("max_cost", known), Some("maxCost"));
        assert_eq!(nearest("anything", []), None);
    }
}
