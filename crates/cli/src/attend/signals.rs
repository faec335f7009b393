//! What a terminal tells the work that goes on below it: that its size has changed, that it is stopped, that it goes on.

use nix::sys::signal::{Signal, raise};
use tokio::signal::unix::{SignalKind, signal};

use crate::live::Live;
use crate::terminal::tty::Tty;

/// Changes of the terminal's size, heard once there is something that minds.
#[derive(Default)]
pub(super) struct Resizes(Option<tokio::signal::unix::Signal>);

impl Resizes {
    pub(super) async fn next(&mut self, drawn: bool) {
        if self.0.is_none() && drawn {
            self.0 = signal(SignalKind::window_change()).ok();
        }
        let heard = match &mut self.0 {
            Some(changes) => changes.recv().await,
            None => None,
        };
        if heard.is_none() {
            std::future::pending().await
        }
    }
}

/// Ctrl-Z: the terminal is given back as it was before this process stops, and set up again when it goes on.
pub(super) struct Suspended<'a> {
    tty: Option<&'a Tty>,
    live: &'a Live,
    stops: Option<tokio::signal::unix::Signal>,
    goes_on: Option<tokio::signal::unix::Signal>,
    /// Whether what is heard next of going on belongs to a stop that was obeyed.
    stopped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    Stop,
    GoOn,
}

impl<'a> Suspended<'a> {
    pub(super) fn over(tty: Option<&'a Tty>, live: &'a Live) -> Self {
        let heard = |which: Signal| tty.and_then(|_| signal(SignalKind::from_raw(which as i32)).ok());
        Self { tty, live, stops: heard(Signal::SIGTSTP), goes_on: heard(Signal::SIGCONT), stopped: false }
    }

    pub(super) async fn asked(&mut self) -> Job {
        match (&mut self.stops, &mut self.goes_on) {
            (Some(stops), Some(goes_on)) => tokio::select! {
                Some(()) = stops.recv() => Job::Stop,
                Some(()) = goes_on.recv() => Job::GoOn,
                else => std::future::pending().await,
            },
            _ => std::future::pending().await,
        }
    }

    pub(super) fn obey(&mut self, job: Job) {
        let Some(tty) = self.tty else { return };
        match job {
            Job::Stop => {
                self.live.suspend();
                tty.lend();
                self.stopped = true;
                // Not SIGSTOP, which stops for good where no shell is above to say `fg`: this one the system leaves out
                // then, as it does with Ctrl-Z. It goes on from here, now or later.
                raise(Signal::SIGTTOU).unwrap_or_default();
                tty.take_back();
                self.live.go_on();
            }
            Job::GoOn if std::mem::take(&mut self.stopped) => {}
            // It was stopped from outside, and nobody could say so before.
            Job::GoOn => {
                self.live.go_on();
                tty.start_over();
            }
        }
    }
}
