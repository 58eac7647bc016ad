//! What opens under a name, and what a page shows.

use super::*;

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
        "fx::console",
        "DoCreateIssueAnswer",
        "table_tools",
        "sum",
    ];
    // A module is called as its language has it, whatever gg's word for it.
    let absent = docs.open("fx::shell", PageTypes::default()).unwrap_err();
    assert_eq!(absent.class, FailureClass::NotFound);
    assert_eq!(
        absent.message,
        "there is no documentation of `fx::shell`\n  near to it: fx::console::DoShell"
    );
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
