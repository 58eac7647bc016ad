//! The agent's notebook, as a program reaches it (02 §9). Others may hold it too, so that every call
//! crosses to the loop, which asks the store.

use ::context::modules::memories::{
    self as notebook, Hit, MemoryAnswer, MemoryCall, MemoryCode, Written,
};
use sandbox::contract as wit;
use sandbox::services::{Call, Memories};
use serde_json::Value;
use vocab::failure::Failure;
use vocab::knowledge::MemoryStrategy;

use super::given::{Given, count};
use super::{Carried, Serving, mismatched};

/// What a program gives of a memory to write.
struct Note {
    name: String,
    description: Option<String>,
    body: String,
    code: Option<String>,
    on_use: Option<String>,
}

impl Note {
    fn arguments(&self) -> Value {
        Given::default()
            .with("name", self.name.as_str())
            .maybe("description", self.description.as_deref())
            .with("body", self.body.as_str())
            .maybe("code", self.code.as_deref())
            .maybe("onUse", self.on_use.as_deref())
            .json()
    }

    fn created(self, strategy: MemoryStrategy) -> Result<MemoryCall, Failure> {
        let code = MemoryCode::given(self.code, self.on_use);
        MemoryCall::create(self.name, self.description, self.body, code, strategy)
    }

    fn replaced(self, strategy: MemoryStrategy) -> Result<MemoryCall, Failure> {
        let code = MemoryCode::given(self.code, self.on_use);
        MemoryCall::replace(self.name, self.description, self.body, code, strategy)
    }
}

impl Serving {
    fn memory_call(
        &mut self,
        call: &Call,
        arguments: &Value,
        make: impl FnOnce(MemoryStrategy) -> Result<MemoryCall, Failure> + Send + 'static,
    ) -> Result<MemoryAnswer, Failure> {
        self.across(call, arguments, async move |turns, _| {
            let call = make(turns.held.memory_strategy()?)?;
            let answer = turns.call_memories(call).await;
            let answer = answer.map_err(|undone| turns.code.undone(undone))?;
            let text = answer.as_text();
            Ok(Carried::new(answer, text))
        })
    }

    fn memory_write(
        &mut self,
        call: &Call,
        arguments: &Value,
        make: impl FnOnce(MemoryStrategy) -> Result<MemoryCall, Failure> + Send + 'static,
    ) -> Result<wit::MemoryUsage, Failure> {
        match self.memory_call(call, arguments, make)? {
            MemoryAnswer::Written(Written { usage, .. }) => Ok(usage_of(&usage)),
            MemoryAnswer::Body { .. } | MemoryAnswer::Hits(_) => Err(mismatched()),
        }
    }
}

impl Memories for Serving {
    fn write_memory(
        &mut self,
        call: &Call,
        name: String,
        description: String,
        body: String,
        code: Option<String>,
        on_use: Option<String>,
    ) -> Result<wit::MemoryUsage, Failure> {
        let note = Note {
            name,
            description: Some(description),
            body,
            code,
            on_use,
        };
        let arguments = note.arguments();
        self.memory_write(call, &arguments, |strategy| note.created(strategy))
    }

    fn update_memory(
        &mut self,
        call: &Call,
        name: String,
        description: String,
        body: String,
        code: Option<String>,
        on_use: Option<String>,
    ) -> Result<wit::MemoryUsage, Failure> {
        let note = Note {
            name,
            description: Some(description),
            body,
            code,
            on_use,
        };
        let arguments = note.arguments();
        self.memory_write(call, &arguments, |strategy| note.replaced(strategy))
    }

    fn create_memory(
        &mut self,
        call: &Call,
        name: String,
        description: Option<String>,
        body: String,
        code: Option<String>,
        on_use: Option<String>,
    ) -> Result<wit::MemoryUsage, Failure> {
        let note = Note {
            name,
            description,
            body,
            code,
            on_use,
        };
        let arguments = note.arguments();
        self.memory_write(call, &arguments, |strategy| note.created(strategy))
    }

    fn edit_memory(
        &mut self,
        call: &Call,
        name: String,
        old_string: String,
        new_string: String,
    ) -> Result<wit::MemoryUsage, Failure> {
        let arguments = Given::default()
            .with("name", name.as_str())
            .with("oldString", old_string.as_str())
            .with("newString", new_string.as_str());
        self.memory_write(call, &arguments.json(), |_| {
            MemoryCall::edit(name, old_string, new_string)
        })
    }

    fn delete_memory(&mut self, call: &Call, name: String) -> Result<wit::MemoryUsage, Failure> {
        let arguments = Given::default().with("name", name.as_str());
        self.memory_write(call, &arguments.json(), |_| MemoryCall::delete(name))
    }

    fn read_memory(&mut self, call: &Call, name: String) -> Result<String, Failure> {
        let arguments = Given::default().with("name", name.as_str());
        match self.memory_call(call, &arguments.json(), |_| MemoryCall::read(name))? {
            MemoryAnswer::Body { body, .. } => Ok(body.to_string()),
            MemoryAnswer::Written(_) | MemoryAnswer::Hits(_) => Err(mismatched()),
        }
    }

    fn search_memories(
        &mut self,
        call: &Call,
        keywords: Vec<String>,
    ) -> Result<Vec<wit::MemoryHit>, Failure> {
        let arguments = Given::default().with("keywords", keywords.clone());
        match self.memory_call(call, &arguments.json(), |_| MemoryCall::search(keywords))? {
            MemoryAnswer::Hits(hits) => Ok(hits.into_iter().map(hit).collect()),
            MemoryAnswer::Written(_) | MemoryAnswer::Body { .. } => Err(mismatched()),
        }
    }
}

fn usage_of(usage: &notebook::MemoryUsage) -> wit::MemoryUsage {
    let limit = |limit: u64| (limit > 0).then(|| count(limit));
    wit::MemoryUsage {
        count: count(usage.totals.count),
        max_count: limit(usage.limits.max_count),
        total_chars: count(usage.totals.chars),
        max_total_chars: limit(usage.limits.max_total_len),
        index_chars: usage.index_chars.map(count),
        max_index_chars: limit(usage.limits.max_len_index),
    }
}

fn hit(hit: Hit) -> wit::MemoryHit {
    wit::MemoryHit {
        name: hit.name.to_string(),
        description: hit.description.as_deref().unwrap_or_default().to_owned(),
        matched: count(hit.matched),
        occurrences: count(hit.occurrences),
        excerpt: hit.excerpt,
    }
}
