//! The code an agent has loaded: modules of the skills and memories it used, and scripts that run
//! once its program has ended (02 §9.6, §10.3; 04 §8.6).
//!
//! Preparing is apart from holding: a call may have to be refused of what preparing says, and then
//! nothing has changed. What was prepared of a source is not prepared again.
//!
//! Always true: whose code it is decides its key, which stays for the agent's life and is nobody
//! else's; a script is held ready with no module but its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sandbox::arms::{self, Arm};
use sandbox::contract::CodeModule;
use sandbox::docs;
use sandbox::prepare::{Module, PrepareContext, PrepareError, Prepared};
use tokio::time::Instant;

/// Whose code it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A skill.
    Skill(Arc<str>),
    /// A memory.
    Memory(Arc<str>),
}

impl Owner {
    fn name(&self) -> &str {
        match self {
            Self::Skill(name) | Self::Memory(name) => name,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skill(name) => write!(f, "skill `{name}`"),
            Self::Memory(name) => write!(f, "memory `{name}`"),
        }
    }
}

/// Code as its author wrote it; each half is `None` where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Authored {
    /// What programs import.
    pub(super) module: Option<Source>,
    /// What runs on use.
    pub(super) script: Option<Source>,
}

/// A half of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// Its text.
    pub(super) text: Arc<str>,
    /// The extension of a file that holds it, which says what it is written in.
    pub(super) extension: Arc<str>,
}

/// Code that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Rejected {
    /// The module.
    #[error("the code does not compile, so it cannot be imported:\n{0}")]
    Module(String),
    /// The script.
    #[error("the script that runs on use does not compile, so it does not run:\n{0}")]
    Script(String),
    /// It is written in the first of two languages, and programs in the second.
    #[error("its code is written in {0}, and is of no use to programs in {1}")]
    Foreign(&'static str, &'static str),
}

/// A script that is to run once the program has ended.
#[derive(Clone, Debug)]
pub(super) struct Due {
    /// Whose it is.
    pub(super) owner: Owner,
    /// The script, ready to run.
    pub(super) program: Prepared,
}

/// Code that was prepared and is not held yet.
#[derive(Debug)]
pub(super) struct Ready {
    entry: Entry,
    /// The halves that are not, and why.
    pub(super) rejected: Vec<Rejected>,
    took: Option<Duration>,
}

/// The code of one owner.
#[derive(Clone, Debug)]
struct Entry {
    owner: Owner,
    key: String,
    module: Option<Module>,
    /// What the module is written in.
    extension: Option<Arc<str>>,
    /// The module as the documentation shows it.
    documented: Option<docs::Loaded>,
    script: Option<Script>,
}

#[derive(Clone, Debug)]
struct Script {
    source: Source,
    /// The module it was prepared with.
    with: Option<CodeModule>,
    program: Prepared,
}

/// See the module.
#[derive(Default)]
pub(super) struct Loaded {
    /// In the order their owners were first used.
    entries: Vec<Entry>,
    due: Vec<Due>,
    /// Time that preparing took since it was last asked for; `None` where nothing was compiled.
    compiling: Option<Duration>,
}

impl Loaded {
    /// Prepares an owner's code; what is held already and says the same is not prepared again.
    /// Blocks, where the language has a compiler.
    ///
    /// # Errors
    ///
    /// A tool that could not finish: gg's own fault, not the author's.
    pub(super) fn prepare(
        &self,
        arm: &dyn Arm,
        context: &PrepareContext,
        owner: Owner,
        code: &Authored,
    ) -> Result<Ready, PrepareError> {
        let held = self.entries.iter().find(|entry| entry.owner == owner);
        let key = held.map_or_else(
            || {
                let taken = self.entries.iter().map(|entry| entry.key.as_str());
                arms::free_binding_name(arm, owner.name(), taken)
            },
            |entry| entry.key.clone(),
        );
        let began = Instant::now();
        let mut compiled = false;
        let mut rejected = Vec::new();
        let module = match &code.module {
            None => None,
            Some(source) => {
                let same = held.filter(|entry| entry.extension.as_ref() == Some(&source.extension));
                let same = same.and_then(|entry| entry.module.as_ref());
                let same = same.filter(|module| module.module.source == *source.text);
                if let Some(module) = same {
                    Some(module.clone())
                } else {
                    compiled = true;
                    let Source { text, extension } = source;
                    let module = arm.prepare_module_file(extension, text, &key, context);
                    accepted(module, &mut rejected, Rejected::Module)?
                }
            }
        };
        let with = module.as_ref().map(|module| module.module.clone());
        let script = match &code.script {
            None => None,
            Some(source) => {
                let same = held.and_then(|entry| entry.script.as_ref());
                let same = same.filter(|it| it.source == *source && it.with == with);
                if let Some(script) = same {
                    Some(script.clone())
                } else {
                    compiled = true;
                    let own = with.as_slice();
                    let Source { text, extension } = source;
                    let program = arm.prepare_script_file(extension, text, own, context);
                    let program = accepted(program, &mut rejected, Rejected::Script)?;
                    program.map(|program| Script {
                        source: source.clone(),
                        with: with.clone(),
                        program,
                    })
                }
            }
        };
        let documented = module
            .as_ref()
            .map(|module| docs::Loaded::new(arm, module, owner.to_string()));
        Ok(Ready {
            entry: Entry {
                owner,
                key,
                module,
                extension: code.module.as_ref().map(|it| Arc::clone(&it.extension)),
                documented,
                script,
            },
            rejected,
            took: (compiled && arm.prepare_compiles()).then(|| began.elapsed()),
        })
    }

    /// Takes the time that preparing took although nothing of it is held.
    pub(super) fn discard(&mut self, ready: &Ready) {
        if let Some(took) = ready.took {
            *self.compiling.get_or_insert_default() += took;
        }
    }

    /// Holds what was prepared, in the place of what its owner had, and has its script run once the
    /// program has ended; once, however often the program uses it. The key it is imported by.
    pub(super) fn hold(&mut self, ready: Ready) -> String {
        self.discard(&ready);
        let Ready { entry, .. } = ready;
        if let Some(script) = &entry.script {
            self.due.retain(|due| due.owner != entry.owner);
            self.due.push(Due {
                owner: entry.owner.clone(),
                program: script.program.clone(),
            });
        }
        let place = self
            .entries
            .iter()
            .position(|held| held.owner == entry.owner);
        let place = if let Some(place) = place {
            self.entries[place] = entry;
            place
        } else {
            self.entries.push(entry);
            self.entries.len() - 1
        };
        self.entries[place].key.clone()
    }

    /// Lets go of the code of an owner that is gone or carries none any more. Its key stays its own.
    pub(super) fn let_go(&mut self, owner: &Owner) {
        self.due.retain(|due| due.owner != *owner);
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.owner == *owner) {
            entry.module = None;
            entry.documented = None;
            entry.script = None;
        }
    }

    /// What a program may import, as it was written.
    pub(super) fn modules(&self) -> Vec<CodeModule> {
        let modules = self
            .entries
            .iter()
            .filter_map(|entry| entry.module.as_ref());
        modules.map(|module| module.module.clone()).collect()
    }

    /// What the documentation shows of them.
    pub(super) fn documented(&self) -> Vec<docs::Loaded> {
        let entries = self.entries.iter();
        entries
            .filter_map(|entry| entry.documented.clone())
            .collect()
    }

    /// Whose module is imported by a key.
    pub(super) fn owner(&self, key: &str) -> Option<&Owner> {
        let mut entries = self.entries.iter();
        entries
            .find(|entry| entry.key == key)
            .map(|entry| &entry.owner)
    }

    /// The scripts that wait for the end of the program, in the order of their last use.
    pub(super) fn take_due(&mut self) -> Vec<Due> {
        std::mem::take(&mut self.due)
    }

    /// The time that preparing took since this was last asked; `None` where nothing was compiled.
    pub(super) fn take_compiling(&mut self) -> Option<Duration> {
        self.compiling.take()
    }
}

/// What was prepared; what its language refused is `None` and noted.
fn accepted<T>(
    prepared: Result<T, PrepareError>,
    rejected: &mut Vec<Rejected>,
    half: fn(String) -> Rejected,
) -> Result<Option<T>, PrepareError> {
    match prepared {
        Ok(prepared) => Ok(Some(prepared)),
        Err(PrepareError::Rejected { diagnostics, .. }) => {
            rejected.push(half(diagnostics));
            Ok(None)
        }
        Err(fatal) => Err(fatal),
    }
}

#[cfg(test)]
mod tests;
