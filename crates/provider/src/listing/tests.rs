//! Made listings, one for each filter and for each rule of the order.

use serde_json::{Value, json};

use super::*;

/// An endpoint that passes everything, but for what `edit` changes.
fn endpoint(provider: &str, edit: Value) -> Value {
    let mut endpoint = json!({
        "name": format!("{provider} | acme/coder-1"),
        "provider_name": provider,
        "tag": provider.to_lowercase(),
        "quantization": "fp8",
        "pricing": { "prompt": "0.000001", "completion": "0.000004", "input_cache_read": "0.0000001" },
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

fn listing(endpoints: &[Value]) -> Listing {
    let answer = json!({ "data": { "id": "acme/coder-1", "endpoints": endpoints } });
    Listing::read(answer.to_string().as_bytes()).unwrap()
}

fn entry(entry: Value) -> CatalogEntry {
    serde_json::from_value(entry).unwrap()
}

fn built(endpoints: &[Value], catalog: Value, needs: Needs) -> Built {
    build(
        &listing(endpoints),
        &entry(catalog),
        needs,
        &FaultRates::default(),
    )
}

fn names(built: &Built) -> Vec<&str> {
    let candidates = built.candidates.iter();
    candidates.map(|it| it.provider.as_str()).collect()
}

/// What is said of the endpoint at a place of the listing.
fn reasons(built: &Built, index: usize) -> String {
    let out = built.verdicts[index].out.iter().map(ToString::to_string);
    out.collect::<Vec<_>>().join("; ")
}

fn plain(endpoints: &[Value]) -> Built {
    built(endpoints, json!({}), Needs::default())
}

#[test]
fn the_native_level_is_the_highest_declared_and_others_are_out() {
    let made = [
        endpoint("Acme", json!({ "quantization": "fp8" })),
        endpoint("Low", json!({ "quantization": "fp4" })),
        endpoint("Whole", json!({ "quantization": "int8" })),
    ];
    let list = plain(&made);
    assert_eq!(list.native, Some("fp8".into()));
    assert_eq!(names(&list), ["Acme"]);
    assert_eq!(reasons(&list, 1), "is not the native fp8");
    assert_eq!(reasons(&list, 2), "is not the native fp8");
    // Set by hand, the catalog's level wins.
    let by_hand = built(&made, json!({ "quantization": "FP4" }), Needs::default());
    assert_eq!(names(&by_hand), ["Low"]);
}

#[test]
fn both_forms_of_sixteen_bits_are_one_level() {
    let list = plain(&[
        endpoint("Acme", json!({ "quantization": "bf16" })),
        endpoint("Other", json!({ "quantization": "fp16" })),
    ]);
    assert_eq!(names(&list), ["Acme", "Other"]);
    assert_eq!(list.candidates[1].quantization, "fp16");
}

#[test]
fn the_width_of_a_level_is_its_first_number() {
    let list = plain(&[
        endpoint("Acme", json!({ "quantization": "bf16" })),
        endpoint("Long", json!({ "quantization": "fp8_e4m3" })),
        endpoint("Mixed", json!({ "quantization": "w4a16" })),
    ]);
    assert_eq!(list.native, Some("bf16".into()));
    assert_eq!(names(&list), ["Acme"]);
}

#[test]
fn the_developers_smaller_level_is_no_ceiling_for_the_native_one() {
    let mut small = priced("Acme", "0.0000005", "0.000001");
    small["quantization"] = json!("fp4");
    let own = priced("Acme", "0.000002", "0.000008");
    let other = priced("Other", "0.0000015", "0.000008");
    for made in [
        [small.clone(), own.clone(), other.clone()],
        [other.clone(), own.clone(), small.clone()],
    ] {
        let list = plain(&made);
        assert_eq!(names(&list), ["Acme", "Other"], "{:?}", list.ceiling);
    }
    // Where the developer serves no native level with a price, the price it has stands.
    let mut silent = own;
    silent["pricing"] = json!({});
    let list = plain(&[small, silent, other]);
    assert_eq!(names(&list), [""; 0]);
    assert_eq!(reasons(&list, 2), "input above $0.5; output above $1");
}

#[test]
fn names_of_punctuation_alone_are_several_providers() {
    let list = plain(&[
        endpoint("Acme", json!({})),
        endpoint("---", json!({})),
        endpoint("...", json!({})),
    ]);
    assert_eq!(names(&list), ["Acme", "---", "..."]);
}

#[test]
fn a_catalog_says_what_can_be() {
    let why = |entry: Value| {
        serde_json::from_value::<CatalogEntry>(entry)
            .unwrap_err()
            .to_string()
    };
    for level in ["lots", "", "unknown"] {
        let why = why(json!({ "quantization": level }));
        assert!(why.contains("is no level; expected one"), "{why}");
    }
    let below = why(json!({ "maxPrice": { "input": -1, "output": 2 } }));
    assert!(below.contains("-1 is no price; expected USD"), "{below}");
    assert_eq!(entry(json!({ "quantization": null })).quantization, None);
}

#[test]
fn an_undeclared_level_passes_by_name_alone() {
    let made = [
        endpoint("Acme", json!({})),
        endpoint("Quiet", json!({ "quantization": null })),
        endpoint("Unknown", json!({ "quantization": "unknown" })),
    ];
    let list = built(&made, json!({ "allow": ["quiet"] }), Needs::default());
    assert_eq!(names(&list), ["Acme", "Quiet"]);
    assert_eq!(list.candidates[1].quantization, "unknown");
    assert!(reasons(&list, 2).contains("declares no quantization"));
}

#[test]
fn the_developers_prices_are_the_ceiling() {
    let list = plain(&[
        priced("Acme", "0.000002", "0.000008"),
        priced("Equal", "0.000002", "0.000008"),
        priced("DearIn", "0.0000021", "0.000001"),
        priced("DearOut", "0.000001", "0.000009"),
        endpoint("Silent", json!({ "pricing": { "input_cache_read": "0" } })),
    ]);
    assert_eq!(names(&list), ["Acme", "Equal"]);
    assert_eq!(reasons(&list, 2), "input above $2");
    assert_eq!(reasons(&list, 3), "output above $8");
    assert_eq!(
        reasons(&list, 4),
        "publishes no input price; publishes no output price"
    );
}

#[test]
fn without_a_developer_the_catalog_sets_the_ceiling() {
    let made = [
        priced("One", "0.000001", "0.000002"),
        priced("Two", "0.000003", "0.000002"),
    ];
    let list = built(
        &made,
        json!({ "maxPrice": { "input": 1, "output": 2 } }),
        Needs::default(),
    );
    assert_eq!(names(&list), ["One"]);
    assert!(matches!(list.ceiling, Some((_, CeilingFrom::Catalog))));
    // The developer of the listing outranks it.
    let named = built(
        &made,
        json!({ "developer": "two", "maxPrice": { "input": 1, "output": 2 } }),
        Needs::default(),
    );
    assert_eq!(names(&named), ["Two", "One"]);
}

#[test]
fn without_any_ceiling_there_is_no_candidate() {
    let list = plain(&[endpoint("One", json!({})), endpoint("Two", json!({}))]);
    assert_eq!(names(&list), [""; 0]);
    for index in 0..2 {
        assert!(reasons(&list, index).starts_with("has no price ceiling"));
    }
}

#[test]
fn a_provider_without_a_cache_price_is_out() {
    let list = plain(&[
        endpoint("Acme", json!({})),
        endpoint(
            "Forgetful",
            json!({ "pricing": { "prompt": "0", "completion": "0" } }),
        ),
    ]);
    assert_eq!(names(&list), ["Acme"]);
    assert_eq!(reasons(&list, 1), "publishes no cache-read price");
}

#[test]
fn what_the_run_sends_has_to_be_supported() {
    let made = [
        endpoint("Acme", json!({})),
        endpoint(
            "Plain",
            json!({ "supported_parameters": ["tools", "tool_choice"] }),
        ),
        endpoint("Mute", json!({ "supported_parameters": null })),
    ];
    let list = plain(&made);
    assert_eq!(names(&list), ["Acme", "Plain"]);
    assert_eq!(
        reasons(&list, 2),
        "does not support `tools`; does not support `tool_choice`"
    );
    let thinking = built(&made, json!({}), Needs { reasoning: true });
    assert_eq!(names(&thinking), ["Acme"]);
    assert_eq!(reasons(&thinking, 1), "does not support `reasoning`");
}

#[test]
fn a_banned_provider_is_out_whatever_its_spelling() {
    let made = [endpoint("Z.AI", json!({})), endpoint("Acme", json!({}))];
    let list = built(&made, json!({ "ban": ["z-ai"] }), Needs::default());
    assert_eq!(names(&list), ["Acme"]);
    assert_eq!(reasons(&list, 0), "is banned by the catalog");
}

#[test]
fn a_provider_is_one_candidate_at_its_cheapest_endpoint() {
    let list = plain(&[
        priced("Acme", "0.000009", "0.000009"),
        priced("Twice", "0.000003", "0.000001"),
        priced("twice", "0.000002", "0.000001"),
    ]);
    assert_eq!(names(&list), ["Acme", "twice"]);
    assert_eq!(
        reasons(&list, 1),
        "its provider has a cheaper one that passes"
    );
    assert_eq!(list.verdicts[2].place, Some(2));
}

#[test]
fn the_developer_comes_first_then_fault_rate_then_price() {
    let listing = listing(&[
        priced("Cheap", "0.0000001", "0.000001"),
        priced("Dear", "0.0000003", "0.000001"),
        priced("Mid", "0.0000002", "0.000002"),
        priced("Mid2", "0.0000002", "0.000001"),
        priced("Acme", "0.000009", "0.000009"),
    ]);
    let mut rates = FaultRates::default();
    rates.add(&"cheap".into(), 100, 5);
    rates.add(&"Dear".into(), 10, 1);
    let list = build(&listing, &CatalogEntry::default(), Needs::default(), &rates);
    assert_eq!(names(&list), ["Acme", "Mid2", "Mid", "Cheap", "Dear"]);
}

#[test]
fn a_listing_with_none_left_has_a_reason_for_every_endpoint() {
    let list = built(
        &[
            endpoint("Acme", json!({ "quantization": "fp4" })),
            endpoint("Banned", json!({})),
            endpoint("Mute", json!({ "supported_parameters": [] })),
        ],
        json!({ "ban": ["Banned"] }),
        Needs::default(),
    );
    assert!(list.candidates.is_empty());
    assert!(list.verdicts.iter().all(|it| !it.out.is_empty()));
}

#[test]
fn an_error_that_is_null_is_none() {
    let answer = json!({ "error": null, "data": { "id": "a/b", "endpoints": [] } });
    let listing = Listing::read(answer.to_string().as_bytes()).unwrap();
    assert_eq!(listing.model, "a/b");
}

#[test]
fn a_price_that_no_number_can_hold_is_none() {
    let answer = json!({ "id": "a/b", "endpoints": [priced("Acme", "0", "1e303")] });
    let why = Listing::read(answer.to_string().as_bytes()).unwrap_err();
    assert!(why.to_string().contains("`pricing.completion` is"), "{why}");
}

#[test]
fn a_huge_text_that_is_no_listing_is_refused_in_a_few_words() {
    let odd = json!({ "provider_name": "A", "supported_parameters": "x".repeat(90_000) });
    let mut endpoints = vec![json!({}); 5_000];
    endpoints[0] = odd;
    let answer = json!({ "id": "a/b", "endpoints": endpoints });
    let why = Listing::read(answer.to_string().as_bytes())
        .unwrap_err()
        .to_string();
    assert!(why.ends_with("4990 more endpoints cannot be read"), "{why}");
    assert!(why.len() < 4_000, "{}", why.len());
    let said = json!({ "error": { "message": "no\u{1b}[2J" } });
    let why = Listing::read(said.to_string().as_bytes()).unwrap_err();
    assert!(!why.to_string().contains('\u{1b}'), "{why}");
}

#[test]
fn a_text_that_is_no_listing_says_where_and_why() {
    let refused = |text: &str| Listing::read(text.as_bytes()).unwrap_err().to_string();
    assert!(refused("{").starts_with("it is no JSON"));
    assert!(refused("[]").contains("`data.id`"));
    assert!(refused(r#"{"id":"a/b"}"#).contains("`data.endpoints`"));
    assert!(
        refused(r#"{"error":{"code":404,"message":"no such model"}}"#).ends_with("no such model")
    );
    let both = refused(
        r#"{"id":"a/b","endpoints":[{"provider_name":" "},
            {"provider_name":"A","pricing":{"prompt":"-1"}}]}"#,
    );
    assert!(both.contains("`endpoints[0]`: `provider_name`"), "{both}");
    assert!(
        both.contains("`endpoints[1]`: `pricing.prompt` is \"-1\""),
        "{both}"
    );
}

mod any_listing {
    use proptest::prelude::*;

    use super::*;

    fn any_endpoint() -> impl Strategy<Value = Value> {
        let level = prop_oneof![Just("fp8"), Just("fp4"), Just("bf16"), Just("unknown")];
        let price = prop_oneof![Just("0.000001"), Just("0.000002"), Just("0")];
        let provider = prop_oneof![Just("Acme"), Just("B"), Just("C"), Just("c.")];
        (provider, level, price, any::<bool>()).prop_map(|(name, level, price, caches)| {
            let mut pricing = json!({ "prompt": price, "completion": price });
            if caches {
                pricing["input_cache_read"] = json!("0");
            }
            endpoint(name, json!({ "quantization": level, "pricing": pricing }))
        })
    }

    proptest! {
        #[test]
        fn every_endpoint_is_in_once_or_out_for_a_reason(
            endpoints in proptest::collection::vec(any_endpoint(), 0..8),
            banned in proptest::option::of(Just("B")),
        ) {
            let catalog = json!({ "ban": banned.into_iter().collect::<Vec<_>>() });
            let list = built(&endpoints, catalog, Needs::default());
            prop_assert_eq!(list.verdicts.len(), endpoints.len());
            let mut places: Vec<_> = list.verdicts.iter().filter_map(|it| it.place).collect();
            places.sort_unstable();
            prop_assert_eq!(places, (1..=list.candidates.len()).collect::<Vec<_>>());
            for verdict in &list.verdicts {
                prop_assert_eq!(verdict.place.is_none(), !verdict.out.is_empty());
                if let Some(place) = verdict.place {
                    let candidate = &list.candidates[place - 1];
                    prop_assert_eq!(&candidate.provider, &verdict.endpoint.provider);
                }
            }
            for (place, one) in list.candidates.iter().enumerate() {
                for other in &list.candidates[place + 1..] {
                    prop_assert!(!one.provider.same_as(&other.provider));
                }
            }
        }
    }
}
