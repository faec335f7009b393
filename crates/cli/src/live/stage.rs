//! One fold, and what is written of it: frames where they can be drawn, plain lines elsewhere. It decides what and when;
//! whoever holds it writes. Pure; time and size are given.

use std::time::Duration;

use domain::Time;
use engine::task::Step;
use llm::Piece;

use super::fold::{Line, fold};
use super::model::{Light, Model, State};
use super::pace::{FRAME, Pace};
use super::painter::Painter;
use super::permanent::{drawn, worded};
use super::render::{Extent, Size, render};
use super::words;
use crate::show::{Theme, inline};

/// How it is shown that work goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Lines that stay, and a block below them.
    Live,
    /// The same lines in words, and a sign of life now and then.
    Plain,
    /// Nothing but the result and how it ended; with `--json` the events say it all.
    Silent,
}

/// Why nothing is drawn for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Away {
    /// Somebody is asked: what is over meanwhile is said afterwards.
    Asking,
    /// The process is stopped, or about to be.
    Suspended,
    /// The result is there.
    Closed,
}

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) way: Way,
    theme: Theme,
    pub(crate) model: Model,
    /// Said, and not written yet.
    pub(super) lines: Vec<Line>,
    painter: Painter,
    pace: Pace,
    away: Option<Away>,
    size: Option<Size>,
}

impl Stage {
    pub(crate) fn new(way: Way, theme: Theme, now: Time) -> Self {
        Self {
            way,
            theme,
            model: Model::default(),
            lines: Vec::new(),
            painter: Painter::default(),
            pace: Pace::new(now),
            away: None,
            size: None,
        }
    }

    /// The work begins now; what was before it is not waited for.
    pub(crate) const fn begin(&mut self, now: Time) {
        self.pace = Pace::new(now);
    }

    /// A step that is durable. Where there is one way only, how it ended says all there is to say.
    pub(crate) fn see(&mut self, step: &Step) {
        self.model.saying.clear();
        let lines = fold(&mut self.model, step);
        if self.model.steering.is_some() && self.way != Way::Silent {
            self.lines.extend(lines);
        }
    }

    /// A part of a reply, while it comes in.
    pub(crate) fn hear(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(more) | Piece::Thought(more) | Piece::Call(more) => self.model.hear(more),
            Piece::Again => self.model.saying.clear(),
        }
    }

    /// Steps that were taken before, by somebody who has said so.
    pub(crate) fn remember(&mut self, steps: &[Step]) {
        for step in steps {
            let _said_before = fold(&mut self.model, step);
        }
    }

    pub(crate) fn has_block(&self) -> bool {
        self.painter.has_block()
    }

    /// Whether somebody should look up how the task is called.
    pub(crate) fn wants_name(&self, now: Time) -> bool {
        let soon = !self.lines.is_empty() || self.model.steering.is_some();
        let draws = self.way == Way::Live && self.pace.until_frame(now).is_zero();
        self.model.name.is_empty() && self.way != Way::Silent && (soon || draws)
    }

    /// How long until there may be something to write; nothing if there never is by itself.
    pub(crate) fn until(&self, now: Time) -> Option<Duration> {
        match (self.away, self.way) {
            (Some(_), _) | (None, Way::Silent) => None,
            (None, Way::Live) => Some(match self.pace.until_frame(now) {
                Duration::ZERO => FRAME,
                soon => soon,
            }),
            (None, Way::Plain) => Some(self.pace.until_life(now)),
        }
    }

    /// Its size has changed, and may again at once. A block that is still whole shrinks before it can be broken: this is the
    /// one frame that does not wait for its turn.
    pub(crate) fn resized(&mut self, now: Time, size: Size) -> Option<String> {
        self.pace.resized(now);
        match self.away {
            None if self.way == Way::Live && self.painter.is_whole() => self.frame(now, size),
            _ => self.draw(now, size),
        }
    }

    /// What is to be written now, in one piece.
    pub(crate) fn draw(&mut self, now: Time, size: Size) -> Option<String> {
        if self.away.is_some() {
            return None;
        }
        match self.way {
            Way::Silent => None,
            Way::Plain => self.plain(now),
            Way::Live if self.model.began.is_none() || !self.pace.until_frame(now).is_zero() => None,
            Way::Live => self.frame(now, size),
        }
    }

    fn frame(&mut self, now: Time, size: Size) -> Option<String> {
        if self.size.replace(size).is_some_and(|before| before != size) {
            self.pace.resized(now);
        }
        let extent = match size.extent() {
            Extent::Whole if self.pace.is_resizing(now) => Extent::Line,
            extent => extent,
        };
        let block = if self.model.is_over() && !self.model.stopping {
            Vec::new() // the result is on its way
        } else {
            render(&self.model, size, extent, self.theme, now)
        };
        let mut lines = self.written(size);
        if extent == Extent::Nothing {
            lines.extend(self.life(now));
        }
        let frame = self.painter.frame(&lines, block)?;
        self.pace.drew(now);
        if !lines.is_empty() {
            self.pace.spoke(now);
        }
        Some(frame)
    }

    fn plain(&mut self, now: Time) -> Option<String> {
        let mut lines = self.in_words();
        if lines.is_empty() {
            lines.extend(self.life(now));
        }
        self.plainly(&lines, now)
    }

    fn in_words(&mut self) -> Vec<String> {
        let name = self.name();
        self.take_lines().iter().map(|line| worded(line, &name)).collect()
    }

    fn plainly(&mut self, lines: &[String], now: Time) -> Option<String> {
        if lines.is_empty() {
            return None;
        }
        self.pace.spoke(now);
        Some(lines.iter().map(|line| format!("{line}\n")).collect())
    }

    /// A sign of life, if one is due.
    fn life(&mut self, now: Time) -> Option<String> {
        if !self.pace.until_life(now).is_zero() {
            return None;
        }
        let model = &self.model;
        let busy = (1..).zip(&model.parts).filter(|_| model.is_planned());
        let mut busy = busy.filter(|(_, part)| part.state == State::Working);
        let (what, since) = match busy.next() {
            Some((number, part)) => {
                let (of, intent): (usize, String) = (model.parts.len(), inline(&part.intent));
                (format!("[{number}/{of}] {intent}"), part.began)
            }
            None => {
                let lights = model.lights();
                let role = lights.iter().find(|(_, light)| *light == Light::Busy);
                (role.map_or("on it", |(name, _)| name).to_owned(), model.began)
            }
        };
        let how = if model.is_waiting() { "still waiting for you" } else { "still working" };
        let time = since.map_or(Duration::ZERO, |since| now.since(since));
        Some(format!("{how}: {what}, {}", words::took(time)))
    }

    /// The lines that are due, as this size shows them.
    fn written(&mut self, size: Size) -> Vec<String> {
        let (name, theme) = (self.name(), self.theme);
        let write = |line: &Line| match size.extent() {
            Extent::Nothing => vec![worded(line, &name)],
            Extent::Whole | Extent::Line => drawn(line, &name, theme, size.columns),
        };
        self.take_lines().iter().flat_map(write).collect()
    }

    fn take_lines(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }

    /// How a person names the task; its beginning, where nobody has looked up how much of it is enough.
    pub(crate) fn name(&self) -> String {
        const ENOUGH: usize = 6;
        match (self.model.name.as_str(), self.model.task) {
            ("", Some(task)) => task.to_string().chars().take(ENOUGH).collect(),
            (name, _) => name.to_owned(),
        }
    }

    /// Everything that is due, and no block any more: somebody else writes here now.
    fn cleared(&mut self, now: Time, size: Size) -> Option<String> {
        match self.way {
            Way::Silent => None,
            Way::Plain => {
                let lines = self.in_words();
                self.plainly(&lines, now)
            }
            Way::Live => {
                let lines = self.written(size);
                self.painter.frame(&lines, Vec::new())
            }
        }
    }

    /// Somebody is asked: the block gives way, and comes back after the answer.
    pub(crate) fn give_way(&mut self, now: Time, size: Size) -> Option<String> {
        let text = self.cleared(now, size);
        self.leave(Away::Asking);
        text
    }

    pub(crate) fn come_back(&mut self) {
        if self.away == Some(Away::Asking) {
            self.away = None;
        }
    }

    pub(crate) fn suspend(&mut self) -> Option<String> {
        let text = self.painter.erase();
        if self.away.is_none() {
            self.away = Some(Away::Suspended);
        }
        text
    }

    /// The process goes on. Whatever was ours of the screen is not any more.
    pub(crate) fn go_on(&mut self) {
        self.painter.forget();
        if self.away == Some(Away::Suspended) {
            self.away = None;
        }
    }

    /// The result follows, or the end. Whoever was faster than the eye has said nothing.
    pub(crate) fn close(&mut self, now: Time, size: Size) -> Option<String> {
        let unseen = self.way == Way::Live && !self.has_block() && self.pace.was_quick(now);
        if unseen && self.away.is_none() {
            self.lines.clear();
        }
        let text = self.cleared(now, size);
        self.leave(Away::Closed);
        text
    }

    fn leave(&mut self, away: Away) {
        if self.away != Some(Away::Closed) {
            self.away = Some(away);
        }
    }

    /// Somebody wants it to stop. That is said at once.
    pub(crate) fn stop(&mut self, now: Time, size: Size) -> Option<String> {
        self.model.stopping = true;
        match self.way {
            Way::Live if self.away.is_none() && self.has_block() => self.frame(now, size),
            _ => None,
        }
    }

    /// In the middle of a breakdown: only the block goes.
    pub(crate) fn drop_block(&mut self) -> Option<String> {
        self.painter.erase()
    }
}
