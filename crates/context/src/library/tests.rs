//! The library and the chain, driven by lists of what happens.

use proptest::prelude::*;
use vocab::failure::FailureClass;

use super::*;

fn library(keep: u64) -> Library {
    Library::new(LibraryPolicy { keep, id_length: 4 })
}

fn program(id: &str, turn: u32) -> KeptProgram {
    KeptProgram {
        id: id.into(),
        turn,
        source: format!("one {id}\ntwo\n").into(),
        error: None,
        opening: turn == 0,
    }
}

fn ids(library: &Library) -> Vec<&str> {
    library.programs().map(|program| &*program.id).collect()
}

#[test]
fn the_most_recent_are_kept_in_order_and_none_is_all() {
    let (mut three, mut all) = (library(3), library(0));
    for (turn, id) in ["a", "b", "c", "d"].into_iter().enumerate() {
        three.keep(program(id, turn as u32));
        all.keep(program(id, turn as u32));
    }
    assert_eq!(ids(&three), ["b", "c", "d"]);
    assert_eq!(ids(&all), ["a", "b", "c", "d"]);
    assert_eq!(all.programs().filter(|program| program.opening).count(), 1);
    all.rebind(LibraryPolicy {
        keep: 1,
        id_length: 9,
    });
    assert_eq!(ids(&all), ["d"]);
    assert_eq!(all.policy().id_length, 9);
}

#[test]
fn a_program_is_found_by_its_id_else_the_last_and_a_miss_names_those_held() {
    let mut library = library(2);
    let nothing = library.get(None).unwrap_err();
    assert_eq!(nothing.class, FailureClass::NotFound);
    assert_eq!(nothing.message, "no program is kept yet");
    for (turn, id) in [(1, "a"), (2, "b"), (4, "c")] {
        library.keep(program(id, turn));
    }
    assert_eq!(&*library.get(None).unwrap().id, "c");
    let held = library.get(Some("b")).unwrap();
    assert_eq!(&*held.source, "one b\ntwo\n");
    assert_eq!((held.lines(), held.chars()), (2, 10));
    let gone = library.get(Some("a")).unwrap_err();
    assert_eq!(gone.class, FailureClass::NotFound);
    assert_eq!(
        gone.message,
        "there is no program `a`; kept are `b` (turn 2), `c` (turn 4)"
    );
}

#[test]
fn an_id_that_was_issued_is_never_issued_again_also_to_a_copy() {
    let mut library = library(1);
    let mut minted = ["aaaa", "aaaa", "bbbb"].into_iter();
    let mut lengths = Vec::new();
    let mut mint = |length| {
        lengths.push(length);
        minted.next().unwrap_or("bbbb").to_owned()
    };
    assert_eq!(&*library.issue(&mut mint).unwrap(), "aaaa");
    let mut copy = library.clone();
    assert_eq!(&*library.issue(&mut mint).unwrap(), "bbbb");
    let none = library.issue(&mut mint).unwrap_err();
    assert_eq!((none.length, none.issued), (4, 2));
    assert_eq!(lengths[..4], [4; 4]);
    assert!(copy.issue(|_| "aaaa".to_owned()).is_err());
    assert!(copy.issue(|_| "bbbb".to_owned()).is_ok());
}

#[test]
fn ids_grow_where_the_short_ones_are_used_up() {
    let mut library = library(0);
    let mut number = 0_u32;
    for length in [4, 5, 6] {
        for _ in 0..10 {
            let id = library.issue(|length| {
                number += 1;
                format!("{}{}", "a".repeat(usize::from(length) - 1), number % 10)
            });
            assert_eq!(id.unwrap().len(), length);
        }
    }
}

#[test]
fn the_first_hand_over_stands_and_a_blank_one_is_none() {
    let mut chain = Chain::default();
    let blank = chain.hand_over(" \n".to_owned()).unwrap_err();
    assert_eq!(blank.class, FailureClass::InvalidArgument);
    chain.hand_over("first".to_owned()).unwrap();
    let second = chain.hand_over("second".to_owned()).unwrap_err();
    assert_eq!(second.class, FailureClass::Refused);
    assert_eq!(chain.ended(false, false), Next::Run("first".into()));
    assert_eq!(chain.ended(false, false), Next::Over);
    assert_eq!(chain.ran(), 2);
}

#[test]
fn a_failure_and_an_ending_revoke_a_hand_over() {
    for (failed, ends, why) in [
        (true, false, Declined::Failed),
        (true, true, Declined::Failed),
        (false, true, Declined::Ended),
    ] {
        let mut chain = Chain::default();
        chain.hand_over("next".to_owned()).unwrap();
        assert_eq!(chain.ended(failed, ends), Next::Declined(why));
        assert_eq!(chain.ended(false, false), Next::Over, "it is declined once");
    }
}

proptest! {
    /// However programs hand over, fail and end, no more than four run, and each hand-over comes to
    /// one run or one refusal.
    #[test]
    fn no_more_than_four_programs_run(
        links in prop::collection::vec((any::<bool>(), any::<bool>(), any::<bool>()), 1..12),
    ) {
        let mut chain = Chain::default();
        let (mut handed, mut ran, mut declined) = (0, 1, 0);
        for (hands, failed, ends) in links {
            if hands {
                chain.hand_over("next".to_owned()).unwrap();
                handed += 1;
            }
            match chain.ended(failed, ends) {
                Next::Run(_) => ran += 1,
                Next::Declined(_) => {
                    declined += 1;
                    break;
                }
                Next::Over => break,
            }
        }
        prop_assert!(ran <= MAX_PROGRAMS);
        prop_assert_eq!(handed, ran - 1 + declined);
    }

    /// Ids are unique whatever is minted, and the entries kept are the last ones.
    #[test]
    fn ids_are_unique_and_the_last_are_kept(
        keep in 0_u64..5,
        minted in prop::collection::vec(0_u8..6, 1..60),
    ) {
        let mut library = library(keep);
        let mut source = minted.into_iter();
        let mut issued: Vec<Arc<str>> = Vec::new();
        while let Ok(id) = library.issue(|_| source.next().unwrap_or(0).to_string()) {
            prop_assert!(!issued.contains(&id));
            library.keep(program(&id, 1));
            issued.push(id);
        }
        let from = match keep {
            0 => 0,
            keep => issued.len().saturating_sub(keep as usize),
        };
        let expected: Vec<_> = issued[from..].iter().map(|id| &**id).collect();
        prop_assert_eq!(ids(&library), expected);
    }
}
