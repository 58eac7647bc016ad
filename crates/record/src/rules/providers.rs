//! What holds of providers: every move is justified by what stands before it, every reply comes
//! from a candidate the run had reached, and a broken prefix names a message of its request.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use vocab::ids::ProviderName;
use vocab::rewrite::Rewrite;

use super::line::Line;
use super::{Found, rule};

pub(super) fn check(lines: &[Line], found: &mut Found) {
    let mut run = Run::default();
    for line in lines {
        run.take(line, found);
    }
}

#[derive(Default)]
struct Run<'a> {
    models: BTreeMap<&'a str, Candidates>,
    /// Retries a schedule has; `None` where the first line does not say.
    max_retries: Option<f64>,
    /// Misses at which a provider is left.
    miss_limit: Option<f64>,
    agents: HashMap<&'a str, Agent<'a>>,
}

/// One model's candidates, and how far the run has come.
#[derive(Default)]
struct Candidates {
    providers: Vec<ProviderName>,
    position: usize,
    misses: Vec<(ProviderName, u64)>,
}

#[derive(Default)]
struct Agent<'a> {
    model: &'a str,
    /// Retries since its last outcome or move.
    retries: u64,
    /// Its line before this one.
    last: Option<&'a Line>,
    /// A broken prefix whose prompt has not come yet.
    broken: Option<&'a Line>,
    /// What was done to its window since its last prompt.
    edits: Vec<&'a str>,
}

impl<'a> Run<'a> {
    fn take(&mut self, line: &'a Line, found: &mut Found) {
        if line.kind == "session_started" {
            self.start(line);
        }
        let Some(name) = line.agent.as_deref() else {
            return;
        };
        let agent = self.agents.entry(name).or_default();
        match line.kind.as_str() {
            "agent_spawned" => agent.model = line.text("modelId"),
            "log" if line.text("code") == "retry" => agent.retries += 1,
            "provider_fault" if line.text("kind") == "cache_miss" => {
                let candidates = self.models.entry(line.text("modelId")).or_default();
                candidates.missed(&provider(line, "provider"));
            }
            "provider_switch" => {
                let candidates = self.models.entry(line.text("modelId")).or_default();
                candidates.follow(line, found);
                justified(
                    line,
                    agent,
                    candidates,
                    self.max_retries,
                    self.miss_limit,
                    found,
                );
                agent.retries = 0;
            }
            "prefix_broken" => {
                let act = line.get("act");
                let message = match line.text("act").parse() {
                    Err(_) => Some(format!("the act {act} is unknown")),
                    Ok(act) if !was_done(act, &agent.edits) => Some(format!(
                        "the act {act}, and since the last prompt there were {:?}",
                        agent.edits
                    )),
                    Ok(_) => None,
                };
                if let Some(message) = message {
                    found.add(line.number, rule::PREFIX, message);
                }
                agent.broken = Some(line);
            }
            "context_managed" => agent.edits.push(line.text("action")),
            "compaction" => agent.edits.push("compaction"),
            "prompt" => {
                agent.edits.clear();
                if let Some(broken) = agent.broken.take() {
                    names_a_message(broken, line, found);
                }
                if let Some(candidates) = self.models.get(agent.model) {
                    candidates.check_server(line, found);
                }
            }
            "turn_outcome" => {
                agent.retries = 0;
                agent.broken = None;
            }
            _ => {}
        }
        agent.last = Some(line);
    }

    fn start(&mut self, line: &'a Line) {
        let limit = |key: &str| line.get("limits").get(key).and_then(Value::as_f64);
        self.max_retries = limit("maxModelRetries");
        self.miss_limit = limit("providerCacheMissLimit");
        for (model, list) in line.get("modelProviders").as_object().into_iter().flatten() {
            let names = list.as_array().into_iter().flatten();
            let providers = names
                .filter_map(|candidate| candidate.get("provider").and_then(Value::as_str))
                .map(ProviderName::from)
                .collect();
            let candidates = Candidates {
                providers,
                ..Candidates::default()
            };
            self.models.insert(model, candidates);
        }
    }
}

impl Candidates {
    fn missed(&mut self, provider: &ProviderName) {
        match self.misses.iter_mut().find(|row| row.0.same_as(provider)) {
            Some(row) => row.1 += 1,
            None => self.misses.push((provider.clone(), 1)),
        }
    }

    fn misses_of(&self, provider: &ProviderName) -> u64 {
        let row = self.misses.iter().find(|row| row.0.same_as(provider));
        row.map_or(0, |row| row.1)
    }

    /// A move goes from the candidate in force to the next one of the list.
    fn follow(&mut self, line: &Line, found: &mut Found) {
        let at = |place: usize, field: &str| {
            let listed = self.providers.get(place);
            listed.is_some_and(|listed| listed.same_as(&provider(line, field)))
        };
        if !at(self.position, "from") || !at(self.position + 1, "to") {
            found.add(
                line.number,
                rule::SWITCH,
                format!(
                    "a move from {} to {}, where candidate {} of {:?} is in force",
                    line.get("from"),
                    line.get("to"),
                    self.position + 1,
                    self.providers
                ),
            );
        }
        self.position += 1;
    }

    /// A call that was under way when the run moved may still be answered by a candidate left.
    fn check_server(&self, prompt: &Line, found: &mut Found) {
        let Some(served) = prompt.get("provider").as_str().map(ProviderName::from) else {
            return;
        };
        let mut reached = self.providers.iter().take(self.position + 1);
        if !self.providers.is_empty() && !reached.any(|listed| listed.same_as(&served)) {
            found.add(
                prompt.number,
                rule::SWITCH,
                format!("`{served}` serves, which the run has not moved to"),
            );
        }
    }
}

/// The log line directly before a move says why, and the fault it names did happen.
fn justified(
    line: &Line,
    agent: &Agent<'_>,
    candidates: &Candidates,
    max_retries: Option<f64>,
    miss_limit: Option<f64>,
    found: &mut Found,
) {
    let code = agent
        .last
        .filter(|last| last.kind == "log")
        .map_or("", |last| last.text("code"));
    let fault = line.text("fault");
    let fits = match fault {
        "failed_call" => match code {
            "retries_spent" => max_retries.is_none_or(|max| agent.retries as f64 >= max),
            code => code == "long_wait",
        },
        "unavailable" => code == "unavailable",
        "cache_miss" => {
            let misses = candidates.misses_of(&provider(line, "from"));
            code == "cache_misses" && misses as f64 >= miss_limit.unwrap_or(1.0)
        }
        _ => false,
    };
    if !fits {
        found.add(
            line.number,
            rule::SWITCH,
            format!(
                "the fault `{fault}` is not what stands before it: {} retries, then `{code}`",
                agent.retries
            ),
        );
    }
}

/// Whether an edit of the agent's own was made; other acts leave no line of theirs.
fn was_done(act: Rewrite, edits: &[&str]) -> bool {
    let by: &[&str] = match act {
        Rewrite::EvictFileView => &["evict_file_views"],
        Rewrite::ArchiveThread => &["archive_thread"],
        Rewrite::CloseView => &["close_text_views", "close_search_views", "evict_file_views"],
        Rewrite::CloseDocs => &["close_docs_views"],
        Rewrite::Compaction => &["compaction"],
        _ => return true,
    };
    by.iter().any(|action| edits.contains(action))
}

/// A request that is the beginning of the one before parts from it at its own end.
fn names_a_message(broken: &Line, prompt: &Line, found: &mut Found) {
    let added = prompt.get("messages").as_array().map_or(0, Vec::len);
    let sent = (prompt.repeated + added) as u64;
    let message = broken.get("message").as_u64();
    if message.is_none_or(|message| message > sent) {
        found.add(
            broken.number,
            rule::PREFIX,
            format!("message {} of a request of {sent}", broken.get("message")),
        );
    }
}

fn provider(line: &Line, field: &str) -> ProviderName {
    ProviderName::from(line.text(field))
}
