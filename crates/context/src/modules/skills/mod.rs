//! Skills: pre-authored knowledge, listed in the system prompt and read on demand (02 §10).
//!
//! `directory` reads what is authored, `built_in` makes manuals of the calls an agent has,
//! [`Catalogue`] is what one agent is offered, [`SkillSet`] what it has read of it.
//!
//! Always true: a catalogue is ordered by name and names each skill once; it never changes.
//!
//! Code that a skill carries is read and judged, and left to the arm that can prepare it.

mod answers;
mod built_in;
mod catalogue;
mod directory;
mod front_matter;
mod language;

pub use built_in::{Families, Manual, ManualTool, Parameter, manuals};
pub use catalogue::{Catalogue, SkillError, SkillRead, SkillRow, SkillSet};
pub use directory::{Content, DEFAULT_DIR, Directory, Listing, SkillRefusal, Spoiled};
pub use front_matter::FrontMatterFault;
pub use language::Foreign;

use std::sync::Arc;

use vocab::knowledge::BuiltInSkill;

/// One skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// What it is read by.
    pub name: Arc<str>,
    /// When to use it, in one line.
    pub description: Arc<str>,
    /// Its text without front matter; empty where a directory holds code alone.
    pub body: Arc<str>,
    /// Where it comes from.
    pub origin: SkillOrigin,
    /// What code it carries, in order of file names.
    pub code: Vec<CodeFile>,
}

impl Skill {
    /// Whether it carries a half of code in any language.
    pub fn carries(&self, half: CodeHalf) -> bool {
        self.code.iter().any(|file| file.half == half)
    }
}

/// Where a skill comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillOrigin {
    /// A file, relative to the directory of skills.
    File(String),
    /// gg itself.
    BuiltIn(BuiltInSkill),
}

/// What a file of code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeHalf {
    /// `skill.<ext>`: a module to import.
    Module,
    /// `on-use.<ext>`: a script run on every use.
    Script,
}

/// A file of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// What it is for.
    pub half: CodeHalf,
    /// The extension, without its dot; it says the language.
    pub extension: String,
    /// Its text, not blank.
    pub text: Arc<str>,
}

#[cfg(test)]
mod tests;
