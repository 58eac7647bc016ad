//! End-to-end suites: the real binary against the fake gateway.
//!
//! One file a kind of case. A test is a launch, a script of replies and what must have happened;
//! what must hold after every run is checked by the harness. No test asserts how long something
//! took, only its order, what a timer cannot undercut, and that it did not hang.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod ablation;
mod arms;
mod autoload;
mod bad_input;
mod board;
mod code_knowledge;
mod coders;
mod common;
mod compaction;
mod compaction_by_agent;
mod compaction_failures;
mod context_ablation;
mod costs;
mod disk_full;
mod documentation;
mod exec;
mod exit_codes;
mod families;
mod field_assembly;
mod field_config;
mod field_costs;
mod field_exits;
mod field_files;
mod field_provider;
mod field_repetition;
mod field_shell;
mod field_sse;
mod fork;
mod holdings_ablation;
mod hooks;
mod hooks_and_stops;
mod hooks_failing;
mod human_log;
mod issue_calls;
mod kill9;
mod long_session;
mod long_windows;
mod machines;
mod managed_context;
mod memories;
mod memories_linked;
mod mock;
mod panics;
mod passing_on;
mod persistence;
mod pictures;
mod prefix;
mod program_modules;
mod programs;
mod provider_cache;
mod provider_day;
mod repetition;
mod retry;
mod signals;
mod skills;
mod stops;
mod subagents;
mod sums;
mod tasks;
mod trees;
mod windowed;
