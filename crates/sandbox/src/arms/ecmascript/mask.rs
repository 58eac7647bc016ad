//! Which bytes of a source of JavaScript or TypeScript are code (05 §9).
//!
//! Always true: a masked text is as long as its source, byte for byte, and has its lines.

/// A keyword behind which a slash begins a regular expression.
const BEFORE_VALUE: [&str; 14] = [
    "await",
    "case",
    "delete",
    "do",
    "else",
    "in",
    "instanceof",
    "new",
    "of",
    "return",
    "throw",
    "typeof",
    "void",
    "yield",
];

/// A source with everything but code blanked out; `None` where it does not lex cleanly.
pub(super) fn code(source: &str) -> Option<String> {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    // The bracket depth behind which each open template goes on.
    let mut templates: Vec<usize> = Vec::new();
    let mut depth = 0_usize;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => line_end(bytes, at),
            b'#' if at == 0 && bytes.get(1) == Some(&b'!') => line_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at + 2 + find(&bytes[at + 2..], b"*/")? + 2,
            b'/' if begins_value(&out[..at]) => regex_end(bytes, at)?,
            quote @ (b'"' | b'\'') => string_end(bytes, at, quote)?,
            b'`' => template_end(bytes, at + 1, &mut templates, depth)?,
            b'}' if templates.last() == Some(&depth) => {
                templates.pop();
                template_end(bytes, at + 1, &mut templates, depth)?
            }
            byte => {
                match byte {
                    b'{' => depth += 1,
                    b'}' => depth = depth.checked_sub(1)?,
                    _ => {}
                }
                at += 1;
                continue;
            }
        };
        // A string leaves a quote behind, so that what follows it is not taken for a value's start.
        let value = !matches!(bytes[at], b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')))
            && bytes[at] != b'#';
        for (place, byte) in out[at..end].iter_mut().enumerate() {
            if *byte != b'\n' && *byte != b'\r' {
                *byte = if value && place == 0 { b'"' } else { b' ' };
            }
        }
        at = end;
    }
    if !templates.is_empty() {
        return None;
    }
    // Only whole characters were blanked, and by characters of one byte.
    String::from_utf8(out).ok()
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    find(&bytes[at..], b"\n").map_or(bytes.len(), |length| at + length)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn string_end(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Where the text of a template ends: behind its quote, or behind the start of a hole, which is code.
fn template_end(
    bytes: &[u8],
    start: usize,
    templates: &mut Vec<usize>,
    depth: usize,
) -> Option<usize> {
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'`' => return Some(at + 1),
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                templates.push(depth);
                return Some(at + 2);
            }
            _ => at += 1,
        }
    }
}

fn regex_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    let mut class = false;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 1,
            b'\n' => return None,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
}

/// Whether a slash behind this code begins a value, and does not divide one.
fn begins_value(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let Some(last) = before.last() else {
        return true;
    };
    if last.is_ascii_alphanumeric() || *last >= 0x80 || matches!(last, b'_' | b'$') {
        let word = before
            .rsplit(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'$'))
            .next()
            .unwrap_or_default();
        return BEFORE_VALUE
            .iter()
            .any(|keyword| keyword.as_bytes() == word);
    }
    !matches!(last, b')' | b']' | b'"')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_code_is_left() {
        let check = |source: &str, expected: &str| {
            assert_eq!(code(source).as_deref(), Some(expected), "{source}");
        };
        check("a // b\nc", "a     \nc");
        check("a /* \n */ c", "a    \n    c");
        check("x = 'a\\'b' + 1", "x = \"      + 1");
        check("x = /[/\"]/g.test(y) / 2", "x = \"     g.test(y) / 2");
        check("return /'/", "return \"  ");
        check("`a${ {b: `c`} }d`;", "\"    {b: \"  } \"  ;");
        check("#!/usr/bin/env x\na", "                \na");
        check("'ü' + ü", "\"    + ü");
    }

    #[test]
    fn what_does_not_lex_is_declined() {
        for source in ["'a", "'a\n'", "/* a", "`a", "`${ ", "`${}", "}", "x = /a\n"] {
            assert_eq!(code(source), None, "{source}");
        }
    }

    proptest! {
        #[test]
        fn a_mask_is_as_long_as_its_source(source in "[a-z'\"`/*${}\\\\\nü()\\[\\]= ]{0,40}") {
            if let Some(masked) = code(&source) {
                prop_assert_eq!(masked.len(), source.len());
                prop_assert_eq!(masked.lines().count(), source.lines().count());
            }
        }
    }
}
