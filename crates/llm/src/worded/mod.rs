//! A provider over a language model: asks become prompts, text becomes typed replies.
//!
//! What a role is told once and for all is a Markdown file in `prompts/`, with the tools behind it; what it is told in one
//! ask comes after, so that a provider can keep the beginning. What anybody but the owner wrote is fenced and called data.
//!
//! It asks once. What cannot be used comes back as that, with a reason, and the engine decides about a second try.
//!
//! Start reading at [`Worded::prompt`] for what goes out and at `read::Form::read` for what comes back.

mod instructions;
mod lenient;
mod read;
#[cfg(test)]
pub(crate) mod samples;
mod schema;
mod show;
#[cfg(test)]
mod tests;

pub use instructions::StandingInstructions;
pub(crate) use read::Form;
pub use read::REPLY_BYTES;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use domain::ask::{Ask, Reply, Unanswered, Usage, Want};
use domain::call::ToolId;
use domain::recall::Recalled;
use domain::{DataClass, Time};
use serde_json::{Value, json};

use crate::model::{
    Callable, Called, Calling, Completion, FINISH, Listen, Model, Place, Prompt, Role, Unheard,
};
use crate::{Answer, Heard, Provider};

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolText {
    pub id: ToolId,
    pub description: String,
    /// JSON schema of its arguments.
    pub input_schema: Value,
    /// Whose data its results are, where they are anybody's.
    pub data_class: Option<DataClass>,
}

/// How a moment is written for a model, with its zone: `Sunday 15 Nov 2026 08:30:00 (Europe/Berlin, +01:00)`.
pub type Moment = Box<dyn Fn(Time) -> String + Send + Sync>;

pub struct Worded {
    model: Arc<dyn Model>,
    tools: Vec<ToolText>,
    moment: Moment,
    listen: Listen,
    instructions: StandingInstructions,
}

impl Worded {
    /// `tools` in the order in which they are to be preferred.
    pub fn new(model: Arc<dyn Model>, tools: Vec<ToolText>, moment: Moment) -> Self {
        let instructions = StandingInstructions::default();
        Self { model, tools, moment, listen: Arc::new(|_| ()), instructions }
    }

    /// What the owner wants in every system prompt, as it is when a prompt is made.
    #[must_use]
    pub fn with_instructions(self, instructions: StandingInstructions) -> Self {
        Self { instructions, ..self }
    }

    /// Somebody hears replies as they come in.
    #[must_use]
    pub fn heard_by(self, listen: Listen) -> Self {
        Self { listen, ..self }
    }

    /// What the model is told. The same ask gives the same bytes.
    #[must_use]
    pub fn prompt(&self, ask: &Ask) -> Prompt {
        let place = Place::of(ask);
        Prompt {
            place,
            system: format!("{}{}", system(place.role, &self.tools), self.instructions.section()),
            user: show::user(ask, &(self.moment)(ask.now)),
            schema: schema::of(place.role, &self.tools),
            calling: (place.role == Role::Executor && !self.tools.is_empty()).then(|| {
                let Calling { system, tools } = calling(&self.tools);
                Calling { system: format!("{system}{}", self.instructions.section()), tools }
            }),
            classes: self.classes(ask),
        }
    }

    /// Whose data an ask may hold: of the tools whose results it shows; of all that there are where something is told again
    /// without saying where it came from; and anybody's where the tool is not known any more.
    fn classes(&self, ask: &Ask) -> BTreeSet<DataClass> {
        let (evidence, told_again) = match &ask.want {
            Want::Perceive { history, .. } => (&[][..], !history.is_empty()),
            Want::Plan { replan, recalled, .. } => {
                (&[][..], replan.is_some() || *recalled != Recalled::default())
            }
            Want::Act { evidence, subtask, correction, .. } => {
                (&evidence[..], correction.is_some() || !subtask.context.is_empty())
            }
            Want::Judge { evidence, .. } => (&evidence[..], false),
        };
        let of = |tool: &ToolId| self.tools.iter().find(|known| known.id == *tool);
        let mut classes = BTreeSet::new();
        for evidence in evidence {
            match of(&evidence.tool) {
                Some(tool) => classes.extend(tool.data_class),
                None => classes.extend(DataClass::ALL),
            }
        }
        if told_again {
            classes.extend(self.tools.iter().filter_map(|tool| tool.data_class));
        }
        classes
    }
}

impl Provider for Worded {
    fn ask(&self, ask: &Ask) -> Answer {
        let (model, prompt, form) = (Arc::clone(&self.model), self.prompt(ask), Form::of(ask));
        let listen = Arc::clone(&self.listen);
        let quote = model.quote(&prompt);
        let later = Box::pin(async move {
            match model.complete(prompt, listen).await {
                Ok(Completion { text, calls, usage }) => {
                    let redact = |value: &mut Value| model.redact(value);
                    Heard { reply: read(&form, &text, calls, &redact), usage }
                }
                Err(unheard) => silence(model.name(), unheard),
            }
        });
        match quote {
            Some(quote) => Answer::Quoted(quote, later),
            None => Answer::Later(later),
        }
    }

    fn knows_another_way(&self) -> bool {
        true
    }
}

/// A call is a reply like any other; two are none, since the second would be made without having seen the first one's result.
fn read(
    form: &Form,
    text: &str,
    calls: Vec<Called>,
    redact: &dyn Fn(&mut Value),
) -> Result<Reply, Unanswered> {
    let mut calls = calls.into_iter();
    match (calls.next(), calls.len()) {
        (None, _) => form.read_redacted(text, redact),
        (Some(Called { tool, args }), 0) if tool == FINISH => form.read_redacted(&args.to_string(), redact),
        (Some(Called { tool, args }), 0) => {
            form.read_redacted(&json!({ "tool": tool, "args": args }).to_string(), redact)
        }
        (Some(_), more) => {
            let why = format!(
                "it calls {} tools at once; one call at a time, each after the result of the one before",
                more + 1
            );
            Err(Unanswered::unusable(why))
        }
    }
}

fn silence(model: String, Unheard { why, usage }: Unheard) -> Heard {
    let named = if usage.model.is_empty() { model } else { usage.model };
    Heard { reply: Err(why), usage: Usage { model: named, ..usage } }
}

impl fmt::Debug for Worded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.name();
        f.debug_struct("Worded").field("model", &model).field("tools", &self.tools).finish_non_exhaustive()
    }
}

/// What a role is told in every ask.
const fn role_text(role: Role) -> &'static str {
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
    let text = role_text(role);
    text.split_once("\n## Reply\n").map_or(text, |(_, form)| form).trim()
}

/// For an executor that calls tools instead of writing what it would call.
fn calling(tools: &[ToolText]) -> Calling {
    let text = role_text(Role::Executor);
    let rules = text.split_once("\n## Reply\n").map_or(text, |(rules, _)| rules);
    let callable = |tool: &ToolText| Callable {
        name: tool.id.to_string(),
        description: tool.description.trim().to_owned(),
        schema: tool.input_schema.clone(),
    };
    let finish = Callable {
        name: FINISH.into(),
        description: "says that the subtask is over, and what came out of it".into(),
        schema: schema::finish(),
    };
    Calling {
        system: format!("{rules}\n{}", include_str!("prompts/executor_calling.md")),
        tools: tools.iter().map(callable).chain([finish]).collect(),
    }
}

/// Planner and executor are told of the tools; the others have nothing to do with them.
fn system(role: Role, tools: &[ToolText]) -> String {
    let mut text = role_text(role).to_owned();
    if matches!(role, Role::Planner | Role::Executor) {
        text.push_str("\n## Tools\n");
        for ToolText { id, description, input_schema, .. } in tools {
            text.push_str(&format!("\n### {id}\n{}\nArguments: {input_schema}\n", description.trim()));
        }
        if tools.is_empty() {
            text.push_str("\nThere are none.\n");
        }
    }
    text
}
