//! The asks of a board that are git's, carried out.

use crate::protocol::{Answer, Ask};

use super::Repository;

impl Repository {
    /// Carries out what a board asks of git; `None` for what it asks of somebody else.
    pub async fn answer(&self, ask: Ask) -> Option<Answer> {
        Some(match ask {
            Ask::Slot(_) | Ask::Run { .. } => return None,
            Ask::Cut { branch_stem } => {
                Answer::Cut((self.cut(&branch_stem).await).map_err(|error| error.to_string()))
            }
            Ask::Commit { worktree, message } => Answer::Committed(
                (self.commit(&worktree, &message).await).map_err(|error| error.to_string()),
            ),
            Ask::Reset { worktree, commit } => Answer::Reset(
                (self.reset(&worktree, &commit).await).map_err(|error| error.to_string()),
            ),
            Ask::Merge {
                branch,
                commit,
                message,
            } => Answer::Merged(self.merge(&branch, &commit, &message).await),
            Ask::Check => Answer::Checked(self.check().await),
            Ask::Restore => {
                Answer::Restored(self.restore().await.map_err(|error| error.to_string()))
            }
            Ask::Remove { worktree, commit } => {
                Answer::PutAway(self.remove(&worktree, &commit).await)
            }
            Ask::Discard { worktree, message } => {
                Answer::PutAway(self.discard(&worktree, &message).await)
            }
        })
    }
}
