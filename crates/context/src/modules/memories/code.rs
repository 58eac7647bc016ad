//! The code a memory may carry: a module to import, and a script that runs on its use (02 §9.6).
//!
//! Only programs write it and only programs are served by it; a tool-calling holder of the same
//! store neither sees nor touches it. Nothing of it counts against the store's limits.

use std::sync::Arc;

use vocab::language::ProgramLanguage;

use super::MemoryError;

/// Characters of one half at most.
pub const MAX_CODE_CHARS: u64 = 32_768;

/// Both halves; each is `None` where the memory has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryCode {
    /// The language it is written in: that of the program that gave it. `None` where there is none.
    pub language: Option<ProgramLanguage>,
    /// What a program imports.
    pub module: Option<Arc<str>>,
    /// What runs when the memory is used.
    pub on_use: Option<Arc<str>>,
}

impl MemoryCode {
    /// What a call of a program gave; a half that is blank is none.
    pub fn given(language: ProgramLanguage, code: Option<String>, on_use: Option<String>) -> Self {
        let half = |text: Option<String>| {
            text.filter(|text| !text.trim().is_empty())
                .map(Arc::<str>::from)
        };
        let (module, on_use) = (half(code), half(on_use));
        Self {
            language: (module.is_some() || on_use.is_some()).then_some(language),
            module,
            on_use,
        }
    }

    /// Whether there is none at all.
    pub const fn is_empty(&self) -> bool {
        self.module.is_none() && self.on_use.is_none()
    }

    /// Refuses a half that is too long.
    ///
    /// # Errors
    ///
    /// [`MemoryError::CodeTooLong`], of the module first.
    pub fn admit(&self) -> Result<(), MemoryError> {
        for (half, text) in [("code", &self.module), ("onUse", &self.on_use)] {
            let would = text.as_ref().map_or(0, |text| text.chars().count() as u64);
            if would > MAX_CODE_CHARS {
                return Err(MemoryError::CodeTooLong { half, would });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JS: ProgramLanguage = ProgramLanguage::Javascript;

    #[test]
    fn a_half_may_have_as_many_characters_as_it_may_whatever_their_bytes() {
        let most = "漢".repeat(32_768);
        let code = MemoryCode::given(JS, Some(most.clone()), Some(most.clone()));
        assert_eq!(code.admit(), Ok(()));
        let over = MemoryCode::given(JS, None, Some(most + "x"));
        let refused = over.admit().unwrap_err();
        assert_eq!(
            refused,
            MemoryError::CodeTooLong {
                half: "onUse",
                would: 32_769
            }
        );
        assert_eq!(
            refused.to_string(),
            "`onUse` has 32769 characters; the code of a memory may have 32768 a half"
        );
    }

    #[test]
    fn blank_code_is_none() {
        let blank = MemoryCode::given(JS, Some(" \n".to_owned()), Some(String::new()));
        assert!(blank.is_empty());
        let script = MemoryCode::given(JS, None, Some("x()".to_owned()));
        assert!(!script.is_empty());
    }
}
