//! Where the journal goes: something that takes bytes and can take back the last of them.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// A file, or what a test puts in its place.
pub trait Sink: Write + Send {
    /// Cuts everything behind the first `length` bytes, and goes on writing there.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Sink for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }
}
