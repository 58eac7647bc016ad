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
use vocab::language::ProgramLanguage;

use super::code::{refused, unusable, with_rejected};
use super::given::{Given, count};
use super::{Carried, Serving};
use crate::agent::loaded::{Authored, Owner};

/// What a program gives of a memory to write.
struct Note {
    name: String,
    description: Option<String>,
    body: String,
    code: Option<String>,
    on_use: Option<String>,
    language: ProgramLanguage,
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

    fn code(&self) -> MemoryCode {
        MemoryCode::given(self.language, self.code.clone(), self.on_use.clone())
    }

    fn created(self, strategy: MemoryStrategy) -> Result<MemoryCall, Failure> {
        let code = self.code();
        MemoryCall::create(self.name, self.description, self.body, code, strategy)
    }

    fn replaced(self, strategy: MemoryStrategy) -> Result<MemoryCall, Failure> {
        let code = self.code();
        MemoryCall::replace(self.name, self.description, self.body, code, strategy)
    }
}

impl Serving {
    /// Asks the store, and keeps no entry of it yet.
    fn ask_memories(
        &mut self,
        make: impl FnOnce(MemoryStrategy) -> Result<MemoryCall, Failure> + Send + 'static,
    ) -> Result<MemoryAnswer, Failure> {
        self.cross(async move |turns| {
            let call = make(turns.held.memory_strategy()?)?;
            let answer = turns.call_memories(call).await;
            answer.map_err(|undone| turns.code.undone(undone))
        })
    }

    fn memory_call(
        &mut self,
        call: &Call,
        arguments: &Value,
        make: impl FnOnce(MemoryStrategy) -> Result<MemoryCall, Failure> + Send + 'static,
    ) -> Result<MemoryAnswer, Failure> {
        let answer = self.ask_memories(make);
        let carried = answer.map(|answer| {
            let text = answer.as_text();
            Carried::new(answer, text)
        });
        self.record(call, arguments, carried)
    }

    /// Changes a memory. `code` is what it carries from then on, where the call says so: of
    /// memories that stand in the window it is loaded with the write, and has to compile (02 §9.6).
    fn memory_write(
        &mut self,
        call: &Call,
        arguments: &Value,
        name: &str,
        code: Option<MemoryCode>,
        make: impl FnOnce(MemoryStrategy) -> Result<MemoryCall, Failure> + Send + 'static,
    ) -> Result<wit::MemoryUsage, Failure> {
        let carried = self.coded_write(name, code, make).map(|written| {
            let usage = usage_of(&written.usage);
            Carried::new(usage, MemoryAnswer::Written(written).as_text())
        });
        self.record(call, arguments, carried)
    }

    fn coded_write(
        &mut self,
        name: &str,
        code: Option<MemoryCode>,
        make: impl FnOnce(MemoryStrategy) -> Result<MemoryCall, Failure> + Send + 'static,
    ) -> Result<Written, Failure> {
        let owner = Owner::Memory(name.into());
        let (held, setting) = self.held()?;
        let loads = held.modules.memory_strategy()? == MemoryStrategy::Scratchpad;
        let mut ready = None;
        if let Some(code) = code.as_ref().filter(|code| loads && !code.is_empty()) {
            code.admit().map_err(Failure::from)?;
            let made = held.prepare_code(setting, owner.clone(), &Authored::of_memory(code))?;
            if !made.rejected.is_empty() {
                held.code.loaded.discard(&made);
                return Err(refused(&made.rejected));
            }
            ready = Some(made);
        }
        let written = match self.ask_memories(make) {
            Ok(MemoryAnswer::Written(written)) => Ok(written),
            Ok(MemoryAnswer::Body { .. } | MemoryAnswer::Hits(_)) => Err(self.mismatched()),
            Err(failure) => Err(failure),
        };
        let (held, setting) = self.held()?;
        match (&written, ready) {
            (Ok(_), Some(ready)) => {
                held.hold_code(setting, ready)?;
            }
            (Err(_), Some(ready)) => held.code.loaded.discard(&ready),
            // It carries none any more, or is gone.
            (Ok(written), None) if written.revision.code.is_empty() => {
                held.drop_code(&owner);
            }
            (Ok(_) | Err(_), None) => {}
        }
        written
    }

    /// What a call gives of a memory, in the language of the program that makes it.
    fn note(
        &self,
        name: String,
        description: Option<String>,
        body: String,
        code: Option<String>,
        on_use: Option<String>,
    ) -> Note {
        Note {
            name,
            description,
            body,
            code,
            on_use,
            language: self.setting.arm.language(),
        }
    }

    /// Writes a memory whole, its code with it.
    fn note_write(
        &mut self,
        call: &Call,
        note: Note,
        make: impl FnOnce(Note, MemoryStrategy) -> Result<MemoryCall, Failure> + Send + 'static,
    ) -> Result<wit::MemoryUsage, Failure> {
        let arguments = note.arguments();
        let (name, code) = (note.name.clone(), Some(note.code()));
        self.memory_write(call, &arguments, &name, code, |strategy| {
            make(note, strategy)
        })
    }

    /// A memory's text, its code loaded: what of that cannot be used stands behind the text.
    fn coded_read(&mut self, name: String) -> Result<String, Failure> {
        let owner = Owner::Memory(name.as_str().into());
        let answer = self.ask_memories(|_| MemoryCall::read(name))?;
        let MemoryAnswer::Body { body, code } = answer else {
            return Err(self.mismatched());
        };
        let (held, setting) = self.held()?;
        let rejected = match unusable(setting.arm, &code) {
            Some(foreign) => {
                held.drop_code(&owner);
                vec![foreign]
            }
            None => held.use_code(setting, owner, &Authored::of_memory(&code))?,
        };
        Ok(with_rejected(&body, &rejected))
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
        let note = self.note(name, Some(description), body, code, on_use);
        self.note_write(call, note, Note::created)
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
        let note = self.note(name, Some(description), body, code, on_use);
        self.note_write(call, note, Note::replaced)
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
        let note = self.note(name, description, body, code, on_use);
        self.note_write(call, note, Note::created)
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
        let edited = name.clone();
        self.memory_write(call, &arguments.json(), &edited, None, |_| {
            MemoryCall::edit(name, old_string, new_string)
        })
    }

    fn delete_memory(&mut self, call: &Call, name: String) -> Result<wit::MemoryUsage, Failure> {
        let arguments = Given::default().with("name", name.as_str());
        let deleted = name.clone();
        self.memory_write(call, &arguments.json(), &deleted, None, |_| {
            MemoryCall::delete(name)
        })
    }

    fn read_memory(&mut self, call: &Call, name: String) -> Result<String, Failure> {
        let arguments = Given::default().with("name", name.as_str());
        let body = self.coded_read(name);
        let carried = body.map(|body| Carried::new(body.clone(), body));
        self.record(call, &arguments.json(), carried)
    }

    fn search_memories(
        &mut self,
        call: &Call,
        keywords: Vec<String>,
    ) -> Result<Vec<wit::MemoryHit>, Failure> {
        let arguments = Given::default().with("keywords", keywords.clone());
        match self.memory_call(call, &arguments.json(), |_| MemoryCall::search(keywords))? {
            MemoryAnswer::Hits(hits) => Ok(hits.into_iter().map(hit).collect()),
            MemoryAnswer::Written(_) | MemoryAnswer::Body { .. } => Err(self.mismatched()),
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
