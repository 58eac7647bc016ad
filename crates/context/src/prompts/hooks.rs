//! What the operator's hooks have to say to a model (01 §8). Nothing tells it that they are hooks.

use serde::Serialize;

use super::PromptError;
use super::template::templates;

templates! {
    MESSAGE = "hook_message",
    BLOCKED = "ending_blocked",
}

/// A hook's message, as it stands in the window.
pub fn hook_message(text: &str) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Message<'a> {
        text: &'a str,
    }
    MESSAGE.render(&Message { text })
}

/// What an agent reads whose ending a hook blocked: the call it ended by, why that was not
/// accepted, and the succession declared beside it, where there was one.
pub fn ending_blocked(
    call: &str,
    reason: &str,
    dropped: Option<&str>,
) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Blocked<'a> {
        call: &'a str,
        reason: &'a str,
        dropped: Option<&'a str>,
    }
    BLOCKED.render(&Blocked {
        call,
        reason,
        dropped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hook_says_stands_as_it_was_said() {
        assert_eq!(
            hook_message("Use {{tabs}} & <spaces>.\nOr not.").unwrap(),
            "Notice\n----\nUse {{tabs}} & <spaces>.\nOr not."
        );
    }

    #[test]
    fn a_blocked_ending_names_itself_its_reason_and_what_is_dropped_with_it() {
        let text = ending_blocked("finish", "exit code 1\n2 tests failed", None).unwrap();
        assert_eq!(
            text,
            "Notice\n----\nYour `finish` was not accepted, so your session goes on:\n\n\
             exit code 1\n2 tests failed\n\nSee to this, then end your session again."
        );
        let text = ending_blocked("finish", "no", Some("exec")).unwrap();
        assert!(text.contains("goes on; `exec`, which you called with it, is dropped as well:"));
    }
}
