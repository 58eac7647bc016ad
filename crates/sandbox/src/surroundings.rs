//! What a guest sees of the machine: environment, files, network, clocks (04 §13, R23).

use std::path::{Path, PathBuf};
use std::time::Duration;

use vocab::credential::VARIABLE;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};

use crate::stderr::Captured;

/// Random bytes one call may ask for; the host makes them all at once.
const MAX_RANDOM_BYTES: u64 = 1 << 20;

/// The variable that tells a guest its budget.
const DEADLINE: &str = "GG_SANDBOX_DEADLINE_MS";

/// How much earlier than gg a guest should end itself, so that it can say why.
const MARGIN: Duration = Duration::from_millis(500);

/// Where a program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its environment.
    pub environment: Vec<(String, String)>,
}

/// This process's environment as a program may see it: without the credential's own variable and
/// those whose value `carries` it, and without what no guest can be told, since a guest's text is
/// Unicode.
pub fn environment(carries: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let all = std::env::vars_os().filter_map(|(name, value)| {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => Some((name, value)),
            (name, _) => {
                let name = name.unwrap_or_else(|name| name.to_string_lossy().into_owned());
                tracing::warn!("no program sees the variable `{name}`: it is no UTF-8");
                None
            }
        }
    });
    without_credential(all, carries)
}

/// All of the machine that a guest can read as it starts, and keep: of two programs with the same, the
/// one may have an instance that was made for the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// Where the program runs.
    pub surroundings: Surroundings,
    /// How long it may take.
    pub budget: Duration,
}

impl Outlook {
    pub(crate) fn context(&self, stderr: Captured) -> WasiCtx {
        self.surroundings.context(self.budget, stderr)
    }
}

impl Surroundings {
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

/// An environment without the variables that carry the credential, by name or by value.
fn without_credential(
    environment: impl IntoIterator<Item = (String, String)>,
    carries: impl Fn(&str) -> bool,
) -> Vec<(String, String)> {
    environment
        .into_iter()
        .filter(|(name, value)| name != VARIABLE && !carries(value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_carries_the_credential_is_left_out_under_any_name() {
        let all = [("PATH", "/bin"), (VARIABLE, "other"), ("BACKUP", "x=sk-1")];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let left = without_credential(all.clone(), |value| value.contains("sk-1"));
        assert_eq!(left, [("PATH".to_owned(), "/bin".to_owned())]);
        assert_eq!(without_credential(all, |_| false).len(), 2);
    }

    #[test]
    fn a_guest_is_told_to_end_half_a_second_early_or_at_half() {
        let told = |ms| stated(Duration::from_millis(ms)).as_millis();
        assert_eq!((told(30_000), told(800), told(100)), (29_500, 400, 50));
    }
}
