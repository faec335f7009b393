//! A connection with a thread of its own: it waits there for locks and for the disk, and the caller's thread goes on.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use ledger::store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::connection::{Access, connect, open};

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// Does one piece of work after the other. Dropped, it finishes what it has begun and closes the connection.
#[derive(Debug)]
pub(crate) struct ConnectionThread {
    /// Until it is closed.
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    /// Ends when the connection is closed; `None` once that was waited for.
    closed: tokio::sync::Mutex<Option<oneshot::Receiver<()>>>,
}

impl ConnectionThread {
    /// Opens a file that is empty or ours.
    pub(crate) async fn connect(path: &Path) -> Result<Self, StoreError> {
        Self::start(path.to_owned(), connect).await
    }

    /// Opens a file, whatever is in it.
    pub(super) async fn open(path: &Path, access: Access) -> Result<Self, StoreError> {
        Self::start(path.to_owned(), move |path| open(path, access)).await
    }

    async fn start(
        path: PathBuf,
        open: impl FnOnce(&Path) -> Result<Connection, StoreError> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (jobs, waiting) = mpsc::channel::<Job>();
        let (done, opened) = oneshot::channel();
        let (ended, closed) = oneshot::channel();
        let work = move || {
            let _ended: oneshot::Sender<()> = ended;
            let mut connection = match open(&path) {
                Ok(connection) => connection,
                Err(error) => return drop(done.send(Err(error))),
            };
            drop(done.send(Ok(())));
            while let Ok(job) = waiting.recv() {
                job(&mut connection);
            }
        };
        let thread = thread::Builder::new().name("sqlite".into());
        let spawned = thread.spawn(work);
        spawned.map_err(|error| StoreError::Other(format!("a thread cannot be started: {error}")))?;
        opened.await.map_err(ended_early)??;
        Ok(Self { jobs: Mutex::new(Some(jobs)), closed: tokio::sync::Mutex::new(Some(closed)) })
    }

    /// Hands work over and waits for it. Work is done even if its caller stops waiting.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, outcome) = oneshot::channel();
        let job: Job = Box::new(move |connection| drop(done.send(work(connection))));
        self.jobs().as_ref().ok_or(()).map_err(ended_early)?.send(job).map_err(ended_early)?;
        outcome.await.map_err(ended_early)?
    }

    /// Closes the connection; the last one to a database folds its log into it.
    pub(crate) async fn close(&self) {
        drop(self.jobs().take());
        let mut closed = self.closed.lock().await;
        if let Some(receiver) = closed.as_mut() {
            // The sender sends nothing: it is dropped after the connection.
            drop(receiver.await);
            *closed = None;
        }
    }

    fn jobs(&self) -> MutexGuard<'_, Option<mpsc::Sender<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ended_early<E>(_gone: E) -> StoreError {
    StoreError::Other("the thread of the database connection has ended".into())
}
