//! Schema 1 of an arm's catalogue: the whole of what a model is told of that arm's surface (05 §6).
//!
//! A reflector writes it out of the SDK's own documentation, `cargo xtask arms` judges what it wrote
//! (which is why this file knows nothing but the format), and the host embeds and reads it. An entry
//! names the operation it binds; what buys an operation stands nowhere but in `vocab::operations`.
//!
//! Always true: a key the schema does not have, and one it has and that is missing, is refused.

use serde::{Deserialize, Serialize};

/// The one schema there is.
pub const SCHEMA: u64 = 1;

/// The catalogue of one arm, in the file `<language>.signatures.json`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Catalogue {
    /// [`SCHEMA`].
    pub schema: u64,
    /// The id of the arm it was made for.
    pub language: String,
    /// What it was reflected from, and by what.
    pub source: String,
    /// Every module, in the order a model meets them.
    pub modules: Vec<Module>,
    /// The libraries a program may import beside its language's own, where the arm has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libraries: Option<Vec<LibraryGroup>>,
    /// Every call a program can write.
    pub functions: Vec<Function>,
    /// Every type a signature refers to.
    pub types: Vec<Type>,
}

/// A module the surface is divided into.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Module {
    /// gg's id of it, as `files`.
    pub id: String,
    /// The path this arm spells it under, as `gg.files`.
    pub path: String,
    /// One line.
    pub brief: String,
    /// What else there is to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The line a program writes to bring it into scope.
    pub import: String,
}

/// Libraries that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LibraryGroup {
    /// What they are for.
    pub group: String,
    /// As a program writes them.
    pub names: Vec<String>,
}

/// One call a program can write.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Function {
    /// The operation it binds.
    pub operation: String,
    /// The id of the module it is documented under.
    pub module: String,
    /// Whether it stands alone.
    pub kind: FunctionKind,
    /// The `fqn` of the type it is a method of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<String>,
    /// What a program calls it by.
    pub name: String,
    /// Its name in full, as `gg.files.readFile`.
    pub fqn: String,
    /// One line.
    pub brief: String,
    /// What else there is to know: what holds before, after and always, and the value returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The ways to call it; an overload group is one entry.
    pub signatures: Vec<Signature>,
    /// `fqn`s of the types it returns.
    pub returns: Vec<String>,
    /// `fqn`s of the types its arguments are of.
    pub types: Vec<String>,
    /// `fqn`s of the types it fails with; none where it cannot fail.
    pub throws: Vec<String>,
    /// For a second way into an operation: the `fqn` of the entry that binds it canonically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias_of: Option<String>,
}

/// Whether a call is reached through its module or through a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FunctionKind {
    /// Through its module.
    Function,
    /// Through a value of its receiver.
    Method,
}

/// One way to call a function.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Signature {
    /// As the language writes it, beginning with the function's name.
    pub text: String,
    /// Its arguments, in order.
    pub arguments: Vec<Argument>,
}

/// One argument of a signature, or one field of a structured argument.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Argument {
    /// What it is called.
    pub name: String,
    /// Its type, as the language writes it.
    #[serde(rename = "type")]
    pub of: String,
    /// Whether it may be left out.
    pub optional: bool,
    /// How it is passed.
    pub passing: Passing,
    /// What holds where it is left out, as the language writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// What it is for.
    pub description: String,
    /// The fields of a structured argument that is written inline at the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<Argument>>,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Passing {
    /// By its place.
    Position,
    /// By its name.
    Name,
}

/// A type that a signature refers to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Type {
    /// Its name in full, as `gg.files.FileRead`.
    pub fqn: String,
    /// The id of the module it is documented under.
    pub module: String,
    /// As the language writes it.
    pub declaration: String,
    /// One line.
    pub brief: String,
    /// What else there is to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// A line for every member.
    pub members: Vec<Member>,
    /// `fqn`s of the functions that hang off it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<String>>,
}

/// A field, a case or a value of a type.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Member {
    /// What it is called.
    pub name: String,
    /// What it holds or means.
    pub description: String,
}

/// Why a text is no catalogue of an arm.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It is no JSON, or has another shape.
    #[error("the catalogue of `{language}` has another shape than schema {SCHEMA} says: {source}")]
    Shape {
        /// The arm it was read for.
        language: String,
        /// Where, and what was expected.
        source: serde_json::Error,
    },
    /// It says another schema, or none.
    #[error(
        "the catalogue of `{language}` says schema {found}; this gg reads schema {SCHEMA} only"
    )]
    Schema {
        /// The arm it was read for.
        language: String,
        /// What it says.
        found: String,
    },
    /// It was made for another arm.
    #[error("a catalogue for `{found}` was given as that of `{language}`")]
    Language {
        /// The arm it was read for.
        language: String,
        /// The arm it was made for.
        found: String,
    },
}

/// What can be told of a text before its shape is known.
#[derive(Deserialize)]
struct Provenance {
    #[serde(default)]
    schema: serde_json::Value,
}

impl Catalogue {
    /// Reads the catalogue of an arm.
    ///
    /// The schema is judged first, so that a later one is refused as what it is.
    pub fn read(text: &str, language: &str) -> Result<Self, Unreadable> {
        let shape = |source| Unreadable::Shape {
            language: language.to_owned(),
            source,
        };
        let provenance: Provenance = serde_json::from_str(text).map_err(shape)?;
        if provenance.schema.as_u64() != Some(SCHEMA) {
            return Err(Unreadable::Schema {
                language: language.to_owned(),
                found: provenance.schema.to_string(),
            });
        }
        let catalogue: Self = serde_json::from_str(text).map_err(shape)?;
        if catalogue.language != language {
            return Err(Unreadable::Language {
                language: language.to_owned(),
                found: catalogue.language,
            });
        }
        Ok(catalogue)
    }
}
