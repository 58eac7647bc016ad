//! Chat messages as gg holds them, before any wire shape.

use std::sync::Arc;

use crate::ids::{CallId, ProviderName};
use crate::words::words;

words! {
    /// Who a message is from.
    Role ("role") {
        /// The system prompt; first and once.
        System = "system",
        /// The task, notices, views.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The answer to one tool call.
        Tool = "tool",
    }
}

words! {
    /// The picture formats gg attaches, recognised by magic number only (04 §3).
    ImageFormat ("image format") {
        /// `image/png`
        Png = "image/png",
        /// `image/jpeg`
        Jpeg = "image/jpeg",
        /// `image/gif`
        Gif = "image/gif",
        /// `image/webp`
        Webp = "image/webp",
    }
}

/// A picture that rides a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its format; `as_str` is the media type.
    pub format: ImageFormat,
    /// The file's bytes, undecoded.
    pub bytes: Arc<[u8]>,
    /// Width and height in pixels as the header gives them; `None` where it cannot be read.
    pub dimensions: Option<(u32, u32)>,
}

impl Image {
    /// Bytes it takes in a request, base64-encoded.
    pub fn encoded_len(&self) -> u64 {
        (self.bytes.len() as u64).div_ceil(3) * 4
    }

    /// The estimated charge: 85 and 170 for each tile of 512 pixels, or for each 128 KiB where the
    /// header cannot be read (02 §2).
    pub fn tokens(&self) -> u64 {
        let tiles = match self.dimensions {
            Some((width, height)) => {
                u64::from(width.div_ceil(512)) * u64::from(height.div_ceil(512))
            }
            None => (self.bytes.len() as u64).div_ceil(131_072),
        };
        85 + 170 * tiles
    }
}

/// One tool call of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// Unique within the window; its result carries the same.
    pub id: CallId,
    /// The name as the model wrote it, known or not.
    pub name: String,
    /// The arguments as JSON text, exactly as received; `{}` where they were empty, blank,
    /// missing or `null` (R42).
    pub arguments: Arc<str>,
}

/// What a model reasoned on the way to a reply, kept to be sent back to whoever made it (R26).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasoning {
    /// Who made it; `None` where the reply named nobody.
    pub provider: Option<ProviderName>,
    /// The items of `reasoning_details`, in order.
    pub items: Vec<ReasoningItem>,
    /// The readable text, sent back where there are no items.
    pub text: Option<Arc<str>>,
}

/// One item of a reply's reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasoningItem {
    /// The item's JSON object, as it is sent back.
    pub json: Arc<str>,
    /// Whether it is signed or encrypted, so that only its maker can read it.
    pub sealed: bool,
}

/// One chat message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// The system prompt.
    System {
        /// Its text.
        text: Arc<str>,
    },
    /// Something said to the model.
    User {
        /// Its text.
        text: Arc<str>,
        /// Pictures beside the text.
        images: Vec<Image>,
    },
    /// Something the model said.
    Assistant {
        /// Its text; `None` where the reply had none.
        text: Option<Arc<str>>,
        /// The calls it requested, in order.
        calls: Vec<ToolCall>,
        /// What it reasoned on the way; `None` where the reply had none.
        reasoning: Option<Arc<Reasoning>>,
    },
    /// The answer to one call.
    Tool {
        /// The call it answers.
        call: CallId,
        /// The result's text.
        text: Arc<str>,
        /// Pictures beside the text.
        images: Vec<Image>,
    },
}

impl Message {
    /// Who it is from.
    pub const fn role(&self) -> Role {
        match self {
            Self::System { .. } => Role::System,
            Self::User { .. } => Role::User,
            Self::Assistant { .. } => Role::Assistant,
            Self::Tool { .. } => Role::Tool,
        }
    }

    /// Its text, empty where it has none.
    pub fn text(&self) -> &str {
        match self {
            Self::System { text } | Self::User { text, .. } | Self::Tool { text, .. } => text,
            Self::Assistant { text, .. } => text.as_deref().unwrap_or_default(),
        }
    }

    /// Its pictures.
    pub fn images(&self) -> &[Image] {
        match self {
            Self::User { images, .. } | Self::Tool { images, .. } => images,
            Self::System { .. } | Self::Assistant { .. } => &[],
        }
    }

    /// What the model reasoned on the way to it.
    pub fn reasoning(&self) -> Option<&Arc<Reasoning>> {
        match self {
            Self::Assistant { reasoning, .. } => reasoning.as_ref(),
            _ => None,
        }
    }

    /// The calls it requests.
    pub fn calls(&self) -> &[ToolCall] {
        match self {
            Self::Assistant { calls, .. } => calls,
            _ => &[],
        }
    }

    /// The call it answers.
    pub const fn answers(&self) -> Option<&CallId> {
        match self {
            Self::Tool { call, .. } => Some(call),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_costs_by_tiles_or_by_size() {
        let mut image = Image {
            format: ImageFormat::Png,
            bytes: vec![0; 131_073].into(),
            dimensions: Some((513, 512)),
        };
        assert_eq!(image.tokens(), 85 + 170 * 2);
        image.dimensions = None;
        assert_eq!(image.tokens(), 85 + 170 * 2);
    }
}
