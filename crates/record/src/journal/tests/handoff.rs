//! A summarizer's requests among an agent's own.

use serde_json::{Value, json};

use super::*;
use crate::journal::agree;

/// A turn, a compaction by another model, and the turn behind it.
fn compacted(replied: bool) -> Vec<u8> {
    let disk = Disk::default();
    let mut journal = journal(&disk);
    turn(&mut journal, 1);
    let request = RequestRecord {
        role: RequestRole::Compaction,
        shape: RequestShape::Free,
        messages: MessageList {
            keep: 0,
            push: vec![system("Summarize."), user("Task\n----\ndo the task")],
            signal: None,
        },
        toolset: None,
        model: "small".into(),
        provider: None,
    };
    let summary = Arc::new(Message::Assistant {
        text: Some("all went well".into()),
        calls: Vec::new(),
        reasoning: None,
    });
    let entry = if replied {
        Entry::ModelIo {
            request,
            response: response(summary),
            latency_ms: 3,
        }
    } else {
        Entry::ModelError {
            request,
            error: Box::new(ModelErrorRecord::new(ModelErrorKind::Timeout, "too late")),
        }
    };
    journal.entry(Some(&root()), entry);
    // The restarted window keeps what is pinned of what the agent itself was sent before.
    let push = vec![user("Summary\n----\nall went well")];
    journal.entry(
        Some(&root()),
        Entry::ModelIo {
            request: super::request(MessageList {
                keep: 2,
                push: push.clone(),
                signal: None,
            }),
            response: response(assistant(Some("so"), "call_2", "{}")),
            latency_ms: 12,
        },
    );
    let rows = push.into_iter().map(|message| FrameRow {
        message,
        slot: Slot::Thread,
        band: Band::History,
        survives: false,
        turn: 2,
        region: None,
    });
    journal.entry(
        Some(&root()),
        Entry::PromptFrame {
            keep: 2,
            push: rows.collect(),
        },
    );
    journal.finish();
    disk.bytes()
}

#[test]
fn an_agent_s_list_goes_on_past_what_a_summarizer_was_asked() {
    let replay = read(&compacted(true)).unwrap();
    assert_eq!(replay.stopped, None);
    let requests: Vec<(RequestRole, Vec<&str>)> = replay
        .entries
        .iter()
        .filter_map(|entry| match &entry.input {
            Input::ModelIo { request, .. } => Some(request),
            _ => None,
        })
        .map(|request| {
            let texts = request.messages.iter().map(|index| {
                let text = replay.message(*index).unwrap().text.as_ref();
                text.map_or("", |text| replay.text(text))
            });
            (request.role, texts.collect())
        })
        .collect();
    assert_eq!(
        requests,
        [
            (
                RequestRole::Agent,
                vec!["You work on files.", "do the task"]
            ),
            (
                RequestRole::Compaction,
                vec!["Summarize.", "Task\n----\ndo the task"]
            ),
            (
                RequestRole::Agent,
                vec![
                    "You work on files.",
                    "do the task",
                    "Summary\n----\nall went well"
                ]
            ),
        ]
    );
}

#[test]
fn a_run_killed_about_a_compaction_is_read_up_to_there() {
    let bytes = compacted(true);
    let whole = read(&bytes).unwrap().entries.len();
    let mut most = 0;
    for cut in (0..bytes.len()).rev() {
        let replay = read(&bytes[..cut]).unwrap();
        assert!(replay.is_partial(), "cut at {cut}");
        most = most.max(replay.entries.len());
    }
    assert_eq!(most, whole);
}

#[test]
fn a_stream_tells_of_a_summarizer_by_the_compaction_it_came_to() {
    let line = |model: &str, fallback: bool| {
        json!({"type": "compaction", "agentId": "root", "turn": 2,
            "strategy": "handoff-summarization", "modelId": model, "fallback": fallback})
    };
    let told = |replied: bool, compactions: &[Value]| {
        let mut text: Vec<String> = compactions.iter().map(Value::to_string).collect();
        text.push("{\"type\":\"session_ended\",\"sessionId\":\"a session\"}\n".to_owned());
        let replay = read(&compacted(replied)).unwrap();
        let found = agree(&replay, &text.join("\n"));
        let messages = found.into_iter().map(|found| found.message);
        messages
            .filter(|message| message.contains("compaction") || message.contains("summarizer"))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(true, &[line("small", false)]), [""; 0]);
    assert_eq!(told(true, &[line("small", true)]), [""; 0]);
    assert_eq!(told(false, &[line("small", true)]), [""; 0]);
    // The agent ended on it.
    assert_eq!(told(false, &[]), [""; 0]);
    assert_eq!(
        told(true, &[line("large", false)]),
        ["compaction 0: the model is \"small\" in the journal, \"large\" in the stream"]
    );
    assert_eq!(
        told(false, &[line("small", false)]),
        ["compaction 0 has a summary, and the journal no reply"]
    );
    assert_eq!(
        told(true, &[line("small", false), line("small", false)]),
        ["the journal has 1 requests of a summarizer, the stream 2"]
    );
}
