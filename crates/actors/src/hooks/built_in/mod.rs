//! The hooks that gg brings along (01 §8.2). Each is pure: what it says follows from what it is
//! told.

mod destructive;
mod shell_text;

use config::hooks::{BuiltInHook, HookEvent};

use super::answer::Answer;
use super::payload::{self, Facts, Who};

/// What one says of an event. Of an event that is not about what it guards, it says nothing.
pub(super) fn answer(script: BuiltInHook, event: HookEvent, who: &Who, facts: &Facts) -> Answer {
    match (script, facts) {
        (BuiltInHook::Trace, _) => Answer::Message(payload::traced(event, who, facts)),
        (BuiltInHook::RefuseEmptyWrite, Facts::Write { contents, path, .. })
            if contents.trim().is_empty() =>
        {
            Answer::Block(format!("{} would be empty", path.display()))
        }
        (BuiltInHook::GuardDestructiveShell, Facts::Command { command, .. }) => {
            destructive::found(command, &who.root).map_or(Answer::Continue, |found| {
                Answer::Block(format!("this command is not run: {found}"))
            })
        }
        (BuiltInHook::RefuseEmptyWrite | BuiltInHook::GuardDestructiveShell, _) => Answer::Continue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::samples::write;

    fn who() -> Who {
        Who {
            agent: "root".into(),
            profile: "root".into(),
            kind: "root",
            root: "/work".into(),
            worktree: None,
            policy: None,
        }
    }

    #[test]
    fn writes_that_leave_nothing_are_refused() {
        let of = |contents| {
            let script = BuiltInHook::RefuseEmptyWrite;
            answer(script, HookEvent::PreWrite, &who(), &write(contents))
        };
        for blank in ["", " ", "\n\t\r\n", "\u{a0}"] {
            assert_eq!(of(blank), Answer::Block("/work/a would be empty".into()));
        }
        assert_eq!(of("x"), Answer::Continue);
    }

    #[test]
    fn a_guard_says_nothing_of_what_it_does_not_guard() {
        for script in [
            BuiltInHook::RefuseEmptyWrite,
            BuiltInHook::GuardDestructiveShell,
        ] {
            let said = answer(
                script,
                HookEvent::AgentStop,
                &who(),
                &Facts::Declared("finish"),
            );
            assert_eq!(said, Answer::Continue);
        }
        let push = Facts::Command {
            command: "git push".into(),
            ok: None,
        };
        let guard = BuiltInHook::GuardDestructiveShell;
        assert!(matches!(
            answer(guard, HookEvent::PreShell, &who(), &push),
            Answer::Block(_)
        ));
    }

    #[test]
    fn a_trace_returns_what_a_script_would_be_told() {
        let Answer::Message(text) =
            answer(BuiltInHook::Trace, HookEvent::PreWrite, &who(), &write("x"))
        else {
            panic!("a trace is a message");
        };
        assert!(text.contains(r#""event":"pre-write""#) && text.contains(r#""contents":"x""#));
    }
}
