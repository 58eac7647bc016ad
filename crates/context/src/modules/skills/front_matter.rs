//! The head of a skill: YAML between two lines of three hyphens (02 §10.1).

use saphyr::{LoadableYamlNode, Yaml};

/// The keys a head must have.
const KEYS: [&str; 2] = ["name", "description"];

/// The line that opens and closes the head.
const FENCE: &str = "---";

/// What a head says, and the text under it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Headed<'a> {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) body: &'a str,
}

/// Why a head cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterFault {
    /// The text does not begin with one.
    #[error(
        "has no front matter; expected a first line `---`, then `name` and `description`, then \
         `---`"
    )]
    Absent,
    /// It has no end.
    #[error("has front matter that is never closed; expected a line `---` after it")]
    Unclosed,
    /// It is not YAML.
    #[error(
        "has front matter that is not YAML, at line {line}: {reason}; put a value with a colon or \
         a hash sign in quotes"
    )]
    NotYaml {
        /// The line of the file, from 1.
        line: usize,
        /// What the parser says.
        reason: String,
    },
    /// It is no list of keys.
    #[error("has front matter that is no mapping; expected `name: …` and `description: …`")]
    NotMapping,
    /// Keys it has to have and does not, or that say nothing.
    #[error("has front matter without {}", .0.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and "))]
    Missing(Vec<&'static str>),
    /// A key whose value is no text.
    #[error("has a `{0}` that is no text; put it in quotes")]
    NotText(&'static str),
}

/// Reads the head of a file.
pub(super) fn read(text: &str) -> Result<Headed<'_>, FrontMatterFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if first.trim_end() != FENCE {
        return Err(FrontMatterFault::Absent);
    }
    let mut end = 0;
    let (head, body) = rest
        .split_inclusive('\n')
        .find_map(|line| {
            let start = end;
            end += line.len();
            (line.trim_end() == FENCE).then(|| (&rest[..start], &rest[end..]))
        })
        .ok_or(FrontMatterFault::Unclosed)?;
    let documents = Yaml::load_from_str(head).map_err(|error| FrontMatterFault::NotYaml {
        // The fence above is a line too.
        line: error.marker().line() + 1,
        reason: error.info().to_owned(),
    })?;
    let head = match documents.as_slice() {
        [] => return Err(FrontMatterFault::Missing(KEYS.to_vec())),
        [head @ Yaml::Mapping(_)] => head,
        _ => return Err(FrontMatterFault::NotMapping),
    };
    let mut missing = Vec::new();
    let mut texts = KEYS.into_iter().map(|key| match head.as_mapping_get(key) {
        None => {
            missing.push(key);
            Ok(String::new())
        }
        Some(value) if value.is_null() => {
            missing.push(key);
            Ok(String::new())
        }
        Some(value) => match value.as_str() {
            Some(text) => {
                // The catalogue shows each in one line, whatever lines the head has.
                let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
                if line.is_empty() {
                    missing.push(key);
                }
                Ok(line)
            }
            None => Err(FrontMatterFault::NotText(key)),
        },
    });
    let (name, description) = (texts.next(), texts.next());
    drop(texts);
    let (name, description) = (name.transpose()?, description.transpose()?);
    if !missing.is_empty() {
        return Err(FrontMatterFault::Missing(missing));
    }
    Ok(Headed {
        name: name.unwrap_or_default(),
        description: description.unwrap_or_default(),
        body: body.trim_start_matches(['\r', '\n']).trim_end(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fault(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn a_head_gives_name_and_description_and_leaves_the_body() {
        let headed = read("---\nname: csv\ndescription: Reads CSV.\n---\n\n# Text\n---\nmore\n");
        assert_eq!(
            headed.unwrap(),
            Headed {
                name: "csv".to_owned(),
                description: "Reads CSV.".to_owned(),
                body: "# Text\n---\nmore",
            }
        );
    }

    #[test]
    fn heads_are_yaml_with_line_ends_and_marks_of_any_kind() {
        let text = "\u{feff}---\r\nname: \"a: b\"\r\ndescription: >-\r\n  one\r\n  two\r\nmore: [1, {x: y}]\r\n--- \r\nbody\r\n";
        let headed = read(text).unwrap();
        assert_eq!((&*headed.name, &*headed.description), ("a: b", "one two"));
        assert_eq!(headed.body, "body");
        let headed = read("---\nname: x # why\ndescription: |\n  a\n\n  b\n---").unwrap();
        assert_eq!(
            (&*headed.name, &*headed.description, headed.body),
            ("x", "a b", "")
        );
    }

    #[test]
    fn every_flaw_has_its_sentence() {
        assert!(fault("# Text\n").starts_with("has no front matter;"));
        assert!(fault("").starts_with("has no front matter;"));
        assert!(fault("---\nname: x\n").contains("never closed"));
        assert!(fault("---\nname: x\n----\n").contains("never closed"));
        assert_eq!(
            fault("---\n---\nbody"),
            "has front matter without `name` and `description`"
        );
        assert_eq!(
            fault("---\nname: x\ndescription: ' '\n---\n"),
            "has front matter without `description`"
        );
        assert_eq!(
            fault("---\nname: x\ndescription:\n---\n"),
            "has front matter without `description`"
        );
        assert_eq!(
            fault("---\nname: 7\ndescription: x\n---\n"),
            "has a `name` that is no text; put it in quotes"
        );
        assert!(fault("---\n- a\n---\n").contains("no mapping"));
        assert!(
            fault("---\nname: x\ndescription: Use when: always\n---\n")
                .starts_with("has front matter that is not YAML, at line 3: ")
        );
        assert!(fault("---\nname: x\nname: y\ndescription: z\n---\n").contains("not YAML"));
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "(---|[a-z: \n\r'\"|>#\\-\\[{&*!%]){0,30}") {
            let _ = read(&format!("---\n{text}\n---\n"));
            let _ = read(&text);
        }
    }
}
