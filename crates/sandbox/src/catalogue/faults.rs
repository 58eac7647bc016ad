//! What no reflector may hand over: blanks, and arguments that nobody documented (05 §6).
//!
//! `cargo xtask arms` asks this of what a reflector wrote, before it is embedded. What else an arm's
//! surface has to be is the capability gate's to ask.

use vocab::operations::Operation;

use super::schema::{Argument, Catalogue};

/// Every fault of a catalogue, each naming the entry it is of.
pub fn faults(catalogue: &Catalogue) -> Vec<String> {
    let mut faults = Faults::default();
    faults.text("the catalogue", "source", &catalogue.source);
    for module in &catalogue.modules {
        let of = format!("module `{}`", module.id);
        faults.text(&of, "id", &module.id);
        faults.text(&of, "path", &module.path);
        faults.text(&of, "brief", &module.brief);
        faults.text(&of, "import", &module.import);
        faults.optional(&of, "detail", module.detail.as_deref());
    }
    for group in catalogue.libraries.iter().flatten() {
        let of = format!("library group `{}`", group.group);
        faults.text(&of, "group", &group.group);
        if group.names.is_empty() {
            faults.add(&of, "names no library");
        }
        for name in &group.names {
            faults.text(&of, "name", name);
        }
    }
    for function in &catalogue.functions {
        let of = format!("function `{}`", function.fqn);
        faults.text(&of, "operation", &function.operation);
        faults.text(&of, "module", &function.module);
        faults.text(&of, "name", &function.name);
        faults.text(&of, "fqn", &function.fqn);
        faults.text(&of, "brief", &function.brief);
        faults.optional(&of, "detail", function.detail.as_deref());
        faults.optional(&of, "receiver", function.receiver.as_deref());
        faults.optional(&of, "aliasOf", function.alias_of.as_deref());
        for name in [&function.returns, &function.types, &function.throws]
            .into_iter()
            .flatten()
        {
            faults.text(&of, "type", name);
        }
        if function.signatures.is_empty() {
            faults.add(&of, "has no signature");
        }
        for signature in &function.signatures {
            faults.text(&of, "signature", &signature.text);
            if signature.arguments.is_empty() && takes_arguments(&signature.text) {
                faults.add(
                    &of,
                    &format!("documents no argument of `{}`", signature.text),
                );
            }
            for argument in &signature.arguments {
                faults.argument(&of, argument);
            }
        }
        // A receiver is input too, so a method may take nothing else.
        let documented = function.receiver.is_some()
            || function
                .signatures
                .iter()
                .any(|one| !one.arguments.is_empty());
        let input = Operation::find(&function.operation).is_some_and(|row| row.input);
        if input && !documented {
            faults.add(&of, "documents no argument, and its operation takes input");
        }
    }
    for declared in &catalogue.types {
        let of = format!("type `{}`", declared.fqn);
        faults.text(&of, "fqn", &declared.fqn);
        faults.text(&of, "module", &declared.module);
        faults.text(&of, "declaration", &declared.declaration);
        faults.text(&of, "brief", &declared.brief);
        faults.optional(&of, "detail", declared.detail.as_deref());
        for member in &declared.members {
            faults.text(&of, "member", &member.name);
            faults.text(
                &of,
                &format!("member `{}`", member.name),
                &member.description,
            );
        }
        for name in declared.functions.iter().flatten() {
            faults.text(&of, "function", name);
        }
    }
    faults.found
}

/// Whether something stands between the first pair of parentheses. A notation without any says
/// nothing, and is believed.
fn takes_arguments(signature: &str) -> bool {
    let Some((_, rest)) = signature.split_once('(') else {
        return false;
    };
    !rest.trim_start().starts_with(')')
}

#[derive(Default)]
struct Faults {
    found: Vec<String>,
}

impl Faults {
    fn add(&mut self, of: &str, what: &str) {
        self.found.push(format!("{of}: {what}"));
    }

    fn text(&mut self, of: &str, what: &str, text: &str) {
        if text.trim().is_empty() {
            self.add(of, &format!("{what} is blank"));
        }
    }

    fn optional(&mut self, of: &str, what: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(of, what, text);
        }
    }

    fn argument(&mut self, of: &str, argument: &Argument) {
        let what = format!("argument `{}`", argument.name);
        self.text(of, "argument", &argument.name);
        self.text(of, &format!("type of {what}"), &argument.of);
        self.text(of, &what, &argument.description);
        self.optional(
            of,
            &format!("default of {what}"),
            argument.default.as_deref(),
        );
        if argument.fields.as_ref().is_some_and(Vec::is_empty) {
            self.add(of, &format!("{what} is structured and has no field"));
        }
        for field in argument.fields.iter().flatten() {
            self.argument(of, field);
        }
    }
}
