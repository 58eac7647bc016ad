//! The board (03 §7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vocab::ids::Slug;

use super::Params;
use crate::number;
use crate::validate::{Count, Fields, Shape};

/// The run's board. The first four are the run's: every profile that writes them writes the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BoardParams {
    /// The profile that merges finished issues; its shell is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Slug")]
    pub merge_agent: Option<Slug>,
    /// Epics the board may hold.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_epics: Option<u64>,
    /// Issues the board may hold.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_issues: Option<u64>,
    /// Further attempts at a failed issue; 0 is one attempt only.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_retries: Option<u64>,
    /// Whether this agent's issues must name a reviewer. Absent: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub reviewers: Option<bool>,
}

impl Params for BoardParams {
    const SHAPE: Shape = Shape {
        name: "BoardParams",
        keys: &[
            "mergeAgent",
            "maxEpics",
            "maxIssues",
            "maxRetries",
            "reviewers",
        ],
        required: &["mergeAgent", "maxEpics", "maxIssues", "maxRetries"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            merge_agent: fields.word_text("mergeAgent").map(Slug::from),
            max_epics: fields.whole("maxEpics", Count::from(0)),
            max_issues: fields.whole("maxIssues", Count::from(0)),
            max_retries: fields.whole("maxRetries", Count::from(0)),
            reviewers: fields.flag("reviewers"),
        }
    }
}
