//! What a search finds, in which order, and on which page.

use super::*;

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
fn a_question_or_a_name_of_any_length_is_refused_and_never_shown_whole() {
    let catalogue = fixture();
    let docs = Documentation::new(&catalogue, &everything(EndingRole::Standard), &[]);
    let long = "x".repeat(1_000_000);
    let modules = Query {
        modules: vec!["files".to_owned(); 100_000],
        ..Query::default()
    };
    let of_type = Query {
        of_type: Some(long.clone()),
        ..Query::default()
    };
    for query in [words(&long), modules, of_type] {
        let refused = docs.search(&query).unwrap_err();
        assert_eq!(refused.class, FailureClass::InvalidArgument);
        assert!(refused.message.contains("4,096"), "{refused}");
    }
    let refused = docs.open(&long, PageTypes::ALL).unwrap_err();
    assert_eq!(refused.class, FailureClass::InvalidArgument);
    let unknown = docs.open(&long[..4_000], PageTypes::ALL).unwrap_err();
    assert_eq!(unknown.class, FailureClass::NotFound);
    assert!(unknown.message.len() < 200, "{unknown}");
    let shown = ask(
        &everything(EndingRole::Standard),
        words(&format!("read\n----\n{}", "file ".repeat(500))),
    );
    let first = shown.text.lines().next().unwrap();
    assert!(
        first.len() < 200 && first.contains("read\\n----"),
        "{first}"
    );
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
