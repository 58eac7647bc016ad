//! Numbers of a launch document: judged from their text, exactly.
//!
//! A number keeps its text until a rule reads it, because `1e400` is infinite and `60.0` is a
//! fraction to most parsers, while here the first must be refused at its place and the second is
//! the whole number 60 (01 §3.2).
//!
//! The serde helpers give the typed document the same reading: an integral JSON number is that
//! integer, whichever way it is written.

use serde::de::{self, Deserializer, Visitor};

/// The largest whole number accepted: every figure is reported as a 64-bit float somewhere, and
/// past this one a float no longer tells two neighbours apart.
pub(crate) const MAX_WHOLE: u64 = 1 << 53;

/// The whole number a JSON number's text stands for, if it is one of `0..=MAX_WHOLE`.
pub(crate) fn whole(text: &str) -> Option<u64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{integer}{fraction}");
    let trimmed = digits.trim_end_matches('0');
    let significant = trimmed.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    if negative {
        return None;
    }
    // The value is `significant` × 10^scale. An exponent too long for an i64 saturates: it is far
    // outside every range either way.
    let exponent = exponent
        .parse::<i64>()
        .unwrap_or(if exponent.starts_with('-') {
            i64::MIN
        } else {
            i64::MAX
        });
    let scale = exponent
        .saturating_sub_unsigned(fraction.len() as u64)
        .saturating_add_unsigned((digits.len() - trimmed.len()) as u64);
    let zeros = usize::try_from(scale).ok()?;
    if significant.len().saturating_add(zeros) > 20 {
        return None;
    }
    format!("{significant}{:0<zeros$}", "")
        .parse()
        .ok()
        .filter(|number| *number <= MAX_WHOLE)
}

/// The finite float a JSON number's text stands for.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

struct Whole;

impl Visitor<'_> for Whole {
    type Value = u64;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a whole number, 0 or more")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
        u64::try_from(number).map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    #[expect(
        clippy::cast_sign_loss,
        reason = "the guard admits whole numbers from 0 to 2^53 alone"
    )]
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<u64, E> {
        if number.fract() == 0.0 && (0.0..=MAX_WHOLE as f64).contains(&number) {
            Ok(number as u64)
        } else {
            Err(E::invalid_value(de::Unexpected::Float(number), &self))
        }
    }
}

/// `deserialize_with` of a required whole number.
pub(crate) fn read_whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Whole)
}

/// `deserialize_with` of a whole number that may be left out.
pub(crate) fn read_optional_whole<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    read_whole(deserializer).map(Some)
}

/// `deserialize_with` of whole numbers by model id.
pub(crate) fn read_wholes<'de, D: Deserializer<'de>, K>(
    deserializer: D,
) -> Result<std::collections::BTreeMap<K, u64>, D::Error>
where
    K: serde::Deserialize<'de> + Ord,
{
    #[derive(serde::Deserialize)]
    struct Item(#[serde(deserialize_with = "read_whole")] u64);
    let items: std::collections::BTreeMap<K, Item> = serde::Deserialize::deserialize(deserializer)?;
    Ok(items.into_iter().map(|(key, item)| (key, item.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integral_number_is_that_integer_however_written() {
        for (text, number) in [
            ("0", 0),
            ("-0", 0),
            ("0.000", 0),
            ("0e999999999999999999999", 0),
            ("60", 60),
            ("60.0", 60),
            ("6e1", 60),
            ("600e-1", 60),
            ("0.06E+3", 60),
            ("5e8", 500_000_000),
            ("9007199254740992", MAX_WHOLE),
        ] {
            assert_eq!(whole(text), Some(number), "{text}");
        }
        for text in [
            "-1",
            "1.5",
            "1e400",
            "1e-1",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "9007199254740993",
            "18446744073709551616",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn infinity_is_no_figure() {
        assert_eq!(finite("1e400"), None);
        assert_eq!(finite("-1e400"), None);
        assert_eq!(finite("0.2"), Some(0.2));
    }
}
