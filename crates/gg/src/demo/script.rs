//! What the demo's model says: `script.json`, with the game's files put into their places.
//!
//! The file has the format of every mock script, but for one thing: an argument `{{name}}` stands
//! for a file of `game/`. The game is first written with a mistake. It is not kept as a second copy:
//! the script's own `edit_file` is applied backwards to the finished file, so that the edit always
//! leads to the file that is tested.

use anyhow::Context as _;
use serde_json::Value;

/// The game's files as the session leaves them.
pub(crate) const GAME: [(&str, &str); 4] = [
    ("index.html", include_str!("game/index.html")),
    ("style.css", include_str!("game/style.css")),
    ("game.js", include_str!("game/game.js")),
    ("check.sh", include_str!("game/check.sh")),
];

const SCRIPT: &str = include_str!("script.json");
const WITH_MISTAKE: &str = "game.js with its mistake";

/// The script as JSON text, ready for the mock model.
pub(crate) fn text() -> anyhow::Result<String> {
    let mut script: Value =
        serde_json::from_str(SCRIPT).context("the demo's script is not JSON")?;
    let draft = draft(&script).context("the demo's script has no edit that fits the game")?;
    fill(&mut script, &draft);
    Ok(script.to_string())
}

/// `game.js` as the session first writes it.
pub(crate) fn first_game() -> anyhow::Result<String> {
    let script = serde_json::from_str(SCRIPT).context("the demo's script is not JSON")?;
    draft(&script).context("the demo's script has no edit that fits the game")
}

fn draft(script: &Value) -> Option<String> {
    let game = finished("game.js")?;
    calls(script).find_map(|call| {
        let arguments = &call["arguments"];
        let (old, new) = (
            arguments["oldString"].as_str()?,
            arguments["newString"].as_str()?,
        );
        (game.matches(new).count() == 1).then(|| game.replace(new, old))
    })
}

/// Every call of a script, in order.
fn calls(script: &Value) -> impl Iterator<Item = &Value> {
    let profiles = script["profiles"].as_object().into_iter().flatten();
    profiles
        .flat_map(|(_, replies)| replies.as_array().into_iter().flatten())
        .flat_map(|reply| reply["calls"].as_array().into_iter().flatten())
}

fn finished(name: &str) -> Option<&'static str> {
    GAME.iter()
        .find(|(file, _)| *file == name)
        .map(|(_, text)| *text)
}

/// Puts files where the script names them.
fn fill(value: &mut Value, draft: &str) {
    match value {
        Value::String(text) => {
            let name = text
                .strip_prefix("{{")
                .and_then(|rest| rest.strip_suffix("}}"));
            let file = name.and_then(|name| match name {
                WITH_MISTAKE => Some(draft),
                name => finished(name),
            });
            if let Some(file) = file {
                file.clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, draft)),
        Value::Object(members) => members.values_mut().for_each(|member| fill(member, draft)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Runs `sh -c` in a folder; its exit code and output.
    fn sh(dir: &Path, command: &str) -> (i32, String) {
        #[expect(clippy::disallowed_methods, reason = "a test may block")]
        let output = std::process::Command::new("sh")
            .args(["-c", command])
            .current_dir(dir)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap_or(-1), text)
    }

    #[test]
    fn every_placeholder_is_a_file() {
        let text = text().unwrap();
        assert!(!text.contains("\"{{"), "a placeholder is left");
        provider::mock::Script::from_json(&text).unwrap();
    }

    #[test]
    fn the_session_makes_one_mistake_and_mends_it() {
        let dir = tempfile::tempdir().unwrap();
        let script: Value = serde_json::from_str(&text().unwrap()).unwrap();
        let mut checks = Vec::new();
        for call in calls(&script) {
            let arguments = &call["arguments"];
            let argument = |name: &str| arguments[name].as_str().unwrap_or_default();
            let path = dir.path().join(argument("path"));
            match call["tool"].as_str().unwrap() {
                "write_file" => std::fs::write(path, argument("contents")).unwrap(),
                "edit_file" => {
                    let text = std::fs::read_to_string(&path).unwrap();
                    assert_eq!(text.matches(argument("oldString")).count(), 1);
                    let text = text.replace(argument("oldString"), argument("newString"));
                    std::fs::write(path, text).unwrap();
                }
                "shell" => checks.push(sh(dir.path(), argument("command"))),
                "read_file" => assert!(path.is_file()),
                "list_dir" | "search" | "spawn_subagent" | "wait_for_subagents" => {}
                other => panic!("the demo calls {other}"),
            }
        }
        let codes: Vec<i32> = checks.iter().map(|(code, _)| *code).collect();
        // The tester looks at its script's syntax before anybody runs it.
        assert_eq!(codes, [0, 1, 0, 0]);
        assert!(
            checks[1].1.contains("FAIL  game.js looks for #streak"),
            "{}",
            checks[1].1
        );
        assert!(
            checks[2].1.ends_with("all checks passed\n"),
            "{}",
            checks[2].1
        );
        for (name, finished) in GAME {
            assert_eq!(
                std::fs::read_to_string(dir.path().join(name)).unwrap(),
                finished
            );
        }
    }

    #[test]
    fn the_game_needs_nothing_but_its_own_files() {
        for (name, text) in GAME {
            if name != "check.sh" {
                for link in ["http:", "https:", "\"//", "'//", "@import", "url("] {
                    assert!(!text.contains(link), "{name} contains {link}");
                }
            }
        }
        let page = finished("index.html").unwrap();
        for name in ["style.css", "game.js"] {
            assert!(
                page.contains(&format!("\"{name}\"")),
                "the page does not load {name}"
            );
        }
    }

    #[test]
    fn every_reply_is_watchable_and_reports_its_usage() {
        let script: Value = serde_json::from_str(SCRIPT).unwrap();
        let profiles = script["profiles"].as_object().unwrap();
        for reply in profiles.values().flat_map(|it| it.as_array().unwrap()) {
            let delay = reply["delayMs"].as_u64().unwrap();
            assert!((100..=400).contains(&delay), "{delay}");
            assert!(reply["usage"]["cost"].as_f64().unwrap() > 0.0);
        }
        for replies in profiles.values() {
            let last = replies.as_array().unwrap().last().unwrap();
            assert!(last["finish"].is_string());
        }
    }
}
