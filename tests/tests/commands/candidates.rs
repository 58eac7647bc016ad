//! `gg candidates` by the real binary: made listings, one for each filter, saved or fetched.

use std::fs;

use serde_json::{Value, json};
use tests::gateway::{Gateway, Reply, Request};
use tests::run::{CREDENTIAL, gg_at};

use super::{Said, folder, said, text};

const MODEL: &str = "acme/coder-1";

/// An endpoint that passes every filter, but for what `edit` changes.
fn endpoint(provider: &str, edit: Value) -> Value {
    let mut endpoint = json!({
        "name": format!("{provider} | {MODEL}"),
        "provider_name": provider,
        "tag": format!("{}/fp8", provider.to_lowercase()),
        "quantization": "fp8",
        "pricing": { "prompt": "0.000001", "completion": "0.000004",
                     "input_cache_read": "0.0000001" },
        "supported_parameters": ["temperature", "tools", "tool_choice", "reasoning"],
    });
    for (key, value) in edit.as_object().cloned().unwrap_or_default() {
        endpoint[key] = value;
    }
    endpoint
}

fn priced(provider: &str, input: &str, output: &str) -> Value {
    let pricing = json!({ "prompt": input, "completion": output, "input_cache_read": "0" });
    endpoint(provider, json!({ "pricing": pricing }))
}

fn listing(endpoints: &[Value]) -> String {
    json!({ "data": { "id": MODEL, "endpoints": endpoints } }).to_string()
}

/// One listing, and what shall become of it.
#[derive(Default)]
struct Case {
    endpoints: Vec<Value>,
    catalog: Option<Value>,
    more: &'static [&'static str],
    /// The list, in order.
    taken: &'static [&'static str],
    /// Who is out, and the words of the reason.
    out: &'static [(&'static str, &'static str)],
}

impl Case {
    /// Runs gg on it, with the table and without.
    fn play(&self) -> [Said; 2] {
        let folder = folder();
        let file = folder.path().join("listing.json");
        fs::write(&file, listing(&self.endpoints)).unwrap();
        let mut line = vec!["candidates", MODEL, "--listing", text(&file)];
        let catalog = folder.path().join("catalog.json");
        if let Some(entry) = &self.catalog {
            fs::write(&catalog, json!({ MODEL: entry }).to_string()).unwrap();
            line.extend(["--catalog", text(&catalog)]);
        }
        line.extend(self.more);
        let table = said(&line);
        line.push("--json");
        [table, said(&line)]
    }

    #[track_caller]
    fn check(&self, what: &str) {
        let [table, alone] = self.play();
        let code = i32::from(self.taken.is_empty());
        assert_eq!(
            (table.code, alone.code),
            (Some(code), Some(code)),
            "{what}: {}{}",
            table.stderr,
            alone.stderr
        );
        let (rows, said) = if self.taken.is_empty() {
            // The list alone goes to whoever builds a launch: without one there is nothing on
            // stdout, and the reasons are told beside it.
            assert_eq!(alone.stdout, "", "{what}");
            assert_eq!(table.stdout.trim_end(), alone.stderr.trim_end(), "{what}");
            (table.stdout.as_str(), None)
        } else {
            let (rows, document) = table.stdout.split_once("\n{").expect("table and list");
            assert_eq!(alone.stdout, format!("{{{document}"), "{what}");
            (rows, Some(alone.stdout.as_str()))
        };
        if let Some(said) = said {
            let list: Value = serde_json::from_str(said).unwrap();
            let names: Vec<_> = list["modelProviders"][MODEL]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["provider"].as_str().unwrap())
                .collect();
            assert_eq!(names, self.taken, "{what}\n{rows}");
        }
        let named = |row: &&str, name: &str| row.split_whitespace().nth(1) == Some(name);
        for (name, why) in self.out {
            let row = rows
                .lines()
                .find(|row| row.starts_with('-') && named(row, name) && row.contains(why));
            assert!(row.is_some(), "{what}: {name}: {why} in\n{rows}");
        }
        // A head, a line of titles, and a row for each endpoint, none of them unexplained.
        assert_eq!(
            rows.trim_end().lines().count(),
            2 + self.endpoints.len(),
            "{rows}"
        );
        assert_eq!(
            rows.lines().filter(|row| row.starts_with("-  ")).count(),
            self.out.len(),
            "{what}\n{rows}"
        );
    }
}

#[test]
fn each_filter_says_of_whom_it_leaves_out_why() {
    let own = || endpoint("Acme", json!({}));
    let lists = |names: &[&str]| json!({ "supported_parameters": names });
    let cases = [
        (
            "native level",
            Case {
                endpoints: vec![own(), endpoint("Low", json!({ "quantization": "fp4" }))],
                taken: &["Acme"],
                out: &[("Low", "is not the native fp8")],
                ..Case::default()
            },
        ),
        (
            "native level by hand",
            Case {
                endpoints: vec![own(), endpoint("Low", json!({ "quantization": "fp4" }))],
                catalog: Some(json!({ "quantization": "fp4" })),
                taken: &["Low"],
                out: &[("Acme", "is not the native fp4")],
                ..Case::default()
            },
        ),
        (
            "undeclared level",
            Case {
                endpoints: vec![
                    own(),
                    endpoint("Mute", json!({ "quantization": "unknown" })),
                    endpoint("Known", json!({ "quantization": "unknown" })),
                ],
                catalog: Some(json!({ "allow": ["known"] })),
                taken: &["Acme", "Known"],
                out: &[("Mute", "declares no quantization")],
                ..Case::default()
            },
        ),
        (
            "input and output price",
            Case {
                endpoints: vec![
                    own(),
                    priced("DearIn", "0.0000011", "0.000004"),
                    priced("DearOut", "0.000001", "0.0000041"),
                ],
                taken: &["Acme"],
                out: &[("DearIn", "input above $1"), ("DearOut", "output above $4")],
                ..Case::default()
            },
        ),
        (
            "ceiling of the catalog",
            Case {
                endpoints: vec![
                    priced("Bolt", "0.000001", "0.000002"),
                    priced("Coda", "0.000003", "0.000002"),
                ],
                catalog: Some(json!({ "maxPrice": { "input": 1, "output": 2 } })),
                taken: &["Bolt"],
                out: &[("Coda", "input above $1")],
                ..Case::default()
            },
        ),
        (
            "price of a cache read",
            Case {
                endpoints: vec![
                    own(),
                    endpoint(
                        "Cold",
                        json!({ "pricing": { "prompt": "0", "completion": "0" } }),
                    ),
                ],
                taken: &["Acme"],
                out: &[("Cold", "publishes no cache-read price")],
                ..Case::default()
            },
        ),
        (
            "tools and their choice",
            Case {
                endpoints: vec![
                    own(),
                    endpoint("Bare", lists(&["temperature"])),
                    endpoint("Free", lists(&["tools"])),
                ],
                taken: &["Acme"],
                out: &[
                    (
                        "Bare",
                        "does not support `tools`; does not support `tool_choice`",
                    ),
                    ("Free", "does not support `tool_choice`"),
                ],
                ..Case::default()
            },
        ),
        (
            "reasoning, where it is set",
            Case {
                endpoints: vec![own(), endpoint("Quick", lists(&["tools", "tool_choice"]))],
                more: &["--reasoning"],
                taken: &["Acme"],
                out: &[("Quick", "does not support `reasoning`")],
                ..Case::default()
            },
        ),
        (
            "ban list",
            Case {
                endpoints: vec![own(), endpoint("Z.AI", json!({}))],
                catalog: Some(json!({ "ban": ["z-ai"] })),
                taken: &["Acme"],
                out: &[("Z.AI", "is banned by the catalog")],
                ..Case::default()
            },
        ),
        (
            "several endpoints of one provider",
            Case {
                endpoints: vec![
                    own(),
                    priced("Bolt", "0.000001", "0.000004"),
                    priced("Bolt", "0.0000005", "0.000004"),
                ],
                taken: &["Acme", "Bolt"],
                out: &[("Bolt", "its provider has a cheaper one that passes")],
                ..Case::default()
            },
        ),
    ];
    for (what, case) in cases {
        case.check(what);
    }
}

#[test]
fn a_listing_with_none_left_names_every_endpoint_and_ends_with_1() {
    Case {
        endpoints: vec![
            endpoint("Acme", json!({ "supported_parameters": [] })),
            endpoint("Low", json!({ "quantization": "fp4" })),
            endpoint("Mute", json!({ "quantization": null })),
            priced("Dear", "0.000002", "0.000009"),
            endpoint("Out", json!({})),
        ],
        catalog: Some(json!({ "ban": ["OUT"] })),
        taken: &[],
        out: &[
            ("Acme", "does not support `tools`"),
            ("Low", "is not the native fp8"),
            ("Mute", "declares no quantization"),
            ("Dear", "input above $1; output above $4"),
            ("Out", "is banned by the catalog"),
        ],
        ..Case::default()
    }
    .check("none left");
    Case::default().check("no endpoint at all");
}

#[test]
fn recorded_faults_order_the_list_behind_the_developer() {
    let folder = folder();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    let line = |line: Value| format!("{line}\n");
    let usage = |name: &str| line(json!({ "type": "usage", "modelId": MODEL, "provider": name }));
    let mut stream = usage("Bolt").repeat(9) + &usage("coda").repeat(9);
    stream += &line(
        json!({ "type": "provider_fault", "modelId": MODEL, "provider": "Bolt",
                            "kind": "stall" }),
    );
    stream += "{\"type\":\"usa";
    fs::write(run.join("telemetry.ndjson"), stream).unwrap();
    let file = folder.path().join("listing.json");
    let endpoints = [
        priced("Bolt", "0.0000001", "0.000001"),
        priced("Coda", "0.0000009", "0.000004"),
        endpoint("Acme", json!({})),
    ];
    fs::write(&file, listing(&endpoints)).unwrap();
    let list = said(["candidates", "--listing", text(&file), "--runs", text(&run)]);
    assert_eq!(list.code, Some(0), "{}", list.stderr);
    assert!(
        list.stderr.contains("1 damaged line left out"),
        "{}",
        list.stderr
    );
    let places: Vec<_> = list
        .stdout
        .lines()
        .filter(|row| row.starts_with(|c: char| c.is_ascii_digit()))
        .map(|row| row.split_whitespace().nth(1).unwrap())
        .collect();
    assert_eq!(places, ["Acme", "Coda", "Bolt"], "{}", list.stdout);
    assert!(list.stdout.contains("1/10") && list.stdout.contains("0/9"));
}

/// What gg says of a model whose listing the gateway answers so.
fn fetched(model: &str, reply: Reply) -> (Said, Gateway) {
    let gateway = Gateway::lenient(move |_: &Request, _| reply.clone());
    let line = ["candidates", model, "--json"];
    (gg_at(&gateway.url(), line).into(), gateway)
}

#[test]
fn a_listing_is_fetched_from_the_gateway() {
    let answer = listing(&[endpoint("Acme", json!({}))]);
    let (list, gateway) = fetched(MODEL, Reply::status(200, answer));
    assert_eq!(list.code, Some(0), "{}", list.stderr);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!(
        list["modelProviders"][MODEL],
        json!([{ "provider": "Acme", "quantization": "fp8" }])
    );
    let requests = gateway.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        (requests[0].method.as_str(), requests[0].path.as_str()),
        ("GET", "/api/v1/models/acme/coder-1/endpoints")
    );
    let shown = requests[0].header("authorization").unwrap();
    assert_eq!(shown, format!("Bearer {CREDENTIAL}"));
}

#[test]
fn a_fetched_listing_that_cannot_be_used_is_a_sentence() {
    let other = json!({ "data": { "id": "acme/coder-2", "endpoints": [] } });
    for (model, reply, why) in [
        (
            "coder-1",
            Reply::status(200, ""),
            "expected AUTHOR/NAME, as in",
        ),
        (
            MODEL,
            Reply::status(404, r#"{"error":{"message":"no such model"}}"#),
            "no such model",
        ),
        (
            MODEL,
            Reply::error(401, &format!("no such key: {CREDENTIAL}")),
            "no such key: [credential]",
        ),
        (
            MODEL,
            Reply::status(
                200,
                json!({ "error": { "message": CREDENTIAL } }).to_string(),
            ),
            "it is an error of the gateway: [credential]",
        ),
        (MODEL, Reply::status(200, "<html>"), "it is no JSON"),
        (
            MODEL,
            Reply::status(200, other.to_string()),
            "is of `acme/coder-2`: ask for that",
        ),
        (
            MODEL,
            Reply::status(200, " ".repeat(17 << 20)),
            "it is larger than 16 MiB",
        ),
    ] {
        let (list, _gateway) = fetched(model, reply);
        assert_eq!((list.code, list.stdout.as_str()), (Some(1), ""), "{why}");
        assert_eq!(list.stderr.lines().count(), 1, "{}", list.stderr);
        assert!(list.stderr.contains(why), "{why} in {}", list.stderr);
        assert!(!list.stderr.contains(CREDENTIAL));
    }
}

#[test]
fn a_name_cannot_move_the_cursor_of_whoever_reads_the_table() {
    let case = Case {
        endpoints: vec![endpoint("Ac\u{1b}[2Jme\n1  Evil", json!({}))],
        ..Case::default()
    };
    let [table, _] = case.play();
    assert_eq!(table.code, Some(1));
    assert!(!table.stdout.contains('\u{1b}'), "{}", table.stdout);
    assert_eq!(table.stdout.lines().count(), 3, "{}", table.stdout);
}
