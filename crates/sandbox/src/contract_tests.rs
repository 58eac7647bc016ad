//! The contract against the operations table, and against those of its own nine rules that its text
//! shows (04 §12): one function for each operation with one failure (1), only plain types (2), no waiting
//! inside a call (3), the one closed vocabulary that is gg's own (5), unsigned numbers (7), nothing of
//! WASI's (8), no function without a row (9).
//!
//! That absent, null and a value stay apart (4) is tried through the SDKs, where updates are made; that
//! an arm adds nothing (6) is so because there is one copy, which every guest's imports are compared
//! with; that a declared function is implemented (9) is so because the host would not compile.

use std::path::Path;

use vocab::failure::FailureClass;
use vocab::operations::OPERATIONS;
use wit_parser::{
    Function, FunctionKind, Interface, Resolve, Type, TypeDefKind, WorldId, WorldItem,
};

fn contract() -> (Resolve, WorldId) {
    let mut resolve = Resolve::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    let (package, _) = resolve.push_path(folder).unwrap();
    let world = resolve.select_world(&[package], Some("sandbox")).unwrap();
    (resolve, world)
}

fn interfaces(resolve: &Resolve, world: WorldId) -> impl Iterator<Item = (&str, &Interface)> {
    resolve.worlds[world]
        .imports
        .values()
        .filter_map(|item| match item {
            WorldItem::Interface { id, .. } => {
                let interface = &resolve.interfaces[*id];
                Some((interface.name.as_deref().unwrap(), interface))
            }
            _ => None,
        })
}

/// The functions a model can come to, with their module.
fn model_facing(resolve: &Resolve, world: WorldId) -> impl Iterator<Item = (String, &Function)> {
    interfaces(resolve, world)
        .filter(|(name, _)| *name != "feedback")
        .flat_map(|(module, interface)| {
            interface.functions.values().map(move |function| {
                (
                    format!("{module}.{}", function.name.replace('-', "_")),
                    function,
                )
            })
        })
}

#[test]
fn the_contract_and_the_table_name_the_same_operations_in_the_same_order() {
    let (resolve, world) = contract();
    let declared: Vec<_> = model_facing(&resolve, world).map(|(id, _)| id).collect();
    let rows: Vec<_> = OPERATIONS.iter().map(|row| row.id).collect();
    assert_eq!(declared, rows);
}

#[test]
fn every_operation_answers_a_result_whose_failure_is_the_one_record() {
    let (resolve, world) = contract();
    for (id, function) in model_facing(&resolve, world) {
        let Some(Type::Id(result)) = &function.result else {
            panic!("{id} answers no result");
        };
        let TypeDefKind::Result(result) = &resolve.types[*result].kind else {
            panic!("{id} answers no result");
        };
        let Some(Type::Id(mut failure)) = result.err else {
            panic!("{id} cannot fail");
        };
        while let TypeDefKind::Type(Type::Id(of)) = resolve.types[failure].kind {
            failure = of;
        }
        assert_eq!(
            resolve.types[failure].name.as_deref(),
            Some("api-error"),
            "{id}"
        );
    }
}

#[test]
fn only_plain_types_cross() {
    let (resolve, _) = contract();
    for (_, ty) in &resolve.types {
        let plain = matches!(
            ty.kind,
            TypeDefKind::Record(_)
                | TypeDefKind::Variant(_)
                | TypeDefKind::Enum(_)
                | TypeDefKind::Option(_)
                | TypeDefKind::Result(_)
                | TypeDefKind::List(_)
                | TypeDefKind::Type(_)
        );
        assert!(plain, "{:?} is a {}", ty.name, ty.kind.as_str());
    }
}

#[test]
fn no_call_is_asynchronous() {
    let (resolve, world) = contract();
    for (id, function) in model_facing(&resolve, world) {
        assert_eq!(function.kind, FunctionKind::Freestanding, "{id}");
    }
}

#[test]
fn the_one_number_that_may_be_negative_is_an_exit_code() {
    let (resolve, world) = contract();
    let signed = |of: &Type| matches!(of, Type::S8 | Type::S16 | Type::S32 | Type::S64);
    let mut found: Vec<&str> = Vec::new();
    for (_, ty) in &resolve.types {
        match &ty.kind {
            TypeDefKind::Record(record) => {
                let fields = record.fields.iter().filter(|field| signed(&field.ty));
                found.extend(fields.map(|field| field.name.as_str()));
            }
            TypeDefKind::Option(of) | TypeDefKind::List(of) | TypeDefKind::Type(of) => {
                assert!(!signed(of), "{:?}", ty.name);
            }
            _ => {}
        }
    }
    assert_eq!(found, ["exit-code"]);
    for (id, function) in model_facing(&resolve, world) {
        let given = function.params.iter().any(|param| signed(&param.ty));
        assert!(!given, "{id}");
    }
}

#[test]
fn the_classes_of_failures_are_gg_s_own() {
    let (resolve, world) = contract();
    let (_, types) = interfaces(&resolve, world)
        .find(|(name, _)| *name == "types")
        .unwrap();
    let TypeDefKind::Enum(classes) = &resolve.types[types.types["failure-class"]].kind else {
        panic!("the failure class is no enum");
    };
    let declared: Vec<_> = classes
        .cases
        .iter()
        .map(|case| case.name.as_str())
        .collect();
    let known: Vec<_> = FailureClass::ALL
        .iter()
        .map(|class| class.as_str())
        .collect();
    assert_eq!(declared, known);
}

#[test]
fn nothing_of_the_contract_overlaps_wasi() {
    let (resolve, _) = contract();
    for (_, package) in &resolve.packages {
        assert_eq!(package.name.to_string(), "test-cabinet:gg");
    }
}
