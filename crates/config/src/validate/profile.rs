//! One profile at a time (01 §4).

use std::collections::HashSet;

use vocab::capability::CapabilityId;
use vocab::ids::{ModelId, Slug};
use vocab::language::ProgramLanguage;
use vocab::tools::ToolName;

use super::fields::Entry;
use super::{Fields, Kind, ProgramMemory, SkillDir, declarations, grants, hooks, settings};
use crate::capability::Capability;
use crate::document::{Node, quoted};
use crate::grants::OperationId;
use crate::hooks::Hook;
use crate::profile::{
    LoopDetection, OpeningTurn, Profile, PromptCacheTtl, Reasoning, RepeatDetection, RosterEntry,
};
use crate::refusal::{Report, Spot};

/// How an agent works; it follows from its capabilities (01 §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Machine,
    Code,
    Tools,
}

/// A profile as far as it could be read.
pub(super) struct Draft {
    /// By slug where that is legal and its own, else by index.
    pub(super) spot: Spot,
    pub(super) slug: Option<Slug>,
    /// The slug's text even where it was refused, so that a reference to it is no second fault.
    pub(super) written_slug: Option<String>,
    name: Option<String>,
    pub(super) model_id: Option<ModelId>,
    pub(super) mode: Mode,
    pub(super) capabilities: Vec<Capability>,
    pub(super) tools: Vec<ToolName>,
    pub(super) operations: Vec<OperationId>,
    /// Each sound entry with where it stands.
    pub(super) roster: Vec<(Spot, RosterEntry)>,
    opening_turn: Option<OpeningTurn>,
    custom_instructions: Option<String>,
    system_prompt: Option<String>,
    hooks: Vec<Hook>,
    prompt_cache_ttl: Option<PromptCacheTtl>,
    reasoning: Option<Reasoning>,
    loop_detection: Option<LoopDetection>,
    repeat_detection: Option<RepeatDetection>,
    /// Keys that are written and hold something, for the machine's rule.
    pub(super) worker_keys: Vec<&'static str>,
}

/// Reads all profiles, the root first.
pub(super) fn read_all(report: &Report, entries: Vec<Entry<'_>>) -> Vec<Draft> {
    let mut taken = HashSet::new();
    entries
        .into_iter()
        .filter_map(|(spot, node)| read(report, spot, node, &mut taken))
        .collect()
}

fn read(
    report: &Report,
    index_spot: Spot,
    node: &Node,
    taken: &mut HashSet<Slug>,
) -> Option<Draft> {
    let slug = own_slug(node, taken);
    let spot = match &slug {
        Some(slug) => Spot::root().named("agent", slug.as_str()),
        None => index_spot,
    };
    let fields = Fields::open(report, spot.clone(), node, Profile::SHAPE)?;
    if slug.is_none() {
        refuse_slug(&fields);
    }
    let name = fields.text("name").map(str::to_owned);
    let capabilities = declarations::read(&fields).unwrap_or_default();
    let on = |id| {
        capabilities
            .iter()
            .any(|capability| capability.id() == id && capability.enabled())
    };
    let mode = if on(CapabilityId::Fsm) {
        Mode::Machine
    } else if on(CapabilityId::ResponsesAsCode) {
        Mode::Code
    } else {
        Mode::Tools
    };
    let model_id = model(&fields, mode);
    let tools = grants::tools(&fields);
    let operations = grants::operations(&fields, "operations");
    let opening_turn = settings::opening_turn(&fields, mode);
    let roster = settings::roster(&fields);
    let custom_instructions = fields.text("customInstructions").map(str::to_owned);
    let system_prompt = fields.text("systemPrompt").map(str::to_owned);
    let hooks = hooks::read(&fields, false);
    let written_slug = match fields.peek("slug") {
        Some(Kind::Text(text)) => Some(text.clone()),
        _ => None,
    };
    Some(Draft {
        slug,
        written_slug,
        name,
        model_id,
        mode,
        tools: tools.unwrap_or_default(),
        operations: operations.unwrap_or_default(),
        roster,
        opening_turn,
        custom_instructions,
        system_prompt,
        hooks,
        prompt_cache_ttl: settings::prompt_cache_ttl(&fields),
        reasoning: settings::reasoning(&fields),
        loop_detection: settings::loop_detection(&fields),
        repeat_detection: settings::repeat_detection(&fields),
        worker_keys: worker_keys(node),
        capabilities,
        spot,
    })
}

impl Draft {
    pub(super) fn capability(&self, id: CapabilityId) -> Option<&Capability> {
        self.capabilities.iter().find(|item| item.id() == id)
    }

    pub(super) fn enabled(&self, id: CapabilityId) -> bool {
        self.capability(id).is_some_and(Capability::enabled)
    }

    /// The capability of an id, where it is on.
    pub(super) fn running(&self, id: CapabilityId) -> Option<&Capability> {
        self.capability(id).filter(|item| item.enabled())
    }

    /// Where a capability's declaration stands.
    pub(super) fn capability_spot(&self, id: CapabilityId) -> Spot {
        self.spot.named("capability", id.as_str())
    }

    /// Whether the list its mode reads names a call.
    pub(super) fn granted(&self, tool: ToolName) -> bool {
        match self.mode {
            Mode::Code => self
                .operations
                .iter()
                .any(|id| id.operation().tool == Some(tool)),
            Mode::Tools | Mode::Machine => self.tools.contains(&tool),
        }
    }

    /// Locus and text of its template override.
    pub(super) fn system_prompt(&self) -> Option<(String, String)> {
        let text = self.system_prompt.clone()?;
        Some((self.spot.key("systemPrompt").to_string(), text))
    }

    /// Locus and text of the directory its skills are read from.
    pub(super) fn skill_dir(&self) -> Option<SkillDir> {
        let Capability::Skills(skills) = self.running(CapabilityId::Skills)? else {
            return None;
        };
        let dir = skills.params.dir.clone()?;
        let spot = self.capability_spot(CapabilityId::Skills);
        Some(SkillDir {
            locus: spot.key("params").key("dir").to_string(),
            dir,
            language: self.language().map(|(_, language)| language),
        })
    }

    /// Locus and language of its programs, where it answers with some.
    pub(super) fn language(&self) -> Option<(String, ProgramLanguage)> {
        let running = self.running(CapabilityId::ResponsesAsCode)?;
        let (Mode::Code, Capability::ResponsesAsCode(code)) = (self.mode, running) else {
            return None;
        };
        let language = code.params.language?;
        let spot = self.capability_spot(CapabilityId::ResponsesAsCode);
        Some((spot.key("params").key("language").to_string(), language))
    }

    /// The memory its programs have, where it answers with some.
    pub(super) fn program_memory(&self) -> Option<ProgramMemory> {
        let (_, language) = self.language()?;
        let Capability::ResponsesAsCode(code) = self.running(CapabilityId::ResponsesAsCode)? else {
            return None;
        };
        let bytes = code.params.max_memory_bytes?;
        let spot = self.capability_spot(CapabilityId::ResponsesAsCode);
        Some(ProgramMemory {
            locus: spot.key("params").key("maxMemoryBytes").to_string(),
            language,
            bytes,
        })
    }

    /// The typed profile; `None` where a part of it was refused or missing.
    pub(super) fn finish(self) -> Option<Profile> {
        Some(Profile {
            slug: self.slug?,
            name: self.name?,
            // What should have one and has none was refused.
            model_id: match self.mode {
                Mode::Machine => self.model_id.unwrap_or_else(|| ModelId::new("")),
                Mode::Code | Mode::Tools => self.model_id?,
            },
            capabilities: self.capabilities,
            tools: self.tools,
            operations: self.operations,
            opening_turn: self.opening_turn,
            subagents: self.roster.into_iter().map(|(_, entry)| entry).collect(),
            custom_instructions: self.custom_instructions,
            system_prompt: self.system_prompt,
            hooks: self.hooks,
            prompt_cache_ttl: self.prompt_cache_ttl,
            reasoning: self.reasoning,
            loop_detection: self.loop_detection,
            repeat_detection: self.repeat_detection,
        })
    }
}

/// The slug, where it is legal and no earlier profile has it.
fn own_slug(node: &Node, taken: &mut HashSet<Slug>) -> Option<Slug> {
    let Kind::Object(object) = &node.kind else {
        return None;
    };
    let Kind::Text(text) = &object.get("slug")?.kind else {
        return None;
    };
    let slug = Slug::from(text.as_str());
    (Slug::is_legal(text) && taken.insert(slug.clone())).then_some(slug)
}

/// Says what is wrong with a slug that is not legal or not its own.
fn refuse_slug(fields: &Fields<'_>) {
    let Some(text) = fields.word_text("slug") else {
        return;
    };
    let message = if Slug::is_legal(text) {
        format!(
            "is {}, which an earlier agent has; expected a slug of its own",
            quoted(text)
        )
    } else {
        format!(
            "is {}; expected lowercase letters and digits in groups joined by single hyphens",
            quoted(text)
        )
    };
    fields.report.refuse(&fields.at("slug"), message);
}

fn model(fields: &Fields<'_>, mode: Mode) -> Option<ModelId> {
    if !fields.has("modelId") {
        if mode != Mode::Machine {
            fields
                .report
                .refuse(&fields.at("modelId"), "is missing; expected a model id");
        }
        return None;
    }
    let text = fields.word_text("modelId")?;
    if text == "mock/" {
        fields.report.refuse_with_hint(
            &fields.at("modelId"),
            "is \"mock/\"; expected the name of a script after the slash",
            "`mock/test` is built in",
        );
        return None;
    }
    Some(ModelId::from(text))
}

/// What of a profile a machine may not carry, since it takes no turns.
fn worker_keys(node: &Node) -> Vec<&'static str> {
    const KEYS: &[&str] = &[
        "modelId",
        "tools",
        "operations",
        "openingTurn",
        "subagents",
        "customInstructions",
        "systemPrompt",
        "hooks",
        "promptCacheTtl",
        "reasoning",
        "loopDetection",
        "repeatDetection",
    ];
    let Kind::Object(object) = &node.kind else {
        return Vec::new();
    };
    let holds = |key: &&&str| match object.get(key).map(|node| &node.kind) {
        None => false,
        Some(Kind::List(items)) => !items.is_empty(),
        Some(_) => true,
    };
    KEYS.iter().filter(holds).copied().collect()
}
