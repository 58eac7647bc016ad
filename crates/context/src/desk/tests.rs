//! What is taken from a window, and what is brought into the next.

use provider::request::Shape;
use vocab::message::Message;

use super::*;
use crate::window::{Region, Retention};

fn window() -> Window {
    Window::new(1000, "", Shape::Bare)
}

fn view(path: &str, lines: Option<(u64, u64)>) -> NewItem {
    let message = Message::User {
        text: format!("text of {path} {lines:?}").into(),
        images: Vec::new(),
    };
    NewItem {
        selector: Some(path.into()),
        region: lines.map(|(first, last)| Region {
            first,
            last,
            total: 99,
        }),
        ..NewItem::new(Band::FileView, 1, message)
    }
}

fn entry(path: &str, lines: Option<(u64, u64)>) -> OpenFile {
    OpenFile {
        path: path.into(),
        lines,
    }
}

fn root() -> &'static Path {
    Path::new("/work/space")
}

#[test]
fn every_window_of_a_file_is_an_entry_of_its_own_and_stands_there_once() {
    let mut window = window();
    for lines in [None, Some((1, 20)), Some((40, 59)), Some((1, 20)), None] {
        window.push(view("src/a.rs", lines));
    }
    window.push(view("b.rs", None));
    let desk = Desk::of(&window, root());
    let expected = [
        entry("src/a.rs", None),
        entry("src/a.rs", Some((1, 20))),
        entry("src/a.rs", Some((40, 59))),
        entry("b.rs", None),
    ];
    assert_eq!(desk.files, expected);
    let windows: Vec<_> = desk.files.iter().map(OpenFile::window).collect();
    assert_eq!(windows, [None, Some((1, 20)), Some((40, 20)), None]);
}

#[test]
fn paths_are_kept_from_the_root_however_they_were_spelled() {
    for (path, kept) in [
        ("./src//a.rs", "src/a.rs"),
        ("/work/space/src/a.rs", "src/a.rs"),
        ("/work/./space//src/a.rs", "src/a.rs"),
        ("/work/spaces/a.rs", "/work/spaces/a.rs"),
        ("work/space/a.rs", "work/space/a.rs"),
        ("/etc/hosts", "/etc/hosts"),
        ("../a.rs", "../a.rs"),
    ] {
        let mut window = window();
        window.push(view(path, None));
        assert_eq!(
            Desk::of(&window, root()).files,
            [entry(kept, None)],
            "{path}"
        );
    }
}

#[test]
fn what_is_pinned_or_evicted_and_what_is_no_file_is_not_open() {
    let mut window = window();
    window.push(NewItem {
        retention: Retention::Pinned,
        ..view("spec.md", None)
    });
    window.push(view("gone.rs", None));
    window.push(NewItem {
        band: Band::ToolOutput,
        ..view("found.rs", None)
    });
    let evict = |path: Option<&str>| path == Some("gone.rs");
    let stub = |_: &crate::window::Item| Ok::<_, std::convert::Infallible>(String::new());
    window.evict_file_views(evict, stub).unwrap();
    assert_eq!(Desk::of(&window, root()), Desk::default());
}

#[test]
fn a_path_that_is_open_already_is_not_restored_locked_or_not() {
    let mut before = window();
    for (path, lines) in [
        ("spec.md", None),
        ("a.rs", Some((1, 5))),
        ("a.rs", Some((9, 9))),
    ] {
        before.push(view(path, lines));
    }
    before.push(view("c.rs", None));
    let desk = Desk::of(&before, root());
    let mut window = window();
    window.push(NewItem {
        retention: Retention::Pinned,
        ..view("./spec.md", None)
    });
    window.push(view("/work/space/c.rs", Some((3, 4))));
    let (missing, open) = desk.missing_from(&window, root());
    assert_eq!(
        missing,
        [entry("a.rs", Some((1, 5))), entry("a.rs", Some((9, 9)))]
    );
    assert_eq!(open, 2);
}

#[test]
fn what_is_restored_is_on_the_desk_again() {
    let files = vec![entry("a \"1\".rs", None), entry("b.rs", Some((3, 7)))];
    let read = files.iter().map(|file| {
        let loaded = Loaded {
            path: Arc::clone(&file.path),
            text: "text".into(),
            region: file.lines.map(|(first, last)| Region {
                first,
                last,
                total: 9,
            }),
            image: None,
        };
        (file.clone(), loaded)
    });
    let mut window = window();
    for item in items(read.collect()) {
        window.push(item);
    }
    let [first, one, second, other] = window.items() else {
        panic!("two files are two pairs");
    };
    for (call, result) in [(first, one), (second, other)] {
        let made = &call.message.calls()[0];
        assert_eq!(made.name, "read_file");
        assert_eq!(result.message.answers(), Some(&made.id));
        assert_eq!((call.turn, result.turn), (0, 0));
        assert!(call.is_ephemeral() && result.is_ephemeral());
    }
    let arguments = [first, second].map(|call| call.message.calls()[0].arguments.to_string());
    assert_eq!(
        arguments,
        [
            r#"{"path":"a \"1\".rs"}"#,
            r#"{"path":"b.rs","offset":3,"limit":5}"#
        ]
    );
    assert_eq!(Desk::of(&window, root()).files, files);
}
