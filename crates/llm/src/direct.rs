//! A call that the owner asks for by name: no model, no reflex, only the door.

use std::collections::BTreeMap;

use domain::Digest;
use domain::ask::{Action, Ask, Perception, Reply, Want};
use domain::call::{Chooser, Evidence, ToolId};
use domain::criterion::{Check, Criterion};
use domain::source::Text;
use domain::task::{Constraints, Plan, Subtask, TaskSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Answer, Provider};

/// What stands in the request of a direct call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectCall {
    pub tool: ToolId,
    pub args: Value,
    /// Whether the owner has said yes to exactly this.
    #[serde(default)]
    pub confirmed: bool,
    /// What was known of the tool when they asked: a yes is to that, and to nothing else of the same name.
    #[serde(default)]
    pub spec: Option<Digest>,
}

/// Several calls, which do not need each other: one that fails does not keep the others from running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectCalls {
    pub task_class: String,
    /// What they are for, in a few words.
    pub intent: String,
    pub calls: Vec<DirectCall>,
    /// Whether each waits until the one before is over.
    #[serde(default)]
    pub in_order: bool,
}

impl DirectCalls {
    /// # Errors
    /// If a request is neither one call nor several.
    pub fn read(text: &str) -> Result<Self, String> {
        let wrong = |error: serde_json::Error| format!("this is no call: {error}");
        let value: Value = domain::json::from_str(text).map_err(wrong)?;
        if value.get("calls").is_some() {
            return serde_json::from_value(value).map_err(wrong);
        }
        let call: DirectCall = serde_json::from_value(value).map_err(wrong)?;
        let (task_class, intent) = (format!("call_{}", call.tool), format!("call {}", call.tool));
        Ok(Self { task_class, intent, calls: vec![call], in_order: false })
    }
}

/// Answers from the request alone: a subtask for each call, and what it returned is the answer.
#[derive(Clone, Debug, Default)]
pub struct Direct {
    /// What is known of the tools now.
    specs: BTreeMap<ToolId, Digest>,
}

impl Direct {
    /// Whoever answers this request, with what is known of the tools that it names.
    #[must_use]
    pub fn knowing(request: &str, spec: impl Fn(&ToolId) -> Option<Digest>) -> Self {
        let calls = DirectCalls::read(request).map_or_else(|_| Vec::new(), |read| read.calls);
        let known = calls.into_iter().filter_map(|call| Some((call.tool.clone(), spec(&call.tool)?)));
        Self { specs: known.collect() }
    }
}

impl Provider for Direct {
    fn ask(&self, ask: &Ask) -> Answer {
        Answer::Now(match &ask.want {
            Want::Perceive { request, .. } => Reply::Perceived(perceive(request)),
            Want::Plan { spec, .. } => Reply::Planned(plan(spec)),
            Want::Act { spec, number, evidence, .. } => Reply::Acted(self.act(spec, *number, evidence)),
            Want::Judge { criteria, .. } => crate::no_judge(criteria),
        })
    }
}

fn perceive(request: &Text) -> Perception {
    match DirectCalls::read(&request.text) {
        Err(why) => Perception::Beyond { why },
        Ok(read) => Perception::Task(Box::new(TaskSpec {
            task_class: read.task_class,
            intent: Text::model(read.intent),
            constraints: Constraints::default(),
            raw_input: request.clone(),
        })),
    }
}

fn plan(spec: &TaskSpec) -> Plan {
    let Ok(DirectCalls { calls, in_order, .. }) = DirectCalls::read(&spec.raw_input.text) else {
        return Plan::of(Vec::new());
    };
    let subtask = |(number, DirectCall { tool, .. }): (u32, DirectCall)| {
        let did = Criterion::checked(format!("{tool} did what it was asked"), Check::ToolCalled { tool });
        let after = number.checked_sub(1).filter(|_| in_order).into_iter().collect();
        Subtask { after, ..Subtask::new(spec.intent.clone(), vec![did]) }
    };
    Plan::of((0..).zip(calls).map(subtask).collect())
}

impl Direct {
    fn act(&self, spec: &TaskSpec, number: u32, evidence: &[Evidence]) -> Action {
        match evidence.last().map(|last| &last.outcome) {
            None => self.call(spec, number),
            Some(Ok(record)) => {
                Action::done(serde_json::to_string_pretty(record).unwrap_or_else(|_| record.to_string()))
            }
            Some(Err(failure)) => Action::done(failure.message.clone()),
        }
    }

    fn call(&self, spec: &TaskSpec, number: u32) -> Action {
        let calls = match DirectCalls::read(&spec.raw_input.text) {
            Ok(read) => read.calls,
            Err(why) => return Action::done(why),
        };
        let Some(DirectCall { tool, args, confirmed, spec }) = calls.into_iter().nth(number as usize) else {
            return Action::done("there is no such call");
        };
        let same = spec.is_some() && spec.as_ref() == self.specs.get(&tool);
        Action::Call { tool, args, chosen_by: Chooser::Owner { confirmed: confirmed && same } }
    }
}

#[cfg(test)]
mod tests {
    use super::{Direct, DirectCall, DirectCalls, plan};
    use domain::Digest;
    use domain::ask::Action;
    use domain::call::Chooser;
    use domain::source::Text;
    use domain::task::{Constraints, TaskSpec};
    use serde_json::json;

    fn call(tool: &str, spec: Option<Digest>) -> DirectCall {
        DirectCall { tool: tool.parse().unwrap(), args: json!({ "of": tool }), confirmed: true, spec }
    }

    fn spec(request: String) -> TaskSpec {
        let raw_input = Text::model(request);
        let (task_class, intent) = ("undo".to_owned(), Text::model("undo".to_owned()));
        TaskSpec { task_class, intent, constraints: Constraints::default(), raw_input }
    }

    #[test]
    fn each_call_is_a_subtask_of_its_own_and_confirmed_for_the_tool_as_it_was_known() {
        let (known, other) = (Digest::of(b"known"), Digest::of(b"other"));
        let calls = vec![call("a", Some(known)), call("b", Some(other)), call("c", None)];
        let mut calls =
            DirectCalls { task_class: "undo".into(), intent: "undo".into(), calls, in_order: true };
        let after = |calls: &DirectCalls| {
            let plan = plan(&spec(serde_json::to_string(calls).unwrap()));
            plan.subtasks.into_iter().map(|subtask| subtask.after).collect::<Vec<_>>()
        };
        assert_eq!(after(&calls), [vec![], vec![0], vec![1]]);
        calls.in_order = false;
        assert_eq!(after(&calls), vec![Vec::<u32>::new(); 3]);
        let spec = spec(serde_json::to_string(&calls).unwrap());
        let direct = Direct::knowing(&spec.raw_input.text, |_| Some(known));
        assert_eq!(plan(&spec).subtasks.len(), 3);
        for (number, (tool, confirmed)) in [("a", true), ("b", false), ("c", false)].into_iter().enumerate() {
            let expected = Action::Call {
                tool: tool.parse().unwrap(),
                args: json!({ "of": tool }),
                chosen_by: Chooser::Owner { confirmed },
            };
            assert_eq!(direct.act(&spec, u32::try_from(number).unwrap(), &[]), expected);
        }
    }

    #[test]
    fn one_call_reads_as_it_always_did() {
        let one = serde_json::to_string(&call("a", None)).unwrap();
        let read = DirectCalls::read(&one).unwrap();
        assert_eq!((read.task_class.as_str(), read.intent.as_str()), ("call_a", "call a"));
        assert_eq!(read.calls, [call("a", None)]);
        assert!(DirectCalls::read("how many files?").unwrap_err().starts_with("this is no call: "));
        assert!(DirectCalls::read(r#"{"tool":"a","args":{},"more":1}"#).is_err());
    }
}
