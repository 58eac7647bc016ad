//! What every agent of a run shares: the launch, the clock, the runner of commands, and what the
//! run has learned of its models.
//!
//! Always true: what is learned is learned for good.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use config::Launch;
use config::profile::Profile;
use context::window;
use record::event::LogLevel;
use record::journal::Seed;
use record::mask::Mask;
use record::stream::Gauge;
use tools::shell::Runner;
use vocab::ids::ModelId;

use crate::agent::{Openings, Outfits};
use crate::clock::RunClock;
use crate::hooks::Scripts;
use crate::machine::Workers;
use crate::messages::KeepSeed;
use crate::programs::Host;
use crate::skills::Library;
use crate::telemetry::Voice;

/// The working window of a profile's agents, in tokens.
pub(crate) fn working_window(launch: &Launch, profile: &Profile) -> u64 {
    let window = launch.model_windows.get(&profile.model_id);
    window::working_window(
        window.copied().unwrap_or_default(),
        profile.window_override(),
        profile.compaction().map(|policy| policy.headroom),
    )
}

/// What agents have to do with the run's record.
pub(crate) struct Recording {
    pub(crate) mask: Mask,
    pub(crate) seed: Seed,
    pub(crate) room: Gauge,
}

/// What every agent of a run shares and none changes.
pub(crate) struct Shared {
    pub(crate) launch: Arc<Launch>,
    pub(crate) clock: RunClock,
    pub(crate) runner: Runner,
    pub(crate) mask: Mask,
    /// The skills that profiles name.
    pub(crate) skills: Library,
    /// What agents are given alike.
    pub(crate) outfits: Outfits,
    /// The operator's scripts, as they lie in the workspace.
    pub(crate) scripts: Scripts,
    /// Whether the stream takes more.
    pub(crate) room: Gauge,
    /// What code agents share.
    pub(crate) programs: Host,
    /// The programs that they open on.
    pub(crate) openings: Openings,
    /// Whoever may work in it.
    pub(crate) workers: Workers,
    warned_unpriced: AtomicBool,
    /// As the journal has it; its modalities are what the run has learned of them by now.
    seed: Mutex<Seed>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shared({})", self.launch.session_id)
    }
}

impl Shared {
    /// What a run's agents start with.
    pub(crate) fn new(
        launch: Arc<Launch>,
        clock: RunClock,
        runner: Runner,
        record: Recording,
        skills: Library,
        programs: Host,
    ) -> Self {
        let Recording { mask, seed, room } = record;
        let scripts = Scripts::lay_down(&launch);
        let workers = Workers::of(&launch);
        Self {
            launch,
            clock,
            runner,
            mask,
            skills,
            room,
            programs,
            openings: Openings::default(),
            outfits: Outfits::default(),
            scripts,
            workers,
            warned_unpriced: AtomicBool::new(false),
            seed: Mutex::new(seed),
        }
    }

    /// A provider refused a model's pictures: none is sent to it for the rest of the run, and the
    /// journal's seed says so (06 §8.1). Whether that is news.
    pub(crate) fn learn_blindness(&self, model: &ModelId, voice: &Voice) -> bool {
        if !self.shows_images(model) {
            return false;
        }
        let mut seed = self.seed();
        let kinds = seed
            .modalities
            .entry(model.clone())
            .or_insert_with(|| vec!["text".to_owned()]);
        kinds.retain(|kind| kind != "image");
        voice.telemetry.tell(KeepSeed(seed.clone()));
        true
    }

    /// Whether a model may be sent pictures: one without declared modalities is tried.
    pub(crate) fn shows_images(&self, model: &ModelId) -> bool {
        config::launch::takes_images(self.seed().modalities.get(model))
    }

    fn seed(&self) -> MutexGuard<'_, Seed> {
        self.seed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Warns once that an armed `maxCost` cannot see a reply without a price (R35).
    pub(crate) fn warn_unpriced(&self, voice: &Voice) {
        if self.launch.capability_set.limits.max_cost.is_some()
            && !self.warned_unpriced.swap(true, Ordering::Relaxed)
        {
            voice.log(
                LogLevel::Warn,
                Some("unpriced"),
                "a reply reported no price: maxCost does not see such calls; the summary counts \
                 them as unpricedCalls",
            );
        }
    }
}
