//! Programs that read skills, on every arm.

use crate::arms::{both, covered, failed_in_each_way, on_each, playing, shown_attempts};
use crate::coders::{refused, shown, told};
use crate::skills::skills;

#[test]
fn a_skill_s_text_comes_to_the_program_each_time_and_to_the_model_once() {
    let bodies = [
        shown_attempts([
            (
                "first",
                r#"skills.readSkill("release")"#,
                r#"skills.read_skill("release")"#,
            ),
            (
                "again",
                r#"skills.readSkill("release")"#,
                r#"skills.read_skill("release")"#,
            ),
            (
                "none",
                r#"skills.readSkill("nothing")"#,
                r#"skills.read_skill("nothing")"#,
            ),
            (
                "blank",
                r#"skills.readSkill(" ")"#,
                r#"skills.read_skill(" ")"#,
            ),
        ]),
        both(
            r#"attempt("later", () => skills.readSkill("release")); show("later");"#,
            "attempt('later', lambda: skills.read_skill('release'))\nshow('later')",
        ),
    ];
    on_each(|arm| {
        let run = playing(
            arm,
            &[skills(".gg/skills", &[])],
            &["skills.read_skill"],
            &bodies,
        )
        .file(
            ".gg/skills/release.md",
            "---\nname: release\ndescription: When due\n---\n\nTag it.\n",
        )
        .run();
        run.ended(0, "completed");
        covered(&run, &["skills"]);
        let out = shown(&run, "out");
        assert_eq!(out["first"], "Tag it.");
        assert_eq!(out["again"], "Tag it.");
        assert_eq!(shown(&run, "later")["later"], "Tag it.");
        refused(&out, "none", "not-found", "read_skill", &["`release`"]);
        refused(&out, "blank", "invalid-argument", "read_skill", &["`name`"]);
        failed_in_each_way(&[&out], &["skills.read_skill"], &[]);
        assert_eq!(
            told(&run, "Documentation\n----\n"),
            ["Documentation\n----\nTag it."]
        );
        let requests = run.gateway.as_ref().unwrap().requests();
        let last = requests.last().unwrap().messages();
        let pinned = last.iter().filter(|it| {
            tests::gateway::content_text(&it["content"]) == "Documentation\n----\nTag it."
        });
        assert_eq!(pinned.count(), 1, "{}", run.describe());
        assert_eq!(run.summary()["skillsRead"], 1);
    });
}
