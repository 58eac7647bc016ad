//! Hooks, asked for by message: the supervisor has them run and answers when they have (03 §10.2).

use std::sync::Arc;

use actix::{Context, ResponseFuture};

use super::Supervisor;
use crate::hooks::{self, Fired};
use crate::link::Receive;
use crate::messages::RunHook;

impl Receive<RunHook> for Supervisor {
    type Reply = ResponseFuture<Fired>;

    fn receive(&mut self, ask: RunHook, _: &mut Context<Self>) -> Self::Reply {
        let shared = Arc::clone(&self.shared);
        let voice = self.voice.of(&ask.who.agent);
        Box::pin(async move { hooks::fire(&shared, &voice, &ask).await })
    }
}
