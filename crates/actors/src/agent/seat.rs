//! The slot an agent holds, if it holds one: taken as it starts or goes on, left as it suspends,
//! handed back as it ends (03 §3.5).
//!
//! It is shared by the agent and its loop, so that a loop that panics leaves the slot with the
//! agent, which says how it ended before it gives the slot back.

use std::cell::RefCell;
use std::rc::Rc;

use crate::scheduler::Permit;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Seat(Rc<RefCell<Option<Permit>>>);

impl Seat {
    /// Whether the agent may work.
    pub(super) fn is_taken(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// The agent runs from here.
    pub(super) fn take(&self, permit: Permit) {
        *self.0.borrow_mut() = Some(permit);
    }

    /// The agent runs no longer; the permit, dropped, gives the slot back.
    pub(super) fn leave(&self) -> Option<Permit> {
        self.0.borrow_mut().take()
    }
}
