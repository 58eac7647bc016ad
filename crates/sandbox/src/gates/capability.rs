//! The capability gate: each arm against gg's table of operations, and the table against itself.
//!
//! Nothing is compared between arms. Complaints are returned rather than asserted, and the table is
//! a parameter, so that damaged tables and catalogues can show that the gate catches something.

use std::collections::BTreeSet;

use vocab::capability::CapabilityId as C;
use vocab::operations::{Binding, EndingRole, Operation};
use vocab::tools::ToolName;

use super::prose;
use crate::catalogue::{Argument, Catalogue, Function, FunctionKind, Type, faults};
use crate::docs::writes;

/// Which capabilities may buy operations of a module.
const FAMILIES: [(&str, &[C]); 11] = [
    (
        "files",
        &[
            C::ReadFile,
            C::WriteFile,
            C::EditFile,
            C::ListDir,
            C::Search,
        ],
    ),
    ("shell", &[C::Shell]),
    ("board", &[C::ProjectManagement]),
    ("tasks", &[C::Tasks]),
    ("memories", &[C::Memories]),
    ("docs", &[C::DocviewClose]),
    ("views", &[C::ReadFile, C::AgentManagedContext]),
    ("context", &[C::AgentManagedContext, C::Compaction]),
    ("delegation", &[C::Subagents, C::Exec, C::Fork]),
    ("skills", &[C::Skills]),
    ("programs", &[C::ProgramLibrary]),
];

/// The endings, under the roles that own them.
const ENDINGS: [(&str, EndingRole); 3] = [
    ("session.finish", EndingRole::Standard),
    ("session.approve", EndingRole::Review),
    ("session.request_changes", EndingRole::Review),
];

/// What is wrong with the table itself.
pub(crate) fn gating(table: &[Operation]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut ids = BTreeSet::new();
    for row in table {
        let id = row.id;
        if !ids.insert(id) {
            complaints.push(format!("`{id}` stands twice in the table"));
        }
        match row.binding {
            Binding::Capability(capability) => {
                let family = FAMILIES.iter().find(|(module, _)| *module == row.module());
                if !family.is_some_and(|(_, bought)| bought.contains(&capability)) {
                    complaints.push(format!(
                        "`{id}` is bought by `{capability}` of another family"
                    ));
                }
            }
            Binding::Ending(role) if !ENDINGS.contains(&(id, role)) => {
                complaints.push(format!("`{id}` is no ending of {role:?}"));
            }
            Binding::Machine if id != "delegation.transition_state" => {
                complaints.push(format!("`{id}` does not leave a state"));
            }
            Binding::Ending(_) | Binding::Machine | Binding::Always => {}
        }
        if row.module() == "views" && row.key().starts_with("open_") {
            let reads = row.tool == Some(ToolName::ReadFile);
            let expected = if reads {
                Binding::Capability(C::ReadFile)
            } else {
                Binding::Always
            };
            if row.binding != expected {
                complaints.push(format!(
                    "`{id}` is a view; it is gated exactly where it reads the workspace"
                ));
            }
        }
    }
    for (id, role) in ENDINGS {
        if !table
            .iter()
            .any(|row| row.id == id && row.binding == Binding::Ending(role))
        {
            complaints.push(format!("`{id}` is not the ending of {role:?}"));
        }
    }
    if !table
        .iter()
        .any(|row| row.id == "docs.search" && row.binding == Binding::Always)
    {
        complaints.push("`docs.search` is not bound to every program".to_owned());
    }
    complaints
}

/// How an arm writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notation {
    /// Whether its signatures have a place to put a parameter's name.
    pub(crate) names_parameters: bool,
}

/// What is wrong with an arm's catalogue, held against a table.
pub(crate) fn complaints(
    table: &[Operation],
    catalogue: &Catalogue,
    notation: Notation,
) -> Vec<String> {
    let mut complaints = faults(catalogue);
    coverage(table, catalogue, &mut complaints);
    for entry in &catalogue.functions {
        input(table, entry, &mut complaints);
        spelling(catalogue, entry, notation, &mut complaints);
    }
    names(catalogue, &mut complaints);
    prose::judge(table, catalogue, &mut complaints);
    complaints
}

/// Each operation has one canonical binding, or the arm is excused; each binding is of an operation.
fn coverage(table: &[Operation], catalogue: &Catalogue, complaints: &mut Vec<String>) {
    let language = catalogue.language.as_str();
    for row in table {
        let id = row.id;
        let canonical: Vec<_> = catalogue
            .bindings(id)
            .filter(|entry| entry.alias_of.is_none())
            .collect();
        let excuse = row.excused.iter().find(|excuse| excuse.arm == language);
        match (canonical.as_slice(), excuse) {
            ([], None) => complaints.push(format!("`{language}` does not bind `{id}`")),
            ([], Some(excuse)) if excuse.reason.trim().is_empty() => {
                complaints.push(format!(
                    "`{language}` is excused from `{id}` without a reason"
                ));
            }
            ([_, ..], Some(_)) => {
                complaints.push(format!("`{language}` is excused from `{id}` and binds it"));
            }
            ([first, second, ..], None) => complaints.push(format!(
                "`{id}` is bound twice, as {} and as {}",
                binding(first),
                binding(second)
            )),
            ([], Some(_)) | ([_], None) => {}
        }
    }
    for entry in &catalogue.functions {
        if !table.iter().any(|row| row.id == entry.operation) {
            complaints.push(format!(
                "{}: gg has no `{}`",
                binding(entry),
                entry.operation
            ));
        }
        if let Some(of) = &entry.alias_of {
            let canonical = catalogue.canonical(&entry.operation);
            if canonical.is_none_or(|canonical| canonical.fqn != *of) {
                complaints.push(format!(
                    "{}: is an alias of `{of}`, which does not bind `{}`",
                    binding(entry),
                    entry.operation
                ));
            }
        }
    }
}

/// A binding in a complaint: what identifies it on its arm.
fn binding(entry: &Function) -> String {
    let kind = match entry.kind {
        FunctionKind::Function => "function",
        FunctionKind::Method => "method",
    };
    let receiver = entry
        .receiver
        .as_deref()
        .map(|of| format!(" of {of}"))
        .unwrap_or_default();
    format!("{kind} `{}` in `{}`{receiver}", entry.name, entry.module)
}

/// Whether anything is passed agrees with gg; a receiver is input.
fn input(table: &[Operation], entry: &Function, complaints: &mut Vec<String>) {
    let Some(row) = table.iter().find(|row| row.id == entry.operation) else {
        return;
    };
    let passes = entry.receiver.is_some()
        || entry
            .signatures
            .iter()
            .any(|signature| !signature.arguments.is_empty());
    if passes != row.input {
        let takes = if row.input { "takes" } else { "takes no" };
        complaints.push(format!("{}: `{}` {takes} input", binding(entry), row.id));
    }
}

/// Every spelling is one that a program could write.
fn spelling(
    catalogue: &Catalogue,
    entry: &Function,
    notation: Notation,
    complaints: &mut Vec<String>,
) {
    let of = binding(entry);
    if !entry.fqn.ends_with(entry.name.as_str()) {
        complaints.push(format!(
            "{of}: its full name `{}` is of another name",
            entry.fqn
        ));
    }
    let same = |other: &&Function| {
        other.module == entry.module && other.receiver == entry.receiver && other.name == entry.name
    };
    if catalogue.functions.iter().filter(same).count() > 1 {
        complaints.push(format!(
            "{of}: another entry has the same name and would be hidden"
        ));
    }
    if (entry.kind == FunctionKind::Method) != entry.receiver.is_some() {
        complaints.push(format!(
            "{of}: a method has a receiver, and nothing else has"
        ));
    }
    for signature in &entry.signatures {
        let rest = signature.text.strip_prefix(entry.name.as_str());
        if rest.is_none_or(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
            complaints.push(format!("{of}: `{}` does not begin with it", signature.text));
        }
        for argument in &signature.arguments {
            if notation.names_parameters && !writes(&signature.text, &argument.name) {
                complaints.push(format!(
                    "{of}: `{}` takes no argument `{}`",
                    signature.text, argument.name
                ));
            }
            fields(&of, &signature.text, argument, complaints);
        }
    }
}

/// The fields of an argument stand in its type, whatever the notation.
fn fields(of: &str, signature: &str, argument: &Argument, complaints: &mut Vec<String>) {
    for field in argument.fields.iter().flatten() {
        if !writes(&argument.of, &field.name) && !writes(signature, &field.name) {
            complaints.push(format!(
                "{of}: `{}` has no field `{}`",
                argument.name, field.name
            ));
        }
        fields(of, signature, field, complaints);
    }
}

/// Names resolve, and what is declared can be reached.
fn names(catalogue: &Catalogue, complaints: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    let functions = catalogue.functions.iter().map(|entry| entry.fqn.as_str());
    let types = catalogue.types.iter().map(|declared| declared.fqn.as_str());
    let modules = catalogue.modules.iter().map(|module| module.path.as_str());
    for name in functions.chain(types).chain(modules) {
        if !seen.insert(name) {
            complaints.push(format!("`{name}` is the full name of two entries"));
        }
    }
    let module = |of: &str, id: &str, complaints: &mut Vec<String>| {
        if catalogue.module(id).is_none() {
            complaints.push(format!("`{of}` is of a module `{id}` that there is not"));
        }
    };
    for entry in &catalogue.functions {
        module(&entry.fqn, &entry.module, complaints);
        let written = [&entry.returns, &entry.types, &entry.throws];
        for name in written.into_iter().flatten().chain(&entry.receiver) {
            if catalogue.declared(name).is_none() {
                complaints.push(format!(
                    "`{}` refers to `{name}`, which is no type",
                    entry.fqn
                ));
            }
        }
        let hangs = |of: &&Type| {
            entry.receiver.as_ref() == Some(&of.fqn)
                && !of.functions.iter().flatten().any(|name| *name == entry.fqn)
        };
        if let Some(of) = catalogue.types.iter().find(hangs) {
            complaints.push(format!("`{}` does not list its `{}`", of.fqn, entry.fqn));
        }
    }
    for declared in &catalogue.types {
        module(&declared.fqn, &declared.module, complaints);
        for name in declared.functions.iter().flatten() {
            let found = catalogue
                .functions
                .iter()
                .any(|entry| entry.fqn == *name && entry.receiver.as_ref() == Some(&declared.fqn));
            if !found {
                complaints.push(format!(
                    "`{}` lists `{name}`, which is not its",
                    declared.fqn
                ));
            }
        }
    }
    for unreachable in unreachable(catalogue) {
        complaints.push(format!(
            "`{}` is declared and nothing leads to it",
            unreachable.fqn
        ));
    }
}

/// Types that no signature, and no type that one leads to, is written with.
fn unreachable(catalogue: &Catalogue) -> Vec<&Type> {
    let written: BTreeSet<&str> = catalogue
        .functions
        .iter()
        .flat_map(|entry| [&entry.returns, &entry.types, &entry.throws])
        .flatten()
        .map(String::as_str)
        .collect();
    let (mut reached, mut left): (Vec<&Type>, Vec<&Type>) = catalogue
        .types
        .iter()
        .partition(|declared| written.contains(declared.fqn.as_str()));
    loop {
        let (more, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(|declared| {
            let name = crate::docs::bare(&declared.fqn);
            reached.iter().any(|by| writes(&by.declaration, name))
        });
        left = rest;
        if more.is_empty() {
            return left;
        }
        reached.extend(more);
    }
}
