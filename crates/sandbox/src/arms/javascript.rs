//! JavaScript: the program runs as it was sent (05 §10.3).

use vocab::language::ProgramLanguage;

use super::ecmascript::{self, Ecmascript};
use super::{Arm, Missing, guests};
use crate::contract::CodeModule;
use crate::prepare::{Module, PrepareContext, PrepareError, Prepared};

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

    fn prepare_program(
        &self,
        source: &str,
        modules: &[CodeModule],
        _context: &PrepareContext,
    ) -> Result<Prepared, PrepareError> {
        Ok(Prepared::verbatim(source, modules))
    }

    fn prepare_module(
        &self,
        source: &str,
        key: &str,
        _context: &PrepareContext,
    ) -> Result<Module, PrepareError> {
        Ok(Module {
            exports: ecmascript::exports::exports(source),
            ..Module::verbatim(source, key)
        })
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
