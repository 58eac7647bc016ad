//! The top level of the document, and the capability set.

use std::path::{Path, PathBuf};

use vocab::ids::SessionId;

use super::models::Models;
use super::profile::Draft;
use super::{Fields, Loose, hooks, limits, models, profile, references};
use crate::document::Object;
use crate::hooks::Hook;
use crate::launch::{CapabilitySet, Launch};
use crate::limits::Limits;
use crate::refusal::{Report, Spot};

/// Reads the whole document, and gathers what later checks need.
pub(super) fn read(report: &Report, root: &Object) -> (Option<Launch>, Loose) {
    let fields = Fields::of(report, Spot::root(), root, Launch::SHAPE);
    let session_id = fields.some_text("sessionId").map(SessionId::from);
    let workspace_dir = workspace(&fields);
    let prompt = fields.some_text("prompt").map(str::to_owned);
    let models = Models::read(&fields);
    let cancel_file = fields.some_text("cancelFile").map(PathBuf::from);
    let spec_files = fields.texts("specFiles", "file paths").unwrap_or_default();
    let set = fields
        .object("capabilitySet", CapabilitySet::SHAPE)
        .map(|set| SetDraft::read(&set));

    let agents = set.as_ref().map_or(&[][..], |set| &set.agents);
    references::check(report, agents);
    let bound = models::bound(agents);
    models.check_bound(report, &bound);
    models.check_window_limits(report, agents);

    let (mock_models, live_models) = bound
        .iter()
        .map(|bound| bound.model.clone())
        .partition(vocab::ids::ModelId::is_mock);
    let loose = Loose {
        workspace_dir: workspace_dir.clone(),
        system_prompts: agents.iter().filter_map(Draft::system_prompt).collect(),
        skill_dirs: agents.iter().filter_map(Draft::skill_dir).collect(),
        languages: agents.iter().filter_map(Draft::language).collect(),
        program_memory: agents.iter().filter_map(Draft::program_memory).collect(),
        board: (agents.iter()).any(|agent| {
            agent
                .running(vocab::capability::CapabilityId::ProjectManagement)
                .is_some()
        }),
        live_models,
        mock_models,
    };
    let launch = || {
        Some(Launch {
            session_id: session_id?,
            workspace_dir: workspace_dir?,
            prompt: prompt?,
            model_windows: models.windows?,
            model_modalities: models.modalities,
            model_providers: models.providers.unwrap_or_default(),
            model_prices: models.prices,
            cancel_file,
            spec_files: spec_files.into_iter().map(str::to_owned).collect(),
            capability_set: set?.finish()?,
        })
    };
    (launch(), loose)
}

/// Whether the directory exists is the disk's to say.
fn workspace(fields: &Fields<'_>) -> Option<PathBuf> {
    let text = fields.some_text("workspaceDir")?;
    if Path::new(text).is_absolute() {
        return Some(PathBuf::from(text));
    }
    fields.report.refuse(
        &fields.at("workspaceDir"),
        format!(
            "is {}; expected an absolute path",
            crate::document::quoted(text)
        ),
    );
    None
}

struct SetDraft {
    preset: Option<String>,
    limits: Option<Limits>,
    agents: Vec<Draft>,
    hooks: Vec<Hook>,
}

impl SetDraft {
    fn read(set: &Fields<'_>) -> Self {
        let preset = set.text("preset").map(str::to_owned);
        let limits = set
            .object("limits", Limits::SHAPE)
            .and_then(|limits| limits::read(&limits));
        let agents = set.list("agents", "at least one agent");
        if agents.as_ref().is_some_and(Vec::is_empty) {
            set.report.refuse(
                &set.at("agents"),
                "is empty; expected at least one agent, the root first",
            );
        }
        let agents = profile::read_all(set.report, agents.unwrap_or_default());
        let hooks = hooks::read(set, true);
        Self {
            preset,
            limits,
            agents,
            hooks,
        }
    }

    fn finish(self) -> Option<CapabilitySet> {
        Some(CapabilitySet {
            preset: self.preset,
            limits: self.limits?,
            agents: self
                .agents
                .into_iter()
                .map(Draft::finish)
                .collect::<Option<_>>()?,
            hooks: self.hooks,
        })
    }
}
