//! Every class of failure that an end-to-end suite sees a call fail with is one that the call's
//! documentation names, in every language (05 §6).
//!
//! The suites' sources are read: what they assert of a failure is written as one call, `refused`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sandbox::arms;
use sandbox::catalogue;
use vocab::failure::FailureClass;

/// Classes that any call may fail with, so that no page says so: what is not offered, and what is gg's
/// own fault.
const ANY: [FailureClass; 2] = [FailureClass::Unavailable, FailureClass::Other];

/// A call that a suite saw refused because a compaction waited, as any might have been.
const WAITED: (&str, FailureClass) = ("open_file", FailureClass::Refused);

/// Texts of a call in a source, up to the next bracket that closes: its literals, and names of
/// constants in place of them.
fn arguments(call: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let end = call.find(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth == 0 => return true,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        false
    });
    let call = &call[..end.unwrap_or(call.len())];
    call.split(',').map(str::trim).collect()
}

/// The value of a text: a literal's, or that of a binding of the same file.
fn value<'a>(source: &'a str, text: &'a str) -> Option<&'a str> {
    let literal = |text: &'a str| text.strip_prefix('"')?.split('"').next();
    literal(text).or_else(|| {
        let (_, bound) = source.split_once(&format!("let {text} = "))?;
        literal(bound)
    })
}

/// Reads the sources below a folder: by the key of an operation, the classes it was seen to fail with.
fn seen(folder: &Path, into: &mut BTreeMap<String, BTreeSet<FailureClass>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            seen(&path, into);
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        for call in source.split("refused(").skip(1) {
            // What is called otherwise is some other function of that name.
            let [out, _, class, operation, ..] = arguments(call)[..] else {
                continue;
            };
            let class = value(&source, class).and_then(|word| word.parse().ok());
            let (true, Some(class)) = (out.starts_with('&'), class) else {
                continue;
            };
            // One of a table of them, which this reader of texts does not follow.
            let Some(operation) = value(&source, operation) else {
                continue;
            };
            into.entry(operation.to_owned()).or_default().insert(class);
        }
    }
}

/// Whether a text names a class, as the contract spells it or as an enum does.
fn names(text: &str, class: FailureClass) -> bool {
    let word = class.as_str();
    text.contains(&format!("`{word}`"))
        || text.contains(&format!("`{}`", word.to_uppercase().replace('-', "_")))
}

#[test]
fn every_failure_that_is_seen_is_documented() {
    let mut failures = BTreeMap::new();
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e");
    seen(&suites, &mut failures);
    assert!(failures.len() > 15, "{failures:?}");
    let mut missing = Vec::new();
    for arm in arms::all() {
        let Ok(catalogue) = catalogue::of(arm.language()) else {
            continue;
        };
        for function in &catalogue.functions {
            let key = function.operation.rsplit('.').next().unwrap_or_default();
            let detail = function.detail.as_deref().unwrap_or_default();
            let classes = failures.get(key).into_iter().flatten();
            let of_its_own =
                classes.filter(|class| !ANY.contains(class) && (key, **class) != WAITED);
            for class in of_its_own.filter(|class| !names(detail, **class)) {
                missing.push(format!(
                    "{}: {} of {}",
                    arm.id(),
                    class.as_str(),
                    function.fqn
                ));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn a_class_is_read_out_of_a_call() {
    let source = "let one = \"a_key\";\nrefused(&out, \"x\", \"not-found\", one, &[\"a, b\"]);";
    let (_, call) = source.split_once("refused(").unwrap();
    let read = arguments(call);
    assert_eq!(value(source, read[2]), Some("not-found"));
    assert_eq!(value(source, read[3]), Some("a_key"));
    assert!(names("With `NOT_FOUND` or so", FailureClass::NotFound));
    assert!(!names("`not-found`", FailureClass::Conflict));
}
