//! The bench's table.

use std::fmt::Write as _;

use serde::Serialize;

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// What it is.
    pub(super) figure: String,
    /// In what.
    pub(super) unit: &'static str,
    /// gg's.
    pub(super) gg: f64,
    /// The floor's, where there is one.
    pub(super) floor: Option<f64>,
    /// What is hoped for, in words.
    pub(super) goal: String,
    /// Whether it is reached; `None` where the row is there for the eye.
    pub(super) met: Option<bool>,
}

/// The rows under each other.
pub(super) fn render(rows: &[Row]) -> String {
    let mut lines = vec![
        ["figure", "gg", "floor", "ratio", "goal", ""]
            .map(str::to_owned)
            .to_vec(),
    ];
    for row in rows {
        lines.push(vec![
            row.figure.clone(),
            format!("{} {}", number(row.gg), row.unit),
            row.floor
                .map(|floor| format!("{} {}", number(floor), row.unit))
                .unwrap_or_default(),
            row.floor
                .filter(|floor| *floor > 0.0)
                .map(|floor| format!("{:.2}", row.gg / floor))
                .unwrap_or_default(),
            row.goal.clone(),
            match row.met {
                Some(true) => "met",
                Some(false) => "NOT MET",
                None => "",
            }
            .to_owned(),
        ]);
    }
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|column| {
            lines
                .iter()
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for (n, line) in lines.iter().enumerate() {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                // Figures stand under each other by their units, words by their beginnings.
                if (1..=3).contains(&column) {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            })
            .collect();
        writeln!(text, "{}", cells.join("  ").trim_end()).expect("a string takes any text");
        if n == 0 {
            let rule: usize = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
            writeln!(text, "{}", "-".repeat(rule)).expect("a string takes any text");
        }
    }
    text
}

/// A figure with the digits that say something, thousands apart.
fn number(figure: f64) -> String {
    if figure.abs() < 100.0 && figure.fract() != 0.0 {
        return format!("{figure:.2}");
    }
    let digits = format!("{:.0}", figure.abs());
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if figure < 0.0 {
        text.insert(0, '-');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_line_up() {
        let rows = [
            Row {
                figure: "start".to_owned(),
                unit: "ms",
                gg: 1.756,
                floor: Some(1.3),
                goal: "≤ 5 ms".to_owned(),
                met: Some(true),
            },
            Row {
                figure: "events a second".to_owned(),
                unit: "/s",
                gg: 1_234_567.0,
                floor: None,
                goal: "≥ 200,000".to_owned(),
                met: Some(false),
            },
        ];
        assert_eq!(
            render(&rows),
            "figure                     gg    floor  ratio  goal\n\
             -----------------------------------------------------------------\n\
             start                 1.76 ms  1.30 ms   1.35  ≤ 5 ms     met\n\
             events a second  1,234,567 /s                  ≥ 200,000  NOT MET\n"
        );
    }
}
