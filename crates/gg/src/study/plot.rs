//! A study as a picture: makespan and utilisation of the cap over the first varied value, one line
//! for each combination of the others, medians with whiskers from the least to the most;
//! a dotted line where more stops to help.
//!
//! An SVG of its own that needs nothing else, and is readable on light and on dark ground: it takes
//! its colours from what its reader prefers.

mod axis;

use std::fmt::Write as _;

use axis::{Across, Up};

use super::combine::{Combination, Spread};
use super::knee::Knee;
use super::plan::{Variable, short, shown};
use super::table::duration;
use crate::page::glimpse;
use crate::svg::{escaped, line};

const WIDTH: f64 = 820.0;
/// Where the panels stand from left to right.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 796.0;
/// Where a panel's frame stands within its height.
const TOP: f64 = 44.0;
const PANEL: f64 = 240.0;
/// From the top of one panel to that of the next.
const STEP: f64 = 300.0;
/// Height of a line of the legend.
const LINE: f64 = 20.0;
/// Characters of a series' name.
const NAME: usize = 90;
/// Pixels between two series at one value, so that their whiskers stand beside each other.
const BESIDE: f64 = 5.0;

/// Told apart without red and green alone, and seen on white as on near black.
const COLOURS: [&str; 7] = [
    "#2f7fd1", "#d9730d", "#1f9d74", "#b35fc4", "#c94f4f", "#8a8f1d", "#5f7f95",
];
/// Of the second and later rounds through the colours.
const DASHES: [&str; 4] = ["", "7 4", "2 3", "10 3 2 3"];

/// One line of the picture.
struct Series<'a> {
    name: String,
    /// By the places of the other variables' values.
    key: &'a [usize],
    points: Vec<&'a Combination>,
}

/// The picture. `variables` has at least one.
pub(crate) fn render(
    title: &str,
    variables: &[Variable],
    combinations: &[Combination],
    knees: &[Knee],
) -> String {
    let Some(first) = variables.first() else {
        return String::new();
    };
    let across = Across::over(&first.values, LEFT, RIGHT);
    let series = series(variables, combinations, &across);
    let legend = if series.len() > 1 { series.len() } else { 0 };
    let height = 2.0 * STEP + 50.0 + legend as f64 * LINE;
    let mut svg = head(title, height);

    let most = |spreads: &mut dyn Iterator<Item = Spread>| {
        spreads.map(|it| it.max).fold(0.0_f64, f64::max)
    };
    let longest = most(&mut combinations.iter().filter_map(|it| it.makespan_ms));
    let fullest = most(&mut combinations.iter().filter_map(|it| it.utilisation));
    let (unit, divisor) = match longest {
        ms if ms < 2_000.0 => ("ms", 1.0),
        ms if ms < 600_000.0 => ("s", 1e3),
        _ => ("min", 6e4),
    };
    let panels = [
        Panel {
            label: format!("makespan ({unit})"),
            top: TOP,
            up: Up::to(longest / divisor, TOP, PANEL),
            figure: |it| it.makespan_ms,
            divisor,
            say: duration,
        },
        Panel {
            label: "utilisation of the cap (%)".to_owned(),
            top: TOP + STEP,
            up: Up::to(fullest.max(1.0) * 100.0, TOP + STEP, PANEL),
            figure: |it| it.utilisation,
            divisor: 0.01,
            say: |share| format!("{:.1}%", share * 100.0),
        },
    ];
    for panel in &panels {
        panel.draw(&mut svg, &across, &series, variables);
        for knee in knees {
            let x = across.at(knee.place);
            line(
                &mut svg,
                format_args!(
                    "<path class=\"axis\" stroke-dasharray=\"2 4\" d=\"M{x:.1} {:.1}v{PANEL:.1}\">\
                     <title>the knee: {}</title></path>",
                    panel.top,
                    escaped(&shown(&knee.value)),
                ),
            );
        }
    }
    let below = 2.0 * STEP + 24.0;
    line(
        &mut svg,
        format_args!(
            "<text class=\"label\" x=\"{:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(LEFT, RIGHT),
            escaped(&format!("{}{}", first.path, across.remark())),
        ),
    );
    for (at, series) in series.iter().enumerate().take(legend) {
        let y = below + 12.0 + LINE * (at + 1) as f64;
        let (colour, dashes) = look(at);
        line(
            &mut svg,
            format_args!(
                "<path d=\"M{:.1} {:.1}h28\" stroke=\"{colour}\" stroke-dasharray=\"{dashes}\"/>\
                 <circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                LEFT,
                y - 4.0,
                LEFT + 14.0,
                y - 4.0,
                LEFT + 38.0,
                escaped(&series.name),
            ),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// The combinations in lines, each over the values of the first variable in their order.
fn series<'a>(
    variables: &[Variable],
    combinations: &'a [Combination],
    across: &Across,
) -> Vec<Series<'a>> {
    let mut all: Vec<Series<'a>> = Vec::new();
    for combination in combinations {
        let Some((_, key)) = combination.places.split_first() else {
            continue;
        };
        if let Some(series) = all.iter_mut().find(|it| it.key == key) {
            series.points.push(combination);
            continue;
        }
        let values = combination.variation.values().enumerate().skip(1);
        let parts: Vec<String> = values
            .map(|(at, value)| format!("{} = {}", short(variables, at), shown(value)))
            .collect();
        all.push(Series {
            name: glimpse(&parts.join(", "), NAME),
            key,
            points: vec![combination],
        });
    }
    for series in &mut all {
        // From left to right, in whatever order the values were given.
        let x = |it: &Combination| across.at(it.places[0]);
        series.points.sort_by(|a, b| x(a).total_cmp(&x(b)));
    }
    all
}

/// One of the two pictures.
struct Panel {
    label: String,
    top: f64,
    up: Up,
    figure: fn(&Combination) -> Option<Spread>,
    /// What the figure is divided by to stand in the axis's unit.
    divisor: f64,
    say: fn(f64) -> String,
}

impl Panel {
    fn draw(&self, svg: &mut String, across: &Across, all: &[Series<'_>], variables: &[Variable]) {
        let bottom = self.top + PANEL;
        for (y, label) in self.up.ticks() {
            line(
                svg,
                format_args!(
                    "<path class=\"grid\" d=\"M{LEFT:.1} {y:.1}H{RIGHT:.1}\"/>\
                     <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                    LEFT - 8.0,
                    y + 4.0,
                ),
            );
        }
        for (x, label) in across.ticks() {
            line(
                svg,
                format_args!(
                    "<path class=\"axis\" d=\"M{x:.1} {bottom:.1}v5\"/>\
                     <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    bottom + 20.0,
                    escaped(&label),
                ),
            );
        }
        line(
            svg,
            format_args!(
                "<path class=\"axis\" d=\"M{LEFT:.1} {:.1}V{bottom:.1}H{RIGHT:.1}\"/>\
                 <text class=\"label\" transform=\"translate({:.1} {:.1}) rotate(-90)\" \
                 text-anchor=\"middle\">{}</text>",
                self.top,
                22.0,
                self.top + PANEL / 2.0,
                escaped(&self.label),
            ),
        );
        for (at, series) in all.iter().enumerate() {
            let beside = (at as f64 - (all.len() as f64 - 1.0) / 2.0) * BESIDE;
            // Many series would walk into the next value's room.
            let beside = beside.clamp(-20.0, 20.0);
            self.draw_series(svg, across, series, look(at), beside, variables);
        }
    }

    fn draw_series(
        &self,
        svg: &mut String,
        across: &Across,
        series: &Series<'_>,
        (colour, dashes): (&str, &str),
        beside: f64,
        variables: &[Variable],
    ) {
        let y = |figure: f64| self.up.at(figure / self.divisor);
        let mut way = String::new();
        let mut joins = false;
        let mut marks = String::new();
        for point in &series.points {
            let Some(spread) = (self.figure)(point) else {
                // A value without a result leaves a gap.
                joins = false;
                continue;
            };
            let place = point.places[0];
            let (x, middle) = (across.at(place) + beside, y(spread.median));
            let step = if joins { 'L' } else { 'M' };
            write!(way, "{step}{x:.1} {middle:.1}").expect("a string takes any text");
            joins = true;
            let mut said = format!(
                "{} = {}",
                short(variables, 0),
                shown(&variables[0].values[place])
            );
            if !series.name.is_empty() {
                said = format!("{said}, {}", series.name);
            }
            let [median, min, max] = [spread.median, spread.min, spread.max].map(self.say);
            let said = format!("{said}: median {median}, {min} to {max}");
            let (low, high) = (y(spread.min), y(spread.max));
            write!(marks, "<g><title>{}</title>", escaped(&said)).expect("a string takes any text");
            if low - high > 0.5 {
                write!(
                    marks,
                    "<path d=\"M{x:.1} {low:.1}V{high:.1}m-4 0h8M{:.1} {low:.1}h8\" stroke=\"{colour}\"/>",
                    x - 4.0,
                )
                .expect("a string takes any text");
            }
            write!(
                marks,
                "<circle cx=\"{x:.1}\" cy=\"{middle:.1}\" r=\"4\" fill=\"{colour}\"/></g>"
            )
            .expect("a string takes any text");
        }
        if !way.is_empty() {
            line(
                svg,
                format_args!(
                    "<path d=\"{way}\" class=\"series\" stroke=\"{colour}\" \
                     stroke-dasharray=\"{dashes}\"/>"
                ),
            );
            line(svg, format_args!("{marks}"));
        }
    }
}

fn look(at: usize) -> (&'static str, &'static str) {
    let round = at / COLOURS.len();
    (COLOURS[at % COLOURS.len()], DASHES[round % DASHES.len()])
}

fn head(title: &str, height: f64) -> String {
    let mut svg = String::new();
    line(
        &mut svg,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" role=\"img\">"
        ),
    );
    svg.push_str(
        "<style>\n\
         svg { font: 13px system-ui, sans-serif }\n\
         path { fill: none; stroke-width: 1.5 } .series { stroke-width: 2 }\n\
         text { fill: #3a3f47 } .title { font-size: 15px; font-weight: 600 } .label { font-size: 14px }\n\
         .ground { fill: #ffffff } .grid { stroke: #e2e5e9; stroke-width: 1 } .axis { stroke: #6b7280 }\n\
         @media (prefers-color-scheme: dark) {\n\
         text { fill: #cfd4dc } .ground { fill: #15181d } .grid { stroke: #2c323a } .axis { stroke: #8b93a0 }\n\
         }\n\
         </style>\n",
    );
    let title = escaped(&glimpse(title, 100));
    line(
        &mut svg,
        format_args!(
            "<title>{title}</title>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n\
             <text class=\"title\" x=\"{LEFT:.1}\" y=\"26\">{title}</text>"
        ),
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::super::combine::tests::combinations;
    use super::*;

    /// Panics where tags are not closed in order.
    fn check_tags(svg: &str) {
        let mut open = Vec::new();
        for tag in svg.split('<').skip(1) {
            let (tag, _) = tag.split_once('>').expect("a tag has an end");
            let name = tag.split_whitespace().next().unwrap();
            if let Some(name) = name.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "in {svg}");
            } else if !tag.ends_with('/') {
                open.push(name);
            }
        }
        assert_eq!(open, Vec::<&str>::new());
    }

    /// Every number behind an attribute's name.
    fn figures(svg: &str, attribute: &str) -> Vec<f64> {
        let needle = format!(" {attribute}=\"");
        svg.split(&needle)
            .skip(1)
            .filter_map(|part| part.split('"').next()?.parse().ok())
            .collect()
    }

    #[test]
    fn every_result_is_a_point_of_both_panels_within_the_picture() {
        let (variables, combinations) = combinations();
        let svg = render("a study", &variables, &combinations, &[]);
        check_tags(&svg);
        let with_result = combinations.iter().filter(|it| it.runs > 0).count();
        assert_eq!(svg.matches("<g><title>").count(), 2 * with_result);
        let (xs, ys) = (figures(&svg, "cx"), figures(&svg, "cy"));
        let height = figures(&svg, "height")[0];
        assert!(
            xs.iter().all(|x| (LEFT - 20.0..=RIGHT + 20.0).contains(x)),
            "{xs:?}"
        );
        assert!(ys.iter().all(|y| (TOP..height).contains(y)), "{ys:?}");
    }

    #[test]
    fn axes_have_their_units_and_a_longer_makespan_stands_higher() {
        let (variables, combinations) = combinations();
        let svg = render("a study", &variables, &combinations, &[]);
        for said in [
            "makespan (s)",
            "utilisation of the cap (%)",
            "limits.maxParallel",
            "prefers-color-scheme: dark",
        ] {
            assert!(svg.contains(said), "{said}");
        }
        let ys = figures(&svg, "cy");
        // Of the first series: four slots are faster than one.
        assert!(ys[0] < ys[1], "{ys:?}");
    }

    #[test]
    fn words_that_mean_something_to_xml_are_text() {
        let (mut variables, mut combinations) = combinations();
        let odd = serde_json::json!("a<b>&\"c\u{1}");
        variables[1].values[0] = odd.clone();
        for combination in &mut combinations {
            let value = combination.variation.values_mut().nth(1).unwrap();
            if combination.places[1] == 0 {
                *value = odd.clone();
            }
        }
        let svg = render("<&>", &variables, &combinations, &[]);
        check_tags(&svg);
        assert!(svg.contains("a&lt;b&gt;&amp;&quot;c"), "{svg}");
    }

    #[test]
    fn a_study_without_a_result_is_two_empty_panels() {
        let (variables, _) = combinations();
        let svg = render("a study", &variables, &[], &[]);
        check_tags(&svg);
        assert_eq!(svg.matches("<circle").count(), 0);
    }
}
