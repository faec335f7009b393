//! When to draw: calm before all. Pure; time is given.

use std::time::Duration;

use domain::Time;

/// Whoever is faster than this is not drawn at all.
pub(crate) const QUIET: Duration = Duration::from_millis(250);
/// At most ten frames a second.
pub(crate) const FRAME: Duration = Duration::from_millis(100);
/// After the last change of size, the block stays a short line for this long.
pub(crate) const SETTLED: Duration = Duration::from_millis(250);
/// Where nothing moves, a line says that something still does.
pub(crate) const LIFE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameSchedule {
    began: Time,
    drawn: Option<Time>,
    resized: Option<Time>,
    /// When something was last said.
    said: Time,
}

impl FrameSchedule {
    pub(crate) const fn new(now: Time) -> Self {
        Self { began: now, drawn: None, resized: None, said: now }
    }

    /// How long until a frame may be drawn.
    pub(crate) fn until_frame(&self, now: Time) -> Duration {
        let frame = self.drawn.map_or(Duration::ZERO, |drawn| left_of(FRAME, drawn, now));
        left_of(QUIET, self.began, now).max(frame)
    }

    /// Whether it was over before anybody could have read anything.
    pub(crate) fn was_quick(&self, now: Time) -> bool {
        self.drawn.is_none() && now.since(self.began) < QUIET
    }

    pub(crate) const fn drew(&mut self, now: Time) {
        self.drawn = Some(now);
    }

    pub(crate) const fn resized(&mut self, now: Time) {
        self.resized = Some(now);
    }

    /// Whether its size may still be changing.
    pub(crate) fn is_resizing(&self, now: Time) -> bool {
        self.resized.is_some_and(|resized| now.since(resized) < SETTLED)
    }

    pub(crate) const fn spoke(&mut self, now: Time) {
        self.said = now;
    }

    /// How long until a sign of life is due.
    pub(crate) fn until_life(&self, now: Time) -> Duration {
        left_of(LIFE, self.said, now)
    }
}

/// What is left of a span. Nothing if the clock was put back meanwhile: nobody waits for it to come here again.
fn left_of(span: Duration, since: Time, now: Time) -> Duration {
    if now < since { Duration::ZERO } else { span.saturating_sub(now.since(since)) }
}
