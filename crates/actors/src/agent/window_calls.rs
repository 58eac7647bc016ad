//! The calls by which an agent changes its own window: evict, archive, search, compact (02 §6.3,
//! §7.2). A tool call is read from JSON and answered as text; what stands beneath is the same for a
//! program.

use std::sync::Arc;

use context::compaction::{self, CompactCall, CompactionStrategy};
use context::modules::ModuleKind;
use context::modules::archive::{ArchiveHits, ArchivedCall};
use context::window::{Archived, Evicted, TurnRange, Window};
use context::{managed, tokens};
use record::event::{ContextManaged, Event, ManagedAction};
use vocab::failure::{Failure, FailureClass};
use vocab::message::Image;
use vocab::tools::ToolName;

use super::holdings::Held;
use super::records::archive_state;
use super::tool_turn::Answer;
use super::turns::Turns;
use super::undone::Undone;
use super::upkeep::Upkeep;
use crate::telemetry::Voice;

/// What the calls on a window touch.
pub(super) struct WindowCalls<'a> {
    /// The window.
    pub(super) window: &'a mut Window,
    /// Its archive, and its compaction.
    pub(super) upkeep: &'a mut Upkeep,
    /// Where snapshots of what changed collect.
    pub(super) modules: &'a mut Held,
    /// Who tells of it.
    pub(super) voice: &'a Voice,
    /// The turn they are made in.
    pub(super) turn: u32,
}

impl WindowCalls<'_> {
    /// Evicts the file views of a path, or all of them.
    pub(super) fn evict(&mut self, path: Option<&str>) -> Result<Evicted, Undone> {
        let evicted = managed::evict(self.window, path, self.upkeep.headers)?;
        if evicted.items > 0 {
            self.report(eviction(&evicted));
        }
        Ok(evicted)
    }

    /// Archives turns; beside what it took, how many entries the archive holds now.
    pub(super) fn archive(&mut self, ranges: &[TurnRange]) -> Result<(Archived, usize), Undone> {
        let archived = managed::archive(self.window, ranges, self.turn)?;
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
            let state = archive_state(self.modules.store(ModuleKind::Archive), archive);
            self.modules.changed.push(state);
            self.report(archival(&archived));
        }
        Ok((archived, stored))
    }

    /// Searches what was archived.
    pub(super) fn search(&self, query: &str) -> Result<ArchiveHits<'_>, Failure> {
        let archive = self.upkeep.archive.as_ref().ok_or_else(not_held)?;
        Ok(archive.search(query))
    }

    /// Registers a compaction for the turn's end, under one of the strategies that take a summary
    /// of the agent's own making by this call.
    pub(super) fn compact(
        &mut self,
        call: CompactCall,
        strategies: &[CompactionStrategy],
    ) -> Result<(), Failure> {
        let compaction = self.upkeep.compaction.as_mut();
        let own = compaction.filter(|it| strategies.contains(&it.strategy()));
        let Some(compaction) = own else {
            return Err(Failure::new(
                FailureClass::Unavailable,
                "your window is not compacted by this call",
            ));
        };
        compaction.register(call);
        Ok(())
    }

    fn report(&self, event: ContextManaged) {
        self.voice
            .say_in_turn(self.turn, Event::ContextManaged(event));
    }
}

impl Turns {
    /// Carries out a call on the window.
    pub(super) fn window_call(&mut self, turn: u32, tool: ToolName, arguments: &str) -> Answer {
        let mut calls = WindowCalls {
            window: &mut self.window,
            upkeep: &mut self.upkeep,
            modules: &mut self.held,
            voice: &self.links.voice,
            turn,
        };
        Answer::of_call(calls.tool(tool, arguments))
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
}

impl WindowCalls<'_> {
    /// A call from JSON to the text of its result.
    fn tool(&mut self, tool: ToolName, arguments: &str) -> Result<String, Undone> {
        Ok(match tool {
            ToolName::EvictFileView => {
                let path = managed::read_evict(arguments)?;
                managed::evicted_text(&self.evict(path.as_deref())?)
            }
            ToolName::ArchiveThread => {
                let ranges = managed::read_archive(arguments)?;
                let (archived, stored) = self.archive(&ranges)?;
                managed::archived_text(&archived, stored)
            }
            ToolName::SearchArchive => {
                let query = managed::read_search(arguments)?;
                managed::found_text(&self.search(&query)?)
            }
            ToolName::Compact => {
                let call = compaction::read_compact(arguments)?;
                let told = managed::compacting_text(&call);
                self.compact(call, &[CompactionStrategy::SelfCompaction])?;
                told
            }
            other => {
                return Err(Undone::Refused(Failure::new(
                    FailureClass::Unavailable,
                    format!("`{other}` does not change your window"),
                )));
            }
        })
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
