//! A second holder that writes between the boundaries of another, for tests of whole sessions: as
//! long as no agent starts another, a run has nobody else who could.

use std::cell::RefCell;
use std::collections::VecDeque;

use context::modules::memories::{MemoryCall, MemoryStore};
use vocab::ids::AgentId;

thread_local! {
    static SCRIPT: RefCell<VecDeque<Vec<MemoryCall>>> = RefCell::default();
}

/// What it writes before each boundary, in order. Actors run on the thread of whoever runs the
/// session.
pub(crate) fn arm(script: impl IntoIterator<Item = Vec<MemoryCall>>) {
    SCRIPT.with_borrow_mut(|held| *held = script.into_iter().collect());
}

pub(super) fn write(notebook: &mut MemoryStore, first: &AgentId) {
    let Some(calls) = SCRIPT.with_borrow_mut(VecDeque::pop_front) else {
        return;
    };
    let second = AgentId::from("second");
    assert_ne!(*first, second);
    if !notebook.is_linked() {
        notebook.attach(second.clone(), true);
    }
    for call in calls {
        notebook.apply(&second, call).unwrap();
    }
}
