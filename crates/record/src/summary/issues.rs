//! What became of the board's issues, over the whole run.
//!
//! Snapshots say which issues there were: each is counted by its id, which is never given twice.
//! Where they went is told step by step.

use std::collections::BTreeMap;

use vocab::board::{IssueStatus, MergeOutcome};

/// The board's figures.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    /// Every issue there was, with where it stood last. A removed one stays.
    standing: BTreeMap<String, IssueStatus>,
    reopened: u64,
    rounds: u64,
    conflicts: u64,
}

impl Issues {
    /// An issue stands in a snapshot.
    pub(crate) fn filed(&mut self, id: &str) {
        if !self.standing.contains_key(id) {
            self.standing.insert(id.to_owned(), IssueStatus::Open);
        }
    }

    /// An issue has gone on.
    pub(crate) fn moved(&mut self, id: &str, status: IssueStatus) {
        let before = self.standing.insert(id.to_owned(), status);
        let failed = before == Some(IssueStatus::Failed);
        self.reopened += u64::from(failed && status == IssueStatus::Open);
    }

    /// A round of review is over.
    pub(crate) const fn reviewed(&mut self) {
        self.rounds += 1;
    }

    /// An issue's branch came to its end.
    pub(crate) const fn landed(&mut self, outcome: MergeOutcome) {
        if matches!(outcome, MergeOutcome::Resolved | MergeOutcome::Aborted) {
            self.conflicts += 1;
        }
    }

    /// Issues there were.
    pub(crate) fn count(&self) -> u64 {
        self.standing.len() as u64
    }

    /// Those of them that stand there in the end.
    pub(crate) fn ended(&self, status: IssueStatus) -> u64 {
        let ended = self.standing.values().filter(|it| **it == status);
        ended.count() as u64
    }

    /// Times a failed one was revived.
    pub(crate) const fn reopened(&self) -> u64 {
        self.reopened
    }

    /// Rounds of review.
    pub(crate) const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Merges that conflicted.
    pub(crate) const fn conflicts(&self) -> u64 {
        self.conflicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_counts_once_and_as_what_it_was_in_the_end() {
        let mut issues = Issues::default();
        for id in ["A-1", "A-2", "A-1", "A-3"] {
            issues.filed(id);
        }
        for (id, status) in [
            ("A-1", IssueStatus::InProgress),
            ("A-1", IssueStatus::Failed),
            ("A-1", IssueStatus::Open),
            // Begun in vain, and tried again.
            ("A-2", IssueStatus::InProgress),
            ("A-2", IssueStatus::Open),
            ("A-1", IssueStatus::InProgress),
            ("A-1", IssueStatus::InReview),
            ("A-1", IssueStatus::Done),
            ("A-2", IssueStatus::Failed),
        ] {
            issues.moved(id, status);
        }
        // A snapshot that was late.
        issues.filed("A-1");
        assert_eq!(issues.count(), 3);
        assert_eq!(issues.ended(IssueStatus::Done), 1);
        assert_eq!(issues.ended(IssueStatus::Failed), 1);
        assert_eq!(issues.reopened(), 1);
    }

    #[test]
    fn a_conflict_counts_whether_it_was_resolved_or_not() {
        let mut issues = Issues::default();
        for outcome in MergeOutcome::ALL {
            issues.landed(*outcome);
        }
        assert_eq!(issues.conflicts(), 2);
    }
}
