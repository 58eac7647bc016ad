//! What a call of a program was given, as a tool of the same name would have been called: the key of
//! the call's entry in the journal.

use serde_json::{Map, Value};

/// See the module. What was left out is no member.
#[derive(Default)]
pub(super) struct Given(Map<String, Value>);

impl Given {
    /// A value.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// A value that may have been left out.
    pub(super) fn maybe(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// As JSON.
    pub(super) fn json(self) -> Value {
        Value::Object(self.0)
    }
}

/// A count as the contract has it; no agent gets to one beyond, nor a file to more lines.
pub(in crate::agent) fn count(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
