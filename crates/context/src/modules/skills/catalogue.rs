//! What one agent is offered to read, and what it has read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tools::Arguments;
use vocab::failure::{Failure, FailureClass};
use vocab::listed::Listed;
use vocab::tools::ToolName;

use super::Skill;
use crate::modules::{Module, ModuleKind};

/// The skills of one agent, by name. Shared by its copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    skills: BTreeMap<Arc<str>, Arc<Skill>>,
}

impl Catalogue {
    /// What is authored, and the built-in manuals that no authored skill's name displaces.
    pub fn new(authored: &[Arc<Skill>], built_in: impl IntoIterator<Item = Skill>) -> Self {
        let built_in = built_in.into_iter().map(Arc::new);
        // The later of two entries of one name stands.
        let skills = built_in
            .chain(authored.iter().cloned())
            .map(|skill| (Arc::clone(&skill.name), skill))
            .collect();
        Self { skills }
    }

    /// Whether there is nothing to read: then the agent has no call to read with.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The skills, by name.
    pub fn skills(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.skills.values()
    }
}

/// Why a skill is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no skill `{name}`; there are {}", Listed(.held))]
pub struct SkillError {
    /// The name.
    pub name: String,
    /// The skills there are.
    pub held: Vec<Arc<str>>,
}

impl From<SkillError> for Failure {
    fn from(error: SkillError) -> Self {
        Self::not_found(error.to_string())
    }
}

/// A skill that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRead {
    /// The skill.
    pub skill: Arc<Skill>,
    /// Whether it is the first time: then its text is pinned, in the band of skills, with its
    /// name as selector.
    pub first: bool,
}

impl SkillRead {
    /// Whether the result is to be pinned: it carries a text that the window does not hold yet.
    pub fn pins(&self) -> bool {
        self.first && !self.skill.body.is_empty()
    }
}

/// A skill as `skills_state` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRow {
    /// Its name.
    pub name: Arc<str>,
    /// Its description.
    pub description: Arc<str>,
    /// Whether the agent has read it.
    pub read: bool,
}

/// A catalogue, and what its agent has read of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillSet {
    catalogue: Arc<Catalogue>,
    read: BTreeSet<Arc<str>>,
}

impl SkillSet {
    /// Nothing read yet.
    pub const fn new(catalogue: Arc<Catalogue>) -> Self {
        Self {
            catalogue,
            read: BTreeSet::new(),
        }
    }

    /// What there is to read.
    pub const fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Reads the arguments of `read_skill`: the name.
    pub fn parse(tool: ToolName, arguments: &str) -> Result<String, Failure> {
        if tool != ToolName::ReadSkill {
            return Err(Failure::new(
                FailureClass::Unavailable,
                Stray(tool).to_string(),
            ));
        }
        let mut given = Arguments::read(arguments, &["name"])?;
        let name = given.filled("name");
        given.finish(tool)?;
        Ok(name)
    }

    /// Reads a skill. Whatever succeeds the first time is followed by one `skills_state`.
    pub fn read(&mut self, name: &str) -> Result<SkillRead, SkillError> {
        let Some(skill) = self.catalogue.skills.get(name) else {
            return Err(SkillError {
                name: name.to_owned(),
                held: self.catalogue.skills.keys().cloned().collect(),
            });
        };
        Ok(SkillRead {
            first: self.read.insert(Arc::clone(&skill.name)),
            skill: Arc::clone(skill),
        })
    }

    /// The skills with whether each was read, by name.
    pub fn rows(&self) -> Vec<SkillRow> {
        let row = |skill: &Arc<Skill>| SkillRow {
            name: Arc::clone(&skill.name),
            description: Arc::clone(&skill.description),
            read: self.read.contains(&skill.name),
        };
        self.catalogue.skills().map(row).collect()
    }

    /// Forgets what was read, since the window that held it is gone.
    pub fn forget(&mut self) {
        self.read.clear();
    }
}

/// A tool of another family.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` reads no skill")]
struct Stray(ToolName);

impl Module for SkillSet {
    const KIND: ModuleKind = ModuleKind::Skills;
    type Shape = Arc<Catalogue>;

    /// The catalogue is shared, what was read copied.
    fn copy(&self) -> Self {
        self.clone()
    }

    /// The catalogue is the receiver's. What was read stays read, as the window holds it.
    fn rebind(&mut self, shape: &Arc<Catalogue>) -> bool {
        self.catalogue = Arc::clone(shape);
        true
    }
}
