//! The source gate: no arm starts a process or makes a directory but through `prepare`.

use std::path::Path;

/// What would go around it.
const FORBIDDEN: [&str; 5] = [
    "Command::new",
    "process::Command",
    "env::temp_dir",
    "TempDir",
    "tempdir_in",
];

/// Complaints about one source.
fn complaints(name: &str, source: &str) -> Vec<String> {
    let lines = source.lines().enumerate();
    lines
        .flat_map(|(at, line)| {
            let found = FORBIDDEN.iter().filter(move |word| line.contains(**word));
            found.map(move |word| format!("{name}:{}: `{word}`", at + 1))
        })
        .collect()
}

fn walk(folder: &Path, found: &mut Vec<String>, files: &mut usize) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            *files += 1;
            let source = std::fs::read_to_string(&path).unwrap();
            found.extend(complaints(&path.display().to_string(), &source));
        }
    }
}

#[test]
fn arms_reach_processes_and_directories_only_through_prepare() {
    let arms = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/arms");
    let (mut found, mut files) = (Vec::new(), 0);
    walk(&arms, &mut found, &mut files);
    assert_eq!(found, Vec::<String>::new());
    assert!(files > 5);
}

#[test]
fn each_way_around_is_found() {
    for word in FORBIDDEN {
        let source = format!("fn f() {{\n    std::{word}(x);\n}}\n");
        assert!(!complaints("a.rs", &source).is_empty(), "{word}");
    }
    assert_eq!(
        complaints("a.rs", "compile::run(program)"),
        Vec::<String>::new()
    );
}
