//! The library of programs, as a program reaches it, and the chain of a submission's programs
//! (02 §11, 04 §6.6).

use std::sync::Arc;

use ::context::library::{self, Chain, KeptProgram, Next, NoId};
use config::policies::LibraryPolicy;
use config::profile::Profile;
use cuid2::CuidConstructor;
use record::event::LogLevel;
use sandbox::contract as wit;
use sandbox::services::{Call, Programs};
use vocab::failure::{Failure, FailureClass};
use vocab::operations::OPERATIONS;

use super::Serving;
use super::given::count;
use crate::agent::turns::Turns;

/// The programs an agent keeps, and the submission that runs.
#[derive(Debug, Default)]
pub(in crate::agent) struct Library {
    /// `None` where it keeps none.
    pub(in crate::agent) kept: Option<library::Library>,
    chain: Chain,
}

impl Library {
    /// The empty one of a new agent.
    pub(in crate::agent) fn of(profile: &Profile) -> Self {
        Self {
            kept: profile.library().map(library::Library::new),
            chain: Chain::default(),
        }
    }

    /// Takes over what a predecessor or an original kept, as far as this agent keeps programs.
    pub(in crate::agent) fn inherit(&mut self, came: Option<library::Library>) {
        if let (Some(own), Some(mut came)) = (&mut self.kept, came) {
            came.rebind(own.policy());
            *own = came;
        }
    }

    /// The id that a submission is acknowledged with; `None` where no programs are kept.
    ///
    /// # Errors
    ///
    /// No unused id could be found: a defect.
    pub(in crate::agent) fn issue(&mut self) -> Result<Option<Arc<str>>, NoId> {
        let mint = |length: u8| {
            CuidConstructor::new()
                .with_length(length.into())
                .create_id()
        };
        self.kept.as_mut().map(|kept| kept.issue(mint)).transpose()
    }

    /// A submission begins: nothing has been handed over to.
    pub(in crate::agent) fn begin(&mut self) {
        self.chain = Chain::default();
    }

    /// What comes behind a program of the submission, by whether it failed and whether an ending
    /// of the session stands behind it.
    pub(in crate::agent) fn ended(&mut self, failed: bool, ends: bool) -> Next {
        self.chain.ended(failed, ends)
    }

    /// How many programs of the submission have ended.
    pub(in crate::agent) const fn ran(&self) -> u32 {
        self.chain.ran()
    }

    /// Keeps what a submission came to.
    pub(in crate::agent) fn keep(&mut self, program: KeptProgram) {
        if let Some(kept) = &mut self.kept {
            kept.keep(program);
        }
    }
}

impl Turns {
    /// Tells the operator which programs are kept, and by which calls they are reached (02 §11).
    pub(in crate::agent) fn tell_library(&self) {
        let (Some(kept), Some(programs)) = (&self.code.library.kept, &self.surface.code) else {
            return;
        };
        let LibraryPolicy { keep, id_length } = kept.policy();
        let many = match keep {
            0 => "all its programs".to_owned(),
            1 => "its last program".to_owned(),
            keep => format!("its last {keep} programs"),
        };
        let calls = OPERATIONS.iter().filter(|row| row.module() == "programs");
        let calls: Vec<_> = calls.filter_map(|row| programs.named(row.id)).collect();
        let by = match calls.as_slice() {
            [] => "none of its calls reaches them".to_owned(),
            calls => format!("it reaches them by {}", calls.join(", ")),
        };
        let text = format!("keeps {many}, under ids of {id_length} characters; {by}");
        let voice = &self.links.voice;
        voice.log(LogLevel::Info, Some("program_library"), text);
    }
}

impl Programs for Serving {
    fn history(&mut self, _: &Call) -> Result<Vec<wit::ProgramEntry>, Failure> {
        let kept = self.library()?;
        Ok(kept.programs().map(entry).collect())
    }

    fn get(&mut self, _: &Call, id: Option<String>) -> Result<String, Failure> {
        let kept = self.library()?;
        Ok(kept.get(id.as_deref().map(str::trim))?.source.to_string())
    }

    fn rerun(&mut self, _: &Call, source: String) -> Result<(), Failure> {
        self.library()?;
        self.held()?.0.code.library.chain.hand_over(source)
    }
}

impl Serving {
    /// The programs that are kept. Whoever keeps none is not offered to ask.
    fn library(&mut self) -> Result<&library::Library, Failure> {
        let kept = self.held()?.0.code.library.kept.as_ref();
        kept.ok_or_else(|| Failure::new(FailureClass::Unavailable, "none of your programs is kept"))
    }
}

fn entry(program: &KeptProgram) -> wit::ProgramEntry {
    wit::ProgramEntry {
        id: program.id.to_string(),
        turn: program.turn,
        lines: count(program.lines()),
        chars: count(program.chars()),
        ok: program.error.is_none(),
        error: program.error.as_deref().map(str::to_owned),
        opening: program.opening,
    }
}
