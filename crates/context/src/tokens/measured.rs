//! A text that many windows hold, counted for all of them at once.
//!
//! Always true: its tokens are counted at most once, and only when somebody asks.

use std::sync::{Arc, OnceLock};

/// A text and, once somebody has asked, its tokens. A clone shares both.
#[derive(Clone, Debug)]
pub struct Measured(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    text: Arc<str>,
    tokens: OnceLock<u64>,
}

impl Measured {
    /// The text.
    pub fn text(&self) -> &Arc<str> {
        &self.0.text
    }

    /// Its tokens.
    pub fn tokens(&self) -> u64 {
        *self.0.tokens.get_or_init(|| super::count(&self.0.text))
    }
}

impl<T: Into<Arc<str>>> From<T> for Measured {
    fn from(text: T) -> Self {
        Self(Arc::new(Inner {
            text: text.into(),
            tokens: OnceLock::new(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_text_and_its_count() {
        let text = Measured::from("one two three");
        let copy = text.clone();
        assert_eq!(copy.tokens(), super::super::count("one two three"));
        assert_eq!(text.0.tokens.get(), Some(&copy.tokens()));
        assert!(Arc::ptr_eq(text.text(), copy.text()));
    }
}
