//! The one engine of a process, its ticker and its linker (04 §13, 05 §4).

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Config, Engine};

use crate::contract::Sandbox;
use crate::files;
use crate::host::Membrane;
use crate::vessel::State;

/// How often running programs are looked at.
pub const TICK: Duration = Duration::from_millis(100);

/// The stack a program may use. Python's thousand calls take more than one MiB of it where each
/// passes through C, as one inside `map` does; less would kill the guest in place of the exception.
/// And what an engine counts is the stack in linear memory, of which a parser's levels take a tenth
/// of what they take of this one.
const WASM_STACK: usize = 16 * 1024 * 1024;

/// The stack a program and the host functions it calls run on; only pages that are touched cost.
const FIBER_STACK: usize = 18 * 1024 * 1024;

/// A machine on which no program can run.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the engine that runs programs could not be made: {0}")]
pub struct EngineError(Arc<str>);

/// The engine, and all that a component may import.
pub(crate) struct Runtime {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<State>,
}

/// The process's engine, made at its first use.
pub(crate) fn runtime() -> Result<&'static Runtime, EngineError> {
    static RUNTIME: OnceLock<Result<Runtime, EngineError>> = OnceLock::new();
    RUNTIME
        .get_or_init(|| make().map_err(|error| EngineError(format!("{error:#}").into())))
        .as_ref()
        .map_err(Clone::clone)
}

fn make() -> wasmtime::Result<Runtime> {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(FIBER_STACK)
        .wasm_exceptions(true)
        .wasm_gc(true)
        // Limits are counted in bytes of 32-bit memories, of which a guest has one.
        .wasm_memory64(false)
        .wasm_multi_memory(false);
    let engine = Engine::new(&config)?;
    let mut linker = Linker::new(&engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    files::add_to_linker(&mut linker)?;
    Sandbox::add_to_linker::<State, HasSelf<Membrane>>(&mut linker, |state| &mut state.membrane)?;
    let ticked = engine.clone();
    std::thread::Builder::new()
        .name("gg-epoch".to_owned())
        .spawn(move || {
            for _ in crossbeam_channel::tick(TICK) {
                ticked.increment_epoch();
            }
        })?;
    Ok(Runtime { engine, linker })
}
