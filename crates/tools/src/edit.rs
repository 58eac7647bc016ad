//! `edit_file`: the one place a text occurs in a file, and what the file is with it replaced
//! (04 §3, R29).
//!
//! A text is looked for as it stands. Where it does not occur, and was written with LF, it also
//! matches text whose line ends are CR LF. What is put in takes the line ends of a file that knows
//! only CR LF, so that an edit never mixes them.
//!
//! Always true: bytes outside the match never change, a byte order mark included.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use memchr::memmem;
use vocab::failure::{Failure, FailureClass};

use crate::call::EditFile;
use crate::explain;
use crate::paths::{cannot, open_regular};

/// A byte order mark, which no read shows.
const MARK: char = '\u{feff}';

/// The whole file as an edit leaves it.
pub(crate) fn edited(path: &Path, edit: &EditFile) -> Result<String, Failure> {
    let (mut file, found) = open_regular(path, &edit.path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0));
    file.read_to_end(&mut bytes)
        .map_err(|error| cannot("read", &edit.path, &error))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::invalid(format!(
            "`{}` is not UTF-8 text, so it cannot be edited",
            edit.path
        ))
    })?;
    replaced(&text, edit)
}

fn replaced(text: &str, edit: &EditFile) -> Result<String, Failure> {
    let (old, new) = (edit.old_string.as_str(), edit.new_string.as_str());
    if old.is_empty() {
        return Err(Failure::invalid(
            "`oldString` is empty; give the text to replace",
        ));
    }
    if old == new {
        return Err(Failure::invalid("`oldString` and `newString` are equal"));
    }
    // The mark is no part of what a reader sees, unless the call spells it out.
    let start = if text.starts_with(MARK) && !old.starts_with(MARK) {
        MARK.len_utf8()
    } else {
        0
    };
    let (mark, body) = text.split_at(start);
    let ends = LineEnds::of(body);
    let mut places = exact(body, old);
    if places.is_empty() && ends.crlf > 0 && old.contains('\n') && !old.contains("\r\n") {
        places = across_line_ends(body, old);
    }
    match places.as_slice() {
        [(from, to)] => {
            let plain = !old.contains('\r');
            // A text that begins with LF means the whole line end it was found in.
            let splits = old.starts_with('\n') && body[..*from].ends_with('\r');
            let from = from - usize::from(splits && (plain || ends.only_crlf()));
            let matched = LineEnds::of(&body[from..*to]);
            let new = if ends.only_crlf() || (plain && matched.only_crlf()) {
                with_crlf(new)
            } else {
                Cow::Borrowed(new)
            };
            Ok([mark, &body[..from], &new, &body[*to..]].concat())
        }
        [] => Err(Failure::not_found(explain::absent(body, old, &edit.path))),
        many => Err(Failure::new(
            FailureClass::Conflict,
            format!(
                "`oldString` occurs {} times in `{}`, {}; add surrounding text until it is unique",
                many.len(),
                edit.path,
                on_lines(body, many)
            ),
        )),
    }
}

/// How the lines of a text end.
#[derive(Clone, Copy)]
struct LineEnds {
    lf: usize,
    crlf: usize,
}

impl LineEnds {
    fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut ends = Self { lf: 0, crlf: 0 };
        for at in memchr::memchr_iter(b'\n', bytes) {
            if at > 0 && bytes[at - 1] == b'\r' {
                ends.crlf += 1;
            } else {
                ends.lf += 1;
            }
        }
        ends
    }

    fn only_crlf(self) -> bool {
        self.crlf > 0 && self.lf == 0
    }
}

/// The text with CR LF where it has a bare LF.
fn with_crlf(text: &str) -> Cow<'_, str> {
    if LineEnds::of(text).lf == 0 {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
}

/// Every place a text occurs, those that overlap included: an edit of either would be a guess.
fn exact(body: &str, old: &str) -> Vec<(usize, usize)> {
    let finder = memmem::Finder::new(old);
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = finder.find(&body.as_bytes()[from..]) {
        places.push((from + at, from + at + old.len()));
        from += at + 1;
    }
    places
}

/// Every place a text written with LF occurs when CR LF counts as LF.
fn across_line_ends(body: &str, old: &str) -> Vec<(usize, usize)> {
    let plain = body.replace("\r\n", "\n");
    let places = exact(&plain, old);
    // Two walks, since the end of one place may lie past the start of the next.
    let (mut starts, mut ends) = (Walk::over(body), Walk::over(body));
    places
        .into_iter()
        .map(|(from, to)| (starts.to(from), ends.to(to)))
        .collect()
}

/// A walk over a text that counts each CR LF as one byte.
struct Walk<'a> {
    body: &'a [u8],
    at: usize,
    counted: usize,
}

impl<'a> Walk<'a> {
    fn over(body: &'a str) -> Self {
        Self {
            body: body.as_bytes(),
            at: 0,
            counted: 0,
        }
    }

    /// The place in the text after so many counted bytes; never fewer than before.
    fn to(&mut self, counted: usize) -> usize {
        while self.counted < counted {
            self.at += if self.body[self.at..].starts_with(b"\r\n") {
                2
            } else {
                1
            };
            self.counted += 1;
        }
        self.at
    }
}

/// The lines on which places begin, the first ten of them.
fn on_lines(body: &str, places: &[(usize, usize)]) -> String {
    let mut numbers = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for (from, _) in places.iter().take(10) {
        line += memchr::memchr_iter(b'\n', &body.as_bytes()[counted..*from]).count();
        counted = *from;
        numbers.push(line.to_string());
    }
    let more = if places.len() > numbers.len() {
        ", …"
    } else {
        ""
    };
    format!("on lines {}{more}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn apply(text: &str, old: &str, new: &str) -> Result<String, Failure> {
        replaced(
            text,
            &EditFile {
                path: "f".to_owned(),
                old_string: old.to_owned(),
                new_string: new.to_owned(),
            },
        )
    }

    fn refused(text: &str, old: &str, new: &str) -> (FailureClass, String) {
        let failure = apply(text, old, new).unwrap_err();
        (failure.class, failure.message)
    }

    #[test]
    fn lines_joined_by_lf_match_a_crlf_file() {
        let text = "one\r\ntwo\r\nthree\r\n";
        assert_eq!(
            apply(text, "one\ntwo", "1\n2\n2b").unwrap(),
            "1\r\n2\r\n2b\r\nthree\r\n"
        );
        assert_eq!(apply(text, "two\n", "").unwrap(), "one\r\nthree\r\n");
        assert_eq!(
            apply(text, "\ntwo", "\n2").unwrap(),
            "one\r\n2\r\nthree\r\n"
        );
        assert_eq!(apply(text, "\ntwo", "").unwrap(), "one\r\nthree\r\n");
        assert_eq!(
            apply(text, "one\r\ntwo", "1\r\n2").unwrap(),
            "1\r\n2\r\nthree\r\n"
        );
    }

    #[test]
    fn an_insertion_takes_the_line_ends_of_a_crlf_file() {
        assert_eq!(apply("a\r\nb\r\n", "a", "a\nx").unwrap(), "a\r\nx\r\nb\r\n");
        assert_eq!(apply("a\nb\n", "a", "a\nx").unwrap(), "a\nx\nb\n");
    }

    #[test]
    fn a_file_of_mixed_line_ends_keeps_all_outside_the_match() {
        let text = "a\r\nb\nc\r\nd\n";
        assert_eq!(apply(text, "a\nb\nc", "x\ny").unwrap(), "x\ny\r\nd\n");
        assert_eq!(apply(text, "a\nb", "x\ny").unwrap(), "x\r\ny\nc\r\nd\n");
        assert_eq!(apply(text, "b\nc", "x\ny").unwrap(), "a\r\nx\ny\r\nd\n");
    }

    #[test]
    fn several_places_across_line_ends_conflict() {
        let text = "a\r\nb\r\nx\r\na\r\nb\r\n";
        assert_eq!(
            refused(text, "a\nb", "c"),
            (
                FailureClass::Conflict,
                "`oldString` occurs 2 times in `f`, on lines 1, 4; add surrounding text until it \
                 is unique"
                    .to_owned()
            )
        );
    }

    #[test]
    fn a_byte_order_mark_is_kept_and_never_in_the_way() {
        let text = "\u{feff}one\ntwo\n";
        assert_eq!(apply(text, "two", "2").unwrap(), "\u{feff}one\n2\n");
        assert_eq!(apply(text, "one\n", "1\n").unwrap(), "\u{feff}1\ntwo\n");
        assert_eq!(apply(text, "\u{feff}one", "one").unwrap(), "one\ntwo\n");
    }

    #[test]
    fn a_missing_final_newline_stays_missing() {
        let text = "one\ntwo";
        assert_eq!(apply(text, "one", "1").unwrap(), "1\ntwo");
        assert_eq!(apply(text, "two", "2").unwrap(), "one\n2");
    }

    #[test]
    fn a_makefile_keeps_its_tabs() {
        let block = "all:\n\tcc -c x.c\n";
        let text = format!("{block}{block}{block}end:\n\trm x.o\n");
        let (class, message) = refused(&text, "end:\n    rm x.o", "end:\n    rm -f x.o");
        assert_eq!(class, FailureClass::NotFound);
        assert!(message.contains("whitespace"), "{message}");
        let (class, message) = refused(&text, block, "");
        assert_eq!(class, FailureClass::Conflict);
        assert!(message.contains("3 times"), "{message}");
        assert_eq!(
            apply(&text, "\trm x.o", "\trm -f x.o").unwrap(),
            format!("{block}{block}{block}end:\n\trm -f x.o\n")
        );
    }

    #[test]
    fn overlapping_places_conflict() {
        assert_eq!(refused("aaa", "aa", "b").0, FailureClass::Conflict);
        assert_eq!(refused("漢漢漢", "漢漢", "b").0, FailureClass::Conflict);
    }

    #[test]
    fn empty_and_equal_texts_are_refused() {
        assert_eq!(refused("a", "", "b").0, FailureClass::InvalidArgument);
        assert_eq!(refused("a", "a", "a").0, FailureClass::InvalidArgument);
    }

    #[test]
    fn files_that_are_missing_or_no_text_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let edit = EditFile {
            path: "f".to_owned(),
            old_string: "a".to_owned(),
            new_string: "b".to_owned(),
        };
        assert_eq!(
            edited(&path, &edit).unwrap_err().class,
            FailureClass::NotFound
        );
        fs::write(&path, b"a\xff").unwrap();
        assert_eq!(
            edited(&path, &edit).unwrap_err().class,
            FailureClass::InvalidArgument
        );
        assert_eq!(fs::read(&path).unwrap(), b"a\xff");
    }

    proptest::proptest! {
        /// However a file is built, a match leaves everything around it as it was.
        #[test]
        fn bytes_outside_the_match_never_change(
            before in "[a\r\n漢]{0,12}",
            old in "[bc]\n?[bc]{0,3}",
            after in "[a\r\n漢]{0,12}",
            crlf: bool,
        ) {
            let stands = if crlf { old.replace('\n', "\r\n") } else { old.clone() };
            let text = format!("{before}{stands}{after}");
            let edited = apply(&text, &old, "X").unwrap();
            proptest::prop_assert_eq!(edited, format!("{before}X{after}"));
        }
    }
}
