//! Programs of gg's own, each prepared once a run: agents of one profile open on the same.
//!
//! Always true: two agents that open on one program at once wait for one preparation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sandbox::arms::Arm;
use sandbox::prepare::{PrepareContext, Prepared};
use tokio::sync::OnceCell;
use vocab::language::ProgramLanguage;

/// Programs of gg's own that are kept prepared. Each may hold the directories of a workspace as they
/// were at one time, so that old ones are of no use.
const MAX_PREPARED: usize = 64;

/// Programs of gg's own, each prepared once a run, by language and source.
#[derive(Debug, Default)]
pub(crate) struct Openings(Mutex<HashMap<(ProgramLanguage, Arc<str>), Slot>>);

/// A program, once it is prepared.
type Slot = Arc<OnceCell<Prepared>>;

impl Openings {
    fn slot(&self, language: ProgramLanguage, source: &Arc<str>) -> Slot {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (language, Arc::clone(source));
        if known.len() >= MAX_PREPARED && !known.contains_key(&key) {
            known.clear();
        }
        Arc::clone(known.entry(key).or_default())
    }

    /// A program, prepared now or by whoever came first.
    pub(super) async fn prepared(
        &self,
        arm: &'static dyn Arm,
        source: &Arc<str>,
        context: &PrepareContext,
    ) -> Result<Prepared, String> {
        let slot = self.slot(arm.language(), source);
        let (source, context) = (Arc::clone(source), context.clone());
        let prepare = move || arm.prepare_program(&source, &[], &context);
        let prepared = slot.get_or_try_init(|| async move {
            let prepared = tokio::task::spawn_blocking(prepare).await;
            let prepared = prepared.map_err(|error| format!("preparing it died: {error}"))?;
            prepared.map_err(|error| error.to_string())
        });
        prepared.await.cloned()
    }
}
