//! What blocks what.

use std::collections::HashSet;

use vocab::board::IssueStatus;
use vocab::ids::IssueId;

use crate::issue::Issue;
use crate::issues::Issues;

/// The blockers of an issue that are not done.
pub(crate) fn unfinished<'a>(
    issues: &'a Issues,
    issue: &'a Issue,
) -> impl Iterator<Item = &'a IssueId> {
    let done =
        |id: &IssueId| (issues.get(id)).is_some_and(|blocker| blocker.status == IssueStatus::Done);
    issue.blocked_by.iter().filter(move |id| !done(id))
}

/// The circle that new edges of an issue would close: the issue, what blocks it, and so on back
/// to the issue.
pub(crate) fn circle(
    issues: &Issues,
    id: &IssueId,
    blocked_by: &[IssueId],
) -> Option<Vec<IssueId>> {
    // Depth first from the blockers along their own; `open` holds the way to where we are.
    let mut visited = HashSet::new();
    let mut open: Vec<(&IssueId, std::slice::Iter<'_, IssueId>)> = vec![(id, blocked_by.iter())];
    while let Some((_, rest)) = open.last_mut() {
        let Some(next) = rest.next() else {
            open.pop();
            continue;
        };
        if next == id {
            let way = open.iter().map(|(id, _)| *id).chain([id]);
            return Some(way.cloned().collect());
        }
        if visited.insert(next)
            && let Some(issue) = issues.get(next)
        {
            open.push((next, issue.blocked_by.iter()));
        }
    }
    None
}
