//! What gg opens for an agent, as if the agent had: a file it read, a program it submitted.
//!
//! Always true: a call stands directly before the result that answers it; what a program shows stands
//! behind its receipt.

use std::sync::Arc;

use serde_json::{Value, json};
use vocab::band::Band;
use vocab::ids::CallId;
use vocab::message::{Image, Message, ToolCall};
use vocab::tools::{SUBMIT_PROGRAM, ToolName};

use crate::window::{NewItem, Region};

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The path its call names.
    pub path: Arc<str>,
    /// The text of the read's result; of a picture, what describes it.
    pub text: Arc<str>,
    /// The lines it shows, where that is not all of a text file.
    pub region: Option<Region>,
    /// The picture, where it is attached.
    pub image: Option<Image>,
}

/// The call that reads a file and its result, both ephemeral and of turn 0. No other call of the
/// window may have the id.
pub(crate) fn read(id: &str, arguments: &Value, file: Loaded) -> [NewItem; 2] {
    let id = CallId::from(id);
    let called = called(&id, ToolName::ReadFile.as_str(), arguments);
    let result = Message::Tool {
        call: id,
        text: file.text,
        images: file.image.into_iter().collect(),
    };
    [
        NewItem::new(Band::Assistant, 0, called),
        NewItem {
            selector: Some(file.path),
            region: file.region,
            ..NewItem::new(Band::FileView, 0, result)
        },
    ]
}

/// A program of gg's own, as if the agent had submitted it, the `receipt` that answers it, and the
/// views it shows; the first two ephemeral and of turn 0. No other call of the window may have the
/// id.
pub fn by_program(
    id: &str,
    program: &str,
    receipt: impl Into<Arc<str>>,
    views: impl IntoIterator<Item = NewItem>,
) -> Vec<NewItem> {
    let id = CallId::from(id);
    let called = called(&id, SUBMIT_PROGRAM, &json!({ "program": program }));
    let result = Message::Tool {
        call: id,
        text: receipt.into(),
        images: Vec::new(),
    };
    let mut items = vec![
        NewItem::new(Band::Assistant, 0, called),
        NewItem::new(Band::ToolOutput, 0, result),
    ];
    items.extend(views);
    items
}

fn called(id: &CallId, name: &str, arguments: &Value) -> Message {
    Message::Assistant {
        text: None,
        calls: vec![ToolCall {
            id: id.clone(),
            name: name.to_owned(),
            arguments: arguments.to_string().into(),
        }],
        reasoning: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views;
    use crate::window::Window;

    #[test]
    fn what_a_program_of_gg_s_shows_stands_behind_its_receipt() {
        let shown = views::file("a \"b\".md", None, false, "", None, 0).unwrap();
        let program = "show(\"a\");\nshow(\"b\");";
        let mut window = Window::new(1000, "", provider::request::Shape::Bare);
        for item in by_program("opening", program, "ok", [shown]) {
            window.push(item);
        }
        let items = window.items();
        let call = &items[0].message.calls()[0];
        assert_eq!(call.name, "submit_program");
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        assert_eq!(arguments, json!({ "program": program }));
        assert_eq!(items[1].message.answers(), Some(&call.id));
        assert_eq!(items[1].message.text(), "ok");
        assert_eq!(items[2].message.text(), "File: a \"b\".md\n----\n");
        assert!(
            items
                .iter()
                .all(|item| item.turn == 0 && item.is_ephemeral())
        );
    }
}
