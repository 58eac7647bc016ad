//! The first code turn of a language, as a session of its own: everything a program needs here is
//! looked for, started and used the way a run does it (05 §7, R17).
//!
//! The session opens on a program of gg's, then its model, a script, submits one: that has to run,
//! and what it showed has to stand in the second request.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use actors::launch::{self, Build, Surroundings};
use actors::run::{self, RunOptions};
use actors::telemetry::Outputs;
use anyhow::Context as _;
use provider::mock::Script;
use sandbox::arms::{self, Opening};
use serde_json::{Value, json};
use vocab::language::ProgramLanguage;
use vocab::operations::Operation;

use crate::guests;

/// What the program shows, under which label.
const LABEL: &str = "selfcheck";
const BODY: &str = "what a program showed, a turn later";

/// What preparing the first program took, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Its component, built or mapped.
    component: u64,
    /// The program itself, where its language compiles.
    program: Option<u64>,
}

/// Runs a language's first code turn. What does not work is told in a sentence or more.
pub(crate) fn check(language: ProgramLanguage, build: Build) -> Result<Cost, String> {
    session(language, build)
        .and_then(|lines| judge(&lines))
        .map_err(|why| format!("{why:#}"))
}

/// A language's verdict, as it is printed.
pub(crate) fn line(language: ProgramLanguage, verdict: &Result<Cost, String>) -> String {
    let id = language.as_str();
    match verdict {
        Ok(Cost { component, program }) => {
            let program = program.map(|ms| format!(", program checked in {ms} ms"));
            let program = program.unwrap_or_default();
            format!("{id:<12} ok      component ready in {component} ms{program}\n")
        }
        Err(why) => {
            let why = why.trim_end().replace('\n', "\n    ");
            format!("{id:<12} failed  {why}\n")
        }
    }
}

/// Runs the session; its stream's lines.
fn session(language: ProgramLanguage, build: Build) -> anyhow::Result<Vec<Value>> {
    let dir = tempfile::tempdir().context("no directory could be made to work in")?;
    let script = Script::from_json(&script(language)?)
        .map_err(|fault| anyhow::anyhow!("the script of the check: {fault}"))?;
    let document = config::parse(&document(language, dir.path()))
        .context("the launch document of the check")?;
    let surroundings = Surroundings {
        mock_script: Some(Arc::new(script)),
        base_url: String::new(),
    };
    let prepared = launch::check(&document, &surroundings).map_err(|refusals| {
        let why: Vec<_> = refusals
            .iter()
            .map(|refusal| refusal.message.clone())
            .collect();
        anyhow::anyhow!(why.join("\n"))
    })?;
    let stream = Kept::default();
    run::run(RunOptions {
        prepared,
        build,
        outputs: Outputs {
            stdout: Box::new(stream.clone()),
            tee: None,
        },
        flow: None,
        endpoint: None,
        credential: None,
        routing_key: None,
        guests: guests::folder(),
    })
    .context("the session cannot start")?;
    stream.lines()
}

/// The model's replies: the same program, twice. The second request shows what the first showed.
fn script(language: ProgramLanguage) -> anyhow::Result<String> {
    let shows = Operation::find("views.open_text").context("the table has no call that shows")?;
    let program = arms::of(language).bootstrap_program(&Opening {
        modules: &["views"],
        functions: &[shows],
        texts: &[(LABEL, BODY)],
    });
    Ok(json!({ "profiles": { "*": [{ "program": program, "repeat": 2 }] } }).to_string())
}

/// The launch document of the check.
fn document(language: ProgramLanguage, dir: &Path) -> String {
    json!({
        "sessionId": "gg-selfcheck",
        "workspaceDir": dir,
        "prompt": "Show that programs run.",
        "modelWindows": { "mock/selfcheck": 200_000 },
        "capabilitySet": {
            "limits": { "maxParallel": 1, "replayMaxBytes": 1_048_576, "maxTurns": 2 },
            "agents": [{
                "slug": "root",
                "name": "Root",
                "modelId": "mock/selfcheck",
                "capabilities": [{
                    "id": "responses-as-code",
                    "enabled": true,
                    "params": {
                        "language": language,
                        "timeoutSecs": 30,
                        "maxMemoryBytes": 268_435_456,
                        "docViewTypes": true,
                    },
                }],
                "tools": [],
                "operations": [],
                "openingTurn": {
                    "modules": ["docs", "views"],
                    "functions": ["docs.search"],
                    "tree": { "include": false, "depth": 1 },
                },
            }],
            "hooks": [],
        },
    })
    .to_string()
}

/// What the lines of the session say of its first program.
fn judge(lines: &[Value]) -> anyhow::Result<Cost> {
    let of = |kind: &'static str| lines.iter().filter(move |line| line["type"] == kind);
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let Some(first) = of("code_execution").next() else {
        let told = of("log").filter(|line| line["level"] == "error");
        let told: Vec<_> = told.map(|line| text(line, "message")).collect();
        anyhow::bail!("no program was run\n{}", told.join("\n"));
    };
    if first["ok"] != true {
        anyhow::bail!("{}", text(first, "error"));
    }
    let shown = of("context_message").any(|line| {
        let content = text(line, "content");
        content.contains(LABEL) && content.contains(BODY) && line["role"] == "user"
    });
    anyhow::ensure!(
        shown,
        "the program ran, and what it showed did not come with the next turn"
    );
    Ok(Cost {
        component: first["compileWaitMs"].as_u64().unwrap_or_default(),
        program: first["compileMs"].as_u64(),
    })
}

/// A stream that is kept in memory.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Kept {
    fn lines(&self) -> anyhow::Result<Vec<Value>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = kept
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let parsed: Result<_, _> = lines.map(serde_json::from_slice).collect();
        parsed.context("the session's stream holds a line that is no JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(ok: bool, shown: &str) -> Vec<Value> {
        vec![
            json!({ "type": "code_execution", "ok": ok, "error": "Error: no", "compileWaitMs": 7 }),
            json!({ "type": "context_message", "role": "user", "content": shown }),
        ]
    }

    #[test]
    fn a_first_turn_is_judged_by_what_ran_and_what_was_shown() {
        let view = format!("View: {LABEL}\n----\n{BODY}");
        let cost = judge(&lines(true, &view)).unwrap();
        assert_eq!(
            cost,
            Cost {
                component: 7,
                program: None
            }
        );
        let why = |lines: &[Value]| judge(lines).unwrap_err().to_string();
        assert_eq!(why(&lines(false, &view)), "Error: no");
        assert!(why(&lines(true, "View: other")).contains("did not come"));
        let refused = [json!({ "type": "log", "level": "error", "message": "no `node`" })];
        assert_eq!(why(&refused), "no program was run\nno `node`");
    }

    #[test]
    fn a_verdict_is_a_line_and_what_failed_below_it() {
        let cost = Cost {
            component: 7,
            program: Some(90),
        };
        assert_eq!(
            line(ProgramLanguage::Typescript, &Ok(cost)),
            "typescript   ok      component ready in 7 ms, program checked in 90 ms\n"
        );
        assert_eq!(
            line(ProgramLanguage::Python, &Err("a\nb\n".to_owned())),
            "python       failed  a\n    b\n"
        );
    }

    #[test]
    fn the_check_s_document_is_one_that_may_run() {
        for language in ProgramLanguage::ALL {
            let text = document(*language, Path::new("/some/where"));
            let checked = config::parse(&text).unwrap().check();
            assert_eq!(checked.refusals, []);
            assert!(script(*language).unwrap().contains(BODY));
        }
    }
}
