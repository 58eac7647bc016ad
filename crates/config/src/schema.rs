//! The JSON Schema of the launch document, generated from its types.
//!
//! It says what a key holds and which keys there are; what one part says of another, and what this
//! build does not have, only the check can tell. `docs/launch.schema.json` is its committed copy.

use serde_json::{Value, json};
use vocab::tools::ToolName;

use crate::capability::{Arms, arms, params_shape};
use crate::launch::Launch;

/// The JSON Schema (2020-12) of the launch document.
pub fn schema() -> Value {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Launch>()
        .to_value();
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".to_owned(), json!("gg launch document"));
    }
    if let Some(variants) = schema
        .pointer_mut("/$defs/Capability/oneOf")
        .and_then(Value::as_array_mut)
    {
        for variant in variants {
            require_while_on(variant);
        }
    }
    if let Some(profile) = schema
        .pointer_mut("/$defs/Profile")
        .and_then(Value::as_object_mut)
    {
        require_a_model(profile);
    }
    // No profile may list the machine's exit, and a list of candidates is never empty.
    if let Some(tools) = schema
        .pointer_mut("/$defs/ToolName/enum")
        .and_then(Value::as_array_mut)
    {
        let granted = |tool: &Value| {
            let tool = tool.as_str().and_then(|name| name.parse::<ToolName>().ok());
            tool.is_some_and(|tool| tool.capability().is_some())
        };
        tools.retain(granted);
    }
    if let Some(candidates) = schema
        .pointer_mut("/properties/modelProviders/additionalProperties")
        .and_then(Value::as_object_mut)
    {
        candidates.insert("minItems".to_owned(), json!(1));
    }
    schema
}

/// Says of one capability what a type cannot: which figures it must write while it is on.
fn require_while_on(variant: &mut Value) {
    let Some(id) = variant
        .pointer("/properties/id/const")
        .and_then(Value::as_str)
        .and_then(|id| id.parse().ok())
    else {
        return;
    };
    let mut required = vec!["params"];
    if arms(id) == Arms::Required {
        required.push("implementation");
    }
    let rule = json!({
        "required": required,
        "properties": { "params": { "required": params_shape(id).required } },
    });
    if let Some(variant) = variant.as_object_mut() {
        variant.insert(
            "if".to_owned(),
            json!({ "properties": { "enabled": { "const": true } } }),
        );
        variant.insert("then".to_owned(), rule);
    }
}

/// Says of a profile what a type cannot: all but a machine name a model.
fn require_a_model(profile: &mut serde_json::Map<String, Value>) {
    let machine = json!({ "properties": { "capabilities": { "contains": {
        "properties": { "id": { "const": "fsm" }, "enabled": { "const": true } },
        "required": ["id", "enabled"],
    } } } });
    profile.insert("if".to_owned(), json!({ "not": machine }));
    profile.insert("then".to_owned(), json!({ "required": ["modelId"] }));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use vocab::capability::CapabilityId;

    use super::*;
    use crate::capability::delegation::{State, Transition};
    use crate::capability::programs::ChosenTypes;
    use crate::hooks::{Hook, HookKind};
    use crate::launch::{CANDIDATE, CapabilitySet, PRICES};
    use crate::limits::Limits;
    use crate::profile::{
        LoopDetection, OpeningTurn, Profile, REASONING, RepeatDetection, RosterEntry, Tree,
    };
    use crate::validate::Shape;

    /// Every object the validator reads, whole: what it requires is what the schema requires.
    const SHAPES: &[Shape] = &[
        Launch::SHAPE,
        CANDIDATE,
        PRICES,
        CapabilitySet::SHAPE,
        Limits::SHAPE,
        Hook::SHAPE,
        OpeningTurn::SHAPE,
        Tree::SHAPE,
        RosterEntry::SHAPE,
        RepeatDetection::SHAPE,
        State::SHAPE,
        Transition::SHAPE,
        ChosenTypes::SHAPE,
    ];

    fn definition<'a>(schema: &'a Value, name: &str) -> &'a Value {
        if name == "Launch" {
            return schema;
        }
        if let Some(kind) = name.strip_prefix("HookAction ") {
            let variants = schema["$defs"]["HookAction"]["oneOf"].as_array().unwrap();
            return variants
                .iter()
                .find(|variant| variant["properties"]["type"]["const"] == kind)
                .unwrap();
        }
        &schema["$defs"][name]
    }

    fn keys(object: &Value) -> BTreeSet<&str> {
        let properties = object["properties"].as_object();
        properties
            .into_iter()
            .flatten()
            .map(|(key, _)| key.as_str())
            .collect()
    }

    fn required(object: &Value) -> BTreeSet<&str> {
        let required = object["required"].as_array();
        required
            .into_iter()
            .flatten()
            .map(|key| key.as_str().unwrap())
            .collect()
    }

    fn set(words: &[&'static str]) -> BTreeSet<&'static str> {
        words.iter().copied().collect()
    }

    #[test]
    fn schema_and_validator_know_the_same_keys() {
        let schema = schema();
        let hooks = HookKind::ALL.iter().map(|kind| kind.shape());
        for shape in SHAPES.iter().copied().chain(hooks) {
            let object = definition(&schema, shape.name);
            assert_eq!(keys(object), set(shape.keys), "{}", shape.name);
            assert_eq!(required(object), set(shape.required), "{}", shape.name);
            assert_eq!(object["additionalProperties"], false, "{}", shape.name);
        }
        // What these require depends on the rest of the profile, or on being switched on.
        for shape in [Profile::SHAPE, LoopDetection::SHAPE] {
            let object = definition(&schema, shape.name);
            assert_eq!(keys(object), set(shape.keys), "{}", shape.name);
        }
        let reasoning = schema["$defs"]["Reasoning"]["oneOf"].as_array().unwrap();
        let either: BTreeSet<_> = reasoning.iter().flat_map(keys).collect();
        assert_eq!(either, set(REASONING.keys));
    }

    #[test]
    fn every_capability_is_in_the_schema_with_its_params() {
        let schema = schema();
        let variants = schema["$defs"]["Capability"]["oneOf"].as_array().unwrap();
        let ids: Vec<_> = variants
            .iter()
            .map(|variant| variant["properties"]["id"]["const"].as_str().unwrap())
            .collect();
        let all: Vec<_> = CapabilityId::ALL.iter().map(|id| id.as_str()).collect();
        assert_eq!(ids, all);
        for (variant, id) in variants.iter().zip(CapabilityId::ALL) {
            let has_arms = arms(*id) != Arms::None;
            assert_eq!(keys(variant).contains("implementation"), has_arms, "{id}");
            let shape = params_shape(*id);
            let reference = variant["properties"]["params"]["$ref"].as_str().unwrap();
            assert_eq!(reference, format!("#/$defs/{}", shape.name));
            let params = definition(&schema, shape.name);
            assert_eq!(keys(params), set(shape.keys), "{id}");
            assert_eq!(params["additionalProperties"], false, "{id}");
            assert_eq!(
                required(&variant["then"]["properties"]["params"]),
                set(shape.required),
                "{id}"
            );
        }
    }
}
