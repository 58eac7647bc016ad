//! The human log: what gg says on stderr about itself, beside the sentences of its commands.
//!
//! Warnings and errors are shown: a panic with its place, a journal that stopped, a flow log that
//! is incomplete. `RUST_LOG` asks for less or more; at `debug` every message an actor handled is a
//! line, named for the message and carrying the actor and its agent. What a session did is not
//! here but in the event stream.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// Opens the log for the rest of the process. A directive of `RUST_LOG` that cannot be read is
/// said on stderr and left out.
pub(crate) fn open() {
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::WARN.into())
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(io::stderr)
        // A stderr that nobody holds open is no reason to fail: nothing else would carry the news.
        .log_internal_errors(false)
        .init();
}
