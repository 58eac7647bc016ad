//! The mailboxes of a run, the fullest first: what each actor was sent, how long it lay there, how
//! many messages lay there at most.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::duration;
use super::log::FlowLog;
use super::table::Spread;
use crate::page::columns;

/// What one actor was sent.
#[derive(Default)]
struct Mailbox {
    queued: Spread,
    handled_us: u64,
    depth: u32,
}

/// The table, of the `top` fullest mailboxes.
pub(super) fn render(log: &FlowLog, top: usize) -> String {
    let mut mailboxes: HashMap<u32, Mailbox> = HashMap::new();
    for message in &log.messages {
        let mailbox = mailboxes.entry(message.to).or_default();
        mailbox.queued.0.push(message.queued_us);
        mailbox.handled_us = mailbox.handled_us.saturating_add(message.handled_us);
        mailbox.depth = mailbox.depth.max(message.depth);
    }
    let mut mailboxes: Vec<(&str, Mailbox)> = mailboxes
        .into_iter()
        .map(|(actor, mailbox)| (log.name(actor), mailbox))
        .collect();
    mailboxes.sort_by_key(|(name, it)| (Reverse(it.depth), Reverse(it.queued.0.len()), *name));
    let title = match mailboxes.len() {
        all if all > top => format!("\nMailboxes, the {top} fullest of {all}\n"),
        _ => "\nMailboxes, the fullest first\n".to_owned(),
    };
    let mut rows = vec![
        [
            "actor", "depth", "messages", "handled", "queued", "median", "p95", "max",
        ]
        .map(str::to_owned),
    ];
    for (name, mailbox) in mailboxes.iter_mut().take(top) {
        let queued = &mut mailbox.queued;
        queued.0.sort_unstable();
        rows.push([
            (*name).to_owned(),
            mailbox.depth.to_string(),
            queued.0.len().to_string(),
            duration(mailbox.handled_us),
            duration(queued.total()),
            duration(queued.percentile(50)),
            duration(queued.percentile(95)),
            duration(queued.max()),
        ]);
    }
    title + &columns(&rows, &[1, 2, 3, 4, 5, 6, 7])
}
