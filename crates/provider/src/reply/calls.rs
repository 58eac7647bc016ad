//! Tool calls, put together from pieces and settled.
//!
//! Servers differ in how they say which call a piece belongs to: by index, by id on every piece,
//! by id on the first piece only, or not at all. [`Calls::add`] finds the call; what it cannot
//! find opens a new one.
//!
//! Always true: the arguments of a settled call are JSON (R42).

use std::sync::Arc;

use serde::de::IgnoredAny;
use vocab::ids::CallId;
use vocab::message::ToolCall;

use super::chunk::{self, CallDelta};
use super::text::Text;

/// Calls of one reply that are taken at most.
const MOST_CALLS: usize = 1024;

#[derive(Clone, Debug, Default)]
struct Partial {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: Text,
    /// The delta that touched it last, so that two entries of one delta are told apart.
    touched: u64,
}

/// The calls of a reply so far, in the order they were first seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    seen: Vec<Partial>,
    current: usize,
    deltas: u64,
}

impl Calls {
    /// Takes the entries of one delta; `whole` where each entry is a call of its own. True where
    /// arguments grew: each piece of them also goes to `heard`, with the place of its call.
    pub(super) fn add(
        &mut self,
        entries: &[CallDelta<'_>],
        whole: bool,
        heard: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<bool, String> {
        self.deltas += 1;
        let mut grew = false;
        for entry in entries {
            grew |= self.add_entry(entry, whole, heard)?;
        }
        Ok(grew)
    }

    fn add_entry(
        &mut self,
        entry: &CallDelta<'_>,
        whole: bool,
        heard: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<bool, String> {
        let index = chunk::index(entry.index);
        let id = chunk::word(entry.id).unwrap_or_default();
        let function = entry.function.as_ref();
        let name = function
            .and_then(|f| chunk::word(f.name))
            .unwrap_or_default();
        let mut arguments = Text::default();
        if let Some(raw) = function.and_then(|f| f.arguments)
            && !arguments.push_json(raw)
        {
            // An object instead of its text: some servers do not serialize twice.
            arguments.push_str(raw.get());
        }
        let known = if whole {
            None
        } else {
            self.find(index, &id, &name, !arguments.is_empty())
        };
        let at = match known {
            Some(at) => at,
            None if id.is_empty() && name.is_empty() && arguments.is_empty() => return Ok(false),
            None if self.seen.len() >= MOST_CALLS => {
                return Err(format!("the reply holds more than {MOST_CALLS} tool calls"));
            }
            None => {
                self.seen.push(Partial::default());
                self.seen.len() - 1
            }
        };
        self.current = at;
        let call = &mut self.seen[at];
        call.touched = self.deltas;
        call.index = call.index.or(index);
        if call.id.is_empty() {
            call.id = id;
        }
        if call.name.is_empty() {
            call.name = name;
        }
        call.arguments.append(&arguments);
        heard(at, arguments.bytes());
        Ok(!arguments.is_empty())
    }

    /// The call a piece continues.
    fn find(&self, index: Option<u64>, id: &str, name: &str, argued: bool) -> Option<usize> {
        let last = |is: &dyn Fn(&Partial) -> bool| self.seen.iter().rposition(is);
        // A piece with a name may open a second call under a reused index or id.
        let opens = |call: &Partial| {
            !name.is_empty()
                && !call.name.is_empty()
                && (name != call.name || (argued && whole_object(call.arguments.bytes())))
        };
        if let Some(index) = index {
            let Some(at) = last(&|call| call.index == Some(index)) else {
                return last(&|call| call.index.is_none() && !id.is_empty() && call.id == id);
            };
            let call = &self.seen[at];
            let other = !id.is_empty() && !call.id.is_empty() && call.id != id;
            return (!(other && opens(call))).then_some(at);
        }
        if !id.is_empty() {
            let at = last(&|call| call.id == id)?;
            return (!opens(&self.seen[at])).then_some(at);
        }
        let call = self.seen.get(self.current)?;
        let beside = !name.is_empty() && call.touched == self.deltas;
        (!beside && !opens(call)).then_some(self.current)
    }

    /// Text of all arguments as they came, for a reply that is not used.
    pub(super) fn write_arguments(&self, out: &mut String) {
        for call in &self.seen {
            out.push_str(&call.arguments.clone().into_string());
        }
    }

    /// Whether there is any.
    pub(super) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// The calls whole, in index order where every call has an index, else as first seen. Ids are
    /// as received: empty where there was none, perhaps twice the same.
    pub(super) fn settle(mut self) -> Result<Vec<ToolCall>, String> {
        if self.seen.iter().all(|call| call.index.is_some()) {
            self.seen.sort_by_key(|call| call.index);
        }
        self.seen
            .into_iter()
            .map(|call| {
                if call.name.is_empty() {
                    return Err("a tool call has no name".to_owned());
                }
                let arguments = settle_arguments(call.arguments.into_string()).map_err(|why| {
                    format!("the arguments of `{}` are not JSON: {why}", call.name)
                })?;
                Ok(ToolCall {
                    id: CallId::from(call.id),
                    name: call.name,
                    arguments,
                })
            })
            .collect()
    }
}

fn whole_object(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii();
    bytes.starts_with(b"{")
        && bytes.ends_with(b"}")
        && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// Arguments as the window holds them: `{}` where they are blank or `null`, else as received.
pub(crate) fn settle_arguments(text: String) -> Result<Arc<str>, String> {
    match text.trim() {
        "" | "null" => Ok("{}".into()),
        trimmed => match serde_json::from_str::<IgnoredAny>(trimmed) {
            Ok(_) => Ok(text.into()),
            Err(error) => Err(error.to_string()),
        },
    }
}

/// Gives every call an id of its own, within the reply and against what `taken` knows: an empty
/// id is minted, a repeated one numbered (F21).
pub fn unique_ids(calls: &mut [ToolCall], taken: &mut dyn FnMut(&CallId) -> bool) {
    for at in 0..calls.len() {
        let (before, rest) = calls.split_at_mut(at);
        let id = &mut rest[0].id;
        let mut used = |id: &CallId| before.iter().any(|call| &call.id == id) || taken(id);
        if id.as_str().trim().is_empty() {
            *id = first_free(|n| format!("call_{n}").into(), 1, &mut used);
        } else if used(id) {
            *id = first_free(|n| format!("{id}_{n}").into(), 2, &mut used);
        }
    }
}

/// A free id from a numbered series, by doubling and halving: minted ids fill a series from its
/// start, and walking it would make a turn's cost grow with the run.
fn first_free(
    id: impl Fn(u64) -> CallId,
    from: u64,
    used: &mut dyn FnMut(&CallId) -> bool,
) -> CallId {
    let mut step = 1;
    while used(&id(from + step - 1)) {
        step *= 2;
    }
    let (mut used_below, mut free) = (step / 2, step);
    while free - used_below > 1 {
        let middle = usize::midpoint(used_below as usize, free as usize) as u64;
        if used(&id(from + middle - 1)) {
            used_below = middle;
        } else {
            free = middle;
        }
    }
    id(from + free - 1)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "shell".to_owned(),
            arguments: "{}".into(),
        }
    }

    fn ids(calls: &[ToolCall]) -> Vec<&str> {
        calls.iter().map(|call| call.id.as_str()).collect()
    }

    #[test]
    fn repeated_and_missing_ids_become_unique() {
        let mut calls = [call("x:1"), call("x:1"), call(""), call("x:1"), call(" ")];
        unique_ids(&mut calls, &mut |id| id.as_str() == "call_1");
        assert_eq!(ids(&calls), ["x:1", "x:1_2", "call_2", "x:1_3", "call_3"]);
        let mut again = [call("x:1")];
        unique_ids(&mut again, &mut |id| id.as_str() == "x:1");
        assert_eq!(ids(&again), ["x:1_2"]);
    }

    #[test]
    fn minting_into_a_long_window_asks_few_questions() {
        let taken: HashSet<String> = (1..=5000).map(|n| format!("call_{n}")).collect();
        let mut asked = 0;
        let mut calls = [call("")];
        unique_ids(&mut calls, &mut |id| {
            asked += 1;
            taken.contains(id.as_str())
        });
        assert_eq!(ids(&calls), ["call_5001"]);
        assert!(asked < 40, "{asked}");
    }

    #[test]
    fn arguments_are_json_or_nothing() {
        for blank in ["", " \n\t", "null", " null "] {
            assert_eq!(&*settle_arguments(blank.to_owned()).unwrap(), "{}");
        }
        assert_eq!(
            &*settle_arguments(" {\"a\": 1} ".to_owned()).unwrap(),
            " {\"a\": 1} "
        );
        assert_eq!(&*settle_arguments("[1]".to_owned()).unwrap(), "[1]");
        for bad in ["{", "{}{}", "{'a': 1}", "ls -la"] {
            assert!(settle_arguments(bad.to_owned()).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn ids_end_unique_whatever_they_were(
            given in proptest::collection::vec("(|a|call_[1-4]|a_2|a_3)", 0..12),
            window in proptest::collection::hash_set("(a|call_[1-9]|a_[2-9])", 0..9),
        ) {
            let mut calls: Vec<ToolCall> = given.iter().map(|id| call(id)).collect();
            unique_ids(&mut calls, &mut |id| window.contains(id.as_str()));
            let all: HashSet<&str> = ids(&calls).into_iter().collect();
            prop_assert_eq!(all.len(), calls.len());
            prop_assert!(all.iter().all(|id| !id.trim().is_empty() && !window.contains(*id)));
        }
    }
}
