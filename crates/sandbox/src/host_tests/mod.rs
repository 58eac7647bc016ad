//! The host held against small guests in text form, which need no toolchain.
//!
//! A guest is a core module of the contract's world; what it does in `run` is the test's.

mod bounds;
mod cache;
mod calls;
mod standby;

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;
use vocab::failure::FailureClass;
use vocab::operations::EndingRole;
use vocab::outcome::ErrorType;
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::components::{Cache, CacheRefusal, Guest, Origin};
use crate::fakes::{Fake, everything, nothing};
use crate::lease::Leased;
use crate::locations::Locations;
use crate::outcome::{Clock, Fault};
use crate::program::{Execution, GRACE, MAX_ABANDONED, Program, StartError, Stop, Threads, start};
use crate::services::Services;
use crate::surroundings::Surroundings;
use crate::trial::until;

/// A component of a core module: its imports, and the body of `run`.
fn component(imports: &str, more: &str, body: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
            {imports}
            (memory (export "memory") 2)
            (global $free (mut i32) (i32.const 65536))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (global.set $free
                    (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
                (local.set $at (global.get $free))
                (global.set $free (i32.add (global.get $free) (local.get 3)))
                (block $grown
                    (loop $grow
                        (br_if $grown (i32.le_u (global.get $free)
                            (i32.mul (memory.size) (i32.const 65536))))
                        (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))
                        unreachable))
                (local.get $at))
            (func (export "bound-operations") (result i32)
                (i32.const 1024))
            (data (i32.const 2048) "hello")
            {more}
            (func (export "run") (param i32 i32 i32 i32 i32 i32 i32 i32)
                {body}))"#
    );
    let mut module = wat::parse_str(text).unwrap();
    let mut resolve = Resolve::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    let (package, _) = resolve.push_path(folder).unwrap();
    let world = resolve.select_world(&[package], Some("sandbox")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default()
        .module(&module)
        .unwrap()
        .adapter(
            WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
            WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
        )
        .unwrap()
        .encode()
        .unwrap()
}

fn program(bytes: &[u8]) -> Program {
    Program {
        guest: Guest::load(bytes, None).unwrap(),
        source: "the source".to_owned(),
        modules: Vec::new(),
        locations: Locations::default(),
        has_library: false,
        offer: everything(EndingRole::Standard),
        budget: Duration::from_secs(20),
        max_memory_bytes: 64 << 20,
        surroundings: Surroundings {
            cwd: "/".into(),
            environment: Vec::new(),
        },
        threads: Threads::default(),
    }
}

fn ended(program: Program, services: impl Services + 'static) -> Execution {
    let execution = start(program, Box::new(services), Stop::default()).unwrap();
    execution.blocking_recv().unwrap()
}

fn run(imports: &str, more: &str, body: &str) -> Execution {
    ended(program(&component(imports, more, body)), Fake::default())
}

const OPEN_TEXT: &str = r#"(import "test-cabinet:gg/views" "open-text"
    (func $open (param i32 i32 i32 i32 i32)))"#;

const SHOW: &str = "(call $open (i32.const 2048) (i32.const 5) (i32.const 2048) (i32.const 2)
    (i32.const 4096))";

const REPORT: &str = r#"(import "test-cabinet:gg/feedback" "report-error"
    (func $report (param i32 i32 i32 i32 i32 i32 i32 i32)))"#;

const POLL: &str = r#"(import "wasi_snapshot_preview1" "poll_oneoff"
    (func $poll (param i32 i32 i32 i32) (result i32)))"#;

/// One subscription to the monotonic clock, an hour from now.
const SLEEP: &str = "(i32.store8 (i32.const 3008) (i32.const 0))
    (i32.store (i32.const 3016) (i32.const 1))
    (i64.store (i32.const 3024) (i64.const 3600000000000))
    (drop (call $poll (i32.const 3000) (i32.const 3200) (i32.const 1) (i32.const 3300)))";
