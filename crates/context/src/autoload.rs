//! The files an agent opens on, as if it had read them (02 §4).
//!
//! Tool mode: for each file an assistant message that calls `read_file`, and the result that
//! answers it. Code mode: one program that opens a view of each, its receipt, and the views. Reading
//! the files, whole and before the first turn, is the caller's.
//!
//! Always true: every call has its result, under an id no other call of the window has as long as
//! nothing was called before.

use std::sync::Arc;

use serde_json::json;

use crate::opened::{self, Loaded, read};
use crate::window::{NewItem, Retention};

/// The opening items of some files, each read whole, in their order, of turn 0. `locked`: the
/// results are pinned; the assistant messages never are.
pub fn items(files: Vec<Loaded>, locked: bool) -> Vec<NewItem> {
    let retention = retention(locked);
    let pairs = files.into_iter().enumerate().map(|(place, file)| {
        let arguments = json!({ "path": &*file.path });
        let [call, result] = read(&format!("autoload-{}", place + 1), &arguments, file);
        let result = NewItem {
            retention,
            ..result
        };
        [call, result]
    });
    pairs.flatten().collect()
}

/// The same of an agent that writes programs: `program` opens the `views`, which are pinned where
/// `locked`, and `receipt` answers it.
pub fn by_program(
    program: &str,
    receipt: impl Into<Arc<str>>,
    views: Vec<NewItem>,
    locked: bool,
) -> Vec<NewItem> {
    let retention = retention(locked);
    let views = views.into_iter().map(|view| NewItem { retention, ..view });
    opened::by_program("autoload-1", program, receipt, views)
}

const fn retention(locked: bool) -> Retention {
    if locked {
        Retention::Pinned
    } else {
        Retention::Ephemeral
    }
}

#[cfg(test)]
mod tests {
    use vocab::message::{Image, ImageFormat};

    use super::*;
    use crate::window::Window;

    fn loaded(path: &str, image: Option<Image>) -> Loaded {
        Loaded {
            path: path.into(),
            text: format!("text of {path}").into(),
            region: None,
            image,
        }
    }

    fn opened(locked: bool) -> Window {
        let picture = Image {
            format: ImageFormat::Png,
            bytes: vec![1].into(),
            dimensions: None,
        };
        let mut window = Window::new(1000, "", provider::request::Shape::Bare);
        let files = vec![
            loaded("spec \"1\".md", None),
            loaded("mock.png", Some(picture)),
        ];
        for item in items(files, locked) {
            window.push(item);
        }
        window
    }

    #[test]
    fn each_file_is_a_call_and_the_result_that_answers_it() {
        let window = opened(false);
        let items = window.items();
        assert_eq!(items.len(), 4);
        for pair in items.chunks(2) {
            let call = &pair[0].message.calls()[0];
            assert_eq!(call.name, "read_file");
            assert_eq!(pair[1].message.answers(), Some(&call.id));
            let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
            assert_eq!(arguments["path"].as_str(), pair[1].selector.as_deref());
            assert_eq!((pair[0].turn, pair[1].turn), (0, 0));
        }
        assert_ne!(
            items[0].message.calls()[0].id,
            items[2].message.calls()[0].id
        );
        assert_eq!(items[3].message.images().len(), 1);
        assert!(items.iter().all(crate::window::Item::is_ephemeral));
    }

    #[test]
    fn of_a_program_s_views_the_locked_ones_are_pinned_and_the_program_never_is() {
        let views = || {
            let view = |path| crate::views::file(path, None, false, "", None, 0).unwrap();
            vec![view("a.md"), view("b.md")]
        };
        for locked in [false, true] {
            let mut window = Window::new(1000, "", provider::request::Shape::Bare);
            for item in by_program("views.openFile(\"a.md\");", "ok", views(), locked) {
                window.push(item);
            }
            let items = window.items().iter();
            let pinned: Vec<_> = items.map(|item| !item.is_ephemeral()).collect();
            assert_eq!(pinned, [false, false, locked, locked]);
            // A closed view would be one that is not pinned.
            let closed = window.close_views(|_, selector| selector == "a.md");
            assert_eq!(closed.views.len(), usize::from(!locked));
        }
    }

    #[test]
    fn locked_results_are_pinned_and_their_calls_are_not() {
        let window = opened(true);
        let pinned: Vec<_> = window
            .items()
            .iter()
            .map(|item| !item.is_ephemeral())
            .collect();
        assert_eq!(pinned, [false, true, false, true]);
    }
}
