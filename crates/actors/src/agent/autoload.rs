//! The files of the brief, read before the first turn (02 §4).

use std::ops::ControlFlow;
use std::sync::Arc;

use context::autoload;
use tools::{FilePolicy, REQUEST_PICTURES};

use super::LoopEnd;
use super::file_reads::from_start;
use super::turns::Turns;
use super::written::file_program;

/// Why a picture that the model could see is not shown to it.
const PICTURES_OFF: &str = "pictures among the files of the task are described";

impl Turns {
    /// Opens on the launch's files, where the profile has it so. One that cannot be read ends the
    /// agent: the task rests on it.
    pub(super) async fn open_files(&mut self) -> ControlFlow<LoopEnd> {
        let shared = Arc::clone(&self.shared);
        let paths = &shared.launch.spec_files;
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
        let arm = self.arm();
        let (mut loaded, mut views) = (Vec::new(), Vec::new());
        for (tools::ReadFile { path, .. }, outcome) in read {
            match outcome {
                Ok(file) if arm.is_some() => {
                    let view = file.view(&path, 0);
                    views.push(self.rendered(0, view)?);
                }
                Ok(file) => loaded.push(file.loaded(&path)),
                Err(failure) => {
                    return ControlFlow::Break(LoopEnd::internal(format!(
                        "the file `{path}`, which the task rests on, cannot be read: {failure}"
                    )));
                }
            }
        }
        let items = match arm {
            None => autoload::items(loaded, policy.locked),
            Some(arm) => {
                let program = file_program(arm, paths.iter().map(|path| (path.as_str(), None)));
                let receipt = self.receipt_of(&program)?;
                autoload::by_program(&program, receipt, views, policy.locked)
            }
        };
        for item in items {
            self.window.push(item);
        }
        ControlFlow::Continue(())
    }
}
