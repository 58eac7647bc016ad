//! How a run flowed. Of a flow log: a table of its edges, a sequence diagram, a trace. Of a run's
//! stream: who waited for whom, and its agents over time.
//!
//! [`log`] reads a flow log once into a compact list, `record::analysis` a stream; the rest are pure
//! functions from either to a text. A damaged log is read as far as it goes: what is missing is
//! said, never guessed.

pub(crate) mod fold;
pub(crate) mod gantt;
pub(crate) mod log;
mod mailboxes;
pub(crate) mod mermaid;
pub(crate) mod table;
pub(crate) mod trace;
pub(crate) mod tree;
pub(crate) mod waits;

/// Microseconds in the unit a person reads them in.
fn duration(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}
