//! JavaScript: the program runs as it was sent (05 §10.3).

use vocab::language::ProgramLanguage;
use vocab::operations::Operation;

use super::{Arm, Lines, Missing, Opening, ecmascript, guests};
use crate::contract::CodeModule;
use crate::prepare::{Module, PrepareContext, PrepareError, Prepared};

/// JavaScript.
pub(super) struct Javascript;

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

    fn binding_name(&self, authored: &str) -> String {
        ecmascript::binding_name(authored)
    }

    fn lib_access(&self, key: &str, export: &str) -> String {
        ecmascript::lib_access(key, export)
    }

    fn lib_import(&self, key: &str) -> String {
        ecmascript::lib_import(key)
    }

    fn module_import(&self, module: &str) -> String {
        ecmascript::module_import(module)
    }

    fn module_path(&self, module: &str) -> String {
        ecmascript::module_path(module)
    }

    fn guest(&self) -> Result<&'static [u8], Missing> {
        guests::ecmascript()
    }

    fn spelling(&self, operation: &Operation) -> String {
        ecmascript::spelling(operation)
    }

    fn call(&self, operation: &Operation) -> String {
        ecmascript::call(operation)
    }

    fn file_view_statement(&self, path: &str, lines: Option<Lines>) -> String {
        ecmascript::file_view_statement(path, lines)
    }

    fn documentation_program(&self, names: &[String]) -> String {
        ecmascript::documentation_program(names)
    }

    fn bootstrap_program(&self, opening: &Opening<'_>) -> String {
        ecmascript::bootstrap_program(opening)
    }
}
