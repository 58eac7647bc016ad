//! The guests this binary carries, each once: what a function returns as a constant may be copied
//! into whichever crate the function is inlined into, and a static is not.

#[cfg(ecmascript_guest)]
static ECMASCRIPT: [u8; include_bytes!(env!("GG_ECMASCRIPT_GUEST")).len()] =
    *include_bytes!(env!("GG_ECMASCRIPT_GUEST"));

#[cfg(python_guest)]
static PYTHON: [u8; include_bytes!(env!("GG_PYTHON_GUEST")).len()] =
    *include_bytes!(env!("GG_PYTHON_GUEST"));

/// A guest that this binary was built without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this gg was built without the guest of `{arm}`; `cargo xtask arms` builds it (it needs \
     {needs}), then build gg again"
)]
pub struct Missing {
    /// Whose.
    pub arm: &'static str,
    /// What builds it, by Debian's names.
    pub needs: &'static str,
}

/// The component that runs programs of TypeScript and JavaScript.
pub fn ecmascript() -> Result<&'static [u8], Missing> {
    #[cfg(ecmascript_guest)]
    return Ok(&ECMASCRIPT);
    #[cfg(not(ecmascript_guest))]
    Err(Missing {
        arm: "javascript",
        needs: "clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32",
    })
}

/// The component that runs programs of Python.
pub fn python() -> Result<&'static [u8], Missing> {
    #[cfg(python_guest)]
    return Ok(&PYTHON);
    #[cfg(not(python_guest))]
    Err(Missing {
        arm: "python",
        needs: "python3, python3-venv",
    })
}

/// The most memory that a program of any language can have: what addresses of 32 bits reach.
pub const MOST_MEMORY_BYTES: u64 = 1 << 32;

/// Memory in which a program of TypeScript or JavaScript begins, and not in a MiB less; measured
/// (`least_memory`).
pub(super) const ECMASCRIPT_LEAST_MEMORY: u64 = 2 << 20;

/// The same of Python.
pub(super) const PYTHON_LEAST_MEMORY: u64 = 23 << 20;

/// What a TypeScript program is checked against; built with the guest, and empty without it: the
/// declarations of gg, and those of the language.
#[cfg(ecmascript_guest)]
pub(super) const DECLARATIONS: [&str; 2] = [
    include_str!(env!("GG_TYPESCRIPT_DECLARATIONS")),
    include_str!(env!("GG_TYPESCRIPT_LIBRARY")),
];
/// None without the guest.
#[cfg(not(ecmascript_guest))]
pub(super) const DECLARATIONS: [&str; 2] = ["", ""];
