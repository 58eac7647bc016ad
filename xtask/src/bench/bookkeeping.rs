//! What a turn costs an agent before its request leaves, by how much its window holds: pinned
//! blocks, accounting, compaction check, signal, request assembly. And how fast tokens are counted.
//!
//! The floor of the turn is the same turn in a window of next to nothing: what grows beside it
//! grows with the window.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use context::compaction::{Compaction, CompactionStrategy, Policy};
use context::signal::{self, SignalPolicy};
use context::tokens;
use context::window::{BlockKind, NewItem, Window};
use provider::degraded::RoutingFields;
use provider::request::{
    CacheLifetime, Head, ModelRequest, Shape, ToolChoice, Toolset, body, toolset,
};
use vocab::band::Band;
use vocab::message::{Message, ToolCall};
use vocab::tools::{ToolName, Variants, definition};

use super::median;
use super::table::Row;

/// Items in the window.
const SIZES: [usize; 3] = [100, 1_000, 5_000];

/// Items of the window that is the floor.
const LEAST: usize = 2;

/// Turns made in each.
const TURNS: usize = 400;

/// Bytes of a result.
const RESULT: usize = 2_000;

/// Measures both.
pub(super) fn measure(repeats: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let floor = per_turn(LEAST, repeats)?;
    for size in SIZES {
        let cost = per_turn(size, repeats)?;
        for (what, cost, floor) in [
            ("blocks, accounting, signal", cost.upkeep, floor.upkeep),
            ("request assembly", cost.request, floor.request),
        ] {
            rows.push(Row {
                figure: format!("a turn's {what}, {size} items"),
                unit: "µs",
                gg: cost,
                floor: Some(floor),
                goal: "flat".to_owned(),
                met: Some(cost <= 2.0 * floor + 5.0),
            });
        }
    }
    rows.push(counting(repeats));
    Ok(rows)
}

/// Microseconds of a turn.
#[derive(Clone, Copy)]
struct Cost {
    upkeep: f64,
    request: f64,
}

/// An agent between two turns.
struct Agent {
    window: Window,
    compaction: Compaction,
    signal: SignalPolicy,
    toolset: Arc<Toolset>,
    turn: u32,
}

impl Agent {
    /// With so many items in its window, all of them counted and sent.
    fn new(items: usize) -> Self {
        let offered: Vec<_> = ToolName::ALL
            .iter()
            .filter_map(|tool| definition(*tool, Variants::default()))
            .collect();
        let toolset = Arc::new(toolset(&offered));
        // Never full: a compaction is no part of an ordinary turn.
        let limit = 1 << 40;
        let mut window = Window::new(limit, toolset.json.get(), Shape::Parts);
        window.set_system("You are measured.");
        let policy = Policy {
            strategy: CompactionStrategy::HandoffSummarization,
            headroom: 0.2,
            max_retries: 0,
            memory_calls: Vec::new(),
            names: context::calls::CallNames::default(),
        };
        let mut agent = Self {
            window,
            compaction: Compaction::new(policy, limit),
            signal: SignalPolicy {
                threshold_percent: 0.0,
                top_file_views: 5,
                evict: Some("evict_file_view".into()),
                close: None,
                archive: Some("archive_thread".into()),
                search: Some("search_archive".into()),
            },
            toolset,
            turn: 0,
        };
        while agent.window.items().len() < items {
            agent.work();
        }
        agent.window.settle();
        agent.window.request_thread();
        agent
    }

    /// A reply with one read, and its result.
    fn work(&mut self) {
        self.turn += 1;
        let turn = self.turn;
        let id = format!("call_{turn}");
        let called = Message::Assistant {
            text: None,
            calls: vec![ToolCall {
                id: id.as_str().into(),
                name: "read_file".to_owned(),
                arguments: format!("{{\"path\":\"f{}\"}}", turn % 50).into(),
            }],
            reasoning: None,
        };
        self.window
            .push(NewItem::new(Band::Assistant, turn, called));
        let result = Message::Tool {
            call: id.as_str().into(),
            text: text(turn as usize, RESULT).into(),
            images: Vec::new(),
        };
        self.window.push(NewItem {
            selector: Some(format!("f{}", turn % 50).into()),
            // Counted while its call was carried out.
            tokens: Some(500),
            ..NewItem::new(Band::FileView, turn, result)
        });
    }

    /// What a boundary does to the window.
    fn prepare(&mut self) -> Result<()> {
        // The list changes at every eighth turn.
        let tasks = format!("# Your tasks\n- [ ] `a` (pending) — {}", self.turn / 8);
        self.window
            .refresh_block(BlockKind::Tasks, Some(tasks.into()), self.turn);
        let (_, usage) = self.window.breakdown();
        self.compaction.check(usage, self.window.has_ephemeral());
        signal::refresh(&mut self.window, &self.signal).context("the signal does not render")
    }

    /// Puts the request together, up to the bytes that are sent.
    fn request(&mut self, head: &Head<'_>) -> u64 {
        let request = ModelRequest {
            thread: self.window.request_thread(),
            signal: self.window.signal().map(|signal| Message::clone(signal)),
            toolset: Arc::clone(&self.toolset),
            tool_choice: ToolChoice::Auto,
            rewritten: self.window.take_rewritten(),
        };
        body(head, &request).len()
    }
}

fn per_turn(items: usize, repeats: usize) -> Result<Cost> {
    let (model, key) = ("anthropic/claude-1".into(), "k".into());
    let head = Head {
        model: &model,
        candidate: None,
        routing_key: &key,
        reasoning: None,
        lifetime: CacheLifetime::Default,
        dropped: RoutingFields::default(),
    };
    let (mut upkeep, mut request) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let mut agent = Agent::new(items);
        for _ in 0..TURNS {
            agent.work();
            let start = Instant::now();
            agent.prepare()?;
            upkeep.push(start.elapsed().as_secs_f64() * 1e6);
            let start = Instant::now();
            anyhow::ensure!(agent.request(&head) > 0, "a request has bytes");
            request.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(Cost {
        upkeep: median(upkeep),
        request: median(request),
    })
}

/// Tokens a second of a window that counts its items, beside the tokenizer on one text.
fn counting(repeats: usize) -> Row {
    const ITEMS: usize = 500;
    let rate = |once: &dyn Fn() -> (u64, f64)| {
        median(
            (0..repeats)
                .map(|_| {
                    let (tokens, seconds) = once();
                    tokens as f64 / seconds / 1e6
                })
                .collect(),
        )
    };
    let texts: Vec<Arc<str>> = (0..ITEMS).map(|n| text(n, 4_000).into()).collect();
    let whole: String = texts.iter().map(|text| &**text).collect();
    // The vocabulary is read at the first count.
    tokens::count(&whole[..RESULT]);
    let window = rate(&|| {
        let mut window = Window::new(1 << 40, "", Shape::Bare);
        for text in &texts {
            let message = Message::User {
                text: Arc::clone(text),
                images: Vec::new(),
            };
            window.push(NewItem::new(Band::ToolOutput, 1, message));
        }
        let start = Instant::now();
        let (_, total) = window.breakdown();
        (total, start.elapsed().as_secs_f64())
    });
    let tokenizer = rate(&|| {
        let start = Instant::now();
        let tokens = tokens::count(&whole);
        (tokens, start.elapsed().as_secs_f64())
    });
    Row {
        figure: "tokens counted by a window, beside the tokenizer".to_owned(),
        unit: "M/s",
        gg: window,
        floor: Some(tokenizer),
        goal: "as fast".to_owned(),
        met: Some(window >= 0.9 * tokenizer),
    }
}

/// Text of so many bytes, more or less, as a program's source has it.
fn text(seed: usize, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    let mut line = seed;
    while text.len() < bytes {
        line = line
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(seed + 1);
        let next = format!(
            "    let value_{} = measure(input[{}], \"{:x}\")?;\n",
            line % 97,
            line % 31,
            line % 65_521
        );
        text.push_str(&next);
    }
    text
}
