//! Where tests make an actor panic; nothing in any other build.
//!
//! A place is a call of [`trip`] with its name. Unit tests arm one for their thread; a gg built
//! with the feature `trip` reads one from its environment: `GG_TRIP=turn@3` panics as the place
//! `turn` is passed for the third time. No release can be built so.

#[cfg(all(feature = "trip", not(debug_assertions)))]
compile_error!("the feature `trip` makes gg panic at will: it is for debug builds that tests use");

/// A place; nothing outside tests.
#[cfg(not(any(test, feature = "trip")))]
pub(crate) const fn trip(_: &'static str) {}

#[cfg(all(feature = "trip", not(test)))]
pub(crate) use from_environment::trip;
#[cfg(test)]
pub(crate) use tripping::trip;

#[cfg(all(feature = "trip", not(test)))]
mod from_environment {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A place, and at which of its passings it panics.
    struct Armed {
        place: String,
        left: AtomicU64,
    }

    static ARMED: LazyLock<Option<Armed>> = LazyLock::new(|| {
        let armed = std::env::var("GG_TRIP").ok()?;
        let (place, passing) = armed.split_once('@').unwrap_or((&armed, "1"));
        Some(Armed {
            place: place.to_owned(),
            left: AtomicU64::new(passing.parse().ok()?),
        })
    });

    /// Panics where the place is armed and this is its passing, once.
    pub(crate) fn trip(place: &'static str) {
        if let Some(armed) = &*ARMED
            && armed.place == place
            && armed.left.fetch_sub(1, Ordering::Relaxed) == 1
        {
            panic!("tripped in {place}");
        }
    }
}

#[cfg(test)]
pub(crate) mod tripping {
    use std::cell::Cell;

    thread_local! {
        static ARMED: Cell<Option<(&'static str, u32)>> = const { Cell::new(None) };
    }

    /// Arms a place; actors run on the thread of whoever runs the session.
    pub(crate) fn arm(place: &'static str) {
        arm_at(place, 1);
    }

    /// Arms a place for its n-th passing, from 1.
    pub(crate) fn arm_at(place: &'static str, passing: u32) {
        ARMED.set(Some((place, passing)));
    }

    /// Disarms whatever is armed; whether it still was.
    pub(crate) fn disarm() -> bool {
        ARMED.take().is_some()
    }

    /// Panics where the place is armed and this is its passing, once.
    pub(crate) fn trip(place: &'static str) {
        match ARMED.get() {
            Some((armed, 1)) if armed == place => {
                ARMED.set(None);
                panic!("tripped in {place}");
            }
            Some((armed, left)) if armed == place => ARMED.set(Some((armed, left - 1))),
            _ => {}
        }
    }
}
