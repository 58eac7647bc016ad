//! The desks of persistent profiles: what the last agent of each left open (03 §4).
//!
//! Always true: a profile has the desk of its last agent that ended by an ending that stood, and of
//! nobody else.

use std::collections::HashMap;

use actix::{Context, MessageResult};
use context::desk::Desk;
use vocab::ids::Slug;

use super::Supervisor;
use crate::link::{Receive, Routed};
use crate::messages::{FindDesk, LeaveDesk};

/// See the module.
pub(super) type Desks = HashMap<Slug, Desk>;

impl Receive<LeaveDesk> for Supervisor {
    type Reply = ();

    fn receive(&mut self, message: LeaveDesk, _: &mut Context<Self>) {
        let LeaveDesk { profile, desk } = message;
        self.desks.insert(profile, desk);
    }
}

impl Receive<FindDesk> for Supervisor {
    type Reply = MessageResult<Routed<FindDesk>>;

    fn receive(&mut self, FindDesk { profile }: FindDesk, _: &mut Context<Self>) -> Self::Reply {
        // Taken as it was, not taken away: an agent that ends otherwise leaves it as it found it.
        MessageResult(self.desks.get(&profile).cloned().unwrap_or_default())
    }
}
