//! What a study runs: the cross product of the values of every `--vary`, each a launch document of
//! its own.
//!
//! A variation's name is made of its values, so that the same variation has the same folder
//! whenever the study goes on, also where values were added meanwhile.

use std::fmt::Write as _;
use std::str::FromStr;

use serde_json::{Map, Value};

use super::path::Path;
use crate::page::glimpse;

/// One `--vary PATH=V1,V2,…`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    /// What is varied.
    pub(crate) path: Path,
    /// Over what, in the order given.
    pub(crate) values: Vec<Value>,
}

/// One combination of values.
#[derive(Clone, Debug)]
pub(crate) struct Variation {
    /// Short and fit for a file's name: `maxParallel=4`.
    pub(crate) name: String,
    /// As a person reads it: `maxParallel = 4, modelId = mock/a`.
    pub(crate) label: String,
    /// The place of each variable's value among its values.
    pub(crate) places: Vec<usize>,
    /// The values by path.
    pub(crate) values: Map<String, Value>,
    /// The launch document.
    pub(crate) document: Value,
}

/// Characters of a value before it is cut.
const GLIMPSE: usize = 40;
/// Characters of a name before it is cut.
const LONGEST_NAME: usize = 80;

/// All variations, the last variable's values running fastest. The error names every path that
/// leads nowhere.
pub(crate) fn variations(
    document: &Value,
    variables: &[Variable],
) -> Result<Vec<Variation>, Vec<String>> {
    let mut faults = Vec::new();
    for (at, variable) in variables.iter().enumerate() {
        if let Err(fault) = variable.path.set(&mut document.clone(), Value::Null) {
            faults.push(format!("--vary {}: {fault}", variable.path));
        }
        if variables[..at].iter().any(|it| it.path == variable.path) {
            faults.push(format!("--vary {}: it is varied twice", variable.path));
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut all = vec![Vec::new()];
    for variable in variables {
        all = all
            .into_iter()
            .flat_map(|places: Vec<usize>| {
                (0..variable.values.len()).map(move |place| [&places[..], &[place]].concat())
            })
            .collect();
    }
    let mut variations = Vec::new();
    for places in all {
        let mut document = document.clone();
        let mut values = Map::new();
        for (variable, place) in variables.iter().zip(&places) {
            let value = variable.values[*place].clone();
            values.insert(variable.path.to_string(), value.clone());
            if let Err(fault) = variable.path.set(&mut document, value) {
                // One variable took away what another one is in.
                faults.push(format!("--vary {}: {fault}", variable.path));
            }
        }
        variations.push(Variation {
            name: name(variables, &places),
            label: label(variables, &places),
            places,
            values,
            document,
        });
    }
    faults.sort();
    faults.dedup();
    if faults.is_empty() {
        Ok(variations)
    } else {
        Err(faults)
    }
}

/// What a variable is called where there is little room: its last key, or its whole path where
/// another variable ends alike.
pub(crate) fn short(variables: &[Variable], at: usize) -> String {
    let last = variables[at].path.last();
    let alike = variables.iter().filter(|it| it.path.last() == last);
    if alike.count() > 1 {
        variables[at].path.to_string()
    } else {
        last.to_owned()
    }
}

/// A value as a person writes it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn label(variables: &[Variable], places: &[usize]) -> String {
    let values = variables.iter().zip(places).enumerate();
    let parts: Vec<String> = values
        .map(|(at, (variable, place))| {
            let value = glimpse(&shown(&variable.values[*place]), GLIMPSE);
            format!("{} = {value}", short(variables, at))
        })
        .collect();
    parts.join(", ")
}

fn name(variables: &[Variable], places: &[usize]) -> String {
    let mut whole = String::new();
    for (at, (variable, place)) in variables.iter().zip(places).enumerate() {
        if at > 0 {
            whole.push(',');
        }
        let value = shown(&variable.values[*place]);
        write!(whole, "{}={value}", short(variables, at)).expect("a string takes any text");
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '=' | ',' | '.' | '-' | '_');
    let plain = |c: char| if fits(c) { c } else { '_' };
    let name: String = whole.chars().take(LONGEST_NAME).map(plain).collect();
    if name == whole && !texts_that_read_as_others(variables, places) {
        return name;
    }
    // Two values may look alike once they fit into a name: what tells them apart is their text.
    let mut exact = String::new();
    for (variable, place) in variables.iter().zip(places) {
        let value = &variable.values[*place];
        writeln!(exact, "{}={value}", variable.path).expect("a string takes any text");
    }
    format!("{name}-{:08x}", hash(exact.as_bytes()))
}

/// Whether a text is shown as another value is: `"4"` and `4`.
fn texts_that_read_as_others(variables: &[Variable], places: &[usize]) -> bool {
    let mut values = variables.iter().zip(places);
    values.any(|(variable, place)| match &variable.values[*place] {
        Value::String(text) => serde_json::from_str::<Value>(text).is_ok(),
        _ => false,
    })
}

/// FNV-1a, folded to 32 bits: the same for ever, which no hash of the standard library promises.
fn hash(bytes: &[u8]) -> u32 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)) as u32
}

impl FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(end) = outside(text, '=') else {
            return Err("expected PATH=V1,V2,…".to_owned());
        };
        let path: Path = text[..end].trim().parse()?;
        let mut values = Vec::new();
        let mut rest = &text[end + 1..];
        loop {
            let (word, behind) = match outside(rest, ',') {
                Some(comma) => (&rest[..comma], Some(&rest[comma + 1..])),
                None => (rest, None),
            };
            let value = value(word.trim())?;
            if values.contains(&value) {
                return Err(format!("{value} stands twice among the values of {path}"));
            }
            values.push(value);
            match behind {
                Some(behind) => rest = behind,
                None => return Ok(Self { path, values }),
            }
        }
    }
}

/// A value: JSON, or a bare word that is a text.
fn value(word: &str) -> Result<Value, String> {
    match serde_json::from_str(word) {
        Ok(value) => Ok(value),
        Err(_) if word.is_empty() => {
            Err("a value is empty; write \"\" for the empty text".to_owned())
        }
        Err(error) if word.starts_with(['{', '[', '"']) => {
            Err(format!("the value {word} is no JSON: {error}"))
        }
        Err(_) => Ok(Value::from(word)),
    }
}

/// The first place of a character that stands in no brackets and no quotes.
fn outside(text: &str, wanted: char) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        if quoted {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => quoted = true,
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ if c == wanted && depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(texts: &[&str]) -> Vec<Variable> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn document() -> Value {
        json!({ "prompt": "x", "limits": { "maxParallel": 1 }, "agents": [{ "modelId": "a" }] })
    }

    #[test]
    fn values_are_json_or_bare_words() {
        let [variable] =
            &read(&["a[\"=,\"].b = 1,2.5,fast, \"x,y\",[1,2],{\"k\":[\"],\"]},true"])[..]
        else {
            panic!("one variable");
        };
        assert_eq!(variable.path.to_string(), "a[\"=,\"].b");
        assert_eq!(
            variable.values,
            [
                json!(1),
                json!(2.5),
                json!("fast"),
                json!("x,y"),
                json!([1, 2]),
                json!({ "k": ["],"] }),
                json!(true),
            ]
        );
    }

    #[test]
    fn a_bad_vary_is_a_sentence() {
        for (text, said) in [
            ("maxParallel", "PATH=V1,V2"),
            ("a=1,,2", "a value is empty"),
            ("a=", "a value is empty"),
            ("a=1,2,1", "1 stands twice"),
            ("a={\"x\"", "is no JSON"),
            ("=1", "is no path"),
        ] {
            let why = text.parse::<Variable>().unwrap_err();
            assert!(why.contains(said), "{text}: {why}");
        }
    }

    #[test]
    fn two_variables_make_their_cross_product() {
        let variables = read(&["limits.maxParallel=1,2", "agents[0].modelId=a,b,c"]);
        let all = variations(&document(), &variables).unwrap();
        let names: Vec<_> = all.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "maxParallel=1,modelId=a",
                "maxParallel=1,modelId=b",
                "maxParallel=1,modelId=c",
                "maxParallel=2,modelId=a",
                "maxParallel=2,modelId=b",
                "maxParallel=2,modelId=c",
            ]
        );
        assert_eq!(all[4].document["limits"]["maxParallel"], 2);
        assert_eq!(all[4].document["agents"][0]["modelId"], "b");
        assert_eq!(all[4].places, [1, 1]);
        assert_eq!(all[4].label, "maxParallel = 2, modelId = b");
    }

    #[test]
    fn every_path_that_leads_nowhere_is_named() {
        let variables = read(&["limit.x=1", "prompt=a", "agents[3].x=1", "prompt=b"]);
        let faults = variations(&document(), &variables).unwrap_err();
        assert_eq!(faults.len(), 3, "{faults:#?}");
        let variables = read(&["limits=7", "limits.maxParallel=1"]);
        assert_eq!(variations(&document(), &variables).unwrap_err().len(), 1);
    }

    proptest! {
        #[test]
        fn names_are_distinct_and_fit_a_file_system(
            words in proptest::collection::hash_set("[a-c4 /é\"]{0,6}|[1-4]|x{70,90}", 1..8),
        ) {
            let mut values: Vec<Value> = words.iter().map(|word| json!(word)).collect();
            values.extend([json!(4), json!([4]), json!("[4]")]);
            values.dedup();
            let variable = Variable { path: "prompt".parse().unwrap(), values };
            let all = variations(&document(), &[variable]).unwrap();
            let names: HashSet<&str> = all.iter().map(|it| it.name.as_str()).collect();
            prop_assert_eq!(names.len(), all.len());
            for name in names {
                prop_assert!(name.len() < 120 && name.is_ascii() && !name.contains('/'));
            }
        }
    }
}
