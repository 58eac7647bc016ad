//! What is expected of a cache: sessions at random, and the rule of a miss at its edges.

use proptest::prelude::*;
use vocab::message::{Reasoning, ReasoningItem};
use vocab::tools::Definition;

use super::*;
use crate::request::{Thread, ToolChoice, toolset};

const NOW: Duration = Duration::from_secs(1000);

fn user(text: &str) -> Message {
    Message::User {
        text: text.into(),
        images: vec![],
    }
}

/// An answer with sealed and readable reasoning of a provider.
fn thought(text: &str, maker: Option<&str>, sealed: usize) -> Message {
    let item = |sealed: bool| ReasoningItem {
        json: format!(r#"{{"sealed":{sealed},"of":"{text}"}}"#).into(),
        sealed,
    };
    let mut items = vec![item(true); sealed];
    items.insert(sealed / 2, item(false));
    Message::Assistant {
        text: Some(text.into()),
        calls: vec![],
        reasoning: Some(Arc::new(Reasoning {
            provider: maker.map(ProviderName::from),
            items,
            text: None,
        })),
    }
}

fn tools(name: &'static str) -> Arc<Toolset> {
    Arc::new(toolset(&[Definition {
        name,
        description: "Long. ".repeat(30),
        parameters: serde_json::json!({ "type": "object" }),
    }]))
}

fn request_of(thread: Snapshot) -> ModelRequest {
    ModelRequest {
        thread,
        signal: None,
        toolset: tools("f"),
        tool_choice: ToolChoice::Auto,
        rewritten: None,
    }
}

fn request(messages: &[Message], shape: Shape) -> ModelRequest {
    let mut thread = Thread::of(shape);
    thread.extend(messages);
    request_of(thread.snapshot())
}

fn usage(prompt: u64) -> UsageReport {
    let wire = format!(r#"{{"prompt_tokens":{prompt}}}"#);
    UsageReport::read(serde_json::from_str(&wire).unwrap()).unwrap()
}

/// The expectation of a request behind one that was answered a minute before.
fn after(
    (last, asked): (&ModelRequest, &str),
    input: u64,
    (next, serving): (&ModelRequest, &str),
) -> Expectation {
    let mut memory = CacheMemory::default();
    memory.answered(NOW, Some(&asked.into()), last, Some(&usage(input)));
    let minute = Duration::from_secs(60);
    memory.expect(NOW + minute, Some(&serving.into()), next)
}

/// A message as a provider is sent it.
fn sent(message: &Message, shape: Shape, provider: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = message::write(message, shape, &mut bytes);
    let maker = message.reasoning().and_then(|it| it.provider.clone());
    if let (Some(sealed), Some(maker)) = (written.sealed, maker)
        && !maker.same_as(&provider.into())
    {
        bytes.splice(sealed.span, sealed.readable);
    }
    bytes
}

/// The first message and byte at which the second list does not go on as the first one does.
fn first_difference(last: &[Vec<u8>], next: &[Vec<u8>]) -> Option<(usize, usize)> {
    let message = (0..last.len()).find(|&at| last.get(at) != next.get(at))?;
    let other: &[u8] = next.get(message).map_or(b"", |it| it);
    let pairs = last[message].iter().zip(other);
    Some((message, pairs.take_while(|(a, b)| a == b).count()))
}

#[test]
fn a_message_of_another_maker_breaks_where_its_bytes_are_held_alike() {
    let messages = |maker| [user("task"), thought("c", maker, 2), user("go on")];
    let last = request(&messages(None), Shape::Bare);
    let mut next = request(&messages(Some("Acme")), Shape::Bare);
    next.rewritten = Some(Rewrite::Compaction);
    assert_eq!(after((&last, "Acme"), 900, (&next, "Acme")).broken, None);
    // Umbra was sent the items of nobody, and is not sent those of Acme.
    let broken = after((&last, "Umbra"), 900, (&next, "Umbra")).broken;
    let broken = broken.expect("the items are not sent any more");
    assert_eq!(broken.message, 1);
    assert_eq!(broken.act, Some(Rewrite::Compaction));
}

fn message() -> impl Strategy<Value = Message> {
    let maker = proptest::option::of(prop_oneof![Just("Acme"), Just("Umbra")]);
    let text = prop_oneof![6 => "[a-c]{0,3}", 1 => Just("x".repeat(9000))];
    (any::<bool>(), text, maker, 0..3_usize).prop_map(|(answer, text, maker, sealed)| {
        if answer {
            thought(&text, maker, sealed)
        } else {
            user(&text)
        }
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![Just(Shape::Bare), Just(Shape::Parts)]
}

fn provider() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("Acme"), Just("Umbra"), Just("Third")]
}

proptest! {
    #[test]
    fn a_window_that_only_grows_is_never_broken(
        messages in proptest::collection::vec(message(), 1..40),
        shape in shape(),
        serving in provider(),
        input in 0..200_000_u64,
    ) {
        let mut memory = CacheMemory::default();
        let mut thread = Thread::of(shape);
        let provider = ProviderName::from(serving);
        let mut now = NOW;
        for (count, message) in messages.iter().enumerate() {
            thread.push(message);
            let request = request_of(thread.snapshot());
            let expected = memory.expect(now, Some(&provider), &request);
            prop_assert_eq!(expected.broken, None);
            prop_assert_eq!(expected.lost_tokens, 0);
            prop_assert!(expected.shared_tokens <= input);
            // All of the last request is repeated; only a blank end of it carries no marker.
            let blank = message.text().is_empty() || count == 0;
            let ends_blank = count > 0 && messages[count - 1].text().is_empty();
            if count > 0 && (shape == Shape::Bare || !(blank || ends_blank)) {
                prop_assert!(expected.fresh);
                prop_assert_eq!(expected.shared_tokens, input);
            }
            memory.answered(now, Some(&provider), &request, Some(&usage(input)));
            now += Duration::from_secs(299);
        }
    }

    #[test]
    fn a_break_is_found_at_its_first_message_and_byte(
        messages in proptest::collection::vec(message(), 1..30),
        cut in any::<prop::sample::Index>(),
        removed in 0..3_usize,
        put in proptest::collection::vec(message(), 0..3),
        shape in shape(),
        (asked, serving) in (provider(), provider()),
    ) {
        let cut = cut.index(messages.len());
        let mut edited = messages.clone();
        edited.splice(cut..(cut + removed).min(messages.len()), put);
        let last = request(&messages, shape);
        let mut next = request(&edited, shape);
        next.rewritten = Some(Rewrite::EvictFileView);
        let found = after((&last, asked), 1_000_000, (&next, serving));
        let all = |messages: &[Message], provider: &str| -> Vec<Vec<u8>> {
            messages.iter().map(|it| sent(it, shape, provider)).collect()
        };
        let (before, now) = (all(&messages, asked), all(&edited, serving));
        let expected = first_difference(&before, &now);
        let broken = found.broken.map(|broken| (broken.message, broken.byte));
        prop_assert_eq!(broken, expected);
        let Some(broken) = found.broken else { return Ok(()) };
        // Edited where the messages differ for one provider alone, else moved.
        let held = first_difference(&all(&messages, serving), &now);
        let act = if held == expected { Rewrite::EvictFileView } else { Rewrite::ProviderMove };
        if asked == serving || held.is_none() {
            prop_assert_eq!(broken.act, Some(act));
        }
        // In proportion to what the last request sent.
        let tools = last.toolset.json.get().len();
        let bytes = |messages: &[Vec<u8>]| -> usize {
            messages.iter().map(|it| it.len() + 1).sum()
        };
        let whole = tools + bytes(&before) - 1;
        let kept = tools + bytes(&before[..broken.message]);
        if shape == Shape::Bare {
            prop_assert_eq!(found.shared_tokens, (1_000_000 * kept / whole) as u64);
        } else {
            prop_assert!(found.shared_tokens <= (1_000_000 * kept / whole) as u64);
        }
        prop_assert_eq!(found.lost_tokens, 1_000_000 - found.shared_tokens);
    }
}

#[test]
fn an_agent_s_first_request_expects_nothing() {
    let memory = CacheMemory::default();
    let expected = memory.expect(NOW, None, &request(&[user("a")], Shape::Bare));
    assert_eq!(expected, Expectation::default());
    assert_eq!(expected.judge(Some(0)), None);
}

#[test]
fn a_miss_needs_every_condition_of_the_rule() {
    let judge = |shared_tokens, fresh, cached| {
        let expected = Expectation {
            shared_tokens,
            fresh,
            ..Expectation::default()
        };
        expected.judge(cached)
    };
    let miss = |shared_tokens, cached_tokens| {
        Some(Miss {
            shared_tokens,
            cached_tokens,
        })
    };
    assert_eq!(judge(4096, true, Some(0)), miss(4096, 0));
    assert_eq!(judge(4095, true, Some(0)), None);
    assert_eq!(judge(4096, true, Some(2047)), miss(4096, 2047));
    assert_eq!(judge(4096, true, Some(2048)), None);
    assert_eq!(judge(5001, true, Some(2500)), miss(5001, 2500));
    assert_eq!(judge(5001, true, Some(2501)), None);
    assert_eq!(judge(u64::MAX, true, Some(3)), miss(u64::MAX, 3));
    assert_eq!(judge(9000, false, Some(0)), None);
    assert_eq!(judge(9000, true, None), None);
}

#[test]
fn a_prefix_is_relied_on_at_the_same_provider_within_five_minutes() {
    let request = request(&[user("a")], Shape::Bare);
    let fresh = |asked: Option<&str>, serving: Option<&str>, gap: Duration| {
        let (asked, serving) = (asked.map(Into::into), serving.map(Into::into));
        let mut memory = CacheMemory::default();
        memory.answered(NOW, asked.as_ref(), &request, None);
        memory.expect(NOW + gap, serving.as_ref(), &request).fresh
    };
    let short = LIFETIME.saturating_sub(Duration::from_nanos(1));
    assert!(fresh(Some("z-ai"), Some("Z.AI"), short));
    assert!(fresh(None, None, short));
    assert!(!fresh(Some("z-ai"), Some("Z.AI"), LIFETIME));
    assert!(!fresh(Some("Acme"), Some("Umbra"), Duration::ZERO));
    assert!(!fresh(None, Some("Umbra"), Duration::ZERO));
}

#[test]
fn without_the_last_request_s_tokens_nothing_can_be_missed() {
    let messages = [user(&"x".repeat(100_000))];
    let request = request(&messages, Shape::Bare);
    let mut memory = CacheMemory::default();
    memory.answered(NOW, None, &request, None);
    let expected = memory.expect(NOW, None, &request);
    assert_eq!(expected.shared_tokens, 0);
    assert_eq!(expected.judge(Some(0)), None);
}

#[test]
fn other_tools_break_the_prefix_before_its_first_message() {
    let last = request(&[user("a")], Shape::Bare);
    let next = ModelRequest {
        toolset: tools("g"),
        ..last.clone()
    };
    let expected = after((&last, "Acme"), 9000, (&next, "Acme"));
    let broken = expected.broken.unwrap();
    assert_eq!((broken.message, broken.byte), (0, 0));
    assert_eq!(broken.act, Some(Rewrite::Toolset));
    assert_eq!((expected.shared_tokens, expected.lost_tokens), (0, 9000));
}

#[test]
fn the_signal_is_billed_but_never_shared() {
    let messages = [user(&"x".repeat(5000))];
    let mut last = request(&messages, Shape::Bare);
    let bytes = last.toolset.json.get().len() + last.thread.len_bytes();
    let signal = user(&"y".repeat(bytes));
    last.signal = Some(signal.clone());
    let next = request(&messages, Shape::Bare);
    let expected = after((&last, "Acme"), 10_000, (&next, "Acme"));
    let share = 10_000 * bytes / (bytes + written(&signal, Shape::Bare));
    assert_eq!(expected.shared_tokens, share as u64);
    assert_eq!(expected.broken, None);
}

#[test]
fn a_move_past_sealed_reasoning_is_expected_and_a_move_without_any_breaks_nothing() {
    let messages = [user("task"), thought("a", Some("Acme"), 1), user("b")];
    let last = request(&messages, Shape::Bare);
    let moved = after((&last, "Acme"), 9000, (&last, "Umbra"));
    let broken = moved.broken.unwrap();
    assert_eq!(broken.message, 1);
    assert_eq!(broken.act, Some(Rewrite::ProviderMove));
    assert!(!moved.fresh);
    // At the new provider, and between two that both cannot read it, all is as it was.
    assert_eq!(after((&last, "Umbra"), 9000, (&last, "Umbra")).broken, None);
    assert_eq!(after((&last, "Umbra"), 9000, (&last, "Third")).broken, None);
}

#[test]
fn an_entry_out_of_sight_is_lost_by_gg_and_missed_by_nobody() {
    // A view amid a marked thread goes: the longest entry still valid is the anchor's.
    let mut messages = vec![user("task")];
    messages.extend((0..30).flat_map(|_| [thought("a", None, 0), user("b")]));
    let last = request(&messages, Shape::Parts);
    messages[20] = user("gone");
    let mut next = request(&messages, Shape::Parts);
    next.rewritten = Some(Rewrite::EvictFileView);
    let expected = after((&last, "Acme"), 200_000, (&next, "Acme"));
    assert_eq!(expected.broken.unwrap().message, 20);
    let bare = after(
        (&request(&messages, Shape::Bare), "Acme"),
        200_000,
        (&request(&messages, Shape::Bare), "Acme"),
    );
    assert_eq!(bare.shared_tokens, 200_000);
    assert!(
        expected.shared_tokens < 30_000,
        "{}",
        expected.shared_tokens
    );
    assert_eq!(expected.lost_tokens, 200_000 - expected.shared_tokens);
}
