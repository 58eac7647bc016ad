//! The code of skills and memories, as a program's calls load it (02 §9.6, §10.3; 04 §8.6).
//!
//! It is prepared on the program's own thread, in the call that uses it: a compiler takes as long as
//! it takes, and neither the agent's loop nor the program's clock waits for it.
//!
//! Always true: a half that its language refuses stops no call but a write that would have to load
//! it; a compiler that could not finish ends the agent, since nobody but gg is at fault.

use std::sync::Arc;

use ::context::modules::memories::MemoryCode;
use ::context::modules::skills::{CodeHalf, Skill};
use sandbox::arms::{self, Arm};
use sandbox::prepare::PrepareError;
use vocab::failure::Failure;

use super::{Held, Setting};
use crate::agent::loaded::{Authored, Owner, Ready, Rejected, Source};

impl Authored {
    /// The code of a skill.
    pub(in crate::agent) fn of_skill(skill: &Skill) -> Self {
        let half = |half| {
            skill.code(half).map(|file| Source {
                text: Arc::clone(&file.text),
                extension: file.extension.as_str().into(),
            })
        };
        Self {
            module: half(CodeHalf::Module),
            script: half(CodeHalf::Script),
        }
    }

    /// The code of a memory.
    pub(in crate::agent) fn of_memory(code: &MemoryCode) -> Self {
        let extensions = code.language.map(|it| arms::of(it).module_extensions());
        let extension: Arc<str> = extensions
            .and_then(|them| them.first().copied())
            .unwrap_or_default()
            .into();
        let half = |text: &Option<Arc<str>>| {
            text.clone().map(|text| Source {
                text,
                extension: Arc::clone(&extension),
            })
        };
        Self {
            module: half(&code.module),
            script: half(&code.on_use),
        }
    }
}

impl Held {
    /// Loads an owner's code, opens the pages of what can be imported, and has its script run once
    /// the program has ended. What of it cannot be used, as its author has to know it.
    ///
    /// # Errors
    ///
    /// A compiler that could not finish: a defect, of which the agent ends.
    pub(super) fn use_code(
        &mut self,
        setting: &Setting,
        owner: Owner,
        code: &Authored,
    ) -> Result<Vec<Rejected>, Failure> {
        if *code == Authored::default() {
            self.drop_code(&owner);
            return Ok(Vec::new());
        }
        let ready = self.prepare_code(setting, owner, code)?;
        self.hold_code(setting, ready)
    }

    /// Prepares an owner's code; nothing is held of it yet.
    ///
    /// # Errors
    ///
    /// As [`Held::use_code`].
    pub(super) fn prepare_code(
        &mut self,
        setting: &Setting,
        owner: Owner,
        code: &Authored,
    ) -> Result<Ready, Failure> {
        let whose = owner.to_string();
        let context = &self.code.preparing;
        let ready = self.code.loaded.prepare(setting.arm, context, owner, code);
        ready.map_err(|error| self.unfinished(&whose, &error))
    }

    /// Holds code that was prepared.
    ///
    /// # Errors
    ///
    /// A page that cannot be opened: a defect, of which the agent ends.
    pub(super) fn hold_code(
        &mut self,
        setting: &Setting,
        mut ready: Ready,
    ) -> Result<Vec<Rejected>, Failure> {
        let rejected = std::mem::take(&mut ready.rejected);
        let key = self.code.loaded.hold(ready);
        self.code.docs.hold(self.code.loaded.documented());
        self.show_code(setting, &key)?;
        Ok(rejected)
    }

    /// Lets go of the code of an owner that carries none any more.
    pub(super) fn drop_code(&mut self, owner: &Owner) {
        self.code.loaded.let_go(owner);
        self.code.docs.hold(self.code.loaded.documented());
    }

    /// A compiler that could not finish with somebody's code.
    fn unfinished(&mut self, whose: &str, error: &PrepareError) -> Failure {
        self.code.defect(format!(
            "the code of {whose} could not be prepared: {error}"
        ))
    }
}

/// Why a memory's code is of no use to programs of another language; one accepts the code of another
/// where their skills may be written in it.
pub(super) fn unusable(arm: &dyn Arm, code: &MemoryCode) -> Option<Rejected> {
    let written = arms::of(code.language?);
    let first = written.module_extensions().first()?;
    (!arm.module_extensions().contains(first))
        .then(|| Rejected::Foreign(written.display_name(), arm.display_name()))
}

/// A text with what of its code cannot be used behind it.
pub(super) fn with_rejected(text: &str, rejected: &[Rejected]) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !text.is_empty() {
        parts.push(text.to_owned());
    }
    parts.extend(rejected.iter().map(ToString::to_string));
    parts.join("\n\n")
}

/// Why a write is refused whose code does not compile.
pub(super) fn refused(rejected: &[Rejected]) -> Failure {
    Failure::invalid(with_rejected("", rejected))
}

#[cfg(test)]
mod tests {
    use vocab::language::ProgramLanguage::{Javascript, Python, Typescript};

    use super::*;

    #[test]
    fn code_of_a_memory_is_of_use_to_languages_that_share_its_spelling() {
        let some = Some("x".to_owned());
        let of_use = |written, read| {
            let code = MemoryCode::given(written, some.clone(), None);
            unusable(arms::of(read), &code).is_none()
        };
        assert!(of_use(Javascript, Javascript));
        assert!(of_use(Javascript, Typescript), "types are no must");
        assert!(!of_use(Typescript, Javascript));
        assert!(!of_use(Python, Typescript) && !of_use(Javascript, Python));
        assert_eq!(unusable(arms::of(Python), &MemoryCode::default()), None);
        let told = unusable(arms::of(Javascript), &MemoryCode::given(Python, some, None));
        assert_eq!(
            with_rejected("body", &[told.unwrap()]),
            "body\n\nits code is written in Python, and is of no use to programs in JavaScript"
        );
    }
}
