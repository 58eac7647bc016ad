//! `write_file` and `edit_file` as a plan, then its application, so that whoever stands between
//! (an operator's hook) sees the whole file as it would become.

use std::path::PathBuf;

use vocab::failure::{Failure, FailureClass};

use crate::call::Call;
use crate::paths::Place;
use crate::{Done, edit, replace};

/// A write that was checked and not yet done. Dropping it changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The path as the call gave it.
    pub path: String,
    /// The path the kernel is asked for; links are followed on application.
    pub target: PathBuf,
    /// The whole file as it will be.
    pub contents: String,
    /// The text of the result.
    done: String,
}

/// Plans a write or an edit; for an edit this reads the file and finds the place. Blocks on the
/// disk.
///
/// # Errors
///
/// Those of the call's own tool (04 §3); `other` for a call that writes nothing.
pub fn plan(call: &Call, place: &Place) -> Result<Plan, Failure> {
    match call {
        Call::WriteFile(write) => Ok(Plan {
            path: write.path.clone(),
            target: place.resolve(&write.path)?,
            contents: write.contents.clone(),
            done: match write.contents.len() {
                1 => format!("wrote 1 byte to {}", write.path),
                bytes => format!("wrote {bytes} bytes to {}", write.path),
            },
        }),
        Call::EditFile(edit) => {
            let target = place.resolve(&edit.path)?;
            Ok(Plan {
                contents: edit::edited(&target, edit)?,
                path: edit.path.clone(),
                target,
                done: format!("edited {}", edit.path),
            })
        }
        _ => Err(Failure::new(
            FailureClass::Other,
            "this call writes nothing",
        )),
    }
}

impl Plan {
    /// Carries the plan out: the file holds all of it afterwards, or what it held before.
    ///
    /// # Errors
    ///
    /// `io-error`.
    pub fn apply(self) -> Result<Done, Failure> {
        replace::replace(&self.target, &self.path, self.contents.as_bytes())?;
        Ok(Done::of_text(self.done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::WriteFile;
    use std::fs;

    #[test]
    fn exactly_the_bytes_given_are_written_and_parents_made() {
        let folder = tempfile::tempdir().unwrap();
        let call = Call::WriteFile(WriteFile {
            path: "a/b/é.txt".to_owned(),
            contents: "漢\r\nno end".to_owned(),
        });
        let plan = plan(&call, &Place::at(folder.path())).unwrap();
        assert!(!folder.path().join("a").exists(), "a plan changes nothing");
        assert_eq!(
            plan.apply().unwrap(),
            Done::of_text("wrote 11 bytes to a/b/é.txt")
        );
        assert_eq!(
            fs::read(folder.path().join("a/b/é.txt")).unwrap(),
            "漢\r\nno end".as_bytes()
        );
    }
}
