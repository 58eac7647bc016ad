//! Guests compiled for this machine, kept in a folder between runs (R15).
//!
//! An entry is named by what it was compiled from and for, and ends with a digest of what stands before
//! it. It is written beside its place and moved there, so that no reader sees half of one, and mapped
//! from there: programs of all processes share one copy of its code, and none waits for it to be read.
//!
//! The digest at its end tells an entry that is not whole from one that is. Who may have written it is
//! the folder's to tell, so that digest is a fast one, as is that of the guest in its name: the first
//! program of a process waits for both.
//!
//! Always true: nothing is read from a folder that somebody else could have written to; an entry that
//! is not whole is made anew.

use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use wasmtime::component::Component;
use wasmtime::{AsContextMut, Engine};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use crate::contract::{Sandbox, SandboxPre};
use crate::engine::{EngineError, runtime};
use crate::program::Job;
use crate::standby::Standby;
use crate::vessel::State;

/// Length of the digest that ends an entry.
const DIGEST: usize = 16;

/// How much of an entry is read at a time, to be judged.
const PIECE: usize = 256 * 1024;

/// A guest that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The component is none, or imports what gg does not have.
    #[error("it does not fit this gg: {0}")]
    Component(String),
}

/// A folder whose entries cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum CacheRefusal {
    /// It cannot be made or read.
    #[error("{path} cannot be used for compiled guests: {source}")]
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
        let mut compiler = Fingerprint(Xxh3Default::new());
        engine.precompile_compatibility_hash().hash(&mut compiler);
        let name = format!(
            "{:032x}-{:032x}.cwasm",
            xxh3_128(bytes),
            compiler.0.digest128()
        );
        self.folder.join(name)
    }
}

/// Whether an entry is there and ends with the digest of what stands before it.
fn is_whole(path: &Path) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    let Some(code) = file.metadata()?.len().checked_sub(DIGEST as u64) else {
        return Ok(false);
    };
    let mut digest = Xxh3Default::new();
    let mut piece = vec![0; PIECE];
    let mut left = code;
    while left > 0 {
        let next = piece.len().min(usize::try_from(left).unwrap_or(PIECE));
        file.read_exact(&mut piece[..next])?;
        digest.update(&piece[..next]);
        left -= next as u64;
    }
    let mut written = [0; DIGEST];
    file.read_exact(&mut written)?;
    Ok(written == digest.digest128().to_be_bytes())
}

fn write(path: &Path, compiled: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(compiled)?;
    file.write_all(&xxh3_128(compiled).to_be_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A guest ready to be instantiated; clones share its code, and who waits for its next program.
#[derive(Clone)]
pub struct Guest {
    pre: SandboxPre<State>,
    /// Who waits for its next program.
    pub(crate) standby: Arc<Standby<Job>>,
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
            // An entry that is not there and one that cannot be read are made alike.
            .filter(|entry| is_whole(entry).unwrap_or(false))
            .and_then(|entry| mapped(&runtime.engine, entry));
        let (component, origin) = if let Some(component) = kept {
            (component, Origin::Kept)
        } else {
            let compiled = runtime.engine.precompile_component(bytes).map_err(unfit)?;
            let written = entry.as_deref().filter(|entry| {
                write(entry, &compiled)
                    .inspect_err(|error| {
                        // The next run compiles once more; nothing else is lost.
                        tracing::warn!("{} cannot be kept: {error}", entry.display());
                    })
                    .is_ok()
            });
            let component = match written.and_then(|entry| mapped(&runtime.engine, entry)) {
                Some(component) => component,
                None => restore(&runtime.engine, &compiled).map_err(unfit)?,
            };
            (component, Origin::Compiled)
        };
        let pre = runtime.linker.instantiate_pre(&component).map_err(unfit)?;
        Ok(Self {
            pre: SandboxPre::new(pre).map_err(unfit)?,
            standby: Arc::default(),
            origin,
            took: began.elapsed(),
        })
    }

    /// The names of all interfaces it imports, sorted.
    #[cfg(test)]
    pub(crate) fn imports(&self) -> Vec<String> {
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

/// Machine code as a component.
#[expect(
    unsafe_code,
    reason = "the engine cannot check machine code; it was made just now"
)]
fn restore(engine: &Engine, compiled: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` asks for bytes that `precompile_component` of this engine version and
    // configuration made, unchanged: the caller has them from there.
    unsafe { Component::deserialize(engine, compiled) }
}

/// The machine code of an entry as a component; `None` where it cannot be had, which costs a
/// compilation and nothing else.
fn mapped(engine: &Engine, entry: &Path) -> Option<Component> {
    let refused = |error: &wasmtime::Error| {
        tracing::warn!("{} cannot be used: {error:#}", entry.display());
    };
    map(engine, entry).inspect_err(refused).ok()
}

/// The machine code of an entry as a component.
#[expect(
    unsafe_code,
    reason = "the engine cannot check machine code; where it comes from is checked here"
)]
fn map(engine: &Engine, entry: &Path) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize_file` asks for a file that holds what `precompile_component` of this engine
    // version and configuration made, and that stays as it is. The entry's name holds both and its
    // digest was right; the folder is nobody else's to write to, and gg itself replaces entries by
    // new files, never in place. The digest stands behind all that the format refers to.
    unsafe { Component::deserialize_file(engine, entry) }
}

/// A digest that takes whatever can be hashed.
struct Fingerprint(Xxh3Default);

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        self.0.digest()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}
