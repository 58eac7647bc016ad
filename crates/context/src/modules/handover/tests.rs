//! The table of dispositions, kind by kind, and what holds for every passage.

use proptest::prelude::*;
use vocab::ids::Slug;

use super::super::roster::{MemorySetting, open};
use super::*;

use Disposition::{Absent, Carried, Copied, Dropped, Initialized, Linked};

fn full(profile: &str, scope: MemoryScope) -> ModuleSet {
    ModuleSet {
        profile: Slug::from(profile),
        memories: Some(MemorySetting {
            strategy: MemoryStrategy::Markdown,
            scope,
        }),
        tasks: true,
        board: true,
        skills: true,
        archive: true,
    }
}

const ROOT: Start<'static> = Start {
    started: StartedAs::Root,
    spawner: None,
    board: Some("board-0"),
};

struct Case {
    stores: StoreIds,
    roster: Vec<RosterRow>,
}

impl Case {
    fn of(set: &ModuleSet) -> Self {
        let mut stores = StoreIds::default();
        let roster = open(&mut stores, set, ROOT).unwrap();
        Self { stores, roster }
    }

    fn pass(&mut self, passage: Passage<'_>, set: &ModuleSet) -> Handover {
        hand_over(&mut self.stores, passage, &self.roster, set, ROOT).unwrap()
    }
}

/// Each kind: what became of it, and the stores on both sides.
fn told(handover: &Handover) -> Vec<(Disposition, Option<&str>, Option<&str>)> {
    handover
        .rows
        .iter()
        .map(|row| (row.disposition, row.from.as_deref(), row.to.as_deref()))
        .collect()
}

#[test]
fn a_fork_copies_what_is_the_agent_s_and_links_what_is_the_run_s() {
    let set = full("p", MemoryScope::Isolated);
    let mut case = Case::of(&set);
    let fork = case.pass(Passage::Fork, &set);
    assert_eq!(
        told(&fork),
        [
            (Copied, Some("history-0"), Some("history-1")),
            (Copied, Some("memories-0"), Some("memories-1")),
            (Copied, Some("tasks-0"), Some("tasks-1")),
            (Linked, Some("board-0"), Some("board-0")),
            (Copied, Some("skills-0"), Some("skills-1")),
            (Copied, Some("archive-0"), Some("archive-1")),
        ]
    );
    let origins: Vec<_> = fork.roster.iter().map(|row| row.origin.as_str()).collect();
    assert_eq!(
        origins,
        ["forked", "forked", "forked", "run", "forked", "forked"]
    );
    assert!(!fork.forgets_skills() && fork.demoted().is_empty());
}

#[test]
fn a_fork_s_memories_follow_its_scope() {
    for (scope, disposition, store, writable) in [
        (MemoryScope::Shared, Linked, "memories-0", true),
        (MemoryScope::Inherited, Linked, "memories-0", true),
        (MemoryScope::ReadOnly, Linked, "memories-0", false),
    ] {
        let set = full("p", scope);
        let mut case = Case::of(&set);
        let fork = case.pass(Passage::Fork, &set);
        let row = fork.of(ModuleKind::Memories).unwrap();
        assert_eq!(
            (row.disposition, row.to.as_deref()),
            (disposition, Some(store))
        );
        assert_eq!(fork.roster[1].writable, writable);
        assert_eq!(fork.roster[1].scope, Some(scope));
    }
}

#[test]
fn exec_carries_what_both_have_drops_what_the_receiver_has_off_and_starts_the_rest() {
    let from = ModuleSet {
        archive: false,
        ..full("p", MemoryScope::Isolated)
    };
    let to = ModuleSet {
        tasks: false,
        ..full("q", MemoryScope::Isolated)
    };
    let mut case = Case::of(&from);
    let exec = case.pass(Passage::Exec, &to);
    assert_eq!(
        told(&exec),
        [
            (Carried, Some("history-0"), Some("history-0")),
            (Carried, Some("memories-0"), Some("memories-0")),
            (Dropped, Some("tasks-0"), None),
            (Carried, Some("board-0"), Some("board-0")),
            (Carried, Some("skills-0"), Some("skills-0")),
            (Initialized, None, Some("archive-0")),
        ]
    );
    assert_eq!(exec.rows[2].reason, Some(DropReason::Off));
    assert_eq!(exec.demoted(), [Band::TaskList]);
    let neither = Case::of(&ModuleSet::bare(Slug::from("p")))
        .pass(Passage::Exec, &ModuleSet::bare(Slug::from("q")));
    assert_eq!(neither.rows[2].disposition, Absent);
}

#[test]
fn an_edge_hands_over_what_it_names_and_the_board() {
    let set = full("p", MemoryScope::Isolated);
    let mut case = Case::of(&set);
    let edge = case.pass(
        Passage::Transition(&[ModuleKind::Tasks, ModuleKind::Skills]),
        &set,
    );
    assert_eq!(
        told(&edge),
        [
            (Dropped, Some("history-0"), Some("history-1")),
            (Dropped, Some("memories-0"), Some("memories-1")),
            (Carried, Some("tasks-0"), Some("tasks-0")),
            (Carried, Some("board-0"), Some("board-0")),
            (Carried, Some("skills-0"), Some("skills-0")),
            (Dropped, Some("archive-0"), Some("archive-1")),
        ]
    );
    assert_eq!(edge.rows[0].reason, Some(DropReason::NotNamed));
    // Without the window there is nothing pinned to demote, and nothing that was read.
    assert!(edge.demoted().is_empty() && edge.forgets_skills());
}

#[test]
fn an_edge_that_names_what_is_not_held_is_a_fault() {
    let set = ModuleSet::bare(Slug::from("p"));
    let mut case = Case::of(&set);
    let fault = hand_over(
        &mut case.stores,
        Passage::Transition(&[ModuleKind::Archive]),
        &case.roster,
        &full("q", MemoryScope::Isolated),
        ROOT,
    );
    assert_eq!(fault, Err(HandoverFault::NotHeld(ModuleKind::Archive)));
}

#[test]
fn memories_kept_in_another_way_are_dropped_and_started_anew_with_the_reason() {
    let from = full("p", MemoryScope::Isolated);
    let mut to = full("q", MemoryScope::Inherited);
    to.memories = Some(MemorySetting {
        strategy: MemoryStrategy::Scratchpad,
        scope: MemoryScope::Inherited,
    });
    let exec = Case::of(&from).pass(Passage::Exec, &to);
    let row = exec.of(ModuleKind::Memories).unwrap();
    assert_eq!(
        (row.disposition, row.from.as_deref(), row.to.as_deref()),
        (Dropped, Some("memories-0"), Some("memories-1"))
    );
    assert_eq!(
        row.reason,
        Some(DropReason::Strategy {
            from: MemoryStrategy::Markdown,
            to: MemoryStrategy::Scratchpad,
        })
    );
    assert_eq!(exec.demoted(), [Band::Memory]);
    assert_eq!(exec.roster[1].origin, ModuleOrigin::Created);
}

#[test]
fn a_successor_re_binds_shared_memories_to_its_own_profile() {
    let shared = |profile| full(profile, MemoryScope::Shared);
    let mut case = Case::of(&shared("p"));
    let other = case.pass(Passage::Exec, &shared("q"));
    assert_eq!(
        told(&other)[1],
        (Linked, Some("memories-0"), Some("memories-1"))
    );
    assert_eq!(other.roster[1].origin, ModuleOrigin::Profile);
    let same = case.pass(Passage::Exec, &shared("p"));
    assert_eq!(
        told(&same)[1],
        (Carried, Some("memories-0"), Some("memories-0"))
    );
}

#[test]
fn shared_memories_that_an_edge_does_not_name_are_the_profile_s_again() {
    let set = full("p", MemoryScope::Shared);
    let edge = Case::of(&set).pass(Passage::Transition(&[ModuleKind::History]), &set);
    assert_eq!(
        told(&edge)[1],
        (Linked, Some("memories-0"), Some("memories-0"))
    );
    assert!(!edge.demoted().contains(&Band::Memory));
}

#[test]
fn a_read_only_successor_may_not_write_what_it_was_handed() {
    let mut case = Case::of(&full("p", MemoryScope::Isolated));
    let exec = case.pass(Passage::Exec, &full("q", MemoryScope::ReadOnly));
    assert!(!exec.roster[1].writable);
    assert_eq!(exec.roster[1].store.as_deref(), Some("memories-0"));
}

#[test]
fn a_spawned_agent_links_its_spawner_s_memories_or_has_its_own() {
    let mut stores = StoreIds::default();
    let parent = open(&mut stores, &full("p", MemoryScope::Isolated), ROOT).unwrap();
    let start = Start {
        started: StartedAs::Subagent,
        spawner: Some(&parent[1]),
        board: None,
    };
    let child = open(&mut stores, &full("q", MemoryScope::ReadOnly), start).unwrap();
    assert_eq!(child[1].store.as_deref(), Some("memories-0"));
    assert_eq!(
        (child[1].origin, child[1].writable),
        (ModuleOrigin::Inherited, false)
    );
    assert_eq!(child[3].origin, ModuleOrigin::Absent);
    let bare = open(&mut stores, &ModuleSet::bare(Slug::from("r")), ROOT).unwrap();
    let alone = Start {
        spawner: Some(&bare[1]),
        ..start
    };
    let child = open(&mut stores, &full("q", MemoryScope::ReadOnly), alone).unwrap();
    assert_eq!(
        (child[1].origin, child[1].writable),
        (ModuleOrigin::Created, true)
    );
    let mut other = full("q", MemoryScope::Inherited);
    other.memories = Some(MemorySetting {
        strategy: MemoryStrategy::Scratchpad,
        scope: MemoryScope::Inherited,
    });
    assert_eq!(
        open(&mut stores, &other, start),
        Err(StrategyClash {
            theirs: MemoryStrategy::Markdown,
            own: MemoryStrategy::Scratchpad,
        })
    );
}

#[test]
fn whoever_runs_beside_a_board_holds_it_and_the_prompt_never_carries_it() {
    let mut stores = StoreIds::default();
    let rows = open(&mut stores, &ModuleSet::bare(Slug::from("p")), ROOT).unwrap();
    let board = &rows[3];
    assert_eq!(board.store.as_deref(), Some("board-0"));
    assert!(!board.enabled && !board.carried);
    let rows = open(&mut stores, &full("p", MemoryScope::Isolated), ROOT).unwrap();
    let carried: Vec<_> = rows.iter().map(|row| row.carried).collect();
    assert_eq!(carried, [true, true, true, false, true, false]);
}

fn any_set() -> impl Strategy<Value = ModuleSet> {
    let scope = prop_oneof![
        Just(MemoryScope::Isolated),
        Just(MemoryScope::Shared),
        Just(MemoryScope::Inherited),
        Just(MemoryScope::ReadOnly),
    ];
    let strategy = prop_oneof![
        Just(MemoryStrategy::Markdown),
        Just(MemoryStrategy::Scratchpad),
    ];
    let memories = proptest::option::of((strategy, scope));
    (memories, any::<[bool; 4]>(), "[pq]").prop_map(
        |(memories, [tasks, board, skills, archive], profile)| ModuleSet {
            profile: Slug::from(profile),
            memories: memories.map(|(strategy, scope)| MemorySetting { strategy, scope }),
            tasks,
            board,
            skills,
            archive,
        },
    )
}

fn any_kinds() -> impl Strategy<Value = Vec<ModuleKind>> {
    proptest::sample::subsequence(ModuleKind::ALL.to_vec(), 0..=6)
}

proptest! {
    #[test]
    fn every_passage_accounts_for_every_kind(
        from in any_set(), to in any_set(), named in any_kinds(), which in 0..3_u8,
    ) {
        let mut case = Case::of(&from);
        let to = if which == 0 { from.clone() } else { to };
        let held: Vec<_> = case
            .roster
            .iter()
            .filter(|row| row.store.is_some())
            .map(|row| row.kind)
            .collect();
        let named: Vec<_> = named.into_iter().filter(|kind| held.contains(kind)).collect();
        let passage = match which {
            0 => Passage::Fork,
            1 => Passage::Exec,
            _ => Passage::Transition(&named),
        };
        let before = case.roster.clone();
        let handover = case.pass(passage, &to);
        prop_assert_eq!(&case.roster, &before);
        for (kind, (row, after)) in
            ModuleKind::ALL.iter().zip(handover.rows.iter().zip(&handover.roster))
        {
            prop_assert_eq!((row.kind, after.kind), (*kind, *kind));
            prop_assert_eq!(&row.to, &after.store);
            let expected = to.has(*kind) || *kind == ModuleKind::Board;
            prop_assert_eq!(after.store.is_some(), expected, "{:?}", kind);
            prop_assert_eq!(row.reason.is_some(), row.disposition == Dropped);
            match row.disposition {
                Carried => prop_assert_eq!(&row.from, &row.to),
                Copied => prop_assert!(row.from.is_some() && row.from != row.to),
                Linked => prop_assert!(row.from.is_some() && row.to.is_some()),
                Dropped => prop_assert!(row.from.is_some() && row.from != row.to),
                Initialized => prop_assert!(row.from.is_none() && row.to.is_some()),
                Absent => prop_assert!(row.from.is_none() && row.to.is_none()),
            }
            // What is off for an agent stands in no prompt of its.
            prop_assert!(!after.carried || (after.enabled && after.store.is_some()));
            if which == 0 {
                prop_assert!(matches!(row.disposition, Copied | Linked | Absent));
            }
        }
    }
}
