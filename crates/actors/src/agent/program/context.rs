//! The agent's own window, as a program reaches it (02 §6.3, §7).

use ::context::compaction::{CompactCall, CompactionStrategy};
use ::context::managed;
use ::context::modules::archive::ArchiveEntry;
use sandbox::contract as wit;
use sandbox::services::{Call, Context};
use serde_json::json;
use vocab::failure::Failure;
use vocab::message::Role;

use super::given::{Given, count};
use super::{Carried, Held, Serving, Setting};
use crate::agent::window_calls::WindowCalls;

/// The strategies that a program's `compact` serves: a program has no text beside it that could be
/// the summary (R43).
const SERVED: &[CompactionStrategy] = &[
    CompactionStrategy::SelfCompaction,
    CompactionStrategy::SelfSummarization,
];

impl Held {
    fn window_calls<'a>(&'a mut self, setting: &'a Setting) -> WindowCalls<'a> {
        WindowCalls {
            window: &mut self.window,
            upkeep: &mut self.upkeep,
            modules: &mut self.modules,
            voice: &setting.voice,
            turn: setting.turn,
        }
    }
}

impl Context for Serving {
    fn evict_file_view(
        &mut self,
        call: &Call,
        path: Option<String>,
    ) -> Result<wit::Reclaimed, Failure> {
        let arguments = Given::default().maybe("path", path.as_deref());
        self.local(call, &arguments.json(), |held, setting| {
            let path = managed::given_path(path)?;
            let evicted = held.window_calls(setting).evict(path.as_deref());
            let evicted = evicted.map_err(|undone| held.code.undone(undone))?;
            let reclaimed = wit::Reclaimed {
                items: count(evicted.items as u64),
                tokens: count(evicted.tokens),
            };
            Ok(Carried::new(reclaimed, managed::evicted_text(&evicted)))
        })
    }

    fn archive_thread(
        &mut self,
        call: &Call,
        ranges: Vec<wit::TurnRange>,
    ) -> Result<wit::Archived, Failure> {
        let pairs = ranges.iter().map(|range| json!([range.first, range.last]));
        let arguments = Given::default().with("ranges", pairs.collect::<Vec<_>>());
        self.local(call, &arguments.json(), |held, setting| {
            let ranges = ranges.iter();
            let ranges = ranges.map(|range| (range.first.into(), range.last.into()));
            let ranges = managed::given_ranges(ranges.collect())?;
            let archived = held.window_calls(setting).archive(&ranges);
            let (archived, stored) = archived.map_err(|undone| held.code.undone(undone))?;
            let text = managed::archived_text(&archived, stored);
            let value = wit::Archived {
                turns: archived.turns,
                items: count(archived.items as u64),
                tokens: count(archived.tokens),
            };
            Ok(Carried::new(value, text))
        })
    }

    fn search_archive(
        &mut self,
        call: &Call,
        query: String,
    ) -> Result<Vec<wit::ArchiveMatch>, Failure> {
        let arguments = Given::default().with("query", query.as_str());
        self.local(call, &arguments.json(), |held, setting| {
            let query = managed::given_query(query)?;
            let calls = held.window_calls(setting);
            let found = calls.search(&query)?;
            let matches = found.hits.iter().map(|entry| matched(entry)).collect();
            Ok(Carried::new(matches, managed::found_text(&found)))
        })
    }

    fn compact(&mut self, call: &Call, summary: String, files: Vec<String>) -> Result<(), Failure> {
        let arguments = Given::default()
            .with("summary", summary.as_str())
            .with("files", files.clone());
        self.local(call, &arguments.json(), |held, setting| {
            let call = CompactCall::given(summary, files)?;
            let compaction = held.upkeep.compaction.as_ref();
            if !call.files.is_empty() && compaction.is_some_and(|it| !it.takes_files()) {
                return Err(Failure::invalid(
                    "`files` are not read again under this compaction; leave them out",
                ));
            }
            let told = managed::compacting_text(&call);
            held.window_calls(setting).compact(call, SERVED)?;
            Ok(Carried::new((), told))
        })
    }
}

fn matched(entry: &ArchiveEntry) -> wit::ArchiveMatch {
    wit::ArchiveMatch {
        ordinal: count(entry.ordinal),
        turn: entry.turn,
        role: match entry.role {
            Role::System => wit::MessageRole::System,
            Role::User => wit::MessageRole::User,
            Role::Assistant => wit::MessageRole::Assistant,
            Role::Tool => wit::MessageRole::Tool,
        },
        text: entry.text.to_string(),
    }
}
