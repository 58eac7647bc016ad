//! What was begun in a work tree and is not finished, told by the files of its git folder.

use std::path::Path;

/// Something of git's that takes several commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begun {
    /// In a sentence.
    pub(super) what: &'static str,
    /// What goes back to before it.
    pub(super) back: [&'static str; 2],
    /// What lets go of it and leaves the tree as it is; `None` where a commit ends it, or where it
    /// keeps nothing from being committed.
    pub(super) quit: Option<[&'static str; 2]>,
}

const MERGE: Begun = Begun {
    what: "a merge",
    back: ["merge", "--abort"],
    quit: None,
};
const REBASE: Begun = Begun {
    what: "a rebase",
    back: ["rebase", "--abort"],
    quit: Some(["rebase", "--quit"]),
};
const PATCHES: Begun = Begun {
    what: "a `git am`",
    back: ["am", "--abort"],
    quit: Some(["am", "--quit"]),
};
const PICK: Begun = Begun {
    what: "a cherry-pick",
    back: ["cherry-pick", "--abort"],
    quit: Some(["cherry-pick", "--quit"]),
};
const REVERT: Begun = Begun {
    what: "a revert",
    back: ["revert", "--abort"],
    quit: Some(["revert", "--quit"]),
};
const BISECT: Begun = Begun {
    what: "a bisect",
    back: ["bisect", "reset"],
    quit: None,
};

/// All that is under way; what has to end first stands first.
pub(super) fn all(own: &Path) -> Vec<Begun> {
    let there = |file: &str| own.join(file).exists();
    let mut begun = Vec::new();
    if there("MERGE_HEAD") {
        begun.push(MERGE);
    }
    if there("rebase-merge") {
        begun.push(REBASE);
    }
    if there("rebase-apply") {
        begun.push(if there("rebase-apply/applying") {
            PATCHES
        } else {
            REBASE
        });
    }
    // Between two commits of a sequence there is no head of either kind.
    let todo = std::fs::read(own.join("sequencer/todo")).unwrap_or_default();
    let reverts = todo.starts_with(b"revert");
    if there("CHERRY_PICK_HEAD") || there("sequencer") && !reverts {
        begun.push(PICK);
    }
    if there("REVERT_HEAD") || there("sequencer") && reverts {
        begun.push(REVERT);
    }
    if there("BISECT_LOG") {
        begun.push(BISECT);
    }
    begun
}

/// What is under way, or has to end first of what is.
pub(super) fn under_way(own: &Path) -> Option<Begun> {
    all(own).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_by_its_files_and_a_merge_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path();
        assert_eq!(under_way(own), None);
        std::fs::write(own.join("BISECT_LOG"), "").unwrap();
        assert_eq!(under_way(own), Some(BISECT));
        std::fs::create_dir(own.join("sequencer")).unwrap();
        std::fs::write(own.join("sequencer/todo"), "pick 1234 one\n").unwrap();
        assert_eq!(under_way(own), Some(PICK));
        std::fs::write(own.join("sequencer/todo"), "revert 1234 one\n").unwrap();
        assert_eq!(under_way(own), Some(REVERT));
        std::fs::create_dir(own.join("rebase-apply")).unwrap();
        assert_eq!(under_way(own), Some(REBASE));
        std::fs::write(own.join("rebase-apply/applying"), "").unwrap();
        assert_eq!(under_way(own), Some(PATCHES));
        std::fs::write(own.join("MERGE_HEAD"), "").unwrap();
        assert_eq!(all(own), [MERGE, PATCHES, REVERT, BISECT]);
    }
}
