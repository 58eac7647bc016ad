//! The spelling gate of the host: no string literal of gg's own holds a call as an arm spells it
//! (05 §7). A name a model reads stands on the declaration it describes and nowhere else.
//!
//! An operation's id is gg's own word for it, and may be a literal by itself. Fixtures of the mock
//! model and code of tests are exempt.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use vocab::language::ProgramLanguage;
use vocab::operations::Operation;

use crate::catalogue::{self, Catalogue};
use crate::docs::writes;

/// Where canned programs of the mock model stand.
const FIXTURES: [&str; 2] = ["crates/provider/src/mock", "crates/gg/src/demo"];

/// Every call of a catalogue as a program writes it, without the root of its name.
fn pairs(catalogue: &Catalogue) -> BTreeSet<String> {
    catalogue
        .functions
        .iter()
        .filter_map(|entry| {
            let before = entry.fqn.strip_suffix(entry.name.as_str())?;
            let object = before.trim_end_matches(['.', ':']);
            let separator = &before[object.len()..];
            Some(format!(
                "{}{separator}{}",
                crate::docs::bare(object),
                entry.name
            ))
        })
        .collect()
}

/// Literals of a source that hold one of some pairs, with the line each begins in.
fn held<'p>(source: &str, pairs: &'p BTreeSet<String>) -> Vec<(usize, &'p str)> {
    let mut found = Vec::new();
    for (line, literal) in literals(source) {
        if Operation::find(&literal).is_some() {
            continue;
        }
        found.extend(
            pairs
                .iter()
                .filter(|pair| writes(&literal, pair))
                .map(|pair| (line, pair.as_str())),
        );
    }
    found
}

/// The string literals of a Rust source as they are written, with the line each begins in.
fn literals(source: &str) -> Vec<(usize, String)> {
    let bytes = source.as_bytes();
    let line_of = |at: usize| source[..at].matches('\n').count() + 1;
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &source[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if let Some((open, hashes)) = raw(rest) {
            let close = format!("\"{}", "#".repeat(hashes));
            let body = &rest[open..];
            let end = body.find(&close).unwrap_or(body.len());
            found.push((line_of(at), body[..end].to_owned()));
            at += open + end + close.len();
        } else if let Some(body) = rest.strip_prefix('"') {
            let end = closing(body);
            found.push((line_of(at), body[..end].to_owned()));
            at += end + 2;
        } else if let Some(length) = character(rest) {
            at += length;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// The length of what opens a raw string, and the marks around it; none where a name ends in `r`.
fn raw(rest: &str) -> Option<(usize, usize)> {
    let marks = rest.strip_prefix('r')?;
    let hashes = marks.len() - marks.trim_start_matches('#').len();
    marks[hashes..]
        .starts_with('"')
        .then_some((hashes + 2, hashes))
}

/// Where the quote that closes a literal stands.
fn closing(body: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    body.len()
}

/// The length of a character literal; none for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    let mut characters = body.char_indices();
    let (_, first) = characters.next()?;
    if first == '\\' {
        return body[2..].find('\'').map(|end| end + 4);
    }
    let (at, second) = characters.next()?;
    (second == '\'').then_some(at + 2)
}

/// The sources of gg that run: no tests, no fixtures.
fn sources(root: &Path) -> Vec<PathBuf> {
    let crates = std::fs::read_dir(root.join("crates")).unwrap();
    let mut found = Vec::new();
    for entry in crates {
        walk(&entry.unwrap().path().join("src"), &mut found);
    }
    found.retain(|path| {
        !FIXTURES
            .iter()
            .any(|fixture| path.starts_with(root.join(fixture)))
    });
    found
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let tests: BTreeSet<PathBuf> = entries
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .flat_map(|path| test_modules(path))
        .collect();
    for path in entries {
        if tests.contains(&path) {
            continue;
        }
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The files and folders of modules that a file declares for tests alone.
fn test_modules(path: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let stem = path.file_stem().unwrap();
    let roots = ["lib", "main", "mod"];
    let folder = path.parent().unwrap();
    let home = if roots.iter().any(|root| stem == *root) {
        folder.to_owned()
    } else {
        folder.join(stem)
    };
    lines
        .windows(2)
        .filter(|pair| pair[0].trim() == "#[cfg(test)]")
        .filter_map(|pair| pair[1].trim().strip_prefix("mod ")?.strip_suffix(';'))
        .flat_map(|name| [home.join(format!("{name}.rs")), home.join(name)])
        .collect()
}

/// A source without the tests at its end.
fn run_part(source: &str) -> &str {
    let end = source
        .find("\n#[cfg(test)]\nmod tests {")
        .unwrap_or(source.len());
    &source[..end]
}

#[test]
fn no_literal_of_gg_holds_a_call_as_an_arm_spells_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut spelled = BTreeSet::new();
    for language in ProgramLanguage::ALL {
        spelled.extend(pairs(catalogue::of(*language).unwrap()));
    }
    let sources = sources(&root.canonicalize().unwrap());
    assert!(sources.len() > 200, "{} sources", sources.len());
    let mut complaints = Vec::new();
    for path in sources {
        let text = std::fs::read_to_string(&path).unwrap();
        for (line, pair) in held(run_part(&text), &spelled) {
            complaints.push(format!("{}:{line}: `{pair}`", path.display()));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_call_in_a_literal_is_caught_wherever_it_stands() {
    let pairs = pairs(&super::fixture());
    assert!(pairs.contains("files::DoReadFile"), "{pairs:?}");
    assert!(
        pairs.contains("DoSearchMemoriesAnswer::DoOpen"),
        "{pairs:?}"
    );
    for source in [
        "let a = \"call files::DoReadFile now\";",
        "let a = r#\"the \"fx::files::DoReadFile\" call\"#;",
        "f('\"', \"files::DoReadFile\")",
        "f('\\'', \"files::DoReadFile\")",
        "let a: &'static str = \"\\\"files::DoReadFile\";",
    ] {
        assert_eq!(held(source, &pairs), [(1, "files::DoReadFile")], "{source}");
    }
    for source in [
        "// \"files::DoReadFile\"\nlet a = 'a';",
        "/* \"files::DoReadFile\" */",
        "let a = \"files::DoReadFiles and myfiles::DoReadFile\";",
        "files::DoReadFile(\"a\")",
    ] {
        assert_eq!(held(source, &pairs), [], "{source}");
    }
    let python: BTreeSet<String> = ["files.read_file".to_owned()].into();
    assert_eq!(held("row(\"files.read_file\")", &python), []);
    assert_eq!(
        held("\n\"use files.read_file\"", &python),
        [(2, "files.read_file")]
    );
}
