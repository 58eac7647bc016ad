//! `gg new`: a launch document to start from.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};

use anyhow::{Context as _, bail};
use config::authoring::{Start, starter};
use vocab::candidate::Candidate;
use vocab::ids::{ModelId, ProviderName};

use super::DONE;
use crate::cli::NewArgs;
use crate::output;

/// The task where none is given.
const TASK: &str = "Look at this directory and say in a few sentences what it holds.";

/// Writes the document and says what to do with it. A file that is there is never replaced.
pub(super) fn run(args: &NewArgs) -> anyhow::Result<u8> {
    let text = starter(&start(args)?);
    let name = args.file.display();
    let mut file = match File::create_new(&args.file) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("`{name}` exists already, and is left as it is\nhint: name another file")
        }
        Err(error) => return Err(error).with_context(|| format!("`{name}` cannot be written")),
    };
    file.write_all(text.as_bytes())
        .inspect_err(|_| {
            // Half a document is of no use; the error below is what matters.
            fs::remove_file(&args.file).ok();
        })
        .with_context(|| format!("`{name}` cannot be written"))?;
    output::print(&format!(
        "wrote {name}\nnext: edit its prompt, then `gg check {name}`, then `gg run {name}`\n"
    ))?;
    Ok(DONE)
}

fn start(args: &NewArgs) -> anyhow::Result<Start> {
    let workspace = args.workspace.display();
    let workspace_dir = fs::canonicalize(&args.workspace)
        .with_context(|| format!("the workspace `{workspace}` cannot be reached"))?;
    if !workspace_dir.is_dir() {
        bail!("the workspace `{workspace}` is not a directory");
    }
    if workspace_dir.to_str().is_none() {
        bail!(
            "the path of the workspace `{workspace}` is no valid UTF-8, and a launch document is"
        );
    }
    let model_id = ModelId::from(args.model.as_str());
    let candidate = args.provider.as_deref().map(|provider| Candidate {
        provider: ProviderName::from(provider),
        quantization: args.quantization.clone(),
    });
    if candidate.is_none() && !model_id.is_mock() {
        bail!(
            "who serves `{model_id}` is not said, and gg guesses nothing\n\
             hint: add --provider NAME and --quantization NAME, as the model's endpoints listing \
             spells them"
        );
    }
    Ok(Start {
        workspace_dir,
        model_id,
        window: args.window,
        prompt: args.prompt.clone().unwrap_or_else(|| TASK.to_owned()),
        candidate,
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use super::*;
    use crate::cli::{Command, parse};

    fn new(dir: &Path, options: &str) -> anyhow::Result<u8> {
        let mut line: Vec<OsString> = vec!["gg".into(), "new".into()];
        line.extend([
            dir.join("launch.json").into(),
            "--workspace".into(),
            dir.into(),
        ]);
        line.extend(options.split_whitespace().map(OsString::from));
        match parse(line) {
            Ok(Command::New(args)) => run(&args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_it_writes_passes_the_check() {
        for options in [
            "",
            "--model acme/coder-1 --provider Acme --quantization fp8 --window 9000",
        ] {
            let dir = tempfile::tempdir().unwrap();
            assert_eq!(new(dir.path(), options).unwrap(), DONE);
            let bytes = fs::read(dir.path().join("launch.json")).unwrap();
            let checked = config::parse_bytes(&bytes).unwrap().check();
            assert_eq!(checked.refusals, []);
        }
    }

    #[test]
    fn a_file_that_is_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("launch.json"), "mine").unwrap();
        let error = new(dir.path(), "").unwrap_err().to_string();
        assert!(error.contains("exists already"), "{error}");
        assert_eq!(fs::read(dir.path().join("launch.json")).unwrap(), b"mine");
    }

    #[test]
    fn a_live_model_needs_its_provider() {
        let dir = tempfile::tempdir().unwrap();
        let error = new(dir.path(), "--model acme/coder-1")
            .unwrap_err()
            .to_string();
        assert!(error.contains("--provider"), "{error}");
        assert!(!dir.path().join("launch.json").exists());
    }
}
