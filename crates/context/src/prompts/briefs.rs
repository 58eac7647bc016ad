//! Briefs: all that an agent is told which the board dispatches (03 §7.4).
//!
//! A brief is the whole task from its reader's point of view. How to end it does not say: that
//! stands in the system prompt.

use serde::Serialize;

use super::PromptError;
use super::template::templates;

templates! {
    ISSUE = "brief_issue",
    IMPLEMENT = "brief_implement",
    FIX = "brief_fix",
    REVIEW = "brief_review",
    MERGE = "brief_merge",
}

/// What an issue asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueBrief<'a> {
    /// Its id.
    pub id: &'a str,
    /// One line.
    pub title: &'a str,
    /// What a title does not say.
    pub description: Option<&'a str>,
    /// What belongs to it.
    pub in_scope: &'a str,
    /// What does not.
    pub out_of_scope: &'a str,
    /// How to see that it is done.
    pub completion_criteria: &'a str,
}

/// A point of a list, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemLine<'a> {
    number: usize,
    text: &'a str,
}

/// Texts as a numbered list, from 1.
pub fn items(texts: &[String]) -> Vec<ItemLine<'_>> {
    let numbered = texts.iter().enumerate();
    numbered
        .map(|(place, text)| ItemLine {
            number: place + 1,
            text: text.trim(),
        })
        .collect()
}

/// What a reviewer is told besides the issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewBrief<'a> {
    /// The round, from 1.
    pub round: u32,
    /// Every verdict so far, of all rounds.
    pub verdicts: Vec<VerdictLine<'a>>,
    /// The branch.
    pub branch: &'a str,
    /// The commit it was cut from.
    pub baseline: &'a str,
    /// The commit that would be merged.
    pub commit: &'a str,
    /// What it changes.
    pub changes: Vec<ChangeLine<'a>>,
    /// What git ignores and is there.
    pub ignored: &'a [String],
}

/// What one reviewer said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictLine<'a> {
    /// The round, from 1.
    pub round: u32,
    /// The reviewer's profile.
    pub reviewer: &'a str,
    /// What it wants changed; empty on an approval.
    pub items: Vec<ItemLine<'a>>,
}

/// One changed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeLine<'a> {
    /// `added`, `modified`, `deleted`, `renamed`, `type changed`.
    pub kind: &'a str,
    /// Its path.
    pub path: &'a str,
    /// Its path before, where that was another.
    pub from: Option<&'a str>,
    /// Whether its lines can be counted.
    pub text: bool,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
}

/// What a merge agent is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeBrief<'a> {
    /// The issue.
    pub issue: &'a str,
    /// Its title.
    pub title: &'a str,
    /// The branch being merged.
    pub branch: &'a str,
    /// What it is merged into.
    pub into: &'a str,
    /// The paths in conflict.
    pub paths: &'a [String],
    /// Git's own words.
    pub output: &'a str,
}

/// A brief that begins with the issue.
#[derive(Serialize)]
struct With<'a, T> {
    issue: &'a str,
    #[serde(flatten)]
    rest: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Implement {
    reviewers: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fix<'a> {
    reviewer: &'a str,
    round: u32,
    items: Vec<ItemLine<'a>>,
}

fn text(issue: &IssueBrief<'_>) -> Result<String, PromptError> {
    ISSUE.render(issue).map(|text| text.trim_end().to_owned())
}

/// To an implementer, at a first attempt and at a further one.
pub fn brief_implement(issue: &IssueBrief<'_>, reviewed: bool) -> Result<String, PromptError> {
    IMPLEMENT.render(&With {
        issue: &text(issue)?,
        rest: Implement {
            reviewers: reviewed,
        },
    })
}

/// To an implementer, once a reviewer wants changes.
pub fn brief_fix(
    issue: &IssueBrief<'_>,
    reviewer: &str,
    round: u32,
    wanted: &[String],
) -> Result<String, PromptError> {
    FIX.render(&With {
        issue: &text(issue)?,
        rest: Fix {
            reviewer,
            round,
            items: items(wanted),
        },
    })
}

/// To a reviewer.
pub fn brief_review(
    issue: &IssueBrief<'_>,
    review: &ReviewBrief<'_>,
) -> Result<String, PromptError> {
    REVIEW.render(&With {
        issue: &text(issue)?,
        rest: review,
    })
}

/// To a merge agent.
pub fn brief_merge(merge: &MergeBrief<'_>) -> Result<String, PromptError> {
    MERGE.render(merge)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUE: IssueBrief<'static> = IssueBrief {
        id: "UI-2",
        title: "Sort by {{name}} & <date>",
        description: Some("People look for the newest."),
        in_scope: "The list.",
        out_of_scope: "The search.",
        completion_criteria: "Clicking a heading sorts.",
    };

    #[test]
    fn an_implementer_is_told_its_issue_and_that_finishing_hands_it_back() {
        insta::assert_snapshot!(brief_implement(&ISSUE, true).unwrap());
        let bare = IssueBrief {
            description: None,
            ..ISSUE
        };
        let told = brief_implement(&bare, false).unwrap();
        assert!(
            !told.contains("reviewers") && !told.contains("\n\n\n"),
            "{told}"
        );
    }

    #[test]
    fn whoever_reworks_is_told_what_is_wanted_point_by_point() {
        let wanted = ["Sort stably.".to_owned(), "Add a test.\n".to_owned()];
        insta::assert_snapshot!(brief_fix(&ISSUE, "critic", 2, &wanted).unwrap());
    }

    #[test]
    fn a_reviewer_is_told_what_would_be_merged_and_what_was_said_before() {
        let wanted = ["Sort stably.".to_owned()];
        let ignored = ["target/".to_owned()];
        let line = |kind, path, from, text| ChangeLine {
            kind,
            path,
            from,
            text,
            added: 12,
            removed: 0,
        };
        let review = ReviewBrief {
            round: 2,
            verdicts: vec![
                VerdictLine {
                    round: 1,
                    reviewer: "critic",
                    items: items(&wanted),
                },
                VerdictLine {
                    round: 2,
                    reviewer: "critic",
                    items: Vec::new(),
                },
            ],
            branch: "gg/ui-2",
            baseline: "aaaa",
            commit: "bbbb",
            changes: vec![
                line("added", "src/sort.rs", None, true),
                line("renamed", "a.png", Some("b.png"), false),
            ],
            ignored: &ignored,
        };
        insta::assert_snapshot!(brief_review(&ISSUE, &review).unwrap());
        let nothing = ReviewBrief {
            verdicts: Vec::new(),
            changes: Vec::new(),
            ignored: &[],
            ..review
        };
        let told = brief_review(&ISSUE, &nothing).unwrap();
        assert!(
            told.contains("Nothing was changed.") && !told.contains("Verdicts"),
            "{told}"
        );
    }

    #[test]
    fn a_merge_agent_is_told_what_conflicts_and_what_will_be_looked_at() {
        let paths = ["src/list.rs".to_owned()];
        let merge = MergeBrief {
            issue: "UI-2",
            title: "Sort by date",
            branch: "gg/ui-2",
            into: "main",
            paths: &paths,
            output: "CONFLICT (content): Merge conflict in src/list.rs",
        };
        insta::assert_snapshot!(brief_merge(&merge).unwrap());
    }
}
