//! The reflex: answers the engine's asks about files in the workspace without a model, from the words of
//! the request alone. It counts, lists, names the largest and the newest, and searches for text.
//!
//! It knows a small English grammar (`parse`) and nothing else. A word it cannot account for could
//! change the meaning, so then it says which word that is and leaves the request to a model.
//!
//! It keeps nothing between two asks: planning and acting read the verbatim request again, which gives
//! the same typed request every time.
//!
//! Start reading at [`Reflex::answer`], then `parse`.

mod act;
mod answer;
mod call;
mod files;
mod parse;
mod plan;
mod request;
mod resolve;
mod search;
#[cfg(test)]
mod tests;
mod token;
mod why;
mod words;

use domain::Text;
use domain::ask::{Ask, Perception, Reply, Want};
use domain::task::{Constraints, Plan, TaskSpec};

use crate::{Answer, Provider};
use request::Request;
use why::Why;

#[derive(Clone, Copy, Debug, Default)]
pub struct Reflex;

impl Provider for Reflex {
    fn ask(&self, ask: &Ask) -> Answer {
        Answer::Now(match &ask.want {
            Want::Perceive { request, .. } => Reply::Perceived(perceive(request)),
            Want::Plan { spec, .. } => Reply::Planned(match understand(&spec.raw_input.text) {
                Ok(request) => plan::plan(&request),
                Err(_beyond) => Plan::of(vec![]), // was never perceived as a task
            }),
            Want::Act { spec, number, subtask, evidence, .. } => {
                Reply::Acted(act::act(understand(&spec.raw_input.text), *number, subtask, evidence))
            }
            Want::Judge { criteria, .. } => crate::no_judge(criteria),
        })
    }
}

fn understand(text: &str) -> Result<Request, Why> {
    resolve::request(&parse::questions(&token::tokens(text)?)?)
}

fn perceive(request: &Text) -> Perception {
    match understand(&request.text) {
        Err(why) => Perception::Beyond { why: why.to_string() },
        Ok(understood) => Perception::Task(Box::new(TaskSpec {
            task_class: understood.class(),
            intent: Text::model(understood.intent()),
            constraints: Constraints { scope: understood.scope(), deadline: None },
            raw_input: request.clone(),
        })),
    }
}
