//! A compaction carried out: asked for at a boundary, satisfied at a turn's close or by another
//! model, applied to the window, recorded (02 §6).
//!
//! Always true: one `compaction` event a boundary; whoever answered, the modules' blocks are fresh
//! when the window is rewritten.

use std::ops::ControlFlow;

use config::hooks::HookEvent;
use context::compaction::{self, Answer, CompactCall, CompactionStrategy, Due, Material, Relief};
use context::modules::ModuleKind;
use context::prompts::Unread;
use context::window::NewItem;
use record::event::{self, Event, LogLevel, Retained};
use tools::{FilePolicy, REQUEST_PICTURES};
use vocab::ids::ModelId;
use vocab::message::Image;
use vocab::outcome::EndStatus;
use vocab::usage::{Cost, Tokens};

use super::LoopEnd;
use super::file_reads::from_start;
use super::turns::Turns;

/// What satisfied a compaction, and what a request of its own cost.
pub(super) struct Summarized {
    pub(super) answer: Answer,
    pub(super) model: ModelId,
    /// Its usage, where a request was made that reported some.
    pub(super) tokens: Option<Tokens>,
    pub(super) cost: Option<Cost>,
}

impl Turns {
    /// Does what the window's fullness calls for at this boundary.
    pub(super) async fn compact_where_due(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        loop {
            let Some(compaction) = &mut self.upkeep.compaction else {
                return ControlFlow::Continue(());
            };
            let (_, usage) = self.window.breakdown();
            match compaction.check(usage, self.window.has_ephemeral()) {
                Due::Nothing => return ControlFlow::Continue(()),
                Due::Pinned => {
                    self.warn_pinned(usage);
                    return ControlFlow::Continue(());
                }
                Due::Instruct => {
                    let text = compaction.instruction();
                    let text = self.rendered(turn, text)?;
                    return self.notice(turn, text);
                }
                Due::Handoff => {
                    let summarized = self.hand_off(turn).await?;
                    match self.compact_on(turn, summarized).await? {
                        Relief::Relieved => return ControlFlow::Continue(()),
                        Relief::Again => {}
                        Relief::Failed(why) => {
                            return ControlFlow::Break(failed(why.to_string()));
                        }
                    }
                }
            }
        }
    }

    /// The end of an agent that is to compact into memories it turns out not to write (02 §6.3).
    /// What a profile alone tells of that is refused at launch.
    pub(super) fn cannot_compact(&self) -> Option<LoopEnd> {
        let compaction = self.upkeep.compaction.as_ref()?;
        let into_memories = compaction.strategy() == CompactionStrategy::MemoryCompaction;
        let memories = self
            .held
            .roster
            .iter()
            .find(|row| row.kind == ModuleKind::Memories);
        let writes = memories.is_some_and(|row| row.enabled && row.writable);
        (into_memories && !writes).then(|| {
            LoopEnd::internal("its window is to be compacted into memories that it may not write")
        })
    }

    fn warn_pinned(&mut self, usage: u64) {
        if std::mem::replace(&mut self.upkeep.warned_pinned, true) {
            return;
        }
        self.links.voice.log(
            LogLevel::Warn,
            Some("pinned_window"),
            format!(
                "the window holds {usage} of {} tokens and nothing that a compaction can take: it \
                 is not compacted",
                self.window.limit()
            ),
        );
    }

    /// Restarts the window on an answer and records the boundary.
    pub(super) async fn compact_on(
        &mut self,
        turn: u32,
        summarized: Summarized,
    ) -> ControlFlow<LoopEnd, Relief> {
        self.hooks_of_compaction(turn, HookEvent::PreCompact)
            .await?;
        self.refresh_before_compaction(turn).await?;
        let (files, unread) = match &summarized.answer {
            Answer::Compact(call) => self.read_again(turn, call).await?,
            Answer::Prose(_) | Answer::Memories | Answer::Fallback => Default::default(),
        };
        let material = Material {
            docs: self.pages_again(turn)?,
            files,
            unread,
            memories: self.spec.profile.memories().is_some(),
        };
        let (_, usage) = self.window.breakdown();
        let limit = self.window.limit();
        let applied = compaction::apply(&mut self.window, &summarized.answer, material, turn);
        let applied = self.rendered(turn, applied)?;
        let restarted = applied.restarted;
        let after = restarted.after.total();
        let (tasks, memories) = self.kept_in_blocks().await?;
        let count = |count: usize| count as u64;
        let Some(compaction) = &mut self.upkeep.compaction else {
            // Only an agent with one gets here; without one there is no relief to judge.
            return ControlFlow::Continue(Relief::Relieved);
        };
        let strategy = compaction.strategy().as_str();
        let pinned = self.window.pinned_tokens();
        let relief = compaction.applied(after, pinned);
        let event = event::Compaction {
            strategy,
            #[expect(
                clippy::cast_precision_loss,
                reason = "no window comes near 2^53 tokens"
            )]
            trigger: usage as f64 / limit.max(1) as f64,
            reclaimed_tokens: usage.cast_signed() - after.cast_signed(),
            before: restarted.before.into(),
            after: restarted.after.into(),
            retained: Retained {
                skills: count(restarted.kept.skills),
                tasks,
                memories,
                specs: count(restarted.kept.specs),
                files: count(restarted.kept.files),
                docs_views: count(restarted.kept.docs_views),
            },
            summary: applied.summary,
            fallback: applied.fallback,
            model_id: summarized.model,
            tokens: summarized.tokens,
            cost: summarized.cost,
        };
        self.links
            .voice
            .say_in_turn(turn, Event::Compaction(Box::new(event)));
        self.hooks_of_compaction(turn, HookEvent::PostCompact)
            .await?;
        if matches!(relief, Relief::Again) {
            self.links.voice.log(
                LogLevel::Warn,
                Some("compaction"),
                format!("a compaction left {after} of {limit} tokens: the window is still full"),
            );
        }
        ControlFlow::Continue(relief)
    }

    /// Reads the files that a call of `compact` named, as the agent's own reads would.
    async fn read_again(
        &mut self,
        turn: u32,
        call: &CompactCall,
    ) -> ControlFlow<LoopEnd, (Vec<NewItem>, Vec<Unread>)> {
        if call.files.is_empty() {
            return ControlFlow::Continue(Default::default());
        }
        if !self.shows_files() {
            let unread = call.files.iter().map(|path| Unread {
                path: path.clone(),
                why: "you have no call that reads files".to_owned(),
            });
            return ControlFlow::Continue((Vec::new(), unread.collect()));
        }
        let policy = FilePolicy {
            picture_room: REQUEST_PICTURES.saturating_sub(self.pinned_picture_bytes()),
            ..self.surface.files
        };
        let reads = call.files.iter().map(|path| from_start(path)).collect();
        let read = self.read_files(reads, policy, None).await?;
        let (mut files, mut unread) = (Vec::new(), Vec::new());
        let views = self.surface.code.is_some();
        for (tools::ReadFile { path, .. }, outcome) in read {
            match outcome.and_then(|file| if views { file.bounded() } else { Ok(file) }) {
                Ok(file) if views => {
                    let view = file.view(&path, turn);
                    files.push(self.rendered(turn, view)?);
                }
                Ok(file) => {
                    let image = file.images.into_iter().next();
                    let item = compaction::file_view(&path, file.region, &file.text, image, turn);
                    files.push(self.rendered(turn, item)?);
                }
                Err(failure) => unread.push(Unread {
                    why: failure.to_string(),
                    path,
                }),
            }
        }
        ControlFlow::Continue((files, unread))
    }

    /// Bytes of the encoded pictures that a compaction leaves in the window.
    fn pinned_picture_bytes(&self) -> u64 {
        let items = self.window.items().iter();
        let pinned = items.filter(|item| !item.is_ephemeral());
        pinned
            .flat_map(|item| item.message.images())
            .map(Image::encoded_len)
            .sum()
    }
}

/// The end of an agent whose window stays full.
pub(super) fn failed(why: String) -> LoopEnd {
    LoopEnd {
        error: Some(why),
        ..LoopEnd::of(EndStatus::CompactionFailed)
    }
}
