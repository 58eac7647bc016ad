//! The board, as a program reaches it: no run of this build has one.
//!
//! Always true: no launch that asks for a board starts, so no grant holds one of these calls, and the
//! membrane refuses it before it comes here.

use sandbox::contract as wit;
use sandbox::services::{Board, Call};
use vocab::failure::{Failure, FailureClass};

use super::Serving;

impl Board for Serving {
    fn create_epic(
        &mut self,
        _: &Call,
        _: String,
        _: String,
        _: Option<String>,
    ) -> Result<wit::EpicCreated, Failure> {
        Err(no_board())
    }

    fn create_issue(&mut self, _: &Call, _: wit::IssueDraft) -> Result<wit::IssueCreated, Failure> {
        Err(no_board())
    }

    fn update_issue(&mut self, _: &Call, _: String, _: wit::IssueChanges) -> Result<(), Failure> {
        Err(no_board())
    }

    fn set_issue_blocked_by(&mut self, _: &Call, _: String, _: Vec<String>) -> Result<(), Failure> {
        Err(no_board())
    }

    fn remove_epic(&mut self, _: &Call, _: String) -> Result<wit::BoardUsage, Failure> {
        Err(no_board())
    }

    fn remove_issue(&mut self, _: &Call, _: String) -> Result<wit::BoardUsage, Failure> {
        Err(no_board())
    }

    fn wait_for_issue(&mut self, _: &Call, _: String) -> Result<String, Failure> {
        Err(no_board())
    }

    fn list_issues(
        &mut self,
        _: &Call,
        _: Option<wit::IssueStatus>,
        _: Option<String>,
    ) -> Result<Vec<wit::IssueRow>, Failure> {
        Err(no_board())
    }

    fn read_issue(&mut self, _: &Call, _: String) -> Result<wit::Issue, Failure> {
        Err(no_board())
    }
}

fn no_board() -> Failure {
    Failure::new(FailureClass::Unavailable, "this run has no board")
}
