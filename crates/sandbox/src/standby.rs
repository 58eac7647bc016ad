//! Who runs a guest's next program: one thread at most, which makes an instance and waits with it.
//!
//! The place is taken before what a thread waits with is made, so that of many programs that end at
//! once one has it made. A job may be handed to it from then on: it is nearer to being ready than
//! a thread that would begin now. Whoever hands it one empties the place.
//!
//! Always true: a job is handed to one thread, or given back; a guest that nobody holds any more is
//! waited for by nobody.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The place of one guest: the way to the thread that has it.
pub(crate) struct Standby<J>(Mutex<Option<Sender<J>>>);

impl<J> Default for Standby<J> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<J> Standby<J> {
    /// Hands a job to the thread that has the place; given back where none does.
    pub(crate) fn hand(&self, job: J) -> Result<(), J> {
        let mut place = self.place();
        match place.take() {
            Some(way) => way.send(job).map_err(|back| back.0),
            None => Err(job),
        }
    }

    /// Takes the place, where it is empty.
    pub(crate) fn offer(&self) -> Option<Offered<J>> {
        let mut place = self.place();
        if place.is_some() {
            return None;
        }
        let (sender, jobs) = channel();
        *place = Some(sender);
        Some(Offered(jobs))
    }

    /// Whether a thread has the place.
    pub(crate) fn is_taken(&self) -> bool {
        self.place().is_some()
    }

    fn place(&self) -> MutexGuard<'_, Option<Sender<J>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is taken, and where its job comes. It keeps nobody from letting go of the guest.
pub(crate) struct Offered<J>(Receiver<J>);

impl<J> Offered<J> {
    /// Waits for the job; `None` where none will come.
    pub(crate) fn wait(self) -> Option<J> {
        self.0.recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_given_back_where_nobody_would_do_it() {
        let standby = Standby::default();
        assert_eq!(standby.hand(1), Err(1));
        let offered = standby.offer().unwrap();
        assert_eq!(standby.hand(2), Ok(()));
        assert_eq!(standby.hand(3), Err(3), "one thread takes one job");
        assert_eq!(offered.wait(), Some(2));
    }

    #[test]
    fn one_thread_at_a_time_has_the_place() {
        let standby = Standby::<u32>::default();
        let first = standby.offer().unwrap();
        assert!(standby.offer().is_none());
        assert_eq!(standby.hand(1), Ok(()));
        let second = standby.offer().unwrap();
        assert_eq!(first.wait(), Some(1));
        assert!(standby.offer().is_none(), "the place is the second's");
        drop(second);
        // The thread died without a word: whoever hands it a job learns of it and has the job.
        assert_eq!(standby.hand(2), Err(2));
        assert!(!standby.is_taken());
    }

    #[test]
    fn nobody_waits_for_a_guest_that_is_gone() {
        let standby = Standby::<u32>::default();
        let waiting = standby.offer().unwrap();
        drop(standby);
        assert_eq!(waiting.wait(), None);
    }
}
