//! Writing launch documents: one to start from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use vocab::candidate::Candidate;
use vocab::capability::CapabilityId;
use vocab::ids::{ModelId, Slug};
use vocab::tools::{ReadMode, ShellMode, ToolName};

use crate::capability::files::ReadFileParams;
use crate::capability::shell::ShellParams;
use crate::capability::{Armed, Capability, NoParams, Plain};
use crate::launch::{CapabilitySet, Launch};
use crate::limits::Limits;
use crate::profile::Profile;

/// What a starting document is about.
#[derive(Clone, Debug)]
pub struct Start {
    /// Absolute path of the workspace, in UTF-8: a document is text.
    pub workspace_dir: PathBuf,
    /// The root's model.
    pub model_id: ModelId,
    /// Its window, in tokens.
    pub window: u64,
    /// The root's first message.
    pub prompt: String,
    /// Who serves a live model; nothing is guessed, so without it the document's check refuses.
    pub candidate: Option<Candidate>,
}

/// A launch document to start from, pretty-printed: one agent that works on files and runs
/// commands, the seed figures of 01 §5 written out. It passes its check if the parts given do.
pub fn starter(start: &Start) -> String {
    let mut text = serde_json::to_string_pretty(&launch(start))
        .expect("a launch has text keys, and its path is UTF-8");
    text.push('\n');
    text
}

fn launch(start: &Start) -> Launch {
    let candidates = start.candidate.clone().map(|candidate| vec![candidate]);
    Launch {
        session_id: "session-1".into(),
        workspace_dir: start.workspace_dir.clone(),
        prompt: start.prompt.clone(),
        model_windows: BTreeMap::from([(start.model_id.clone(), start.window)]),
        model_modalities: BTreeMap::new(),
        model_providers: candidates
            .map(|candidates| (start.model_id.clone(), candidates))
            .into_iter()
            .collect(),
        model_prices: BTreeMap::new(),
        cancel_file: None,
        spec_files: Vec::new(),
        capability_set: CapabilitySet {
            preset: None,
            limits: Limits {
                max_parallel: 16,
                replay_max_bytes: 268_435_456,
                max_consecutive_errors: Some(5),
                max_error_rate: Some(0.2),
                error_rate_window: Some(50),
                ..Limits::default()
            },
            agents: vec![root(&start.model_id)],
            hooks: Vec::new(),
        },
    }
}

fn root(model: &ModelId) -> Profile {
    let capabilities: Vec<_> = CapabilityId::ALL
        .iter()
        .copied()
        .filter_map(seeded)
        .collect();
    let offered = |id| capabilities.iter().any(|held| held.id() == id);
    let tools = ToolName::ALL
        .iter()
        .copied()
        .filter(|tool| tool.capability().is_some_and(offered))
        .collect();
    Profile {
        slug: Slug::from("root"),
        name: "Root".to_owned(),
        model_id: model.clone(),
        capabilities,
        tools,
        operations: Vec::new(),
        opening_turn: None,
        subagents: Vec::new(),
        custom_instructions: None,
        system_prompt: None,
        hooks: Vec::new(),
        prompt_cache_ttl: None,
        reasoning: None,
        loop_detection: None,
        repeat_detection: None,
    }
}

/// A capability at its seed figures; `None` for those without seeds here.
fn seeded(id: CapabilityId) -> Option<Capability> {
    let plain = Plain {
        enabled: true,
        params: NoParams {},
    };
    Some(match id {
        CapabilityId::Shell => Capability::Shell(Armed {
            enabled: true,
            implementation: Some(ShellMode::Offload),
            params: ShellParams {
                max_lines: Some(250),
                max_chars: Some(4096),
            },
        }),
        CapabilityId::ReadFile => Capability::ReadFile(Armed {
            enabled: true,
            implementation: Some(ReadMode::DefaultCap),
            params: ReadFileParams {
                line_cap: Some(250),
            },
        }),
        CapabilityId::WriteFile => Capability::WriteFile(plain),
        CapabilityId::EditFile => Capability::EditFile(plain),
        CapabilityId::ListDir => Capability::ListDir(plain),
        CapabilityId::Search => Capability::Search(plain),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(model: &str, provider: Option<&str>) -> crate::Checked {
        let text = starter(&Start {
            workspace_dir: "/path/to/workspace".into(),
            model_id: model.into(),
            window: 200_000,
            prompt: "Say \"hello\".\n".to_owned(),
            candidate: provider.map(|provider| Candidate {
                provider: provider.into(),
                quantization: "unknown".to_owned(),
            }),
        });
        crate::parse(&text).unwrap().check()
    }

    fn check(model: &str, provider: Option<&str>) {
        let checked = checked(model, provider);
        assert_eq!(checked.refusals, []);
        assert_eq!(checked.warnings, [""; 0]);
        let root = checked.launch.unwrap();
        let root = root.root();
        for tool in &root.tools {
            assert!(root.offers(*tool), "{tool}");
            assert!(vocab::tools::definition(*tool, root.variants()).is_some());
        }
        assert_eq!(root.tools.len(), root.capabilities.len());
        assert_eq!(root.tools.len(), 6);
    }

    #[test]
    fn the_starter_passes_its_check() {
        check("mock/test", None);
        check("acme/coder-1", Some("Acme"));
        check("odd-model", Some("Odd"));
    }

    #[test]
    fn who_serves_a_live_model_is_not_guessed() {
        let checked = checked("acme/coder-1", None);
        let [refusal] = &checked.refusals[..] else {
            panic!("{:?}", checked.refusals);
        };
        assert!(refusal.to_string().contains("acme/coder-1"), "{refusal}");
    }
}
