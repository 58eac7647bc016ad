//! What recorded runs say of a model's providers: how often each was asked, how often it failed.
//!
//! A fold over streams. A reply counts for the provider its `usage` names. A stall, a failed call
//! that a run left a provider for and a provider that was not available are attempts that brought
//! none; a cache miss is a fault of a reply that counts already.

use std::io::{self, BufRead};

use serde::Deserialize;
use vocab::ids::{ModelId, ProviderName};

use crate::lines::lines;

/// One provider's share of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// As the stream spells it.
    pub provider: ProviderName,
    /// Replies and failed calls.
    pub attempts: u64,
    /// Those that were faults.
    pub faults: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    model_id: Option<ModelId>,
    #[serde(default)]
    provider: Option<ProviderName>,
    #[serde(default)]
    from: Option<ProviderName>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    fault: Option<String>,
}

/// Reads a stream for what it says of the providers of `model`. Damaged lines say nothing, and
/// are counted in the second figure.
pub fn observe(reader: impl BufRead, model: &ModelId) -> io::Result<(Vec<Observed>, usize)> {
    let mut observed: Vec<Observed> = Vec::new();
    let mut damaged = 0;
    for line in lines(reader) {
        let Ok(line) = line? else {
            damaged += 1;
            continue;
        };
        if !matches!(
            line.kind.as_str(),
            "usage" | "provider_fault" | "provider_switch"
        ) {
            continue;
        }
        let Ok(fields) = line.fields::<Fields>() else {
            damaged += 1;
            continue;
        };
        if fields.model_id.as_ref() != Some(model) {
            continue;
        }
        let (attempts, faults) = match (line.kind.as_str(), &fields.kind, &fields.fault) {
            ("usage", _, _) => (1, 0),
            ("provider_fault", Some(kind), _) if kind == "cache_miss" => (0, 1),
            // A provider left for its misses has had them counted.
            ("provider_switch", _, Some(fault)) if fault == "cache_miss" => continue,
            // A stall, and a provider left after a call that failed or for not being there.
            _ => (1, 1),
        };
        let Some(provider) = fields.provider.or(fields.from) else {
            continue;
        };
        match observed
            .iter_mut()
            .find(|it| it.provider.same_as(&provider))
        {
            Some(known) => {
                known.attempts += attempts;
                known.faults += faults;
            }
            None => observed.push(Observed {
                provider,
                attempts,
                faults,
            }),
        }
    }
    Ok((observed, damaged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_stalls_misses_and_moves_are_told_apart() {
        let stream = r#"{"type":"usage","modelId":"a/b","provider":"A"}
{"type":"usage","modelId":"a/b","provider":"A"}
{"type":"usage","modelId":"a/b"}
{"type":"usage","modelId":"a/other","provider":"A"}
{"type":"provider_fault","modelId":"a/b","provider":"A","kind":"stall"}
{"type":"provider_fault","modelId":"a/b","provider":"a","kind":"cache_miss"}
{"type":"provider_switch","modelId":"a/b","from":"A","to":"B","fault":"cache_miss"}
{"type":"provider_switch","modelId":"a/b","from":"B","to":"C","fault":"failed_call"}
{"type":"usa"#;
        let (observed, damaged) = observe(stream.as_bytes(), &"a/b".into()).unwrap();
        let rows: Vec<_> = observed
            .iter()
            .map(|it| (it.provider.as_str(), it.attempts, it.faults))
            .collect();
        assert_eq!(rows, [("A", 3, 2), ("B", 1, 1)]);
        assert_eq!(damaged, 1);
    }
}
