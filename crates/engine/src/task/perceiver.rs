//! R1: what does this request need? It restates and does not interpret; what is not certain it asks back, once.

use domain::Digest;
use domain::ask::{Clarified, Perception, Want};
use domain::source::Text;
use domain::task::{Cause, Directive, FinalResult, TaskSpec};

use super::contract::Said;
use super::{Role, Step, Task};

impl Task {
    pub(super) fn ask_to_perceive(&mut self, step: &mut Step) {
        let request = self.opening.request.clone();
        let (history, clarified) = (self.opening.history.clone(), self.clarified.clone());
        self.ask(Want::Perceive { request, history, clarified }, None, step);
    }

    pub(super) fn perceived(&mut self, perception: Perception, step: &mut Step) {
        match perception {
            Perception::Beyond { why } => self.abandon(Cause::NeedsModel, why, step),
            Perception::Direct { answer } => {
                step.say(Role::Perceiver, Role::User, &Said::Plain("Answer"), None);
                self.conclude(FinalResult::new(Directive::Accept, answer), step);
            }
            Perception::Clarify { question } => self.wonder(Role::Perceiver, question, step),
            Perception::Task(spec) => {
                step.say(Role::Perceiver, Role::Planner, &Said::Plain("TaskSpec"), None);
                self.spec = Some(self.faithful(*spec));
                self.begin_planning(step);
            }
        }
    }

    /// The request stays as it was written, whatever a model makes of it, and has a class under which it is remembered.
    fn faithful(&self, spec: TaskSpec) -> TaskSpec {
        const DIGITS: usize = 12;
        let raw_input = self.opening.request.clone();
        let task_class = if spec.task_class.is_empty() {
            let digest = Digest::of(raw_input.text.as_bytes()).to_string();
            format!("request_{}", digest.chars().take(DIGITS).collect::<String>())
        } else {
            spec.task_class
        };
        TaskSpec { task_class, raw_input, ..spec }
    }

    /// One question back; whoever needs a second one has not understood.
    pub(super) fn wonder(&mut self, by: Role, question: String, step: &mut Step) {
        if self.clarified.is_some() {
            return self.abandon(Cause::Unplannable, format!("it is still not clear: {question}"), step);
        }
        step.say(by, Role::User, &Said::Plain("Question"), None);
        self.question = Some((by, question));
    }

    /// The answer is part of what is wanted from here on.
    pub(super) fn clarify(&mut self, answer: Text, step: &mut Step) {
        let Some((by, question)) = self.question.take() else { return };
        step.say(Role::User, by, &Said::Plain("Clarified"), None);
        self.clarified = Some(Clarified { question, answer });
        match by {
            Role::Planner => self.begin_planning(step),
            _ => self.ask_to_perceive(step),
        }
    }
}
