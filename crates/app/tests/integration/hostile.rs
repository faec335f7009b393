//! Servers and models fill many fields, and may fill them with anything. Whatever comes, what was written can be read: a task is
//! shown, played again, gone on with, cancelled and undone, and the next one in its folder works.

use std::sync::{Arc, Mutex};

use app::tasks::{Report, Undo};
use app::{Code, Problem};
use double::{Asked, Double, Reaction, Said, Script, Usage};
use models::Dialect;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use proptest::sample::Index;
use serde_json::{Value, json};
use testkit::World;

use crate::dialects::world;

/// Beyond the reflexes, and the file that is written is named: it is written without a question.
const NOTE: &str = "work out how much there is to read in here, and note it in out.txt";

/// The content of a field: what belongs there, or something else.
type Hole = Option<Value>;

fn texts() -> impl Strategy<Value = String> {
    let odd =
        ["18446744073709551615", "1e400", "-0", "NaN", "null", "{\"a\":1}", "\u{0}\u{202e}\u{feff}", "", " "];
    prop_oneof![
        4 => any::<String>(),
        2 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
        1 => (1_usize..200_000).prop_map(|length| "x".repeat(length)),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let edges = [u64::MAX, u64::MAX - 1, i64::MAX as u64, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, 1 << 63];
    let leaf = prop_oneof![
        3 => any::<u64>().prop_map(Value::from),
        3 => prop::sample::select(edges.to_vec()).prop_map(Value::from),
        2 => any::<i64>().prop_map(Value::from),
        2 => any::<f64>().prop_map(Value::from),
        2 => (0_u64..4).prop_map(Value::from),
        4 => texts().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    let nested = leaf.clone().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4).prop_map(|fields| json!(fields)),
        ]
    });
    let deep = (leaf.clone(), 30_usize..140).prop_map(|(leaf, levels)| {
        (0..levels)
            .fold(leaf, |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "a": inner }) })
    });
    prop_oneof![6 => leaf, 3 => nested, 1 => deep]
}

fn counts() -> impl Strategy<Value = Usage> {
    let count =
        || prop_oneof![3 => Just(u64::MAX), 3 => any::<u64>(), 2 => 0_u64..100, 1 => Just((1 << 53) + 1)];
    (count(), count(), count(), count()).prop_map(|(input, cached, out, thought)| Usage {
        input,
        cached,
        out,
        thought,
    })
}

/// One run: the content of the fields, in the order in which they are filled, what is counted, and what is done.
#[derive(Clone, Debug)]
struct Play {
    holes: Vec<Hole>,
    counts: Vec<Usage>,
    acts: Vec<Index>,
    /// The roles whose fields are filled: a task whose first reply makes no sense is soon over.
    roles: Vec<&'static str>,
    dialect: Index,
}

const ROLES: [&str; 4] = ["perceiver", "planner", "executor", "validator"];

fn plays() -> impl Strategy<Value = Play> {
    let hole = prop_oneof![2 => Just(None), 1 => values().prop_map(Some)];
    let holes = prop::collection::vec(hole, 40);
    let counts = prop::collection::vec(counts(), 1..8);
    let acts = prop::collection::vec(any::<Index>(), 8);
    let roles = prop::sample::subsequence(ROLES.to_vec(), 1..3);
    (holes, counts, acts, roles, any::<Index>()).prop_map(|(holes, counts, acts, roles, dialect)| Play {
        holes,
        counts,
        acts,
        roles,
        dialect,
    })
}

/// Answers as each role, with the next of everything.
struct Answers {
    play: Play,
    asked: usize,
    filled: usize,
    /// Whether the fields of this reply are filled.
    fills: bool,
}

impl Answers {
    fn fill(&mut self, usual: Value) -> Value {
        self.filled += 1;
        if !self.fills {
            return usual;
        }
        let Some(hole) = self.play.holes[self.filled % self.play.holes.len()].clone() else { return usual };
        // Mostly of the type that belongs there: what is of another type is soon refused.
        match (&usual, &hole) {
            _ if self.filled.is_multiple_of(16) => hole,
            (Value::Number(_), Value::Number(_)) | (Value::Null | Value::Object(_), _) => hole,
            (Value::String(_), Value::String(_)) => hole,
            (Value::String(_), _) => Value::from(hole.to_string()),
            _ => usual,
        }
    }

    fn check(&mut self) -> Value {
        if !self.fills {
            return json!({ "any_of": [{ "tool_called": { "tool": "write_file" } }, { "tool_called": { "tool": "find_files" } }] });
        }
        let checks = [
            json!({ "file_count": { "min": self.fill(json!(0)), "max": self.fill(json!(9)) } }),
            json!({ "number_in_range": { "pointer": "/count", "min": self.fill(json!(0.5)), "max": self.fill(json!(9)) } }),
            json!({ "json_path": { "pointer": "/count", "equals": self.fill(json!(1)) } }),
            json!({ "exit_code": { "code": self.fill(json!(0)) } }),
            json!({ "file_contains": { "path": "out.txt", "text": self.fill(json!("x")) } }),
            json!({ "not": { "not": self.fill(json!({ "tool_called": { "tool": "write_file" } })) } }),
        ];
        self.act().get(&checks).clone()
    }

    fn act(&self) -> Index {
        self.play.acts[self.asked % self.play.acts.len()]
    }

    fn reply(&mut self, asked: &Asked) -> Said {
        self.asked += 1;
        let is = |role: &str| asked.system.contains(role);
        self.fills = self.play.roles.iter().any(|role| is(&format!("# You are the {role}")))
            || is("validator\n") && self.play.roles.contains(&"validator");
        let said = if is("# You are the perceiver") {
            Said::text(
                json!({ "task": {
                "task_class": self.fill(json!("write_file")), "intent": self.fill(json!("write it down")),
                "constraints": { "scope": self.fill(json!("here")), "deadline": self.fill(Value::Null) },
                "certainty": self.fill(json!(1)),
            } })
                .to_string(),
            )
        } else if is("# You are the planner") {
            let criterion = |check: Value, text: Value| json!({ "text": text, "check": check });
            let subtask = json!({
                "intent": self.fill(json!("write it")), "context": [self.fill(json!("now"))],
                "success_criteria": [criterion(self.check(), self.fill(json!("it is written")))],
                "depends_on": [], "sequence": self.fill(json!(0)), "tool_hints": ["write_file"],
            });
            let whole = criterion(self.check(), self.fill(json!("all is written")));
            Said::text(json!({ "subtasks": [subtask], "task_criteria": [whole] }).to_string())
        } else if is("# You are the executor") {
            match self.act().index(4) {
                _ if self.asked.is_multiple_of(2) => {
                    Said::call("finish", json!({ "output": self.fill(json!("done")), "status": "completed" }))
                }
                0 | 1 => {
                    let content = self.fill(json!("written"));
                    Said::call("write_file", json!({ "path": "out.txt", "content": content }))
                }
                2 => Said::call("delete_file", json!({ "path": "docs/a.md" })),
                _ => Said::call("find_files", json!({ "under": "notes", "limit": self.fill(json!(3)) })),
            }
        } else {
            let verdict = |evidence: Value, score: Value| json!({ "verdict": "pass", "evidence": evidence, "score": score });
            let verdict = verdict(self.fill(json!("seen")), self.fill(json!(0.9)));
            Said::text(json!({ "verdicts": [verdict] }).to_string())
        };
        said.using(self.play.counts[self.asked % self.play.counts.len()])
    }
}

/// A refusal that says why is as good as an answer; a record that cannot be read, or a bug, is not.
fn sound<T>(what: &str, done: Result<T, Problem>) -> Option<T> {
    if let Err(problem) = &done {
        assert!(!matches!(problem.code, Code::DATABASE_DAMAGED | Code::INTERNAL), "{what}: {problem:?}");
    }
    done.ok()
}

async fn everything_works(world: &World, report: &Report) {
    let task = &report.short;
    let view = sound("show", world.app.tasks().show(task).await).expect("a task");
    assert_eq!((view.unreadable, view.erased), (None, false));
    assert!(
        sound("replay", world.app.record().replay(task).await).expect("a journal").identical,
        "replay differs"
    );
    sound("recording", world.app.record().recording(task).await).expect("a recording");
    let resumed = sound("resume", world.resume(Some(task)).await).expect("a report");
    if !resumed.status.is_over() {
        sound("cancel", world.app.tasks().cancel(task).await).expect("a report");
    }
    sound("undo", world.app.tasks().undo(task, Undo::ForGood).await);
    sound("show", world.app.tasks().show(task).await).expect("a task");
}

async fn play(play: Play) {
    let dialect = *play.dialect.get(&Dialect::ALL);
    let answers = Arc::new(Mutex::new(Answers { play, asked: 0, filled: 0, fills: false }));
    let script = Script::answering(move |asked| Reaction::from(answers.lock().unwrap().reply(asked)));
    let double = Double::start(script);
    let mut world = world(dialect, &double).await;
    world.set("[budget.day]\nmoney = \"unlimited\"");
    for _ in 0..2 {
        // The second one reads what the first one left.
        let report = sound("run", world.run(NOTE).await).expect("a report");
        everything_works(&world, &report).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if services::is_full() { 256 } else { 40 },
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_a_server_fills_in_every_task_can_be_read_and_ended(hostile in plays()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(play(hostile));
    }
}
