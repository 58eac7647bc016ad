//! The floor that a program's turn is measured against: wasmtime alone instantiates a guest and runs
//! a program in it, with nothing of gg around it. `cargo xtask bench` builds and runs it.
//!
//! `bare_guest COMPONENT PROGRAM COUNT` prints the microseconds of each run, one a line. The program
//! must call nothing of gg's: whatever it would reach traps.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a floor for the bench: it measures, it prints, and what fails ends it"
)]

use std::time::Instant;

use sandbox::contract::{EndingRole, SandboxPre};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

fn main() -> wasmtime::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [component, program, count] = arguments.as_slice() else {
        wasmtime::bail!("usage: bare_guest COMPONENT PROGRAM COUNT");
    };
    let source = std::fs::read_to_string(program)?;
    let count: usize = count.parse()?;
    // Programs of real guests stop on a deadline, so their code is compiled with it here too.
    let mut config = Config::new();
    config.epoch_interruption(true).max_wasm_stack(1024 * 1024);
    let engine = Engine::new(&config)?;
    let component = Component::from_file(&engine, component)?;
    let mut linker: Linker<State> = Linker::new(&engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    for (interface, item) in component.component_type().imports(&engine) {
        let ComponentItem::ComponentInstance(instance) = item.ty else {
            continue;
        };
        if !interface.starts_with("test-cabinet:gg/") {
            continue;
        }
        let mut own = linker.instance(interface)?;
        for (name, item) in instance.exports(&engine) {
            if matches!(item.ty, ComponentItem::ComponentFunc(_)) {
                own.func_new(name, |_, _, _, _| {
                    Err(wasmtime::format_err!("the bare guest has no gg"))
                })?;
            }
        }
    }
    let guest = SandboxPre::new(linker.instantiate_pre(&component)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for _ in 0..count {
        let began = Instant::now();
        let mut store = Store::new(
            &engine,
            State {
                wasi: WasiCtx::builder().build(),
                table: ResourceTable::new(),
            },
        );
        store.set_epoch_deadline(u64::MAX / 2);
        runtime.block_on(async {
            let sandbox = guest.instantiate_async(&mut store).await?;
            sandbox
                .call_run(&mut store, &source, &[], &[], EndingRole::Standard, false)
                .await
        })?;
        println!("{}", began.elapsed().as_micros());
    }
    Ok(())
}
