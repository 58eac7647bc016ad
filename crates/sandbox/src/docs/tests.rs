//! What can be found is what can be called, and all that is found opens.

use std::collections::BTreeSet;

use proptest::prelude::*;
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

#[test]
fn names_come_before_signatures_and_these_before_prose() {
    let found = ask(&everything(EndingRole::Standard), words("read file"));
    let first: Vec<_> = keys(&found).into_iter().take(2).collect();
    assert_eq!(
        first,
        ["fx::files::DoReadFile", "fx::files::DoReadTextFile"]
    );
    // Every entry that holds both words stands before any that holds one.
    let both = |hit: &&DocHit| {
        let key = hit.key.to_lowercase();
        key.contains("read") && key.contains("file")
    };
    let hits = &found.answer.hits;
    let last_both = hits.iter().rposition(|hit| both(&hit)).unwrap();
    assert!(hits[..=last_both].iter().all(|hit| both(&hit)), "{hits:?}");
}

#[test]
fn a_question_that_asks_nothing_is_refused() {
    let catalogue = fixture();
    let docs = Documentation::new(&catalogue, &everything(EndingRole::Standard), &[]);
    for query in [
        Query::default(),
        words("  "),
        words("?!"),
        Query {
            limit: Some(0),
            ..words("read")
        },
        Query {
            of_type: Some(" ".to_owned()),
            ..Query::default()
        },
    ] {
        let failure = docs.search(&query).unwrap_err();
        assert_eq!(failure.class, FailureClass::InvalidArgument, "{query:?}");
    }
}

#[test]
fn modules_alone_are_a_directory_and_name_their_paths() {
    let query = Query {
        modules: vec!["FILES".to_owned(), "fx::docs".to_owned()],
        ..Query::default()
    };
    let found = ask(&everything(EndingRole::Standard), query);
    assert_eq!(
        found.listed,
        Some(vec!["fx::files".to_owned(), "fx::docs".to_owned()])
    );
    let modules: BTreeSet<_> = found
        .answer
        .hits
        .iter()
        .map(|hit| hit.module.as_str())
        .collect();
    assert_eq!(modules, BTreeSet::from(["docs", "files"]));
    insta::assert_snapshot!(found.text, @r#"
    Search: modules FILES, fx::docs
    1-20 of 20

    Modules:
      fx::docs: What docs is about.
      fx::files: What files is about.

    Functions:
      fx::docs::DoClose: Does what close is for.
      fx::docs::DoCloseAll: Does what close all is for.
      fx::docs::DoSearch: Does what search is for.
      fx::files::DoEditFile: Does what edit file is for.
      fx::files::DoListDir: Does what list dir is for.
      fx::files::DoReadFile: Does what read file is for.
      fx::files::DoReadTextFile: Does what read text file is for.
      fx::files::DoSearch: Does what search is for.
      fx::files::DoWriteFile: Does what write file is for.

    Types:
      fx::docs::DoCloseAllAnswer: What came of it.
      fx::docs::DoCloseAnswer: What came of it.
      fx::docs::DoSearchAnswer: What came of it.
      fx::files::DoEditFileAnswer: What came of it.
      fx::files::DoListDirAnswer: What came of it.
      fx::files::DoReadFileAnswer: What came of it.
      fx::files::DoReadTextFileAnswer: What came of it.
      fx::files::DoSearchAnswer: What came of it.
      fx::files::DoWriteFileAnswer: What came of it.
    "#);
}

#[test]
fn a_word_is_found_where_one_begins_and_by_its_plural() {
    let offer = everything(EndingRole::Standard);
    let names = |text: &str| {
        let query = Query {
            kind: Some(EntryKind::Function),
            ..words(text)
        };
        let found = ask(&offer, query);
        found
            .answer
            .hits
            .into_iter()
            .map(|hit| hit.name)
            .collect::<Vec<_>>()
    };
    // It ends `DoArchiveThread`, and begins none of its words.
    assert!(!names("read").contains(&"DoArchiveThread".to_owned()));
    assert_eq!(names("readtext"), ["DoReadTextFile"]);
    assert_eq!(names("threads"), ["DoArchiveThread"]);
}

#[test]
fn a_module_of_another_name_is_found_under_it() {
    let query = |module: &str| Query {
        modules: vec![module.to_owned()],
        kind: Some(EntryKind::Function),
        ..Query::default()
    };
    let offer = everything(EndingRole::Standard);
    assert_eq!(
        keys(&ask(&offer, query("console"))),
        ["fx::console::DoShell"]
    );
    assert_eq!(keys(&ask(&offer, query("shell"))), [""; 0]);
    assert_eq!(
        keys(&ask(&offer, query("table_tools"))),
        ["table_tools::sum"]
    );
}

#[test]
fn a_type_finds_itself_and_what_is_written_with_it() {
    let query = Query {
        of_type: Some("DoSearchMemoriesAnswer".to_owned()),
        ..Query::default()
    };
    let found = ask(&everything(EndingRole::Standard), query);
    assert_eq!(
        keys(&found),
        [
            "fx::memories::DoSearchMemories",
            "fx::memories::DoSearchMemoriesAnswer::DoOpen",
            "fx::memories::DoSearchMemoriesAnswer",
        ]
    );
}

#[test]
fn pages_of_hits_lie_end_to_end() {
    let offer = everything(EndingRole::Standard);
    let whole = ask(
        &offer,
        Query {
            limit: Some(1000),
            ..words("do")
        },
    );
    assert_eq!(whole.answer.hits.len(), MOST_HITS as usize);
    assert!(whole.answer.total > MOST_HITS);
    assert_eq!(
        ask(&offer, words("do")).answer.hits.len(),
        DEFAULT_HITS as usize
    );
    let mut joined = Vec::new();
    for offset in (0..100).step_by(7) {
        let page = ask(
            &offer,
            Query {
                offset,
                limit: Some(7),
                ..words("do")
            },
        );
        joined.extend(page.answer.hits);
    }
    joined.truncate(100);
    assert_eq!(joined, whole.answer.hits);
    let past = ask(
        &offer,
        Query {
            offset: 9999,
            ..words("do")
        },
    );
    assert_eq!(keys(&past), [""; 0]);
    assert!(past.text.contains("None of"), "{}", past.text);
}

#[test]
fn failure_types_open_and_are_not_found() {
    let catalogue = fixture();
    let docs = Documentation::new(&catalogue, &nothing(EndingRole::Standard), &[]);
    assert_eq!(docs.search(&words("trouble")).unwrap().answer.total, 0);
    for name in ["Trouble", "fx::core::Reason"] {
        assert_eq!(
            docs.open(name, PageTypes::default()).unwrap().len(),
            1,
            "{name}"
        );
    }
}

#[test]
fn a_page_brings_its_types_along_as_chosen() {
    let catalogue = fixture();
    let docs = Documentation::new(&catalogue, &everything(EndingRole::Standard), &[]);
    let opened = |types| -> Vec<String> {
        let pages = docs.open("DoCreateEpic", types).unwrap();
        pages.into_iter().map(|page| page.key).collect()
    };
    let function = "fx::board::DoCreateEpic";
    assert_eq!(opened(PageTypes::default()), [function]);
    let returned = PageTypes {
        returned: true,
        ..PageTypes::default()
    };
    assert_eq!(
        opened(returned),
        [function, "fx::board::DoCreateEpicAnswer"]
    );
    assert_eq!(
        opened(PageTypes::ALL),
        [
            function,
            "fx::board::DoCreateEpicAnswer",
            "fx::board::DoCreateEpicDraft",
            "fx::core::Trouble",
        ]
    );
    let loaded = loaded();
    let docs = Documentation::new(&catalogue, &nothing(EndingRole::Review), &loaded);
    let pages = docs.open("sum", returned).unwrap();
    let keys: Vec<_> = pages.iter().map(|page| page.key.as_str()).collect();
    assert_eq!(keys, ["table_tools::sum", "table_tools::Row"]);
    assert!(pages.iter().all(|page| page.revisable));
}

#[test]
fn a_withheld_module_is_not_found_and_a_bare_one_is() {
    let catalogue = fixture();
    let docs = Documentation::new(&catalogue, &nothing(EndingRole::Standard), &[]);
    let refused = docs.open("fx::files", PageTypes::ALL).unwrap_err();
    assert_eq!(refused.class, FailureClass::NotFound);
    assert!(docs.open("fx::core", PageTypes::ALL).is_ok());
    assert!(docs.open("fx::views", PageTypes::ALL).is_ok());
    let blank = docs.open(" ", PageTypes::ALL).unwrap_err();
    assert_eq!(blank.class, FailureClass::InvalidArgument);
}

#[test]
fn a_bare_name_of_several_entries_is_told_apart() {
    let catalogue = fixture();
    let everything = everything(EndingRole::Standard);
    let docs = Documentation::new(&catalogue, &everything, &[]);
    let failure = docs.open("DoSearch", PageTypes::ALL).unwrap_err();
    assert_eq!(failure.class, FailureClass::Conflict);
    assert_eq!(
        failure.message,
        "`DoSearch` is the name of several: fx::files::DoSearch, fx::docs::DoSearch"
    );
    let opened = docs.open("files::DoSearch", PageTypes::default()).unwrap();
    assert_eq!(opened[0].key, "fx::files::DoSearch");
    let little = Documentation::new(&catalogue, &nothing(EndingRole::Standard), &[]);
    let opened = little.open("DoSearch", PageTypes::default()).unwrap();
    assert_eq!(opened[0].key, "fx::docs::DoSearch");
}

#[test]
fn a_wrong_name_is_answered_by_the_nearest_of_the_best_tier() {
    let catalogue = fixture();
    let offer = everything(EndingRole::Standard);
    let docs = Documentation::new(&catalogue, &offer, &[]);
    // gg's own key, in whatever spelling.
    assert_eq!(
        docs.suggest("files.readTextFile"),
        ["fx::files::DoReadTextFile"]
    );
    assert_eq!(
        docs.suggest("search"),
        ["fx::docs::DoSearch", "fx::files::DoSearch"]
    );
    // A stem: no key is called so.
    assert_eq!(docs.suggest("DoReadFiles"), ["fx::files::DoReadFile"]);
    // A typo.
    assert_eq!(docs.suggest("DoEditFlie"), ["fx::files::DoEditFile"]);
    assert_eq!(docs.suggest("qqqqqq"), [""; 0]);
    let failure = docs.open("doEditFlie", PageTypes::ALL).unwrap_err();
    assert_eq!(
        failure.message,
        "there is no documentation of `doEditFlie`\n  near to it: fx::files::DoEditFile"
    );
    let failure = docs.open("qqqqqq", PageTypes::ALL).unwrap_err();
    assert_eq!(failure.message, "there is no documentation of `qqqqqq`");
}

#[test]
fn pages_show_all_a_caller_needs() {
    let mut catalogue = fixture();
    let read = catalogue
        .functions
        .iter_mut()
        .find(|entry| entry.name == "DoReadFile")
        .unwrap();
    let argument = &mut read.signatures[0].arguments[0];
    argument.fields = Some(vec![crate::catalogue::Argument {
        name: "first".to_owned(),
        of: "number".to_owned(),
        optional: true,
        passing: crate::catalogue::Passing::Name,
        default: Some("1".to_owned()),
        description: "Where to begin,\ncounted from 1.".to_owned(),
        fields: None,
    }]);
    let offer = everything(EndingRole::Standard);
    let loaded = loaded();
    let docs = Documentation::new(&catalogue, &offer, &loaded);
    let names = [
        "DoReadFile",
        "fx::shell",
        "fx::console",
        "DoCreateIssueAnswer",
        "table_tools",
        "sum",
    ];
    let pages: Vec<_> = names
        .into_iter()
        .flat_map(|name| docs.open(name, PageTypes::default()).unwrap())
        .map(|page| format!("== {}\n{}", page.key, page.text))
        .collect();
    insta::assert_snapshot!(pages.join("\n"), @r#"
    == fx::files::DoReadFile
    DoReadFile(what text) -> DoReadFileAnswer
      what: object - What it is about.
        first: number = 1 (passed by name) - Where to begin, counted from 1.

    fx::files
    fetch fx::files

    Does what read file is for.

    The world is as it was, but for this.
    == fx::console
    What console is about.

    fetch fx::console

    Functions:
      fx::console::DoShell: Does what shell is for.
    == fx::board::DoCreateIssueAnswer
    record DoCreateIssueAnswer

    fx::board
    fetch fx::board

    What came of it.

    Members:
      value: What it holds.

    Functions:
      DoWaitForIssue() -> DoWaitForIssueAnswer: Does what wait for issue is for.
    == table_tools
    Skill `table-tools`.

    fetch table_tools

    Exports:
      table_tools::sum: Says what sum is.
      table_tools::Row: Says what Row is.
    == table_tools::sum
    sum of its own

    table_tools
    fetch table_tools

    Says what sum is.
    And more.
    "#);
}

#[test]
fn a_call_is_documented_by_any_of_its_names() {
    let catalogue = fixture();
    let row = Operation::find("memories.read_memory").unwrap();
    let standing = |keys: &[&str]| documented(&catalogue, row, keys.iter().copied());
    assert!(!standing(&[]));
    assert!(!standing(&[
        "fx::memories",
        "fx::memories::DoSearchMemories"
    ]));
    assert!(standing(&["fx::memories::DoReadMemory"]));
    assert!(standing(&["fx::memories::DoSearchMemoriesAnswer::DoOpen"]));
    let ending = Operation::find("session.finish").unwrap();
    assert!(documented(&catalogue, ending, []));
}

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
