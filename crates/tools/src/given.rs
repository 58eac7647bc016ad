//! Calls on a workspace as a program makes them: their values, judged as a model's JSON is.

use std::time::Duration;

use vocab::failure::Failure;

use crate::call::{DEFAULT_MATCHES, MAX_MATCHES};
use crate::faults::Faults;
use crate::{DEFAULT_TIMEOUT, EditFile, ListDir, MAX_TIMEOUT, ReadFile, Search, Shell, WriteFile};

impl ReadFile {
    /// `read_file`.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn given(path: String, offset: Option<u32>, limit: Option<u32>) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        path_of(&path, &mut faults);
        let offset = count("offset", offset, &mut faults);
        let limit = count("limit", limit, &mut faults);
        faults.judge()?;
        Ok(Self {
            path,
            offset,
            limit,
        })
    }
}

impl WriteFile {
    /// `write_file`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for an empty path.
    pub fn given(path: String, contents: String) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        path_of(&path, &mut faults);
        faults.judge()?;
        Ok(Self { path, contents })
    }
}

impl EditFile {
    /// `edit_file`.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn given(path: String, old_string: String, new_string: String) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        path_of(&path, &mut faults);
        faults.replacement(&old_string, &new_string);
        faults.judge()?;
        Ok(Self {
            path,
            old_string,
            new_string,
        })
    }
}

impl ListDir {
    /// `list_dir`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for an empty path.
    pub fn given(path: Option<String>) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        if let Some(path) = &path {
            path_of(path, &mut faults);
        }
        faults.judge()?;
        Ok(Self { path })
    }
}

impl Search {
    /// `search`.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn given(query: String, path: Option<String>, limit: Option<u32>) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("query", &query);
        if let Some(path) = &path {
            path_of(path, &mut faults);
        }
        let limit = count("limit", limit, &mut faults);
        faults.judge()?;
        Ok(Self {
            query,
            path,
            limit: limit.unwrap_or(DEFAULT_MATCHES).min(MAX_MATCHES),
        })
    }
}

impl Shell {
    /// `shell`.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn given(command: String, timeout_secs: Option<f64>) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("command", &command);
        if command.contains('\0') {
            faults.push("`command` holds a NUL character, which no command can");
        }
        let timeout = match timeout_secs {
            None => DEFAULT_TIMEOUT,
            Some(secs) if secs > 0.0 && secs.is_finite() => {
                // At least a nanosecond, since no time at all is no positive number.
                Duration::from_secs_f64(secs.min(MAX_TIMEOUT.as_secs_f64()))
                    .max(Duration::from_nanos(1))
            }
            Some(other) => {
                faults.push(format!(
                    "`timeoutSecs` is {other:?}; expected a number of seconds above 0"
                ));
                DEFAULT_TIMEOUT
            }
        };
        faults.judge()?;
        Ok(Self { command, timeout })
    }
}

fn path_of(path: &str, faults: &mut Faults) {
    faults.path("path", path);
}

fn count(key: &str, number: Option<u32>, faults: &mut Faults) -> Option<u64> {
    if number == Some(0) {
        faults.push(format!("`{key}` is 0; expected a whole number, 1 or more"));
    }
    number.map(u64::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vocab::tools::ToolName;

    use super::*;
    use crate::{Call, parse};

    /// A program's call and a model's are the same value, or fail with the same faults.
    fn check<T>(
        tool: ToolName,
        arguments: &serde_json::Value,
        given: Result<T, Failure>,
        call: fn(T) -> Call,
    ) {
        match (given.map(call), parse(tool, &arguments.to_string())) {
            (Ok(given), Ok(parsed)) => assert_eq!(given, parsed, "{arguments}"),
            (Err(given), Err(parsed)) => {
                assert_eq!(given.class, parsed.class, "{arguments}");
                assert!(
                    parsed.message.starts_with(&given.message),
                    "{given} / {parsed}"
                );
            }
            (given, parsed) => panic!("{arguments}: {given:?} / {parsed:?}"),
        }
    }

    #[test]
    fn a_program_s_call_is_judged_as_a_model_s() {
        for (path, offset, limit) in [
            ("a", None, Some(3)),
            ("", Some(0), Some(0)),
            ("b/c", Some(7), None),
        ] {
            check(
                ToolName::ReadFile,
                &json!({ "path": path, "offset": offset, "limit": limit }),
                ReadFile::given(path.into(), offset, limit),
                Call::ReadFile,
            );
            check(
                ToolName::Search,
                &json!({ "query": path, "path": path, "limit": limit }),
                Search::given(path.into(), Some(path.into()), limit),
                Call::Search,
            );
            check(
                ToolName::ListDir,
                &json!({ "path": path }),
                ListDir::given(Some(path.into())),
                Call::ListDir,
            );
            check(
                ToolName::WriteFile,
                &json!({ "path": path, "contents": "" }),
                WriteFile::given(path.into(), String::new()),
                Call::WriteFile,
            );
            check(
                ToolName::EditFile,
                &json!({ "path": path, "oldString": path, "newString": "b/c" }),
                EditFile::given(path.into(), path.into(), "b/c".into()),
                Call::EditFile,
            );
        }
        for (command, secs) in [
            ("ls", None),
            ("ls", Some(0.25)),
            (" ", Some(-1.0)),
            ("a\0b", Some(0.0)),
            ("ls", Some(1e300)),
        ] {
            check(
                ToolName::Shell,
                &json!({ "command": command, "timeoutSecs": secs }),
                Shell::given(command.into(), secs),
                Call::Shell,
            );
        }
    }
}
