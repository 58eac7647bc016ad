//! A launch document, from text to a launch or its refusals.
//!
//! Holds: no text makes it panic, and a document either yields a launch or says why not.
//!
//! Run: `cargo +nightly fuzz run launch_document`.
#![no_main]

use config::document::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(document) = parse(text) else {
        return;
    };
    let checked = document.check();
    assert_eq!(checked.launch.is_some(), checked.refusals.is_empty());
});
