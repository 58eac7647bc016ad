//! What a tool-calling model is told of the calls on the board (03 §7.3).

use serde_json::{Map, Value, json};

use super::ToolName;
use super::delegation::{Parts, Target, profile};
use crate::board::IssueStatus;

/// Whom an agent's issues may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardRoster<'a> {
    /// Those that may implement one; without any, none is created.
    pub implementers: &'a [Target<'a>],
    /// Those that may review one.
    pub reviewers: &'a [Target<'a>],
    /// Whether each must name a reviewer.
    pub reviewers_required: bool,
}

/// The texts of an issue, as arguments are named.
const SECTIONS: [(&str, &str); 3] = [
    ("inScope", "What belongs to it."),
    ("outOfScope", "What does not."),
    ("completionCriteria", "How to see that it is done."),
];

/// Description, properties and required members of a call; `None` for a tool of another family,
/// and for one that needs somebody who is not there.
pub(super) fn parts(tool: ToolName, roster: BoardRoster<'_>) -> Option<Parts> {
    let id = json!({ "type": "string" });
    let one = |description: &str| {
        let required: &'static [&'static str] = &["id"];
        Some((description.to_owned(), json!({ "id": id }), required))
    };
    match tool {
        ToolName::CreateEpic => Some((
            "Create an epic: a prefix that issues are filed under.".to_owned(),
            json!({
                "prefix": {
                    "type": "string",
                    "description": "3 to 6 letters; its id, in capitals.",
                },
                "title": { "type": "string", "description": "One line." },
                "description": { "type": "string" },
            }),
            &["prefix", "title"],
        )),
        ToolName::CreateIssue => create(roster),
        ToolName::UpdateIssue => Some(update(roster)),
        ToolName::SetIssueBlockedBy => Some((
            "Set which issues have to be done before an issue, in place of those set before. Only \
             for one that is open and not begun, or that failed."
                .to_owned(),
            json!({ "id": id, "blockedBy": ids("Issue ids; an empty list for none.") }),
            &["id", "blockedBy"],
        )),
        ToolName::RemoveEpic => one("Remove an epic that has no issues."),
        ToolName::RemoveIssue => one("Remove an issue that nobody works on and that blocks none."),
        ToolName::WaitForIssue => {
            one("Wait until an issue is done or has failed, and get which of the two.")
        }
        ToolName::ListIssues => Some((
            "List the issues of the board, in the order they were filed.".to_owned(),
            json!({
                "status": { "type": "string", "enum": IssueStatus::ALL },
                "epic": { "type": "string", "description": "An epic's id." },
            }),
            &[],
        )),
        ToolName::ReadIssue => one(
            "Read an issue whole, with what its reviewers said, and why it failed where it did.",
        ),
        _ => None,
    }
}

fn create(roster: BoardRoster<'_>) -> Option<Parts> {
    if roster.implementers.is_empty() {
        return None;
    }
    let mut properties = json!({
        "title": { "type": "string", "description": "One line." },
        "description": { "type": "string" },
    });
    sections(&mut properties);
    properties["agent"] = profile(roster.implementers);
    properties["epic"] = json!({ "type": "string", "description": "An epic's id." });
    properties["blockedBy"] = ids("Issues that have to be done before.");
    reviewers(&mut properties, roster);
    let required: &[&str] = if roster.reviewers_required {
        &[
            "title",
            "inScope",
            "outOfScope",
            "completionCriteria",
            "agent",
            "reviewers",
        ]
    } else {
        &[
            "title",
            "inScope",
            "outOfScope",
            "completionCriteria",
            "agent",
        ]
    };
    Some((
        "File an issue. Once nothing blocks it, its agent works on it in a copy of the workspace \
         of its own; the work is merged into yours when every reviewer has approved it."
            .to_owned(),
        properties,
        required,
    ))
}

fn update(roster: BoardRoster<'_>) -> Parts {
    let mut properties = json!({
        "id": { "type": "string" },
        "title": { "type": "string", "description": "One line." },
        "description": { "type": ["string", "null"], "description": "null takes it away." },
    });
    sections(&mut properties);
    if !roster.implementers.is_empty() {
        properties["agent"] = profile(roster.implementers);
    }
    reviewers(&mut properties, roster);
    properties["status"] = json!({
        "type": "string",
        "enum": [IssueStatus::Open],
        "description": "Starts a failed issue anew.",
    });
    (
        "Replace parts of an issue that is open and not begun, or that failed. What you leave out \
         stays."
            .to_owned(),
        properties,
        &["id"],
    )
}

fn sections(properties: &mut Value) {
    for (name, meaning) in SECTIONS {
        properties[name] = json!({ "type": "string", "description": meaning });
    }
}

fn reviewers(properties: &mut Value, roster: BoardRoster<'_>) {
    if roster.reviewers.is_empty() {
        return;
    }
    let mut list = Map::new();
    list.insert("type".to_owned(), json!("array"));
    list.insert("items".to_owned(), profile(roster.reviewers));
    if roster.reviewers_required {
        list.insert("minItems".to_owned(), json!(1));
    }
    list.insert(
        "description".to_owned(),
        json!("Who has to approve it, one after another."),
    );
    properties["reviewers"] = Value::Object(list);
}

fn ids(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Variants, definition};

    const CODER: Target<'static> = Target {
        slug: "coder",
        name: "Coder",
        description: "Writes code.",
    };

    fn told(tool: ToolName, roster: BoardRoster<'_>) -> Option<Value> {
        let variants = Variants {
            board: Some(roster),
            ..Variants::default()
        };
        definition(tool, variants).map(|definition| definition.parameters)
    }

    #[test]
    fn an_issue_is_created_only_where_somebody_may_implement_it() {
        assert_eq!(told(ToolName::CreateIssue, BoardRoster::default()), None);
        let roster = BoardRoster {
            implementers: &[CODER],
            ..BoardRoster::default()
        };
        let create = told(ToolName::CreateIssue, roster).unwrap();
        assert_eq!(create["properties"]["agent"]["enum"], json!(["coder"]));
        assert_eq!(create["properties"]["reviewers"], Value::Null);
        assert_eq!(create["required"].as_array().unwrap().len(), 5);
        let variants = Variants::default();
        assert_eq!(definition(ToolName::ListIssues, variants), None);
    }

    #[test]
    fn required_reviewers_stand_in_the_schema() {
        let roster = BoardRoster {
            implementers: &[CODER],
            reviewers: &[CODER],
            reviewers_required: true,
        };
        let create = told(ToolName::CreateIssue, roster).unwrap();
        let reviewers = &create["properties"]["reviewers"];
        assert_eq!(reviewers["minItems"], json!(1));
        assert_eq!(reviewers["items"]["enum"], json!(["coder"]));
        assert_eq!(create["required"].as_array().unwrap().len(), 6);
        let update = told(ToolName::UpdateIssue, roster).unwrap();
        assert_eq!(update["properties"]["status"]["enum"], json!(["open"]));
        assert_eq!(update["required"], json!(["id"]));
    }
}
