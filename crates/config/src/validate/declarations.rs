//! A profile's list of capabilities (01 §3.1).

use vocab::capability::CapabilityId;

use super::fields::word;
use super::{Fields, Kind};
use crate::capability::{Capability, DECLARATION};
use crate::document::Node;
use crate::refusal::Spot;

/// Reads `capabilities`. A capability whose figures were refused is kept with those it has: what
/// refers to it is judged by whether it is on.
pub(super) fn read(profile: &Fields<'_>) -> Option<Vec<Capability>> {
    let entries = profile.list("capabilities", "capabilities")?;
    let mut read: Vec<Capability> = Vec::new();
    for (index_spot, node) in entries {
        let Some(id) = id(profile, &index_spot, node) else {
            continue;
        };
        if read.iter().any(|capability| capability.id() == id) {
            profile.report.refuse(
                &index_spot,
                format!("declares `{id}` again; expected each capability once"),
            );
            continue;
        }
        let spot = profile.spot.named("capability", id.as_str());
        let Some(fields) = profile.child(spot, node, DECLARATION) else {
            continue;
        };
        read.push(declaration(id, fields));
    }
    Some(read)
}

/// Which capability an entry declares. An entry that says it unreadably is one bad value; its
/// figures have no rules to be judged by.
fn id(profile: &Fields<'_>, spot: &Spot, node: &Node) -> Option<CapabilityId> {
    let Kind::Object(object) = &node.kind else {
        profile.report.refuse(
            spot,
            format!(
                "is {}; expected an object of `id`, `enabled`, `params`",
                node.kind
            ),
        );
        return None;
    };
    let spot = spot.key("id");
    let Some(id) = object.get("id") else {
        profile
            .report
            .refuse(&spot, "is missing; expected a capability's id");
        return None;
    };
    word(
        profile.report,
        &spot,
        id,
        CapabilityId::ALL,
        CapabilityId::as_str,
    )
}

fn declaration(id: CapabilityId, fields: Fields<'_>) -> Capability {
    let enabled = fields.flag("enabled");
    let on = enabled == Some(true);
    let fields = if on { fields } else { fields.incomplete() };
    Capability::read(id, &fields, on)
}
