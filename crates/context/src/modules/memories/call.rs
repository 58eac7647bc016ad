//! From the JSON a model wrote to a call on its memories.

use tools::{Arguments, Faults};
use vocab::failure::{Failure, FailureClass};
use vocab::knowledge::MemoryStrategy;
use vocab::tools::ToolName;

use super::MemoryCode;
use crate::modules::name;

/// A call on memories, checked as far as that goes without the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryCall {
    /// `write_memory`, `create_memory`
    Create {
        /// A legal name.
        name: String,
        /// One line; `None` only where none is shown.
        description: Option<String>,
        /// Not blank.
        body: String,
        /// What code it carries.
        code: MemoryCode,
    },
    /// `update_memory`
    Replace {
        /// The memory.
        name: String,
        /// One line.
        description: Option<String>,
        /// Not blank.
        body: String,
        /// The code it carries from now on; `None` leaves what it has, as tool calls do.
        code: Option<MemoryCode>,
    },
    /// `edit_memory`
    Edit {
        /// The memory.
        name: String,
        /// The text that occurs once; not empty.
        old: String,
        /// What stands there afterwards; another text.
        new: String,
    },
    /// `read_memory`
    Read {
        /// The memory.
        name: String,
    },
    /// `search_memories`
    Search {
        /// At least one, none blank.
        keywords: Vec<String>,
    },
    /// `delete_memory`
    Delete {
        /// The memory.
        name: String,
    },
}

/// Reads the arguments of a call on memories kept in a way.
///
/// # Errors
///
/// `invalid-argument`, every fault named at once; `unavailable` for a call they do not have.
pub fn parse(
    tool: ToolName,
    arguments: &str,
    strategy: MemoryStrategy,
) -> Result<MemoryCall, Failure> {
    if !strategy.calls().contains(&tool) {
        let stray = Stray { tool, strategy };
        return Err(Failure::new(FailureClass::Unavailable, stray.to_string()));
    }
    let known: &'static [&'static str] = match tool {
        ToolName::EditMemory => &["name", "oldString", "newString"],
        ToolName::ReadMemory | ToolName::DeleteMemory => &["name"],
        ToolName::SearchMemories => &["keywords"],
        _ => &["name", "description", "body"],
    };
    let mut given = Arguments::read(arguments, known)?;
    let call = match tool {
        ToolName::SearchMemories => MemoryCall::Search {
            keywords: given.filled_list("keywords"),
        },
        ToolName::EditMemory => {
            let name = given.filled("name");
            let (old, new) = given.replacement();
            MemoryCall::Edit { name, old, new }
        }
        ToolName::ReadMemory => MemoryCall::Read {
            name: given.filled("name"),
        },
        ToolName::DeleteMemory => MemoryCall::Delete {
            name: given.filled("name"),
        },
        ToolName::UpdateMemory => MemoryCall::Replace {
            name: given.filled("name"),
            description: description(&mut given, strategy),
            body: given.filled("body"),
            code: None,
        },
        _ => MemoryCall::Create {
            name: new_name(&mut given),
            description: description(&mut given, strategy),
            body: given.filled("body"),
            code: MemoryCode::default(),
        },
    };
    given.finish(tool)?;
    Ok(call)
}

/// A call that memories kept this way do not have.
#[derive(Debug, thiserror::Error)]
#[error("`{tool}` is no call on {strategy} memories")]
struct Stray {
    tool: ToolName,
    strategy: MemoryStrategy,
}

fn new_name(given: &mut Arguments) -> String {
    let name = given.filled("name");
    check_name(&name, given.faults());
    name
}

/// A name that a call gives to something new. That it is blank has been told.
pub(super) fn check_name(name: &str, faults: &mut Faults) {
    if !name.trim().is_empty()
        && let Err(fault) = name::check("name", name)
    {
        faults.push(fault.to_string());
    }
}

fn description(given: &mut Arguments, strategy: MemoryStrategy) -> Option<String> {
    let text = if strategy.describes() {
        given.filled("description")
    } else {
        given.optional_text("description")?
    };
    described(&text, given.faults())
}

/// A description as it is kept; one that is blank says nothing.
pub(super) fn described(text: &str, faults: &mut Faults) -> Option<String> {
    let text = text.trim();
    if let Err(fault) = name::one_line("description", text) {
        faults.push(fault.to_string());
    }
    (!text.is_empty()).then(|| text.to_owned())
}
