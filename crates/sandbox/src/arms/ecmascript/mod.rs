//! What TypeScript and JavaScript have in common: names, lines that import, programs of gg's own
//! (05 §10.2, §10.3).
//!
//! Always true: a path, a name or a text enters a program as JSON, so none can end the literal it
//! stands in.

pub(super) mod exports;
mod mask;

use vocab::operations::Operation;

use super::{Dialect, Lines, Opening, literal, own};
use crate::docs::MOST_HITS;

/// Words that cannot name a namespace a module imports, in a module's strict code.
const RESERVED: [&str; 52] = [
    "arguments",
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "gg",
];

/// A language that is written as JavaScript is.
pub(super) trait Ecmascript: Sync {}

impl<T: Ecmascript> Dialect for T {
    fn binding_name(&self, authored: &str) -> String {
        binding_name(authored)
    }

    fn lib_access(&self, key: &str, export: &str) -> String {
        lib_access(key, export)
    }

    fn lib_import(&self, key: &str) -> String {
        lib_import(key)
    }

    fn module_import(&self, module: &str) -> String {
        module_import(module)
    }

    fn module_path(&self, module: &str) -> String {
        module_path(module)
    }

    fn spelling(&self, operation: &Operation) -> String {
        spelling(operation)
    }

    fn call(&self, operation: &Operation) -> String {
        call(operation)
    }

    fn file_view_statement(&self, path: &str, lines: Option<Lines>) -> String {
        file_view_statement(path, lines)
    }

    fn documentation_program(&self, names: &[String]) -> String {
        documentation_program(names)
    }

    fn bootstrap_program(&self, opening: &Opening<'_>) -> String {
        bootstrap_program(opening)
    }
}

/// camelCase: every separator joins the next word.
fn binding_name(authored: &str) -> String {
    let mut name = String::new();
    let mut joins = false;
    for character in authored.chars() {
        if !continues(character) {
            joins = true;
        } else if std::mem::take(&mut joins) && !name.is_empty() {
            name.extend(character.to_uppercase().filter(|c| continues(*c)));
        } else if name.is_empty() {
            name.extend(character.to_lowercase().filter(|c| continues(*c)));
        } else {
            name.push(character);
        }
    }
    if name.is_empty() {
        return "module".to_owned();
    }
    if !name.starts_with(starts) || RESERVED.contains(&name.as_str()) {
        name.insert(0, '_');
    }
    name
}

/// Whether a name may go on with a character. Fewer than the language allows: what the standard
/// library knows to be a letter, without what only looks it: letters in circles and squares, a tilde.
fn continues(character: char) -> bool {
    character == '_'
        || character.is_ascii_digit()
        || (character.is_alphabetic()
            && !matches!(character, '\u{24B6}'..='\u{24E9}' | '\u{2E2F}' | '\u{1F130}'..='\u{1F189}'))
}

/// Whether a name may start with a character: the standard library cannot tell a letter from a mark
/// on one, but letters with a case and those of East Asia are letters.
fn starts(character: char) -> bool {
    character == '_'
        || character.is_ascii_alphabetic()
        || (character != '\u{345}'
            && continues(character)
            && (character.is_lowercase()
                || character.is_uppercase()
                || matches!(character, '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}'
                    | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
                    | '\u{AC00}'..='\u{D7A3}')))
}

fn lib_access(key: &str, export: &str) -> String {
    format!("{key}.{export}")
}

fn lib_import(key: &str) -> String {
    format!("import * as {key} from {};", literal(&format!("lib:{key}")))
}

fn module_import(module: &str) -> String {
    format!("import {{ {module} }} from \"gg\";")
}

fn module_path(module: &str) -> String {
    format!("gg.{module}")
}

fn spelling(operation: &Operation) -> String {
    format!("gg.{}", call(operation))
}

fn call(operation: &Operation) -> String {
    format!("{}.{}", operation.module(), camel(operation.key()))
}

fn file_view_statement(path: &str, lines: Option<Lines>) -> String {
    let (open, path) = (call(own("views.open_file")), literal(path));
    match lines {
        None => format!("{open}({path});"),
        Some(Lines { offset, limit }) => {
            format!("{open}({path}, {{ offset: {offset}, limit: {limit} }});")
        }
    }
}

fn documentation_program(names: &[String]) -> String {
    let mut program = imports(&[("views", !names.is_empty())]);
    program.push_str(&pages(names));
    program
}

fn bootstrap_program(opening: &Opening<'_>) -> String {
    let shows = !opening.functions.is_empty() || !opening.texts.is_empty();
    let mut program = imports(&[("docs", !opening.modules.is_empty()), ("views", shows)]);
    if !opening.modules.is_empty() {
        let modules: Vec<_> = opening
            .modules
            .iter()
            .map(|module| literal(module))
            .collect();
        let (search, modules) = (call(own("docs.search")), modules.join(", "));
        program.push_str(&format!(
            "{search}({{ modules: [{modules}], limit: {MOST_HITS} }});\n"
        ));
    }
    let names: Vec<_> = opening.functions.iter().map(|row| spelling(row)).collect();
    program.push_str(&pages(&names));
    for (label, body) in opening.texts {
        let open = call(own("views.open_text"));
        program.push_str(&format!("{open}({}, {});\n", literal(label), literal(body)));
    }
    program
}

/// The line that imports the modules a program calls, and an empty one.
fn imports(modules: &[(&str, bool)]) -> String {
    let used: Vec<_> = modules
        .iter()
        .filter(|(_, used)| *used)
        .map(|(name, _)| *name)
        .collect();
    if used.is_empty() {
        return String::new();
    }
    format!("import {{ {} }} from \"gg\";\n\n", used.join(", "))
}

/// A page of the documentation for each name.
fn pages(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<_> = names
        .iter()
        .map(|name| format!("  {},\n", literal(name)))
        .collect();
    let (open, names) = (call(own("views.open_docs_view")), names.concat());
    format!("const names = [\n{names}];\nfor (const name of names) {open}(name);\n")
}

fn camel(snake: &str) -> String {
    let mut out = String::with_capacity(snake.len());
    let mut upper = false;
    for character in snake.chars() {
        if character == '_' {
            upper = true;
        } else if std::mem::take(&mut upper) {
            out.extend(character.to_uppercase());
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_join_their_words() {
        for (authored, expected) in [
            ("csv-tools", "csvTools"),
            ("CSV tools", "cSVTools"),
            ("review_notes", "review_notes"),
            ("a--b", "aB"),
            ("-.-", "module"),
            ("", "module"),
            ("3d", "_3d"),
            ("class", "_class"),
            ("größe-neu", "größeNeu"),
        ] {
            assert_eq!(binding_name(authored), expected, "{authored}");
        }
    }

    #[test]
    fn operations_are_spelled_as_the_sdk_spells_them() {
        let spelled = |id| Operation::find(id).map(spelling).unwrap();
        assert_eq!(spelled("files.read_text_file"), "gg.files.readTextFile");
        assert_eq!(spelled("shell.shell"), "gg.shell.shell");
    }

    #[test]
    fn a_path_cannot_leave_its_literal() {
        let lines = Some(Lines {
            offset: 2,
            limit: 3,
        });
        assert_eq!(
            file_view_statement("a\"); evil(\"\n", lines),
            "views.openFile(\"a\\\"); evil(\\\"\\n\", { offset: 2, limit: 3 });"
        );
        assert_eq!(file_view_statement("a", None), "views.openFile(\"a\");");
    }

    #[test]
    fn programs_import_only_what_they_call() {
        assert_eq!(bootstrap_program(&Opening::default()), "");
        let search = Operation::find("docs.search").unwrap();
        insta::assert_snapshot!(bootstrap_program(&Opening {
            modules: &["files", "shell"],
            functions: &[search],
            texts: &[("workspace tree", "src/\n  \"a\"")],
        }), @r#"
        import { docs, views } from "gg";

        docs.search({ modules: ["files", "shell"], limit: 100 });
        const names = [
          "gg.docs.search",
        ];
        for (const name of names) views.openDocsView(name);
        views.openText("workspace tree", "src/\n  \"a\"");
        "#);
        insta::assert_snapshot!(bootstrap_program(&Opening {
            modules: &["files"],
            ..Opening::default()
        }), @r#"
        import { docs } from "gg";

        docs.search({ modules: ["files"], limit: 100 });
        "#);
    }
}
