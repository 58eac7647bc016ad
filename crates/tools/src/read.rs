//! `read_file`: a window of a text file with its footer, or a picture (04 §3).
//!
//! A file is streamed: only the lines asked for are held, and never more than the backstop, while
//! the rest is counted for the footer. So a read costs memory by what it shows, not by the file.
//!
//! Always true: a whole-file result is the file's text and nothing else, a byte order mark aside.

use std::io::Read;

use vocab::failure::Failure;
use vocab::message::{Image, ImageFormat};
use vocab::tools::{ReadMode, ReadPolicy};

use crate::call::ReadFile;
use crate::halt::{Halt, halted};
use crate::paths::{Place, cannot, open_regular};
use crate::{Done, Region, View, image, text};

/// Bytes of text a result carries at most.
const BACKSTOP: usize = 256 * 1024;

/// Bytes of a picture that is still attached.
const MAX_PICTURE: u64 = 8 * 1024 * 1024;

/// Bytes asked for at a time.
const CHUNK: usize = 64 * 1024;

/// What a profile lets a read do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilePolicy {
    /// The read mode; absent, a call without `limit` reads to the end.
    pub read: Option<ReadPolicy>,
    /// Whether pictures ride results: false for a model that takes none.
    pub attach_images: bool,
    /// Bytes of encoded pictures the next request still has room for (R32).
    pub picture_room: u64,
    /// Whether a text comes whole, however long it is: for what an agent opens on, which nobody
    /// asked for page by page.
    pub whole: bool,
}

/// Encoded pictures one request carries at most (R32).
pub const REQUEST_PICTURES: u64 = 20 * 1024 * 1024;

/// What a read found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRead {
    /// Lines of text.
    Text(TextRead),
    /// A picture.
    Picture(Picture),
}

/// A window of a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRead {
    /// The lines as the file has them, line ends included; what is no UTF-8 became U+FFFD.
    pub contents: String,
    /// The first line shown, from 1; 0 in an empty file.
    pub first: u64,
    /// The last line shown, whole or in part.
    pub last: u64,
    /// Lines of the file.
    pub total: u64,
    /// The backstop cut the text short of the lines asked for.
    pub cut: bool,
}

/// A picture file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The path as the call gave it.
    pub path: String,
    /// Its format.
    pub format: ImageFormat,
    /// Bytes of the file.
    pub bytes: u64,
    /// Width and height in pixels, where the header tells.
    pub dimensions: Option<(u32, u32)>,
    /// The picture, or why it is described instead.
    pub attached: Result<Image, &'static str>,
}

/// Reads a file. Blocks on the disk.
///
/// # Errors
///
/// `not-found` for a missing file; `invalid-argument` for what is no regular file and for an
/// offset past the end; `io-error`; `limit-exceeded` once `halt` is raised.
pub fn read(
    call: &ReadFile,
    place: &Place,
    policy: &FilePolicy,
    halt: &Halt,
) -> Result<FileRead, Failure> {
    let (mut file, found) = open_regular(&place.resolve(&call.path)?, &call.path)?;
    let failed = |error: std::io::Error| cannot("read", &call.path, &error);
    // A small file needs a small buffer; one byte more shows its end in the first read.
    let room = usize::try_from(found.len()).map_or(CHUNK, |len| len.clamp(4096, CHUNK - 1) + 1);
    let mut buffer = vec![0; room];
    let mut filled = fill(&mut file, &mut buffer).map_err(failed)?;
    if let Some(format) = image::sniff(&buffer[..filled]) {
        let picture = picture(
            call,
            policy,
            format,
            found.len(),
            &buffer[..filled],
            &mut file,
        );
        return picture.map(FileRead::Picture).map_err(failed);
    }
    let mut window = Window::of(call, policy);
    let mut chunk = buffer
        .strip_prefix(b"\xef\xbb\xbf")
        .map_or(0, |_| 3.min(filled))..filled;
    while filled > 0 {
        if halt.is_raised() {
            return Err(halted());
        }
        window.take(&buffer[chunk]);
        filled = fill(&mut file, &mut buffer).map_err(failed)?;
        chunk = 0..filled;
    }
    window.finish(&call.path).map(FileRead::Text)
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn picture(
    call: &ReadFile,
    policy: &FilePolicy,
    format: ImageFormat,
    size: u64,
    start: &[u8],
    rest: &mut impl Read,
) -> std::io::Result<Picture> {
    let mut picture = Picture {
        path: call.path.clone(),
        format,
        bytes: size,
        dimensions: image::dimensions(format, start),
        attached: Err("the model takes no pictures"),
    };
    if policy.attach_images {
        let mut bytes = start.to_vec();
        // One byte past the bound tells whether the file is larger, whatever its size said.
        rest.take((MAX_PICTURE + 1).saturating_sub(bytes.len() as u64))
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_PICTURE {
            picture.attached = Err("over 8 MiB");
        } else {
            picture.bytes = bytes.len() as u64;
            picture.dimensions = image::dimensions(format, &bytes);
            let image = Image {
                format,
                bytes: bytes.into(),
                dimensions: picture.dimensions,
            };
            picture.attached = if image.encoded_len() > policy.picture_room {
                Err("the pictures in the window leave no room for it")
            } else {
                Ok(image)
            };
        }
    }
    Ok(picture)
}

/// The lines asked for, as a file streams by.
struct Window {
    /// The first and last line wanted, from 1.
    first: u64,
    last: u64,
    /// The line the next byte belongs to.
    line: u64,
    /// Whether that line has bytes already.
    open: bool,
    /// Bytes of the wanted lines, a little past the backstop at most.
    raw: Vec<u8>,
    /// Bytes of text that are shown.
    backstop: usize,
}

impl Window {
    /// The decoded text up to the backstop depends on no byte after this many.
    const fn enough(&self) -> usize {
        self.backstop.saturating_add(4)
    }

    fn of(call: &ReadFile, policy: &FilePolicy) -> Self {
        let cap = policy.read.and_then(|read| match read.mode {
            ReadMode::Unlimited => None,
            ReadMode::DefaultCap => Some(read.line_cap),
        });
        let first = call.offset.unwrap_or(1).max(1);
        let last = match call.limit.or(cap) {
            Some(count) => first.saturating_add(count.max(1) - 1),
            None => u64::MAX,
        };
        Self {
            first,
            last,
            line: 1,
            open: false,
            raw: Vec::new(),
            backstop: if policy.whole { usize::MAX } else { BACKSTOP },
        }
    }

    fn take(&mut self, chunk: &[u8]) {
        let Some(end) = chunk.last() else {
            return;
        };
        self.open = *end != b'\n';
        let mut rest = chunk;
        while self.line < self.first {
            let Some(at) = memchr::memchr(b'\n', rest) else {
                return;
            };
            self.line += 1;
            rest = &rest[at + 1..];
        }
        if self.line <= self.last && self.raw.len() < self.enough() {
            let wanted = self.wanted(rest);
            let room = self.enough() - self.raw.len();
            self.raw.extend_from_slice(&rest[..wanted.min(room)]);
        }
        self.line += memchr::memchr_iter(b'\n', rest).count() as u64;
    }

    /// Bytes of a chunk that belong to wanted lines; the chunk begins in one.
    fn wanted(&self, rest: &[u8]) -> usize {
        let Ok(more) = usize::try_from(self.last - self.line) else {
            return rest.len();
        };
        memchr::memchr_iter(b'\n', rest)
            .nth(more)
            .map_or(rest.len(), |at| at + 1)
    }

    fn finish(self, path: &str) -> Result<TextRead, Failure> {
        let total = self.line - 1 + u64::from(self.open);
        if self.first > total.max(1) {
            return Err(Failure::invalid(format!(
                "`offset` {} is past the end of `{path}`, which has {total} lines",
                self.first
            )));
        }
        let mut contents = match String::from_utf8(self.raw) {
            Ok(contents) => contents,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        let cut = contents.len() > self.backstop;
        if cut {
            contents.truncate(text::floor(&contents, self.backstop));
        }
        let last = if cut {
            self.first + text::lines(&contents) - 1
        } else {
            self.last.min(total)
        };
        Ok(TextRead {
            contents,
            first: self.first.min(total),
            last,
            total,
            cut,
        })
    }
}

impl TextRead {
    /// Whether this is all of the file.
    pub fn is_whole(&self) -> bool {
        self.first <= 1 && self.last == self.total && !self.cut
    }

    /// What stands under the text: nothing for a whole file.
    fn footer(&self) -> String {
        if self.is_whole() {
            return String::new();
        }
        let mut footer = String::new();
        // A line the backstop cut is read again from its start, unless it alone is too long.
        let mut next = self.last + 1;
        if self.cut {
            footer = format!("[cut at {BACKSTOP} bytes");
            if !self.contents.ends_with('\n') {
                footer += &format!(", inside line {}", self.last);
                if self.last > self.first {
                    next = self.last;
                }
            }
            footer += "]\n";
        }
        footer += &format!(
            "[showing lines {}-{} of {}",
            self.first, self.last, self.total
        );
        if next <= self.total {
            footer += &format!("; continue with offset: {next}");
        }
        footer + "]"
    }
}

impl FileRead {
    /// The result a model gets, and the view it opens.
    pub fn into_done(self, path: &str) -> Done {
        let mut view = View {
            path: path.to_owned(),
            region: None,
        };
        match self {
            Self::Text(read) => {
                let footer = read.footer();
                if !footer.is_empty() {
                    let (first, last, total) = (read.first, read.last, read.total);
                    view.region = Some(Region { first, last, total });
                }
                let mut text = read.contents;
                if !footer.is_empty() {
                    if !text.ends_with('\n') {
                        text.push('\n');
                    }
                    text += &footer;
                }
                Done {
                    text,
                    images: Vec::new(),
                    view: Some(view),
                }
            }
            Self::Picture(picture) => {
                let text = picture.described();
                Done {
                    text,
                    images: picture.attached.into_iter().collect(),
                    view: Some(view),
                }
            }
        }
    }
}

impl Picture {
    /// The line beside a picture, or in its place: file, format, size.
    pub fn described(&self) -> String {
        let mut line = format!("{}: {}", self.path, self.format);
        if let Some((width, height)) = self.dimensions {
            line += &format!(", {width}x{height}");
        }
        line += &format!(", {}", vocab::figures::bytes(self.bytes));
        if let Err(why) = &self.attached {
            line += &format!("; not attached: {why}");
        }
        line
    }
}

#[cfg(test)]
mod tests;
