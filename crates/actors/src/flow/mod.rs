//! The flow log.

mod line;

pub use line::{FlowEnd, FlowLine};
