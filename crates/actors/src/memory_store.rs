//! One store of memories: sharing it is sharing its address (03 §10.1).
//!
//! Its holders ask it for what they read, write and have to be told; everything is answered within
//! the handler. What is kept, for whom and how much of it is decided by `context::modules::memories`.
//!
//! Always true: it asks nobody anything, so whoever holds it may wait for it; a write of one holder
//! is told to each other holder once.

#[cfg(test)]
mod tests;

use actix::{Actor, AsyncContext, Context, MessageResult};
use context::modules::Module;
use context::modules::memories::{self, MemoryError};
use context::prompts::PromptError;

use crate::flow::Tap;
use crate::link::{Link, Named, Receive, Routed, SHARED_MAILBOX, routes};
use crate::messages::{
    Attach, CallMemories, CarriedOut, CopyMemories, DescribeMemories, Forget, HandOver, MemoryNews,
    RaiseDefect, ShowMemories, TakeNews,
};
use crate::panics::{self, DeathWatch};
use crate::supervisor::Supervisor;

/// See the module.
#[derive(Debug)]
pub struct MemoryStore {
    name: String,
    notebook: memories::MemoryStore,
    _death: DeathWatch,
}

impl MemoryStore {
    /// Starts a store without holders, on what a notebook holds. It lives as long as somebody has a
    /// link to it.
    pub(crate) fn start(
        id: &str,
        notebook: memories::MemoryStore,
        supervisor: &Link<Supervisor>,
        tap: Option<&Tap>,
    ) -> Link<Self> {
        let name = format!("store {id}");
        let mut context = Context::new();
        context.set_mailbox_capacity(SHARED_MAILBOX);
        let link = Link::new(context.address(), &name, tap);
        let supervisor = supervisor.held_by(&name);
        let id = id.to_owned();
        let death = DeathWatch::new(move |text| {
            supervisor.tell(RaiseDefect {
                agent: None,
                profile: None,
                cause: format!("the memory store `{id}` panicked: {text}"),
            });
        });
        context.run(Self {
            name,
            notebook,
            _death: death,
        });
        link
    }
}

impl Actor for MemoryStore {
    type Context = Context<Self>;
}

impl Named for MemoryStore {
    fn name(&self) -> &str {
        &self.name
    }
}

routes!(
    MemoryStore: Attach, CallMemories, CopyMemories, DescribeMemories, Forget, HandOver,
    ShowMemories, TakeNews
);

impl Receive<Attach> for MemoryStore {
    type Reply = ();

    fn receive(&mut self, Attach { agent, writable }: Attach, _: &mut Context<Self>) {
        self.notebook.attach(agent, writable);
    }
}

impl Receive<Forget> for MemoryStore {
    type Reply = ();

    fn receive(&mut self, Forget { agent }: Forget, _: &mut Context<Self>) {
        self.notebook.detach(&agent);
    }
}

impl Receive<HandOver> for MemoryStore {
    type Reply = ();

    fn receive(&mut self, message: HandOver, _: &mut Context<Self>) {
        let HandOver {
            from,
            to,
            writable,
            policy,
        } = message;
        self.notebook.succeed(&from, to, writable);
        // Who comes keeps memories in the same way: others are not handed over.
        let _ = self.notebook.rebind(&policy);
    }
}

impl Receive<CopyMemories> for MemoryStore {
    type Reply = MessageResult<Routed<CopyMemories>>;

    fn receive(&mut self, _: CopyMemories, _: &mut Context<Self>) -> Self::Reply {
        MessageResult(self.notebook.copy())
    }
}

impl Receive<CallMemories> for MemoryStore {
    type Reply = Result<CarriedOut, MemoryError>;

    fn receive(&mut self, message: CallMemories, _: &mut Context<Self>) -> Self::Reply {
        panics::trip("store");
        let CallMemories { agent, call } = message;
        let answer = self.notebook.apply(&agent, call)?;
        let wrote = matches!(answer, memories::MemoryAnswer::Written(_));
        Ok(CarriedOut {
            answer,
            state: wrote.then(|| self.notebook.state(&agent)),
        })
    }
}

impl Receive<TakeNews> for MemoryStore {
    type Reply = Result<MemoryNews, PromptError>;

    fn receive(
        &mut self,
        TakeNews { agent, read }: TakeNews,
        _: &mut Context<Self>,
    ) -> Self::Reply {
        let news = self.notebook.take_news(&agent);
        Ok(MemoryNews {
            notice: news.notice(self.notebook.policy().strategy, read)?,
            state: news.changed.then(|| self.notebook.state(&agent)),
            wrote: news.wrote,
        })
    }
}

impl Receive<ShowMemories> for MemoryStore {
    type Reply = Result<Option<String>, PromptError>;

    fn receive(&mut self, _: ShowMemories, _: &mut Context<Self>) -> Self::Reply {
        panics::trip("shown");
        self.notebook.block()
    }
}

impl Receive<DescribeMemories> for MemoryStore {
    type Reply = MessageResult<Routed<DescribeMemories>>;

    fn receive(&mut self, message: DescribeMemories, _: &mut Context<Self>) -> Self::Reply {
        MessageResult(self.notebook.state(&message.agent))
    }
}
