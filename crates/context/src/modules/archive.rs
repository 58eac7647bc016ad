//! The archive: results of turns that left the window, to be searched (02 §7).
//!
//! Append-only. Always true: ordinals rise by one from 1, over a fork and a transfer too.

use std::sync::Arc;

use vocab::band::Band;
use vocab::message::Role;
use vocab::tools::MAX_ARCHIVE_MATCHES;

use super::find::{Needle, folded, preview};
use super::{Module, ModuleKind};

/// Characters of an entry's preview at most.
pub const PREVIEW_CHARS: usize = 160;

/// The call an archived result answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedCall {
    /// The tool, as it was called.
    pub name: String,
    /// The arguments, as JSON text.
    pub arguments: Arc<str>,
}

/// One archived result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveEntry {
    /// Its place in the archive, from 1.
    pub ordinal: u64,
    /// The turn it was in the window of.
    pub turn: u32,
    /// The band it stood in.
    pub band: Band,
    /// Who it is from.
    pub role: Role,
    /// Its text.
    pub text: Arc<str>,
    /// The call it answers, where it answers one.
    pub call: Option<ArchivedCall>,
}

impl ArchiveEntry {
    /// Characters of its text.
    pub fn chars(&self) -> u64 {
        self.text.chars().count() as u64
    }

    /// Its beginning, on one line, at most [`PREVIEW_CHARS`] characters.
    pub fn preview(&self) -> String {
        preview(&self.text, PREVIEW_CHARS)
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveHits<'a> {
    /// The matches, by ordinal; at most [`MAX_ARCHIVE_MATCHES`].
    pub hits: Vec<&'a ArchiveEntry>,
    /// Matches there are.
    pub total: u64,
}

/// Archived results, in the order they were archived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive {
    entries: Vec<ArchiveEntry>,
}

impl Archive {
    /// The entries, by ordinal.
    pub fn entries(&self) -> &[ArchiveEntry] {
        &self.entries
    }

    /// Appends a result, and answers its ordinal.
    pub fn store(
        &mut self,
        turn: u32,
        band: Band,
        role: Role,
        text: Arc<str>,
        call: Option<ArchivedCall>,
    ) -> u64 {
        let ordinal = self.entries.last().map_or(0, |entry| entry.ordinal) + 1;
        self.entries.push(ArchiveEntry {
            ordinal,
            turn,
            band,
            role,
            text,
            call,
        });
        ordinal
    }

    /// The entries whose text, or the call it answers, holds a text in any case. A blank one is
    /// found nowhere: its call is refused before.
    pub fn search(&self, query: &str) -> ArchiveHits<'_> {
        let needle = Needle::new(query);
        let holds = |text: &str| {
            needle
                .as_ref()
                .is_some_and(|needle| folded(text).contains(needle.folded()))
        };
        let matches: Vec<_> = self
            .entries
            .iter()
            .filter(|entry| {
                holds(&entry.text)
                    || entry
                        .call
                        .as_ref()
                        .is_some_and(|call| holds(&call.name) || holds(&call.arguments))
            })
            .collect();
        ArchiveHits {
            total: matches.len() as u64,
            hits: matches.into_iter().take(MAX_ARCHIVE_MATCHES).collect(),
        }
    }
}

impl Module for Archive {
    const KIND: ModuleKind = ModuleKind::Archive;
    type Shape = ();

    fn copy(&self) -> Self {
        self.clone()
    }

    /// No profile shapes an archive.
    fn rebind(&mut self, (): &()) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(texts: &[&str]) -> Archive {
        let mut archive = Archive::default();
        for (turn, text) in texts.iter().enumerate() {
            let call = ArchivedCall {
                name: "read_file".to_owned(),
                arguments: format!(r#"{{"path":"File-{turn}"}}"#).into(),
            };
            archive.store(
                turn as u32,
                Band::ToolOutput,
                Role::Tool,
                (*text).into(),
                Some(call),
            );
        }
        archive
    }

    fn ordinals(hits: &ArchiveHits<'_>) -> Vec<u64> {
        hits.hits.iter().map(|entry| entry.ordinal).collect()
    }

    #[test]
    fn a_search_matches_text_and_call_in_any_case() {
        let archive = archive(&["alpha", "BETA alpha", "gamma"]);
        assert_eq!(ordinals(&archive.search("ALPHA")), [1, 2]);
        assert_eq!(ordinals(&archive.search("file-2")), [3]);
        assert_eq!(archive.search(" ").total, 0);
    }

    #[test]
    fn no_more_than_eight_matches_are_returned_and_all_are_counted() {
        let archive = archive(&["same"; 11]);
        let found = archive.search("same");
        assert_eq!(ordinals(&found), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(found.total, 11);
    }

    #[test]
    fn a_copy_goes_on_counting_where_the_archive_stood_and_by_itself() {
        let mut original = archive(&["a", "b"]);
        let mut copy = original.copy();
        let store = |archive: &mut Archive, text: &str| {
            archive.store(9, Band::ToolOutput, Role::Tool, text.into(), None)
        };
        assert_eq!(store(&mut copy, "copied"), 3);
        assert_eq!(store(&mut original, "original"), 3);
        assert_eq!(copy.search("original").total, 0);
    }

    #[test]
    fn a_preview_is_cut_on_characters() {
        let archive = archive(&[&"漢".repeat(161)]);
        let preview = archive.entries()[0].preview();
        assert_eq!(preview.chars().count(), 159);
        assert!(preview.starts_with('漢') && preview.ends_with('…'));
        assert_eq!(archive.entries()[0].chars(), 161);
    }
}
