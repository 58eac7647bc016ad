//! The two allowlists (01 §4.3): their vocabularies never cross.

use vocab::operations::{OPERATIONS, Operation};
use vocab::tools::ToolName;

use super::fields::word_text;
use super::{Fields, Kind};
use crate::document::{Node, quoted};
use crate::grants::{OperationId, is_ending};
use crate::refusal::{Spot, listed, nearest};

/// Reads `tools`.
pub(super) fn tools(fields: &Fields<'_>) -> Option<Vec<ToolName>> {
    let entries = fields.list("tools", "tool names")?;
    Some(
        entries
            .into_iter()
            .filter_map(|(spot, node)| tool(fields, &spot, node))
            .collect(),
    )
}

/// Reads `operations`.
pub(super) fn operations(fields: &Fields<'_>, key: &str) -> Option<Vec<OperationId>> {
    let entries = fields.list(key, "operation ids")?;
    Some(
        entries
            .into_iter()
            .filter_map(|(spot, node)| operation(fields, &spot, node))
            .collect(),
    )
}

fn grantable_tools() -> impl Iterator<Item = ToolName> + Clone {
    ToolName::ALL
        .iter()
        .copied()
        .filter(|tool| tool.capability().is_some())
}

fn tool(fields: &Fields<'_>, spot: &Spot, node: &Node) -> Option<ToolName> {
    let name = grant(fields, spot, node)?;
    let found = grantable_tools().find(|tool| tool.as_str() == name);
    if found.is_none() {
        if Operation::find(name).is_some() {
            fields.report.refuse_with_hint(
                spot,
                format!("is {}, which is an operation, not a tool", quoted(name)),
                "operations belong in the profile's `operations`, which code agents read",
            );
        } else {
            unknown(fields, spot, name, grantable_tools().map(ToolName::as_str));
        }
    }
    found
}

fn operation(fields: &Fields<'_>, spot: &Spot, node: &Node) -> Option<OperationId> {
    let name = grant(fields, spot, node)?;
    let found = OperationId::grantable().find(|id| id.as_str() == name);
    if found.is_none() {
        if ToolName::ALL.iter().any(|tool| tool.as_str() == name) {
            let same: Vec<_> = OPERATIONS
                .iter()
                .filter(|row| row.tool.is_some_and(|tool| tool.as_str() == name))
                .map(|row| row.id)
                .collect();
            fields.report.refuse_with_hint(
                spot,
                format!("is {}, which is a tool, not an operation", quoted(name)),
                format!(
                    "tools belong in the profile's `tools`; here it is {}",
                    listed(same)
                ),
            );
        } else {
            unknown(
                fields,
                spot,
                name,
                OperationId::grantable().map(OperationId::as_str),
            );
        }
    }
    found
}

/// The name an entry gives, unless it is one that no configuration grants.
fn grant<'a>(fields: &Fields<'_>, spot: &Spot, node: &'a Node) -> Option<&'a str> {
    let name = match &node.kind {
        Kind::Text(name) if !name.trim().is_empty() => name.as_str(),
        _ => return word_text(fields.report, spot, node),
    };
    if is_ending(name) {
        fields.report.refuse_with_hint(
            spot,
            format!(
                "is {}, an ending call, which is never granted",
                quoted(name)
            ),
            "leave it out; every agent has the ending calls of its role",
        );
        return None;
    }
    if matches!(name, "transition_state" | "delegation.transition_state") {
        fields.report.refuse_with_hint(
            spot,
            format!("is {}, which no configuration grants", quoted(name)),
            "leave it out; a machine's state with a way out confers it",
        );
        return None;
    }
    Some(name)
}

fn unknown(
    fields: &Fields<'_>,
    spot: &Spot,
    name: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) {
    let message = format!(
        "is {}; expected one of {}",
        quoted(name),
        listed(known.clone())
    );
    let near = nearest(name, known).unwrap_or_default();
    fields
        .report
        .refuse_with_hint(spot, message, format!("the nearest is `{near}`"));
}
