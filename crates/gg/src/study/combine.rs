//! What the repeats of one variation come to: for each figure its least, its median and its most.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::result::RunResult;

/// A figure over repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    /// The middle one; of an even number the mean of the two in the middle.
    pub(crate) median: f64,
    pub(crate) max: f64,
}

/// One variation over its repeats.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Combination {
    /// The varied values by path.
    pub(crate) variation: Map<String, Value>,
    /// The place of each value among those of its variable.
    #[serde(skip)]
    pub(crate) places: Vec<usize>,
    /// Runs that have a result.
    pub(crate) runs: u64,
    /// Runs that have none.
    pub(crate) missing: u64,
    pub(crate) makespan_ms: Option<Spread>,
    pub(crate) utilisation: Option<Spread>,
    pub(crate) peak_parallel: Option<Spread>,
    pub(crate) queued_ms: Option<Spread>,
    pub(crate) waiting_ms: Option<Spread>,
    pub(crate) active_ms: Option<Spread>,
    pub(crate) model_calls: Option<Spread>,
    pub(crate) input_tokens: Option<Spread>,
    pub(crate) output_tokens: Option<Spread>,
    pub(crate) cost: Option<Spread>,
    /// Runs by status.
    pub(crate) statuses: BTreeMap<String, u64>,
    /// Agents of all runs by how they ended.
    pub(crate) endings: BTreeMap<String, u64>,
    /// Lines of all streams that break a rule.
    pub(crate) findings: u64,
}

impl Spread {
    /// Of some figures; `None` of none.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let (min, max) = (*figures.first()?, *figures.last()?);
        let middle = figures.len() / 2;
        let median = if figures.len().is_multiple_of(2) {
            f64::midpoint(figures[middle - 1], figures[middle])
        } else {
            figures[middle]
        };
        Some(Self { min, median, max })
    }
}

impl Combination {
    /// Of the results of one variation's runs, of which `asked` were asked for.
    pub(crate) fn of(
        variation: Map<String, Value>,
        places: Vec<usize>,
        asked: u64,
        results: &[&RunResult],
    ) -> Self {
        let spread = |figure: fn(&RunResult) -> Option<f64>| {
            Spread::of(results.iter().filter_map(|run| figure(run)))
        };
        let mut statuses = BTreeMap::new();
        let mut endings = BTreeMap::new();
        for run in results {
            *statuses.entry(run.status.clone()).or_default() += 1;
            for (ending, count) in &run.endings {
                *endings.entry(ending.clone()).or_default() += count;
            }
        }
        let runs = results.len() as u64;
        Self {
            variation,
            places,
            runs,
            missing: asked.saturating_sub(runs),
            makespan_ms: spread(|run| Some(run.makespan_ms as f64)),
            utilisation: spread(|run| run.utilisation),
            peak_parallel: spread(|run| Some(run.peak_parallel as f64)),
            queued_ms: spread(|run| Some(run.queued_ms as f64)),
            waiting_ms: spread(|run| Some(run.waiting_ms as f64)),
            active_ms: spread(|run| Some(run.active_ms as f64)),
            model_calls: spread(|run| Some(run.model_calls as f64)),
            input_tokens: spread(|run| run.tokens.input().map(|count| count as f64)),
            output_tokens: spread(|run| run.tokens.completion().map(|count| count as f64)),
            cost: spread(|run| run.cost),
            statuses,
            endings,
            findings: results.iter().map(|run| run.findings).sum(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use vocab::usage::Tokens;

    use super::*;
    use crate::study::plan::Variable;

    /// A study of two variables by hand: three caps, two models, two repeats; the last variation
    /// has one run without a result, the one before it has none at all.
    pub(crate) fn combinations() -> (Vec<Variable>, Vec<Combination>) {
        let variables: Vec<Variable> = [
            "limits.maxParallel=1,4,16",
            "agents[0].modelId=mock/a,mock/b",
        ]
        .map(|text| text.parse().unwrap())
        .into();
        let mut all = Vec::new();
        for (at, cap) in [1_u64, 4, 16].into_iter().enumerate() {
            for model in 0..2 {
                let mut variation = Map::new();
                for (variable, place) in variables.iter().zip([at, model]) {
                    variation.insert(variable.path.to_string(), variable.values[place].clone());
                }
                let runs: Vec<RunResult> = (0..2)
                    .map(|repeat| run(cap, 12_000 / cap.min(8) + 100 * repeat * (model as u64 + 1)))
                    .collect();
                let taken = match (at, model) {
                    (2, 0) => 0,
                    (2, _) => 1,
                    _ => 2,
                };
                let results: Vec<&RunResult> = runs.iter().take(taken).collect();
                all.push(Combination::of(variation, vec![at, model], 2, &results));
            }
        }
        (variables, all)
    }

    fn run(cap: u64, makespan_ms: u64) -> RunResult {
        RunResult {
            run: String::new(),
            variation: Map::new(),
            repeat: 1,
            status: "completed".to_owned(),
            exit_code: 0,
            makespan_ms,
            max_parallel: Some(cap),
            peak_parallel: cap.min(8),
            utilisation: Some(11_000.0 / (makespan_ms * cap) as f64),
            queued_ms: 40_000 / cap,
            waiting_ms: 0,
            active_ms: 11_000,
            model_calls: 40,
            tokens: Tokens {
                uncached_input: Some(1_000),
                cached_input: Some(30_000),
                output: Some(2_000),
                ..Tokens::default()
            },
            cost: (cap > 1).then_some(0.0125),
            endings: [("completed".to_owned(), 7), ("exhausted".to_owned(), 1)].into(),
            findings: 0,
            agents: Vec::new(),
        }
    }

    #[test]
    fn repeats_come_to_medians_and_what_is_missing_is_counted() {
        let (_, all) = combinations();
        assert_eq!(
            all[0].makespan_ms,
            Some(Spread {
                min: 12_000.0,
                median: 12_050.0,
                max: 12_100.0
            })
        );
        assert_eq!(
            (all[4].runs, all[4].missing, all[4].makespan_ms),
            (0, 2, None)
        );
        assert_eq!((all[5].runs, all[5].missing), (1, 1));
        assert_eq!(all[0].endings["completed"], 14);
        assert_eq!(json!(all[0])["inputTokens"]["median"], 31_000.0);
    }

    #[test]
    fn a_median_is_the_middle_or_the_mean_of_the_two_there() {
        let median = |figures: &[f64]| Spread::of(figures.iter().copied()).map(|it| it.median);
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[4.0]), Some(4.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), Some(3.0));
    }

    proptest! {
        #[test]
        fn half_of_the_figures_lie_on_either_side_of_the_median(
            figures in proptest::collection::vec(-1e6_f64..1e6, 1..20),
        ) {
            let spread = Spread::of(figures.iter().copied()).unwrap();
            let below = figures.iter().filter(|it| **it <= spread.median).count();
            let above = figures.iter().filter(|it| **it >= spread.median).count();
            prop_assert!(2 * below >= figures.len() && 2 * above >= figures.len());
            prop_assert!(spread.min <= spread.median && spread.median <= spread.max);
        }
    }
}
