//! What a model writes: everything that is rubbish becomes one repair or a clear, recorded failure, never a hang or a crash.

use std::sync::Arc;
use std::time::Duration;

use domain::task::{Cause, Status};
use llm::Script;
use serde_json::json;
use testkit::{Kept, World};

const PERCEIVED: &str = r#"{"task":{"task_class":"count_files","intent":"count the files in docs"}}"#;
const PLAN: &str = r#"{"subtasks":[{"intent":"count","success_criteria":[{"text":"there is one","check":{"json_path":{"pointer":"/count","equals":1}}}]}]}"#;
const CALL: &str = r#"{"tool":"find_files","args":{"under":"docs"}}"#;
const DONE: &str = r#"{"output":"1 file","status":"completed"}"#;

/// A script of texts: the usual one, with some lines put before it.
pub(crate) fn script(first: &[serde_json::Value]) -> Script {
    let line = |role: &str, text: &str| json!({ "role": role, "text": text });
    let mut lines: Vec<serde_json::Value> = first.to_vec();
    lines.extend([
        line("perceiver", PERCEIVED),
        line("planner", PLAN),
        json!({ "role": "executor", "moves": 0, "text": CALL }),
        json!({ "role": "executor", "text": DONE }),
    ]);
    let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
    Script::with_sleep(&text.join("\n"), |time| Box::pin(tokio::time::sleep(time))).unwrap()
}

async fn world(first: &[serde_json::Value]) -> World {
    let mut world = World::new(Kept::InMemory).await;
    world.file("docs/a.md", "one");
    world.impatient(Duration::from_millis(300));
    world.think(Arc::new(script(first)));
    world
}

/// Whatever is around it: what can be read is read.
#[tokio::test(flavor = "multi_thread")]
async fn thinking_fences_prose_and_two_objects_are_read() {
    let table = [
        format!("<think>Is it {{\"a\": 1}}? No.</think>\n{PLAN}"),
        format!("Here is the plan:\n```json\n{PLAN}\n```\nGood luck!"),
        format!("{PLAN}\n{PLAN}"),
        format!("{{\"note\": \"first\"}}\n{PLAN}"),
    ];
    for text in table {
        let world = world(&[json!({ "role": "planner", "text": text })]).await;
        let report = world.run("count the files in docs").await.unwrap();
        assert_eq!(report.status, Status::Done, "{text}: {:?}", report.result);
        assert_eq!(world.seen(), ["1 file"]);
    }
}

/// Rubbish once is repaired: it is asked again, and told what was wrong.
#[tokio::test(flavor = "multi_thread")]
async fn rubbish_once_is_repaired() {
    for role in ["perceiver", "planner", "executor"] {
        let rubbish = json!({ "role": role, "repair": false, "moves": 0, "text": "I would rather not say." });
        let world = world(&[rubbish]).await;
        let report = world.run("count the files in docs").await.unwrap();
        assert_eq!(report.status, Status::Done, "{role}: {:?}", report.result);
        let view = world.app.tasks().show(&report.short).await.unwrap();
        let unanswered = view.journal.iter().filter(|step| step.input == "unanswered").count();
        assert_eq!(unanswered, 1, "{role}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rubbish_for_ever_is_a_clear_failure() {
    let huge = "x".repeat(10 * 1024 * 1024);
    let cycle = r#"{"subtasks":[{"intent":"a","success_criteria":["x"],"depends_on":[1]},{"intent":"b","success_criteria":["y"],"depends_on":[0]}]}"#;
    let table = [
        ("perceiver", "not JSON", Cause::NoAnswer, "the model as perceiver: its reply cannot be used"),
        ("planner", "{\"steps\": []}", Cause::Unplannable, "the model as planner: its reply cannot be used"),
        ("planner", huge.as_str(), Cause::Unplannable, "the model as planner: its reply cannot be used"),
        ("planner", cycle, Cause::Unplannable, "subtasks wait for each other: 0 needs 1 needs 0"),
        ("planner", "", Cause::Unplannable, "the model as planner: its reply cannot be used"),
        ("executor", "[]", Cause::Failed, "the model as executor: its reply cannot be used"),
    ];
    for (role, text, cause, why) in table {
        let world = world(&[json!({ "role": role, "text": text })]).await;
        let report = world.run("count the files in docs").await.unwrap();
        let shown: String = text.chars().take(40).collect();
        assert_eq!(report.status, Status::Stopped, "{role}: {shown}");
        let result = report.result.unwrap();
        assert_eq!(result.cause, Some(cause), "{role}: {shown}: {result:?}");
        assert!(result.reason.as_deref().unwrap().starts_with(why), "{:?}", result.reason);
        assert!(!result.next.is_empty(), "{role}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_tool_is_denied_and_the_attempt_is_told() {
    let unknown =
        json!({ "role": "executor", "attempt": 0, "moves": 0, "text": r#"{"tool":"teleport","args":{}}"# });
    let then = json!({ "role": "executor", "attempt": 0, "moves": 1, "text": CALL });
    let world = world(&[unknown, then]).await;
    let report = world.run("count the files in docs").await.unwrap();
    assert_eq!(report.status, Status::Done, "{:?}", report.result);
}

/// An endpoint that hangs is given up on after its time, whoever was asked.
#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_hangs_ends_the_task_in_time() {
    for (role, cause) in
        [("perceiver", Cause::NoAnswer), ("planner", Cause::NoAnswer), ("executor", Cause::Failed)]
    {
        let world = world(&[json!({ "role": role, "hang": true })]).await;
        let report = world.run("count the files in docs").await.unwrap();
        let result = report.result.unwrap();
        assert_eq!((report.status, result.cause), (Status::Stopped, Some(cause)), "{role}");
        assert!(result.reason.unwrap().contains("nothing came within 0.3 s"), "{role}");
    }
}

/// What was asked and answered is a script that plays the same again.
#[tokio::test(flavor = "multi_thread")]
async fn a_recording_plays_the_same_again() {
    let mut world = world(&[]).await;
    let first = world.run("count the files in docs").await.unwrap();
    let recording = world.app.record().recording(&first.short).await.unwrap();
    assert_eq!(recording.lines().count(), 4);
    world.think(Arc::new(Script::read(&recording).unwrap()));
    let again = world.run("count the files in docs").await.unwrap();
    assert_eq!(again.status, Status::Done);
    assert_eq!(world.seen(), ["1 file", "1 file"]);
    let steps = |view: app::tasks::TaskView| view.journal.iter().map(|step| step.input).collect::<Vec<_>>();
    let (first, again) = (
        world.app.tasks().show(&first.short).await.unwrap(),
        world.app.tasks().show(&again.short).await.unwrap(),
    );
    assert_eq!(steps(first), steps(again));
}
