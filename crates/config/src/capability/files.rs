//! Reading files (04 §3). Writing, editing, listing and searching have nothing to configure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Params;
use crate::number;
use crate::validate::{Count, Fields, Shape};

/// How much of a file one read returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadFileParams {
    /// Lines a read without `limit` returns under `default-cap`. Written under both modes.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub line_cap: Option<u64>,
}

impl Params for ReadFileParams {
    const SHAPE: Shape = Shape {
        name: "ReadFileParams",
        keys: &["lineCap"],
        required: &["lineCap"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            line_cap: fields.whole("lineCap", Count::from(1)),
        }
    }
}
