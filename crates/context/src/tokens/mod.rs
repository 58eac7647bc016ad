//! How many tokens a text is: exact `o200k_base` counts, the one estimate gg uses for every model
//! (02 §2).
//!
//! A text is cut into pieces by the vocabulary's own pattern (`split`), most of which are one
//! token; the others are merged (`merge`) by ranks looked up in read-only data (`vocabulary`) that
//! the build wrote. There is nothing to load and no state.
//!
//! Special tokens are not recognised: text that spells one is text.

mod classes;
mod hash;
mod measured;
mod merge;
mod split;
mod vocabulary;

use vocab::message::{Image, Message, Reasoning};

pub use measured::Measured;

/// Tokens of a text.
pub fn count(text: &str) -> u64 {
    let of_piece = |piece: &str| match vocabulary::rank(piece.as_bytes()) {
        Some(_) => 1,
        None => merge::count(piece.as_bytes()) as u64,
    };
    split::pieces(text).map(of_piece).sum()
}

/// Tokens a message is charged: its text, its calls' arguments, its pictures and the reasoning that
/// is sent back with it, without envelope.
pub fn of_message(message: &Message) -> u64 {
    let arguments = message.calls().iter().map(|call| count(&call.arguments));
    let images = message.images().iter().map(Image::tokens);
    let reasoning = message.reasoning().map_or(0, |it| of_reasoning(it));
    count(message.text()) + arguments.sum::<u64>() + images.sum::<u64>() + reasoning
}

/// Tokens of reasoning that is sent back: its items, or its text where there are none.
pub fn of_reasoning(reasoning: &Reasoning) -> u64 {
    if reasoning.items.is_empty() {
        return reasoning.text.as_deref().map_or(0, count);
    }
    reasoning.items.iter().map(|item| count(&item.json)).sum()
}
