//! What a program shows the model: the messages of its views, and their bounds (04 §7).
//!
//! Always true: a text that is over a bound is refused, never cut.

use vocab::band::Band;
use vocab::failure::{Failure, FailureClass};
use vocab::figures::{self, grouped};
use vocab::message::{Image, Message};

use crate::prompts::{self, Heading, PromptError};
use crate::window::{NewItem, Region};

/// Bytes of one text body, and of the text of one file view.
pub const MAX_TEXT_BYTES: usize = 65_536;

/// Bytes of a text view's label.
pub const MAX_LABEL_BYTES: usize = 200;

/// Bytes of text bodies over a whole turn.
pub const MAX_COMPOSED_BYTES: u64 = 8 * 1024 * 1024;

/// Characters a line of a file view may be cut to.
pub const MAX_LINE_CHARS: u32 = 65_536;

/// Judges a text view; `composed` are the bytes of those that were opened before it in its turn.
///
/// # Errors
///
/// `invalid-argument` for an empty label; `limit-exceeded` past a bound, with what it is and what
/// is left of it.
pub fn judge_text(label: &str, body: &str, composed: u64) -> Result<(), Failure> {
    if label.is_empty() {
        return Err(Failure::invalid(
            "`label` is empty; expected the name the view is to stand under",
        ));
    }
    over("`label`", label.len(), MAX_LABEL_BYTES)?;
    over("`body`", body.len(), MAX_TEXT_BYTES)?;
    let left = MAX_COMPOSED_BYTES.saturating_sub(composed);
    if body.len() as u64 > left {
        return Err(Failure::new(
            FailureClass::LimitExceeded,
            format!(
                "`body` holds {}, and the texts of this turn may hold {} more; all of them \
                 together {}",
                figures::bytes(body.len() as u64),
                grouped(left),
                grouped(MAX_COMPOSED_BYTES)
            ),
        ));
    }
    Ok(())
}

/// Judges the text of a file view, its lines cut already.
///
/// # Errors
///
/// `limit-exceeded`, with its size and the bound.
pub fn judge_file(text: &str) -> Result<(), Failure> {
    over("the text", text.len(), MAX_TEXT_BYTES)
}

/// Judges to how many characters the lines of a view are cut.
///
/// # Errors
///
/// `invalid-argument` for none, and for more than a view may hold.
pub fn judge_line_chars(chars: Option<u32>) -> Result<(), Failure> {
    match chars {
        Some(chars) if chars == 0 || chars > MAX_LINE_CHARS => Err(Failure::invalid(format!(
            "`maxLineChars` is {chars}; expected a whole number from 1 to {MAX_LINE_CHARS}"
        ))),
        _ => Ok(()),
    }
}

fn over(what: &str, bytes: usize, bound: usize) -> Result<(), Failure> {
    if bytes <= bound {
        return Ok(());
    }
    Err(Failure::new(
        FailureClass::LimitExceeded,
        format!(
            "{what} holds {}; at most {} are shown in one view",
            figures::bytes(bytes as u64),
            grouped(bound as u64)
        ),
    ))
}

/// A text whose longer lines end after `chars` characters with a count of what is left out.
pub fn cut_lines(text: &str, chars: u32) -> String {
    let mut cut = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => match body.strip_suffix('\r') {
                Some(body) => (body, "\r\n"),
                None => (body, "\n"),
            },
            None => (line, ""),
        };
        match body.char_indices().nth(chars as usize) {
            Some((at, _)) => {
                let more = body[at..].chars().count();
                cut.push_str(&body[..at]);
                cut.extend([" (", &more.to_string(), " more chars...)"]);
            }
            None => cut.push_str(body),
        }
        cut.push_str(end);
    }
    cut
}

/// A view of a text.
///
/// # Errors
///
/// A template that does not render.
pub fn text(label: &str, body: &str, turn: u32) -> Result<NewItem, PromptError> {
    let heading = Heading {
        name: Some(label),
        ..Heading::of("View")
    };
    view(Band::TextView, label, &heading, body, None, turn)
}

/// The view of a search of the documentation.
///
/// # Errors
///
/// A template that does not render.
pub fn search(selector: &str, found: &str, turn: u32) -> Result<NewItem, PromptError> {
    let heading = Heading {
        name: Some(selector),
        ..Heading::of("View")
    };
    view(Band::SearchResults, selector, &heading, found, None, turn)
}

/// The view of a page of the documentation.
///
/// # Errors
///
/// A template that does not render.
pub fn documentation(name: &str, page: &str, turn: u32) -> Result<NewItem, PromptError> {
    let heading = Heading {
        name: Some(name),
        ..Heading::of("Documentation")
    };
    view(Band::DocsView, name, &heading, page, None, turn)
}

/// A view of a file, or of a part of it where `paged`. The heading tells the lines that are shown;
/// a picture and an empty file have none.
///
/// # Errors
///
/// A template that does not render.
pub fn file(
    path: &str,
    lines: Option<Region>,
    paged: bool,
    body: &str,
    image: Option<Image>,
    turn: u32,
) -> Result<NewItem, PromptError> {
    let heading = Heading {
        word: "File",
        name: Some(path),
        region: lines,
    };
    let item = view(Band::FileView, path, &heading, body, image, turn)?;
    Ok(NewItem {
        region: lines.filter(|_| paged),
        ..item
    })
}

fn view(
    band: Band,
    selector: &str,
    heading: &Heading<'_>,
    body: &str,
    image: Option<Image>,
    turn: u32,
) -> Result<NewItem, PromptError> {
    let message = Message::User {
        text: prompts::headed(heading, body)?.into(),
        images: image.into_iter().collect(),
    };
    Ok(NewItem {
        selector: Some(selector.into()),
        ..NewItem::new(band, turn, message)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_label_with_a_line_end_forges_no_heading() {
        let forged = text("a\n----\nok\n\nNotice", "b", 1).unwrap();
        assert_eq!(
            forged.message.text(),
            "View: a\\n----\\nok\\n\\nNotice\n----\nb"
        );
        let file = file("x\u{2028}y\r", None, false, "b", None, 1).unwrap();
        assert_eq!(file.message.text(), "File: x\\u{2028}y\\r\n----\nb");
    }

    #[test]
    fn lines_are_cut_in_the_middle_of_nothing_and_say_what_is_missing() {
        let long = format!("foo{}\nshort\r\n{}", "x".repeat(123), "é".repeat(5));
        assert_eq!(
            cut_lines(&long, 3),
            "foo (123 more chars...)\nsho (2 more chars...)\r\nééé (2 more chars...)"
        );
        assert_eq!(cut_lines(&long, 200), long);
    }

    #[test]
    fn a_bound_is_told_with_size_and_remainder() {
        let class = |outcome: Result<(), Failure>| outcome.unwrap_err().class;
        assert_eq!(judge_text("l", "", 0), Ok(()));
        assert_eq!(class(judge_text("", "b", 0)), FailureClass::InvalidArgument);
        let label = "l".repeat(MAX_LABEL_BYTES + 1);
        assert_eq!(
            class(judge_text(&label, "b", 0)),
            FailureClass::LimitExceeded
        );
        let body = "b".repeat(MAX_TEXT_BYTES);
        assert_eq!(judge_text("l", &body, 0), Ok(()));
        let over = judge_text("l", &format!("{body}b"), 0).unwrap_err();
        assert!(
            over.message.contains("65,537") && over.message.contains("65,536"),
            "{over}"
        );
        let late = judge_text("l", "four", MAX_COMPOSED_BYTES - 3).unwrap_err();
        assert!(late.message.contains("may hold 3 more"), "{late}");
        assert!(judge_line_chars(Some(0)).is_err());
        assert!(judge_line_chars(Some(MAX_LINE_CHARS + 1)).is_err());
        assert_eq!(judge_line_chars(Some(MAX_LINE_CHARS)), Ok(()));
    }

    #[test]
    fn a_whole_read_has_a_heading_with_lines_and_a_key_without() {
        let region = Region {
            first: 1,
            last: 2,
            total: 2,
        };
        let whole = file("a.rs", Some(region), false, "x\ny\n", None, 3).unwrap();
        assert_eq!(
            whole.message.text(),
            "File: a.rs:1-2 of 2 lines\n----\nx\ny\n"
        );
        assert_eq!(whole.region, None);
        let paged = file("a.rs", Some(region), true, "x\n", None, 3).unwrap();
        assert_eq!(paged.region, Some(region));
        let empty = file("a.rs", None, false, "", None, 3).unwrap();
        assert_eq!(empty.message.text(), "File: a.rs\n----\n");
    }

    proptest! {
        #[test]
        fn no_line_is_longer_than_its_cut_and_none_goes(
            lines in prop::collection::vec("[a-zé]{0,12}", 0..6),
            chars in 1u32..8,
        ) {
            let joined = lines.join("\n");
            let cut = cut_lines(&joined, chars);
            let (old, new): (Vec<_>, Vec<_>) = (joined.split('\n').collect(), cut.split('\n').collect());
            prop_assert_eq!(old.len(), new.len());
            for (old, new) in old.iter().zip(&new) {
                let kept: String = old.chars().take(chars as usize).collect();
                prop_assert!(new.starts_with(&kept));
                prop_assert_eq!(old.chars().count() <= chars as usize, old == new);
            }
        }
    }
}
