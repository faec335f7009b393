//! What varies from ask to ask, on one page, in a fixed order.
//!
//! Start reading at [`user`].

mod clip;
mod evidence;
mod memory;
mod page;
mod replan;

use domain::ask::{Ask, Clarified, Correction, Exchange, Want};
use domain::task::{Subtask, TaskSpec};

use super::form;
use crate::model::Role;
use clip::head_tail;
use page::Page;

/// What is shown of a call that is not to be repeated.
const CALL_CHARS: usize = 400;

pub(super) fn user(ask: &Ask, now: &str) -> String {
    let (mut page, role) = (Page::default(), Role::of(ask.subject()));
    page.line(&format!("Now: {now}"));
    page.line(&format!("Working directory: {}", page::one_line(&ask.workspace)));
    match &ask.want {
        Want::Perceive { request, history, clarified } => {
            history_of(&mut page, history);
            page.heading("Request");
            page.asked(request);
            clarification(&mut page, clarified.as_ref());
        }
        Want::Plan { spec, clarified, recalled, replan } => {
            task(&mut page, spec);
            clarification(&mut page, clarified.as_ref());
            memory::show(&mut page, recalled);
            if let Some(replan) = replan {
                replan::show(&mut page, replan);
            }
        }
        Want::Act { spec, number, subtask, evidence, attempt, correction } => {
            task(&mut page, spec);
            work(&mut page, *number, *attempt, subtask);
            if let Some(correction) = correction {
                correct(&mut page, role, correction);
            }
            evidence::show(&mut page, evidence);
        }
        Want::Judge { spec, criteria, claim, evidence, .. } => {
            task(&mut page, spec);
            page.heading("Claim");
            page.data("What is said to have come out", claim);
            evidence::show(&mut page, evidence);
            page.heading("Criteria");
            page.line(&format!("Give {} verdicts, in this order.", criteria.len()));
            for (number, criterion) in (1..).zip(criteria) {
                page.line(&format!("{number}. {}", page::one_line(criterion)));
            }
        }
    }
    if let Some(why) = &ask.repair {
        repair(&mut page, role, why);
    }
    page.into_text()
}

fn history_of(page: &mut Page, history: &[Exchange]) {
    if history.is_empty() {
        return;
    }
    page.heading("What was said before, oldest first");
    for Exchange { input, summary } in history {
        page.line("\nRequest:");
        page.quote(input);
        page.data("What came of it", summary);
    }
}

fn clarification(page: &mut Page, clarified: Option<&Clarified>) {
    if let Some(Clarified { question, answer }) = clarified {
        page.heading("Question back, and the answer to it");
        page.line("The answer is part of what is wanted. Do not ask again.");
        page.quote(question);
        page.said(answer);
    }
}

fn task(page: &mut Page, TaskSpec { task_class, intent, constraints, raw_input }: &TaskSpec) {
    page.heading("Task");
    page.line(&format!("Kind: `{task_class}`"));
    page.line("Intent:");
    page.quote(&intent.text);
    if let Some(scope) = &constraints.scope {
        page.line(&format!("Scope: {}", page::one_line(scope)));
    }
    if let Some(deadline) = &constraints.deadline {
        page.line(&format!("Deadline: {}", page::one_line(deadline)));
    }
    page.line("The request it was made from:");
    page.asked(raw_input);
}

fn work(page: &mut Page, number: u32, attempt: u32, subtask: &Subtask) {
    page.heading(&format!("Your subtask: number {number}, attempt {}", attempt.saturating_add(1)));
    page.quote(&subtask.intent.text);
    page.line("It will be judged by:");
    for criterion in &subtask.success_criteria {
        page.item(&criterion.text);
    }
    if !subtask.tool_hints.is_empty() {
        page.line("The planner expects:");
        for hint in &subtask.tool_hints {
            match &hint.target {
                Some(target) => page.item(&format!("`{}` on `{target}`", hint.tool)),
                None => page.item(&format!("`{}`", hint.tool)),
            }
        }
    }
    if !subtask.context.is_empty() {
        page.heading("Context");
        for text in &subtask.context {
            page.said(text);
        }
    }
}

fn correct(page: &mut Page, role: Role, correction: &Correction) {
    let Correction { what_was_wrong, what_to_do, failure_class, not_again } = correction;
    page.heading("Correction");
    page.line(&format!("The attempt before did not do ({}).", evidence::class_name(*failure_class)));
    page.data("What was wrong", &what_was_wrong.join("\n"));
    page.line(&format!("What to do: {}", page::one_line(what_to_do)));
    if !not_again.is_empty() {
        let calls: Vec<String> =
            not_again.iter().map(|call| page::one_line(&head_tail(call, CALL_CHARS))).collect();
        page.line("These calls were made already and MUST NOT be repeated:");
        page.data("Calls", &calls.join("\n"));
    }
    page.line("The form of the reply is the same as ever:");
    page.line(form(role));
}

/// At the end, where it is read last.
fn repair(page: &mut Page, role: Role, why: &str) {
    page.heading("Your last reply could not be used");
    page.quote(why);
    page.line("Reply once more, in this form and with nothing around it:");
    page.line(form(role));
}
