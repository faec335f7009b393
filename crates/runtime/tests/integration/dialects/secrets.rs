//! A key is nowhere but in the header that it is for: a canary is planted, and everything is searched for it.

use double::{Denied, Double, Fault, Reaction, Said, Script};
use models::{Dialect, Endpoint, Key};
use testkit::{Kept, World};

use super::{Manner, REQUEST, answers, endpoint, line};

const CANARY: &str = "sk-canary-7f3e1b9c2d";

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
        ("redirected", Script::new().otherwise(Fault::Redirect(format!("http://127.0.0.1:9/{CANARY}")))),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_is_in_a_log_a_ledger_a_prompt_or_an_error() {
    for dialect in Dialect::ALL {
        for (what, script) in scripts() {
            let script = if what == "no such key" { script } else { script.with_key(Some(CANARY)) };
            let double = Double::start(script);
            let mut world = World::new(Kept::InSqlite).await;
            world.file("docs/a.md", "one").file("notes/b.md", "two").file("notes/c.md", "three");
            let ours = Endpoint { key: Some(Key::new(CANARY.into())), ..endpoint(dialect, &double.url) };
            assert!(!format!("{ours:?}").contains(CANARY));
            world.think_with(line(vec![ours]));
            let report = world.run(REQUEST).await.unwrap();
            let told = format!("{report:?} {:?}", world.seen());
            assert!(!told.contains(CANARY), "{dialect:?} {what}: {told}");
            for asked in double.asked() {
                let prompt = format!("{} {} {} {}", asked.path, asked.system, asked.user, asked.body);
                assert!(!prompt.contains(CANARY), "{dialect:?} {what}");
            }
            assert!(!double.asked().is_empty(), "{dialect:?} {what}: else it shows nothing");
            world.app.status().await.unwrap();
            let mut searched = 0;
            for entry in std::fs::read_dir(world.path()).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let bytes = std::fs::read(&path).unwrap();
                    searched += bytes.len();
                    let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
                    assert!(!found, "{dialect:?} {what}: in {}", path.display());
                }
            }
            assert!(searched > 100_000, "the ledger was not there: {searched} bytes");
        }
    }
}
