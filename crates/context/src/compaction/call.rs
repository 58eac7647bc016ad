//! The call `compact`: what it was given (02 §6.3).

use tools::{Arguments, Faults};
use vocab::failure::Failure;
use vocab::tools::{MAX_COMPACT_FILES, ToolName};

use crate::path;

/// A compaction as a model declares it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactCall {
    /// Not blank.
    pub summary: String,
    /// Paths to read again, each once, at most twelve.
    pub files: Vec<String>,
    /// Paths past those, which are not read.
    pub past: Vec<String>,
}

/// Reads the arguments of `compact`.
///
/// # Errors
///
/// `invalid-argument`, also for a blank summary.
pub fn read_compact(arguments: &str) -> Result<CompactCall, Failure> {
    let mut given = Arguments::read(arguments, &["summary", "files"])?;
    let summary = given.filled("summary");
    let files = given.texts("files");
    given.finish(ToolName::Compact)?;
    Ok(CompactCall::of(summary, files))
}

impl CompactCall {
    /// A call as a program makes it.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a blank summary or a blank path.
    pub fn given(summary: String, files: Vec<String>) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("summary", &summary);
        faults.list("files", &files);
        faults.judge()?;
        Ok(Self::of(summary, files))
    }

    /// Each file once, as many as are read again, and the rest.
    fn of(summary: String, given: Vec<String>) -> Self {
        let mut files: Vec<String> = Vec::new();
        for path in given {
            if !files.iter().any(|file| path::same(file, &path)) {
                files.push(path);
            }
        }
        let past = files.split_off(files.len().min(MAX_COMPACT_FILES));
        Self {
            summary,
            files,
            past,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::managed::compacting_text;

    #[test]
    fn a_summary_has_to_be_there_and_files_may_be() {
        let call = read_compact(r#"{"summary":"s","files":["a","b","a"]}"#).unwrap();
        assert_eq!(call.files, ["a", "b"]);
        let call = read_compact(r#"{"summary":"s","files":["a/b","./a/b","a//b/"]}"#).unwrap();
        assert_eq!(call.files, ["a/b"], "one file, however it is spelled");
        assert_eq!(read_compact(r#"{"summary":"s"}"#).unwrap().files, [""; 0]);
        let given = CompactCall::given("s".into(), vec!["a".into(), "b".into(), "a".into()]);
        assert_eq!(given.unwrap().files, ["a", "b"]);
        for (summary, files) in [(" ", vec![]), ("s", vec![String::new()])] {
            assert!(CompactCall::given(summary.into(), files).is_err());
        }
        for arguments in ["{}", r#"{"summary":" "}"#, r#"{"summary":"s","files":"a"}"#] {
            assert!(read_compact(arguments).is_err(), "{arguments}");
        }
    }

    #[test]
    fn the_thirteenth_file_is_reported_and_not_read() {
        let files: Vec<_> = (0..14).map(|file| format!("f{file}")).collect();
        let arguments = serde_json::json!({ "summary": "s", "files": files }).to_string();
        let call = read_compact(&arguments).unwrap();
        assert_eq!(call.files.len(), 12);
        assert_eq!(call.past, ["f12", "f13"]);
        let told = compacting_text(&call);
        assert!(told.ends_with("f12, f13"), "{told}");
        assert!(!compacting_text(&read_compact(r#"{"summary":"s"}"#).unwrap()).contains("12"));
    }
}
