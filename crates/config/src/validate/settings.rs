//! A profile's settings that are no capabilities: opening turn, roster, cache lifetime, reasoning,
//! the two detectors of repetition.

use vocab::ids::Slug;

use super::fields::word_text;
use super::profile::Mode;
use super::{Count, Fields, Kind, grants};
use crate::document::quoted;
use crate::profile::{
    Effort, LoopDetection, OpeningTurn, PromptCacheTtl, REASONING, Reasoning, RepeatDetection,
    RosterEntry, RosterScope, Tree,
};
use crate::refusal::{Spot, listed, nearest};

pub(super) fn opening_turn(profile: &Fields<'_>, mode: Mode) -> Option<OpeningTurn> {
    if mode == Mode::Code && !profile.has("openingTurn") {
        profile.report.refuse(
            &profile.at("openingTurn"),
            "is missing; expected an object of `modules`, `functions`, `tree`, which every code \
             agent writes",
        );
    }
    let turn = profile.object("openingTurn", OpeningTurn::SHAPE)?;
    let modules = modules(&turn);
    let functions = grants::operations(&turn, "functions");
    let tree = turn.object("tree", Tree::SHAPE).and_then(|tree| {
        let include = tree.flag("include");
        let depth = tree.whole("depth", Count::between(1, 6));
        Some(Tree {
            include: include?,
            depth: depth?,
        })
    });
    Some(OpeningTurn {
        modules: modules?,
        functions: functions?,
        tree: tree?,
    })
}

fn modules(turn: &Fields<'_>) -> Option<Vec<String>> {
    let known = crate::grants::modules();
    let entries = turn.list("modules", "module ids")?;
    let mut read = Vec::new();
    for (spot, node) in entries {
        let Some(name) = word_text(turn.report, &spot, node) else {
            continue;
        };
        if known.contains(&name) {
            read.push(name.to_owned());
            continue;
        }
        let near = nearest(name, known.iter().copied()).unwrap_or_default();
        turn.report.refuse_with_hint(
            &spot,
            format!(
                "is {}; expected one of {}",
                quoted(name),
                listed(known.iter().copied())
            ),
            format!("the nearest is `{near}`"),
        );
    }
    Some(read)
}

/// Reads the roster; each sound entry with where it stands.
pub(super) fn roster(profile: &Fields<'_>) -> Vec<(Spot, RosterEntry)> {
    let Some(entries) = profile.list("subagents", "roster entries") else {
        return Vec::new();
    };
    entries
        .into_iter()
        .filter_map(|(spot, node)| {
            let entry = profile.child(spot, node, RosterEntry::SHAPE)?;
            let agent_id = entry.word_text("agentId").map(Slug::from);
            let description = entry.text("description").map(str::to_owned);
            let scopes = scopes(&entry);
            Some((
                entry.spot.clone(),
                RosterEntry {
                    agent_id: agent_id?,
                    description: description.unwrap_or_default(),
                    scopes: scopes.unwrap_or_default(),
                },
            ))
        })
        .collect()
}

fn scopes(entry: &Fields<'_>) -> Option<Vec<RosterScope>> {
    let empty = matches!(entry.peek("scopes"), Some(Kind::List(items)) if items.is_empty());
    let scopes = entry.words("scopes", RosterScope::ALL, RosterScope::as_str)?;
    if empty {
        entry.report.refuse(
            &entry.at("scopes"),
            format!(
                "is empty; expected at least one of {}",
                listed(RosterScope::ALL.iter().map(|scope| scope.as_str()))
            ),
        );
    }
    Some(scopes)
}

pub(super) fn prompt_cache_ttl(profile: &Fields<'_>) -> Option<PromptCacheTtl> {
    profile.word(
        "promptCacheTtl",
        PromptCacheTtl::ALL,
        PromptCacheTtl::as_str,
    )
}

pub(super) fn reasoning(profile: &Fields<'_>) -> Option<Reasoning> {
    let fields = profile.object("reasoning", REASONING)?;
    let effort = fields.word("effort", Effort::ALL, Effort::as_str);
    let max_tokens = fields.whole("maxTokens", Count::from(1));
    if fields.has("effort") == fields.has("maxTokens") {
        let found = if fields.has("effort") {
            "holds both"
        } else {
            "holds neither"
        };
        profile.report.refuse(
            &fields.spot,
            format!("{found}; expected exactly one of `effort`, `maxTokens`"),
        );
        return None;
    }
    effort
        .map(Reasoning::Effort)
        .or(max_tokens.map(Reasoning::MaxTokens))
}

pub(super) fn loop_detection(profile: &Fields<'_>) -> Option<LoopDetection> {
    let fields = profile.object("loopDetection", LoopDetection::SHAPE)?;
    let enabled = fields.flag("enabled");
    let fields = if enabled == Some(true) {
        fields
    } else {
        fields.incomplete()
    };
    let detection = LoopDetection {
        enabled: enabled == Some(true),
        window_words: fields.whole("windowWords", Count::from(1)),
        repeat_threshold: fields.whole("repeatThreshold", Count::from(1)),
        min_offenders: fields.whole("minOffenders", Count::from(1)),
        min_saturated_run: fields.whole("minSaturatedRun", Count::from(0)),
        max_response_chars: fields.whole("maxResponseChars", Count::from(0)),
    };
    if let (Some(offenders), Some(words)) = (detection.min_offenders, detection.window_words)
        && offenders > words
    {
        profile.report.warn(
            &fields.at("minOffenders"),
            format_args!("is {offenders} and windowWords is {words}: no window can saturate"),
        );
    }
    Some(detection)
}

pub(super) fn repeat_detection(profile: &Fields<'_>) -> Option<RepeatDetection> {
    let fields = profile.object("repeatDetection", RepeatDetection::SHAPE)?;
    Some(RepeatDetection {
        calls: fields.whole("calls", Count::from(1))?,
    })
}
