//! From the JSON a model wrote to a call that can be carried out.
//!
//! What is taken out of the JSON, and how faults are told, is the matter of `arguments`.

use std::time::Duration;

use vocab::failure::{Failure, FailureClass};
use vocab::tools::ToolName;

use crate::arguments::{Arguments, described};

/// What a command may take when its call does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// What a command may take at most, whatever its call says.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Matches `search` returns when its call does not say.
pub(crate) const DEFAULT_MATCHES: u64 = 50;

/// Matches `search` returns at most.
pub(crate) const MAX_MATCHES: u64 = 200;

/// One call of a tool of this crate, checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// `read_file`
    ReadFile(ReadFile),
    /// `write_file`
    WriteFile(WriteFile),
    /// `edit_file`
    EditFile(EditFile),
    /// `list_dir`
    ListDir(ListDir),
    /// `search`
    Search(Search),
    /// `shell`
    Shell(Shell),
}

/// `read_file`: a window of a text file, or a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    /// The file.
    pub path: String,
    /// The first line, from 1.
    pub offset: Option<u64>,
    /// Lines to return, 1 or more; absent, the read mode decides.
    pub limit: Option<u64>,
}

/// `write_file`: a whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteFile {
    /// The file.
    pub path: String,
    /// Exactly what it will hold.
    pub contents: String,
}

/// `edit_file`: one replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditFile {
    /// The file.
    pub path: String,
    /// The text that occurs once; not empty.
    pub old_string: String,
    /// What stands there afterwards; another text.
    pub new_string: String,
}

/// `list_dir`: one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListDir {
    /// The directory; absent, the working directory.
    pub path: Option<String>,
}

/// `search`: files by regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// A Rust regular expression, not blank.
    pub query: String,
    /// A file or directory; absent, the working directory.
    pub path: Option<String>,
    /// Matches to return, 1 to 200.
    pub limit: u64,
}

/// `shell`: one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    /// As given to `sh -c`; not blank.
    pub command: String,
    /// What it may take, at most [`MAX_TIMEOUT`].
    pub timeout: Duration,
}

/// Reads the arguments of a call.
///
/// # Errors
///
/// `invalid-argument` for text that is no JSON object, unknown keys, missing or wrong values;
/// `unavailable` for a tool this crate does not serve.
pub fn parse(tool: ToolName, arguments: &str) -> Result<Call, Failure> {
    let known: &'static [&'static str] = match tool {
        ToolName::ReadFile => &["path", "offset", "limit"],
        ToolName::WriteFile => &["path", "contents"],
        ToolName::EditFile => &["path", "oldString", "newString"],
        ToolName::ListDir => &["path"],
        ToolName::Search => &["query", "path", "limit"],
        ToolName::Shell => &["command", "timeoutSecs"],
        _ => {
            let message = format!("`{tool}` does not act on a workspace");
            return Err(Failure::new(FailureClass::Unavailable, message));
        }
    };
    let mut given = Arguments::read(arguments, known)?;
    let call = match tool {
        ToolName::ReadFile => Call::ReadFile(ReadFile {
            path: given.path("path"),
            offset: given.count("offset"),
            limit: given.count("limit"),
        }),
        ToolName::WriteFile => Call::WriteFile(WriteFile {
            path: given.path("path"),
            contents: given.text("contents"),
        }),
        ToolName::EditFile => Call::EditFile(given.edit()),
        ToolName::ListDir => Call::ListDir(ListDir {
            path: given.optional_path("path"),
        }),
        ToolName::Search => Call::Search(Search {
            query: given.filled("query"),
            path: given.optional_path("path"),
            limit: given
                .count("limit")
                .unwrap_or(DEFAULT_MATCHES)
                .min(MAX_MATCHES),
        }),
        _ => Call::Shell(Shell {
            command: given.command(),
            timeout: given.timeout("timeoutSecs"),
        }),
    };
    given.finish(tool)?;
    Ok(call)
}

impl Arguments {
    fn command(&mut self) -> String {
        let command = self.filled("command");
        if command.contains('\0') {
            self.faults
                .push("`command` holds a NUL character, which no command can".to_owned());
        }
        command
    }

    fn edit(&mut self) -> EditFile {
        let path = self.path("path");
        let (old_string, new_string) = self.replacement();
        EditFile {
            path,
            old_string,
            new_string,
        }
    }

    fn timeout(&mut self, key: &str) -> Duration {
        let Some(value) = self.take(key) else {
            return DEFAULT_TIMEOUT;
        };
        match value.as_f64() {
            Some(secs) if secs > 0.0 && secs.is_finite() => {
                // At least a nanosecond, since no time at all is no positive number.
                Duration::from_secs_f64(secs.min(MAX_TIMEOUT.as_secs_f64()))
                    .max(Duration::from_nanos(1))
            }
            _ => {
                self.faults.push(format!(
                    "`{key}` is {}; expected a number of seconds above 0",
                    described(&value)
                ));
                DEFAULT_TIMEOUT
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(tool: ToolName, arguments: &str) -> String {
        let failure = parse(tool, arguments).unwrap_err();
        assert_eq!(failure.class, FailureClass::InvalidArgument);
        failure.message
    }

    #[test]
    fn an_unknown_key_is_named_with_the_known_ones() {
        assert_eq!(
            fault(ToolName::Shell, r#"{"command":"ls","cwd":"/"}"#),
            "`cwd` is no argument; `shell` takes `command` and `timeoutSecs`"
        );
        assert_eq!(
            fault(ToolName::ReadFile, r#"{"path":"a","lines":3}"#),
            "`lines` is no argument; `read_file` takes `path`, `offset` and `limit`"
        );
    }

    #[test]
    fn blank_arguments_are_an_empty_object() {
        for blank in ["", " \n", "null", "{}"] {
            let call = parse(ToolName::ListDir, blank).unwrap();
            assert_eq!(call, Call::ListDir(ListDir::default()));
        }
        assert_eq!(
            fault(ToolName::WriteFile, ""),
            "`path` is missing; `contents` is missing; `write_file` takes `path` and `contents`"
        );
    }

    #[test]
    fn every_fault_of_a_call_is_named_at_once() {
        assert_eq!(
            fault(
                ToolName::ReadFile,
                r#"{"path":7,"offset":0,"limit":1.5,"x":1,"y":2}"#
            ),
            "`path` is 7; expected a string; `offset` is 0; expected a whole number, 1 or more; \
             `limit` is 1.5; expected a whole number, 1 or more; `x` and `y` are no arguments; \
             `read_file` takes `path`, `offset` and `limit`"
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert_eq!(
            fault(ToolName::ListDir, "[1]"),
            "the arguments are an array; expected a JSON object"
        );
        assert!(fault(ToolName::ListDir, "{").starts_with("the arguments are not JSON: "));
    }

    #[test]
    fn null_members_are_absent_ones() {
        let call = parse(
            ToolName::ReadFile,
            r#"{"path":"a","offset":null,"limit":3.0}"#,
        )
        .unwrap();
        let expected = ReadFile {
            path: "a".to_owned(),
            offset: None,
            limit: Some(3),
        };
        assert_eq!(call, Call::ReadFile(expected));
    }

    #[test]
    fn a_timeout_is_any_positive_number_clamped_to_a_day() {
        let timeout = |arguments: &str| match parse(ToolName::Shell, arguments) {
            Ok(Call::Shell(shell)) => shell.timeout,
            other => panic!("{other:?}"),
        };
        assert_eq!(timeout(r#"{"command":"ls"}"#), DEFAULT_TIMEOUT);
        assert_eq!(
            timeout(r#"{"command":"ls","timeoutSecs":0.25}"#),
            Duration::from_millis(250)
        );
        assert_eq!(
            timeout(r#"{"command":"ls","timeoutSecs":1e300}"#),
            MAX_TIMEOUT
        );
        assert!(timeout(r#"{"command":"ls","timeoutSecs":1e-300}"#) > Duration::ZERO);
        for bad in ["0", "-1", "\"3\"", "true", "1e400"] {
            fault(
                ToolName::Shell,
                &format!(r#"{{"command":"ls","timeoutSecs":{bad}}}"#),
            );
        }
    }

    #[test]
    fn a_search_limit_is_capped_and_never_zero() {
        let limit = |limit: &str| {
            let arguments = format!(r#"{{"query":"x","limit":{limit}}}"#);
            parse(ToolName::Search, &arguments).map(|call| match call {
                Call::Search(search) => search.limit,
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(limit("null"), Ok(50));
        assert_eq!(limit("9999"), Ok(200));
        assert!(limit("0").is_err());
    }

    #[test]
    fn empty_and_equal_texts_are_no_edit() {
        for (old, new) in [("", "a"), ("a", "a")] {
            let arguments =
                serde_json::json!({ "path": "f", "oldString": old, "newString": new }).to_string();
            fault(ToolName::EditFile, &arguments);
        }
        for blank in ["", "  "] {
            let arguments = serde_json::json!({ "command": blank, "query": blank }).to_string();
            fault(ToolName::Shell, &arguments);
            fault(ToolName::Search, &arguments);
        }
    }

    #[test]
    fn a_tool_of_another_crate_is_unavailable() {
        let failure = parse(ToolName::Fork, "{}").unwrap_err();
        assert_eq!(failure.class, FailureClass::Unavailable);
    }
}
