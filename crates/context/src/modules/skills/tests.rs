//! Directories as they are found, catalogues, reading, and the built-in manuals.

use std::collections::BTreeMap;

use vocab::capability::CapabilityId;
use vocab::failure::{Failure, FailureClass};
use vocab::grant::{Grant, Offer, Servicing};
use vocab::operations::{EndingRole, Operation};
use vocab::tools::{Definition, ReadMode, ReadPolicy, ToolName, Variants, definition};

use super::*;
use crate::modules::Module;

fn head(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}.\n---\n")
}

/// A directory with files, given as paths and contents.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, contents) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }
    folder
}

fn read(files: &[(&str, &str)]) -> Directory {
    let folder = folder(files);
    Directory::read(folder.path(), ".")
}

#[track_caller]
fn check(files: &[(&str, &str)], refusals: &[&str]) {
    let found: Vec<_> = read(files)
        .refusals
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, refusals);
}

#[test]
fn a_directory_gives_its_skills_by_name() {
    let directory = read(&[
        ("zebra.md", &(head("a-first") + "\nText of zebra.\n")),
        ("csv/skill.md", &head("csv-tools")),
        ("csv/skill.py", "def rows(): ...\n"),
        ("csv/on-use.ts", "console.log(1)"),
        ("csv/data.bin", "\u{0}"),
        ("csv/.hidden.py", ""),
        (".hidden.md", "no head"),
        (".git/skill.md", "no head"),
        ("notes.txt", "no head"),
    ]);
    assert_eq!(directory.refusals, []);
    let told: Vec<_> = directory
        .skills
        .iter()
        .map(|skill| (&*skill.name, &*skill.description, &*skill.body))
        .collect();
    assert_eq!(
        told,
        [
            ("a-first", "About a-first.", "Text of zebra."),
            ("csv-tools", "About csv-tools.", ""),
        ]
    );
    let code: Vec<_> = directory.skills[1]
        .code
        .iter()
        .map(|file| (file.half, &*file.extension))
        .collect();
    assert_eq!(code, [(CodeHalf::Script, "ts"), (CodeHalf::Module, "py")]);
    assert!(directory.skills[1].carries(CodeHalf::Module));
    assert!(!directory.skills[0].carries(CodeHalf::Script));
}

#[test]
fn every_refusal_of_a_directory_stands_at_its_place_and_all_at_once() {
    check(
        &[
            ("a.md", "no head"),
            ("b.md", "---\nname: b\n"),
            ("c.md", "---\nname: c\n---\ntext"),
            ("d.md", &head("d")),
            ("e/skill.py", "x = 1"),
            ("f/SKILL.md", &(head("f") + "text")),
            ("g/skill.md", &head("g")),
            ("g/skill.py", " \n\t"),
            ("h.md", &(head("twice") + "text")),
            ("i/skill.md", &head("twice")),
        ],
        &[
            "`a.md` has no front matter; expected a first line `---`, then `name` and \
             `description`, then `---`",
            "`b.md` has front matter that is never closed; expected a line `---` after it",
            "`c.md` has front matter without `description`",
            "`d.md` has no text after its front matter",
            "`e/` has no `skill.md`",
            "`f/` has no `skill.md`; rename `SKILL.md`",
            "`g/skill.py` holds no code; fill it or remove it",
            "`i/skill.md` names a skill `twice`, as `h.md` does; rename one",
        ],
    );
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let folder = folder(&[]);
    std::fs::write(folder.path().join("a.md"), b"---\nname: \xff\n---\n").unwrap();
    let directory = Directory::read(folder.path(), ".");
    assert_eq!(
        directory.refusals[0].to_string(),
        "`a.md` is not UTF-8 text"
    );
}

#[test]
fn only_the_default_directory_may_be_missing() {
    let folder = folder(&[("file", "")]);
    for default in [".gg/skills", "./.gg//skills/"] {
        assert_eq!(
            Directory::read(folder.path(), default),
            Directory::default()
        );
    }
    let absolute = folder.path().join(".gg/skills");
    assert_eq!(
        Directory::read(folder.path(), absolute.to_str().unwrap()).refusals,
        []
    );
    for (dir, expected) in [
        ("skills", "`skills` cannot be read: "),
        ("file", "`file` cannot be read: "),
        (".gg/skills2", "`.gg/skills2` cannot be read: "),
    ] {
        let refusals = Directory::read(folder.path(), dir).refusals;
        assert_eq!(refusals.len(), 1, "{dir}");
        assert!(
            refusals[0].to_string().starts_with(expected),
            "{}",
            refusals[0]
        );
    }
    // A default that is there and is no directory is not taken for a missing one.
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".gg")).unwrap();
    std::fs::write(folder.path().join(".gg/skills"), "").unwrap();
    assert_eq!(
        Directory::read(folder.path(), ".gg/skills").refusals.len(),
        1
    );
}

fn catalogue(names: &[&str]) -> Arc<Catalogue> {
    let skills: Vec<_> = names.iter().map(|name| authored(name)).collect();
    Arc::new(Catalogue::new(&skills, []))
}

fn authored(name: &str) -> Arc<Skill> {
    Arc::new(Skill {
        name: name.into(),
        description: "About it.".into(),
        body: format!("Text of {name}.").into(),
        origin: SkillOrigin::File(format!("{name}.md")),
        code: Vec::new(),
    })
}

#[test]
fn a_skill_is_pinned_once_and_then_known_to_be_held() {
    let mut skills = SkillSet::new(catalogue(&["a", "b"]));
    let first = skills.read("a").unwrap();
    assert_eq!(
        (first.as_text().as_str(), first.pins()),
        ("Text of a.", true)
    );
    let second = skills.read("a").unwrap();
    assert!(!second.pins());
    assert_eq!(
        second.as_text(),
        "you have read skill `a` already; its text stands in your window"
    );
    let rows: Vec<_> = skills.rows().iter().map(|row| row.read).collect();
    assert_eq!(rows, [true, false]);
    skills.forget();
    assert!(skills.read("a").unwrap().pins());
}

#[test]
fn an_unknown_skill_is_answered_with_the_known_ones() {
    let mut skills = SkillSet::new(catalogue(&["a", "b"]));
    let before = skills.clone();
    let failure = Failure::from(skills.read("c").unwrap_err());
    assert_eq!(failure.class, FailureClass::NotFound);
    assert_eq!(
        failure.message,
        "there is no skill `c`; there are `a` and `b`"
    );
    assert_eq!(skills, before);
    assert_eq!(
        SkillSet::parse(ToolName::ReadSkill, r#"{"name":"a"}"#),
        Ok("a".to_owned())
    );
    for (tool, arguments, class) in [
        (ToolName::ReadSkill, "{}", FailureClass::InvalidArgument),
        (
            ToolName::ReadSkill,
            r#"{"name":"a","x":1}"#,
            FailureClass::InvalidArgument,
        ),
        (ToolName::Shell, "{}", FailureClass::Unavailable),
    ] {
        assert_eq!(SkillSet::parse(tool, arguments).unwrap_err().class, class);
    }
}

#[test]
fn a_skill_without_text_pins_nothing() {
    let bare = Skill {
        body: "".into(),
        ..(*authored("a")).clone()
    };
    let mut skills = SkillSet::new(Arc::new(Catalogue::new(&[bare.into()], [])));
    let read = skills.read("a").unwrap();
    assert_eq!(
        (read.as_text().as_str(), read.pins()),
        ("skill `a` has no text", false)
    );
}

#[test]
fn a_copy_knows_what_was_read_and_a_successor_has_its_own_catalogue() {
    let mut skills = SkillSet::new(catalogue(&["a", "b"]));
    skills.read("a").unwrap();
    let mut copy = skills.copy();
    assert!(Arc::ptr_eq(copy.catalogue(), skills.catalogue()));
    copy.read("b").unwrap();
    assert!(!skills.rows()[1].read);
    assert!(skills.rebind(&catalogue(&["a", "c"])));
    let rows: Vec<_> = skills
        .rows()
        .iter()
        .map(|row| (row.name.to_string(), row.read))
        .collect();
    assert_eq!(rows, [("a".to_owned(), true), ("c".to_owned(), false)]);
}

fn offered(tools: &[ToolName]) -> Vec<Definition> {
    let variants = Variants {
        read: Some(ReadPolicy {
            mode: ReadMode::DefaultCap,
            line_cap: 250,
        }),
        skills: true,
        ..Variants::default()
    };
    tools
        .iter()
        .map(|tool| definition(*tool, variants).unwrap())
        .collect()
}

fn names(skills: &[Skill]) -> Vec<&str> {
    skills.iter().map(|skill| &*skill.name).collect()
}

#[test]
fn a_manual_is_offered_where_a_call_of_its_family_is_and_read_skill_last() {
    let all = BTreeMap::new();
    let tools = offered(&[ToolName::EvictFileView, ToolName::ReadFile]);
    let reads = &offered(&[ToolName::ReadSkill])[0];
    let given = manuals(&tools, Some(reads), false, &all).unwrap();
    assert_eq!(names(&given), ["gg-filesystem", "gg-context", "gg-skills"]);
    // Nothing to read with, nothing to read.
    assert_eq!(manuals(&tools, None, true, &all), Ok(Vec::new()));
    assert_eq!(manuals(&[], Some(reads), false, &all), Ok(Vec::new()));
    let beside = manuals(&[], Some(reads), true, &all).unwrap();
    assert_eq!(names(&beside), ["gg-skills"]);
}

#[test]
fn a_switched_off_manual_is_withheld_and_an_unnamed_one_offered() {
    let tools = offered(&[ToolName::EvictFileView, ToolName::ReadFile]);
    let reads = &offered(&[ToolName::ReadSkill])[0];
    let withheld = BTreeMap::from([
        (BuiltInSkill::Context, false),
        (BuiltInSkill::Filesystem, true),
        (BuiltInSkill::Session, true),
        (BuiltInSkill::Skills, false),
    ]);
    let given = manuals(&tools, Some(reads), true, &withheld).unwrap();
    assert_eq!(names(&given), ["gg-filesystem"]);
}

#[test]
fn a_manual_holds_what_its_calls_are_offered_with() {
    let tools = offered(&[ToolName::ReadFile, ToolName::Search]);
    let reads = &offered(&[ToolName::ReadSkill])[0];
    let given = manuals(&tools, Some(reads), false, &BTreeMap::new()).unwrap();
    insta::assert_snapshot!(given[0].body);
}

#[test]
fn an_authored_skill_displaces_a_built_in_one_of_its_name() {
    let tools = offered(&[ToolName::ReadFile]);
    let reads = &offered(&[ToolName::ReadSkill])[0];
    let given = manuals(&tools, Some(reads), true, &BTreeMap::new()).unwrap();
    let catalogue = Catalogue::new(&[authored("gg-filesystem")], given);
    let origins: Vec<_> = catalogue.skills().map(|skill| &skill.origin).collect();
    assert_eq!(
        origins,
        [
            &SkillOrigin::File("gg-filesystem.md".to_owned()),
            &SkillOrigin::BuiltIn(BuiltInSkill::Skills),
        ]
    );
    assert!(Catalogue::default().is_empty());
}

#[test]
fn a_file_is_read_to_a_bound() {
    let body = |bytes: usize| head("big") + &"x".repeat(bytes - head("big").len());
    assert_eq!(read(&[("big.md", &body(1024 * 1024))]).skills.len(), 1);
    check(
        &[
            ("big.md", &body(1024 * 1024 + 1)),
            ("code/skill.md", &head("code")),
            ("code/skill.py", &body(1024 * 1024 + 1)),
        ],
        &[
            "`big.md` has more than 1048576 bytes; a skill is read whole, so it has to be shorter",
            "`code/skill.py` has more than 1048576 bytes; a skill is read whole, so it has to be \
             shorter",
        ],
    );
}

/// The manuals of a code agent, each with the calls whose pages it opens.
fn opened(
    capabilities: &[CapabilityId],
    operations: &[&'static str],
    authored: bool,
    withheld: &BTreeMap<BuiltInSkill, bool>,
) -> Vec<(String, String)> {
    let offer = Offer {
        grant: Grant {
            capabilities: capabilities.iter().copied().collect(),
            operations: operations.iter().copied().collect(),
            role: EndingRole::Review,
            leaves_state: false,
        },
        servicing: Servicing::default(),
    };
    let families = Families {
        offer: &offer,
        withheld,
    };
    let script = |calls: &[&Operation]| {
        let ids: Vec<_> = calls.iter().map(|row| row.id).collect();
        ids.join(" ")
    };
    let made = families.manuals(authored, "js", script);
    let made = made.into_iter().map(|skill| {
        assert!(skill.body.is_empty());
        assert!(skill.code(CodeHalf::Module).is_none());
        let text = skill.code(CodeHalf::Script).unwrap().text.to_string();
        (skill.name.to_string(), text)
    });
    made.collect()
}

#[test]
fn a_code_agent_s_manual_opens_the_pages_of_the_calls_it_has_and_of_no_other() {
    let granted = [CapabilityId::ReadFile, CapabilityId::Skills];
    let operations = ["files.read_file", "views.open_file", "skills.read_skill"];
    let made = opened(&granted, &operations, false, &BTreeMap::new());
    let made: Vec<_> = made.iter().map(|(name, text)| (&**name, &**text)).collect();
    assert_eq!(
        made,
        [
            ("gg-filesystem", "files.read_file"),
            ("gg-docs", "docs.search"),
            (
                "gg-views",
                "views.open_file views.open_text views.open_docs_view"
            ),
            ("gg-session", "session.approve session.request_changes"),
            ("gg-skills", "skills.read_skill"),
        ]
    );
}

#[test]
fn a_code_agent_without_the_call_that_reads_has_no_manual_and_withheld_ones_stay_away() {
    let read = [CapabilityId::ReadFile, CapabilityId::Skills];
    assert_eq!(
        opened(&read, &["files.read_file"], true, &BTreeMap::new()),
        []
    );
    let withheld: BTreeMap<_, _> = BuiltInSkill::ALL
        .iter()
        .filter(|family| **family != BuiltInSkill::Skills)
        .map(|family| (*family, false))
        .collect();
    let reads = ["skills.read_skill"];
    assert_eq!(opened(&read, &reads, false, &withheld), []);
    let beside = opened(&read, &reads, true, &withheld);
    assert_eq!(beside[0].0, "gg-skills", "beside one that is authored");
}
