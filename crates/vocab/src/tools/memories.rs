//! What a tool-calling model is told of the calls on its memories (02 §9.3). Native schemas carry
//! no code of a memory (04 §5).

use serde_json::{Value, json};

use super::ToolName;
use crate::knowledge::MemoryStrategy;

/// Description, properties and required members of a call; `None` for a tool of another family,
/// and for one that memories kept this way do not have.
pub(super) fn parts(
    tool: ToolName,
    strategy: MemoryStrategy,
) -> Option<(String, Value, &'static [&'static str])> {
    if !strategy.calls().contains(&tool) {
        return None;
    }
    let name = json!({ "type": "string" });
    let (description, properties, required): (&str, Value, &[&str]) = match tool {
        ToolName::WriteMemory | ToolName::CreateMemory => (
            "Keep a new memory.",
            json!({
                "name": {
                    "type": "string",
                    "description": "Yours to choose: 1 to 64 of letters, digits, `-`, `_`, `.`.",
                },
                "description": { "type": "string", "description": "One line." },
                "body": { "type": "string", "description": "Not blank." },
            }),
            if strategy.describes() {
                &["name", "description", "body"]
            } else {
                &["name", "body"]
            },
        ),
        ToolName::UpdateMemory => (
            "Replace a memory's description and body.",
            json!({
                "name": name,
                "description": { "type": "string", "description": "One line." },
                "body": { "type": "string", "description": "Not blank." },
            }),
            &["name", "description", "body"],
        ),
        ToolName::EditMemory => (
            "Replace the one exact occurrence of a text in a memory's body.",
            json!({
                "name": name,
                "oldString": { "type": "string", "description": "Must occur exactly once." },
                "newString": { "type": "string" },
            }),
            &["name", "oldString", "newString"],
        ),
        ToolName::ReadMemory => ("Read a memory's body.", json!({ "name": name }), &["name"]),
        ToolName::SearchMemories => (
            "Find memories whose name, description or body holds any of the keywords, in any \
             case. The best matches come first.",
            json!({
                "keywords": {
                    "type": "array", "minItems": 1,
                    "items": { "type": "string" },
                },
            }),
            &["keywords"],
        ),
        ToolName::DeleteMemory => ("Delete a memory.", json!({ "name": name }), &["name"]),
        _ => return None,
    };
    Some((description.to_owned(), properties, required))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Variants, definition};

    #[test]
    fn a_strategy_has_the_calls_it_serves_and_no_other() {
        for strategy in MemoryStrategy::ALL {
            let variants = Variants {
                memories: Some(*strategy),
                ..Variants::default()
            };
            for tool in ToolName::ALL {
                if tool.capability() == Some(crate::capability::CapabilityId::Memories) {
                    assert_eq!(
                        definition(*tool, variants).is_some(),
                        strategy.serves(*tool, true),
                        "{strategy}: {tool}"
                    );
                    assert_eq!(definition(*tool, Variants::default()), None);
                }
            }
        }
    }
}
