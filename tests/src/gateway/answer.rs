//! What a model says, as a stream of completion chunks.
//!
//! An [`Answer`] is a plain value: text, reasoning, calls, an end. How it is cut into deltas is
//! part of it, so that every shape met in the field is a few words.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use super::reply::{Reply, Said};

/// A reply of the model.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its text, streamed first.
    pub text: Option<String>,
    /// Its reasoning as plain text, streamed before the text.
    pub reasoning: Option<String>,
    /// Its reasoning items.
    pub reasoning_details: Option<Value>,
    /// How they are cut into deltas.
    pub items: Items,
    /// Its calls.
    pub calls: Vec<Call>,
    /// Why it ended; `None`: `null` on every chunk.
    pub finish_reason: Option<String>,
    /// Its usage object, on a last chunk whose `choices` is empty.
    pub usage: Option<Value>,
    /// Who served it.
    pub provider: Option<String>,
    /// The generation's id.
    pub id: String,
    /// Characters in one delta of text or arguments; 0: whole.
    pub delta_chars: usize,
    /// Whether call deltas carry `index`.
    pub indexed: bool,
    /// Whether every call delta carries `id`; else the first of each call alone.
    pub ids_everywhere: bool,
    /// Whether deltas of several calls alternate.
    pub interleaved: bool,
    /// The order in which calls are streamed, as places in `calls`; empty: as they stand.
    pub order: Vec<usize>,
}

/// One call of an answer.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments as they go over the wire.
    pub arguments: Arguments,
}

/// How reasoning items are cut into deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// One delta holds them all.
    Together,
    /// Each has a delta of its own.
    Apart,
    /// A text is streamed a few characters at a time and its signature at last; the pieces name
    /// their item by type and index.
    InPieces,
}

/// Arguments as a provider may send them.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// This text.
    Text(String),
    /// `"arguments": null`.
    Null,
    /// No such field.
    Missing,
}

static NEXT_CALL: AtomicU64 = AtomicU64::new(0);

impl Default for Answer {
    fn default() -> Self {
        Self {
            text: None,
            reasoning: None,
            reasoning_details: None,
            items: Items::Together,
            calls: Vec::new(),
            finish_reason: None,
            usage: Some(usage(1_000, 0, 20, Some(0.0001))),
            provider: Some("Acme".to_owned()),
            id: "gen-1".to_owned(),
            delta_chars: 0,
            indexed: true,
            ids_everywhere: false,
            interleaved: false,
            order: Vec::new(),
        }
    }
}

/// A usage object as OpenRouter sends it.
pub fn usage(prompt: u64, cached: u64, completion: u64, cost: Option<f64>) -> Value {
    let mut usage = json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": { "cached_tokens": cached },
        "completion_tokens_details": { "reasoning_tokens": 0 },
    });
    if let Some(cost) = cost {
        usage["cost"] = json!(cost);
    }
    usage
}

impl Answer {
    /// Text and nothing else.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            finish_reason: Some("stop".to_owned()),
            ..Self::default()
        }
    }

    /// One call, with an id no other call of this process has.
    pub fn call(tool: &str, arguments: Value) -> Self {
        Self::default().and_call(tool, arguments)
    }

    /// The ending call.
    pub fn finish(summary: &str) -> Self {
        Self::call("finish", json!({ "summary": summary }))
    }

    /// One command.
    pub fn shell(command: &str) -> Self {
        Self::call("shell", json!({ "command": command }))
    }

    /// Another call, with an id no other call of this process has.
    pub fn and_call(self, tool: &str, arguments: Value) -> Self {
        let id = format!("call_{}", NEXT_CALL.fetch_add(1, Ordering::Relaxed));
        self.and_call_as(&id, tool, &arguments.to_string())
    }

    /// Another call, with its id and its arguments' text given.
    pub fn and_call_as(self, id: &str, tool: &str, arguments: &str) -> Self {
        self.and_raw_call(id, tool, Arguments::Text(arguments.to_owned()))
    }

    /// Another call, its arguments in any shape.
    pub fn and_raw_call(mut self, id: &str, tool: &str, arguments: Arguments) -> Self {
        self.calls.push(Call {
            id: id.to_owned(),
            name: tool.to_owned(),
            arguments,
        });
        self.finish_reason = Some("tool_calls".to_owned());
        self
    }

    /// Text beside what it has.
    pub fn saying(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }

    /// Reasoning items beside what it has.
    pub fn with_items(mut self, items: Value) -> Self {
        self.reasoning_details = Some(items);
        self
    }

    /// Plain reasoning beside what it has.
    pub fn thinking(mut self, reasoning: &str) -> Self {
        self.reasoning = Some(reasoning.to_owned());
        self
    }

    /// Another end; `None` for one that is never given.
    pub fn ending(mut self, finish_reason: Option<&str>) -> Self {
        self.finish_reason = finish_reason.map(str::to_owned);
        self
    }

    /// Another usage object; `None` for none.
    pub fn using(mut self, usage: Option<Value>) -> Self {
        self.usage = usage;
        self
    }

    /// Another provider; `None` for one that is not named.
    pub fn served_by(mut self, provider: Option<&str>) -> Self {
        self.provider = provider.map(str::to_owned);
        self
    }

    /// Deltas of `chars` characters.
    pub fn in_deltas_of(mut self, chars: usize) -> Self {
        self.delta_chars = chars;
        self
    }

    /// The payloads of its `data:` lines, `[DONE]` last.
    pub fn payloads(&self) -> Vec<String> {
        let mut payloads: Vec<String> = Vec::new();
        let mut role = json!({ "role": "assistant", "content": "" });
        let details = self.reasoning_details.as_ref();
        if let Some(details) = details.filter(|_| self.items == Items::Together) {
            role["reasoning_details"] = details.clone();
        }
        payloads.push(self.chunk(role, None));
        let items = details.and_then(Value::as_array).into_iter().flatten();
        let deltas = items.flat_map(|item| match self.items {
            Items::Together => Vec::new(),
            Items::Apart => vec![item.clone()],
            Items::InPieces => item_pieces(item),
        });
        for delta in deltas {
            payloads.push(self.chunk(json!({ "reasoning_details": [delta] }), None));
        }
        for piece in pieces(self.reasoning.as_deref().unwrap_or(""), self.delta_chars) {
            payloads.push(self.chunk(json!({ "reasoning": piece }), None));
        }
        for piece in pieces(self.text.as_deref().unwrap_or(""), self.delta_chars) {
            payloads.push(self.chunk(json!({ "content": piece }), None));
        }
        for delta in self.call_deltas() {
            payloads.push(self.chunk(json!({ "tool_calls": [delta] }), None));
        }
        if self.finish_reason.is_some() {
            payloads.push(self.chunk(json!({}), self.finish_reason.as_deref()));
        }
        if let Some(usage) = &self.usage {
            payloads.push(self.tail(&json!([]), usage));
        }
        payloads.push("[DONE]".to_owned());
        payloads
    }

    /// One chunk around a delta.
    pub fn chunk(&self, delta: Value, finish_reason: Option<&str>) -> String {
        let mut chunk = self.envelope();
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
        chunk.insert("choices".to_owned(), json!([choice]));
        Value::Object(chunk).to_string()
    }

    /// The usage chunk, its `choices` as given; JSON `null` in `usage` leaves the key out.
    pub fn tail(&self, choices: &Value, usage: &Value) -> String {
        let mut chunk = self.envelope();
        chunk.insert("choices".to_owned(), choices.clone());
        if !usage.is_null() {
            chunk.insert("usage".to_owned(), usage.clone());
        }
        Value::Object(chunk).to_string()
    }

    fn envelope(&self) -> Map<String, Value> {
        let mut chunk = Map::new();
        chunk.insert("id".to_owned(), json!(self.id));
        if let Some(provider) = &self.provider {
            chunk.insert("provider".to_owned(), json!(provider));
        }
        chunk.insert("object".to_owned(), json!("chat.completion.chunk"));
        chunk
    }

    fn call_deltas(&self) -> Vec<Value> {
        let order: Vec<usize> = if self.order.is_empty() {
            (0..self.calls.len()).collect()
        } else {
            self.order.clone()
        };
        let mut queues: Vec<Vec<Value>> = order
            .iter()
            .map(|place| self.deltas_of(*place, &self.calls[*place]))
            .collect();
        if !self.interleaved {
            return queues.into_iter().flatten().collect();
        }
        let mut deltas = Vec::new();
        while queues.iter().any(|queue| !queue.is_empty()) {
            for queue in &mut queues {
                if !queue.is_empty() {
                    deltas.push(queue.remove(0));
                }
            }
        }
        deltas
    }

    fn deltas_of(&self, index: usize, call: &Call) -> Vec<Value> {
        let arguments: Vec<Option<Value>> = match &call.arguments {
            Arguments::Missing => vec![None],
            Arguments::Null => vec![Some(Value::Null)],
            Arguments::Text(text) if text.is_empty() => vec![Some(json!(""))],
            Arguments::Text(text) => pieces(text, self.delta_chars)
                .into_iter()
                .map(|piece| Some(json!(piece)))
                .collect(),
        };
        arguments
            .into_iter()
            .enumerate()
            .map(|(n, piece)| {
                let mut delta = Map::new();
                if self.indexed {
                    delta.insert("index".to_owned(), json!(index));
                }
                if n == 0 || self.ids_everywhere {
                    delta.insert("id".to_owned(), json!(call.id));
                }
                let mut function = Map::new();
                if n == 0 {
                    delta.insert("type".to_owned(), json!("function"));
                    function.insert("name".to_owned(), json!(call.name));
                }
                if let Some(piece) = piece {
                    function.insert("arguments".to_owned(), piece);
                }
                delta.insert("function".to_owned(), Value::Object(function));
                Value::Object(delta)
            })
            .collect()
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        let mut reply = events(answer.payloads());
        reply.said = Some(Said {
            calls: answer.calls.iter().map(|call| call.id.clone()).collect(),
            text: answer.text.unwrap_or_default(),
            reasoning_details: answer.reasoning_details,
            reasoning: answer.reasoning,
            maker: answer.provider,
        });
        reply
    }
}

/// An event stream, one write an event.
pub fn events<S: AsRef<str>>(payloads: impl IntoIterator<Item = S>) -> Reply {
    Reply::stream(
        payloads
            .into_iter()
            .map(|payload| format!("data: {}\n\n", payload.as_ref())),
    )
}

/// A reasoning item as a provider streams it: every piece of its text, and then its signature.
fn item_pieces(item: &Value) -> Vec<Value> {
    let Some(text) = item["text"].as_str() else {
        return vec![item.clone()];
    };
    let piece = |text: Option<String>| {
        let mut piece = item.clone();
        if let Some(fields) = piece.as_object_mut() {
            match text {
                Some(text) => {
                    fields.insert("text".to_owned(), json!(text));
                    fields.shift_remove("signature");
                }
                None => {
                    fields.shift_remove("text");
                }
            }
        }
        piece
    };
    let mut deltas: Vec<Value> = pieces(text, 5)
        .into_iter()
        .map(|text| piece(Some(text)))
        .collect();
    if item.get("signature").is_some() {
        deltas.push(piece(None));
    }
    deltas
}

fn pieces(text: &str, chars: usize) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    if chars == 0 {
        return vec![text.to_owned()];
    }
    let all: Vec<char> = text.chars().collect();
    all.chunks(chars)
        .map(|piece| piece.iter().collect())
        .collect()
}
