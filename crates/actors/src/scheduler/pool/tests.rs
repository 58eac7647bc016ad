//! The pool against examples, and against the obvious model.

use proptest::prelude::*;

use super::*;

fn grants(effects: Vec<Effect>) -> Vec<(String, Ticket)> {
    effects
        .into_iter()
        .map(|Effect::Grant(agent, ticket)| (agent.to_string(), ticket))
        .collect()
}

/// A pool that remembers who holds which slot.
struct Held(Pool, HashMap<String, Ticket>);

fn pool(cap: u64) -> Held {
    Held(Pool::new(cap), HashMap::new())
}

impl Held {
    fn step(&mut self, event: Event) -> Vec<String> {
        let granted = grants(self.0.step(event));
        self.1.extend(granted.clone());
        granted.into_iter().map(|(agent, _)| agent).collect()
    }
}

fn ask(pool: &mut Held, agent: &str, class: Class, key: Option<&str>) -> Vec<String> {
    pool.step(Event::Acquire(agent.into(), class, key.map(Slug::from)))
}

fn release(pool: &mut Held, agent: &str) -> Vec<String> {
    let ticket = pool.1[agent];
    pool.step(Event::Release(ticket))
}

const NOBODY: [&str; 0] = [];

#[test]
fn second_agent_waits_for_the_only_slot() {
    let mut pool = pool(1);
    assert_eq!(ask(&mut pool, "a", Class::Start, None), ["a"]);
    assert_eq!(ask(&mut pool, "b", Class::Start, None), NOBODY);
    assert_eq!(release(&mut pool, "a"), ["b"]);
}

#[test]
fn a_resuming_agent_goes_before_one_that_asked_earlier_to_start() {
    let mut pool = pool(1);
    ask(&mut pool, "a", Class::Start, None);
    ask(&mut pool, "b", Class::Start, None);
    ask(&mut pool, "c", Class::Resume, None);
    assert_eq!(release(&mut pool, "a"), ["c"]);
    assert_eq!(release(&mut pool, "c"), ["b"]);
}

#[test]
fn one_whose_key_is_held_is_passed_over_and_keeps_its_place() {
    let mut pool = pool(2);
    assert_eq!(ask(&mut pool, "a", Class::Start, Some("k")), ["a"]);
    assert_eq!(ask(&mut pool, "b", Class::Start, Some("k")), NOBODY);
    assert_eq!(ask(&mut pool, "c", Class::Start, None), ["c"]);
    assert_eq!(ask(&mut pool, "d", Class::Start, None), NOBODY);
    // The key comes back with the slot, and `b` stood before `d`.
    assert_eq!(release(&mut pool, "a"), ["b"]);
    assert_eq!(release(&mut pool, "b"), ["d"]);
}

#[test]
fn a_starting_agent_may_run_where_every_resuming_one_lacks_its_key() {
    let mut pool = pool(2);
    ask(&mut pool, "a", Class::Start, Some("k"));
    assert_eq!(ask(&mut pool, "b", Class::Resume, Some("k")), NOBODY);
    assert_eq!(ask(&mut pool, "c", Class::Start, None), ["c"]);
}

#[test]
fn a_forgotten_waiter_takes_no_slot_and_frees_none() {
    let mut pool = pool(1);
    ask(&mut pool, "a", Class::Start, None);
    ask(&mut pool, "b", Class::Start, None);
    assert_eq!(pool.step(Event::Forget("b".into())), NOBODY);
    assert_eq!(release(&mut pool, "a"), NOBODY);
    assert_eq!(ask(&mut pool, "c", Class::Start, None), ["c"]);
}

#[test]
fn a_second_ask_of_one_that_waits_and_a_second_release_change_nothing() {
    let mut pool = pool(1);
    ask(&mut pool, "a", Class::Start, None);
    assert_eq!(ask(&mut pool, "b", Class::Start, None), NOBODY);
    assert_eq!(ask(&mut pool, "b", Class::Resume, None), NOBODY);
    assert_eq!(release(&mut pool, "a"), ["b"]);
    assert_eq!(release(&mut pool, "a"), NOBODY);
    assert_eq!(ask(&mut pool, "c", Class::Start, None), NOBODY);
}

/// Its wait may be over before the slot it gave up has come back.
#[test]
fn one_that_asks_for_its_next_slot_before_its_last_came_back_gets_it() {
    let mut narrow = pool(1);
    ask(&mut narrow, "a", Class::Start, None);
    assert_eq!(ask(&mut narrow, "a", Class::Resume, None), NOBODY);
    assert_eq!(release(&mut narrow, "a"), ["a"]);
    let mut wide = pool(2);
    ask(&mut wide, "a", Class::Start, Some("k"));
    assert_eq!(ask(&mut wide, "a", Class::Resume, Some("k")), NOBODY);
    assert_eq!(release(&mut wide, "a"), ["a"]);
}

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
        steps in prop::collection::vec((0_u8..6, 0_u8..24, 0_u8..5), 1..250),
    ) {
        let mut pool = Pool::new(cap);
        let mut running: Vec<Known> = Vec::new();
        let mut waiting: Vec<Known> = Vec::new();
        for (serial, (kind, pick, key)) in steps.into_iter().enumerate() {
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
                _ if !waiting.is_empty() => {
                    let gone = waiting.remove(pick as usize % waiting.len());
                    Event::Forget(gone.agent.into())
                }
                _ => continue,
            };
            let free = |known: &Known, running: &[Known]| {
                known.key.is_none() || running.iter().all(|other| other.key != known.key)
            };
            for (granted, ticket) in grants(pool.step(event)) {
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
}
