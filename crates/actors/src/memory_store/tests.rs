//! One store, several holders, by message.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use context::modules::memories::{MemoryCall, MemoryCode};
use vocab::failure::{Failure, FailureClass};
use vocab::ids::AgentId;
use vocab::knowledge::{MemoryLimits, MemoryStrategy};

use super::*;

/// A store, and whoever hears of its death.
struct Stage {
    store: Link<MemoryStore>,
    // Nobody listens; an address is what a store is given.
    _supervisor: Context<Supervisor>,
}

impl Stage {
    fn set(strategy: MemoryStrategy) -> Self {
        let (mailbox, supervisor) = Supervisor::open(None);
        let policy = memories::MemoryPolicy {
            strategy,
            limits: MemoryLimits::default(),
        };
        Self {
            store: MemoryStore::start(
                "memories-0",
                memories::MemoryStore::new(policy),
                &supervisor,
                None,
            ),
            _supervisor: mailbox,
        }
    }

    fn attach(&self, agent: &str, writable: bool) {
        let agent = AgentId::from(agent);
        self.store.tell(Attach { agent, writable });
    }

    async fn call(&self, agent: &str, call: MemoryCall) -> Result<CarriedOut, Failure> {
        let agent = AgentId::from(agent);
        let answer = self.store.ask(CallMemories { agent, call }).await.unwrap();
        answer.map_err(Failure::from)
    }

    async fn news(&self, agent: &str) -> MemoryNews {
        let (agent, read) = (AgentId::from(agent), Some("read_memory"));
        let news = self.store.ask(TakeNews { agent, read }).await.unwrap();
        news.unwrap()
    }

    async fn block(&self) -> Option<String> {
        self.store.ask(ShowMemories).await.unwrap().unwrap()
    }
}

fn create(name: &str, body: &str) -> MemoryCall {
    MemoryCall::Create {
        name: name.to_owned(),
        description: Some(format!("about {name}")),
        body: body.to_owned(),
        code: MemoryCode::default(),
    }
}

#[actix::test]
async fn a_write_is_told_to_the_other_holder_once_and_shown_to_the_writer() {
    let stage = Stage::set(MemoryStrategy::Markdown);
    stage.attach("root", true);
    stage.attach("scout", true);
    let carried_out = stage.call("scout", create("build", "make")).await.unwrap();
    let state = carried_out.state.unwrap();
    assert_eq!((state.memories.len(), state.writable), (1, true));

    let own = stage.news("scout").await;
    assert_eq!(
        (own.notice, own.state.is_none(), own.wrote),
        (None, true, true)
    );
    let other = stage.news("root").await;
    let notice = other.notice.unwrap();
    assert!(notice.contains("- added `build` — about build"), "{notice}");
    assert!(notice.contains("`read_memory`"), "{notice}");
    assert_eq!(
        (other.state.unwrap().memories.len(), other.wrote),
        (1, false)
    );
    for agent in ["root", "scout"] {
        let again = stage.news(agent).await;
        assert_eq!(
            (again.notice, again.state.is_none(), again.wrote),
            (None, true, false)
        );
    }
    assert!(
        stage
            .block()
            .await
            .unwrap()
            .contains("- `build` — about build")
    );
}

#[actix::test]
async fn a_late_holder_is_shown_what_there_is_and_told_nothing_of_it() {
    let stage = Stage::set(MemoryStrategy::Scratchpad);
    stage.attach("root", true);
    stage.call("root", create("build", "make")).await.unwrap();
    stage.attach("late", false);
    let news = stage.news("late").await;
    assert_eq!((news.notice, news.state.is_none()), (None, true));
    assert!(stage.block().await.unwrap().contains("make"));
    let agent = AgentId::from("late");
    let state = stage.store.ask(DescribeMemories { agent }).await.unwrap();
    assert_eq!((state.memories.len(), state.writable), (1, false));

    // Under a scratchpad there is no call to read with: the bodies stand in the notice.
    stage
        .call("root", create("test", "make check"))
        .await
        .unwrap();
    let notice = stage.news("late").await.notice.unwrap();
    assert!(notice.contains("make check"), "{notice}");
    assert!(!notice.contains("read_memory"), "{notice}");
}

#[actix::test]
async fn who_may_not_write_and_who_holds_nothing_is_refused_and_changes_nothing() {
    let stage = Stage::set(MemoryStrategy::Markdown);
    stage.attach("root", true);
    stage.attach("reader", false);
    let refused = stage.call("reader", create("a", "b")).await.unwrap_err();
    assert_eq!(refused.class, FailureClass::Refused);
    assert!(refused.message.contains("`read_memory`"), "{refused:?}");
    let stranger = stage.call("stranger", create("a", "b")).await.unwrap_err();
    assert_eq!(stranger.class, FailureClass::Unavailable);
    let agent = AgentId::from("reader");
    stage.store.tell(Forget { agent });
    let gone = stage.call("reader", create("a", "b")).await.unwrap_err();
    assert_eq!(gone.class, FailureClass::Unavailable);
    assert_eq!(stage.block().await, None);
    assert!(!stage.news("root").await.wrote);
}

#[actix::test]
async fn holders_that_ask_all_at_once_are_each_answered() {
    const HOLDERS: usize = 200;
    let stage = Stage::set(MemoryStrategy::KeywordSearch);
    for n in 0..HOLDERS {
        stage.attach(&format!("agent-{n}"), true);
    }
    let writes = (0..HOLDERS).map(|n| {
        let agent = format!("agent-{n}");
        let stage = &stage;
        async move { stage.call(&agent, create(&format!("m-{n}"), "text")).await }
    });
    let written = futures_util::future::join_all(writes).await;
    assert!(written.iter().all(Result::is_ok));
    // Each hears of all the others' writes, and of none of its own.
    for n in [0, HOLDERS / 2, HOLDERS - 1] {
        let notice = stage.news(&format!("agent-{n}")).await.notice.unwrap();
        assert_eq!(notice.matches("- added `").count(), HOLDERS - 1);
        assert!(!notice.contains(&format!("- added `m-{n}`")));
    }
}

#[actix::test]
async fn a_reading_answers_its_text_and_makes_no_revision() {
    let stage = Stage::set(MemoryStrategy::Markdown);
    stage.attach("root", true);
    stage.call("root", create("build", "make")).await.unwrap();
    let name = "build".to_owned();
    let read = stage.call("root", MemoryCall::Read { name }).await.unwrap();
    assert_eq!(read.answer.as_text(), "make");
    assert!(read.state.is_none());
}

#[actix::test]
async fn a_store_that_dies_releases_whoever_asks() {
    panics::install_hook();
    let stage = Stage::set(MemoryStrategy::Markdown);
    stage.attach("root", true);
    panics::tripping::arm("store");
    let (agent, call) = (AgentId::from("root"), create("build", "make"));
    assert!(stage.store.ask(CallMemories { agent, call }).await.is_err());
    assert!(stage.store.ask(ShowMemories).await.is_err());
}
