//! The hooks of one event, one after another: what is passed on, what stops them, what comes of it
//! (01 §8.5).
//!
//! A pure fold over answers, in the order of declaration.
//!
//! Always true: the first block, failure or stop is the last answer asked for; what was said
//! before it stands; an answer that the event cannot honour changes nothing.

use std::sync::Arc;

use config::hooks::HookEvent;
use record::event::HookDecision;

use super::answer::Answer;

/// Something a hook has to say to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Which hook.
    pub hook: Arc<str>,
    /// What.
    pub text: Arc<str>,
}

/// Whether what the hooks were asked about may happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It may.
    Open,
    /// A hook blocks it, for a reason.
    Blocked(Told),
    /// A hook judged nothing: the run ends of this.
    Failed(String),
    /// The run's stop came first.
    Stopped,
}

/// What firing an event came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fired {
    /// What the model is to read, in order.
    pub told: Vec<Told>,
    /// Whether it may happen.
    pub passage: Passage,
}

impl Fired {
    /// What an event comes to that nobody is asked about.
    pub(crate) const fn open() -> Self {
        Self {
            told: Vec::new(),
            passage: Passage::Open,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Chain {
    event: HookEvent,
    fired: Fired,
}

/// What becomes of one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// What took effect.
    pub(super) decision: HookDecision,
    /// The reason of a block or a failure, or the message.
    pub(super) text: Option<Arc<str>>,
    /// What the operator is told of an answer the event cannot honour.
    pub(super) misfit: Option<String>,
}

impl Chain {
    pub(super) const fn new(event: HookEvent) -> Self {
        Self {
            event,
            fired: Fired::open(),
        }
    }

    /// Takes the answer of the next hook.
    pub(super) fn take(&mut self, hook: &Arc<str>, answer: Answer) -> Taken {
        let told = |text: String| Told {
            hook: Arc::clone(hook),
            text: text.into(),
        };
        let (decision, text, misfit) = match answer {
            Answer::Continue => (HookDecision::Continue, None, None),
            Answer::Block(reason) if self.event.blocks() => {
                let told = told(reason);
                let text = Arc::clone(&told.text);
                self.fired.passage = Passage::Blocked(told);
                (HookDecision::Block, Some(text), None)
            }
            Answer::Message(text) if self.event.inserts() => {
                let told = told(text);
                let text = Arc::clone(&told.text);
                self.fired.told.push(told);
                (HookDecision::Message, Some(text), None)
            }
            Answer::Block(reason) => {
                let misfit = self.misfit(hook, "blocks", "stop", &reason);
                (HookDecision::Continue, None, Some(misfit))
            }
            Answer::Message(text) => {
                let misfit = self.misfit(hook, "has a message", "tell", &text);
                (HookDecision::Continue, None, Some(misfit))
            }
            Answer::Failed(why) => {
                let event = self.event;
                self.fired.passage =
                    Passage::Failed(format!("hook `{hook}` ({event}) judged nothing: {why}"));
                (HookDecision::Error, Some(why.into()), None)
            }
            Answer::Stopped => {
                self.fired.passage = Passage::Stopped;
                (HookDecision::Stopped, None, None)
            }
        };
        Taken {
            decision,
            text,
            misfit,
        }
    }

    fn misfit(&self, hook: &str, does: &str, nothing_to: &str, said: &str) -> String {
        let event = self.event;
        format!(
            "hook `{hook}` {does} at {event}, where there is nothing to {nothing_to}; it is \
             ignored: {said}"
        )
    }

    /// Whether no hook behind is asked any more.
    pub(super) fn is_over(&self) -> bool {
        self.fired.passage != Passage::Open
    }

    /// The run's stop came before the next hook.
    pub(super) fn stop(&mut self) {
        self.fired.passage = Passage::Stopped;
    }

    /// What it came to.
    pub(super) fn close(self) -> Fired {
        self.fired
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fold(event: HookEvent, answers: &[Answer]) -> (Fired, Vec<Taken>) {
        let mut chain = Chain::new(event);
        let mut taken = Vec::new();
        for (at, answer) in answers.iter().enumerate() {
            if chain.is_over() {
                break;
            }
            taken.push(chain.take(&at.to_string().into(), answer.clone()));
        }
        (chain.close(), taken)
    }

    fn told(hook: &str, text: &str) -> Told {
        Told {
            hook: hook.into(),
            text: text.into(),
        }
    }

    #[test]
    fn messages_before_a_block_stand_and_hooks_behind_it_are_not_asked() {
        let (fired, taken) = fold(
            HookEvent::PreWrite,
            &[
                Answer::Message("a".into()),
                Answer::Continue,
                Answer::Block("b".into()),
                Answer::Message("c".into()),
            ],
        );
        assert_eq!(fired.told, [told("0", "a")]);
        assert_eq!(fired.passage, Passage::Blocked(told("2", "b")));
        assert_eq!(taken.len(), 3);
    }

    #[test]
    fn what_an_event_cannot_honour_is_told_and_changes_nothing() {
        let answers = [Answer::Block("b".into()), Answer::Message("m".into())];
        for event in HookEvent::ALL {
            let (fired, taken) = fold(*event, &answers);
            let misfits = taken.iter().filter(|it| it.misfit.is_some()).count();
            match (event.blocks(), event.inserts()) {
                (true, _) => assert!(matches!(fired.passage, Passage::Blocked(_))),
                (false, true) => assert_eq!((misfits, fired.told.len()), (1, 1)),
                (false, false) => assert_eq!((misfits, fired), (2, Fired::open())),
            }
        }
    }

    #[test]
    fn a_failure_names_hook_and_event() {
        let (fired, _) = fold(HookEvent::AgentStart, &[Answer::Failed("it slept".into())]);
        assert_eq!(
            fired.passage,
            Passage::Failed("hook `0` (agent-start) judged nothing: it slept".into())
        );
    }

    fn answer() -> impl Strategy<Value = Answer> {
        prop_oneof![
            4 => Just(Answer::Continue),
            4 => "[a-z]{1,5}".prop_map(Answer::Message),
            1 => "[a-z]{1,5}".prop_map(Answer::Block),
            1 => "[a-z]{1,5}".prop_map(Answer::Failed),
            1 => Just(Answer::Stopped),
        ]
    }

    proptest! {
        /// The chain is what a plain reading of the answers says.
        #[test]
        fn a_chain_is_its_answers_up_to_the_first_that_ends_it(
            answers in prop::collection::vec(answer(), 0..10),
            event in prop::sample::select(HookEvent::ALL),
        ) {
            let ends = |answer: &Answer| match answer {
                Answer::Block(_) => event.blocks(),
                Answer::Failed(_) | Answer::Stopped => true,
                Answer::Continue | Answer::Message(_) => false,
            };
            let end = answers.iter().position(ends);
            let asked = &answers[..end.map_or(answers.len(), |end| end + 1)];
            let (fired, taken) = fold(event, &answers);
            prop_assert_eq!(taken.len(), asked.len());
            let said: Vec<String> = asked
                .iter()
                .filter_map(|answer| match answer {
                    Answer::Message(text) if event.inserts() => Some(text.clone()),
                    _ => None,
                })
                .collect();
            let heard: Vec<String> = fired.told.iter().map(|told| told.text.to_string()).collect();
            prop_assert_eq!(said, heard);
            let open = fired.passage == Passage::Open;
            prop_assert_eq!(open, end.is_none());
            for (answer, taken) in asked.iter().zip(&taken) {
                let misfits = match answer {
                    Answer::Block(_) => !event.blocks(),
                    Answer::Message(_) => !event.inserts(),
                    _ => false,
                };
                prop_assert_eq!(taken.misfit.is_some(), misfits);
            }
        }
    }
}
