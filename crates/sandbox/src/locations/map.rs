//! A source map, version 3: from places in a compiled text to places in what was written.

use serde::Deserialize;

/// A map that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// It is not the JSON of a map.
    #[error("the source map is not readable: {0}")]
    Json(String),
    /// Its mappings are none.
    #[error("the mappings of the source map break off or hold what is no digit")]
    Mappings,
}

/// Where the parts of one compiled text come from; all come from one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    /// By line of the compiled text, in order of columns.
    lines: Vec<Vec<Segment>>,
}

/// A part of a line. Lines and columns count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    column: u32,
    /// Line and column of what was written; `None` where nobody wrote it.
    written: Option<(u32, u32)>,
}

#[derive(Deserialize)]
struct Document {
    mappings: String,
}

impl SourceMap {
    /// Reads a map.
    pub fn read(json: &str) -> Result<Self, MapError> {
        let document: Document =
            serde_json::from_str(json).map_err(|error| MapError::Json(error.to_string()))?;
        let mut lines = Vec::new();
        let (mut line, mut column) = (0_i64, 0_i64);
        for group in document.mappings.split(';') {
            let mut segments = Vec::new();
            let mut at = 0_i64;
            for segment in group.split(',').filter(|segment| !segment.is_empty()) {
                let fields = numbers(segment)?;
                at += fields.first().ok_or(MapError::Mappings)?;
                let written = match fields[..] {
                    [_] => None,
                    [_, _, by_line, by_column] | [_, _, by_line, by_column, _] => {
                        line += by_line;
                        column += by_column;
                        Some((counted(line)?, counted(column)?))
                    }
                    _ => return Err(MapError::Mappings),
                };
                segments.push(Segment {
                    column: counted(at)?,
                    written,
                });
            }
            lines.push(segments);
        }
        Ok(Self { lines })
    }

    /// Where a place was written; both count from 1. Without a column, where the line begins.
    pub fn original(&self, line: u32, column: Option<u32>) -> Option<(u32, u32)> {
        let segments = self.lines.get(line.checked_sub(1)? as usize)?;
        let segment = match column {
            None => segments.iter().find(|segment| segment.written.is_some())?,
            Some(column) => {
                let column = column.saturating_sub(1);
                let behind = segments.partition_point(|segment| segment.column <= column);
                // What stands before the first part of a line belongs to it.
                segments.get(behind.saturating_sub(1))?
            }
        };
        let (line, column) = segment.written?;
        Some((line + 1, column + 1))
    }
}

fn counted(number: i64) -> Result<u32, MapError> {
    u32::try_from(number).map_err(|_| MapError::Mappings)
}

/// The numbers of a segment: base 64 digits of five bits, the lowest first, the sixth bit saying that
/// more follow, the lowest of all the sign.
fn numbers(segment: &str) -> Result<Vec<i64>, MapError> {
    let mut numbers = Vec::with_capacity(5);
    let (mut value, mut shift) = (0_i64, 0);
    for byte in segment.bytes() {
        let digit = digit(byte).ok_or(MapError::Mappings)?;
        if shift > 35 {
            return Err(MapError::Mappings);
        }
        value |= i64::from(digit & 31) << shift;
        shift += 5;
        if digit & 32 == 0 {
            let size = value >> 1;
            numbers.push(if value & 1 == 1 { -size } else { size });
            (value, shift) = (0, 0);
        }
    }
    if shift > 0 {
        return Err(MapError::Mappings);
    }
    Ok(numbers)
}

fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;

    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    fn encoded(number: i64) -> String {
        let mut value = number.unsigned_abs() << 1 | u64::from(number < 0);
        let mut out = String::new();
        loop {
            let digit = (value & 31) as usize;
            value >>= 5;
            let digit = if value > 0 { digit | 32 } else { digit };
            out.push(char::from(DIGITS[digit]));
            if value == 0 {
                return out;
            }
        }
    }

    fn map(mappings: &str) -> Result<SourceMap, MapError> {
        SourceMap::read(&format!(r#"{{"version":3,"mappings":"{mappings}"}}"#))
    }

    #[test]
    fn what_is_no_map_is_told() {
        for broken in ["A!", "g", "AA", "AAAAAA", "D", "ggggggggggA"] {
            assert_eq!(map(broken), Err(MapError::Mappings), "{broken}");
        }
        assert!(matches!(SourceMap::read("{"), Err(MapError::Json(_))));
        assert_eq!(map("").unwrap().original(1, None), None);
    }

    proptest! {
        #[test]
        fn every_part_leads_back_to_where_it_was_written(
            lines in prop::collection::vec(
                prop::collection::btree_map(0_u32..200, prop::option::of((0_u32..99, 0_u32..99)), 0..5),
                0..6,
            ),
            beyond in 0_u32..3,
        ) {
            let (mut line, mut column) = (0_i64, 0_i64);
            let mut mappings = Vec::new();
            for segments in &lines {
                let mut at = 0_i64;
                let mut group = Vec::new();
                for (start, written) in segments {
                    let mut segment = encoded(i64::from(*start) - at);
                    at = i64::from(*start);
                    if let Some((l, c)) = written {
                        let (l, c) = (i64::from(*l), i64::from(*c));
                        write!(segment, "A{}{}", encoded(l - line), encoded(c - column)).unwrap();
                        (line, column) = (l, c);
                    }
                    group.push(segment);
                }
                mappings.push(group.join(","));
            }
            let map = map(&mappings.join(";")).unwrap();
            for (number, segments) in lines.iter().enumerate() {
                let number = number as u32 + 1;
                for (start, written) in segments {
                    let next = segments.range(start + 1..).next().map_or(u32::MAX, |next| *next.0);
                    let place = start.saturating_add(beyond).min(next - 1);
                    prop_assert_eq!(
                        map.original(number, Some(place + 1)),
                        written.map(|(l, c)| (l + 1, c + 1))
                    );
                }
            }
        }
    }
}
