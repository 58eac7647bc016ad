//! The ending calls and what they declare (01 §9.1).

use serde_json::Value;
use tools::{Faults, quoted};
use vocab::failure::Failure;
use vocab::tools::EndingCall;

/// A declared ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The work is done.
    Finish {
        /// Not empty.
        summary: String,
    },
    /// The reviewed work stands.
    Approve,
    /// The reviewed work needs changes.
    RequestChanges {
        /// Trimmed, none blank, at least one.
        items: Vec<String>,
    },
}

impl Ending {
    /// The call that declares it.
    pub const fn call(&self) -> EndingCall {
        match self {
            Self::Finish { .. } => EndingCall::Finish,
            Self::Approve => EndingCall::Approve,
            Self::RequestChanges { .. } => EndingCall::RequestChanges,
        }
    }

    /// The final word of an agent that ended this way.
    pub fn text(&self) -> String {
        match self {
            Self::Finish { summary } => summary.clone(),
            Self::Approve => "approved".to_owned(),
            Self::RequestChanges { items } => items.join("\n"),
        }
    }
}

/// Reads an ending call's arguments.
pub(crate) fn read(call: EndingCall, arguments: &str) -> Result<Ending, Failure> {
    let value: Value = serde_json::from_str(arguments)
        .map_err(|error| Failure::invalid(format!("the arguments are not JSON: {error}")))?;
    let Value::Object(fields) = value else {
        return Err(Failure::invalid(format!(
            "expected an object of arguments, found {value}"
        )));
    };
    let known: &[&str] = match call {
        EndingCall::Finish => &["summary"],
        EndingCall::Approve => &[],
        EndingCall::RequestChanges => &["items"],
    };
    if let Some(unknown) = fields.keys().find(|key| !known.contains(&key.as_str())) {
        let known = match known {
            [] => "it takes none".to_owned(),
            known => format!("known: {}", known.join(", ")),
        };
        return Err(Failure::invalid(format!(
            "unknown argument `{unknown}`; {known}"
        )));
    }
    match call {
        EndingCall::Finish => match fields.get("summary") {
            Some(Value::String(summary)) => finish(summary.clone()),
            Some(other) => Err(Failure::invalid(format!(
                "summary is {}; expected a text",
                quoted(&other.to_string())
            ))),
            None => Err(Failure::invalid("summary is missing; expected a text")),
        },
        EndingCall::Approve => Ok(Ending::Approve),
        EndingCall::RequestChanges => {
            let Some(Value::Array(items)) = fields.get("items") else {
                return Err(Failure::invalid(
                    "items is missing or no list; expected texts",
                ));
            };
            let texts = items.iter().map(|item| match item.as_str() {
                Some(text) => Ok(text),
                None => Err(Failure::invalid(format!(
                    "items holds {}; expected texts",
                    quoted(&item.to_string())
                ))),
            });
            request_changes(texts.collect::<Result<Vec<_>, _>>()?)
        }
    }
}

/// The work is done, in words that say something.
pub(crate) fn finish(summary: String) -> Result<Ending, Failure> {
    if summary.trim().is_empty() {
        return Err(Failure::invalid(
            "summary is blank; say what you did and what the reader must know",
        ));
    }
    bounded("summary", &summary)?;
    Ok(Ending::Finish { summary })
}

fn bounded(key: &str, text: &str) -> Result<(), Failure> {
    let mut faults = Faults::default();
    faults.bounded(key, text);
    faults.judge()
}

/// Changes are asked for: trimmed, blanks dropped, at least one.
pub(crate) fn request_changes<'a>(
    items: impl IntoIterator<Item = &'a str>,
) -> Result<Ending, Failure> {
    let items = items.into_iter().map(str::trim);
    let items: Vec<_> = items
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect();
    if items.is_empty() {
        return Err(Failure::invalid("items holds no change; list at least one"));
    }
    bounded("items", &items.concat())?;
    Ok(Ending::RequestChanges { items })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(call: EndingCall, arguments: &str) -> String {
        read(call, arguments).unwrap_err().message
    }

    #[test]
    fn finish_needs_a_summary_that_says_something() {
        assert!(refusal(EndingCall::Finish, "{}").contains("missing"));
        assert!(refusal(EndingCall::Finish, r#"{"summary":" \n"}"#).contains("blank"));
        assert!(refusal(EndingCall::Finish, r#"{"summary":3}"#).contains("is 3"));
        assert!(
            refusal(EndingCall::Finish, r#"{"sumary":"x"}"#).contains("`sumary`; known: summary")
        );
        assert_eq!(
            read(EndingCall::Finish, r#"{"summary":"done"}"#),
            Ok(Ending::Finish {
                summary: "done".into()
            })
        );
    }

    #[test]
    fn requested_changes_are_trimmed_and_blanks_dropped() {
        assert_eq!(
            read(EndingCall::RequestChanges, r#"{"items":[" a ","", "b"]}"#),
            Ok(Ending::RequestChanges {
                items: vec!["a".into(), "b".into()]
            })
        );
        assert!(refusal(EndingCall::RequestChanges, r#"{"items":[" "]}"#).contains("no change"));
        assert!(refusal(EndingCall::RequestChanges, r#"{"items":["a",7]}"#).contains("holds 7"));
    }

    #[test]
    fn approve_takes_no_arguments() {
        assert_eq!(read(EndingCall::Approve, "{}"), Ok(Ending::Approve));
        assert!(refusal(EndingCall::Approve, r#"{"x":1}"#).contains("takes none"));
    }
}
