//! A text by the places of its tree, which count UTF-16 units.

use super::kind;
use super::tree::Node;

/// A text, by the places of its tree.
pub(super) struct Text<'a> {
    pub(super) source: &'a str,
    /// The byte at which each UTF-16 unit begins; empty where they are the same.
    bytes: Vec<usize>,
}

impl<'a> Text<'a> {
    /// A text, where the whole of it is what a tree is of.
    pub(super) fn new(source: &'a str, whole: Node) -> Option<Self> {
        let bytes = if source.is_ascii() {
            Vec::new()
        } else {
            let starts = source.char_indices();
            let starts = starts.flat_map(|(at, one)| std::iter::repeat_n(at, one.len_utf16()));
            starts.chain([source.len()]).collect()
        };
        let text = Self { source, bytes };
        let units = text.bytes.len().checked_sub(1).unwrap_or(source.len());
        let same = whole.kind == kind::SOURCE_FILE && whole.end as usize == units;
        // A mark at its start is no part of the tree.
        (same && !source.starts_with('\u{feff}')).then_some(text)
    }

    /// The byte of a place.
    pub(super) fn byte(&self, unit: u32) -> usize {
        let unit = unit as usize;
        let byte = if self.bytes.is_empty() {
            unit
        } else {
            self.bytes.get(unit).copied().unwrap_or(usize::MAX)
        };
        byte.min(self.source.len())
    }

    /// Where a node's first token begins.
    pub(super) fn start(&self, node: Node) -> usize {
        self.skip(self.byte(node.pos)).min(self.byte(node.end))
    }

    pub(super) fn range(&self, node: Node) -> (usize, usize) {
        (self.start(node), self.byte(node.end))
    }

    pub(super) fn token(&self, node: Node) -> &'a str {
        &self.source[self.start(node)..self.byte(node.end)]
    }

    /// Behind blanks and comments.
    pub(super) fn skip(&self, from: usize) -> usize {
        let mut rest = &self.source[from..];
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            if rest.starts_with("//") {
                rest = &rest[rest.find(breaks_line).unwrap_or(rest.len())..];
            } else if rest.starts_with("/*") {
                rest = &rest[rest.find("*/").map_or(rest.len(), |end| end + 2)..];
            } else {
                return self.source.len() - rest.len();
            }
        }
    }

    /// Whether a line breaks between two places.
    pub(super) fn breaks(&self, start: usize, end: usize) -> bool {
        let between = self.source.get(start..end.max(start));
        between.is_none_or(|between| between.contains(breaks_line))
    }
}

/// Whether a line ends with it.
pub(super) fn breaks_line(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}
