//! Reading that ends when it is told to.

use std::fmt;
use std::io::{self, Read};

use domain::Stop;
use domain::call::Failure;

pub(crate) fn stopped() -> Failure {
    Failure::interrupted("stopped")
}

/// # Errors
/// If somebody asked for the end.
pub(crate) fn check(stop: &Stop) -> Result<(), Failure> {
    if stop.is_asked() { Err(stopped()) } else { Ok(()) }
}

/// Asks before every read, and breaks off with [`Stopped`].
#[derive(Debug)]
pub(crate) struct Heeding<'a, R> {
    pub(crate) reader: R,
    pub(crate) stop: &'a Stop,
}

impl<R: Read> Read for Heeding<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_asked() { Err(io::Error::other(Stopped)) } else { self.reader.read(buffer) }
    }
}

#[derive(Debug)]
pub(crate) struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped")
    }
}

impl std::error::Error for Stopped {}

pub(crate) fn is_stopped(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Stopped>())
}
