//! What an exchange cost: usage deltas, their prices, and replies that were paid for in vain.

use std::sync::Arc;

use context::tokens;
use provider::fault::{Discarded, Fault};
use provider::price::{self, Accounted, UsageReport};
use record::event::{Event, Prompt, ResponseRejected, Usage};
use vocab::ids::{MessageId, ProviderName};
use vocab::usage::Figure;

use super::turns::Turns;
use crate::messages::AddCost;

/// A reply's usage as it came, and what goes with it.
#[derive(Clone, Copy)]
pub(super) struct Spent<'a> {
    /// As reported; `None` where the reply reported none.
    pub(super) usage: Option<&'a UsageReport>,
    /// Who served it, where named.
    pub(super) provider: Option<&'a ProviderName>,
    /// What the agent's last request should have left in the cache.
    pub(super) expected_cached_tokens: Option<u64>,
}

impl Turns {
    /// A reply cut at the output cap: logged and paid for, never entering the window.
    pub(super) fn rejected(
        &mut self,
        turn: u32,
        capped: &Discarded,
        expected_cached_tokens: Option<u64>,
        sent: Vec<MessageId>,
        duration_ms: u64,
    ) {
        let accounted = self.account(capped.usage.as_ref(), tokens::count(&capped.content));
        let frame = self.frame();
        self.report_prompt(
            turn,
            frame,
            Prompt {
                messages: sent,
                reply: None,
                finish_reason: Some("length".to_owned()),
                tokens: accounted.as_ref().map(|it| it.tokens).unwrap_or_default(),
                duration_ms,
                provider: capped.provider.clone(),
            },
        );
        let (tokens, cost) = accounted
            .as_ref()
            .map_or_else(Default::default, |it| (it.tokens, it.cost));
        self.report_usage(
            turn,
            Spent {
                usage: capped.usage.as_ref(),
                provider: capped.provider.as_ref(),
                expected_cached_tokens,
            },
            accounted,
            Figure::Total,
        );
        self.links.voice.say_in_turn(
            turn,
            Event::ResponseRejected(Box::new(ResponseRejected {
                chars: capped.chars(),
                tokens,
                cost,
                provider: capped.provider.clone(),
                model_id: self.spec.profile.model_id.clone(),
            })),
        );
    }

    /// A reply that could not be read may have been paid for.
    pub(super) fn pay_for_discarded(
        &self,
        turn: u32,
        fault: &Fault,
        expected_cached_tokens: Option<u64>,
    ) {
        let Some(discarded) = fault.discarded().filter(|it| it.usage.is_some()) else {
            return;
        };
        let usage = discarded.usage.as_ref();
        let accounted = self.account(usage, tokens::count(&discarded.content));
        self.report_usage(
            turn,
            Spent {
                usage,
                provider: discarded.provider.as_ref(),
                expected_cached_tokens,
            },
            accounted,
            Figure::Total,
        );
    }

    pub(super) fn account(&self, usage: Option<&UsageReport>, estimate: u64) -> Option<Accounted> {
        let prices = self
            .shared
            .launch
            .model_prices
            .get(&self.spec.profile.model_id);
        usage.map(|usage| price::account(usage, estimate, prices))
    }

    /// Emits a usage delta and tells the ceilings its price. A reply without usage is one too: its
    /// call is counted as unpriced.
    pub(super) fn report_usage(
        &self,
        turn: u32,
        spent: Spent<'_>,
        accounted: Option<Accounted>,
        figure: Figure,
    ) {
        let accounted = accounted.unwrap_or_default();
        match accounted.cost.and_then(|cost| cost.actual) {
            Some(usd) => self.links.supervisor.tell(AddCost { usd }),
            None => self.shared.warn_unpriced(&self.links.voice),
        }
        self.links.voice.say_in_turn(
            turn,
            Event::Usage(Box::new(Usage {
                profile_id: self.spec.profile.slug.clone(),
                model_id: self.spec.profile.model_id.clone(),
                tokens: accounted.tokens,
                cost: accounted.cost,
                provider: spent.provider.cloned(),
                expected_cached_tokens: spent.expected_cached_tokens,
                wire: spent.usage.map(|usage| Arc::clone(&usage.wire)),
                reconciled: accounted.reconciled,
                clamped: accounted.clamped,
                figure,
            })),
        );
    }
}
