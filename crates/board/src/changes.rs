//! What an issue's work comes to, file by file: what a reviewer is shown in place of the patch
//! (03 §7.4).

/// The files that differ between two commits, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeMap {
    /// One row a file.
    pub files: Vec<FileChange>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Its path from the repository's root.
    pub path: String,
    /// What became of it.
    pub kind: ChangeKind,
    /// Lines added and removed; `None` for a file that is not text.
    pub lines: Option<(u64, u64)>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its contents or its mode differ.
    Modified,
    /// It is gone.
    Deleted,
    /// It stood elsewhere, and may differ besides.
    Renamed {
        /// Where.
        from: String,
    },
    /// It became another kind of thing: a link, a file.
    TypeChanged,
}

impl ChangeKind {
    /// The word a listing shows.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Renamed { .. } => "renamed",
            Self::TypeChanged => "type changed",
        }
    }
}
