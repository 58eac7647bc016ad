//! Which messages of a request carry a cache marker.
//!
//! Anthropic's models cache what a request marks and nothing else. A marker writes an entry for
//! everything up to it; on the next request the provider looks from each marker back over twenty
//! content blocks, the marked one included, for an entry that an earlier request wrote. So it is
//! not enough to mark where a request ends: after a turn of many messages the end before is out of
//! sight.
//!
//! At most four messages are marked:
//! - the **anchor**, the last message before the first assistant message, which covers tools,
//!   system prompt and task;
//! - two **rolling points**, taken from the multiples of [`GRID`] between anchor and tail. The
//!   first two distinct of these:
//!   1. the front: the last one before the tail;
//!   2. the bridge: the first one at or behind the message the previous request ended on, which
//!      stands before the last assistant message, if it sees that far back; a turn may then add
//!      any number of messages;
//!   3. the front of the previous request;
//!   4. the one before the front;
//! - the **tail**, the last message of the thread, for the next request to read. The context signal
//!   is no part of the thread and is never marked.
//!
//! A message that says nothing carries no marker; the nearest one before it does.
//!
//! Always true: markers stand on distinct messages in ascending order; once there is an assistant
//! message the anchor stays where it is; a rolling point is a multiple of the grid, so a later
//! request marks that message again or has left it behind.

use crate::message::Shape;
use crate::request::{CacheLifetime, Snapshot};

/// Messages between two points of the grid. A message of a turn is two content blocks on average
/// (reasoning, text and a call make three, a result makes one), so one point sees back beyond the
/// one before it.
pub const GRID: usize = 8;

/// Content blocks a provider looks at behind a marker, the marked one included.
pub const LOOK_BACK: u64 = 20;

/// A message that carries a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Its number in the thread.
    pub message: usize,
    /// Whether the entry is asked to live an hour.
    pub extended: bool,
}

/// The markers of a request, in order; none where the family takes none or nothing is to be kept.
///
/// The tail keeps the provider's own lifetime whatever the agent is set to: it is read once, by
/// the next turn. Where anchor and tail are one message, it is the anchor.
pub fn markers(thread: &Snapshot, lifetime: CacheLifetime) -> Vec<Marker> {
    let landmarks = thread.landmarks;
    let (Shape::Parts, Some(tail)) = (thread.shape(), landmarks.tail) else {
        return Vec::new();
    };
    if lifetime == CacheLifetime::None {
        return Vec::new();
    }
    let mut long: Vec<usize> = rolling(thread, tail);
    if let Some(anchor) = landmarks.anchor {
        long.insert(0, anchor);
    }
    let extended = lifetime == CacheLifetime::Extended;
    let mut markers: Vec<Marker> = long
        .into_iter()
        .map(|message| Marker { message, extended })
        .collect();
    if landmarks.anchor != Some(tail) {
        markers.push(Marker {
            message: tail,
            extended: false,
        });
    }
    markers
}

/// At most two rolling points, ascending.
fn rolling(thread: &Snapshot, tail: usize) -> Vec<usize> {
    let anchor = thread.landmarks.anchor;
    let point = |index: usize| {
        let point = thread.carrier(index)?;
        (anchor < Some(point) && point < tail).then_some(point)
    };
    let before = |message: usize| Some(message.checked_sub(1)? / GRID * GRID);
    let front = before(tail);
    let asked = thread.landmarks.asked;
    let bridge = asked.and_then(|asked| {
        let index = asked.next_multiple_of(GRID);
        let point = (index < tail).then(|| thread.carrier(index))??;
        sees(thread, point, asked).then_some(index)
    });
    let wanted = [
        front,
        bridge,
        asked.and_then(before),
        front.and_then(|front| front.checked_sub(GRID)),
    ];
    let mut points: Vec<usize> = Vec::with_capacity(3);
    for found in wanted.into_iter().flatten().filter_map(point) {
        if points.len() < 2 && !points.contains(&found) {
            points.push(found);
        }
    }
    points.sort_unstable();
    points
}

/// Whether a provider that looks back from a marker on one message finds an entry that a marker on
/// another one wrote.
pub fn sees(thread: &Snapshot, from: usize, entry: usize) -> bool {
    entry <= from && thread.blocks(from) - thread.blocks(entry) < LOOK_BACK
}

#[cfg(test)]
mod tests;
