//! What moves by value from an agent to its successor, or is copied for its copy.
//!
//! The inbox and the children are not here: they are the lineage's, and stay with the supervisor.

use std::fmt;

use context::library::Library;
use context::modules::archive::Archive;
use context::modules::memories::MemoryStore;
use context::modules::skills::SkillSet;
use context::modules::tasks::TaskList;
use context::window::Window;

/// See the module.
#[derive(Clone)]
pub struct Estate {
    /// The window, as the last turn left it.
    pub window: Window,
    /// The task list, where there is one.
    pub tasks: Option<TaskList>,
    /// The archive, where there is one.
    pub archive: Option<Archive>,
    /// The skills with what was read of them, where there are some.
    pub skills: Option<SkillSet>,
    /// A copy of the memories, for a copy of their holder that gets its own.
    pub notebook: Option<MemoryStore>,
    /// The programs that are kept, where some are.
    pub library: Option<Library>,
    /// Turns that were answered: numbering goes on from here, and so does what `maxTurns` allows.
    pub turns: u64,
}

impl fmt::Debug for Estate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Estate")
            .field("items", &self.window.items().len())
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}
