//! The board as a person reads it while a session goes: a line for each change of an issue's
//! status, each round of review and each end of a branch.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Palette, word};
use crate::page::{glimpse, prose};

/// Characters shown of a reviewer's item or of a reason.
const SHOWN: usize = 110;

/// An issue went somewhere.
pub(super) fn moved(event: &Value, palette: &Palette) -> String {
    let Palette {
        bold,
        dim,
        good,
        bad,
        off,
    } = palette;
    let id = word(&event["issueId"]);
    let status = event["status"].as_str().unwrap_or_default();
    let hue = match status {
        "done" => good,
        "failed" => bad,
        _ => "",
    };
    let words = match status {
        "failed" => "failed".to_owned(),
        status => format!("is {}", prose(status).replace('_', " ")),
    };
    let mut text = format!("     {bold}{id}{off} {hue}{words}{off}");
    if let Some(attempt) = event["attempts"].as_u64().filter(|it| *it > 1)
        && status == "in_progress"
    {
        write!(text, " {dim}(attempt {attempt}){off}").expect("a string takes any text");
    }
    if let Some(reason) = event["reason"].as_str() {
        write!(text, ": {}", glimpse(reason, SHOWN)).expect("a string takes any text");
    }
    text + "\n"
}

/// A round of review ended.
pub(super) fn reviewed(event: &Value, palette: &Palette) -> String {
    let Palette { bold, dim, off, .. } = palette;
    let id = word(&event["issueId"]);
    let round = event["round"].as_u64().unwrap_or_default();
    let items = event["items"].as_array();
    let items: Vec<&Value> = items.into_iter().flatten().collect();
    let (verdict, by) = if event["outcome"] == "approved" {
        let rows = event["approvedBy"].as_array().into_iter().flatten();
        ("approved", rows.map(reviewer).collect())
    } else {
        ("changes requested", vec![reviewer(&event["by"])])
    };
    let by = by.join(", ");
    let mut text = format!("     {bold}{id}{off} round {round}: {verdict} {dim}by {by}{off}\n");
    for (number, item) in items.into_iter().enumerate() {
        let item = glimpse(item.as_str().unwrap_or_default(), SHOWN);
        writeln!(text, "       {dim}{}. {item}{off}", number + 1).expect("a string takes any text");
    }
    text
}

fn reviewer(row: &Value) -> String {
    format!("{} ({})", word(&row["agentId"]), word(&row["profileId"]))
}

/// A branch came to its end.
pub(super) fn landed(event: &Value, palette: &Palette) -> String {
    let Palette { bold, dim, off, .. } = palette;
    let id = word(&event["issueId"]);
    let branch = word(&event["branch"]);
    let agent = event["mergeAgentId"].as_str().map(prose);
    let what = match (event["outcome"].as_str().unwrap_or_default(), agent) {
        ("merged", _) => format!("`{branch}` is merged"),
        ("resolved", Some(agent)) => {
            format!("`{branch}` is merged, its conflict resolved by {agent}")
        }
        ("resolved", None) => format!("`{branch}` is merged, its conflict resolved"),
        ("aborted", _) => format!("the merge of `{branch}` was undone"),
        ("discarded", _) => format!("the folder of `{branch}` was removed, the branch stays"),
        (other, _) => format!("`{branch}`: {}", prose(other)),
    };
    let commit = event["commit"].as_str().unwrap_or_default();
    let commit = match glimpse(commit, 12) {
        commit if commit.is_empty() => String::new(),
        commit => format!(" {dim}{commit}{off}"),
    };
    format!("     {bold}{id}{off} {what}{commit}\n")
}

#[cfg(test)]
mod tests {
    use super::super::Narrator;
    use super::*;

    fn narrate(palette: Palette) -> String {
        let stream = crate::show::board::tests::stream();
        let mut narrator = Narrator::new(palette);
        (stream.lines())
            .filter_map(|line| narrator.event(&serde_json::from_str(line).unwrap()))
            .collect()
    }

    #[test]
    fn a_board_at_work_reads_as_reviewed() {
        insta::assert_snapshot!(narrate(Palette::default()));
    }

    #[test]
    fn colour_changes_no_word_of_a_board() {
        let mut coloured = narrate(Palette::new(true));
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m"] {
            coloured = coloured.replace(code, "");
        }
        assert_eq!(coloured, narrate(Palette::default()));
    }

    #[test]
    fn a_line_without_its_fields_or_of_tomorrow_is_still_a_line() {
        let mut narrator = Narrator::new(Palette::default());
        for line in [
            r#"{"type":"issue_status"}"#,
            r#"{"type":"issue_review"}"#,
            r#"{"type":"worktree_merged","outcome":"teleported","branch":"a\u001b"}"#,
        ] {
            let text = narrator
                .event(&serde_json::from_str(line).unwrap())
                .unwrap();
            assert!(text.ends_with('\n') && !text.contains('\u{1b}'), "{text:?}");
        }
    }
}
