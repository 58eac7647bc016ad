//! Empty: only the sources of a dependency are used.
