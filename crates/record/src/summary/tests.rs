//! The fold against the rules' own sums, over random turns (06 §15), and its edges.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use vocab::band::BandTokens;
use vocab::candidate::CandidateFault;
use vocab::failure::FailureClass;
use vocab::ids::{AgentId, ModelId};
use vocab::outcome::{ErrorType, TurnVerdict};
use vocab::rewrite::Rewrite;
use vocab::usage::Figure;

use super::*;
use crate::event::{
    Compaction, ContextBreakdown, ContextManaged, Emission, Event, Log, LogLevel, ManagedAction,
    MemoryRevision, PrefixBroken, Prompt, ProviderSwitch, ResponseRejected, Retained, SessionEnded,
    SkillRow, SkillsState, TaskRow, TaskStatus, TasksState, ToolResult, TurnOutcome, Usage,
    WindowTokens,
};
use crate::rules;
use crate::stream::Stream;

/// One turn of one of two agents.
#[derive(Clone, Debug)]
struct Turn {
    agent: u8,
    provider: Option<u8>,
    comparable: Option<u32>,
    actual: Option<u32>,
    output: Option<u64>,
    error: Option<ErrorType>,
    rejected: bool,
    failure: Option<FailureClass>,
    /// Replies abandoned before it; whether each one's price is found in the end.
    abandoned: Vec<bool>,
    /// Whether the run moves before it, and whether its prefix is broken.
    moved: (bool, bool),
    /// What it does with what the agent holds.
    held: Vec<Held>,
}

/// What an agent does with what it holds.
#[derive(Clone, Debug)]
enum Held {
    /// Takes views out, or archives turns.
    Frees { archives: bool },
    /// Compacts its window. A request of its own costs something, nothing, or is not priced.
    Compacts {
        fallback: bool,
        own: bool,
        actual: Option<u32>,
    },
    /// Writes a memory, or deletes one.
    Writes { deletes: bool },
    /// Has read these skills.
    Reads(std::collections::BTreeSet<u8>),
    /// Has done these tasks.
    Does(std::collections::BTreeSet<u8>),
}

fn held() -> impl Strategy<Value = Held> {
    let names = || prop::collection::btree_set(0u8..4, 0..4);
    prop_oneof![
        any::<bool>().prop_map(|archives| Held::Frees { archives }),
        any::<(bool, bool, Option<u16>)>().prop_map(|(fallback, own, actual)| Held::Compacts {
            fallback,
            own,
            actual: actual.map(u32::from),
        }),
        any::<bool>().prop_map(|deletes| Held::Writes { deletes }),
        names().prop_map(Held::Reads),
        names().prop_map(Held::Does),
    ]
}

fn held_event(agent: u8, held: &Held) -> Event {
    match held {
        Held::Frees { archives } => Event::ContextManaged(ContextManaged {
            action: if *archives {
                ManagedAction::ArchiveThread
            } else {
                ManagedAction::EvictFileViews
            },
            reclaimed_tokens: 1,
            items: 1,
            detail: String::new(),
            first_index: Some(1),
        }),
        Held::Compacts {
            fallback,
            own,
            actual,
        } => {
            let tokens = Tokens {
                output: Some(2),
                ..Tokens::default()
            };
            Event::Compaction(Box::new(Compaction {
                strategy: "handoff-summarization",
                trigger: 1.0,
                reclaimed_tokens: 0,
                before: WindowTokens::from(BandTokens::default()),
                after: WindowTokens::from(BandTokens::default()),
                retained: Retained::default(),
                summary: "x".into(),
                fallback: *fallback,
                model_id: "m".into(),
                tokens: own.then_some(tokens),
                cost: actual.filter(|_| *own).map(|cents| Cost {
                    comparable: None,
                    actual: Some(f64::from(cents) / 1000.0),
                }),
            }))
        }
        Held::Writes { deletes } => Event::MemoryRevision(Box::new(MemoryRevision {
            module_id: "memories-0".to_owned(),
            slug: "m".into(),
            revision: 1,
            description: None,
            text: (!deletes).then(|| "x".into()),
            code: None,
            on_use: None,
        })),
        Held::Reads(names) => Event::SkillsState(SkillsState {
            module_id: format!("skills-{agent}"),
            skills: (0..4u8)
                .map(|name| SkillRow {
                    name: name.to_string().into(),
                    description: "x".into(),
                    read: names.contains(&name),
                })
                .collect(),
        }),
        Held::Does(ids) => Event::TasksState(TasksState {
            module_id: format!("tasks-{agent}"),
            tasks: (0..4u8)
                .map(|id| TaskRow {
                    id: id.to_string(),
                    title: "x".to_owned(),
                    description: None,
                    in_scope: None,
                    out_of_scope: None,
                    completion_criteria: None,
                    status: if ids.contains(&id) {
                        TaskStatus::Done
                    } else {
                        TaskStatus::Pending
                    },
                    blocked_by: Vec::new(),
                })
                .collect(),
        }),
    }
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = (
        0u8..2,
        prop::option::of(0u8..2),
        prop::option::weighted(0.8, 0u32..1000),
        prop::option::weighted(0.8, 0u32..1000),
        prop::option::of(0u64..100),
        prop::option::weighted(0.3, prop::sample::select(ErrorType::ALL)),
        any::<bool>(),
        prop::option::of(prop::sample::select(FailureClass::ALL)),
        prop::collection::vec(any::<bool>(), 0..3),
        any::<(bool, bool)>(),
        prop::collection::vec(held(), 0..4),
    )
        .prop_map(
            |(
                agent,
                provider,
                comparable,
                actual,
                output,
                error,
                rejected,
                failure,
                abandoned,
                moved,
                held,
            )| Turn {
                agent,
                provider,
                comparable,
                actual,
                output,
                error,
                rejected,
                failure,
                abandoned,
                moved,
                held,
            },
        );
    prop::collection::vec(turn, 0..20)
}

fn usage(turn: &Turn, figure: Figure) -> Usage {
    let usd = |cents: Option<u32>| cents.map(|cents| f64::from(cents) / 1000.0);
    let cost = Cost {
        comparable: usd(turn.comparable),
        actual: usd(turn.actual),
    };
    Usage {
        profile_id: "p".into(),
        model_id: ModelId::new(format!("m{}", turn.agent)),
        tokens: Tokens {
            uncached_input: Some(5),
            output: turn.output,
            ..Tokens::default()
        },
        cost: (cost != Cost::default()).then_some(cost),
        provider: turn
            .provider
            .map(|name| ProviderName::new(format!("P{name}"))),
        expected_cached_tokens: None,
        wire: None,
        reconciled: false,
        clamped: false,
        figure,
    }
}

fn events(turn: &Turn) -> Vec<Event> {
    let figure = if turn.error.is_some() {
        Figure::Total
    } else {
        Figure::Work
    };
    let usage = usage(turn, figure);
    let (model, provider) = (usage.model_id.clone(), usage.provider.clone());
    let (tokens, cost) = (usage.tokens, usage.cost);
    let mut events = Vec::new();
    if turn.moved.0 {
        events.push(Event::ProviderSwitch(ProviderSwitch {
            model_id: model.clone(),
            from: "P".into(),
            to: "Q".into(),
            fault: CandidateFault::Unavailable,
        }));
    }
    if turn.moved.1 {
        events.push(Event::PrefixBroken(PrefixBroken {
            model_id: model.clone(),
            provider: None,
            message: 0,
            byte: 0,
            act: Some(Rewrite::ProviderMove),
            shared_tokens: 0,
            lost_tokens: 0,
        }));
    }
    events.extend([
        Event::Prompt(Box::new(Prompt {
            messages: Vec::new(),
            reply: None,
            finish_reason: None,
            tokens,
            duration_ms: 3,
            provider: None,
        })),
        Event::Usage(Box::new(usage)),
    ]);
    if turn.rejected {
        events.push(Event::ResponseRejected(Box::new(ResponseRejected {
            chars: 1,
            tokens,
            cost,
            provider,
            model_id: model,
        })));
    }
    events.push(Event::ToolResult(Box::new(ToolResult {
        call_id: "c".into(),
        tool: "search".to_owned(),
        ok: turn.failure.is_none(),
        failure: turn.failure,
        chars: 0,
        preview: String::new(),
        duration_ms: 0,
    })));
    events.extend(turn.held.iter().map(|held| held_event(turn.agent, held)));
    events.push(Event::TurnOutcome(TurnOutcome {
        outcome: if turn.error.is_some() {
            TurnVerdict::Error
        } else {
            TurnVerdict::Progressed
        },
        error: turn.error.map(ErrorType::base),
        error_type: turn.error,
        consecutive_errors: u64::from(turn.error.is_some()),
        turns: 1,
        loop_aborts: turn.abandoned.len() as u64,
        loop_abort_words: turn.abandoned.len() as u64 * 30,
        loop_abort_chars: turn.abandoned.len() as u64 * 200,
        response_chars: turn.output.unwrap_or(0) * 2,
        response_output_tokens: turn.output.unwrap_or(0),
    }));
    events
}

fn emission(agent: Option<u8>, event: Event) -> Emission {
    Emission {
        at_ms: 0,
        agent: agent.map(|agent| AgentId::new(format!("agent-{agent}"))),
        turn: agent.map(|_| 1),
        event,
    }
}

fn conclusion() -> Conclusion {
    Conclusion {
        status: EndStatus::Completed,
        exit_code: 0,
        limits: BTreeMap::new(),
        limit_hit: None,
        wall_ms: 0,
        loop_abort_unpriced: 0,
        capture_bytes: 0,
        capture_stopped: None,
    }
}

#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Shelf {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn written(emissions: Vec<Emission>) -> String {
    let shelf = Shelf::default();
    let stream = Stream::start("s".into(), Box::new(shelf.clone()), None, Box::new(|| {})).unwrap();
    stream.send(emissions);
    stream.finish();
    let bytes = shelf.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

proptest! {
    #[test]
    fn the_summary_is_the_fold_of_the_stream(turns in turns()) {
        let mut emissions: Vec<Emission> = turns
            .iter()
            .flat_map(|turn| events(turn).into_iter().map(|event| emission(Some(turn.agent), event)))
            .collect();
        // What abandoned replies cost becomes known behind the last turn, and belongs to none.
        let mut unpriced = 0;
        for turn in &turns {
            for found in &turn.abandoned {
                if *found {
                    let late = Event::Usage(Box::new(usage(turn, Figure::Total)));
                    emissions.push(Emission { turn: None, ..emission(Some(turn.agent), late) });
                } else {
                    unpriced += 1;
                }
            }
        }
        let mut fold = Fold::new();
        for emission in &emissions {
            fold.take(emission);
        }
        emissions.extend(fold.slots().into_iter().map(|slot| emission(None, Event::SlotUsage(slot))));
        let mut summary = fold.conclude(Conclusion { loop_abort_unpriced: unpriced, ..conclusion() });
        // These agents never spawned; what is summed is all the rest.
        summary.agents = 0;
        emissions.push(emission(None, Event::SessionSummary(Box::new(summary))));
        emissions.push(emission(None, Event::SessionEnded(SessionEnded {
            status: EndStatus::Completed,
            exit_code: 0,
            error: None,
        })));
        let sums: Vec<_> = rules::check(&written(emissions))
            .into_iter()
            .filter(|violation| violation.rule.ends_with("_sums"))
            .collect();
        prop_assert_eq!(sums, []);
    }
}

fn folded(events: impl IntoIterator<Item = Event>) -> Summary {
    let mut fold = Fold::new();
    for event in events {
        fold.take(&emission(Some(0), event));
    }
    fold.conclude(conclusion())
}

#[test]
fn a_run_that_did_nothing_spent_nothing() {
    let summary = folded([]);
    assert_eq!(summary.cost, Some(0.0));
    assert_eq!(summary.comparable_cost, Some(0.0));
    assert_eq!(summary.execution_mode, None);
}

#[test]
fn a_window_at_its_limit_ran_out() {
    let breakdown = |total| {
        Event::ContextBreakdown(ContextBreakdown {
            window_limit: 200,
            total,
            bands: vocab::band::BandTokens::default(),
        })
    };
    let summary = folded([breakdown(150), breakdown(100)]);
    assert_eq!(summary.peak_context_tokens, 150);
    assert!((summary.peak_context_share - 0.75).abs() < 1e-12);
    assert!(!summary.ran_out_of_context);
    assert!(folded([breakdown(200)]).ran_out_of_context);
}

#[test]
fn calls_repeated_and_compactions_ignored_are_errors_of_a_missing_completion() {
    let outcome = |kind: ErrorType, streak| {
        Event::TurnOutcome(TurnOutcome {
            outcome: TurnVerdict::Error,
            error: Some(kind.base()),
            error_type: Some(kind),
            consecutive_errors: streak,
            turns: streak,
            loop_aborts: 0,
            loop_abort_words: 0,
            loop_abort_chars: 0,
            response_chars: 0,
            response_output_tokens: 0,
        })
    };
    let summary = folded([
        outcome(ErrorType::RepeatedCall, 1),
        outcome(ErrorType::MissingCompletionCompaction, 2),
        outcome(ErrorType::RepeatedCall, 3),
    ]);
    let errors = summary.errors;
    assert_eq!((errors.errors, errors.missing_completion), (3, 3));
    assert_eq!(
        errors.by_type,
        BTreeMap::from([
            (ErrorType::MissingCompletionCompaction, 1),
            (ErrorType::RepeatedCall, 2),
        ])
    );
}

/// F63.
#[test]
fn a_request_that_the_provider_finds_too_long_ran_out() {
    let log = Event::Log(Log {
        level: LogLevel::Warn,
        message: String::new(),
        code: Some("context_overflow"),
    });
    assert!(folded([log]).ran_out_of_context);
}

#[test]
fn a_late_price_moves_no_turn_to_its_provider() {
    let turn = Turn {
        agent: 0,
        provider: Some(0),
        comparable: None,
        actual: Some(1),
        output: None,
        error: None,
        rejected: false,
        failure: None,
        abandoned: vec![true],
        moved: (false, false),
        held: Vec::new(),
    };
    let late = |provider| Emission {
        turn: None,
        ..emission(
            Some(0),
            Event::Usage(Box::new(Usage {
                provider: Some(provider),
                ..usage(&turn, Figure::Total)
            })),
        )
    };
    let mut fold = Fold::new();
    fold.take(&late("late".into()));
    for event in events(&turn) {
        fold.take(&emission(Some(0), event));
    }
    let summary = fold.conclude(conclusion());
    // These agents never spawned, so their turns stand in a row without a model.
    let of = |name: &str| {
        let rows = summary.provider_stats.iter();
        rows.filter(|row| row.provider.as_ref().is_some_and(|it| it.as_str() == name))
            .fold((0, 0), |sum, row| (sum.0 + row.turns, sum.1 + row.calls))
    };
    assert_eq!(of("P0"), (1, 1));
    assert_eq!(of("late"), (0, 1));
    assert!(summary.work_cost < summary.cost);
}

#[test]
fn retries_are_counted_by_their_log_lines() {
    let log = |code| {
        Event::Log(Log {
            level: LogLevel::Warn,
            message: String::new(),
            code,
        })
    };
    let summary = folded([log(Some("retry")), log(None), log(Some("retry"))]);
    assert_eq!(summary.model_retries, 2);
}

#[test]
fn a_provider_that_changes_its_spelling_stays_one_row() {
    let mut fold = Fold::new();
    for name in ["Z.AI", "z-ai", "Z.ai"] {
        let turn = Turn {
            agent: 0,
            provider: None,
            comparable: None,
            actual: Some(2),
            output: Some(1),
            error: None,
            rejected: false,
            failure: None,
            abandoned: Vec::new(),
            moved: (false, false),
            held: Vec::new(),
        };
        let usage = Usage {
            provider: Some(name.into()),
            ..usage(&turn, Figure::Work)
        };
        fold.take(&Emission {
            at_ms: 0,
            agent: Some(AgentId::from("agent-0")),
            turn: Some(1),
            event: Event::Usage(Box::new(usage)),
        });
    }
    let summary = fold.conclude(conclusion());
    let [row] = summary.provider_stats.as_slice() else {
        panic!("one provider: {:?}", summary.provider_stats);
    };
    assert_eq!(row.provider, Some("Z.AI".into()));
    assert_eq!((row.calls, row.cost.actual), (3, Some(0.006)));
}

#[test]
fn a_capped_reply_sets_no_maximum() {
    let outcome = |error: Option<ErrorType>, chars| {
        Event::TurnOutcome(TurnOutcome {
            outcome: TurnVerdict::Error,
            error: error.map(ErrorType::base),
            error_type: error,
            consecutive_errors: 1,
            turns: 1,
            loop_aborts: 0,
            loop_abort_words: 0,
            loop_abort_chars: 0,
            response_chars: chars,
            response_output_tokens: chars,
        })
    };
    let summary = folded([
        outcome(Some(ErrorType::ModelLengthCapped), 90),
        outcome(Some(ErrorType::MissingCompletionNoCall), 10),
    ]);
    assert_eq!(summary.max_response_chars, 10);
    assert_eq!(summary.max_response_output_tokens, 10);
}
