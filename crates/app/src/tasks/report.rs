//! What came of a request, and what a script is told about it.

use std::time::Duration;

use domain::id::{EventId, TaskId};
use domain::task::{Cause, Directive, FinalResult, Status};
use serde::Serialize;

use kernel::{Code, Problem};

/// What came of a request.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub task: TaskId,
    /// The shortest form of the id that can be typed back.
    pub short: String,
    pub event: EventId,
    pub status: Status,
    pub result: Option<FinalResult>,
    /// What it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<crate::approvals::ApprovalView>,
    /// What it asks back, while nobody has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What models were asked, role by role; nothing where none was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cost: Vec<super::RoleCost>,
    /// Whether anything was left to do.
    pub worked: bool,
    /// How many of its calls `regent undo` could take back.
    pub can_undo: usize,
    #[serde(skip)]
    pub elapsed: Duration,
}

impl Report {
    /// What is not as it should be, if anything.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        if self.status == Status::Waiting {
            return Some(self.waits());
        }
        // Whoever was at it broke down: that is never called done.
        if !self.status.is_over() {
            let problem = Problem::new(Code::INTERNAL, "the work broke off before there was a result");
            return Some(
                problem.safe("what was done is saved").remedy(format!("regent resume {}", self.short)),
            );
        }
        let result = self.result.as_ref()?;
        if self.status == Status::Stopped && result.directive != Directive::Abandon {
            let what = "the result is there, but it could not be handed over";
            return Some(
                Problem::new(Code::OUTPUT, what).remedy(format!("regent tasks show {}", self.short)),
            );
        }
        shortcoming(result, &self.short)
    }

    /// Nothing is wrong, and nothing goes on before somebody has answered.
    fn waits(&self) -> Problem {
        if let Some(question) = &self.question {
            return Problem::new(Code::WAITING, format!("{} asks: {question}", self.short))
                .safe("nothing was done yet")
                .remedy(format!("regent resume {} \"your answer\"", self.short));
        }
        let what = match self.waiting.as_slice() {
            [one] => format!("{} waits for your answer: {}", self.short, one.short),
            several => format!("{} waits for your answers: {}", self.short, several.len()),
        };
        let problem = Problem::new(Code::WAITING, what).safe("nothing was done yet that was asked about");
        let shows = self.waiting.iter().map(|view| format!("regent approvals show {}", view.short));
        shows.fold(problem, Problem::remedy).remedy(format!("regent resume {}", self.short))
    }
}

/// What a result falls short of; `task` is how a person names the task.
#[must_use]
pub fn shortcoming(result: &FinalResult, task: &str) -> Option<Problem> {
    let why = result.reason.clone().unwrap_or_else(|| "too little of it could be met".into());
    let problem = match (result.directive, result.cause) {
        (Directive::Accept, _) => return None,
        (Directive::Success, _) => {
            let short = |kind: &str| {
                let verdicts = result.unmet().filter(move |verdict| verdict.name() == kind);
                verdicts
                    .map(|verdict| format!("{} ({})", verdict.criterion, verdict.evidence))
                    .collect::<Vec<_>>()
            };
            let unmet: Vec<String> = short("not met").into_iter().chain(result.reason.clone()).collect();
            let named = [("not met", unmet), ("unverified", short("unverified"))];
            let named = named.into_iter().filter(|(_, which)| !which.is_empty());
            let named: Vec<String> =
                named.map(|(kind, which)| format!("{kind}: {}", which.join("; "))).collect();
            Problem::new(Code::UNMET, format!("delivered, but {}", named.join("; ")))
        }
        (Directive::Abandon, Some(Cause::NeedsModel)) => {
            let what = "I need a model for that, and there is none";
            let problem = Problem::new(Code::NEEDS_MODEL, what).tried(format!("my own reflexes: {why}"));
            return Some(problem.remedy("regent model list"));
        }
        (Directive::Abandon, Some(Cause::Refused)) => {
            Problem::new(Code::REFUSED, why).safe("the call did not run")
        }
        (Directive::Abandon, Some(Cause::Exhausted)) => {
            Problem::new(Code::BUDGET, why).safe("the call did not run")
        }
        (Directive::Abandon, Some(Cause::Loop)) => {
            Problem::new(Code::LOOPED, format!("stopped, it went round in circles: {why}"))
        }
        (Directive::Abandon, Some(Cause::NoAnswer)) => {
            Problem::new(Code::NO_ANSWER, why).safe("what was done before is kept")
        }
        (Directive::Abandon, Some(Cause::Cancelled)) => {
            Problem::new(Code::CANCELLED, why).safe("what was done before is kept")
        }
        (Directive::Abandon, Some(Cause::Unplannable)) => {
            Problem::new(Code::STOPPED, format!("unplannable: {why}"))
        }
        (Directive::Abandon, Some(Cause::Failed) | None) => {
            Problem::new(Code::STOPPED, format!("stopped: {why}"))
        }
    };
    Some(problem.remedy(format!("regent why {task}")))
}
