//! The bytes of one answer, read as whatever they turn out to be.
//!
//! A streaming request is answered by an event stream, by one JSON object (a server that cannot
//! stream, or an error under status 200), or by something else entirely, such as the page of a
//! proxy. The first byte that is no blank tells which; the content type is not asked, since
//! servers label streams in many ways.
//!
//! Always true: the result does not depend on where the bytes were cut.

use vocab::ids::ProviderName;
use vocab::looping::Knobs;

use crate::fault::{Fault, excerpt};
use crate::reply::{Assembly, LARGEST_REPLY, Progress, Reply};
use crate::sse::{Decoder, TooLarge};

/// Bytes of a foreign answer that are kept for its description.
const KEPT: usize = 16 * 1024;

/// An answer in the making.
#[derive(Debug)]
pub struct Reading {
    assembly: Assembly,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// Nothing but blanks so far.
    Unknown,
    /// Events; `opening` holds the first bytes until an event came.
    Stream {
        decoder: Decoder,
        opening: Vec<u8>,
        any_event: bool,
    },
    /// One JSON object.
    Whole(Vec<u8>),
    /// A page.
    Foreign(Vec<u8>),
}

impl Reading {
    /// The start of an answer to a request that allowed `asked` alone.
    pub fn new(asked: Option<ProviderName>) -> Self {
        Self {
            assembly: Assembly::new(asked),
            form: Form::Unknown,
        }
    }

    /// The same, read by a loop detector where there are knobs for one: a reply that trips it is
    /// [`Fault::Looped`] as soon as it does.
    pub fn watched(mut self, knobs: Option<Knobs>) -> Self {
        self.assembly = self.assembly.watched(knobs);
        self
    }

    /// Takes the next bytes of the answer.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Progress, Fault> {
        let mut bytes = bytes;
        if let Form::Unknown = self.form {
            bytes = bytes.trim_ascii_start();
            self.form = match bytes.first() {
                None => return Ok(Progress::default()),
                Some(b'{') => Form::Whole(Vec::new()),
                Some(b'<') => Form::Foreign(Vec::new()),
                Some(_) => Form::Stream {
                    decoder: Decoder::new(),
                    opening: Vec::new(),
                    any_event: false,
                },
            };
        }
        match &mut self.form {
            Form::Unknown => {}
            Form::Stream {
                decoder,
                opening,
                any_event,
            } => {
                if !*any_event {
                    let room = KEPT.saturating_sub(opening.len()).min(bytes.len());
                    opening.extend_from_slice(&bytes[..room]);
                }
                let mut events = Vec::new();
                let taken = decoder.push(bytes, &mut events);
                let mut progress = Progress::default();
                for event in events {
                    *any_event = true;
                    let brought = self.assembly.push(&event.data)?;
                    progress.moved |= brought.moved;
                    progress.done |= brought.done;
                }
                return match taken {
                    Err(TooLarge) if !progress.done => {
                        Err(self.assembly.unreadable(TooLarge.to_string()))
                    }
                    _ => Ok(progress),
                };
            }
            Form::Whole(body) => {
                if body.len() + bytes.len() > LARGEST_REPLY {
                    let why = format!("it is larger than {LARGEST_REPLY} bytes");
                    return Err(self.assembly.unreadable(why));
                }
                body.extend_from_slice(bytes);
            }
            Form::Foreign(body) => {
                let room = KEPT.saturating_sub(body.len()).min(bytes.len());
                body.extend_from_slice(&bytes[..room]);
            }
        }
        Ok(Progress::default())
    }

    /// Whether everything a reply needs has arrived.
    pub const fn is_whole(&self) -> bool {
        self.assembly.is_whole()
    }

    /// Who serves it, once named.
    pub const fn provider(&self) -> Option<&ProviderName> {
        self.assembly.provider()
    }

    /// The end of the answer.
    pub fn finish(mut self) -> Result<Reply, Fault> {
        match self.form {
            Form::Unknown => {}
            Form::Stream {
                decoder,
                opening,
                mut any_event,
            } => {
                let whole = self.assembly.is_whole();
                let last = decoder.finish().unwrap_or_default();
                for event in last {
                    any_event = true;
                    match self.assembly.push(&event.data) {
                        Ok(_) => {}
                        // The connection ended inside an event: behind a whole reply that is
                        // nothing, in front of its end it is a cut, which `finish` reports.
                        Err(Fault::Parse { .. }) if whole || torn(&event.data) => {}
                        Err(fault) => return Err(fault),
                    }
                }
                if !any_event && !is_field(&opening) {
                    let why = format!("it is no event stream: {}", excerpt(&opening));
                    return Err(self.assembly.unreadable(why));
                }
            }
            Form::Whole(body) => self.assembly.push_whole(&body)?,
            Form::Foreign(body) => return Err(self.assembly.unreadable(excerpt(&body))),
        }
        self.assembly.finish()
    }
}

/// Whether a text is the start of a JSON value, or of `[DONE]`, that was cut.
fn torn(data: &[u8]) -> bool {
    b"[DONE]".starts_with(data)
        || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_err_and(|error| error.is_eof())
}

/// Whether a stream opens as an event stream may.
fn is_field(opening: &[u8]) -> bool {
    let opening = opening.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(opening);
    let fields: [&[u8]; 5] = [b":", b"data", b"event", b"id", b"retry"];
    opening.is_empty() || fields.iter().any(|field| opening.starts_with(field))
}

#[cfg(test)]
mod tests;
