//! A recorded run as a person reads it.

pub(crate) mod board;
pub(crate) mod overview;
mod programs;
pub(crate) mod window;

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
