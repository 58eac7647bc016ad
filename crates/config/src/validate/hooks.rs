//! Hooks (01 §8).

use vocab::tools::ShellMode;

use super::{Fields, Kind, Span, fields};
use crate::hooks::{BuiltInHook, Hook, HookAction, HookEvent, HookKind};
use crate::refusal::Spot;

/// Reads the `hooks` of the set or of a profile, each event in its own place alone.
pub(super) fn read(holder: &Fields<'_>, of_session: bool) -> Vec<Hook> {
    holder
        .list("hooks", "hooks")
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(spot, node)| {
            let fields = holder.child(spot, node, Hook::SHAPE)?;
            hook(&fields, of_session)
        })
        .collect()
}

fn hook(fields: &Fields<'_>, of_session: bool) -> Option<Hook> {
    let event = fields.word("event", HookEvent::ALL, HookEvent::as_str);
    let placed = event.is_none_or(|event| is_placed(fields, event, of_session));
    let has_name = fields.has("name");
    let name = fields.text("name").map(str::to_owned);
    let action = action(fields);
    if !placed || (has_name && name.is_none()) {
        return None;
    }
    Some(Hook {
        event: event?,
        name,
        action: action?,
    })
}

fn is_placed(fields: &Fields<'_>, event: HookEvent, of_session: bool) -> bool {
    if event.is_of_session() == of_session {
        return true;
    }
    let (belongs, to) = if of_session {
        ("a profile", "the `hooks` of the agents it is meant for")
    } else {
        ("the run", "`capabilitySet.hooks`")
    };
    fields.report.refuse_with_hint(
        &fields.at("event"),
        format!("is \"{event}\", which belongs to {belongs}"),
        format!("move the hook to {to}"),
    );
    false
}

/// An action; `None` where any part of it was refused.
fn action(fields: &Fields<'_>) -> Option<HookAction> {
    let (spot, node) = fields.any("action", "an object with a `type`")?;
    let Kind::Object(object) = &node.kind else {
        fields.report.refuse(
            &spot,
            format!("is {}; expected an object with a `type`", node.kind),
        );
        return None;
    };
    let kind = kind(fields, &spot, object.get("type"))?;
    let action = fields.child(spot, node, kind.shape())?;
    // What is written and came out as nothing was refused.
    let sound = |key: &str, read: bool| read || !action.has(key);
    match kind {
        HookKind::Command => {
            let command = action.word_text("command");
            let cwd = action.some_text("cwd");
            let timeout_secs = action.number("timeoutSecs", Span::Positive);
            let output = action.word("output", ShellMode::ALL, ShellMode::as_str);
            let whole = sound("cwd", cwd.is_some())
                && sound("timeoutSecs", timeout_secs.is_some())
                && sound("output", output.is_some());
            whole.then_some(HookAction::Command {
                command: command?.to_owned(),
                cwd: cwd.map(str::to_owned),
                timeout_secs,
                output,
            })
        }
        HookKind::BuiltIn => Some(HookAction::BuiltIn {
            script: action.word("script", BuiltInHook::ALL, BuiltInHook::as_str)?,
        }),
        HookKind::Custom => {
            let source = action.word_text("source");
            let timeout_secs = action.number("timeoutSecs", Span::Positive);
            sound("timeoutSecs", timeout_secs.is_some()).then_some(HookAction::Custom {
                source: source?.to_owned(),
                timeout_secs,
            })
        }
    }
}

fn kind(
    fields: &Fields<'_>,
    spot: &Spot,
    node: Option<&crate::document::Node>,
) -> Option<HookKind> {
    let spot = spot.key("type");
    if let Some(node) = node {
        return fields::word(fields.report, &spot, node, HookKind::ALL, HookKind::as_str);
    }
    let kinds = HookKind::ALL.iter().map(|kind| kind.as_str());
    fields.report.refuse(
        &spot,
        format!(
            "is missing; expected one of {}",
            crate::refusal::listed(kinds)
        ),
    );
    None
}
