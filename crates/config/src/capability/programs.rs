//! Answering with programs, and keeping them (04 §6.1; 02 §11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vocab::language::ProgramLanguage;

use super::Params;
use crate::number;
use crate::validate::{Count, Fields, Kind, Shape, Span};

/// How programs are written and bounded. All four are required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResponsesAsCodeParams {
    /// The language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ProgramLanguage")]
    pub language: Option<ProgramLanguage>,
    /// Seconds of guest time a program has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
    pub timeout_secs: Option<f64>,
    /// Bytes of memory a program has.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub max_memory_bytes: Option<u64>,
    /// Which types a documentation view brings along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DocViewTypes")]
    pub doc_view_types: Option<DocViewTypes>,
}

impl Params for ResponsesAsCodeParams {
    const SHAPE: Shape = Shape {
        name: "ResponsesAsCodeParams",
        keys: &["language", "timeoutSecs", "maxMemoryBytes", "docViewTypes"],
        required: &["language", "timeoutSecs", "maxMemoryBytes", "docViewTypes"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            language: fields.word("language", ProgramLanguage::ALL, ProgramLanguage::as_str),
            timeout_secs: fields.number("timeoutSecs", Span::Positive),
            max_memory_bytes: fields.whole("maxMemoryBytes", Count::from(1)),
            doc_view_types: doc_view_types(fields),
        }
    }
}

/// Which types a documentation view brings along: all, none, or by where they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DocViewTypes {
    /// All or none.
    All(bool),
    /// By where they stand in a signature.
    Chosen(ChosenTypes),
}

impl DocViewTypes {
    /// By where they stand, whichever way it was written.
    pub const fn chosen(self) -> ChosenTypes {
        match self {
            Self::All(all) => ChosenTypes {
                r#return: all,
                parameters: all,
                errors: all,
            },
            Self::Chosen(chosen) => chosen,
        }
    }
}

/// Types by where they stand in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChosenTypes {
    /// Of the value returned.
    pub r#return: bool,
    /// Of the arguments.
    pub parameters: bool,
    /// Of the failures.
    pub errors: bool,
}

impl ChosenTypes {
    /// As records have it: the names of those that are on, joined by `+`, or `none`.
    pub fn flags(self) -> String {
        let all = [
            ("return", self.r#return),
            ("parameters", self.parameters),
            ("errors", self.errors),
        ];
        let on: Vec<_> = all.iter().filter(|(_, on)| *on).map(|it| it.0).collect();
        if on.is_empty() {
            "none".to_owned()
        } else {
            on.join("+")
        }
    }

    pub(crate) const SHAPE: Shape = Shape {
        name: "ChosenTypes",
        keys: &["return", "parameters", "errors"],
        required: &["return", "parameters", "errors"],
    };
}

fn doc_view_types(fields: &Fields<'_>) -> Option<DocViewTypes> {
    const EXPECTED: &str = "true, false, or an object of `return`, `parameters`, `errors`";
    let (spot, node) = fields.any("docViewTypes", EXPECTED)?;
    match &node.kind {
        Kind::Flag(all) => Some(DocViewTypes::All(*all)),
        Kind::Object(_) => {
            let chosen = fields
                .child(spot, node, ChosenTypes::SHAPE)?
                .whole_or_absent();
            let (r#return, parameters, errors) = (
                chosen.flag("return"),
                chosen.flag("parameters"),
                chosen.flag("errors"),
            );
            Some(DocViewTypes::Chosen(ChosenTypes {
                r#return: r#return?,
                parameters: parameters?,
                errors: errors?,
            }))
        }
        other => {
            fields
                .report
                .refuse(&spot, format!("is {other}; expected {EXPECTED}"));
            None
        }
    }
}

/// How many programs are kept, under ids of which length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProgramLibraryParams {
    /// Most recent programs kept; 0 is all.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub keep: Option<u64>,
    /// Characters of a program's id.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 2, max = 32))]
    pub id_length: Option<u64>,
}

impl Params for ProgramLibraryParams {
    const SHAPE: Shape = Shape {
        name: "ProgramLibraryParams",
        keys: &["keep", "idLength"],
        required: &["keep", "idLength"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            keep: fields.whole("keep", Count::from(0)),
            id_length: fields.whole("idLength", Count::between(2, 32)),
        }
    }
}
