//! TypeScript: `tsc` checks the program and says what the guest runs (05 §10.2, R59).
//!
//! A warm compiler judges a program and says how it parsed it; what it took for types is blanked out.
//! A program of which that leaves no JavaScript is emitted by a fresh compiler, which has nothing to
//! check. Where the judgement is bad a fresh one checks too: for the words, which are then its own.

mod ambient;
mod check;
mod declared;
mod erase;
mod module;
mod program;
mod toolchain;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use vocab::language::ProgramLanguage;

use super::ecmascript::Ecmascript;
use super::{Arm, Missing, Unavailable, guests};
use crate::contract::CodeModule;
use crate::diagnostics;
use crate::locations::SourceMap;
use crate::prepare::compile::{self, COMPILE_TIME, Finished, Redirected};
use crate::prepare::shared::Shared;
use crate::prepare::{Band, Module, PrepareContext, PrepareError, Prepared};

/// TypeScript.
pub(super) struct Typescript;

/// gg's declarations, in the shared folder.
const DECLARATIONS: &str = "gg.d.ts";

/// The language's, beside them.
const LIBRARY: &str = "lib.d.ts";

/// The folder of both.
const FOLDER: &str = "typescript";

/// What a text is emitted against: its types are checked elsewhere, so only the names that the
/// compiler cannot do without.
const BARE: &str = "bare.d.ts";

const BARE_TYPES: &str = "interface Array<T> {}
interface Boolean {}
interface CallableFunction {}
interface Function {}
interface IArguments {}
interface NewableFunction {}
interface Number {}
interface Object {}
interface RegExp {}
interface String {}
";

/// A project that keeps the language's own declarations in a warm compiler, and holds the text that it
/// is tried on.
const ANCHOR: &str = "anchor.json";

/// That text, in the shared folder.
const SAMPLE: &str = "sample.ts";

/// What a file that came with a skill is written in: one may serve agents of both languages, and what
/// is no TypeScript is not held to its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    TypeScript,
    JavaScript,
}

impl Written {
    fn of(extension: &str) -> Self {
        if extension == Self::JavaScript.extension() {
            Self::JavaScript
        } else {
            Self::TypeScript
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::TypeScript => "ts",
            Self::JavaScript => "js",
        }
    }
}

/// The compiler and what it is given for every program.
struct Toolchain {
    compiler: &'static Path,
    folder: PathBuf,
}

impl Toolchain {
    fn of(shared: &Shared) -> Result<Self, PrepareError> {
        let failed = |error: &dyn std::fmt::Display| PrepareError::Toolchain(error.to_string());
        let compiler = toolchain::compiler().map_err(|error| failed(&error))?;
        guests::ecmascript().map_err(|error| failed(&error))?;
        let [declarations, library] = guests::DECLARATIONS;
        let anchor = config(&[], &[DECLARATIONS, LIBRARY, SAMPLE].map(str::to_owned));
        let folder = shared.toolchain_dir(
            FOLDER,
            &[
                (DECLARATIONS, declarations),
                (LIBRARY, library),
                (BARE, BARE_TYPES),
                (SAMPLE, erase::TRIED_ON),
                (ANCHOR, &anchor),
            ],
        )?;
        Ok(Self { compiler, folder })
    }

    /// The path of a shared file, for a project.
    fn shared(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// The paths of what every text is checked against.
    fn declarations(&self) -> impl Iterator<Item = String> {
        [DECLARATIONS, LIBRARY]
            .map(|name| self.shared(name))
            .into_iter()
    }

    fn run(&self, arguments: &[&str], at: &Redirected) -> Result<Finished, PrepareError> {
        let plain = ["--pretty", "false", "--locale", "en"];
        let arguments: Vec<&str> = arguments.iter().copied().chain(plain).collect();
        Ok(compile::run(self.compiler, &arguments, at, COMPILE_TIME)?)
    }
}

/// A project: what every text of this language is held to, and what is different about this one.
fn config(options: &[(&str, Value)], files: &[String]) -> String {
    let mut all = json!({
        "strict": true,
        "target": "es2022",
        // The language's declarations are a file like gg's, and nothing besides the files of a project
        // belongs to it: what a text refers to, it does not find.
        "noLib": true,
        "noResolve": true,
        "module": "esnext",
        "moduleDetection": "force",
        "moduleResolution": "bundler",
        "isolatedModules": true,
        "newLine": "lf",
        "noEmit": true,
        "skipLibCheck": true,
        "types": [],
    });
    for (name, value) in options {
        all[*name] = value.clone();
    }
    json!({ "compilerOptions": all, "files": files }).to_string()
}

/// Why a compiler that did not succeed refused `file`: judged by its words, all of them, and bounded in
/// what is shown. What it says of other files is of gg's declarations, or a module's, and nothing the
/// author wrote.
fn refusal(finished: Finished, file: &str) -> PrepareError {
    let words = &finished.stdout;
    let opens = |line: &str| !line.is_empty() && !line.starts_with(char::is_whitespace);
    let told = words
        .lines()
        .any(|line| opens(line) && line.contains("error TS"));
    if !told {
        return PrepareError::Toolchain(finished.account);
    }
    let shown = diagnostics::capped_lines(words, opens, diagnostics::SHOWN);
    let own = format!("{file}(");
    // Of no file is what a text calls for by its syntax and the language's declarations lack.
    let own = |line: &str| line.starts_with(&own) || line.starts_with("error TS2");
    if words.lines().any(own) {
        PrepareError::Rejected {
            band: Band::Compile,
            diagnostics: shown,
        }
    } else {
        PrepareError::Lowering {
            binding: "gg".to_owned(),
            message: shown,
        }
    }
}

/// A map that the compiler wrote beside a text, and the text without the line that names it.
fn emitted(folder: &Path, name: &str) -> Result<(String, Arc<SourceMap>), PrepareError> {
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path).map_err(|error| {
            PrepareError::Toolchain(format!("`tsc` left no {}: {error}", path.display()))
        })
    };
    let mut text = read(folder.join(format!("{name}.js")))?;
    if let Some(at) = text.rfind("//# sourceMappingURL=") {
        text.truncate(at);
    }
    let map = SourceMap::read(&read(folder.join(format!("{name}.js.map")))?);
    let map = map.map_err(|error| PrepareError::Toolchain(error.to_string()))?;
    Ok((text, Arc::new(map)))
}

/// What the author of a text reads that the compiler gave no verdict on, though it does on others.
const NO_VERDICT: &str = "The compiler gave no verdict on this text: it crashed, or did not come to an \
                          end within its time. It compiles others. Expressions nested hundreds deep \
                          and types without end do that to it: write this in smaller steps.";

/// Tells a text that the compiler dies of from a compiler that is broken. One that gave no verdict on
/// a text, and then does on a trivial one, is well: the text is its author's to mend. Else it is gg's
/// defect, as it would be of any text.
fn judged<T>(
    prepared: Result<T, PrepareError>,
    probe: impl FnOnce() -> Result<(), PrepareError>,
) -> Result<T, PrepareError> {
    let Err(PrepareError::Toolchain(told)) = prepared else {
        return prepared;
    };
    if probe().is_err() {
        return Err(PrepareError::Toolchain(told));
    }
    tracing::warn!("a text was refused since the compiler gave no verdict on it: {told}");
    Err(PrepareError::Rejected {
        band: Band::Compile,
        diagnostics: NO_VERDICT.to_owned(),
    })
}

/// Whether the compiler prepares a program of nothing.
fn probe(context: &PrepareContext) -> Result<(), PrepareError> {
    program::prepare("", &[], context).map(|_| ())
}

impl Ecmascript for Typescript {}

impl Arm for Typescript {
    fn language(&self) -> ProgramLanguage {
        ProgramLanguage::Typescript
    }

    fn display_name(&self) -> &'static str {
        "TypeScript"
    }

    fn checker(&self) -> Option<&'static str> {
        Some("tsc")
    }

    fn prepare_program(
        &self,
        source: &str,
        modules: &[CodeModule],
        context: &PrepareContext,
    ) -> Result<Prepared, PrepareError> {
        let prepared = program::prepare(source, modules, context);
        judged(prepared, || probe(context))
    }

    fn prepare_module(
        &self,
        source: &str,
        key: &str,
        context: &PrepareContext,
    ) -> Result<Module, PrepareError> {
        self.prepare_module_file(Written::TypeScript.extension(), source, key, context)
    }

    fn prepare_module_file(
        &self,
        extension: &str,
        source: &str,
        key: &str,
        context: &PrepareContext,
    ) -> Result<Module, PrepareError> {
        let prepared = module::prepare(source, key, Written::of(extension), context);
        judged(prepared, || probe(context))
    }

    fn prepare_script_file(
        &self,
        extension: &str,
        source: &str,
        modules: &[CodeModule],
        context: &PrepareContext,
    ) -> Result<Prepared, PrepareError> {
        match Written::of(extension) {
            Written::TypeScript => self.prepare_program(source, modules, context),
            Written::JavaScript => program::as_it_is(source, modules, context),
        }
    }

    fn module_extensions(&self) -> &'static [&'static str] {
        const {
            &[
                Written::TypeScript.extension(),
                Written::JavaScript.extension(),
            ]
        }
    }

    fn guest(&self) -> Result<&'static [u8], Missing> {
        guests::ecmascript()
    }

    fn least_memory_bytes(&self) -> u64 {
        guests::ECMASCRIPT_LEAST_MEMORY
    }

    fn warm_prepare(&self, context: &PrepareContext) -> Result<(), PrepareError> {
        let shared = context.shared()?;
        check::warm(&Toolchain::of(&shared)?, &shared)
    }

    fn availability(&self) -> Result<(), Unavailable> {
        self.guest()?;
        toolchain::compiler()?;
        Ok(())
    }
}
