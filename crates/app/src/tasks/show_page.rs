//! The page of a task: its plan, calls, rounds, cost and result.

use domain::gradient::PlanDirective;
use domain::task::FinalResult;
use present::{Page, Style, inline, pluralize};

use super::{RoleCost, TaskView};
use crate::operation::Output;

impl Output for TaskView {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut text = self.line.row(style);
        self.add_work(&mut text);
        self.add_rounds(&mut text);
        self.add_cost(&mut text);
        if let Some(question) = &self.question {
            add(&mut text, "asks", &inline(question));
        }
        if let Some(result) = &self.result {
            add_result(&mut text, result);
        }
        if self.erased {
            add(&mut text, "result", "(erased)");
        }
        if let Some(why) = &self.unreadable {
            add(&mut text, "damaged", &format!("{}; what follows from it is not shown", inline(why)));
        }
        let journal: Vec<&str> = self.journal.iter().map(|step| step.input).collect();
        add(&mut text, "journal", &journal.join(", "));
        let mut page = Page::new();
        page.add(text);
        page
    }
}

/// Adds a line with its label.
fn add(text: &mut String, label: &str, value: &str) {
    text.push_str(&format!("\n  {label:<9} {value}"));
}

/// Adds lines of which the first has a label.
fn add_each(text: &mut String, label: &str, values: impl IntoIterator<Item = String>) {
    for (i, value) in values.into_iter().enumerate() {
        add(text, if i == 0 { label } else { "" }, &value);
    }
}

impl TaskView {
    fn add_work(&self, text: &mut String) {
        let plan = self.plan.iter().zip(1..).map(|(intent, number)| format!("{number} {}", inline(intent)));
        add_each(text, "plan", plan);
        let calls = self.calls.iter().map(|call| {
            let took = call.duration_ms.map_or_else(String::new, |ms| format!("{ms} ms"));
            format!("{:<8} {:<12} {:<9} {took}", call.short, call.tool, call.status.name())
        });
        add_each(text, "calls", calls);
    }

    fn add_rounds(&self, text: &mut String) {
        let rounds = self.rounds.iter().zip(1..).flat_map(|(round, number)| {
            let PlanDirective { loss, directive, grad_l, rationale, .. } = round;
            let numbers = format!(
                "D {:.2}  P {:.2}  Ω {:.2}  L {:.3}  ∇L {grad_l:+.3}",
                loss.d, loss.p, loss.omega, loss.l
            );
            [format!("{number} {numbers}  {directive}"), format!("  {}", inline(rationale))]
        });
        add_each(text, "rounds", rounds);
    }

    fn add_cost(&self, text: &mut String) {
        let costs = self.cost.iter().map(|cost| {
            let RoleCost { role, asks, tokens_in, tokens_out, .. } = cost;
            let (role, asks) = (role.replace('_', "-"), pluralize(*asks, "ask", "asks"));
            format!("{role:<14} {asks}, {tokens_in} tokens in, {tokens_out} out")
        });
        add_each(text, "cost", costs);
    }
}

fn add_result(text: &mut String, result: &FinalResult) {
    let verdicts = result.verdicts.iter().map(|verdict| {
        let (criterion, evidence) = (inline(&verdict.criterion), inline(&verdict.evidence));
        format!("{:<10} {criterion} ({evidence})", verdict.name())
    });
    add_each(text, "checks", verdicts);
    if let Some(reason) = &result.reason {
        add(text, "reason", &inline(reason));
    }
    add_each(text, "tried", result.tried.iter().map(|line| inline(line)));
    add_each(text, "next", result.next.iter().map(|line| inline(line)));
    add_each(text, "result", result.text.lines().map(inline));
}
