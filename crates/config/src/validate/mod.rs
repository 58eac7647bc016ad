//! Total validation: every value of a document judged at once (01 §3.2).
//!
//! First each value is judged where it stands, then what refers to something else. A value that
//! was refused takes no part in the second step, so that one fault gives one refusal.
//!
//! Always true: [`Checked::launch`] is there exactly when nothing was refused.

mod bounds;
mod declarations;
mod fields;
mod grants;
mod hooks;
mod limits;
mod machine;
mod models;
mod profile;
mod references;
mod run;
mod settings;

use std::path::PathBuf;

use vocab::ids::ModelId;
use vocab::language::ProgramLanguage;

pub(crate) use crate::document::Kind;
use crate::document::Object;
use crate::launch::Launch;
use crate::refusal::{Refusal, Report};
pub(crate) use bounds::{Count, Shape, Span};
pub(crate) use fields::Fields;

/// What a check found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The typed document, where nothing was refused.
    pub launch: Option<Launch>,
    /// Every bad value, in the order of the document's own check.
    pub refusals: Vec<Refusal>,
    /// What is legal and probably not meant, a sentence each.
    pub warnings: Vec<String>,
    /// What could be read even so.
    pub loose: Loose,
}

/// What later checks need, so that their refusals join the same list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loose {
    /// The workspace, where an absolute path is written.
    pub workspace_dir: Option<PathBuf>,
    /// Locus and text of each whole-template override.
    pub system_prompts: Vec<(String, String)>,
    /// Each directory that an agent's skills are read from.
    pub skill_dirs: Vec<SkillDir>,
    /// Locus and language of each agent that answers with programs.
    pub languages: Vec<(String, ProgramLanguage)>,
    /// The memory that programs of each such agent have.
    pub program_memory: Vec<ProgramMemory>,
    /// Whether some agent has the board on.
    pub board: bool,
    /// Every bound model that needs the network, once each.
    pub live_models: Vec<ModelId>,
    /// Every bound model that runs in the process, once each.
    pub mock_models: Vec<ModelId>,
}

/// How much memory an agent's programs have; how much they need is their language's to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramMemory {
    /// Where it is written.
    pub locus: String,
    /// The language of the programs.
    pub language: ProgramLanguage,
    /// How much, as it is written.
    pub bytes: u64,
}

/// A directory of skills, as an agent names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillDir {
    /// Where it is written.
    pub locus: String,
    /// As it is written.
    pub dir: String,
    /// The language of the agent's programs, where it answers with some: what of the skills' code it
    /// can use.
    pub language: Option<ProgramLanguage>,
}

/// Judges a document.
pub(crate) fn check(root: &Object) -> Checked {
    let report = Report::default();
    let (launch, loose) = run::read(&report, root);
    let (refusals, warnings) = report.into_parts();
    debug_assert!(
        launch.is_some() || !refusals.is_empty(),
        "a document without a refusal is read whole"
    );
    Checked {
        launch: launch.filter(|_| refusals.is_empty()),
        refusals,
        warnings,
        loose,
    }
}
