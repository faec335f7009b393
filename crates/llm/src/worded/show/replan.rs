//! What a planner is told when it plans again: where to go, by which numbers, what must not be used, and what there is.

use domain::ask::Replan;
use domain::gradient::{Loss, Macro, PlanDirective};

use super::page::Page;

pub(super) fn show(page: &mut Page, Replan { directive, outcomes, achieved }: &Replan) {
    directive_of(page, directive);
    must_not(page, directive);
    if !outcomes.is_empty() {
        page.heading("What the plan before came to");
        page.data("Subtask by subtask", &outcomes.join("\n"));
    }
    if !achieved.is_empty() {
        page.heading("What is there already");
        page.line("Do not do it again; build on it.");
        for text in achieved {
            page.said(text);
        }
    }
}

fn directive_of(page: &mut Page, directive: &PlanDirective) {
    let PlanDirective {
        loss: Loss { d, p, omega, l },
        prev_directive,
        directive,
        failed_criterion,
        failure_class,
        grad_l,
        rationale,
        ..
    } = directive;
    page.heading("Directive");
    page.line(&format!("This plan has to follow `{directive}`: {}.", meaning(*directive)));
    page.item(&format!(
        "missing D = {d:.2}, wrong approach P = {p:.2}, budget used Ω = {omega:.2}, loss L = {l:.2}, change ∇L = {grad_l:+.2}"
    ));
    page.item(&format!("the directive before was `{prev_directive}`"));
    if !failed_criterion.is_empty() {
        page.item(&format!("what failed, {}: {failed_criterion}", failure_class.name()));
    }
    if !rationale.is_empty() {
        page.item(&format!("why: {rationale}"));
    }
}

const fn meaning(directive: Macro) -> &'static str {
    match directive {
        Macro::Refine => "keep the approach and tighten its parameters",
        Macro::ChangePath => "keep the approach and take another target",
        Macro::ChangeApproach => "take another method",
        Macro::BreakSymmetry => "take another kind of tool altogether",
        Macro::Accept | Macro::Success | Macro::Abandon => "there is nothing left to plan",
    }
}

fn must_not(page: &mut Page, PlanDirective { blocked_tools, blocked_targets, .. }: &PlanDirective) {
    if blocked_tools.is_empty() && blocked_targets.is_empty() {
        return;
    }
    page.heading("MUST NOT");
    page.line("A plan that uses one of these is refused.");
    for tool in blocked_tools {
        page.item(&format!("MUST NOT use the tool `{tool}`"));
    }
    for target in blocked_targets {
        page.item(&format!("MUST NOT use the target `{target}`"));
    }
}
