//! Memories as the window shows them: all of them, their index, or what others changed.

use serde::Serialize;
use vocab::knowledge::MemoryStrategy;
use vocab::tools::ToolName;

use super::notices::{NetChange, NoticeLine};
use super::{MemoryStore, News};
use crate::prompts::{self, PromptError};

/// What the block's template may reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryBlock<'a> {
    /// Whether bodies are shown; else the index.
    pub bodies: bool,
    /// The memories, by name.
    pub memories: Vec<BlockMemory<'a>>,
}

/// A memory of the block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockMemory<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: Option<&'a str>,
    /// Its body, where bodies are shown.
    pub body: Option<&'a str>,
}

/// What the notice's template may reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryNotice<'a> {
    /// The call that reads a memory, where something can be read and is not shown.
    pub read: Option<&'a str>,
    /// What became of which memory.
    pub lines: Vec<NoticeRow<'a>>,
}

/// A memory of the notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeRow<'a> {
    /// `added`, `updated`, `deleted`.
    pub change: NetChange,
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: Option<&'a str>,
    /// The lines of its body, where bodies are shown.
    pub body: Vec<&'a str>,
}

impl MemoryStore {
    /// The block; `None` for an empty store, and where memories do not stand in the window.
    pub fn block(&self) -> Result<Option<String>, PromptError> {
        let strategy = self.policy().strategy;
        let bodies = strategy == MemoryStrategy::Scratchpad;
        let memories: Vec<_> = self
            .memories()
            .filter(|_| strategy.in_window())
            .map(|(name, memory)| BlockMemory {
                name,
                description: memory.description.as_deref(),
                body: bodies.then_some(&*memory.body),
            })
            .collect();
        if memories.is_empty() {
            return Ok(None);
        }
        prompts::memories(&MemoryBlock { bodies, memories }).map(Some)
    }
}

impl News {
    /// The notice, in the words of memories kept in a way; `None` where there is nothing to tell.
    /// `read` is how the agent spells [`ToolName::ReadMemory`], where it has that call.
    pub fn notice(
        &self,
        strategy: MemoryStrategy,
        read: Option<&str>,
    ) -> Result<Option<String>, PromptError> {
        if self.lines.is_empty() {
            return Ok(None);
        }
        let inline = !strategy.calls().contains(&ToolName::ReadMemory);
        let readable = self
            .lines
            .iter()
            .any(|line| line.change != NetChange::Deleted);
        prompts::memory_notice(&MemoryNotice {
            read: read.filter(|_| readable && !inline),
            lines: self.lines.iter().map(|line| row(line, inline)).collect(),
        })
        .map(Some)
    }
}

fn row(line: &NoticeLine, inline: bool) -> NoticeRow<'_> {
    NoticeRow {
        change: line.change,
        name: &line.name,
        description: line.description.as_deref(),
        body: line
            .body
            .as_deref()
            .filter(|_| inline)
            .map(|body| body.lines().collect())
            .unwrap_or_default(),
    }
}
