//! Pages: what a documentation view of a function, a type or a module shows (04 §8.2).

use std::collections::BTreeSet;

use vocab::failure::{Failure, FailureClass};

use super::{Documentation, Entry, bounded};
use crate::catalogue::{Argument, Function, Module, Passing, Type};
use crate::prepare::Export;

/// One page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The name it is filed under.
    pub key: String,
    /// What it shows.
    pub text: String,
    /// Whether code that is loaded again may change it: only such a page supersedes another.
    pub revisable: bool,
}

/// Types that a function's page brings along, by where they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageTypes {
    /// Of what it returns.
    pub returned: bool,
    /// Of its arguments.
    pub parameters: bool,
    /// Of what it fails with.
    pub errors: bool,
}

impl PageTypes {
    /// All of them.
    pub const ALL: Self = Self {
        returned: true,
        parameters: true,
        errors: true,
    };
}

impl<'a> Documentation<'a> {
    /// The page of a name, full or bare, and behind it those of the types it brings along, one
    /// level deep.
    ///
    /// # Errors
    ///
    /// `not-found` with the nearest names, `conflict` for a bare name that several entries have,
    /// `invalid-argument` for a blank one.
    pub fn open(&self, target: &str, types: PageTypes) -> Result<Vec<Page>, Failure> {
        let entry = self.resolve(target)?;
        let mut pages = vec![self.page(entry)];
        let mut seen: BTreeSet<&str> = BTreeSet::from([entry.key()]);
        for brought in self.brought(entry, types) {
            if seen.insert(brought.key()) {
                pages.push(self.page(brought));
            }
        }
        Ok(pages)
    }

    /// The entry of a name: in full, without the root all names share, or bare.
    pub fn resolve(&self, target: &str) -> Result<Entry<'a>, Failure> {
        bounded("target", target)?;
        let target = target.trim();
        if target.is_empty() {
            return Err(Failure::invalid(
                "the target is blank; expected the name of a function, a type or a module",
            ));
        }
        let all: Vec<Entry<'a>> = self.openable().collect();
        if let Some(entry) = all.iter().find(|entry| entry.key() == target) {
            return Ok(*entry);
        }
        let short = |entry: &&Entry<'a>| {
            let key = entry.key();
            let rest = key.strip_suffix(target);
            rest.is_some_and(|before| before.ends_with(['.', ':'])) || entry.name() == target
        };
        let mut found = all.iter().filter(short);
        let Some(first) = found.next() else {
            return Err(self.unknown(target));
        };
        let others: Vec<&str> = found.map(Entry::key).collect();
        if others.is_empty() {
            return Ok(*first);
        }
        let names: Vec<_> = std::iter::once(first.key()).chain(others).collect();
        Err(Failure::new(
            FailureClass::Conflict,
            format!("`{target}` is the name of several: {}", names.join(", ")),
        ))
    }

    /// Types a page brings along.
    fn brought(&self, entry: Entry<'a>, types: PageTypes) -> Vec<Entry<'a>> {
        let mut names: Vec<&str> = Vec::new();
        let mut add = |wanted: bool, of: &'a [String]| {
            if wanted {
                names.extend(of.iter().map(String::as_str));
            }
        };
        let of = match entry {
            Entry::Function(function) => {
                add(types.returned, &function.returns);
                add(types.parameters, &function.types);
                add(types.errors, &function.throws);
                None
            }
            Entry::Export(module, export) => {
                add(types.returned, &export.returns);
                add(types.parameters, &export.parameters);
                Some(module)
            }
            Entry::Module(_) | Entry::Type(_) | Entry::LoadedModule(_) => None,
        };
        names
            .into_iter()
            .filter_map(|name| {
                self.openable().find(|entry| match (entry, of) {
                    (Entry::Type(declared), None) => declared.fqn == name,
                    (Entry::Export(module, export), Some(of)) => {
                        module.key == of.key && export.name == name
                    }
                    _ => false,
                })
            })
            .collect()
    }

    /// The page of an entry.
    pub fn page(&self, entry: Entry<'a>) -> Page {
        let text = match entry {
            Entry::Module(module) => self.module(module),
            Entry::Function(function) => self.function(function),
            Entry::Type(declared) => self.declared(declared),
            Entry::LoadedModule(module) => {
                let lines = module.exports.iter().map(|export| {
                    let entry = Entry::Export(module, export);
                    (entry.key(), entry.summary())
                });
                paragraphs([
                    module.about.clone(),
                    module.import.clone(),
                    listed("Exports", lines),
                ])
            }
            Entry::Export(module, export) => exported(export, &module.key, &module.import),
        };
        Page {
            key: entry.key().to_owned(),
            text,
            revisable: matches!(entry, Entry::LoadedModule(_) | Entry::Export(..)),
        }
    }

    fn module(&self, module: &Module) -> String {
        let bound = self.entries().iter().filter_map(|entry| match entry {
            Entry::Function(function) if function.module == module.id => {
                Some((function.fqn.as_str(), function.brief.as_str()))
            }
            _ => None,
        });
        paragraphs([
            module.brief.clone(),
            module.detail.clone().unwrap_or_default(),
            module.import.clone(),
            listed("Functions", bound),
        ])
    }

    fn function(&self, function: &Function) -> String {
        let mut signatures = String::new();
        for signature in &function.signatures {
            signatures.push_str(&signature.text);
            signatures.push('\n');
            for line in &signature.arguments {
                argument(&mut signatures, line, 1);
            }
        }
        paragraphs([
            signatures,
            self.home(&function.module),
            function.brief.clone(),
            function.detail.clone().unwrap_or_default(),
        ])
    }

    fn declared(&self, declared: &Type) -> String {
        let members = declared.members.iter();
        let members = members.map(|member| (member.name.as_str(), member.description.as_str()));
        let functions = self.entries().iter().filter_map(|entry| match entry {
            Entry::Function(function) if function.receiver.as_ref() == Some(&declared.fqn) => {
                Some((
                    function.signatures.first()?.text.as_str(),
                    function.brief.as_str(),
                ))
            }
            _ => None,
        });
        paragraphs([
            declared.declaration.clone(),
            self.home(&declared.module),
            declared.brief.clone(),
            declared.detail.clone().unwrap_or_default(),
            listed("Members", members),
            listed("Functions", functions),
        ])
    }

    /// The module an entry is of, and the line that brings it into scope.
    fn home(&self, id: &str) -> String {
        self.catalogue
            .module(id)
            .map(|module| format!("{}\n{}", module.path, module.import))
            .unwrap_or_default()
    }
}

fn exported(export: &Export, key: &str, import: &str) -> String {
    paragraphs([
        export.declaration.clone(),
        format!("{key}\n{import}"),
        export.comment.clone(),
    ])
}

/// A line for an argument, and one for each of its fields, further in.
fn argument(into: &mut String, argument: &Argument, depth: usize) {
    let default = argument.default.as_ref();
    let default = match (default, argument.optional) {
        (Some(default), _) => format!(" = {default}"),
        (None, true) => ", optional".to_owned(),
        (None, false) => String::new(),
    };
    let passing = match argument.passing {
        Passing::Position => "",
        Passing::Name => " (passed by name)",
    };
    let structured = argument.fields.is_some();
    let of = if structured { "object" } else { &argument.of };
    into.push_str(&format!(
        "{}{}: {of}{default}{passing} - {}\n",
        "  ".repeat(depth),
        argument.name,
        one_line(&argument.description),
    ));
    for field in argument.fields.iter().flatten() {
        self::argument(into, field, depth + 1);
    }
}

/// A heading and an entry a line; nothing for no entry.
fn listed<'t>(heading: &str, entries: impl Iterator<Item = (&'t str, &'t str)>) -> String {
    let lines: Vec<_> = entries
        .map(|(name, summary)| format!("  {name}: {}", one_line(summary)))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("{heading}:\n{}", lines.join("\n"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Texts with an empty line between them, those that are blank left out.
fn paragraphs<const N: usize>(texts: [String; N]) -> String {
    let texts = texts.iter().map(|text| text.trim_matches('\n'));
    texts
        .filter(|text| !text.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}
