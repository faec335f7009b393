//! One fold, and what is written of it: frames where they can be drawn, plain lines elsewhere. It decides what and when;
//! whoever holds it writes. Pure; time and size are given.

use std::time::Duration;

use app::ModelDelta;
use domain::Time;
use domain::id::TaskId;
use engine::task::Step;
use present::progress::{
    ProgressEvent, ProgressLine, RoleState, SubtaskState, TaskProgress, describe_line, render_line, words,
};
use present::{Theme, inline};

use super::painter::Painter;
use super::render::{Extent, Size, render};
use super::schedule::{FRAME, FrameSchedule};

/// How it is shown that work goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DisplayMode {
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
    pub(crate) mode: DisplayMode,
    theme: Theme,
    pub(crate) progress: TaskProgress,
    /// Said, and not written yet.
    pub(super) lines: Vec<ProgressLine>,
    painter: Painter,
    schedule: FrameSchedule,
    away: Option<Away>,
    size: Option<Size>,
}

impl Stage {
    pub(crate) fn new(mode: DisplayMode, theme: Theme, now: Time) -> Self {
        Self {
            mode,
            theme,
            progress: TaskProgress::default(),
            lines: Vec::new(),
            painter: Painter::default(),
            schedule: FrameSchedule::new(now),
            away: None,
            size: None,
        }
    }

    /// The work begins now; what was before it is not waited for.
    pub(crate) const fn begin(&mut self, now: Time) {
        self.schedule = FrameSchedule::new(now);
    }

    /// A step that is durable. Where there is one way only, how it ended says all there is to say.
    pub(crate) fn see<'s>(&mut self, task: TaskId, step: &'s Step) -> Vec<ProgressEvent<'s>> {
        self.progress.partial_reply.clear();
        let outcome = self.progress.apply(task, step);
        if self.progress.steering.is_some() && self.mode != DisplayMode::Silent {
            self.lines.extend(outcome.lines);
        }
        outcome.events
    }

    /// Takes in a part of a reply, while it comes in.
    pub(crate) fn hear(&mut self, delta: &ModelDelta) {
        match delta {
            ModelDelta::Text(more) | ModelDelta::Thought(more) | ModelDelta::Call(more) => {
                self.progress.append_reply(more);
            }
            ModelDelta::Restart => self.progress.partial_reply.clear(),
        }
    }

    /// Steps that were taken before, by somebody who has said so.
    pub(crate) fn remember(&mut self, task: TaskId, steps: &[Step]) {
        for step in steps {
            let _said_before = self.progress.apply(task, step);
        }
    }

    pub(crate) fn has_block(&self) -> bool {
        self.painter.has_block()
    }

    /// Whether somebody should look up how the task is called.
    pub(crate) fn wants_name(&self, now: Time) -> bool {
        let soon = !self.lines.is_empty() || self.progress.steering.is_some();
        let draws = self.mode == DisplayMode::Live && self.schedule.until_frame(now).is_zero();
        self.progress.name.is_empty() && self.mode != DisplayMode::Silent && (soon || draws)
    }

    /// How long until there may be something to write; nothing if there never is by itself.
    pub(crate) fn until(&self, now: Time) -> Option<Duration> {
        match (self.away, self.mode) {
            (Some(_), _) | (None, DisplayMode::Silent) => None,
            (None, DisplayMode::Live) => Some(match self.schedule.until_frame(now) {
                Duration::ZERO => FRAME,
                soon => soon,
            }),
            (None, DisplayMode::Plain) => Some(self.schedule.until_life(now)),
        }
    }

    /// Its size has changed, and may again at once. A block that is still whole shrinks before it can be broken: this is the
    /// one frame that does not wait for its turn.
    pub(crate) fn resized(&mut self, now: Time, size: Size) -> Option<String> {
        self.schedule.resized(now);
        match self.away {
            None if self.mode == DisplayMode::Live && self.painter.is_whole() => self.frame(now, size),
            _ => self.draw(now, size),
        }
    }

    /// What is to be written now, in one piece.
    pub(crate) fn draw(&mut self, now: Time, size: Size) -> Option<String> {
        if self.away.is_some() {
            return None;
        }
        match self.mode {
            DisplayMode::Silent => None,
            DisplayMode::Plain => self.plain(now),
            DisplayMode::Live
                if self.progress.began.is_none() || !self.schedule.until_frame(now).is_zero() =>
            {
                None
            }
            DisplayMode::Live => self.frame(now, size),
        }
    }

    fn frame(&mut self, now: Time, size: Size) -> Option<String> {
        if self.size.replace(size).is_some_and(|before| before != size) {
            self.schedule.resized(now);
        }
        let extent = match size.extent() {
            Extent::Whole if self.schedule.is_resizing(now) => Extent::Line,
            extent => extent,
        };
        let block = if self.progress.is_over() && !self.progress.stopping {
            Vec::new() // the result is on its way
        } else {
            render(&self.progress, size, extent, self.theme, now)
        };
        let mut lines = self.written(size);
        if extent == Extent::Nothing {
            lines.extend(self.life(now));
        }
        let frame = self.painter.frame(&lines, block)?;
        self.schedule.drew(now);
        if !lines.is_empty() {
            self.schedule.spoke(now);
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
        self.take_lines().iter().map(|line| describe_line(line, &name)).collect()
    }

    fn plainly(&mut self, lines: &[String], now: Time) -> Option<String> {
        if lines.is_empty() {
            return None;
        }
        self.schedule.spoke(now);
        Some(lines.iter().map(|line| format!("{line}\n")).collect())
    }

    /// A sign of life, if one is due.
    fn life(&mut self, now: Time) -> Option<String> {
        if !self.schedule.until_life(now).is_zero() {
            return None;
        }
        let progress = &self.progress;
        let busy = (1..).zip(&progress.subtasks).filter(|_| progress.is_planned());
        let mut busy = busy.filter(|(_, part)| part.state == SubtaskState::Working);
        let (what, since) = match busy.next() {
            Some((number, part)) => {
                let (of, intent): (usize, String) = (progress.subtasks.len(), inline(&part.intent));
                (format!("[{number}/{of}] {intent}"), part.began)
            }
            None => {
                let lights = progress.role_states();
                let role = lights.iter().find(|(_, light)| *light == RoleState::Busy);
                (role.map_or("on it", |(name, _)| name).to_owned(), progress.began)
            }
        };
        let how = if progress.is_waiting() { "still waiting for you" } else { "still working" };
        let time = since.map_or(Duration::ZERO, |since| now.since(since));
        Some(format!("{how}: {what}, {}", words::format_duration(time)))
    }

    /// The lines that are due, as this size shows them.
    fn written(&mut self, size: Size) -> Vec<String> {
        let (name, theme) = (self.name(), self.theme);
        let write = |line: &ProgressLine| match size.extent() {
            Extent::Nothing => vec![describe_line(line, &name)],
            Extent::Whole | Extent::Line => render_line(line, &name, theme, size.columns),
        };
        self.take_lines().iter().flat_map(write).collect()
    }

    fn take_lines(&mut self) -> Vec<ProgressLine> {
        std::mem::take(&mut self.lines)
    }

    /// How a person names the task; its beginning, where nobody has looked up how much of it is enough.
    pub(crate) fn name(&self) -> String {
        const ENOUGH: usize = 6;
        match (self.progress.name.as_str(), self.progress.task) {
            ("", Some(task)) => task.to_string().chars().take(ENOUGH).collect(),
            (name, _) => name.to_owned(),
        }
    }

    /// Everything that is due, and no block any more: somebody else writes here now.
    fn cleared(&mut self, now: Time, size: Size) -> Option<String> {
        match self.mode {
            DisplayMode::Silent => None,
            DisplayMode::Plain => {
                let lines = self.in_words();
                self.plainly(&lines, now)
            }
            DisplayMode::Live => {
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
        let unseen = self.mode == DisplayMode::Live && !self.has_block() && self.schedule.was_quick(now);
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
        self.progress.stopping = true;
        match self.mode {
            DisplayMode::Live if self.away.is_none() && self.has_block() => self.frame(now, size),
            _ => None,
        }
    }

    /// In the middle of a breakdown: only the block goes.
    pub(crate) fn drop_block(&mut self) -> Option<String> {
        self.painter.erase()
    }
}
