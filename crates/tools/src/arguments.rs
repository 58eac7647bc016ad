//! The members of a call's argument object, taken out one by one and judged together.
//!
//! Every fault of one call is named in one sentence, unknown keys beside the known ones, so that a
//! model mends all of it at once. Empty, blank and `null` arguments are `{}` (R42), and a `null`
//! member is an absent one.

use serde_json::{Map, Value};
use vocab::failure::Failure;
use vocab::tools::ToolName;

use crate::faults::Faults;

/// The members of an argument object, and what was found wrong with them.
pub struct Arguments {
    members: Map<String, Value>,
    known: &'static [&'static str],
    pub(crate) faults: Faults,
}

impl Arguments {
    /// Reads a call's arguments; `known` are the members its tool takes.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for text that is no JSON object.
    pub fn read(text: &str, known: &'static [&'static str]) -> Result<Self, Failure> {
        let members = if text.trim().is_empty() {
            Map::new()
        } else {
            match serde_json::from_str(text) {
                Ok(Value::Object(members)) => members,
                Ok(Value::Null) => Map::new(),
                Ok(other) => {
                    return Err(Failure::invalid(format!(
                        "the arguments are {}; expected a JSON object",
                        described(&other)
                    )));
                }
                Err(error) => {
                    return Err(Failure::invalid(format!(
                        "the arguments are not JSON: {error}"
                    )));
                }
            }
        };
        Ok(Self {
            members,
            known,
            faults: Faults::default(),
        })
    }

    /// A member as it was written; `None` where it is absent or `null`.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.members
            .shift_remove(key)
            .filter(|value| !value.is_null())
    }

    /// Whether a member is written as `null`, which else reads as if it were absent.
    pub fn is_null(&self, key: &str) -> bool {
        self.members.get(key).is_some_and(Value::is_null)
    }

    /// Adds what a caller found wrong itself, as a part of the sentence.
    pub fn fault(&mut self, fault: impl Into<String>) {
        self.faults.push(fault);
    }

    /// The faults found so far, for checks that a program's call shares.
    pub fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// A text, where there is one.
    pub fn optional_text(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Value::String(text) => Some(text),
            other => {
                self.faults.push(format!(
                    "`{key}` is {}; expected a string",
                    described(&other)
                ));
                None
            }
        }
    }

    /// A text that has to be there; empty where it was not, which is a fault then.
    pub fn text(&mut self, key: &str) -> String {
        let faults = self.faults.len();
        self.optional_text(key).unwrap_or_else(|| {
            if self.faults.len() == faults {
                self.faults.push(format!("`{key}` is missing"));
            }
            String::new()
        })
    }

    /// A text that has to be there and hold more than blanks.
    pub fn filled(&mut self, key: &str) -> String {
        let faults = self.faults.len();
        let text = self.text(key);
        if self.faults.len() == faults {
            self.faults.filled(key, &text);
        }
        text
    }

    /// A text that may be left out, but not be blank.
    pub fn optional_filled(&mut self, key: &str) -> Option<String> {
        let text = self.optional_text(key)?;
        self.faults.filled(key, &text);
        Some(text)
    }

    /// A list of texts, none blank; empty where it is left out.
    pub fn texts(&mut self, key: &str) -> Vec<String> {
        let Some(value) = self.take(key) else {
            return Vec::new();
        };
        let Value::Array(items) = value else {
            self.faults.push(format!(
                "`{key}` is {}; expected a list of strings",
                described(&value)
            ));
            return Vec::new();
        };
        if !self.faults.few(key, items.len()) {
            return Vec::new();
        }
        let mut texts = Vec::with_capacity(items.len());
        for (place, item) in items.into_iter().enumerate() {
            match item {
                Value::String(text) if !text.trim().is_empty() => {
                    self.faults.bounded(&format!("{key}[{place}]"), &text);
                    texts.push(text);
                }
                Value::String(_) => self.faults.push(format!("`{key}[{place}]` is blank")),
                other => self.faults.push(format!(
                    "`{key}[{place}]` is {}; expected a string",
                    described(&other)
                )),
            }
        }
        texts
    }

    /// A list of texts, none blank, where there is one.
    pub fn optional_texts(&mut self, key: &str) -> Option<Vec<String>> {
        let given = self.members.get(key).is_some_and(|value| !value.is_null());
        let texts = self.texts(key);
        given.then_some(texts)
    }

    /// A list of texts, none blank, that has to be there; it may be empty.
    pub fn list(&mut self, key: &str) -> Vec<String> {
        if self.members.get(key).is_none_or(Value::is_null) {
            self.faults.push(format!("`{key}` is missing"));
        }
        self.texts(key)
    }

    /// A list of texts, none blank, that has to be there and hold at least one.
    pub fn filled_list(&mut self, key: &str) -> Vec<String> {
        let faults = self.faults.len();
        let texts = self.list(key);
        if texts.is_empty() && self.faults.len() == faults {
            self.faults
                .push(format!("`{key}` is empty; give at least one"));
        }
        texts
    }

    /// `oldString`, which is not empty, and `newString`, which is another text.
    pub fn replacement(&mut self) -> (String, String) {
        let faults = self.faults.len();
        let (old, new) = (self.text("oldString"), self.text("newString"));
        if self.faults.len() == faults {
            self.faults.replacement(&old, &new);
        }
        (old, new)
    }

    /// A list that has to be there and hold at least one pair of whole numbers from 1, each in
    /// order, both ends included.
    pub fn ranges(&mut self, key: &str) -> Vec<(u64, u64)> {
        let Some(value) = self.take(key) else {
            self.faults.push(format!("`{key}` is missing"));
            return Vec::new();
        };
        let Value::Array(items) = value else {
            self.faults.push(format!(
                "`{key}` is {}; expected a list of pairs",
                described(&value)
            ));
            return Vec::new();
        };
        if items.is_empty() {
            self.faults
                .push(format!("`{key}` is empty; give at least one pair"));
        }
        let mut ranges = Vec::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            let ends = match item.as_array().map(Vec::as_slice) {
                Some([from, to]) => whole(from).zip(whole(to)),
                _ => None,
            };
            match ends {
                Some(ends) => {
                    self.faults.range(key, place, ends);
                    ranges.push(ends);
                }
                None => self.faults.push(format!(
                    "`{key}[{place}]` is {}; expected a pair of whole numbers, 1 or more",
                    match item {
                        Value::Array(_) => item.to_string().chars().take(40).collect(),
                        other => described(other),
                    }
                )),
            }
        }
        ranges
    }

    /// A path that may be left out, but not be empty.
    pub fn optional_path(&mut self, key: &str) -> Option<String> {
        let path = self.optional_text(key)?;
        self.faults.path(key, &path);
        Some(path)
    }

    /// A path that has to be there.
    pub fn path(&mut self, key: &str) -> String {
        let faults = self.faults.len();
        let path = self.text(key);
        if self.faults.len() == faults {
            self.faults.path(key, &path);
        }
        path
    }

    /// A whole number from 1. `3.0` is one, as JSON Schema has it.
    pub fn count(&mut self, key: &str) -> Option<u64> {
        let value = self.take(key)?;
        let number = whole(&value);
        if number.is_none() {
            self.faults.push(format!(
                "`{key}` is {}; expected a whole number, 1 or more",
                described(&value)
            ));
        }
        number
    }

    /// Names every fault there is, unknown members among them.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, with all faults in one sentence.
    pub fn finish(mut self, tool: ToolName) -> Result<(), Failure> {
        let unknown: Vec<_> = self
            .members
            .keys()
            .filter(|key| !self.known.contains(&&***key))
            .collect();
        if !unknown.is_empty() {
            let noun = if unknown.len() == 1 {
                "is no argument"
            } else {
                "are no arguments"
            };
            let fault = format!("{} {noun}", listed(&unknown));
            self.faults.push(fault);
        }
        if self.faults.is_empty() {
            return Ok(());
        }
        Err(Failure::invalid(format!(
            "{}; `{tool}` takes {}",
            self.faults.sentence(),
            listed(self.known)
        )))
    }
}

/// A whole number from 1; `3.0` is one, as JSON Schema has it.
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_u64().or_else(|| {
        let float = value.as_f64()?;
        #[expect(clippy::cast_sign_loss, reason = "checked to lie between 1 and 2^53")]
        (float.fract() == 0.0 && (1.0..9_007_199_254_740_992.0).contains(&float))
            .then_some(float as u64)
    });
    number.filter(|number| *number > 0)
}

/// Names in a sentence: `` `a`, `b` and `c` ``.
fn listed(names: &[impl std::fmt::Display]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A JSON value in a sentence: a scalar as written, anything longer by its kind.
pub(crate) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("{text:?}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged<T>(arguments: &str, take: impl FnOnce(&mut Arguments) -> T) -> Result<T, String> {
        let mut given = Arguments::read(arguments, &["list"]).map_err(|fault| fault.message)?;
        let taken = take(&mut given);
        given
            .finish(ToolName::Compact)
            .map(|()| taken)
            .map_err(|fault| fault.message)
    }

    #[test]
    fn ranges_are_pairs_in_order_from_one() {
        let ranges = |text: &str| judged(text, |given| given.ranges("list"));
        assert_eq!(
            ranges(r#"{"list":[[1,3.0],[2,2]]}"#),
            Ok(vec![(1, 3), (2, 2)])
        );
        for (arguments, told) in [
            ("{}", "`list` is missing"),
            (r#"{"list":[]}"#, "`list` is empty"),
            (r#"{"list":3}"#, "`list` is 3"),
            (
                r#"{"list":[[3,1]]}"#,
                "`list[0]` runs backwards, from 3 to 1",
            ),
            (r#"{"list":[[1,1],[0,1]]}"#, "`list[1]` is [0,1]"),
            (r#"{"list":[[1]]}"#, "`list[0]` is [1]"),
            (r#"{"list":[[1,"2"]]}"#, "`list[0]` is [1,\"2\"]"),
            (r#"{"list":["1-2"]}"#, "`list[0]` is \"1-2\""),
        ] {
            let fault = ranges(arguments).unwrap_err();
            assert!(fault.contains(told), "{arguments}: {fault}");
        }
    }

    #[test]
    fn a_list_of_texts_may_be_left_out_but_none_of_them_be_blank() {
        let texts = |text: &str| judged(text, |given| given.texts("list"));
        assert_eq!(texts(r#"{"list":null}"#), Ok(vec![]));
        assert_eq!(texts(r#"{"list":["a"]}"#), Ok(vec!["a".to_owned()]));
        let fault = texts(r#"{"list":["a"," ",3],"lost":1}"#).unwrap_err();
        for told in [
            "`list[1]` is blank",
            "`list[2]` is 3",
            "`lost` is no argument",
        ] {
            assert!(fault.contains(told), "{fault}");
        }
        assert!(
            texts(r#"{"list":"a"}"#)
                .unwrap_err()
                .contains("a list of strings")
        );
    }

    #[test]
    fn a_text_that_may_be_left_out_is_never_blank() {
        let text = |text: &str| judged(text, |given| given.optional_filled("list"));
        assert_eq!(text(""), Ok(None));
        assert_eq!(text(r#"{"list":"a"}"#), Ok(Some("a".to_owned())));
        assert!(text(r#"{"list":"\t"}"#).unwrap_err().contains("blank"));
    }
}
