//! Grants: what a profile is given out of what its capabilities offer (01 §4.3).

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use vocab::operations::{OPERATIONS, Operation};

/// An operation by its id: a row of the operations table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OperationId(&'static Operation);

impl OperationId {
    /// The operation of an id.
    pub fn find(id: &str) -> Option<Self> {
        Operation::find(id).map(Self)
    }

    /// `module.key`.
    pub fn as_str(self) -> &'static str {
        self.0.id
    }

    /// The row of the table.
    pub fn operation(self) -> &'static Operation {
        self.0
    }

    /// Every id a profile may list.
    pub fn grantable() -> impl Iterator<Item = Self> + Clone {
        OPERATIONS.iter().filter(|row| row.grantable()).map(Self)
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.id)
    }
}

impl fmt::Debug for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.id)
    }
}

impl Serialize for OperationId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.id)
    }
}

impl<'de> Deserialize<'de> for OperationId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::find(&id).ok_or_else(|| de::Error::custom(format!("`{id}` is no operation")))
    }
}

impl JsonSchema for OperationId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OperationId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let ids: Vec<_> = Self::grantable().map(Self::as_str).collect();
        schemars::json_schema!({ "type": "string", "enum": ids })
    }
}

/// The modules an opening turn may list, in the order a model meets them.
pub fn modules() -> Vec<&'static str> {
    let mut modules: Vec<&str> = OPERATIONS.iter().map(Operation::module).collect();
    modules.dedup();
    modules.push("core");
    modules
}

/// Whether a text names an ending call in either vocabulary; those are given by the role.
pub(crate) fn is_ending(name: &str) -> bool {
    let name = name.strip_prefix("session.").unwrap_or(name);
    matches!(
        name,
        "finish" | "approve" | "request_changes" | "requestChanges"
    )
}
