//! The asks of a board that are git's, carried out.

use crate::protocol::{Answer, Ask, PutAway};

use super::Repository;
use super::error::GitError;

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
                let given_up = self.given_up(&worktree).await;
                put_away(given_up, self.remove(&worktree, &commit)).await
            }
            Ask::Discard { worktree, message } => {
                let given_up = self.given_up(&worktree).await;
                put_away(given_up, self.discard(&worktree, &message)).await
            }
        })
    }
}

/// Puts a worktree away, where it is known what goes with it.
async fn put_away(
    given_up: Result<Vec<String>, GitError>,
    end: impl Future<Output = PutAway>,
) -> Answer {
    match given_up {
        Ok(given_up) => Answer::PutAway {
            end: end.await,
            given_up,
        },
        Err(error) => Answer::PutAway {
            end: PutAway::Kept(error.to_string()),
            given_up: Vec::new(),
        },
    }
}
