//! The fake gateway and what the end-to-end suites share.
