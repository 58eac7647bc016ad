//! What a search finds and a page is of.

use super::{bare, search::EntryKind};
use crate::arms::Arm;
use crate::catalogue::{Function, Module, Type};
use crate::prepare::{self, Export};

/// Code of a skill or a memory that an agent loaded, as its documentation shows it (04 §8.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The name programs import it by.
    pub key: String,
    /// The line that imports it.
    pub import: String,
    /// What it was loaded from, as one line.
    pub about: String,
    /// What it exports.
    pub exports: Vec<Export>,
    /// How each export is reached, in the same order.
    pub names: Vec<String>,
}

impl Loaded {
    /// A module that was prepared for an arm.
    pub fn new(arm: &dyn Arm, module: &prepare::Module, about: impl Into<String>) -> Self {
        let key = &module.module.key;
        Self {
            key: key.clone(),
            import: arm.lib_import(key),
            about: about.into(),
            exports: module.exports.clone(),
            names: module
                .exports
                .iter()
                .map(|export| arm.lib_access(key, &export.name))
                .collect(),
        }
    }

    /// How an export is reached.
    fn name_of<'a>(&'a self, export: &'a Export) -> &'a str {
        let at = self.exports.iter().position(|one| one == export);
        at.and_then(|at| self.names.get(at))
            .map_or(&export.name, String::as_str)
    }
}

/// One entry of the documentation.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// A module of gg's.
    Module(&'a Module),
    /// A call of gg's.
    Function(&'a Function),
    /// A type of gg's.
    Type(&'a Type),
    /// A module the agent loaded.
    LoadedModule(&'a Loaded),
    /// What such a module exports.
    Export(&'a Loaded, &'a Export),
}

impl<'a> Entry<'a> {
    /// The name its page is filed under, in full.
    pub fn key(&self) -> &'a str {
        match self {
            Self::Module(module) => &module.path,
            Self::Function(function) => &function.fqn,
            Self::Type(declared) => &declared.fqn,
            Self::LoadedModule(module) => &module.key,
            Self::Export(module, export) => module.name_of(export),
        }
    }

    /// What it is.
    pub fn kind(&self) -> EntryKind {
        match self {
            Self::Module(_) | Self::LoadedModule(_) => EntryKind::Module,
            Self::Function(_) => EntryKind::Function,
            Self::Export(_, export) if export.function => EntryKind::Function,
            Self::Type(_) | Self::Export(..) => EntryKind::Type,
        }
    }

    /// The id of its module.
    pub fn module(&self) -> &'a str {
        match self {
            Self::Module(module) => &module.id,
            Self::Function(function) => &function.module,
            Self::Type(declared) => &declared.module,
            Self::LoadedModule(module) | Self::Export(module, _) => &module.key,
        }
    }

    /// Its name without what stands before it.
    pub fn name(&self) -> &'a str {
        match self {
            Self::Module(module) => &module.id,
            Self::Function(function) => &function.name,
            Self::Type(declared) => bare(&declared.fqn),
            Self::LoadedModule(module) => &module.key,
            Self::Export(_, export) => &export.name,
        }
    }

    /// One line on it.
    pub fn summary(&self) -> &'a str {
        match self {
            Self::Module(module) => &module.brief,
            Self::Function(function) => &function.brief,
            Self::Type(declared) => &declared.brief,
            Self::LoadedModule(module) => &module.about,
            Self::Export(_, export) => match export.comment.lines().next() {
                Some(line) if !line.trim().is_empty() => line.trim(),
                _ => &export.declaration,
            },
        }
    }

    /// How it is written: what a search looks through after its name.
    pub(super) fn notation(&self) -> String {
        match self {
            Self::Module(module) => module.path.clone(),
            Self::Function(function) => {
                let texts = function.signatures.iter().map(|one| one.text.as_str());
                std::iter::once(function.fqn.as_str())
                    .chain(texts)
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            Self::Type(declared) => format!("{} {}", declared.fqn, declared.declaration),
            Self::LoadedModule(module) => module.import.clone(),
            Self::Export(module, export) => {
                format!("{} {}", module.name_of(export), export.declaration)
            }
        }
    }

    /// All else that is said of it: what a search looks through last.
    pub(super) fn detail(&self) -> String {
        let mut parts: Vec<&str> = Vec::new();
        match self {
            Self::Module(module) => parts.extend(module.detail.as_deref()),
            Self::Function(function) => {
                parts.extend(function.detail.as_deref());
                let arguments = function.signatures.iter().flat_map(|one| &one.arguments);
                for argument in arguments {
                    parts.push(&argument.description);
                    let fields = argument.fields.iter().flatten();
                    parts.extend(fields.flat_map(|field| [&*field.name, &*field.description]));
                }
            }
            Self::Type(declared) => {
                parts.extend(declared.detail.as_deref());
                let members = declared.members.iter();
                parts.extend(members.flat_map(|one| [&*one.name, &*one.description]));
            }
            Self::LoadedModule(_) => {}
            Self::Export(_, export) => parts.push(&export.comment),
        }
        parts.join("\n")
    }
}
