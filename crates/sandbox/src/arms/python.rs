//! Python: the program runs as it was sent, by a guest that holds the interpreter (05 §10.4).
//!
//! Always true: a path, a name or a text enters a program as a JSON string, which is a literal of
//! the language too.

mod exports;
mod mask;

use vocab::language::ProgramLanguage;
use vocab::operations::Operation;

use super::{Arm, Dialect, Lines, Missing, Opening, guests, literal, own};
use crate::docs::MOST_HITS;
use crate::prepare::Export;

/// Python.
pub(super) struct Python;

/// Words that cannot name a module.
const RESERVED: [&str; 37] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "gg", "global", "if",
    "import", "in", "is", "lambda", "lib", "nonlocal", "not", "or", "pass", "raise", "return",
    "try", "while", "with", "yield",
];

impl Dialect for Python {
    /// `snake_case` of ASCII.
    fn binding_name(&self, authored: &str) -> String {
        let mut name = String::new();
        for character in authored.chars() {
            if character.is_ascii_alphanumeric() {
                name.push(character.to_ascii_lowercase());
            } else if !name.is_empty() && !name.ends_with('_') {
                name.push('_');
            }
        }
        let name = name.trim_end_matches('_');
        if name.is_empty() {
            return "module".to_owned();
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return format!("m{name}");
        }
        if RESERVED.contains(&name) {
            return format!("{name}_module");
        }
        name.to_owned()
    }

    fn lib_access(&self, key: &str, export: &str) -> String {
        format!("lib.{key}.{export}")
    }

    fn lib_import(&self, key: &str) -> String {
        format!("import lib.{key}")
    }

    fn module_import(&self, _module: &str) -> String {
        "import gg".to_owned()
    }

    fn module_path(&self, module: &str) -> String {
        format!("gg.{module}")
    }

    fn spelling(&self, operation: &Operation) -> String {
        format!("gg.{}", operation.id)
    }

    fn call(&self, operation: &Operation) -> String {
        self.spelling(operation)
    }

    fn file_view_statement(&self, path: &str, lines: Option<Lines>) -> String {
        let (open, path) = (self.call(own("views.open_file")), literal(path));
        match lines {
            None => format!("{open}({path})"),
            Some(Lines { offset, limit }) => {
                format!("{open}({path}, offset={offset}, limit={limit})")
            }
        }
    }

    fn documentation_program(&self, names: &[String]) -> String {
        if names.is_empty() {
            return String::new();
        }
        format!("import gg\n\n{}", pages(names))
    }

    fn bootstrap_program(&self, opening: &Opening<'_>) -> String {
        let mut body = String::new();
        if !opening.modules.is_empty() {
            let modules: Vec<_> = opening.modules.iter().map(|name| literal(name)).collect();
            let (search, modules) = (self.call(own("docs.search")), modules.join(", "));
            body.push_str(&format!(
                "{search}(modules=[{modules}], limit={MOST_HITS})\n"
            ));
        }
        let names: Vec<_> = opening
            .functions
            .iter()
            .map(|row| self.spelling(row))
            .collect();
        body.push_str(&pages(&names));
        for (label, text) in opening.texts {
            let (label, text) = (literal(label), literal(text));
            let open = self.call(own("views.open_text"));
            body.push_str(&format!("{open}({label}, {text})\n"));
        }
        if body.is_empty() {
            return body;
        }
        format!("import gg\n\n{body}")
    }
}

impl Arm for Python {
    fn language(&self) -> ProgramLanguage {
        ProgramLanguage::Python
    }

    fn display_name(&self) -> &'static str {
        "Python"
    }

    fn checker(&self) -> Option<&'static str> {
        None
    }

    fn exports(&self, source: &str) -> Vec<Export> {
        exports::exports(source)
    }

    fn module_extensions(&self) -> &'static [&'static str] {
        &["py"]
    }

    fn guest(&self) -> Result<&'static [u8], Missing> {
        guests::python()
    }

    fn least_memory_bytes(&self) -> u64 {
        guests::PYTHON_LEAST_MEMORY
    }
}

/// A page of the documentation for each name.
fn pages(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<_> = names
        .iter()
        .map(|name| format!("    {},\n", literal(name)))
        .collect();
    let (open, names) = (Python.call(own("views.open_docs_view")), names.concat());
    format!("for name in [\n{names}]:\n    {open}(name)\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_snake_case_of_ascii() {
        for (authored, expected) in [
            ("csv-tools", "csv_tools"),
            ("CSV tools", "csv_tools"),
            ("a--b", "a_b"),
            ("-.-", "module"),
            ("", "module"),
            ("3d", "m3d"),
            ("class", "class_module"),
            ("gg", "gg_module"),
        ] {
            assert_eq!(Python.binding_name(authored), expected, "{authored}");
        }
    }

    #[test]
    fn a_path_cannot_leave_its_literal() {
        let lines = Some(Lines {
            offset: 2,
            limit: 3,
        });
        assert_eq!(
            Python.file_view_statement("a\"); evil(\"\n", lines),
            "gg.views.open_file(\"a\\\"); evil(\\\"\\n\", offset=2, limit=3)"
        );
    }

    #[test]
    fn programs_import_only_what_they_call() {
        assert_eq!(Python.bootstrap_program(&Opening::default()), "");
        assert_eq!(Python.documentation_program(&[]), "");
        let search = Operation::find("docs.search").unwrap();
        insta::assert_snapshot!(Python.bootstrap_program(&Opening {
            modules: &["files", "shell"],
            functions: &[search],
            texts: &[("workspace tree", "src/\n  \"a\"")],
        }), @r#"
        import gg

        gg.docs.search(modules=["files", "shell"], limit=100)
        for name in [
            "gg.docs.search",
        ]:
            gg.views.open_docs_view(name)
        gg.views.open_text("workspace tree", "src/\n  \"a\"")
        "#);
    }
}
