//! The loop over every dialect, as the double speaks it: the same answers lead to the same journal, whoever gave them and
//! in whatever form; what goes wrong on the wire is put right or said, never passed over.

mod faults;
mod secrets;

use std::sync::Arc;
use std::time::Duration;

use double::{Double, Fault, Reaction, Said, Script};
use engine::task::Step;
use models::{Dialect, Endpoint, Key, Line, Pace, Price, Surroundings, Wire};
use serde_json::{Value, json};
use testkit::{Kept, ManualClock, World};

/// Beyond the reflexes.
pub(crate) const REQUEST: &str = "work out how much there is to read in here";
const MODEL: &str = "double-large";

pub(crate) fn endpoint(dialect: Dialect, url: &str) -> Endpoint {
    let path = if matches!(dialect, Dialect::Chat | Dialect::Responses) { "/v1" } else { "" };
    Endpoint {
        provider: "double".into(),
        dialect,
        url: format!("{url}{path}"),
        model: MODEL.into(),
        key: Some(Key::new(double::KEY.into())),
        key_from: "DOUBLE_API_KEY".into(),
        plain_http: false,
        rank: 1,
        price: Price { input: 3_000_000, cached: 300_000, output: 15_000_000 },
        tokens_out: 4096,
        data: None,
        detected: false,
    }
}

/// Nobody waits long in a test.
pub(crate) fn line(endpoints: Vec<Endpoint>) -> Arc<Line> {
    let short = Duration::from_millis(700);
    let pace = Pace {
        connect: short,
        first_byte: short,
        first_byte_here: short,
        between_bytes: short,
        whole: Duration::from_secs(20),
    };
    let clock = Arc::new(ManualClock::at("2026-11-15T08:30:00Z"));
    let around = Surroundings {
        clock,
        chance: Arc::new(|| 0.0),
        listener: Arc::new(|_| models::listener::Listener::Trusted),
    };
    Arc::new(Line::new(endpoints, Arc::new(Wire::new(pace).unwrap()), around))
}

pub(crate) async fn world(dialect: Dialect, double: &Double) -> World {
    let mut world = World::new(Kept::InMemory).await;
    for (path, content) in [("docs/a.md", "one"), ("notes/b.md", "two"), ("notes/c.md", "three")] {
        world.file(path, content);
        // As old in every world: a tool tells.
        let file = std::fs::File::options().write(true).open(world.path().join(path)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    }
    world.think_with(line(vec![endpoint(dialect, &double.url)]));
    world
}

/// How an executor says what it does: by calling, or by writing it down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Calls,
    Words,
}

impl Manner {
    fn call(self, tool: &str, args: Value) -> Said {
        match self {
            Self::Calls => Said::call(tool, args),
            Self::Words => Said::text(json!({ "tool": tool, "args": args }).to_string()),
        }
    }

    fn finish(self, output: &str) -> Said {
        let done = json!({ "output": output, "status": "completed" });
        match self {
            Self::Calls => Said::call(llm::FINISH, done),
            Self::Words => Said::text(done.to_string()),
        }
    }
}

/// One subtask that is corrected twice, does not come off, is planned again, and comes off.
fn answers(manner: Manner) -> Vec<Said> {
    let plan = |intent: &str, pointer: &str, equals: Value| {
        let check = json!({ "json_path": { "pointer": pointer, "equals": equals } });
        let criterion = json!({ "text": "there is one", "check": check });
        Said::text(json!({ "subtasks": [{ "intent": intent, "success_criteria": [criterion] }] }).to_string())
    };
    let task = json!({ "task": { "task_class": "count_files", "intent": "count what there is to read" } });
    let mut answers = vec![
        Said::text(task.to_string()).thinking("what is meant?", "c2lnbmVk"),
        plan("count the notes", "/count", json!(1)),
    ];
    for limit in [1, 2, 3] {
        answers.push(manner.call("find_files", json!({ "under": "notes", "limit": limit })));
        answers.push(manner.finish("two files"));
    }
    answers.push(plan("read the document", "/text", json!("one")));
    answers.push(manner.call("read_file", json!({ "path": "docs/a.md" })));
    answers.push(manner.finish("one file"));
    answers
}

pub(crate) fn script(answers: Vec<Said>, fault: impl Fn(usize) -> Vec<Fault>) -> Script {
    let said = answers.into_iter().enumerate();
    said.fold(Script::new(), |script, (at, said)| script.then(Reaction { said, faults: fault(at) }))
}

/// What is in a journal, step by step, but for what asking has cost and where the work was done.
pub(crate) async fn journal(world: &World, task: &str) -> Vec<String> {
    let steps = world.app.record().steps(task).await.unwrap().into_iter();
    let place = world.path().to_string_lossy().into_owned();
    steps
        .map(|step| {
            let effects = json!(step.effects).to_string();
            let step = json!(Step { usage: None, ..step }).to_string();
            format!("{step} {effects}").replace(&place, "(here)")
        })
        .collect()
}

/// Says where two journals part, and not all that is in them.
pub(crate) fn assert_same(one: &[String], other: &[String], shown: &str) {
    assert_eq!(one.len(), other.len(), "{shown}: steps");
    for (n, (one, other)) in one.iter().zip(other).enumerate() {
        let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
        let part = |text: &str| text.chars().skip(same.saturating_sub(60)).take(160).collect::<String>();
        assert!(one == other, "{shown}: step {n}\n  {}\n  {}", part(one), part(other));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_dialect_leads_to_the_same_journal() {
    let mut first: Option<Vec<String>> = None;
    for manner in [Manner::Calls, Manner::Words] {
        for dialect in Dialect::ALL {
            let double = Double::start(script(answers(manner), |_| Vec::new()));
            let world = world(dialect, &double).await;
            let report = world.run(REQUEST).await.unwrap();
            let journal = journal(&world, &report.short).await;
            let shown = format!("{dialect:?} {manner:?}");
            assert_eq!(world.seen(), ["one file"], "{shown}: {:?}", report.result);
            let corrected = |step: &&String| step.contains("what_was_wrong\":[\"");
            assert_eq!(journal.iter().filter(corrected).count(), 4, "{shown}: asks after a correction");
            let plans = journal.iter().filter(|step| step.contains("\"input\":{\"planned\"")).count();
            assert_eq!(plans, 2, "{shown}: it is planned again");
            // What it has cost is on record, call by call.
            let cost: u64 = report.cost.iter().map(|role| role.price).sum();
            assert_eq!(cost, 11 * (12 * 3 + 5 * 15), "{shown}");
            assert_eq!(double.asked().len(), 11, "{shown}: nothing was asked twice");
            match &first {
                None => first = Some(journal),
                Some(first) => assert_same(first, &journal, &shown),
            }
        }
    }
}
