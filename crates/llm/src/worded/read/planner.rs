//! R2: a plan, a question, or why there is no plan. Whether the plan can be carried out is the engine's to say.

use domain::Text;
use domain::ask::{NotPlanned, Reply};
use domain::criterion::{Criterion, Mode};
use domain::task::{Hint, Plan, Subtask};
use serde_json::Value;

use super::{Fields, Misfit, check, named, number, only_one, top};

pub(super) fn read(value: &Value) -> Result<Reply, Misfit> {
    if let Value::Array(subtasks) = value {
        let all_planned = subtasks.iter().all(|one| one.get("intent").is_some());
        return if all_planned && !subtasks.is_empty() { plan(subtasks, &[]) } else { Err(Misfit::Foreign) };
    }
    let fields = top(value)?;
    Ok(match only_one(fields, &["subtasks", "question", "impossible"])? {
        "question" => Reply::NotPlanned(NotPlanned::Clarify { question: fields.needed_text(&["question"])? }),
        "impossible" => {
            Reply::NotPlanned(NotPlanned::Impossible { why: fields.needed_text(&["impossible"])? })
        }
        _ => return plan(fields.list(&["subtasks"]), fields.list(&["task_criteria"])),
    })
}

fn plan(subtasks: &[Value], task_criteria: &[Value]) -> Result<Reply, Misfit> {
    let subtasks = (0..).zip(subtasks).map(|(at, value)| subtask(at, value)).collect::<Result<_, _>>()?;
    let task_criteria = criteria("`task_criteria`", task_criteria)?;
    Ok(Reply::Planned(Plan { subtasks, task_criteria }))
}

fn subtask(at: u32, value: &Value) -> Result<Subtask, String> {
    let at = format!("subtask {at}");
    let fields = Fields::of(&at, value)?;
    let context = fields.list(&["context"]).iter().map(|value| match value {
        Value::String(text) => Ok(Text::model(text.trim())),
        other => Err(format!("`context` of {at} holds {}, not a text", named(other))),
    });
    let context: Vec<Text> = context.collect::<Result<_, _>>()?;
    let depends_on = fields.list(&["depends_on"]).iter().map(|value| {
        number(value).ok_or_else(|| {
            format!(
                "`depends_on` of {at} holds {}, not the number of a subtask, counted from 0",
                named(value)
            )
        })
    });
    let sequence = fields.any(&["sequence"]).map(|value| {
        number(value).ok_or_else(|| format!("`sequence` of {at} is {}, not a number from 0", named(value)))
    });
    Ok(Subtask {
        intent: Text::model(fields.needed_text(&["intent"])?),
        context: context.into_iter().filter(|text| !text.text.is_empty()).collect(),
        success_criteria: criteria(&at, fields.list(&["success_criteria", "criteria"]))?,
        depends_on: depends_on.collect::<Result<_, _>>()?,
        after: Vec::new(),
        tool_hints: fields
            .list(&["tool_hints"])
            .iter()
            .map(|value| hint(&at, value))
            .collect::<Result<_, _>>()?,
        sequence: sequence.transpose()?,
    })
}

fn criteria(of: &str, values: &[Value]) -> Result<Vec<Criterion>, String> {
    (1_u32..).zip(values).map(|(at, value)| criterion(&format!("criterion {at} of {of}"), value)).collect()
}

/// A bare sentence can only be judged; with a check it can be verified, unless the planner says otherwise.
fn criterion(at: &str, value: &Value) -> Result<Criterion, String> {
    if let Value::String(text) = value {
        let text = text.trim().to_owned();
        return if text.is_empty() {
            Err(format!("{at} is empty"))
        } else {
            Ok(Criterion { text, mode: Mode::Plausible, check: None })
        };
    }
    let fields = Fields::of(at, value)?;
    let text = fields.needed_text(&["text", "criterion"])?;
    let check = match fields.any(&["check"]) {
        Some(value) => Some(check::read(value).map_err(|why| format!("{at}: {why}"))?),
        None => None,
    };
    let mode = match fields.text(&["mode"])?.as_deref() {
        None if check.is_some() => Mode::Verifiable,
        None => Mode::Plausible,
        Some("verifiable") => Mode::Verifiable,
        Some("plausible") => Mode::Plausible,
        Some(other) => return Err(format!("`mode` of {at} is `{other}`, not verifiable or plausible")),
    };
    Ok(Criterion { text, mode, check })
}

fn hint(at: &str, value: &Value) -> Result<Hint, String> {
    let named = |tool: &str| tool.trim().parse().map_err(|error| format!("a tool hint of {at}: {error}"));
    if let Value::String(tool) = value {
        return Ok(Hint { tool: named(tool)?, target: None });
    }
    let at = format!("a tool hint of {at}");
    let fields = Fields::of(&at, value)?;
    let tool = fields.needed_text(&["tool"])?;
    Ok(Hint { tool: named(&tool)?, target: fields.text(&["target"])? })
}
