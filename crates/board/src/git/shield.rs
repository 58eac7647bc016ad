//! What keeps a user's set-up out of gg's git: environment and configuration that every command is
//! started with.
//!
//! Configuration given by the environment outranks every file, and git hands it on to the
//! commands it starts itself.

use std::ffi::OsString;

use vocab::credential::VARIABLE;

/// Who gg's commits are by.
const NAME: &str = "gg";
const EMAIL: &str = "gg@localhost";

/// What the repository's own configuration may not change.
const CONFIG: &[(&str, &str)] = &[
    // No hook and no program of the repository's runs, nothing is signed and nothing checked for a
    // signature.
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("commit.gpgSign", "false"),
    ("merge.verifySignatures", "false"),
    // What is in the tree is what is committed: no file of the user's says what to leave out or to
    // convert, no check refuses a line end, and changes are looked for on the disk.
    ("core.excludesFile", "/dev/null"),
    ("core.attributesFile", "/dev/null"),
    ("core.safecrlf", "false"),
    ("core.ignoreStat", "false"),
    ("status.showUntrackedFiles", "normal"),
    ("submodule.recurse", "false"),
    // A merge is git's own, its markers and its message are as gg expects them, and it resolves
    // nothing from memory.
    ("merge.default", "text"),
    ("merge.conflictStyle", "merge"),
    ("merge.autoStash", "false"),
    ("merge.log", "false"),
    ("merge.branchdesc", "false"),
    ("rerere.enabled", "false"),
    ("rerere.autoUpdate", "false"),
    // Nothing goes on behind a command that has ended.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    // Output is read by gg.
    ("core.quotePath", "false"),
    ("color.ui", "false"),
    ("diff.orderFile", "/dev/null"),
    ("i18n.commitEncoding", "UTF-8"),
    ("i18n.logOutputEncoding", "UTF-8"),
    // A branch is a branch, and a workspace of another user's, as in a container, is one.
    ("branch.autoSetupMerge", "false"),
    ("worktree.guessRemote", "false"),
    ("init.defaultBranch", "main"),
    ("safe.directory", "*"),
];

/// Variables of the environment, and those that are taken out of it.
#[derive(Clone, Debug)]
pub(super) struct Shield {
    pub(super) set: Vec<(OsString, OsString)>,
    pub(super) removed: Vec<OsString>,
}

impl Shield {
    /// The shield, with filters of the user's that are let through: what large files are stored
    /// by is often configured for the user and not for the repository. Those that failed once are
    /// `off`.
    pub(super) fn new(filters: &[(String, String)], off: &[String]) -> Self {
        let removed = std::env::vars_os()
            .map(|(name, _)| name)
            .filter(|name| name.to_string_lossy().starts_with("GIT_"))
            .chain([VARIABLE.into()])
            .collect();
        let mut set: Vec<(OsString, OsString)> = [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_EDITOR", ":"),
            ("GIT_AUTHOR_NAME", NAME),
            ("GIT_AUTHOR_EMAIL", EMAIL),
            ("GIT_COMMITTER_NAME", NAME),
            ("GIT_COMMITTER_EMAIL", EMAIL),
            ("LC_ALL", "C"),
            ("LANGUAGE", "C"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let off: Vec<_> = (off.iter())
            .flat_map(|name| {
                [
                    ("clean", ""),
                    ("smudge", ""),
                    ("process", ""),
                    ("required", "false"),
                ]
                .map(|(key, value)| (format!("filter.{name}.{key}"), value))
            })
            .collect();
        let config = (CONFIG.iter().copied())
            .chain(filters.iter().map(|(key, value)| (&**key, &**value)))
            .chain(off.iter().map(|(key, value)| (&**key, *value)));
        let mut count = 0;
        for (key, value) in config {
            set.push((format!("GIT_CONFIG_KEY_{count}").into(), key.into()));
            set.push((format!("GIT_CONFIG_VALUE_{count}").into(), value.into()));
            count += 1;
        }
        set.push(("GIT_CONFIG_COUNT".into(), count.to_string().into()));
        Self { set, removed }
    }

    /// The user's own environment, in which his configuration is read.
    pub(super) fn none() -> Self {
        Self {
            set: vec![("GIT_TERMINAL_PROMPT".into(), "0".into())],
            removed: [VARIABLE, "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"]
                .map(OsString::from)
                .into(),
        }
    }
}
