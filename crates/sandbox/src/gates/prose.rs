//! What a catalogue's prose is: in gg's register, and naming only what its reader can call
//! (05 §2, §6).

use vocab::operations::{Binding, Operation};

use crate::catalogue::{Argument, Catalogue};
use crate::docs::writes;

/// Words that advise, tell a story or speak to somebody, where prose describes.
const FOREIGN: [&str; 15] = [
    "you",
    "your",
    "we",
    "our",
    "i",
    "please",
    "should",
    "must",
    "let's",
    "simply",
    "easily",
    "recommended",
    "the agent",
    "note that",
    "be sure",
];

/// One text of a catalogue.
struct Said<'a> {
    /// The entry it is of, for a complaint.
    of: String,
    text: &'a str,
    /// What buys the entry: all of these, where several lead to it.
    bought: Vec<Binding>,
    /// Words in code spans that are the entry's own.
    own: Vec<&'a str>,
}

/// Adds what is wrong with a catalogue's prose.
pub(super) fn judge(table: &[Operation], catalogue: &Catalogue, complaints: &mut Vec<String>) {
    for brief in briefs(catalogue) {
        if brief.1.contains('\n') {
            complaints.push(format!("{}: its brief is more than one line", brief.0));
        }
        let begins = brief
            .1
            .starts_with(|c: char| c.is_uppercase() || c == '`' || c.is_numeric());
        if !begins || !brief.1.ends_with('.') {
            complaints.push(format!(
                "{}: its brief is no sentence: {}",
                brief.0, brief.1
            ));
        }
    }
    for said in texts(table, catalogue) {
        if said.text.matches('`').count() % 2 == 1 {
            complaints.push(format!(
                "{}: a code span is not closed: {}",
                said.of, said.text
            ));
            continue;
        }
        let prose: String = said
            .text
            .split('`')
            .step_by(2)
            .collect::<Vec<_>>()
            .join(" ");
        let prose = prose.to_lowercase();
        for word in FOREIGN {
            if writes(&prose, word) {
                complaints.push(format!("{}: says “{word}”: {}", said.of, said.text));
            }
        }
        references(table, catalogue, &said, complaints);
    }
}

/// A text names another function only where that one is offered whenever its own entry is.
fn references(
    table: &[Operation],
    catalogue: &Catalogue,
    said: &Said<'_>,
    complaints: &mut Vec<String>,
) {
    for span in said.text.split('`').skip(1).step_by(2) {
        let span = span.trim().trim_end_matches("()");
        if said.own.contains(&span) {
            continue;
        }
        let named = catalogue.functions.iter().filter(|entry| {
            let rest = entry.fqn.strip_suffix(span);
            rest.is_some_and(|before| before.is_empty() || before.ends_with(['.', ':', '#']))
        });
        for entry in named {
            let binding = table
                .iter()
                .find(|row| row.id == entry.operation)
                .map(|row| row.binding);
            let offered = match binding {
                Some(Binding::Always) => true,
                Some(Binding::Capability(_)) => {
                    !said.bought.is_empty() && said.bought.iter().all(|one| Some(*one) == binding)
                }
                Some(Binding::Ending(_) | Binding::Machine) | None => false,
            };
            if !offered {
                complaints.push(format!(
                    "{}: names `{span}`, which is not offered whenever it is",
                    said.of
                ));
                break;
            }
        }
    }
}

fn briefs(catalogue: &Catalogue) -> Vec<(String, &str)> {
    let modules = catalogue.modules.iter();
    let modules = modules.map(|module| (format!("module `{}`", module.id), module.brief.as_str()));
    let functions = catalogue.functions.iter();
    let functions = functions.map(|entry| (format!("`{}`", entry.fqn), entry.brief.as_str()));
    let types = catalogue.types.iter();
    let types = types.map(|declared| (format!("`{}`", declared.fqn), declared.brief.as_str()));
    modules.chain(functions).chain(types).collect()
}

fn texts<'a>(table: &[Operation], catalogue: &'a Catalogue) -> Vec<Said<'a>> {
    let binding = |operation: &str| {
        let row = table.iter().find(|row| row.id == operation);
        row.map(|row| row.binding)
    };
    let mut texts = Vec::new();
    for module in &catalogue.modules {
        let bound = catalogue
            .functions
            .iter()
            .filter(|entry| entry.module == module.id);
        let bought: Vec<_> = bound
            .filter_map(|entry| binding(&entry.operation))
            .collect();
        for text in [Some(&module.brief), module.detail.as_ref()]
            .into_iter()
            .flatten()
        {
            texts.push(Said {
                of: format!("module `{}`", module.id),
                text,
                bought: bought.clone(),
                own: vec![&module.path, &module.id],
            });
        }
    }
    for entry in &catalogue.functions {
        let arguments = || entry.signatures.iter().flat_map(|one| &one.arguments);
        let mut own: Vec<&str> = vec![&entry.name, &entry.fqn];
        arguments().for_each(|argument| own_names(argument, &mut own));
        // What it returns and takes may have a member of a function's name.
        for name in entry.returns.iter().chain(&entry.types) {
            let members = catalogue
                .declared(name)
                .into_iter()
                .flat_map(|of| &of.members);
            own.extend(members.map(|member| member.name.as_str()));
        }
        let mut said = vec![entry.brief.as_str()];
        said.extend(entry.detail.as_deref());
        arguments().for_each(|argument| descriptions(argument, &mut said));
        texts.extend(said.into_iter().map(|text| Said {
            of: format!("`{}`", entry.fqn),
            text,
            bought: binding(&entry.operation).into_iter().collect(),
            own: own.clone(),
        }));
    }
    for declared in &catalogue.types {
        let leads = catalogue.functions.iter().filter(|entry| {
            let written = [&entry.returns, &entry.types, &entry.throws];
            written
                .into_iter()
                .flatten()
                .any(|name| *name == declared.fqn)
        });
        let bought: Vec<_> = leads
            .filter_map(|entry| binding(&entry.operation))
            .collect();
        let mut said = vec![declared.brief.as_str()];
        said.extend(declared.detail.as_deref());
        said.extend(
            declared
                .members
                .iter()
                .map(|member| member.description.as_str()),
        );
        let own: Vec<_> = declared
            .members
            .iter()
            .map(|member| member.name.as_str())
            .collect();
        texts.extend(said.into_iter().map(|text| Said {
            of: format!("`{}`", declared.fqn),
            text,
            bought: bought.clone(),
            own: own.clone(),
        }));
    }
    texts
}

fn own_names<'a>(argument: &'a Argument, own: &mut Vec<&'a str>) {
    own.push(&argument.name);
    for field in argument.fields.iter().flatten() {
        own_names(field, own);
    }
}

fn descriptions<'a>(argument: &'a Argument, said: &mut Vec<&'a str>) {
    said.push(&argument.description);
    for field in argument.fields.iter().flatten() {
        descriptions(field, said);
    }
}
