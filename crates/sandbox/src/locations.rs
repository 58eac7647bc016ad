//! From places in what a guest runs to places in what was written (05 §2).
//!
//! A runtime tells places of the text it ran. Where a compiler made that text, the map it emitted
//! beside it leads back; nothing is computed from line counts. A text that stands where it was written
//! only has another name.
//!
//! Always true: words without a place of a mapped text stay as they are; a line whose place leads
//! nowhere is struck, and counted.

mod map;

use std::sync::Arc;

pub use map::{MapError, SourceMap};

/// The maps of a program and of its modules; without any, texts stay as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Locations(Vec<Mapped>);

/// A text that runs, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
struct Mapped {
    /// What the runtime calls it.
    runs_as: String,
    /// What its author knows it as.
    written_as: String,
    /// `None` where its places are those of what was written.
    map: Option<Arc<SourceMap>>,
}

/// A place in one of the texts, as it stands in a line of a runtime's words.
struct Place {
    /// Where in the line.
    start: usize,
    end: usize,
    line: u32,
    column: Option<u32>,
}

impl Locations {
    /// Adds a text that runs under one name and was written under another.
    pub fn add(&mut self, runs_as: &str, written_as: &str, map: Arc<SourceMap>) {
        self.0.push(Mapped {
            runs_as: runs_as.to_owned(),
            written_as: written_as.to_owned(),
            map: Some(map),
        });
    }

    /// Adds a text that runs under one name and was written under another, each part where it stands.
    pub fn rename(&mut self, runs_as: &str, written_as: &str) {
        self.0.push(Mapped {
            runs_as: runs_as.to_owned(),
            written_as: written_as.to_owned(),
            map: None,
        });
    }

    /// A runtime's words with the places of what was written.
    pub fn original(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut lines = Vec::new();
        let mut struck = 0;
        for line in text.split('\n') {
            match self.line(line) {
                Some(line) => lines.push(line),
                None => struck += 1,
            }
        }
        if struck > 0 {
            let plural = if struck == 1 { "" } else { "s" };
            lines.push(format!(
                "    … {struck} frame{plural} of the compiler's own"
            ));
        }
        lines.join("\n")
    }

    /// A line with its places mapped; `None` for a frame whose place was written by nobody.
    fn line(&self, line: &str) -> Option<String> {
        let mut line = line.to_owned();
        for mapped in &self.0 {
            let mut from = 0;
            while let Some(place) = place(&line, &mapped.runs_as, from) {
                let found = match &mapped.map {
                    Some(map) => map.original(place.line, place.column),
                    // A line without its column begins where its text does.
                    None => Some((place.line, place.column.unwrap_or(1))),
                };
                if found.is_none() && line.trim_start().starts_with("at ") {
                    return None;
                }
                let mut written = mapped.written_as.clone();
                if let Some((at, column)) = found {
                    written.push_str(&format!(":{at}"));
                    if place.column.is_some() {
                        written.push_str(&format!(":{column}"));
                    }
                }
                from = place.start + written.len();
                line.replace_range(place.start..place.end, &written);
            }
        }
        Some(line)
    }
}

/// The next `name:line` or `name:line:column` of a line.
fn place(line: &str, name: &str, from: usize) -> Option<Place> {
    let mut from = from;
    loop {
        let start = from + line.get(from..)?.find(name)?;
        let after = start + name.len();
        let longer = line[..start].ends_with(|c: char| c.is_alphanumeric() || "_-/:.".contains(c));
        if !longer && let Some((number, end)) = number(line, after) {
            let column = self::number(line, end);
            return Some(Place {
                start,
                end: column.map_or(end, |(_, end)| end),
                line: number,
                column: column.map(|(column, _)| column),
            });
        }
        from = after;
    }
}

/// The number behind a colon, and where it ends.
fn number(line: &str, at: usize) -> Option<(u32, usize)> {
    let digits = line.get(at..)?.strip_prefix(':')?;
    let length = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let number = digits[..length].parse().ok()?;
    Some((number, at + 1 + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line 1 is line 3 from column 5 on; line 2 is nobody's.
    fn locations() -> Locations {
        let map = SourceMap::read(r#"{"version":3,"sources":["program.ts"],"mappings":"AAEI;"}"#);
        let mut locations = Locations::default();
        locations.add("program.js", "program.ts", Arc::new(map.unwrap()));
        locations
    }

    #[test]
    fn places_are_those_of_what_was_written() {
        let check = |text: &str, expected: &str| {
            assert_eq!(locations().original(text), expected);
        };
        check(
            "E: x\n    at f (program.js:1:2)\n    at <anonymous> (program.js:1)",
            "E: x\n    at f (program.ts:3:5)\n    at <anonymous> (program.ts:3)",
        );
        check(
            "E: x\n    at f (program.js:2:2)\n    at g (program.js:1:2)",
            "E: x\n    at g (program.ts:3:5)\n    … 1 frame of the compiler's own",
        );
        check(
            "myprogram.js:1 and program.js alone",
            "myprogram.js:1 and program.js alone",
        );
        check("said of program.js:9:9", "said of program.ts");
    }

    #[test]
    fn a_text_that_stands_where_it_was_written_is_only_renamed() {
        let mut locations = Locations::default();
        locations.rename("program.js", "program.ts");
        assert_eq!(
            locations.original("E: x\n    at f (program.js:7:9)\n    at g (program.js:3)"),
            "E: x\n    at f (program.ts:7:9)\n    at g (program.ts:3)"
        );
    }

    #[test]
    fn without_a_map_words_stay() {
        let text = "at f (program.js:1:2)\n";
        assert_eq!(Locations::default().original(text), text);
    }
}
