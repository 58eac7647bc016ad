//! A journal and a stream of one run agree at whatever points each was cut, and only then.

use serde_json::{Value, json};

use super::*;

/// The stream of the session whose journal [`good`] writes.
fn stream(turns: u32) -> Vec<Value> {
    let line = |kind: &str, turn: u32, fields: Value| {
        let mut line =
            json!({"type": kind, "sessionId": "a session", "agentId": "root", "turn": turn});
        line.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        line
    };
    let mut lines = vec![json!({"type": "session_started", "sessionId": "a session"})];
    let mut ids: Vec<String> = Vec::new();
    for turn in 1..=turns {
        let mut log = |id: String, role: &str, content: String, extra: Value| {
            let mut fields = json!({"id": id, "role": role, "content": content});
            fields
                .as_object_mut()
                .unwrap()
                .extend(extra.as_object().unwrap().clone());
            lines.push(line("context_message", turn, fields));
            ids.push(id);
        };
        if turn == 1 {
            log(
                "s".to_owned(),
                "system",
                "You work on files.".to_owned(),
                json!({}),
            );
            log("u".to_owned(), "user", "do the task".to_owned(), json!({}));
        } else {
            log(
                format!("t{turn}"),
                "tool",
                format!("output {} {}", turn - 1, "日本🦀 ".repeat(60)),
                json!({"toolCallId": format!("call_{}", turn - 1)}),
            );
        }
        let request = ids.clone();
        let mut log = |id: String| {
            let call = json!({"id": format!("call_{turn}"), "name": "shell", "arguments": "{}"});
            let fields =
                json!({"id": id, "role": "assistant", "content": "so", "toolCalls": [call]});
            lines.push(line("context_message", turn, fields));
            ids.push(id);
        };
        log(format!("r{turn}"));
        lines.push(line(
            "prompt",
            turn,
            json!({"messages": request, "reply": format!("r{turn}"), "finishReason": "tool_calls", "provider": "P"}),
        ));
        lines.push(line(
            "assistant_message",
            turn,
            json!({"text": "so", "calls": [], "reasoning": "it is easy"}),
        ));
        lines.push(line(
            "shell",
            turn,
            json!({"command": "true", "exitCode": 0}),
        ));
        lines.push(line(
            "tool_result",
            turn,
            json!({"callId": format!("call_{turn}"), "tool": "shell", "ok": true}),
        ));
    }
    lines.push(json!({"type": "session_ended", "sessionId": "a session"}));
    lines
}

fn text(lines: &[Value]) -> String {
    let mut text: Vec<String> = lines.iter().map(Value::to_string).collect();
    text.push(String::new());
    text.join("\n")
}

#[test]
fn two_whole_records_of_one_run_agree() {
    assert_eq!(agree(&read(&good(4)).unwrap(), &text(&stream(4))), []);
}

#[test]
fn two_killed_records_agree_wherever_each_was_cut() {
    let journal = good(3);
    let mut lines = stream(3);
    lines.pop();
    let stream = text(&lines);
    for journal_cut in (0..journal.len()).step_by(211) {
        let replay = read(&journal[..journal_cut]).unwrap();
        for stream_cut in (0..stream.len()).step_by(97) {
            let mut stream_cut = stream_cut;
            while !stream.is_char_boundary(stream_cut) {
                stream_cut -= 1;
            }
            assert_eq!(agree(&replay, &stream[..stream_cut]), []);
        }
    }
}

#[test]
fn each_difference_is_told() {
    let replay = read(&good(4)).unwrap();
    let table: [(&str, &str, &str); 12] = [
        (
            "\"content\":\"do the task\"",
            "\"content\":\"do another\"",
            "message u: text",
        ),
        (
            "\"role\":\"system\"",
            "\"role\":\"user\"",
            "message s: role",
        ),
        (
            "\"id\":\"call_2\"",
            "\"id\":\"call_9\"",
            "message r2: calls",
        ),
        (
            "\"toolCallId\":\"call_1\"",
            "\"toolCallId\":\"call_9\"",
            "message t2: it answers",
        ),
        (
            "[\"s\",\"u\"]",
            "[\"s\"]",
            "exchange 0: the number of messages",
        ),
        (
            "\"id\":\"t3\"",
            "\"id\":\"x\"",
            "message t3: the stream does not log it",
        ),
        (
            "\"ok\":true",
            "\"ok\":false,\"failure\":\"other\"",
            "tool result 0",
        ),
        ("\"exitCode\":0", "\"exitCode\":1", "command 0"),
        (
            "\"finishReason\":\"tool_calls\"",
            "\"finishReason\":\"stop\"",
            "exchange 0: the finish reason",
        ),
        (
            "\"provider\":\"P\"",
            "\"provider\":\"Q\"",
            "exchange 0: who served",
        ),
        ("it is easy", "it is hard", "the reasoning of reply 0"),
        (
            "\"sessionId\":\"a session\"",
            "\"sessionId\":\"b\"",
            "sessionId",
        ),
    ];
    let whole = text(&stream(4));
    for (from, to, told) in table {
        let found = agree(&replay, &whole.replacen(from, to, 1));
        assert!(
            found
                .iter()
                .any(|found| found.message.starts_with(told) || found.message.contains(told)),
            "{told}: {found:?}"
        );
    }
}

#[test]
fn whoever_serves_is_whom_the_journal_says_was_asked() {
    let asked = |provider: &str| {
        let disk = Disk::default();
        let mut journal = journal(&disk);
        journal.entry(
            Some(&root()),
            Entry::ModelIo {
                request: RequestRecord {
                    provider: Some(provider.into()),
                    ..request(MessageList {
                        keep: 0,
                        push: vec![system("You work on files."), user("do the task")],
                        signal: None,
                    })
                },
                response: response(assistant(Some("so"), "call_1", "{}")),
                latency_ms: 1,
            },
        );
        journal.finish();
        let replay = read(&disk.bytes()).unwrap();
        agree(&replay, &text(&stream(1)))
            .into_iter()
            .any(|found| found.message.contains("was asked in the journal"))
    };
    assert!(!asked("p"));
    assert!(asked("Q"));
}

#[test]
fn whole_records_of_different_length_disagree() {
    let longer = agree(&read(&good(4)).unwrap(), &text(&stream(3)));
    assert!(
        longer
            .iter()
            .any(|found| found.message == "the journal has 4 exchanges, the stream 3")
    );
    let shorter = agree(&read(&good(3)).unwrap(), &text(&stream(4)));
    assert!(
        shorter
            .iter()
            .any(|found| found.message == "the journal has 3 tool results, the stream 4")
    );
}

#[test]
fn a_journal_that_stopped_early_may_be_behind_a_whole_stream() {
    let disk = Disk::with_room(3500);
    let mut journal = journal(&disk);
    for number in 1..=4 {
        turn(&mut journal, number);
    }
    disk.clone().make_room();
    journal.finish();
    let replay = read(&disk.bytes()).unwrap();
    assert_eq!(agree(&replay, &text(&stream(4))), []);
}
