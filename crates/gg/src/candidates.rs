//! A candidate list as a person reads it, and as a launch document carries it.

use provider::listing::{Built, CeilingFrom, FaultRates, Verdict};
use serde_json::json;
use vocab::candidate::Candidate;

use crate::page::{columns, one_line, plural};

/// Heads of the table's columns; the last one holds prose.
const HEADS: [&str; 8] = [
    "#",
    "provider",
    "level",
    "input",
    "output",
    "cache read",
    "faults",
    "",
];

/// Every endpoint with its place in the list, or with each reason why it is out. Prices are USD
/// per million tokens.
pub(crate) fn table(model: &str, built: &Built, rates: &FaultRates) -> String {
    let mut rows: Vec<[String; 8]> = vec![HEADS.map(str::to_owned)];
    // The list first, in its order; then what is out, as listed.
    let mut verdicts: Vec<_> = built.verdicts.iter().collect();
    verdicts.sort_by_key(|it| it.place.unwrap_or(usize::MAX));
    rows.extend(verdicts.into_iter().map(|it| row(it, rates)));

    format!(
        "{}: {}\n{}",
        one_line(model),
        one_line(&heading(built)),
        columns(&rows, &[])
    )
}

fn heading(built: &Built) -> String {
    let count = match built.candidates.len() {
        0 if built.verdicts.is_empty() => "no candidate: the listing holds no endpoint".to_owned(),
        0 => "no candidate".to_owned(),
        some => plural(some as u64, "candidate"),
    };
    let native = match &built.native {
        Some(level) => format!("native level {level}"),
        None => "no endpoint declares a level".to_owned(),
    };
    let ceiling = match &built.ceiling {
        None => "no price ceiling".to_owned(),
        Some((ceiling, from)) => {
            let from = match from {
                CeilingFrom::Developer(name) => format!("the developer's, {name}"),
                CeilingFrom::Catalog => "the catalog's".to_owned(),
            };
            format!(
                "ceiling ${} in, ${} out ({from})",
                ceiling.input, ceiling.output
            )
        }
    };
    format!("{count}; {native}; {ceiling}")
}

fn row(verdict: &Verdict, rates: &FaultRates) -> [String; 8] {
    let endpoint = &verdict.endpoint;
    let price = |usd: Option<f64>| usd.map_or_else(|| "-".to_owned(), |usd| format!("${usd}"));
    let rate = rates.of(&endpoint.provider);
    let name = match &endpoint.tag {
        Some(tag) if tag != endpoint.provider.as_str() => format!("{} ({tag})", endpoint.provider),
        _ => endpoint.provider.to_string(),
    };
    let out: Vec<_> = verdict.out.iter().map(ToString::to_string).collect();
    [
        verdict
            .place
            .map_or_else(|| "-".to_owned(), |place| place.to_string()),
        name,
        endpoint.quantization.to_string(),
        price(endpoint.input),
        price(endpoint.output),
        price(endpoint.cache_read),
        if rate.attempts == 0 {
            "-".to_owned()
        } else {
            format!("{}/{}", rate.faults, rate.attempts)
        },
        out.join("; "),
    ]
}

/// The list as the key a launch document carries it under.
pub(crate) fn document(model: &str, candidates: &[Candidate]) -> String {
    let list: Vec<_> = candidates
        .iter()
        .map(|it| json!({ "provider": it.provider, "quantization": it.quantization }))
        .collect();
    format!("{:#}\n", json!({ "modelProviders": { model: list } }))
}

#[cfg(test)]
mod tests {
    use provider::listing::{CatalogEntry, Listing, Needs, build};

    use super::*;

    #[test]
    fn the_table_says_of_each_endpoint_where_it_stands() {
        let listing = Listing::read(
            json!({ "id": "acme/coder-1", "endpoints": [
                { "provider_name": "Cheap", "tag": "cheap/fp8", "quantization": "fp8",
                  "pricing": { "prompt": "0.0000004", "completion": "0.000002",
                               "input_cache_read": "0.00000004" },
                  "supported_parameters": ["tools", "tool_choice"] },
                { "provider_name": "Unsure", "quantization": "unknown",
                  "pricing": { "prompt": "0.000009", "completion": "0.000002" },
                  "supported_parameters": ["tools"] },
                { "provider_name": "Acme", "quantization": "fp8",
                  "pricing": { "prompt": "0.0000005", "completion": "0.000002",
                               "input_cache_read": "0.00000005" },
                  "supported_parameters": ["tools", "tool_choice"] },
            ] })
            .to_string()
            .as_bytes(),
        )
        .unwrap();
        let mut rates = FaultRates::default();
        rates.add(&"Cheap".into(), 40, 1);
        let built = build(&listing, &CatalogEntry::default(), Needs::default(), &rates);
        insta::assert_snapshot!(format!(
            "{}\n{}",
            table(&listing.model, &built, &rates),
            document(&listing.model, &built.candidates)
        ));
    }
}
