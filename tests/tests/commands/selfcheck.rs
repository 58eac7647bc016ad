//! `gg selfcheck` by the real binary.

use serde_json::json;

use super::{folder, said, text};

const LANGUAGES: [&str; 3] = ["typescript", "javascript", "python"];

#[test]
fn every_language_works_where_its_tools_are() {
    let check = said(["selfcheck"]);
    assert_eq!(check.code, Some(0), "{}{}", check.stdout, check.stderr);
    let told: Vec<_> = check
        .stdout
        .lines()
        .map(|line| {
            let mut words = line.split_whitespace();
            (words.next().unwrap(), words.next().unwrap())
        })
        .collect();
    assert_eq!(told, LANGUAGES.map(|language| (language, "ok")));
}

#[test]
fn one_language_is_checked_where_one_is_named() {
    let check = said(["selfcheck", "--language", "javascript"]);
    assert_eq!(check.code, Some(0), "{}", check.stdout);
    assert_eq!(check.stdout.lines().count(), 1);
    assert!(
        check.stdout.starts_with("javascript   ok "),
        "{}",
        check.stdout
    );
    let unknown = said(["selfcheck", "--language", "cobol"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("cobol"), "{}", unknown.stderr);
}

#[test]
fn the_example_of_programs_runs_on_its_script_and_is_shown() {
    let example = |name: &str| {
        let path = format!("{}/../examples/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    let (folder, run) = (folder(), folder());
    let mut document: serde_json::Value = serde_json::from_str(&example("programs.json")).unwrap();
    document["workspaceDir"] = json!(text(folder.path()));
    let (file, script) = (
        run.path().join("launch.json"),
        run.path().join("script.json"),
    );
    std::fs::write(&file, document.to_string()).unwrap();
    std::fs::write(&script, example("programs.script.json")).unwrap();
    let (file, script) = (text(&file), text(&script));
    let check = said(["check", file, "--mock-script", script]);
    assert_eq!(check.code, Some(0), "{}{}", check.stdout, check.stderr);
    let ran = said([
        "run",
        file,
        "--mock-script",
        script,
        "--run-dir",
        text(run.path()),
    ]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stderr, ran.stdout);
    let words = std::fs::read_to_string(folder.path().join("words.sh")).unwrap();
    assert!(words.contains("wc -w"), "{words}");
    let verify = said(["verify", text(run.path())]);
    assert_eq!(verify.code, Some(0), "{}", verify.stdout);

    let shown = said(["show", text(run.path())]).stdout;
    assert!(shown.contains("javascript"), "{shown}");
    let window = said(["show", text(run.path()), "--agent", "root", "--text"]).stdout;
    for part in [
        "Programs of this turn",
        "   1 | import { files, shell, views } from \"gg\";",
        "   = ran: ",
        "View: test",
        "words.sh counts words",
    ] {
        assert!(window.contains(part), "{part} in\n{window}");
    }
}
