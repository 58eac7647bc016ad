//! The program that a code agent opens on: made of its profile's opening turn, and run before the
//! first turn as if the agent had submitted it (04 §8.5; R9, R46).
//!
//! Not a turn: it has no number, costs nothing, and its calls leave no events; what stays of it are
//! its source, its receipt and the views it opened.
//!
//! Always true: an agent that has one has begun on the views of it, or has ended of a defect.

use std::ops::ControlFlow;
use std::sync::Arc;

use context::library::KeptProgram;
use context::opened;
use context::opening_turn::{OpeningPlan, TREE_LABEL};
use context::views::MAX_TEXT_BYTES;
use record::event::LogLevel;
use sandbox::arms::Opening;
use tools::Halt;
use vocab::ids::CallId;
use vocab::outcome::EndStatus;

use super::account::Account;
use super::execution::{RunContext, over};
use super::{Broken, Cut, defect};
use crate::agent::LoopEnd;
use crate::agent::api::Programs;
use crate::agent::program::Counts;
use crate::agent::turns::Turns;
use crate::stop::StopCause;

/// The call that an opening program is submitted by.
const CALL: &str = "opening-1";

impl Turns {
    /// Opens on what the profile's opening turn names, where the agent answers with programs and
    /// holds any of it.
    pub(in crate::agent) async fn open_by_program(&mut self) -> ControlFlow<LoopEnd> {
        let Some(programs) = self.surface.code.clone() else {
            return ControlFlow::Continue(());
        };
        let Some(turn) = &self.spec.profile.opening_turn else {
            return ControlFlow::Continue(());
        };
        let (plan, dropped) = OpeningPlan::of(turn, &programs.offer);
        for entry in dropped {
            let text = format!("profile `{}`: {entry}", self.spec.profile.slug);
            let voice = &self.links.voice;
            voice.log(LogLevel::Warn, Some("opening_turn"), text);
        }
        if plan.is_empty() {
            tracing::debug!("agent {} opens on no program", self.spec.id);
            return ControlFlow::Continue(());
        }
        let source = self.opening_source(&programs, &plan).await?;
        match self.run_opening(&programs, source).await {
            Ok(()) => ControlFlow::Continue(()),
            Err(Cut::Broken(Broken::Defect(why) | Broken::Unjudged(why))) => {
                ControlFlow::Break(LoopEnd::internal(format!(
                    "the opening program of `{}` failed: {why}",
                    self.spec.profile.slug
                )))
            }
            Err(Cut::Canceled) => ControlFlow::Break(LoopEnd::of(EndStatus::Canceled)),
        }
    }

    /// The program that carries a plan out.
    async fn opening_source(
        &mut self,
        programs: &Programs,
        plan: &OpeningPlan,
    ) -> ControlFlow<LoopEnd, Arc<str>> {
        let tree = match plan.tree {
            Some(depth) => Some(self.tree(depth).await?),
            None => None,
        };
        let modules: Vec<_> = plan.modules.iter().map(String::as_str).collect();
        let texts: Vec<_> = tree
            .iter()
            .map(|text| (TREE_LABEL, text.as_str()))
            .collect();
        let source = programs.arm.bootstrap_program(&Opening {
            modules: &modules,
            functions: &plan.functions,
            texts: &texts,
        });
        ControlFlow::Continue(source.into())
    }

    /// The workspace's directories, as one view may show them.
    async fn tree(&mut self, depth: usize) -> ControlFlow<LoopEnd, String> {
        let place = self.place();
        let laid = self
            .on_disk(move |halt: &Halt| tools::tree(&place, depth, MAX_TEXT_BYTES, halt))
            .await;
        let why = match laid {
            Ok(Some(Ok(tree))) => {
                let text = self.shared.mask.apply(&tree.text).into_owned();
                return ControlFlow::Continue(text);
            }
            Ok(Some(Err(_)) | None) if self.stop.has(StopCause::Canceled) => {
                return ControlFlow::Break(LoopEnd::of(EndStatus::Canceled));
            }
            Ok(Some(Err(failure))) => failure.to_string(),
            Ok(None) => "reading them was given up".to_owned(),
            Err(error) => format!("reading them died: {error}"),
        };
        ControlFlow::Break(LoopEnd::internal(format!(
            "the workspace's directories, which the agent is to open on, cannot be shown: {why}"
        )))
    }

    async fn run_opening(&mut self, programs: &Programs, source: Arc<str>) -> Result<(), Cut> {
        let id = self.code.library.issue();
        let id = id.map_err(|error| defect(error.to_string()))?;
        let receipt = id.clone().unwrap_or_else(|| "ok".into());
        for item in opened::by_program(CALL, &source, receipt, []) {
            self.window.push(item);
        }
        let context = &self.code.preparing;
        let openings = &self.shared.openings;
        let (mut canceled, mut stop) = (self.stop.clone(), self.stop.clone());
        let prepared = tokio::select! {
            prepared = openings.prepared(programs.arm, &source, context) => prepared,
            () = canceled.canceled() => return Err(Cut::Canceled),
            // The run ends before this agent has begun: its first boundary says how.
            () = over(&mut stop) => return Ok(()),
        };
        let prepared = prepared.map_err(defect)?;
        self.code.begin_turn();
        self.code.docs.begin(&mut self.window, true);
        let counts = Arc::new(Counts::default());
        let mut account = Account::default();
        let run = RunContext {
            turn: 0,
            call: &CallId::from(CALL),
            programs,
            counts: &counts,
        };
        let failed = self.run_prepared(&run, prepared, &mut account).await?;
        let cut_short = self.code.session.cut_short;
        let shown = !self.code.views.opened.items.is_empty();
        self.code.begin_turn();
        let why = match (failed, account.refusals()) {
            // The run ends before this agent has begun: its first boundary says how.
            _ if cut_short => None,
            (Some(failed), _) => Some(failed.text),
            (None, Some(refused)) => Some(refused),
            (None, None) if !shown => Some("it showed nothing".to_owned()),
            (None, None) => None,
        };
        if let Some(why) = why {
            return Err(defect(why));
        }
        self.keep_opening(id, source);
        Ok(())
    }

    /// Keeps a program of gg's own among the agent's, of turn 0.
    pub(in crate::agent) fn keep_opening(&mut self, id: Option<Arc<str>>, source: Arc<str>) {
        if let Some(id) = id {
            self.code.library.keep(KeptProgram {
                id,
                turn: 0,
                source,
                error: None,
                opening: true,
            });
        }
    }
}
