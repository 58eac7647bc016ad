//! What a flow log shows: a table of its edges, a sequence diagram, a trace.
//!
//! [`log`] reads the file once into a compact list; the other three are pure functions from that
//! list to a text. A damaged log is read as far as it goes: what is missing is said, never guessed.

pub(crate) mod fold;
pub(crate) mod log;
pub(crate) mod mermaid;
pub(crate) mod table;
pub(crate) mod trace;

/// Microseconds in the unit a person reads them in.
fn duration(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}
