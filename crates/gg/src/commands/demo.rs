//! `gg demo`: plays the built-in session and says where its result lies.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use actors::launch;
use actors::run::{self, RunOptions};
use actors::telemetry::Outputs;
use anyhow::Context as _;
use provider::mock::Script;
use record::lines::STREAM_FILE;

use super::{BUILD, raise_open_files, surroundings};
use crate::cli::DemoArgs;
use crate::demo::narrator::{Narrator, Palette, Tap};
use crate::demo::{document, folder, script};
use crate::output;

/// Plays the session; its exit code is the command's.
pub(super) fn run(args: &DemoArgs) -> anyhow::Result<u8> {
    let script = Script::from_json(&script::text()?)
        .map_err(|fault| anyhow::anyhow!("the demo's script: {fault}"))?;
    let dir = folder::prepare(&args.dir)?;
    let document = config::parse(&document::text(&dir)).context("the demo's launch document")?;
    let prepared = launch::check(&document, &surroundings(Some(Arc::new(script))))
        .map_err(|refusals| anyhow::anyhow!(config::refusal::report(&refusals)))
        .context("the demo")?;
    let stream = dir.join(STREAM_FILE);
    let copy = File::create(&stream)
        .with_context(|| format!("`{}` cannot be written", stream.display()))?;

    output::print(&format!(
        "A session in {}, on a model that is a script: no network, no key, and the prices are \
         made up.\nThe files it writes and the commands it runs are real.\n",
        dir.display()
    ))?;
    let palette = Palette::new(output::stdout_wants_colour());
    raise_open_files();
    let report = run::run(RunOptions {
        prepared,
        build: BUILD,
        outputs: Outputs {
            stdout: Box::new(Tap::to_stdout(Narrator::new(palette))),
            tee: Some(Box::new(copy)),
        },
        flow: None,
        endpoint: None,
        credential: None,
        guests: None,
        routing_key: None,
    })
    .context("the session cannot start")?;
    output::print(&closing(&dir))?;
    Ok(report.exit_code)
}

/// Where the result lies.
fn closing(dir: &Path) -> String {
    let mut text = String::new();
    let page = dir.join("index.html");
    if page.exists() {
        writeln!(text, "\nPlay it:    {}", file_url(&page)).expect("a string takes any text");
    }
    writeln!(text, "The stream: {}", dir.join(STREAM_FILE).display())
        .expect("a string takes any text");
    text
}

/// A path as a URL that terminals and browsers open.
fn file_url(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let mut url = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(char::from(*byte));
            }
            byte => {
                write!(url, "%{byte:02X}").expect("a string takes any text");
            }
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_blanks_is_still_one_link() {
        assert_eq!(
            file_url(Path::new("/a b/ü#.html")),
            "file:///a%20b/%C3%BC%23.html"
        );
    }

    #[test]
    fn the_closing_names_only_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!closing(dir.path()).contains("Play it"));
        std::fs::write(dir.path().join("index.html"), "").unwrap();
        assert!(closing(dir.path()).contains("Play it"));
    }
}
