//! Tells the binary the commit it is built from, and how it is linked.

use std::path::Path;

use repository::Repository;

#[path = "../actors/src/repository.rs"]
mod repository;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if let Some(repository) = Repository::of(&root) {
        // Every commit and every checkout writes a line to the log of HEAD, wherever the branch
        // itself is kept.
        for file in ["HEAD", "logs/HEAD"].map(|file| repository.own.join(file)) {
            if file.exists() {
                println!("cargo::rerun-if-changed={}", file.display());
            }
        }
        if let Some(commit) = repository.head() {
            println!("cargo::rustc-env=GG_COMMIT={commit}");
        }
    }
    // A position-dependent executable needs none of the relocations that a start would otherwise
    // pay for, twice where the credential is handed over: 0.3 ms of 1.2 each.
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if linux && release {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    if release && linked_by_lld() {
        // Functions that came out the same are kept once: a session has 0.9 MB less of them in
        // memory.
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        // Off the places where the kernel maps constants 2 MB at a time, the guests' among them,
        // which no session reads: 7 MB where the page cache happens to hold the file so.
        println!("cargo::rustc-link-arg-bins=-Wl,--image-base=0x201000");
        // The unwinder is linked in. As a library it is loaded and asks the processor for its
        // features, twice where the credential is handed over: 0.1 ms each on a virtual machine.
        println!("cargo::rustc-link-lib=dylib=gcc_eh");
    }
}

/// Whether the linker is the one that comes with the compiler: it is for this target, where nobody
/// asks for another.
fn linked_by_lld() -> bool {
    let is = |name: &str, value: &str| std::env::var(name).unwrap_or_default() == value;
    is("TARGET", "x86_64-unknown-linux-gnu")
        && is("RUSTC_LINKER", "")
        && is("CARGO_ENCODED_RUSTFLAGS", "")
}
