//! Where a value stands on an axis, and which values are written beside it.

use serde_json::Value;

use crate::page::glimpse;
use crate::study::plan::shown;

/// Values that are written below the axis; of more, every second, third, … is.
const MOST_TICKS: usize = 16;
/// Characters of a value below the axis.
const LABEL: usize = 18;

/// The axis of the first varied value.
pub(super) struct Across {
    places: Vec<f64>,
    labels: Vec<String>,
    is_logarithmic: bool,
}

impl Across {
    /// Numbers stand where their size puts them, on a scale of doublings where they span three of
    /// them; anything else stands in its order, evenly.
    pub(super) fn over(values: &[Value], left: f64, right: f64) -> Self {
        let numbers: Option<Vec<f64>> = values.iter().map(Value::as_f64).collect();
        let (marks, is_logarithmic) = match numbers {
            Some(numbers) => {
                let (least, most) = bounds(&numbers);
                if least > 0.0 && most / least >= 8.0 {
                    (numbers.iter().map(|it| it.log2()).collect(), true)
                } else {
                    (numbers, false)
                }
            }
            None => ((0..values.len()).map(|at| at as f64).collect(), false),
        };
        let (least, most) = bounds(&marks);
        let room = (right - left) * 0.06;
        let (left, right) = (left + room, right - room);
        let place = |mark: &f64| {
            if most > least {
                left + (mark - least) / (most - least) * (right - left)
            } else {
                f64::midpoint(left, right)
            }
        };
        Self {
            places: marks.iter().map(place).collect(),
            labels: values
                .iter()
                .map(|value| glimpse(&shown(value), LABEL))
                .collect(),
            is_logarithmic,
        }
    }

    /// Where the value at a place of the list stands.
    pub(super) fn at(&self, place: usize) -> f64 {
        self.places[place]
    }

    /// What is written, and where.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let every = self.places.len().div_ceil(MOST_TICKS).max(1);
        let all = self.places.iter().copied().zip(self.labels.iter().cloned());
        all.step_by(every)
    }

    /// What has to be said behind the axis's name.
    pub(super) const fn remark(&self) -> &'static str {
        if self.is_logarithmic {
            " (logarithmic)"
        } else {
            ""
        }
    }
}

fn bounds(figures: &[f64]) -> (f64, f64) {
    let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let most = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (least, most)
}

/// An axis from zero upwards.
pub(super) struct Up {
    step: f64,
    steps: usize,
    top: f64,
    height: f64,
}

/// Steps an axis has about.
const STEPS: f64 = 5.0;

impl Up {
    /// Reaches at least as far as `most`, in steps of 1, 2 or 5 of some power of ten.
    #[expect(clippy::cast_sign_loss, reason = "a quotient of figures above zero")]
    pub(super) fn to(most: f64, top: f64, height: f64) -> Self {
        let most = if most > 0.0 && most.is_finite() {
            most
        } else {
            1.0
        };
        let rough = most / STEPS;
        let power = 10.0_f64.powf(rough.log10().floor());
        let factors = [1.0, 2.0, 5.0, 10.0];
        // The division's last digit must not cost a step.
        let fits = |factor: &&f64| **factor * power >= rough * (1.0 - 1e-9);
        let factor = factors.iter().find(fits).unwrap_or(&10.0);
        let step = factor * power;
        Self {
            step,
            steps: ((most / step) * (1.0 - 1e-9)).ceil().max(1.0) as usize,
            top,
            height,
        }
    }

    /// Where a figure stands.
    pub(super) fn at(&self, figure: f64) -> f64 {
        let whole = self.step * self.steps as f64;
        self.top + self.height * (1.0 - figure / whole)
    }

    /// What is written, and where.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        #[expect(clippy::cast_sign_loss, reason = "it is at least zero")]
        let digits = (-self.step.log10().floor()).max(0.0) as usize;
        (0..=self.steps).map(move |at| {
            let figure = self.step * at as f64;
            (self.at(figure), format!("{figure:.digits$}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn labels(most: f64) -> Vec<String> {
        Up::to(most, 0.0, 100.0)
            .ticks()
            .map(|tick| tick.1)
            .collect()
    }

    #[test]
    fn steps_are_round_and_reach_the_most() {
        assert_eq!(labels(100.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(7.3), ["0", "2", "4", "6", "8"]);
        assert_eq!(labels(0.31), ["0.0", "0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(labels(0.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn doublings_stand_evenly_and_other_numbers_by_their_size() {
        let places = |values: &[Value]| {
            let across = Across::over(values, 0.0, 100.0);
            (0..values.len())
                .map(|at| across.at(at).round())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            places(&[json!(1), json!(2), json!(4), json!(8)]),
            [6.0, 35.0, 65.0, 94.0]
        );
        assert_eq!(places(&[json!(0), json!(10), json!(40)]), [6.0, 28.0, 94.0]);
        assert_eq!(
            places(&[json!("a"), json!(4), json!("b")]),
            [6.0, 50.0, 94.0]
        );
        assert_eq!(places(&[json!(5)]), [50.0]);
    }

    proptest! {
        #[test]
        fn no_figure_leaves_its_panel(most in 1e-3_f64..1e9, share in 0.0_f64..=1.0) {
            let up = Up::to(most, 10.0, 200.0);
            let y = up.at(most * share);
            prop_assert!((10.0 - 1e-6..=210.0 + 1e-6).contains(&y), "{y}");
            let ticks = up.ticks().count();
            prop_assert!((2..=11).contains(&ticks), "{ticks}");
        }
    }
}
