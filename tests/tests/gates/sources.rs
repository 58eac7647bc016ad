//! No string literal of the host holds a name as a program writes it: what a call is called stands
//! on its declaration, and the host asks for it (05 §7).
//!
//! gg's own id of an operation, `files.read_file`, is no such name, though a language may spell it
//! the same. Exempt are what stands for a model and its replies, and tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sandbox::arms;
use sandbox::catalogue;
use vocab::operations::OPERATIONS;

/// Sources that play a model.
const EXEMPT: [&str; 2] = ["provider/src/mock", "gg/src/demo"];

/// Every `object.name` as some arm writes it, and not gg's own id.
fn pairs() -> BTreeSet<String> {
    let mut pairs = BTreeSet::new();
    for arm in arms::all() {
        for row in OPERATIONS {
            pairs.insert(arm.call(row));
            pairs.insert(arm.spelling(row));
        }
        if let Ok(catalogue) = catalogue::of(arm.language()) {
            pairs.extend(catalogue.functions.iter().map(|it| it.fqn.clone()));
        }
    }
    for row in OPERATIONS {
        pairs.remove(row.id);
    }
    pairs
}

/// The sources below a folder, but for those that are compiled for tests alone.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !EXEMPT.iter().any(|exempt| path.ends_with(exempt)))
        .collect();
    let mut tests = BTreeSet::from(["tests".to_owned()]);
    for path in paths
        .iter()
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
    {
        tests.extend(test_modules(&std::fs::read_to_string(path).unwrap()));
    }
    for path in paths {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        if stem.is_some_and(|stem| tests.contains(stem)) {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// The modules a source declares for tests alone.
fn test_modules(source: &str) -> impl Iterator<Item = String> {
    let declared = source.split("#[cfg(test)]").skip(1);
    declared.filter_map(|rest| {
        let line = rest.trim_start().lines().next()?;
        let name = line
            .trim_start_matches("pub(crate) ")
            .strip_prefix("mod ")?;
        Some(name.strip_suffix(';')?.to_owned())
    })
}

/// A source without its comments and without what follows the first test module.
fn product(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The string literals of a source.
fn literals(source: &str) -> Vec<&str> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = source[from..].find('"').map(|at| from + at) {
        let mut end = start + 1;
        // A quotation mark as a character or byte opens nothing.
        if start > 0 && (bytes[start - 1] == b'\'' || bytes[start - 1] == b'\\') {
            from = end;
            continue;
        }
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        found.push(source.get(start + 1..end).unwrap_or_default());
        from = end + 1;
    }
    found
}

/// The pairs that a source's literals hold.
fn judge<'a>(pairs: &'a BTreeSet<String>, source: &str) -> Vec<&'a str> {
    let source = product(source);
    let literals = literals(&source);
    let held = |pair: &&String| {
        literals.iter().any(|literal| {
            let mut places = literal.match_indices(pair.as_str());
            places.any(|(at, _)| {
                let continues = |c: char| c.is_alphanumeric() || c == '_';
                !literal[..at].ends_with(continues)
                    && !literal[at + pair.len()..].starts_with(continues)
            })
        })
    };
    pairs.iter().filter(held).map(String::as_str).collect()
}

#[test]
fn no_literal_of_the_host_spells_a_call() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(crates).unwrap() {
        let folder = folder.unwrap().path().join("src");
        if folder.is_dir() {
            sources(&folder, &mut files);
        }
    }
    assert!(files.len() > 100);
    let pairs = pairs();
    for path in files {
        let source = std::fs::read_to_string(&path).unwrap();
        let found = judge(&pairs, &source);
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}

#[test]
fn a_source_that_spells_one_is_caught() {
    let pairs = pairs();
    for (source, pair) in [
        (r#"let call = "views.openText";"#, "views.openText"),
        (
            r#"format!("{}: gg.files.read_file({path})", 1)"#,
            "gg.files.read_file",
        ),
        (r#"say('"', "use files.readFile first")"#, "files.readFile"),
    ] {
        assert!(judge(&pairs, source).contains(&pair), "{source}");
    }
    for fine in [
        r#"find("files.read_file")"#,
        "// \"views.openText\"\nlet a = 1;",
        "let a = 1;\n#[cfg(test)]\nmod tests { const A: &str = \"views.openText\"; }",
        r#"let a = "my_views.openTexts";"#,
    ] {
        assert_eq!(judge(&pairs, fine), [""; 0], "{fine}");
    }
}
