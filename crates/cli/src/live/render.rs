//! The live block: a picture of what is known now, for a screen of this size. Pure; time is given.

use std::time::Duration;

use domain::Time;
use present::progress::{
    RoleState, SubtaskRow, SubtaskState, TaskProgress, choose_mark, describe_checks, list_needs, words,
};
use present::{TextRow, Theme, Tone, fit, inline, measure_width};

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
fn ticked(progress: &TaskProgress, now: Time) -> Time {
    progress.began.map_or(now, |began| began.plus(Duration::from_secs(now.since(began).as_secs())))
}

/// The lines of the block.
pub(crate) fn render(
    progress: &TaskProgress,
    size: Size,
    extent: Extent,
    theme: Theme,
    now: Time,
) -> Vec<String> {
    let now = ticked(progress, now);
    let rows = match extent {
        Extent::Nothing => Vec::new(),
        Extent::Line => vec![short(progress, size.room().min(SHORT), theme, now)],
        Extent::Whole => whole(progress, size, theme, now),
    };
    rows.iter().map(|row| row.clone().cut(size.room()).render(theme)).collect()
}

fn whole(progress: &TaskProgress, size: Size, theme: Theme, now: Time) -> Vec<TextRow> {
    let (room, height) = (size.room(), size.height());
    let steered = progress.steering.is_some();
    let mut below = Vec::new();
    if steered && progress.is_planned() && height > 3 {
        below.push(bars(progress, room, theme, now));
    }
    if height > 5 {
        below.extend(verdict(progress, room));
    }
    let mut rows = vec![rule(progress, room, theme, now)];
    if progress.stopping && !progress.is_over() {
        rows.push(
            TextRow::new()
                .toned("stopping", Tone::Attention)
                .plain(": tools are stopped, the state is saved"),
        );
    } else if steered && height > 4 {
        rows.push(lights(progress, room, theme));
    }
    if height > 5 && !progress.stopping && !progress.is_over() {
        rows.extend(saying(progress, room, theme));
    }
    let left = height.saturating_sub(rows.len() + below.len());
    rows.extend(parts(progress, room, left, theme, now));
    rows.extend(below);
    rows.truncate(height);
    rows
}

/// The end of what a progress is saying, in one line.
fn saying(progress: &TaskProgress, room: usize, theme: Theme) -> Option<TextRow> {
    let said = inline(&progress.partial_reply);
    let said = said.trim();
    if said.is_empty() {
        return None;
    }
    let more = theme.mark("…", "...");
    let (mut end, mut took) = (String::new(), measure_width(more) + 2);
    for c in said.chars().rev() {
        took += measure_width(c.encode_utf8(&mut [0; 4]));
        if took > room {
            break;
        }
        end.insert(0, c);
    }
    let more = if end.len() < said.len() { more } else { "" };
    Some(TextRow::new().toned(format!("  {more}{end}"), Tone::Faint))
}

fn rule(progress: &TaskProgress, room: usize, theme: Theme, now: Time) -> TextRow {
    let right = format!(" {}  {}", progress.name, words::format_clock(progress.elapsed(now)));
    let dash = theme.mark("╌", "-");
    let line = dash.repeat(room.saturating_sub(right.len()));
    TextRow::new().toned(line, Tone::Faint).plain(right)
}

fn lights(progress: &TaskProgress, room: usize, theme: Theme) -> TextRow {
    let mut row = TextRow::new();
    for (at, (name, light)) in progress.role_states().into_iter().enumerate() {
        row = row.plain(if at == 0 { "" } else { "  " });
        row = match light {
            RoleState::NotYet => row.toned(name, Tone::Faint),
            RoleState::Busy => row.plain(format!("{name} {}", theme.mark("▸", ">"))),
            RoleState::Done => row.plain(format!("{name} ")).toned(theme.mark("✓", "ok"), Tone::Good),
        };
    }
    let right = match (&progress.steering, progress.replans) {
        (Some(params), 1..) => format!("replan {} of {}", progress.replans, params.max_replans),
        _ => String::new(),
    };
    row.spread(TextRow::new().plain(right), room)
}

/// What is shown of one step: its line, and what it does right now.
struct SubtaskLines {
    row: TextRow,
    call: Option<TextRow>,
}

/// Failed, waiting for you and running stay; the rest folds where there is no room.
fn parts(progress: &TaskProgress, room: usize, left: usize, theme: Theme, now: Time) -> Vec<TextRow> {
    if !progress.is_planned() || progress.subtasks.is_empty() {
        return before(progress, theme).into_iter().take(left).collect();
    }
    let numbered = || (0_u32..).zip(&progress.subtasks);
    let is_active = |number: u32, part: &SubtaskRow| {
        matches!(part.state, SubtaskState::Working | SubtaskState::Failed(_))
            || progress.waits_for_person(number)
    };
    let active: Vec<SubtaskLines> = numbered()
        .filter(|(number, part)| is_active(*number, part))
        .map(|(number, part)| active(progress, number, part, room, theme, now))
        .collect();
    let later: Vec<TextRow> = numbered()
        .filter(|(_, part)| part.state == SubtaskState::Later)
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
    rows.push(folded(progress, hidden, theme));
    rows.truncate(left);
    rows
}

fn unfolded(active: Vec<SubtaskLines>, calls: bool) -> Vec<TextRow> {
    active.into_iter().flat_map(|shown| [Some(shown.row), shown.call.filter(|_| calls)]).flatten().collect()
}

fn before(progress: &TaskProgress, theme: Theme) -> Option<TextRow> {
    // Where there are roles, they say it.
    let quiet = progress.steering.is_some() || progress.is_over();
    (!quiet).then(|| TextRow::new().plain(format!("{} working", theme.mark("▸", ">"))))
}

/// Where the checks of a step begin, if there is room.
const CHECKS: usize = 42;

fn active(
    progress: &TaskProgress,
    number: u32,
    part: &SubtaskRow,
    room: usize,
    theme: Theme,
    now: Time,
) -> SubtaskLines {
    let waits = progress.waits_for_person(number);
    let (symbol, ascii, tone) =
        if waits { ("?", "?", Some(Tone::Waiting)) } else { choose_mark(&part.state) };
    let time = match (&part.state, part.began) {
        (SubtaskState::Working, Some(began)) => Duration::from_secs(now.since(began).as_secs()),
        _ => part.took,
    };
    let said = if waits { "waiting for you".to_owned() } else { describe_checks(part) };
    let right = words_for(time);
    let head = TextRow::new().toned(theme.mark(symbol, ascii), tone).plain(format!(" {} ", number + 1));
    let intent = inline(&part.intent);
    let row = if room > CHECKS + 20 {
        let intent = fit(&intent, CHECKS.saturating_sub(head.width() + 1));
        head.plain(intent).to(CHECKS).plain(said)
    } else {
        head.plain(format!("{intent}, {said}"))
    };
    let call =
        progress.calls.values().find(|call| call.subtask == number && part.state == SubtaskState::Working);
    let call = call.map(|call| TextRow::new().plain(format!("    {} {}", call.tool, inline(&call.target))));
    SubtaskLines { row: row.spread(TextRow::new().plain(right), room), call }
}

/// A running clock has no fractions.
fn words_for(time: Duration) -> String {
    if time.as_secs() == 0 { String::new() } else { words::format_duration(time) }
}

fn waiting(number: u32, part: &SubtaskRow) -> TextRow {
    let head = TextRow::new().toned(format!("- {} ", number + 1), Tone::Faint);
    let head = head.toned(fit(&inline(&part.intent), CHECKS - 5), Tone::Faint);
    match part.needs.as_slice() {
        [] => head,
        _ => head.to(CHECKS).toned(format!("needs {}", list_needs(part)), Tone::Faint),
    }
}

/// `✓ 12 done   - 7 later`.
fn folded(progress: &TaskProgress, hidden: usize, theme: Theme) -> TextRow {
    let count =
        |which: fn(&SubtaskState) -> bool| progress.subtasks.iter().filter(|part| which(&part.state)).count();
    let done = count(|state| *state == SubtaskState::Done);
    let later = count(|state| *state == SubtaskState::Later);
    let skipped = count(|state| *state == SubtaskState::Skipped);
    let mut row = TextRow::new();
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
fn bars(progress: &TaskProgress, room: usize, theme: Theme, now: Time) -> TextRow {
    let (unmet, spent) = (progress.unmet(), progress.spent(now));
    let stops = progress.steering.map_or(0, |params| words::to_percent(params.theta));
    let bar = |share: f64| words::draw_bar(share, theme.symbols);
    let cost = if progress.price > 0 {
        format!("    cost {}", words::format_money(progress.price))
    } else {
        String::new()
    };
    let unmet = format!("unmet {} {}%", bar(unmet), words::to_percent(unmet));
    let spent = format!("    spent {} {}%", bar(spent), words::to_percent(spent));
    let fits = [
        format!("{unmet}{spent}, stops at {stops}%{cost}"),
        format!("{unmet}{spent}{cost}"),
        format!("{unmet}{spent}"),
    ];
    let text = fits.into_iter().find(|text| measure_width(text) <= room).unwrap_or(unmet);
    TextRow::new().plain(text)
}

/// What the last round came to, in words.
fn verdict(progress: &TaskProgress, room: usize) -> Option<TextRow> {
    let (params, last) = (progress.steering.as_ref()?, progress.rounds.last()?);
    let trend = format!("trend {}", words::describe_trend(&progress.rounds, params));
    let cause = words::describe_cause(last, params);
    let cause = if last.why.is_empty() {
        format!("cause {cause}")
    } else {
        format!("cause {cause}: {}", inline(&last.why))
    };
    Some(TextRow::new().plain(cause).spread(TextRow::new().plain(trend), room))
}

/// One line: what is busy, and for how long.
fn short(progress: &TaskProgress, room: usize, theme: Theme, now: Time) -> TextRow {
    let right = TextRow::new().plain(words::format_clock(progress.elapsed(now)));
    let busy = (0_u32..).zip(&progress.subtasks).filter(|_| progress.is_planned());
    let busy: Vec<(u32, &SubtaskRow)> =
        busy.filter(|(_, part)| part.state == SubtaskState::Working).collect();
    let row = match busy.as_slice() {
        _ if progress.stopping && !progress.is_over() => TextRow::new().toned("stopping", Tone::Attention),
        [] => {
            let lights = progress.role_states();
            let role = lights
                .iter()
                .find(|(_, light)| *light == RoleState::Busy)
                .map_or("working", |(name, _)| name);
            TextRow::new().plain(format!("{} {role}", theme.mark("▸", ">")))
        }
        [(number, part), rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            let (symbol, tone) = if progress.waits_for_person(*number) {
                ("?", Some(Tone::Waiting))
            } else {
                (theme.mark("▸", ">"), None)
            };
            let place = format!(" {}/{}{more} ", number + 1, progress.subtasks.len());
            TextRow::new().toned(symbol, tone).plain(place).plain(inline(&part.intent))
        }
    };
    row.spread(right, room)
}
