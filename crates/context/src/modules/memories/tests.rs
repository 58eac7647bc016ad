//! Calls on a store, and what holds for its holders and limits after any of them.

use vocab::failure::{Failure, FailureClass};
use vocab::ids::AgentId;
use vocab::knowledge::{MemoryLimits, MemoryStrategy};
use vocab::language::ProgramLanguage;
use vocab::tools::ToolName;

use super::*;
use crate::modules::Module;

mod properties;

use MemoryStrategy::{KeywordSearch, Markdown, Scratchpad};

const NO_LIMITS: MemoryLimits = MemoryLimits {
    max_count: 0,
    max_len_per_memory: 0,
    max_total_len: 0,
    max_len_index: 0,
    max_len_description: 0,
    max_results: 0,
};

fn agent(name: &str) -> AgentId {
    AgentId::from(name)
}

fn store(strategy: MemoryStrategy, limits: MemoryLimits) -> MemoryStore {
    let mut store = MemoryStore::new(MemoryPolicy { strategy, limits });
    store.attach(agent("a"), true);
    store
}

/// Reads and carries out a call as a model makes it.
fn call_as(
    store: &mut MemoryStore,
    holder: &str,
    tool: ToolName,
    arguments: &str,
) -> Result<String, Failure> {
    let call = parse(tool, arguments, store.policy().strategy)?;
    Ok(store.apply(&agent(holder), call)?.as_text())
}

fn call(store: &mut MemoryStore, tool: ToolName, arguments: &str) -> Result<String, Failure> {
    call_as(store, "a", tool, arguments)
}

fn create(name: &str, body: &str) -> MemoryCall {
    MemoryCall::Create {
        name: name.to_owned(),
        description: Some(format!("about {name}")),
        body: body.to_owned(),
        code: MemoryCode::default(),
    }
}

fn replace(name: &str, body: &str) -> MemoryCall {
    MemoryCall::Replace {
        name: name.to_owned(),
        description: Some(format!("about {name}")),
        body: body.to_owned(),
        code: None,
    }
}

fn delete(name: &str) -> MemoryCall {
    MemoryCall::Delete {
        name: name.to_owned(),
    }
}

fn written(answer: MemoryAnswer) -> Written {
    match answer {
        MemoryAnswer::Written(written) => written,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(store: &mut MemoryStore, call: MemoryCall, class: FailureClass, said: &str) {
    let before = store.clone();
    let failure = Failure::from(store.apply(&agent("a"), call).unwrap_err());
    assert_eq!((failure.class, failure.message.as_str()), (class, said));
    assert_eq!(*store, before, "a refused call changes nothing");
}

#[test]
fn every_call_of_every_strategy_says_what_became_of_it() {
    use ToolName as T;
    let entry = r#"{"name":"x","description":"An x","body":"one\ntwo"}"#;
    let mut pad = store(
        Scratchpad,
        MemoryLimits {
            max_count: 64,
            max_total_len: 100,
            ..NO_LIMITS
        },
    );
    let said = [
        (T::WriteMemory, entry),
        (
            T::UpdateMemory,
            r#"{"name":"x","description":"Another","body":"three"}"#,
        ),
        (T::DeleteMemory, r#"{"name":"x"}"#),
    ]
    .map(|(tool, arguments)| call(&mut pad, tool, arguments).unwrap());
    assert_eq!(
        said,
        [
            "`x` created; 1 of 64 memories kept, 7 of 100 characters in all",
            "`x` replaced; 1 of 64 memories kept, 5 of 100 characters in all",
            "`x` deleted; 0 of 64 memories kept, 0 of 100 characters in all",
        ]
    );
    let mut index = store(Markdown, NO_LIMITS);
    let said = [
        (T::CreateMemory, entry),
        (
            T::EditMemory,
            r#"{"name":"x","oldString":"two","newString":"2"}"#,
        ),
        (T::ReadMemory, r#"{"name":"x"}"#),
    ]
    .map(|(tool, arguments)| call(&mut index, tool, arguments).unwrap());
    assert_eq!(
        said,
        [
            "`x` created; 1 memory kept, 12 characters of index",
            "`x` edited; 1 memory kept, 12 characters of index",
            "one\n2",
        ]
    );
    let mut found = store(KeywordSearch, NO_LIMITS);
    let said = [
        (T::CreateMemory, r#"{"name":"x","body":"one\ntwo"}"#),
        (
            T::CreateMemory,
            r#"{"name":"y","description":"A y","body":"two two"}"#,
        ),
        (T::SearchMemories, r#"{"keywords":["TWO"]}"#),
        (T::SearchMemories, r#"{"keywords":["three"]}"#),
    ]
    .map(|(tool, arguments)| call(&mut found, tool, arguments).unwrap());
    assert_eq!(
        said,
        [
            "`x` created; 1 memory kept",
            "`y` created; 2 memories kept",
            "- `y` — A y\n  two two\n- `x`\n  one two",
            "no memory holds any of the keywords",
        ]
    );
}

#[test]
fn arguments_are_judged_by_the_strategy() {
    use ToolName as T;
    let fault = |tool, arguments: &str, strategy| {
        let failure = parse(tool, arguments, strategy).unwrap_err();
        (failure.class, failure.message)
    };
    let (class, said) = fault(
        T::CreateMemory,
        r#"{"name":"a b","body":" ","code":"x"}"#,
        Markdown,
    );
    assert_eq!(class, FailureClass::InvalidArgument);
    assert!(said.contains("`name` is \"a b\""), "{said}");
    assert!(said.contains("`description` is missing; `body` is blank; `code` is no argument"));
    assert!(parse(T::CreateMemory, r#"{"name":"a","body":"x"}"#, KeywordSearch).is_ok());
    let (_, said) = fault(
        T::CreateMemory,
        r#"{"name":"a","description":"x\ny","body":"z"}"#,
        KeywordSearch,
    );
    assert!(said.starts_with("`description` has a line break"), "{said}");
    for (arguments, expected) in [
        ("{}", "`keywords` is missing;"),
        (r#"{"keywords":[]}"#, "`keywords` is empty;"),
        (r#"{"keywords":["x"," "]}"#, "`keywords[1]` is blank;"),
        (r#"{"keywords":"x"}"#, "`keywords` is \"x\";"),
    ] {
        let (class, said) = fault(T::SearchMemories, arguments, KeywordSearch);
        assert_eq!(class, FailureClass::InvalidArgument);
        assert!(said.starts_with(expected), "{said}");
    }
    for (tool, strategy) in [
        (T::WriteMemory, Markdown),
        (T::CreateMemory, Scratchpad),
        (T::SearchMemories, Markdown),
        (T::Shell, Markdown),
    ] {
        assert_eq!(fault(tool, "{}", strategy).0, FailureClass::Unavailable);
    }
}

#[test]
fn names_are_new_where_they_are_made_and_known_where_they_are_used() {
    let mut store = store(Markdown, NO_LIMITS);
    refused(
        &mut store,
        delete("x"),
        FailureClass::NotFound,
        "there is no memory `x`; none is kept",
    );
    store.apply(&agent("a"), create("x", "1")).unwrap();
    refused(
        &mut store,
        create("x", "2"),
        FailureClass::Conflict,
        "there is a memory `x` already; choose another name, or change that one",
    );
    refused(
        &mut store,
        replace("y", "2"),
        FailureClass::NotFound,
        "there is no memory `y`; there are `x`",
    );
}

#[test]
fn an_edit_finds_its_one_place() {
    let mut store = store(Markdown, NO_LIMITS);
    store.apply(&agent("a"), create("x", "aaa b")).unwrap();
    let edit = |old: &str, new: &str| MemoryCall::Edit {
        name: "x".to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    refused(
        &mut store,
        edit("c", "d"),
        FailureClass::NotFound,
        "`oldString` does not occur in memory `x`",
    );
    refused(
        &mut store,
        edit("aa", "d"),
        FailureClass::Conflict,
        "`oldString` occurs 2 times in memory `x`; give more of the text around the place you mean",
    );
    refused(
        &mut store,
        edit("aaa b", " \n"),
        FailureClass::InvalidArgument,
        "that would leave memory `x` blank; delete it instead",
    );
    store.apply(&agent("a"), edit("a b", "ä")).unwrap();
    let (_, memory) = store.memories().next().unwrap();
    assert_eq!((&*memory.body, memory.chars), ("aaä", 3));
}

#[test]
fn each_limit_is_named_by_what_is_over_it_the_description_first() {
    let limits = MemoryLimits {
        max_count: 2,
        max_len_per_memory: 4,
        max_total_len: 6,
        max_len_index: 30,
        max_len_description: 8,
        max_results: 1,
    };
    let mut pad = store(Scratchpad, limits);
    let entry = |name: &str, description: &str, body: &str| MemoryCall::Create {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        body: body.to_owned(),
        code: MemoryCode::default(),
    };
    let over = FailureClass::LimitExceeded;
    refused(
        &mut pad,
        entry("x", "漢字漢字漢字漢字漢", "12345"),
        over,
        "the description has 9 characters; it may have 8",
    );
    refused(
        &mut pad,
        entry("x", "漢字漢字漢字漢字", "12345"),
        over,
        "the body would have 5 characters; a memory's may have 4",
    );
    pad.apply(&agent("a"), entry("x", "x", "漢字漢字")).unwrap();
    refused(
        &mut pad,
        entry("y", "y", "123"),
        over,
        "all bodies together would have 7 characters; they may have 6: shorten this one, or delete \
         one first",
    );
    pad.apply(&agent("a"), entry("y", "y", "12")).unwrap();
    refused(
        &mut pad,
        entry("z", "z", "1"),
        over,
        "2 memories are kept, of 2 that may be; delete one first",
    );

    let mut index = store(Markdown, limits);
    for name in ["x", "y"] {
        index.apply(&agent("a"), entry(name, "12345", "1")).unwrap();
    }
    assert_eq!(index.usage().index_chars, Some(27));
    refused(
        &mut index,
        entry("z", "1", "1"),
        over,
        "the index would have 37 characters; it may have 30: delete a memory first",
    );
    // What does not apply to a strategy binds nothing.
    assert_eq!(index.usage().limits.max_count, 0);
    let mut found = store(KeywordSearch, limits);
    for name in ["x", "y"] {
        found
            .apply(&agent("a"), entry(name, "12345678", "1234"))
            .unwrap();
    }
    let search = MemoryCall::Search {
        keywords: vec!["1".to_owned()],
    };
    match found.apply(&agent("a"), search) {
        Ok(MemoryAnswer::Hits(hits)) => assert_eq!(hits.len(), 1),
        other => panic!("{other:?}"),
    }
}

#[test]
fn hits_are_ordered_by_keywords_then_occurrences_then_name() {
    let mut store = store(KeywordSearch, NO_LIMITS);
    for (name, body) in [
        ("b", "red red red red"),
        ("c", "Red blue"),
        ("a", "BLUE red"),
        ("d", "red"),
        ("red", "nothing"),
        ("e", "green"),
    ] {
        let call = MemoryCall::Create {
            name: name.to_owned(),
            description: None,
            body: body.to_owned(),
            code: MemoryCode::default(),
        };
        store.apply(&agent("a"), call).unwrap();
    }
    let search = MemoryCall::Search {
        keywords: ["red", " RED ", "blue"].map(str::to_owned).to_vec(),
    };
    let Ok(MemoryAnswer::Hits(hits)) = store.apply(&agent("a"), search) else {
        panic!("a search finds");
    };
    let found: Vec<_> = hits
        .iter()
        .map(|hit| (&*hit.name, hit.matched, hit.occurrences))
        .collect();
    assert_eq!(
        found,
        [
            ("a", 2, 2),
            ("c", 2, 2),
            ("b", 1, 4),
            ("d", 1, 1),
            ("red", 1, 1)
        ]
    );
}

#[test]
fn revisions_go_on_over_a_deletion_and_peaks_never_fall() {
    let mut store = store(Scratchpad, NO_LIMITS);
    let mut numbers = Vec::new();
    for call in [
        create("x", "1\n2"),
        replace("x", "3"),
        delete("x"),
        create("x", "4"),
    ] {
        let revision = written(store.apply(&agent("a"), call).unwrap()).revision;
        numbers.push((revision.number, revision.text.as_deref().map(str::to_owned)));
    }
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        numbers,
        [(1, text("1\n2")), (2, text("3")), (3, None), (4, text("4"))]
    );
    let state = store.state(&agent("a"));
    let totals = |count, chars, lines| MemoryTotals {
        count,
        chars,
        lines,
    };
    assert_eq!(state.totals, totals(1, 1, 1));
    assert_eq!(state.peaks, totals(1, 3, 2));
    let next = store.copy();
    assert_eq!(next.state(&agent("a")).peaks, state.peaks);
}

#[test]
fn a_holder_that_may_not_write_is_told_what_it_has() {
    for (strategy, said) in [
        (Scratchpad, "they stand in your window"),
        (Markdown, "you have `read_memory`"),
        (
            KeywordSearch,
            "you have `read_memory` and `search_memories`",
        ),
    ] {
        let mut store = store(strategy, NO_LIMITS);
        store.attach(agent("reader"), false);
        store.apply(&agent("a"), create("x", "1")).unwrap();
        let failure = Failure::from(store.apply(&agent("reader"), delete("x")).unwrap_err());
        assert_eq!(failure.class, FailureClass::Refused);
        assert_eq!(
            failure.message,
            format!("these memories are another agent's, and yours to read only; {said}")
        );
        let read = MemoryCall::Read {
            name: "x".to_owned(),
        };
        assert!(store.apply(&agent("reader"), read).is_ok());
        assert!(!store.state(&agent("reader")).writable);
    }
    let mut store = store(Scratchpad, NO_LIMITS);
    let failure = Failure::from(store.apply(&agent("stranger"), delete("x")).unwrap_err());
    assert_eq!(failure.class, FailureClass::Unavailable);
}

fn lines(news: &News) -> Vec<(NetChange, &str)> {
    news.lines
        .iter()
        .map(|line| (line.change, &*line.name))
        .collect()
}

#[test]
fn others_writes_are_told_once_as_their_net_state_and_own_ones_never() {
    use NetChange::{Added, Deleted, Updated};
    let mut store = store(Markdown, NO_LIMITS);
    let (a, b) = (agent("a"), agent("b"));
    store.apply(&a, create("old", "1")).unwrap();
    store.apply(&a, create("gone", "1")).unwrap();
    store.attach(b.clone(), true);
    for call in [
        create("new", "1"),
        replace("new", "2"),
        replace("old", "2"),
        delete("gone"),
        create("brief", "1"),
        delete("brief"),
    ] {
        store.apply(&a, call).unwrap();
    }
    let own = store.take_news(&a);
    assert!(own.lines.is_empty() && !own.changed && own.wrote);
    let news = store.take_news(&b);
    assert_eq!(
        lines(&news),
        [(Deleted, "gone"), (Added, "new"), (Updated, "old")]
    );
    assert!(news.changed && !news.wrote);
    assert_eq!(store.take_news(&b), News::default());
}

#[test]
fn a_memory_the_holder_gave_whole_itself_is_no_news_and_one_it_edited_still_is() {
    let mut store = store(Markdown, NO_LIMITS);
    let (a, b) = (agent("a"), agent("b"));
    store.attach(b.clone(), true);
    store.apply(&a, create("x", "one two")).unwrap();
    let edit = MemoryCall::Edit {
        name: "x".to_owned(),
        old: "one".to_owned(),
        new: "1".to_owned(),
    };
    store.apply(&b, edit).unwrap();
    store.apply(&a, create("y", "1")).unwrap();
    store.apply(&b, replace("y", "2")).unwrap();
    let news = store.take_news(&b);
    assert_eq!(lines(&news), [(NetChange::Added, "x")]);
    assert_eq!(
        lines(&store.take_news(&a)),
        [(NetChange::Updated, "x"), (NetChange::Updated, "y")]
    );
}

#[test]
fn a_successor_is_told_what_its_predecessor_was_not_yet() {
    let mut store = store(Markdown, NO_LIMITS);
    store.attach(agent("b"), true);
    store.apply(&agent("a"), create("x", "1")).unwrap();
    store.succeed(&agent("b"), agent("b2"), false);
    assert_eq!(
        lines(&store.take_news(&agent("b2"))),
        [(NetChange::Added, "x")]
    );
    assert!(!store.state(&agent("b2")).writable);
    assert_eq!(store.take_news(&agent("b")), News::default());
    assert!(store.detach(&agent("a")));
    assert!(!store.detach(&agent("b2")));
}

#[test]
fn caps_are_re_pointed_for_a_sole_holder_and_bind_forward() {
    let tight = |strategy| MemoryPolicy {
        strategy,
        limits: MemoryLimits {
            max_total_len: 2,
            ..NO_LIMITS
        },
    };
    let mut store = store(Scratchpad, NO_LIMITS);
    store.apply(&agent("a"), create("x", "123")).unwrap();
    assert!(!store.rebind(&tight(Markdown)));
    store.attach(agent("b"), true);
    assert!(store.rebind(&tight(Scratchpad)));
    assert_eq!(store.policy().limits, NO_LIMITS);
    store.detach(&agent("b"));
    assert!(store.rebind(&tight(Scratchpad)));
    assert_eq!(store.memories().count(), 1);
    refused(
        &mut store,
        replace("x", "456"),
        FailureClass::LimitExceeded,
        "all bodies together would have 3 characters; they may have 2: shorten this one, or delete \
         one first",
    );
    store.apply(&agent("a"), replace("x", "45")).unwrap();
}

#[test]
fn a_copy_has_no_holders_and_goes_its_own_way() {
    let mut store = store(Scratchpad, NO_LIMITS);
    store.apply(&agent("a"), create("x", "1")).unwrap();
    let mut copy = store.copy();
    assert!(copy.apply(&agent("a"), delete("x")).is_err());
    copy.attach(agent("fork"), true);
    let revision = written(copy.apply(&agent("fork"), replace("x", "2")).unwrap()).revision;
    assert_eq!(revision.number, 2);
    assert_eq!(&*store.memories().next().unwrap().1.body, "1");
}

#[test]
fn an_empty_store_has_no_block_nor_has_one_that_is_searched() {
    assert_eq!(store(Scratchpad, NO_LIMITS).block(), Ok(None));
    let mut found = store(KeywordSearch, NO_LIMITS);
    found.apply(&agent("a"), create("x", "1")).unwrap();
    assert_eq!(found.block(), Ok(None));
}

#[test]
fn code_stays_through_what_does_not_speak_of_it_and_goes_when_cleared() {
    let mut pad = store(Scratchpad, NO_LIMITS);
    let code = MemoryCode::given(
        ProgramLanguage::Javascript,
        Some("export const x = 1;".to_owned()),
        None,
    );
    let coded = MemoryCall::Create {
        name: "x".to_owned(),
        description: Some("about x".to_owned()),
        body: "body".to_owned(),
        code: code.clone(),
    };
    let made = written(pad.apply(&agent("a"), coded).unwrap());
    assert_eq!(made.revision.code, code);
    let kept = written(pad.apply(&agent("a"), replace("x", "other")).unwrap());
    assert_eq!(kept.revision.code, code, "a tool call leaves it");
    let cleared = MemoryCall::Replace {
        name: "x".to_owned(),
        description: Some("about x".to_owned()),
        body: "body".to_owned(),
        code: Some(MemoryCode::default()),
    };
    let cleared = written(pad.apply(&agent("a"), cleared).unwrap());
    assert!(cleared.revision.code.is_empty());
}

#[test]
fn a_reading_gives_the_code_and_an_edit_keeps_it() {
    let mut notes = store(KeywordSearch, NO_LIMITS);
    let code = MemoryCode::given(ProgramLanguage::Javascript, None, Some("run()".to_owned()));
    let coded = MemoryCall::Create {
        name: "x".to_owned(),
        description: None,
        body: "one two".to_owned(),
        code: code.clone(),
    };
    notes.apply(&agent("a"), coded).unwrap();
    let edit = MemoryCall::Edit {
        name: "x".to_owned(),
        old: "one".to_owned(),
        new: "1".to_owned(),
    };
    notes.apply(&agent("a"), edit).unwrap();
    let read = MemoryCall::Read {
        name: "x".to_owned(),
    };
    assert_eq!(
        notes.apply(&agent("a"), read),
        Ok(MemoryAnswer::Body {
            body: "1 two".into(),
            code
        })
    );
}

#[test]
fn code_over_its_length_changes_nothing_and_counts_against_no_limit() {
    let tight = MemoryLimits {
        max_len_per_memory: 4,
        max_total_len: 4,
        ..NO_LIMITS
    };
    let mut pad = store(Scratchpad, tight);
    let coded = |length: usize| MemoryCall::Create {
        name: "x".to_owned(),
        description: Some("about x".to_owned()),
        body: "body".to_owned(),
        code: MemoryCode::given(ProgramLanguage::Javascript, Some("x".repeat(length)), None),
    };
    refused(
        &mut pad,
        coded(32_769),
        FailureClass::LimitExceeded,
        "`code` has 32769 characters; the code of a memory may have 32768 a half",
    );
    assert!(pad.apply(&agent("a"), coded(32_768)).is_ok());
}
