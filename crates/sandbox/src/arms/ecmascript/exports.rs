//! What a module of JavaScript exports, read out of its source.
//!
//! Nothing runs it, and the language has no types: an export is its name, how it is declared, and the
//! comment above it.

use super::mask;
use crate::prepare::Export;

/// A declaration at the top of a module.
struct Declared {
    name: String,
    function: bool,
    declaration: String,
    comment: String,
    exported: bool,
}

/// What a module exports, in its order; nothing where it does not lex.
pub(in crate::arms) fn exports(source: &str) -> Vec<Export> {
    let Some(code) = mask::code(source) else {
        return Vec::new();
    };
    let mut declared: Vec<Declared> = Vec::new();
    let mut listed: Vec<(String, String)> = Vec::new();
    for start in statements(&code) {
        let mut rest = Cursor {
            code: &code,
            at: start,
        };
        let exported = rest.word("export");
        let default = exported && rest.word("default");
        let comment = comment_before(source, &code, start);
        if exported && rest.symbol('{') {
            listed.extend(list(&code[rest.at..]));
        } else if exported && rest.symbol('*') {
            if rest.word("as")
                && let Some(name) = rest.name()
            {
                listed.push((name.clone(), name));
            }
        } else {
            let found = declarations(source, &code, rest, default);
            declared.extend(
                found
                    .into_iter()
                    .map(|(name, function, declaration)| Declared {
                        name,
                        function,
                        declaration,
                        comment: comment.clone(),
                        exported,
                    }),
            );
        }
    }
    let export = |one: &Declared, name: &str| Export {
        name: name.to_owned(),
        function: one.function,
        declaration: one.declaration.clone(),
        comment: one.comment.clone(),
        ..Export::default()
    };
    let mut exports: Vec<Export> = declared
        .iter()
        .filter(|one| one.exported)
        .map(|one| export(one, &one.name))
        .collect();
    for (local, name) in listed {
        let of = declared.iter().find(|one| one.name == local);
        exports.push(match of {
            Some(one) => export(one, &name),
            None => Export {
                declaration: name.clone(),
                name,
                ..Export::default()
            },
        });
    }
    exports
}

/// What a comment says, without its marks.
pub(in crate::arms) fn bare(comment: &str) -> String {
    let inner = comment.trim_start_matches("/**").trim_end_matches("*/");
    let lines = inner.lines().map(|line| {
        let line = line.trim();
        line.strip_prefix("* ")
            .unwrap_or(line.strip_prefix('*').unwrap_or(line))
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Where statements at the top begin that declare or export something.
fn statements(code: &str) -> Vec<usize> {
    const WORDS: [&str; 7] = [
        "async", "class", "const", "export", "function", "let", "var",
    ];
    let mut starts = Vec::new();
    let (mut depth, mut at) = (0_usize, 0);
    let mut fresh = true;
    while let Some(character) = code[at..].chars().next() {
        if depth == 0 && identifies(character) {
            let word = word_at(code, at);
            if fresh && WORDS.contains(&word) {
                starts.push(at);
            }
            fresh = false;
            at += word.len();
            continue;
        }
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '}' => {
                depth = depth.saturating_sub(1);
                fresh |= depth == 0;
            }
            ';' | '\n' if depth == 0 => fresh = true,
            character if !character.is_whitespace() => fresh = false,
            _ => {}
        }
        at += character.len_utf8();
    }
    starts
}

/// What a statement declares: names, whether each is called, and how it is declared.
fn declarations(
    source: &str,
    code: &str,
    mut rest: Cursor<'_>,
    default: bool,
) -> Vec<(String, bool, String)> {
    let start = rest.at;
    let shown = |end: usize| source[start..end].trim().to_owned();
    let mut head = rest;
    head.word("async");
    if head.word("function") {
        head.symbol('*');
        let name = head.name();
        let name = if default {
            Some("default".to_owned())
        } else {
            name
        };
        let end = closed(code, head.at, '(');
        return name
            .map(|name| (name, true, shown(end)))
            .into_iter()
            .collect();
    }
    if rest.word("class") {
        let name = rest.name();
        let name = if default {
            Some("default".to_owned())
        } else {
            name
        };
        let end = code[rest.at..]
            .find('{')
            .map_or(code.len(), |at| rest.at + at);
        return name
            .map(|name| (name, false, shown(end)))
            .into_iter()
            .collect();
    }
    if default {
        return vec![("default".to_owned(), false, "default".to_owned())];
    }
    let Some(word) = ["const", "let", "var"]
        .into_iter()
        .find(|word| rest.word(word))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    loop {
        if rest.symbol('{') || rest.symbol('[') {
            let end = closed(code, rest.at - 1, '\0');
            let inner = &code[rest.at..end];
            // One that nothing closes goes to the end, whatever stands there.
            let pattern = inner.strip_suffix([')', ']', '}']).unwrap_or(inner);
            let names = pattern.split(',').filter_map(|part| {
                let bound = part.rsplit(':').next().unwrap_or(part);
                let bound = bound.split('=').next().unwrap_or(bound);
                let bound = bound.trim().trim_start_matches("...");
                (!bound.is_empty() && bound.chars().all(identifies)).then(|| bound.to_owned())
            });
            found.extend(names.map(|name| {
                let declaration = format!("{word} {name}");
                (name, false, declaration)
            }));
            rest.at = end;
        } else {
            let Some(name) = rest.name() else {
                return found;
            };
            let from = rest.at;
            let (function, taken) = called(code, rest);
            let declaration = match taken {
                Some(end) => format!("{word} {name}{}", source[from..end].trim_end()),
                None => format!("{word} {name}"),
            };
            found.push((name, function, declaration));
        }
        rest.at = value_end(code, rest.at);
        if !rest.symbol(',') {
            return found;
        }
    }
}

/// Whether a value is a function, and where what it takes ends.
fn called(code: &str, mut rest: Cursor<'_>) -> (bool, Option<usize>) {
    if !rest.symbol('=') {
        return (false, None);
    }
    rest.word("async");
    if rest.word("function") {
        rest.symbol('*');
        rest.name();
        return (true, Some(closed(code, rest.at, '(')));
    }
    let end = if code[rest.at..].trim_start().starts_with('(') {
        closed(code, rest.at, '(')
    } else {
        match rest.name() {
            Some(_) => rest.at,
            None => return (false, None),
        }
    };
    let arrow = Cursor { code, at: end }.symbols("=>");
    (arrow.is_some(), arrow)
}

/// Where a value ends: at a comma, a semicolon or a line's end that is in no bracket.
fn value_end(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    let mut last = '\0';
    for (at, character) in code[from..].char_indices() {
        let at = from + at;
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' | ';' if depth == 0 => return at,
            '\n' if depth == 0 && !"=,+-*/%&|^?:.<>(\0".contains(last) => {
                let next = code[at..].trim_start().chars().next();
                if !next.is_some_and(|next| ".,+-*/%&|^?:=)<>".contains(next)) {
                    return at;
                }
            }
            _ => {}
        }
        if !character.is_whitespace() {
            last = character;
        }
    }
    code.len()
}

/// Behind the bracket that closes the next one.
fn closed(code: &str, from: usize, open: char) -> usize {
    let mut depth = 0_usize;
    for (at, character) in code[from..].char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return from + at + 1;
                }
            }
            character if depth == 0 && open != '\0' && !character.is_whitespace() => return from,
            _ => {}
        }
    }
    code.len()
}

/// `a, b as c }`: pairs of what is declared and what is exported.
fn list(code: &str) -> Vec<(String, String)> {
    let list = code.split('}').next().unwrap_or_default();
    list.split(',')
        .filter_map(|one| {
            let mut words = one.split_whitespace();
            let local = words.next()?;
            let name = match (words.next(), words.next()) {
                (Some("as"), Some(name)) => name,
                _ => local,
            };
            Some((local.to_owned(), name.to_owned()))
        })
        .collect()
}

/// The comment that ends right before a statement.
fn comment_before(source: &str, code: &str, start: usize) -> String {
    // What is no code between the code before and the statement is comments and blanks.
    let from = code[..start].trim_end().len();
    let between = source[from..start].trim_end();
    if between.ends_with("*/")
        && let Some(at) = between.rfind("/*")
    {
        return if between[at..].starts_with("/**") {
            bare(&between[at..])
        } else {
            String::new()
        };
    }
    let mut lines: Vec<_> = between
        .lines()
        .rev()
        .map_while(|line| line.trim().strip_prefix("//"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    lines.reverse();
    lines.join("\n").trim().to_owned()
}

/// A place in masked code, from which words are taken.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    code: &'a str,
    at: usize,
}

impl Cursor<'_> {
    fn blanks(&mut self) {
        let rest = &self.code[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn word(&mut self, word: &str) -> bool {
        let before = self.at;
        self.blanks();
        if word_at(self.code, self.at) == word {
            self.at += word.len();
            return true;
        }
        self.at = before;
        false
    }

    fn symbol(&mut self, symbol: char) -> bool {
        let before = self.at;
        self.blanks();
        if self.code[self.at..].starts_with(symbol) {
            self.at += symbol.len_utf8();
            return true;
        }
        self.at = before;
        false
    }

    /// Behind some symbols, where they come next.
    fn symbols(mut self, symbols: &str) -> Option<usize> {
        self.blanks();
        let next = self.code[self.at..].starts_with(symbols);
        next.then_some(self.at + symbols.len())
    }

    fn name(&mut self) -> Option<String> {
        let before = self.at;
        self.blanks();
        let name = word_at(self.code, self.at);
        if name.is_empty() {
            self.at = before;
            return None;
        }
        self.at += name.len();
        Some(name.to_owned())
    }
}

fn word_at(code: &str, at: usize) -> &str {
    let rest = &code[at..];
    let length = rest.find(|c| !identifies(c)).unwrap_or(rest.len());
    &rest[..length]
}

fn identifies(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_way_to_export_is_read() {
        let source = r#"import { files } from "gg";
/**
 * Reads rows.
 *
 * All of them.
 */
export async function rows(path, { separator = ";" } = {}) {
  const inner = "export function no() {}"; // export const neither = 1
  return files.readTextFile(path).split(separator);
}
// Doubles,
// and no more.
export const twice = (x) => 2 * x, LIMIT = [1, 2], half = function (x) { return x / 2; };
export let { a, b: c = 3, ...others } = { a: 1 };
/* not said of it */
export class Table extends Object { get() { } }
function local(x) { if (x) { return 1 } }
const value = /export const x/.test("`");
export { local as reached, value };
export * as all from "gg:files"
export * from "gg:shell";
export default function () {}
"#;
        let exports = exports(source);
        let names: Vec<_> = exports.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "rows", "twice", "LIMIT", "half", "a", "c", "others", "Table", "default",
                "reached", "value", "all"
            ]
        );
        let by = |name: &str| exports.iter().find(|one| one.name == name).unwrap();
        let check = |name: &str, function: bool, declaration: &str, comment: &str| {
            let one = by(name);
            assert_eq!(
                (one.function, one.declaration.as_str(), one.comment.as_str()),
                (function, declaration, comment)
            );
        };
        let rows = "async function rows(path, { separator = \";\" } = {})";
        check("rows", true, rows, "Reads rows.\n\nAll of them.");
        check(
            "twice",
            true,
            "const twice = (x) =>",
            "Doubles,\nand no more.",
        );
        check("LIMIT", false, "const LIMIT", "Doubles,\nand no more.");
        check(
            "half",
            true,
            "const half = function (x)",
            "Doubles,\nand no more.",
        );
        check("c", false, "let c", "");
        check("Table", false, "class Table extends Object", "");
        check("reached", true, "function local(x)", "");
        check("value", false, "const value", "");
        check("all", false, "all", "");
        check("default", true, "function ()", "");
    }

    #[test]
    fn what_does_not_lex_exports_nothing() {
        assert_eq!(exports("export const a = 'x"), []);
        assert_eq!(exports(""), []);
    }

    #[test]
    fn a_pattern_that_nothing_closes_ends_with_its_source() {
        for (source, names) in [
            ("export const [ü", vec!["ü"]),
            ("export let { a, b: ü", vec!["a", "ü"]),
            ("export const [\"ü", vec![]),
            ("export var [a, [ü", vec!["a"]),
        ] {
            let read = exports(source);
            let read: Vec<_> = read.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(read, names, "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "export", " const", " function", " class", " a", " =", "{", "}", "(", ")", ",",
                    "=>", ";", "\n", " default", " *", " as", "'s'", "// c\n", "/** c */", "ü", "[", "]",
                ]),
                0..30,
            ),
        ) {
            for one in exports(&parts.concat()) {
                prop_assert!(!one.name.is_empty());
            }
        }
    }
}
