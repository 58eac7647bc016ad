//! Lineages against examples, and against random trees of spawns, copies, waits, messages,
//! successions and ends.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use vocab::outcome::EndStatus;

use super::*;

fn run(max_depth: u64, max_agents: Option<u64>) -> Lineages {
    let mut lineages = Lineages::new(max_depth, max_agents);
    lineages.begin("root".into());
    lineages
}

fn spawn(lineages: &mut Lineages, by: &str) -> AgentId {
    let grant = lineages.grant(&by.into()).expect("it may spawn");
    lineages.spawn(&grant);
    grant.id
}

fn value(id: &str) -> ReturnValue {
    ReturnValue {
        id: id.into(),
        agent: "scout".into(),
        status: EndStatus::Completed,
        text: Some(format!("of {id}")),
        ending: None,
    }
}

fn ids(values: &[ReturnValue]) -> Vec<String> {
    values.iter().map(|value| value.id.to_string()).collect()
}

fn asked(ids: &[&str]) -> Vec<AgentId> {
    ids.iter().map(|id| AgentId::from(*id)).collect()
}

#[test]
fn children_are_numbered_over_the_run_and_placed_under_their_parent() {
    let mut lineages = run(2, None);
    assert_eq!(spawn(&mut lineages, "root"), "agent-1".into());
    assert_eq!(spawn(&mut lineages, "agent-1"), "agent-2".into());
    let grant = lineages.grant(&"root".into()).unwrap();
    assert_eq!(
        (grant.id, grant.depth, grant.ordinal),
        ("agent-3".into(), 1, 1)
    );
}

#[test]
fn a_refused_spawn_uses_up_no_number() {
    let mut lineages = run(1, Some(2));
    spawn(&mut lineages, "root");
    assert_eq!(
        lineages.grant(&"agent-1".into()),
        Err(SpawnRefusal::Depth { max: 1 })
    );
    assert_eq!(
        lineages.grant(&"root".into()),
        Err(SpawnRefusal::Agents { max: 2 })
    );
    assert_eq!(
        run(0, None).grant(&"root".into()),
        Err(SpawnRefusal::Depth { max: 0 })
    );
}

#[test]
fn a_wait_is_answered_in_asked_order_once_all_have_ended() {
    let mut lineages = run(1, None);
    spawn(&mut lineages, "root");
    spawn(&mut lineages, "root");
    let wait = lineages.wait(&"root".into(), &asked(&["agent-2", "agent-1"]));
    assert_eq!(wait, Ok(Wait::Begun(asked(&["agent-2", "agent-1"]))));
    assert_eq!(lineages.end(value("agent-1")), Departure::default());
    let (waiter, values) = lineages.end(value("agent-2")).answered.unwrap();
    assert_eq!(waiter, "root".into());
    assert_eq!(ids(&values), ["agent-2", "agent-1"]);
}

#[test]
fn a_bare_wait_is_for_what_has_not_been_collected() {
    let mut lineages = run(1, None);
    let root = AgentId::from("root");
    assert_eq!(lineages.wait(&root, &[]), Ok(Wait::Met(Vec::new())));
    for _ in 0..3 {
        spawn(&mut lineages, "root");
    }
    lineages.end(value("agent-1"));
    lineages.end(value("agent-3"));
    let one = lineages.wait(&root, &asked(&["agent-3"]));
    assert_eq!(one, Ok(Wait::Met(vec![value("agent-3")])));
    let rest = lineages.wait(&root, &[]);
    assert_eq!(rest, Ok(Wait::Begun(asked(&["agent-2"]))));
    let (_, values) = lineages.end(value("agent-2")).answered.unwrap();
    assert_eq!(ids(&values), ["agent-1", "agent-2"]);
    // Values are kept: asking again brings the same one.
    let again = lineages.wait(&root, &asked(&["agent-3"]));
    assert_eq!(again, Ok(Wait::Met(vec![value("agent-3")])));
    assert_eq!(lineages.wait(&root, &[]), Ok(Wait::Met(Vec::new())));
}

#[test]
fn somebody_else_s_children_are_not_waited_for_and_not_written_to() {
    let mut lineages = run(2, None);
    spawn(&mut lineages, "root");
    spawn(&mut lineages, "agent-1");
    let root = AgentId::from("root");
    assert_eq!(
        lineages.wait(&root, &asked(&["agent-1", "agent-2", "root"])),
        Err(WaitRefusal::NoChild {
            ids: asked(&["agent-2", "root"]),
            children: asked(&["agent-1"]),
        })
    );
    assert_eq!(
        lineages.message(&root, &"agent-2".into(), "hello".into()),
        Err(MessageRefusal::NoChild {
            id: "agent-2".into(),
            children: asked(&["agent-1"]),
        })
    );
}

#[test]
fn messages_are_drained_once_in_order_and_handed_back_at_the_end() {
    let mut lineages = run(1, None);
    spawn(&mut lineages, "root");
    let (root, child) = (AgentId::from("root"), AgentId::from("agent-1"));
    for text in ["one", "two"] {
        lineages.message(&root, &child, text.into()).unwrap();
    }
    let texts: Vec<_> = lineages
        .drain(&child)
        .into_iter()
        .map(|it| it.text)
        .collect();
    assert_eq!(texts, ["one".into(), Arc::<str>::from("two")]);
    assert_eq!(lineages.drain(&child), []);
    lineages.message(&root, &child, "late".into()).unwrap();
    assert_eq!(lineages.end(value("agent-1")).dropped.len(), 1);
    assert_eq!(
        lineages.message(&root, &child, "too late".into()),
        Err(MessageRefusal::Ended {
            id: child,
            status: EndStatus::Completed,
        })
    );
}

#[test]
fn a_stop_releases_every_wait_and_begins_none() {
    let mut lineages = run(1, None);
    let root = AgentId::from("root");
    spawn(&mut lineages, "root");
    lineages.wait(&root, &[]).unwrap();
    assert_eq!(lineages.stop(), std::slice::from_ref(&root));
    assert_eq!(lineages.stop(), []);
    assert_eq!(lineages.wait(&root, &[]), Err(WaitRefusal::Stopping));
    assert_eq!(lineages.grant(&root), Err(SpawnRefusal::Stopping));
    // What has ended can still be collected.
    assert_eq!(lineages.end(value("agent-1")).answered, None);
    assert_eq!(
        lineages.wait(&root, &[]),
        Ok(Wait::Met(vec![value("agent-1")]))
    );
}

fn succeed(lineages: &mut Lineages, agent: &str) -> AgentId {
    let heir = lineages.heir(&agent.into()).expect("it may hand itself on");
    lineages.succeed(&heir);
    heir.id
}

#[test]
fn a_lineage_is_one_agent_whoever_runs() {
    let mut lineages = run(2, None);
    let root = AgentId::from("root");
    spawn(&mut lineages, "root");
    lineages
        .message(&root, &"agent-1".into(), "one".into())
        .unwrap();
    assert_eq!(succeed(&mut lineages, "agent-1"), "agent-2".into());
    // Its inbox stays, and who writes to it knows its handle alone.
    lineages
        .message(&root, &"agent-1".into(), "two".into())
        .unwrap();
    assert_eq!(
        lineages.message(&root, &"agent-2".into(), "x".into()),
        Err(MessageRefusal::NoChild {
            id: "agent-2".into(),
            children: asked(&["agent-1"]),
        })
    );
    assert_eq!(lineages.drain(&"agent-2".into()).len(), 2);
    // So do its children.
    let heir = succeed(&mut lineages, "root");
    let grant = lineages.grant(&heir).unwrap();
    assert_eq!((grant.depth, grant.ordinal), (1, 0));
    assert_eq!(
        lineages.wait(&heir, &[]),
        Ok(Wait::Begun(asked(&["agent-1"])))
    );
    // A suspended agent hands nothing on.
    assert_eq!(lineages.heir(&heir), None);
    let (waiter, values) = lineages.end(value("agent-1")).answered.unwrap();
    assert_eq!((waiter, ids(&values)), (heir, vec!["agent-1".to_owned()]));
}

#[test]
fn what_an_heir_is_told_to_collect_is_what_no_wait_has_brought() {
    let mut lineages = run(1, None);
    let root = AgentId::from("root");
    for _ in 0..3 {
        spawn(&mut lineages, "root");
    }
    lineages.end(value("agent-1"));
    lineages.end(value("agent-2"));
    lineages.wait(&root, &asked(&["agent-1"])).unwrap();
    succeed(&mut lineages, "agent-3");
    let heir = succeed(&mut lineages, "root");
    let told = lineages.uncollected(&heir).into_iter();
    let told: Vec<_> = told
        .map(|(id, runs, value)| (id, runs, value.is_some()))
        .collect();
    assert_eq!(
        told,
        [
            ("agent-2".into(), "agent-2".into(), true),
            ("agent-3".into(), "agent-4".into(), false),
        ]
    );
}

#[test]
fn a_promised_copy_counts_as_started_and_goes_with_its_maker() {
    let mut lineages = run(2, Some(3));
    let root = AgentId::from("root");
    let copy = lineages.reserve(&root).unwrap();
    assert_eq!(lineages.wait(&root, &[]), Ok(Wait::Met(Vec::new())));
    assert_eq!(lineages.reserve(&root).unwrap(), "agent-2".into());
    assert_eq!(
        lineages.reserve(&root),
        Err(SpawnRefusal::Agents { max: 3 })
    );
    let grant = lineages.promised(&root, &copy).unwrap();
    lineages.fork(&grant);
    assert_eq!(
        lineages.wait(&root, &[]),
        Ok(Wait::Begun(vec![copy.clone()]))
    );
    // The other is never made: its place is free again.
    lineages.end(value("root"));
    let left = lineages.grant(&copy).unwrap();
    assert_eq!(left.id, "agent-3".into());
}

#[test]
fn the_end_of_one_of_many_children_costs_one_step() {
    let mut lineages = run(1, None);
    let root = AgentId::from("root");
    for _ in 0..1_000 {
        spawn(&mut lineages, "root");
    }
    lineages.wait(&root, &[]).unwrap();
    for n in 1..1_000 {
        assert_eq!(
            lineages.end(value(&format!("agent-{n}"))),
            Departure::default()
        );
    }
    let (_, values) = lineages.end(value("agent-1000")).answered.unwrap();
    assert_eq!(values.len(), 1_000);
    assert!(
        ids(&values)
            .iter()
            .zip(1..)
            .all(|(id, n)| *id == format!("agent-{n}"))
    );
}

/// What a random tree does next; figures pick who.
#[derive(Clone, Copy, Debug)]
enum Step {
    Spawn(u8),
    Wait(u8, u8),
    Message(u8, u8),
    Drain(u8),
    End(u8),
    Succeed(u8),
    Reserve(u8),
    Commit(u8),
    Stop,
    /// A top-level agent, as the board starts them.
    Begin,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any::<u8>().prop_map(Step::Spawn),
        4 => any::<(u8, u8)>().prop_map(|(who, whom)| Step::Wait(who, whom)),
        2 => any::<(u8, u8)>().prop_map(|(who, whom)| Step::Message(who, whom)),
        2 => any::<u8>().prop_map(Step::Drain),
        5 => any::<u8>().prop_map(Step::End),
        4 => any::<u8>().prop_map(Step::Succeed),
        2 => any::<u8>().prop_map(Step::Reserve),
        2 => any::<u8>().prop_map(Step::Commit),
        2 => Just(Step::Begin),
        1 => Just(Step::Stop),
    ]
}

/// The model, by handles: who lives, who waits for whom, what was written and what was read.
#[derive(Default)]
struct Model {
    live: Vec<AgentId>,
    /// Every id of each lineage, the last one in force.
    chains: BTreeMap<AgentId, Vec<AgentId>>,
    /// Agents that each id has started.
    started: BTreeMap<AgentId, u64>,
    /// Copies that were promised, with who makes them.
    reserved: Vec<(AgentId, AgentId)>,
    names: BTreeSet<AgentId>,
    children: BTreeMap<AgentId, Vec<AgentId>>,
    depth: BTreeMap<AgentId, u64>,
    ended: BTreeSet<AgentId>,
    waiting: BTreeMap<AgentId, Vec<AgentId>>,
    unread: BTreeMap<AgentId, usize>,
    /// The top-level agent that each comes of.
    tops: BTreeMap<AgentId, AgentId>,
}

impl Model {
    fn pick(&self, figure: u8) -> Option<AgentId> {
        // A suspended agent asks nothing.
        let free: Vec<_> = self
            .live
            .iter()
            .filter(|id| !self.waiting.contains_key(*id))
            .collect();
        Some((*free.get(usize::from(figure) % free.len().max(1))?).clone())
    }

    fn children(&self, id: &AgentId) -> &[AgentId] {
        self.children.get(id).map_or(&[], Vec::as_slice)
    }

    /// The id that a lineage asks under.
    fn current(&self, handle: &AgentId) -> AgentId {
        let chain = self.chains.get(handle);
        chain.and_then(|it| it.last()).unwrap_or(handle).clone()
    }

    /// A child begins; what its place among all that its starter started has to be.
    fn adopt(&mut self, by: &AgentId, id: &AgentId, depth: u64) -> u64 {
        let started = self.started.entry(self.current(by)).or_default();
        let ordinal = *started;
        *started += 1;
        self.children
            .entry(by.clone())
            .or_default()
            .push(id.clone());
        let top = self.top(by).clone();
        self.tops.insert(id.clone(), top);
        self.depth.insert(id.clone(), depth);
        self.live.push(id.clone());
        ordinal
    }

    fn top<'a>(&'a self, id: &'a AgentId) -> &'a AgentId {
        self.tops.get(id).unwrap_or(id)
    }

    /// Whether all that come of a top-level agent have ended.
    fn whole(&self, top: &AgentId) -> bool {
        self.live.iter().all(|id| self.top(id) != top)
    }
}

proptest! {
    /// Whatever happens in whatever order: caps hold, every wait is answered exactly once, every
    /// value reaches whoever asks, and nothing waits behind a stop.
    #[test]
    fn random_trees_keep_every_rule(
        max_depth in 0_u64..4,
        max_agents in prop::option::of(1_u64..20),
        steps in prop::collection::vec(step(), 1..250),
    ) {
        let mut lineages = run(max_depth, max_agents);
        let mut model = Model::default();
        model.live.push("root".into());
        model.depth.insert("root".into(), 0);
        model.names.insert("root".into());
        let mut stopped = false;
        let mut started = 1;
        for step in steps {
            match step {
                Step::Spawn(who) => {
                    let Some(by) = model.pick(who) else { continue };
                    let depth = model.depth[&by];
                    let allowed = !stopped
                        && depth < max_depth
                        && max_agents.is_none_or(|max| started + (model.reserved.len() as u64) < max);
                    let grant = lineages.grant(&model.current(&by));
                    prop_assert_eq!(grant.is_ok(), allowed);
                    let Ok(grant) = grant else { continue };
                    lineages.spawn(&grant);
                    started += 1;
                    prop_assert!(model.names.insert(grant.id.clone()), "{} twice", grant.id);
                    prop_assert_eq!(grant.depth, depth + 1);
                    prop_assert_eq!(grant.ordinal, model.adopt(&by, &grant.id, grant.depth));
                }
                Step::Begin => {
                    let promised = started + model.reserved.len() as u64;
                    let expected = match max_agents {
                        _ if stopped => Err(Refusal::Stopping),
                        Some(max) if promised >= max => Err(Refusal::Agents { max }),
                        _ => Ok(()),
                    };
                    let may = lineages.may_begin();
                    prop_assert_eq!(&may, &expected);
                    if may.is_err() { continue }
                    let id = AgentId::from(format!("ISSUE-1.{started}i"));
                    lineages.begin(id.clone());
                    started += 1;
                    model.names.insert(id.clone());
                    model.depth.insert(id.clone(), 0);
                    model.live.push(id);
                }
                Step::Succeed(who) => {
                    let Some(by) = model.pick(who) else { continue };
                    let agent = model.current(&by);
                    let heir = lineages.heir(&agent);
                    prop_assert_eq!(heir.is_some(), !stopped);
                    let Some(heir) = heir else { continue };
                    lineages.succeed(&heir);
                    prop_assert!(model.names.insert(heir.id.clone()), "{} twice", heir.id);
                    prop_assert_eq!(&heir.lineage, &by);
                    let chain = model.chains.entry(by).or_default();
                    chain.push(heir.id);
                    prop_assert_eq!(heir.ordinal, chain.len() as u64);
                    // Whoever handed itself on does so once.
                    prop_assert_eq!(lineages.heir(&agent), None);
                }
                Step::Reserve(who) => {
                    let Some(by) = model.pick(who) else { continue };
                    let agent = model.current(&by);
                    let Ok(id) = lineages.reserve(&agent) else { continue };
                    prop_assert!(!stopped && model.names.insert(id.clone()), "{} twice", id);
                    // Promised, it is nobody's child yet.
                    let early = Err(WaitRefusal::NotYet { ids: vec![id.clone()] });
                    prop_assert_eq!(lineages.wait(&agent, std::slice::from_ref(&id)), early);
                    let unborn = Err(MessageRefusal::NotYet { id: id.clone() });
                    prop_assert_eq!(lineages.message(&agent, &id, "x".into()), unborn);
                    model.reserved.push((id, by));
                }
                Step::Commit(which) => {
                    if model.reserved.is_empty() { continue }
                    let place = usize::from(which) % model.reserved.len();
                    let (id, by) = model.reserved[place].clone();
                    if model.waiting.contains_key(&by) { continue }
                    let promised = lineages.promised(&model.current(&by), &id);
                    prop_assert_eq!(promised.is_ok(), !stopped);
                    let Ok(grant) = promised else { continue };
                    lineages.fork(&grant);
                    started += 1;
                    model.reserved.remove(place);
                    prop_assert_eq!(grant.depth, model.depth[&by] + 1);
                    prop_assert_eq!(grant.ordinal, model.adopt(&by, &id, grant.depth));
                }
                Step::Wait(who, whom) => {
                    let Some(by) = model.pick(who) else { continue };
                    let children = model.children(&by).to_vec();
                    let named: Vec<_> = children
                        .iter()
                        .enumerate()
                        .filter(|(place, _)| whom >> (place % 8) & 1 == 1)
                        .map(|(_, id)| id.clone())
                        .rev()
                        .collect();
                    match lineages.wait(&model.current(&by), &named) {
                        Ok(Wait::Met(values)) => {
                            for value in &values {
                                prop_assert!(model.ended.contains(&value.id));
                            }
                            if !named.is_empty() {
                                let met: Vec<_> = values.iter().map(|it| it.id.clone()).collect();
                                prop_assert_eq!(met, named);
                            }
                        }
                        Ok(Wait::Begun(awaited)) => {
                            prop_assert!(!stopped && !awaited.is_empty());
                            prop_assert!(awaited.iter().all(|id| !model.ended.contains(id)));
                            model.waiting.insert(by, awaited);
                        }
                        Err(WaitRefusal::Stopping) => prop_assert!(stopped),
                        Err(refusal) => prop_assert!(false, "{:?}", refusal),
                    }
                }
                Step::Message(who, whom) => {
                    let Some(by) = model.pick(who) else { continue };
                    let children = model.children(&by).to_vec();
                    if children.is_empty() { continue }
                    let to = &children[usize::from(whom) % children.len()];
                    let sent = lineages.message(&model.current(&by), to, "x".into());
                    prop_assert_eq!(sent.is_ok(), !model.ended.contains(to));
                    if sent.is_ok() {
                        *model.unread.entry(to.clone()).or_default() += 1;
                    }
                }
                Step::Drain(who) => {
                    let Some(by) = model.pick(who) else { continue };
                    let unread = model.unread.remove(&by).unwrap_or_default();
                    prop_assert_eq!(lineages.drain(&model.current(&by)).len(), unread);
                }
                Step::End(who) => {
                    // A suspended agent may die, and its own wait with it.
                    let place = usize::from(who) % model.live.len().max(1);
                    if model.live.is_empty() { continue }
                    let id = model.live.remove(place);
                    model.waiting.remove(&id);
                    model.ended.insert(id.clone());
                    model.reserved.retain(|(_, maker)| *maker != id);
                    let departure = lineages.end(value(id.as_str()));
                    let unread = model.unread.remove(&id).unwrap_or_default();
                    prop_assert_eq!(departure.dropped.len(), unread);
                    let top = model.top(&id).clone();
                    let whole = model.whole(&top).then(|| value(top.as_str()));
                    prop_assert_eq!(&departure.whole, &whole);
                    let met: Vec<AgentId> = model
                        .waiting
                        .iter()
                        .filter(|(_, awaited)| awaited.iter().all(|it| model.ended.contains(it)))
                        .map(|(waiter, _)| waiter.clone())
                        .collect();
                    let answered: Vec<AgentId> =
                        departure.answered.iter().map(|(waiter, _)| waiter.clone()).collect();
                    let expected: Vec<_> = met.iter().map(|it| model.current(it)).collect();
                    prop_assert_eq!(answered, expected);
                    for waiter in met {
                        model.waiting.remove(&waiter);
                    }
                    // A second report of the same end is none.
                    prop_assert_eq!(lineages.end(value(id.as_str())), Departure::default());
                }
                Step::Stop => {
                    stopped = true;
                    let released: BTreeSet<_> = lineages.stop().into_iter().collect();
                    let waiting: BTreeSet<_> =
                        model.waiting.keys().map(|it| model.current(it)).collect();
                    prop_assert_eq!(released, waiting);
                    model.waiting.clear();
                }
            }
        }
        // Values are never lost: every parent that lives can collect all that ended.
        for parent in model.live.clone() {
            let ended: Vec<_> = model
                .children(&parent)
                .iter()
                .filter(|id| model.ended.contains(*id))
                .cloned()
                .collect();
            let values = match lineages.wait(&model.current(&parent), &ended) {
                Ok(Wait::Met(values)) if !ended.is_empty() => values,
                _ => continue,
            };
            prop_assert_eq!(values.iter().map(|it| it.id.clone()).collect::<Vec<_>>(), ended);
        }
    }
}
