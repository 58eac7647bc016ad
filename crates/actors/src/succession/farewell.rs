//! The end of an agent that handed itself on, on its way to the record.
//!
//! It travels with the successor, which tells it directly behind its own opening: so the record
//! has the slot in one hand at a time. A successor that dies before tells it by dropping it.

use record::event::LogLevel;
use vocab::outcome::EndStatus;

use crate::agent::{AgentSpec, LoopEnd};
use crate::telemetry::Voice;

/// See the module.
#[derive(Debug)]
pub(crate) struct Farewell(Option<(AgentSpec, Voice)>);

impl Farewell {
    /// Of an agent, with its voice.
    pub(crate) const fn of(spec: AgentSpec, voice: Voice) -> Self {
        Self(Some((spec, voice)))
    }

    /// Tells the end.
    pub(crate) fn tell(mut self) {
        self.say();
    }

    fn say(&mut self) {
        if let Some((spec, voice)) = self.0.take() {
            LoopEnd::of(EndStatus::Transitioned).tell(&spec, &voice);
        }
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        if let Some((_, voice)) = &self.0 {
            let text = "its successor died before it opened";
            voice.log(LogLevel::Error, Some("successor_lost"), text);
        }
        self.say();
    }
}
