//! Who calls: what its profile lets it name, and for which issue it works.

use vocab::ids::{IssueId, Slug};

/// An agent as the board sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Its handle, as the filer of what it files.
    pub works_for: Option<WorksFor>,
    /// The profiles its roster lists as implementers.
    pub implementers: Vec<Slug>,
    /// The profiles its roster lists as reviewers.
    pub reviewers: Vec<Slug>,
    /// Whether its issues must name a reviewer.
    pub reviewers_required: bool,
}

/// The issue that an agent, or the agent that started it, was dispatched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorksFor {
    /// Which.
    pub issue: IssueId,
    /// Whether it resolves a conflict of it.
    pub merges: bool,
}
