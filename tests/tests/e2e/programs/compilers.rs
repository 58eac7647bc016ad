//! A compiler that does not do its work is gg's defect and not the program's (F111): one that crashes,
//! one that hangs. One that dies of a single text and compiles others is well, and the text is its
//! author's to mend. TypeScript's is the only one there is.

use rustix::process::Signal;
use serde_json::json;
use tests::executable::executable;
use tests::run::{Builder, Run};

use super::{answers, launch};
use crate::arms::{Arm, alike, exactly, finish, submit};
use crate::coders::told;
use crate::common::{compiler, wait_for};

/// A run whose compiler answers what release it is, and to anything else does this.
fn with_compiler(does: &str) -> Builder {
    let builder = Run::builder();
    let pids = builder.folder().join("pids");
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in --version) echo 'Version 7.0.2'; exit;; esac\n\
         echo $$ >> {}\n{does}\n",
        pids.display()
    );
    compiled_by(builder, &script)
}

/// A run whose compiler is this script.
fn compiled_by(builder: Builder, script: &str) -> Builder {
    let path = builder.folder().join("tsc");
    executable(&path, script);
    builder
        .environment("GG_TSC", path)
        .launch(launch(Arm::Typescript))
        .answers(|_: &tests::gateway::Request, _: usize| finish(Arm::Typescript, "Done."))
}

/// Asserts that no compiler of a run goes on.
#[track_caller]
fn none_left(run: &Run) {
    let pids = std::fs::read_to_string(run.folder().join("pids")).unwrap();
    for pid in pids.lines() {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // What has ended may not have been reaped by whoever has that to do.
        let gone = state.is_empty() || state.contains(") Z ");
        assert!(gone, "a compiler is left: {state}");
    }
}

#[test]
fn a_compiler_that_crashes_ends_the_run_and_is_nothing_a_model_reads() {
    let run = with_compiler("echo 'out of luck' >&2; exit 70").run();
    run.ended(1, "internal_error");
    let told = run.logs("error").join("\n");
    assert!(
        told.contains("`tsc`") || told.contains("compiler"),
        "{told}"
    );
    assert!(told.contains("out of luck"), "{told}");
    let execution = run.event("code_execution");
    assert_eq!(execution["ok"], false);
    // Nothing was asked of the model again.
    assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 1);
    none_left(&run);
}

/// The real compiler behind one that dies of each program that holds `deadly`, fresh and warm.
const DIES_OF: &str = r#"#!/usr/bin/env python3
import os, re, subprocess, sys

def deadly(path):
    try:
        return b"deadly" in open(path, "rb").read()
    except OSError:
        return False

real, arguments = "REAL", sys.argv[1:]
if "--api" not in arguments:
    if deadly("program.ts"):
        sys.exit(70)
    os.execv(real, [real, *arguments])
child = subprocess.Popen([real, *arguments], stdin=subprocess.PIPE)
asked = b""
while chunk := os.read(0, 65536):
    asked = (asked + chunk)[-65536:]
    if any(deadly(path) for path in re.findall(rb'"([^"]*/program\.ts)"', asked)):
        child.kill()
        child.wait()
        sys.exit(70)
    child.stdin.write(chunk)
    child.stdin.flush()
child.stdin.close()
sys.exit(child.wait())
"#;

#[test]
fn a_text_that_the_compiler_dies_of_is_its_author_s_to_mend_while_it_compiles_others() {
    let real = compiler().display().to_string();
    let arm = Arm::Typescript;
    let run = compiled_by(Run::builder(), &DIES_OF.replace("REAL", &real))
        .answers(answers([
            exactly("export const deadly = 1;\n"),
            submit(arm, &alike("show(\"fine\");")),
            exactly("export const deadly = 2;\n"),
            finish(arm, "Done."),
        ]))
        .run();
    run.ended(0, "completed");
    let compile = "transpile_compile";
    assert_eq!(
        run.outcomes(),
        [compile, "progressed", compile, "finished"],
        "{}",
        run.describe()
    );
    let told = told(&run, "Compiler error\n");
    assert_eq!(told.len(), 1, "the same each time");
    assert!(told[0].contains("gave no verdict on this text"), "{told:?}");
    let logs = run.logs("error");
    assert!(logs.is_empty(), "{logs:?}");
}

#[test]
fn an_opening_program_that_cannot_be_prepared_ends_its_agent_before_its_first_turn() {
    let opening = json!({ "modules": ["docs"], "functions": [],
        "tree": { "include": false, "depth": 1 } });
    let run = with_compiler("echo 'out of luck' >&2; exit 70")
        .with(|launch| launch.root("/openingTurn", opening.clone()))
        .run();
    run.ended(1, "internal_error");
    let told = run.logs("error").join("\n");
    let expected = "the opening program of `root` failed";
    assert!(
        told.contains(expected) && told.contains("out of luck"),
        "{told}"
    );
    assert!(run.events("prompt").is_empty());
    assert!(run.gateway.as_ref().unwrap().requests().is_empty());
    none_left(&run);
}

#[test]
fn a_compiler_that_hangs_is_killed_by_a_cancel() {
    let running = with_compiler("exec sleep 1000").start();
    running.wait_for_event("assistant_message");
    wait_for(&running.workspace().parent().unwrap().join("pids"));
    running.signal(Signal::TERM);
    let run = running.finish();
    run.ended(0, "canceled");
    none_left(&run);
}

#[test]
fn a_compiler_that_hangs_is_killed_by_the_run_s_clock() {
    let run = with_compiler("exec sleep 1000")
        .with(|launch| launch.limit("maxRuntimeSecs", 2))
        .run();
    run.ended(3, "timed_out");
    assert_eq!(run.outcomes(), ["progressed"]);
    none_left(&run);
}
