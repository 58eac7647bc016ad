//! Launch documents for tests: a good one to start from, changed where a test differs.

use serde_json::{Value, json};

/// The live model of [`Launch::live`].
pub const MODEL: &str = "acme/coder-1";
/// The provider its one candidate names.
pub const PROVIDER: &str = "Acme";

/// A launch document as JSON. `workspaceDir` is filled in when the run starts, where absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch(Value);

impl Launch {
    /// A root with every tool of this build on a live model with one candidate. Errors are
    /// retried at once, so that a failing run is short.
    pub fn live() -> Self {
        Self(json!({
            "sessionId": "test-session",
            "prompt": "Do what the script says.",
            "modelWindows": { MODEL: 200_000 },
            "modelProviders": { MODEL: [{ "provider": PROVIDER, "quantization": "fp8" }] },
            "capabilitySet": {
                "preset": "test",
                "limits": {
                    "maxParallel": 4,
                    "replayMaxBytes": 268_435_456,
                    "modelRetryMaxDelaySecs": 1,
                },
                "agents": [root(MODEL)],
                "hooks": [],
            },
        }))
    }

    /// The same root on another live model, with these candidates in order, each at `fp8`.
    pub fn on(model: &str, candidates: &[&str]) -> Self {
        let candidates: Vec<Value> = candidates
            .iter()
            .map(|provider| json!({ "provider": provider, "quantization": "fp8" }))
            .collect();
        Self::live()
            .set("/modelWindows", json!({ model: 2_000_000 }))
            .set("/modelProviders", json!({ model: candidates }))
            .set("/capabilitySet/agents/0/modelId", model)
    }

    /// The same root on a model in the process: `mock/<name>`.
    pub fn mock(name: &str) -> Self {
        let model = format!("mock/{name}");
        Self::live()
            .unset("/modelProviders")
            .set("/modelProviders", json!({}))
            .set("/modelWindows", json!({ model.as_str(): 200_000 }))
            .set("/capabilitySet/agents/0/modelId", json!(model))
    }

    /// Sets the value at a JSON pointer, making objects on the way.
    pub fn set(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        let mut place = &mut self.0;
        for key in pointer.split('/').skip(1) {
            place = match place {
                Value::Array(items) => {
                    let index: usize = key.parse().expect("an array is indexed by a number");
                    while items.len() <= index {
                        items.push(Value::Null);
                    }
                    &mut items[index]
                }
                other => {
                    if !other.is_object() {
                        *other = json!({});
                    }
                    &mut other[key]
                }
            };
        }
        *place = value.into();
        self
    }

    /// Removes the member at a JSON pointer.
    pub fn unset(mut self, pointer: &str) -> Self {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer begins with `/`");
        match self.0.pointer_mut(parent) {
            Some(Value::Object(fields)) => {
                fields.shift_remove(key);
            }
            Some(Value::Array(items)) => {
                items.remove(key.parse().expect("an array is indexed by a number"));
            }
            _ => panic!("nothing stands at {pointer}"),
        }
        self
    }

    /// Sets a key of `capabilitySet.limits`.
    pub fn limit(self, key: &str, value: impl Into<Value>) -> Self {
        self.set(&format!("/capabilitySet/limits/{key}"), value)
    }

    /// Sets a member of the root's profile.
    pub fn root(self, pointer: &str, value: impl Into<Value>) -> Self {
        self.set(&format!("/capabilitySet/agents/0{pointer}"), value)
    }

    /// The root's declaration of a capability: its place in the list.
    ///
    /// # Panics
    ///
    /// Where the root does not declare it.
    pub fn capability(&self, id: &str) -> usize {
        self.0["capabilitySet"]["agents"][0]["capabilities"]
            .as_array()
            .and_then(|all| all.iter().position(|one| one["id"] == id))
            .unwrap_or_else(|| panic!("the root declares no {id}"))
    }

    /// Sets a member of the root's declaration of a capability.
    pub fn in_capability(self, id: &str, pointer: &str, value: impl Into<Value>) -> Self {
        let place = self.capability(id);
        self.root(&format!("/capabilities/{place}{pointer}"), value)
    }

    /// Adds a declaration of a capability to the root, and the tools it brings to the root's list.
    ///
    /// # Panics
    ///
    /// Where the root has no lists to add to.
    pub fn granting(mut self, declaration: Value, tools: &[&str]) -> Self {
        let root = &mut self.0["capabilitySet"]["agents"][0];
        let mut add = |list: &str, values: Vec<Value>| {
            let list = root[list].as_array_mut().expect("a root has lists");
            list.extend(values);
        };
        add("capabilities", vec![declaration]);
        add("tools", tools.iter().map(|tool| json!(tool)).collect());
        self
    }

    /// Removes the root's declaration of a capability.
    pub fn without_capability(self, id: &str) -> Self {
        let place = self.capability(id);
        self.unset(&format!("/capabilitySet/agents/0/capabilities/{place}"))
    }

    /// The document.
    pub fn json(&self) -> &Value {
        &self.0
    }
}

/// A profile with every tool of this build.
fn root(model: &str) -> Value {
    json!({
        "slug": "root",
        "name": "Root",
        "modelId": model,
        "capabilities": [
            {
                "id": "shell", "enabled": true, "implementation": "offload",
                "params": { "maxLines": 250, "maxChars": 4096 },
            },
            {
                "id": "read-file", "enabled": true, "implementation": "default-cap",
                "params": { "lineCap": 250 },
            },
            { "id": "write-file", "enabled": true, "params": {} },
            { "id": "edit-file", "enabled": true, "params": {} },
            { "id": "list-dir", "enabled": true, "params": {} },
            { "id": "search", "enabled": true, "params": {} },
        ],
        "tools": ["shell", "read_file", "write_file", "edit_file", "list_dir", "search"],
        "operations": [],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_changed_by_pointers() {
        let launch = Launch::live()
            .limit("maxTurns", 3)
            .in_capability("search", "/enabled", false)
            .without_capability("shell")
            .unset("/modelProviders");
        let json = launch.json();
        assert_eq!(json["capabilitySet"]["limits"]["maxTurns"], 3);
        assert_eq!(launch.capability("search"), 4);
        assert_eq!(
            json["capabilitySet"]["agents"][0]["capabilities"][4]["enabled"],
            false
        );
        assert!(json.get("modelProviders").is_none());
    }
}
