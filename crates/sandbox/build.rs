//! Embeds the guests that `cargo xtask arms` built. A guest that is older than its sources fails the
//! build; one that is missing does not, and its arm says so when it is asked for.

use std::path::{Path, PathBuf};

#[path = "../../xtask/src/arms/sources.rs"]
mod sources;

fn main() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = home
        .join("../..")
        .canonicalize()
        .expect("the workspace is there");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    for path in sources::ECMASCRIPT {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    println!("cargo::rerun-if-env-changed=CARGO_TARGET_DIR");
    println!("cargo::rustc-check-cfg=cfg(ecmascript_guest)");
    let folder = sources::built(&target, "ecmascript");
    let stamp = folder.join("sources.sha256");
    println!("cargo::rerun-if-changed={}", stamp.display());
    let Ok(built_from) = std::fs::read_to_string(&stamp) else {
        return;
    };
    let digest = sources::digest(&root, &sources::ECMASCRIPT).expect("the sources can be read");
    assert!(
        built_from == digest,
        "the ECMAScript guest is older than its sources; run `cargo xtask arms`"
    );
    println!("cargo::rustc-cfg=ecmascript_guest");
    println!(
        "cargo::rustc-env=GG_ECMASCRIPT_GUEST={}",
        folder.join("ecmascript.component.wasm").display()
    );
}
