//! Programs that an agent ran, kept for it outside of its window (02 §11, 04 §6.6).
//!
//! An entry stands for one submission: the source that executed last, and what became of it. `chain`
//! is how one program hands over to another within a submission.
//!
//! Nothing here is shown to a model but by the calls of `programs`; no compaction, eviction or close
//! comes near it.
//!
//! Always true: no id is issued twice, also after its entry has gone; entries stand in the order their
//! programs ran; at most `keep` are held, where that is not 0.

mod chain;
#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use config::policies::LibraryPolicy;
use vocab::failure::Failure;

pub use chain::{Chain, Declined, MAX_PROGRAMS, Next};

/// How often an id is made anew before gg gives up.
const ATTEMPTS: u32 = 16;

/// Characters an id may be longer than it is to be, where there is no other.
const MORE: u8 = 4;

/// A program that ran, or was rejected before it could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptProgram {
    /// Issued when its submission was acknowledged.
    pub id: Arc<str>,
    /// The turn of its submission; 0 of what opened the session.
    pub turn: u32,
    /// What executed last, as it was.
    pub source: Arc<str>,
    /// What went wrong, in the words the model was shown; `None` where it ran to its end.
    pub error: Option<Arc<str>>,
    /// Whether gg wrote it.
    pub opening: bool,
}

impl KeptProgram {
    /// Lines of its source.
    pub fn lines(&self) -> u64 {
        self.source.lines().count() as u64
    }

    /// Characters of its source.
    pub fn chars(&self) -> u64 {
        self.source.chars().count() as u64
    }
}

/// Every id that was made had been issued before: a defect, since there are millions of the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no unused id of {length} or a few more characters for a program was found; \
     {issued} are in use"
)]
pub struct NoId {
    /// Characters an id has.
    pub length: u8,
    /// Ids that were issued.
    pub issued: usize,
}

/// One agent's programs. A clone is the library of a copy of its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    policy: LibraryPolicy,
    programs: VecDeque<KeptProgram>,
    issued: HashSet<Arc<str>>,
}

impl Library {
    /// An empty one.
    pub fn new(policy: LibraryPolicy) -> Self {
        Self {
            policy,
            programs: VecDeque::new(),
            issued: HashSet::new(),
        }
    }

    /// What its agent's profile says of it.
    pub const fn policy(&self) -> LibraryPolicy {
        self.policy
    }

    /// Issues the id of a submission. `mint` makes an id of so many characters: as many as the policy
    /// says, and one more wherever those are as good as used up, since a submission has an id however
    /// many there were before it.
    ///
    /// # Errors
    ///
    /// [`NoId`], where each of sixteen is in use, of every length up to four more.
    pub fn issue(&mut self, mut mint: impl FnMut(u8) -> String) -> Result<Arc<str>, NoId> {
        let length = self.policy.id_length;
        for length in length..=length.saturating_add(MORE) {
            for _ in 0..ATTEMPTS {
                let id: Arc<str> = mint(length).into();
                if self.issued.insert(Arc::clone(&id)) {
                    return Ok(id);
                }
            }
        }
        Err(NoId {
            length,
            issued: self.issued.len(),
        })
    }

    /// Keeps what a submission came to; the oldest goes where there are too many.
    pub fn keep(&mut self, program: KeptProgram) {
        self.programs.push_back(program);
        self.shorten();
    }

    /// The programs held, oldest first.
    pub fn programs(&self) -> impl ExactSizeIterator<Item = &KeptProgram> {
        self.programs.iter()
    }

    /// A program by its id, else the most recent one.
    ///
    /// # Errors
    ///
    /// `not-found`, with the ids that are held.
    pub fn get(&self, id: Option<&str>) -> Result<&KeptProgram, Failure> {
        let found = match id {
            None => self.programs.back(),
            Some(id) => self.programs.iter().find(|program| *program.id == *id),
        };
        found.ok_or_else(|| {
            let held: Vec<_> = self
                .programs
                .iter()
                .map(|program| format!("`{}` (turn {})", program.id, program.turn))
                .collect();
            let held = match held.as_slice() {
                [] => "no program is kept yet".to_owned(),
                held => format!("kept are {}", held.join(", ")),
            };
            Failure::not_found(match id {
                Some(id) => format!("there is no program `{id}`; {held}"),
                None => held,
            })
        })
    }

    /// Hands it to an agent of another profile: what that keeps stays, what is too much goes.
    pub fn rebind(&mut self, policy: LibraryPolicy) {
        self.policy = policy;
        self.shorten();
    }

    fn shorten(&mut self) {
        let keep = match self.policy.keep {
            0 => return,
            keep => usize::try_from(keep).unwrap_or(usize::MAX),
        };
        let over = self.programs.len().saturating_sub(keep);
        self.programs.drain(..over);
    }
}
