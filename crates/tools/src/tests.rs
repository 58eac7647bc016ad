//! Calls as a model writes them, against real files: parsed, carried out, looked at.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use vocab::failure::{Failure, FailureClass};
use vocab::tools::ToolName;

use crate::{FilePolicy, Halt, Place, parse, run_file};

struct Workspace(TempDir);

impl Workspace {
    fn of(files: &[(&str, &str)]) -> Self {
        let workspace = Self(tempfile::tempdir().unwrap());
        for (path, contents) in files {
            fs::write(workspace.at(path), contents).unwrap();
        }
        workspace
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    fn call(&self, tool: ToolName, arguments: Value) -> Result<String, Failure> {
        let call = parse(tool, &arguments.to_string())?;
        let place = Place::at(self.0.path());
        let done = run_file(&call, &place, &FilePolicy::default(), &Halt::default())?;
        Ok(done.text)
    }

    fn read(&self, path: &str) -> Result<String, Failure> {
        self.call(ToolName::ReadFile, json!({ "path": path }))
    }

    fn write(&self, path: &str, contents: &str) -> Result<String, Failure> {
        self.call(
            ToolName::WriteFile,
            json!({ "path": path, "contents": contents }),
        )
    }

    fn edit(&self, path: &str, old: &str, new: &str) -> Result<String, Failure> {
        let arguments = json!({ "path": path, "oldString": old, "newString": new });
        self.call(ToolName::EditFile, arguments)
    }

    fn names(&self) -> String {
        self.call(ToolName::ListDir, json!({})).unwrap()
    }
}

#[test]
fn what_a_read_shows_of_a_marked_file_can_be_edited() {
    let workspace = Workspace::of(&[("bom.txt", "\u{feff}one\ntwo\n")]);
    workspace.edit("bom.txt", "two", "2").unwrap();
    let shown = workspace.read("bom.txt").unwrap();
    assert_eq!(shown, "one\n2\n");
    let first = shown.lines().next().unwrap();
    assert_eq!(
        workspace.edit("bom.txt", first, "1"),
        Ok("edited bom.txt".to_owned())
    );
    assert_eq!(workspace.text("bom.txt"), "\u{feff}1\n2\n");
}

#[test]
fn edits_and_writes_go_through_links() {
    let workspace = Workspace::of(&[("real.md", "one\n")]);
    symlink("real.md", workspace.at("second")).unwrap();
    symlink("second", workspace.at("link.md")).unwrap();
    workspace.edit("link.md", "one", "two").unwrap();
    assert_eq!(workspace.text("real.md"), "two\n");
    workspace.write("link.md", "three\n").unwrap();
    assert_eq!(workspace.text("real.md"), "three\n");
    assert!(workspace.at("link.md").is_symlink() && workspace.at("second").is_symlink());

    symlink("target", workspace.at("dangling")).unwrap();
    assert_eq!(
        workspace.edit("dangling", "a", "b").unwrap_err().class,
        FailureClass::NotFound
    );
    workspace.write("dangling", "new").unwrap();
    assert_eq!(workspace.text("target"), "new");

    symlink("loop", workspace.at("loop")).unwrap();
    for failure in [
        workspace.edit("loop", "a", "b"),
        workspace.write("loop", "a"),
        workspace.read("loop"),
    ] {
        assert_eq!(failure.unwrap_err().class, FailureClass::IoError);
    }
    assert_eq!(
        workspace.names(),
        "dangling\nlink.md\nloop\nreal.md\nsecond\ntarget"
    );
}

#[test]
fn an_edit_keeps_mode_and_hard_links() {
    let workspace = Workspace::of(&[("run.sh", "echo a\n"), ("secret", "a\n"), ("one", "a\n")]);
    fs::set_permissions(workspace.at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(workspace.at("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::hard_link(workspace.at("one"), workspace.at("other")).unwrap();
    for path in ["run.sh", "secret", "one"] {
        workspace.edit(path, "a\n", "b\n").unwrap();
    }
    let mode = |path| fs::metadata(workspace.at(path)).unwrap().mode() & 0o777;
    assert_eq!((mode("run.sh"), mode("secret")), (0o755, 0o600));
    assert_eq!(workspace.text("other"), "b\n");
}

#[test]
fn a_refused_edit_leaves_the_bytes() {
    let text = "all:\n\tcc x.c\nall:\n\tcc x.c\nall:\n\tcc x.c\nend:\n\trm x.o";
    let workspace = Workspace::of(&[("Makefile", text)]);
    let spaces = workspace
        .edit("Makefile", "    rm x.o", "    rm y.o")
        .unwrap_err();
    assert_eq!(spaces.class, FailureClass::NotFound);
    assert_eq!(
        spaces.as_result_text("edit_file"),
        "`edit_file` failed (not-found): `oldString` does not occur in `Makefile`; line 8 differs \
         in whitespace: the file has `\\trm x.o`, `oldString` has `    rm x.o`"
    );
    let repeated = workspace
        .edit("Makefile", "all:\n\tcc x.c\n", "")
        .unwrap_err();
    assert_eq!(repeated.class, FailureClass::Conflict);
    assert!(repeated.message.contains("occurs 3 times"));
    assert_eq!(workspace.text("Makefile"), text);
    workspace
        .edit("Makefile", "end:\n\trm x.o", "end:\n\trm y.o")
        .unwrap();
    assert_eq!(workspace.text("Makefile"), text.replace("rm x.o", "rm y.o"));
}

#[test]
fn long_names_and_texts_of_wide_characters_are_whole() {
    let workspace = Workspace::of(&[]);
    let name = "漢".repeat(80);
    let contents = "🎈".repeat(400);
    assert_eq!(
        workspace.write(&name, &contents),
        Ok(format!("wrote 1600 bytes to {name}"))
    );
    assert_eq!(workspace.read(&name), Ok(contents));
    assert_eq!(workspace.names(), name);
    assert!(workspace.edit(&name, &"漢".repeat(134), "x").is_err());
    let found = workspace
        .call(ToolName::Search, json!({ "query": "🎈{400}" }))
        .unwrap();
    assert_eq!(
        found,
        format!("{name}:1: {} (200 more chars...)", "🎈".repeat(200))
    );
}

#[test]
fn a_file_in_a_directory_that_is_gone_brings_it_back() {
    let workspace = Workspace::of(&[]);
    let root = workspace.at("gone");
    let call = parse(ToolName::WriteFile, r#"{"path":"f","contents":"x"}"#).unwrap();
    run_file(
        &call,
        &Place::at(&root),
        &FilePolicy::default(),
        &Halt::default(),
    )
    .unwrap();
    assert_eq!(fs::read_to_string(root.join("f")).unwrap(), "x");
}
