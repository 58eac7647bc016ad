//! The hooks of a run's end: asked once, when the last agent has ended (01 §9.7, 03 §8).
//!
//! Always true: whatever becomes of them, the run's epilogue follows; a run that was stopped waits
//! for them no longer than [`LAST`].

use std::sync::Arc;
use std::time::Duration;

use config::hooks::HookEvent;
use record::event::LogLevel;
use tokio::time::Instant;
use vocab::outcome::EndStatus;

use super::CANCEL_PROBE;
use crate::agent::AgentSpec;
use crate::hooks::{self, Facts, Who};
use crate::link::Link;
use crate::messages::{RunEnd, RunHook};
use crate::shared::Shared;
use crate::signals::Signals;
use crate::stop::{StopCause, StopSwitch};
use crate::supervisor::{self, Supervisor};
use crate::telemetry::Voice;

/// What they have in all where the run was stopped, or its time is spent: with the commands that
/// have to be ended before and behind them, its last line is out within five seconds (R36).
const LAST: Duration = Duration::from_secs(1);

/// Runs them. A signal or the cancel file ends those that run.
pub(super) async fn run(
    end: &RunEnd,
    root: &AgentSpec,
    supervisor: &Link<Supervisor>,
    shared: &Shared,
    voice: &Voice,
    signals: &mut Signals,
) {
    let event = HookEvent::SessionEnd;
    if !hooks::has_any(&shared.launch.capability_set.hooks, event) {
        return;
    }
    let switch = StopSwitch::new();
    let at_least = Instant::now() + LAST;
    let mut stopped = end.status == EndStatus::Canceled || signals.seen() > 0;
    let ask = RunHook {
        event,
        who: Who::of(root),
        facts: Facts::RunEnded(end.status),
        turn: None,
        stop: switch.watch(),
        deadline: match shared.clock.deadline() {
            _ if stopped => Some(at_least),
            deadline => deadline.map(|at| at.max(at_least)),
        },
    };
    let mut fired = std::pin::pin!(supervisor.ask(ask));
    let mut awaited: Option<Arc<_>> = shared.launch.cancel_file.as_deref().map(Into::into);
    let mut probe = tokio::time::interval(CANCEL_PROBE);
    loop {
        tokio::select! {
            fired = &mut fired => {
                if let Err(error) = fired {
                    let why = format!("the hooks of the run's end were not asked: {error}");
                    voice.log(LogLevel::Warn, Some("session_end_hook"), why);
                }
                return;
            }
            _ = signals.next() => {
                if stopped {
                    shared.runner.kill_all();
                }
                stopped = true;
                switch.throw(StopCause::Canceled);
            }
            _ = probe.tick(), if awaited.is_some() && !stopped => {
                if let Some(path) = awaited.clone()
                    && supervisor::exists(path).await
                {
                    stopped = true;
                    awaited = None;
                    switch.throw(StopCause::Canceled);
                }
            }
        }
    }
}
