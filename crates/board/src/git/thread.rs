//! The thread that git is run on: starting a process costs time that no actor's thread has.

use std::sync::{Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

type Job = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// A thread with a runtime of its own, started by the first job. Jobs run beside each other.
#[derive(Debug, Default)]
pub struct GitThread {
    jobs: Mutex<Option<mpsc::UnboundedSender<Job>>>,
}

/// The thread is gone, or the job panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thread that runs git is gone")]
pub struct Gone;

impl GitThread {
    /// A thread that is not started yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a job to its end, whether or not the answer is awaited.
    pub fn run<T, F>(&self, job: F) -> impl Future<Output = Result<T, Gone>> + use<T, F>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let sent = self.send(Box::pin(async move {
            // Who asked may be gone; the job was to be done all the same.
            answer.send(job.await).ok();
        }));
        async move {
            sent?;
            answered.await.map_err(|_| Gone)
        }
    }

    fn send(&self, job: Job) -> Result<(), Gone> {
        // Whole between any two statements, whoever panicked.
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match &*jobs {
            Some(sender) => sender,
            None => jobs.insert(start().map_err(|_| Gone)?),
        };
        sender.send(job).map_err(|_| Gone)
    }
}

fn start() -> std::io::Result<mpsc::UnboundedSender<Job>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (sender, mut jobs) = mpsc::unbounded_channel::<Job>();
    let serve = async move {
        let mut running = tokio::task::JoinSet::new();
        loop {
            tokio::select! {
                job = jobs.recv() => match job {
                    Some(job) => {
                        running.spawn(job);
                    }
                    None => break,
                },
                // A job that panicked has dropped its answer, which tells whoever asked.
                Some(_) = running.join_next() => {}
            }
        }
        // What was begun is ended: half a merge is worse than a late one.
        while running.join_next().await.is_some() {}
    };
    std::thread::Builder::new()
        .name("gg-git".to_owned())
        .spawn(move || runtime.block_on(serve))?;
    Ok(sender)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_job_that_panics_is_gone_and_the_next_one_runs() {
        let thread = GitThread::new();
        let panics = thread.run(async { panic!("on purpose") });
        assert_eq!(panics.await, Err::<(), _>(Gone));
        assert_eq!(thread.run(async { 3 }).await, Ok(3));
    }
}
