//! Who waits for a guest's next program: one thread at most, with an instance that has run nothing.
//!
//! A thread promises to wait before it makes what it waits with, so that of many whose programs end
//! at once one does, and the others end. Whoever starts a program takes the place away with the
//! thread; the thread offers itself again when the program has ended.
//!
//! Always true: a program is handed to one thread, or given back; a promise that is not kept is
//! withdrawn; a guest that nobody holds any more is waited for by nobody.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The place of one guest.
pub(crate) struct Standby<J>(Mutex<Place<J>>);

enum Place<J> {
    Empty,
    Promised,
    Waiting(Sender<J>),
}

impl<J> Default for Standby<J> {
    fn default() -> Self {
        Self(Mutex::new(Place::Empty))
    }
}

impl<J> Standby<J> {
    /// Hands a job to the thread that waits; given back where none does.
    pub(crate) fn hand(&self, job: J) -> Result<(), J> {
        let waiting = {
            let mut place = self.place();
            match &*place {
                Place::Empty | Place::Promised => return Err(job),
                Place::Waiting(waiting) => {
                    let waiting = waiting.clone();
                    *place = Place::Empty;
                    waiting
                }
            }
        };
        waiting.send(job).map_err(|back| back.0)
    }

    /// Takes the place, where it is empty, for a thread that will wait.
    pub(crate) fn promise(self: &Arc<Self>) -> Option<Promise<J>> {
        let mut place = self.place();
        if !matches!(*place, Place::Empty) {
            return None;
        }
        *place = Place::Promised;
        Some(Promise(Arc::downgrade(self)))
    }

    /// Whether a thread waits.
    #[cfg(test)]
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(*self.place(), Place::Waiting(_))
    }

    fn place(&self) -> MutexGuard<'_, Place<J>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is taken; it is empty again where this is dropped.
pub(crate) struct Promise<J>(Weak<Standby<J>>);

impl<J> Promise<J> {
    /// Says that from now on a thread waits: where jobs come, the first of which is its. A closed
    /// one means that none will.
    pub(crate) fn keep(self) -> Receiver<J> {
        let (sender, receiver) = channel();
        if let Some(standby) = self.0.upgrade() {
            *standby.place() = Place::Waiting(sender);
        }
        receiver
    }
}

impl<J> Drop for Promise<J> {
    fn drop(&mut self) {
        if let Some(standby) = self.0.upgrade() {
            let mut place = standby.place();
            if matches!(*place, Place::Promised) {
                *place = Place::Empty;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_given_back_where_nobody_waits_for_it() {
        let standby = Arc::new(Standby::default());
        assert_eq!(standby.hand(1), Err(1));
        let promise = standby.promise().unwrap();
        assert_eq!(standby.hand(2), Err(2), "a promise is not yet a thread");
        let jobs = promise.keep();
        assert_eq!(standby.hand(3), Ok(()));
        assert_eq!(jobs.recv(), Ok(3));
        assert_eq!(standby.hand(4), Err(4), "one thread takes one job");
    }

    #[test]
    fn one_thread_at_a_time_has_the_place() {
        let standby = Arc::new(Standby::<u32>::default());
        let promise = standby.promise().unwrap();
        assert!(standby.promise().is_none());
        drop(promise);
        let jobs = standby.promise().unwrap().keep();
        assert!(standby.promise().is_none());
        drop(jobs);
        // The thread died without a word: whoever hands it a job learns of it and has the job.
        assert_eq!(standby.hand(1), Err(1));
        assert!(standby.promise().is_some());
    }

    #[test]
    fn nobody_waits_for_a_guest_that_is_gone() {
        let standby = Arc::new(Standby::<u32>::default());
        let promise = standby.promise().unwrap();
        let second = Arc::new(Standby::<u32>::default());
        let waiting = second.promise().unwrap().keep();
        drop((standby, second));
        assert!(promise.keep().recv().is_err());
        assert!(waiting.recv().is_err());
    }
}
