//! The files of the brief, read before the first turn (02 §4).

use std::ops::ControlFlow;

use context::autoload;
use tools::{FilePolicy, REQUEST_PICTURES};

use super::LoopEnd;
use super::file_reads::from_start;
use super::turns::Turns;

/// Why a picture that the model could see is not shown to it.
const PICTURES_OFF: &str = "pictures among the files of the task are described";

impl Turns {
    /// Opens on the launch's files, where the profile has it so. One that cannot be read ends the
    /// agent: the task rests on it.
    pub(super) async fn open_files(&mut self) -> ControlFlow<LoopEnd> {
        let paths = &self.shared.launch.spec_files;
        let Some(policy) = self.spec.profile.autoload() else {
            return ControlFlow::Continue(());
        };
        if paths.is_empty() {
            return ControlFlow::Continue(());
        }
        let sees = self.surface.files.attach_images;
        let files = FilePolicy {
            read: None,
            attach_images: policy.images && sees,
            picture_room: REQUEST_PICTURES,
            whole: true,
        };
        let described = (sees && !policy.images).then_some(PICTURES_OFF);
        let reads = paths.iter().map(|path| from_start(path)).collect();
        let read = self.read_files(reads, files, described).await?;
        let mut loaded = Vec::with_capacity(read.len());
        for (tools::ReadFile { path, .. }, outcome) in read {
            match outcome {
                Ok(file) => loaded.push(file.loaded(&path)),
                Err(failure) => {
                    return ControlFlow::Break(LoopEnd::internal(format!(
                        "the file `{path}`, which the task rests on, cannot be read: {failure}"
                    )));
                }
            }
        }
        for item in autoload::items(loaded, policy.locked) {
            self.window.push(item);
        }
        ControlFlow::Continue(())
    }
}
