//! Whether a reply that still streams has stopped answering and repeats itself (01 §7, R4).
//!
//! A [`Detector`] reads everything one attempt answers, in the order of arrival: text, reasoning
//! and the arguments of calls, whose JSON escapes it undoes on the way. It cuts that into words,
//! keeps the last of them in a rolling window, and counts how many words in a row met a window
//! full of repetition. Each word costs the same, whatever the knobs.
//!
//! Always true: where a stream was cut into pieces changes neither whether a reply trips nor the
//! figures of the trip; the last word, which nothing has ended, never counts.
//!
//! What follows from a trip is [`crate::call`]'s to decide.

mod escapes;
mod window;
mod words;

use vocab::looping::Knobs;

use self::escapes::Escapes;
use self::window::Window;
use self::words::{Ended, WORD_CHARS, Word, decode, hash_of, is_ascii_space, plain_run, scan};

/// What a piece of a reply belongs to. A word does not reach from one into another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Text, a refusal's included.
    Content,
    /// Reasoning.
    Reasoning,
    /// The arguments of a call, as JSON text; calls are told apart by any number of theirs.
    Arguments(usize),
}

/// Why a reply is to be abandoned, and what of it was read until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    /// Words that were ended.
    pub words: u64,
    /// Characters, blanks and the one that decided included; of arguments, those that their
    /// escapes stand for.
    pub chars: u64,
    /// Which rule decided.
    pub why: Why,
}

/// The rule that a reply met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// `minSaturatedRun` words in a row met a window with `minOffenders` offenders or more.
    Repetition,
    /// It is longer than `maxResponseChars`.
    Length,
}

/// The reader of one attempt's reply.
#[derive(Clone, Debug)]
pub struct Detector {
    min_offenders: u64,
    min_saturated_run: u64,
    /// Characters that may be read.
    most_chars: u64,
    window: Window,
    words: u64,
    chars: u64,
    /// Words in a row that met a saturated window.
    run: u64,
    stream: Option<Stream>,
    escapes: Escapes,
    /// Arguments without their escapes; kept for its room alone.
    plain: Vec<u8>,
    word: Word,
    /// The bytes of a character whose rest is yet to come.
    held: Vec<u8>,
    tripped: Option<Trip>,
}

impl Detector {
    /// A reader at the start of a reply.
    pub fn new(knobs: Knobs) -> Self {
        Self {
            min_offenders: knobs.min_offenders,
            min_saturated_run: knobs.min_saturated_run,
            most_chars: match knobs.max_response_chars {
                0 => u64::MAX,
                most => most,
            },
            window: Window::new(knobs.window_words, knobs.repeat_threshold),
            words: 0,
            chars: 0,
            run: 0,
            stream: None,
            escapes: Escapes::default(),
            plain: Vec::new(),
            word: Word::default(),
            held: Vec::new(),
            tripped: None,
        }
    }

    /// Reads the next piece, cut anywhere: UTF-8 in which halves of surrogate pairs may stand
    /// alone, or meet. Once a reply has tripped, every further call gives the same trip.
    pub fn feed(&mut self, stream: Stream, piece: &[u8]) -> Option<Trip> {
        if self.tripped.is_none()
            && !piece.is_empty()
            && let Err(why) = self.read_piece(stream, piece)
        {
            self.tripped = Some(Trip {
                words: self.words,
                chars: self.chars,
                why,
            });
        }
        self.tripped
    }

    fn read_piece(&mut self, stream: Stream, piece: &[u8]) -> Result<(), Why> {
        if self.stream != Some(stream) {
            self.end_stream()?;
            self.stream = Some(stream);
        }
        if !matches!(stream, Stream::Arguments(_)) {
            return self.read(piece);
        }
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        self.escapes.undo(piece, &mut plain);
        let read = self.read(&plain);
        self.plain = plain;
        read
    }

    /// Another stream follows: what was half read is as whole as it gets.
    fn end_stream(&mut self) -> Result<(), Why> {
        let mut rest = std::mem::take(&mut self.held);
        self.escapes.end(&mut rest);
        let mut rest = rest.as_slice();
        while !rest.is_empty() {
            // What is cut off here stays cut off, and is one character.
            let (code, length) = decode(rest).unwrap_or((words::REPLACEMENT, rest.len()));
            self.character(code)?;
            rest = &rest[length..];
        }
        self.end_word()
    }

    fn read(&mut self, mut bytes: &[u8]) -> Result<(), Why> {
        while let Some(&first) = bytes.first() {
            if !self.held.is_empty() {
                self.held.push(first);
                bytes = &bytes[1..];
                self.settle_held()?;
                continue;
            }
            let left = self.most_chars - self.chars;
            if self.word.is_empty() {
                let (hash, length) = scan(bytes);
                if length < WORD_CHARS
                    && bytes.get(length).is_some_and(|end| is_ascii_space(*end))
                    && (length as u64) < left
                {
                    bytes = &bytes[length + 1..];
                    self.chars += length as u64 + 1;
                    if length > 0 {
                        self.count(hash)?;
                    }
                    continue;
                }
            }
            let room =
                (WORD_CHARS - self.word.chars()).min(usize::try_from(left).unwrap_or(usize::MAX));
            let run = plain_run(bytes, room);
            if run > 0 {
                self.chars += run as u64;
                let ended = self.word.extend_plain(&bytes[..run]);
                bytes = &bytes[run..];
                if ended == Ended::Full {
                    self.end_word()?;
                }
                continue;
            }
            let Some((code, length)) = decode(bytes) else {
                self.held.extend_from_slice(bytes);
                return Ok(());
            };
            bytes = &bytes[length..];
            self.character(code)?;
        }
        Ok(())
    }

    /// Reads what of the held bytes is a character by now.
    fn settle_held(&mut self) -> Result<(), Why> {
        while !self.held.is_empty()
            && let Some((code, length)) = decode(&self.held)
        {
            self.held.drain(..length);
            self.character(code)?;
        }
        Ok(())
    }

    fn character(&mut self, code: u32) -> Result<(), Why> {
        self.chars += 1;
        if char::from_u32(code).is_some_and(char::is_whitespace)
            || self.word.push(code) == Ended::Full
        {
            self.end_word()?;
        }
        if self.chars > self.most_chars {
            return Err(Why::Length);
        }
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), Why> {
        if self.word.is_empty() {
            return Ok(());
        }
        let hash = hash_of(self.word.bytes());
        self.word.clear();
        self.count(hash)
    }

    /// Takes the hash of a word that has ended.
    fn count(&mut self, hash: u64) -> Result<(), Why> {
        self.words += 1;
        self.window.push(hash);
        let saturated = self.window.offenders() >= self.min_offenders;
        self.run = if saturated { self.run + 1 } else { 0 };
        if saturated && self.window.is_full() && self.run >= self.min_saturated_run {
            return Err(Why::Repetition);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
