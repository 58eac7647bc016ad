//! What holds for limits, sums and holders after any list of acts, against a small obvious model.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn any_strategy() -> impl Strategy<Value = MemoryStrategy> {
    prop_oneof![Just(Scratchpad), Just(Markdown), Just(KeywordSearch)]
}

fn any_limits() -> impl Strategy<Value = MemoryLimits> {
    (0_u64..5, 0_u64..8, 0_u64..16, 0_u64..60, 0_u64..5).prop_map(
        |(max_count, max_len_per_memory, max_total_len, max_len_index, max_len_description)| {
            MemoryLimits {
                max_count,
                max_len_per_memory,
                max_total_len,
                max_len_index,
                max_len_description,
                max_results: 0,
            }
        },
    )
}

#[derive(Clone, Debug)]
enum Act {
    Call(usize, MemoryCall),
    News(usize),
    Join(usize, bool),
    Tighten(MemoryLimits),
}

fn any_act() -> impl Strategy<Value = Act> {
    let name = || "[a-d]";
    let text = || "[ab漢\n]{0,6}[ab漢]";
    let call = prop_oneof![
        3 => (name(), "[xy漢]{0,6}", text()).prop_map(|(name, description, body)| {
            MemoryCall::Create { name, description: Some(description), body, code: MemoryCode::default() }
        }),
        2 => (name(), "[xy漢]{0,6}", text()).prop_map(|(name, description, body)| {
            MemoryCall::Replace { name, description: Some(description), body, code: None }
        }),
        2 => (name(), "[ab漢]", "[ab漢]{0,2}")
            .prop_map(|(name, old, new)| MemoryCall::Edit { name, old, new }),
        1 => name().prop_map(|name| MemoryCall::Delete { name }),
    ];
    prop_oneof![
        8 => (0_usize..3, call).prop_map(|(holder, call)| Act::Call(holder, call)),
        3 => (0_usize..3).prop_map(Act::News),
        1 => (0_usize..3, any::<bool>()).prop_map(|(holder, writable)| Act::Join(holder, writable)),
        1 => any_limits().prop_map(Act::Tighten),
    ]
}

/// Whether a figure keeps to a limit, or stays where it was when the limit was tightened.
fn within(now: u64, limit: u64, before: u64) -> bool {
    limit == 0 || now <= limit || now <= before
}

/// What a holder knows of each memory: its body, where it knows of one.
type Known = BTreeMap<String, String>;

proptest! {
    #[test]
    fn limits_hold_sums_agree_and_each_holder_learns_of_every_write_of_the_others(
        strategy in any_strategy(),
        limits in any_limits(),
        acts in proptest::collection::vec(any_act(), 0..60),
    ) {
        let agents = ["a", "b", "c"].map(agent);
        let mut store = MemoryStore::new(MemoryPolicy { strategy, limits });
        // Per holder: what it knows, and what the others wrote that it has not been told.
        let mut holders: BTreeMap<usize, (Known, BTreeSet<String>)> = BTreeMap::new();
        let mut revisions: BTreeMap<String, u64> = BTreeMap::new();
        let now = |store: &MemoryStore| -> Known {
            let memories = store.memories();
            memories.map(|(name, memory)| (name.to_string(), memory.body.to_string())).collect()
        };
        for act in acts {
            let before = store.clone();
            match act {
                Act::Join(holder, writable) => {
                    store.attach(agents[holder].clone(), writable);
                    holders.insert(holder, (now(&store), BTreeSet::new()));
                }
                Act::Tighten(limits) => {
                    let linked = store.is_linked();
                    let readable = store.rebind(&MemoryPolicy { strategy, limits });
                    prop_assert!(readable);
                    prop_assert_eq!(store.policy() == before.policy() || !linked, true);
                }
                Act::News(holder) => {
                    let news = store.take_news(&agents[holder]);
                    let Some((known, untold)) = holders.get_mut(&holder) else {
                        prop_assert_eq!(news, News::default());
                        continue;
                    };
                    let state = now(&store);
                    let told: BTreeMap<_, _> =
                        news.lines.iter().map(|line| (line.name.to_string(), line.change)).collect();
                    prop_assert_eq!(told.len(), news.lines.len(), "one line a memory");
                    for name in untold.iter() {
                        let expected = match (known.contains_key(name), state.contains_key(name)) {
                            (false, true) => Some(NetChange::Added),
                            (true, true) => Some(NetChange::Updated),
                            (true, false) => Some(NetChange::Deleted),
                            (false, false) => None,
                        };
                        prop_assert_eq!(told.get(name).copied(), expected, "{}", name);
                    }
                    prop_assert!(told.keys().all(|name| untold.contains(name)));
                    untold.clear();
                    *known = state;
                    prop_assert_eq!(store.take_news(&agents[holder]), News::default());
                }
                Act::Call(holder, call) => {
                    let whole = !matches!(call, MemoryCall::Edit { .. });
                    let Ok(answer) = store.apply(&agents[holder], call) else {
                        prop_assert_eq!(&store, &before, "a refused call changes nothing");
                        continue;
                    };
                    let Written { revision, usage, .. } = written(answer);
                    let name = revision.name.to_string();
                    let number = revisions.entry(name.clone()).or_default();
                    *number += 1;
                    prop_assert_eq!(revision.number, *number);
                    for (other, (known, untold)) in &mut holders {
                        if *other != holder {
                            untold.insert(name.clone());
                        } else if whole {
                            untold.remove(&name);
                            match &revision.text {
                                Some(text) => known.insert(name.clone(), text.to_string()),
                                None => known.remove(&name),
                            };
                        }
                    }
                    let (limits, old) = (usage.limits, before.usage());
                    prop_assert!(within(usage.totals.count, limits.max_count, old.totals.count));
                    prop_assert!(within(usage.totals.chars, limits.max_total_len, old.totals.chars));
                    prop_assert!(within(
                        usage.index_chars.unwrap_or(0),
                        limits.max_len_index,
                        old.index_chars.unwrap_or(0)
                    ));
                    if let Some(text) = &revision.text {
                        prop_assert!(within(text.chars().count() as u64, limits.max_len_per_memory, 0));
                    }
                    if whole && let Some(description) = &revision.description {
                        let chars = description.chars().count() as u64;
                        prop_assert!(within(chars, limits.max_len_description, 0));
                    }
                }
            }
            let state = store.state(&agents[0]);
            let sum = |part: fn(&MemoryRow) -> u64| state.memories.iter().map(part).sum::<u64>();
            prop_assert_eq!(state.totals.count, state.memories.len() as u64);
            prop_assert_eq!(state.totals.chars, sum(|row| row.chars));
            prop_assert_eq!(state.totals.lines, sum(|row| row.lines));
            prop_assert!(state.peaks.count >= state.totals.count);
            prop_assert!(state.peaks.chars >= state.totals.chars);
        }
    }

    #[test]
    fn the_index_is_as_long_as_it_is_rendered(
        entries in proptest::collection::btree_map("[a-d]{1,4}", "[xy漢—]{1,6}", 1..6)
    ) {
        let mut store = store(Markdown, NO_LIMITS);
        for (name, description) in entries {
            let call = MemoryCall::Create { name, description: Some(description), body: "b".into(), code: MemoryCode::default() };
            store.apply(&agent("a"), call).unwrap();
        }
        let block = store.block().unwrap().unwrap();
        let (_, index) = block.split_once("\n\n").unwrap();
        prop_assert_eq!(store.usage().index_chars, Some(index.chars().count() as u64));
    }
}
