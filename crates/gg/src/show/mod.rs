//! A recorded run as a person reads it.

pub(crate) mod overview;
pub(crate) mod window;

use std::fmt::Write as _;

use crate::output::one_line;

/// A figure with a comma at each thousand.
fn thousands(figure: u64) -> String {
    let digits = figure.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// USD with the digits that say something.
fn dollars(usd: Option<f64>) -> String {
    match usd {
        None => "-".to_owned(),
        Some(0.0) => "$0".to_owned(),
        Some(usd) if usd < 1.0 => format!("${usd:.6}"),
        Some(usd) => format!("${usd:.2}"),
    }
}

/// A share as a percentage; `-` of nothing.
fn share(part: f64, whole: f64) -> String {
    if whole == 0.0 {
        "-".to_owned()
    } else {
        format!("{:.1}%", part / whole * 100.0)
    }
}

/// Rows in columns: the named ones to the right, the last one without padding.
fn columns(rows: &[Vec<String>], right: &[usize]) -> String {
    let shown = |cells: &Vec<String>| -> Vec<_> {
        let cells = cells.iter().map(|cell| one_line(cell).into_owned());
        cells.collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(shown).collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::from("  ");
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column + 1 == count {
                line.push_str(cell);
            } else if right.contains(&column) {
                write!(line, "{cell:>width$}  ").expect("a string takes any text");
            } else {
                write!(line, "{cell:<width$}  ").expect("a string takes any text");
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The first characters of a text on one line, without control characters.
fn glimpse(text: &str, chars: usize) -> String {
    let mut cut: String = text
        .chars()
        .take(chars)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(chars).is_some() {
        cut.push('…');
    }
    cut
}
