//! Schema, validator, types and documentation say the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{
    EVERYTHING, FAN_OUT, HOOKED, LIVE, MACHINE, MOCK, SPECIFICATION, refusals, repository,
};
use serde_json::{Map, Value, json};

/// The committed copy of the schema. `GG_UPDATE=1 cargo test -p config` rewrites it.
#[test]
fn the_committed_schema_is_the_generated_one() {
    let path = repository().join("docs/launch.schema.json");
    let mut generated = serde_json::to_string_pretty(&config::schema()).unwrap();
    generated.push('\n');
    if std::env::var_os("GG_UPDATE").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == generated,
        "docs/launch.schema.json is stale: GG_UPDATE=1 cargo test -p config --test it"
    );
}

#[test]
fn the_schema_admits_what_the_check_admits() {
    let schema = config::schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for text in [LIVE, MOCK, MACHINE, HOOKED, SPECIFICATION, FAN_OUT] {
        let document: Value = serde_json::from_str(text).unwrap();
        let faults: Vec<_> = validator
            .iter_errors(&document)
            .map(|e| e.to_string())
            .collect();
        assert_eq!(faults, [""; 0]);
    }
    // What is merely not built is sound to both.
    let mut everything: Value = serde_json::from_str(EVERYTHING).unwrap();
    let faults: Vec<_> = validator
        .iter_errors(&everything)
        .map(|e| format!("{} at {}", e, e.instance_path))
        .collect();
    assert_eq!(faults, [""; 0]);
    // The one profile without a model is a machine.
    everything["capabilitySet"]["agents"][3]["capabilities"][0]["enabled"] = json!(false);
    assert_eq!(validator.iter_errors(&everything).count(), 1);
}

/// An object of a document, and the part of the schema that speaks of it.
struct Found<'a> {
    pointer: String,
    schema: &'a Value,
}

/// Pairs every object of a document with the schema of its type; tables by name are passed through.
fn objects<'a>(
    root: &'a Value,
    schema: &'a Value,
    value: &Value,
    pointer: &str,
    out: &mut Vec<Found<'a>>,
) {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    if let Some(variants) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        for variant in variants {
            if fits(root, variant, value) {
                objects(root, variant, value, pointer, out);
                return;
            }
        }
        return;
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let pointer = format!("{pointer}/{index}");
                objects(root, &schema["items"], item, &pointer, out);
            }
        }
        Value::Object(members) => {
            if schema["additionalProperties"] == false {
                out.push(Found {
                    pointer: pointer.to_owned(),
                    schema,
                });
            }
            for (key, member) in members {
                let of_key = match &schema["properties"][key] {
                    Value::Null => &schema["additionalProperties"],
                    of_key => of_key,
                };
                let key = key.replace('~', "~0").replace('/', "~1");
                objects(root, of_key, member, &format!("{pointer}/{key}"), out);
            }
        }
        _ => {}
    }
}

/// Whether a variant is the one an object was written as: its tags agree, its keys are there.
fn fits(root: &Value, variant: &Value, value: &Value) -> bool {
    let variant = match variant["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap(),
        None => variant,
    };
    let Some(properties) = variant["properties"].as_object() else {
        return false;
    };
    let tags = properties
        .iter()
        .all(|(key, schema)| match schema.get("const") {
            Some(tag) => value[key] == *tag,
            None => true,
        });
    let keys = variant["required"]
        .as_array()
        .into_iter()
        .flatten()
        .all(|key| value.get(key.as_str().unwrap()).is_some());
    tags && keys
}

#[test]
fn the_document_of_everything_is_sound_and_holds_every_key() {
    let everything: Value = serde_json::from_str(EVERYTHING).unwrap();
    assert_eq!(refusals(EVERYTHING), [""; 0]);

    let schema = config::schema();
    let mut found = Vec::new();
    objects(&schema, &schema, &everything, "", &mut found);
    let mut unused: BTreeSet<String> = BTreeSet::new();
    let mut used = BTreeSet::new();
    for object in &found {
        let value = everything.pointer(&object.pointer).unwrap();
        let name = std::ptr::from_ref(object.schema) as usize;
        for (key, _) in object.schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
        {
            if value.get(key).is_some() {
                used.insert((name, key));
            }
        }
    }
    for object in &found {
        let name = std::ptr::from_ref(object.schema) as usize;
        for (key, _) in object.schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
        {
            if !used.contains(&(name, key)) {
                unused.insert(format!("{} {key}", object.pointer));
            }
        }
    }
    assert_eq!(unused, BTreeSet::new());
}

/// F117, at every object of the document there is.
#[test]
fn an_unknown_key_is_refused_wherever_it_stands_and_every_known_key_is_judged() {
    let everything: Value = serde_json::from_str(EVERYTHING).unwrap();
    let schema = config::schema();
    let mut found = Vec::new();
    objects(&schema, &schema, &everything, "", &mut found);
    assert!(found.len() > 60, "{}", found.len());
    for object in found {
        let place = &object.pointer;
        let mut mutated = everything.clone();
        members(&mut mutated, place).insert("sideboard".to_owned(), json!(1));
        let unsound = refusals(&mutated.to_string());
        assert_eq!(unsound.len(), 1, "{place}: {unsound:?}");
        assert!(
            unsound[0].contains("sideboard is not a known key"),
            "{place}: {unsound:?}"
        );

        let keys: Vec<String> = members(&mut everything.clone(), place)
            .keys()
            .cloned()
            .collect();
        for key in keys {
            let mut mutated = everything.clone();
            // No key takes a list of an object of a blank key.
            members(&mut mutated, place).insert(key.clone(), json!([{ " ": [] }]));
            let refused = refusals(&mutated.to_string());
            assert!(
                refused.iter().any(|text| !text.contains("not available")),
                "{place}/{key}"
            );
            let unknown = format!("{key} is not a known key");
            assert!(!refused.iter().any(|text| text.contains(&unknown)));
        }
    }
}

fn members<'a>(document: &'a mut Value, pointer: &str) -> &'a mut Map<String, Value> {
    document
        .pointer_mut(pointer)
        .and_then(Value::as_object_mut)
        .unwrap()
}

/// The tables of `docs/launch-document.md`: each stands under a comment `keys of <type>`.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(repository().join("docs/launch-document.md")).unwrap();
    let mut tables = BTreeMap::new();
    let mut current: Option<(String, BTreeSet<String>)> = None;
    for line in text.lines() {
        if let Some(name) = line
            .strip_prefix("<!-- keys of ")
            .and_then(|rest| rest.strip_suffix(" -->"))
        {
            current = Some((name.to_owned(), BTreeSet::new()));
        } else if let Some((_, keys)) = &mut current
            && let Some(row) = line.strip_prefix("| `")
        {
            keys.insert(row.split_once('`').unwrap().0.to_owned());
        } else if line.starts_with('#')
            && let Some((name, keys)) = current.take()
        {
            assert!(
                tables.insert(name, keys).is_none(),
                "two tables of one type"
            );
        }
    }
    tables.extend(current);
    tables
}

#[test]
fn the_documentation_has_a_row_for_every_key_and_no_other() {
    let schema = config::schema();
    let mut types: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut add = |name: String, object: &Value| {
        let keys: Vec<_> = object["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key.clone())
            .collect();
        if !keys.is_empty() {
            types.entry(name).or_default().extend(keys);
        }
    };
    add("Launch".to_owned(), &schema);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        add(name.clone(), definition);
        for variant in definition["oneOf"].as_array().into_iter().flatten() {
            let tag = match &variant["properties"]["type"]["const"] {
                Value::String(tag) => format!(" {tag}"),
                _ => String::new(),
            };
            add(format!("{name}{tag}"), variant);
        }
    }
    assert_eq!(documented(), types);
}

#[test]
fn the_documentation_names_every_word_of_every_vocabulary() {
    let text = std::fs::read_to_string(repository().join("docs/launch-document.md")).unwrap();
    let schema = config::schema();
    let mut missing = Vec::new();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        let plain = definition["enum"].as_array().into_iter().flatten();
        let described = definition["oneOf"].as_array().into_iter().flatten();
        let words = plain.chain(described.filter_map(|variant| variant.get("const")));
        for word in words.filter_map(Value::as_str) {
            if !text.contains(&format!("`{word}`")) {
                missing.push(format!("{name}: {word}"));
            }
        }
    }
    for id in vocab::capability::CapabilityId::ALL {
        if !text.contains(&format!("`{id}`")) {
            missing.push(format!("capability {id}"));
        }
    }
    assert_eq!(missing, [""; 0]);
}

/// The examples of the documentation are documents that pass.
#[test]
fn the_documentation_shows_a_document_that_passes() {
    let text = std::fs::read_to_string(repository().join("docs/launch-document.md")).unwrap();
    let examples: Vec<_> = text
        .split("```json\n")
        .skip(1)
        .map(|rest| rest.split_once("```").unwrap().0)
        .filter(|example| example.contains("capabilitySet"))
        .collect();
    assert!(!examples.is_empty());
    for example in examples {
        assert_eq!(refusals(example), [""; 0]);
    }
}
