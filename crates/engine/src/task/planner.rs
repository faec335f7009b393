//! R2: a plan that can be carried out, or none. Memory is asked before, and about everything that the plan names after.

use std::collections::BTreeSet;

use domain::ask::{Ask, NotPlanned, Replan, Want};
use domain::glob::matches;
use domain::gradient::PlanDirective;
use domain::recall::{Recall, Recalled, Tag};
use domain::source::Source;
use domain::task::{Cause, MustNot, Plan};

use super::contract::{Node, Said};
use super::executor::Work;
use super::{Effect, Role, Step, Task};
use crate::plan::{self, BadPlan, Edges};

/// What planning goes by, from round to round.
#[derive(Clone, Debug, Default)]
pub(super) struct Planning {
    recalled: Recalled,
    replan: Option<Replan>,
    must_not: MustNot,
    /// A valid plan, while memory is asked about what it names; and the ask that it answers.
    drafted: Option<(Plan, Ask)>,
    /// The step in which the plan came: its subtasks' ids derive from it.
    step: u64,
}

impl Planning {
    pub(super) const fn must_not(&self) -> &MustNot {
        &self.must_not
    }

    pub(super) const fn step(&self) -> u64 {
        self.step
    }

    /// What the solver says of the next plan.
    pub(super) fn direct(&mut self, replan: Replan) {
        let PlanDirective { blocked_tools, blocked_targets, .. } = &replan.directive;
        self.must_not.tools = blocked_tools.iter().cloned().collect();
        self.must_not.targets = blocked_targets.iter().cloned().collect();
        self.replan = Some(replan);
    }
}

impl Task {
    pub(super) fn begin_planning(&mut self, step: &mut Step) {
        if self.is_steered() {
            let class = self.spec.as_ref().map_or("", |spec| spec.task_class.as_str());
            let tags = vec![Tag::intent(class)];
            return self.ask_memory(tags, step);
        }
        self.ask_to_plan(None, step);
    }

    fn ask_memory(&mut self, tags: Vec<Tag>, step: &mut Step) {
        step.say(Role::Planner, Role::Memory, &Said::Plain("Recall"), None);
        self.start(step, Effect::Recall(Recall { tags }));
    }

    pub(super) fn recalled(&mut self, recalled: Recalled, step: &mut Step) {
        self.open.remove(&super::step::Open::Recall);
        if self.result.is_some() {
            return;
        }
        step.say(Role::Memory, Role::Planner, &Said::Plain("Recalled"), None);
        match self.planning.drafted.take() {
            None => {
                self.planning.recalled = recalled;
                self.ask_to_plan(None, step);
            }
            Some((plan, ask)) => {
                self.planning.must_not.avoided.extend(recalled.avoided().cloned());
                match plan::abides(&plan, &self.planning.must_not) {
                    Ok(()) => self.carry_out(plan, step),
                    Err(bad) => self.mend(&ask, &bad, step),
                }
            }
        }
    }

    fn ask_to_plan(&mut self, repair: Option<String>, step: &mut Step) {
        let Some(spec) = self.spec.clone() else { return };
        if self.nothing_is_left_to_use() {
            return self.unplannable("every tool that may be used has failed here", step);
        }
        let (clarified, recalled) = (self.clarified.clone(), self.planning.recalled.clone());
        let replan = self.planning.replan.clone();
        self.ask(Want::Plan { spec, clarified, recalled, replan }, repair, step);
    }

    fn nothing_is_left_to_use(&self) -> bool {
        let allowed = |id: &str| self.opening.tools.iter().any(|glob| matches(glob, id));
        let mut usable =
            self.opening.cards.iter().map(|card| card.id.as_str()).filter(|id| allowed(id)).peekable();
        usable.peek().is_some() && usable.all(|id| self.planning.must_not.tools.contains(id))
    }

    pub(super) fn planned(&mut self, ask: &Ask, plan: Plan, step: &mut Step) {
        let plan = plan::arranged(plan);
        let restates = || {
            let intent = self.spec.as_ref().map_or("", |spec| spec.intent.text.as_str());
            plan::restates(&plan.task_criteria, intent)
        };
        let valid = plan::validate(&plan).and_then(|()| plan::abides(&plan, &self.planning.must_not));
        if let Err(bad) = valid.and_then(|()| if restates() { Err(BadPlan::RestatesTask) } else { Ok(()) }) {
            return self.mend(ask, &bad, step);
        }
        let hints = plan.subtasks.iter().flat_map(|subtask| &subtask.tool_hints);
        let named = hints.filter_map(|hint| Some(Tag::tool(hint.tool.as_str(), hint.target.as_deref()?)));
        let named: BTreeSet<Tag> = named.collect();
        if self.is_steered() && !named.is_empty() {
            self.planning.drafted = Some((plan, ask.clone()));
            return self.ask_memory(named.into_iter().collect(), step);
        }
        self.carry_out(plan, step);
    }

    /// A planner that was shown what tools returned may write it into the context of a subtask: then that is not its own.
    fn with_sources(&self, mut plan: Plan) -> Plan {
        let achieved =
            self.planning.replan.iter().flat_map(|replan| &replan.achieved).map(|text| &text.source);
        let Some(tool) = achieved.into_iter().find(|source| matches!(source, Source::Tool { .. })).cloned()
        else {
            return plan;
        };
        for text in plan.subtasks.iter_mut().flat_map(|subtask| &mut subtask.context) {
            if text.source == Source::Model {
                text.source = tool.clone();
            }
        }
        plan
    }

    /// A plan that cannot be carried out is asked for once more, with the reason.
    fn mend(&mut self, ask: &Ask, bad: &BadPlan, step: &mut Step) {
        if self.is_steered() && ask.repair.is_none() {
            return self.ask_to_plan(Some(bad.to_string()), step);
        }
        self.unplannable(&bad.to_string(), step);
    }

    pub(super) fn not_planned(&mut self, why: NotPlanned, step: &mut Step) {
        match why {
            NotPlanned::Clarify { question } => self.wonder(Role::Planner, question, step),
            NotPlanned::Impossible { why } => self.unplannable(&why, step),
        }
    }

    pub(super) fn unplannable(&mut self, why: &str, step: &mut Step) {
        step.say(Role::Planner, Role::Solver, &Said::Unplannable { why }, None);
        self.abandon(Cause::Unplannable, why.to_owned(), step);
    }

    fn carry_out(&mut self, plan: Plan, step: &mut Step) {
        let plan = self.with_sources(plan);
        let intent = self.spec.as_ref().map_or_else(String::new, |spec| spec.intent.text.clone());
        self.plan_reason = Some(self.reason("plan", Some(self.opening.tags.reason), intent, step));
        self.planning.step = step.n;
        let ids: Vec<String> =
            (0..).zip(&plan.subtasks).map(|(number, _)| self.subtask_id(number).to_string()).collect();
        let nodes = ids.into_iter().zip(&plan.subtasks).map(|(id, subtask)| Node {
            id,
            intent: &subtask.intent.text,
            depends_on: &subtask.depends_on,
        });
        let manifest = Said::DispatchManifest {
            subtasks: nodes.collect(),
            task_criteria: plan.task_criteria.iter().map(|criterion| criterion.text.as_str()).collect(),
        };
        step.say(Role::Planner, Role::MetaValidator, &manifest, None);
        let Edges { waits, dependents } = Edges::of(&plan);
        self.work = waits.into_iter().zip(dependents).map(|(waits, on)| Work::new(waits, on)).collect();
        self.left = self.work.len();
        self.plan = Some(plan);
        self.dispatch(step);
    }
}
