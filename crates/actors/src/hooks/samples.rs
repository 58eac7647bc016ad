//! What the tests of hooks have in common.

use super::Facts;

/// A write to `/work/a` that a hook is to judge.
pub(super) fn write(contents: &str) -> Facts {
    Facts::Write {
        path: "/work/a".into(),
        contents: contents.into(),
        ok: None,
    }
}
