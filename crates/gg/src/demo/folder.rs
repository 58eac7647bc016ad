//! The folder a demo is played in: new, empty, or an earlier demo's that nobody has changed since.
//!
//! The demo's session writes files by name, so a folder that holds anything else is refused before
//! anything is touched. An earlier demo's files are removed only where they are, byte for byte,
//! what a demo writes: a game that somebody went on working on is theirs.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use record::lines::STREAM_FILE;

use super::document::SESSION;
use super::script::{GAME, first_game};

const JOURNAL_DIR: &str = ".gg";
const JOURNAL: &str = "replay.ndjson";

/// Makes the folder ready, empty, and gives its absolute path.
pub(crate) fn prepare(dir: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(dir)
        .with_context(|| format!("`{}` cannot be made a directory", dir.display()))?;
    let dir =
        fs::canonicalize(dir).with_context(|| format!("`{}` cannot be reached", dir.display()))?;
    if dir.to_str().is_none() {
        bail!(
            "the path of `{}` is no valid UTF-8, and the demo's launch document is",
            dir.display()
        );
    }
    let unreadable = || format!("`{}` cannot be read", dir.display());
    let mut ours = Vec::new();
    for entry in fs::read_dir(&dir).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        if !is_ours(&path)? {
            bail!(
                "`{}` is not a demo's: the demo writes a game and needs a new or empty directory, \
                 or that of an earlier demo that was not changed since\n\
                 hint: name another one, for example `gg demo /tmp/gg-demo`",
                path.display()
            );
        }
        ours.push(path);
    }
    for path in ours {
        if path.is_dir() {
            fs::remove_file(path.join(JOURNAL))
                .or_else(absent_is_fine)
                .and_then(|()| fs::remove_dir(&path))
        } else {
            fs::remove_file(&path)
        }
        .with_context(|| format!("`{}` of an earlier demo cannot be removed", path.display()))?;
    }
    Ok(dir)
}

fn absent_is_fine(error: std::io::Error) -> std::io::Result<()> {
    match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

/// Whether a demo wrote this entry and it still is as the demo left it.
fn is_ours(path: &Path) -> anyhow::Result<bool> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let kind = fs::symlink_metadata(path)
        .with_context(|| format!("`{}` cannot be read", path.display()))?
        .file_type();
    if name == JOURNAL_DIR {
        return Ok(kind.is_dir() && holds_the_journal_alone(path));
    }
    if !kind.is_file() {
        return Ok(false);
    }
    if name == STREAM_FILE {
        return Ok(is_demo_stream(path));
    }
    let Some((_, finished)) = GAME.iter().find(|(file, _)| *file == name) else {
        return Ok(false);
    };
    let held = fs::read(path).with_context(|| format!("`{}` cannot be read", path.display()))?;
    // A demo that was stopped half-way leaves the game with its mistake.
    Ok(held == finished.as_bytes() || name == "game.js" && held == first_game()?.as_bytes())
}

fn holds_the_journal_alone(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == JOURNAL))
    })
}

/// Whether the first line is a demo's. A stream without a line is a demo's that was stopped early.
fn is_demo_stream(path: &Path) -> bool {
    let Ok(file) = fs::File::open(path) else {
        return false;
    };
    let mut line = String::new();
    match BufReader::new(file).read_line(&mut line) {
        Ok(0) => true,
        Ok(_) => serde_json::from_str::<serde_json::Value>(&line)
            .is_ok_and(|event| event["sessionId"] == SESSION),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demo_folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in GAME {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let line = "{\"type\":\"session_started\",\"seq\":0,\"sessionId\":\"gg-demo\"}\n";
        fs::write(dir.path().join(STREAM_FILE), line).unwrap();
        fs::create_dir(dir.path().join(JOURNAL_DIR)).unwrap();
        fs::write(dir.path().join(JOURNAL_DIR).join(JOURNAL), "{}\n").unwrap();
        dir
    }

    fn entries(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn a_new_folder_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let ready = prepare(&dir.path().join("a/b")).unwrap();
        assert!(ready.is_absolute());
        assert_eq!(entries(&ready), 0);
    }

    #[test]
    fn an_earlier_demo_is_cleared_finished_or_not() {
        let dir = demo_folder();
        prepare(dir.path()).unwrap();
        assert_eq!(entries(dir.path()), 0);

        let dir = demo_folder();
        fs::write(dir.path().join("game.js"), first_game().unwrap()).unwrap();
        fs::write(dir.path().join(STREAM_FILE), "").unwrap();
        fs::remove_file(dir.path().join(JOURNAL_DIR).join(JOURNAL)).unwrap();
        prepare(dir.path()).unwrap();
        assert_eq!(entries(dir.path()), 0);
    }

    #[test]
    fn anything_else_is_refused_and_nothing_is_touched() {
        let spoils = [
            ("notes.txt", "notes.txt", "mine"),
            ("game.js", "game.js", "// better"),
            (STREAM_FILE, STREAM_FILE, "{\"sessionId\":\"real\"}\n"),
            (JOURNAL_DIR, ".gg/skill", "mine"),
        ];
        for (name, file, contents) in spoils {
            let dir = demo_folder();
            fs::write(dir.path().join(file), contents).unwrap();
            let before = entries(dir.path());
            let error = prepare(dir.path()).unwrap_err().to_string();
            assert!(error.contains(&format!("{name}`")), "{error}");
            assert_eq!(entries(dir.path()), before);
        }
    }

    #[test]
    fn a_file_is_no_folder() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(prepare(&file).is_err());
    }
}
