//! One agent's window as the model saw it at one turn: by band, and what each item has cost; where
//! it is asked for, what each item says.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use vocab::figures::grouped;

use anyhow::Context as _;
use record::analysis::{Analysis, Own, ProgramRun, WindowView};
use vocab::band::Band;
use vocab::ids::AgentId;

use super::{dollars, programs, share};
use crate::page::{columns, glimpse, lines, one_line, plural};

/// Characters shown of a message.
const GLIMPSE: usize = 60;

/// The page. Without an agent the first one is meant, without a turn its last. `whole` says
/// whether the items' texts follow.
pub(crate) fn render(
    analysis: &Analysis,
    agent: Option<&str>,
    turn: Option<u32>,
    whole: bool,
) -> anyhow::Result<String> {
    let first = || analysis.agents.iter().next().map(|it| it.id.clone());
    let id = agent
        .map(AgentId::from)
        .or_else(first)
        .context("the stream holds no agent")?;
    if analysis.agents.get(&id).is_none() {
        let known: Vec<_> = analysis.agents.iter().map(|it| it.id.to_string()).collect();
        let known = match known.len() {
            0 => "no agent".to_owned(),
            _ => one_line(&known.join(", ")).into_owned(),
        };
        anyhow::bail!("there is no agent `{id}`; the stream holds {known}");
    }
    let (first, last) = analysis
        .spend
        .turns(&id)
        .with_context(|| format!("agent `{id}` sent no request"))?;
    let turn = turn.unwrap_or(last);
    let view = analysis.spend.window(&id, turn).with_context(|| {
        format!("agent `{id}` sent no request in turn {turn}; it did from {first} to {last}")
    })?;
    let mut page = page(&id, &view);
    let runs = || analysis.programs.runs(&id);
    page.push_str(&programs::of_turn(
        runs().filter(|run| run.turn == Some(turn)),
    ));
    if whole {
        let runs: HashMap<_, _> = runs().map(|run| (run.call.as_str(), run)).collect();
        let texts = view.messages.iter().enumerate();
        page.extend(texts.map(|it| text(it, &runs)));
    }
    Ok(page)
}

fn page(agent: &AgentId, view: &WindowView) -> String {
    let sizes = view.messages.iter().map(|it| it.message.tokens);
    let estimated = sizes.fold(0, u64::saturating_add);
    let mut text = format!(
        "Window of {} at turn {}: {}, {} as estimated",
        one_line(agent.as_str()),
        view.turn,
        plural(view.messages.len() as u64, "message"),
        plural(estimated, "token")
    );
    if let Some(input) = view.input {
        write!(text, ", {} as reported", grouped(input)).expect("a string takes any text");
    }
    if view.cost.is_some() {
        let cost = dollars(view.cost);
        write!(text, ", {cost} for the call").expect("a string takes any text");
    }
    text.push('\n');
    if let Some(fullness) = &view.fullness {
        writeln!(
            text,
            "{} of {} of the window as gg counts it: with the tool schemas, without the signal",
            grouped(fullness.total),
            plural(fullness.window_limit, "token")
        )
        .expect("a string takes any text");
    }
    if view.undescribed > 0 {
        let messages = plural(view.undescribed as u64, "message");
        writeln!(
            text,
            "The stream describes {messages} of the request nowhere"
        )
        .expect("a string takes any text");
    }

    if view.unpriced > 0 {
        let requests = plural(view.unpriced as u64, "request");
        writeln!(
            text,
            "{requests} up to this turn without a price, left out of every cost"
        )
        .expect("a string takes any text");
    }

    text.push_str("\nBands\n");
    let mut rows = vec![cells([
        "band", "items", "tokens", "share", "billed", "cost",
    ])];
    rows.extend(bands(view, estimated));
    text.push_str(&columns(&rows, &[1, 2, 3, 4, 5]));

    text.push_str(
        "\nItems, in order: own size, requests that carried it, tokens and price it was billed so far\n",
    );
    let mut rows = vec![cells([
        "#", "band", "role", "tokens", "requests", "billed", "cost", "what",
    ])];
    rows.extend(view.messages.iter().enumerate().map(item));
    text.push_str(&columns(&rows, &[0, 3, 4, 5, 6]));
    text
}

fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// Sums a band, in the order every page has them; a band nobody knows comes last.
fn bands(view: &WindowView, whole: u64) -> Vec<Vec<String>> {
    let order = |band: &str| {
        let known = Band::ALL.iter().position(|it| it.as_str() == band);
        known.unwrap_or(Band::ALL.len())
    };
    let mut sums: BTreeMap<(usize, &str), (u64, u64, f64, f64)> = BTreeMap::new();
    for own in &view.messages {
        let band = own.band.as_str();
        let sum = sums.entry((order(band), band)).or_default();
        sum.0 += 1;
        sum.1 = sum.1.saturating_add(own.message.tokens);
        sum.2 += own.billed_tokens;
        sum.3 += own.billed_usd;
    }
    let row = |((_, band), (items, tokens, billed, usd)): ((usize, &str), (u64, u64, f64, f64))| {
        vec![
            band.to_owned(),
            grouped(items),
            grouped(tokens),
            share(tokens as f64, whole as f64),
            whole_tokens(billed),
            dollars(Some(usd)),
        ]
    };
    sums.into_iter().map(row).collect()
}

fn item((place, own): (usize, &Own)) -> Vec<String> {
    let message = &own.message;
    let calls: Vec<_> = message
        .tool_calls
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    let mut what = Vec::new();
    if let Some(label) = &message.label {
        what.push(format!("[{}]", glimpse(label, GLIMPSE)));
    }
    if !calls.is_empty() {
        what.push(format!("calls {}", calls.join(", ")));
    }
    if !message.content.is_empty() {
        what.push(glimpse(&message.content, GLIMPSE));
    }
    vec![
        place.to_string(),
        own.band.clone(),
        message.role.clone(),
        grouped(message.tokens),
        grouped(own.requests),
        whole_tokens(own.billed_tokens),
        dollars(Some(own.billed_usd)),
        what.join(" "),
    ]
}

/// An item's text, calls and pictures, under a line that says which it is.
fn text((place, own): (usize, &Own), runs: &HashMap<&str, &ProgramRun>) -> String {
    let message = &own.message;
    let label = message.label.as_deref();
    let label = label.map(|it| format!(" [{}]", one_line(it)));
    let mut text = format!(
        "\n===== {place} {} {}{}\n",
        one_line(&own.band),
        one_line(&message.role),
        label.unwrap_or_default()
    );
    if !message.content.is_empty() {
        text.push_str(&lines(message.content.trim_end_matches('\n')));
    }
    for call in &message.tool_calls {
        let run = runs.get(call.id.as_str()).copied();
        if let Some(program) = programs::submission(call, run) {
            text.push_str(&program);
            continue;
        }
        let (name, arguments) = (one_line(&call.name), one_line(&call.arguments));
        writeln!(text, "-> {name} {arguments}").expect("a string takes any text");
    }
    for picture in &message.images {
        writeln!(
            text,
            "[picture: {}, {}, {}]",
            one_line(&picture.media_type),
            plural(picture.bytes, "byte"),
            plural(picture.tokens, "token")
        )
        .expect("a string takes any text");
    }
    text
}

#[expect(clippy::cast_sign_loss, reason = "a sum of shares of reported counts")]
fn whole_tokens(tokens: f64) -> String {
    grouped(tokens.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = r#"{"type":"session_started","sessionId":"s"}
{"type":"agent_spawned","agentId":"agent-1","profileId":"root","modelId":"a/b"}
{"type":"context_message","agentId":"agent-1","turn":1,"id":"0000000000000001","role":"system","band":"system","tokens":1000,"content":"You work alone.\nThrough tools."}
{"type":"context_message","agentId":"agent-1","turn":1,"id":"0000000000000002","role":"user","band":"user_prompt","tokens":250,"content":"Make it."}
{"type":"prompt","agentId":"agent-1","turn":1,"messages":["0000000000000001","0000000000000002"]}
{"type":"usage","agentId":"agent-1","turn":1,"modelId":"a/b","tokens":{"uncachedInput":1500},"cost":{"actual":0.003,"comparable":null}}
{"type":"context_message","agentId":"agent-1","turn":2,"id":"0000000000000003","role":"assistant","band":"assistant","tokens":50,"content":"","toolCalls":[{"id":"c","name":"read_file","arguments":"{}"}]}
{"type":"context_message","agentId":"agent-1","turn":2,"id":"0000000000000004","role":"tool","band":"file_view","tokens":700,"label":"src/a.rs","content":"fn main() {}"}
{"type":"prompt","agentId":"agent-1","turn":2,"messages":["0000000000000001","0000000000000002","0000000000000003","0000000000000004"]}
{"type":"usage","agentId":"agent-1","turn":2,"modelId":"a/b","tokens":{"uncachedInput":800,"cachedInput":1200},"cost":{"actual":0.002,"comparable":null}}"#;

    fn shown(agent: Option<&str>, turn: Option<u32>) -> anyhow::Result<String> {
        render(
            &Analysis::read(STREAM.as_bytes()).unwrap(),
            agent,
            turn,
            false,
        )
    }

    #[test]
    fn a_window_is_shown_whole_where_that_is_asked_for() {
        let stream = STREAM.replace(
            r#""content":"fn main() {}""#,
            r#""content":"fn main() {\u001b[2J\n\tx\r\n}\n\n","images":[{"mediaType":"image/png","bytes":1,"tokens":255}]"#,
        );
        let analysis = Analysis::read(stream.as_bytes()).unwrap();
        let short = render(&analysis, None, None, false).unwrap();
        let page = render(&analysis, None, None, true).unwrap();
        insta::assert_snapshot!(page.strip_prefix(&short).unwrap());
    }

    #[test]
    fn a_window_reads_as_reviewed() {
        insta::assert_snapshot!(shown(None, None).unwrap());
    }

    #[test]
    fn fullness_is_told_where_the_stream_tells_it() {
        assert!(!shown(None, None).unwrap().contains("as gg counts it"));
        let told = STREAM.replace(
            r#"{"type":"prompt","agentId":"agent-1","turn":2"#,
            concat!(
                r#"{"type":"context_breakdown","agentId":"agent-1","turn":2,"windowLimit":8000,"#,
                r#""total":2600,"bands":{"system":1600}}"#,
                "\n",
                r#"{"type":"prompt","agentId":"agent-1","turn":2"#
            ),
        );
        let page = render(&Analysis::read(told.as_bytes()).unwrap(), None, None, false).unwrap();
        let line = "2,600 of 8,000 tokens of the window as gg counts it: with the tool schemas, \
                    without the signal";
        assert_eq!(page.lines().nth(1), Some(line));
    }

    #[test]
    fn what_is_not_there_is_named_beside_what_is() {
        let refused = |agent, turn| shown(agent, turn).unwrap_err().to_string();
        assert!(refused(Some("agent-9"), None).contains("agent-1"));
        assert!(refused(None, Some(7)).contains("from 1 to 2"));
    }
}
