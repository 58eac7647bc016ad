//! What a code agent is offered, in the words of its language: for its prompt and for the record
//! (06 §2.3).
//!
//! Nothing is named here that the arm's catalogue does not name, and nothing that the agent may not
//! call.

use std::fmt;
use std::sync::Arc;

use config::policies::ProgramPolicy;
use config::profile::Profile;
use context::calls::{CallNames, Functions};
use context::prompts::{CodeSurface, ProgramLanguage, ProgramLibrary};
use record::event::{ApiFunction, ApiModule};
use sandbox::arms::{self, Arm};
use sandbox::catalogue::{self, Catalogue, Function, Module};
use vocab::grant::Offer;
use vocab::operations::{OPERATIONS, Operation};
use vocab::tools::ToolName;

use super::code_surface::{code_surface, language};

/// The surface of an agent that answers with programs.
#[derive(Clone)]
pub(crate) struct Programs {
    /// Its language.
    pub(crate) arm: &'static dyn Arm,
    /// How its programs are bounded.
    pub(crate) policy: ProgramPolicy,
    /// What they may call.
    pub(crate) offer: Arc<Offer>,
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Programs({})", self.arm.id())
    }
}

impl Programs {
    /// Of an offer.
    pub(crate) fn new(policy: ProgramPolicy, offer: Offer) -> Self {
        Self {
            arm: arms::of(policy.language),
            policy,
            offer: Arc::new(offer),
        }
    }

    /// The same for an agent that has skills to read, or none.
    pub(crate) fn with_skills(&self, skills: bool) -> Self {
        let mut offer = Offer::clone(&self.offer);
        offer.servicing.skills = skills;
        Self {
            offer: Arc::new(offer),
            ..self.clone()
        }
    }

    /// The same for a script that came with a skill or a memory.
    pub(crate) fn for_script(&self) -> Self {
        Self {
            offer: Arc::new(self.offer.for_script()),
            ..self.clone()
        }
    }

    /// What the language documents. A launch that binds one without any is refused.
    fn catalogue(&self) -> Option<&'static Catalogue> {
        catalogue::of(self.policy.language).ok()
    }

    fn offers(&self, function: &Function) -> bool {
        Operation::find(&function.operation).is_some_and(|row| self.offer.offers(row))
    }

    /// The modules in which it may call something, with what.
    fn modules(&self) -> impl Iterator<Item = (&'static Module, Vec<&'static Function>)> {
        let catalogue = self.catalogue();
        let modules = catalogue.map_or(&[][..], |it| &it.modules);
        modules.iter().filter_map(move |module| {
            let all = catalogue.map_or(&[][..], |it| &it.functions).iter();
            let bound = all.filter(|function| function.module == module.id);
            let offered: Vec<_> = bound.filter(|function| self.offers(function)).collect();
            (!offered.is_empty()).then_some((module, offered))
        })
    }

    /// The language, as prompts name it.
    pub(crate) fn language(&self) -> ProgramLanguage {
        language(self.arm)
    }

    /// What a system prompt says of it.
    pub(crate) fn describe(&self, profile: &Profile) -> CodeSurface {
        let (timeout, memory) = (self.policy.timeout, self.policy.max_memory_bytes);
        let mut surface = code_surface(self.arm, &self.offer, timeout, memory);
        surface.library = profile.library().map(|policy| ProgramLibrary {
            keep: Some(policy.keep).filter(|keep| *keep > 0),
        });
        surface
    }

    /// How a program of its spells an operation, where it may call it.
    pub(crate) fn named(&self, id: &str) -> Option<String> {
        let operation = Operation::find(id).filter(|row| self.offer.offers(row))?;
        Some(self.arm.call(operation))
    }

    /// How its calls are named to it.
    pub(crate) fn names(&self) -> CallNames {
        let mut calls: Vec<(ToolName, String)> = Vec::new();
        for row in OPERATIONS {
            // The first of several is what the tool itself is; the others are ways to it.
            if let Some(tool) = row.tool
                && calls.iter().all(|(of, _)| *of != tool)
            {
                calls.push((tool, self.arm.call(row)));
            }
        }
        CallNames::functions(Functions {
            calls,
            context: self.arm.module_path("context"),
            memories: self.arm.module_path("memories"),
        })
    }

    /// What the record says of it.
    pub(crate) fn apis(&self) -> Vec<ApiModule> {
        let separator = self.arm.member_separator();
        let function = |function: &&Function| {
            let operation = Operation::find(&function.operation)?.id;
            let receiver = function.receiver.as_deref();
            let name = match receiver.and_then(|it| it.rsplit(['.', ':']).next()) {
                Some(receiver) => format!("{receiver}{separator}{}", function.name),
                None => function.name.clone(),
            };
            Some(ApiFunction { name, operation })
        };
        self.modules()
            .map(|(module, functions)| ApiModule {
                module: module.id.clone(),
                path: module.path.clone(),
                description: module.brief.clone(),
                functions: functions.iter().filter_map(function).collect(),
            })
            .collect()
    }
}
