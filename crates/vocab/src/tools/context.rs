//! What a tool-calling model is told of the calls by which it manages its own window (02 §6.3, §7).

use serde_json::{Value, json};

use super::ToolName;

/// Files a compaction reads again at most.
pub const MAX_COMPACT_FILES: usize = 12;

/// Ranges of turns one call archives at most.
pub const MAX_ARCHIVE_RANGES: usize = 32;

/// Matches a search of the archive returns at most.
pub const MAX_ARCHIVE_MATCHES: usize = 8;

/// Description, properties and required members of a call; `None` for a tool of another family.
pub(super) fn parts(tool: ToolName) -> Option<(String, Value, &'static [&'static str])> {
    Some(match tool {
        ToolName::EvictFileView => (
            "Take file contents you have read out of your window. The files stay as they are and \
             can be read again."
                .to_owned(),
            json!({
                "path": {
                    "type": "string",
                    "description": "The file, as it was read; every part of it goes. Omitted: all \
                                    files.",
                },
            }),
            &[],
        ),
        ToolName::ArchiveThread => (
            "Move whole turns out of your window: your own messages of them are gone, the results \
             can still be searched. A turn's number heads each of its results."
                .to_owned(),
            json!({
                "ranges": {
                    "type": "array", "minItems": 1, "maxItems": MAX_ARCHIVE_RANGES,
                    "items": {
                        "type": "array", "minItems": 2, "maxItems": 2,
                        "items": { "type": "integer", "minimum": 1 },
                    },
                    "description": "Pairs of first and last turn, both included.",
                },
            }),
            &["ranges"],
        ),
        ToolName::SearchArchive => (
            format!(
                "Search archived results, and the calls they answer, for a text in any case. \
                 Returns at most {MAX_ARCHIVE_MATCHES} matches, whole, oldest first."
            ),
            json!({ "query": { "type": "string", "description": "Not blank." } }),
            &["query"],
        ),
        ToolName::Compact => (
            "Replace the conversation by a summary, once this reply's calls are done. Your task \
             and what is kept for you stays; all else is forgotten."
                .to_owned(),
            json!({
                "summary": {
                    "type": "string",
                    "description": "All you need to go on: what was done, decided and learned, \
                                    what is left, and how to check it. Not blank.",
                },
                "files": {
                    "type": "array", "items": { "type": "string" },
                    "description": format!(
                        "Files to read again into the new window, at most {MAX_COMPACT_FILES}. \
                         Omitted: none."
                    ),
                },
            }),
            &["summary"],
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Variants, definition};

    #[test]
    fn every_call_on_the_window_has_a_definition_without_any_policy() {
        for tool in [
            ToolName::EvictFileView,
            ToolName::ArchiveThread,
            ToolName::SearchArchive,
            ToolName::Compact,
        ] {
            let definition = definition(tool, Variants::default()).unwrap();
            assert_eq!(definition.name, tool.as_str());
            let properties = definition.parameters["properties"].as_object().unwrap();
            for required in definition.parameters["required"].as_array().unwrap() {
                assert!(properties.contains_key(required.as_str().unwrap()));
            }
        }
    }

    #[test]
    fn the_bounds_that_are_kept_are_the_bounds_that_are_told() {
        let told = |tool| {
            let definition = definition(tool, Variants::default()).unwrap();
            format!("{} {}", definition.description, definition.parameters)
        };
        assert!(told(ToolName::Compact).contains("at most 12"));
        assert!(told(ToolName::ArchiveThread).contains("\"maxItems\":32"));
        assert!(told(ToolName::SearchArchive).contains("at most 8 matches"));
    }
}
