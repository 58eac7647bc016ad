//! The study of a fan-out over parallelism caps: the example, and the arithmetic it has to obey.
//!
//! Every bound here is one that load only moves away from: a reply takes at least its delay, and a
//! slot is held at least as long as the replies of whoever holds it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Said, Study};
use tests::launch::Launch;

const CAPS: [u64; 8] = [1, 2, 4, 8, 12, 16, 24, 32];

/// As the example's script has them: agents, and milliseconds of one's three replies.
const AGENTS: u64 = 24;
const EACH: u64 = 150;
/// The lead's two replies.
const LEAD: u64 = 40;

/// The stream's times are whole milliseconds, cut off: a length may miss one.
const CUT: u64 = 1;

fn example(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let text = fs::read(path.join(name)).expect("the repository has examples");
    serde_json::from_slice(&text).expect("an example is JSON")
}

/// The example, studied once over all caps.
fn studied() -> (Study, Said) {
    let study = Study::of(&Launch::mock("x"), &example("fan-out.script.json"));
    let mut launch = example("fan-out.json");
    launch["workspaceDir"] = study.path("workspace").display().to_string().into();
    study.write("launch.json", &launch);
    let caps: Vec<String> = CAPS.iter().map(ToString::to_string).collect();
    let vary = format!("capabilitySet.limits.maxParallel={}", caps.join(","));
    let said = study.mock(&["--vary", &vary]);
    (study, said)
}

fn figure(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no count"))
}

#[test]
fn a_fan_out_obeys_the_arithmetic_at_every_cap() {
    let (study, said) = studied();
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    for cap in CAPS {
        let run = study.json(&format!("out/runs/maxParallel={cap}.1/result.json"));
        let waves = AGENTS.div_ceil(cap);
        assert!(
            figure(&run["makespanMs"]) + CUT >= waves * EACH + LEAD,
            "{cap}"
        );
        // The lead holds no slot while it waits; past the cap that lets all run, it may still hold
        // its own as the last of them begins. On a busy machine the first may have ended by then.
        let peak = figure(&run["peakParallel"]);
        assert!(peak <= cap.min(AGENTS + 1), "{cap}: {peak}");
        assert!(cap > 2 || peak == cap, "{cap}: {peak}");
        let agents = run["agents"].as_array().unwrap();
        assert_eq!(agents.len() as u64, AGENTS + 1);
        let (lead, readers) = agents.split_first().unwrap();
        assert!(figure(&lead["waitingMs"]) > 0, "{cap}");
        assert!(figure(&lead["activeMs"]) + 2 * CUT >= LEAD);
        // The place of an agent in the queue says how many waves went before it.
        let begun = |it: &Value| figure(&it["spawnedAfterMs"]) + figure(&it["queuedMs"]);
        let mut begun: Vec<u64> = readers.iter().map(begun).collect();
        begun.sort_unstable();
        for (place, at) in (0..).zip(&begun) {
            let before = place / cap;
            let least = begun[0] + before * (EACH - CUT);
            assert!(*at + CUT >= least, "{cap}: {place} at {at}, not {least}");
        }
        for reader in readers {
            assert!(figure(&reader["activeMs"]) + CUT >= EACH);
            assert_eq!(
                (&reader["waitingMs"], &reader["parent"]),
                (&0.into(), &"root".into())
            );
        }
        assert_eq!(
            (&run["findings"], &run["status"]),
            (&0.into(), &"completed".into())
        );
        assert!(run["utilisation"].as_f64().unwrap() <= 1.0 + 1e-9);
    }
    let combined = study.json("out/study.json");
    let medians = |figure: &str| -> Vec<f64> {
        let all = combined["combinations"].as_array().unwrap().iter();
        all.map(|it| it[figure]["median"].as_f64().unwrap())
            .collect()
    };
    knee_is_where_the_makespans_say(&combined, &medians("makespanMs"), &said);
    let picture = fs::read_to_string(study.path("out/study.svg")).unwrap();
    let knees = combined["knees"].as_array().unwrap().len();
    // A line in each of the two panels.
    assert_eq!(picture.matches("the knee: ").count(), 2 * knees);
}

/// The study names the least cap whose makespan is within a twentieth of the shortest.
fn knee_is_where_the_makespans_say(study: &Value, makespans: &[f64], said: &Said) {
    let shortest = makespans.iter().copied().fold(f64::INFINITY, f64::min);
    let at = makespans
        .iter()
        .position(|it| *it <= 1.05 * shortest)
        .expect("the shortest is one of them");
    let expected: Vec<Value> = if (1..CAPS.len() - 1).contains(&at) {
        vec![CAPS[at].into()]
    } else {
        Vec::new()
    };
    let knees = study["knees"].as_array().expect("a study lists its knees");
    let found: Vec<Value> = knees.iter().map(|it| it["value"].clone()).collect();
    assert_eq!(found, expected, "{makespans:?}");
    for cap in &expected {
        let sentence = format!("From maxParallel = {cap} on");
        assert!(said.stdout.contains(&sentence), "{}", said.stdout);
    }
    // Where all agents run in one wave as fast as they would alone, the knee can be nowhere else:
    // two waves take twice as long, whatever the machine does.
    if shortest * 1.05 < (2 * EACH + LEAD) as f64 {
        assert!(CAPS[at] >= AGENTS, "{makespans:?}");
    }
}
