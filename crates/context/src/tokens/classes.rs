//! The classes of characters the pre-tokenizer tells apart.
//!
//! One bit each, and disjoint, so that a set of classes is a mask. `build.rs` includes this file
//! and writes the table from the Unicode data of the regular expressions the vocabulary's own
//! tokenizer uses.

/// Uppercase and titlecase letters: `Lu`, `Lt`.
pub(crate) const UPPER: u8 = 1;
/// Lowercase letters: `Ll`.
pub(crate) const LOWER: u8 = 2;
/// Letters without case: `Lm`, `Lo`.
pub(crate) const CASELESS: u8 = 4;
/// Combining marks: `M`.
pub(crate) const MARK: u8 = 8;
/// Numbers: `N`.
pub(crate) const NUMBER: u8 = 16;
/// White space but for line ends.
pub(crate) const SPACE: u8 = 32;
/// `\r` and `\n`.
pub(crate) const LINE_END: u8 = 64;
/// Everything else.
pub(crate) const OTHER: u8 = 128;

/// Code points of one page of the table.
pub(crate) const PAGE: usize = 256;
/// Pages of the code space; so many bytes of page numbers stand before the pages.
pub(crate) const PAGES: usize = 0x11_0000 / PAGE;
