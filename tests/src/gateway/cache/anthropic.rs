//! Anthropic's cache: prefixes of content blocks, written and looked for at `cache_control` alone.
//!
//! A prompt is a row of content blocks: each tool, each part of the system message, then of every
//! message its reasoning items, its parts of content and its calls; a tool's answer is one block.
//! At each marked block the hash of all blocks up to it is kept. A marked block also looks for what
//! an earlier request kept: at itself, then block by block backwards, twenty places in all. The
//! longest found prefix is read. Markers are no part of a hash; whether content was a bare string
//! or an array is.
//!
//! Rules: <https://docs.claude.com/en/docs/build-with-claude/prompt-caching>.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{Prompt, Served, TOKEN};

/// The least that is cached, in tokens.
pub const MINIMUM: u64 = 1_024;
/// Marked blocks that one request may have.
pub const BREAKPOINTS: usize = 4;
/// Places at which one marked block looks for an entry, its own included.
pub const LOOK_BACK: usize = 20;
/// How long an entry lives that nobody reads.
pub const LIFETIME: Duration = Duration::from_secs(5 * 60);
/// How long one lives that asks for `"ttl": "1h"`.
pub const LIFETIME_LONG: Duration = Duration::from_secs(60 * 60);

/// The cache of one provider.
#[derive(Debug, Default)]
pub struct Anthropic {
    entries: HashMap<u64, Entry>,
    seen: HashSet<u64>,
    // The messages of a request are those of the one before and a few more: reading each anew
    // would make a long session quadratic.
    read: HashMap<u64, Arc<[Block]>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    used: Duration,
    lifetime: Duration,
}

/// A content block: what is hashed of it, and its mark.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    text: String,
    mark: Option<Mark>,
    empty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Short,
    Long,
}

/// One place where a prefix may end.
#[derive(Clone, Copy, Debug)]
struct End {
    hash: u64,
    tokens: u64,
    mark: Option<Mark>,
}

impl Entry {
    fn lives(&self, now: Duration) -> bool {
        now.saturating_sub(self.used) < self.lifetime
    }
}

impl Anthropic {
    /// Serves a request and keeps what it marks; an error is the sentence of a 400.
    pub fn serve(
        &mut self,
        now: Duration,
        prompt: &Prompt<'_>,
        is_signal: fn(&Value) -> bool,
    ) -> Result<Served, String> {
        let (ends, repeated) = self.ends(prompt, prompt.kept(is_signal))?;
        legal(&ends)?;
        let read = self.look_up(&ends, now);
        let up_to = |mark: Mark| {
            let marked = ends.iter().filter(|end| end.mark == Some(mark));
            marked.map(|end| end.tokens).max().unwrap_or(0)
        };
        let long = whole(up_to(Mark::Long)).max(read);
        let short = whole(up_to(Mark::Short)).max(long);
        self.keep(&ends, now);
        let common = ends
            .iter()
            .take_while(|end| self.seen.contains(&end.hash))
            .last()
            .map_or(0, |end| end.tokens);
        self.seen.extend(ends.iter().map(|end| end.hash));
        Ok(Served {
            prompt: ends.last().map_or(0, |end| end.tokens),
            read,
            written: short - long,
            written_long: long - read,
            common: whole(common),
            repeatable: whole(repeated),
        })
    }

    /// The longest prefix that a marked block finds, as its tokens.
    fn look_up(&mut self, ends: &[End], now: Duration) -> u64 {
        let mut found: Option<End> = None;
        for (place, end) in ends.iter().enumerate() {
            if end.mark.is_none() {
                continue;
            }
            let first = (place + 1).saturating_sub(LOOK_BACK);
            let hit = ends[first..=place].iter().rev().find(|end| {
                let entry = self.entries.get(&end.hash);
                entry.is_some_and(|entry| entry.lives(now))
            });
            found = found
                .into_iter()
                .chain(hit.copied())
                .max_by_key(|end| end.tokens);
        }
        if let Some(entry) = found.and_then(|end| self.entries.get_mut(&end.hash)) {
            entry.used = now;
        }
        found.map_or(0, |end| end.tokens)
    }

    /// Keeps an entry at each marked block that is long enough.
    fn keep(&mut self, ends: &[End], now: Duration) {
        for end in ends {
            let lifetime = match end.mark {
                Some(Mark::Long) => LIFETIME_LONG,
                Some(Mark::Short) => LIFETIME,
                None => continue,
            };
            if end.tokens < MINIMUM {
                continue;
            }
            // A shorter mark on a prefix that is kept longer does not shorten its life.
            let kept = self.entries.get(&end.hash).filter(|entry| entry.lives(now));
            let lifetime = kept.map_or(lifetime, |entry| entry.lifetime.max(lifetime));
            self.entries.insert(
                end.hash,
                Entry {
                    used: now,
                    lifetime,
                },
            );
        }
    }

    /// Where each block ends, and the tokens up to the end of message `kept`.
    fn ends(&mut self, prompt: &Prompt<'_>, kept: usize) -> Result<(Vec<End>, u64), String> {
        let mut row = Row::default();
        prompt.model.hash(&mut row.hasher);
        for tool in tools(prompt.tools) {
            row.push(&tool);
        }
        let mut repeated = row.tokens();
        let mut settled = false;
        for (place, message) in prompt.messages.iter().enumerate() {
            let blocks = self.blocks(message);
            // Tool choice and reasoning settings part the messages, not tools and system.
            if place > 0 && !settled {
                prompt.settings.hash(&mut row.hasher);
                settled = true;
            }
            if blocks
                .iter()
                .any(|block| block.mark.is_some() && block.empty)
            {
                return Err(format!(
                    "messages.{place}.content: cache_control cannot be set for empty text blocks"
                ));
            }
            blocks.iter().for_each(|block| row.push(block));
            if place < kept {
                repeated = row.tokens();
            }
        }
        Ok((row.ends, repeated))
    }

    fn blocks(&mut self, message: &str) -> Arc<[Block]> {
        let mut hasher = DefaultHasher::new();
        message.hash(&mut hasher);
        let blocks = self
            .read
            .entry(hasher.finish())
            .or_insert_with(|| blocks_of(message).into());
        Arc::clone(blocks)
    }
}

/// Blocks one behind the other.
#[derive(Default)]
struct Row {
    hasher: DefaultHasher,
    bytes: u64,
    ends: Vec<End>,
}

impl Row {
    fn push(&mut self, block: &Block) {
        block.text.hash(&mut self.hasher);
        self.bytes += block.text.len() as u64;
        self.ends.push(End {
            hash: self.hasher.finish(),
            tokens: self.tokens(),
            mark: block.mark,
        });
    }

    fn tokens(&self) -> u64 {
        self.bytes / TOKEN
    }
}

/// What is cached of so many tokens: all or nothing.
fn whole(tokens: u64) -> u64 {
    if tokens < MINIMUM { 0 } else { tokens }
}

/// At most four marks, the longer lifetimes before the shorter.
fn legal(ends: &[End]) -> Result<(), String> {
    let marks: Vec<Mark> = ends.iter().filter_map(|end| end.mark).collect();
    if marks.len() > BREAKPOINTS {
        return Err(format!(
            "A maximum of {BREAKPOINTS} blocks with cache_control may be provided. Found {}.",
            marks.len()
        ));
    }
    if marks
        .windows(2)
        .any(|pair| pair == [Mark::Short, Mark::Long])
    {
        return Err(
            "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. \
             Note that blocks are processed in the following order: `tools`, `system`, `messages`."
                .to_owned(),
        );
    }
    Ok(())
}

fn tools(written: &str) -> Vec<Block> {
    match serde_json::from_str(written) {
        Ok(Value::Array(tools)) => tools.into_iter().map(|tool| block("tool", tool)).collect(),
        _ => Vec::new(),
    }
}

fn blocks_of(message: &str) -> Vec<Block> {
    let Ok(Value::Object(mut message)) = serde_json::from_str(message) else {
        return Vec::new();
    };
    let role = message
        .get("role")
        .and_then(Value::as_str)
        .unwrap_or("")
        .to_owned();
    let content = message.remove("content").unwrap_or(Value::Null);
    if role == "tool" {
        let call = message.remove("tool_call_id").unwrap_or(Value::Null);
        return vec![block(&format!("tool {call}"), content)];
    }
    let mut blocks = Vec::new();
    let mut all = |kind: &str, value: Option<Value>| match value {
        Some(Value::Array(items)) => blocks.extend(
            items
                .into_iter()
                .map(|item| block(&format!("{role} {kind} in a list"), item)),
        ),
        None | Some(Value::Null) => {}
        Some(one) => blocks.push(block(&format!("{role} {kind}"), one)),
    };
    all("reasoning", message.remove("reasoning_details"));
    all("reasoning", message.remove("reasoning"));
    all("content", Some(content));
    all("call", message.remove("tool_calls"));
    blocks
}

/// A block without its mark.
fn block(kind: &str, mut value: Value) -> Block {
    let mut marks = Vec::new();
    let empty = take_marks(&mut value, &mut marks);
    let mark = marks.last().map(|mark| {
        if mark["ttl"] == "1h" {
            Mark::Long
        } else {
            Mark::Short
        }
    });
    Block {
        text: format!("{kind} {value}"),
        mark,
        empty,
    }
}

/// Takes every `cache_control` out; whether one of them stood at a blank text.
fn take_marks(value: &mut Value, marks: &mut Vec<Value>) -> bool {
    match value {
        Value::Object(fields) => {
            let mark = fields.shift_remove("cache_control");
            let text = fields.get("text").and_then(Value::as_str);
            let empty = mark.is_some() && text.is_some_and(|text| text.trim().is_empty());
            marks.extend(mark);
            let inner: Vec<bool> = fields
                .values_mut()
                .map(|field| take_marks(field, marks))
                .collect();
            empty || inner.contains(&true)
        }
        Value::Array(items) => {
            let inner: Vec<bool> = items
                .iter_mut()
                .map(|item| take_marks(item, marks))
                .collect();
            inner.contains(&true)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
