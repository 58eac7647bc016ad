//! What a Python module exports, read off its lines (05 §5, §10.4).
//!
//! A name is exported that a line without indentation binds: a function, a class, an assignment.
//! Names that begin with an underscore and names that are imported are not, unless `__all__` says so.
//! Nothing is run; a source that does not lex cleanly exports nothing that is known.
//!
//! Always true: each name is told once, as the last line that binds it says.

use super::mask::{Kind, mask};
use crate::prepare::Export;

/// The exports of a module, in the order in which their names first appear.
pub(super) fn exports(source: &str) -> Vec<Export> {
    let Some(kinds) = mask(source) else {
        return Vec::new();
    };
    let lines = Module {
        source,
        kinds: &kinds,
    };
    let statements = lines.statements();
    let classes: Vec<_> = statements
        .iter()
        .filter_map(|statement| lines.class(statement))
        .map(|export| export.name)
        .collect();
    let mut found: Vec<Export> = Vec::new();
    for statement in &statements {
        for mut export in lines.bound(statement, &classes) {
            let docstring = lines.docstring(statement).filter(|_| statement.opens);
            export.comment = docstring.unwrap_or_else(|| lines.comment_above(statement.start));
            match found.iter_mut().find(|other| other.name == export.name) {
                Some(other) => *other = export,
                None => found.push(export),
            }
        }
    }
    match lines.declared(&statements) {
        Some(names) => names
            .into_iter()
            .map(|name| {
                let known = found.iter().find(|export| export.name == name);
                known.cloned().unwrap_or_else(|| Export {
                    declaration: name.clone(),
                    name,
                    ..Export::default()
                })
            })
            .collect(),
        None => found
            .into_iter()
            .filter(|export| !export.name.starts_with('_'))
            .collect(),
    }
}

struct Module<'a> {
    source: &'a str,
    kinds: &'a [Kind],
}

/// A statement without indentation, up to the colon that opens its body or to its end.
struct Statement {
    start: usize,
    end: usize,
    /// Whether a body follows.
    opens: bool,
}

impl Module<'_> {
    fn is_code(&self, at: usize) -> bool {
        self.kinds.get(at) == Some(&Kind::Code)
    }

    /// Every statement whose first line is not indented.
    fn statements(&self) -> Vec<Statement> {
        let bytes = self.source.as_bytes();
        let mut statements = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let first = bytes[at];
            if !self.is_code(at) || first.is_ascii_whitespace() {
                at = self.end_of_logical_line(at) + 1;
                continue;
            }
            let line = self.end_of_logical_line(at);
            let body = self.colon(at, line).filter(|_| {
                let word = first_word(&self.source[at..line]);
                matches!(word, "def" | "async" | "class")
            });
            statements.push(Statement {
                start: at,
                end: body.unwrap_or(line),
                opens: body.is_some(),
            });
            at = line + 1;
        }
        statements
    }

    /// Where a statement's last line ends: no bracket is open there, and no backslash joins the next.
    fn end_of_logical_line(&self, at: usize) -> usize {
        let bytes = self.source.as_bytes();
        let mut depth = 0_usize;
        for (at, byte) in bytes.iter().enumerate().skip(at) {
            match byte {
                b'\n' if self.kinds[at] != Kind::Text => {
                    let joined = at > 0 && bytes[at - 1] == b'\\' && self.is_code(at - 1);
                    if depth == 0 && !joined {
                        return at;
                    }
                }
                _ if !self.is_code(at) => {}
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        bytes.len()
    }

    /// The first colon outside of brackets.
    fn colon(&self, from: usize, to: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in from..to {
            if !self.is_code(at) {
                continue;
            }
            match self.source.as_bytes()[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b':' if depth == 0 => return Some(at),
                _ => {}
            }
        }
        None
    }

    /// What a statement binds.
    fn bound(&self, statement: &Statement, classes: &[String]) -> Vec<Export> {
        if let Some(function) = self.function(statement, classes) {
            return vec![function];
        }
        if let Some(class) = self.class(statement) {
            return vec![class];
        }
        self.assigned(statement)
    }

    fn function(&self, statement: &Statement, classes: &[String]) -> Option<Export> {
        let text = self.plain(statement.start, statement.end);
        let rest = text
            .strip_prefix("async ")
            .map_or(text.as_str(), str::trim_start);
        let name = identifier(rest.strip_prefix("def ")?.trim_start())?;
        let (parameters, returned) = text.rsplit_once("->").unwrap_or((text.as_str(), ""));
        let of = |text: &str| {
            let mut named: Vec<String> = Vec::new();
            for word in words(text) {
                if classes.iter().any(|class| class == word) && !named.iter().any(|it| it == word) {
                    named.push(word.to_owned());
                }
            }
            named
        };
        Some(Export {
            name: name.to_owned(),
            function: true,
            returns: of(returned),
            parameters: of(parameters),
            declaration: text,
            comment: String::new(),
        })
    }

    fn class(&self, statement: &Statement) -> Option<Export> {
        let text = self.plain(statement.start, statement.end);
        let name = identifier(text.strip_prefix("class ")?.trim_start())?.to_owned();
        Some(Export {
            name,
            declaration: text,
            ..Export::default()
        })
    }

    /// The names that an assignment binds: `a = …`, `a: T = …`, `a = b = …`, `a, b = …`.
    fn assigned(&self, statement: &Statement) -> Vec<Export> {
        let mut exports = Vec::new();
        let mut from = statement.start;
        while let Some(equals) = self.equals(from, statement.end) {
            let target = self.plain(from, equals);
            let (names, of) = target.split_once(':').unwrap_or((target.as_str(), ""));
            let names: Vec<_> = names.split(',').map(str::trim).collect();
            if !names.iter().all(|name| identifier(name) == Some(name)) {
                break;
            }
            exports.extend(names.into_iter().map(|name| Export {
                name: name.to_owned(),
                declaration: match of.trim() {
                    "" => name.to_owned(),
                    of => format!("{name}: {of}"),
                },
                ..Export::default()
            }));
            from = equals + 1;
        }
        exports
    }

    /// The next `=` outside of brackets that assigns.
    fn equals(&self, from: usize, to: usize) -> Option<usize> {
        let bytes = self.source.as_bytes();
        let mut depth = 0_usize;
        for at in from..to {
            if !self.is_code(at) {
                continue;
            }
            match bytes[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'=' if depth == 0 => {
                    let compares = bytes.get(at + 1) == Some(&b'=')
                        || (at > from && b"=!<>+-*/%&|^@:".contains(&bytes[at - 1]));
                    return (!compares).then_some(at);
                }
                _ => {}
            }
        }
        None
    }

    /// A piece of the source on one line, without its comments.
    fn plain(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        for (at, character) in self.source[from..to].char_indices() {
            match self.kinds[from + at] {
                Kind::Comment => {}
                Kind::Code if character.is_whitespace() || character == '\\' => {
                    if !text.ends_with(' ') {
                        text.push(' ');
                    }
                }
                Kind::Text | Kind::Code => text.push(character),
            }
        }
        text.trim().to_owned()
    }

    /// The string that a body begins with.
    fn docstring(&self, statement: &Statement) -> Option<String> {
        let colon = statement.end;
        let rest = self.source.get(colon + 1..)?;
        let skipped = rest.char_indices().find(|(at, character)| {
            let at = colon + 1 + at;
            self.kinds[at] == Kind::Text || (self.is_code(at) && !character.is_whitespace())
        })?;
        let mut start = colon + 1 + skipped.0;
        // A prefix that leaves a string what it is.
        if self.is_code(start) && matches!(self.source.as_bytes()[start], b'r' | b'R' | b'u' | b'U')
        {
            start += 1;
        }
        if self.kinds.get(start) != Some(&Kind::Text) {
            return None;
        }
        let text = &self.source[start..];
        let quotes = if text.starts_with("\"\"\"") || text.starts_with("'''") {
            3
        } else {
            1
        };
        let (fence, inner) = text.split_at(quotes);
        let inner = &inner[..inner.find(fence)?];
        Some(dedented(inner))
    }

    /// The comment that ends right above a line.
    fn comment_above(&self, start: usize) -> String {
        let mut lines = Vec::new();
        let above = self.source[..start].lines().rev();
        for line in above.skip_while(|line| line.starts_with('@')) {
            let Some(comment) = line.strip_prefix('#') else {
                break;
            };
            lines.push(comment.strip_prefix(' ').unwrap_or(comment).trim_end());
        }
        lines.reverse();
        lines.join("\n")
    }

    /// The names in `__all__`, where it is written out.
    fn declared(&self, statements: &[Statement]) -> Option<Vec<String>> {
        let statement = statements.iter().rev().find(|statement| {
            let text = self.plain(statement.start, statement.end);
            words(&text).next() == Some("__all__")
        })?;
        let list = self.source[statement.start..statement.end]
            .split_once('=')?
            .1;
        let begin = statement.end - list.len();
        let mut names = Vec::new();
        let mut at = begin;
        while at < statement.end {
            if self.kinds[at] != Kind::Text {
                at += 1;
                continue;
            }
            let end = (at..statement.end)
                .find(|at| self.kinds[*at] != Kind::Text)
                .unwrap_or(statement.end);
            let name = self.source[at..end].trim_matches(['"', '\'']);
            if identifier(name) == Some(name) {
                names.push(name.to_owned());
            }
            at = end;
        }
        Some(names)
    }
}

/// A docstring without the indentation that its source gave it.
fn dedented(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim();
    let rest: Vec<_> = lines.collect();
    let margin = rest
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let rest = rest
        .iter()
        .map(|line| line.get(margin..).unwrap_or_default().trim_end());
    let whole: Vec<_> = std::iter::once(first).chain(rest).collect();
    whole.join("\n").trim().to_owned()
}

fn first_word(text: &str) -> &str {
    words(text).next().unwrap_or_default()
}

/// The identifier that a text begins with.
fn identifier(text: &str) -> Option<&str> {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    let name = &text[..end];
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts.then_some(name)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exports_are_read_off_the_lines_that_are_not_indented() {
        let source = r##""""A module of tables."""
import csv
from os import path as p

LIMIT: int = 3
_hidden = 1
first, second = 1, 2
total = count = 0
total += 1
if LIMIT == 3:
    inner = 1

# A row.
class Row(dict):
    '''One row.

        With members.
    '''
    def method(self): ...

@cached
async def load(  # where from
    where: str = ":",
    *, rows: list[Row] | None = None,
) -> dict[str, Row]:
    r"""Loads a table."""
    text = """
def not_one(): ...
"""

# Counts rows,
# all of them.
def count(rows: "Row") -> int: return 1
def _private(): ...
x == 1
"##;
        let told: Vec<_> = exports(source)
            .iter()
            .map(|it| {
                format!(
                    "{} {} | {} | {} | {:?} {:?}",
                    it.name, it.function, it.declaration, it.comment, it.returns, it.parameters
                )
            })
            .collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        LIMIT false | LIMIT: int |  | [] []
        first false | first |  | [] []
        second false | second |  | [] []
        total false | total |  | [] []
        count true | def count(rows: "Row") -> int | Counts rows,
        all of them. | [] ["Row"]
        Row false | class Row(dict) | One row.

        With members. | [] []
        load true | async def load( where: str = ":", *, rows: list[Row] | None = None, ) -> dict[str, Row] | Loads a table. | ["Row"] ["Row"]
        "#);
    }

    #[test]
    fn a_module_may_say_what_it_exports() {
        let names = |source| -> Vec<_> {
            exports(source)
                .into_iter()
                .map(|export| export.name)
                .collect()
        };
        let source = "from x import y\ndef a(): ...\ndef b(): ...\n__all__ = [\n  'b', \"y\",\n]\n";
        assert_eq!(names(source), ["b", "y"]);
        assert_eq!(names("def a(): ...\nx = 'open\n"), Vec::<String>::new());
        assert_eq!(names("größe = 1\n"), ["größe"]);
        assert_eq!(names("def a(x): ..."), ["a"]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(source in "(def |class |async |[a=:,'\"#()\\\\\n @ü_]){0,30}") {
            for export in exports(&source) {
                prop_assert!(!export.name.is_empty());
            }
        }
    }
}
