//! The reflex: answers the engine's asks about the files and tables of the workspace without a model, from the words of
//! the request alone.
//!
//! It knows a small English grammar and nothing else: what × which × where × what to do, in any order, several steps
//! joined by `and` and `then`; arithmetic; days. A word it cannot account for could change the meaning, so then it says
//! which word that is and leaves the request to a model.
//!
//! ```text
//! words ─► token ─► clause (said) ─► resolve ─► request ─► plan, steps ─► answer
//! ```
//!
//! It keeps nothing between two asks: planning and acting read the verbatim request again, which gives
//! the same typed request every time.
//!
//! Start reading at [`Reflex::ask`], then `clause` and `resolve`.

mod amount;
mod answer;
mod calendar;
mod clause;
mod columns;
mod content;
mod cursor;
mod describe;
mod except;
mod heads;
mod help;
mod kinds;
mod literal;
mod meaning;
mod names;
mod place;
mod plan;
mod ranks;
mod record;
mod request;
mod resolve;
mod said;
mod steps;
mod sums;
mod talk;
#[cfg(test)]
mod tests;
mod token;
mod told;
mod when;
mod which;
mod why;
#[rustfmt::skip]
mod words;

use std::sync::{Mutex, PoisonError};

use domain::ask::{Action, Ask, Perception, Reply, Want};
use domain::call::Evidence;
use domain::task::{Constraints, Plan, Subtask, TaskSpec};
use domain::{Text, Time};
use jiff::tz::TimeZone;

use crate::{Answer, Provider};
pub use help::GRAMMAR;
use request::{Files, Job, Request, What};
use token::Token;
use why::Why;

#[derive(Debug)]
pub struct Reflex {
    /// Where the owner is: `today` begins at their midnight.
    zone: TimeZone,
    /// The request that was read last, and what it says: a task asks about the same one again and again.
    read: Mutex<Option<(String, Result<Request, Why>)>>,
}

impl Reflex {
    #[must_use]
    pub const fn new(zone: TimeZone) -> Self {
        Self { zone, read: Mutex::new(None) }
    }
}

impl Default for Reflex {
    fn default() -> Self {
        Self::new(TimeZone::UTC)
    }
}

impl Provider for Reflex {
    fn ask(&self, ask: &Ask) -> Answer {
        Answer::Now(match &ask.want {
            Want::Perceive { request, .. } => Reply::Perceived(self.perceive(request, ask.now)),
            Want::Plan { spec, .. } => Reply::Planned(match self.understand(&spec.raw_input.text, ask.now) {
                Ok(Understood::Task(request)) => plan::plan(&request),
                Ok(Understood::Reply(_)) | Err(_) => Plan::of(vec![]), // was never perceived as a task
            }),
            Want::Act { spec, number, subtask, evidence, .. } => {
                Reply::Acted(self.act(spec, ask.now, *number, subtask, evidence))
            }
            Want::Judge { criteria, .. } => crate::no_judge(criteria),
        })
    }
}

/// What a request comes to.
#[derive(Debug, PartialEq, Eq)]
enum Understood {
    /// Answered without any work.
    Reply(String),
    Task(Request),
}

impl Reflex {
    fn understand(&self, text: &str, now: Time) -> Result<Understood, Why> {
        let now = when::local(now, &self.zone).ok_or(Why::NoSuchDay)?;
        if let Some(expression) = sums::expression(text)? {
            let job = Job { files: Files::default(), what: What::Calculate(expression), save: None };
            return Ok(Understood::Task(Request { jobs: vec![job] }));
        }
        let tokens = token::tokens(text)?;
        if let Some(reply) = talk::reply(&tokens) {
            return Ok(Understood::Reply(reply.into()));
        }
        if let Some(reply) = calendar::reply(&tokens, &now)? {
            return Ok(Understood::Reply(reply));
        }
        let request = self.read(text, &tokens)?;
        let impossible = |job: &Job| match (job.files.age.from, job.files.age.before) {
            (Some(from), Some(before)) => from.resolve(&now) >= before.resolve(&now),
            _ => false,
        };
        if request.jobs.iter().any(impossible) {
            Err(Why::Contradiction)
        } else {
            Ok(Understood::Task(request))
        }
    }

    /// What the words of a request say, whenever they are read.
    fn read(&self, text: &str, tokens: &[Token]) -> Result<Request, Why> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        match &*read {
            Some((known, says)) if known == text => says.clone(),
            _ => {
                let says = clause::clauses(tokens).and_then(resolve::request);
                *read = Some((text.to_owned(), says.clone()));
                says
            }
        }
    }

    fn perceive(&self, request: &Text, now: Time) -> Perception {
        match self.understand(&request.text, now) {
            Err(why) => Perception::Beyond { why: why.to_string() },
            Ok(Understood::Reply(answer)) => Perception::Direct { answer },
            Ok(Understood::Task(understood)) => Perception::Task(Box::new(TaskSpec {
                task_class: understood.class(),
                intent: Text::model(understood.intent()),
                constraints: Constraints { scope: understood.scope(), deadline: None },
                raw_input: request.clone(),
            })),
        }
    }

    /// The next move for one subtask. Plans are made of the same words, so neither of the first two answers is ever seen
    /// in an engine that hands over the subtask it was given. A subtask is found by its place in the plan, counted from
    /// zero, and has to say what that place says: to do another's work would be worse than to do none.
    fn act(
        &self,
        spec: &TaskSpec,
        now: Time,
        number: u32,
        subtask: &Subtask,
        evidence: &[Evidence],
    ) -> Action {
        let (request, now) = match (self.understand(&spec.raw_input.text, now), when::local(now, &self.zone))
        {
            (Ok(Understood::Task(request)), Some(now)) => (request, now),
            (Err(why), _) => return Action::failed(format!("I do not understand this request: {why}.")),
            _ => return Action::failed("There is nothing to do."),
        };
        let job = usize::try_from(number).ok().and_then(|number| request.jobs.get(number));
        let Some(job) = job.filter(|job| job.intent() == subtask.intent.text) else {
            return Action::failed(format!(
                "Nothing was done: `{}` is no subtask of this request.",
                subtask.intent.text
            ));
        };
        let last = number as usize + 1 == request.jobs.len();
        steps::next(job, evidence, &now, last)
    }
}
