//! A whole run: its agents, what the providers' caches were worth, what broke a prefix.

use std::fmt::Write as _;
use vocab::figures::grouped;

use record::analysis::{AgentFacts, Analysis, CacheRow, Lost, PrefixBreak, ProgramFacts};

use super::{dollars, share};
use crate::flow::tree;
use crate::page::{columns, one_line, plural};

/// Steps to the right; who is deeper stands under the last.
const LEVELS: usize = 12;

/// The page.
pub(crate) fn render(analysis: &Analysis) -> String {
    let session = one_line(analysis.session.as_ref().map_or("", |id| id.as_str()));
    let end = match &analysis.ended {
        Some((status, code)) => format!("{}, exit code {code}", one_line(status)),
        None => "no last line: the process was killed, or it still runs".to_owned(),
    };
    let mut text = format!("Session {session}: {end}\n\nAgents\n");
    let mut rows = vec![row([
        "agent", "profile", "model", "turns", "input", "cached", "output", "cost", "ended as",
    ])];
    let family = tree::rows(analysis.agents.iter().collect(), |it| {
        (it.id.clone(), it.parent.clone())
    });
    rows.extend(family.iter().map(|(depth, it)| agent(*depth, it)));
    text.push_str(&columns(&rows, &[3, 4, 5, 6, 7]));
    for agent in analysis.agents.iter().filter(|it| it.unpriced_calls > 0) {
        writeln!(
            text,
            "{}: {} of {} without a price, left out of its cost",
            one_line(agent.id.as_str()),
            plural(agent.unpriced_calls, "call"),
            plural(agent.unpriced_tokens, "token")
        )
        .expect("a string takes any text");
    }

    text.push_str(
        "\nCache: tokens the cache should have held, tokens read from it, what was lost at list prices\n",
    );
    let mut rows = vec![row([
        "agent", "provider", "model", "calls", "expected", "got", "share", "misses", "lost",
    ])];
    rows.extend(analysis.cache.rows().iter().map(|it| cache(analysis, it)));
    text.push_str(&columns(&rows, &[3, 4, 5, 6, 7]));

    if analysis.programs.iter().next().is_some() {
        text.push_str("\nPrograms: how many were submitted, what they called, time of their own\n");
        let mut rows = vec![row([
            "agent",
            "language",
            "programs",
            "failed",
            "calls",
            "failed",
            "undocumented",
            "own ms",
            "compile ms",
        ])];
        rows.extend(analysis.programs.iter().map(programs));
        text.push_str(&columns(&rows, &[2, 3, 4, 5, 6, 7, 8]));
    }

    if !analysis.cache.breaks().is_empty() {
        text.push_str("\nPrefix breaks: requests that did not extend the one before\n");
        let rows: Vec<_> = analysis.cache.breaks().iter().map(broken).collect();
        text.push_str(&columns(&rows, &[]));
    }
    text
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// A row: an agent stands below the one that started it, a step to the right.
fn agent(depth: usize, agent: &AgentFacts) -> Vec<String> {
    let figure = |tokens: Option<u64>| tokens.map_or_else(|| "-".to_owned(), grouped);
    vec![
        format!("{}{}", "  ".repeat(depth.min(LEVELS)), agent.id),
        agent
            .profile
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        agent
            .model
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        grouped(agent.turns),
        figure(agent.tokens.input()),
        figure(agent.tokens.cached_input),
        figure(agent.tokens.completion()),
        dollars(agent.cost),
        agent.ended.clone().unwrap_or_else(|| "-".to_owned()),
    ]
}

fn cache(analysis: &Analysis, row: &CacheRow) -> Vec<String> {
    let lost = match analysis.cache.lost(row) {
        Lost::Usd(usd) => dollars(Some(usd)),
        Lost::Unpriced => format!(
            "{} tokens (no list price)",
            grouped(row.expected.saturating_sub(row.got))
        ),
    };
    let calls = match row.unreported {
        0 => grouped(row.calls),
        silent => format!("{} ({silent} unreported)", grouped(row.calls)),
    };
    vec![
        row.agent.to_string(),
        row.provider
            .as_ref()
            .map_or_else(|| "-".to_owned(), ToString::to_string),
        row.model
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        calls,
        grouped(row.expected),
        grouped(row.got),
        share(row.got as f64, row.expected as f64),
        grouped(row.misses),
        lost,
    ]
}

fn programs(facts: &ProgramFacts) -> Vec<String> {
    vec![
        facts.agent.to_string(),
        one_line(facts.language.as_deref().unwrap_or("-")),
        grouped(facts.submitted),
        grouped(facts.failed),
        grouped(facts.calls),
        grouped(facts.failed_calls),
        grouped(facts.undocumented),
        grouped(facts.own_ms),
        grouped(facts.compile_ms),
    ]
}

fn broken(broken: &PrefixBreak) -> Vec<String> {
    let turn = broken
        .turn
        .map_or_else(String::new, |turn| format!("turn {turn}"));
    vec![
        broken.agent.to_string(),
        turn,
        broken.act.clone(),
        format!(
            "at message {}, byte {}: {} tokens to pay for again",
            broken.message,
            grouped(broken.byte),
            grouped(broken.lost_tokens)
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_a_tree() {
        let spawned = |id: &str, parent: &str| {
            format!(
                r#"{{"type":"agent_spawned","sessionId":"s","agentId":"{id}","profileId":"p"{parent}}}"#
            )
        };
        let by = |parent: &str| format!(r#","parentId":"{parent}""#);
        let stream = [
            spawned("root", ""),
            spawned("agent-1", &by("root")),
            spawned("agent-2", &by("root")),
            spawned("agent-3", &by("agent-1")),
        ];
        let page = render(&Analysis::read(stream.join("\n").as_bytes()).unwrap());
        let agents: Vec<&str> = page
            .lines()
            .skip(4)
            .take(4)
            .map(|line| line.split("  p ").next().unwrap().trim_end())
            .collect();
        assert_eq!(agents, ["root", "  agent-1", "    agent-3", "  agent-2"]);
    }

    #[test]
    fn a_run_reads_as_reviewed() {
        let stream = r#"{"type":"session_started","sessionId":"demo-7","modelPrices":{"a/b":{"uncachedInput":3,"cachedInput":0.3,"output":15}}}
{"type":"agent_spawned","agentId":"agent-1","profileId":"root","modelId":"a/b"}
{"type":"usage","agentId":"agent-1","turn":1,"profileId":"root","modelId":"a/b","provider":"Acme","tokens":{"uncachedInput":12000,"cachedInput":0,"output":200},"cost":{"actual":0.039,"comparable":0.039}}
{"type":"turn_outcome","agentId":"agent-1","turn":1,"outcome":"progressed","turns":1}
{"type":"prefix_broken","agentId":"agent-1","turn":2,"modelId":"a/b","message":3,"byte":40210,"act":"evict_file_view","lostTokens":2000}
{"type":"usage","agentId":"agent-1","turn":2,"profileId":"root","modelId":"a/b","provider":"Acme","tokens":{"uncachedInput":3000,"cachedInput":9000,"output":150},"cost":{"actual":0.0139,"comparable":0.0139},"expectedCachedTokens":10000}
{"type":"usage","agentId":"agent-1","turn":3,"profileId":"root","modelId":"a/b","tokens":{"uncachedInput":3000},"expectedCachedTokens":10000}
{"type":"agent_status","agentId":"agent-1","status":"done","endedAs":"completed"}
{"type":"session_ended","status":"completed","exitCode":0}"#;
        insta::assert_snapshot!(render(&Analysis::read(stream.as_bytes()).unwrap()));
    }
}
