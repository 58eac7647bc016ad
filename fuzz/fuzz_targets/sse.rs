//! The answer of a model, from bytes to a reply or a fault.
//!
//! Holds: no bytes make it panic, and where they are cut changes nothing. The first byte of the
//! input is the size of the pieces, the rest is the answer.
//!
//! Run: `cargo +nightly fuzz run sse`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use provider::reading::Reading;

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let mut reading = Reading::new(Some("Acme".into()));
    for piece in pieces {
        match reading.push(piece) {
            Ok(progress) if progress.done => break,
            Ok(_) => {}
            Err(fault) => return format!("{fault:?}"),
        }
    }
    format!("{:?}", reading.finish())
}

fuzz_target!(|input: &[u8]| {
    let Some((&size, answer)) = input.split_first() else {
        return;
    };
    let whole = read(std::iter::once(answer));
    assert_eq!(read(answer.chunks(usize::from(size).max(1))), whole);
    assert_eq!(read(answer.chunks(1)), whole);
});
