//! `list_dir`: one level of a directory, in the byte order of names (04 §3).

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use vocab::failure::Failure;
use vocab::line::one_line;

use crate::call::ListDir;
use crate::paths::{Place, cannot};

/// Bytes of a listing shown at most; the rest is counted.
const BACKSTOP: usize = 256 * 1024;

/// What an entry is, its links followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else, a dangling link included.
    Other,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name; what is no UTF-8 became U+FFFD.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// Lists a directory. Blocks on the disk.
///
/// # Errors
///
/// `not-found`, `invalid-argument` for what is no directory, `io-error`.
pub fn list(call: &ListDir, place: &Place) -> Result<Vec<DirEntry>, Failure> {
    let shown = call.path.as_deref().unwrap_or(".");
    let path = place.resolve(shown)?;
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotADirectory => {
            Failure::invalid(format!("`{shown}` is not a directory"))
        }
        _ if call.path.is_none() => cannot("list", &path.to_string_lossy(), &error),
        _ => cannot("list", shown, &error),
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // The directory tells most kinds; only a link has to be followed.
        let kind = entry.file_type().map_err(failed)?;
        let kind = if kind.is_file() {
            EntryKind::File
        } else if kind.is_dir() {
            EntryKind::Directory
        } else if kind.is_symlink() {
            match std::fs::metadata(entry.path()) {
                Ok(found) if found.is_file() => EntryKind::File,
                Ok(found) if found.is_dir() => EntryKind::Directory,
                _ => EntryKind::Other,
            }
        } else {
            EntryKind::Other
        };
        names.push((entry.file_name(), kind));
    }
    names.sort_unstable_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
    let entry = |(name, kind): (OsString, _)| DirEntry {
        name: name.to_string_lossy().into_owned(),
        kind,
    };
    Ok(names.into_iter().map(entry).collect())
}

/// The result a model gets.
pub fn as_text(entries: &[DirEntry]) -> String {
    if entries.is_empty() {
        return "(empty)".to_owned();
    }
    let mut text = String::new();
    for (at, entry) in entries.iter().enumerate() {
        let name = one_line(&entry.name);
        if text.len() + name.len() > BACKSTOP {
            text += &format!(
                "[cut at {BACKSTOP} bytes; {} more entries]\n",
                entries.len() - at
            );
            break;
        }
        text += &name;
        if entry.kind == EntryKind::Directory {
            text.push('/');
        }
        text.push('\n');
    }
    text.pop();
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use vocab::failure::FailureClass;

    fn listed(place: &Place, path: Option<&str>) -> Result<String, Failure> {
        list(
            &ListDir {
                path: path.map(str::to_owned),
            },
            place,
        )
        .map(|entries| as_text(&entries))
    }

    #[test]
    fn entries_stand_in_byte_order_with_their_kinds() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["b.txt", ".hidden", "B", "é"] {
            fs::write(at(name), "").unwrap();
        }
        fs::create_dir_all(at("a/inner")).unwrap();
        symlink("a", at("to-a")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        symlink("b.txt", at("to-b")).unwrap();
        let place = Place::at(folder.path());
        let text = listed(&place, None).unwrap();
        assert_eq!(text, ".hidden\nB\na/\nb.txt\ndangling\nto-a/\nto-b\né");
        assert_eq!(listed(&place, Some("a/inner")).unwrap(), "(empty)");
        let entries = list(&ListDir::default(), &place).unwrap();
        let dangling = entries
            .iter()
            .find(|entry| entry.name == "dangling")
            .unwrap();
        assert_eq!(dangling.kind, EntryKind::Other);
    }

    #[test]
    fn what_is_missing_or_no_directory_is_said() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("f"), "").unwrap();
        let place = Place::at(folder.path());
        let failure = listed(&place, Some("f")).unwrap_err();
        assert_eq!(failure, Failure::invalid("`f` is not a directory"));
        let failure = listed(&place, Some("g")).unwrap_err();
        assert_eq!(failure, Failure::not_found("`g` does not exist"));
    }

    #[test]
    fn a_missing_working_directory_is_named_whole() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        let failure = listed(&Place::at(&gone), None).unwrap_err();
        assert_eq!(failure.class, FailureClass::NotFound);
        assert!(failure.message.contains(gone.to_str().unwrap()));
    }

    #[test]
    fn a_huge_listing_is_cut_and_counted() {
        let entries: Vec<_> = (0..3_000)
            .map(|at| DirEntry {
                name: format!("{at:0100}"),
                kind: EntryKind::File,
            })
            .collect();
        let text = as_text(&entries);
        assert!(text.len() < BACKSTOP + 100);
        assert!(
            text.ends_with("[cut at 262144 bytes; 405 more entries]"),
            "{}",
            &text[text.len() - 90..]
        );
    }
}
