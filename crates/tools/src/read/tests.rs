//! Windows, footers, the backstop, pictures: byte for byte.

use super::*;
use std::fs;
use tempfile::TempDir;
use vocab::failure::FailureClass;

const CAPPED: FilePolicy = FilePolicy {
    read: Some(ReadPolicy {
        mode: ReadMode::DefaultCap,
        line_cap: 3,
    }),
    attach_images: true,
    picture_room: REQUEST_PICTURES,
    whole: false,
};
const UNLIMITED: FilePolicy = FilePolicy {
    read: Some(ReadPolicy {
        mode: ReadMode::Unlimited,
        line_cap: 3,
    }),
    attach_images: true,
    picture_room: REQUEST_PICTURES,
    whole: false,
};

fn folder(contents: impl AsRef<[u8]>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), contents).unwrap();
    folder
}

fn done(
    folder: &TempDir,
    policy: FilePolicy,
    offset: impl Into<Option<u64>>,
    limit: impl Into<Option<u64>>,
) -> Result<Done, Failure> {
    let call = ReadFile {
        path: "f".to_owned(),
        offset: offset.into(),
        limit: limit.into(),
    };
    let place = Place::at(folder.path());
    Ok(read(&call, &place, &policy, &Halt::default())?.into_done("f"))
}

fn shown(contents: &str, policy: FilePolicy, offset: u64, limit: Option<u64>) -> String {
    done(&folder(contents), policy, offset, limit).unwrap().text
}

const FIVE: &str = "1\n2\n3\n4\n5\n";

#[test]
fn a_whole_file_has_no_footer_in_either_mode() {
    for text in ["", "a", "a\n", "\n", "1\r\n2\n3"] {
        assert_eq!(shown(text, CAPPED, 1, None), text);
        assert_eq!(shown(text, UNLIMITED, 1, None), text);
    }
    assert_eq!(shown(FIVE, UNLIMITED, 1, None), FIVE);
    assert_eq!(shown(FIVE, CAPPED, 1, Some(9)), FIVE);
}

#[test]
fn a_window_says_what_it_shows_and_how_to_go_on() {
    assert_eq!(
        shown(FIVE, CAPPED, 1, None),
        "1\n2\n3\n[showing lines 1-3 of 5; continue with offset: 4]"
    );
    assert_eq!(
        shown(FIVE, CAPPED, 4, None),
        "4\n5\n[showing lines 4-5 of 5]"
    );
    assert_eq!(
        shown("1\n2", UNLIMITED, 2, None),
        "2\n[showing lines 2-2 of 2]"
    );
    assert_eq!(
        shown(FIVE, UNLIMITED, 2, Some(1)),
        "2\n[showing lines 2-2 of 5; continue with offset: 3]"
    );
}

#[test]
fn a_view_has_a_region_unless_it_is_whole() {
    let region = |offset| {
        done(&folder(FIVE), CAPPED, offset, None)
            .unwrap()
            .view
            .unwrap()
            .region
    };
    assert_eq!(
        region(2),
        Some(Region {
            first: 2,
            last: 4,
            total: 5
        })
    );
    let whole = done(&folder("1\n"), CAPPED, None, None)
        .unwrap()
        .view
        .unwrap();
    assert_eq!(
        whole,
        View {
            path: "f".to_owned(),
            region: None
        }
    );
}

#[test]
fn an_offset_past_the_end_names_the_length() {
    let failure = done(&folder(FIVE), CAPPED, 6, None).unwrap_err();
    assert_eq!(failure.class, FailureClass::InvalidArgument);
    assert_eq!(
        failure.message,
        "`offset` 6 is past the end of `f`, which has 5 lines"
    );
    assert!(done(&folder(""), CAPPED, 2, None).is_err());
}

#[test]
fn missing_files_and_directories_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        done(&folder, CAPPED, None, None).unwrap_err().class,
        FailureClass::NotFound
    );
    fs::create_dir(folder.path().join("f")).unwrap();
    let failure = done(&folder, CAPPED, None, None).unwrap_err();
    assert_eq!(failure.class, FailureClass::InvalidArgument);
    assert_eq!(failure.message, "`f` is a directory, not a file");
}

#[test]
fn the_backstop_cuts_on_a_character_and_says_where() {
    // 100,000 characters of 3 bytes are one line over the bound.
    let long = "漢".repeat(100_000);
    let text = shown(&format!("{long}\nb\n"), UNLIMITED, 1, None);
    let (kept, footer) = text.split_once('\n').unwrap();
    assert_eq!(kept, "漢".repeat(BACKSTOP / 3));
    assert_eq!(
        footer,
        "[cut at 262144 bytes, inside line 1]\n[showing lines 1-1 of 2; continue with offset: 2]"
    );
    // The cut line is read again where another one came before it.
    let text = shown(&format!("a\n{long}\nb\n"), UNLIMITED, 1, None);
    assert!(text.ends_with(
        "\n[cut at 262144 bytes, inside line 2]\n[showing lines 1-2 of 3; continue with offset: 2]"
    ));
}

#[test]
fn exactly_the_backstop_is_whole() {
    let text = format!("{}\n", "x".repeat(BACKSTOP - 1));
    assert_eq!(shown(&text, UNLIMITED, 1, None), text);
    let cut = shown(&format!("{text}y\n"), UNLIMITED, 1, None);
    assert!(
        cut.ends_with(
            "x\n[cut at 262144 bytes]\n[showing lines 1-1 of 2; continue with offset: 2]"
        )
    );
}

#[test]
fn what_is_opened_on_comes_whole() {
    let long = format!("{}\nb\n", "漢".repeat(100_000));
    let whole = FilePolicy {
        read: None,
        whole: true,
        ..CAPPED
    };
    let done = done(&folder(&long), whole, None, None).unwrap();
    assert_eq!(done.text, long);
    assert_eq!(done.view.unwrap().region, None);
}

#[test]
fn lines_across_chunks_are_counted_once() {
    let line = "x".repeat(999);
    let text = format!("{line}\n").repeat(1_000);
    let window = shown(&text, UNLIMITED, 500, Some(2));
    assert_eq!(
        window,
        format!("{line}\n{line}\n[showing lines 500-501 of 1000; continue with offset: 502]")
    );
}

#[test]
fn what_is_no_utf8_is_marked_and_a_byte_order_mark_hidden() {
    assert_eq!(
        done(&folder(b"a\xffb\n"), CAPPED, None, None).unwrap().text,
        "a\u{fffd}b\n"
    );
    assert_eq!(shown("\u{feff}a\n", CAPPED, 1, None), "a\n");
    assert_eq!(shown("\u{feff}", CAPPED, 1, None), "");
}

#[test]
fn a_picture_is_attached_or_described() {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0".to_vec();
    png.resize(1_500, 0);
    let attached = done(&folder(&png), CAPPED, 7, None).unwrap();
    assert_eq!(attached.text, "f: image/png, 640x480, 1,500 bytes");
    assert_eq!(attached.images[0].dimensions, Some((640, 480)));
    assert_eq!(&attached.images[0].bytes[..], &png);

    let blind = FilePolicy {
        attach_images: false,
        ..CAPPED
    };
    let described = done(&folder(&png), blind, None, None).unwrap();
    assert_eq!(
        described.text,
        "f: image/png, 640x480, 1,500 bytes; not attached: the model takes no pictures"
    );
    assert!(described.images.is_empty());

    // 1,500 bytes are 2,000 encoded.
    for (picture_room, attached) in [(2_000, 1), (1_999, 0)] {
        let policy = FilePolicy {
            picture_room,
            ..CAPPED
        };
        let read = done(&folder(&png), policy, None, None).unwrap();
        assert_eq!(read.images.len(), attached);
        assert_eq!(read.text.contains("leave no room"), attached == 0);
    }

    png.resize(MAX_PICTURE as usize + 1, 0);
    let large = done(&folder(&png), CAPPED, None, None).unwrap();
    assert_eq!(
        large.text,
        "f: image/png, 640x480, 8,388,609 bytes; not attached: over 8 MiB"
    );
    assert!(large.images.is_empty());
    png.pop();
    assert_eq!(
        done(&folder(&png), CAPPED, None, None)
            .unwrap()
            .images
            .len(),
        1
    );
}

#[test]
fn a_raised_halt_ends_a_read() {
    let folder = folder(FIVE);
    let halt = Halt::default();
    halt.raise();
    let call = ReadFile {
        path: "f".to_owned(),
        offset: None,
        limit: None,
    };
    let failure = read(&call, &Place::at(folder.path()), &CAPPED, &halt).unwrap_err();
    assert_eq!(failure.class, FailureClass::LimitExceeded);
}

proptest::proptest! {
    #[test]
    fn windows_one_after_another_give_the_file(text in "[a漢\n\r]{0,80}", limit in 1_u64..4) {
        let folder = folder(&text);
        let mut joined = String::new();
        let mut offset = 1;
        loop {
            let call = ReadFile { path: "f".to_owned(), offset: Some(offset), limit: Some(limit) };
            let place = Place::at(folder.path());
            let FileRead::Text(read) = read(&call, &place, &CAPPED, &Halt::default()).unwrap()
            else { panic!("no text") };
            joined += &read.contents;
            offset = read.last + 1;
            if read.last >= read.total {
                break;
            }
        }
        proptest::prop_assert_eq!(joined, text);
    }
}
