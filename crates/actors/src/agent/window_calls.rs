//! The calls by which an agent changes its own window: evict, archive, search, compact (02 §6.3,
//! §7.2).

use std::sync::Arc;

use context::compaction::{self, CompactionStrategy};
use context::modules::ModuleKind;
use context::modules::archive::ArchivedCall;
use context::prompts::PromptError;
use context::window::{Archived, Evicted};
use context::{managed, tokens};
use record::event::{ContextManaged, Event, ManagedAction};
use tools::Done;
use vocab::failure::{Failure, FailureClass};
use vocab::message::Image;
use vocab::tools::ToolName;

use super::records::archive_state;
use super::tool_turn::Answer;
use super::turns::Turns;

/// Why a call changed nothing.
enum Undone {
    /// The model is told.
    Refused(Failure),
    /// What would stand in the window does not render: a defect.
    NoText(PromptError),
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<PromptError> for Undone {
    fn from(error: PromptError) -> Self {
        Self::NoText(error)
    }
}

impl Turns {
    /// Carries out a call on the window.
    pub(super) fn window_call(&mut self, turn: u32, tool: ToolName, arguments: &str) -> Answer {
        let answered = match tool {
            ToolName::EvictFileView => self.evict(turn, arguments),
            ToolName::ArchiveThread => self.archive(turn, arguments),
            ToolName::SearchArchive => self.search(arguments).map_err(Undone::from),
            ToolName::Compact => self.compact(arguments).map_err(Undone::from),
            other => Err(Undone::from(Failure::new(
                FailureClass::Unavailable,
                format!("`{other}` does not change your window"),
            ))),
        };
        match answered {
            Ok(text) => Answer::of(Ok(Done {
                text,
                ..Done::default()
            })),
            Err(Undone::Refused(failure)) => Answer::failed(failure),
            Err(Undone::NoText(error)) => {
                Answer::defect(format!("a text of gg's own does not render: {error}"))
            }
        }
    }

    fn evict(&mut self, turn: u32, arguments: &str) -> Result<String, Undone> {
        let path = managed::read_evict(arguments)?;
        let evicted = managed::evict(&mut self.window, path.as_deref(), self.upkeep.headers)?;
        if evicted.items > 0 {
            self.report_managed(turn, eviction(&evicted));
        }
        Ok(managed::evicted_text(&evicted))
    }

    fn archive(&mut self, turn: u32, arguments: &str) -> Result<String, Undone> {
        let ranges = managed::read_archive(arguments)?;
        let archived = managed::archive(&mut self.window, &ranges, turn)?;
        let Some(archive) = &mut self.upkeep.archive else {
            return Err(not_held().into());
        };
        for swept in &archived.entries {
            archive.store(
                swept.turn,
                swept.band,
                swept.role,
                swept.text.clone(),
                swept.call.as_ref().map(|call| ArchivedCall {
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                }),
            );
        }
        let stored = archive.entries().len();
        if archived.items > 0 {
            let state = archive_state(self.held.store(ModuleKind::Archive), archive);
            self.held.changed.push(state);
            self.report_managed(turn, archival(&archived));
        }
        Ok(managed::archived_text(&archived, stored))
    }

    fn search(&self, arguments: &str) -> Result<String, Failure> {
        let archive = self.upkeep.archive.as_ref().ok_or_else(not_held)?;
        let query = managed::read_search(arguments)?;
        Ok(managed::found_text(&archive.search(&query)))
    }

    fn compact(&mut self, arguments: &str) -> Result<String, Failure> {
        let compaction = self.upkeep.compaction.as_mut();
        let own = compaction.filter(|it| it.strategy() == CompactionStrategy::SelfCompaction);
        let Some(compaction) = own else {
            return Err(Failure::new(
                FailureClass::Unavailable,
                "your window is not compacted by this call",
            ));
        };
        let call = compaction::read_compact(arguments)?;
        let told = managed::compacting_text(&call);
        compaction.register(call);
        Ok(told)
    }

    /// A result under its turn's header, where the agent may archive turns, and what it costs.
    pub(super) fn headed(
        &self,
        turn: u32,
        body: Arc<str>,
        counted: Option<u64>,
        images: &[Image],
    ) -> (Arc<str>, Option<u64>) {
        if !self.upkeep.headers {
            return (body, counted);
        }
        let cost = counted.unwrap_or_else(|| {
            tokens::count(&body) + images.iter().map(Image::tokens).sum::<u64>()
        });
        let header = managed::turn_header(turn, cost);
        let total = tokens::count(&header) + cost;
        (format!("{header}{body}").into(), Some(total))
    }

    fn report_managed(&self, turn: u32, event: ContextManaged) {
        self.links
            .voice
            .say_in_turn(turn, Event::ContextManaged(event));
    }
}

fn eviction(evicted: &Evicted) -> ContextManaged {
    ContextManaged {
        action: ManagedAction::EvictFileViews,
        reclaimed_tokens: evicted.tokens,
        items: evicted.items as u64,
        detail: evicted.paths.join(", "),
        first_index: evicted.first_index.map(|index| index as u64),
    }
}

fn archival(archived: &Archived) -> ContextManaged {
    ContextManaged {
        action: ManagedAction::ArchiveThread,
        reclaimed_tokens: archived.tokens,
        items: archived.items as u64,
        detail: managed::turns_text(archived),
        first_index: archived.first_index.map(|index| index as u64),
    }
}

/// A call on an archive the agent does not hold: it is not offered, so nobody gets here.
fn not_held() -> Failure {
    Failure::new(FailureClass::Unavailable, "you hold no archive")
}
