//! What the code agents of a run share: the guests that run their programs, each loaded once, and
//! what a program sees of the machine (04 §13; R15, R23).
//!
//! Always true: whoever needs a guest that is being loaded waits for that one; no program's
//! environment carries the credential, under whatever name.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use config::Launch;
use config::profile::Profile;
use record::event::LogLevel;
use record::mask::Mask;
use sandbox::arms::{self, Arm};
use sandbox::components::{Cache, Guest};
use sandbox::prepare::PrepareContext;
use sandbox::program::{self, Threads};
use sandbox::surroundings::{self, Outlook, Surroundings};
use tokio::sync::OnceCell;

use crate::telemetry::Voice;

/// See the module.
pub(crate) struct Host {
    cache: Option<Cache>,
    environment: Vec<(String, String)>,
    /// By where the component's bytes lie: two languages may run on one guest.
    guests: Mutex<HashMap<usize, Arc<Slot>>>,
    warmed: AtomicBool,
    threads: Threads,
    /// Keeps what preparations share, warm compilers among it, for as long as the run lasts.
    preparing: PrepareContext,
}

/// A guest, once it is loaded.
#[derive(Default)]
struct Slot {
    guest: OnceCell<Result<Guest, Arc<str>>>,
    /// Whether somebody was told what loading it took.
    told: AtomicBool,
}

/// A guest for one program.
pub(crate) struct Ready {
    pub(crate) guest: Guest,
    /// What loading it took, for the first program that runs on it.
    pub(crate) took: Option<Duration>,
}

impl Host {
    /// Of a run. `folder` is where compiled guests are kept from run to run; one that cannot be
    /// trusted is left alone, and the operator is told.
    pub(crate) fn new(
        launch: &Launch,
        folder: Option<PathBuf>,
        mask: &Mask,
        voice: &Voice,
    ) -> Self {
        let any = launch
            .capability_set
            .agents
            .iter()
            .any(|profile| profile.programs().is_some());
        let cache = folder.filter(|_| any).and_then(|folder| {
            Cache::open(folder)
                .inspect_err(|refusal| {
                    let text = format!("guests are compiled anew in every run: {refusal}");
                    voice.log(LogLevel::Warn, Some("guest_cache"), text);
                })
                .ok()
        });
        let mut environment = Vec::new();
        if any {
            // The key under another name is the key all the same.
            environment = surroundings::environment(|value| mask.apply(value) != value);
        }
        Self {
            cache,
            environment,
            guests: Mutex::default(),
            warmed: AtomicBool::new(false),
            threads: Threads::default(),
            preparing: PrepareContext::default(),
        }
    }

    /// What a program in a directory sees of the machine.
    pub(crate) fn surroundings(&self, cwd: &Path) -> Surroundings {
        Surroundings {
            cwd: cwd.to_owned(),
            environment: self.environment.clone(),
        }
    }

    /// What the threads of the run's programs are counted among (R37).
    pub(crate) fn threads(&self) -> Threads {
        self.threads.clone()
    }

    /// What an agent's preparations keep, beside what those of all agents share.
    pub(crate) fn preparing(&self) -> PrepareContext {
        self.preparing.beside()
    }

    /// Ends the compilers that are at work; for the end of the run.
    pub(crate) fn end(&self) {
        self.preparing.end();
    }

    fn slot(&self, bytes: &'static [u8]) -> Arc<Slot> {
        let mut guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(guests.entry(bytes.as_ptr() as usize).or_default())
    }

    /// The guest of an arm: loaded now, or by whoever asked first.
    pub(crate) async fn guest(&self, arm: &'static dyn Arm) -> Result<Ready, String> {
        let slot = self.load(arm).await?;
        match slot.guest.get() {
            Some(Ok(guest)) => Ok(Ready {
                guest: guest.clone(),
                took: (!slot.told.swap(true, Ordering::Relaxed)).then_some(guest.took),
            }),
            Some(Err(why)) => Err(why.to_string()),
            None => Err("a guest was not loaded".to_owned()),
        }
    }

    async fn load(&self, arm: &'static dyn Arm) -> Result<Arc<Slot>, String> {
        let bytes = arm.guest().map_err(|missing| missing.to_string())?;
        let slot = self.slot(bytes);
        let (cache, name) = (self.cache.clone(), arm.display_name());
        slot.guest
            .get_or_init(|| async move {
                let loading = move || Guest::load(bytes, cache.as_ref());
                match tokio::task::spawn_blocking(loading).await {
                    Ok(Ok(guest)) => Ok(guest),
                    Ok(Err(error)) => Err(format!("the guest of {name}: {error}").into()),
                    Err(error) => Err(format!("loading the guest of {name} died: {error}").into()),
                }
            })
            .await;
        Ok(slot)
    }

    /// Whether this is the first time that is asked.
    fn is_cold(&self) -> bool {
        !self.warmed.swap(true, Ordering::Relaxed)
    }
}

/// Loads the guests of a run's languages, and what preparing needs, beside whatever goes on. Once a
/// run; what fails is met again by whoever needs it.
pub(crate) fn warm_up(shared: &Arc<crate::shared::Shared>) {
    if !shared.programs.is_cold() {
        return;
    }
    let agents = shared.launch.capability_set.agents.iter();
    // Of the first profile of a language; programs of another with another time make their own.
    let mut budgets = BTreeMap::new();
    for policy in agents.filter_map(Profile::programs) {
        budgets.entry(policy.language).or_insert(policy.timeout);
    }
    for (language, budget) in budgets {
        let arm = arms::of(language);
        let outlook = Outlook {
            surroundings: shared.programs.surroundings(&shared.launch.workspace_dir),
            budget,
        };
        let context = shared.programs.preparing.clone();
        let shared = Arc::clone(shared);
        actix::spawn(async move {
            let name = arm.display_name();
            match shared.programs.load(arm).await {
                Ok(slot) => {
                    let Some(Ok(guest)) = slot.guest.get() else {
                        return;
                    };
                    if let Err(why) = program::stand_by(guest.clone(), outlook) {
                        tracing::warn!("the first program of {name} will wait: {why}");
                    }
                }
                Err(why) => tracing::warn!("no program of {name} can run: {why}"),
            }
        });
        if arm.prepare_compiles() {
            tokio::task::spawn_blocking(move || {
                if let Err(why) = arm.warm_prepare(&context) {
                    tracing::warn!("the compiler of {} is not warm: {why}", arm.id());
                }
            });
        }
    }
}
