//! The demo's launch document: the same text a person would write, for one folder. A builder that
//! may put a coder and a tester to work.

use std::path::Path;

use serde_json::json;

/// The session's id; an earlier demo's stream is known by it.
pub(crate) const SESSION: &str = "gg-demo";

/// What the demo's agent is asked to do.
const TASK: &str = "Make a small browser game in this folder that is fun for a minute and played \
                    with one button, by keyboard, mouse and touch. It must run from index.html \
                    without a network or a build step. Write a script that checks it, and finish \
                    when the check passes.";

/// The document for a folder, given as an absolute path.
pub(crate) fn text(dir: &Path) -> String {
    let on = |id: &str| json!({ "id": id, "enabled": true, "params": {} });
    let shell = json!({
        "id": "shell", "enabled": true, "implementation": "offload",
        "params": { "maxLines": 120, "maxChars": 6000 },
    });
    let at_work = |profile: &str, when: &str| json!({ "agentId": profile, "description": when, "scopes": ["subagent"] });
    let document = json!({
        "sessionId": SESSION,
        "workspaceDir": dir,
        "prompt": TASK,
        "modelWindows": { "mock/demo": 200_000 },
        "modelPrices": {
            "mock/demo": { "uncachedInput": 1.0, "cachedInput": 0.1, "output": 4.0 },
        },
        "capabilitySet": {
            "preset": "demo",
            "limits": {
                "maxParallel": 2,
                "replayMaxBytes": 67_108_864,
                "maxTurns": 40,
                "maxRuntimeSecs": 300,
            },
            "agents": [
                {
                    "slug": "builder",
                    "name": "Builder",
                    "modelId": "mock/demo",
                    "capabilities": [
                        shell,
                        {
                            "id": "read-file", "enabled": true, "implementation": "default-cap",
                            "params": { "lineCap": 250 },
                        },
                        on("write-file"),
                        on("edit-file"),
                        on("list-dir"),
                        on("search"),
                        { "id": "subagents", "enabled": true, "params": { "maxDepth": 1 } },
                    ],
                    "tools": [
                        "read_file", "write_file", "edit_file", "list_dir", "search", "shell",
                        "spawn_subagent", "wait_for_subagents",
                    ],
                    "operations": [],
                    "subagents": [
                        at_work("coder", "Writes one script to a description."),
                        at_work("tester", "Writes a check that a shell can run."),
                    ],
                },
                {
                    "slug": "coder",
                    "name": "Coder",
                    "modelId": "mock/demo",
                    "capabilities": [on("write-file")],
                    "tools": ["write_file"],
                    "operations": [],
                },
                {
                    "slug": "tester",
                    "name": "Tester",
                    "modelId": "mock/demo",
                    "capabilities": [shell, on("write-file")],
                    "tools": ["write_file", "shell"],
                    "operations": [],
                },
            ],
            "hooks": [],
        },
    });
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_passes_its_check() {
        let checked = config::parse(&text(Path::new("/some/where")))
            .unwrap()
            .check();
        assert_eq!(checked.refusals, []);
        assert_eq!(checked.warnings, [""; 0]);
    }
}
