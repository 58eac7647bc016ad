//! The board's git, behind messages: every command of it runs on a thread of its own, and whoever
//! asked is answered when it is done.
//!
//! Always true: no handler here waits for git, nor starts a process; what was begun is done to its
//! end, whoever died meanwhile.

use std::fmt;
use std::sync::Arc;

use actix::{Actor, AsyncContext, Context, ResponseFuture};
use board::Answer;
use board::git::{GitError, GitThread, Repository};

use crate::flow::Tap;
use crate::link::{Link, Named, Receive, SHARED_MAILBOX, routes};
use crate::messages::{CarryOut, RaiseDefect};
use crate::panics::{self, DeathWatch};
use crate::supervisor::Supervisor;

/// A repository and the thread it is worked on from. Clones share both.
#[derive(Clone)]
pub(crate) struct Hands {
    pub(super) repository: Repository,
    pub(super) thread: Arc<GitThread>,
}

impl fmt::Debug for Hands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hands")
    }
}

/// What was left to do at the run's end.
#[derive(Debug)]
pub(crate) enum Closed {
    /// Nothing.
    InOrder,
    /// A merge was open, of a board that died: it was undone, and these branches keep what was
    /// committed meanwhile.
    Undone(Vec<String>),
    /// Something could not be done, in a sentence.
    Failed(String),
}

impl Hands {
    /// Ends the work on the repository: awaits what touches the workspace, undoes a merge that
    /// nobody is left to end, and removes the folder for worktrees where none is left in it.
    pub(crate) async fn close(&self) -> Closed {
        let repository = self.repository.clone();
        let closed = self.thread.run(async move {
            let undone = match repository.restore().await {
                Ok(kept) => Closed::Undone(kept),
                Err(GitError::Misplaced(_)) => Closed::InOrder,
                Err(error) => Closed::Failed(format!("a merge stays open: {error}")),
            };
            match (repository.close(), undone) {
                (Err(error), Closed::InOrder) => Closed::Failed(error.to_string()),
                (_, undone) => undone,
            }
        });
        let closed = closed.await;
        closed.unwrap_or_else(|gone| Closed::Failed(gone.to_string()))
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Git {
    hands: Hands,
    supervisor: Link<Supervisor>,
    _death: DeathWatch,
}

impl Git {
    pub(super) fn start(
        hands: Hands,
        supervisor: &Link<Supervisor>,
        tap: Option<&Tap>,
    ) -> Link<Self> {
        let mut context = Context::new();
        context.set_mailbox_capacity(SHARED_MAILBOX);
        let link = Link::new(context.address(), "git", tap);
        let supervisor = supervisor.held_by("git");
        let report = supervisor.clone();
        context.run(Self {
            hands,
            supervisor,
            _death: DeathWatch::new(move |text| {
                report.tell(RaiseDefect {
                    agent: None,
                    profile: None,
                    cause: format!("the actor of the board's git panicked: {text}"),
                });
            }),
        });
        link
    }
}

impl Actor for Git {
    type Context = Context<Self>;
}

impl Named for Git {
    fn name(&self) -> &'static str {
        "git"
    }
}

routes!(Git: CarryOut);

impl Receive<CarryOut> for Git {
    type Reply = ResponseFuture<Result<Answer, String>>;

    fn receive(&mut self, CarryOut { ask }: CarryOut, _: &mut Context<Self>) -> Self::Reply {
        panics::trip("git");
        let repository = self.hands.repository.clone();
        let what = format!("{ask:?}");
        let done = self.hands.thread.run(async move {
            panics::trip("git_job");
            repository.answer(ask).await
        });
        let supervisor = self.supervisor.clone();
        Box::pin(async move {
            let why = match done.await {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => format!("git was asked for what is not git's: {what}"),
                Err(gone) => format!("{gone}, and with it: {what}"),
            };
            supervisor.tell(RaiseDefect {
                agent: None,
                profile: None,
                cause: why.clone(),
            });
            Err(why)
        })
    }
}
