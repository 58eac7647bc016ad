//! What holds of an agent that comes of another: its successor, or a copy of it.
//!
//! A chain is proved link by link: whoever hands itself on ends as one that did, with the
//! hand-over before it; whoever comes has the place, the depth and the count of turns
//! of the one it succeeds, and the modules that the hand-over says.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::line::Line;
use super::{Ending, Found, rule};

pub(super) fn check(lines: &[Line], ending: Ending, found: &mut Found) {
    let mut chains = Chains::default();
    for (at, line) in lines.iter().enumerate() {
        let Some(agent) = line.agent.as_deref() else {
            continue;
        };
        match line.kind.as_str() {
            "agent_transition" => chains.transition(agent, line, found),
            "agent_spawned" => {
                let before = at.checked_sub(1).and_then(|before| lines.get(before));
                let transition = before.filter(|it| it.kind == "agent_transition");
                chains.spawned(agent, line, transition, found);
            }
            "agent_modules" => chains.modules(agent, line, found),
            "turn_outcome" => chains.outcome(agent, line, found),
            "agent_status" => chains.status(agent, line, found),
            "log" if line.text("code") == LOST => chains.lost(agent),
            _ => {}
        }
    }
    if ending == Ending::Finished {
        chains.conclude(lines.last().map_or(1, |line| line.number), found);
    }
}

/// What is logged of an agent whose successor died before it said that it is there.
const LOST: &str = "successor_lost";

#[derive(Default)]
struct Chains<'a> {
    agents: HashMap<&'a str, Link<'a>>,
}

/// One incarnation.
#[derive(Default)]
struct Link<'a> {
    spawned: Option<&'a Line>,
    /// The transition it came by.
    by: Option<&'a Line>,
    /// Its stores, by the kind of module.
    stores: BTreeMap<&'a str, Option<&'a str>>,
    /// The last turn that was judged.
    turn: Option<u64>,
    /// The turn it counts from, where it comes of another.
    counts_from: Option<u64>,
    /// Its place in its lineage.
    place: u64,
    /// Whether it handed itself on, and whether it ended as one that did.
    handed_on: bool,
    transitioned: bool,
    /// Whether its successor died before it said that it is there.
    lost: bool,
}

impl<'a> Chains<'a> {
    fn transition(&mut self, agent: &'a str, line: &'a Line, found: &mut Found) {
        let link = self.agents.entry(agent).or_default();
        let mut wrong = |message: String| found.add(line.number, rule::SUCCESSION, message);
        if link.handed_on {
            wrong(format!("`{agent}` had handed itself on"));
        }
        link.handed_on |= line.text("kind") != "fork";
        for row in rows(line) {
            let (kind, told) = (
                row["kind"].as_str().unwrap_or_default(),
                row["from"].as_str(),
            );
            let held = link.stores.get(kind).copied().flatten();
            if told != held {
                wrong(format!(
                    "{kind} is {told:?} of `{agent}`, which holds {held:?}"
                ));
            }
            if let Some(message) = disposed(row) {
                wrong(message);
            }
        }
    }

    fn spawned(
        &mut self,
        agent: &'a str,
        line: &'a Line,
        transition: Option<&'a Line>,
        found: &mut Found,
    ) {
        let mut wrong = |message: String| found.add(line.number, rule::SUCCESSION, message);
        let origin = line.get("origin");
        let expected = match transition.map(|it| it.text("kind")) {
            None => None,
            Some("fork") => Some(("fork", "parent")),
            Some(_) => Some(("succession", "predecessor")),
        };
        let kind = origin["kind"].as_str().unwrap_or_default();
        let mut link = Link {
            spawned: Some(line),
            by: transition,
            ..Link::default()
        };
        match (expected, transition) {
            (Some((expected, field)), Some(transition)) => {
                let source = transition.agent.as_deref().unwrap_or_default();
                if kind != expected || origin[field] != source {
                    wrong(format!(
                        "origin is {origin}, where `{source}` is the {field}"
                    ));
                }
                if line.text("parentId") != source {
                    wrong(format!(
                        "the parent is {}, not `{source}`",
                        line.get("parentId")
                    ));
                }
                if let Some(before) = self.agents.get(source) {
                    link.counts_from = Some(before.turn.unwrap_or(before.counts_from.unwrap_or(0)));
                    if expected == "fork" {
                        // The turn that made it may be judged behind it, or before.
                        link.counts_from = None;
                        for field in ["cwd", "profileId", "modelId", "windowLimit"] {
                            same(field, before.spawned, line, &mut wrong);
                        }
                    } else {
                        link.place = before.place + 1;
                        if origin["ordinal"].as_u64() != Some(link.place) {
                            wrong(format!(
                                "the ordinal is {}, not {}",
                                origin["ordinal"], link.place
                            ));
                        }
                        for field in ["depth", "cwd", "agentKind", "worktree"] {
                            same(field, before.spawned, line, &mut wrong);
                        }
                    }
                }
            }
            _ if matches!(kind, "succession" | "fork") => {
                wrong(format!("a {kind} without an agent_transition before it"));
            }
            _ => {}
        }
        self.agents.entry(agent).or_insert(link);
    }

    fn modules(&mut self, agent: &'a str, line: &'a Line, found: &mut Found) {
        let Some(link) = self.agents.get_mut(agent) else {
            return;
        };
        let modules = line.get("modules").as_array();
        for row in modules.into_iter().flatten() {
            if let Some(kind) = row["kind"].as_str() {
                link.stores.insert(kind, row["store"].as_str());
            }
        }
        let Some(transition) = link.by else {
            return;
        };
        for row in rows(transition) {
            let (kind, told) = (row["kind"].as_str().unwrap_or_default(), row["to"].as_str());
            let held = link.stores.get(kind).copied().flatten();
            if told != held {
                found.add(
                    line.number,
                    rule::SUCCESSION,
                    format!("{kind} was to be {told:?}, and `{agent}` holds {held:?}"),
                );
            }
        }
    }

    fn outcome(&mut self, agent: &str, line: &Line, found: &mut Found) {
        let (Some(link), Some(turn)) = (self.agents.get_mut(agent), line.turn) else {
            return;
        };
        if let (None, Some(from)) = (link.turn, link.counts_from)
            && turn != from + 1
        {
            found.add(
                line.number,
                rule::SUCCESSION,
                format!("the first turn of `{agent}` is {turn}, behind turn {from} of its lineage"),
            );
        }
        link.turn = Some(turn);
    }

    fn lost(&mut self, agent: &str) {
        if let Some(link) = self.agents.get_mut(agent) {
            link.lost = true;
        }
    }

    fn status(&mut self, agent: &str, line: &Line, found: &mut Found) {
        if !matches!(line.text("status"), "done" | "failed") {
            return;
        }
        let Some(link) = self.agents.get_mut(agent) else {
            return;
        };
        let transitioned = line.text("endedAs") == "transitioned";
        if transitioned != (link.handed_on || link.lost) {
            let ended = line.text("endedAs");
            let message = if transitioned {
                format!("`{agent}` ends as {ended}, and nobody took its place")
            } else {
                format!("`{agent}` handed itself on, and ends as {ended}")
            };
            found.add(line.number, rule::SUCCESSION, message);
        }
        link.transitioned = transitioned;
    }

    fn conclude(&self, last: usize, found: &mut Found) {
        let mut agents: Vec<_> = self.agents.iter().collect();
        agents.sort_by_key(|(name, _)| **name);
        for (name, link) in agents {
            if link.handed_on && !link.transitioned {
                let message = format!("`{name}` handed itself on, and did not end by that");
                found.add(last, rule::SUCCESSION, message);
            }
        }
    }
}

fn rows(transition: &Line) -> impl Iterator<Item = &Value> {
    let rows = transition.get("modules").as_array();
    rows.into_iter().flatten()
}

/// What is wrong with a disposition and the stores on each side.
fn disposed(row: &Value) -> Option<String> {
    let (from, to) = (row["from"].as_str(), row["to"].as_str());
    let fits = match row["disposition"].as_str()? {
        "carried" => from.is_some() && from == to,
        "copied" => from.is_some() && to.is_some() && from != to,
        "linked" => from.is_some() && to.is_some(),
        "dropped" => from.is_some() && from != to,
        "initialized" => from.is_none() && to.is_some(),
        "absent" => from.is_none() && to.is_none(),
        _ => false,
    };
    (!fits).then(|| format!("{row} does not fit together"))
}

fn same(field: &str, before: Option<&Line>, line: &Line, wrong: &mut impl FnMut(String)) {
    if let Some(before) = before
        && before.get(field) != line.get(field)
    {
        let (was, is) = (before.get(field), line.get(field));
        wrong(format!("{field} is {is}, where it was {was}"));
    }
}
