//! How an agent frees its own window: evicting file views, archiving turns (02 §7.2).
//!
//! Arguments are read here, the edits are the window's, and the results are worded in `answers`.
//! What is stored of an archived turn, and searching it, is the archive module's.

mod answers;

use vocab::failure::{Failure, FailureClass};
use vocab::figures::grouped;
use vocab::message::Role;
use vocab::tools::{MAX_ARCHIVE_RANGES, ToolName};

use tools::{Arguments, Faults};

use crate::path;
use crate::prompts::{self, PromptError};
use crate::reframe::reframed;
use crate::tokens;
use crate::window::{Archived, Evicted, TurnRange, Window};

pub use answers::{archived_text, compacting_text, evicted_text, found_text, turns_text};

/// Reads the arguments of `evict_file_view`: a path, or none for all file views.
///
/// # Errors
///
/// `invalid-argument`, also for a blank path.
pub fn read_evict(arguments: &str) -> Result<Option<String>, Failure> {
    let mut given = Arguments::read(arguments, &["path"])?;
    let path = given.optional_filled("path");
    given.finish(ToolName::EvictFileView)?;
    Ok(path)
}

/// Reads the arguments of `archive_thread`: at least one range, at most 32.
///
/// # Errors
///
/// `invalid-argument`; `limit-exceeded` for more ranges than that (R54).
pub fn read_archive(arguments: &str) -> Result<Vec<TurnRange>, Failure> {
    let mut given = Arguments::read(arguments, &["ranges"])?;
    let ranges = given.ranges("ranges");
    given.finish(ToolName::ArchiveThread)?;
    few(ranges)
}

/// Ranges of turns, where there are not too many of them.
fn few(ranges: Vec<(u64, u64)>) -> Result<Vec<TurnRange>, Failure> {
    if ranges.len() > MAX_ARCHIVE_RANGES {
        let fault = TooManyRanges(ranges.len());
        return Err(Failure::new(FailureClass::LimitExceeded, fault.to_string()));
    }
    // No agent gets to a turn beyond u32: a range that ends there ends with the last turn.
    let turn = |number| u32::try_from(number).unwrap_or(u32::MAX);
    let ranges = ranges.into_iter();
    Ok(ranges.map(|(from, to)| turn(from)..=turn(to)).collect())
}

#[derive(Debug, thiserror::Error)]
#[error("{0} ranges; at most {MAX_ARCHIVE_RANGES} are archived at once, and they may be wide")]
struct TooManyRanges(usize);

/// Reads the arguments of `search_archive`: a text that is not blank.
///
/// # Errors
///
/// `invalid-argument`.
pub fn read_search(arguments: &str) -> Result<String, Failure> {
    let mut given = Arguments::read(arguments, &["query"])?;
    let query = given.filled("query");
    given.finish(ToolName::SearchArchive)?;
    Ok(query)
}

/// What a program gives to evict: a path, or none for all file views.
///
/// # Errors
///
/// `invalid-argument` for a blank path.
pub fn given_path(path: Option<String>) -> Result<Option<String>, Failure> {
    let mut faults = Faults::default();
    faults.optional_filled("path", path.as_deref());
    faults.judge().map(|()| path)
}

/// What a program gives to archive: at least one range, at most 32.
///
/// # Errors
///
/// `invalid-argument`; `limit-exceeded` for more ranges than that.
pub fn given_ranges(ranges: Vec<(u64, u64)>) -> Result<Vec<TurnRange>, Failure> {
    let mut faults = Faults::default();
    if ranges.is_empty() {
        faults.push("`ranges` is empty; give at least one");
    }
    for (place, ends) in ranges.iter().enumerate() {
        faults.range("ranges", place, *ends);
    }
    faults.judge()?;
    few(ranges)
}

/// What a program searches the archive for: a text that is not blank.
///
/// # Errors
///
/// `invalid-argument`.
pub fn given_query(query: String) -> Result<String, Failure> {
    let mut faults = Faults::default();
    faults.filled("query", &query);
    faults.judge().map(|()| query)
}

/// Evicts the file views of a path, or all that are not locked. `headers` says whether results
/// carry turn headers, so that what is left of one does too.
///
/// # Errors
///
/// A template that does not render; then nothing has changed.
pub fn evict(
    window: &mut Window,
    path: Option<&str>,
    headers: bool,
) -> Result<Evicted, PromptError> {
    window.evict_file_views(
        |view| match (path, view) {
            (None, _) => true,
            (Some(path), view) => view.is_some_and(|view| path::same(view, path)),
        },
        |item| {
            let stub = prompts::evicted_view(item.selector.as_deref())?;
            let header = headers.then(|| turn_header(item.turn, tokens::count(&stub)));
            Ok(format!("{}{stub}", header.unwrap_or_default()))
        },
    )
}

/// Archives turns, but never the calling one. What is stored of a result is stored without its
/// header: its turn and its place are told beside it, and a search finds what was said.
///
/// # Errors
///
/// A template that does not render; then nothing has changed.
pub fn archive(
    window: &mut Window,
    ranges: &[TurnRange],
    calling_turn: u32,
) -> Result<Archived, PromptError> {
    let mut archived = window.archive(ranges, calling_turn, reframed)?;
    for entry in &mut archived.entries {
        if entry.role == Role::Tool
            && let Some(said) = without_header(entry.turn, &entry.text)
        {
            entry.text = said.into();
        }
    }
    Ok(archived)
}

/// The three lines ahead of a result, for an agent that may archive turns: its turn, and its
/// tokens without them. Turn 0, the opening context, has none (02 §1.5).
pub fn turn_header(turn: u32, tokens: u64) -> String {
    if turn == 0 {
        return String::new();
    }
    format!("Turn #{turn}\n{} tokens\n----\n", grouped(tokens))
}

/// A result without the lines that [`turn_header`] put ahead of it; `None` where it has none.
fn without_header(turn: u32, text: &str) -> Option<&str> {
    let counted = text.strip_prefix(&format!("Turn #{turn}\n"))?;
    let (tokens, said) = counted.split_once(" tokens\n----\n")?;
    tokens
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b',')
        .then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_to_evict_may_be_left_out_but_not_be_blank() {
        assert_eq!(read_evict(""), Ok(None));
        assert_eq!(
            read_evict(r#"{"path":"a b.rs"}"#),
            Ok(Some("a b.rs".to_owned()))
        );
        let blank = read_evict(r#"{"path":" "}"#).unwrap_err();
        assert_eq!(blank.class, FailureClass::InvalidArgument);
        assert!(read_evict(r#"{"file":"a"}"#).is_err());
    }

    #[test]
    fn ranges_are_judged_before_anything_is_archived() {
        assert_eq!(
            read_archive(r#"{"ranges":[[1,3],[9,9]]}"#),
            Ok(vec![1..=3, 9..=9])
        );
        for arguments in [
            "{}",
            r#"{"ranges":[]}"#,
            r#"{"ranges":[[3,1]]}"#,
            r#"{"ranges":[[0,1]]}"#,
        ] {
            let fault = read_archive(arguments).unwrap_err();
            assert_eq!(fault.class, FailureClass::InvalidArgument, "{arguments}");
        }
        let most = format!("{{\"ranges\":[{}]}}", ["[1,1]"; 32].join(","));
        assert_eq!(read_archive(&most).unwrap().len(), 32);
        let more = format!("{{\"ranges\":[{}]}}", ["[1,1]"; 33].join(","));
        let fault = read_archive(&more).unwrap_err();
        assert_eq!(fault.class, FailureClass::LimitExceeded);
        assert!(fault.message.contains("33 ranges"), "{fault}");
        assert_eq!(
            read_archive(r#"{"ranges":[[2,99999999999]]}"#),
            Ok(vec![2..=u32::MAX])
        );
    }

    #[test]
    fn what_a_program_gives_is_judged_like_json() {
        assert_eq!(given_path(None), Ok(None));
        assert_eq!(given_path(Some("a".into())), Ok(Some("a".into())));
        assert!(given_path(Some(" ".into())).is_err());
        assert_eq!(given_query("x".into()), Ok("x".into()));
        assert!(given_query("\t".into()).is_err());
        let ranges = given_ranges(vec![(1, 3), (9, u64::from(u32::MAX) + 1)]);
        assert_eq!(ranges, Ok(vec![1..=3, 9..=u32::MAX]));
        for bad in [vec![], vec![(3, 1)], vec![(0, 1)]] {
            let fault = given_ranges(bad).unwrap_err();
            assert_eq!(fault.class, FailureClass::InvalidArgument, "{fault}");
        }
        let fault = given_ranges(vec![(1, 1); 33]).unwrap_err();
        assert_eq!(fault.class, FailureClass::LimitExceeded);
    }

    #[test]
    fn a_blank_query_finds_nothing_and_says_so() {
        assert_eq!(read_search(r#"{"query":"x"}"#), Ok("x".to_owned()));
        assert!(read_search(r#"{"query":"\n"}"#).is_err());
    }

    #[test]
    fn a_header_names_turn_and_tokens_and_the_opening_context_has_none() {
        assert_eq!(
            turn_header(12, 1_234_567),
            "Turn #12\n1,234,567 tokens\n----\n"
        );
        assert_eq!(turn_header(1, 7), "Turn #1\n7 tokens\n----\n");
        assert_eq!(turn_header(0, 7), "");
    }

    #[test]
    fn a_header_is_taken_off_once_and_only_where_it_is_one() {
        let said = "Turn #3\n5 tokens\n----\nsaid";
        let headed = format!("{}{said}", turn_header(3, 1_234));
        assert_eq!(without_header(3, &headed), Some(said));
        assert_eq!(without_header(3, &turn_header(3, 0)), Some(""));
        for other in [
            "said",
            "",
            "Turn #3\nmany tokens\n----\n",
            "Turn #33\n5 tokens\n----\n",
        ] {
            assert_eq!(without_header(3, other), None, "{other}");
        }
    }
}
