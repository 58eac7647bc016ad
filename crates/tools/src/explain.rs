//! Why a text does not occur in a file: the closest place, and how it differs there (R29).
//!
//! A difference in line ends, whitespace or case is found by looking for the text with just that
//! taken away, in the file with the same taken away. Failing that, the closest lines are named.
//! Large files are not searched for near misses: the answer would cost more than a read.

use crate::text;

/// Bytes of a file that is still searched for near misses.
const MAX_SEARCHED: usize = 4 * 1024 * 1024;

/// Lines compared at most while looking for the closest ones.
const MAX_COMPARED: usize = 4_000_000;

/// Characters of a line quoted.
const QUOTED: usize = 120;

/// The sentence for a text that does not occur.
pub(crate) fn absent(body: &str, old: &str, path: &str) -> String {
    let mut sentence = format!("`oldString` does not occur in `{path}`");
    if body.is_empty() {
        return sentence + ", which is empty";
    }
    if body.len() > MAX_SEARCHED {
        return sentence;
    }
    if let Some((place, what)) = near(body, old) {
        sentence += &format!("; line {} differs in {what}", line_of(body, place));
        if let Some(lines) = first_difference(body, place, old) {
            sentence += &lines;
        }
    } else if let Some((line, has)) = closest(body, old) {
        sentence += &format!("; closest is line {line}, which reads {}", quoted(has));
    } else {
        sentence += ", and no line comes close";
    }
    sentence
}

/// What is taken away before two texts are compared.
#[derive(Clone, Copy)]
struct Lens {
    whitespace: bool,
    case: bool,
    line_ends: bool,
}

impl Lens {
    /// Hands on what a character is under this lens, piece by piece.
    fn see(self, c: char, mut piece: impl FnMut(char)) {
        if (self.whitespace && c.is_whitespace()) || (self.line_ends && c == '\r') {
            return;
        }
        if self.case {
            c.to_lowercase().for_each(piece);
        } else {
            piece(c);
        }
    }

    fn text(self, text: &str) -> String {
        let mut seen = String::with_capacity(text.len());
        text.chars().for_each(|c| self.see(c, |c| seen.push(c)));
        seen
    }

    /// Where a text occurs under this lens, as a place in the text itself.
    fn find(self, body: &str, old: &str) -> Option<usize> {
        let old = self.text(old);
        if old.is_empty() {
            return None;
        }
        let wanted = self.text(body).find(&old)?;
        let mut seen = 0;
        body.char_indices().find_map(|(at, c)| {
            let before = seen;
            self.see(c, |c| seen += c.len_utf8());
            // The first character seen past the wanted place stands on it.
            (seen > wanted && seen > before).then_some(at)
        })
    }
}

/// The place that differs least, and in what.
fn near(body: &str, old: &str) -> Option<(usize, &'static str)> {
    let lens = |line_ends, whitespace, case| Lens {
        whitespace,
        case,
        line_ends,
    };
    [
        (lens(true, false, false), "line ends"),
        (lens(false, true, false), "whitespace"),
        (lens(false, false, true), "case"),
        (lens(false, true, true), "case and whitespace"),
    ]
    .into_iter()
    .find_map(|(lens, what)| Some((lens.find(body, old)?, what)))
}

fn line_of(body: &str, place: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &body.as_bytes()[..place]).count()
}

/// The first line that differs, quoted from both.
fn first_difference(body: &str, place: usize, old: &str) -> Option<String> {
    let blank = [' ', '\t'];
    let old = old.trim_start_matches(['\r', '\n']);
    // A place begins at the first character that counts: the blanks before it belong to it where
    // the text begins with blanks too.
    let place = if old.starts_with(blank) {
        body[..place].trim_end_matches(blank).len()
    } else {
        place
    };
    let (has, wants) = body[place..]
        .split_inclusive('\n')
        .zip(old.split_inclusive('\n'))
        .find(|(has, wants)| !has.starts_with(wants))?;
    Some(format!(
        ": the file has {}, `oldString` has {}",
        quoted(has),
        quoted(wants)
    ))
}

/// The line where most lines of the text stand, blanks around them aside; else the line most like
/// its first.
fn closest<'a>(body: &'a str, old: &str) -> Option<(usize, &'a str)> {
    let wanted: Vec<_> = old.lines().map(str::trim).collect();
    let lines: Vec<_> = body.lines().collect();
    if lines.len().saturating_mul(wanted.len()) > MAX_COMPARED {
        return None;
    }
    let score = |start: usize| {
        let here = lines[start..].iter().zip(&wanted);
        here.filter(|(line, wanted)| !wanted.is_empty() && line.trim() == **wanted)
            .count()
    };
    // The earliest of the best.
    let best = (0..lines.len()).max_by_key(|start| (score(*start), usize::MAX - start))?;
    if score(best) > 0 {
        let differs = |(line, wanted): (&&str, &&str)| line.trim() != *wanted;
        let at = best
            + lines[best..]
                .iter()
                .zip(&wanted)
                .position(differs)
                .unwrap_or(0);
        return Some((at + 1, lines[at]));
    }
    let first = wanted.iter().find(|line| !line.is_empty())?;
    let best =
        (0..lines.len()).max_by_key(|at| (likeness(lines[*at].trim(), first), usize::MAX - at))?;
    (likeness(lines[best].trim(), first) >= 60).then(|| (best + 1, lines[best]))
}

/// How much of two lines is alike from both ends, in percent of the longer.
fn likeness(a: &str, b: &str) -> usize {
    let longer = a.len().max(b.len());
    if longer == 0 {
        return 0;
    }
    let same = |(a, b): &(u8, u8)| a == b;
    let head = a.bytes().zip(b.bytes()).take_while(same).count();
    let tail = a
        .bytes()
        .rev()
        .zip(b.bytes().rev())
        .take_while(same)
        .count();
    (head + tail).min(a.len().min(b.len())) * 100 / longer
}

/// A line with its blanks made visible, cut where it is long.
fn quoted(line: &str) -> String {
    let (line, more) = text::head(line, QUOTED);
    let line: String = line.chars().flat_map(shown).collect();
    format!("`{line}`{}", if more > 0 { "…" } else { "" })
}

fn shown(c: char) -> impl Iterator<Item = char> {
    let escape = c.is_control() || (c.is_whitespace() && c != ' ') || c == '\u{feff}';
    let (plain, escaped) = if escape {
        (None, Some(c.escape_default()))
    } else {
        (Some(c), None)
    };
    plain.into_iter().chain(escaped.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, old: &str, expected: &str) {
        assert_eq!(
            absent(body, old, "f"),
            format!("`oldString` does not occur in `f`{expected}")
        );
    }

    #[test]
    fn whitespace_is_told() {
        check(
            "all:\n\tcc x.c\n",
            "all:\n    cc x.c\n",
            "; line 1 differs in whitespace: the file has `\\tcc x.c\\n`, `oldString` has \
             `    cc x.c\\n`",
        );
        check(
            "fn a() {\n\tb();\n}\n",
            "  b();\n}",
            "; line 2 differs in whitespace: the file has `\\tb();\\n`, `oldString` has `  b();\\n`",
        );
    }

    #[test]
    fn line_ends_are_told() {
        check(
            "one\ntwo\n",
            "one\r\ntwo\r\n",
            "; line 1 differs in line ends: the file has `one\\n`, `oldString` has `one\\r\\n`",
        );
    }

    #[test]
    fn case_is_told() {
        check(
            "x\nlet Name = 1;\n",
            "let name = 1;",
            "; line 2 differs in case: the file has `let Name = 1;\\n`, `oldString` has `let name \
             = 1;`",
        );
        check(
            "İx  = 1\n",
            "i\u{307}X = 1",
            "; line 1 differs in case and whitespace: the file has `İx  = 1\\n`, `oldString` has \
             `i\u{307}X = 1`",
        );
    }

    #[test]
    fn the_closest_lines_are_named() {
        check(
            "a\nb\nc\nx\n",
            "b\nd\nx",
            "; closest is line 3, which reads `c`",
        );
        check(
            "let a = 1;\nlet total = first + second;\n",
            "let total = first - second;",
            "; closest is line 2, which reads `let total = first + second;`",
        );
        check("a\nb\n", "something else", ", and no line comes close");
        check("", "a", ", which is empty");
    }

    #[test]
    fn long_lines_are_cut() {
        let body = "漢".repeat(500);
        let sentence = absent(&body, &format!("{body} "), "f");
        assert!(sentence.chars().count() < 400, "{sentence}");
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(body in "[aAİ \t\r\n漢]{0,40}", old in "[aAİ \t\r\n漢]{1,10}") {
            let _ = absent(&body, &old, "f");
        }
    }
}
