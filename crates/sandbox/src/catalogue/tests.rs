//! What is no catalogue of an arm is refused as what it is.

use serde_json::{Value, json};
use vocab::language::ProgramLanguage;

use super::*;
use crate::gates::fixture;

fn written() -> Value {
    serde_json::to_value(fixture()).unwrap()
}

fn refused(catalogue: &Value) -> String {
    Catalogue::read(&catalogue.to_string(), "fixture")
        .unwrap_err()
        .to_string()
}

#[test]
fn what_is_written_reads_as_the_same() {
    let read = Catalogue::read(&written().to_string(), "fixture").unwrap();
    assert_eq!(read, fixture());
}

#[test]
fn another_schema_is_refused_whatever_else_it_holds() {
    for (schema, said) in [
        (json!(2), "2"),
        (json!(0), "0"),
        (json!("1"), "\"1\""),
        (json!(1.5), "1.5"),
        (Value::Null, "null"),
    ] {
        let text = json!({ "schema": schema, "somethingNew": [] });
        assert_eq!(
            refused(&text),
            format!("the catalogue of `fixture` says schema {said}; this gg reads schema 1 only")
        );
    }
    assert!(refused(&json!({ "language": "fixture" })).contains("says schema null"));
}

#[test]
fn a_catalogue_of_another_arm_is_refused() {
    let text = written().to_string();
    let error = Catalogue::read(&text, "python").unwrap_err();
    assert_eq!(
        error.to_string(),
        "a catalogue for `fixture` was given as that of `python`"
    );
}

#[test]
fn a_key_too_many_or_too_few_is_refused_with_its_name() {
    type Place = fn(&mut Value) -> &mut Value;
    let places: [(&str, Place); 6] = [
        ("source", |all| all),
        ("import", |all| &mut all["modules"][0]),
        ("throws", |all| &mut all["functions"][0]),
        ("text", |all| &mut all["functions"][0]["signatures"][0]),
        ("optional", |all| {
            &mut all["functions"][0]["signatures"][0]["arguments"][0]
        }),
        ("declaration", |all| &mut all["types"][0]),
    ];
    for (needed, place) in places {
        let mut more = written();
        place(&mut more)["gate"] = json!("read-file");
        assert!(refused(&more).contains("unknown field `gate`"), "{needed}");
        let mut less = written();
        place(&mut less).as_object_mut().unwrap().remove(needed);
        let said = refused(&less);
        assert!(
            said.contains(&format!("missing field `{needed}`")),
            "{said}"
        );
    }
    let broken = Catalogue::read("{", "fixture").unwrap_err().to_string();
    assert!(
        broken.contains("another shape than schema 1 says"),
        "{broken}"
    );
}

#[test]
fn words_outside_their_lists_are_refused() {
    let mut catalogue = written();
    catalogue["functions"][0]["kind"] = json!("macro");
    assert!(refused(&catalogue).contains("unknown variant `macro`"));
    let mut catalogue = written();
    catalogue["functions"][0]["signatures"][0]["arguments"][0]["passing"] = json!("reference");
    assert!(refused(&catalogue).contains("unknown variant `reference`"));
}

#[test]
fn nothing_blank_and_nothing_undocumented_is_let_through() {
    type Damage = fn(&mut Catalogue);
    assert_eq!(faults(&fixture()), [""; 0]);
    let damages: [(Damage, &str); 9] = [
        (|c| c.source.clear(), "the catalogue: source is blank"),
        (
            |c| c.modules[0].brief = "\n".to_owned(),
            "module `files`: brief is blank",
        ),
        (
            |c| c.modules[0].detail = Some(String::new()),
            "module `files`: detail is blank",
        ),
        (
            |c| c.functions[0].signatures.clear(),
            "function `fx::files::DoReadFile`: has no signature",
        ),
        (
            |c| c.functions[0].returns.push(" ".to_owned()),
            "function `fx::files::DoReadFile`: type is blank",
        ),
        (
            |c| c.functions[0].signatures[0].arguments[0].fields = Some(Vec::new()),
            "function `fx::files::DoReadFile`: argument `what` is structured and has no field",
        ),
        (
            |c| c.functions[0].signatures[0].arguments[0].of.clear(),
            "function `fx::files::DoReadFile`: type of argument `what` is blank",
        ),
        (
            |c| c.types[0].members[0].description.clear(),
            "type `fx::files::DoReadFileAnswer`: member `value` is blank",
        ),
        (
            |c| {
                c.libraries = Some(vec![LibraryGroup {
                    group: "text".to_owned(),
                    names: Vec::new(),
                }]);
            },
            "library group `text`: names no library",
        ),
    ];
    for (damage, said) in damages {
        let mut catalogue = fixture();
        damage(&mut catalogue);
        assert!(faults(&catalogue).contains(&said.to_owned()), "{said}");
    }
}

#[test]
fn every_language_has_its_own_catalogue() {
    for language in ProgramLanguage::ALL {
        assert_eq!(of(*language).unwrap().language, language.as_str());
    }
}
