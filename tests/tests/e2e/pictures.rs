//! Pictures: what is attached, what is described, and a model that takes none (04 §3, R32).

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Reply, Request, Strict};
use tests::launch::MODEL;
use tests::run::Run;

use crate::common::result_text;

/// A PNG of this many bytes, as far as its header says.
fn png(bytes: usize) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0".to_vec();
    png.resize(bytes, 7);
    png
}

/// The pictures of a request: its data URLs.
fn pictures(request: &Request) -> Vec<String> {
    let messages = request.messages();
    let contents = messages
        .iter()
        .filter_map(|message| message["content"].as_array());
    contents
        .flatten()
        .filter_map(|part| part["image_url"]["url"].as_str())
        .map(str::to_owned)
        .collect()
}

fn read(path: &str) -> Reply {
    Answer::call("read_file", json!({ "path": path })).into()
}

#[test]
fn a_picture_rides_its_own_result() {
    let run = Run::builder()
        .file("a.png", png(1_500))
        .answers(|request: &Request, _: usize| match request.turn() {
            0 => read("a.png"),
            _ => Answer::finish("Seen.").into(),
        })
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    let sent = pictures(&requests[1]);
    assert_eq!(sent.len(), 1);
    assert!(sent[0].starts_with("data:image/png;base64,iVBORw0KGgo"));
    let events = run.events("context_message");
    let shown = events
        .iter()
        .find(|event| event["images"].is_array())
        .unwrap();
    assert_eq!(shown["images"][0]["mediaType"], "image/png");
    assert_eq!(shown["images"][0]["bytes"], 1_500);
    assert_eq!(shown["label"], "a.png");
    assert!(
        !run.stdout.contains("iVBORw0KGgo"),
        "bytes are in the stream"
    );
}

#[test]
fn a_model_declared_without_pictures_is_sent_none() {
    let run = Run::builder()
        .file("a.png", png(1_500))
        .with(|launch| launch.set("/modelModalities", json!({ MODEL: ["text"] })))
        .answers(|request: &Request, _: usize| match request.turn() {
            0 => read("a.png"),
            _ => Answer::finish("Told.").into(),
        })
        .run();
    run.ended(0, "completed");
    assert!(result_text(&run, 0).contains("not attached: the model takes no pictures"));
    let requests = run.gateway.as_ref().unwrap().requests();
    assert!(
        requests[0]
            .text()
            .contains("Pictures cannot be shown to you")
    );
    assert!(requests.iter().all(|request| pictures(request).is_empty()));
}

/// The model refuses in these words whatever holds a picture.
#[track_caller]
fn refuses(status: u16, body: &'static str) {
    let run = Run::builder()
        .file("a.png", png(1_500))
        .file("b.png", png(900))
        // Taking a picture out is one of the few edits of what was sent.
        .gateway(Gateway::with_checker(
            Some(Strict {
                prefix: false,
                ..Strict::default()
            }),
            move |request: &Request, _: usize| {
                if !pictures(request).is_empty() {
                    return Reply::status(status, body);
                }
                match request.turn() {
                    0 => Answer::call("read_file", json!({ "path": "a.png" }))
                        .and_call("list_dir", json!({}))
                        .into(),
                    1 => read("b.png"),
                    _ => Answer::finish("Went on.").into(),
                }
            },
        ))
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    assert_eq!(requests.len(), 4, "one wasted request\n{}", run.describe());
    assert_eq!(run.outcomes(), ["progressed", "progressed", "finished"]);
    let text = result_text(&run, 0);
    assert!(text.starts_with("a.png: image/png, 640x480"), "{text}");
    assert!(
        text.ends_with("because the model's provider refuses it]"),
        "{text}"
    );
    assert!(result_text(&run, 2).contains("not attached"));
    let warned: Vec<&Value> = run.events("log");
    assert_eq!(
        warned.iter().filter(|log| log["code"] == "blind").count(),
        1
    );
    // The stripped message is one of its own, reported before the prompt that names it: that is
    // among the rules checked after every run. The refused request is in the journal as such.
    let journal = String::from_utf8(run.journal()).unwrap();
    assert_eq!(journal.matches("\"image_unsupported\"").count(), 1);
}

#[test]
fn a_model_that_turns_out_to_be_blind_costs_one_request() {
    refuses(
        404,
        r#"{"error":{"code":404,"message":"No endpoints found that support image input"}}"#,
    );
}

#[test]
fn f64_a_request_too_large_for_its_pictures_goes_on_without_them() {
    refuses(413, "Payload Too Large");
}

#[test]
fn f65_a_picture_of_too_many_pixels_is_taken_out() {
    refuses(
        400,
        r#"{"error":{"code":400,"message":"image dimensions exceed 8000 pixels"}}"#,
    );
}

#[test]
fn f64_older_pictures_leave_room_or_the_new_one_is_described() {
    // Two of 7.5 MB are 20,000,000 bytes encoded: under 20 MiB. A third is not.
    let run = Run::builder()
        .file("a.png", png(7_500_000))
        .answers(|request: &Request, _: usize| match request.turn() {
            0..3 => read("a.png"),
            _ => Answer::finish("Seen twice.").into(),
        })
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    assert_eq!(pictures(requests.last().unwrap()).len(), 2);
    assert!(result_text(&run, 2).contains("leave no room"));
}
