//! The catalogues this binary carries: what a model can be told of each arm's surface.
//!
//! `cargo xtask arms` reflects them out of the SDKs (schema 1, [`schema`]) and judges them
//! ([`faults`]); the build embeds what it wrote, and fails where that is older than its sources. Each
//! is parsed once a process.

mod faults;
mod schema;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

pub use faults::faults;
pub use schema::{
    Argument, Catalogue, Function, FunctionKind, LibraryGroup, Member, Module, Passing, SCHEMA,
    Signature, Type, Unreadable,
};
use vocab::language::ProgramLanguage;

/// A catalogue that this binary was built without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this gg was built without the documentation of `{language}`; `cargo xtask arms` reflects it (it \
     needs {needs}), then build gg again"
)]
pub struct Absent {
    /// Whose.
    pub language: ProgramLanguage,
    /// What reflects it, by Debian's names.
    pub needs: &'static str,
}

/// The text of a catalogue, where the build found one.
macro_rules! embedded {
    ($cfg:ident, $variable:literal) => {{
        #[cfg($cfg)]
        let text: Option<&'static str> = Some(include_str!(env!($variable)));
        #[cfg(not($cfg))]
        let text: Option<&'static str> = None;
        text
    }};
}

/// The catalogue of a language.
pub fn of(language: ProgramLanguage) -> Result<&'static Catalogue, Absent> {
    static TYPESCRIPT: OnceLock<Catalogue> = OnceLock::new();
    static JAVASCRIPT: OnceLock<Catalogue> = OnceLock::new();
    static PYTHON: OnceLock<Catalogue> = OnceLock::new();
    let node = "nodejs, npm";
    let (slot, text, needs) = match language {
        ProgramLanguage::Typescript => (
            &TYPESCRIPT,
            embedded!(ecmascript_catalogues, "GG_TYPESCRIPT_SIGNATURES"),
            node,
        ),
        ProgramLanguage::Javascript => (
            &JAVASCRIPT,
            embedded!(ecmascript_catalogues, "GG_JAVASCRIPT_SIGNATURES"),
            node,
        ),
        ProgramLanguage::Python => (
            &PYTHON,
            embedded!(python_catalogue, "GG_PYTHON_SIGNATURES"),
            "python3, python3-venv",
        ),
    };
    let text = text.ok_or(Absent { language, needs })?;
    Ok(slot.get_or_init(|| {
        Catalogue::read(text, language.as_str()).unwrap_or_else(|error| {
            // `cargo xtask arms` stamps nothing that this same function did not read.
            panic!("an embedded catalogue cannot be read: {error}")
        })
    }))
}

impl Catalogue {
    /// The entry that binds an operation canonically.
    pub fn canonical(&self, operation: &str) -> Option<&Function> {
        self.functions
            .iter()
            .find(|entry| entry.operation == operation && entry.alias_of.is_none())
    }

    /// Every entry that binds an operation, aliases included.
    pub fn bindings(&self, operation: &str) -> impl Iterator<Item = &Function> {
        self.functions
            .iter()
            .filter(move |entry| entry.operation == operation)
    }

    /// The module of an id.
    pub fn module(&self, id: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.id == id)
    }

    /// The type of an `fqn`.
    pub fn declared(&self, fqn: &str) -> Option<&Type> {
        self.types.iter().find(|declared| declared.fqn == fqn)
    }

    /// How a program spells an operation in full, as `gg.files.readFile`; gg's own id where the arm
    /// does not bind it.
    pub fn spelling(&self, operation: &str) -> String {
        self.canonical(operation)
            .map_or_else(|| operation.to_owned(), |entry| entry.fqn.clone())
    }
}
