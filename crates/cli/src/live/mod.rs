//! What is shown while work goes on: one fold over durable steps, and printers that all show it. `docs/terminal.md` says
//! what one sees.
//!
//! INVARIANT (given back): the terminal stays in canonical mode with signals on; only its echo is off, only while a block
//! is drawn, and it is put back on every way out.
//!
//! Start reading at `stage`: it decides what is written and when. `fold` is what is known, `permanent` and `render` how it
//! reads, `painter` the bytes.

mod cells;
mod fold;
pub(crate) mod model;
mod pace;
mod painter;
mod permanent;
mod render;
mod stage;
#[cfg(test)]
mod tests;
mod way;
pub(crate) mod words;

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use domain::Time;
use engine::task::Step;
use llm::Piece;

use crate::edge::tty::{self, Tty};
use crate::show::Screen;
use model::Model;
use render::Size;
use stage::Stage;
pub(crate) use stage::Way;
pub(crate) use way::{Ambience, way};

/// Every clone is the same display.
#[derive(Clone, Debug)]
pub(crate) struct Live(Arc<Mutex<Held>>);

#[derive(Debug)]
struct Held {
    stage: Stage,
    screen: Screen,
    tty: Option<Tty>,
}

/// Whoever breaks down gives the terminal back first.
static BREAKDOWNS: Once = Once::new();

impl Live {
    pub(crate) fn new(way: Way, screen: &Screen) -> Self {
        let stage = Stage::new(way, screen.note_theme(), Time::from_micros(0));
        Self(Arc::new(Mutex::new(Held { stage, screen: screen.clone(), tty: None })))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Work begins, at this terminal. Without one that is ours there is nothing to draw on.
    pub(crate) fn begin(&self, tty: Option<&Tty>, now: Time) {
        let held = &mut *self.held();
        held.tty = tty.cloned();
        if tty.is_none() && held.stage.way == Way::Live {
            held.stage.way = Way::Plain;
        }
        held.stage.begin(now);
    }

    /// What was done before somebody goes on with it.
    pub(crate) fn remember(&self, steps: &[Step]) {
        self.held().stage.remember(steps);
    }

    /// A step that is durable.
    pub(crate) fn see(&self, step: &Step) {
        self.held().stage.see(step);
    }

    /// A part of a reply, while it comes in.
    pub(crate) fn hear(&self, piece: Piece<'_>) {
        self.held().stage.hear(piece);
    }

    pub(crate) fn wants_name(&self, now: Time) -> bool {
        self.held().stage.wants_name(now)
    }

    pub(crate) fn call_it(&self, name: String) {
        self.held().stage.model.name = name;
    }

    /// How the task is called, if there is one.
    pub(crate) fn name(&self) -> Option<String> {
        Some(self.held().stage.name()).filter(|name| !name.is_empty())
    }

    pub(crate) fn model(&self) -> Model {
        self.held().stage.model.clone()
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
            held.stage.way = Way::Plain; // in the background: what is to be said is said, and nothing moves
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
    fn size(&self) -> Size {
        let (columns, rows) = tty::size(std::io::stderr()).unwrap_or((tty::WIDTH, 24));
        Size { columns, rows }
    }

    /// In the background nothing is drawn: it would stop this process, or stand in somebody else's lines.
    fn may_draw(&self) -> bool {
        self.stage.way != Way::Live || self.tty.as_ref().is_some_and(Tty::is_ours)
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
