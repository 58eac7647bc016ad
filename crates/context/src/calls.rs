//! How an agent's calls are named to it: as tools, or as functions of the language of its programs.
//!
//! Always true: what is said to a code agent of a call names a function of its language, never a tool.

use std::sync::Arc;

use vocab::tools::ToolName;

/// See the module. The default names tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallNames(Option<Arc<Functions>>);

/// The functions of one language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// The function that does what a tool does, for every tool that has one.
    pub calls: Vec<(ToolName, String)>,
    /// The module that holds the functions on the agent's own window, as a program spells it.
    pub context: String,
    /// The same of its memories.
    pub memories: String,
}

impl CallNames {
    /// Of an agent that writes programs.
    pub fn functions(functions: Functions) -> Self {
        Self(Some(functions.into()))
    }

    /// The functions, of an agent that writes programs.
    pub fn as_functions(&self) -> Option<&Functions> {
        self.0.as_deref()
    }

    /// Whether the agent writes programs.
    pub const fn is_code(&self) -> bool {
        self.0.is_some()
    }

    /// How a call is named.
    pub fn of(&self, tool: ToolName) -> &str {
        let named = self.0.as_ref().and_then(|functions| {
            let mut calls = functions.calls.iter();
            calls.find(|(of, _)| *of == tool)
        });
        named.map_or(tool.as_str(), |(_, name)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_by_its_function_where_programs_are_written() {
        let tools = CallNames::default();
        assert_eq!(tools.of(ToolName::Compact), "compact");
        assert!(!tools.is_code());
        let functions = CallNames::functions(Functions {
            calls: vec![(ToolName::Compact, "context.compact".to_owned())],
            context: "context".to_owned(),
            memories: "memories".to_owned(),
        });
        assert_eq!(functions.of(ToolName::Compact), "context.compact");
        assert_eq!(functions.of(ToolName::Shell), "shell");
        assert!(functions.is_code());
    }
}
