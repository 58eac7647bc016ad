//! Guests compiled for this machine, kept in a folder between runs (R15).
//!
//! An entry is named by what it was compiled from and for, and holds its own digest. It is written
//! beside its place and moved there, so that no reader sees half of one.
//!
//! Always true: nothing is read from a folder that somebody else could have written to; an entry that
//! is not whole is made anew.

use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::Instant;
use wasmtime::component::Component;
use wasmtime::{AsContextMut, Engine};

use crate::contract::{Sandbox, SandboxPre};
use crate::engine::{EngineError, runtime};
use crate::program::State;

/// Length of the digest that ends an entry.
const DIGEST: usize = 32;

/// A guest that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The component is none, or imports what gg does not have.
    #[error("a guest does not fit this gg: {0}")]
    Component(String),
}

/// A folder whose entries cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum CacheRefusal {
    /// It cannot be made or read.
    #[error("{path} cannot be used for compiled guests")]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Somebody else owns it or may write to it.
    #[error(
        "{path} belongs to somebody else or can be written by others; compiled guests are not kept \
         there (expected: owned by the user gg runs as, and mode 0700)"
    )]
    Open {
        /// The folder.
        path: PathBuf,
    },
}

/// Where a guest came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From the folder.
    Kept,
    /// Compiled now.
    Compiled,
}

/// A folder of compiled guests that only this user can write to.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Makes or checks a folder.
    pub fn open(folder: PathBuf) -> Result<Self, CacheRefusal> {
        let io = |source| CacheRefusal::Io {
            path: folder.clone(),
            source,
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(io)?;
        let found = std::fs::symlink_metadata(&folder).map_err(io)?;
        let ours = found.uid() == rustix::process::geteuid().as_raw();
        if !found.is_dir() || !ours || found.mode() & 0o022 != 0 {
            return Err(CacheRefusal::Open { path: folder });
        }
        Ok(Self { folder })
    }

    fn entry(&self, engine: &Engine, bytes: &[u8]) -> PathBuf {
        let mut compiler = Fingerprint(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut compiler);
        let name = format!(
            "{}-{}.cwasm",
            hex(&Sha256::digest(bytes)),
            hex(&compiler.0.finalize()[..8])
        );
        self.folder.join(name)
    }
}

/// What an entry holds, where it is whole.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut held = std::fs::read(path).ok()?;
    let at = held.len().checked_sub(DIGEST)?;
    let whole = Sha256::digest(&held[..at])[..] == held[at..];
    held.truncate(at);
    whole.then_some(held)
}

fn write(path: &Path, compiled: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(compiled)?;
    file.write_all(&Sha256::digest(compiled))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A guest ready to be instantiated; clones share its code.
#[derive(Clone)]
pub struct Guest {
    pre: SandboxPre<State>,
    /// Where its code came from.
    pub origin: Origin,
    /// How long getting it took.
    pub took: Duration,
}

impl Guest {
    /// Compiles a component, or takes what was compiled before.
    pub fn load(bytes: &[u8], cache: Option<&Cache>) -> Result<Self, GuestError> {
        let began = Instant::now();
        let runtime = runtime()?;
        let unfit = |error: wasmtime::Error| GuestError::Component(format!("{error:#}"));
        let entry = cache.map(|cache| cache.entry(&runtime.engine, bytes));
        let kept = entry
            .as_deref()
            .and_then(read)
            .and_then(|compiled| restore(&runtime.engine, &compiled));
        let (component, origin) = if let Some(component) = kept {
            (component, Origin::Kept)
        } else {
            let compiled = runtime.engine.precompile_component(bytes).map_err(unfit)?;
            if let Some(entry) = &entry
                && let Err(error) = write(entry, &compiled)
            {
                // The next run compiles once more; nothing else is lost.
                tracing::warn!("{} cannot be kept: {error}", entry.display());
            }
            let component = restore(&runtime.engine, &compiled).ok_or_else(|| {
                GuestError::Component("what the engine compiled it does not take".to_owned())
            })?;
            (component, Origin::Compiled)
        };
        let pre = runtime.linker.instantiate_pre(&component).map_err(unfit)?;
        Ok(Self {
            pre: SandboxPre::new(pre).map_err(unfit)?,
            origin,
            took: began.elapsed(),
        })
    }

    /// The names of all interfaces it imports, sorted.
    pub fn imports(&self) -> Vec<String> {
        let component = self.pre.instance_pre().component();
        let mut names: Vec<_> = component
            .component_type()
            .imports(self.pre.engine())
            .map(|(name, _)| name.to_owned())
            .collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.pre.engine()
    }

    pub(crate) async fn instantiate(
        &self,
        store: impl AsContextMut<Data = State>,
    ) -> wasmtime::Result<Sandbox> {
        self.pre.instantiate_async(store).await
    }
}

/// Machine code as a component; `None` where the engine does not take it.
#[expect(
    unsafe_code,
    reason = "the engine cannot check machine code; where it comes from is checked here"
)]
fn restore(engine: &Engine, compiled: &[u8]) -> Option<Component> {
    // SAFETY: `deserialize` asks for bytes that `precompile_component` of this engine version and
    // configuration made, unchanged. They were made just now, or come from an entry whose name holds
    // both and whose digest holds, in a folder that nobody else can write to.
    unsafe { Component::deserialize(engine, compiled) }.ok()
}

/// A digest that takes whatever can be hashed.
struct Fingerprint(Sha256);

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        digest
            .iter()
            .take(8)
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(hex, "{byte:02x}").expect("a String takes any text");
    }
    hex
}
