//! Standing instructions: part of every system prompt from the next prompt on, and only as the owner wrote them.

use std::sync::{Arc, Mutex};

use app::Code;
use domain::ask::Usage;
use llm::{Called, Completing, Completion, Listen, Model, Prompt, Role};
use serde_json::{Value, json};
use testkit::{Kept, World};

const REQUEST: &str = "please tidy my thoughts about the Rust files";

/// A model that keeps the system prompts it is given, and removes an instruction before it answers the planner's prompt.
#[derive(Clone, Default)]
struct Listener {
    heard: Arc<Mutex<Vec<(Role, String)>>>,
    /// Told when the planner is asked, and waited for.
    planning: Arc<tokio::sync::Notify>,
    go_on: Arc<tokio::sync::Notify>,
}

impl Model for Listener {
    fn name(&self) -> String {
        "test/model".into()
    }

    fn complete(&self, prompt: Prompt, _: Listen) -> Completing {
        let role = prompt.place.role;
        let says = |value: Value| Completion { text: value.to_string(), ..Completion::default() };
        let calls = |tool: &str, args: Value| Completion {
            calls: vec![Called { tool: tool.into(), args }],
            ..Completion::default()
        };
        let criterion = json!({ "text": "they are counted" });
        let reply = match role {
            Role::Perceiver => {
                says(json!({ "task": { "task_class": "count_files", "intent": "count the Rust files" } }))
            }
            Role::Planner => {
                says(json!({ "subtasks": [{ "intent": "count", "success_criteria": [criterion] }] }))
            }
            Role::Executor if prompt.place.moves == 0 => calls("find_files", json!({ "extensions": ["rs"] })),
            Role::Executor => calls(llm::FINISH, json!({ "output": "one Rust file", "status": "completed" })),
            Role::Validator | Role::MetaValidator => {
                says(json!({ "verdicts": [{ "verdict": "pass", "evidence": "seen" }] }))
            }
        };
        let system = prompt.calling.map_or(prompt.system, |calling| calling.system);
        self.heard.lock().unwrap().push((role, system));
        let (planning, go_on) = (Arc::clone(&self.planning), Arc::clone(&self.go_on));
        Box::pin(async move {
            if role == Role::Planner {
                planning.notify_one();
                go_on.notified().await;
            }
            Ok(Completion { usage: Usage { model: "test/model".into(), ..Usage::default() }, ..reply })
        })
    }
}

impl Listener {
    fn systems(&self) -> Vec<(Role, String)> {
        self.heard.lock().unwrap().clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_in_every_system_prompt_from_the_next_one_on_and_gone_when_removed() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        let model = Listener::default();
        world.think_with(Arc::new(model.clone()));
        world.file("a.rs", "fn a() {}");
        let low = world.app.instructions().add("count twice", 0).await.unwrap();
        let high = world.app.instructions().add("write British English", 5).await.unwrap();
        assert_eq!((low.id, high.id), (1, 2), "{kept:?}");
        let work = world.app.tasks().run(world.request(REQUEST));
        let meanwhile = async {
            model.planning.notified().await;
            world.app.instructions().remove(low.id).await.unwrap();
            world.app.instructions().add("use metric units", 0).await.unwrap();
            model.go_on.notify_one();
        };
        let (report, ()) = tokio::join!(work, meanwhile);
        assert_eq!(report.unwrap().problem(), None, "{kept:?}");
        let systems = model.systems();
        assert!(systems.len() >= 5, "{kept:?}");
        for (role, system) in systems {
            let before = matches!(role, Role::Perceiver | Role::Planner);
            let other = if before { "count twice" } else { "use metric units" };
            let section = format!(
                "\n## Standing instructions of the owner\n\nThey hold for every task:\n- write British English\n- {other}\n"
            );
            assert!(system.ends_with(&section), "{kept:?} {role:?}: {system}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_listed_in_the_order_agents_read_them_and_bad_ones_are_refused() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let instructions = world.app.instructions();
        assert_eq!(instructions.list().await.unwrap(), [], "{kept:?}");
        for (text, priority) in [("b", 0), ("c", -1), ("a", 7)] {
            instructions.add(text, priority).await.unwrap();
        }
        let texts = |views: Vec<app::instructions::InstructionView>| -> Vec<String> {
            views.into_iter().filter_map(|view| view.text).collect()
        };
        assert_eq!(texts(instructions.list().await.unwrap()), ["a", "b", "c"], "{kept:?}");
        for bad in ["", "  \n ", &"x".repeat(4 * 1024 + 1)] {
            let refused = instructions.add(bad, 0).await.unwrap_err();
            assert_eq!(refused.code, Code::BAD_ARGUMENTS, "{kept:?}");
        }
        assert_eq!(instructions.remove(9).await.unwrap_err().code, Code::NO_SUCH_ID, "{kept:?}");
        let removed = instructions.remove(2).await.unwrap();
        assert_eq!(removed.text.as_deref(), Some("c"), "{kept:?}");
        assert_eq!(texts(instructions.list().await.unwrap()), ["a", "b"], "{kept:?}");
        // A number is not given twice while a later one is there.
        assert_eq!(instructions.add("d", 0).await.unwrap().id, 4, "{kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn those_that_are_added_or_removed_at_once_are_each_counted_once() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.app.instructions().add("first", 0).await.unwrap();
        let add = |text: &'static str| world.app.instructions().add(text, 0);
        let added = tokio::join!(add("a"), add("b"), add("c"), add("d"));
        let mut ids: Vec<u64> =
            [added.0, added.1, added.2, added.3].into_iter().map(|view| view.unwrap().id).collect();
        ids.sort_unstable();
        assert_eq!(ids, [2, 3, 4, 5], "{kept:?}");
        let instructions = world.app.instructions();
        let (one, other) = tokio::join!(instructions.remove(3), instructions.remove(3));
        let removed = [one, other].into_iter().filter(Result::is_ok).count();
        assert_eq!(removed, 1, "{kept:?}");
        assert_eq!(instructions.list().await.unwrap().len(), 4, "{kept:?}");
    }
}
