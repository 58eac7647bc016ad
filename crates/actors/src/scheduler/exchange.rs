//! How a lineage that goes on under another profile comes by that profile's key (03 §4).
//!
//! Always true: nobody waits for a key while it holds a slot or another key, so that two
//! successions that swap profiles cannot wait for each other.

use vocab::ids::{AgentId, Slug};

use super::{Class, Permit, Scheduler, Slot};
use crate::link::Link;
use crate::messages::{Acquire, SwapKey};

/// What became of a slot whose holder goes on under another key.
#[derive(Debug)]
pub(crate) enum Exchange {
    /// It is still held, under the new key.
    Kept(Permit),
    /// The key is another's: slot and old key are given up, and the holder queues for slot and new
    /// key as one that resumes.
    Queued(Slot),
}

/// Exchanges the key that a slot is held under for another; `agent` is who goes on in it.
pub(crate) async fn exchange(
    scheduler: &Link<Scheduler>,
    permit: Permit,
    agent: &AgentId,
    key: Option<&Slug>,
) -> Exchange {
    if permit.key.as_ref() == key {
        return Exchange::Kept(permit);
    }
    let swap = SwapKey {
        permit,
        key: key.cloned(),
    };
    // A scheduler that died answers the queue as little: its next boundary ends the agent.
    match scheduler.ask(swap).await.ok().flatten() {
        Some(permit) => Exchange::Kept(permit),
        None => Exchange::Queued(Slot::ask(
            scheduler,
            Acquire {
                agent: agent.clone(),
                class: Class::Resume,
                key: key.cloned(),
            },
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::Supervisor;

    /// A scheduler of so many slots. Nobody listens where its death would be reported.
    fn stage(cap: u64) -> (Link<Scheduler>, actix::Context<Supervisor>) {
        let (mailbox, supervisor) = Supervisor::open(None);
        (Scheduler::start(cap, supervisor, None), mailbox)
    }

    fn queue(scheduler: &Link<Scheduler>, agent: &str, key: Option<&str>) -> Slot {
        Slot::ask(
            scheduler,
            Acquire {
                agent: agent.into(),
                class: Class::Start,
                key: key.map(Slug::from),
            },
        )
    }

    async fn to(scheduler: &Link<Scheduler>, permit: Permit, agent: &str, key: &str) -> Exchange {
        exchange(scheduler, permit, &agent.into(), Some(&Slug::from(key))).await
    }

    #[actix::test]
    async fn a_free_key_is_taken_and_the_old_one_left_without_giving_up_the_slot() {
        let (scheduler, _mailbox) = stage(2);
        let first = queue(&scheduler, "a", Some("x")).granted().await.unwrap();
        let second = queue(&scheduler, "b", Some("x"));
        let kept = to(&scheduler, first, "c", "y").await;
        assert!(matches!(kept, Exchange::Kept(_)));
        // The old key is free, and the other slot is too.
        assert!(second.granted().await.is_some());
    }

    #[actix::test]
    async fn two_that_swap_profiles_both_go_on() {
        let (scheduler, _mailbox) = stage(2);
        let first = queue(&scheduler, "a", Some("x")).granted().await.unwrap();
        let second = queue(&scheduler, "b", Some("y")).granted().await.unwrap();
        let Exchange::Queued(waits) = to(&scheduler, first, "c", "y").await else {
            panic!("the key is held");
        };
        // Whoever came first has given its key up with its slot.
        let Exchange::Kept(second) = to(&scheduler, second, "d", "x").await else {
            panic!("the key is free");
        };
        let first = waits.granted().await.unwrap();
        drop((first, second));
        for key in ["x", "y"] {
            assert!(queue(&scheduler, key, Some(key)).granted().await.is_some());
        }
    }

    #[actix::test]
    async fn the_same_key_and_none_for_none_ask_nobody() {
        let (scheduler, _mailbox) = stage(2);
        let plain = queue(&scheduler, "a", None).granted().await.unwrap();
        let keyed = queue(&scheduler, "b", Some("x")).granted().await.unwrap();
        let same = to(&scheduler, keyed, "c", "x").await;
        assert!(matches!(same, Exchange::Kept(_)));
        let none = exchange(&scheduler, plain, &"d".into(), None).await;
        assert!(matches!(none, Exchange::Kept(_)));
    }
}
