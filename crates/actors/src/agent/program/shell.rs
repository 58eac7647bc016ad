//! Commands, as a program runs them: on the agent's loop, between the hooks (04 §4).

use sandbox::contract as wit;
use sandbox::services::{Call, Shell};
use serde_json::json;
use tools::shell::End;
use vocab::failure::Failure;

use super::{Carried, Serving, broke};
use crate::agent::records::CommandOrigin;

impl Shell for Serving {
    fn shell(
        &mut self,
        call: &Call,
        command: String,
        timeout_secs: Option<f64>,
    ) -> Result<wit::ShellOutput, Failure> {
        let arguments = json!({ "command": command, "timeoutSecs": timeout_secs });
        let command = tools::Shell::given(command, timeout_secs);
        let mask = self.setting.shared.mask.clone();
        self.across(call, &arguments, async move |turns, turn| {
            let ran = turns
                .run_command(turn, command?, CommandOrigin::Program)
                .await;
            let ran = broke(turns, ran)?;
            // A command that did not come to its end has none of the fields a program reads.
            let text = ran.result()?;
            debug_assert_eq!(ran.end, End::Exited, "any other end is a failure");
            let value = wit::ShellOutput {
                exit_code: ran.exit_code,
                output: mask.apply(&ran.output).into_owned(),
                truncated: ran.truncated,
            };
            Ok(Carried::new(value, text))
        })
    }
}
