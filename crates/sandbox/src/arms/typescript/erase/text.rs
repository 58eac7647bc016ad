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

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    /// The root of a text that many units long.
    fn root(units: u32) -> Node {
        let mut bytes = vec![0, 0, 0, 5];
        bytes.resize(40, 0);
        bytes.extend(44_u32.to_le_bytes());
        bytes.extend([0; 28]);
        for number in [kind::SOURCE_FILE, 0, units, 0, 0, 0, 0] {
            bytes.extend(number.to_le_bytes());
        }
        Tree::read(&bytes).unwrap().node(1)
    }

    #[test]
    fn places_are_found_behind_what_takes_several_bytes() {
        let text = Text::new("é😀x", root(4)).unwrap();
        let bytes: Vec<usize> = (0..6).map(|unit| text.byte(unit)).collect();
        assert_eq!(bytes, [0, 2, 2, 6, 7, 7]);
        assert!(Text::new("é😀x", root(7)).is_none(), "of another text");
        assert!(Text::new("\u{feff}x", root(2)).is_none());
    }

    #[test]
    fn a_token_begins_behind_blanks_and_comments() {
        let source = " \n// a\r\n/* b\n*/\u{a0}/**/c // d";
        let text = Text::new(source, root(source.encode_utf16().count() as u32)).unwrap();
        assert!(source[text.skip(0)..].starts_with("c //"));
        assert_eq!(text.skip(source.len()), source.len());
        assert!(text.breaks(0, 3) && !text.breaks(2, 6));
        let open = Text::new("/* a", root(4)).unwrap();
        assert_eq!(open.skip(0), 4);
    }
}
