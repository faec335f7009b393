//! A step as the events that displays and scripts follow: a projection of the journal, never stored.

use domain::approval::Answer;
use domain::ask::{Action, Perception, Usage};
use domain::call::Call;
use domain::id::TaskId;
use engine::task::{Assessment, Effect, Input, Opening, Ruling, Step};
use serde_json::{Value, json};

use super::App;
use crate::bus::{Display, Tap};
use crate::problem::Problem;

/// The events of the ari seed that this step stands for, with its fields in `snake_case`.
#[must_use]
pub fn bus_events(task: TaskId, step: &Step) -> Vec<Value> {
    let event = |kind: &str, fields: Value| {
        let mut event = json!({ "seq": step.n, "v": 1, "type": kind, "task_id": task });
        if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
            event.extend(fields);
        }
        event
    };
    let mut events = Vec::new();
    match &step.input {
        // Only where somebody assessed it: nothing is said to be harmless that nobody has looked at.
        Input::Opened(Opening { assessment: Some(Assessment { risk, action }), .. }) => {
            events.push(event("guardian:assessment_complete", json!({ "risk": risk, "action": action })));
        }
        Input::Perceived(perception) => {
            let target = match perception {
                Perception::Task(_) => "planner",
                Perception::Direct { .. } | Perception::Clarify { .. } | Perception::Beyond { .. } => "user",
            };
            events.push(event("core:route", json!({ "target": target })));
        }
        Input::Acted { subtask, action: Action::Finish { output, .. } } => {
            events.push(event("executor:result", json!({ "subtask": subtask, "result": output })));
        }
        Input::Ruled { call, ruling: Ruling::Review { approval } } => {
            events.push(event("approval:requested", json!({ "id": approval, "call": call })));
        }
        Input::Answered { call, answer } => {
            events.push(event("approval:resolved", json!({ "call": call, "answer": answered(answer) })));
        }
        Input::Ruled { call, ruling: Ruling::Denied { violated, .. } } => {
            events.extend(violated.iter().map(|rule| {
                let fields = json!({ "rule": rule.number(), "name": rule.name(), "action": call });
                event("governance:rule_violated", fields)
            }));
        }
        _ => {}
    }
    if let (Some(usage), Some(subject)) = (&step.usage, step.input.subject()) {
        let Usage { tokens_in, tokens_out, price, .. } = usage;
        let fields = json!({ "role": subject.role(), "tokens_in": tokens_in, "tokens_out": tokens_out, "price": price });
        events.push(event("model:usage", fields));
    }
    for (place, message) in step.messages.iter().enumerate() {
        let body = |name: &str| message.body.get(name).cloned().unwrap_or_default();
        match message.kind.as_str() {
            "DispatchManifest" => {
                let dag = body("subtasks");
                let intents = dag.as_array().into_iter().flatten().map(|node| node.get("intent").cloned());
                let tasks: Vec<Value> = intents.map(Option::unwrap_or_default).collect();
                events.push(event("planner:task_ready", json!({ "dag": dag, "tasks": tasks })));
            }
            "SubTask" => {
                events.push(event("executor:task_started", json!({ "subtask": message.subtask })));
            }
            "SubTaskOutcome" => {
                let fields = json!({ "subtask": message.subtask, "result": message.body });
                events.push(event("executor:task_complete", fields));
            }
            "PlanDirective" => {
                events.push(event("ggs:round", round(&message.body)));
                events.push(event("solver:plan_directive", message.body.clone()));
            }
            "Megram" => {
                let id = format!("{task}.{}.{place}", step.n);
                events.push(event(
                    "memory:stored",
                    json!({ "kind": "megram", "id": id, "megram": message.body }),
                ));
            }
            "FinalResult" => events.push(event("core:response", json!({ "directive": body("directive") }))),
            _ => {}
        }
    }
    for effect in &step.effects {
        let Effect::Call(Call { id, tool, subtask, args, .. }) = effect else { continue };
        match (subtask, args.pointer("/result/measured")) {
            (Some(subtask), _) => {
                let fields = json!({ "call": id, "subtask": subtask, "tool": tool });
                events.push(event("executor:call", fields));
            }
            // The answer is handed over; with it, what the last round came to.
            (None, Some(measured)) => events.push(event("ggs:round", round(measured))),
            (None, None) => {}
        }
    }
    events
}

const fn answered(answer: &Answer) -> &'static str {
    match answer {
        Answer::Approved => "approved",
        Answer::Rejected { .. } => "rejected",
        Answer::Modified { .. } => "modified",
        Answer::Expired => "expired",
    }
}

/// What the solver measured, under the names that `regent ggs step` has for it.
fn round(of: &Value) -> Value {
    let loss = |name: &str| of.get("loss").and_then(|loss| loss.get(name)).cloned().unwrap_or_default();
    let field = |name: &str| of.get(name).cloned().unwrap_or_default();
    json!({
        "D": loss("D"), "P": loss("P"), "omega": loss("Omega"), "L": loss("L"), "grad_l": field("grad_l"),
        "prev_directive": field("prev_directive"),
    })
}

impl App {
    /// For whoever must miss nothing: every step of every process, from after this sequence number on; nothing: from
    /// now on.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn tap(&self, after: Option<i64>) -> Result<Tap, Problem> {
        let ledger = self.ledger().await?;
        let after = match after {
            Some(after) => after,
            None => ledger.newest_step().await?,
        };
        Ok(self.bus.tap(std::sync::Arc::clone(ledger), after))
    }

    /// For whoever looks on: the steps of this process as they become durable; whoever is slow misses some.
    #[must_use]
    pub fn display(&self) -> Display {
        self.bus.display()
    }
}

#[cfg(test)]
mod tests {
    use super::bus_events;
    use domain::ask::{Action, Perception};
    use domain::call::Chooser;
    use domain::criterion::{Check, Criterion};
    use domain::id::{EntityId, OriginId, ReasonId, TaskId, VpolId};
    use domain::principal::Principal;
    use domain::source::{Source, Text};
    use domain::task::{Constraints, Plan, Subtask, TaskSpec};
    use domain::{Tags, Time, Trust};
    use engine::task::{Assessment, Effect, Input, Opening, Ruling, Step, Task};
    use serde_json::{Value, json};

    const NOW: Time = Time::from_micros(0);
    /// What the seed does not have, for displays.
    const OURS: [&str; 3] = ["executor:task_started", "executor:call", "ggs:round"];

    fn opening() -> Opening {
        let (origin, reason, vpol) = (OriginId::from_bits(1), ReasonId::from_bits(2), VpolId::from_bits(3));
        Opening {
            task: TaskId::from_bits(1),
            agent: "main".into(),
            tags: Tags { origin, reason, vpol },
            principal: Principal::Owner { entity: EntityId::from_bits(4) },
            trust: Trust::Operator,
            tools: vec!["*".into()],
            request: Text::new("Schedule meeting with team", Source::Owner),
            workspace: "/".into(),
            steering: None,
            cards: Vec::new(),
            history: Vec::new(),
            assessment: Some(Assessment { risk: 0.1, action: "allow".into() }),
        }
    }

    fn call_of(step: &Step) -> domain::id::CallId {
        let call = step.effects.iter().find_map(|effect| match effect {
            Effect::Call(call) => Some(call.id),
            Effect::Ask(_) | Effect::Recall(_) => None,
        });
        call.expect("a call")
    }

    /// The six steps of the ari seed's "Event Flow Example", in its order and with its fields in `snake_case`.
    #[test]
    fn aris_six_steps_are_on_the_bus_in_order() {
        let (mut task, first) = Task::open(opening(), NOW);
        let mut steps = vec![first];
        let mut give = |input: Input, steps: &mut Vec<Step>| {
            steps.push(task.handle(input, NOW).expect("expected"));
        };
        let spec = TaskSpec {
            task_class: "schedule_meeting".into(),
            intent: Text::model("schedule a meeting with the team"),
            constraints: Constraints::default(),
            raw_input: opening().request,
        };
        give(Input::Perceived(Perception::Task(Box::new(spec))), &mut steps);
        let tool: domain::call::ToolId = "calendar".parse().expect("an id");
        let ran = Criterion::checked("it is in the calendar", Check::ToolCalled { tool: tool.clone() });
        let plan = Plan::of(vec![Subtask::new(Text::model("enter the meeting"), vec![ran])]);
        give(Input::Planned(plan), &mut steps);
        let action = Action::Call { tool, args: json!({}), chosen_by: Chooser::Rule };
        give(Input::Acted { subtask: 0, action }, &mut steps);
        for outcome in [json!({ "at": "10:00" }), json!({})] {
            let call = call_of(steps.last().expect("a step"));
            give(Input::Ruled { call, ruling: Ruling::Execute }, &mut steps);
            let last = outcome == json!({});
            give(Input::Returned { call, outcome: Ok(outcome) }, &mut steps);
            if !last {
                let action = Action::done("Meeting scheduled");
                give(Input::Acted { subtask: 0, action }, &mut steps);
            }
        }
        let events: Vec<Value> =
            steps.iter().flat_map(|step| bus_events(TaskId::from_bits(1), step)).collect();
        let kinds: Vec<&str> =
            events.iter().filter_map(|event| event.get("type").and_then(Value::as_str)).collect();
        assert_eq!(
            kinds,
            [
                "guardian:assessment_complete",
                "core:route",
                "planner:task_ready",
                "executor:task_started",
                "executor:call",
                "executor:result",
                "executor:task_complete",
                "memory:stored",
                "ggs:round",
                "core:response",
            ]
        );
        let seed = |kind: &&str| !OURS.contains(kind);
        let events: Vec<&Value> =
            kinds.iter().zip(&events).filter(|(kind, _)| seed(kind)).map(|(_, event)| event).collect();
        let field = |at: usize, name: &str| events.get(at).and_then(|event| event.get(name)).cloned();
        assert_eq!((field(0, "risk"), field(0, "action")), (Some(json!(0.1)), Some(json!("allow"))));
        assert_eq!(field(1, "target"), Some(json!("planner")));
        assert_eq!(field(2, "tasks"), Some(json!(["enter the meeting"])));
        assert_eq!(field(3, "result"), Some(json!("Meeting scheduled")));
        assert_eq!(field(5, "kind"), Some(json!("megram")));
        assert_eq!(field(6, "directive"), Some(json!("accept")));
        assert!(events.iter().all(|event| event.get("task_id").is_some() && event.get("seq").is_some()));
    }

    #[test]
    fn what_nobody_assessed_is_not_said_to_be_harmless() {
        let (_, first) = Task::open(Opening { assessment: None, ..opening() }, NOW);
        assert_eq!(bus_events(TaskId::from_bits(1), &first), Vec::<Value>::new());
    }
}
