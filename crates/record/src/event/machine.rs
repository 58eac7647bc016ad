//! Where an agent stands in a machine (06 §2.2).

use serde::Serialize;
use vocab::ids::Slug;

/// See [`Event::FsmState`](super::Event::FsmState). It stands directly behind the agent's spawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FsmState {
    /// The machine's profile.
    pub machine: Slug,
    /// The state it stands in.
    pub state: String,
    /// The profile that works in it: the agent's own.
    pub profile_id: Slug,
    /// The state that was left for it; absent where the machine is entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}
