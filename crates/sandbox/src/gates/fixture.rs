//! A language that is none: it offers every operation gg has, and offers them differently.
//!
//! One operation is filed under a module gg has no word for, two are methods of the types they act
//! on, one is bound twice, and every name is spelled another way. It has no id on any wire, so
//! nothing can be configured to run in it.

use vocab::operations::{OPERATIONS, Operation};

use crate::catalogue::{
    Argument, Catalogue, Function, FunctionKind, Member, Module, Passing, SCHEMA, Signature, Type,
};

/// Its id.
const FIXTURE: &str = "fixture";

/// The module gg has no word for, and the operation filed under it.
const FOREIGN: (&str, &str) = ("console", "shell.shell");

/// Operations that are methods, and of what.
const METHODS: [(&str, &str); 2] = [
    ("board.wait_for_issue", "DoCreateIssueAnswer"),
    ("delegation.send_message", "DoSpawnSubagentAnswer"),
];

/// Its catalogue.
pub(crate) fn fixture() -> Catalogue {
    let mut modules: Vec<Module> = Vec::new();
    let mut functions = Vec::new();
    let mut types = Vec::new();
    for row in OPERATIONS {
        let module = module_of(row);
        if !modules.iter().any(|known| known.id == module) {
            modules.push(named(module));
        }
        let (entry, made) = bound(row);
        functions.push(entry);
        types.extend(made);
    }
    modules.push(named("core"));
    types.push(Type {
        fqn: "fx::core::Trouble".to_owned(),
        module: "core".to_owned(),
        declaration: "trouble Trouble(Reason)".to_owned(),
        brief: "A call that failed.".to_owned(),
        detail: None,
        members: vec![member("reason")],
        functions: None,
    });
    types.push(Type {
        fqn: "fx::core::Reason".to_owned(),
        module: "core".to_owned(),
        declaration: "choice Reason".to_owned(),
        brief: "Why a call failed.".to_owned(),
        detail: None,
        members: vec![member("Absent")],
        functions: None,
    });
    // A hit of a search reads its memory: the second way into one operation.
    let canonical = functions
        .iter()
        .find(|entry| entry.operation == "memories.read_memory")
        .cloned();
    if let Some(canonical) = canonical {
        let hit = "fx::memories::DoSearchMemoriesAnswer";
        if let Some(declared) = types.iter_mut().find(|declared| declared.fqn == hit) {
            declared.functions = Some(vec![format!("{hit}::DoOpen")]);
        }
        functions.push(Function {
            kind: FunctionKind::Method,
            receiver: Some(hit.to_owned()),
            name: "DoOpen".to_owned(),
            fqn: format!("{hit}::DoOpen"),
            brief: "Opens what was found.".to_owned(),
            signatures: vec![Signature {
                text: "DoOpen() -> DoReadMemoryAnswer".to_owned(),
                arguments: Vec::new(),
            }],
            types: Vec::new(),
            alias_of: Some(canonical.fqn.clone()),
            ..canonical
        });
    }
    Catalogue {
        schema: SCHEMA,
        language: FIXTURE.to_owned(),
        source: "the table".to_owned(),
        modules,
        libraries: None,
        functions,
        types,
    }
}

fn module_of(row: &Operation) -> &'static str {
    if row.id == FOREIGN.1 {
        FOREIGN.0
    } else {
        row.module()
    }
}

fn named(id: &str) -> Module {
    Module {
        id: id.to_owned(),
        path: format!("fx::{id}"),
        brief: format!("What {id} is about."),
        detail: None,
        import: format!("fetch fx::{id}"),
    }
}

fn member(name: &str) -> Member {
    Member {
        name: name.to_owned(),
        description: "What it holds.".to_owned(),
    }
}

/// An entry for a row, and the types it is written with.
fn bound(row: &Operation) -> (Function, Vec<Type>) {
    let module = module_of(row);
    let name = format!("Do{}", pascal(row.key()));
    let answer = format!("{name}Answer");
    let method = METHODS.iter().find(|(id, _)| *id == row.id);
    let receiver = method.map(|(_, of)| format!("fx::{module}::{of}"));
    let structured = row.key().starts_with("create_") || row.key().starts_with("update_");
    let draft = format!("{name}Draft");
    let mut types = vec![made(module, &answer, receiver.is_none())];
    let mut arguments = Vec::new();
    if row.input && receiver.is_none() {
        arguments.push(plain("what", if structured { &draft } else { "text" }));
    }
    if structured {
        types.push(made(module, &draft, false));
    }
    let parameters: Vec<_> = arguments
        .iter()
        .map(|argument| format!("{} {}", argument.name, argument.of))
        .collect();
    let owner = receiver.clone().unwrap_or_else(|| format!("fx::{module}"));
    let entry = Function {
        operation: row.id.to_owned(),
        module: module.to_owned(),
        kind: if receiver.is_some() {
            FunctionKind::Method
        } else {
            FunctionKind::Function
        },
        fqn: format!("{owner}::{name}"),
        receiver,
        brief: format!("Does what {} is for.", row.key().replace('_', " ")),
        detail: Some("The world is as it was, but for this.".to_owned()),
        signatures: vec![Signature {
            text: format!("{name}({}) -> {answer}", parameters.join(", ")),
            arguments,
        }],
        returns: vec![format!("fx::{module}::{answer}")],
        types: if structured {
            vec![format!("fx::{module}::{draft}")]
        } else {
            Vec::new()
        },
        throws: vec!["fx::core::Trouble".to_owned()],
        alias_of: None,
        name,
    };
    (entry, types)
}

fn made(module: &str, name: &str, answers: bool) -> Type {
    let methods: Vec<_> = METHODS
        .iter()
        .filter(|(_, of)| *of == name && answers)
        .filter_map(|(id, of)| {
            let row = Operation::find(id)?;
            Some(format!("fx::{module}::{of}::Do{}", pascal(row.key())))
        })
        .collect();
    Type {
        fqn: format!("fx::{module}::{name}"),
        module: module.to_owned(),
        declaration: format!("record {name}"),
        brief: "What came of it.".to_owned(),
        detail: None,
        members: vec![member("value")],
        functions: (!methods.is_empty()).then_some(methods),
    }
}

fn plain(name: &str, of: &str) -> Argument {
    Argument {
        name: name.to_owned(),
        of: of.to_owned(),
        optional: false,
        passing: Passing::Position,
        default: None,
        description: "What it is about.".to_owned(),
        fields: None,
    }
}

fn pascal(key: &str) -> String {
    key.split('_')
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect()
}
