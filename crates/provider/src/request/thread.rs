//! The messages of one window as bytes, and what is known of where they stand.
//!
//! A [`Thread`] holds the messages as JSON, comma separated. Full stretches are sealed as shared
//! segments; a [`Snapshot`] shares them and copies only the open tail. Beside the bytes of a
//! segment stands what is needed to send them otherwise than they are held: where a cache marker
//! may ride, and which reasoning not everybody can read.
//!
//! Always true: the messages of a snapshot are a byte prefix of every later snapshot of the same
//! thread (R57), and what is known of a message never changes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use vocab::ids::ProviderName;
use vocab::message::Message;

use crate::message::{self, Shape};

/// Bytes after which the open tail is sealed. One segment a turn would double the CPU of sending,
/// one segment for all would be copied every turn.
pub(super) const SEGMENT: usize = 32 * 1024;

/// The serialized messages of one window; append-only.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    shape: Shape,
    sealed: Vec<Arc<Segment>>,
    /// The stretch that still grows. Its bytes are in `tail`.
    open: Stretch,
    tail: Vec<u8>,
    messages: usize,
    /// Content blocks of all messages.
    blocks: u64,
    landmarks: Landmarks,
    /// Who made sealed reasoning, each once.
    makers: Arc<[ProviderName]>,
}

/// A stretch of messages that changes no more.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) bytes: Bytes,
    stretch: Stretch,
}

/// What is known of the messages of a stretch. Offsets count from its first byte.
#[derive(Clone, Debug, Default)]
struct Stretch {
    /// Number of its first message within the thread.
    first: usize,
    /// Bytes of the thread before it.
    start: usize,
    places: Vec<Place>,
    foreign: Vec<Foreign>,
}

/// Where one message stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its first byte.
    start: usize,
    /// Where a marker may be inserted.
    mark: Option<usize>,
    /// The nearest message up to this one that can carry a marker.
    carrier: Option<usize>,
    /// Content blocks of the thread up to `mark`.
    blocks: u64,
}

/// Reasoning that only its maker can read.
#[derive(Clone, Debug)]
pub(crate) struct Foreign {
    /// The message's number within the thread.
    pub(crate) message: usize,
    maker: ProviderName,
    /// The field that holds it, from the comma before it; offsets within the segment.
    pub(crate) span: Range<usize>,
    /// What takes the field's place where it is left out.
    pub(crate) readable: Bytes,
    /// How many items are left out.
    pub(crate) items: usize,
}

impl Foreign {
    /// Whether a provider must not be sent it. Without a pinned provider there is only one.
    pub(crate) fn is_kept_from(&self, candidate: Option<&ProviderName>) -> bool {
        keeps_from(&self.maker, candidate)
    }
}

fn keeps_from(maker: &ProviderName, candidate: Option<&ProviderName>) -> bool {
    candidate.is_some_and(|candidate| !candidate.same_as(maker))
}

/// The messages that cache markers are placed by; each can carry one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Landmarks {
    /// The last before the first assistant message; while there is none, the last.
    pub(crate) anchor: Option<usize>,
    /// The last before the last assistant message: where the thread ended when that was asked for.
    pub(crate) asked: Option<usize>,
    /// The last.
    pub(crate) tail: Option<usize>,
    /// Whether the model has spoken.
    answered: bool,
}

impl Landmarks {
    fn push(&mut self, message: usize, carries: bool, from_model: bool) {
        if from_model {
            self.answered = true;
            self.asked = self.tail;
        }
        if carries {
            self.tail = Some(message);
            if !self.answered {
                self.anchor = self.tail;
            }
        }
    }
}

impl Thread {
    /// A thread without messages, of bare strings.
    pub fn new() -> Self {
        Self::default()
    }

    /// A thread without messages, of a shape.
    pub fn of(shape: Shape) -> Self {
        Self {
            shape,
            ..Self::default()
        }
    }

    /// Appends one message.
    pub fn push(&mut self, message: &Message) {
        if self.messages > 0 {
            self.tail.push(b',');
        }
        let start = self.tail.len();
        let written = message::write(message, self.shape, &mut self.tail);
        let from_model = matches!(message, Message::Assistant { .. });
        self.landmarks
            .push(self.messages, written.mark.is_some(), from_model);
        self.open.places.push(Place {
            start,
            mark: written.mark.map(|mark| start + mark),
            carrier: self.landmarks.tail,
            blocks: self.blocks + written.blocks,
        });
        self.blocks += written.blocks + written.blocks_behind;
        // What nobody is known to have made counts as the candidate's, whoever that is.
        if let Some(sealed) = written.sealed
            && let Some(maker) = message.reasoning().and_then(|it| it.provider.clone())
        {
            if !self.makers.iter().any(|known| known.same_as(&maker)) {
                let makers = self.makers.iter().cloned().chain([maker.clone()]);
                self.makers = makers.collect();
            }
            self.open.foreign.push(Foreign {
                message: self.messages,
                maker,
                span: start + sealed.span.start..start + sealed.span.end,
                readable: Bytes::from(sealed.readable),
                items: sealed.items,
            });
        }
        self.messages += 1;
        if self.tail.len() >= SEGMENT {
            self.seal();
        }
    }

    fn seal(&mut self) {
        let next = Stretch {
            first: self.messages,
            start: self.len_bytes(),
            ..Stretch::default()
        };
        let bytes = if self.tail.len() < 2 * SEGMENT {
            // The exact copy keeps the tail's buffer for the next stretch and wastes no capacity.
            let bytes = Bytes::copy_from_slice(&self.tail);
            self.tail.clear();
            bytes
        } else {
            let mut large = std::mem::take(&mut self.tail);
            large.shrink_to_fit();
            Bytes::from(large)
        };
        let stretch = std::mem::replace(&mut self.open, next);
        self.sealed.push(Arc::new(Segment { bytes, stretch }));
    }

    /// Bytes of all messages with the commas between them.
    pub fn len_bytes(&self) -> usize {
        self.open.start + self.tail.len()
    }

    /// How many messages were pushed.
    pub const fn messages(&self) -> usize {
        self.messages
    }

    /// The messages as they stand now, unmoved by later pushes.
    pub fn snapshot(&self) -> Snapshot {
        let mut segments = Vec::with_capacity(self.sealed.len() + 1);
        segments.extend_from_slice(&self.sealed);
        if !self.tail.is_empty() {
            segments.push(Arc::new(Segment {
                bytes: Bytes::copy_from_slice(&self.tail),
                stretch: self.open.clone(),
            }));
        }
        Snapshot {
            segments: segments.into(),
            bytes: self.len_bytes(),
            messages: self.messages,
            shape: self.shape,
            landmarks: self.landmarks,
            makers: Arc::clone(&self.makers),
        }
    }
}

impl<'a> FromIterator<&'a Message> for Thread {
    fn from_iter<I: IntoIterator<Item = &'a Message>>(messages: I) -> Self {
        let mut thread = Self::new();
        thread.extend(messages);
        thread
    }
}

impl<'a> Extend<&'a Message> for Thread {
    fn extend<I: IntoIterator<Item = &'a Message>>(&mut self, messages: I) {
        for message in messages {
            self.push(message);
        }
    }
}

/// The messages of a thread at one moment. Cheap to clone and to send.
#[derive(Clone, Debug)]
pub struct Snapshot {
    segments: Arc<[Arc<Segment>]>,
    bytes: usize,
    messages: usize,
    shape: Shape,
    pub(crate) landmarks: Landmarks,
    makers: Arc<[ProviderName]>,
}

/// What one snapshot repeats of another from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common {
    /// Equal bytes.
    pub bytes: usize,
    /// Messages that are equal whole.
    pub messages: usize,
    /// Whether that is all of the snapshot asked: the other one extends it.
    pub whole: bool,
}

impl Snapshot {
    /// Bytes of all messages with the commas between them.
    pub const fn len_bytes(&self) -> usize {
        self.bytes
    }

    /// How many messages there are.
    pub const fn messages(&self) -> usize {
        self.messages
    }

    /// How its messages are written.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The bytes in order; none where there is no message.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = &Bytes> {
        self.segments.iter().map(|segment| &segment.bytes)
    }

    /// All bytes joined, for tests and checks.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.bytes);
        for bytes in self.segments() {
            all.extend_from_slice(bytes);
        }
        all
    }

    /// How much of this snapshot `later` repeats.
    ///
    /// Segments that both share are not read: for a window that only grew, the cost is the open
    /// tail's.
    pub fn common_prefix(&self, later: &Self) -> Common {
        let bytes = self.common_bytes(later);
        let messages = self.whole_messages(bytes);
        Common {
            bytes,
            messages,
            whole: messages == self.messages,
        }
    }

    fn common_bytes(&self, later: &Self) -> usize {
        let (mut ours, mut theirs) = (self.segments.iter(), later.segments.iter());
        let (mut a, mut b): (&[u8], &[u8]) = (&[], &[]);
        let mut common = 0;
        loop {
            if a.is_empty() && b.is_empty() {
                match (ours.next(), theirs.next()) {
                    (Some(one), Some(other)) if Arc::ptr_eq(one, other) => {
                        common += one.bytes.len();
                        continue;
                    }
                    (Some(one), Some(other)) => (a, b) = (&one.bytes, &other.bytes),
                    _ => return common,
                }
            } else if a.is_empty() {
                let Some(next) = ours.next() else {
                    return common;
                };
                a = &next.bytes;
            } else if b.is_empty() {
                let Some(next) = theirs.next() else {
                    return common;
                };
                b = &next.bytes;
            }
            let len = a.len().min(b.len());
            let equal = equal_bytes(&a[..len], &b[..len]);
            common += equal;
            if equal < len {
                return common;
            }
            (a, b) = (&a[len..], &b[len..]);
        }
    }

    /// How many messages end within the first `bytes`.
    fn whole_messages(&self, bytes: usize) -> usize {
        let at = self
            .segments
            .partition_point(|segment| segment.stretch.start + segment.bytes.len() <= bytes);
        let Some(segment) = self.segments.get(at) else {
            return self.messages;
        };
        let stretch = &segment.stretch;
        let within = bytes - stretch.start;
        // A message ends where the comma before the next one stands.
        let next = stretch.places.get(1..).unwrap_or_default();
        stretch.first + next.partition_point(|place| place.start - 1 <= within)
    }

    /// The segment of a message and its place there. Panics past the last message.
    fn place(&self, message: usize) -> (usize, Place) {
        let at = self
            .segments
            .partition_point(|segment| segment.stretch.first <= message)
            - 1;
        let stretch = &self.segments[at].stretch;
        (at, stretch.places[message - stretch.first])
    }

    /// Bytes before a message; all of them past the last one.
    pub(crate) fn bytes_before(&self, message: usize) -> usize {
        if message >= self.messages {
            return self.bytes;
        }
        let (at, place) = self.place(message);
        self.segments[at].stretch.start + place.start
    }

    /// The nearest message up to this one that can carry a marker.
    pub(crate) fn carrier(&self, message: usize) -> Option<usize> {
        self.place(message).1.carrier
    }

    /// Content blocks up to the place of a marker on a message that can carry one.
    pub(crate) fn blocks(&self, message: usize) -> u64 {
        self.place(message).1.blocks
    }

    /// The segment and the byte there at which a marker on a message is inserted.
    pub(super) fn mark(&self, message: usize) -> Option<(usize, usize)> {
        let (at, place) = self.place(message);
        Some((at, place.mark?))
    }

    /// The reasoning that any of these candidates must not be sent, in order, each with its
    /// segment. Costs nothing while all of it was made by them.
    pub(crate) fn foreign(
        &self,
        candidates: [Option<&ProviderName>; 2],
    ) -> impl Iterator<Item = (usize, &Foreign)> {
        let any = self.makers.iter().any(|maker| {
            candidates
                .iter()
                .any(|candidate| keeps_from(maker, *candidate))
        });
        let segments: &[Arc<Segment>] = if any { &self.segments } else { &[] };
        segments.iter().enumerate().flat_map(move |(at, segment)| {
            let foreign = segment.stretch.foreign.iter();
            foreign
                .filter(move |it| candidates.iter().any(|one| it.is_kept_from(*one)))
                .map(move |it| (at, it))
        })
    }

    /// A message as a provider is sent it; `None` past the last one.
    pub(crate) fn sent(
        &self,
        message: usize,
        candidate: Option<&ProviderName>,
    ) -> Option<Cow<'_, [u8]>> {
        if message >= self.messages {
            return None;
        }
        let (at, place) = self.place(message);
        let Segment { bytes, stretch } = &*self.segments[at];
        let next = stretch.places.get(message + 1 - stretch.first);
        let end = next.map_or(bytes.len(), |next| next.start - 1);
        let left_out = stretch
            .foreign
            .binary_search_by_key(&message, |foreign| foreign.message)
            .ok()
            .map(|found| &stretch.foreign[found])
            .filter(|foreign| foreign.is_kept_from(candidate));
        Some(match left_out {
            None => Cow::Borrowed(&bytes[place.start..end]),
            Some(foreign) => {
                let before = &bytes[place.start..foreign.span.start];
                let rest = &bytes[foreign.span.end..end];
                Cow::Owned([before, &foreign.readable, rest].concat())
            }
        })
    }
}

/// How many bytes two slices share from their start.
pub(crate) fn equal_bytes(a: &[u8], b: &[u8]) -> usize {
    // Whole blocks go through `memcmp`, which is many times faster than byte by byte.
    const BLOCK: usize = 256;
    let blocks = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK));
    let start = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    let rest = a[start..].iter().zip(&b[start..]);
    start + rest.take_while(|(a, b)| a == b).count()
}
