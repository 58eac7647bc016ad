//! The pool under random events.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

/// One that runs or waits, as the model has it.
#[derive(Clone, Debug)]
struct Known {
    agent: String,
    class: Class,
    key: Option<String>,
    ticket: Ticket,
}

proptest! {
    /// Random events against the obvious model: one list of waiters, one of those that run.
    #[test]
    fn whoever_is_granted_is_the_first_that_may_run_and_nobody_who_may_is_left(
        cap in prop::sample::select(vec![1_u64, 2, 16]),
        steps in prop::collection::vec((0_u8..8, 0_u8..24, 0_u8..5), 1..250),
    ) {
        let mut pool = Pool::new(cap);
        let mut running: Vec<Known> = Vec::new();
        let mut waiting: Vec<Known> = Vec::new();
        for (serial, (kind, pick, key)) in steps.into_iter().enumerate() {
            let mut swapped = None;
            let event = match kind {
                0..=2 => {
                    let known = Known {
                        agent: format!("agent-{serial}"),
                        class: if kind == 0 { Class::Start } else { Class::Resume },
                        key: (key < 3).then(|| format!("key-{key}")),
                        ticket: 0,
                    };
                    waiting.push(known.clone());
                    Event::Acquire(
                        known.agent.into(),
                        known.class,
                        known.key.map(Slug::from),
                    )
                }
                3 | 4 if !running.is_empty() => {
                    let gone = running.remove(pick as usize % running.len());
                    Event::Release(gone.ticket)
                }
                5 | 6 if !running.is_empty() => {
                    let at = pick as usize % running.len();
                    let key = (key < 3).then(|| format!("key-{key}"));
                    let same = running[at].key == key;
                    let free = key.is_none() || running.iter().all(|other| other.key != key);
                    let ticket = running[at].ticket;
                    if same || free {
                        running[at].key.clone_from(&key);
                        swapped = Some(Effect::Swapped(ticket));
                    } else {
                        running.remove(at);
                        swapped = Some(Effect::Contended(ticket));
                    }
                    Event::Swap(ticket, key.map(Slug::from))
                }
                _ if !waiting.is_empty() => {
                    let gone = waiting.remove(pick as usize % waiting.len());
                    Event::Forget(gone.agent.into())
                }
                _ => continue,
            };
            let free = |known: &Known, running: &[Known]| {
                known.key.is_none() || running.iter().all(|other| other.key != known.key)
            };
            let mut effects = pool.step(event);
            if swapped.is_some() {
                prop_assert_eq!(Some(effects.remove(0)), swapped);
            }
            let granted = grants(effects.clone());
            prop_assert_eq!(granted.len(), effects.len());
            for (granted, ticket) in granted {
                let first = |class| {
                    let may = |known: &Known| known.class == class && free(known, &running);
                    waiting.iter().position(may)
                };
                let expected = first(Class::Resume).or_else(|| first(Class::Start));
                let mut expected = waiting.remove(expected.expect("somebody could run"));
                expected.ticket = ticket;
                prop_assert_eq!(&granted, &expected.agent);
                running.push(expected);
            }
            prop_assert!(running.len() as u64 <= cap);
            let keys: Vec<_> = running.iter().filter_map(|known| known.key.as_ref()).collect();
            let distinct: HashSet<_> = keys.iter().collect();
            prop_assert_eq!(keys.len(), distinct.len(), "two run under one key");
            let idle = (running.len() as u64) < cap;
            let left = waiting.iter().any(|known| free(known, &running));
            prop_assert!(!(idle && left), "a slot is idle and {:?} wait", waiting);
        }
    }

    /// However agents come and suspend, each that asked and was not forgotten runs in the end.
    #[test]
    fn nobody_waits_for_ever(
        cap in prop::sample::select(vec![1_u64, 2, 16]),
        asks in prop::collection::vec((any::<bool>(), 0_u8..5), 1..100),
    ) {
        let mut pool = Pool::new(cap);
        let mut running: VecDeque<(String, Ticket)> = VecDeque::new();
        let mut ran = 0;
        let total = asks.len();
        for (serial, (resumes, key)) in asks.into_iter().enumerate() {
            let class = if resumes { Class::Resume } else { Class::Start };
            let key = (key < 3).then(|| Slug::from(format!("key-{key}")));
            let agent = AgentId::from(format!("agent-{serial}"));
            running.extend(grants(pool.step(Event::Acquire(agent, class, key))));
        }
        while let Some((_, ticket)) = running.pop_front() {
            ran += 1;
            running.extend(grants(pool.step(Event::Release(ticket))));
        }
        prop_assert_eq!(ran, total);
    }

    /// Lineages that go from key to key, in opposite directions too, each come to their end: one
    /// that finds its next key held queues for it with nothing in its hands.
    #[test]
    fn lineages_that_swap_keys_all_finish(
        cap in prop::sample::select(vec![1_u64, 2, 16]),
        routes in prop::collection::vec(prop::collection::vec(0_u8..4, 1..6), 1..40),
    ) {
        let key = |key: u8| (key < 3).then(|| Slug::from(format!("key-{key}")));
        let mut pool = Pool::new(cap);
        let mut running: VecDeque<(usize, Ticket)> = VecDeque::new();
        let mut legs: Vec<VecDeque<u8>> = routes.iter().map(|route| route.clone().into()).collect();
        let number = |(agent, ticket): (String, Ticket)| (agent.parse().unwrap(), ticket);
        for (lineage, legs) in legs.iter_mut().enumerate() {
            let first = legs.pop_front().unwrap();
            let ask = Event::Acquire(lineage.to_string().into(), Class::Start, key(first));
            running.extend(grants(pool.step(ask)).into_iter().map(number));
        }
        let mut finished = 0;
        while let Some((lineage, ticket)) = running.pop_front() {
            let Some(next) = legs[lineage].pop_front() else {
                finished += 1;
                let freed = pool.step(Event::Release(ticket));
                running.extend(grants(freed).into_iter().map(number));
                continue;
            };
            let effects = pool.step(Event::Swap(ticket, key(next)));
            let swapped = effects.contains(&Effect::Swapped(ticket));
            running.extend(grants(effects).into_iter().map(number));
            if swapped {
                running.push_back((lineage, ticket));
            } else {
                let ask = Event::Acquire(lineage.to_string().into(), Class::Resume, key(next));
                running.extend(grants(pool.step(ask)).into_iter().map(number));
            }
        }
        prop_assert_eq!(finished, routes.len());
    }
}
