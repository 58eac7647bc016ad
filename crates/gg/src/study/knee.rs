//! Where more stops to help: the least of a rising value's settings whose makespan is all but the
//! shortest.
//!
//! Of a parallelism cap the arithmetic says where that is: agents come in waves of as many as the
//! cap, so that the makespan falls with the number of waves, and from the cap on that lets all of
//! them run at once it stays.

use serde::Serialize;
use serde_json::{Map, Value};

use super::combine::Combination;
use super::plan::Variable;

/// A makespan counts as the shortest up to this much more: what two runs of one launch differ by.
const WITHIN: f64 = 1.05;

/// The knee of one line of the picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Knee {
    /// The other varied values, by path: which line it is of.
    pub(crate) others: Map<String, Value>,
    /// The first varied value, at the knee.
    pub(crate) value: Value,
    /// The median makespan there.
    pub(crate) makespan_ms: f64,
    /// The place of the value among those of its variable.
    #[serde(skip)]
    pub(crate) place: usize,
}

/// A value of the first variable, the makespan there, and what it is of.
type Point<'a> = (f64, f64, &'a Combination);

/// The knee of every line that has one: the first variable's values are numbers, and the makespan
/// falls up to some of them and no further. Whose makespan still falls at the last value has none.
pub(crate) fn knees(variables: &[Variable], combinations: &[Combination]) -> Vec<Knee> {
    let Some(first) = variables.first() else {
        return Vec::new();
    };
    let mut lines: Vec<(&[usize], Vec<Point<'_>>)> = Vec::new();
    for combination in combinations {
        let Some((place, key)) = combination.places.split_first() else {
            continue;
        };
        let number = first.values.get(*place).and_then(Value::as_f64);
        let makespan = combination.makespan_ms.map(|spread| spread.median);
        let Some((number, makespan)) = number.zip(makespan) else {
            continue;
        };
        let point = (number, makespan, combination);
        match lines.iter_mut().find(|(own, _)| *own == key) {
            Some((_, points)) => points.push(point),
            None => lines.push((key, vec![point])),
        }
    }
    lines
        .into_iter()
        .filter_map(|(_, points)| knee(points, first))
        .collect()
}

fn knee(mut points: Vec<Point<'_>>, first: &Variable) -> Option<Knee> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shortest = points.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
    let at = points.iter().position(|it| it.1 <= shortest * WITHIN)?;
    // At the first value nothing has fallen yet, and past the last it may fall on.
    if at == 0 || at + 1 == points.len() {
        return None;
    }
    let (_, makespan_ms, combination) = points[at];
    let place = *combination.places.first()?;
    let mut others = combination.variation.clone();
    others.shift_remove(&first.path.to_string());
    Some(Knee {
        others,
        value: first.values.get(place)?.clone(),
        makespan_ms,
        place,
    })
}

#[cfg(test)]
mod tests {
    use super::super::combine::Spread;
    use super::*;

    /// A study of caps; the makespan of each is given.
    fn study(caps: &[u64], makespan: impl Fn(u64) -> u64) -> Vec<Knee> {
        let values: Vec<String> = caps.iter().map(ToString::to_string).collect();
        let variable: Variable = format!("limits.maxParallel={}", values.join(","))
            .parse()
            .unwrap();
        let combinations: Vec<Combination> = caps
            .iter()
            .enumerate()
            .map(|(place, cap)| {
                let mut variation = Map::new();
                variation.insert("limits.maxParallel".to_owned(), (*cap).into());
                let mut combination = Combination::of(variation, vec![place], 1, &[]);
                combination.makespan_ms = Spread::of([makespan(*cap) as f64]);
                combination
            })
            .collect();
        knees(&[variable], &combinations)
    }

    const CAPS: [u64; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

    #[test]
    fn the_knee_of_a_fan_is_where_all_run_in_one_wave() {
        for (agents, knee) in [(24, 24), (16, 16), (12, 12), (7, 8), (2, 2)] {
            let found = study(&CAPS, |cap| {
                let waves = u64::div_ceil(agents, cap);
                waves * 150 + 40
            });
            assert_eq!(found.len(), 1, "{agents}");
            assert_eq!(found[0].value, knee, "{agents}");
        }
    }

    #[test]
    fn what_still_falls_and_what_never_fell_has_none() {
        assert_eq!(study(&CAPS, |cap| 10_000 / cap), []);
        assert_eq!(study(&CAPS, |_| 100), []);
        assert_eq!(study(&[4], |_| 100), []);
    }

    #[test]
    fn the_order_of_the_values_does_not_matter() {
        let found = study(&[32, 1, 8, 24, 2], |cap| u64::div_ceil(24, cap) * 100);
        assert_eq!((&found[0].value, found[0].place), (&24.into(), 3));
    }

    #[test]
    fn each_line_has_its_own() {
        let (variables, all) = super::super::combine::tests::combinations();
        for knee in knees(&variables, &all) {
            assert_eq!(knee.others.len(), 1, "{knee:?}");
        }
    }
}
