//! The first request: its size, and what two runs of one configuration have in common of it.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::contestant::{Ground, Output, finish, gateway, gg};
use super::table::Row;

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    tools: &'a RawValue,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
}

/// Looks at the first requests of two runs in two folders.
pub(super) fn measure() -> Result<Vec<Row>> {
    let (one, other) = (first_body()?, first_body()?);
    let (one_opening, other_opening) = (opening(&one)?, opening(&other)?);
    let common = one_opening
        .bytes()
        .zip(other_opening.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let longest = one_opening.len().max(other_opening.len());
    let share = 100.0 * common as f64 / longest as f64;
    Ok(vec![
        Row {
            figure: "first request, every tool on".to_owned(),
            unit: "bytes",
            gg: one.len() as f64,
            floor: None,
            goal: "≤ 8 KB".to_owned(),
            met: Some(one.len() <= 8 * 1024),
        },
        Row {
            figure: format!("of the {longest} bytes before the task, common to two runs"),
            unit: "%",
            gg: share,
            floor: None,
            goal: "all".to_owned(),
            met: Some(common == longest),
        },
    ])
}

fn first_body() -> Result<Vec<u8>> {
    let ground = Ground::new()?;
    let gateway = gateway(1);
    let (child, _) = gg(&ground, &gateway, Output::Kept)?;
    finish(child, &ground)?;
    Ok(gateway.seen().first_body)
}

/// What a provider reads before the task: the tools, then the messages up to the first from the
/// user.
fn opening(body: &[u8]) -> Result<String> {
    let body: Body<'_> = serde_json::from_slice(body).context("a request is not readable")?;
    let mut opening = body.tools.get().to_owned();
    for message in body.messages {
        let role: Message = serde_json::from_str(message.get())?;
        if role.role == "user" {
            break;
        }
        opening.push_str(message.get());
    }
    Ok(opening)
}
