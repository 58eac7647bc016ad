//! The pool against examples, and against the obvious model.

mod properties;

use std::collections::VecDeque;

use super::*;

fn grants(effects: Vec<Effect>) -> Vec<(String, Ticket)> {
    let granted = |effect| match effect {
        Effect::Grant(agent, ticket) => Some((agent.to_string(), ticket)),
        Effect::Swapped(_) | Effect::Contended(_) => None,
    };
    effects.into_iter().filter_map(granted).collect()
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

/// Whether the slot of an agent is held under another key from here on; and who is granted one.
fn swap(pool: &mut Held, agent: &str, key: Option<&str>) -> (bool, Vec<String>) {
    let ticket = pool.1[agent];
    let mut effects = pool.0.step(Event::Swap(ticket, key.map(Slug::from)));
    let first = effects.remove(0);
    let swapped = first == Effect::Swapped(ticket);
    assert!(swapped || first == Effect::Contended(ticket), "{first:?}");
    let granted = grants(effects);
    pool.1.extend(granted.clone());
    (
        swapped,
        granted.into_iter().map(|(agent, _)| agent).collect(),
    )
}

fn nobody() -> Vec<String> {
    Vec::new()
}

#[test]
fn a_swap_to_a_free_key_keeps_the_slot_and_frees_the_old_key() {
    let mut pool = pool(2);
    ask(&mut pool, "a", Class::Start, Some("x"));
    assert_eq!(ask(&mut pool, "b", Class::Start, Some("x")), NOBODY);
    assert_eq!(
        swap(&mut pool, "a", Some("y")),
        (true, vec!["b".to_owned()])
    );
    // The new key is held with the old slot, and both come back together.
    assert_eq!(ask(&mut pool, "c", Class::Start, Some("y")), NOBODY);
    assert_eq!(release(&mut pool, "a"), ["c"]);
}

#[test]
fn a_swap_to_a_held_key_gives_up_slot_and_old_key_together() {
    let mut pool = pool(2);
    ask(&mut pool, "a", Class::Start, Some("x"));
    ask(&mut pool, "b", Class::Start, Some("y"));
    ask(&mut pool, "c", Class::Start, Some("x"));
    assert_eq!(
        swap(&mut pool, "a", Some("y")),
        (false, vec!["c".to_owned()])
    );
    // What is given up is not given up twice.
    assert_eq!(release(&mut pool, "a"), NOBODY);
    assert_eq!(ask(&mut pool, "a", Class::Resume, Some("y")), NOBODY);
    assert_eq!(release(&mut pool, "b"), ["a"]);
}

#[test]
fn a_swap_to_and_from_no_key_always_keeps_the_slot() {
    let mut pool = pool(1);
    ask(&mut pool, "a", Class::Start, Some("x"));
    assert_eq!(swap(&mut pool, "a", Some("x")), (true, nobody()));
    assert_eq!(swap(&mut pool, "a", None), (true, nobody()));
    assert_eq!(swap(&mut pool, "a", Some("x")), (true, nobody()));
    assert_eq!(ask(&mut pool, "b", Class::Start, Some("x")), NOBODY);
    assert_eq!(swap(&mut pool, "a", None), (true, nobody()));
    assert_eq!(release(&mut pool, "a"), ["b"]);
}

#[test]
fn a_swap_of_a_slot_that_is_back_changes_nothing() {
    let mut pool = pool(1);
    ask(&mut pool, "a", Class::Start, None);
    release(&mut pool, "a");
    let ticket = pool.1["a"];
    assert_eq!(pool.0.step(Event::Swap(ticket, Some("x".into()))), []);
    assert_eq!(ask(&mut pool, "b", Class::Start, Some("x")), ["b"]);
}

/// Were each release to look at everybody who is passed over, this would not end.
#[test]
fn a_hundred_thousand_behind_one_key_are_worked_off_beside_as_many_without() {
    const EACH: usize = 100_000;
    let mut pool = Pool::new(2);
    let mut running = VecDeque::new();
    for n in 0..EACH {
        let key = Some(Slug::from("k"));
        let keyed = Event::Acquire(format!("k-{n}").into(), Class::Start, key);
        running.extend(grants(pool.step(keyed)));
    }
    for n in 0..EACH {
        let free = Event::Acquire(format!("f-{n}").into(), Class::Start, None);
        running.extend(grants(pool.step(free)));
    }
    let mut order = Vec::new();
    while let Some((agent, ticket)) = running.pop_front() {
        order.push(agent);
        running.extend(grants(pool.step(Event::Release(ticket))));
    }
    assert_eq!(order.len(), 2 * EACH);
    let of = |letter| order.iter().filter(move |agent| agent.starts_with(letter));
    assert!(
        of('k')
            .enumerate()
            .all(|(n, agent)| *agent == format!("k-{n}"))
    );
    assert!(
        of('f')
            .enumerate()
            .all(|(n, agent)| *agent == format!("f-{n}"))
    );
}
