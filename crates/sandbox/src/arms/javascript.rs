//! JavaScript: the program runs as it was sent (05 §10.3).

use vocab::language::ProgramLanguage;

use super::ecmascript::{self, Ecmascript};
use super::{Arm, Missing, guests};
use crate::prepare::Export;

/// JavaScript.
pub(super) struct Javascript;

impl Ecmascript for Javascript {}

impl Arm for Javascript {
    fn language(&self) -> ProgramLanguage {
        ProgramLanguage::Javascript
    }

    fn display_name(&self) -> &'static str {
        "JavaScript"
    }

    fn checker(&self) -> Option<&'static str> {
        None
    }

    fn exports(&self, source: &str) -> Vec<Export> {
        ecmascript::exports::exports(source)
    }

    fn module_extensions(&self) -> &'static [&'static str] {
        &["js"]
    }

    fn guest(&self) -> Result<&'static [u8], Missing> {
        guests::ecmascript()
    }

    fn least_memory_bytes(&self) -> u64 {
        guests::ECMASCRIPT_LEAST_MEMORY
    }
}
