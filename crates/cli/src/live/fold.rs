//! One step in, what is known afterwards, and the lines that are said once and stay. Nothing else decides what is shown.

use std::time::Duration;

use domain::approval::Answer;
use domain::ask::Want;
use domain::call::{Call, target};
use domain::criterion::Verdict;
use domain::gradient::{Macro, PlanDirective};
use engine::task::{Effect, Input, Message, Ruling, Step};
use serde::Deserialize;

use super::model::{Model, Part, Round, Running, Stand, State, You};

/// A line that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// What is going to be done.
    Plan { steps: usize, checks: usize },
    /// One step of the plan is over.
    Part { number: u32, of: usize, part: Part },
    /// Another plan: what changes, why, and which steps are kept.
    Round { number: u32, directive: Macro, failed: Vec<u32>, why: String, kept: Vec<u32> },
}

/// What R4a hands on about a subtask, as far as it is shown.
#[derive(Deserialize)]
struct Outcome {
    status: String,
    failure_reason: Option<String>,
    criteria_verdicts: Vec<Verdict>,
}

#[derive(Deserialize)]
struct Manifest {
    subtasks: Vec<Node>,
    task_criteria: Vec<String>,
}

#[derive(Deserialize)]
struct Node {
    intent: String,
    depends_on: Vec<u32>,
}

pub(crate) fn fold(model: &mut Model, step: &Step) -> Vec<Line> {
    let since_last = model.last.map_or(Duration::ZERO, |last| step.at.since(last));
    if step.input == Input::TakenOver {
        model.paused += since_last;
    } else if model.is_waiting() {
        model.waited += since_last;
    }
    model.last = Some(step.at);
    if let Some(subject) = step.input.subject() {
        model.asks.remove(&subject);
    }
    take_in(model, &step.input);
    model.price += step.usage.as_ref().map_or(0, |usage| usage.price);
    let lines = step.messages.iter().filter_map(|message| hear(model, message, step)).collect();
    for effect in &step.effects {
        begin(model, effect);
    }
    lines
}

fn take_in(model: &mut Model, input: &Input) {
    match input {
        Input::Opened(opening) => {
            model.task = Some(opening.task);
            model.began = model.last;
            model.steering = opening.steering;
            model.cards.clone_from(&opening.cards);
        }
        Input::Perceived(_) => model.stand = Stand::Understood,
        Input::Planned(plan) => model.drafted = Some(plan.clone()),
        Input::NotPlanned(_) => model.drafted = None,
        Input::Ruled { call, ruling } => match ruling {
            Ruling::Execute => set_asked(model, *call, false),
            Ruling::Review { .. } => set_asked(model, *call, true),
            Ruling::Refused { .. } | Ruling::Denied { .. } | Ruling::Exhausted { .. } => {
                model.calls.remove(call);
            }
        },
        Input::Answered { call, answer } => answered(model, *call, answer),
        Input::Returned { call, .. } => {
            model.calls.remove(call);
        }
        Input::Cancelled { .. } => model.stopping = true,
        Input::Clarified(_)
        | Input::Recalled(_)
        | Input::Acted { .. }
        | Input::Judged { .. }
        | Input::Unanswered { .. }
        | Input::TakenOver => {}
    }
}

fn set_asked(model: &mut Model, call: domain::id::CallId, asked: bool) {
    if let Some(call) = model.calls.get_mut(&call) {
        call.asked = asked;
    }
}

fn answered(model: &mut Model, call: domain::id::CallId, answer: &Answer) {
    let you = match answer {
        Answer::Approved => You::Yes,
        Answer::Rejected { .. } => You::No,
        Answer::Modified { .. } => You::Changed,
        Answer::Expired => You::Expired,
    };
    // One that is approved is asked for again, with the yes.
    let Some(gone) = model.calls.remove(&call) else { return };
    if let Some(part) = model.parts.get_mut(gone.part as usize) {
        part.you = Some(you);
    }
}

fn begin(model: &mut Model, effect: &Effect) {
    match effect {
        Effect::Ask(ask) => {
            model.asks.insert(ask.subject());
            if matches!(ask.want, Want::Plan { .. }) {
                model.drafted = None;
            }
        }
        Effect::Call(Call { id, tool, args, subtask: Some(part), .. }) => {
            let card = model.cards.iter().find(|card| card.id == *tool);
            let aim = target(card.and_then(|card| card.target.as_deref()), args);
            let running = Running { part: *part, tool: tool.to_string(), aim, asked: false };
            model.calls.insert(*id, running);
        }
        // The answer itself goes back as a call of no subtask; memory answers at once.
        Effect::Call(_) => model.stand = Stand::Over,
        Effect::Recall(_) => {}
    }
}

fn hear(model: &mut Model, message: &Message, step: &Step) -> Option<Line> {
    match message.kind.as_str() {
        "DispatchManifest" => plan(model, Manifest::deserialize(&message.body).ok()?),
        "SubTask" => {
            let part = model.parts.get_mut(message.subtask? as usize)?;
            (part.state, part.began) = (State::Working, Some(step.at));
            None
        }
        "SubTaskOutcome" => {
            let outcome = Outcome::deserialize(&message.body).ok()?;
            settle(model, message.subtask?, outcome, step)
        }
        "OutcomeSummary" | "ReplanRequest" => {
            model.stand = Stand::Reviewed;
            None
        }
        "PlanDirective" => {
            let directive = PlanDirective::deserialize(&message.body).ok()?;
            Some(replan(model, &directive))
        }
        _ => None,
    }
}

fn plan(model: &mut Model, manifest: Manifest) -> Option<Line> {
    let criteria = model.drafted.take().map_or_else(Vec::new, |plan| plan.subtasks);
    let criteria = criteria.iter().map(|subtask| subtask.success_criteria.len()).chain(std::iter::repeat(0));
    let parts = manifest.subtasks.into_iter().zip(criteria);
    model.parts = parts
        .map(|(node, checks)| Part { intent: node.intent, needs: node.depends_on, checks, ..Part::default() })
        .collect();
    model.checks_of_all = manifest.task_criteria.len();
    model.stand = Stand::Planned;
    // A later plan was said with the round that it belongs to.
    let first = model.replans == 0;
    first.then(|| Line::Plan { steps: model.parts.len(), checks: model.checks() })
}

fn settle(model: &mut Model, number: u32, outcome: Outcome, step: &Step) -> Option<Line> {
    let of = model.parts.len();
    let part = model.parts.get_mut(number as usize)?;
    part.met = outcome.criteria_verdicts.iter().filter(|verdict| verdict.passed).count();
    part.took = part.began.map_or_else(Default::default, |began| step.at.since(began));
    part.state = match outcome.status.as_str() {
        "matched" => State::Done,
        "skipped" => State::Skipped,
        _ => State::Failed(outcome.failure_reason.unwrap_or_default()),
    };
    let part = part.clone();
    // It failed while calls of it were under way: nobody waits for them any more.
    model.calls.retain(|_, call| call.part != number);
    Some(Line::Part { number: number + 1, of, part })
}

fn replan(model: &mut Model, directive: &PlanDirective) -> Line {
    let numbered = || (1..).zip(&model.parts);
    let failed: Vec<u32> = numbered()
        .filter(|(_, part)| matches!(part.state, State::Failed(_)))
        .map(|(number, _)| number)
        .collect();
    let kept = numbered().filter(|(_, part)| part.state == State::Done).map(|(number, _)| number).collect();
    let trouble = model.parts.iter().find_map(|part| match &part.state {
        State::Failed(why) if !why.is_empty() => Some(why.clone()),
        _ => None,
    });
    let why = trouble.unwrap_or_else(|| directive.failed_criterion.clone());
    model.rounds.push(Round::of(directive, why.clone()));
    model.replans += 1;
    model.stand = Stand::Understood;
    Line::Round { number: model.replans + 1, directive: directive.directive, failed, why, kept }
}
