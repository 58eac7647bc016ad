//! What a module declares, read out of the declarations that the compiler emitted for it.
//!
//! Emitted declarations have one shape: a declaration starts at the start of a line, and what belongs
//! to it is indented or closes a bracket.

use std::collections::{BTreeMap, BTreeSet};

use super::super::ecmascript::exports::bare;
use crate::prepare::Export;

/// One declaration.
struct Declared<'a> {
    comment: String,
    /// Without the words that export it.
    text: &'a str,
    word: &'a str,
    name: &'a str,
    exported: bool,
}

/// What a module exports, in the order it declares it.
pub(super) fn exports(declarations: &str) -> Vec<Export> {
    let mut declared = Vec::new();
    let mut renamed = BTreeMap::new();
    for (comment, text) in statements(declarations) {
        if let Some(list) = text.strip_prefix("export {") {
            let list = list.split('}').next().unwrap_or_default();
            for one in list.split(',') {
                let one = one.trim().trim_start_matches("type ");
                let (local, name) = one.split_once(" as ").unwrap_or((one, one));
                renamed.insert(local.trim(), name.trim());
            }
        } else if let Some(local) = text.strip_prefix("export default ")
            && !local.contains(' ')
        {
            renamed.insert(local.trim_end_matches(';'), "default");
        } else if let Some(one) = declaration(comment, text) {
            declared.push(one);
        }
    }
    let types: BTreeSet<&str> = declared
        .iter()
        .filter(|one| ["interface", "type", "class", "enum"].contains(&one.word))
        .map(|one| one.name)
        .collect();
    let mut exports: Vec<Export> = Vec::new();
    for one in &declared {
        let name = match renamed.get(one.name) {
            Some(name) => *name,
            None if one.exported => one.name,
            None => continue,
        };
        let text = one.text.trim_end_matches(';');
        if let Some(overloaded) = exports.iter_mut().find(|export| export.name == name) {
            overloaded.declaration.push('\n');
            overloaded.declaration.push_str(text);
            continue;
        }
        let (function, taken, given) = parts(one.word, text);
        let named = |part: &str| -> Vec<String> {
            let words: BTreeSet<&str> = part.split(|c| !identifies(c)).collect();
            let own = types.iter().filter(|name| words.contains(*name));
            own.map(|name| (*name).to_owned()).collect()
        };
        exports.push(Export {
            name: name.to_owned(),
            function,
            declaration: text.to_owned(),
            comment: one.comment.clone(),
            returns: named(given),
            parameters: named(taken),
        });
    }
    exports
}

/// Statements with the comment before each.
fn statements(text: &str) -> Vec<(String, &str)> {
    let mut statements = Vec::new();
    let mut comment = String::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return statements;
        }
        if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
            if rest.starts_with("/**") {
                comment = bare(&rest[..end]);
            }
            rest = &rest[end..];
            continue;
        }
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        let end = end(rest);
        statements.push((std::mem::take(&mut comment), rest[..end].trim_end()));
        rest = &rest[end..];
    }
}

/// Where a statement ends: with a line on which every bracket is closed.
fn end(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if let Some(open) = quote {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if character == open => quote = None,
                _ => {}
            }
            continue;
        }
        match character {
            '"' | '\'' | '`' => quote = Some(character),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '\n' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

fn declaration(comment: String, text: &str) -> Option<Declared<'_>> {
    let (exported, mut rest) = match text.strip_prefix("export ") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let defaulted = rest.strip_prefix("default ");
    rest = defaulted.unwrap_or(rest);
    rest = rest.strip_prefix("declare ").unwrap_or(rest);
    let mut head = rest;
    for modifier in ["abstract ", "async "] {
        head = head.strip_prefix(modifier).unwrap_or(head);
    }
    let head = head
        .strip_prefix("const enum ")
        .map_or(head, |_| &head["const ".len()..]);
    let (word, after) = head.split_once(|c: char| !identifies(c))?;
    let known = [
        "function",
        "const",
        "let",
        "var",
        "class",
        "enum",
        "namespace",
        "interface",
        "type",
    ];
    if !known.contains(&word) {
        return None;
    }
    let name = after.trim_start();
    let length = name.find(|c| !identifies(c)).unwrap_or(name.len());
    let name = match (defaulted, &name[..length]) {
        (Some(_), _) => "default",
        (None, "") => return None,
        (None, name) => name,
    };
    Some(Declared {
        comment,
        text: rest,
        word,
        name,
        exported,
    })
}

/// Whether a declaration is called; what it takes, and what it gives.
fn parts<'a>(word: &str, text: &'a str) -> (bool, &'a str, &'a str) {
    match word {
        "function" => {
            let (taken, given) = text.rsplit_once("): ").unwrap_or((text, ""));
            (true, taken, given)
        }
        "const" | "let" | "var" => match text.split_once(": ") {
            Some((_, of)) if of.starts_with(['(', '<']) && of.contains("=> ") => {
                let (taken, given) = of.rsplit_once("=> ").unwrap_or((of, ""));
                (true, taken, given)
            }
            Some((_, of)) => (false, "", of),
            None => (false, "", ""),
        },
        _ => (false, "", ""),
    }
}

fn identifies(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARATIONS: &str = "import { FileRead } from \"gg:core\";
/** A row. */
export interface Row {
    /** Its cells. */
    cells: string[];
}
interface Hidden {
    a: 1;
}
/**
 * Reads rows.
 *
 * All of them.
 */
export declare function rows(text: string, options?: {
    separator?: \";\" | \"{\";
}): Row[];
export declare function pick(rows: Row[], at: number): Row;
export declare function pick(rows: Row[], name: string): Row;
export declare const twice: (x: number) => number;
declare const inner: Hidden;
export declare const LIMIT = 3;
export declare class Table {
    readonly rows: Row[];
}
export default function fallback(): void;
export { inner as outer };
";

    #[test]
    fn exports_carry_how_they_were_declared_and_what_was_said() {
        let exports = exports(DECLARATIONS);
        let names: Vec<_> = exports.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "Row", "rows", "pick", "twice", "outer", "LIMIT", "Table", "default"
            ]
        );
        let by = |name: &str| exports.iter().find(|one| one.name == name).unwrap();
        assert_eq!(by("rows").comment, "Reads rows.\n\nAll of them.");
        assert_eq!(
            by("rows").declaration,
            "function rows(text: string, options?: {\n    separator?: \";\" | \"{\";\n}): Row[]"
        );
        assert_eq!(by("rows").returns, ["Row"]);
        assert!(by("rows").parameters.is_empty());
        assert_eq!(by("pick").declaration.lines().count(), 2);
        assert_eq!(by("pick").parameters, ["Row"]);
        assert!(by("twice").function);
        assert!(!by("LIMIT").function);
        assert_eq!(by("outer").returns, ["Hidden"]);
        assert!(by("default").function);
    }
}
