//! What a task came to, as a person sees it at the end: how it ended, what is done and what is not, what it cost, and what to
//! ask next.

use std::time::Duration;

use domain::criterion::Verdict;
use domain::task::{Cause, Directive, FinalResult, Status};
use engine::task::SAID_NO;
use kernel::{Code, Problem};
use present::approval::{ApprovalView, describe_deadline, write_title};
use present::progress::{RoundSummary, SubtaskRow, SubtaskState, TaskProgress, words};
use present::{Page, Style, Theme, Tone, inline, pluralize, render_problem};
use serde::Serialize;
use serde_json::Value;

use super::{Report, RoleCost, TaskStreamEvent};
use crate::operation::{Output, json_each};

/// The end of a task that a process ran, resumed or called for.
#[derive(Debug, Serialize)]
pub struct TaskOutcome {
    #[serde(flatten)]
    pub report: Report,
    /// What was displayed of it.
    #[serde(skip)]
    pub progress: TaskProgress,
    /// Whether the result was there before, so that it was not delivered now.
    #[serde(skip)]
    pub stored: bool,
}

impl Output for TaskOutcome {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        if let Some(result) = self.report.result.as_ref().filter(|_| self.stored) {
            page.add_note(format!("{} was over already; this is what it came to", self.report.short));
            page.add_text(result_text(result));
        }
        page.append(self.render_end(style));
        page
    }

    /// The answer is a line of its own, written when it is delivered.
    fn json_lines(&self) -> Vec<Value> {
        let Report { task, status, result, waiting, question, .. } = &self.report;
        let stored = result.as_ref().filter(|_| self.stored);
        let stored = stored.map(|result| TaskStreamEvent::Response { task: *task, result });
        let waits = (*status == Status::Waiting).then(|| TaskStreamEvent::Waiting {
            task: *task,
            waiting,
            question: question.as_deref(),
            exit: self.exit(),
        });
        json_each(&stored.into_iter().chain(waits).collect::<Vec<_>>())
    }

    fn exit(&self) -> u8 {
        self.report.problem().map_or(0, |problem| problem.code.exit())
    }
}

impl TaskOutcome {
    fn render_end(&self, style: &Style<'_>) -> Page {
        let (report, theme) = (&self.report, style.note_theme);
        let problem = report.problem();
        if report.status == Status::Waiting && report.question.is_none() {
            return render_waiting(report, style);
        }
        let mut writer = OutcomeWriter { theme, progress: &self.progress, report, page: Page::new() };
        match (&report.result, problem) {
            (_, None) => writer.write_done(),
            (Some(result), Some(problem)) if problem.code == Code::UNMET => {
                writer.write_good_enough(result, &problem);
            }
            (Some(result), Some(problem)) if writer.is_stopped(result, &problem) => {
                writer.write_stopped(result, &problem);
            }
            (_, Some(problem)) => {
                writer.page.add_note(render_problem(&address_owner(problem), theme));
                if report.status != Status::Waiting {
                    writer.write_tried_and_next();
                }
            }
        }
        writer.page
    }
}

/// The answer and nothing else; empty if there is none. What is not done never looks done.
#[must_use]
pub fn result_text(result: &FinalResult) -> String {
    match (result.directive, result.cause) {
        (Directive::Accept | Directive::Success, _) => result.text.clone(),
        (Directive::Abandon, Some(Cause::NeedsModel)) => String::new(),
        (Directive::Abandon, _) if result.text.is_empty() => "PARTIAL RESULT: nothing was completed".into(),
        (Directive::Abandon, _) => format!("PARTIAL RESULT\n{}", result.text),
    }
}

/// The last lines of a task that cannot go on without a person.
fn render_waiting(report: &Report, style: &Style<'_>) -> Page {
    let mut page = Page::new();
    for view in &report.waiting {
        page.add_note(describe_waiting(view, style));
    }
    let resume = format!("regent resume {}", report.short);
    let next = match report.waiting.first() {
        Some(first) => format!("regent approvals show {}   then   {resume}", first.short),
        None => resume,
    };
    page.add_note(style.note_theme.paint_command(&next));
    page
}

/// An approval request on one line, for a person who can answer it elsewhere.
#[must_use]
pub fn describe_waiting(view: &ApprovalView, style: &Style<'_>) -> String {
    format!(
        "{}: {}, {}, {}",
        style.note_theme.paint("waiting for you", Tone::Waiting),
        view.short,
        write_title(view, style.width),
        describe_deadline(view, style)
    )
}

/// Writes the notes at the end of a task.
struct OutcomeWriter<'a> {
    theme: Theme,
    progress: &'a TaskProgress,
    report: &'a Report,
    page: Page,
}

impl OutcomeWriter<'_> {
    fn write_done(&mut self) {
        let (mark, how) = match &self.report.result {
            Some(result) if !result.verdicts.is_empty() => {
                (self.theme.mark("✓ done", "done"), format!("{}{}", result.counted(), self.describe_rounds()))
            }
            // Whatever the answer says: no tool was called for it.
            _ => (self.theme.mark("✓ answered", "answered"), "nothing was done or looked up".to_owned()),
        };
        let mark = self.theme.paint(mark, Tone::Good);
        self.page.add_note(format!("{mark}: {how}{}", self.describe_time()));
        self.write_cost();
        self.write_commands("", &[]);
    }

    /// What is unmet or unverified is listed: it was delivered, and it is not all that was wanted.
    fn write_good_enough(&mut self, result: &FinalResult, trouble: &Problem) {
        let mark = self.theme.mark("! good enough", "good enough");
        let mark = self.theme.paint(mark, Tone::Attention);
        self.page.add_note(format!(
            "{mark}: {}{}{}",
            result.counted(),
            self.describe_rounds(),
            self.describe_time()
        ));
        for kind in ["not met", "unverified"] {
            let unmet = result.unmet().filter(|verdict| verdict.name() == kind);
            let line =
                |verdict: &Verdict| format!("{} ({})", inline(&verdict.criterion), inline(&verdict.evidence));
            self.write_rows(kind, unmet.map(line).collect::<Vec<_>>());
        }
        self.write_cost();
        self.write_commands("more", &[format!("regent explain {}", trouble.code)]);
    }

    /// Whether it was worked at, and given up: what else ends a task is a problem with a remedy.
    fn is_stopped(&self, result: &FinalResult, trouble: &Problem) -> bool {
        let worked = self.progress.steering.is_some() && !self.progress.subtasks.is_empty();
        let given_up = matches!(
            result.cause,
            None | Some(
                Cause::Failed | Cause::Loop | Cause::Exhausted | Cause::Unplannable | Cause::Cancelled
            )
        );
        worked && given_up && result.directive == Directive::Abandon && trouble.code != Code::OUTPUT
    }

    /// Never green: what is done, what is not and why, what is kept, what could come next.
    fn write_stopped(&mut self, result: &FinalResult, trouble: &Problem) {
        let mark = self.theme.paint(self.theme.mark("✗ stopped", "stopped"), Tone::Bad);
        self.page.add_note(format!("{mark}: {}{}", self.describe_stop(result), self.describe_time()));
        let numbered = || (1_u32..).zip(&self.progress.subtasks);
        let name = |(number, part): (u32, &SubtaskRow)| format!("{number} {}", inline(&part.intent));
        let done: Vec<String> =
            numbered().filter(|(_, part)| part.state == SubtaskState::Done).map(name).collect();
        self.write_rows(
            "done",
            if done.is_empty() { vec!["nothing".to_owned()] } else { vec![done.join(", ")] },
        );
        let not_done = numbered().filter(|(_, part)| part.state != SubtaskState::Done);
        self.write_rows(
            "not done",
            not_done.map(|(number, part)| describe_unfinished(number, part)).collect::<Vec<_>>(),
        );
        self.write_rows("tried", self.list_tried(result));
        if self.report.can_undo > 0 {
            let changes = pluralize(self.report.can_undo as u64, "change", "changes");
            self.write_rows("kept", vec![format!("{changes}, can be undone")]);
        }
        self.write_cost();
        self.write_rows("next", result.next.iter().map(|line| inline(line)).collect::<Vec<_>>());
        self.write_commands("more", &[format!("regent explain {}", trouble.code)]);
    }

    /// What the rounds before the last one came to, and what was done about it.
    fn list_tried(&self, result: &FinalResult) -> Vec<String> {
        if self.progress.rounds.is_empty() {
            return result.tried.iter().map(|line| inline(line)).collect();
        }
        let line = |(number, round): (u32, &RoundSummary)| {
            format!(
                "round {number}: {}; then {}",
                inline(&round.why),
                words::describe_directive(round.directive)
            )
        };
        (1..).zip(&self.progress.rounds).map(line).collect()
    }

    fn describe_stop(&self, result: &FinalResult) -> String {
        let why = || result.reason.as_deref().map_or_else(|| "too little could be met".to_owned(), inline);
        match (result.cause, &result.measured, &self.progress.steering) {
            (None | Some(Cause::Failed), Some(measured), Some(params)) => {
                let rounds = pluralize(measured.replans + 1, "round", "rounds");
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
    fn write_tried_and_next(&mut self) {
        if let Some(result) = &self.report.result {
            for (label, lines) in [("tried", &result.tried), ("next", &result.next)] {
                for (at, line) in lines.iter().enumerate() {
                    let label = if at == 0 { label } else { "" };
                    self.page.add_note(format!("  {label:<8} {}", inline(line)));
                }
            }
        }
        self.write_cost();
    }

    fn write_rows(&mut self, label: &str, lines: impl IntoIterator<Item = String>) {
        for (at, line) in lines.into_iter().enumerate() {
            self.page.add_note(format!("  {:<8}  {line}", if at == 0 { label } else { "" }));
        }
    }

    fn describe_rounds(&self) -> String {
        match self.progress.replans {
            0 => String::new(),
            replans => format!(" in {} rounds", replans + 1),
        }
    }

    /// How long it took: of work, and of waiting where somebody was waited for.
    fn describe_time(&self) -> String {
        let waited = self.progress.waited;
        if waited < Duration::from_secs(1) {
            return format!(", {}", format_elapsed(self.report.elapsed));
        }
        let worked = words::format_clock(self.progress.lasted().saturating_sub(waited));
        format!("; {worked} of work, {} waiting for you", words::format_clock(waited))
    }

    /// Who asked a model how often, and what that came to.
    fn write_cost(&mut self) {
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
        let asks = pluralize(sum(|role| role.asks), "ask", "asks");
        let tokens = format!("{} tokens in, {} out", sum(|role| role.tokens_in), sum(|role| role.tokens_out));
        let text = match price {
            0 => format!("{asks}: {}; {tokens}", roles.join(", ")),
            price => format!("{}: {}", words::format_money(price), roles.join(", ")),
        };
        self.page.add_note(format!("  cost      {text}"));
    }

    fn write_commands(&mut self, label: &str, more: &[String]) {
        let short = &self.report.short;
        let undo = (self.report.can_undo > 0).then(|| format!("regent undo {short}"));
        let commands = std::iter::once(format!("regent why {short}")).chain(undo).chain(more.iter().cloned());
        let commands = self.theme.paint(&commands.collect::<Vec<_>>().join("    "), Tone::Command);
        let label = if label.is_empty() { String::new() } else { format!("{label:<8}  ") };
        self.page.add_note(format!("  {label}{commands}"));
    }
}

fn describe_unfinished(number: u32, part: &SubtaskRow) -> String {
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

/// What an agent is told after a no is not for the person who said it.
fn address_owner(mut problem: Problem) -> Problem {
    if problem.code == Code::REFUSED && problem.what.starts_with(SAID_NO) {
        problem.what = "you said no, so it was not done".into();
    }
    problem
}

fn format_elapsed(elapsed: Duration) -> String {
    if elapsed.as_millis() < 100 {
        format!("{} ms", elapsed.as_millis())
    } else {
        format!("{:.1} s", elapsed.as_secs_f64())
    }
}
