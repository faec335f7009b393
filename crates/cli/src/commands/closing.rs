//! The last lines: how it ended, what is done and what is not, what it cost, and what can be asked about it.

use std::time::Duration;

use app::SAID_NO;
use app::tasks::{Report, RoleCost};
use app::{App, Code, Problem};
use domain::criterion::Verdict;
use domain::task::{Cause, Directive, FinalResult, Status};
use present::progress::{RoundSummary, SubtaskRow, SubtaskState, TaskProgress, words};
use serde_json::json;

use super::Done;
use super::attend::left_waiting;
use crate::live::Live;
use crate::show::{Screen, Tone, inline, plural, problem};

/// It is neither done nor failed: a person is needed.
const WAITING: u8 = 3;

pub(super) fn closing(app: &App, screen: &Screen, live: &Live, report: &Report) -> Done {
    let exit = closed(app, screen, live, report)?;
    if screen.rings() {
        screen.beside("\x07");
    }
    Ok(exit)
}

fn closed(app: &App, screen: &Screen, live: &Live, report: &Report) -> Done {
    if report.status == Status::Waiting {
        if screen.json {
            screen.json_line(&json!({
                "v": 1, "type": "core:waiting", "task_id": report.task, "exit": WAITING, "waiting": report.waiting,
                "question": report.question,
            }))?;
        } else if report.question.is_some() {
            report.problem().iter().for_each(|trouble| screen.note(&problem(screen, trouble)));
        } else {
            left_waiting(app, screen, report);
        }
        return Ok(WAITING);
    }
    let trouble = report.problem();
    let exit = trouble.as_ref().map_or(0, |problem| problem.code.exit());
    if screen.json && trouble.as_ref().is_none_or(|trouble| trouble.code != Code::OUTPUT) {
        return Ok(exit); // the stream's last line said it all
    }
    let closing = Closing { screen, model: &live.progress(), report };
    match (&report.result, trouble) {
        (_, None) => closing.done(),
        (Some(result), Some(trouble)) if trouble.code == Code::UNMET => closing.good_enough(result, &trouble),
        (Some(result), Some(trouble)) if closing.is_stopped(result, &trouble) => {
            closing.stopped(result, &trouble)
        }
        (_, Some(trouble)) => {
            screen.note(&problem(screen, &told(trouble)));
            closing.afterthoughts();
        }
    }
    Ok(exit)
}

struct Closing<'a> {
    screen: &'a Screen,
    model: &'a TaskProgress,
    report: &'a Report,
}

impl Closing<'_> {
    fn done(&self) {
        let (mark, how) = match &self.report.result {
            Some(result) if !result.verdicts.is_empty() => {
                (self.screen.mark("✓ done", "done"), format!("{}{}", result.counted(), self.rounds()))
            }
            // Whatever the answer says: no tool was called for it.
            _ => (self.screen.mark("✓ answered", "answered"), "nothing was done or looked up".to_owned()),
        };
        let mark = self.screen.note_tinted(mark, Tone::Good);
        self.screen.note(&format!("{mark}: {how}{}", self.time()));
        self.cost();
        self.commands("", &[]);
    }

    /// What is unmet or unverified is listed: it was delivered, and it is not all that was wanted.
    fn good_enough(&self, result: &FinalResult, trouble: &Problem) {
        let (mark, screen) = (self.screen.mark("! good enough", "good enough"), self.screen);
        let mark = screen.note_tinted(mark, Tone::Attention);
        screen.note(&format!("{mark}: {}{}{}", result.counted(), self.rounds(), self.time()));
        for kind in ["not met", "unverified"] {
            let unmet = result.unmet().filter(|verdict| verdict.name() == kind);
            let line =
                |verdict: &Verdict| format!("{} ({})", inline(&verdict.criterion), inline(&verdict.evidence));
            self.rows(kind, unmet.map(line).collect::<Vec<_>>());
        }
        self.cost();
        self.commands("more", &[format!("regent explain {}", trouble.code)]);
    }

    /// Whether it was worked at, and given up: what else ends a task is a problem with a remedy.
    fn is_stopped(&self, result: &FinalResult, trouble: &Problem) -> bool {
        let worked = self.model.steering.is_some() && !self.model.subtasks.is_empty();
        let given_up = matches!(
            result.cause,
            None | Some(
                Cause::Failed | Cause::Loop | Cause::Exhausted | Cause::Unplannable | Cause::Cancelled
            )
        );
        worked && given_up && result.directive == Directive::Abandon && trouble.code != Code::OUTPUT
    }

    /// Never green: what is done, what is not and why, what is kept, what could come next.
    fn stopped(&self, result: &FinalResult, trouble: &Problem) {
        let screen = self.screen;
        let mark = screen.note_tinted(screen.mark("✗ stopped", "stopped"), Tone::Bad);
        screen.note(&format!("{mark}: {}{}", self.why_stopped(result), self.time()));
        let numbered = || (1_u32..).zip(&self.model.subtasks);
        let name = |(number, part): (u32, &SubtaskRow)| format!("{number} {}", inline(&part.intent));
        let done: Vec<String> =
            numbered().filter(|(_, part)| part.state == SubtaskState::Done).map(name).collect();
        self.rows("done", if done.is_empty() { vec!["nothing".to_owned()] } else { vec![done.join(", ")] });
        let not_done = numbered().filter(|(_, part)| part.state != SubtaskState::Done);
        self.rows("not done", not_done.map(|(number, part)| not_done_line(number, part)).collect::<Vec<_>>());
        self.rows("tried", self.tried(result));
        if self.report.can_undo > 0 {
            let changes = plural(self.report.can_undo as u64, "change", "changes");
            self.rows("kept", vec![format!("{changes}, can be undone")]);
        }
        self.cost();
        self.rows("next", result.next.iter().map(|line| inline(line)).collect::<Vec<_>>());
        self.commands("more", &[format!("regent explain {}", trouble.code)]);
    }

    /// What the rounds before the last one came to, and what was done about it.
    fn tried(&self, result: &FinalResult) -> Vec<String> {
        if self.model.rounds.is_empty() {
            return result.tried.iter().map(|line| inline(line)).collect();
        }
        let line = |(number, round): (u32, &RoundSummary)| {
            format!(
                "round {number}: {}; then {}",
                inline(&round.why),
                words::describe_directive(round.directive)
            )
        };
        (1..).zip(&self.model.rounds).map(line).collect()
    }

    fn why_stopped(&self, result: &FinalResult) -> String {
        let why = || result.reason.as_deref().map_or_else(|| "too little could be met".to_owned(), inline);
        match (result.cause, &result.measured, &self.model.steering) {
            (None | Some(Cause::Failed), Some(measured), Some(params)) => {
                let rounds = plural(measured.replans + 1, "round", "rounds");
                let effort = if measured.loss.omega >= params.theta {
                    format!(", the allowed effort is used ({}%)", words::to_percent(measured.loss.omega))
                } else {
                    String::new()
                };
                format!("{rounds} without success{effort}")
            }
            (Some(Cause::Loop), ..) => format!("it went round in circles: {}", why()),
            _ => why(),
        }
    }

    /// What was tried and what could come next, where it is not done; and what it cost.
    fn afterthoughts(&self) {
        if let Some(result) = &self.report.result {
            for (label, lines) in [("tried", &result.tried), ("next", &result.next)] {
                for (at, line) in lines.iter().enumerate() {
                    let label = if at == 0 { label } else { "" };
                    self.screen.note(&format!("  {label:<8} {}", inline(line)));
                }
            }
        }
        self.cost();
    }

    fn rows(&self, label: &str, lines: impl IntoIterator<Item = String>) {
        for (at, line) in lines.into_iter().enumerate() {
            self.screen.note(&format!("  {:<8}  {line}", if at == 0 { label } else { "" }));
        }
    }

    fn rounds(&self) -> String {
        match self.model.replans {
            0 => String::new(),
            replans => format!(" in {} rounds", replans + 1),
        }
    }

    /// How long it took: of work, and of waiting where somebody was waited for.
    fn time(&self) -> String {
        let waited = self.model.waited;
        if waited < Duration::from_secs(1) {
            return format!(", {}", seconds(self.report.elapsed));
        }
        let worked = words::format_clock(self.model.lasted().saturating_sub(waited));
        format!("; {worked} of work, {} waiting for you", words::format_clock(waited))
    }

    /// Who asked a model how often, and what that came to.
    fn cost(&self) {
        let cost = &self.report.cost;
        if cost.is_empty() {
            return;
        }
        let price: u64 = cost.iter().map(|role| role.price).sum();
        let sum = |which: fn(&RoleCost) -> u64| cost.iter().map(which).sum::<u64>();
        let each = |of: &RoleCost| match price {
            0 => format!("{} {}", words::name_role(of.role), of.asks),
            _ => format!("{} {}", words::name_role(of.role), words::format_money(of.price)),
        };
        let roles: Vec<String> = cost.iter().map(each).collect();
        let asks = plural(sum(|role| role.asks), "ask", "asks");
        let tokens = format!("{} tokens in, {} out", sum(|role| role.tokens_in), sum(|role| role.tokens_out));
        let text = match price {
            0 => format!("{asks}: {}; {tokens}", roles.join(", ")),
            price => format!("{}: {}", words::format_money(price), roles.join(", ")),
        };
        self.screen.note(&format!("  cost      {text}"));
    }

    fn commands(&self, label: &str, more: &[String]) {
        let short = &self.report.short;
        let undo = (self.report.can_undo > 0).then(|| format!("regent undo {short}"));
        let commands = std::iter::once(format!("regent why {short}")).chain(undo).chain(more.iter().cloned());
        let commands = self.screen.note_tinted(&commands.collect::<Vec<_>>().join("    "), Tone::Command);
        let label = if label.is_empty() { String::new() } else { format!("{label:<8}  ") };
        self.screen.note(&format!("  {label}{commands}"));
    }
}

fn not_done_line(number: u32, part: &SubtaskRow) -> String {
    let intent = inline(&part.intent);
    let needs: Vec<u32> = part.needs.iter().map(|number| number + 1).collect();
    match &part.state {
        SubtaskState::Failed(why) if !why.is_empty() => format!("{number} {intent}: {}", inline(why)),
        SubtaskState::Skipped => {
            format!("{number} {intent}: not begun, it needs {}", words::join_numbers(&needs))
        }
        SubtaskState::Later => format!("{number} {intent}: not begun"),
        SubtaskState::Failed(_) | SubtaskState::Working | SubtaskState::Done => format!("{number} {intent}"),
    }
}

/// What an agent is told after a no is not for whoever said it.
fn told(mut trouble: Problem) -> Problem {
    if trouble.code == Code::REFUSED && trouble.what.starts_with(SAID_NO) {
        trouble.what = "you said no, so it was not done".into();
    }
    trouble
}

fn seconds(elapsed: Duration) -> String {
    if elapsed.as_millis() < 100 {
        format!("{} ms", elapsed.as_millis())
    } else {
        format!("{:.1} s", elapsed.as_secs_f64())
    }
}
