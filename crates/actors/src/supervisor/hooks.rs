//! Hooks, asked for by message: the supervisor has them run and answers when they have (03 §10.2).

use std::sync::Arc;

use actix::{Context, ResponseFuture};

use super::Supervisor;
use crate::hooks::{self, Fired};
use crate::link::Receive;
use crate::messages::RunHook;
use crate::telemetry::Voice;

impl Receive<RunHook> for Supervisor {
    type Reply = ResponseFuture<Fired>;

    fn receive(&mut self, ask: RunHook, _: &mut Context<Self>) -> Self::Reply {
        let shared = Arc::clone(&self.shared);
        let voice = Voice {
            agent: Some(ask.who.agent.clone()),
            ..self.voice.clone()
        };
        Box::pin(async move { hooks::fire(&shared, &voice, &ask).await })
    }
}
