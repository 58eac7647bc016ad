//! Files that gg reads for an agent, not by its calls: what it opens on, what a compaction reads
//! again, what lay on its profile's desk.

use std::ops::ControlFlow;

use context::opened::Loaded;
use context::window::Region;
use tools::{Done, FilePolicy, FileRead, Halt, ReadFile};
use vocab::failure::Failure;
use vocab::message::Image;
use vocab::outcome::EndStatus;

use super::LoopEnd;
use super::records::region;
use super::turns::Turns;

/// A file as a model is shown it.
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) region: Option<Region>,
    pub(super) images: Vec<Image>,
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
        let read = self
            .on_disk(move |halt: &Halt| {
                let mut files = Vec::with_capacity(calls.len());
                for call in calls {
                    let read = tools::read(&call, &place, &policy, halt);
                    let done = read.map(|mut read| {
                        if let (FileRead::Picture(picture), Some(why)) = (&mut read, described) {
                            picture.attached = Err(why);
                        }
                        read.into_done(&call.path)
                    });
                    if let Ok(done) = &done {
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
                        .map(|(call, done)| (call, done.map(|done| self.shown(done))))
                        .collect(),
                )
            }
            Ok(None) => ControlFlow::Break(LoopEnd::of(EndStatus::Canceled)),
            Err(error) => {
                ControlFlow::Break(LoopEnd::internal(format!("reading files died: {error}")))
            }
        }
    }

    fn shown(&self, done: Done) -> Shown {
        Shown {
            text: self.shared.mask.apply(&done.text).into_owned(),
            region: done.view.and_then(|view| view.region).map(region),
            images: done.images,
        }
    }
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
