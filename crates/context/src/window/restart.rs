//! The rewrite at a compaction boundary: what survives, and in which order (02 §6.2).

use vocab::band::{Band, BandTokens};
use vocab::message::Message;
use vocab::rewrite::Rewrite;

use super::{BlockKind, Item, NewItem, Window};

/// What a restarted window holds besides what is pinned. All of it is ephemeral.
#[derive(Clone, Debug)]
pub struct Restart {
    /// Documentation views rendered anew, in the order they were first opened in.
    pub docs: Vec<NewItem>,
    /// Files read anew.
    pub files: Vec<NewItem>,
    /// What stands for the conversation: the last thing read.
    pub summary: NewItem,
}

/// How much of what survived there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Bodies of used skills.
    pub skills: usize,
    /// Locked specifications.
    pub specs: usize,
    /// Files read anew.
    pub files: usize,
    /// Documentation views.
    pub docs_views: usize,
}

/// What a restart made of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restarted {
    /// Tokens per band before.
    pub before: BandTokens,
    /// Tokens per band after.
    pub after: BandTokens,
    /// What survived.
    pub kept: Kept,
    /// The place of the first change among a request's messages.
    pub first_index: Option<usize>,
}

impl Window {
    /// Restarts the window: pinned items in their order, each module's live block behind them,
    /// then documentation, files and the summary. The signal is emptied.
    ///
    /// The blocks are to be refreshed first. A pinned result becomes what `reframe` makes of it,
    /// since the call it answers is gone.
    ///
    /// # Errors
    ///
    /// What `reframe` fails with; then nothing has changed.
    pub fn restart<E>(
        &mut self,
        restart: Restart,
        reframe: impl Fn(&Item) -> Result<Message, E>,
    ) -> Result<Restarted, E> {
        let (before, _) = self.breakdown();
        let mut kept = Kept {
            files: restart.files.len(),
            docs_views: restart.docs.len(),
            ..Kept::default()
        };
        let mut items = Vec::new();
        let pinned = self.items.iter().filter(|item| !item.is_ephemeral());
        for item in pinned.filter(|item| item.block.is_none()) {
            kept.skills += usize::from(item.band == Band::Skill);
            kept.specs += usize::from(item.band == Band::FileView);
            items.push(match item.message.answers() {
                Some(_) => item.with(reframe(item)?),
                None => item.clone(),
            });
        }
        let blocks = BlockKind::ALL.into_iter();
        items.extend(blocks.filter_map(|kind| self.block(kind)).cloned());
        let fresh = restart.docs.into_iter().chain(restart.files);
        items.extend(fresh.chain([restart.summary]).map(Item::from));
        self.signal = None;
        let first_index = self.replace_items(items, Rewrite::Compaction);
        let (after, _) = self.breakdown();
        Ok(Restarted {
            before,
            after,
            kept,
            first_index,
        })
    }
}
