//! What a program runs in: its thread's runtime and, made ahead of it, an instance of its guest.
//!
//! An instance that was made ahead has run nothing but the guest's own start and the list of what it
//! binds, which brings up the pages that every program touches. Guests read their environment once, as
//! they start; so an instance is made for an outlook on the machine, and a program with another one
//! makes its own. It holds nothing of an agent: that is put in with the program.
//!
//! Always true: an instance runs one program; one that was denied something, or holds a handle, before
//! its program came is none that a program gets.

use std::time::Duration;

use tokio::runtime::Runtime;
use vocab::grant::Offer;
use vocab::operations::EndingRole;
use wasmtime::component::ResourceTable;
use wasmtime::{Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::components::Guest;
use crate::contract::Sandbox;
use crate::engine::TICK;
use crate::host::Membrane;
use crate::limits::Limiter;
use crate::program::{InCalls, MAX_CALL_BYTES};
use crate::services::Nobody;
use crate::stderr::Captured;
use crate::surroundings::Outlook;

/// Handles a guest may hold on files, streams and sockets.
const MAX_HANDLES: usize = 4096;

/// How long an instance may take to be ready before its program comes.
const SETTLING: Duration = Duration::from_secs(5);

/// Linear memory it may have by then.
const SETTLED_BYTES: u64 = 1 << 28;

/// What a store holds for a program.
pub(crate) struct State {
    pub(crate) membrane: Membrane,
    pub(crate) wasi: WasiCtx,
    pub(crate) table: ResourceTable,
    pub(crate) limiter: Limiter,
}

impl State {
    pub(crate) fn new(membrane: Membrane, wasi: WasiCtx, max_memory_bytes: u64) -> Self {
        Self {
            membrane,
            wasi,
            table: handles(),
            limiter: Limiter::new(max_memory_bytes),
        }
    }

    /// What there is before there is a program: the machine as it will be, and nobody to call.
    pub(crate) fn idle(outlook: &Outlook) -> Self {
        let wasi = outlook.context(Captured::default());
        Self::new(nobodys(), wasi, SETTLED_BYTES)
    }

    /// Takes the membrane out, and lets go of whatever the guest has open.
    pub(crate) fn end(&mut self) -> Membrane {
        self.table = handles();
        std::mem::replace(&mut self.membrane, nobodys())
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

fn handles() -> ResourceTable {
    let mut table = ResourceTable::new();
    table.set_max_capacity(MAX_HANDLES);
    table
}

fn nobodys() -> Membrane {
    let offer = Offer::nothing(EndingRole::Standard);
    Membrane::new(Box::new(Nobody), offer, InCalls::default())
}

/// A store whose guest is limited.
pub(crate) fn store(engine: &Engine, state: State) -> Store<State> {
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.limiter);
    store.set_hostcall_fuel(MAX_CALL_BYTES);
    store
}

/// What a program's thread waits with.
pub(crate) fn waiting() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// An instance that waits for its program.
pub(crate) struct Instance {
    store: Store<State>,
    sandbox: Sandbox,
    outlook: Outlook,
}

impl Instance {
    async fn ahead(guest: &Guest, outlook: Outlook) -> wasmtime::Result<Self> {
        let mut store = store(guest.engine(), State::idle(&outlook));
        store.set_epoch_deadline(SETTLING.as_millis() as u64 / TICK.as_millis() as u64);
        let sandbox = guest.instantiate(&mut store).await?;
        sandbox.call_bound_operations(&mut store).await?;
        Ok(Self {
            store,
            sandbox,
            outlook,
        })
    }

    /// Whether it is as any other would be that has run nothing.
    fn is_fresh(&self) -> bool {
        let state = self.store.data();
        state.table.is_empty() && !state.limiter.denied()
    }

    /// Whether it sees the machine as a program does, and whether the program may have what it took
    /// already. One that may not meets its limit in an instance of its own.
    pub(crate) fn fits(&self, outlook: &Outlook, max_memory_bytes: u64) -> bool {
        self.outlook == *outlook && self.store.data().limiter.taken() <= max_memory_bytes
    }

    /// Its store, with what belongs to a program in it.
    pub(crate) fn take_in(mut self, mut state: State) -> (Store<State>, Sandbox) {
        state.limiter.take_over(&self.store.data().limiter);
        *self.store.data_mut() = state;
        (self.store, self.sandbox)
    }
}

/// What a program's thread has for it.
pub(crate) struct Vessel {
    pub(crate) tokio: Runtime,
    /// The instance, where it was made ahead.
    pub(crate) instance: Option<Instance>,
}

impl Vessel {
    /// One whose program makes its instance itself.
    pub(crate) const fn bare(tokio: Runtime) -> Self {
        Self {
            tokio,
            instance: None,
        }
    }

    /// One with an instance. Where none is to be had it is bare, and its program meets the reason.
    pub(crate) fn ready(guest: &Guest, outlook: Outlook, tokio: Runtime) -> Self {
        let instance = tokio
            .block_on(Instance::ahead(guest, outlook))
            .inspect_err(|error| tracing::debug!("no instance waits for a program: {error:#}"))
            .ok()
            .filter(Instance::is_fresh);
        Self { tokio, instance }
    }
}

#[cfg(test)]
mod tests {
    use vocab::language::ProgramLanguage;

    use super::*;
    use crate::trial::guest;

    #[test]
    fn every_guest_of_ours_can_be_made_ready_for_its_program() {
        for language in [ProgramLanguage::Javascript, ProgramLanguage::Python] {
            let guest = guest(language);
            let outlook = Outlook::default();
            let vessel = Vessel::ready(&guest, outlook.clone(), waiting().unwrap());
            let instance = vessel.instance.expect("an instance that is fresh");
            assert!(instance.fits(&outlook, 256 << 20));
            let taken = instance.store.data().limiter.taken();
            assert!(!instance.fits(&outlook, taken - 1));
            let other = Outlook {
                budget: Duration::from_secs(1),
                ..outlook
            };
            assert!(!instance.fits(&other, 256 << 20));
        }
    }
}
