//! The hooks of an event, carried out: each is run, read, recorded, and taken into the chain.
//!
//! Always true: hooks of one event run one after another, in the order they are declared; a hook's
//! command stands in the record directly before its answer.

use std::path::PathBuf;
use std::sync::Arc;

use config::Launch;
use config::hooks::{Hook, HookAction, HookEvent};
use record::event::{Event, HookDecision, HookRun, LogLevel};
use record::journal::Entry;
use record::text;
use tokio::time::Instant;
use tools::Place;
use tools::shell::{Outcome, Request, Script};
use vocab::ids::Slug;
use vocab::tools::ShellPolicy;

use super::answer::{self, Answer};
use super::built_in;
use super::chain::{Chain, Fired, Taken};
use super::payload::{self, Argument};
use super::scripts::{Site, Written};
use crate::agent::records::{CommandOrigin, command_event};
use crate::clock::millis;
use crate::messages::{Keep, RunHook};
use crate::shared::Shared;
use crate::stop::StopCause;
use crate::telemetry::Voice;

/// Characters of each stream of a failed hook that the operator's log shows.
const SHOWN_CHARS: usize = 2_000;

/// Whether a list holds a hook of an event.
pub(crate) fn has_any(hooks: &[Hook], event: HookEvent) -> bool {
    hooks.iter().any(|hook| hook.event == event)
}

/// Runs the hooks of an event. `voice` is that of the agent it is of.
pub(crate) async fn fire(shared: &Shared, voice: &Voice, firing: &RunHook) -> Fired {
    let mut chain = Chain::new(firing.event);
    for (site, hook) in declared(&shared.launch, firing.event, &firing.who.profile) {
        if chain.is_over() {
            break;
        }
        if firing.stop.has(StopCause::Canceled) {
            chain.stop();
            break;
        }
        let run = Run {
            shared,
            voice,
            firing,
            hook,
            name: name(hook, site.1),
        };
        let begun = Instant::now();
        let (answer, outcome) = run.ask(&site).await;
        let answer = run.masked(answer);
        let taken = chain.take(&run.name, answer);
        run.record(&taken, outcome.as_ref(), millis(begun.elapsed()));
    }
    chain.close()
}

/// The hooks of an event, in order, each with where it stands.
fn declared<'a>(
    launch: &'a Launch,
    event: HookEvent,
    profile: &Slug,
) -> impl Iterator<Item = (Site, &'a Hook)> {
    let (slug, hooks) = if event.is_of_session() {
        (None, launch.capability_set.hooks.as_slice())
    } else {
        let hooks = launch.profile(profile).map(|it| it.hooks.as_slice());
        (Some(profile.clone()), hooks.unwrap_or_default())
    };
    let hooks = hooks.iter().enumerate();
    hooks
        .filter(move |(_, hook)| hook.event == event)
        .map(move |(at, hook)| ((slug.clone(), at), hook))
}

/// What a hook goes by.
fn name(hook: &Hook, at: usize) -> Arc<str> {
    match (&hook.name, &hook.action) {
        (Some(name), _) => name.as_str().into(),
        (None, HookAction::BuiltIn { script }) => script.as_str().into(),
        (None, HookAction::Command { .. } | HookAction::Custom { .. }) => {
            format!("hooks[{at}]").into()
        }
    }
}

/// One hook at one event.
struct Run<'a> {
    shared: &'a Shared,
    voice: &'a Voice,
    firing: &'a RunHook,
    hook: &'a Hook,
    name: Arc<str>,
}

impl Run<'_> {
    /// Its answer, and the command behind it, where there was one.
    async fn ask(&self, site: &Site) -> (Answer, Option<Outcome>) {
        let RunHook {
            event, who, facts, ..
        } = self.firing;
        match &self.hook.action {
            HookAction::BuiltIn { script } => (built_in::answer(*script, *event, who, facts), None),
            HookAction::Command {
                command,
                cwd,
                output,
                ..
            } => {
                let policy = who.policy.map(|policy| ShellPolicy {
                    mode: output.unwrap_or(policy.mode),
                    ..policy
                });
                let cwd = cwd.as_deref().map(|cwd| who.root.join(cwd));
                let outcome = self.run(command.as_str().into(), None, cwd, policy).await;
                (answer::of_command(&outcome), Some(outcome))
            }
            HookAction::Custom { .. } => match self.script(site).await {
                Ok(outcome) => (answer::of_script(&outcome), Some(outcome)),
                Err(why) => (Answer::Failed(why), None),
            },
        }
    }

    async fn script(&self, site: &Site) -> Result<Outcome, String> {
        let written = self.shared.scripts.find(site)?;
        let (argument, beside) = self.argument(&written).await?;
        let script = Script {
            path: written.path.clone(),
            names_interpreter: written.names_interpreter(),
            argument,
        };
        let root = &self.shared.launch.workspace_dir;
        let shown = written.path.strip_prefix(root).unwrap_or(&written.path);
        let shown = shown.to_string_lossy().as_ref().into();
        let outcome = self.run(shown, Some(script), None, None).await;
        if let Some(path) = beside {
            // What is left behind is a file in a folder of gg's own.
            tokio::task::spawn_blocking(move || std::fs::remove_file(path).ok());
        }
        Ok(outcome)
    }

    /// What the script is told, and the file that holds what an argument cannot.
    async fn argument(
        &self,
        written: &Arc<Written>,
    ) -> Result<(Arc<str>, Option<PathBuf>), String> {
        let written = Arc::clone(written);
        let event = self.firing.event;
        let (who, facts) = (self.firing.who.clone(), self.firing.facts.clone());
        let made = tokio::task::spawn_blocking(move || {
            written.check()?;
            match payload::argument(event, &who, &facts) {
                Argument::Whole(text) => Ok((text, None)),
                Argument::TooLong(moved) => {
                    let path = written.beside(&moved.text);
                    let path = path.map_err(|error| {
                        format!("a file for what it is told cannot be written: {error}")
                    })?;
                    Ok((moved.into(&path), Some(path)))
                }
            }
        });
        made.await
            .unwrap_or_else(|error| Err(format!("what it is told could not be made: {error}")))
    }

    async fn run(
        &self,
        command: Arc<str>,
        script: Option<Script>,
        cwd: Option<PathBuf>,
        policy: Option<ShellPolicy>,
    ) -> Outcome {
        let root = &self.firing.who.root;
        let deadline = self.firing.deadline;
        let mut stop = self.firing.stop.clone();
        let request = Request {
            command,
            script,
            place: Place {
                cwd: cwd.unwrap_or_else(|| root.clone()),
                root: root.clone(),
            },
            timeout: self.hook.timeout(),
            time_left: deadline.map(|at| at.saturating_duration_since(Instant::now())),
            policy,
        };
        let stop = async move { stop.canceled().await };
        self.shared.runner.run(request, stop).await
    }

    /// An answer without the credential, wherever it got it from (R23).
    fn masked(&self, answer: Answer) -> Answer {
        let mask = |text: String| self.shared.mask.apply(&text).into_owned();
        match answer {
            Answer::Block(reason) => Answer::Block(mask(reason)),
            Answer::Message(text) => Answer::Message(mask(text)),
            Answer::Failed(why) => Answer::Failed(mask(why)),
            Answer::Continue | Answer::Stopped => answer,
        }
    }

    fn record(&self, taken: &Taken, outcome: Option<&Outcome>, duration_ms: u64) {
        let event = self.firing.event.as_str();
        if let Some(outcome) = outcome {
            self.record_command(outcome);
        }
        if taken.decision == HookDecision::Error {
            self.log_failure(taken, outcome);
        }
        if let Some(misfit) = &taken.misfit {
            let code = Some("hook_misconfigured");
            self.voice.log(LogLevel::Warn, code, misfit.clone());
        }
        let is_reason = matches!(taken.decision, HookDecision::Block | HookDecision::Error);
        let reason = taken.text.as_deref().filter(|_| is_reason);
        let kind = self.hook.kind().as_str();
        self.say(Event::Hook(Box::new(HookRun {
            event,
            name: Arc::clone(&self.name),
            kind,
            decision: taken.decision,
            reason: reason.map(str::to_owned),
            duration_ms,
        })));
        self.keep(Entry::Hook {
            event,
            name: Arc::clone(&self.name),
            kind,
            decision: taken.decision,
            text: taken.text.clone(),
        });
    }

    fn record_command(&self, outcome: &Outcome) {
        let event = command_event(CommandOrigin::Hook, &outcome.record, &self.shared.mask);
        self.keep(Entry::from(&event));
        self.say(Event::Shell(Box::new(event)));
    }

    /// A hook that judged nothing, with what it wrote: the run ends of it, and its end is the
    /// operator's to understand.
    fn log_failure(&self, taken: &Taken, outcome: Option<&Outcome>) {
        let mask = &self.shared.mask;
        let (name, event) = (&self.name, self.firing.event);
        let why = taken.text.as_deref().unwrap_or_default();
        let mut message = format!("hook `{name}` ({event}) judged nothing: {why}");
        let record = outcome.map(|outcome| &outcome.record);
        let streams = record.map(|it| [("stdout", &it.stdout), ("stderr", &it.stderr)]);
        for (stream, wrote) in streams.into_iter().flatten() {
            let wrote = mask.apply(wrote.trim_end());
            if !wrote.is_empty() {
                let (shown, _) = text::tail(&wrote, SHOWN_CHARS);
                message.extend(["\n", stream, ": ", shown]);
            }
        }
        let (level, code) = match event {
            HookEvent::SessionEnd => (LogLevel::Warn, "session_end_hook"),
            _ => (LogLevel::Error, "hook_failed"),
        };
        self.voice.log(level, Some(code), message);
    }

    fn say(&self, event: Event) {
        match self.firing.turn {
            Some(turn) => self.voice.say_in_turn(turn, event),
            None => self.voice.say(event),
        }
    }

    fn keep(&self, entry: Entry) {
        self.voice.telemetry.tell(Keep {
            agent: self.voice.agent.clone(),
            entry,
        });
    }
}
