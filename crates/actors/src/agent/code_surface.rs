//! An agent's offer and its arm as the values that the prompts of a code agent are rendered with.

use std::time::Duration;

use context::prompts::{CodeSurface, ModuleImport, ProgramBounds, ProgramLanguage};
use sandbox::arms::{self, Arm};
use vocab::grant::Offer;
use vocab::operations::Binding;

/// What an agent has of an arm: a module is named only where it may call a function of it.
pub fn code_surface(
    arm: &dyn Arm,
    offer: &Offer,
    timeout: Duration,
    max_memory_bytes: u64,
) -> CodeSurface {
    let names = arms::names(arm.language());
    let offered = |id: &str| offer.operations().any(|row| row.module() == id);
    let modules = names.modules().iter();
    let modules = modules
        .filter(|module| offered(module.id))
        .map(|module| ModuleImport {
            id: module.id,
            path: &module.path,
            import: &module.import,
        });
    let endings = offer
        .operations()
        .filter(|row| matches!(row.binding, Binding::Ending(_)));
    CodeSurface::new(
        language(arm),
        modules.collect(),
        endings.map(|row| names.call(row)).collect(),
        ProgramBounds::new(timeout, max_memory_bytes),
    )
}

/// The language of an arm, as a template chooses its segment by.
pub fn language(arm: &dyn Arm) -> ProgramLanguage {
    ProgramLanguage {
        id: arm.id(),
        name: arm.display_name(),
        checker: arm.checker(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use vocab::capability::CapabilityId;
    use vocab::grant::{Grant, Servicing};
    use vocab::language::ProgramLanguage;
    use vocab::operations::EndingRole;

    use super::*;

    #[test]
    fn a_module_is_named_only_where_one_of_its_functions_may_be_called() {
        let mut offer = Offer {
            grant: Grant {
                capabilities: BTreeSet::from([CapabilityId::Shell]),
                operations: BTreeSet::from(["shell.shell", "files.read_file"]),
                role: EndingRole::Review,
                leaves_state: false,
            },
            servicing: Servicing::default(),
        };
        let arm = arms::of(ProgramLanguage::Javascript);
        let surface = |offer: &Offer| code_surface(arm, offer, Duration::from_secs(1), 1);
        let made = surface(&offer);
        assert_eq!(made.path("files"), None);
        assert_eq!(made.path("shell"), Some("gg.shell"));
        assert_eq!(made.path("docs"), Some("gg.docs"));
        assert_eq!(made.endings, ["session.approve", "session.requestChanges"]);
        offer.grant.capabilities.insert(CapabilityId::ReadFile);
        assert_eq!(surface(&offer).path("files"), Some("gg.files"));
    }
}
