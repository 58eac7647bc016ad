//! Reasoning items: they come back unchanged and in order to whoever made them, and nobody is sent
//! what only another can read (R26).

use serde_json::Value;

use super::super::providers::plain;
use super::super::reply::Said;
use super::super::request::content_text;
use super::calls_of;

/// What replies said, to know it when it comes back.
#[derive(Debug, Default)]
pub(super) struct Memory {
    said: Vec<Said>,
}

impl Memory {
    pub(super) fn remember(&mut self, said: &Said) {
        self.said.push(said.clone());
    }

    /// Holds a request to `provider` (without case and punctuation; empty: nobody in particular)
    /// against what was said.
    pub(super) fn check(
        &self,
        messages: &[Value],
        provider: &str,
        text_too: bool,
        faults: &mut Vec<String>,
    ) {
        for (place, message) in messages.iter().enumerate() {
            if message["role"] != "assistant" {
                continue;
            }
            let back = items(&message["reasoning_details"]);
            for item in back.iter().filter(|item| is_sealed(item)) {
                if let Some(maker) = self.stranger(item, provider) {
                    faults.push(format!(
                        "message {place}: {provider} is sent a sealed reasoning item of {maker}"
                    ));
                }
            }
            let Some(said) = self.only(message) else {
                continue;
            };
            let mine = is_own(said, provider);
            let made = said.reasoning_details.as_ref().map_or(&[][..], items);
            let due: Vec<&Value> = made.iter().filter(|it| mine || !is_sealed(it)).collect();
            if back.iter().collect::<Vec<_>>() != due {
                faults.push(format!(
                    "message {place}: its reasoning items did not come back as they were sent"
                ));
            }
            let text = message.get("reasoning").and_then(Value::as_str);
            if text.is_some() && text != said.reasoning.as_deref() {
                faults.push(format!("message {place}: its reasoning text was changed"));
            }
            if text_too && made.is_empty() && text.is_none() && said.reasoning.is_some() {
                faults.push(format!("message {place}: its reasoning text is missing"));
            }
        }
    }

    /// The one reply that a message can be; one that was said twice alike cannot be told from its
    /// twin.
    fn only(&self, message: &Value) -> Option<&Said> {
        let calls: Vec<&str> = calls_of(message).iter().map(|(id, _)| *id).collect();
        let text = content_text(&message["content"]);
        let mut matching = self.said.iter().filter(|said| {
            if calls.is_empty() {
                said.calls.is_empty() && said.text == text
            } else {
                said.calls == calls
            }
        });
        matching.next().filter(|_| matching.next().is_none())
    }

    /// Who made an item, where `provider` did not.
    fn stranger(&self, item: &Value, provider: &str) -> Option<&str> {
        let made_it = |said: &&Said| {
            said.reasoning_details
                .as_ref()
                .is_some_and(|made| items(made).contains(item))
        };
        let makers = || self.said.iter().filter(made_it);
        if makers().any(|said| is_own(said, provider)) {
            return None;
        }
        makers().find_map(|said| said.maker.as_deref())
    }
}

fn is_own(said: &Said, provider: &str) -> bool {
    let maker = said.maker.as_deref();
    provider.is_empty() || maker.is_none_or(|maker| plain(maker) == provider)
}

/// Whether only its maker can read an item.
fn is_sealed(item: &Value) -> bool {
    item["type"] == "reasoning.encrypted"
        || ["signature", "data"]
            .iter()
            .any(|field| item[field].as_str().is_some_and(|text| !text.is_empty()))
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}
