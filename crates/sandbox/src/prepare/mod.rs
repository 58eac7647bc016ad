//! From what a model or an author wrote to what a guest runs (05 §8).
//!
//! Always true: what was prepared is a function of its sources alone; what a language refused is told
//! apart from what gg could not do, which is a defect and nothing a model reads.

pub(crate) mod alive;
pub(crate) mod compile;
pub(crate) mod daemon;
pub(crate) mod pool;
pub(crate) mod shared;
pub(crate) mod workspace;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vocab::outcome::ErrorType;

use crate::contract::CodeModule;
use crate::locations::Locations;
use alive::Alive;
use compile::CompilerError;
use daemon::DaemonError;
use shared::Shared;
use workspace::Workspace;

/// A program as its guest runs it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prepared {
    /// Its text for the guest.
    pub source: String,
    /// The modules it may import, as the guest runs them.
    pub modules: Vec<CodeModule>,
    /// From places in what runs to places in what was written.
    pub locations: Locations,
}

impl Prepared {
    /// A program and modules that run as they were written.
    pub fn verbatim(source: &str, modules: &[CodeModule]) -> Self {
        Self {
            source: source.to_owned(),
            modules: modules.to_vec(),
            locations: Locations::default(),
        }
    }
}

/// The code half of a skill or a memory, ready to be imported.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The name it is imported by, and its text as its author wrote it: what
    /// [`Arm::prepare_program`](crate::arms::Arm::prepare_program) is given.
    pub module: CodeModule,
    /// What it exports.
    pub exports: Vec<Export>,
}

impl Module {
    /// A module that runs as it was written, and of which nothing more is known.
    pub fn verbatim(source: &str, key: &str) -> Self {
        Self {
            module: CodeModule {
                key: key.to_owned(),
                source: source.to_owned(),
            },
            exports: Vec::new(),
        }
    }
}

/// One export of a code module, as its documentation shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// Its name.
    pub name: String,
    /// Whether it is called.
    pub function: bool,
    /// How its author declared it, without its body.
    pub declaration: String,
    /// What its author wrote above it, without the marks of a comment.
    pub comment: String,
    /// Names of the module's own types where it returns a value.
    pub returns: Vec<String>,
    /// The same where it takes arguments.
    pub parameters: Vec<String>,
}

/// Which stage of a language refused a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// It does not parse.
    Syntax,
    /// It does not check.
    Compile,
}

impl Band {
    /// The error type of the turn.
    pub fn error_type(self) -> ErrorType {
        match self {
            Self::Syntax => ErrorType::TranspileSyntax,
            Self::Compile => ErrorType::TranspileCompile,
        }
    }
}

/// Why a source was not prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// The language refused it; its author reads why.
    #[error("{diagnostics}")]
    Rejected {
        /// At which stage.
        band: Band,
        /// The compiler's words, bounded.
        diagnostics: String,
    },
    /// A tool crashed, hung or is missing; nothing a model could mend.
    #[error("the toolchain failed: {0}")]
    Toolchain(String),
    /// The program was accepted, and something it stands on was not.
    #[error("`{binding}` could not be prepared again: {message}")]
    Lowering {
        /// Which code module.
        binding: String,
        /// Why, bounded.
        message: String,
    },
}

/// What preparations of one agent share: its tree, made when it is first needed and removed when the
/// last clone is dropped. Clones are the same one; an agent beside it gets one [`beside`](Self::beside)
/// it.
#[derive(Clone, Debug, Default)]
pub struct PrepareContext {
    workspace: Arc<Mutex<Option<Workspace>>>,
    /// What those beside it share too, once any of them has needed it.
    shared: Arc<Mutex<Option<Arc<Shared>>>>,
    /// The compilers at work for any of them.
    alive: Alive,
}

impl PrepareContext {
    /// The context of another agent: a tree of its own, and the same large inputs and warm compilers.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self {
            workspace: Arc::default(),
            shared: Arc::clone(&self.shared),
            alive: self.alive.clone(),
        }
    }

    /// Gives a preparation the agent's tree, reset but for what the arm keeps, and what all agents
    /// share. One preparation at a time: another of the same agent waits.
    pub(crate) fn preparation<T>(
        &self,
        kept: &[&str],
        prepare: impl FnOnce(&mut Workspace, &Shared) -> Result<T, PrepareError>,
    ) -> Result<T, PrepareError> {
        let shared = self.shared()?;
        let mut workspace = self.workspace();
        let workspace = match &mut *workspace {
            Some(workspace) => workspace,
            none => none.insert(Workspace::create(self.alive.clone()).map_err(unusable)?),
        };
        workspace.reset(kept).map_err(unusable)?;
        prepare(workspace, &shared)
    }

    /// What all agents share.
    pub(crate) fn shared(&self) -> Result<Arc<Shared>, PrepareError> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = &*shared {
            return Ok(Arc::clone(shared));
        }
        let made = Shared::create(self.alive.clone()).map_err(unusable)?;
        Ok(Arc::clone(shared.insert(Arc::new(made))))
    }

    fn workspace(&self) -> MutexGuard<'_, Option<Workspace>> {
        // A preparation that panicked left files, which the reset removes.
        self.workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the agent's tree is, where a preparation has needed one.
    #[cfg(test)]
    pub(crate) fn tree(&self) -> Option<std::path::PathBuf> {
        self.workspace().as_ref().map(|tree| tree.path().to_owned())
    }

    /// Kills the compilers at work for this agent and all beside it; what is prepared from then on is
    /// not. For the end of a run.
    pub fn end(&self) {
        self.alive.end();
    }

    /// How often a module was built for this agent.
    #[cfg(test)]
    pub(crate) fn module_builds(&self) -> usize {
        self.workspace()
            .as_ref()
            .map_or(0, Workspace::module_builds)
    }
}

/// A tree that could not be used.
pub(crate) fn unusable(error: std::io::Error) -> PrepareError {
    PrepareError::Toolchain(format!("the compile workspace could not be used: {error}"))
}

impl From<CompilerError> for PrepareError {
    fn from(error: CompilerError) -> Self {
        Self::Toolchain(error.to_string())
    }
}

impl From<DaemonError> for PrepareError {
    fn from(error: DaemonError) -> Self {
        Self::Toolchain(error.to_string())
    }
}
