//! The terminal while a task is worked at: permanent lines, and a live block below them. `docs/terminal.md` shows what a person
//! sees. What is known of the task is `present::progress`.
//!
//! INVARIANT (given back): the terminal stays in canonical mode with signals on; only its echo is off, only while a block
//! is drawn, and it is put back on every way out.
//!
//! Start reading at `stage`: it decides what is written and when. `render` draws the block, `painter` makes the bytes.

mod mode;
mod painter;
mod render;
mod schedule;
mod stage;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use app::tasks::TaskStreamEvent;
use app::{DisplayEvent, StepFeed};
use domain::Time;
use domain::id::TaskId;
use engine::task::Step;
use present::progress::{ProgressEventKind, TaskProgress};

use crate::show::Screen;
use crate::terminal::tty::{self, Tty};
pub(crate) use mode::{TerminalCapabilities, choose_mode};
use render::Size;
pub(crate) use stage::DisplayMode;
use stage::Stage;

/// Every clone is the same display.
#[derive(Clone, Debug)]
pub(crate) struct Live(Arc<Mutex<Held>>);

#[derive(Debug)]
struct Held {
    stage: Stage,
    screen: Screen,
    tty: Option<Tty>,
    /// What the bus has of the work at this terminal.
    feed: Option<StepFeed>,
    /// The number of the next step that was not taken in yet.
    next: u64,
    /// Whether the feed missed steps; the journal has them.
    behind: bool,
}

/// Whoever breaks down gives the terminal back first.
static BREAKDOWNS: Once = Once::new();

impl Live {
    pub(crate) fn new(mode: DisplayMode, screen: &Screen) -> Self {
        let stage = Stage::new(mode, screen.note_theme(), Time::from_micros(0));
        let screen = screen.clone();
        Self(Arc::new(Mutex::new(Held { stage, screen, tty: None, feed: None, next: 0, behind: false })))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Work begins at this terminal. If the terminal is not ours, there is nothing to draw on.
    pub(crate) fn begin(&self, tty: Option<&Tty>, feed: StepFeed, now: Time) {
        let held = &mut *self.held();
        (held.tty, held.feed) = (tty.cloned(), Some(feed));
        if tty.is_none() && held.stage.mode == DisplayMode::Live {
            held.stage.mode = DisplayMode::Plain;
        }
        held.stage.begin(now);
    }

    /// Takes in steps that were taken before this process goes on with the task. They are not displayed.
    pub(crate) fn remember(&self, task: TaskId, steps: &[Step]) {
        let held = &mut *self.held();
        held.stage.remember(task, steps);
        held.next = steps.last().map_or(held.next, |step| step.n + 1);
    }

    /// Takes in what the feed has by now. Says of which task steps were missed: [`Live::catch_up`] takes them in.
    pub(crate) fn follow(&self) -> Option<TaskId> {
        let held = &mut *self.held();
        while let Some(event) = held.feed.as_mut().and_then(StepFeed::try_next) {
            match event {
                DisplayEvent::Step(published) => held.see(published.task, &published.step),
                DisplayEvent::Delta(_, delta) => held.stage.hear(&delta),
                DisplayEvent::Missed(_) => held.behind = true,
            }
        }
        held.stage.progress.task.filter(|_| held.behind)
    }

    /// Takes in the steps of the journal that the feed missed.
    pub(crate) fn catch_up(&self, task: TaskId, journal: &[Step]) {
        let held = &mut *self.held();
        held.behind = false;
        journal.iter().for_each(|step| held.see(task, step));
    }

    pub(crate) fn wants_name(&self, now: Time) -> bool {
        self.held().stage.wants_name(now)
    }

    pub(crate) fn call_it(&self, name: String) {
        self.held().stage.progress.name = name;
    }

    /// How the task is called, if there is one.
    pub(crate) fn name(&self) -> Option<String> {
        Some(self.held().stage.name()).filter(|name| !name.is_empty())
    }

    pub(crate) fn progress(&self) -> TaskProgress {
        self.held().stage.progress.clone()
    }

    pub(crate) fn until(&self, now: Time) -> Option<Duration> {
        self.held().stage.until(now)
    }

    pub(crate) fn is_drawn(&self) -> bool {
        self.held().stage.has_block()
    }

    pub(crate) fn draw(&self, now: Time) {
        let held = &mut *self.held();
        if !held.may_draw() {
            return;
        }
        let text = held.stage.draw(now, held.size());
        if held.stage.has_block() {
            self.watch_for_breakdowns();
            held.hush();
        }
        held.write(text);
    }

    pub(crate) fn resized(&self, now: Time) {
        let held = &mut *self.held();
        if held.may_draw() {
            let text = held.stage.resized(now, held.size());
            held.write(text);
        }
    }

    /// Somebody is asked on this terminal.
    pub(crate) fn give_way(&self, now: Time) {
        let held = &mut *self.held();
        let text = held.stage.give_way(now, held.size());
        held.write_and_give_back(text);
    }

    pub(crate) fn come_back(&self) {
        self.held().stage.come_back();
    }

    pub(crate) fn suspend(&self) {
        let held = &mut *self.held();
        let text = held.stage.suspend();
        held.write_and_give_back(text);
    }

    pub(crate) fn go_on(&self) {
        self.held().stage.go_on();
    }

    pub(crate) fn stop(&self, now: Time) {
        let held = &mut *self.held();
        let text = held.stage.stop(now, held.size());
        held.write(text);
    }

    /// The result follows, or the end.
    pub(crate) fn close(&self, now: Time) {
        let held = &mut *self.held();
        if !held.may_draw() {
            held.stage.mode = DisplayMode::Plain; // in the background: what is to be said is said, and nothing moves
        }
        let text = held.stage.close(now, held.size());
        held.write_and_give_back(text);
    }

    fn watch_for_breakdowns(&self) {
        BREAKDOWNS.call_once(|| {
            let (held, before) = (Arc::clone(&self.0), std::panic::take_hook());
            std::panic::set_hook(Box::new(move |what| {
                // Whoever broke down while drawing holds it; then only the modes matter.
                if let Ok(mut held) = held.try_lock() {
                    let text = held.stage.drop_block();
                    held.write_and_give_back(text);
                }
                before(what);
            }));
        });
    }
}

impl Held {
    /// Takes in a durable step, once and in order. With `--json` its events go to standard output; the answer itself is
    /// the surface's line.
    fn see(&mut self, task: TaskId, step: &Step) {
        if self.behind || step.n < self.next {
            return;
        }
        self.next = step.n + 1;
        let events = self.stage.see(task, step);
        let events = events.iter().filter(|event| !matches!(event.kind, ProgressEventKind::Response { .. }));
        for event in events.filter(|_| self.screen.json) {
            drop(self.screen.json_line(&TaskStreamEvent::Progress(event))); // the reader is gone: the work goes on
        }
    }

    fn size(&self) -> Size {
        let (columns, rows) = tty::size(std::io::stderr()).unwrap_or((tty::WIDTH, 24));
        Size { columns, rows }
    }

    /// In the background nothing is drawn: it would stop this process, or stand in somebody else's lines.
    fn may_draw(&self) -> bool {
        self.stage.mode != DisplayMode::Live || self.tty.as_ref().is_some_and(Tty::is_ours)
    }

    fn hush(&self) {
        self.tty.iter().for_each(Tty::hush);
    }

    fn write(&self, text: Option<String>) {
        if let Some(text) = text {
            self.screen.beside(&text);
        }
    }

    fn write_and_give_back(&self, text: Option<String>) {
        if self.may_draw() {
            self.write(text);
        }
        self.tty.iter().for_each(Tty::unhush);
    }
}
