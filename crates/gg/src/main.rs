//! The gg binary.

fn main() {}
