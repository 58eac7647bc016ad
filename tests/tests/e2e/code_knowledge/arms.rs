//! What an agent of any arm opens on and loads: its opening program, kept as its others are; the code of a
//! skill and of a memory; and that each program is prepared once, however often what it stands on is used.

use serde_json::{Value, json};
use tests::executable::executable;
use tests::gateway::Answer;
use tests::run::Run;

use super::{first, opens_on, place, request, submitted};
use crate::arms::{
    Arm, Texts, both, coder_of, each, ends_of, finish, on_each, programs, shown_attempts, spelled,
    submit,
};
use crate::coders::{PROGRAMS, cast, library, refused, shown};
use crate::common::compiler;
use crate::memories::memories;
use crate::programs::{ON_FILES, workshop};
use crate::skills::skills;

#[test]
fn an_opening_program_is_kept_of_turn_0_under_the_id_of_its_receipt() {
    let look = shown_attempts([
        ("kept", "programs.history()", "programs.history()"),
        (
            "source",
            "programs.get(out.kept[0].id)",
            "programs.history()[0].source()",
        ),
    ]);
    on_each(|arm| {
        let capabilities = [workshop(), vec![library(0)]].concat();
        let operations = [&ON_FILES[..], &PROGRAMS].concat();
        let launch = cast([coder_of(arm, "root", &capabilities, &operations, &[])]);
        let launch = opens_on(launch, &["files"], &["views.open_text"], None);
        let run = Run::builder()
            .launch(launch)
            .answers(programs(arm, std::slice::from_ref(&look)))
            .run();
        run.ended(0, "completed");
        let texts = request(&run, 0);
        let id = &texts[3];
        assert_eq!(id.len(), 4, "{id}");
        place(&texts, "View: gg.files\n----\n");
        let page = format!("Documentation: {}\n", spelled(arm, "views.open_text"));
        place(&texts, &page);
        let out = shown(&run, "out");
        let kept = out["kept"].as_array().unwrap();
        assert_eq!(kept.len(), 1, "{out:#}");
        let source = submitted(&first(&run)[2]);
        assert_eq!(
            kept[0],
            json!({ "id": id, "turn": 0, "lines": source.lines().count(),
                "chars": source.chars().count(), "ok": true, "opening": true })
        );
        assert_eq!(out["source"], source);
        // It is no turn of the model's, and its calls are nobody's.
        assert!(
            run.events("code_execution")
                .iter()
                .all(|it| it["turn"] != 0)
        );
        assert_eq!(ends_of(&run, "docs.search"), [""; 0]);
    });
}

/// How an arm names the files of a skill.
fn extension(arm: Arm) -> &'static str {
    match arm {
        Arm::Typescript => "ts",
        Arm::Javascript => "js",
        Arm::Python => "py",
    }
}

/// The module of a skill.
fn module() -> Texts {
    each(
        "/** Splits a line. */\nexport function cells(line: string): string[] { return line.split(\",\"); }\n",
        "/** Splits a line. */\nexport function cells(line) { return line.split(\",\"); }\n",
        "def cells(line):\n    \"\"\"Splits a line.\"\"\"\n    return line.split(\",\")\n",
    )
}

/// Its script on use.
fn script() -> Texts {
    both(
        "import { views } from \"gg\";\nimport * as own from \"lib:csvTools\";\n\
         views.openText(\"on use\", own.cells(\"a,b\").join(\"+\"));\n",
        "import gg\nfrom lib import csv_tools\n\
         gg.views.open_text(\"on use\", \"+\".join(csv_tools.cells(\"a,b\")))\n",
    )
}

/// A program that uses the skill.
fn uses() -> Texts {
    both(
        "views.openText(\"got\", skills.readSkill(\"csv-tools\"));",
        "views.open_text(\"got\", skills.read_skill(\"csv-tools\"))",
    )
}

/// A program that imports its module.
fn imports() -> Texts {
    both(
        "import * as csvTools from \"lib:csvTools\";\n\
         views.openText(\"cells\", JSON.stringify(csvTools.cells(\"x,y\")));",
        "import lib.csv_tools\nviews.open_text(\"cells\", json.dumps(lib.csv_tools.cells(\"x,y\")))",
    )
}

/// One that does, and that the compiler has to emit in TypeScript: an enum is code.
fn emitted() -> Texts {
    imports().and(&both("enum Kept { One }", ""))
}

#[test]
fn a_skill_s_module_is_imported_from_its_use_on_and_its_script_runs_behind_each() {
    on_each(|arm| {
        let root = coder_of(
            arm,
            "root",
            &[skills(".gg/skills", &[])],
            &["skills.read_skill"],
            &[],
        );
        let place_of = |name: &str| format!(".gg/skills/csv/{name}.{}", extension(arm));
        let run = Run::builder()
            .launch(cast([root]))
            .file(
                ".gg/skills/csv/skill.md",
                "---\nname: csv-tools\ndescription: When due\n---\n\nRead it by rows.\n",
            )
            .file(&place_of("skill"), module().of(arm))
            .file(&place_of("on-use"), script().of(arm))
            .answers(programs(arm, &[imports(), uses(), imports(), uses()]))
            .run();
        run.ended(0, "completed");
        // Before its use there is nothing to import.
        assert_eq!(run.outcomes().len(), 5);
        assert_ne!(run.outcomes()[0], "progressed");
        assert_eq!(
            run.outcomes()[1..],
            ["progressed", "progressed", "progressed", "finished"]
        );
        let used = request(&run, 2);
        place(&used, "Documentation\n----\nRead it by rows.");
        place(&used, "View: got\n----\nRead it by rows.");
        place(&used, "View: on use\n----\na+b");
        let page = used
            .iter()
            .find(|text| text.starts_with("Documentation: ") && text.contains("cells"));
        assert!(
            page.is_some_and(|it| it.contains("Splits a line.")),
            "{used:#?}"
        );
        let cells = &request(&run, 3)[place(&request(&run, 3), "View: cells\n")];
        let cells: Value = serde_json::from_str(cells.split_once("----\n").unwrap().1).unwrap();
        assert_eq!(cells, json!(["x", "y"]));
        let again = request(&run, 4);
        let shown = again
            .iter()
            .filter(|text| text.starts_with("View: on use\n"));
        assert_eq!(shown.count(), 2, "it ran behind each use");
    });
}

#[test]
fn the_code_of_a_memory_is_imported_behind_its_write_and_gone_with_an_update() {
    let write = both(
        r#"memories.writeMemory("word-count", "how", "counts words", { code: CODE, onUse: SCRIPT });"#,
        r#"memories.write_memory("word-count", "how", "counts words", code=CODE, on_use=SCRIPT)"#,
    );
    let code = each(
        "export const count = (text: string): number => text.split(\" \").length;",
        "export const count = (text) => text.split(\" \").length;",
        "def count(text): return len(text.split(\" \"))",
    );
    let script = both(
        "import { views } from \"gg\";\nimport * as own from \"lib:wordCount\";\n\
         views.openText(\"used\", String(own.count(\"a b c\")));",
        "import gg\nfrom lib import word_count\n\
         gg.views.open_text(\"used\", str(word_count.count(\"a b c\")))",
    );
    let counts = both(
        "import * as wordCount from \"lib:wordCount\";\n\
         attempt(\"counted\", () => wordCount.count(\"one two\"));\n\
         attempt(\"long\", () => memories.writeMemory(\"x\", \"d\", \"b\", { code: \"x\".repeat(32769) }));\n\
         memories.updateMemory(\"word-count\", \"how\", \"counts no more\");\nshow(\"out\");",
        "import lib.word_count\n\
         attempt(\"counted\", lambda: lib.word_count.count(\"one two\"))\n\
         attempt(\"long\", lambda: memories.write_memory(\"x\", \"d\", \"b\", code=\"x\" * 32769))\n\
         memories.update_memory(\"word-count\", \"how\", \"counts no more\")\nshow(\"out\")",
    );
    let gone = both(
        "import * as wordCount from \"lib:wordCount\";\nwordCount.count(\"a\");",
        "from lib import word_count\nword_count.count(\"a\")",
    );
    on_each(|arm| {
        let write = write
            .replacing("CODE", &json!(code.of(arm)).to_string())
            .replacing("SCRIPT", &json!(script.of(arm)).to_string());
        let operations = ["write", "update", "delete"].map(|it| format!("memories.{it}_memory"));
        let operations = operations.each_ref().map(String::as_str);
        let root = coder_of(arm, "root", &[memories("scratchpad")], &operations, &[]);
        let run = Run::builder()
            .launch(cast([root]))
            .answers(programs(arm, &[write, counts.clone(), gone.clone()]))
            .run();
        run.ended(0, "completed");
        place(&request(&run, 1), "View: used\n----\n3");
        let out = shown(&run, "out");
        assert_eq!(out["counted"], 2);
        let too_long = &["`code` has 32769 characters"];
        refused(&out, "long", "limit-exceeded", "write_memory", too_long);
        // The update said nothing of code, which clears it.
        let outcomes = run.outcomes();
        assert_eq!((outcomes[0], outcomes[1]), ("progressed", "progressed"));
        assert_ne!(outcomes[2], "progressed");
        let revisions = run.events("memory_revision");
        assert_eq!(revisions[0]["code"], code.of(arm));
        assert!(revisions[1]["code"].is_null());
    });
}

/// How often the compiler was run, and as what, in a session of TypeScript whose turns are these.
fn compiler_runs(bodies: &[Texts]) -> Vec<String> {
    let real = compiler();
    let builder = Run::builder();
    let (wrapper, log) = (builder.folder().join("tsc"), builder.folder().join("runs"));
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in --version|--api) ;; *) echo \"$*\" >> {} ;; esac\nexec {} \"$@\"\n",
        log.display(),
        real.display()
    );
    executable(&wrapper, &script);
    let arm = Arm::Typescript;
    let capabilities = [skills(".gg/skills", &[])];
    let root = coder_of(arm, "root", &capabilities, &["skills.read_skill"], &[]);
    let answers: Vec<Answer> = bodies
        .iter()
        .map(|body| submit(arm, body))
        .chain([finish(arm, "Done.")])
        .collect();
    let run = builder
        .environment("GG_TSC", &wrapper)
        .launch(cast([root]))
        .file(
            ".gg/skills/csv/skill.md",
            "---\nname: csv-tools\ndescription: When due\n---\n\nText.\n",
        )
        .file(".gg/skills/csv/skill.ts", module().of(arm))
        .answers(tests::gateway::script(answers))
        .run();
    run.ended(0, "completed");
    assert!(
        run.outcomes().iter().all(|it| !it.starts_with("transpile")),
        "{}",
        run.describe()
    );
    let runs = std::fs::read_to_string(log).unwrap();
    runs.lines().map(str::to_owned).collect()
}

#[test]
fn a_session_prepares_each_program_once_and_what_it_loads_once() {
    let nothing = both("", "");
    let once = compiler_runs(&[uses(), nothing, imports()]);
    let twice = compiler_runs(&[uses(), uses(), imports()]);
    assert_eq!(once, twice, "a second use prepares nothing");
    let longer = compiler_runs(&[uses(), uses(), imports(), emitted(), emitted()]);
    let own = |runs: &[String]| runs.iter().filter(|it| it.contains("emit.json")).count();
    // What types are blanked out of needs no run of the compiler; a program that it emits is one, and
    // what the module took is taken once.
    assert_eq!((own(&once), own(&longer)), (0, 2), "{longer:#?}");
    assert_eq!(longer.len(), once.len() + 2, "{longer:#?}");
}
