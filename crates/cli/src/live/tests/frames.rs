//! Frames in two terminals without a screen, while sizes change: each line that stays is there once and in order, and of
//! the block nothing is left.

use std::time::Duration;

use alacritty_terminal::Term;
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions as _;
use alacritty_terminal::index::{Column, Line as Row};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::test::TermSize;
use alacritty_terminal::vte::ansi::{Processor, StdSyncHandler};
use domain::Time;
use domain::ask::Claim;
use domain::gradient::Params;
use engine::task::Step;
use present::progress::recording::{TASK, TaskRecording, plan_subtask};
use present::progress::render_line;
use proptest::prelude::*;
use serde_json::json;

use super::COLORED;
use crate::live::render::Size;
use crate::live::stage::{DisplayMode, Stage};

trait Screen {
    fn show(&mut self, text: &str);
    fn resize(&mut self, size: Size);
    /// What is there, scrolled away or not, as whole lines; empty ones left out.
    fn lines(&self) -> Vec<String>;
}

struct Avt(avt::Terminal);

impl Screen for Avt {
    fn show(&mut self, text: &str) {
        self.0.feed(text);
    }

    fn resize(&mut self, size: Size) {
        self.0.resize(size.columns, size.rows);
    }

    fn lines(&self) -> Vec<String> {
        self.0.screen().text().into_iter().filter(|line| !line.is_empty()).collect()
    }
}

struct Alacritty {
    term: Term<VoidListener>,
    parser: Processor<StdSyncHandler>,
}

impl Alacritty {
    fn new(size: Size) -> Self {
        let term = Term::new(Default::default(), &TermSize::new(size.columns, size.rows), VoidListener);
        Self { term, parser: Processor::new() }
    }
}

impl Screen for Alacritty {
    fn show(&mut self, text: &str) {
        self.parser.advance(&mut self.term, text.as_bytes());
    }

    fn resize(&mut self, size: Size) {
        self.term.resize(TermSize::new(size.columns, size.rows));
    }

    fn lines(&self) -> Vec<String> {
        let (grid, mut lines, mut line) = (self.term.grid(), Vec::new(), String::new());
        for row in grid.topmost_line().0..=grid.bottommost_line().0 {
            let row = &grid[Row(row)];
            let cells = (0..grid.columns()).map(|column| &row[Column(column)]);
            let wide = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
            line.extend(cells.filter(|cell| !cell.flags.intersects(wide)).map(|cell| cell.c));
            if !row[grid.last_column()].flags.contains(Flags::WRAPLINE) {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
            }
        }
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }
}

/// As high as a block gets on the largest of these screens.
const BLOCK: usize = 16;

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Then {
    Step,
    Tick,
    /// The window has another size at once.
    Jump(usize, usize),
    /// It is drawn wider or narrower by hand, column by column.
    Drag(usize),
    Ask,
}

fn then(jumps: u32) -> impl Strategy<Value = Then> {
    prop_oneof![
        6 => Just(Then::Step),
        4 => Just(Then::Tick),
        jumps => (60..130_usize, 12..50_usize).prop_map(|(columns, rows)| Then::Jump(columns, rows)),
        1 => (60..130_usize).prop_map(Then::Drag),
        1 => Just(Then::Ask),
    ]
}

const SIZE: Size = Size { columns: 80, rows: 24 };

fn avt() -> Played<Avt> {
    Played::new(Avt(avt::Terminal::with_scrollback(SIZE.columns, SIZE.rows, None).unwrap()), SIZE)
}

/// A task with long names, some of them wider than the screen.
fn steps() -> Vec<Step> {
    let mut task = TaskRecording::new(Some(Params::default()));
    let name = |n: u32| format!("part {n} {}", "日本 wide and long ".repeat(n as usize % 7));
    let parts: Vec<_> = (0..12).map(|n| plan_subtask(&name(n), 1, &[], "find_files")).collect();
    task.wait(10).understood().wait(10).planned(parts);
    for n in 0..12 {
        let call = task.wait(100).calls(n, "find_files", json!({ "under": name(n) }));
        task.wait(300).returns(call);
        task.finishes(n, if n % 4 == 3 { Claim::Failed } else { Claim::Completed });
    }
    task.steps
}

struct Played<S> {
    screen: S,
    stage: Stage,
    now: Time,
    size: Size,
    /// The lines that stay, as they were written.
    said: Vec<String>,
}

impl<S: Screen> Played<S> {
    fn new(screen: S, size: Size) -> Self {
        let now = Time::from_micros(0);
        let mut stage = Stage::new(DisplayMode::Live, COLORED, now);
        stage.progress.name = "t-k7q2".into();
        Self { screen, stage, now, size, said: Vec::new() }
    }

    fn pass(&mut self, ms: u64) {
        self.now = self.now.plus(Duration::from_millis(ms));
    }

    fn draw(&mut self) {
        self.write(Stage::draw);
    }

    fn write(&mut self, how: impl FnOnce(&mut Stage, Time, Size) -> Option<String>) {
        let due = self.stage.lines.clone();
        let text = how(&mut self.stage, self.now, self.size);
        if self.stage.lines.is_empty() {
            let shown = |line| render_line(line, "t-k7q2", super::DRAWN, self.size.columns);
            self.said.extend(due.iter().flat_map(shown).map(|line| line.trim_end().to_owned()));
        }
        text.iter().for_each(|text| self.screen.show(text));
    }

    fn resize(&mut self, columns: usize, rows: usize) {
        self.size = Size { columns, rows };
        self.screen.resize(self.size);
        self.write(Stage::resized);
    }

    fn drag(&mut self, to: usize) {
        while self.size.columns != to {
            let columns = if self.size.columns < to { self.size.columns + 1 } else { self.size.columns - 1 };
            self.resize(columns, self.size.rows);
            self.pass(20);
        }
    }

    fn happens(&mut self, then: Then, steps: &mut impl Iterator<Item = Step>) {
        self.pass(120);
        match then {
            Then::Step => steps.next().iter().for_each(|step| drop(self.stage.see(TASK, step))),
            Then::Tick => self.pass(900),
            Then::Jump(columns, rows) => self.resize(columns, rows),
            Then::Drag(to) => self.drag(to),
            Then::Ask => {
                self.write(Stage::give_way);
                self.said.push("a question> y".into());
                self.screen.show("a question> y\r\n");
                self.stage.come_back();
            }
        }
        self.draw();
    }

    /// Lines on the screen that nobody has said: what is left of blocks.
    fn stale(&self) -> Vec<String> {
        let (mut said, mut stale) = (self.said.iter().peekable(), Vec::new());
        for line in self.screen.lines() {
            // What is left of a block that a jump has broken may be before a line of ours, and behind it.
            match said.next_if(|said| packed(&line).contains(&packed(said))) {
                Some(said) if packed(said) == packed(&line) => {}
                _ => stale.push(line),
            }
        }
        let missing: Vec<&String> = said.collect();
        assert!(missing.is_empty(), "not there, or not in order: {missing:#?}\n{:#?}", self.screen.lines());
        stale
    }
}

/// Where a wide character does not fit any more, a terminal leaves a blank before it breaks the line.
fn packed(line: &str) -> String {
    line.split(' ').collect()
}

fn play<S: Screen>(mut played: Played<S>, happens: &[Then]) -> Result<(), TestCaseError> {
    let mut steps = steps().into_iter();
    played.pass(300);
    played.draw();
    // Whoever halves a window at once breaks a whole block before anybody can take it back: its rows are left, never more.
    let jumps = happens.iter().filter(|then| matches!(then, Then::Jump(..))).count();
    for then in happens {
        played.happens(*then, &mut steps);
        let blocks = played.screen.lines().iter().filter(|line| line.contains("╌╌╌╌")).count();
        prop_assert!(blocks <= 1 + jumps, "{blocks} blocks");
    }
    played.pass(500);
    played.write(Stage::close);
    let stale = played.stale();
    prop_assert!(stale.len() <= jumps * BLOCK, "{jumps} jumps, and stale: {stale:#?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_avt_a_window_that_is_dragged_leaves_nothing_stale(happens in prop::collection::vec(then(0), 1..60)) {
        play(avt(), &happens)?;
    }

    #[test]
    fn in_alacritty_a_window_that_is_dragged_leaves_nothing_stale(happens in prop::collection::vec(then(0), 1..60)) {
        play(Played::new(Alacritty::new(SIZE), SIZE), &happens)?;
    }

    #[test]
    fn in_avt_each_line_is_there_once_and_in_order(happens in prop::collection::vec(then(1), 1..60)) {
        play(avt(), &happens)?;
    }

    #[test]
    fn in_alacritty_each_line_is_there_once_and_in_order(happens in prop::collection::vec(then(1), 1..60)) {
        play(Played::new(Alacritty::new(SIZE), SIZE), &happens)?;
    }
}
