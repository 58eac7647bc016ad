//! What holds of an agent's modules: each is shown as the agent arrives, and again behind the work
//! of every turn that changed it (06 §1 rules 2 and 5, §2.4).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use vocab::capability::CapabilityId;
use vocab::tools::ToolName;
use vocab::{board, knowledge};

use super::line::Line;
use super::{Found, rule};

/// The kinds of modules that are shown, by the type that shows them.
const SHOWN: [(&str, &str); 5] = [
    ("memories", "memory_state"),
    ("tasks", "tasks_state"),
    ("skills", "skills_state"),
    ("board", "board_state"),
    ("archive", "archive_state"),
];

/// Characters of an archived message's preview at most.
const PREVIEW_CHARS: usize = 160;

/// Whether a line is a snapshot of a module.
pub(super) fn is_snapshot(line: &Line) -> bool {
    SHOWN.iter().any(|(_, kind)| line.kind == *kind)
}

/// One agent's modules.
#[derive(Default)]
pub(super) struct Held<'a> {
    /// The store of each module it holds, by the type that shows it.
    stores: BTreeMap<&'static str, &'a str>,
    /// What has not been shown since it arrived.
    awaited: BTreeSet<&'static str>,
    /// What the running turn changed and showed.
    turn: Turn,
    /// The last revision of each memory that it wrote.
    revisions: HashMap<(&'a str, &'a str), u64>,
    /// Entries its archive had.
    archived: usize,
    /// Whether gg met a defect: a board that died of one is shown no more.
    defect: bool,
}

/// Changes and snapshots of a turn, by the type that shows them.
#[derive(Default)]
struct Turn {
    changes: BTreeMap<&'static str, u64>,
    shown: BTreeMap<&'static str, u64>,
    revisions: u64,
}

impl<'a> Held<'a> {
    /// What an agent holds in a run in which gg met a defect, or did not.
    pub(super) fn of(defect: bool) -> Self {
        Self {
            defect,
            ..Self::default()
        }
    }

    /// A line of the opening.
    pub(super) fn open(&mut self, line: &'a Line) {
        match line.kind.as_str() {
            "agent_modules" => {
                let rows = line.get("modules").as_array();
                for row in rows.into_iter().flatten() {
                    let shown = SHOWN.iter().find(|(kind, _)| row["kind"] == *kind);
                    // The run's board is held by everybody, and shown by whoever may call it.
                    if let (Some((_, shown)), Some(store), true) =
                        (shown, row["store"].as_str(), row["enabled"] != false)
                    {
                        self.stores.insert(shown, store);
                    }
                }
            }
            "agent_surface" => self.awaited = self.stores.keys().copied().collect(),
            _ => {}
        }
    }

    /// Any line behind the opening.
    pub(super) fn take(&mut self, line: &'a Line, found: &mut Found) {
        if let Some((_, shown)) = SHOWN.iter().find(|(_, shown)| line.kind == *shown) {
            self.snapshot(shown, line, found);
            return;
        }
        // What happens to an agent on its way is told as it happens; who dies on it shows no more.
        let told_at_once = line.kind == "log" || super::agent::is_death(line);
        if !self.awaited.is_empty() && !told_at_once {
            let awaited = std::mem::take(&mut self.awaited);
            found.add(
                line.number,
                rule::HELD,
                format!("{} before the first {awaited:?}", line.kind),
            );
        }
        match line.kind.as_str() {
            "memory_revision" => self.revision(line, found),
            "tool_result" => self.changed(line.text("tool"), line),
            "api_result" => {
                let operation = line.text("operation");
                let name = operation.rsplit('.').next().unwrap_or(operation);
                self.changed(name, line);
            }
            "turn_outcome" => self.close(line, found),
            _ => {}
        }
    }

    fn snapshot(&mut self, shown: &'static str, line: &'a Line, found: &mut Found) {
        self.awaited.remove(shown);
        if line.turn.is_some() {
            *self.turn.shown.entry(shown).or_default() += 1;
        }
        let store = line.text("module_id");
        if self.stores.get(shown) != Some(&store) {
            found.add(
                line.number,
                rule::HELD,
                format!(
                    "{shown} of {store:?}, where the agent holds {:?}",
                    self.stores.get(shown)
                ),
            );
        }
        if let Some(wrong) = match shown {
            "memory_state" => memories(line),
            "tasks_state" => tasks(line),
            "archive_state" => self.archive(line),
            _ => None,
        } {
            found.add(line.number, rule::HELD, wrong);
        }
    }

    fn archive(&mut self, line: &Line) -> Option<String> {
        let entries = line.get("entries").as_array()?;
        let had = std::mem::replace(&mut self.archived, entries.len());
        if entries.len() < had {
            return Some(format!("{} entries, where {had} were", entries.len()));
        }
        for (at, entry) in entries.iter().enumerate() {
            if entry["ordinal"].as_u64() != Some(at as u64 + 1) {
                return Some(format!("entry {at} is of ordinal {}", entry["ordinal"]));
            }
            let preview = entry["preview"].as_str().unwrap_or_default();
            if preview.chars().count() > PREVIEW_CHARS {
                return Some(format!("a preview of more than {PREVIEW_CHARS} characters"));
            }
        }
        None
    }

    fn revision(&mut self, line: &'a Line, found: &mut Found) {
        self.turn.revisions += 1;
        let memory = (line.text("module_id"), line.text("slug"));
        let number = line.get("revision").as_u64().unwrap_or_default();
        let before = self.revisions.insert(memory, number);
        let held = self.stores.get("memory_state") == Some(&memory.0);
        // Others who hold the store may have written in between.
        if !held || number == 0 || before.is_some_and(|before| before >= number) {
            found.add(
                line.number,
                rule::HELD,
                format!("revision {number} of {memory:?}, after {before:?}"),
            );
        }
    }

    /// A call that answered, by the name a model calls it by.
    fn changed(&mut self, name: &str, line: &Line) {
        let Ok(tool) = name.parse::<ToolName>() else {
            return;
        };
        let shown = match tool.capability() {
            Some(CapabilityId::Tasks) => "tasks_state",
            Some(CapabilityId::Memories) if !knowledge::reads(tool) => "memory_state",
            Some(CapabilityId::Skills) => "skills_state",
            Some(CapabilityId::ProjectManagement) if board::writes(tool) => "board_state",
            _ if tool == ToolName::ArchiveThread => "archive_state",
            _ => return,
        };
        if line.get("ok").as_bool() == Some(true) {
            *self.turn.changes.entry(shown).or_default() += 1;
        }
    }

    /// A turn's outcome: what it changed was shown, what it did not change was not.
    fn close(&mut self, line: &Line, found: &mut Found) {
        let turn = std::mem::take(&mut self.turn);
        let mut wrong = |message: String| found.add(line.number, rule::HELD, message);
        let figure = |of: &BTreeMap<&str, u64>, shown| of.get(shown).copied().unwrap_or_default();
        for (_, kind) in SHOWN {
            let (changes, shown) = (figure(&turn.changes, kind), figure(&turn.shown, kind));
            // A skill that is read again, or an archival of nothing, changes nothing.
            let may_be_idle = matches!(kind, "skills_state" | "archive_state")
                || (kind == "board_state" && self.defect);
            let told = shown > 0 || changes == 0 || may_be_idle;
            if !told || shown > changes {
                wrong(format!("{changes} changes, and {shown} {kind}"));
            }
        }
        let writes = figure(&turn.changes, "memory_state");
        if turn.revisions != writes {
            wrong(format!(
                "{writes} writes to memories, and {} memory_revision",
                turn.revisions
            ));
        }
    }
}

fn memories(line: &Line) -> Option<String> {
    let rows = line.get("memories").as_array()?;
    let sum = |field: &str| -> u64 { rows.iter().filter_map(|row| row[field].as_u64()).sum() };
    let sums = [
        ("count", rows.len() as u64),
        ("chars", sum("chars")),
        ("lines", sum("lines")),
    ];
    for (field, sum) in sums {
        let (total, peak) = (&line.get("totals")[field], &line.get("peaks")[field]);
        if total.as_u64() != Some(sum) || peak.as_u64() < total.as_u64() {
            return Some(format!(
                "{field} is {total} with a peak of {peak}, the memories sum to {sum}"
            ));
        }
    }
    None
}

fn tasks(line: &Line) -> Option<String> {
    let rows = line.get("tasks").as_array()?;
    let known: BTreeSet<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
    if known.len() != rows.len() {
        return Some("two tasks of one id".to_owned());
    }
    for row in rows {
        let id = row["id"].as_str().unwrap_or_default();
        if !matches!(row["status"].as_str(), Some("pending" | "done")) {
            return Some(format!("task `{id}` is {}", row["status"]));
        }
        let blockers = row["blockedBy"].as_array();
        let mut blockers = blockers.into_iter().flatten().filter_map(Value::as_str);
        if let Some(stray) = blockers.find(|other| *other == id || !known.contains(other)) {
            return Some(format!("task `{id}` is blocked by `{stray}`"));
        }
    }
    None
}
