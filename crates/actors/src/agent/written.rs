//! What gg shows an agent that answers with programs, as if a program of the agent had: files it opens
//! on, files and pages that a compaction brings back (02 §4, §6.2; 03 §4).
//!
//! The programs are written and not run: gg has read already what they would read.
//!
//! Always true: each stands in the window with its receipt, and among the agent's own programs of
//! turn 0 where those are kept.

use std::ops::ControlFlow;
use std::sync::Arc;

use context::views;
use context::window::NewItem;
use sandbox::arms::{Arm, Lines};
use sandbox::catalogue;
use sandbox::docs::{Documentation, PageTypes};
use vocab::band::Band;
use vocab::tools::ToolName;

use super::LoopEnd;
use super::program::given::count;
use super::turns::Turns;

impl Turns {
    /// The language of the agent's programs; `None` where it calls tools.
    pub(super) fn arm(&self) -> Option<&'static dyn Arm> {
        self.surface.code.as_ref().map(|programs| programs.arm)
    }

    /// Whether it has the call that brings files into its window.
    pub(super) fn shows_files(&self) -> bool {
        match &self.surface.code {
            None => self.surface.tools.contains(&ToolName::ReadFile),
            Some(programs) => programs.named("views.open_file").is_some(),
        }
    }

    /// Keeps a program of gg's own among the agent's; its receipt.
    pub(super) fn receipt_of(&mut self, program: &str) -> ControlFlow<LoopEnd, Arc<str>> {
        let id = match self.code.library.issue() {
            Ok(id) => id,
            Err(error) => return ControlFlow::Break(LoopEnd::internal(error.to_string())),
        };
        let receipt = id.clone().unwrap_or_else(|| "ok".into());
        self.keep_opening(id, program.into());
        ControlFlow::Continue(receipt)
    }

    /// Pages of a window that came along stand for what this agent can look up: those of code that
    /// another had loaded, and of calls it was given, do not (02 §10.3).
    pub(super) fn disown_pages(&mut self) {
        let programs = self.surface.code.clone();
        let catalogue = programs
            .as_ref()
            .and_then(|programs| catalogue::of(programs.arm.language()).ok());
        let docs = programs
            .as_ref()
            .zip(catalogue)
            .map(|(programs, catalogue)| Documentation::new(catalogue, &programs.offer, &[]));
        let own = |key: &str| {
            let docs = docs.as_ref();
            docs.is_some_and(|docs| docs.resolve(key).is_ok_and(|entry| entry.key() == key))
        };
        self.window
            .disown_views(|band, key| band == Band::DocsView && !own(key));
    }

    /// The documentation's pages of the window, rendered anew in the order they were opened in; one
    /// whose name leads nowhere any more is dropped.
    pub(super) fn pages_again(&mut self, turn: u32) -> ControlFlow<LoopEnd, Vec<NewItem>> {
        let Some(programs) = self.surface.code.clone() else {
            return ControlFlow::Continue(Vec::new());
        };
        let keys: Vec<Arc<str>> = self
            .window
            .open_views()
            .filter(|item| item.band == Band::DocsView)
            .filter_map(|item| item.selector.clone())
            .collect();
        if keys.is_empty() {
            return ControlFlow::Continue(Vec::new());
        }
        let catalogue = match catalogue::of(programs.arm.language()) {
            Ok(catalogue) => catalogue,
            Err(absent) => return ControlFlow::Break(LoopEnd::internal(absent.to_string())),
        };
        let loaded = self.code.loaded.documented();
        let docs = Documentation::new(catalogue, &programs.offer, &loaded);
        let mut pages = Vec::with_capacity(keys.len());
        for key in keys {
            // Each stands for itself: what it had brought along stands beside it.
            let opened = docs.open(&key, PageTypes::default());
            let Some(page) = opened.ok().and_then(|pages| pages.into_iter().next()) else {
                continue;
            };
            let text = self.shared.mask.apply(&page.text);
            let view = views::documentation(&page.key, &text, turn);
            pages.push(self.rendered(turn, view)?);
        }
        ControlFlow::Continue(pages)
    }
}

/// A program that opens a view of each file, whole or a part of it, and does nothing else.
pub(super) fn file_program<'a>(
    arm: &dyn Arm,
    files: impl IntoIterator<Item = (&'a str, Option<(u64, u64)>)>,
) -> String {
    let mut program = format!("{}\n\n", arm.module_import("views"));
    for (path, lines) in files {
        let lines = lines.map(|(offset, limit)| Lines {
            offset: count(offset),
            limit: count(limit),
        });
        program.push_str(&arm.file_view_statement(path, lines));
        program.push('\n');
    }
    program
}

#[cfg(test)]
mod tests {
    use sandbox::arms;
    use vocab::language::ProgramLanguage;

    use super::*;

    #[test]
    fn a_program_opens_each_file_in_its_language_and_no_path_ends_its_literal() {
        let files = [("spec \"1\".md", None), ("src/a.rs", Some((40, 20)))];
        let written = |language| file_program(arms::of(language), files);
        assert_eq!(
            written(ProgramLanguage::Javascript),
            "import { views } from \"gg\";\n\nviews.openFile(\"spec \\\"1\\\".md\");\n\
             views.openFile(\"src/a.rs\", { offset: 40, limit: 20 });\n"
        );
        let python = written(ProgramLanguage::Python);
        assert!(python.starts_with("import gg\n\n"), "{python}");
        assert_eq!(python.lines().count(), 4, "{python}");
    }
}
