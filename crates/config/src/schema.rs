//! The JSON Schema of the launch document, generated from its types.
//!
//! It says what a key holds and which keys there are; what one part says of another, and what this
//! build does not have, only the check can tell. `docs/launch.schema.json` is its committed copy.

use serde_json::{Value, json};

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
