//! What one part of the document says of another (01 §3.2, 03 §5–7).

use vocab::capability::CapabilityId as Id;
use vocab::tools::ToolName;

use super::machine;
use super::profile::{Draft, Mode};
use crate::capability::Capability;
use crate::capability::board::BoardParams;
use crate::capability::knowledge::{MemoryScope, MemoryStrategy};
use crate::capability::window::CompactionStrategy;
use crate::document::quoted;
use crate::profile::RosterScope;
use crate::refusal::{Report, Spot, listed, nearest};

pub(super) fn check(report: &Report, agents: &[Draft]) {
    for agent in agents {
        for (spot, entry) in &agent.roster {
            declared(
                report,
                &spot.key("agentId"),
                entry.agent_id.as_str(),
                agents,
            );
        }
        compaction(report, agent);
        memories(report, agent, agents);
        succession(report, agent, agents);
        board_author(report, agent);
    }
    max_depth(report, agents);
    board(report, agents);
    machine::check(report, agents);
}

/// The profile a slug names; refused where none does.
pub(super) fn declared<'a>(
    report: &Report,
    spot: &Spot,
    slug: &str,
    agents: &'a [Draft],
) -> Option<&'a Draft> {
    let found = find(slug, agents);
    if found.is_none() {
        let known = agents
            .iter()
            .filter_map(|agent| agent.written_slug.as_deref());
        let message = format!(
            "is {}, which no agent of the set is called; expected one of {}",
            quoted(slug),
            listed(known.clone())
        );
        match nearest(slug, known) {
            Some(near) => {
                report.refuse_with_hint(spot, message, format!("the nearest is `{near}`"));
            }
            None => report.refuse(spot, message),
        }
    }
    found
}

/// The profile a slug names.
pub(super) fn find<'a>(slug: &str, agents: &'a [Draft]) -> Option<&'a Draft> {
    agents
        .iter()
        .find(|agent| agent.written_slug.as_deref() == Some(slug))
}

fn has_scope(agent: &Draft, scope: RosterScope) -> bool {
    agent
        .roster
        .iter()
        .any(|(_, entry)| entry.scopes.contains(&scope))
}

/// Strategies that could never be answered (02 §6.3).
fn compaction(report: &Report, agent: &Draft) {
    let Some(Capability::Compaction(compaction)) = agent.running(Id::Compaction) else {
        return;
    };
    let spot = agent.capability_spot(Id::Compaction).key("implementation");
    match compaction.implementation {
        Some(CompactionStrategy::SelfCompaction) if !agent.granted(ToolName::Compact) => {
            report.refuse_with_hint(
                &spot,
                "is \"self-compaction\", but the agent is not granted `compact`",
                "grant `compact`; a code agent is granted its operation",
            );
        }
        Some(CompactionStrategy::MemoryCompaction) => memory_compaction(report, agent, &spot),
        _ => {}
    }
}

fn memory_compaction(report: &Report, agent: &Draft, spot: &Spot) {
    let message = match agent.running(Id::Memories) {
        Some(Capability::Memories(memories)) => {
            let writes: &[ToolName] = match memories.implementation {
                Some(MemoryStrategy::Scratchpad) => {
                    &[ToolName::WriteMemory, ToolName::UpdateMemory]
                }
                Some(_) => &[ToolName::CreateMemory, ToolName::EditMemory],
                None => return,
            };
            if memories.params.scope == Some(MemoryScope::ReadOnly) {
                "is \"memory-compaction\", but the agent's memories are read-only".to_owned()
            } else if !writes.iter().any(|tool| agent.granted(*tool)) {
                format!(
                    "is \"memory-compaction\", but the agent is granted none of {}",
                    listed(writes.iter().map(|tool| tool.as_str()))
                )
            } else {
                return;
            }
        }
        _ => "is \"memory-compaction\", but the agent's `memories` are off".to_owned(),
    };
    report.refuse(spot, message);
}

/// An agent that would inherit memories organized otherwise than its own (02 §9.4).
fn memories(report: &Report, spawner: &Draft, agents: &[Draft]) {
    let Some(Capability::Memories(own)) = spawner.running(Id::Memories) else {
        return;
    };
    for (spot, entry) in &spawner.roster {
        if !entry.scopes.contains(&RosterScope::Subagent) {
            continue;
        }
        let (Some(child), Some(own)) = (find(entry.agent_id.as_str(), agents), own.implementation)
        else {
            continue;
        };
        for (heir, theirs) in machine::heirs(child, own, agents) {
            let whose = if std::ptr::eq(heir, child) {
                "whose memories are inherited".to_owned()
            } else {
                format!(
                    "a machine that runs {}, whose memories are inherited",
                    heir.spot
                )
            };
            report.refuse(
                &spot.key("agentId"),
                format!(
                    "is \"{}\", {whose} and `{theirs}`, while the spawner's are `{own}`; \
                     expected one strategy",
                    entry.agent_id
                ),
            );
        }
    }
}

/// `exec` and `fork` that could never be used (R18).
fn succession(report: &Report, agent: &Draft, agents: &[Draft]) {
    if agent.enabled(Id::Fork) && !agent.enabled(Id::Subagents) {
        report.refuse_with_hint(
            &agent.capability_spot(Id::Fork),
            "is on without `subagents`: nothing could collect the copy",
            "enable `subagents`, or disable `fork`",
        );
    }
    if !agent.enabled(Id::Exec) {
        return;
    }
    let spot = agent.capability_spot(Id::Exec);
    if !has_scope(agent, RosterScope::Subagent) {
        report.refuse_with_hint(
            &spot,
            "is on, but the roster holds nobody with the scope `subagent` to become",
            "list a profile with that scope, or disable `exec`",
        );
    }
    if let Some(slug) = &agent.written_slug
        && let Some(machine) = machine::running(slug, agents)
    {
        report.refuse(
            &spot,
            format!("is on, but {machine} runs this agent as a state"),
        );
    }
}

/// An agent that files issues nobody may work on, or review (03 §7.1).
fn board_author(report: &Report, agent: &Draft) {
    let Some(Capability::ProjectManagement(board)) = agent.running(Id::ProjectManagement) else {
        return;
    };
    if !agent.granted(ToolName::CreateIssue) {
        return;
    }
    let spot = agent.capability_spot(Id::ProjectManagement);
    if !has_scope(agent, RosterScope::Implementer) {
        report.refuse(
            &spot,
            "is on and `create_issue` is granted, but the roster holds no `implementer`",
        );
    }
    if board.params.reviewers == Some(true) && !has_scope(agent, RosterScope::Reviewer) {
        report.refuse(
            &spot.key("params").key("reviewers"),
            "is true, but the roster holds no `reviewer`",
        );
    }
}

/// Refuses a figure of the run that a later profile writes otherwise than the first.
fn one_figure<'a, T: PartialEq + std::fmt::Display>(
    report: &Report,
    written: impl Iterator<Item = (&'a Draft, T)>,
    capability: Id,
    key: &str,
) {
    let mut first: Option<(&Draft, T)> = None;
    for (agent, value) in written {
        match &first {
            None => first = Some((agent, value)),
            Some((holder, decided)) if *decided != value => report.refuse(
                &agent.capability_spot(capability).key("params").key(key),
                format!(
                    "is {value}; expected {decided}, as {} has it: the figure is the run's",
                    holder.spot
                ),
            ),
            Some(_) => {}
        }
    }
}

fn max_depth(report: &Report, agents: &[Draft]) {
    let written = agents
        .iter()
        .filter_map(|agent| match agent.running(Id::Subagents)? {
            Capability::Subagents(subagents) => Some((agent, subagents.params.max_depth?)),
            _ => None,
        });
    one_figure(report, written, Id::Subagents, "maxDepth");
}

/// Every profile with the board on, and its params.
fn boards(agents: &[Draft]) -> impl Iterator<Item = (&Draft, &BoardParams)> + Clone {
    agents
        .iter()
        .filter_map(|agent| match agent.running(Id::ProjectManagement)? {
            Capability::ProjectManagement(board) => Some((agent, &board.params)),
            _ => None,
        })
}

fn board(report: &Report, agents: &[Draft]) {
    let boards = boards(agents);
    for (key, place) in [("maxEpics", 0), ("maxIssues", 1), ("maxRetries", 2)] {
        let written = boards.clone().filter_map(|(agent, board)| {
            let figures = [board.max_epics, board.max_issues, board.max_retries];
            Some((agent, figures[place]?))
        });
        one_figure(report, written, Id::ProjectManagement, key);
    }
    let written = boards
        .clone()
        .filter_map(|(agent, board)| Some((agent, format!("\"{}\"", board.merge_agent.as_ref()?))));
    one_figure(report, written, Id::ProjectManagement, "mergeAgent");

    // A later one that differs is refused already.
    let first = boards
        .clone()
        .find_map(|(agent, board)| Some((agent, board.merge_agent.as_ref()?)));
    if let Some((agent, slug)) = first {
        let spot = agent
            .capability_spot(Id::ProjectManagement)
            .key("params")
            .key("mergeAgent");
        let merger = declared(report, &spot, slug.as_str(), agents);
        if merger.is_some_and(|merger| merger.mode == Mode::Machine) {
            report.refuse(
                &spot,
                format!("is \"{slug}\", a machine; expected an agent that takes turns"),
            );
        } else if merger.is_some_and(|merger| !merger.enabled(Id::Shell)) {
            report.refuse(
                &spot,
                format!("is \"{slug}\", whose `shell` is off; expected an agent that has it on"),
            );
        }
    }
}
