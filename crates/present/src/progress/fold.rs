//! The one pass over a step: its input, its messages and its effects change what is known, and give the events and the lines
//! that follow from it. No other code reads steps to display them.

use std::time::Duration;

use domain::approval::Answer;
use domain::ask::{Action, Perception, Usage, Want};
use domain::call::{Call, target};
use domain::criterion::Verdict;
use domain::gradient::PlanDirective;
use domain::id::{CallId, TaskId};
use engine::task::{Assessment, Effect, Input, Message, Opening, Ruling, Step};
use serde::Deserialize;
use serde_json::Value;

use super::event::{ProgressEvent, ProgressEventKind, RoundMeasures};
use super::line::ProgressLine;
use super::state::{
    PersonAnswer, RoundSummary, RunningCall, SubtaskRow, SubtaskState, TaskPhase, TaskProgress,
};

/// What follows from one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepOutcome<'s> {
    pub events: Vec<ProgressEvent<'s>>,
    pub lines: Vec<ProgressLine>,
}

/// What R4a hands on about a subtask, as far as it is shown.
#[derive(Deserialize)]
struct SubtaskVerdict {
    status: String,
    failure_reason: Option<String>,
    criteria_verdicts: Vec<Verdict>,
}

#[derive(Deserialize)]
struct DispatchedPlan {
    subtasks: Vec<DispatchedSubtask>,
    task_criteria: Vec<String>,
}

#[derive(Deserialize)]
struct DispatchedSubtask {
    intent: String,
    depends_on: Vec<u32>,
}

/// The events of one step, for a caller that has no display.
#[must_use]
pub fn list_events(task: TaskId, step: &Step) -> Vec<ProgressEvent<'_>> {
    TaskProgress::default().apply(task, step).events
}

impl TaskProgress {
    /// Takes in one durable step of this task.
    pub fn apply<'s>(&mut self, task: TaskId, step: &'s Step) -> StepOutcome<'s> {
        self.count_time(step);
        let mut kinds = Vec::new();
        self.take_input(&step.input, &mut kinds);
        if let Some(usage) = &step.usage {
            self.take_usage(usage, &step.input, &mut kinds);
        }
        let mut lines = Vec::new();
        for (place, message) in step.messages.iter().enumerate() {
            lines.extend(self.take_message(message, step, &mut kinds));
            if message.kind == "Megram" {
                let id = format!("{task}.{}.{place}", step.n);
                kinds.push(ProgressEventKind::MemoryStored { kind: "megram", id, megram: &message.body });
            }
        }
        for effect in &step.effects {
            self.take_effect(effect, &mut kinds);
        }
        let events = kinds.into_iter().map(|kind| ProgressEvent { seq: step.n, task, kind }).collect();
        StepOutcome { events, lines }
    }

    fn count_time(&mut self, step: &Step) {
        let since_last = self.last.map_or(Duration::ZERO, |last| step.at.since(last));
        if step.input == Input::TakenOver {
            self.paused += since_last;
        } else if self.is_waiting() {
            self.waited += since_last;
        }
        self.last = Some(step.at);
        if let Some(subject) = step.input.subject() {
            self.asks.remove(&subject);
        }
    }

    fn take_input<'s>(&mut self, input: &'s Input, events: &mut Vec<ProgressEventKind<'s>>) {
        match input {
            Input::Opened(opening) => {
                self.take_opening(opening);
                // Only if it was assessed: an event that nothing has assessed is not called harmless.
                if let Some(Assessment { risk, action }) = &opening.assessment {
                    events.push(ProgressEventKind::Assessment { risk: *risk, action });
                }
            }
            Input::Perceived(perception) => {
                self.phase = TaskPhase::Understood;
                let target = match perception {
                    Perception::Task(_) => "planner",
                    Perception::Direct { .. } | Perception::Clarify { .. } | Perception::Beyond { .. } => {
                        "user"
                    }
                };
                events.push(ProgressEventKind::Route { target });
            }
            Input::Planned(plan) => self.drafted = Some(plan.clone()),
            Input::NotPlanned(_) => self.drafted = None,
            Input::Acted { subtask, action: Action::Finish { output, .. } } => {
                events.push(ProgressEventKind::SubtaskResult { subtask: *subtask, result: output });
            }
            Input::Ruled { call, ruling } => self.take_ruling(*call, ruling, events),
            Input::Answered { call, answer } => {
                let (answer, name) = match answer {
                    Answer::Approved => (PersonAnswer::Yes, "approved"),
                    Answer::Rejected { .. } => (PersonAnswer::No, "rejected"),
                    Answer::Modified { .. } => (PersonAnswer::Changed, "modified"),
                    Answer::Expired => (PersonAnswer::Expired, "expired"),
                };
                self.take_answer(*call, answer);
                events.push(ProgressEventKind::ApprovalResolved { call: *call, answer: name });
            }
            Input::Returned { call, .. } => {
                self.calls.remove(call);
            }
            Input::Cancelled { .. } => self.stopping = true,
            Input::Clarified(_)
            | Input::Recalled(_)
            | Input::Acted { .. }
            | Input::Judged { .. }
            | Input::Unanswered { .. }
            | Input::TakenOver => {}
        }
    }

    fn take_opening(&mut self, opening: &Opening) {
        self.task = Some(opening.task);
        self.began = self.last;
        self.steering = opening.steering;
        self.cards.clone_from(&opening.cards);
    }

    fn take_ruling<'s>(&mut self, call: CallId, ruling: &'s Ruling, events: &mut Vec<ProgressEventKind<'s>>) {
        match ruling {
            Ruling::Execute => self.set_asked(call, false),
            Ruling::Review { approval } => {
                self.set_asked(call, true);
                events.push(ProgressEventKind::ApprovalRequested { id: *approval, call });
            }
            Ruling::Denied { violated, .. } => {
                self.calls.remove(&call);
                events.extend(violated.iter().map(|rule| ProgressEventKind::RuleViolated {
                    rule: rule.number(),
                    name: rule.name(),
                    action: call,
                }));
            }
            Ruling::Refused { .. } | Ruling::Exhausted { .. } => {
                self.calls.remove(&call);
            }
        }
    }

    fn set_asked(&mut self, call: CallId, asked: bool) {
        if let Some(call) = self.calls.get_mut(&call) {
            call.asked = asked;
        }
    }

    /// A call that a person approves is requested again, with the yes.
    fn take_answer(&mut self, call: CallId, answer: PersonAnswer) {
        let Some(gone) = self.calls.remove(&call) else { return };
        if let Some(row) = self.subtasks.get_mut(gone.subtask as usize) {
            row.answer = Some(answer);
        }
    }

    fn take_usage(&mut self, usage: &Usage, input: &Input, events: &mut Vec<ProgressEventKind<'_>>) {
        let Usage { tokens_in, tokens_out, price, .. } = *usage;
        self.price += price;
        if let Some(subject) = input.subject() {
            events.push(ProgressEventKind::ModelUsage { role: subject.role(), tokens_in, tokens_out, price });
        }
    }

    fn take_message<'s>(
        &mut self,
        message: &'s Message,
        step: &Step,
        events: &mut Vec<ProgressEventKind<'s>>,
    ) -> Option<ProgressLine> {
        let body = &message.body;
        match message.kind.as_str() {
            "DispatchManifest" => {
                let dag = body.get("subtasks");
                let nodes = dag.and_then(Value::as_array).into_iter().flatten();
                let tasks = nodes.map(|node| node.get("intent")).collect();
                events.push(ProgressEventKind::PlanReady { dag, tasks });
                self.take_plan(DispatchedPlan::deserialize(body).ok()?)
            }
            "SubTask" => {
                events.push(ProgressEventKind::SubtaskStarted { subtask: message.subtask });
                let row = self.subtasks.get_mut(message.subtask? as usize)?;
                (row.state, row.began) = (SubtaskState::Working, Some(step.at));
                None
            }
            "SubTaskOutcome" => {
                events.push(ProgressEventKind::SubtaskComplete { subtask: message.subtask, result: body });
                let verdict = SubtaskVerdict::deserialize(body).ok()?;
                self.settle_subtask(message.subtask?, verdict, step)
            }
            "OutcomeSummary" | "ReplanRequest" => {
                self.phase = TaskPhase::Reviewed;
                None
            }
            "PlanDirective" => {
                events.push(ProgressEventKind::Round(RoundMeasures::read(body)));
                events.push(ProgressEventKind::PlanDirective(body));
                let directive = PlanDirective::deserialize(body).ok()?;
                Some(self.begin_round(&directive))
            }
            "FinalResult" => {
                events.push(ProgressEventKind::Response { directive: body.get("directive") });
                None
            }
            _ => None,
        }
    }

    fn take_plan(&mut self, plan: DispatchedPlan) -> Option<ProgressLine> {
        let criteria = self.drafted.take().map_or_else(Vec::new, |plan| plan.subtasks);
        let criteria =
            criteria.iter().map(|subtask| subtask.success_criteria.len()).chain(std::iter::repeat(0));
        let rows = plan.subtasks.into_iter().zip(criteria);
        self.subtasks = rows
            .map(|(subtask, checks)| SubtaskRow {
                intent: subtask.intent,
                needs: subtask.depends_on,
                checks,
                ..SubtaskRow::default()
            })
            .collect();
        self.checks_of_all = plan.task_criteria.len();
        self.phase = TaskPhase::Planned;
        // The line of a round announced a later plan already.
        let first = self.replans == 0;
        first.then(|| ProgressLine::Plan { steps: self.subtasks.len(), checks: self.checks() })
    }

    fn settle_subtask(&mut self, number: u32, verdict: SubtaskVerdict, step: &Step) -> Option<ProgressLine> {
        let of = self.subtasks.len();
        let row = self.subtasks.get_mut(number as usize)?;
        row.met = verdict.criteria_verdicts.iter().filter(|verdict| verdict.passed).count();
        row.took = row.began.map_or_else(Default::default, |began| step.at.since(began));
        row.state = match verdict.status.as_str() {
            "matched" => SubtaskState::Done,
            "skipped" => SubtaskState::Skipped,
            _ => SubtaskState::Failed(verdict.failure_reason.unwrap_or_default()),
        };
        let row = row.clone();
        // If it failed while calls of it were under way, the task does not wait for them any more.
        self.calls.retain(|_, call| call.subtask != number);
        Some(ProgressLine::Subtask { number: number + 1, of, row })
    }

    fn begin_round(&mut self, directive: &PlanDirective) -> ProgressLine {
        let numbered = || (1..).zip(&self.subtasks);
        let failed: Vec<u32> = numbered()
            .filter(|(_, row)| matches!(row.state, SubtaskState::Failed(_)))
            .map(|(number, _)| number)
            .collect();
        let kept =
            numbered().filter(|(_, row)| row.state == SubtaskState::Done).map(|(number, _)| number).collect();
        let reason = self.subtasks.iter().find_map(|row| match &row.state {
            SubtaskState::Failed(why) if !why.is_empty() => Some(why.clone()),
            _ => None,
        });
        let why = reason.unwrap_or_else(|| directive.failed_criterion.clone());
        self.rounds.push(RoundSummary::new(directive, why.clone()));
        self.replans += 1;
        self.phase = TaskPhase::Understood;
        ProgressLine::Round { number: self.replans + 1, directive: directive.directive, failed, why, kept }
    }

    fn take_effect<'s>(&mut self, effect: &'s Effect, events: &mut Vec<ProgressEventKind<'s>>) {
        match effect {
            Effect::Ask(ask) => {
                self.asks.insert(ask.subject());
                if matches!(ask.want, Want::Plan { .. }) {
                    self.drafted = None;
                }
            }
            Effect::Call(Call { id, tool, args, subtask: Some(subtask), .. }) => {
                let card = self.cards.iter().find(|card| card.id == *tool);
                let target = target(card.and_then(|card| card.target.as_deref()), args);
                let running = RunningCall { subtask: *subtask, tool: tool.to_string(), target, asked: false };
                self.calls.insert(*id, running);
                events.push(ProgressEventKind::CallRequested { call: *id, subtask: *subtask, tool });
            }
            // The answer itself is delivered by a call of no subtask; with it, what the last round came to.
            Effect::Call(Call { args, .. }) => {
                self.phase = TaskPhase::Over;
                if let Some(measured) = args.pointer("/result/measured") {
                    events.push(ProgressEventKind::Round(RoundMeasures::read(measured)));
                }
            }
            // Memory answers at once.
            Effect::Recall(_) => {}
        }
    }
}
