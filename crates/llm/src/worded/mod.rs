//! A provider over a language model: asks become prompts, text becomes typed replies.
//!
//! What a role is told once and for all is a Markdown file in `prompts/`, with the tools behind it; what it is told in one
//! ask comes after, so that a provider can keep the beginning. What anybody but the owner wrote is fenced and called data.
//!
//! It asks once. What cannot be used comes back as that, with a reason, and the engine decides about a second try.
//!
//! Start reading at [`Worded::prompt`] for what goes out and at `read::Form::read` for what comes back.

mod lenient;
mod read;
#[cfg(test)]
pub(crate) mod samples;
mod schema;
mod show;
#[cfg(test)]
mod tests;

pub(crate) use read::Form;
pub use read::REPLY_BYTES;

use std::fmt;
use std::sync::Arc;

use domain::Time;
use domain::ask::{Ask, Unanswered, Usage};
use domain::call::ToolId;
use serde_json::Value;

use crate::model::{Completion, Model, Place, Prompt, Role};
use crate::{Answer, Heard, Provider};

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolText {
    pub id: ToolId,
    pub description: String,
    /// JSON schema of its arguments.
    pub input_schema: Value,
}

/// How a moment is written for a model, with its zone: `Sunday 15 Nov 2026 08:30:00 (Europe/Berlin, +01:00)`.
pub type Moment = Box<dyn Fn(Time) -> String + Send + Sync>;

pub struct Worded {
    model: Arc<dyn Model>,
    tools: Vec<ToolText>,
    moment: Moment,
}

impl Worded {
    /// `tools` in the order in which they are to be preferred.
    pub fn new(model: Arc<dyn Model>, tools: Vec<ToolText>, moment: Moment) -> Self {
        Self { model, tools, moment }
    }

    /// What the model is told. The same ask gives the same bytes.
    #[must_use]
    pub fn prompt(&self, ask: &Ask) -> Prompt {
        let place = Place::of(ask);
        Prompt {
            place,
            system: system(place.role, &self.tools),
            user: show::user(ask, &(self.moment)(ask.now)),
            schema: schema::of(place.role, &self.tools),
        }
    }
}

impl Provider for Worded {
    fn ask(&self, ask: &Ask) -> Answer {
        let (model, prompt, form) = (Arc::clone(&self.model), self.prompt(ask), Form::of(ask));
        Answer::Later(Box::pin(async move {
            match model.complete(prompt).await {
                Ok(Completion { text, usage }) => Heard { reply: form.read(&text), usage },
                Err(unanswered) => unheard(model.name(), unanswered),
            }
        }))
    }

    fn knows_another_way(&self) -> bool {
        true
    }
}

fn unheard(model: String, why: Unanswered) -> Heard {
    Heard { reply: Err(why), usage: Usage { model, ..Usage::default() } }
}

impl fmt::Debug for Worded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.name();
        f.debug_struct("Worded").field("model", &model).field("tools", &self.tools).finish_non_exhaustive()
    }
}

/// What a role is told in every ask.
const fn instructions(role: Role) -> &'static str {
    match role {
        Role::Perceiver => include_str!("prompts/perceiver.md"),
        Role::Planner => include_str!("prompts/planner.md"),
        Role::Executor => include_str!("prompts/executor.md"),
        Role::Validator => include_str!("prompts/validator.md"),
        Role::MetaValidator => include_str!("prompts/meta_validator.md"),
    }
}

/// How a role is to reply: the last part of its instructions, which a second try and a correction repeat.
fn form(role: Role) -> &'static str {
    let text = instructions(role);
    text.split_once("\n## Reply\n").map_or(text, |(_, form)| form).trim()
}

/// Planner and executor are told of the tools; the others have nothing to do with them.
fn system(role: Role, tools: &[ToolText]) -> String {
    let mut text = instructions(role).to_owned();
    if matches!(role, Role::Planner | Role::Executor) {
        text.push_str("\n## Tools\n");
        for ToolText { id, description, input_schema } in tools {
            text.push_str(&format!("\n### {id}\n{}\nArguments: {input_schema}\n", description.trim()));
        }
        if tools.is_empty() {
            text.push_str("\nThere are none.\n");
        }
    }
    text
}
