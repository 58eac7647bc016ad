//! What can be found is what can be called, and all that is found opens.

mod opening;
mod properties;
mod searching;

use std::collections::BTreeSet;

use vocab::capability::CapabilityId;
use vocab::failure::FailureClass;
use vocab::grant::{Grant, HeldMemories, Offer, Servicing};
use vocab::knowledge::MemoryStrategy;
use vocab::language::ProgramLanguage;
use vocab::operations::{EndingRole, OPERATIONS};

use super::*;
use crate::catalogue;
use crate::contract::DocHit;
use crate::fakes::{everything, nothing};
use crate::gates::fixture;
use crate::prepare::Export;

fn loaded() -> Vec<Loaded> {
    let export = |name: &str, function, returns: &[&str]| Export {
        name: name.to_owned(),
        function,
        declaration: format!("{name} of its own"),
        comment: format!("Says what {name} is.\nAnd more."),
        returns: returns.iter().map(|&name| name.to_owned()).collect(),
        parameters: Vec::new(),
    };
    vec![Loaded {
        key: "table_tools".to_owned(),
        import: "fetch table_tools".to_owned(),
        about: "Skill `table-tools`.".to_owned(),
        exports: vec![export("sum", true, &["Row"]), export("Row", false, &[])],
        names: vec!["table_tools::sum".to_owned(), "table_tools::Row".to_owned()],
    }]
}

fn ask(offer: &Offer, query: Query) -> Found {
    let catalogue = fixture();
    let loaded = loaded();
    Documentation::new(&catalogue, offer, &loaded)
        .search(&query)
        .unwrap()
}

fn keys(found: &Found) -> Vec<&str> {
    found
        .answer
        .hits
        .iter()
        .map(|hit| hit.key.as_str())
        .collect()
}

fn words(text: &str) -> Query {
    Query {
        query: Some(text.to_owned()),
        ..Query::default()
    }
}
