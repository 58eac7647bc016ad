//! What a guest may take of the host's memory (04 §13).
//!
//! Always true: linear memories together stay within the cap; tables, instances and memories are
//! bounded by constants, so that nothing of a guest grows without one.

use wasmtime::ResourceLimiter;

/// Elements of all tables together.
const MAX_TABLE_ELEMENTS: usize = 1 << 18;

/// Tables of a component, its adapter's included.
const MAX_TABLES: usize = 64;

/// Core instances of a component, its adapter's included.
const MAX_INSTANCES: usize = 64;

/// Linear memories of a component.
const MAX_MEMORIES: usize = 8;

/// Counts what one program takes.
#[derive(Debug)]
pub(crate) struct Limiter {
    cap: u64,
    taken: u64,
    elements: usize,
    denied: bool,
}

impl Limiter {
    pub(crate) const fn new(max_memory_bytes: u64) -> Self {
        Self {
            cap: max_memory_bytes,
            taken: 0,
            elements: 0,
            denied: false,
        }
    }

    /// Counts as taken what another has, which must be no more than the cap.
    pub(crate) const fn take_over(&mut self, other: &Self) {
        self.taken = other.taken;
        self.elements = other.elements;
    }

    /// Bytes of linear memory that are taken.
    pub(crate) const fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether the program ever asked for more than it may have.
    pub(crate) const fn denied(&self) -> bool {
        self.denied
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let taken = (self.taken + desired as u64).saturating_sub(current as u64);
        if taken > self.cap {
            self.denied = true;
            return Ok(false);
        }
        self.taken = taken;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let elements = (self.elements + desired).saturating_sub(current);
        if elements > MAX_TABLE_ELEMENTS {
            self.denied = true;
            return Ok(false);
        }
        self.elements = elements;
        Ok(true)
    }

    fn instances(&self) -> usize {
        MAX_INSTANCES
    }

    fn tables(&self) -> usize {
        MAX_TABLES
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_share_one_cap() {
        let mut limiter = Limiter::new(300);
        assert!(limiter.memory_growing(0, 100, None).unwrap());
        assert!(limiter.memory_growing(0, 150, None).unwrap());
        assert!(!limiter.denied());
        assert!(!limiter.memory_growing(100, 151, None).unwrap());
        assert!(limiter.denied());
        assert!(limiter.memory_growing(100, 150, None).unwrap());
    }

    #[test]
    fn what_was_taken_before_counts_against_the_cap_of_whoever_takes_it_over() {
        let mut before = Limiter::new(1000);
        assert!(before.memory_growing(0, 200, None).unwrap());
        let mut limiter = Limiter::new(300);
        limiter.take_over(&before);
        assert!(!limiter.memory_growing(200, 301, None).unwrap());
        assert!(limiter.memory_growing(200, 300, None).unwrap());
    }

    #[test]
    fn tables_are_bounded_together() {
        let mut limiter = Limiter::new(0);
        assert!(limiter.table_growing(0, MAX_TABLE_ELEMENTS, None).unwrap());
        assert!(!limiter.table_growing(0, 1, None).unwrap());
    }
}
