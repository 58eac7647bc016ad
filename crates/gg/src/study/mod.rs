//! One launch document over ranges of values.
//!
//! [`plan`] makes the variations, [`runs`] carries them out, each in its own [`copy`] of the
//! workspace, [`result`] reads what each left, [`combine`] what the repeats come to and
//! [`knee`] where more stops to help; [`table`] and [`plot`] show it. All but `runs` and `copy` are pure.
//!
//! Always true: a result is a function of a run's folder alone, so that a study that goes on later
//! comes to the same figures as one that was never stopped.

pub(crate) mod combine;
pub(crate) mod copy;
pub(crate) mod knee;
mod path;
pub(crate) mod plan;
pub(crate) mod plot;
pub(crate) mod result;
pub(crate) mod runs;
pub(crate) mod table;
