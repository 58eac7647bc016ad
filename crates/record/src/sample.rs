//! Fixed inputs for tests: events of a made-up session, the same each time.

use std::collections::BTreeMap;
use std::sync::Arc;

use vocab::band::{Band, BandTokens};
use vocab::ids::{AgentId, CallId, MessageId, ModelId, SessionId, Slug};
use vocab::message::Role;
use vocab::outcome::{EndStatus, TurnVerdict};
use vocab::usage::{Cost, Figure, Tokens};

use crate::event::{
    AgentModules, AgentSpawned, AgentState, AgentStatus, AgentSurface, AssistantMessage,
    CallDescriptor, ContextBreakdown, ContextMessage, Emission, Event, ModuleRow, Origin, Prompt,
    SessionEnded, SessionStarted, Shell, TasksState, ToolCall, ToolResult, TurnOutcome, TurnTiming,
    Usage,
};
use crate::summary::{Conclusion, Fold};

/// The session all samples belong to.
pub(crate) fn session_id() -> SessionId {
    SessionId::from("sample")
}

/// A whole session of one agent that runs a command a turn and finishes with its last turn.
pub(crate) fn session(turns: u32) -> Vec<Emission> {
    let mut session = Session::default();
    session.open();
    for turn in 1..=turns {
        session.turn(turn, turn == turns);
    }
    session.close();
    session.emissions
}

const START_MS: i64 = 1_767_225_600_000;

fn root() -> AgentId {
    AgentId::from("root")
}

fn model() -> ModelId {
    ModelId::from("mock/sample")
}

fn profile() -> Slug {
    Slug::from("root")
}

#[derive(Default)]
struct Session {
    emissions: Vec<Emission>,
    fold: Fold,
    window: Vec<MessageId>,
    tokens: BandTokens,
    at_ms: u32,
}

impl Session {
    fn emit(&mut self, agent: Option<AgentId>, turn: Option<u32>, event: Event) {
        let emission = Emission {
            at_ms: START_MS + i64::from(self.at_ms),
            agent,
            turn,
            event,
        };
        self.at_ms += 1;
        self.fold.take(&emission);
        self.emissions.push(emission);
    }

    fn of_root(&mut self, turn: Option<u32>, event: Event) {
        self.emit(Some(root()), turn, event);
    }

    fn open(&mut self) {
        let started = SessionStarted {
            capability_set: None,
            model_providers: None,
            model_prices: None,
            routing_key: "abcdefghijklmnopqrstuvwx".into(),
            configuration: None,
            gg_version: "0.0.0",
            commit: None,
            workspace: Some("/workspace".to_owned()),
            windows: BTreeMap::from([(model(), 200_000)]),
            limits: BTreeMap::new(),
        };
        self.emit(None, None, Event::SessionStarted(Box::new(started)));
        let spawned = AgentSpawned {
            brief: "do the task".into(),
            cwd: "/workspace".to_owned(),
            worktree: None,
            parent_id: None,
            profile_id: profile(),
            profile_name: "Root".to_owned(),
            origin: Origin::Root,
            agent_kind: "root",
            depth: 0,
            model_id: model(),
            window_limit: 200_000,
        };
        self.of_root(None, Event::AgentSpawned(Box::new(spawned)));
        let history = ModuleRow {
            kind: "history",
            store: Some("history-1".to_owned()),
            enabled: true,
            carried: true,
            origin: "created",
            writable: true,
            scope: None,
        };
        let tasks = ModuleRow {
            kind: "tasks",
            store: Some("tasks-0".to_owned()),
            ..history.clone()
        };
        self.of_root(
            None,
            Event::AgentModules(AgentModules {
                modules: vec![history, tasks],
            }),
        );
        self.of_root(
            None,
            Event::AgentSurface(AgentSurface {
                execution_mode: "tool_calling",
                program_language: None,
                doc_view_types: None,
                tools: vec!["shell", "finish"],
                apis: Vec::new(),
            }),
        );
        let no_tasks = TasksState {
            module_id: "tasks-0".to_owned(),
            tasks: Vec::new(),
        };
        self.of_root(None, Event::TasksState(no_tasks));
        self.status(AgentState::Running, None);
        self.push(1, Role::System, Band::System, "You work on files.");
        self.push(1, Role::User, Band::UserPrompt, "do the task");
    }

    fn status(&mut self, status: AgentState, ended_as: Option<EndStatus>) {
        self.of_root(
            None,
            Event::AgentStatus(AgentStatus {
                status,
                waiting_on: None,
                ended_as,
                result: ended_as.map(|_| "done".to_owned()),
            }),
        );
    }

    /// Puts a message into the window; it is logged in the order of the turn's events.
    fn push(&mut self, turn: u32, role: Role, band: Band, content: &str) {
        self.window.push(MessageId(self.window.len() as u64));
        self.tokens.add(band, 4);
        self.pending_messages(turn, role, band, content);
    }

    fn pending_messages(&mut self, turn: u32, role: Role, band: Band, content: &str) {
        let id = MessageId(self.window.len() as u64 - 1);
        if id.0 == 0 {
            self.breakdown(turn);
        }
        self.of_root(
            Some(turn),
            Event::ContextMessage(Box::new(ContextMessage {
                id,
                role,
                band,
                tokens: 4,
                label: None,
                content: content.into(),
                images: Vec::new(),
                tool_calls: Vec::new(),
                tool_call_id: None,
            })),
        );
    }

    fn breakdown(&mut self, turn: u32) {
        let event = Event::ContextBreakdown(ContextBreakdown {
            window_limit: 200_000,
            total: self.tokens.total(),
            bands: self.tokens,
        });
        self.of_root(Some(turn), event);
    }

    fn turn(&mut self, turn: u32, last: bool) {
        let call_id = CallId::new(format!("call_{turn}"));
        let tool = if last { "finish" } else { "shell" };
        let arguments: Arc<str> = if last {
            "{\"summary\":\"done\"}".into()
        } else {
            "{\"command\":\"true\"}".into()
        };
        if turn > 1 {
            self.breakdown(turn);
            self.push(
                turn,
                Role::Tool,
                Band::ToolOutput,
                &format!("output {turn}"),
            );
        }
        let request = self.window.clone();
        self.push(
            turn,
            Role::Assistant,
            Band::Assistant,
            &format!("reply {turn}"),
        );
        let tokens = Tokens {
            uncached_input: Some(100),
            cached_input: Some(900),
            output: Some(20),
            reasoning: Some(0),
            cache_write: None,
        };
        let prompt = Prompt {
            messages: request,
            reply: self.window.last().copied(),
            finish_reason: Some("tool_calls".to_owned()),
            tokens,
            duration_ms: 30,
            provider: Some("sample".into()),
        };
        self.of_root(Some(turn), Event::Prompt(Box::new(prompt)));
        let usage = Usage {
            profile_id: profile(),
            model_id: model(),
            tokens,
            cost: Some(Cost {
                comparable: None,
                actual: Some(0.001),
            }),
            provider: Some("sample".into()),
            expected_cached_tokens: None,
            wire: None,
            reconciled: false,
            clamped: false,
            figure: Figure::Work,
        };
        self.of_root(Some(turn), Event::Usage(Box::new(usage)));
        let said = AssistantMessage {
            text: Some(format!("reply {turn}").into()),
            calls: vec![CallDescriptor {
                id: call_id.clone(),
                name: tool.to_owned(),
                arguments: Arc::clone(&arguments),
            }],
            reasoning: None,
        };
        self.of_root(Some(turn), Event::AssistantMessage(said));
        let call = ToolCall {
            call_id: call_id.clone(),
            tool: tool.to_owned(),
            arguments,
        };
        self.of_root(Some(turn), Event::ToolCall(call));
        if !last {
            let command = Shell {
                origin: "tool",
                command: "true".into(),
                cwd: ".".to_owned(),
                exit_code: 0,
                stdout: format!("output {}", turn + 1),
                stderr: String::new(),
                stdout_dropped: 0,
                stderr_dropped: 0,
            };
            self.of_root(Some(turn), Event::Shell(Box::new(command)));
        }
        let result = ToolResult {
            call_id,
            tool: tool.to_owned(),
            ok: true,
            failure: None,
            chars: 8,
            preview: format!("output {}", turn + 1),
            duration_ms: 1,
        };
        self.of_root(Some(turn), Event::ToolResult(Box::new(result)));
        let outcome = TurnOutcome {
            outcome: if last {
                TurnVerdict::Finished
            } else {
                TurnVerdict::Progressed
            },
            error: None,
            error_type: None,
            consecutive_errors: 0,
            turns: u64::from(turn),
            loop_aborts: 0,
            loop_abort_words: 0,
            loop_abort_chars: 0,
            response_chars: 7,
            response_output_tokens: 20,
        };
        self.of_root(Some(turn), Event::TurnOutcome(outcome));
        let timing = TurnTiming {
            prompt_ms: 1,
            request_ms: 30,
            response_ms: 2,
        };
        self.of_root(Some(turn), Event::TurnTiming(timing));
    }

    fn close(&mut self) {
        self.status(AgentState::Done, Some(EndStatus::Completed));
        for slot in self.fold.slots() {
            self.emit(None, None, Event::SlotUsage(slot));
        }
        let summary = std::mem::take(&mut self.fold).conclude(Conclusion {
            status: EndStatus::Completed,
            exit_code: 0,
            limits: BTreeMap::new(),
            limit_hit: None,
            loop_abort_unpriced: 0,
            wall_ms: u64::from(self.at_ms),
            capture_bytes: 0,
            capture_stopped: None,
        });
        self.emit(None, None, Event::SessionSummary(Box::new(summary)));
        let ended = SessionEnded {
            status: EndStatus::Completed,
            exit_code: 0,
            error: None,
        };
        self.emit(None, None, Event::SessionEnded(ended));
    }
}
