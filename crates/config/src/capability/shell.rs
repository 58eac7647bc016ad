//! Running commands (04 §4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Params;
use crate::number;
use crate::validate::{Count, Fields, Shape};

/// How much of a command's output a model is shown. Both are required, and the tighter wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShellParams {
    /// Lines of output shown before the rest goes to a file, as `tail -n` counts them.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub max_lines: Option<u64>,
    /// Characters of output shown before the rest goes to a file.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub max_chars: Option<u64>,
}

impl Params for ShellParams {
    const SHAPE: Shape = Shape {
        name: "ShellParams",
        keys: &["maxLines", "maxChars"],
        required: &["maxLines", "maxChars"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            max_lines: fields.whole("maxLines", Count::from(1)),
            max_chars: fields.whole("maxChars", Count::from(1)),
        }
    }
}
