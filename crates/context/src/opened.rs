//! A file that gg opens for an agent, as if the agent had read it.
//!
//! Always true: a call stands directly before the result that answers it, and nothing else.

use std::sync::Arc;

use serde_json::Value;
use vocab::band::Band;
use vocab::ids::CallId;
use vocab::message::{Image, Message, ToolCall};
use vocab::tools::ToolName;

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
    let called = Message::Assistant {
        text: None,
        calls: vec![ToolCall {
            id: id.clone(),
            name: ToolName::ReadFile.as_str().to_owned(),
            arguments: arguments.to_string().into(),
        }],
        reasoning: None,
    };
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
