//! `gg man`: manual pages, from the command line's own definition.

use std::path::Path;

use anyhow::Context as _;

use super::DONE;
use crate::cli::{ManArgs, command_line};
use crate::output;

/// Prints the page of `gg`, or writes the page of every command.
pub(super) fn run(args: &ManArgs) -> anyhow::Result<u8> {
    match &args.dir {
        None => output::print(&String::from_utf8_lossy(&page(command_line())?))?,
        Some(dir) => write_all(dir)?,
    }
    Ok(DONE)
}

/// Writes `gg.1` and one `gg-<command>.1` a command.
fn write_all(dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir)
        .with_context(|| format!("`{}` cannot be made a directory", dir.display()))?;
    let mut root = command_line().disable_help_subcommand(true);
    root.build();
    for command in root.get_subcommands() {
        let file = dir.join(format!("gg-{}.1", command.get_name()));
        output::replace_file(&file, &page(command.clone())?)?;
    }
    output::replace_file(&dir.join("gg.1"), &page(root)?)
}

fn page(command: clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .context("the manual page cannot be rendered")?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_gets_a_page() {
        let dir = tempfile::tempdir().unwrap();
        write_all(dir.path()).unwrap();
        for command in command_line().get_subcommands() {
            let file = dir.path().join(format!("gg-{}.1", command.get_name()));
            let page = std::fs::read_to_string(&file).unwrap();
            assert!(page.contains(".SH SYNOPSIS"), "{}", file.display());
        }
        assert!(dir.path().join("gg.1").exists());
        assert!(!dir.path().join("gg-help.1").exists());
    }
}
