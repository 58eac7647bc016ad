//! What a guest sees of the machine: environment, files, network, clocks (04 §13, R23).

use std::path::{Path, PathBuf};
use std::time::Duration;

use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};

use crate::stderr::Captured;

/// Random bytes one call may ask for; the host makes them all at once.
const MAX_RANDOM_BYTES: u64 = 1 << 20;

/// The variable that tells a guest its budget.
const DEADLINE: &str = "GG_SANDBOX_DEADLINE_MS";

/// How much earlier than gg a guest should end itself, so that it can say why.
const MARGIN: Duration = Duration::from_millis(500);

/// Where a program runs.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its environment.
    pub environment: Vec<(String, String)>,
}

impl Surroundings {
    /// A directory, and this process's environment without any variable that carries the
    /// credential.
    pub fn inherited(cwd: PathBuf, credential: Option<&str>) -> Self {
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            cwd,
            environment: without(environment, credential),
        }
    }

    pub(crate) fn context(&self, budget: Duration, stderr: Captured) -> WasiCtx {
        let mut builder = WasiCtxBuilder::new();
        let inherited = self
            .environment
            .iter()
            .filter(|(name, _)| name != "PWD" && name != DEADLINE)
            .cloned()
            .collect::<Vec<_>>();
        builder
            .envs(&inherited)
            .env(DEADLINE, stated(budget).as_millis().to_string())
            .stderr(stderr)
            .inherit_network()
            .allow_tcp(true)
            .allow_udp(true)
            .allow_ip_name_lookup(true)
            .max_random_size(MAX_RANDOM_BYTES);
        if let Some(cwd) = self.cwd.to_str() {
            // A runtime whose files start at the root learns from the variable where it is.
            builder.initial_cwd(cwd).env("PWD", cwd);
        }
        // A guest without files can still run; it meets the failure where it opens one.
        if let Err(error) = builder.preopened_dir(Path::new("/"), "/", FsPerms::ReadWrite) {
            tracing::warn!("a program runs without files: {error:#}");
        }
        builder.build()
    }
}

/// The budget a guest is told: half a second less than it has, but at least half of it.
pub(crate) fn stated(budget: Duration) -> Duration {
    budget.saturating_sub(MARGIN).max(budget / 2)
}

/// An environment without the variables that carry a credential, by name or by value.
fn without(environment: Vec<(String, String)>, credential: Option<&str>) -> Vec<(String, String)> {
    environment
        .into_iter()
        .filter(|(name, value)| {
            name != "OPENROUTER_API_KEY"
                && credential.is_none_or(|secret| secret.is_empty() || !value.contains(secret))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_carries_the_credential_is_left_out_under_any_name() {
        let all = [
            ("PATH", "/bin"),
            ("OPENROUTER_API_KEY", "other"),
            ("BACKUP", "x=sk-1"),
        ];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let left = without(all.to_vec(), Some("sk-1"));
        assert_eq!(left, [("PATH".to_owned(), "/bin".to_owned())]);
        assert_eq!(without(all.to_vec(), Some("")).len(), 2);
    }

    #[test]
    fn a_guest_is_told_to_end_half_a_second_early_or_at_half() {
        let told = |ms| stated(Duration::from_millis(ms)).as_millis();
        assert_eq!((told(30_000), told(800), told(100)), (29_500, 400, 50));
    }
}
