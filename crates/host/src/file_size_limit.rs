//! The limit on the size of files (`ulimit -f`). By default the signal that comes with it ends the program without a word, in the
//! middle of whatever it writes. Once it is listened for, the write fails instead, and the failure is reported like any other.

use std::time::Duration;

use app::{Code, Problem};
use nix::sys::signal::Signal::SIGXFSZ;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long to wait for a signal that came before the failure did.
const MOMENT: Duration = Duration::from_millis(50);

/// The limit on the size of files, once this process listens for its signal.
#[derive(Debug)]
pub struct FileSizeLimit(Option<Signal>);

impl FileSizeLimit {
    /// From here on a write beyond the limit is an error. Programs that are started are not affected.
    pub fn listen(runtime: &Runtime) -> Self {
        let _within = runtime.enter();
        Self(signal(SignalKind::from_raw(SIGXFSZ as i32)).ok())
    }

    async fn was_met(&mut self) -> bool {
        match &mut self.0 {
            Some(signal) => tokio::time::timeout(MOMENT, signal.recv()).await.is_ok(),
            None => false,
        }
    }

    /// A database only says that it could not write. If the limit was met meanwhile, that is why.
    pub async fn explain(&mut self, problem: Problem) -> Problem {
        let what = match problem.code {
            Code::DATABASE | Code::DISK_FULL => "the database cannot grow",
            Code::HOUSE | Code::KEY | Code::POLICIES => &problem.what,
            _ => return problem,
        };
        let what = format!("the limit on the size of files (`ulimit -f`) is reached: {what}");
        if !self.was_met().await {
            return problem;
        }
        let safe = problem.safe.unwrap_or_else(|| "what was acknowledged before is there".to_owned());
        Problem::new(Code::DISK_FULL, what).safe(safe).remedy("ulimit -f unlimited")
    }
}
