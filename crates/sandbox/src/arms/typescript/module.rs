//! The code half of a skill or a memory: checked and emitted once, declared to every program.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::ambient::ambient;
use super::declared::exports;
use super::{Toolchain, Written, config, emitted, refusal};
use crate::contract::CodeModule;
use crate::locations::SourceMap;
use crate::prepare::workspace::Workspace;
use crate::prepare::{Module, PrepareContext, PrepareError, unusable};

/// What a program is checked against, in a module's folder.
pub(super) const DECLARED: &str = "declared.d.ts";

/// The project a module is checked and emitted as, in its own folder.
const PROJECT: &str = "tsconfig.json";

/// What a program imports it as, and the guest knows it as.
pub(super) fn runs_as(key: &str) -> String {
    format!("lib:{key}")
}

pub(super) fn prepare(
    source: &str,
    key: &str,
    written: Written,
    context: &PrepareContext,
) -> Result<Module, PrepareError> {
    context.preparation(&[], |workspace, shared| {
        let module = CodeModule {
            key: key.to_owned(),
            source: source.to_owned(),
        };
        if !workspace.has_module(key, source, written.extension()) {
            build(&module, written, &Toolchain::of(shared)?, workspace)?;
        }
        let path = emitted_declarations(workspace, key);
        let declarations = std::fs::read_to_string(path).map_err(unusable)?;
        Ok(Module {
            module,
            exports: exports(&declarations),
        })
    })
}

/// A module as the guest runs it; built again where its build is gone or of another source.
pub(super) fn built(
    module: &CodeModule,
    toolchain: &Toolchain,
    workspace: &mut Workspace,
) -> Result<(String, Arc<SourceMap>), PrepareError> {
    let written = workspace.module_extension(&module.key, &module.source);
    let written = written.map_or(Written::TypeScript, Written::of);
    if !workspace.has_module(&module.key, &module.source, written.extension()) {
        build(module, written, toolchain, workspace).map_err(|error| match error {
            PrepareError::Rejected { diagnostics, .. } => PrepareError::Lowering {
                binding: module.key.clone(),
                message: diagnostics,
            },
            other => other,
        })?;
    }
    emitted(&workspace.module(&module.key).join("built"), &module.key)
}

fn emitted_declarations(workspace: &Workspace, key: &str) -> PathBuf {
    workspace.module(key).join(format!("built/{key}.d.ts"))
}

fn build(
    module: &CodeModule,
    written: Written,
    toolchain: &Toolchain,
    workspace: &mut Workspace,
) -> Result<(), PrepareError> {
    let key = &module.key;
    let folder = workspace.open_module(key).map_err(unusable)?;
    let file = format!("{key}.{}", written.extension());
    let options = [
        // Its types are what can be read out of it; nothing holds it to them.
        ("allowJs", json!(written == Written::JavaScript)),
        ("declaration", json!(true)),
        ("noEmit", json!(false)),
        ("noEmitOnError", json!(true)),
        ("outDir", json!("built")),
        ("sourceMap", json!(true)),
    ];
    let mut files = vec![file.clone()];
    files.extend(toolchain.declarations());
    std::fs::write(folder.join(&file), &module.source).map_err(unusable)?;
    std::fs::write(folder.join(PROJECT), config(&options, &files)).map_err(unusable)?;
    let mut at = workspace.redirected();
    at.cwd.clone_from(&folder);
    let finished = toolchain.run(&["-p", PROJECT], &at)?;
    if !finished.success {
        return Err(refusal(finished, &file));
    }
    let declarations =
        std::fs::read_to_string(emitted_declarations(workspace, key)).map_err(unusable)?;
    let declared = folder.join(DECLARED);
    std::fs::write(&declared, ambient(&runs_as(key), &declarations)).map_err(unusable)?;
    let built = |extension: &str| folder.join(format!("built/{key}.{extension}"));
    let artifacts = vec![built("js"), built("js.map"), built("d.ts"), declared];
    workspace.record_module(key, &module.source, written.extension(), artifacts);
    Ok(())
}
