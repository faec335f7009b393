//! The events of the ari seed, and their order.

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

use super::list_events;

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

/// As a script reads them.
fn events_of(step: &Step) -> Vec<Value> {
    let events = list_events(TaskId::from_bits(1), step);
    events.iter().map(|event| serde_json::to_value(event).expect("JSON")).collect()
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
    let events: Vec<Value> = steps.iter().flat_map(events_of).collect();
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
    assert_eq!(events_of(&first), Vec::<Value>::new());
}
