//! Commits that were made in a worktree and that nothing keeps: amended, reset away, left behind by
//! a rebase. Git finds them by the worktree's log alone, which goes with the worktree.

use std::collections::BTreeSet;
use std::path::Path;

use crate::issue::Worktree;

use super::Repository;
use super::error::GitError;
use super::process::{Git, Invocation};
use super::worktree::pointer;

impl Repository {
    /// The commits that go with a worktree, newest first: those that it ever had checked out, and
    /// theirs behind them, as far as no branch, tag or HEAD leads there. Where git was told to
    /// keep no log, none.
    pub async fn given_up(&self, worktree: &Worktree) -> Result<Vec<String>, GitError> {
        let own = pointer(&worktree.path)?;
        self.git().given_up(&worktree.path, &own).await
    }
}

impl Git {
    /// The same of any worktree, whose own git folder is this.
    pub(super) async fn given_up(&self, dir: &Path, own: &Path) -> Result<Vec<String>, GitError> {
        let log = own.join("logs").join("HEAD");
        let text = match std::fs::read(&log) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(GitError::io(&log, error)),
        };
        let commits = checked_out(&text);
        // One alone is what is checked out now.
        if commits.len() < 2 {
            return Ok(Vec::new());
        }
        // By its input, since a log may be longer than a command line.
        let input = commits.into_iter().collect::<Vec<_>>().join("\n");
        // One that was collected already is none that goes now. The input is read where it is named,
        // before all that follows it is taken away.
        let list = ["rev-list", "--ignore-missing", "--stdin", "--not", "--all"];
        let list = Invocation::new(dir, list).input(input.into_bytes());
        let listed = self.run(list).await?;
        Ok(listed.text().lines().map(str::to_owned).collect())
    }
}

/// The commits a log names: of each line, what was checked out before and what then.
fn checked_out(log: &[u8]) -> BTreeSet<&str> {
    let fields = log.split(|byte| *byte == b'\n').flat_map(|line| {
        let mut fields = line.splitn(3, |byte| *byte == b' ');
        [fields.next(), fields.next()]
    });
    let names = fields
        .flatten()
        .filter_map(|name| str::from_utf8(name).ok());
    names.filter(|name| is_commit(name)).collect()
}

/// Whether it is the name of an object: not the zeros that stand for none.
fn is_commit(name: &str) -> bool {
    name.len() >= 40
        && name.bytes().all(|byte| byte.is_ascii_hexdigit())
        && name.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_names_two_commits_a_line_and_damage_names_none() {
        let (one, two) = ("1".repeat(40), "a2".repeat(32));
        let log = format!(
            "{zeros} {one} A B <a@b> 1 +0000\tcommit: x {two}\n{one} {two} A <> 2 +0000\n\n\u{fffd}\nshort line\n",
            zeros = "0".repeat(40)
        );
        let found: Vec<_> = checked_out(log.as_bytes()).into_iter().collect();
        assert_eq!(found, [&*one, &*two]);
    }
}
