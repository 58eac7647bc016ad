//! Agents that answer with programs: what a program shows, writes and declares, how it fails, and who
//! ends it (04 §6, §7, §11, §13).

mod calls;
mod calls_failing;
mod compilers;
mod failing;
mod hooked;
mod hostile;
mod job;
mod many;
mod memory;
mod pages;
mod showing;
mod stopping;
mod waiting;
mod withheld;

use serde_json::{Value, json};
use tests::gateway::{Answer, Reply, Responder, script};
use tests::launch::Launch;

use crate::arms::{Arm, coder_of};
use crate::coders::cast;

/// Every capability that acts on a workspace.
pub(crate) fn workshop() -> Vec<Value> {
    let root = Launch::live();
    let declared = &root.json()["capabilitySet"]["agents"][0]["capabilities"];
    let mut all = declared.as_array().unwrap().clone();
    all.push(json!({ "id": "agent-managed-context", "enabled": true,
        "params": { "topFileViews": 3, "signalThresholdPercent": 99 } }));
    all
}

pub(crate) const ON_FILES: [&str; 10] = [
    "files.read_file",
    "files.read_text_file",
    "files.write_file",
    "files.edit_file",
    "files.list_dir",
    "files.search",
    "shell.shell",
    "views.open_file",
    "views.close",
    "views.current",
];

/// A launch of one code agent that acts on the workspace.
fn launch(arm: Arm) -> Launch {
    cast([coder_of(arm, "root", &workshop(), &ON_FILES, &[])])
}

/// Answers in order, the last of which should end the session.
fn answers(all: impl IntoIterator<Item = Answer>) -> impl Responder {
    script(all.into_iter().map(Reply::from))
}
