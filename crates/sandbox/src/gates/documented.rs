//! The gate of documented failures: the page of a call names each class it can fail with by what it asks
//! for, and no other (05 §6).
//!
//! That a call fails in no class beyond the table's is asked of every recorded run (`record::rules`).

use std::collections::BTreeSet;

use vocab::failure::FailureClass;
use vocab::language::ProgramLanguage;
use vocab::operations::Operation;

use super::fixture;
use crate::catalogue::{self, Catalogue, Function};

/// What a page's paragraph on failures begins with, whichever tool reflected it.
const FAILS: &str = "Fails: ";

/// The classes that a page names, as the contract spells them or as an enum does.
fn named(function: &Function) -> BTreeSet<&'static str> {
    let detail = function.detail.as_deref().unwrap_or_default();
    let told = detail.split_once(FAILS).map_or("", |(_, told)| told);
    let named = |class: &FailureClass| {
        let word = class.as_str();
        let shouted = word.to_uppercase().replace('-', "_");
        told.contains(&format!("`{word}`")) || told.contains(&format!("`{shouted}`"))
    };
    let classes = FailureClass::ALL.iter().filter(|class| named(class));
    classes.map(|class| class.as_str()).collect()
}

/// What pages of a catalogue say of failures that the table does not, and the other way round.
///
/// A second way into an operation, a method, passes arguments of its own making: it may name less.
fn complaints(catalogue: &Catalogue) -> Vec<String> {
    let mut complaints = Vec::new();
    for function in &catalogue.functions {
        let fqn = &function.fqn;
        let Some(row) = Operation::find(&function.operation) else {
            complaints.push(format!("`{fqn}` binds no operation"));
            continue;
        };
        let (named, able): (_, BTreeSet<_>) = (
            named(function),
            row.failures().map(FailureClass::as_str).collect(),
        );
        for class in named.difference(&able) {
            complaints.push(format!("`{fqn}` names `{class}`, in which it cannot fail"));
        }
        if function.alias_of.is_none() {
            for class in able.difference(&named) {
                complaints.push(format!("`{fqn}` does not name `{class}`"));
            }
        }
        if named.is_empty() != function.throws.is_empty() {
            complaints.push(format!("`{fqn}` fails in no class, or with no type"));
        }
    }
    complaints
}

#[test]
fn each_page_names_the_failures_of_its_call_and_no_others() {
    for language in ProgramLanguage::ALL {
        let found = complaints(catalogue::of(*language).unwrap());
        assert!(found.is_empty(), "{language}:\n{}", found.join("\n"));
    }
}

#[test]
fn a_page_that_names_one_failure_less_or_more_is_caught() {
    let whole = catalogue::of(ProgramLanguage::Javascript).unwrap();
    let damaged = |damage: &dyn Fn(&mut Function)| {
        let mut damaged = whole.clone();
        let functions = damaged.functions.iter_mut();
        let mut edit = functions.filter(|function| function.operation == "files.edit_file");
        damage(edit.next().unwrap());
        complaints(&damaged)
    };
    let worded = |from: &'static str, to: &'static str| {
        damaged(&move |function| {
            let detail = function.detail.as_deref().unwrap();
            function.detail = Some(detail.replace(from, to));
        })
    };
    assert_eq!(
        worded("`conflict`", "a conflict"),
        ["`gg.files.editFile` does not name `conflict`"]
    );
    assert_eq!(
        worded("`conflict`", "`conflict`, `limit-exceeded`"),
        ["`gg.files.editFile` names `limit-exceeded`, in which it cannot fail"]
    );
    assert_eq!(
        damaged(&|function| function.throws.clear()),
        ["`gg.files.editFile` fails in no class, or with no type"]
    );
    assert!(!complaints(&fixture()).is_empty(), "its pages name nothing");
}
