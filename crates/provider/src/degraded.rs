//! What the server behind a model turned out not to take, and is therefore sent no more.
//!
//! Two things can be given up without changing what a run is about: the tool choice, for which
//! `auto` stands in (R28), and the routing fields that only OpenRouter knows (R14), where another
//! server answers. No gateway has a code for either, so the words of the refusal are read.
//!
//! Always true: what was given up stays so for the run, and is reported by the one call that
//! taught it; OpenRouter itself is sent every routing field, since a pinned run must not lose its
//! pin.

mod words;

use std::fmt;

use crate::fault::Fault;

/// What one model's server is sent no more. One a model and run.
#[derive(Clone, Debug)]
pub struct Degraded {
    given_up: Concessions,
    keeps_fields: bool,
}

/// What a request leaves out for the server's sake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Concessions {
    /// The tool choice is `auto`, whatever was asked for.
    pub auto: bool,
    /// Fields that are not written.
    pub dropped: RoutingFields,
}

/// A field of a request that says where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutingField {
    /// `provider`: the candidate.
    Provider,
    /// `session_id`: the run's key, as OpenRouter reads it.
    SessionId,
    /// `prompt_cache_key`: the run's key, as providers read it.
    PromptCacheKey,
}

impl RoutingField {
    /// Every field, in the order of a request.
    pub const ALL: [Self; 3] = [Self::Provider, Self::SessionId, Self::PromptCacheKey];

    /// Its name in the body.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::SessionId => "session_id",
            Self::PromptCacheKey => "prompt_cache_key",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Provider => 1,
            Self::SessionId => 2,
            Self::PromptCacheKey => 4,
        }
    }
}

/// A set of routing fields.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct RoutingFields(u8);

impl RoutingFields {
    /// Whether the field is in the set.
    pub const fn contains(self, field: RoutingField) -> bool {
        self.0 & field.bit() != 0
    }

    /// Whether the set has no field.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its fields, in the order of a request.
    pub fn iter(self) -> impl Iterator<Item = RoutingField> {
        RoutingField::ALL
            .into_iter()
            .filter(move |field| self.contains(*field))
    }

    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl FromIterator<RoutingField> for RoutingFields {
    fn from_iter<I: IntoIterator<Item = RoutingField>>(fields: I) -> Self {
        Self(fields.into_iter().fold(0, |bits, field| bits | field.bit()))
    }
}

impl fmt::Debug for RoutingFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(RoutingField::as_str))
            .finish()
    }
}

/// What a refused attempt had sent of what can be given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// A tool choice other than `auto`.
    pub tool_choice: bool,
    /// The routing fields.
    pub fields: RoutingFields,
}

/// What a fault teaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lesson {
    /// Nothing that could be given up was refused.
    None,
    /// What was refused had been given up since the attempt was sent: it is sent again.
    Known,
    /// This is given up from now on, and the attempt is sent again.
    New(Concession),
}

/// Something given up for the rest of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concession {
    /// Every tool choice but `auto`.
    ToolChoice,
    /// Routing fields.
    Fields(RoutingFields),
}

impl Degraded {
    /// The start of a run: nothing is given up. `keeps_fields` where the server is OpenRouter's
    /// own, which is always sent every routing field.
    pub const fn new(keeps_fields: bool) -> Self {
        Self {
            given_up: Concessions {
                auto: false,
                dropped: RoutingFields(0),
            },
            keeps_fields,
        }
    }

    /// What the next request leaves out.
    pub const fn concessions(&self) -> Concessions {
        self.given_up
    }

    /// Whether a fault is the refusal of something that was sent and can be given up.
    pub fn learn(&mut self, fault: &Fault, sent: Sent) -> Lesson {
        if sent.tool_choice && refuses_tool_choice(fault) {
            if self.given_up.auto {
                return Lesson::Known;
            }
            self.given_up.auto = true;
            return Lesson::New(Concession::ToolChoice);
        }
        if self.keeps_fields {
            return Lesson::None;
        }
        let refused = refused_fields(fault, sent.fields);
        if refused.is_empty() {
            return Lesson::None;
        }
        let new = refused.without(self.given_up.dropped);
        if new.is_empty() {
            return Lesson::Known;
        }
        self.given_up.dropped.0 |= new.0;
        Lesson::New(Concession::Fields(new))
    }
}

/// Any 4xx that is no matter of credential or patience and names the tool choice (R28).
fn refuses_tool_choice(fault: &Fault) -> bool {
    match fault {
        Fault::Rejected { status, body } if (400..500).contains(status) => {
            words::name_tool_choice(body)
        }
        Fault::NotFound { body } => words::name_tool_choice(body),
        _ => false,
    }
}

/// Which of the fields sent the server says it does not know (R14). Servers answer 400, those
/// that validate a schema 422.
fn refused_fields(fault: &Fault, sent: RoutingFields) -> RoutingFields {
    match fault {
        Fault::Rejected {
            status: 400 | 422,
            body,
        } => sent
            .iter()
            .filter(|field| words::call_unknown(body, field.as_str()))
            .collect(),
        _ => RoutingFields::default(),
    }
}

impl fmt::Display for Concession {
    /// What the model is sent from now on, after its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToolChoice => {
                f.write_str("is sent the tool choice `auto` for the rest of the run")
            }
            Self::Fields(fields) => {
                f.write_str("is sent no ")?;
                for (place, field) in fields.iter().enumerate() {
                    let comma = if place > 0 { ", no " } else { "" };
                    write!(f, "{comma}`{}`", field.as_str())?;
                }
                f.write_str(" for the rest of the run")?;
                if fields.contains(RoutingField::Provider) {
                    f.write_str(", so that no provider is pinned")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> RoutingFields {
        RoutingField::ALL.into_iter().collect()
    }

    fn sent(tool_choice: bool) -> Sent {
        Sent {
            tool_choice,
            fields: all(),
        }
    }

    fn refusal(status: u16, body: &str) -> Fault {
        Fault::of_status(status, None, body.as_bytes(), None)
    }

    const NO_CHOICE: &str = r#"{"error":{"message":"No endpoints found that support the provided 'tool_choice' value.","code":404}}"#;

    #[test]
    fn a_refused_tool_choice_is_given_up_once_and_for_the_run() {
        for status in [400, 404, 422] {
            let mut degraded = Degraded::new(true);
            let fault = refusal(status, NO_CHOICE);
            assert_eq!(
                degraded.learn(&fault, sent(true)),
                Lesson::New(Concession::ToolChoice)
            );
            assert!(degraded.concessions().auto);
            // An attempt that was under way meanwhile.
            assert_eq!(degraded.learn(&fault, sent(true)), Lesson::Known);
            assert_eq!(
                degraded.learn(&fault, sent(false)),
                Lesson::None,
                "`auto` itself was refused"
            );
        }
    }

    #[test]
    fn a_refusal_of_credential_or_a_failure_gives_nothing_up() {
        for status in [401, 403, 429, 500, 502] {
            let mut degraded = Degraded::new(false);
            let fault = refusal(status, "unknown field `session_id`, no tool_choice");
            assert_eq!(degraded.learn(&fault, sent(true)), Lesson::None, "{status}");
        }
    }

    #[test]
    fn unknown_fields_are_dropped_where_another_server_answers() {
        let mut degraded = Degraded::new(false);
        let fault = refusal(
            400,
            r#"{"error":"Unrecognized request argument supplied: provider"}"#,
        );
        let Lesson::New(concession) = degraded.learn(&fault, sent(false)) else {
            panic!("new");
        };
        assert_eq!(
            concession.to_string(),
            "is sent no `provider` for the rest of the run, so that no provider is pinned"
        );
        assert_eq!(degraded.learn(&fault, sent(false)), Lesson::Known);

        let fault = refusal(
            422,
            r#"{"detail":"Unsupported parameter(s): session_id, prompt_cache_key"}"#,
        );
        let Lesson::New(concession) = degraded.learn(&fault, sent(false)) else {
            panic!("new");
        };
        assert_eq!(
            concession.to_string(),
            "is sent no `session_id`, no `prompt_cache_key` for the rest of the run"
        );
        assert_eq!(degraded.concessions().dropped, all());
        let none = Sent {
            tool_choice: false,
            fields: RoutingFields::default(),
        };
        assert_eq!(degraded.learn(&fault, none), Lesson::None);
    }

    #[test]
    fn openrouter_itself_is_never_denied_a_routing_field() {
        let mut degraded = Degraded::new(true);
        let fault = refusal(400, "Unrecognized request argument supplied: session_id");
        assert_eq!(degraded.learn(&fault, sent(true)), Lesson::None);
        assert_eq!(degraded.concessions(), Concessions::default());
    }
}
