//! What a reply submits: each of its calls read, and answered before anything runs (04 §6.2).
//!
//! Always true: every call of a reply is answered directly behind it, in its order.

use std::ops::ControlFlow;
use std::sync::Arc;

use context::prompts::{self, NotSubmitted, PromptError};
use context::window::NewItem;
use serde_json::Value;
use vocab::band::Band;
use vocab::ids::CallId;
use vocab::message::{Message, ToolCall};
use vocab::tools::SUBMIT_PROGRAM;

use crate::agent::LoopEnd;
use crate::agent::turns::{ReplySize, Turns};

/// A submitted program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Submission {
    /// The call that brought it.
    pub(in crate::agent) call: CallId,
    /// The id it is kept under, where programs are.
    pub(in crate::agent) id: Option<Arc<str>>,
    /// Its source, byte for byte as the model wrote it.
    pub(in crate::agent) source: Arc<str>,
}

/// Why arguments bring no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent) enum NoProgram {
    /// There is none.
    Missing,
    /// It is no text, but this.
    NotText(String),
}

/// The program that a call submits.
pub(in crate::agent) fn of(call: &ToolCall) -> Result<Arc<str>, NoProgram> {
    if call.name == SUBMIT_PROGRAM {
        read(&call.arguments)
    } else {
        Err(NoProgram::Missing)
    }
}

/// The program in the arguments of a call. Empty and `null` arguments have none (R42).
fn read(arguments: &str) -> Result<Arc<str>, NoProgram> {
    let value = match serde_json::from_str(arguments) {
        Ok(Value::Object(mut members)) => members.shift_remove("program"),
        // What is no JSON was asked again, and comes nowhere near here.
        _ => None,
    };
    match value {
        Some(Value::String(source)) => Ok(source.into()),
        None => Err(NoProgram::Missing),
        Some(other) => Err(NoProgram::NotText(
            match other {
                Value::Null => "null",
                Value::Bool(_) => "a boolean",
                Value::Number(_) => "a number",
                Value::Array(_) => "a list",
                Value::Object(_) | Value::String(_) => "an object",
            }
            .to_owned(),
        )),
    }
}

/// The answer to a call that brings no program.
fn redirect(call: &ToolCall, why: &NoProgram) -> Result<String, PromptError> {
    prompts::not_submitted(match why {
        _ if call.name != SUBMIT_PROGRAM => NotSubmitted::OtherTool(&call.name),
        NoProgram::Missing => NotSubmitted::Missing,
        NoProgram::NotText(found) => NotSubmitted::NotText(found),
    })
}

impl Turns {
    /// Answers every call of a reply; the programs that it submits, in order.
    pub(super) fn acknowledge(
        &mut self,
        turn: u32,
        calls: &[ToolCall],
    ) -> ControlFlow<LoopEnd, Vec<Submission>> {
        let mut submissions = Vec::new();
        for call in calls {
            let receipt: Arc<str> = match of(call) {
                Ok(source) => {
                    let id = match self.code.library.issue() {
                        Ok(id) => id,
                        Err(error) => {
                            return self.close_fatal(turn, error.to_string(), ReplySize::default());
                        }
                    };
                    let receipt = id.clone().unwrap_or_else(|| "ok".into());
                    submissions.push(Submission {
                        call: call.id.clone(),
                        id,
                        source,
                    });
                    receipt
                }
                Err(why) => {
                    let text = redirect(call, &why);
                    self.rendered(turn, text)?.into()
                }
            };
            let (text, tokens) = self.headed(turn, receipt, None, &[]);
            let message = Message::Tool {
                call: call.id.clone(),
                text,
                images: Vec::new(),
            };
            self.window.push(NewItem {
                tokens,
                ..NewItem::new(Band::ToolOutput, turn, message)
            });
        }
        ControlFlow::Continue(submissions)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_program_is_a_text_and_nothing_else() {
        assert_eq!(&*read(r#"{"program":"a\n"}"#).unwrap(), "a\n");
        assert_eq!(&*read(r#"{"program":"","x":1}"#).unwrap(), "");
        for none in ["", "null", "{}", r#"{"source":"x"}"#, "[]"] {
            assert_eq!(read(none), Err(NoProgram::Missing), "{none}");
        }
        assert_eq!(
            read(r#"{"program":3}"#),
            Err(NoProgram::NotText("a number".to_owned()))
        );
        assert_eq!(
            read(r#"{"program":null}"#),
            Err(NoProgram::NotText("null".to_owned()))
        );
    }

    proptest! {
        #[test]
        fn no_byte_of_a_program_changes(source in any::<String>()) {
            let arguments = json!({ "program": source }).to_string();
            let program = read(&arguments);
            prop_assert_eq!(program.as_deref(), Ok(source.as_str()));
        }
    }
}
