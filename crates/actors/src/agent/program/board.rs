//! The board, as a program reaches it.

use sandbox::contract as wit;
use sandbox::services::{Board, Call};
use vocab::failure::Failure;

use super::{Serving, unfilled};

impl Board for Serving {
    fn create_epic(
        &mut self,
        _: &Call,
        _: String,
        _: String,
        _: Option<String>,
    ) -> Result<wit::EpicCreated, Failure> {
        Err(unfilled())
    }

    fn create_issue(&mut self, _: &Call, _: wit::IssueDraft) -> Result<wit::IssueCreated, Failure> {
        Err(unfilled())
    }

    fn update_issue(&mut self, _: &Call, _: String, _: wit::IssueChanges) -> Result<(), Failure> {
        Err(unfilled())
    }

    fn set_issue_blocked_by(&mut self, _: &Call, _: String, _: Vec<String>) -> Result<(), Failure> {
        Err(unfilled())
    }

    fn remove_epic(&mut self, _: &Call, _: String) -> Result<wit::BoardUsage, Failure> {
        Err(unfilled())
    }

    fn remove_issue(&mut self, _: &Call, _: String) -> Result<wit::BoardUsage, Failure> {
        Err(unfilled())
    }

    fn wait_for_issue(&mut self, _: &Call, _: String) -> Result<String, Failure> {
        Err(unfilled())
    }

    fn list_issues(
        &mut self,
        _: &Call,
        _: Option<wit::IssueStatus>,
        _: Option<String>,
    ) -> Result<Vec<wit::IssueRow>, Failure> {
        Err(unfilled())
    }

    fn read_issue(&mut self, _: &Call, _: String) -> Result<wit::Issue, Failure> {
        Err(unfilled())
    }
}
