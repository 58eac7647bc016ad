//! Whatever an agent is offered: what it finds opens, and what it is offered is found.

use proptest::prelude::*;

use super::*;

prop_compose! {
    fn offers()(
        capabilities in prop::collection::btree_set(0..CapabilityId::ALL.len(), 0..CapabilityId::ALL.len()),
        rows in prop::collection::btree_set(0..OPERATIONS.len(), 0..OPERATIONS.len()),
        review in any::<bool>(),
        leaves_state in any::<bool>(),
        flags in any::<[bool; 7]>(),
        strategy in prop::option::of((0..MemoryStrategy::ALL.len(), any::<bool>())),
    ) -> Offer {
        Offer {
            grant: Grant {
                capabilities: capabilities.into_iter().map(|at| CapabilityId::ALL[at]).collect(),
                operations: rows.into_iter().map(|at| OPERATIONS[at].id).collect(),
                role: if review { EndingRole::Review } else { EndingRole::Standard },
                leaves_state,
            },
            servicing: Servicing {
                memories: strategy.map(|(at, writable)| HeldMemories {
                    strategy: MemoryStrategy::ALL[at],
                    writable,
                }),
                skills: flags[0],
                compacts: flags[1],
                subagents: flags[2],
                children: flags[3],
                implementers: flags[4],
                driven: flags[5],
                scripted: flags[6],
            },
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_hit_opens_and_none_is_ungranted(
        offer in offers(),
        code in any::<bool>(),
        query in prop::option::of("(do|read|file|answer|e|sum|what) ?(file|memory|a)?"),
        module in prop::option::of(0..13_usize),
        kind in prop::option::of(0..3_usize),
        arm in 0..=ProgramLanguage::ALL.len(),
    ) {
        let fixture = fixture();
        let language = ProgramLanguage::ALL.get(arm);
        let catalogue = language.map_or(&fixture, |language| catalogue::of(*language).unwrap());
        let loaded = if code { loaded() } else { Vec::new() };
        let docs = Documentation::new(catalogue, &offer, &loaded);
        let query = Query {
            query,
            modules: module.map(|at| catalogue.modules[at].id.clone()).into_iter().collect(),
            kind: kind.map(|at| [EntryKind::Module, EntryKind::Function, EntryKind::Type][at]),
            limit: Some(MOST_HITS),
            ..Query::default()
        };
        let Ok(found) = docs.search(&query) else {
            prop_assert!(query.query.is_none() && query.modules.is_empty() && query.kind.is_none());
            return Ok(());
        };
        for hit in &found.answer.hits {
            prop_assert!(found.text.contains(&hit.key));
            let pages = docs.open(&hit.key, PageTypes::ALL);
            prop_assert!(pages.is_ok(), "{} does not open", hit.key);
            prop_assert_eq!(&pages.unwrap()[0].key, &hit.key);
            let bound = catalogue.functions.iter().find(|entry| entry.fqn == hit.key);
            if let Some(bound) = bound {
                let row = Operation::find(&bound.operation).unwrap();
                prop_assert!(offer.offers(row), "{} is not granted", hit.key);
            }
            if hit.kind == EntryKind::Type && !hit.key.starts_with("table_tools") {
                let granted = docs.entries().iter().any(|entry| match entry {
                    Entry::Function(function) => {
                        let all = function.returns.iter().chain(&function.types);
                        all.chain(&function.receiver).any(|fqn| *fqn == hit.key)
                    }
                    _ => false,
                });
                prop_assert!(granted, "{} is of no call that is granted", hit.key);
            }
        }
    }

    #[test]
    fn all_that_is_offered_is_found_and_opens_by_its_full_name(
        offer in offers(),
        arm in 0..=ProgramLanguage::ALL.len(),
    ) {
        let fixture = fixture();
        let language = ProgramLanguage::ALL.get(arm);
        let catalogue = language.map_or(&fixture, |language| catalogue::of(*language).unwrap());
        let docs = Documentation::new(catalogue, &offer, &[]);
        for row in OPERATIONS {
            for entry in catalogue.bindings(row.id) {
                let found = docs.entries().iter().any(|one| one.key() == entry.fqn);
                prop_assert_eq!(found, offer.offers(row), "{}", &entry.fqn);
                prop_assert_eq!(docs.open(&entry.fqn, PageTypes::ALL).is_ok(), offer.offers(row));
            }
        }
        for name in docs.suggest("read") {
            prop_assert!(docs.open(name, PageTypes::default()).is_ok());
        }
    }
}
