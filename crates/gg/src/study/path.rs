//! A place in a launch document, as it is written behind `--vary`:
//! `capabilitySet.limits.maxParallel`, `capabilitySet.agents[0].modelId`, `modelWindows["a/b-1.5"]`.
//!
//! A number in brackets is a place in a list; a word in brackets is the item of a list with that
//! `slug` or `id`, or a key that the plain spelling cannot hold.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

/// A way from the top of a document to one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// `.key`
    Key(String),
    /// `[3]` or `[word]`
    Item(String),
}

/// Keys by which an item of a list is named.
const NAMES: [&str; 2] = ["slug", "id"];

impl Path {
    /// The last step, as a short name of what is varied.
    pub(crate) fn last(&self) -> &str {
        match self.steps.last() {
            Some(Step::Key(key) | Step::Item(key)) => key,
            None => "",
        }
    }

    /// Puts a value at the place. Everything before the last step has to be there; a last key may
    /// be new to its object.
    pub(crate) fn set(&self, document: &mut Value, value: Value) -> Result<(), String> {
        let Some((last, way)) = self.steps.split_last() else {
            return Err("it names no place".to_owned());
        };
        let mut at = document;
        let mut walked = String::new();
        for step in way {
            let found = step.find(at);
            step.write(&mut walked);
            at = match found {
                Some(Found::Key(key)) => &mut at[key],
                Some(Found::Place(place)) => &mut at[place],
                None => return Err(absent(&walked, step, at)),
            };
        }
        match (last.find(at), last, &mut *at) {
            (Some(Found::Key(key)), _, Value::Object(fields)) => {
                fields.insert(key, value);
            }
            (Some(Found::Place(place)), _, Value::Array(items)) => items[place] = value,
            (None, Step::Key(key) | Step::Item(key), Value::Object(fields)) => {
                fields.insert(key.clone(), value);
            }
            _ => {
                last.write(&mut walked);
                return Err(absent(&walked, last, at));
            }
        }
        Ok(())
    }
}

enum Found {
    Key(String),
    Place(usize),
}

impl Step {
    fn find(&self, at: &Value) -> Option<Found> {
        match (self, at) {
            (Self::Key(key) | Self::Item(key), Value::Object(fields)) => {
                fields.contains_key(key).then(|| Found::Key(key.clone()))
            }
            (Self::Item(item), Value::Array(items)) => {
                let place = item.parse().ok().filter(|place| *place < items.len());
                let named = || {
                    let is_named = |it: &Value| NAMES.iter().any(|key| it[key] == item.as_str());
                    items.iter().position(is_named)
                };
                place.or_else(named).map(Found::Place)
            }
            _ => None,
        }
    }

    fn write(&self, text: &mut String) {
        match self {
            Self::Key(key) if text.is_empty() => text.push_str(key),
            Self::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
            Self::Item(item) if item.chars().all(is_plain) => {
                text.push('[');
                text.push_str(item);
                text.push(']');
            }
            Self::Item(item) => {
                text.push('[');
                text.push_str(&Value::from(item.as_str()).to_string());
                text.push(']');
            }
        }
    }
}

/// Why a step leads nowhere, with what there is instead.
fn absent(walked: &str, step: &Step, at: &Value) -> String {
    let there = match at {
        Value::Object(fields) => {
            let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
            format!("its keys are {}", keys.join(", "))
        }
        Value::Array(items) => {
            let names: Vec<&str> = items
                .iter()
                .filter_map(|item| NAMES.iter().find_map(|key| item[key].as_str()))
                .collect();
            let named = match names.as_slice() {
                [] => String::new(),
                names => format!(": {}", names.join(", ")),
            };
            let how = match step {
                Step::Key(_) => "; an item is written in brackets",
                Step::Item(_) => "",
            };
            format!("the list has {} items{named}{how}", items.len())
        }
        other => format!("what stands there is {other}"),
    };
    format!("`{walked}` is not in the document: {there}")
}

const fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | ':' | '~')
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for step in &self.steps {
            step.write(&mut text);
        }
        f.write_str(&text)
    }
}

impl FromStr for Path {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("`{text}` is no path: {what}");
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (item, behind) = if inner.starts_with('"') {
                    let mut values =
                        serde_json::Deserializer::from_str(inner).into_iter::<String>();
                    let Some(Ok(item)) = values.next() else {
                        return Err(wrong("a quoted name has no end"));
                    };
                    (item, &inner[values.byte_offset()..])
                } else {
                    let end = inner.find(']').unwrap_or(inner.len());
                    (inner[..end].to_owned(), &inner[end..])
                };
                if item.is_empty() {
                    return Err(wrong("brackets hold a place or a name"));
                }
                rest = behind
                    .strip_prefix(']')
                    .ok_or_else(|| wrong("a bracket is not closed"))?;
                steps.push(Step::Item(item));
            } else {
                let key = match rest.strip_prefix('.') {
                    Some(key) if !steps.is_empty() => key,
                    _ if steps.is_empty() => rest,
                    _ => return Err(wrong("a key behind a bracket begins with a dot")),
                };
                let end = key.find(['.', '[']).unwrap_or(key.len());
                if end == 0 {
                    return Err(wrong("a key is empty"));
                }
                steps.push(Step::Key(key[..end].to_owned()));
                rest = &key[end..];
            }
        }
        if steps.is_empty() {
            return Err(wrong("it is empty"));
        }
        Ok(Self { steps })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn document() -> Value {
        json!({
            "prompt": "x",
            "modelWindows": { "a/b-1.5": 10 },
            "capabilitySet": {
                "limits": { "maxParallel": 1 },
                "agents": [
                    { "slug": "root", "capabilities": [{ "id": "shell", "params": { "maxLines": 3 } }] },
                    { "slug": "scout" },
                ],
            },
        })
    }

    fn set(path: &str, value: Value) -> Result<Value, String> {
        let mut document = document();
        path.parse::<Path>()?.set(&mut document, value)?;
        Ok(document)
    }

    #[test]
    fn every_kind_of_place_is_reached() {
        for (path, pointer) in [
            ("prompt", "/prompt"),
            (
                "capabilitySet.limits.maxParallel",
                "/capabilitySet/limits/maxParallel",
            ),
            (
                "capabilitySet.limits.maxTurns",
                "/capabilitySet/limits/maxTurns",
            ),
            (
                "capabilitySet.agents[1].modelId",
                "/capabilitySet/agents/1/modelId",
            ),
            (
                "capabilitySet.agents[scout].modelId",
                "/capabilitySet/agents/1/modelId",
            ),
            (
                "capabilitySet.agents[root].capabilities[shell].params.maxLines",
                "/capabilitySet/agents/0/capabilities/0/params/maxLines",
            ),
            ("capabilitySet.agents[0]", "/capabilitySet/agents/0"),
            ("modelWindows[\"a/b-1.5\"]", "/modelWindows/a~1b-1.5"),
        ] {
            let changed = set(path, json!(7)).unwrap();
            assert_eq!(changed.pointer(pointer), Some(&json!(7)), "{path}");
            assert_eq!(path.parse::<Path>().unwrap().to_string(), path);
        }
    }

    #[test]
    fn a_way_that_leads_nowhere_says_what_is_there() {
        for (path, said) in [
            (
                "agents[0].modelId",
                "`agents` is not in the document: its keys are prompt, ",
            ),
            (
                "capabilitySet.agents[2].x",
                "the list has 2 items: root, scout",
            ),
            (
                "capabilitySet.agents.root",
                "an item is written in brackets",
            ),
            (
                "capabilitySet.agents[5]",
                "`capabilitySet.agents[5]` is not in",
            ),
            ("prompt.x", "what stands there is \"x\""),
        ] {
            let why = set(path, json!(7)).unwrap_err();
            assert!(why.contains(said), "{path}: {why}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in [
            "", ".a", "a..b", "a[", "a[]", "a[0]b", "a[\"x", "a[\"x\"", "a.",
        ] {
            assert!(path.parse::<Path>().is_err(), "{path}");
        }
    }

    proptest! {
        #[test]
        fn a_path_is_read_back_as_it_is_shown(text in "[a-c\\[\\]\\.\"0-2 ]{0,12}") {
            if let Ok(path) = text.parse::<Path>() {
                prop_assert_eq!(path.to_string().parse::<Path>(), Ok(path));
            }
        }
    }
}
