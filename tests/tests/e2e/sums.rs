//! Whatever a session spends: calls, slots, providers, summary and the gateway's own ledger say
//! the same (06 §5).

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use tests::gateway::ledger::Account;
use tests::gateway::{Answer, Family, Fault, Gateway, Market, Provider, Request};
use tests::launch::Launch;
use tests::run::Run;

const MODEL: &str = "acme/coder-1";

/// What one served call of a session is like.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Listing,
    Writing(usize),
    Thinking(usize),
    NoCall,
    UnknownTool,
    Capped,
    NoPrice,
    NoUsage,
    NoCacheDetails,
    Missed,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        3 => Just(Kind::Listing),
        3 => (1..4_000usize).prop_map(Kind::Writing),
        2 => (1..4_000usize).prop_map(Kind::Thinking),
        1 => Just(Kind::NoCall),
        1 => Just(Kind::UnknownTool),
        1 => Just(Kind::Capped),
        1 => Just(Kind::NoPrice),
        1 => Just(Kind::NoUsage),
        1 => Just(Kind::NoCacheDetails),
        1 => Just(Kind::Missed),
    ]
}

fn family() -> impl Strategy<Value = Family> {
    prop_oneof![Just(Family::OpenAi), Just(Family::Gemini)]
}

fn fault(kind: Kind) -> Option<Fault> {
    match kind {
        Kind::Capped => Some(Fault::Capped),
        Kind::NoPrice => Some(Fault::NoPrice),
        Kind::NoUsage => Some(Fault::NoUsage),
        Kind::NoCacheDetails => Some(Fault::NoCacheDetails),
        Kind::Missed => Some(Fault::Miss),
        Kind::Listing | Kind::Writing(_) | Kind::Thinking(_) | Kind::NoCall | Kind::UnknownTool => {
            None
        }
    }
}

fn answer(kind: Kind) -> Answer {
    match kind {
        Kind::Writing(chars) => Answer::call(
            "write_file",
            json!({ "path": "a", "contents": "é\n".repeat(chars) }),
        ),
        Kind::Thinking(chars) => Answer::call("list_dir", json!({})).thinking(&"so ".repeat(chars)),
        Kind::NoCall => Answer::text("Let me see."),
        Kind::UnknownTool => Answer::call("no_such_tool", json!({})),
        _ => Answer::call("list_dir", json!({})),
    }
}

/// One step of a session.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A call that is served.
    Serve(Kind),
    /// A call that fails under this status, so that the run leaves the provider.
    Leave(u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => kind().prop_map(Step::Serve),
        1 => prop_oneof![Just(404), Just(429), Just(502)].prop_map(Step::Leave),
    ]
}

const PROVIDERS: [&str; 3] = ["Acme", "Bolt", "Coda"];

/// A session of these steps, and then an end. Nothing leaves the last provider.
fn session(steps: &[Step], family: Family) -> (Run, Market) {
    let mut providers: Vec<Provider> = PROVIDERS
        .iter()
        .map(|name| Provider::new(name, family))
        .collect();
    let (mut place, mut asked) = (0, 0);
    let at = |providers: &mut Vec<Provider>, place: usize, asked: usize, fault: Fault| {
        let provider = providers.remove(place).fault(asked, fault);
        providers.insert(place, provider);
    };
    let mut kinds = Vec::new();
    for step in steps {
        match *step {
            Step::Serve(kind) => {
                if let Some(fault) = fault(kind) {
                    at(&mut providers, place, asked, fault);
                }
                kinds.push(kind);
                asked += 1;
            }
            Step::Leave(status) if place + 1 < PROVIDERS.len() => {
                at(&mut providers, place, asked, Fault::status(status, "no"));
                (place, asked) = (place + 1, 0);
            }
            Step::Leave(_) => {}
        }
    }
    let market = Market::new(providers);
    let script = move |_: &Request, n: usize| {
        kinds
            .get(n)
            .map_or_else(|| Answer::finish("Done."), |kind| answer(*kind))
    };
    // One failure is enough to move, and no number of misses is.
    let launch = Launch::on(MODEL, &PROVIDERS[..=place])
        .limit("maxModelRetries", 0)
        .limit("providerCacheMissLimit", 1_000);
    let run = Run::builder()
        .launch(launch)
        .gateway(Gateway::start(market.serve(script)))
        .run();
    run.ended(0, "completed");
    (run, market)
}

/// One account of spending, from whatever side. Nothing reported is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
struct Spent {
    tokens: BTreeMap<&'static str, u64>,
    nano_usd: i64,
}

impl Spent {
    fn new(input: u64, cached: u64, completion: u64, usd: f64) -> Self {
        let tokens = [
            ("input", input),
            ("cached", cached),
            ("completion", completion),
        ];
        Self {
            tokens: tokens.into(),
            #[expect(clippy::cast_possible_truncation, reason = "a test spends cents")]
            nano_usd: (usd * 1e9).round() as i64,
        }
    }

    /// Of a row with `tokens` and the cost given.
    fn of(tokens: &Value, usd: &Value) -> Self {
        let class = |name: &str| tokens[name].as_u64().unwrap_or(0);
        Self::new(
            class("uncachedInput") + class("cachedInput"),
            class("cachedInput"),
            class("output") + class("reasoning"),
            usd.as_f64().unwrap_or(0.0),
        )
    }

    /// Of what the gateway reported.
    fn reported(accounts: &[Account]) -> Self {
        let known: Vec<&Account> = accounts.iter().filter(|it| it.reported.usage).collect();
        let sum = |class: fn(&Account) -> u64| known.iter().map(|it| class(it)).sum();
        Self::new(
            sum(|it| it.tokens.prompt),
            sum(|it| {
                if it.reported.cached {
                    it.tokens.read
                } else {
                    0
                }
            }),
            sum(|it| it.tokens.completion),
            known
                .iter()
                .filter(|it| it.reported.price)
                .map(|it| it.cost)
                .sum(),
        )
    }

    fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        let nothing = Self::new(0, 0, 0, 0.0);
        all.into_iter().fold(nothing, |mut sum, one| {
            for (class, tokens) in one.tokens {
                *sum.tokens.entry(class).or_default() += tokens;
            }
            sum.nano_usd += one.nano_usd;
            sum
        })
    }

    /// The same but for what rounding each part to a billionth of a dollar may have lost.
    #[track_caller]
    fn is(&self, other: &Self, what: &str, run: &Run) {
        assert_eq!(self.tokens, other.tokens, "{what}\n{}", run.describe());
        let apart = self.nano_usd.abs_diff(other.nano_usd);
        assert!(apart <= 50, "{what}: {self:?} and {other:?}");
    }
}

fn rows(all: &Value) -> Vec<Spent> {
    let rows = all.as_array().unwrap().iter();
    rows.map(|row| Spent::of(&row["tokens"], &row["cost"]["actual"]))
        .collect()
}

#[track_caller]
fn agree(run: &Run, market: &Market) {
    let ledger = market.ledger();
    let truth = Spent::reported(&ledger);
    let summary = run.summary();
    let events = |kind: &str| {
        let events = run.events(kind).into_iter();
        events.map(|row| Spent::of(&row["tokens"], &row["cost"]["actual"]))
    };
    Spent::sum(events("usage")).is(&truth, "usage", run);
    Spent::sum(events("slot_usage")).is(&truth, "slot_usage", run);
    Spent::sum(rows(&summary["slotCosts"])).is(&truth, "slotCosts", run);
    Spent::sum(rows(&summary["providerStats"])).is(&truth, "providerStats", run);
    Spent::of(&summary["tokens"], &summary["cost"]).is(&truth, "summary", run);

    let calls = ledger.len();
    assert_eq!(summary["modelCalls"], calls);
    assert_eq!(run.events("turn_outcome").len(), calls);
    let unpriced = |it: &&Account| !(it.reported.usage && it.reported.price);
    assert_eq!(
        summary["unpricedCalls"],
        ledger.iter().filter(unpriced).count()
    );
    let unpriced_tokens: u64 = ledger
        .iter()
        .filter(|it| it.reported.usage && !it.reported.price)
        .map(|it| it.tokens.prompt + it.tokens.completion)
        .sum();
    assert_eq!(summary["unpricedTokens"], unpriced_tokens);
    let usages = run.events("usage");
    assert_eq!(usages.len(), calls, "one a call");
    for (event, account) in usages.into_iter().zip(&ledger) {
        let call = Spent::of(&event["tokens"], &event["cost"]["actual"]);
        call.is(
            &Spent::reported(std::slice::from_ref(account)),
            "a call",
            run,
        );
        assert_eq!(event["wire"].is_object(), account.reported.usage);
        assert_eq!(event["provider"], account.provider.as_str());
    }
    for name in PROVIDERS {
        let own: Vec<Account> = ledger
            .iter()
            .filter(|account| account.provider == name)
            .cloned()
            .collect();
        let rows = summary["providerStats"].as_array().unwrap();
        let row = rows.iter().find(|row| row["provider"] == name);
        let calls = row.map_or(0, |row| row["calls"].as_u64().unwrap());
        assert_eq!(calls, own.len() as u64, "{name}\n{}", run.describe());
        if let Some(row) = row {
            let spent = Spent::of(&row["tokens"], &row["cost"]["actual"]);
            spent.is(&Spent::reported(&own), name, run);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10,
        max_shrink_iters: 20,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn all_sums_of_a_session_agree(
        kinds in proptest::collection::vec(kind(), 0..25),
        family in family(),
    ) {
        let steps: Vec<Step> = kinds.into_iter().map(Step::Serve).collect();
        let (run, market) = session(&steps, family);
        agree(&run, &market);
    }

    #[test]
    fn all_sums_of_a_session_that_moves_agree(
        steps in proptest::collection::vec(step(), 0..25),
        family in family(),
    ) {
        let (run, market) = session(&steps, family);
        agree(&run, &market);
    }
}

#[test]
fn every_kind_of_call_is_in_every_sum() {
    let steps = [
        Kind::Listing,
        Kind::Writing(3_000),
        Kind::Thinking(3_000),
        Kind::NoCall,
        Kind::UnknownTool,
        Kind::Capped,
        Kind::NoPrice,
        Kind::NoUsage,
        Kind::NoCacheDetails,
        Kind::Missed,
    ]
    .map(Step::Serve);
    let (run, market) = session(&steps, Family::OpenAi);
    agree(&run, &market);
    assert_eq!(run.summary()["unpricedCalls"], 2);
    assert_eq!(run.summary()["rejectedResponses"]["count"], 1);
}
