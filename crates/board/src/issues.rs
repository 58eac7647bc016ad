//! The issues of a board, in the order they were filed, found by id.

use std::collections::{BTreeMap, HashMap};

use vocab::ids::IssueId;

use crate::issue::Issue;

#[derive(Clone, Debug, Default)]
pub(crate) struct Issues {
    by_place: BTreeMap<u64, Issue>,
    places: HashMap<IssueId, u64>,
    next: u64,
}

impl Issues {
    pub(crate) fn len(&self) -> usize {
        self.by_place.len()
    }

    pub(crate) fn push(&mut self, issue: Issue) {
        self.places.insert(issue.id.clone(), self.next);
        self.by_place.insert(self.next, issue);
        self.next += 1;
    }

    pub(crate) fn get(&self, id: &IssueId) -> Option<&Issue> {
        self.by_place.get(self.places.get(id)?)
    }

    pub(crate) fn get_mut(&mut self, id: &IssueId) -> Option<&mut Issue> {
        self.by_place.get_mut(self.places.get(id)?)
    }

    pub(crate) fn remove(&mut self, id: &IssueId) -> Option<Issue> {
        self.by_place.remove(&self.places.remove(id)?)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Issue> {
        self.by_place.values()
    }

    pub(crate) fn ids(&self) -> Vec<IssueId> {
        self.iter().map(|issue| issue.id.clone()).collect()
    }
}
