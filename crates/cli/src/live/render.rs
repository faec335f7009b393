//! The live block: a picture of what is known now, for a screen of this size. Pure; time is given.

use std::time::Duration;

use domain::Time;

use super::cells::{Row, fitted, width};
use super::model::{Light, Model, Part, State};
use super::permanent::{checks, mark, needs};
use super::words;
use crate::show::{Theme, Tone, inline};

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// How much of the block is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// One short line: there is little room, or its size changes.
    Line,
    /// There is no room for a block: plain lines.
    Nothing,
}

/// Left free at the right edge, so that no terminal ever breaks a line of ours.
const EDGE: usize = 4;
const LEAST: usize = 3;
/// What is as short as this is not broken while a window is drawn narrower.
const SHORT: usize = 36;

impl Size {
    pub(crate) const fn extent(self) -> Extent {
        match self {
            Self { columns: 0..40, .. } | Self { rows: 0..10, .. } => Extent::Nothing,
            Self { columns: 40..60, .. } => Extent::Line,
            Self { .. } => Extent::Whole,
        }
    }

    const fn room(self) -> usize {
        self.columns.saturating_sub(EDGE)
    }

    /// Rows that the block may take: a third of the screen.
    pub(crate) fn height(self) -> usize {
        LEAST.max(self.rows / 3)
    }
}

/// All clocks of a block tick together: whole seconds since the task began.
fn ticked(model: &Model, now: Time) -> Time {
    model.began.map_or(now, |began| began.plus(Duration::from_secs(now.since(began).as_secs())))
}

/// The lines of the block.
pub(crate) fn render(model: &Model, size: Size, extent: Extent, theme: Theme, now: Time) -> Vec<String> {
    let now = ticked(model, now);
    let rows = match extent {
        Extent::Nothing => Vec::new(),
        Extent::Line => vec![short(model, size.room().min(SHORT), theme, now)],
        Extent::Whole => whole(model, size, theme, now),
    };
    rows.iter().map(|row| row.clone().cut(size.room()).shown(theme)).collect()
}

fn whole(model: &Model, size: Size, theme: Theme, now: Time) -> Vec<Row> {
    let (room, height) = (size.room(), size.height());
    let steered = model.steering.is_some();
    let mut below = Vec::new();
    if steered && model.is_planned() && height > 3 {
        below.push(bars(model, room, theme, now));
    }
    if height > 5 {
        below.extend(verdict(model, room));
    }
    let mut rows = vec![rule(model, room, theme, now)];
    if model.stopping && !model.is_over() {
        rows.push(
            Row::new().toned("stopping", Tone::Attention).plain(": tools are stopped, the state is saved"),
        );
    } else if steered && height > 4 {
        rows.push(lights(model, room, theme));
    }
    if height > 5 && !model.stopping && !model.is_over() {
        rows.extend(saying(model, room, theme));
    }
    let left = height.saturating_sub(rows.len() + below.len());
    rows.extend(parts(model, room, left, theme, now));
    rows.extend(below);
    rows.truncate(height);
    rows
}

/// The end of what a model is saying, in one line.
fn saying(model: &Model, room: usize, theme: Theme) -> Option<Row> {
    let said = inline(&model.saying);
    let said = said.trim();
    if said.is_empty() {
        return None;
    }
    let more = theme.mark("…", "...");
    let (mut end, mut took) = (String::new(), width(more) + 2);
    for c in said.chars().rev() {
        took += width(c.encode_utf8(&mut [0; 4]));
        if took > room {
            break;
        }
        end.insert(0, c);
    }
    let more = if end.len() < said.len() { more } else { "" };
    Some(Row::new().toned(format!("  {more}{end}"), Tone::Faint))
}

fn rule(model: &Model, room: usize, theme: Theme, now: Time) -> Row {
    let right = format!(" {}  {}", model.name, words::clock(model.elapsed(now)));
    let dash = theme.mark("╌", "-");
    let line = dash.repeat(room.saturating_sub(right.len()));
    Row::new().toned(line, Tone::Faint).plain(right)
}

fn lights(model: &Model, room: usize, theme: Theme) -> Row {
    let mut row = Row::new();
    for (at, (name, light)) in model.lights().into_iter().enumerate() {
        row = row.plain(if at == 0 { "" } else { "  " });
        row = match light {
            Light::NotYet => row.toned(name, Tone::Faint),
            Light::Busy => row.plain(format!("{name} {}", theme.mark("▸", ">"))),
            Light::Done => row.plain(format!("{name} ")).toned(theme.mark("✓", "ok"), Tone::Good),
        };
    }
    let right = match (&model.steering, model.replans) {
        (Some(params), 1..) => format!("replan {} of {}", model.replans, params.max_replans),
        _ => String::new(),
    };
    row.spread(Row::new().plain(right), room)
}

/// What is shown of one step: its line, and what it does right now.
struct Shown {
    row: Row,
    call: Option<Row>,
}

/// Failed, waiting for you and running stay; the rest folds where there is no room.
fn parts(model: &Model, room: usize, left: usize, theme: Theme, now: Time) -> Vec<Row> {
    if !model.is_planned() || model.parts.is_empty() {
        return before(model, theme).into_iter().take(left).collect();
    }
    let numbered = || (0_u32..).zip(&model.parts);
    let is_active = |number: u32, part: &Part| {
        matches!(part.state, State::Working | State::Failed(_)) || model.asks_about(number)
    };
    let active: Vec<Shown> = numbered()
        .filter(|(number, part)| is_active(*number, part))
        .map(|(number, part)| active(model, number, part, room, theme, now))
        .collect();
    let later: Vec<Row> = numbered()
        .filter(|(_, part)| part.state == State::Later)
        .map(|(number, part)| waiting(number, part))
        .collect();
    let calls = active.iter().filter(|shown| shown.call.is_some()).count();
    if active.len() + calls + later.len() <= left {
        return unfolded(active, true).into_iter().chain(later).collect();
    }
    let room_for_calls = active.len() + calls < left;
    let fits = left.saturating_sub(1);
    let hidden = active.len().saturating_sub(fits);
    let mut rows = unfolded(active, room_for_calls);
    if !room_for_calls {
        rows.truncate(fits);
    }
    rows.push(folded(model, hidden, theme));
    rows.truncate(left);
    rows
}

fn unfolded(active: Vec<Shown>, calls: bool) -> Vec<Row> {
    active.into_iter().flat_map(|shown| [Some(shown.row), shown.call.filter(|_| calls)]).flatten().collect()
}

fn before(model: &Model, theme: Theme) -> Option<Row> {
    // Where there are roles, they say it.
    let quiet = model.steering.is_some() || model.is_over();
    (!quiet).then(|| Row::new().plain(format!("{} working", theme.mark("▸", ">"))))
}

/// Where the checks of a step begin, if there is room.
const CHECKS: usize = 42;

fn active(model: &Model, number: u32, part: &Part, room: usize, theme: Theme, now: Time) -> Shown {
    let waits = model.asks_about(number);
    let (symbol, ascii, tone) = if waits { ("?", "?", Some(Tone::Waiting)) } else { mark(&part.state) };
    let time = match (&part.state, part.began) {
        (State::Working, Some(began)) => Duration::from_secs(now.since(began).as_secs()),
        _ => part.took,
    };
    let said = if waits { "waiting for you".to_owned() } else { checks(part) };
    let right = words_for(time);
    let head = Row::new().toned(theme.mark(symbol, ascii), tone).plain(format!(" {} ", number + 1));
    let intent = inline(&part.intent);
    let row = if room > CHECKS + 20 {
        let intent = fitted(&intent, CHECKS.saturating_sub(head.width() + 1));
        head.plain(intent).to(CHECKS).plain(said)
    } else {
        head.plain(format!("{intent}, {said}"))
    };
    let call = model.calls.values().find(|call| call.part == number && part.state == State::Working);
    let call = call.map(|call| Row::new().plain(format!("    {} {}", call.tool, inline(&call.aim))));
    Shown { row: row.spread(Row::new().plain(right), room), call }
}

/// A running clock has no fractions.
fn words_for(time: Duration) -> String {
    if time.as_secs() == 0 { String::new() } else { words::took(time) }
}

fn waiting(number: u32, part: &Part) -> Row {
    let head = Row::new().toned(format!("- {} ", number + 1), Tone::Faint);
    let head = head.toned(fitted(&inline(&part.intent), CHECKS - 5), Tone::Faint);
    match part.needs.as_slice() {
        [] => head,
        _ => head.to(CHECKS).toned(format!("needs {}", needs(part)), Tone::Faint),
    }
}

/// `✓ 12 done   - 7 later`.
fn folded(model: &Model, hidden: usize, theme: Theme) -> Row {
    let count = |which: fn(&State) -> bool| model.parts.iter().filter(|part| which(&part.state)).count();
    let done = count(|state| *state == State::Done);
    let later = count(|state| *state == State::Later);
    let skipped = count(|state| *state == State::Skipped);
    let mut row = Row::new();
    let groups = [
        (done, theme.mark("✓", "ok"), Some(Tone::Good), "done"),
        (hidden, theme.mark("▸", ">"), None, "more"),
        (later, "-", Some(Tone::Faint), "later"),
        (skipped, "-", Some(Tone::Faint), "skipped"),
    ];
    for (count, symbol, tone, word) in groups.into_iter().filter(|(count, ..)| *count > 0) {
        row = if row.width() > 0 { row.plain("   ") } else { row };
        row = row.toned(symbol, tone).plain(format!(" {count} {word}"));
    }
    row
}

/// As much of it as there is room for.
fn bars(model: &Model, room: usize, theme: Theme, now: Time) -> Row {
    let (unmet, spent) = (model.unmet(), model.spent(now));
    let stops = model.steering.map_or(0, |params| words::percent(params.theta));
    let bar = |share: f64| words::bar(share, theme.symbols);
    let cost =
        if model.price > 0 { format!("    cost {}", words::money(model.price)) } else { String::new() };
    let unmet = format!("unmet {} {}%", bar(unmet), words::percent(unmet));
    let spent = format!("    spent {} {}%", bar(spent), words::percent(spent));
    let fits = [
        format!("{unmet}{spent}, stops at {stops}%{cost}"),
        format!("{unmet}{spent}{cost}"),
        format!("{unmet}{spent}"),
    ];
    let text = fits.into_iter().find(|text| width(text) <= room).unwrap_or(unmet);
    Row::new().plain(text)
}

/// What the last round came to, in words.
fn verdict(model: &Model, room: usize) -> Option<Row> {
    let (params, last) = (model.steering.as_ref()?, model.rounds.last()?);
    let trend = format!("trend {}", words::trend(&model.rounds, params));
    let cause = words::cause(last, params);
    let cause = if last.why.is_empty() {
        format!("cause {cause}")
    } else {
        format!("cause {cause}: {}", inline(&last.why))
    };
    Some(Row::new().plain(cause).spread(Row::new().plain(trend), room))
}

/// One line: what is busy, and for how long.
fn short(model: &Model, room: usize, theme: Theme, now: Time) -> Row {
    let right = Row::new().plain(words::clock(model.elapsed(now)));
    let busy = (0_u32..).zip(&model.parts).filter(|_| model.is_planned());
    let busy: Vec<(u32, &Part)> = busy.filter(|(_, part)| part.state == State::Working).collect();
    let row = match busy.as_slice() {
        _ if model.stopping && !model.is_over() => Row::new().toned("stopping", Tone::Attention),
        [] => {
            let lights = model.lights();
            let role =
                lights.iter().find(|(_, light)| *light == Light::Busy).map_or("working", |(name, _)| name);
            Row::new().plain(format!("{} {role}", theme.mark("▸", ">")))
        }
        [(number, part), rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            let (symbol, tone) = if model.asks_about(*number) {
                ("?", Some(Tone::Waiting))
            } else {
                (theme.mark("▸", ">"), None)
            };
            let place = format!(" {}/{}{more} ", number + 1, model.parts.len());
            Row::new().toned(symbol, tone).plain(place).plain(inline(&part.intent))
        }
    };
    row.spread(right, room)
}
