//! Where names of calls may stand: not in a template (05 §7). That a literal of the host holds none is
//! `sandbox::gates::spelling`'s to see.
//!
//! Sources are read, so that branches no agent renders are covered. One template serves every arm:
//! the spellings of all are pooled.

use std::collections::BTreeSet;

use sandbox::arms;
use sandbox::catalogue;
use vocab::operations::OPERATIONS;
use vocab::tools::{EndingCall, ToolName};

/// Names that a text is searched for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Names that are no English: they count wherever they stand as a word.
    telling: BTreeSet<String>,
    /// Names that are words of English too: they count where they are written as code.
    words: BTreeSet<String>,
}

impl Names {
    fn add(&mut self, name: &str) {
        let inner_capital = name.chars().skip(1).any(char::is_uppercase);
        if inner_capital || name.contains(['_', '.', ':']) {
            self.telling.insert(name.to_owned());
        } else {
            self.words.insert(name.to_owned());
        }
    }

    /// Every catalogued function and type, as every arm writes it: alone, behind its module, and in
    /// full.
    pub(crate) fn catalogued() -> Self {
        let mut names = Self::default();
        for arm in arms::all() {
            for row in OPERATIONS {
                let full = arm.spelling(row);
                let call = arm.call(row);
                let alone = full.rsplit(['.', ':']).next().unwrap_or(&full);
                for name in [alone, &call, &full, row.id] {
                    names.add(name);
                }
            }
            // Where this binary carries none, names of types are not known.
            let Ok(catalogue) = catalogue::of(arm.language()) else {
                continue;
            };
            for function in &catalogue.functions {
                names.add(&function.name);
                names.add(&function.fqn);
            }
            for declared in &catalogue.types {
                names.add(&declared.fqn);
                names.add(declared.fqn.rsplit(['.', ':']).next().unwrap_or_default());
            }
        }
        names
    }

    /// Every tool and every ending call, as tool-calling agents have them.
    pub(crate) fn tools() -> Self {
        let mut names = Self::default();
        for tool in ToolName::ALL {
            names.add(tool.as_str());
        }
        for call in EndingCall::ALL {
            names.add(call.as_str());
        }
        names
    }

    /// The names a text writes.
    pub(crate) fn in_text<'a>(&'a self, text: &str) -> Vec<&'a str> {
        let telling = self.telling.iter().filter(|name| {
            let mut places = text.match_indices(name.as_str());
            places.any(|(at, _)| stands_alone(text, at, name.len()))
        });
        let words = self.words.iter().filter(|name| {
            let mut places = text.match_indices(name.as_str());
            places.any(|(at, _)| is_code(text, at, name.len()))
        });
        telling.chain(words).map(String::as_str).collect()
    }
}

fn continues(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Whether a piece of a text is not a part of a longer name.
fn stands_alone(text: &str, at: usize, len: usize) -> bool {
    !text[..at].ends_with(continues) && !text[at + len..].starts_with(continues)
}

/// Whether a piece of a text is written as code: a span of its own, or called.
fn is_code(text: &str, at: usize, len: usize) -> bool {
    let (before, after) = (&text[..at], &text[at + len..]);
    let span = before.ends_with(['`', '.']) && after.starts_with(['`', '(']);
    stands_alone(text, at, len) && (span || after.starts_with('('))
}

/// A template's own words: what stands between its expressions.
pub(crate) fn words(source: &str) -> String {
    let mut words = String::with_capacity(source.len());
    for (number, part) in source.split("{{").enumerate() {
        let said = match part.split_once("}}") {
            Some((_, said)) if number > 0 => said,
            _ => part,
        };
        // A mark in the place of the expression: a name is not put together around one.
        if number > 0 {
            words.push('\u{fffc}');
        }
        words.push_str(said);
    }
    words
}

#[test]
fn no_template_names_a_catalogued_function_or_type() {
    let names = Names::catalogued();
    for (name, source) in context::prompts::templates() {
        let found = names.in_text(&words(source));
        assert!(found.is_empty(), "{name} names {found:?}");
    }
}

#[test]
fn no_template_names_a_bare_tool() {
    // Of those that only tool-calling agents read it is asked too: a name is a value of the context.
    let names = Names::tools();
    for (name, source) in context::prompts::templates() {
        let found = names.in_text(&words(source));
        assert!(found.is_empty(), "{name} names {found:?}");
    }
}

#[test]
fn a_damaged_template_is_caught() {
    let catalogued = Names::catalogued();
    for (damaged, name) in [
        ("Show it by `views.openText`.", "views.openText"),
        ("Call gg.views.open_text first.", "gg.views.open_text"),
        ("{{#if never}}openDocsView{{/if}}", "openDocsView"),
        ("Then `search` the documentation.", "search"),
        ("Then `search(\"x\")` it.", "search"),
        ("Then docs.search(\"x\").", "docs.search"),
        ("It is open_file({{path}}).", "open_file"),
    ] {
        let found = catalogued.in_text(&words(damaged));
        assert!(found.contains(&name), "{damaged}: {found:?}");
    }
    let tools = Names::tools();
    for (damaged, name) in [
        ("Use read_file.", "read_file"),
        ("Use `shell`.", "shell"),
        ("Use {{#if x}}`compact`{{/if}}.", "compact"),
        ("End by `finish`.", "finish"),
    ] {
        assert!(tools.in_text(&words(damaged)).contains(&name), "{damaged}");
    }
    // English, values of the context, and names of something else.
    for fine in [
        "Search the documentation, then close what you opened (all of it).",
        "{{#if managed.evict}}evict{{/if}} `{{this}}` by `{{openText}}`",
        "`submit_program` and `console.log`; a re_read_file is none, nor is `print`.",
        "a program that compacts it; finish it; a shell command",
    ] {
        assert_eq!(catalogued.in_text(&words(fine)), [""; 0], "{fine}");
        assert_eq!(tools.in_text(&words(fine)), [""; 0], "{fine}");
    }
}
