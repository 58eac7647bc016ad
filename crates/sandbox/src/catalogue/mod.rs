//! The catalogues this binary carries: what a model can be told of each arm's surface.
//!
//! `cargo xtask arms` reflects them out of the SDKs (schema 1, [`schema`]) and judges them
//! ([`faults`]); the build embeds what it wrote, and fails where that is older than its sources. Each
//! is parsed once a process.

mod faults;
mod schema;

use std::sync::OnceLock;

pub use faults::faults;
pub use schema::{
    Argument, Catalogue, Function, FunctionKind, LibraryGroup, Member, Module, Passing, SCHEMA,
    Signature, Type, Unreadable,
};

use crate::arms::Missing;

/// What reflects the ECMAScript SDK.
#[cfg(not(ecmascript_catalogues))]
const NODE: &str = "nodejs, npm";

/// The catalogue of JavaScript.
pub fn javascript() -> Result<&'static Catalogue, Missing> {
    #[cfg(ecmascript_catalogues)]
    return {
        static PARSED: OnceLock<Catalogue> = OnceLock::new();
        Ok(parsed(
            &PARSED,
            include_str!(env!("GG_JAVASCRIPT_SIGNATURES")),
            "javascript",
        ))
    };
    #[cfg(not(ecmascript_catalogues))]
    Err(Missing {
        arm: "javascript",
        needs: NODE,
    })
}

/// The catalogue of TypeScript.
pub fn typescript() -> Result<&'static Catalogue, Missing> {
    #[cfg(ecmascript_catalogues)]
    return {
        static PARSED: OnceLock<Catalogue> = OnceLock::new();
        Ok(parsed(
            &PARSED,
            include_str!(env!("GG_TYPESCRIPT_SIGNATURES")),
            "typescript",
        ))
    };
    #[cfg(not(ecmascript_catalogues))]
    Err(Missing {
        arm: "typescript",
        needs: NODE,
    })
}

/// An embedded catalogue, read at its first use.
#[cfg_attr(
    not(ecmascript_catalogues),
    expect(dead_code, reason = "nothing is embedded")
)]
fn parsed(
    slot: &'static OnceLock<Catalogue>,
    text: &'static str,
    language: &str,
) -> &'static Catalogue {
    slot.get_or_init(|| {
        Catalogue::read(text, language).unwrap_or_else(|error| {
            // `cargo xtask arms` stamps nothing that this same function did not read.
            panic!("an embedded catalogue cannot be read: {error}")
        })
    })
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
