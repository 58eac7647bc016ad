//! The least memory a launch may give programs of a language, held to what its guest takes.
//!
//! A guest takes the same memory each time it starts, so the figure can stand as a constant and be
//! refused by before anything is compiled. Where a guest is built otherwise, this says what it is now.

use vocab::language::ProgramLanguage;
use vocab::operations::Operation;

use crate::arms::{self, Opening};
use crate::fakes::Fake;
use crate::outcome::Fault;
use crate::program::Program;
use crate::trial::{ended, program};

const MEBIBYTE: u64 = 1 << 20;

/// What the smallest program that a model hears of ends in: it opens one page and one text.
fn smallest(language: ProgramLanguage, max_memory_bytes: u64) -> Option<Fault> {
    let source = arms::of(language).bootstrap_program(&Opening {
        functions: &[Operation::find("views.open_text").unwrap()],
        texts: &[("label", "body")],
        ..Opening::default()
    });
    let program = Program {
        max_memory_bytes,
        ..program(language, &source)
    };
    ended(program, Fake::default()).fault
}

#[test]
fn programs_run_in_the_least_memory_of_their_language_and_in_no_mebibyte_less() {
    for arm in arms::all() {
        let runs = |mebibytes: &u64| smallest(arm.language(), mebibytes * MEBIBYTE).is_none();
        let least = (1..=256).find(runs).expect("256 MiB are enough for each");
        assert_eq!(
            arm.least_memory_bytes(),
            least * MEBIBYTE,
            "{} starts in {least} MiB",
            arm.id()
        );
    }
}

#[test]
fn a_guest_that_does_not_start_in_its_memory_is_out_of_it() {
    for arm in arms::all() {
        let cap = arm.least_memory_bytes() - MEBIBYTE;
        let fault = smallest(arm.language(), cap);
        assert_eq!(fault, Some(Fault::OutOfMemory { cap }), "{}", arm.id());
    }
}
