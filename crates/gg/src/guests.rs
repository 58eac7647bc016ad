//! Where compiled guests are kept between runs (R15): in the user's own cache.

use std::path::PathBuf;

/// `$XDG_CACHE_HOME/gg/guests`, or `~/.cache/gg/guests`; `None` for a user without a home.
pub(crate) fn folder() -> Option<PathBuf> {
    let absolute = |name| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("gg/guests"))
}
