//! A run's agents over time: a row an agent, children below the agent that started them, its
//! states as bars, a line from the bar of who started it. Above, how many ran and how many queued.
//!
//! An SVG of its own that needs nothing else, readable on light and on dark ground. Rows get lower
//! as agents get more; names that no longer fit are in the tips of the bars.

use std::collections::HashMap;
use std::fmt::Write as _;

use record::analysis::{Life, Lives, Span};
use record::event::AgentState;
use vocab::ids::AgentId;

use super::tree;
use crate::page::{duration, glimpse, plural};
use crate::svg::{self, escaped, line};

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 210.0;
const RIGHT: f64 = 1180.0;
/// Where the counts of running and queued agents stand.
const COUNTS_TOP: f64 = 74.0;
const COUNTS_HEIGHT: f64 = 90.0;
/// Where the rows begin.
const TOP: f64 = 200.0;
/// Rows together are about this high, within what a row may be.
const ROWS: f64 = 1_800.0;
const ROW: (f64, f64) = (3.0, 18.0);
/// The lowest row that has room for a name.
const NAMED: f64 = 8.0;
/// Pixels a name is indented for each agent above.
const INDENT: f64 = 10.0;
/// Levels that are indented; deeper ones stand under the last.
const LEVELS: usize = 8;
/// Characters of a name.
const NAME: usize = 28;
/// Marks of the time axis, about.
const MARKS: f64 = 8.0;

/// The picture of all agents of a run.
pub(crate) fn render(session: &str, lives: &Lives) -> String {
    let rows = tree::rows(lives.agents().collect(), |life| {
        (life.id.clone(), life.parent.clone())
    });
    let height = (ROWS / rows.len().max(1) as f64).clamp(ROW.0, ROW.1);
    let bottom = TOP + height * rows.len() as f64;
    let time = Time::until(lives.makespan_ms());
    let mut svg = head(session, lives, rows.len(), bottom + 24.0);
    time.grid(&mut svg, bottom);
    counts(&mut svg, lives, &time, rows.iter().map(|(_, life)| life));
    let places: HashMap<&AgentId, f64> = rows
        .iter()
        .enumerate()
        .map(|(place, (_, life))| (&life.id, TOP + height * (place as f64 + 0.5)))
        .collect();
    for (place, (depth, life)) in rows.iter().enumerate() {
        let top = TOP + height * place as f64;
        if height >= NAMED {
            name(&mut svg, life, *depth, top, height);
        }
        bars(&mut svg, life, &time, top, height);
        let above = life.parent.as_ref().and_then(|parent| places.get(parent));
        if let Some(from) = above {
            start(&mut svg, time.at(life.spawned_ms()), *from, top, height);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Milliseconds across the picture.
struct Time {
    until: f64,
    step: f64,
}

impl Time {
    /// From zero to some moment, marked in steps of 1, 2 or 5 of some power of ten.
    fn until(ms: u64) -> Self {
        let until = ms.max(1) as f64;
        let rough = until / MARKS;
        let power = 10.0_f64.powf(rough.log10().floor());
        let factors = [1.0, 2.0, 5.0];
        let factor = factors.into_iter().find(|it| it * power >= rough);
        Self {
            until,
            step: factor.unwrap_or(10.0) * power,
        }
    }

    fn at(&self, ms: u64) -> f64 {
        self.place(ms as f64)
    }

    fn place(&self, ms: f64) -> f64 {
        LEFT + ms / self.until * (RIGHT - LEFT)
    }

    fn grid(&self, svg: &mut String, bottom: f64) {
        let mut mark = 0.0;
        while mark <= self.until {
            let x = self.place(mark);
            line(
                svg,
                format_args!(
                    "<path class=\"grid\" d=\"M{x:.1} {COUNTS_TOP}V{bottom:.1}\"/>\
                     <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    TOP - 12.0,
                    duration(mark),
                ),
            );
            mark += self.step;
        }
    }
}

/// How many agents ran, and how many more queued, over time; the cap as a line.
fn counts<'a>(
    svg: &mut String,
    lives: &Lives,
    time: &Time,
    agents: impl Iterator<Item = &'a Life>,
) {
    let mut steps: Vec<(u64, i64, i64)> = Vec::new();
    for span in agents.flat_map(|life| &life.spans) {
        let (running, queued) = match span.state {
            AgentState::Running => (1, 0),
            AgentState::Queued => (0, 1),
            AgentState::Blocked | AgentState::Done | AgentState::Failed => continue,
        };
        steps.push((span.from_ms, running, queued));
        steps.push((span.to_ms, -running, -queued));
    }
    steps.sort_unstable();
    // What happens at one moment is one step: an agent that leaves and one that comes are no dip.
    let (mut running, mut queued) = (0, 0);
    let mut levels: Vec<(u64, i64, i64)> = vec![(0, 0, 0)];
    for (at, more_running, more_queued) in steps {
        running += more_running;
        queued += more_queued;
        match levels.last_mut() {
            Some(level) if level.0 == at => *level = (at, running, queued),
            _ => levels.push((at, running, queued)),
        }
    }
    let most = levels
        .iter()
        .map(|(_, running, queued)| running + queued)
        .max()
        .unwrap_or(0)
        .max(1) as f64;
    let base = COUNTS_TOP + COUNTS_HEIGHT;
    let up = |count: i64| base - count as f64 / most * COUNTS_HEIGHT;
    let area = |level: &dyn Fn(&(u64, i64, i64)) -> i64| {
        let mut way = format!("M{LEFT:.1} {base:.1}");
        for step in &levels {
            write!(way, "H{:.1}V{:.1}", time.at(step.0), up(level(step)))
                .expect("a string takes any text");
        }
        way + &format!("V{base:.1}Z")
    };
    let both = area(&|(_, running, queued)| running + queued);
    let ran = area(&|(_, running, _)| *running);
    line(
        svg,
        format_args!(
            "<path class=\"queued\" d=\"{both}\"/><path class=\"running\" d=\"{ran}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">agents: {most}</text>",
            LEFT - 8.0,
            COUNTS_TOP + 10.0,
        ),
    );
    if let Some(cap) = lives.cap().filter(|cap| *cap as f64 <= most) {
        let y = up(i64::try_from(cap).unwrap_or(i64::MAX));
        line(
            svg,
            format_args!(
                "<path class=\"cap\" d=\"M{LEFT:.1} {y:.1}H{RIGHT:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">cap: {cap}</text>",
                LEFT - 8.0,
                (y + 4.0).max(COUNTS_TOP + 24.0),
            ),
        );
    }
}

fn name(svg: &mut String, life: &Life, depth: usize, top: f64, height: f64) {
    let x = 10.0 + INDENT * depth.min(LEVELS) as f64;
    let size = (height - 1.0).min(12.0);
    let y = top + height / 2.0 + size * 0.35;
    let profile = life.profile.as_ref().map_or("", |slug| slug.as_str());
    let words = escaped(&glimpse(&format!("{} {profile}", life.id), NAME));
    line(
        svg,
        format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size:.1}\">{words}</text>"),
    );
}

fn bars(svg: &mut String, life: &Life, time: &Time, top: f64, height: f64) {
    let gap = (height * 0.15).min(2.0);
    for span in &life.spans {
        let (x, end) = (time.at(span.from_ms), time.at(span.to_ms));
        line(
            svg,
            format_args!(
                "<rect class=\"{}\" x=\"{x:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\">\
                 <title>{}</title></rect>",
                word(span.state),
                top + gap,
                (end - x).max(0.3),
                height - 2.0 * gap,
                escaped(&tip(life, span)),
            ),
        );
    }
    if let Some((at, ending)) = &life.ended
        && ending != "completed"
    {
        let x = time.at(*at);
        line(
            svg,
            format_args!(
                "<rect class=\"bad\" x=\"{x:.2}\" y=\"{:.2}\" width=\"3\" height=\"{:.2}\">\
                 <title>{}</title></rect>",
                top + gap,
                height - 2.0 * gap,
                escaped(&format!("{} ended as {ending}", life.id)),
            ),
        );
    }
}

/// The line from who started an agent to its row.
fn start(svg: &mut String, x: f64, from: f64, top: f64, height: f64) {
    let to = top + height / 2.0;
    let tip = (height / 3.0).min(3.0);
    line(
        svg,
        format_args!(
            "<path class=\"start\" d=\"M{x:.2} {from:.2}V{to:.2}m{:.2} {:.2}l{tip:.2} {tip:.2}l{tip:.2} {:.2}\"/>",
            -tip, -tip, -tip,
        ),
    );
}

fn tip(life: &Life, span: &Span) -> String {
    let mut words = format!(
        "{} {} for {}, from {}",
        life.id,
        word(span.state),
        duration(span.length_ms() as f64),
        duration(span.from_ms as f64)
    );
    let agents = span.waits_for.iter().map(ToString::to_string);
    let issues = span.issues.iter().map(|issue| format!("issue {issue}"));
    let awaited: Vec<_> = agents.chain(issues).collect();
    if let Some(first) = awaited.first() {
        write!(words, ", on {first}").expect("a string takes any text");
        match awaited.len() {
            1 => {}
            all => write!(words, " and {} more", all - 1).expect("a string takes any text"),
        }
    }
    words
}

const fn word(state: AgentState) -> &'static str {
    match state {
        AgentState::Queued => "queued",
        AgentState::Running => "running",
        AgentState::Blocked => "blocked",
        AgentState::Done | AgentState::Failed => "ended",
    }
}

fn head(session: &str, lives: &Lives, agents: usize, height: f64) -> String {
    let style = "\
         svg { font: 12px system-ui, sans-serif } path { fill: none }\n\
         text { fill: #3a3f47 } .title { font-size: 15px; font-weight: 600 }\n\
         .ground { fill: #ffffff } .grid { stroke: #e2e5e9 } .start { stroke: #9aa1ab; stroke-width: 0.6 }\n\
         .running { fill: #2f7fd1 } .queued { fill: #e5a93c } .blocked { fill: #c3c9d1 } .bad { fill: #c0392b }\n\
         .cap { stroke: #3a3f47; stroke-dasharray: 5 4 }\n\
         @media (prefers-color-scheme: dark) {\n\
         text { fill: #cfd4dc } .ground { fill: #15181d } .grid { stroke: #2c323a } .start { stroke: #6b7280 }\n\
         .blocked { fill: #444c57 } .cap { stroke: #cfd4dc }\n\
         }\n";
    let title = format!(
        "{}: {} over {}",
        glimpse(session, 60),
        plural(agents as u64, "agent"),
        duration(lives.makespan_ms() as f64)
    );
    let mut svg = svg::head((WIDTH, height), style, 10, &title);
    for (place, (class, words)) in [
        ("running", "running: holds a slot"),
        ("queued", "queued: ready, without a slot"),
        ("blocked", "blocked: waits for others"),
        ("bad", "ended otherwise than completed"),
    ]
    .into_iter()
    .enumerate()
    {
        let x = 10.0 + 230.0 * place as f64;
        line(
            &mut svg,
            format_args!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"40\" width=\"12\" height=\"12\"/>\
                 <text x=\"{}\" y=\"50\">{words}</text>",
                x + 18.0
            ),
        );
    }
    svg
}

#[cfg(test)]
pub(crate) mod tests {
    use record::analysis::Analysis;
    use serde_json::{Value, json};

    use super::*;

    /// A line of a stream.
    fn said(ms: u64, agent: &str, kind: &str, fields: &Value) -> String {
        let mut line = json!({
            "type": kind, "sessionId": "fan",
            "ts": format!("2026-01-31T09:08:{:02}.{:03}Z", ms / 1000, ms % 1000),
        });
        if !agent.is_empty() {
            line["agentId"] = json!(agent);
        }
        let fields = fields.as_object().unwrap().clone();
        line.as_object_mut().unwrap().extend(fields);
        line.to_string() + "\n"
    }

    /// A root that starts so many agents at so many slots, each at work for 200 ms, and waits.
    pub(crate) fn fan(workers: u64, cap: u64) -> Analysis {
        let status = |word: &str| json!({ "status": word });
        let done = json!({ "status": "done", "endedAs": "completed" });
        let mut text = said(
            0,
            "",
            "session_started",
            &json!({ "limits": { "maxParallel": cap } }),
        );
        text += &said(1, "root", "agent_spawned", &json!({ "profileId": "lead" }));
        text += &said(2, "root", "agent_status", &status("running"));
        let mut later: Vec<(u64, String)> = Vec::new();
        let mut ids = Vec::new();
        for n in 0..workers {
            let id = format!("agent-{}", n + 1);
            let fields = json!({ "profileId": "worker", "parentId": "root" });
            text += &said(50, &id, "agent_spawned", &fields);
            let begins = 60 + n / cap * 200;
            later.push((
                begins,
                said(begins, &id, "agent_status", &status("running")),
            ));
            let fields = if n == 1 {
                json!({ "status": "failed", "endedAs": "model_error" })
            } else {
                done.clone()
            };
            let ends = begins + 200;
            later.push((ends, said(ends, &id, "agent_status", &fields)));
            ids.push(id);
        }
        let blocked = json!({ "status": "blocked", "waitingOn": { "agents": ids } });
        text += &said(55, "root", "agent_status", &blocked);
        later.sort();
        text.extend(later.iter().map(|(_, line)| line.as_str()));
        let end = 60 + workers.div_ceil(cap) * 200;
        text += &said(end, "root", "agent_status", &status("queued"));
        text += &said(end + 1, "root", "agent_status", &status("running"));
        text += &said(end + 90, "root", "agent_status", &done);
        Analysis::read(text.as_bytes()).unwrap()
    }

    fn count(svg: &str, what: &str) -> usize {
        svg.matches(what).count()
    }

    #[test]
    fn a_fan_reads_as_reviewed() {
        insta::assert_snapshot!(render("fan", &fan(3, 2).lives));
    }

    #[test]
    fn every_agent_of_a_crowd_has_its_bars_and_its_line() {
        let svg = render("fan", &fan(200, 16).lives);
        // One in the key of the colours; the root runs twice.
        assert_eq!(count(&svg, "<rect class=\"running\""), 1 + 200 + 2);
        assert_eq!(count(&svg, "<rect class=\"queued\""), 1 + 200 + 2);
        assert_eq!(count(&svg, "<rect class=\"blocked\""), 1 + 1);
        assert_eq!(count(&svg, "<rect class=\"bad\""), 1 + 1);
        assert_eq!(count(&svg, "class=\"start\""), 200);
        assert!(svg.contains(">agent-200 worker</text>"), "names still fit");
        assert!(svg.contains("on agent-1 and 199 more"));
    }

    #[test]
    fn names_are_texts_and_no_elements() {
        let line = said(
            5,
            "<b>&",
            "agent_spawned",
            &json!({ "profileId": "p", "parentId": "gone" }),
        );
        let lives = Analysis::read(line.as_bytes()).unwrap().lives;
        let svg = render("</svg>", &lives);
        assert!(!svg.contains("<b>"), "{svg}");
        assert_eq!(count(&svg, "</svg>"), 1);
    }

    #[test]
    fn a_stream_without_agents_is_an_empty_picture() {
        let svg = render("none", &Lives::default());
        assert!(svg.ends_with("</svg>\n"));
        assert_eq!(count(&svg, "class=\"start\""), 0);
    }
}
