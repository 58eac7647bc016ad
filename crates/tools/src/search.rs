//! `search`: lines of files that match a regular expression, on ripgrep's own crates (04 §3).
//!
//! One walk in path order on one thread: so a search stops as soon as it has enough and its answer
//! is the same every time. Ignore files count in and out of a repository; those of the user's home
//! do not, since they are no part of the workspace. Files that hold a NUL are skipped whole.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use ignore::WalkBuilder;
use vocab::failure::Failure;
use vocab::line::one_line;

use crate::call;
use crate::halt::{Halt, HaltingReader};
use crate::paths::{Place, cannot, kind, open_regular};
use crate::text;

/// Characters of a matching line shown.
const MAX_LINE: usize = 200;

/// Memory for one line. A file with a longer one is named as not searched.
const MAX_HELD: usize = 32 * 1024 * 1024;

/// Memory for a compiled expression: a hundred words of any script. What it costs at each byte grows
/// with it.
const MAX_PROGRAM: usize = 1024 * 1024;

/// Bytes of a file up to which it is searched in between two looks at the flag. A larger one may be
/// one line, and no look can be had within the match of a line.
const AT_ONCE: u64 = 256 * 1024;

/// How long a search waits for a large file between two looks at the flag.
const LOOK: Duration = Duration::from_millis(50);

/// Files named as not searched; more are counted.
const MAX_NAMED: usize = 3;

/// One matching line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchMatch {
    /// The file, as the call's own path leads to it; relative where that was.
    pub path: String,
    /// The line's number, from 1.
    pub line: u64,
    /// The line without its end, cut past 200 characters.
    pub text: String,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Path, then line order; as many as the limit where there may be more.
    pub matches: Vec<SearchMatch>,
    /// Files that could not be searched, and why.
    pub unsearched: Vec<String>,
}

impl Found {
    /// The result a model gets.
    pub fn as_text(&self) -> String {
        let mut lines: Vec<_> = self
            .matches
            .iter()
            .map(|found| {
                // The name of a file is as foreign as what stands in it.
                let path = one_line(&found.path);
                format!("{path}:{}: {}", found.line, found.text)
            })
            .collect();
        if lines.is_empty() {
            lines.push("no matches".to_owned());
        }
        if !self.unsearched.is_empty() {
            let named = self.unsearched.iter().take(MAX_NAMED);
            let named = named.map(|path| one_line(path)).collect::<Vec<_>>();
            let named = named.join(", ");
            let more = self.unsearched.len().saturating_sub(MAX_NAMED);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            lines.push(format!("[not searched: {named}{more}]"));
        }
        lines.join("\n")
    }
}

/// Searches a file or a tree. Blocks on the disk.
///
/// # Errors
///
/// `invalid-argument` for a pattern that is none; `not-found`; `io-error`; `limit-exceeded` once
/// `halt` is raised.
pub fn search(call: &call::Search, place: &Place, halt: &Halt) -> Result<Found, Failure> {
    let matcher = matcher(&call.query)?;
    let shown = call.path.as_deref().unwrap_or(".");
    let top = place.resolve(shown)?;
    let found = std::fs::metadata(&top).map_err(|error| cannot("search", shown, &error))?;
    let mut hunt = Hunt {
        matcher,
        searcher: searcher(),
        limit: usize::try_from(call.limit).unwrap_or(usize::MAX),
        own: place.root.join(".gg"),
        halt,
        found: Found::default(),
    };
    if found.is_file() {
        hunt.file(&top, shown.to_owned())?;
    } else if found.is_dir() {
        let shown = call
            .path
            .as_deref()
            .filter(|path| !matches!(*path, "." | "./"));
        hunt.tree(&top, shown.map(Path::new))?;
    } else {
        let what = kind(&found);
        return Err(Failure::invalid(format!(
            "`{shown}` is {what}, neither file nor directory"
        )));
    }
    Ok(hunt.found)
}

fn matcher(query: &str) -> Result<RegexMatcher, Failure> {
    if query.trim().is_empty() {
        return Err(Failure::invalid(
            "`query` is blank; give a regular expression",
        ));
    }
    // `^` and `$` are the ends of a line, and `$` stands before CR LF as before LF.
    RegexMatcherBuilder::new()
        .multi_line(true)
        .crlf(true)
        .size_limit(MAX_PROGRAM)
        .dfa_size_limit(MAX_PROGRAM)
        .build(query)
        .map_err(|error| {
            Failure::invalid(format!(
                "`query` is no regular expression over one line: {error}"
            ))
        })
}

fn searcher() -> Searcher {
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_HELD))
        .build()
}

struct Hunt<'a> {
    matcher: RegexMatcher,
    searcher: Searcher,
    limit: usize,
    /// gg's own folder of the workspace. Its journal holds every call and result of the run, so
    /// that each search would find itself. Named by the call it is searched.
    own: PathBuf,
    halt: &'a Halt,
    found: Found,
}

impl Hunt<'_> {
    /// Searches a tree in path order. `shown` is the path its files are shown under.
    fn tree(&mut self, top: &Path, shown: Option<&Path>) -> Result<(), Failure> {
        let own = self.own.clone();
        let walk = WalkBuilder::new(top)
            .hidden(false)
            .require_git(false)
            .git_global(false)
            .filter_entry(move |entry| {
                entry.depth() == 0 || entry.file_name() != ".git" && entry.path() != own
            })
            .sort_by_file_name(Ord::cmp)
            .build();
        for entry in walk {
            self.halt.check()?;
            if self.found.matches.len() >= self.limit {
                break;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.unsearched(&error, top, shown);
                    continue;
                }
            };
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                self.file(entry.path(), relative(entry.path(), top, shown))?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, shown: String) -> Result<(), Failure> {
        let (file, large) = match open_regular(path, &shown) {
            Ok((file, found)) => (file, found.len() > AT_ONCE),
            Err(failure) => {
                // Gone since it was listed: nothing to search, and nothing to say.
                if failure.class != vocab::failure::FailureClass::NotFound {
                    self.found.unsearched.push(shown);
                }
                return Ok(());
            }
        };
        let room = self.limit - self.found.matches.len();
        let searched = if large {
            self.aside(file, &shown, room)?
        } else {
            lines(
                &self.matcher,
                &mut self.searcher,
                file,
                &shown,
                room,
                self.halt,
            )
        };
        self.halt.check()?;
        match searched {
            Ok(held) => self.found.matches.extend(held),
            Err(_) => self.found.unsearched.push(shown),
        }
        Ok(())
    }

    /// Searches a file on a thread of its own, which is left to itself once the flag is up: it ends
    /// with the line it is in, or with the process.
    fn aside(
        &self,
        file: impl io::Read + Send + 'static,
        shown: &str,
        room: usize,
    ) -> Result<io::Result<Vec<SearchMatch>>, Failure> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let (matcher, halt) = (self.matcher.clone(), self.halt.clone());
        let path = shown.to_owned();
        let spawned = std::thread::Builder::new()
            .name("search".to_owned())
            .spawn(move || {
                let found = lines(&matcher, &mut searcher(), file, &path, room, &halt);
                // Nobody may be waiting any more.
                sender.send(found).ok();
            });
        if let Err(error) = spawned {
            return Err(cannot("search", shown, &error));
        }
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(found) => return Ok(found),
                Err(RecvTimeoutError::Timeout) => self.halt.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Err(io::Error::other("the search broke off")));
                }
            }
        }
    }

    /// Notes a directory that could not be read. An ignore file with a bad line is none.
    fn unsearched(&mut self, error: &ignore::Error, top: &Path, shown: Option<&Path>) {
        if let Some((path, true)) = failed_path(error) {
            self.found.unsearched.push(relative(&path, top, shown));
        }
    }
}

/// The matching lines of a file, at most `room`; none of one that holds a NUL.
fn lines(
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    file: impl io::Read,
    shown: &str,
    room: usize,
    halt: &Halt,
) -> io::Result<Vec<SearchMatch>> {
    let mut matches = Matches {
        path: shown,
        room,
        held: Vec::new(),
        binary: false,
    };
    let reader = HaltingReader { inner: file, halt };
    searcher.search_reader(matcher, reader, &mut matches)?;
    let Matches { held, binary, .. } = matches;
    Ok(if binary { Vec::new() } else { held })
}

/// The path an error of a walk is about, and whether it is the system's.
fn failed_path(error: &ignore::Error) -> Option<(PathBuf, bool)> {
    match error {
        ignore::Error::WithPath { path, err } => Some((path.clone(), err.is_io())),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            failed_path(err)
        }
        _ => None,
    }
}

/// A file's path under the one a call gave.
fn relative(path: &Path, top: &Path, shown: Option<&Path>) -> String {
    let rest = path.strip_prefix(top).unwrap_or(path);
    let path = match shown {
        Some(shown) => Cow::Owned(shown.join(rest)),
        None => Cow::Borrowed(rest),
    };
    path.to_string_lossy().into_owned()
}

/// Takes the matching lines of one file. It goes on to the file's end when there is no more room,
/// since a NUL further on skips the file whole.
struct Matches<'a> {
    path: &'a str,
    room: usize,
    held: Vec<SearchMatch>,
    binary: bool,
}

impl Sink for Matches<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.held.len() < self.room {
            self.held.push(SearchMatch {
                path: self.path.to_owned(),
                line: found.line_number().unwrap_or(0),
                text: shown_line(found.bytes()),
            });
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

fn shown_line(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let line = String::from_utf8_lossy(bytes);
    match text::head(&line, MAX_LINE) {
        (_, 0) => line.into_owned(),
        (head, more) => format!("{head} ({more} more chars...)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;
    use vocab::failure::FailureClass;

    fn tree(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, contents) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, contents).unwrap();
        }
        folder
    }

    fn found(
        folder: &TempDir,
        query: &str,
        path: Option<&str>,
        limit: u64,
    ) -> Result<String, Failure> {
        let call = call::Search {
            query: query.to_owned(),
            path: path.map(str::to_owned),
            limit,
        };
        search(&call, &Place::at(folder.path()), &Halt::default()).map(|found| found.as_text())
    }

    #[test]
    fn matches_stand_in_path_then_line_order() {
        let folder = tree(&[
            ("b", "x\ny\nx\n"),
            ("a/z", "x"),
            ("a.txt", "x"),
            (".dot", "x"),
        ]);
        assert_eq!(
            found(&folder, "x", None, 50).unwrap(),
            ".dot:1: x\na/z:1: x\na.txt:1: x\nb:1: x\nb:3: x"
        );
        assert_eq!(found(&folder, "x", None, 2).unwrap(), ".dot:1: x\na/z:1: x");
        assert_eq!(found(&folder, "nothing", None, 2).unwrap(), "no matches");
    }

    #[test]
    fn paths_are_shown_as_the_call_gave_them() {
        let folder = tree(&[("a/b/c", "x")]);
        assert_eq!(found(&folder, "x", Some("a"), 9).unwrap(), "a/b/c:1: x");
        assert_eq!(
            found(&folder, "x", Some("./a/"), 9).unwrap(),
            "./a/b/c:1: x"
        );
        assert_eq!(found(&folder, "x", Some("."), 9).unwrap(), "a/b/c:1: x");
        assert_eq!(found(&folder, "x", Some("a/b/c"), 9).unwrap(), "a/b/c:1: x");
        let whole = folder.path().join("a").to_str().unwrap().to_owned();
        assert_eq!(
            found(&folder, "x", Some(&whole), 9).unwrap(),
            format!("{whole}/b/c:1: x")
        );
    }

    #[test]
    fn ignore_files_count_out_of_a_repository() {
        let folder = tree(&[
            (".gitignore", "*.log\nbuild/\n!keep.log\n"),
            (".ignore", "notes\n"),
            ("sub/.gitignore", "own\n"),
            ("a.log", "x"),
            ("keep.log", "x"),
            ("build/out", "x"),
            ("notes", "x"),
            ("sub/own", "x"),
            ("sub/other", "x"),
            (".git/config", "x"),
            ("sub/.git", "x"),
            (".env", "x"),
        ]);
        assert_eq!(
            found(&folder, "^x", None, 50).unwrap(),
            ".env:1: x\nkeep.log:1: x\nsub/other:1: x"
        );
        // Ignore files above the path that is searched count as well.
        fs::write(folder.path().join("sub/b.log"), "x").unwrap();
        assert_eq!(
            found(&folder, "^x", Some("sub"), 50).unwrap(),
            "sub/other:1: x"
        );
    }

    #[test]
    fn a_repositorys_own_exclusions_count() {
        let folder = tree(&[
            (".git/info/exclude", "secret\n"),
            (".git/HEAD", ""),
            ("secret", "x"),
        ]);
        assert_eq!(found(&folder, "x", None, 50).unwrap(), "no matches");
    }

    #[test]
    fn long_lines_are_cut_on_characters() {
        let line = "漢".repeat(323);
        let folder = tree(&[("f", &line)]);
        assert_eq!(
            found(&folder, "漢", None, 50).unwrap(),
            format!("f:1: {} (123 more chars...)", "漢".repeat(200))
        );
        let folder = tree(&[("f", &"a".repeat(200))]);
        assert_eq!(
            found(&folder, "a", None, 50).unwrap(),
            format!("f:1: {}", "a".repeat(200))
        );
    }

    #[test]
    fn files_with_a_nul_are_skipped_wherever_it_stands() {
        let far = format!("x\n{}\0", "filler\n".repeat(100_000));
        let folder = tree(&[("far", &far), ("near", "\0x"), ("text", "x")]);
        for limit in [1, 50] {
            assert_eq!(found(&folder, "x", None, limit).unwrap(), "text:1: x");
        }
    }

    #[test]
    fn line_ends_are_no_part_of_a_line() {
        let folder = tree(&[("f", "one\r\ntwo\r\n"), ("g", "one\n")]);
        assert_eq!(
            found(&folder, "one$", None, 50).unwrap(),
            "f:1: one\ng:1: one"
        );
    }

    #[test]
    fn what_is_no_utf8_is_marked() {
        let folder = tree(&[]);
        fs::write(folder.path().join("f"), b"x\xff\n").unwrap();
        assert_eq!(found(&folder, "x", None, 50).unwrap(), "f:1: x\u{fffd}");
    }

    #[test]
    fn bad_patterns_and_paths_are_refused() {
        let folder = tree(&[("f", "x")]);
        for query in ["", "  ", "(", "a\nb", "[z-a]"] {
            let failure = found(&folder, query, None, 50).unwrap_err();
            assert_eq!(failure.class, FailureClass::InvalidArgument, "{query:?}");
        }
        let failure = found(&folder, "x", Some("gone"), 50).unwrap_err();
        assert_eq!(failure, Failure::not_found("`gone` does not exist"));
        let failure = found(&folder, "x", Some("/dev/null"), 50).unwrap_err();
        assert_eq!(failure.class, FailureClass::InvalidArgument);
    }

    #[test]
    fn a_file_that_cannot_be_held_is_named() {
        let folder = tree(&[("a", "x\n")]);
        fs::write(folder.path().join("huge"), vec![b'y'; MAX_HELD + 1]).unwrap();
        assert_eq!(
            found(&folder, "x", None, 50).unwrap(),
            "a:1: x\n[not searched: huge]"
        );
    }

    #[test]
    fn a_halt_ends_a_search_that_never_comes_back_to_look() {
        /// Raises the flag and gives nothing back any more, as a match within one line does.
        struct Stuck(Halt, mpsc::Receiver<()>);
        impl io::Read for Stuck {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                self.0.raise();
                self.1.recv().ok();
                Ok(0)
            }
        }
        let halt = Halt::default();
        let hunt = Hunt {
            matcher: matcher("x").unwrap(),
            searcher: searcher(),
            limit: 50,
            own: PathBuf::new(),
            halt: &halt,
            found: Found::default(),
        };
        let (held, stuck) = mpsc::channel();
        let failure = hunt.aside(Stuck(halt.clone(), stuck), "f", 50).unwrap_err();
        assert_eq!(failure.class, FailureClass::LimitExceeded);
        drop(held);
    }

    #[test]
    fn a_large_file_of_one_line_is_searched_as_any_other() {
        let line = format!("{}needle", "hay ".repeat(100_000));
        let folder = tree(&[("f", &line), ("g", "needle")]);
        let found = found(&folder, "needle$", None, 50).unwrap();
        assert!(found.starts_with("f:1: hay hay") && found.ends_with("g:1: needle"));
        let nul = format!("{line}\0");
        let folder = tree(&[("f", &nul)]);
        assert_eq!(
            self::found(&folder, "needle", None, 50).unwrap(),
            "no matches"
        );
    }

    #[test]
    fn an_expression_that_would_be_huge_is_refused() {
        let folder = tree(&[("f", "x")]);
        let failure = found(&folder, r"(\w{100}){100}", None, 50).unwrap_err();
        assert_eq!(failure.class, FailureClass::InvalidArgument);
    }

    #[test]
    fn a_name_with_a_line_end_keeps_to_its_line() {
        let folder = tree(&[("a\nb:1: forged", "x")]);
        assert_eq!(
            found(&folder, "x", None, 50).unwrap(),
            "a\\nb:1: forged:1: x"
        );
    }

    #[test]
    fn a_raised_halt_ends_a_search() {
        let folder = tree(&[("a", "x\n")]);
        let halt = Halt::default();
        halt.raise();
        let call = call::Search {
            query: "x".to_owned(),
            path: None,
            limit: 50,
        };
        let failure = search(&call, &Place::at(folder.path()), &halt).unwrap_err();
        assert_eq!(failure.class, FailureClass::LimitExceeded);
    }
}
