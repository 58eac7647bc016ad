//! Files that gg reads for an agent, not by its calls: what it opens on, what a compaction reads
//! again, what lay on its profile's desk.

use std::ops::ControlFlow;

use context::opened::Loaded;
use context::prompts::PromptError;
use context::views;
use context::window::{NewItem, Region};
use tools::{Done, FilePolicy, FileRead, Halt, ReadFile};
use vocab::failure::Failure;
use vocab::message::Image;
use vocab::outcome::EndStatus;

use super::LoopEnd;
use super::records::region;
use super::turns::Turns;

/// A file as a model is shown it: as the result of a tool, or as a view of a program.
pub(super) struct Shown {
    pub(super) text: String,
    /// The lines it shows, where that is not all of a text file.
    pub(super) region: Option<Region>,
    pub(super) images: Vec<Image>,
    /// The lines of a text that a view of it is headed by.
    lines: Option<Region>,
}

impl Turns {
    /// Reads files on a blocking thread; one after another, so that their
    /// pictures share the room there is. `described` says why no picture is shown, where that is
    /// not for the model's sake. A run that is canceled ends the agent here.
    pub(super) async fn read_files(
        &mut self,
        calls: Vec<ReadFile>,
        mut policy: FilePolicy,
        described: Option<&'static str>,
    ) -> ControlFlow<LoopEnd, Vec<(ReadFile, Result<Shown, Failure>)>> {
        let place = self.place();
        let views = self.surface.code.is_some();
        let read = self
            .on_disk(move |halt: &Halt| {
                let mut files = Vec::with_capacity(calls.len());
                for call in calls {
                    let read = tools::read(&call, &place, &policy, halt);
                    let done = read.map(|mut read| {
                        if let (FileRead::Picture(picture), Some(why)) = (&mut read, described) {
                            picture.attached = Err(why);
                        }
                        let viewed = views.then(|| viewed(&mut read)).flatten();
                        (read.into_done(&call.path), viewed)
                    });
                    if let Ok((done, _)) = &done {
                        let taken: u64 = done.images.iter().map(Image::encoded_len).sum();
                        policy.picture_room = policy.picture_room.saturating_sub(taken);
                    }
                    files.push((call, done));
                }
                files
            })
            .await;
        match read {
            Ok(Some(files)) => {
                let files = files.into_iter();
                ControlFlow::Continue(
                    files
                        .map(|(call, done)| {
                            let shown = done.map(|(done, viewed)| self.shown(done, viewed));
                            (call, shown)
                        })
                        .collect(),
                )
            }
            Ok(None) => ControlFlow::Break(LoopEnd::of(EndStatus::Canceled)),
            Err(error) => {
                ControlFlow::Break(LoopEnd::internal(format!("reading files died: {error}")))
            }
        }
    }

    fn shown(&self, done: Done, viewed: Option<Viewed>) -> Shown {
        let (text, lines) = match viewed {
            Some(Viewed { text, lines }) => (text, lines),
            None => (done.text, None),
        };
        Shown {
            text: self.shared.mask.apply(&text).into_owned(),
            region: done.view.and_then(|view| view.region).map(region),
            images: done.images,
            lines,
        }
    }
}

/// A text as a view shows it: what stands under a tool's result does not stand there.
struct Viewed {
    text: String,
    lines: Option<Region>,
}

fn viewed(read: &mut FileRead) -> Option<Viewed> {
    let FileRead::Text(text) = read else {
        return None;
    };
    let lines = Region {
        first: text.first,
        last: text.last,
        total: text.total,
    };
    Some(Viewed {
        text: std::mem::take(&mut text.contents),
        lines: (text.total > 0).then_some(lines),
    })
}

/// A read of a file from its start.
pub(super) fn from_start(path: &str) -> ReadFile {
    ReadFile {
        path: path.to_owned(),
        offset: None,
        limit: None,
    }
}

impl Shown {
    /// Refuses a text that is more than a view may show.
    pub(super) fn bounded(self) -> Result<Self, Failure> {
        views::judge_file(&self.text).map(|()| self)
    }

    /// The view of it that a program opens.
    pub(super) fn view(self, path: &str, turn: u32) -> Result<NewItem, PromptError> {
        let image = self.images.into_iter().next();
        let paged = self.region.is_some();
        views::file(path, self.lines, paged, &self.text, image, turn)
    }

    /// What is opened of it in a window, under the path it was asked for.
    pub(super) fn loaded(self, path: &str) -> Loaded {
        Loaded {
            path: path.into(),
            text: self.text.into(),
            region: self.region,
            image: self.images.into_iter().next(),
        }
    }
}
