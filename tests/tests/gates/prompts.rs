//! The prompt gate: what has to survive the rendering of the code template, for every arm and every
//! agent (05 §7). No wording is asserted, but names, numbers, and of each rule the one term it
//! cannot be stated without.

use context::prompts::{self, SystemContext};
use sandbox::arms::{self, Arm};
use sandbox::catalogue;
use vocab::operations::{Binding, EndingRole, OPERATIONS};

use crate::fixtures::{self, FIGURES, ROSTER, SKILL, STATES};

/// Characters of an arm's segment.
const SEGMENT_CHARS: usize = 1_200;

/// Paragraphs of an arm's segment.
const SEGMENT_PARAGRAPHS: usize = 2;

/// The rules every program is written under, by the terms each cannot be stated without.
const RULES: [(&str, &[&str]); 5] = [
    ("that calls are synchronous", &["synchronous"]),
    ("that views alone are read", &["only the views"]),
    ("that what is printed is not shown", &["prints"]),
    ("that a view comes with the next turn", &["next turn"]),
    (
        "that a failed program's ending is revoked",
        &["failed", "revoked"],
    ),
];

/// Terms of what can be withheld, none of which an agent without anything may read.
const WITHHELD: [(&str, &[&str]); 14] = [
    ("reading files", &["gg.files", "Pictures", "of a file"]),
    ("commands", &["gg.shell", "command"]),
    ("the board", &["gg.board", "issue", "epic"]),
    ("tasks", &["gg.tasks", "task list"]),
    ("memories", &["gg.memories", "emories", "memory list"]),
    ("skills", &["gg.skills", "skill", "Skill"]),
    ("compaction", &["gg.context", "summary", "nearly full"]),
    ("freeing the window", &["free window", "evict", "archive"]),
    ("autoloading", &["have been shown to you"]),
    (
        "other agents",
        &["gg.delegation", "Agents you can put to work"],
    ),
    ("copies", &["copy of yourself", "Copies"]),
    ("becoming another", &["become another"]),
    ("the machine", &["your state", "the process"]),
    ("the library of programs", &["gg.programs", "are kept"]),
];

/// Headings an agent with everything reads, each with something under it.
const SECTIONS: [&str; 6] = [
    "## Modules",
    "## Skills",
    "## Agents you can put to work",
    "## Your place in the process",
    "## Copies of yourself",
    "## Agents you can become",
];

/// The code template's source.
fn source() -> &'static str {
    let mut templates = prompts::templates();
    let (_, source) = templates
        .find(|(name, _)| *name == "system_code")
        .expect("the code template is listed");
    source
}

/// The segments of a template, each with the id it is gated on.
fn segments(source: &str) -> Vec<(&str, &str)> {
    const OPEN: &str = "{{#if (eq code.language.id \"";
    let parts = source.split(OPEN).skip(1);
    parts
        .filter_map(|part| {
            let (id, rest) = part.split_once("\")}}\n")?;
            let (text, _) = rest.split_once("{{/if}}")?;
            Some((id, text.trim()))
        })
        .collect()
}

/// Complaints about what a template renders for every arm and every agent.
fn judge(source: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for arm in arms::all() {
        for (agent, context) in fixtures::agents(arm) {
            match prompts::system(&context, None, Some(source)) {
                Ok(text) => {
                    let everything = context.shell.is_some();
                    let found = judge_text(arm, &context, everything, source, &text);
                    complaints.extend(found.into_iter().map(|what| format!("{agent}: {what}")));
                }
                Err(error) => complaints.push(format!("{agent}: {error}")),
            }
        }
    }
    complaints.extend(judge_segments(source));
    complaints
}

fn judge_segments(source: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let segments = segments(source);
    for arm in arms::all() {
        let own: Vec<_> = segments.iter().filter(|(id, _)| *id == arm.id()).collect();
        let [(_, text)] = own[..] else {
            complaints.push(format!("{}: {} segments", arm.id(), own.len()));
            continue;
        };
        let paragraphs = text
            .split("\n\n")
            .filter(|it| !it.trim().is_empty())
            .count();
        if paragraphs == 0 || paragraphs > SEGMENT_PARAGRAPHS {
            complaints.push(format!(
                "{}: a segment of {paragraphs} paragraphs",
                arm.id()
            ));
        }
        let characters = text.chars().count();
        if characters > SEGMENT_CHARS {
            complaints.push(format!(
                "{}: a segment of {characters} characters",
                arm.id()
            ));
        }
    }
    complaints
}

fn judge_text(
    arm: &dyn Arm,
    context: &SystemContext,
    everything: bool,
    source: &str,
    text: &str,
) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut lacks = |what: &str, terms: &[&str]| {
        if !terms.iter().all(|term| text.contains(term)) {
            complaints.push(format!("lacks {what}"));
        }
    };
    for (rule, terms) in RULES {
        lacks(rule, terms);
    }
    lacks("the language's name", &[arm.display_name()]);
    if let Some(checker) = arm.checker() {
        lacks("its checker", &[&format!("`{checker}`")]);
    }
    // Those of every agent, and those of what it has.
    for figure in FIGURES
        .iter()
        .take(if everything { FIGURES.len() } else { 3 })
    {
        lacks(figure, &[figure]);
    }
    for ending in OPERATIONS {
        if let Binding::Ending(role) = ending.binding {
            let call = arms::names(arm.language()).call(ending);
            let ends = context.review == (role == EndingRole::Review);
            let said = text.contains(&format!("`{call}`"));
            if ends != said {
                complaints.push(format!("`{call}` is named: {said}"));
            }
            // What it is named is what the catalogue documents.
            if let Ok(catalogue) = catalogue::of(arm.language())
                && let fqn = catalogue.spelling(ending.id)
                && fqn != call
                && !fqn.ends_with(&format!(".{call}"))
            {
                complaints.push(format!("`{call}` is documented as `{fqn}`"));
            }
        }
    }
    complaints.extend(judge_modules(arm, everything, text));
    for (id, segment) in segments(source) {
        if text.contains(segment) != (id == arm.id()) {
            complaints.push(format!("the segment of {id} is or is not there"));
        }
    }
    complaints.extend(if everything {
        judge_everything(text)
    } else {
        judge_nothing(text)
    });
    complaints
}

/// A module is named where something of it is granted, by its path or by the line that imports it
/// and nothing else.
fn judge_modules(arm: &dyn Arm, everything: bool, text: &str) -> Vec<String> {
    let offer = fixtures::offer(EndingRole::Standard, everything);
    let modules = arms::names(arm.language()).modules();
    let mut complaints = Vec::new();
    for module in modules {
        let granted = offer.operations().any(|row| row.module() == module.id);
        let alone = modules
            .iter()
            .all(|other| other.id == module.id || other.import != module.import);
        let path = format!("`{}`", module.path);
        let import = format!("`{}`", module.import);
        let named = text.contains(&path) || alone && text.contains(&import);
        if granted != named {
            complaints.push(format!("{path} is granted: {granted}"));
        }
        if granted && !text.contains(&import) {
            complaints.push(format!("lacks the line that imports {path}"));
        }
        let documented = catalogue::of(arm.language()).ok();
        if let Some(documented) = documented.and_then(|it| it.module(module.id))
            && (&documented.path, &documented.import) != (&module.path, &module.import)
        {
            complaints.push(format!(
                "{path} is documented as `{}`, by `{}`",
                documented.path, documented.import
            ));
        }
    }
    complaints
}

fn judge_everything(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for section in SECTIONS {
        let under = text.split_once(&format!("\n{section}\n"));
        let under = under.map(|(_, rest)| rest.split("\n## ").next().unwrap_or_default());
        match under {
            None => complaints.push(format!("lacks the section {section}")),
            Some(under) if under.trim().is_empty() => {
                complaints.push(format!("nothing stands under {section}"));
            }
            Some(_) => {}
        }
    }
    let roster = ROSTER
        .iter()
        .flat_map(|(slug, name, why)| [*slug, *name, *why]);
    let configured = roster.chain([SKILL.0, SKILL.1]).chain(STATES);
    for value in configured {
        if !text.contains(value) {
            complaints.push(format!("lacks the configured `{value}`"));
        }
    }
    complaints
}

fn judge_nothing(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (capability, terms) in WITHHELD {
        for term in terms.iter().filter(|term| text.contains(**term)) {
            complaints.push(format!("speaks of {capability}: {term}"));
        }
    }
    complaints
}

#[test]
fn every_arm_is_told_what_it_has_to_know_and_nothing_else() {
    let complaints = judge(source());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Terms of withheld capabilities that the prompt of an agent with everything does not hold either: the
/// board has no section, only a module; a notebook that is searched has no list.
const UNSAID: [(&str, &str); 3] = [
    ("the board", "issue"),
    ("the board", "epic"),
    ("memories", "memory list"),
];

#[test]
fn every_withheld_term_is_one_that_an_agent_with_everything_reads() {
    // A term that no prompt has would withhold nothing.
    let texts: Vec<_> = arms::all()
        .map(|arm| {
            let context = fixtures::on(arm, EndingRole::Standard);
            prompts::system(&context, None, None).unwrap()
        })
        .collect();
    let said = |term: &str| texts.iter().any(|text| text.contains(term));
    let unsaid: Vec<_> = WITHHELD
        .iter()
        .flat_map(|(capability, terms)| terms.iter().map(move |term| (*capability, *term)))
        .filter(|(_, term)| !said(term))
        .collect();
    assert_eq!(unsaid, UNSAID);
}

/// Damages to the template, each with a word of the complaint it has to cause.
fn damages() -> Vec<(&'static str, String, &'static str)> {
    let source = source();
    let without = |name: &'static str, block: &str, complaint| {
        assert!(source.contains(block), "{name}");
        (name, source.replace(block, ""), complaint)
    };
    let instead = |name: &'static str, old: &str, new: &str, complaint| {
        assert!(source.contains(old), "{name}");
        (name, source.replace(old, new), complaint)
    };
    let (_, python) = segments(source)
        .into_iter()
        .find(|(id, _)| *id == "python")
        .expect("Python has a segment");
    vec![
        without(
            "a section lost",
            "## Copies of yourself",
            "lacks the section",
        ),
        without(
            "a heading with nothing under it",
            "{{#each code.modules}}\n- `{{import}}`\n{{/each}}\n",
            "is granted: true",
        ),
        instead(
            "a figure written down",
            "{{windowLimit}}",
            "200000",
            "123457",
        ),
        instead(
            "another figure written down",
            "{{code.timeoutSecs}}",
            "30",
            "17.5",
        ),
        without(
            "a roster without descriptions",
            " — {{description}}",
            "Looks things up",
        ),
        without("a roster without ids", "`{{slug}}`", "`scout`"),
        instead(
            "an ending written down",
            "`{{this}}`",
            "`session.finish`",
            "is named",
        ),
        without("a rule unsaid", "synchronous", "calls are synchronous"),
        without("another", "prints or ", "printed"),
        without("another yet", " revoked", "revoked"),
        instead(
            "a capability that is not gated",
            "{{#if shell}}\n",
            "{{#if windowLimit}}\n",
            "does not render",
        ),
        instead(
            "a section for everybody",
            "{{#if managed}}\n",
            "{{#if windowLimit}}\n",
            "speaks of freeing the window",
        ),
        instead(
            "a segment of another arm",
            "(eq code.language.id \"javascript\")",
            "(ne code.language.id \"python\")",
            "javascript: 0 segments",
        ),
        without(
            "a segment lost",
            python,
            "python: a segment of 0 paragraphs",
        ),
        instead("a long segment", python, &"word ".repeat(250), "characters"),
        instead("a segment of three", python, "a\n\nb\n\nc", "3 paragraphs"),
        instead(
            "a name no context has",
            "{{windowLimit}}",
            "{{window}}",
            "does not render",
        ),
    ]
}

#[test]
fn a_damaged_template_is_caught() {
    for (name, damaged, complaint) in damages() {
        let complaints = judge(&damaged);
        assert!(
            complaints.iter().any(|it| it.contains(complaint)),
            "{name}: no `{complaint}` in\n{}",
            complaints.join("\n")
        );
    }
}
