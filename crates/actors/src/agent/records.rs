//! The same facts in the record's own types: what a turn hands to the stream and to the journal.
//!
//! Pure conversions, one for each pair of types; nothing is decided here.

use std::sync::Arc;

use context::modules::RosterRow;
use context::modules::archive::{Archive, ArchiveEntry};
use context::modules::memories;
use context::modules::skills::{self, SkillSet};
use context::modules::tasks::{Task, TaskList};
use context::window::{LoggedMessage, Region, Retention, Row, Slot};
use provider::call::CallError;
use provider::fault::Fault;
use provider::reply::Reply;
use record::event::{
    ArchiveRow, ArchiveState, CallDescriptor, ContextMessage, Event, ImageDescriptor,
    MemoryRevision, MemoryRow, MemoryState, MemoryTotals, ModuleRow, Shell, SkillRow, SkillsState,
    TaskRow, TaskStatus, TasksState,
};
use record::journal::{
    FrameRegion, FrameRow, ModelErrorKind, ModelErrorRecord, ResponseRecord, Slot as FrameSlot,
};
use record::mask::Mask;
use tools::shell::Record;
use vocab::knowledge::MemoryScope;
use vocab::message::{Image, Message, ToolCall};

/// The reply as the journal keeps it; `message` is what of it the window holds.
pub(super) fn response_record(reply: &Reply, message: Arc<Message>) -> ResponseRecord {
    ResponseRecord {
        reply: message,
        reasoning: reply.reasoning.clone(),
        finish_reason: reply.finish_reason.clone(),
        usage: reply.usage.as_ref().map(|usage| Arc::clone(&usage.wire)),
        provider: reply.provider.clone(),
        generation: reply.generation.clone(),
    }
}

/// The failure as the journal keeps it (06 §8.3).
pub(super) fn error_record(error: &CallError, why: &str) -> ModelErrorRecord {
    let kind = match &error.fault {
        Fault::MissingCredential => ModelErrorKind::MissingCredential,
        Fault::ProviderMismatch { .. } => ModelErrorKind::ProviderMismatch,
        Fault::Timeout { .. } => ModelErrorKind::Timeout,
        Fault::LengthCapped(_) => ModelErrorKind::LengthCapped,
        Fault::Parse { .. } => ModelErrorKind::Unparseable,
        Fault::RateLimited { .. }
        | Fault::Server { .. }
        | Fault::Transport { .. }
        | Fault::Stall { .. } => ModelErrorKind::RetryExhausted,
        Fault::Looped { .. } => ModelErrorKind::ResponseLoop,
        Fault::NotFound { .. }
        | Fault::Auth { .. }
        | Fault::Rejected { .. }
        | Fault::Unusable { .. } => ModelErrorKind::FatalStatus,
    };
    let served = match &error.fault {
        Fault::ProviderMismatch { served, .. } => Some(served.clone()),
        _ => error.fault.provider().cloned(),
    };
    ModelErrorRecord {
        status: error.fault.status(),
        attempts: Some(error.attempts),
        discarded: u32::try_from(error.loops.replies)
            .ok()
            .filter(|replies| *replies > 0),
        served,
        ..ModelErrorRecord::new(kind, why)
    }
}

pub(super) fn frame_row(row: Row) -> FrameRow {
    FrameRow {
        message: row.message,
        slot: match row.slot {
            Slot::System => FrameSlot::System,
            Slot::Thread => FrameSlot::Thread,
            Slot::Signal => FrameSlot::Signal,
        },
        band: row.band,
        survives: row.retention == Retention::Pinned,
        turn: row.turn,
        region: row.region.map(|region| FrameRegion {
            offset: region.first,
            limit: (region.last + 1).saturating_sub(region.first),
        }),
    }
}

pub(super) fn describe(logged: LoggedMessage) -> ContextMessage {
    let message = &logged.message;
    ContextMessage {
        id: logged.id,
        role: logged.role,
        band: logged.band,
        tokens: logged.tokens,
        label: logged.label,
        content: message.text().into(),
        images: message.images().iter().map(describe_image).collect(),
        tool_calls: message.calls().iter().map(describe_call).collect(),
        tool_call_id: message.answers().cloned(),
    }
}

pub(super) fn describe_image(image: &Image) -> ImageDescriptor {
    let (width, height) = image.dimensions.unzip();
    ImageDescriptor {
        media_type: image.format.to_string(),
        bytes: image.bytes.len() as u64,
        width,
        height,
        tokens: image.tokens(),
    }
}

pub(super) fn describe_call(call: &ToolCall) -> CallDescriptor {
    CallDescriptor {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: Arc::clone(&call.arguments),
    }
}

pub(super) fn module_row(row: &RosterRow) -> ModuleRow {
    ModuleRow {
        kind: row.kind.as_str(),
        store: row.store.clone(),
        enabled: row.enabled,
        carried: row.carried,
        origin: row.origin.as_str(),
        writable: row.writable,
        scope: row.scope,
    }
}

pub(super) fn tasks_state(module_id: String, list: &TaskList) -> Event {
    let row = |task: &Task| TaskRow {
        id: task.id.clone(),
        title: task.title.clone(),
        description: task.description.clone(),
        in_scope: task.sections.in_scope.clone(),
        out_of_scope: task.sections.out_of_scope.clone(),
        completion_criteria: task.sections.completion_criteria.clone(),
        status: if task.done {
            TaskStatus::Done
        } else {
            TaskStatus::Pending
        },
        blocked_by: task.blocked_by.clone(),
    };
    Event::TasksState(TasksState {
        module_id,
        tasks: list.tasks().iter().map(row).collect(),
    })
}

pub(super) fn memory_state(
    module_id: String,
    scope: MemoryScope,
    state: memories::MemoryState,
) -> Event {
    let row = |row: memories::MemoryRow| MemoryRow {
        slug: row.name,
        description: row.description,
        chars: row.chars,
        lines: row.lines,
    };
    let totals = |totals: memories::MemoryTotals| MemoryTotals {
        count: totals.count,
        chars: totals.chars,
        lines: totals.lines,
    };
    Event::MemoryState(Box::new(MemoryState {
        module_id,
        strategy: state.strategy,
        memories: state.memories.into_iter().map(row).collect(),
        totals: totals(state.totals),
        limits: state.limits,
        peaks: totals(state.peaks),
        scope,
        writable: state.writable,
    }))
}

pub(super) fn memory_revision(module_id: String, revision: &memories::Revision) -> Event {
    Event::MemoryRevision(Box::new(MemoryRevision {
        module_id,
        slug: Arc::clone(&revision.name),
        revision: revision.number,
        description: revision.description.clone(),
        text: revision.text.clone(),
        code: revision.code.module.clone(),
        on_use: revision.code.on_use.clone(),
    }))
}

pub(super) fn skills_state(module_id: String, skills: &SkillSet) -> Event {
    let row = |row: skills::SkillRow| SkillRow {
        name: row.name,
        description: row.description,
        read: row.read,
    };
    Event::SkillsState(SkillsState {
        module_id,
        skills: skills.rows().into_iter().map(row).collect(),
    })
}

pub(super) fn archive_state(module_id: String, archive: &Archive) -> Event {
    let row = |entry: &ArchiveEntry| ArchiveRow {
        ordinal: entry.ordinal,
        band: entry.band,
        role: entry.role,
        chars: entry.chars(),
        preview: entry.preview(),
    };
    Event::ArchiveState(ArchiveState {
        module_id,
        entries: archive.entries().iter().map(row).collect(),
    })
}

/// On whose behalf a command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandOrigin {
    /// A tool call's.
    Tool,
    /// A program's.
    Program,
    /// A hook's.
    Hook,
}

impl CommandOrigin {
    /// As the event has it.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Program => "program",
            Self::Hook => "hook",
        }
    }
}

/// A command as its event shows it, without the credential.
pub(crate) fn command_event(origin: CommandOrigin, record: &Record, mask: &Mask) -> Shell {
    Shell {
        origin: origin.as_str(),
        command: Arc::clone(&record.command),
        cwd: record.cwd.clone(),
        exit_code: record.exit_code,
        stdout: mask.apply(&record.stdout).into_owned(),
        stderr: mask.apply(&record.stderr).into_owned(),
        stdout_dropped: record.stdout_dropped,
        stderr_dropped: record.stderr_dropped,
    }
}

/// The lines a view shows, as the window has them.
pub(super) fn region(region: tools::Region) -> Region {
    Region {
        first: region.first,
        last: region.last,
        total: region.total,
    }
}
