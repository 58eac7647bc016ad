//! What goes in comes out, each body once.

use vocab::failure::FailureClass;
use vocab::message::{Image, ImageFormat};
use vocab::outcome::EndStatus;

use super::*;

#[test]
fn a_journal_reads_as_ever() {
    insta::assert_snapshot!(String::from_utf8(good(2)).unwrap());
}

#[test]
fn lists_come_out_whole_and_bodies_stand_once() {
    let bytes = good(50);
    let replay = read(&bytes).unwrap();
    assert_eq!(replay.stopped, None);
    assert_eq!(replay.entries.len(), 50 * TURN_ENTRIES);
    assert_eq!(replay.toolsets.len(), 1);
    // The last turn's output is quoted by no request.
    assert_eq!(replay.texts.len(), 50);
    assert_eq!(replay.messages.len(), 2 + 50 + 49);
    let mut requests = replay
        .entries
        .iter()
        .filter_map(|entry| match &entry.input {
            Input::ModelIo { request, .. } => Some(request),
            _ => None,
        });
    let last = requests.next_back().unwrap();
    assert_eq!(last.messages.len(), 100);
    let message = |at: usize| replay.message(last.messages[at]).unwrap();
    assert_eq!(
        replay.text(message(0).text.as_ref().unwrap()),
        "You work on files."
    );
    assert_eq!(message(2).calls[0].id.as_str(), "call_1");
    assert_eq!(message(99).answers.as_ref().unwrap().as_str(), "call_49");
    assert!(
        replay
            .text(message(99).text.as_ref().unwrap())
            .starts_with("output 49 日本🦀")
    );
    let frames = replay
        .entries
        .iter()
        .filter_map(|entry| match &entry.input {
            Input::PromptFrame { rows } => Some(rows.len()),
            _ => None,
        });
    assert_eq!(frames.max(), Some(100));
}

#[test]
fn reasoning_stays_with_its_message_and_tells_messages_apart() {
    let sealed = format!(
        "{{\"type\":\"reasoning.encrypted\",  \"data\":\"{}\"}}",
        "x".repeat(400)
    );
    let said = |provider: Option<&str>, items: &[(&str, bool)], text: Option<&str>| {
        Arc::new(Message::Assistant {
            text: Some("so".into()),
            calls: Vec::new(),
            reasoning: Some(Arc::new(vocab::message::Reasoning {
                provider: provider.map(Into::into),
                items: items
                    .iter()
                    .map(|(json, sealed)| vocab::message::ReasoningItem {
                        json: (*json).into(),
                        sealed: *sealed,
                    })
                    .collect(),
                text: text.map(Into::into),
            })),
        })
    };
    let plain = Arc::new(Message::Assistant {
        text: Some("so".into()),
        calls: Vec::new(),
        reasoning: None,
    });
    let messages = vec![
        plain,
        said(None, &[], None),
        said(None, &[], Some("")),
        said(Some("A"), &[], None),
        said(Some("A"), &[(&sealed, true)], None),
        said(Some("A"), &[(&sealed, false)], None),
        said(Some("A"), &[(&sealed, true), ("{}", false)], Some("well")),
        said(Some("B"), &[(&sealed, true)], None),
    ];
    let disk = Disk::default();
    let mut journal = journal(&disk);
    for _ in 0..2 {
        journal.entry(
            Some(&root()),
            Entry::ModelIo {
                request: request(MessageList {
                    keep: 0,
                    push: messages.clone(),
                    signal: None,
                }),
                response: response(messages[0].clone()),
                latency_ms: 1,
            },
        );
    }
    journal.finish();
    let replay = read(&disk.bytes()).unwrap();
    assert_eq!(replay.stopped, None);
    assert_eq!(replay.messages.len(), messages.len());
    // The long item is one text, however many messages hold it.
    assert_eq!(replay.texts.len(), 1);
    for (at, message) in messages.iter().enumerate() {
        let held = replay.message(at as u32).unwrap().reasoning.as_ref();
        let back = held.map(|held| vocab::message::Reasoning {
            provider: held.provider.clone(),
            items: held
                .items
                .iter()
                .map(|item| vocab::message::ReasoningItem {
                    json: replay.text(&item.json).into(),
                    sealed: item.sealed,
                })
                .collect(),
            text: held.text.as_ref().map(|text| replay.text(text).into()),
        });
        assert_eq!(back.as_ref(), message.reasoning().map(|it| &**it), "{at}");
    }
}

#[test]
fn a_journal_grows_by_the_turn_and_not_with_the_run() {
    let size = |turns| good(turns).len();
    let early = size(20) - size(10);
    let late = size(1000) - size(990);
    assert!(late < early + early / 10, "{early} bytes, then {late}");
}

#[test]
fn a_signal_stands_in_its_own_request_only_and_lists_shrink() {
    let disk = Disk::default();
    let mut journal = journal(&disk);
    let list = |keep, push: &[&str], signal: Option<&str>| MessageList {
        keep,
        push: push.iter().map(|text| user(text)).collect(),
        signal: signal.map(user),
    };
    for messages in [
        list(0, &["a", "b", "c"], Some("half full")),
        list(3, &["d"], None),
        list(1, &["summary"], None),
    ] {
        journal.entry(
            Some(&root()),
            Entry::ModelError {
                request: request(messages),
                error: Box::new(ModelErrorRecord::new(ModelErrorKind::Timeout, "too slow")),
            },
        );
    }
    journal.finish();
    let replay = read(&disk.bytes()).unwrap();
    let texts: Vec<String> = replay
        .entries
        .iter()
        .map(|entry| {
            let Input::ModelError { request, error } = &entry.input else {
                panic!("only errors were written");
            };
            assert_eq!(error.kind, ModelErrorKind::Timeout);
            let all = request.messages.iter().chain(&request.signal);
            let texts = all.map(|index| {
                let message = replay.message(*index).unwrap();
                replay.text(message.text.as_ref().unwrap())
            });
            texts.collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(texts, ["a b c half full", "a b c d", "a summary"]);
}

#[test]
fn a_long_stream_keeps_its_tail_and_a_message_its_whole() {
    let disk = Disk::default();
    let mut journal = journal(&disk);
    let long = format!("{}end", "é".repeat(20_000));
    journal.entry(Some(&root()), shell("cat", &long));
    let messages = MessageList {
        keep: 0,
        push: vec![tool("c", &long)],
        signal: None,
    };
    journal.entry(
        Some(&root()),
        Entry::ModelIo {
            request: request(messages),
            response: response(assistant(None, "c", "{}")),
            latency_ms: 1,
        },
    );
    journal.entry(Some(&root()), shell("cat", &long));
    journal.finish();
    let replay = read(&disk.bytes()).unwrap();
    assert_eq!(replay.texts.len(), 2);
    let clip = replay.texts[0].clip.as_ref().unwrap();
    assert_eq!(clip.bytes, long.len() as u64);
    assert_eq!(clip.id, replay.texts[1].id);
    assert!(replay.texts[0].body.len() <= 32 << 10);
    assert!(replay.texts[0].body.len() > (32 << 10) - 2);
    assert!(long.ends_with(&*replay.texts[0].body));
    assert_eq!(*replay.texts[1].body, *long);
}

#[test]
fn pictures_of_one_size_stay_two_messages() {
    let disk = Disk::default();
    let mut journal = journal(&disk);
    let picture = |byte: u8| {
        Arc::new(Message::User {
            text: "look".into(),
            images: vec![Image {
                format: ImageFormat::Png,
                bytes: vec![byte; 1000].into(),
                dimensions: None,
            }],
        })
    };
    let messages = MessageList {
        keep: 0,
        push: vec![picture(1), picture(2), picture(1)],
        signal: None,
    };
    journal.entry(
        Some(&root()),
        Entry::ModelError {
            request: request(messages),
            error: Box::new(ModelErrorRecord::new(
                ModelErrorKind::ImageUnsupported,
                "no",
            )),
        },
    );
    journal.finish();
    let replay = read(&disk.bytes()).unwrap();
    let Input::ModelError { request, .. } = &replay.entries[0].input else {
        panic!("an error was written");
    };
    assert_eq!(request.messages, [0, 1, 0]);
    assert_eq!(replay.messages[1].body.images[0].bytes, 1000);
    assert!(disk.bytes().len() < 2500, "no picture's bytes are recorded");
}

#[test]
fn every_kind_of_entry_comes_back() {
    let disk = Disk::default();
    let mut journal = journal(&disk);
    journal.agent(agent_row());
    journal.agent(AgentRow {
        ended_as: Some(EndStatus::Completed),
        ..agent_row()
    });
    journal.seed(Seed::default());
    journal.seed(Seed {
        baseline: Some("abc".to_owned()),
        ..Seed::default()
    });
    turn(&mut journal, 1);
    journal.entry(
        None,
        Entry::Git {
            args: vec!["status".to_owned()],
            cwd: ".".to_owned(),
            exit_code: 1,
            stdout: "x".into(),
            stderr: "y".into(),
        },
    );
    journal.entry(
        Some(&root()),
        Entry::ToolResult {
            call_id: "c".into(),
            tool: "read_file".to_owned(),
            arguments: "{}".into(),
            ok: false,
            failure: Some(FailureClass::NotFound),
            output: "no such file".into(),
            images: Vec::new(),
        },
    );
    let mut capped = ModelErrorRecord::new(ModelErrorKind::LengthCapped, "cut");
    capped.response = Some(response(assistant(Some("half"), "c", "{")));
    journal.entry(
        Some(&root()),
        Entry::ModelError {
            request: RequestRecord {
                toolset: None,
                ..request(MessageList::default())
            },
            error: Box::new(capped),
        },
    );
    let report = journal.finish();
    let bytes = disk.bytes();
    assert_eq!(
        (report.bytes, report.entries, report.stopped),
        (bytes.len() as u64, 9, None)
    );
    let replay = read(&bytes).unwrap();
    assert_eq!(replay.agents.len(), 1);
    assert_eq!(replay.agents[0].ended_as, Some(EndStatus::Completed));
    assert_eq!(replay.seed.unwrap().baseline.as_deref(), Some("abc"));
    assert_eq!(replay.entries.len(), 9);
    let header = replay.header.unwrap();
    assert_eq!(header.session_id.as_str(), "a session");
    assert_eq!(header.capability_set.unwrap().get(), "{\"agents\":[]}");
    let Input::ModelIo { response, .. } = &replay.entries[2].input else {
        panic!("the third entry is the reply");
    };
    assert_eq!(
        response.usage.as_ref().unwrap().get(),
        "{\"prompt_tokens\": 1e400}"
    );
}

#[test]
fn the_credential_is_nowhere_in_it() {
    let disk = Disk::default();
    let mask = Mask::new("sk-or-v1-secret");
    let mut journal = Journal::start_with(Box::new(disk.clone()), ROOM, header(), mask);
    let long = "sk-or-v1-secret ".repeat(100);
    journal.entry(Some(&root()), shell("echo sk-or-v1-secret", &long));
    journal.finish();
    assert!(!disk.text().contains("secret"));
    let replay = read(&disk.bytes()).unwrap();
    assert_eq!(*replay.texts[0].body, *"[credential] ".repeat(100));
}
