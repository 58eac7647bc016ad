//! What one run came to, read from what it left: its stream, and how its process ended.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Context as _;
use record::analysis::{AgentTime, Analysis};
use record::{lines, rules};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use vocab::usage::Tokens;

/// One run's result, as `result.json` has it. Times are milliseconds, money is USD.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunResult {
    /// The name of its folder.
    pub(crate) run: String,
    /// The varied values by path.
    pub(crate) variation: Map<String, Value>,
    /// Which of the repeats, from 1.
    pub(crate) repeat: u32,
    /// How it ended: the status of its summary.
    pub(crate) status: String,
    /// Its exit code.
    pub(crate) exit_code: u64,
    /// From its start to the end of its last agent.
    pub(crate) makespan_ms: u64,
    /// The cap in force.
    pub(crate) max_parallel: Option<u64>,
    /// Most agents running at one time.
    pub(crate) peak_parallel: u64,
    /// Active time over makespan × cap.
    pub(crate) utilisation: Option<f64>,
    /// Sum over its agents.
    pub(crate) queued_ms: u64,
    /// Sum over its agents.
    pub(crate) waiting_ms: u64,
    /// Sum over its agents.
    pub(crate) active_ms: u64,
    /// Exchanges with a model that brought a reply.
    pub(crate) model_calls: u64,
    /// Tokens by class, as its summary has them.
    pub(crate) tokens: Tokens,
    /// As reported by the gateway; `null` where calls were made and none had a price.
    pub(crate) cost: Option<f64>,
    /// Agents by how they ended.
    pub(crate) endings: BTreeMap<String, u64>,
    /// Lines of its stream that break a rule: see `gg verify`.
    pub(crate) findings: u64,
    /// Its agents, in order of their first line.
    pub(crate) agents: Vec<AgentResult>,
}

/// One agent's part.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentResult {
    pub(crate) id: String,
    pub(crate) profile: Option<String>,
    pub(crate) parent: Option<String>,
    /// From the run's start to its spawn.
    pub(crate) spawned_after_ms: u64,
    pub(crate) queued_ms: u64,
    pub(crate) waiting_ms: u64,
    pub(crate) active_ms: u64,
    pub(crate) turns: u64,
    pub(crate) ended_as: Option<String>,
    pub(crate) cost: Option<f64>,
}

/// A summary's figures, as far as a result needs them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    status: String,
    exit_code: u64,
    model_calls: u64,
    cost: Option<f64>,
    tokens: Tokens,
}

/// How a run was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) run: String,
    pub(crate) variation: Map<String, Value>,
    pub(crate) repeat: u32,
}

/// Reads a run's stream. `None` where it holds no whole summary, so that nothing can be said.
pub(crate) fn read(asked: &Asked, stream: &Path) -> anyhow::Result<Option<RunResult>> {
    let name = stream.display();
    let unreadable = || format!("the stream `{name}` cannot be read");
    let open = || {
        File::open(stream)
            .map(BufReader::new)
            .with_context(unreadable)
    };
    let Some(summary) = summary(open()?).with_context(unreadable)? else {
        return Ok(None);
    };
    let analysis = Analysis::read(open()?).with_context(unreadable)?;
    let checked = rules::read(open()?).with_context(unreadable)?;
    Ok(Some(result(asked, summary, &analysis, checked.broken())))
}

/// The last summary of a stream whose last line is whole.
fn summary(reader: impl std::io::BufRead) -> std::io::Result<Option<Summary>> {
    let mut summary = None;
    for line in lines::lines(reader) {
        if let Ok(line) = line?
            && line.kind == "session_summary"
        {
            summary = line.fields().ok();
        }
    }
    Ok(summary)
}

fn result(asked: &Asked, summary: Summary, analysis: &Analysis, findings: u64) -> RunResult {
    let timing = &analysis.lives;
    let sum = |part: fn(&AgentTime) -> u64| timing.times().map(|it| part(&it)).sum();
    let agents: Vec<AgentResult> = timing.times().map(|it| agent(it, analysis)).collect();
    let mut endings = BTreeMap::new();
    for agent in &agents {
        let ending = agent.ended_as.as_deref().unwrap_or("none");
        *endings.entry(ending.to_owned()).or_default() += 1;
    }
    RunResult {
        run: asked.run.clone(),
        variation: asked.variation.clone(),
        repeat: asked.repeat,
        status: summary.status,
        exit_code: summary.exit_code,
        makespan_ms: timing.makespan_ms(),
        max_parallel: timing.cap(),
        peak_parallel: timing.peak_parallel(),
        utilisation: timing.utilisation(),
        queued_ms: sum(|it| it.queued_ms),
        waiting_ms: sum(|it| it.waiting_ms),
        active_ms: timing.active_ms(),
        model_calls: summary.model_calls,
        tokens: summary.tokens,
        cost: summary.cost,
        endings,
        findings,
        agents,
    }
}

fn agent(time: AgentTime, analysis: &Analysis) -> AgentResult {
    let facts = analysis.agents.get(&time.id);
    AgentResult {
        profile: facts.and_then(|it| Some(it.profile.as_ref()?.to_string())),
        parent: facts.and_then(|it| Some(it.parent.as_ref()?.to_string())),
        turns: facts.map_or(0, |it| it.turns),
        ended_as: facts.and_then(|it| it.ended.clone()),
        cost: facts.and_then(|it| it.cost),
        id: time.id.to_string(),
        spawned_after_ms: time.spawned_after_ms,
        queued_ms: time.queued_ms,
        waiting_ms: time.waiting_ms,
        active_ms: time.active_ms,
    }
}
