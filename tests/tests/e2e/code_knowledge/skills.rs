//! Skills that carry code: modules to import, scripts that run on use, manuals that open pages.

use serde_json::json;
use tests::gateway::{Answer, Request};
use tests::run::{Builder, Run};

use super::{by_turn, exactly, place, request};
use crate::arms::{Arm, coder_of, finish};
use crate::coders::{cast, coder, told};
use crate::skills::skills;

fn prose(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: When {name} is due\n---\n\n{body}\n")
}

/// A root that reads skills, and the manuals it is offered.
fn builder(manuals: &[&str]) -> Builder {
    let root = coder(
        "root",
        &[skills(".gg/skills", manuals)],
        &["skills.read_skill"],
        &[],
    );
    Run::builder().launch(cast([root]))
}

const USE: &str = "import { skills, views } from \"gg\";\n\
    views.openText(\"got\", skills.readSkill(\"csv-tools\"));\n";

#[test]
fn a_module_is_imported_from_its_use_on_and_a_script_runs_behind_each_program_that_used_it() {
    let run = builder(&[])
        .file(
            ".gg/skills/csv/skill.md",
            prose("csv-tools", "Read it by rows."),
        )
        .file(
            ".gg/skills/csv/skill.js",
            "/** Splits a line. */\nexport function cells(line) { return line.split(\",\"); }\n",
        )
        .file(
            ".gg/skills/csv/on-use.js",
            "import { views } from \"gg\";\nimport * as own from \"lib:csvTools\";\n\
             views.openText(\"on use\", own.cells(\"a,b\").join(\"+\"));\n",
        )
        .answers(by_turn([
            USE,
            "import { views } from \"gg\";\nimport * as csvTools from \"lib:csvTools\";\n\
             views.openText(\"cells\", JSON.stringify(csvTools.cells(\"x,y\")));\n",
            "import { views } from \"gg\";\nviews.openText(\"on use\", \"gone\");\n",
            USE,
        ]))
        .run();
    run.ended(0, "completed");
    let system = request(&run, 0)[0].clone();
    assert!(system.contains("`csv-tools` — When csv-tools is due (with code and a script)"));
    let used = request(&run, 1);
    place(&used, "Documentation\n----\nRead it by rows.");
    place(&used, "View: got\n----\nRead it by rows.");
    place(&used, "View: on use\n----\na+b");
    place(&used, "Documentation: csvTools.cells\n----\n");
    place(&request(&run, 2), "View: cells\n----\n[\"x\",\"y\"]");
    place(&request(&run, 3), "View: on use\n----\ngone");
    let again = request(&run, 4);
    let last = again
        .iter()
        .rfind(|text| text.starts_with("View: on use\n"));
    assert_eq!(last.map(String::as_str), Some("View: on use\n----\na+b"));
    let pinned = again
        .iter()
        .filter(|text| text.starts_with("Documentation\n----\n"));
    assert_eq!(pinned.count(), 1);
    let pages = again
        .iter()
        .filter(|text| text.starts_with("Documentation: csvTools.cells\n"));
    assert_eq!(
        pages.count(),
        1,
        "a page that says the same is not shown again"
    );
    // Its script's calls are among the submission's.
    assert_eq!(run.events("code_execution")[0]["apiCalls"], 3);
}

#[test]
fn code_that_fails_is_told_once_and_harms_nothing_else() {
    let run = builder(&[])
        .file(".gg/skills/csv/skill.md", prose("csv-tools", "Text."))
        .file(
            ".gg/skills/csv/skill.js",
            "throw new Error(\"broken at load\");\n",
        )
        .file(
            ".gg/skills/csv/on-use.js",
            "import { session } from \"gg\";\nsession.finish(\"not mine to end\");\n",
        )
        .answers(by_turn([
            USE,
            "import * as csvTools from \"lib:csvTools\";\ncsvTools.x();\n",
        ]))
        .run();
    run.ended(0, "completed");
    let script = told(
        &run,
        "Notice\n----\nThe script that runs when the skill `csv-tools`",
    );
    assert_eq!(script.len(), 1, "{script:#?}");
    assert!(script[0].contains("not available"), "{}", script[0]);
    assert_eq!(run.outcomes(), ["progressed", "program_throw", "finished"]);
    let module = told(
        &run,
        "Notice\n----\nThe code of the skill `csv-tools` could not be loaded",
    );
    assert_eq!(module.len(), 1, "{module:#?}");
    assert!(module[0].contains("broken at load"), "{}", module[0]);
}

#[test]
fn a_built_in_manual_has_no_text_and_opens_the_pages_of_the_calls_that_are_held() {
    let run = builder(&["gg-session", "gg-views", "gg-project", "gg-skills"])
        .answers(by_turn(["import { skills, views } from \"gg\";\n\
             views.openText(\"got\", `<${skills.readSkill(\"gg-views\")}>`);\n"]))
        .run();
    run.ended(0, "completed");
    let system = request(&run, 0)[0].clone();
    for offered in ["gg-session", "gg-views", "gg-skills"] {
        assert!(system.contains(&format!("- `{offered}` — ")), "{offered}");
    }
    assert!(!system.contains("gg-project"), "none of its calls is held");
    let texts = request(&run, 1);
    place(&texts, "View: got\n----\n<>");
    place(&texts, "Documentation: gg.views.openText\n----\n");
    place(&texts, "Documentation: gg.views.openDocsView\n----\n");
    assert!(
        !texts
            .iter()
            .any(|text| text.starts_with("Documentation: gg.views.openFile"))
    );
    assert!(
        !texts.iter().any(|text| text.starts_with("Documentation\n")),
        "nothing is pinned"
    );
}

#[test]
fn skills_in_no_language_of_the_agent_are_refused_at_launch() {
    let run = builder(&[])
        .file(".gg/skills/csv/skill.md", prose("csv-tools", "Text."))
        .file(".gg/skills/csv/skill.py", "def rows(): ...\n")
        .answers(|_: &Request, _: usize| Answer::text("never asked"))
        .run();
    run.ended(1, "launch_refused");
    let told = run.describe();
    assert!(
        told.contains("nothing that programs in JavaScript can use; add `skill.js`"),
        "{told}"
    );
}

#[test]
fn a_copy_of_the_agent_loads_nothing_of_it() {
    let fork = serde_json::json!({ "id": "fork", "enabled": true, "params": {} });
    let collects =
        serde_json::json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": 2 } });
    let root = coder(
        "root",
        &[skills(".gg/skills", &[]), fork, collects],
        &[
            "skills.read_skill",
            "delegation.fork",
            "delegation.wait_for_subagents",
        ],
        &[],
    );
    let run = Run::builder()
        .launch(cast([root]))
        .file(".gg/skills/csv/skill.md", prose("csv-tools", "Text."))
        .file(
            ".gg/skills/csv/skill.js",
            "export function cells(line) { return [line]; }\n",
        )
        .answers(|request: &Request, _: usize| {
            let messages = request.messages();
            let texts: Vec<_> = messages
                .iter()
                .map(|it| it["content"].to_string())
                .collect();
            let copied = texts.iter().any(|text| text.contains("you are a copy of"));
            let tried = texts.iter().any(|text| text.contains("Runtime error"));
            if copied && tried {
                exactly("import { session } from \"gg\";\nsession.finish(\"It is not there.\");")
            } else if copied {
                exactly("import * as csvTools from \"lib:csvTools\";\ncsvTools.cells(\"x\");\n")
            } else if texts.iter().any(|text| text.contains("View: got")) {
                exactly("import { session } from \"gg\";\nsession.finish(\"Done.\");")
            } else {
                exactly(format!(
                    "{USE}import {{ delegation }} from \"gg\";\ndelegation.fork(\"Try it.\");\n"
                ))
            }
        })
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    let copy = requests
        .iter()
        .filter(|it| it.method == "POST")
        .find(|request| {
            let text = request.messages().last().unwrap()["content"].to_string();
            text.contains("you are a copy of")
        });
    assert!(copy.is_some(), "{}", run.describe());
    let ends: Vec<_> = run
        .events("agent_status")
        .into_iter()
        .filter_map(|it| it["result"].as_str())
        .collect();
    assert!(ends.contains(&"It is not there."), "{ends:?}");
}

#[test]
fn every_manual_opens_its_pages_in_every_language() {
    for arm in [Arm::Typescript, Arm::Javascript, Arm::Python] {
        let manuals = [
            "gg-session",
            "gg-views",
            "gg-docs",
            "gg-programs",
            "gg-skills",
        ];
        let library = json!({ "id": "program-library", "enabled": true,
            "params": { "keep": 20, "idLength": 4 } });
        let root = coder_of(
            arm,
            "root",
            &[skills(".gg/skills", &manuals), library],
            &[
                "skills.read_skill",
                "programs.history",
                "programs.get",
                "programs.rerun",
            ],
            &[],
        );
        let reads: String = manuals
            .iter()
            .map(|name| match arm {
                Arm::Python => format!("gg.skills.read_skill('{name}')\n"),
                Arm::Typescript | Arm::Javascript => format!("skills.readSkill('{name}');\n"),
            })
            .collect();
        let source = match arm {
            Arm::Python => format!("import gg\n{reads}"),
            Arm::Typescript | Arm::Javascript => {
                format!("import {{ skills }} from \"gg\";\n{reads}")
            }
        };
        let run = Run::builder()
            .launch(cast([root]))
            .answers(move |request: &Request, _: usize| match request.turn() {
                0 => exactly(&source),
                _ => finish(arm, "Done."),
            })
            .run();
        run.ended(0, "completed");
        let failed = told(&run, "Notice\n----\nThe script that runs when");
        assert!(failed.is_empty(), "{arm:?}: {failed:#?}");
        let texts = request(&run, 1);
        for page in ["session.", "programs.rerun", "docs.search"] {
            let opened = |text: &String| text.starts_with(&format!("Documentation: gg.{page}"));
            assert!(texts.iter().any(opened), "{arm:?}: {page}");
        }
    }
}
