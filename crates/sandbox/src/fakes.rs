//! Services for tests: every call is recorded and answered by a canned value, or fails as told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use vocab::failure::{Failure, FailureClass};
use vocab::grant::Offer;
use vocab::operations::{EndingRole, Operation};

use crate::contract as wit;
use crate::services::{
    Board, Call, Context, Delegation, Docs, Files, Frame, Memories, Programs, Session, Shell,
    Skills, Tasks, Views, functions,
};

/// What the fake was told and what it saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// `open <id>`, `<id>(<arguments>)`, `close <id> <class>`, in order.
    pub(crate) lines: Vec<String>,
}

/// Answers every call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fake {
    pub(crate) seen: Arc<Mutex<Seen>>,
    /// What all calls of one operation fail with.
    pub(crate) fails: Option<(&'static str, FailureClass)>,
    /// What every call fails with.
    pub(crate) all_fail: Option<FailureClass>,
    /// What a call takes.
    pub(crate) takes: Duration,
    pub(crate) clock_spent: bool,
    pub(crate) pending: Option<String>,
    pub(crate) documented: bool,
}

impl Fake {
    fn note(&self, line: String) {
        self.seen.lock().unwrap().lines.push(line);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.seen.lock().unwrap().lines.clone()
    }

    fn answer<T: Canned>(&self, call: &Call, arguments: String) -> Result<T, Failure> {
        self.note(format!("{}{arguments}", call.operation().id));
        if !self.takes.is_zero() {
            // A call that takes its time: nothing else tells a clock that it does.
            std::thread::park_timeout(self.takes);
        }
        let one = self
            .fails
            .filter(|(id, _)| *id == call.operation().id)
            .map(|(_, class)| class);
        match self.all_fail.or(one) {
            Some(class) => Err(Failure::new(class, "as the test asked")),
            None => Ok(T::canned()),
        }
    }
}

impl Frame for Fake {
    fn opened(&mut self, operation: &'static Operation) {
        self.note(format!("open {}", operation.id));
    }

    fn closed(&mut self, operation: &'static Operation, failure: Option<FailureClass>) {
        let end = failure.map_or("ok", FailureClass::as_str);
        self.note(format!("close {} {end}", operation.id));
    }

    fn clock_spent(&self) -> bool {
        self.clock_spent
    }

    fn pending(&self, _: &'static Operation) -> Option<String> {
        self.pending.clone()
    }

    fn documented(&self, _: &'static Operation) -> bool {
        self.documented
    }

    fn spelling(&self, operation: &'static Operation) -> String {
        format!("gg.{}", operation.id)
    }
}

macro_rules! fake {
    ($(
        $(#[$trait_meta:meta])*
        $module:ident $name:ident {
            $(
                $(#[$meta:meta])*
                $key:ident ( $($argument:ident : $type:ty),* ) -> $result:ty;
            )+
        }
    )+) => {
        $(
            impl $name for Fake {
                $(
                    fn $key(&mut self, call: &Call, $($argument: $type),*)
                        -> Result<$result, Failure>
                    {
                        let arguments: Vec<String> = vec![$(format!("{:?}", $argument)),*];
                        self.answer(call, format!("({})", arguments.join(", ")))
                    }
                )+
            }
        )+
    };
}

functions!(fake);

/// The one value of a type that tests expect.
trait Canned {
    fn canned() -> Self;
}

macro_rules! canned {
    ($($type:ty => $value:expr;)+) => {
        $(impl Canned for $type { fn canned() -> Self { $value } })+
    };
}

const BOARD: wit::BoardUsage = wit::BoardUsage {
    epics: 1,
    max_epics: 2,
    issues: 3,
    max_issues: 4,
};

fn row() -> wit::IssueRow {
    wit::IssueRow {
        id: "ISSUE-1".to_owned(),
        epic: None,
        title: "t".to_owned(),
        status: wit::IssueStatus::InReview,
        agent: "a".to_owned(),
        reviewers: vec!["r".to_owned()],
        blocked_by: Vec::new(),
        attempts: 2,
    }
}

canned! {
    () => ();
    u32 => 7;
    u64 => 9_007_199_254_740_991;
    String => "ü\u{1f600}".to_owned();
    wit::FileRead => wit::FileRead::Text(wit::TextRead {
        contents: "one\ntwo".to_owned(),
        first_line: 1,
        last_line: 2,
        total_lines: 9,
        truncated: true,
    });
    Vec<wit::DirEntry> => vec![wit::DirEntry {
        name: "src".to_owned(),
        kind: wit::EntryKind::Directory,
    }];
    Vec<wit::SearchMatch> => vec![wit::SearchMatch {
        path: "a".to_owned(),
        line: 3,
        text: "x".to_owned(),
    }];
    wit::ShellOutput => wit::ShellOutput {
        exit_code: -1,
        output: String::new(),
        truncated: false,
    };
    wit::EpicCreated => wit::EpicCreated { id: "ABC".to_owned(), board: BOARD };
    wit::IssueCreated => wit::IssueCreated { id: "ABC-1".to_owned(), board: BOARD };
    wit::BoardUsage => BOARD;
    Vec<wit::IssueRow> => vec![row()];
    wit::Issue => wit::Issue {
        row: row(),
        description: Some("d".to_owned()),
        in_scope: "i".to_owned(),
        out_of_scope: "o".to_owned(),
        completion_criteria: "c".to_owned(),
        rounds: 1,
        verdicts: vec![wit::Verdict {
            round: 1,
            reviewer: "r".to_owned(),
            kind: wit::VerdictKind::ChangesRequested,
            items: vec!["x".to_owned()],
        }],
        failure: None,
    };
    wit::TaskUsage => wit::TaskUsage { count: 1, max_tasks: 2 };
    wit::MemoryUsage => wit::MemoryUsage {
        count: 1,
        max_count: None,
        total_chars: 2,
        max_total_chars: Some(3),
        index_chars: None,
        max_index_chars: None,
    };
    Vec<wit::MemoryHit> => vec![wit::MemoryHit {
        name: "n".to_owned(),
        description: "d".to_owned(),
        matched: 1,
        occurrences: 2,
        excerpt: "e".to_owned(),
    }];
    wit::DocSearch => wit::DocSearch {
        total: 1,
        offset: 0,
        hits: vec![wit::DocHit {
            key: "k".to_owned(),
            kind: wit::DocKind::Type,
            module: "m".to_owned(),
            name: "n".to_owned(),
            summary: "s".to_owned(),
        }],
    };
    Vec<wit::OpenView> => vec![wit::OpenView {
        kind: wit::ViewKind::File,
        selector: "a".to_owned(),
        tokens: 5,
        region: Some(wit::LineRegion { first: 1, last: 2 }),
    }];
    wit::Reclaimed => wit::Reclaimed { items: 1, tokens: 2 };
    wit::Archived => wit::Archived { turns: vec![1, 2], items: 3, tokens: 4 };
    Vec<wit::ArchiveMatch> => vec![wit::ArchiveMatch {
        ordinal: 1,
        turn: 2,
        role: wit::MessageRole::Tool,
        text: "t".to_owned(),
    }];
    wit::SubagentHandle => wit::SubagentHandle { id: "agent-1".to_owned() };
    Vec<wit::SubagentOutcome> => vec![wit::SubagentOutcome {
        id: "agent-1".to_owned(),
        text: None,
        status: wit::AgentStatus::TimedOut,
        ending: Some(wit::Ending::RequestChanges(vec!["x".to_owned()])),
    }];
    Vec<wit::ProgramEntry> => vec![wit::ProgramEntry {
        id: "p1".to_owned(),
        turn: 1,
        lines: 2,
        chars: 3,
        ok: true,
        error: None,
        opening: false,
    }];
}

/// Everything a role can be offered.
pub(crate) fn everything(role: EndingRole) -> Offer {
    Offer::everything(role)
}

/// What buys nothing.
pub(crate) fn nothing(role: EndingRole) -> Offer {
    Offer::nothing(role)
}
