//! Boards at random: many more than the binary is played with, and such that a failing one shrinks.

use proptest::prelude::*;

use super::{Board, Conduct, Edit, Help, Merger, Piece, Plan, Review};

fn piece() -> impl Strategy<Value = Piece> {
    let conduct = prop_oneof![
        6 => Just(Conduct::Works),
        1 => Just(Conduct::Flaky),
        1 => Just(Conduct::Fails),
        1 => Just(Conduct::Idles),
    ];
    let review = prop_oneof![
        4 => Just(Review::Approves),
        2 => Just(Review::Demands),
        1 => Just(Review::Dies),
    ];
    (
        conduct,
        proptest::collection::vec(any::<u8>(), 0..3),
        proptest::collection::vec(review, 0..3),
        proptest::bool::weighted(0.4),
        prop_oneof![5 => Just(Help::None), 1 => Just(Help::Awaited), 1 => Just(Help::Left)],
        proptest::option::weighted(0.2, any::<u8>()),
        0..20_u64,
    )
        .prop_map(
            |(conduct, behind, mut reviews, shared, help, awaits, delay_ms)| {
                let mut seen = Vec::new();
                reviews.retain(|review| {
                    !seen.contains(review) && {
                        seen.push(*review);
                        true
                    }
                });
                Piece {
                    conduct,
                    behind,
                    reviews,
                    shared,
                    help,
                    awaits,
                    delay_ms,
                }
            },
        )
}

fn edit() -> impl Strategy<Value = (Edit, u8)> {
    let edit = prop_oneof![
        Just(Edit::Unblocks),
        Just(Edit::Revives),
        Just(Edit::Removes)
    ];
    (edit, any::<u8>())
}

fn plan() -> impl Strategy<Value = Plan> {
    let merger = prop_oneof![
        3 => Just(Merger::Resolves),
        1 => Just(Merger::Aborts),
        1 => Just(Merger::CommitsMarkers),
        1 => Just(Merger::Dies),
    ];
    (
        proptest::collection::vec(piece(), 1..9),
        merger,
        0..3_u64,
        proptest::collection::vec(any::<u8>(), 0..3),
        prop_oneof![3 => Just(Vec::new()), 1 => proptest::collection::vec(edit(), 1..5)],
        proptest::option::weighted(0.25, any::<u8>()),
    )
        .prop_map(|(pieces, merger, retries, waits, edits, stops)| Plan {
            pieces,
            merger,
            retries,
            waits,
            edits,
            stops,
        })
}

/// A board takes about as long as half a second; `GG_BOARDS` asks for more of them.
fn cases() -> u32 {
    let all = std::env::var("GG_BOARDS").ok();
    all.map_or(12, |all| {
        all.parse().expect("GG_BOARDS is a number of boards")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn every_board_ends_with_its_issues_where_their_agents_left_them(
        plan in plan(),
        cap in prop_oneof![Just(1_u64), Just(2), Just(16)],
    ) {
        let board = Board::play(&plan, cap);
        board.sound()?;
        if plan.stops.is_none() {
            board.judge(&plan)?;
        }
    }
}
