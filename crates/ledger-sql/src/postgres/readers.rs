//! Connections that read. Few, because a server has few: another one is made only while all that there are read.

use std::sync::{Mutex, PoisonError};

use ledger::store::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::address::ServerAddress;
use super::connection::Connection;

/// As many at a time; one more connection writes.
const READERS: usize = 4;

pub(super) struct Readers {
    address: ServerAddress,
    turns: Semaphore,
    /// The last that was used is used next.
    idle: Mutex<Vec<Connection>>,
}

/// A connection, for as long as it is one's turn.
pub(super) struct Reader<'a> {
    readers: &'a Readers,
    pub(super) connection: Connection,
    _turn: SemaphorePermit<'a>,
}

impl Readers {
    pub(super) fn new(address: ServerAddress) -> Self {
        Self { address, turns: Semaphore::new(READERS), idle: Mutex::default() }
    }

    pub(super) async fn take(&self) -> Result<Reader<'_>, StoreError> {
        let closed = |_closed| StoreError::Other("the readers were closed".into());
        let turn = self.turns.acquire().await.map_err(closed)?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => Connection::open(&self.address).await?,
        };
        Ok(Reader { readers: self, connection, _turn: turn })
    }
}

impl Reader<'_> {
    /// Only a good connection is kept, and where one broke the others are not trusted either. One that is dropped without
    /// this, because nobody waits for its answer any more, is closed.
    pub(super) fn done<T>(self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        let mut idle = self.readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
        match &result {
            Ok(_) => idle.push(self.connection),
            Err(StoreError::Lost(_) | StoreError::Unreachable(_)) => idle.clear(),
            Err(_) => {}
        }
        drop(idle);
        result
    }
}
