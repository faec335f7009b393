//! Whether the program waits for a person, and how it learns that they leave without an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::Stop;
use tokio::sync::Notify;

/// How often it is looked what others, elsewhere, have answered.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// Every clone is the same session. Ctrl-C means another thing to whoever is asked than to whoever only watches: the
/// question stays as it is, and the task waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct TerminalSession(Arc<SessionState>);

#[derive(Debug, Default)]
struct SessionState {
    asked: AtomicBool,
    over: AtomicBool,
    left: Stop,
    stirred: Notify,
}

impl TerminalSession {
    /// What the work looks at to know that nobody waits for an answer any more.
    pub(crate) fn left(&self) -> Stop {
        self.0.left.clone()
    }

    pub(crate) fn has_left(&self) -> bool {
        self.0.left.is_asked()
    }

    /// There is a question that is open, or none any more.
    pub(crate) fn set_asked(&self, asked: bool) {
        self.0.asked.store(asked, Ordering::Release);
    }

    /// Somebody stops the program. Says whether they were being asked; then they leave without an answer. A terminal
    /// that is closed says so twice: whoever has left already was asked too.
    pub(crate) fn stopped_while_asked(&self) -> bool {
        let asked = self.0.asked.load(Ordering::Acquire) || self.has_left();
        if asked {
            self.leave();
        }
        asked
    }

    /// Neither yes nor no: what is open stays open.
    pub(crate) fn leave(&self) {
        self.0.left.now();
        self.stir();
    }

    /// The work is over: there is nothing more to ask.
    pub(crate) fn close(&self) {
        self.0.over.store(true, Ordering::Release);
        self.stir();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.over.load(Ordering::Acquire)
    }

    /// Something happened: it is worth a look.
    pub(crate) fn stir(&self) {
        self.0.stirred.notify_one();
    }

    /// Until something happens here, or it is time to look what happened elsewhere.
    pub(crate) async fn pause(&self) {
        drop(tokio::time::timeout(LOOK, self.0.stirred.notified()).await);
    }
}
