//! What is said to a model stands in a template, not in a string literal (R61).
//!
//! Two readings of the sources, tests and comments aside. In this crate, which words all of gg's
//! messages, no literal is prose but an error's, an invariant's or a call's result. In every crate,
//! no message to a model is built around a literal.

use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of this repository") {
        let path = entry.expect("a folder of this repository").path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|kind| kind == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// A source without its comments and without what follows the first test module.
fn product(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("sources are text");
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The string literals of a source, each with the code before it.
fn literals(source: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = source[from..].find('"').map(|at| from + at) {
        let mut end = start + 1;
        let bytes = source.as_bytes();
        // A quotation mark as a character or byte opens nothing.
        if bytes[start - 1] == b'\'' || bytes[start - 1] == b'\\' {
            from = end;
            continue;
        }
        while bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        found.push((source[..start].trim_end(), &source[start + 1..end]));
        from = end + 1;
    }
    found
}

fn is_prose(literal: &str) -> bool {
    literal
        .split_whitespace()
        .filter(|word| word.chars().all(char::is_alphabetic))
        .count()
        > 2
}

#[test]
fn prose_is_told_from_names_and_patterns() {
    let source = r#"let a = "read the \"file\" first"; b('"', "x-1"); expect("never comes here")"#;
    let found = literals(source);
    assert_eq!(found.len(), 3);
    assert!(is_prose(found[2].1) && !is_prose(found[1].1));
    assert!(found[2].0.ends_with("expect("));
}

#[test]
fn this_crate_holds_no_prose_but_of_errors_and_invariants() {
    let mut files = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut files,
    );
    assert!(files.len() > 10);
    // What a call answers is worded by code, in files of this name (R61).
    for path in files
        .into_iter()
        .filter(|path| !path.ends_with("answers.rs"))
    {
        let source = product(&path);
        for (before, literal) in literals(&source) {
            let told_to_people = ["expect(", "error(", "reason ="];
            // A call that fails answers with a sentence as well.
            let statement = before.rsplit(';').next().unwrap_or_default();
            let fails = ["Failure::", "faults.push("];
            if !told_to_people.iter().any(|end| before.ends_with(end))
                && !fails.iter().any(|start| statement.contains(start))
            {
                assert!(!is_prose(literal), "{}: {literal:?}", path.display());
            }
        }
    }
}

#[test]
fn no_crate_builds_a_message_around_a_literal() {
    let mut files = Vec::new();
    for folder in std::fs::read_dir(crates()).unwrap() {
        let folder = folder.unwrap().path().join("src");
        if folder.is_dir() {
            sources(&folder, &mut files);
        }
    }
    for path in files {
        let source = product(&path);
        for said in ["Message::User {", "Message::System {"] {
            for built in source.split(said).skip(1) {
                let fields = &built[..built.find('}').unwrap_or(built.len())];
                assert!(
                    !fields.contains('"'),
                    "{}: {said}{fields}}}",
                    path.display()
                );
            }
        }
    }
}
