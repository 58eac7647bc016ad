//! Words of the board: where an issue stands, what a review and a merge came to (03 §7; 06 §2.4).

use crate::tools::ToolName;
use crate::words::words;

/// Whether a call on the board changes it.
pub const fn writes(tool: ToolName) -> bool {
    matches!(
        tool,
        ToolName::CreateEpic
            | ToolName::CreateIssue
            | ToolName::UpdateIssue
            | ToolName::SetIssueBlockedBy
            | ToolName::RemoveEpic
            | ToolName::RemoveIssue
    )
}

words! {
    /// Where an issue stands.
    IssueStatus ("issue status") {
        /// Queued: its blockers are unfinished, or its agent waits for a slot.
        Open = "open",
        /// An agent works on it.
        InProgress = "in_progress",
        /// Reviewers judge it, then it is merged.
        InReview = "in_review",
        /// Approved and merged.
        Done = "done",
        /// Ended without being done; what it blocks stays blocked.
        Failed = "failed",
    }
}

impl IssueStatus {
    /// Whether nothing but a revival leads on from it.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

words! {
    /// What one reviewer, and one round of reviewers, came to.
    ReviewOutcome ("review outcome") {
        /// It may be merged.
        Approved = "approved",
        /// It goes back to its agent.
        ChangesRequested = "changes_requested",
    }
}

words! {
    /// What became of an issue's branch.
    MergeOutcome ("merge outcome") {
        /// Git merged it by itself.
        Merged = "merged",
        /// It conflicted, and the merge agent resolved that.
        Resolved = "resolved",
        /// It conflicted, and the merge was undone.
        Aborted = "aborted",
        /// The issue failed before it could be merged; its branch stays, its folder is gone.
        Discarded = "discarded",
    }
}
