//! A world that carries out what a board asks for, one answer at a time, as it is told to.
//!
//! It checks on the way what has to hold of any run: permits are used once, merges never overlap,
//! nothing starts before its blockers are done, and what is landed is landed once.

use std::collections::{BTreeMap, BTreeSet};

use vocab::board::{IssueStatus, MergeOutcome};
use vocab::ids::IssueId;
use vocab::outcome::EndStatus;

use crate::*;

/// What may still be answered.
pub(super) type Outstanding = BTreeMap<Ticket, (IssueId, Ask)>;

pub(super) struct World {
    pub(super) board: Board,
    pub(super) asks: Outstanding,
    /// Every effect there was, in order.
    pub(super) log: Vec<Effect>,
    /// Granted slots that were neither run with nor given back.
    pub(super) permits: BTreeSet<Ticket>,
    /// Slots that were withdrawn with the grant under way.
    pub(super) late: Vec<Ticket>,
    pub(super) woken: Vec<WaitId>,
    merged: BTreeMap<IssueId, u32>,
    cuts: u32,
}

/// A worktree was put away, or stays; nothing was given up in it.
pub(super) fn put_away(end: PutAway) -> Answer {
    Answer::PutAway {
        end,
        given_up: Vec::new(),
    }
}

pub(super) fn policy() -> BoardPolicy {
    BoardPolicy {
        merge_agent: "merger".into(),
        max_epics: 10,
        max_issues: 200,
        max_retries: 1,
    }
}

pub(super) fn filer() -> Caller {
    Caller {
        works_for: None,
        implementers: vec!["coder".into(), "writer".into()],
        reviewers: vec!["critic".into(), "judge".into()],
        reviewers_required: false,
    }
}

pub(super) fn new_issue(title: &str, blocked_by: &[&str], reviewers: &[&str]) -> NewIssue {
    NewIssue {
        title: title.to_owned(),
        in_scope: "this".to_owned(),
        out_of_scope: "that".to_owned(),
        completion_criteria: "it works".to_owned(),
        agent: "coder".to_owned(),
        blocked_by: blocked_by.iter().map(|id| IssueId::from(*id)).collect(),
        reviewers: reviewers.iter().map(|slug| (*slug).into()).collect(),
        ..NewIssue::default()
    }
}

pub(super) fn stopped(status: EndStatus) -> Answer {
    Answer::Ended(AgentEnd::Stopped { status, text: None })
}

pub(super) fn id(text: &str) -> IssueId {
    text.into()
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(policy())
    }

    pub(super) fn with(policy: BoardPolicy) -> Self {
        Self {
            board: Board::new(policy),
            asks: BTreeMap::new(),
            log: Vec::new(),
            permits: BTreeSet::new(),
            late: Vec::new(),
            woken: Vec::new(),
            merged: BTreeMap::new(),
            cuts: 0,
        }
    }

    pub(super) fn call(&mut self, caller: &Caller, call: BoardCall) -> Result<Reply, BoardError> {
        let before = self.board.clone();
        match self.board.call(caller, call) {
            Ok((reply, effects)) => {
                self.take(effects);
                Ok(reply)
            }
            Err(error) => {
                assert_eq!(
                    format!("{before:?}"),
                    format!("{:?}", self.board),
                    "{error}"
                );
                Err(error)
            }
        }
    }

    pub(super) fn file(&mut self, title: &str, blocked_by: &[&str], reviewers: &[&str]) -> IssueId {
        let new = new_issue(title, blocked_by, reviewers);
        match self.call(&filer(), BoardCall::CreateIssue(new)).unwrap() {
            Reply::IssueCreated { id, .. } => id,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn answer(&mut self, ticket: Ticket, answer: Answer) {
        if self.asks.remove(&ticket).is_some() && answer == Answer::Granted {
            self.permits.insert(ticket);
        }
        let effects = self.board.answer(ticket, answer);
        self.take(effects);
    }

    pub(super) fn stop(&mut self, cause: StopCause) {
        let effects = self.board.stop(cause);
        self.take(effects);
    }

    pub(super) fn status(&self, id: &str) -> IssueStatus {
        self.board.issue(&id.into()).unwrap().status
    }

    pub(super) fn failure(&self, id: &str) -> String {
        let issue = self.board.issue(&id.into()).unwrap();
        issue.failure.clone().unwrap_or_default()
    }

    /// What an issue asks for now.
    pub(super) fn asked(&self, id: &str) -> Option<(Ticket, Ask)> {
        let mut asks = self.asks.iter().filter(|(_, (of, _))| of.as_str() == id);
        let asked = asks.next().map(|(ticket, (_, ask))| (*ticket, ask.clone()));
        assert_eq!(asks.next(), None, "one ask at a time");
        asked
    }

    /// Answers what an issue asks for.
    pub(super) fn tell(&mut self, id: &str, answer: Answer) {
        let (ticket, _) = self.asked(id).expect("something is asked for");
        self.answer(ticket, answer);
    }

    /// Answers what an issue asks for as if all went well.
    pub(super) fn go_on(&mut self, id: &str) -> Ask {
        let (ticket, ask) = self.asked(id).expect("something is asked for");
        let answer = self.well(&ask);
        self.answer(ticket, answer);
        ask
    }

    /// Goes on until an ask matches.
    pub(super) fn until(&mut self, id: &str, wanted: impl Fn(&Ask) -> bool) -> Ask {
        loop {
            let (_, ask) = self.asked(id).expect("something is asked for");
            if wanted(&ask) {
                return ask;
            }
            self.go_on(id);
        }
    }

    /// Answers everything as if all went well, until nothing is asked for.
    pub(super) fn finish(&mut self) {
        while let Some((ticket, (_, ask))) = self.asks.iter().next() {
            let (ticket, ask) = (*ticket, ask.clone());
            let answer = self.well(&ask);
            self.answer(ticket, answer);
        }
    }

    /// What becomes of an ask when all goes well.
    pub(super) fn well(&mut self, ask: &Ask) -> Answer {
        match ask {
            Ask::Slot(_) => Answer::Granted,
            Ask::Cut { branch_stem } => {
                self.cuts += 1;
                Answer::Cut(Ok(Worktree {
                    path: format!("/trees/{}", self.cuts).into(),
                    branch: branch_stem.clone(),
                    baseline: "base".to_owned(),
                }))
            }
            Ask::Run { seat, .. } => Answer::Ended(match seat.duty {
                Duty::Implement { .. } | Duty::Merge { .. } => AgentEnd::Finished,
                Duty::Review { .. } => AgentEnd::Approved,
            }),
            Ask::Commit { .. } => Answer::Committed(Ok(Committed {
                commit: "work".to_owned(),
                changes: ChangeMap::default(),
                ignored: Vec::new(),
            })),
            Ask::Reset { .. } => Answer::Reset(Ok(())),
            Ask::Merge { .. } => Answer::Merged(MergeEnd::Merged {
                commit: "head".to_owned(),
            }),
            Ask::Check => Answer::Checked(Resolution::Resolved {
                commit: "head".to_owned(),
            }),
            Ask::Restore => Answer::Restored(Ok(Vec::new())),
            Ask::Remove { .. } | Ask::Discard { .. } => put_away(PutAway::Removed),
        }
    }

    pub(super) fn conflict() -> Answer {
        Answer::Merged(MergeEnd::Conflict {
            paths: vec!["a.txt".to_owned()],
            into: "main".to_owned(),
            output: "CONFLICT".to_owned(),
        })
    }

    /// What the record's rules say of all the record was told.
    pub(super) fn verify(&self) {
        let mut text = String::new();
        for (seq, event) in self.log.iter().filter_map(Effect::event).enumerate() {
            let mut line = serde_json::to_value(event).unwrap();
            line["seq"] = seq.into();
            line["ts"] = "2026-01-31T09:08:07.123Z".into();
            line["sessionId"] = "s".into();
            text.extend([line.to_string(), "\n".to_owned()]);
        }
        let mut violations = record::rules::check(&text);
        violations.retain(|it| ["board", "envelope", "framing"].contains(&it.rule));
        assert_eq!(violations, [], "{text}");
    }

    /// The agents started so far, in order.
    pub(super) fn started(&self) -> Vec<String> {
        let started = self.log.iter().filter_map(|effect| match effect {
            Effect::Ask {
                ask: Ask::Run { seat, .. },
                ..
            } => Some(seat.agent.to_string()),
            _ => None,
        });
        started.collect()
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match &effect {
                Effect::Ask { ticket, issue, ask } => {
                    self.check(issue, ask);
                    let twice = self.asks.insert(*ticket, (issue.clone(), ask.clone()));
                    assert_eq!(twice, None);
                }
                Effect::Withdraw(ticket) => {
                    let (_, ask) = self.asks.remove(ticket).expect("it was asked for");
                    assert!(matches!(ask, Ask::Slot(_)), "{ask:?}");
                    self.late.push(*ticket);
                }
                Effect::GiveBack(ticket) => {
                    let held = self.permits.remove(ticket);
                    assert!(held || self.late.contains(ticket), "{ticket:?}");
                }
                Effect::Wake(wait) => self.woken.push(*wait),
                Effect::Landed(landed) => {
                    if matches!(
                        landed.outcome,
                        MergeOutcome::Merged | MergeOutcome::Resolved
                    ) {
                        *self.merged.entry(landed.issue.clone()).or_default() += 1;
                    }
                }
                Effect::Moved(_)
                | Effect::Reviewed(_)
                | Effect::Warn { .. }
                | Effect::Defect(_) => {}
            }
            self.log.push(effect);
        }
        self.hold();
    }

    /// What holds of an ask as it is made.
    fn check(&mut self, issue: &IssueId, ask: &Ask) {
        let merges = match ask {
            Ask::Slot(seat) | Ask::Run { seat, .. } => matches!(seat.duty, Duty::Merge { .. }),
            Ask::Merge { .. } | Ask::Check | Ask::Restore => true,
            _ => false,
        };
        if merges {
            assert_eq!(self.board.merging(), Some(issue), "{ask:?}");
        }
        if let Ask::Run { slot, seat, .. } = ask {
            assert!(self.permits.remove(slot), "{seat:?} runs with a permit");
        }
        let starts = match ask {
            Ask::Slot(seat) => matches!(seat.duty, Duty::Implement { .. }),
            _ => false,
        };
        if starts {
            for blocker in &self.board.issue(issue).unwrap().blocked_by {
                let blocker = self.board.issue(blocker).unwrap();
                assert_eq!(blocker.status, IssueStatus::Done, "{issue}");
            }
        }
    }

    /// What holds whenever all effects were taken.
    pub(super) fn hold(&self) {
        for issue in self.board.issues() {
            let asks = self.asks.values().filter(|(of, _)| *of == issue.id).count();
            assert!(asks <= 1, "{} asks for {asks} things", issue.id);
            let working = matches!(
                issue.status,
                IssueStatus::InProgress | IssueStatus::InReview
            );
            let in_line = self.board.line.contains(&issue.id);
            assert!(!working || asks == 1 || in_line, "{issue:?}");
            let merges = self.merged.get(&issue.id).copied().unwrap_or_default();
            let done = issue.status == IssueStatus::Done;
            assert_eq!(merges, u32::from(done), "{}", issue.id);
        }
        let line = !self.board.line.is_empty();
        assert!(!line || self.board.merging().is_some());
        assert_eq!(self.board.is_quiet(), self.asks.is_empty());
    }
}
