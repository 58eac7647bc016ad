//! Before the first turn: what only the disk, the templates and the scripts can tell, added to the
//! launch document's own refusals in one list (01 §3.2).
//!
//! [`check`] reads and creates nothing. [`refuse`] writes the short stream of a session that never
//! began.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use board::git::GitError;
use config::profile::Profile;
use config::{Document, Launch, ProgramMemory, Refusal};
use context::prompts;
use provider::mock::Script;
use provider::openrouter::Endpoint;
use record::event::{Emission, Event, Log, LogLevel, SessionEnded, SessionStarted};
use record::stream::{Stream, StreamReport};
use sandbox::arms::MOST_MEMORY_BYTES;
use sandbox::{arms, catalogue};
use serde_json::value::RawValue;
use vocab::ids::{ModelId, SessionId};
use vocab::language::ProgramLanguage;
use vocab::outcome::EndStatus;

use crate::clock::now_ms;
use crate::run::new_routing_key;
use crate::skills::Library;
use crate::telemetry::Outputs;

/// A launch that may run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The document's values.
    pub launch: Arc<Launch>,
    /// The capability set as resolved, for the record.
    pub capability_set: Arc<RawValue>,
    /// The candidates, for the record.
    pub model_providers: Arc<RawValue>,
    /// The list prices, for the record; `None` where the launch gives none.
    pub model_prices: Option<Arc<RawValue>>,
    /// What to warn of at the start.
    pub warnings: Vec<String>,
    /// The script of every bound mock model.
    pub scripts: HashMap<ModelId, Arc<Script>>,
    /// The skills of every directory a profile names.
    pub skills: Library,
}

impl Prepared {
    /// Whether any bound model is served over the network.
    pub fn needs_gateway(&self) -> bool {
        let agents = self.launch.capability_set.agents.iter();
        let mut bound = agents.flat_map(Profile::models);
        bound.any(|model| !self.scripts.contains_key(model))
    }
}

/// What a record says of the binary that made it.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// gg's version.
    pub version: &'static str,
    /// The commit it was built from, where the build knew it.
    pub commit: Option<&'static str>,
}

/// What a launch meets beside its document.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The script given for every mock model.
    pub mock_script: Option<Arc<Script>>,
    /// The gateway's address, as the environment names it.
    pub base_url: String,
}

/// Checks a document against itself and against its surroundings. Every refusal, in one list.
pub fn check(document: &Document, surroundings: &Surroundings) -> Result<Prepared, Vec<Refusal>> {
    let checked = document.check();
    let mut refusals = checked.refusals;
    let mut skills = Library::default();
    if let Some(dir) = &checked.loose.workspace_dir {
        if let Some(message) = unusable(dir) {
            refusals.push(
                Refusal::new("workspaceDir", message)
                    .with_hint("give the absolute path of an existing directory"),
            );
        } else {
            let (library, faults) = Library::read(dir, &checked.loose.skill_dirs);
            skills = library;
            refusals.extend(faults);
            if checked.loose.board
                && let Err(why) = crate::board::examine(dir)
            {
                refusals.push(unworkable(&why));
            }
        }
    }
    for (locus, template) in &checked.loose.system_prompts {
        if let Err(fault) = prompts::check_override(template) {
            refusals.push(Refusal::new(locus, format!("is no template: {fault}")));
        }
    }
    for (locus, language) in &checked.loose.languages {
        if let Some(why) = unusable_language(*language) {
            let message = format!("is {language}, which cannot be used here: {why}");
            refusals.push(Refusal::new(locus, message).with_hint(format!(
                "`gg selfcheck --language {language}` tells whether it works"
            )));
        }
    }
    refusals.extend(
        checked
            .loose
            .program_memory
            .iter()
            .filter_map(unusable_memory),
    );
    if !checked.loose.live_models.is_empty()
        && let Err(message) = Endpoint::new(&surroundings.base_url, None)
    {
        refusals.push(Refusal::new("environment:", message));
    }
    let mut scripts = HashMap::new();
    for model in &checked.loose.mock_models {
        let name = model.as_str().trim_start_matches("mock/");
        match surroundings
            .mock_script
            .clone()
            .or_else(|| Script::built_in(name).map(Arc::new))
        {
            Some(script) => {
                scripts.insert(model.clone(), script);
            }
            None => refusals.push(
                Refusal::new(format!("model `{model}`"), "has no built-in script").with_hint(
                    format!(
                        "give one with --mock-script FILE, or bind one of: mock/{}",
                        Script::built_in_names().join(", mock/")
                    ),
                ),
            ),
        }
    }
    match checked.launch {
        Some(launch) if refusals.is_empty() => Ok(Prepared {
            capability_set: raw(&launch.capability_set),
            model_providers: raw(&launch.model_providers),
            model_prices: (!launch.model_prices.is_empty()).then(|| raw(&launch.model_prices)),
            launch: Arc::new(launch),
            warnings: checked.warnings,
            scripts,
            skills,
        }),
        _ => Err(refusals),
    }
}

fn raw(value: &impl serde::Serialize) -> Arc<RawValue> {
    serde_json::value::to_raw_value(value)
        .expect("launch types have string keys and finite numbers")
        .into()
}

/// Why programs of a language cannot be prepared, run or documented by this gg, on this machine
/// (R17).
fn unusable_language(language: ProgramLanguage) -> Option<String> {
    let usable = arms::of(language).availability();
    let documented = catalogue::of(language);
    let why = usable.err().map(|why| why.to_string());
    why.or_else(|| documented.err().map(|why| why.to_string()))
}

/// The refusal of a memory that no program of its language can begin in, or that none can have.
fn unusable_memory(memory: &ProgramMemory) -> Option<Refusal> {
    let (language, bytes) = (memory.language, memory.bytes);
    let (least, most) = (arms::of(language).least_memory_bytes(), MOST_MEMORY_BYTES);
    let (message, hint) = if bytes < least {
        (
            format!(
                "is {bytes}; expected {least} or more, which a program of {language} takes before its first line runs"
            ),
            format!(
                "give at least {least}, and beyond it what programs are to hold: 268435456 is a good start"
            ),
        )
    } else if bytes > most {
        (
            format!("is {bytes}; expected {most} or less, which is the most a program can have"),
            format!("give at most {most}: 268435456 is a good start"),
        )
    } else {
        return None;
    };
    Some(Refusal::new(&memory.locus, message).with_hint(hint))
}

/// The refusal of a workspace that no board can work on.
pub(crate) fn unworkable(why: &GitError) -> Refusal {
    Refusal::new("workspaceDir", format!("a board cannot work on it: {why}"))
}

/// Why a path cannot be a workspace.
fn unusable(dir: &Path) -> Option<String> {
    match std::fs::metadata(dir) {
        Ok(found) if found.is_dir() => None,
        Ok(_) => Some(format!("is {}, which is no directory", dir.display())),
        Err(error) => Some(format!(
            "is {}, which cannot be used: {error}",
            dir.display()
        )),
    }
}

/// A value of the document as every reader of the stream can read it: one with a number that no
/// double holds becomes the text of itself.
fn readable(written: Box<RawValue>) -> Arc<RawValue> {
    if serde_json::from_str::<serde_json::Value>(written.get()).is_ok() {
        written.into()
    } else {
        raw(&written.get())
    }
}

/// Writes the stream of a refused launch: what was asked, one error line a refusal, the end.
pub fn refuse(
    document: &Document,
    refusals: &[Refusal],
    build: Build,
    outputs: Outputs,
) -> io::Result<StreamReport> {
    let session = SessionId::from(document.session_id().unwrap_or_default());
    let asked = Asked {
        capability_set: document.raw("capabilitySet").map(readable),
        model_providers: document.raw("modelProviders").map(readable),
        model_prices: document.raw("modelPrices").map(readable),
    };
    write_refusal(session, asked, refusals, build, outputs)
}

/// The same of a launch that its document did not refuse.
pub(crate) fn refuse_prepared(
    prepared: &Prepared,
    refusals: &[Refusal],
    build: Build,
    outputs: Outputs,
) -> io::Result<StreamReport> {
    let asked = Asked {
        capability_set: Some(Arc::clone(&prepared.capability_set)),
        model_providers: Some(Arc::clone(&prepared.model_providers)),
        model_prices: prepared.model_prices.clone(),
    };
    let session = prepared.launch.session_id.clone();
    write_refusal(session, asked, refusals, build, outputs)
}

/// What a refused launch asked for.
struct Asked {
    capability_set: Option<Arc<RawValue>>,
    model_providers: Option<Arc<RawValue>>,
    model_prices: Option<Arc<RawValue>>,
}

fn write_refusal(
    session: SessionId,
    asked: Asked,
    refusals: &[Refusal],
    build: Build,
    outputs: Outputs,
) -> io::Result<StreamReport> {
    let stream = Stream::start(session, outputs.stdout, outputs.tee, Box::new(|| ()))?;
    let at_ms = now_ms();
    let line = |event| Emission {
        at_ms,
        agent: None,
        turn: None,
        event,
    };
    let mut lines = vec![line(Event::SessionStarted(Box::new(SessionStarted {
        capability_set: asked.capability_set,
        model_providers: asked.model_providers,
        model_prices: asked.model_prices,
        routing_key: new_routing_key(),
        configuration: None,
        gg_version: build.version,
        commit: build.commit,
        workspace: None,
        windows: std::collections::BTreeMap::new(),
        limits: std::collections::BTreeMap::new(),
    })))];
    lines.extend(refusals.iter().map(|refusal| {
        line(Event::Log(Log {
            level: LogLevel::Error,
            message: refusal.to_string(),
            code: Some("refusal"),
        }))
    }));
    lines.push(line(Event::SessionEnded(SessionEnded {
        status: EndStatus::LaunchRefused,
        exit_code: 1,
        error: Some(match refusals.len() {
            1 => "one value of the launch is refused".to_owned(),
            many => format!("{many} values of the launch are refused"),
        }),
    })));
    stream.send(lines);
    Ok(stream.finish())
}
