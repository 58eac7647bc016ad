//! The place an agent works in: a slot, and its profile's key where that runs one agent at a time
//! (03 §3.5, §4).
//!
//! Always true: an agent says that it runs only once it holds both.

use record::event::{AgentState, AgentStatus, Event};

use super::turns::Turns;
use crate::messages::Acquire;
use crate::panics;
use crate::scheduler::{Class, Exchange, Slot, exchange};

impl Turns {
    /// Takes the slot to begin in: the one that came with the place of another agent, held under
    /// this one's key from here on; else the next that is free.
    pub(super) async fn take_place(&mut self) {
        let slot = match self.seat.leave() {
            None => self.queue(Class::Start),
            Some(permit) => {
                let key = self.spec.profile.slot_key();
                let (scheduler, id) = (&self.links.scheduler, &self.spec.id);
                match exchange(scheduler, permit, id, key).await {
                    Exchange::Queued(slot) => slot,
                    Exchange::Kept(permit) => {
                        self.seat.take(permit);
                        let running = AgentStatus::of(AgentState::Running);
                        self.links.voice.say(Event::AgentStatus(running));
                        return;
                    }
                }
            }
        };
        self.sit_down(slot).await;
    }

    /// Takes a place in the queue for a slot.
    pub(super) fn queue(&self, class: Class) -> Slot {
        let ask = Acquire {
            agent: self.spec.id.clone(),
            class,
            key: self.spec.profile.slot_key().cloned(),
        };
        Slot::ask(&self.links.scheduler, ask)
    }

    /// Waits for the slot it queues for. Where the run stops first it has none, works no more, and
    /// its next boundary ends it.
    pub(super) async fn sit_down(&mut self, slot: Slot) {
        let voice = &self.links.voice;
        voice.say(Event::AgentStatus(AgentStatus::of(AgentState::Queued)));
        panics::trip("queued");
        if let Some(permit) = slot.granted().await {
            self.seat.take(permit);
            voice.say(Event::AgentStatus(AgentStatus::of(AgentState::Running)));
        }
    }
}
