//! Paths as git writes them: bytes, of which only what a person reads is made text.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What NUL ends.
pub(super) fn records(bytes: &[u8]) -> Vec<&[u8]> {
    let records = bytes.split(|byte| *byte == 0);
    records.filter(|record| !record.is_empty()).collect()
}

/// Bytes as a name of the system's.
pub(super) fn os(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// Bytes as a path.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    os(bytes).into()
}

/// Paths as a sentence shows them.
pub(super) fn shown<P: AsRef<Path>>(paths: &[P]) -> Vec<String> {
    (paths.iter())
        .map(|path| path.as_ref().to_string_lossy().into_owned())
        .collect()
}
