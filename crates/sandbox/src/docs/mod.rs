//! The documentation, as far as one agent may read it (04 §8).
//!
//! Entries are made of an arm's catalogue and of the code the agent loaded. They can be searched
//! ([`Query`]), opened as pages ([`Documentation::open`]), and named where something else was meant
//! ([`Documentation::suggest`]). Nothing here knows a window: whoever runs agents shows what comes back.
//!
//! Always true: an entry is of an operation the agent is offered, or of something such an entry is
//! written with; every hit of a search opens under its key.

mod entry;
mod pages;
mod search;
mod suggest;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use vocab::failure::Failure;
use vocab::figures::grouped;
use vocab::grant::Offer;
use vocab::operations::{Binding, Operation};

pub use entry::{Entry, Loaded};
pub use pages::{Page, PageTypes};
pub use search::{DEFAULT_HITS, EntryKind, Found, MOST_HITS, Query};

use crate::catalogue::{Catalogue, Function, Module, Type};

/// Bytes of a question, and of a name that is to be opened.
const MOST_NAME: usize = 4096;

/// Judges a text that is compared with every entry.
fn bounded(key: &str, text: &str) -> Result<(), Failure> {
    if text.len() <= MOST_NAME {
        return Ok(());
    }
    Err(Failure::invalid(format!(
        "`{key}` holds {} bytes; at most {} are taken",
        grouped(text.len() as u64),
        grouped(MOST_NAME as u64)
    )))
}

/// What one agent may read.
pub struct Documentation<'a> {
    catalogue: &'a Catalogue,
    /// Entries a search may find, in the order of the catalogue: modules, functions, types; loaded
    /// code behind each.
    entries: Vec<Entry<'a>>,
    /// Types that only a declaration of another type or a failure names: they open, and are not
    /// found.
    beyond: Vec<&'a Type>,
}

impl<'a> Documentation<'a> {
    /// The documentation of an agent that is offered some operations and has loaded some code.
    pub fn new(catalogue: &'a Catalogue, offer: &Offer, loaded: &'a [Loaded]) -> Self {
        let functions: Vec<&Function> = catalogue
            .functions
            .iter()
            .filter(|entry| Operation::find(&entry.operation).is_some_and(|row| offer.offers(row)))
            .collect();
        let (types, beyond) = readable(catalogue, &functions);
        let exports = |function: bool| {
            let all = loaded.iter();
            all.flat_map(|module| module.exports.iter().map(move |export| (module, export)))
                .filter(move |(_, export)| export.function == function)
                .map(|(module, export)| Entry::Export(module, export))
        };
        let mut entries: Vec<Entry<'a>> = Vec::new();
        entries.extend(bound(catalogue, &functions).map(Entry::Module));
        entries.extend(loaded.iter().map(Entry::LoadedModule));
        entries.extend(functions.iter().copied().map(Entry::Function));
        entries.extend(exports(true));
        entries.extend(types.into_iter().map(Entry::Type));
        entries.extend(exports(false));
        Self {
            catalogue,
            entries,
            beyond,
        }
    }

    /// Entries a search may find.
    pub fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// All that opens.
    fn openable(&self) -> impl Iterator<Item = Entry<'a>> {
        let beyond = self.beyond.iter().copied().map(Entry::Type);
        self.entries.iter().copied().chain(beyond)
    }
}

/// Modules that an agent may read of: those with a function of its own, and those that bind nothing,
/// which carry types that every program may meet.
fn bound<'a>(
    catalogue: &'a Catalogue,
    functions: &[&'a Function],
) -> impl Iterator<Item = &'a Module> {
    catalogue.modules.iter().filter(|module| {
        let mut all = catalogue.functions.iter();
        all.all(|entry| entry.module != module.id)
            || functions.iter().any(|entry| entry.module == module.id)
    })
}

/// Types that the functions of an agent are written with; and behind them those that only a failure or
/// the declaration of another names.
fn readable<'a>(
    catalogue: &'a Catalogue,
    functions: &[&'a Function],
) -> (Vec<&'a Type>, Vec<&'a Type>) {
    let failures: BTreeSet<&str> = catalogue
        .functions
        .iter()
        .flat_map(|entry| &entry.throws)
        .map(String::as_str)
        .collect();
    let written: BTreeSet<&str> = functions
        .iter()
        .flat_map(|entry| {
            let signature = entry.returns.iter().chain(&entry.types);
            signature.chain(&entry.receiver)
        })
        .map(String::as_str)
        .collect();
    let (types, others): (Vec<_>, Vec<_>) = catalogue.types.iter().partition(|declared| {
        written.contains(declared.fqn.as_str()) && !failures.contains(declared.fqn.as_str())
    });
    let thrown = |declared: &&Type| {
        functions
            .iter()
            .any(|entry| entry.throws.contains(&declared.fqn))
    };
    let (mut beyond, mut others): (Vec<&Type>, Vec<&Type>) = others.into_iter().partition(thrown);
    // A type is readable where one that is readable is declared with it.
    loop {
        let known: Vec<&Type> = types.iter().chain(&beyond).copied().collect();
        let (more, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(|declared| {
            known
                .iter()
                .any(|by| writes(&by.declaration, bare(&declared.fqn)))
        });
        others = rest;
        if more.is_empty() {
            return (types, beyond);
        }
        beyond.extend(more);
    }
}

/// Whether one of an operation's pages is among those that stood in the window before the turn
/// began, or none is asked for: an ending needs none (04 §8.4).
pub fn documented<'k>(
    catalogue: &Catalogue,
    operation: &Operation,
    standing: impl IntoIterator<Item = &'k str>,
) -> bool {
    if matches!(operation.binding, Binding::Ending(_)) {
        return true;
    }
    let names: BTreeSet<&str> = catalogue
        .bindings(operation.id)
        .map(|entry| entry.fqn.as_str())
        .collect();
    standing.into_iter().any(|key| names.contains(key))
}

/// The last part of a full name.
pub(crate) fn bare(fqn: &str) -> &str {
    fqn.rsplit([':', '.']).next().unwrap_or(fqn)
}

/// Whether a text holds a name as a word of its own.
pub(crate) fn writes(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(word) && !text[at + name.len()..].starts_with(word))
}
