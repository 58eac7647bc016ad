//! The capability gate accepts every arm and the language that is none, and catches each damage.

use std::collections::BTreeSet;

use vocab::capability::CapabilityId;
use vocab::language::ProgramLanguage;
use vocab::operations::{Binding, EndingRole, Excuse, OPERATIONS, Operation};

use super::capability::{Notation, complaints, gating};
use super::fixture;
use crate::arms;
use crate::catalogue::{self, Catalogue, Function, FunctionKind};

const NAMED: Notation = Notation {
    names_parameters: true,
};

/// What a mistake is called, how it is made, and what the gate says of it.
type Damage<T> = (&'static str, fn(&mut T), &'static str);

#[test]
fn the_table_passes() {
    assert_eq!(gating(OPERATIONS), [""; 0]);
}

#[test]
fn the_language_that_is_none_passes_and_is_spelled_its_own_way() {
    let catalogue = fixture();
    assert_eq!(complaints(OPERATIONS, &catalogue, NAMED), [""; 0]);
    let modules: BTreeSet<_> = OPERATIONS.iter().map(Operation::module).collect();
    let foreign = catalogue
        .functions
        .iter()
        .filter(|entry| !modules.contains(&*entry.module));
    assert_eq!(foreign.count(), 1);
    let canonical = |entry: &&Function| entry.alias_of.is_none();
    let methods = catalogue.functions.iter().filter(canonical);
    let methods = methods.filter(|entry| entry.kind == FunctionKind::Method);
    assert_eq!(methods.count(), 2);
    let aliases = catalogue
        .functions
        .iter()
        .filter(|entry| entry.alias_of.is_some());
    assert_eq!(aliases.count(), 1);
    for row in OPERATIONS {
        let entry = catalogue.canonical(row.id).unwrap();
        assert_ne!(entry.name, row.key());
    }
}

#[test]
fn every_arm_passes() {
    for language in ProgramLanguage::ALL {
        let catalogue = catalogue::of(*language).unwrap();
        let found = complaints(OPERATIONS, catalogue, NAMED);
        assert!(found.is_empty(), "{language}:\n{}", found.join("\n"));
    }
}

/// What an arm says of itself, for the programs and prompts of gg's own, is what its catalogue says.
#[test]
fn an_arm_spells_as_its_catalogue_does() {
    for arm in arms::all() {
        let catalogue = catalogue::of(arm.language()).unwrap();
        for row in OPERATIONS {
            assert_eq!(arm.spelling(row), catalogue.spelling(row.id));
            // What is called behind the line that imports is the end of the full name.
            assert!(arm.spelling(row).ends_with(&arm.call(row)), "{}", row.id);
        }
        for module in &catalogue.modules {
            assert_eq!(arm.module_import(&module.id), module.import);
            assert!(
                module.path.ends_with(&arm.module_path(&module.id)),
                "{}",
                module.path
            );
        }
    }
}

#[test]
fn each_damage_of_the_table_is_caught() {
    fn at<'t>(table: &'t mut [Operation], id: &str) -> &'t mut Operation {
        table.iter_mut().find(|row| row.id == id).unwrap()
    }
    let damages: [Damage<Vec<Operation>>; 8] = [
        (
            "another family buys it",
            |table| at(table, "files.read_file").binding = Binding::Capability(CapabilityId::Shell),
            "`files.read_file` is bought by `shell` of another family",
        ),
        (
            "an ending of another role",
            |table| at(table, "session.approve").binding = Binding::Ending(EndingRole::Standard),
            "`session.approve` is no ending of Standard",
        ),
        (
            "an ending too few",
            |table| table.retain(|row| row.id != "session.finish"),
            "`session.finish` is not the ending of Standard",
        ),
        (
            "a view that reads and is free",
            |table| at(table, "views.open_file").binding = Binding::Always,
            "`views.open_file` is a view; it is gated exactly where it reads the workspace",
        ),
        (
            "a view that reads nothing and is not",
            |table| {
                at(table, "views.open_text").binding = Binding::Capability(CapabilityId::ReadFile);
            },
            "`views.open_text` is a view; it is gated exactly where it reads the workspace",
        ),
        (
            "a search that is not everybody's",
            |table| {
                at(table, "docs.search").binding = Binding::Capability(CapabilityId::DocviewClose);
            },
            "`docs.search` is not bound to every program",
        ),
        (
            "a second way out of a state",
            |table| at(table, "delegation.exec").binding = Binding::Machine,
            "`delegation.exec` does not leave a state",
        ),
        (
            "a row twice",
            |table| table.push(table[0]),
            "`files.read_file` stands twice in the table",
        ),
    ];
    for (name, damage, said) in damages {
        let mut table = OPERATIONS.to_vec();
        damage(&mut table);
        let found = gating(&table);
        assert!(found.iter().any(|one| one == said), "{name}: {found:?}");
    }
}

fn function<'c>(catalogue: &'c mut Catalogue, operation: &str) -> &'c mut Function {
    let mut all = catalogue.functions.iter_mut();
    all.find(|entry| entry.operation == operation).unwrap()
}

#[test]
fn each_damage_of_a_catalogue_is_caught() {
    let damages: Vec<Damage<Catalogue>> = vec![
        (
            "an operation left out",
            |c| {
                c.functions
                    .retain(|entry| entry.operation != "tasks.add_task");
            },
            "`fixture` does not bind `tasks.add_task`",
        ),
        (
            "an operation gg has not",
            |c| function(c, "tasks.add_task").operation = "tasks.ad_task".to_owned(),
            "gg has no `tasks.ad_task`",
        ),
        (
            "an operation bound twice",
            |c| {
                let mut second = function(c, "tasks.add_task").clone();
                second.name = "DoMore".to_owned();
                second.fqn = "fx::tasks::DoMore".to_owned();
                second.signatures[0].text = "DoMore(what text) -> DoAddTaskAnswer".to_owned();
                c.functions.push(second);
            },
            "`tasks.add_task` is bound twice",
        ),
        (
            "an alias of something else",
            |c| {
                let alias = c
                    .functions
                    .iter_mut()
                    .find(|entry| entry.alias_of.is_some());
                alias.unwrap().alias_of = Some("fx::files::DoReadFile".to_owned());
            },
            "is an alias of `fx::files::DoReadFile`, which does not bind `memories.read_memory`",
        ),
        (
            "input where there is none",
            |c| {
                let taken = function(c, "files.read_file").signatures[0]
                    .arguments
                    .clone();
                let current = &mut function(c, "views.current").signatures[0];
                current.arguments = taken;
                current.text = "DoCurrent(what text) -> DoCurrentAnswer".to_owned();
            },
            "`views.current` takes no input",
        ),
        (
            "no input where there is some",
            |c| {
                let read = &mut function(c, "files.read_file").signatures[0];
                read.arguments.clear();
                read.text = "DoReadFile() -> DoReadFileAnswer".to_owned();
            },
            "`files.read_file` takes input",
        ),
        (
            "an argument nobody documented",
            |c| {
                function(c, "files.read_file").signatures[0]
                    .arguments
                    .clear();
            },
            "documents no argument of `DoReadFile(what text) -> DoReadFileAnswer`",
        ),
        (
            "a blank description",
            |c| {
                let read = &mut function(c, "files.read_file").signatures[0];
                read.arguments[0].description = " ".to_owned();
            },
            "argument `what` is blank",
        ),
        (
            "a signature of another name",
            |c| {
                function(c, "files.read_file").signatures[0].text =
                    "DoReadFiles(what text) -> DoReadFileAnswer".to_owned();
            },
            "does not begin with it",
        ),
        (
            "an argument the signature does not take",
            |c| function(c, "files.read_file").signatures[0].arguments[0].name = "who".to_owned(),
            "takes no argument `who`",
        ),
        (
            "a field its argument has not",
            |c| {
                let read = &mut function(c, "files.read_file").signatures[0];
                let mut field = read.arguments[0].clone();
                field.name = "first".to_owned();
                read.arguments[0].fields = Some(vec![field]);
            },
            "`what` has no field `first`",
        ),
        (
            "a name that hides another",
            |c| {
                let taken = function(c, "files.read_file").name.clone();
                let write = function(c, "files.write_file");
                write.name.clone_from(&taken);
                write.fqn = format!("fx::files::elsewhere::{taken}");
                write.signatures[0].text = format!("{taken}(what text) -> DoWriteFileAnswer");
            },
            "another entry has the same name and would be hidden",
        ),
        (
            "a full name of another",
            |c| function(c, "files.read_file").fqn = "fx::files::DoRead".to_owned(),
            "its full name `fx::files::DoRead` is of another name",
        ),
        (
            "a method of nothing",
            |c| function(c, "files.read_file").kind = FunctionKind::Method,
            "a method has a receiver, and nothing else has",
        ),
        (
            "a type that is none",
            |c| function(c, "files.read_file").returns = vec!["fx::files::Gone".to_owned()],
            "refers to `fx::files::Gone`, which is no type",
        ),
        (
            "a type nothing leads to",
            |c| {
                let mut alone = c.types[0].clone();
                alone.fqn = "fx::files::Alone".to_owned();
                c.types.push(alone);
            },
            "`fx::files::Alone` is declared and nothing leads to it",
        ),
        (
            "a module that there is not",
            |c| function(c, "files.read_file").module = "nowhere".to_owned(),
            "is of a module `nowhere` that there is not",
        ),
        (
            "a method its type does not list",
            |c| c.types.iter_mut().for_each(|of| of.functions = None),
            "does not list its `fx::board::DoCreateIssueAnswer::DoWaitForIssue`",
        ),
        (
            "a list of what is another's",
            |c| c.types[0].functions = Some(vec!["fx::files::DoReadFile".to_owned()]),
            "lists `fx::files::DoReadFile`, which is not its",
        ),
        (
            "a brief of two lines",
            |c| function(c, "files.read_file").brief = "Reads\na file.".to_owned(),
            "its brief is more than one line",
        ),
        (
            "a brief that is no sentence",
            |c| function(c, "files.read_file").brief = "reads a file".to_owned(),
            "its brief is no sentence",
        ),
        (
            "a code span left open",
            |c| function(c, "files.read_file").brief = "Reads `a file.".to_owned(),
            "a code span is not closed",
        ),
        (
            "advice",
            |c| function(c, "files.read_file").detail = Some("You should try it.".to_owned()),
            "says “should”",
        ),
        (
            "a name that its reader may not have",
            |c| {
                function(c, "files.read_file").detail =
                    Some("Unlike `DoWriteFile`, it changes nothing.".to_owned());
            },
            "names `DoWriteFile`, which is not offered whenever it is",
        ),
        (
            "an ending in a module's prose",
            |c| c.modules[0].detail = Some("Ended by `DoFinish`.".to_owned()),
            "names `DoFinish`, which is not offered whenever it is",
        ),
    ];
    for (name, damage, said) in damages {
        let mut catalogue = fixture();
        damage(&mut catalogue);
        let found = complaints(OPERATIONS, &catalogue, NAMED);
        assert!(
            found.iter().any(|one| one.contains(said)),
            "{name}: {found:#?}"
        );
    }
}

#[test]
fn a_name_that_every_reader_has_may_be_named() {
    for (operation, detail) in [
        ("files.read_file", "As `DoOpenText` does."),
        (
            "files.read_file",
            "As `DoReadTextFile` does, and `what` is.",
        ),
        ("tasks.add_task", "As `fx::tasks::DoRemoveTask` does."),
    ] {
        let mut catalogue = fixture();
        function(&mut catalogue, operation).detail = Some(detail.to_owned());
        assert_eq!(
            complaints(OPERATIONS, &catalogue, NAMED),
            [""; 0],
            "{detail}"
        );
    }
}

#[test]
fn a_notation_without_names_is_asked_for_those_of_fields_alone() {
    let mut catalogue = fixture();
    let read = &mut function(&mut catalogue, "files.read_file").signatures[0];
    read.text = "DoReadFile(text) -> DoReadFileAnswer".to_owned();
    let unnamed = Notation {
        names_parameters: false,
    };
    assert_eq!(complaints(OPERATIONS, &catalogue, unnamed), [""; 0]);
    assert_eq!(complaints(OPERATIONS, &catalogue, NAMED).len(), 1);
}

#[test]
fn an_excuse_needs_a_reason_and_an_arm_that_does_without() {
    static REASONED: [Excuse; 1] = [Excuse {
        arm: "fixture",
        reason: "It has no commands.",
    }];
    static BLANK: [Excuse; 1] = [Excuse {
        arm: "fixture",
        reason: " ",
    }];
    let judged = |excused: &'static [Excuse], binds: bool| {
        let mut table = OPERATIONS.to_vec();
        table
            .iter_mut()
            .find(|row| row.id == "shell.shell")
            .unwrap()
            .excused = excused;
        let mut catalogue = fixture();
        if !binds {
            catalogue
                .functions
                .retain(|entry| entry.operation != "shell.shell");
            catalogue.types.retain(|of| of.module != "console");
        }
        complaints(&table, &catalogue, NAMED)
    };
    assert_eq!(judged(&REASONED, false), [""; 0]);
    assert_eq!(
        judged(&REASONED, true),
        ["`fixture` is excused from `shell.shell` and binds it"]
    );
    assert_eq!(
        judged(&BLANK, false),
        ["`fixture` is excused from `shell.shell` without a reason"]
    );
    assert_eq!(
        judged(&[], false),
        ["`fixture` does not bind `shell.shell`"]
    );
}
