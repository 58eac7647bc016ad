//! A compaction carried out: asked for at a boundary, satisfied at a turn's close, applied to the
//! window (02 §6).

use std::ops::ControlFlow;

use super::LoopEnd;
use super::turns::Turns;

impl Turns {
    /// What the window's fullness calls for at this boundary.
    pub(super) async fn compact_where_due(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        let Some(_) = &self.upkeep.compaction else {
            return ControlFlow::Continue(());
        };
        self.refresh_before_compaction(turn).await
    }
}
