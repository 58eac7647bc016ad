//! Bands: what a window's tokens are spent on, in the one order used everywhere (02 §1.2).

use crate::words::words;

words! {
    /// The kind of material a window item is.
    Band ("band") {
        /// The system prompt, gg's notices, and the tool schemas (R31).
        System = "system",
        /// The build prompt or a brief.
        UserPrompt = "user_prompt",
        /// What the model wrote: text, tool calls, programs.
        Assistant = "assistant",
        /// Results of requested tools.
        ToolOutput = "tool_output",
        /// A program that did not compile: nothing of it ran.
        CompilerError = "compiler_error",
        /// A program that threw or hit a limit: its earlier work stands.
        RuntimeError = "runtime_error",
        /// File contents read in.
        FileView = "file_view",
        /// Material a program composed, by label.
        TextView = "text_view",
        /// Documentation views.
        DocsView = "docs_view",
        /// The last documentation search.
        SearchResults = "search_results",
        /// Bodies of used skills.
        Skill = "skill",
        /// The memory block or index.
        Memory = "memory",
        /// The task list.
        TaskList = "task_list",
        /// Always empty: the board never stands in a prompt.
        Board = "board",
        /// Superseded copies and earlier material that cannot be attributed.
        History = "history",
    }
}

impl Band {
    /// The name a model reads in the context-usage signal.
    pub const fn label(self) -> &'static str {
        match self {
            Self::System => "System Prompt",
            Self::UserPrompt => "Task Prompt",
            Self::Assistant => "Your Messages",
            Self::ToolOutput => "Tool Output",
            Self::CompilerError => "Compiler Errors",
            Self::RuntimeError => "Runtime Errors",
            Self::FileView => "File Views",
            Self::TextView => "Text Views",
            Self::DocsView => "Documentation",
            Self::SearchResults => "Doc Search",
            Self::Skill => "Skills",
            Self::Memory => "Memories",
            Self::TaskList => "Tasks",
            Self::Board => "Board",
            Self::History => "History",
        }
    }
}

/// Tokens per band. The index is the band's place in [`Band::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BandTokens([u64; Band::ALL.len()]);

impl BandTokens {
    /// The tokens of one band.
    pub const fn of(&self, band: Band) -> u64 {
        self.0[band as usize]
    }

    /// Adds to one band.
    pub const fn add(&mut self, band: Band, tokens: u64) {
        self.0[band as usize] += tokens;
    }

    /// Takes from one band what an earlier [`add`](Self::add) put there.
    pub const fn remove(&mut self, band: Band, tokens: u64) {
        self.0[band as usize] -= tokens;
    }

    /// The sum over all bands.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every band with its tokens, in order, empty ones included.
    pub fn iter(&self) -> impl Iterator<Item = (Band, u64)> + '_ {
        Band::ALL.iter().map(|&band| (band, self.of(band)))
    }
}

impl serde::Serialize for BandTokens {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> serde::Deserialize<'de> for BandTokens {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = std::collections::BTreeMap::<Band, u64>::deserialize(deserializer)?;
        let mut bands = Self::default();
        for (band, tokens) in map {
            bands.add(band, tokens);
        }
        Ok(bands)
    }
}
