//! The kill test's hook, compiled only with the feature `faults`: at every named point the program tells a process
//! that survives it where it is, and waits to be told to go on, or to be killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use domain::probe::{Point, Probe, Silent};

/// A socket path in `REGENT_FAULTS` switches it on.
#[expect(clippy::disallowed_methods, reason = "only in builds for the kill test")]
pub(crate) fn probe() -> Arc<dyn Probe> {
    let stream = std::env::var_os("REGENT_FAULTS").and_then(|path| UnixStream::connect(path).ok());
    match stream {
        Some(stream) => Arc::new(Asked { stream: Mutex::new(BufReader::new(stream)) }),
        None => Arc::new(Silent),
    }
}

struct Asked {
    stream: Mutex<BufReader<UnixStream>>,
}

impl Probe for Asked {
    fn reached(&self, point: Point<'_>) {
        let line = match point {
            Point::Committing => "committing".to_owned(),
            Point::Writing { table } => format!("writing {table}"),
            Point::Committed => "committed".to_owned(),
            Point::Running { tool, call } => format!("running {tool} {call}"),
            Point::Ran { tool, call } => format!("ran {tool} {call}"),
        };
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let told = writeln!(stream.get_mut(), "{line}");
        let mut answer = String::new();
        if told.is_ok() {
            // Whoever listens answers `go`, or kills this process while it waits here.
            drop(stream.read_line(&mut answer));
        }
    }
}
