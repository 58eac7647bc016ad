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
}

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
            let dimensions = picture.dimensions;
            picture.attached = Ok(Image {
                format,
                bytes: bytes.into(),
                dimensions,
            });
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
}

impl Window {
    /// The decoded text up to the backstop depends on no byte after this many.
    const ENOUGH: usize = BACKSTOP + 4;

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
        if self.line <= self.last && self.raw.len() < Self::ENOUGH {
            let wanted = self.wanted(rest);
            self.raw
                .extend_from_slice(&rest[..wanted.min(Self::ENOUGH - self.raw.len())]);
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
        let cut = contents.len() > BACKSTOP;
        if cut {
            contents.truncate(text::floor(&contents, BACKSTOP));
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
        line += &format!(", {} bytes", text::grouped(self.bytes));
        if let Err(why) = &self.attached {
            line += &format!("; not attached: {why}");
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;
    use vocab::failure::FailureClass;

    const CAPPED: FilePolicy = FilePolicy {
        read: Some(ReadPolicy {
            mode: ReadMode::DefaultCap,
            line_cap: 3,
        }),
        attach_images: true,
    };
    const UNLIMITED: FilePolicy = FilePolicy {
        read: Some(ReadPolicy {
            mode: ReadMode::Unlimited,
            line_cap: 3,
        }),
        attach_images: true,
    };

    fn folder(contents: impl AsRef<[u8]>) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("f"), contents).unwrap();
        folder
    }

    fn done(
        folder: &TempDir,
        policy: FilePolicy,
        offset: impl Into<Option<u64>>,
        limit: impl Into<Option<u64>>,
    ) -> Result<Done, Failure> {
        let call = ReadFile {
            path: "f".to_owned(),
            offset: offset.into(),
            limit: limit.into(),
        };
        let place = Place::at(folder.path());
        Ok(read(&call, &place, &policy, &Halt::default())?.into_done("f"))
    }

    fn shown(contents: &str, policy: FilePolicy, offset: u64, limit: Option<u64>) -> String {
        done(&folder(contents), policy, offset, limit).unwrap().text
    }

    const FIVE: &str = "1\n2\n3\n4\n5\n";

    #[test]
    fn a_whole_file_has_no_footer_in_either_mode() {
        for text in ["", "a", "a\n", "\n", "1\r\n2\n3"] {
            assert_eq!(shown(text, CAPPED, 1, None), text);
            assert_eq!(shown(text, UNLIMITED, 1, None), text);
        }
        assert_eq!(shown(FIVE, UNLIMITED, 1, None), FIVE);
        assert_eq!(shown(FIVE, CAPPED, 1, Some(9)), FIVE);
    }

    #[test]
    fn a_window_says_what_it_shows_and_how_to_go_on() {
        assert_eq!(
            shown(FIVE, CAPPED, 1, None),
            "1\n2\n3\n[showing lines 1-3 of 5; continue with offset: 4]"
        );
        assert_eq!(
            shown(FIVE, CAPPED, 4, None),
            "4\n5\n[showing lines 4-5 of 5]"
        );
        assert_eq!(
            shown("1\n2", UNLIMITED, 2, None),
            "2\n[showing lines 2-2 of 2]"
        );
        assert_eq!(
            shown(FIVE, UNLIMITED, 2, Some(1)),
            "2\n[showing lines 2-2 of 5; continue with offset: 3]"
        );
    }

    #[test]
    fn a_view_has_a_region_unless_it_is_whole() {
        let region = |offset| {
            done(&folder(FIVE), CAPPED, offset, None)
                .unwrap()
                .view
                .unwrap()
                .region
        };
        assert_eq!(
            region(2),
            Some(Region {
                first: 2,
                last: 4,
                total: 5
            })
        );
        let whole = done(&folder("1\n"), CAPPED, None, None)
            .unwrap()
            .view
            .unwrap();
        assert_eq!(
            whole,
            View {
                path: "f".to_owned(),
                region: None
            }
        );
    }

    #[test]
    fn an_offset_past_the_end_names_the_length() {
        let failure = done(&folder(FIVE), CAPPED, 6, None).unwrap_err();
        assert_eq!(failure.class, FailureClass::InvalidArgument);
        assert_eq!(
            failure.message,
            "`offset` 6 is past the end of `f`, which has 5 lines"
        );
        assert!(done(&folder(""), CAPPED, 2, None).is_err());
    }

    #[test]
    fn missing_files_and_directories_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            done(&folder, CAPPED, None, None).unwrap_err().class,
            FailureClass::NotFound
        );
        fs::create_dir(folder.path().join("f")).unwrap();
        let failure = done(&folder, CAPPED, None, None).unwrap_err();
        assert_eq!(failure.class, FailureClass::InvalidArgument);
        assert_eq!(failure.message, "`f` is a directory, not a file");
    }

    #[test]
    fn the_backstop_cuts_on_a_character_and_says_where() {
        // 100,000 characters of 3 bytes are one line over the bound.
        let long = "漢".repeat(100_000);
        let text = shown(&format!("{long}\nb\n"), UNLIMITED, 1, None);
        let (kept, footer) = text.split_once('\n').unwrap();
        assert_eq!(kept, "漢".repeat(BACKSTOP / 3));
        assert_eq!(
            footer,
            "[cut at 262144 bytes, inside line 1]\n[showing lines 1-1 of 2; continue with offset: 2]"
        );
        // The cut line is read again where another one came before it.
        let text = shown(&format!("a\n{long}\nb\n"), UNLIMITED, 1, None);
        assert!(text.ends_with(
            "\n[cut at 262144 bytes, inside line 2]\n[showing lines 1-2 of 3; continue with offset: 2]"
        ));
    }

    #[test]
    fn exactly_the_backstop_is_whole() {
        let text = format!("{}\n", "x".repeat(BACKSTOP - 1));
        assert_eq!(shown(&text, UNLIMITED, 1, None), text);
        let cut = shown(&format!("{text}y\n"), UNLIMITED, 1, None);
        assert!(cut.ends_with(
            "x\n[cut at 262144 bytes]\n[showing lines 1-1 of 2; continue with offset: 2]"
        ));
    }

    #[test]
    fn lines_across_chunks_are_counted_once() {
        let line = "x".repeat(999);
        let text = format!("{line}\n").repeat(1_000);
        let window = shown(&text, UNLIMITED, 500, Some(2));
        assert_eq!(
            window,
            format!("{line}\n{line}\n[showing lines 500-501 of 1000; continue with offset: 502]")
        );
    }

    #[test]
    fn what_is_no_utf8_is_marked_and_a_byte_order_mark_hidden() {
        assert_eq!(
            done(&folder(b"a\xffb\n"), CAPPED, None, None).unwrap().text,
            "a\u{fffd}b\n"
        );
        assert_eq!(shown("\u{feff}a\n", CAPPED, 1, None), "a\n");
        assert_eq!(shown("\u{feff}", CAPPED, 1, None), "");
    }

    #[test]
    fn a_picture_is_attached_or_described() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0".to_vec();
        png.resize(1_500, 0);
        let attached = done(&folder(&png), CAPPED, 7, None).unwrap();
        assert_eq!(attached.text, "f: image/png, 640x480, 1,500 bytes");
        assert_eq!(attached.images[0].dimensions, Some((640, 480)));
        assert_eq!(&attached.images[0].bytes[..], &png);

        let blind = FilePolicy {
            attach_images: false,
            ..CAPPED
        };
        let described = done(&folder(&png), blind, None, None).unwrap();
        assert_eq!(
            described.text,
            "f: image/png, 640x480, 1,500 bytes; not attached: the model takes no pictures"
        );
        assert!(described.images.is_empty());

        png.resize(MAX_PICTURE as usize + 1, 0);
        let large = done(&folder(&png), CAPPED, None, None).unwrap();
        assert_eq!(
            large.text,
            "f: image/png, 640x480, 8,388,609 bytes; not attached: over 8 MiB"
        );
        assert!(large.images.is_empty());
        png.pop();
        assert_eq!(
            done(&folder(&png), CAPPED, None, None)
                .unwrap()
                .images
                .len(),
            1
        );
    }

    #[test]
    fn a_raised_halt_ends_a_read() {
        let folder = folder(FIVE);
        let halt = Halt::default();
        halt.raise();
        let call = ReadFile {
            path: "f".to_owned(),
            offset: None,
            limit: None,
        };
        let failure = read(&call, &Place::at(folder.path()), &CAPPED, &halt).unwrap_err();
        assert_eq!(failure.class, FailureClass::LimitExceeded);
    }

    proptest::proptest! {
        #[test]
        fn windows_one_after_another_give_the_file(text in "[a漢\n\r]{0,80}", limit in 1_u64..4) {
            let folder = folder(&text);
            let mut joined = String::new();
            let mut offset = 1;
            loop {
                let call = ReadFile { path: "f".to_owned(), offset: Some(offset), limit: Some(limit) };
                let place = Place::at(folder.path());
                let FileRead::Text(read) = read(&call, &place, &CAPPED, &Halt::default()).unwrap()
                else { panic!("no text") };
                joined += &read.contents;
                offset = read.last + 1;
                if read.last >= read.total {
                    break;
                }
            }
            proptest::prop_assert_eq!(joined, text);
        }
    }
}
