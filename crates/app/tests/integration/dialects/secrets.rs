//! A key is nowhere but in the header that it is for: a canary is planted, and everything is searched for it.

use double::{Denied, Double, Fault, Reaction, Said, Script};
use models::{Dialect, Endpoint, Key};
use serde_json::{Value, json};
use testkit::{Kept, World};

use super::{Manner, REQUEST, answers, endpoint, line};

const CANARY: &str = "sk-canary-7f3e1b9c2d";

/// The canary, by others.
const BASE64: &str = "c2stY2FuYXJ5LTdmM2UxYjljMmQ=";
const HEX: &str = "736b2d63616e6172792d3766336531623963326";

fn escaped() -> String {
    CANARY.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect()
}

fn split() -> String {
    CANARY.chars().flat_map(|c| [c, '\u{200b}']).collect()
}

/// A task whose executor calls with these arguments.
fn acting(args: Value) -> Script {
    let plan = json!({ "subtasks": [{ "intent": "look", "success_criteria": ["it is seen"] }] });
    let task = json!({ "task": { "task_class": "look", "intent": "look" } });
    Script::new()
        .then(Said::text(task.to_string()))
        .then(Said::text(plan.to_string()))
        .otherwise(Said::call("find_files", args))
}

/// Not as it is, and not as any of the scripts writes it.
fn is_clean(bytes: &[u8]) -> bool {
    let forms =
        [CANARY.to_owned(), BASE64.trim_end_matches('=').to_owned(), HEX.to_owned(), escaped(), split()];
    !forms.iter().any(|form| bytes.windows(form.len()).any(|window| window == form.as_bytes()))
}

/// Whoever has it could write it anywhere: into errors, replies, what is streamed.
fn scripts() -> Vec<(&'static str, Script)> {
    let usual = answers(Manner::Calls).into_iter().fold(Script::new(), |script, said| script.then(said));
    let echoed = Said::text(format!("your key is {CANARY}"));
    let wrong = Fault::Deny(Denied::Wrong { field: "key".into(), why: format!("`{CANARY}` is no key") });
    vec![
        ("usual", usual),
        ("echoed in a reply", Script::new().otherwise(echoed)),
        ("echoed in an error", Script::new().otherwise(wrong)),
        ("no such key", Script::new().with_key(Some("another one"))),
        ("cut", Script::new().otherwise(Reaction::from(Said::text("x")).with(Fault::CutAt(10)))),
        (
            "escaped in a reply",
            Script::new().otherwise(Said::text(format!("{{\"answer\":\"it is {}\"}}", escaped()))),
        ),
        ("split in a reply", Script::new().otherwise(Said::text(format!("{{\"answer\":\"{}\"}}", split())))),
        ("in Base64", Script::new().otherwise(Said::text(format!("{{\"answer\":\"{BASE64}\"}}")))),
        (
            "escaped in a question",
            Script::new().otherwise(Said::text(format!("{{\"question\":\"{}?\"}}", escaped()))),
        ),
        ("in arguments", acting(json!({ "under": escaped(), "text": split() }))),
        ("in the name of an argument", acting(json!({ CANARY: BASE64 }))),
        (
            "split in an error",
            Script::new().otherwise(Fault::Deny(Denied::Wrong { field: "key".into(), why: split() })),
        ),
        (
            "Base64 in an error",
            Script::new().otherwise(Fault::Deny(Denied::Wrong { field: "key".into(), why: BASE64.into() })),
        ),
        (
            "in pieces",
            Script::new().otherwise(
                Reaction::from(Said::text(format!("{{\"answer\":\"{CANARY}\"}}")))
                    .with(Fault::ArgumentsInPieces(3)),
            ),
        ),
        ("redirected", Script::new().otherwise(Fault::Redirect(format!("http://127.0.0.1:9/{CANARY}")))),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_is_in_a_log_a_ledger_a_prompt_or_an_error() {
    for (at, dialect) in Dialect::ALL.into_iter().enumerate() {
        // In the short run each script in some of the dialects.
        let stride = services::stride(3);
        for (what, script) in scripts().into_iter().skip(at % stride).step_by(stride) {
            let script = if what == "no such key" { script } else { script.with_key(Some(CANARY)) };
            let double = Double::start(script);
            let mut world = World::new(Kept::InSqlite).await;
            world.file("docs/a.md", "one").file("notes/b.md", "two").file("notes/c.md", "three");
            let ours = Endpoint { key: Some(Key::new(CANARY.into())), ..endpoint(dialect, &double.url) };
            assert!(!format!("{ours:?}").contains(CANARY));
            world.think_with(line(vec![ours]));
            let report = world.run(REQUEST).await.unwrap();
            let told = format!("{report:?} {:?}", world.seen());
            assert!(is_clean(told.as_bytes()), "{dialect:?} {what}: {told}");
            let recording = world.app.record().recording(&report.short).await.unwrap();
            assert!(is_clean(recording.as_bytes()), "{dialect:?} {what}: {recording}");
            for asked in double.asked() {
                let prompt = format!("{} {} {} {}", asked.path, asked.system, asked.user, asked.body);
                assert!(is_clean(prompt.as_bytes()), "{dialect:?} {what}");
            }
            assert!(!double.asked().is_empty(), "{dialect:?} {what}: else it shows nothing");
            world.app.instance().status().await.unwrap();
            let mut searched = 0;
            for entry in std::fs::read_dir(world.path()).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let bytes = std::fs::read(&path).unwrap();
                    searched += bytes.len();
                    assert!(is_clean(&bytes), "{dialect:?} {what}: in {}", path.display());
                }
            }
            assert!(searched > 100_000, "the ledger was not there: {searched} bytes");
        }
    }
}
