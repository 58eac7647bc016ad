//! The languages side by side: one scenario, and the program of each beside the others.
//!
//! A scenario is run once for each arm, each on a thread named after it, so that a failure says whose
//! it is. What a scenario asserts holds for all of them; where arms differ by design, the row says so.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tests::gateway::{Answer, Request};
use tests::run::{Builder, Run};
use vocab::failure::FailureClass;
pub(crate) use vocab::language::ProgramLanguage as Arm;
use vocab::operations::Operation;

use crate::coders::{Script, cast, coder, refused};

/// What each arm's programs begin with: every module, and how a program tells what its calls came
/// to: the value of each, or its failure, by a name, in one text view. Values are shown as ECMAScript
/// has them: names in camel case, what is absent left out.
const TYPESCRIPT: &str = r#"
import {
  board, context, delegation, docs, files, memories, programs, session, shell, skills, tasks, views,
} from "gg";
const out: Record<string, any> = {};
const loose = (value: unknown): any => value;
const told = (value: unknown): unknown => (value === undefined ? "ok" : value);
const attempt = (name: string, call: () => unknown): void => {
  try {
    out[name] = told(call());
  } catch (error: any) {
    out[name] = { code: error.code, operation: error.operation, message: error.message };
  }
};
const show = (label: string): void => views.openText(label, JSON.stringify(out));
"#;

pub(crate) const JAVASCRIPT: &str = r#"
import {
  board, context, delegation, docs, files, memories, programs, session, shell, skills, tasks, views,
} from "gg";
const out = {};
const loose = (value) => value;
const told = (value) => (value === undefined ? "ok" : value);
const attempt = (name, call) => {
  try {
    out[name] = told(call());
  } catch (error) {
    out[name] = { code: error.code, operation: error.operation, message: error.message };
  }
};
const show = (label) => views.openText(label, JSON.stringify(out));
"#;

const PYTHON: &str = r#"
import dataclasses
import json
import gg
from gg import (
    board, context, delegation, docs, files, memories, programs, session, shell, skills, tasks, views,
)

out = {}

def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)

def plain(value):
    if dataclasses.is_dataclass(value):
        fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {camel(name): plain(given) for name, given in fields if given is not None}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value

def attempt(name, call):
    try:
        value = call()
        out[name] = "ok" if value is None else plain(value)
    except gg.ApiError as error:
        out[name] = {"code": error.code, "operation": error.operation, "message": error.message}

def show(label):
    views.open_text(label, json.dumps(out))
"#;

/// The same program in each language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Texts {
    typescript: String,
    javascript: String,
    python: String,
}

impl Texts {
    /// The text of an arm.
    pub(crate) fn of(&self, arm: Arm) -> &str {
        match arm {
            Arm::Typescript => &self.typescript,
            Arm::Javascript => &self.javascript,
            Arm::Python => &self.python,
        }
    }

    /// Both, one after the other.
    pub(crate) fn and(mut self, next: &Self) -> Self {
        for (text, more) in [
            (&mut self.typescript, &next.typescript),
            (&mut self.javascript, &next.javascript),
            (&mut self.python, &next.python),
        ] {
            text.push('\n');
            text.push_str(more);
        }
        self
    }

    /// With every occurrence of a text replaced.
    pub(crate) fn replacing(&self, from: &str, to: &str) -> Self {
        Self {
            typescript: self.typescript.replace(from, to),
            javascript: self.javascript.replace(from, to),
            python: self.python.replace(from, to),
        }
    }
}

/// A program written three times.
pub(crate) fn each(typescript: &str, javascript: &str, python: &str) -> Texts {
    Texts {
        typescript: typescript.to_owned(),
        javascript: javascript.to_owned(),
        python: flush(python),
    }
}

/// A program that TypeScript and JavaScript spell alike.
pub(crate) fn both(ecmascript: &str, python: &str) -> Texts {
    each(ecmascript, ecmascript, python)
}

/// A program that every arm spells alike.
pub(crate) fn alike(text: &str) -> Texts {
    both(text, text)
}

/// A call that a program attempts: the name it is told by, and its text in ECMAScript and in Python.
pub(crate) type Attempt<'a> = (&'a str, &'a str, &'a str);

/// A program that attempts calls one after another.
pub(crate) fn attempts<'a>(calls: impl IntoIterator<Item = Attempt<'a>>) -> Texts {
    let (mut ecmascript, mut python) = (String::new(), String::new());
    for (name, call, in_python) in calls {
        writeln!(ecmascript, "attempt({name:?}, () => {call});").unwrap();
        writeln!(python, "attempt({name:?}, lambda: {in_python})").unwrap();
    }
    both(&ecmascript, &python)
}

/// A program that attempts calls and shows under `out` what they came to.
pub(crate) fn shown_attempts<'a>(calls: impl IntoIterator<Item = Attempt<'a>>) -> Texts {
    attempts(calls).and(&both("show(\"out\");", "show(\"out\")"))
}

/// Text of Python as it stands at the margin, whatever the indentation of the table around it.
fn flush(text: &str) -> String {
    let margin = |line: &str| line.len() - line.trim_start().len();
    // Line ends stay as they are.
    let lines = || text.split('\n');
    let filled = lines().filter(|line| !line.trim().is_empty());
    let least = filled.map(margin).min().unwrap_or_default();
    lines()
        .map(|line| line.get(least..).unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Runs a scenario on every arm, side by side.
#[track_caller]
pub(crate) fn on_each(scenario: impl Fn(Arm) + Sync) {
    on(Arm::ALL, scenario);
}

/// Runs a scenario on these arms, side by side.
#[track_caller]
pub(crate) fn on(arms: &[Arm], scenario: impl Fn(Arm) + Sync) {
    std::thread::scope(|scope| {
        for arm in arms {
            let scenario = &scenario;
            std::thread::Builder::new()
                .name(arm.as_str().to_owned())
                .spawn_scoped(scope, move || scenario(*arm))
                .unwrap();
        }
    });
}

/// A text behind what an arm's programs begin with.
pub(crate) fn program(arm: Arm, body: &Texts) -> String {
    let prelude = match arm {
        Arm::Typescript => TYPESCRIPT,
        Arm::Javascript => JAVASCRIPT,
        Arm::Python => PYTHON,
    };
    format!("{prelude}{}", body.of(arm))
}

/// An answer that submits a program.
pub(crate) fn submit(arm: Arm, body: &Texts) -> Answer {
    exactly(&program(arm, body))
}

/// An answer that submits these bytes as they are.
pub(crate) fn exactly(source: &str) -> Answer {
    Answer::call("submit_program", json!({ "program": source }))
}

/// An answer that ends the session.
pub(crate) fn finish(arm: Arm, summary: &str) -> Answer {
    let summary = json!(summary);
    exactly(&match arm {
        Arm::Typescript | Arm::Javascript => {
            format!("import {{ session }} from \"gg\";\nsession.finish({summary});\n")
        }
        Arm::Python => format!("import gg\ngg.session.finish({summary})\n"),
    })
}

/// Sets the language of a profile that answers with programs.
pub(crate) fn speaking(mut profile: Value, arm: Arm) -> Value {
    let capabilities = profile["capabilities"].as_array_mut().unwrap();
    for capability in capabilities {
        if capability["id"] == "responses-as-code" {
            capability["params"]["language"] = json!(arm.as_str());
        }
    }
    profile
}

/// The same profile as [`coder`] makes, in a language.
pub(crate) fn coder_of(
    arm: Arm,
    slug: &str,
    capabilities: &[Value],
    operations: &[&str],
    roster: &[&str],
) -> Value {
    speaking(coder(slug, capabilities, operations, roster), arm)
}

/// Answers the requests with these programs, in order, and then finishes.
pub(crate) fn programs(arm: Arm, bodies: &[Texts]) -> Script {
    let answers: Vec<Answer> = bodies.iter().map(|body| submit(arm, body)).collect();
    Box::new(move |_: &Request, n: usize| {
        let next = answers.get(n).cloned();
        next.unwrap_or_else(|| finish(arm, "Done."))
    })
}

/// A run of one agent whose turns are these programs.
pub(crate) fn playing(
    arm: Arm,
    capabilities: &[Value],
    operations: &[&str],
    bodies: &[Texts],
) -> Builder {
    let root = coder_of(arm, "root", capabilities, operations, &[]);
    Run::builder()
        .launch(cast([root]))
        .answers(programs(arm, bodies))
}

/// The same, run to its good end.
#[track_caller]
pub(crate) fn play(arm: Arm, capabilities: &[Value], operations: &[&str], bodies: &[Texts]) -> Run {
    let run = playing(arm, capabilities, operations, bodies).run();
    run.ended(0, "completed");
    run
}

/// A sentence as an arm's programs are told it: in Python, names in backticks are `snake_case`.
pub(crate) fn in_words_of(arm: Arm, text: &str) -> String {
    let Arm::Python = arm else {
        return text.to_owned();
    };
    let mut told = String::new();
    for (place, part) in text.split('`').enumerate() {
        if place > 0 {
            told.push('`');
        }
        let mut joins = false;
        for character in part.chars() {
            if joins && place % 2 == 1 && character.is_ascii_uppercase() {
                told.push('_');
                told.push(character.to_ascii_lowercase());
            } else {
                told.push(character);
            }
            joins = character.is_ascii_lowercase();
        }
    }
    told
}

/// Asserts of calls by what they are attempted as: class, operation, and what their message says,
/// with names as ECMAScript spells them.
#[track_caller]
pub(crate) fn all_refused(arm: Arm, out: &Value, rows: &[(&str, &str, &str, &[&str])]) {
    for (name, class, operation, texts) in rows {
        let texts: Vec<String> = texts.iter().map(|text| in_words_of(arm, text)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        refused(out, name, class, operation, &texts);
    }
}

/// How an arm spells a name of gg's, given as `module.key`, in full: `gg.files.readFile`.
pub(crate) fn spelled(arm: Arm, id: &str) -> String {
    match arm {
        Arm::Typescript | Arm::Javascript => {
            let mut words = id.split('_');
            let mut name = words.next().unwrap_or_default().to_owned();
            for word in words {
                let (first, rest) = word.split_at(1);
                name.push_str(&first.to_uppercase());
                name.push_str(rest);
            }
            format!("gg.{name}")
        }
        Arm::Python => format!("gg.{id}"),
    }
}

/// What each call of an operation ended in, in order: `ok`, or the class of its failure.
pub(crate) fn ends_of<'a>(run: &'a Run, operation: &str) -> Vec<&'a str> {
    run.events("api_result")
        .into_iter()
        .filter(|it| it["operation"] == operation)
        .map(|it| it["failure"].as_str().unwrap_or("ok"))
        .collect()
}

/// Asserts that attempts, as programs told what they came to, saw each of these operations fail in each way
/// it can, but for what the suite shows elsewhere.
#[track_caller]
pub(crate) fn failed_in_each_way(told: &[&Value], operations: &[&str], elsewhere: &[(&str, &str)]) {
    let outcomes = told
        .iter()
        .flat_map(|out| out.as_object().unwrap().values());
    let seen: BTreeSet<(&str, &str)> = outcomes
        .filter_map(|it| Some((it["operation"].as_str()?, it["code"].as_str()?)))
        .collect();
    let mut missing = Vec::new();
    for id in operations {
        let row = Operation::find(id).unwrap();
        for class in row.failures().map(FailureClass::as_str) {
            if !seen.contains(&(row.key(), class)) && !elsewhere.contains(&(id, class)) {
                missing.push((*id, class));
            }
        }
    }
    assert_eq!(missing, [], "{seen:?}");
}

/// Asserts that every operation of these modules was called with success at least once.
#[track_caller]
pub(crate) fn covered(run: &Run, modules: &[&str]) {
    let rows = vocab::operations::OPERATIONS.iter();
    for Operation { id, .. } in rows.filter(|row| modules.contains(&row.module())) {
        assert!(ends_of(run, id).contains(&"ok"), "{id}\n{}", run.describe());
    }
}
