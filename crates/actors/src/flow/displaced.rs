//! How long a thread was ready to run and had no processor.
//!
//! A handler takes as long as its clock says also where another thread stood in its place: one it
//! woke, or one of another process. Without this figure that reads like a handler that waits.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

/// The scheduler's own account of the thread that opened it.
#[derive(Debug)]
pub(super) struct Account(File);

impl Account {
    /// That of the calling thread; `None` where the system keeps none.
    pub(super) fn of_this_thread() -> Option<Self> {
        let account = Self(File::open("/proc/thread-self/schedstat").ok()?);
        account.displaced().map(|_| account)
    }

    /// Since the thread began.
    pub(super) fn displaced(&self) -> Option<Duration> {
        let mut text = [0; 96];
        let length = self.0.read_at(&mut text, 0).ok()?;
        nanoseconds(text.get(..length)?).map(Duration::from_nanos)
    }
}

/// Of nanoseconds on a processor, nanoseconds ready for one, and turns on one: the second.
fn nanoseconds(text: &[u8]) -> Option<u64> {
    let fields = str::from_utf8(text).ok()?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_three_figures_is_read() {
        assert_eq!(nanoseconds(b"692746 2634003 3\n"), Some(2_634_003));
        assert_eq!(nanoseconds(b"692746"), None);
        assert_eq!(nanoseconds(b"1 -2 3"), None);
        assert_eq!(nanoseconds(b"\xff 2 3"), None);
    }

    #[test]
    fn the_account_of_a_thread_never_falls() {
        let Some(account) = Account::of_this_thread() else {
            assert!(!std::path::Path::new("/proc/thread-self/schedstat").exists());
            return;
        };
        let read: Vec<_> = (0..100).map(|_| account.displaced().unwrap()).collect();
        assert!(read.is_sorted(), "{read:?}");
    }
}
