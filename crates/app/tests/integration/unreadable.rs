//! A step that cannot be read: written by a program that did not refuse it, or damaged since. It costs what follows from it, and
//! nothing else: the task is shown as far as it goes, cancelled and undone, and others in its folder are not concerned.

use app::Code;
use app::tasks::{Before, Undo};
use domain::approval::Status as Asked;
use domain::task::{Cause, Status};
use double::{Double, Said, Script, Usage};
use ledger::query::Select;
use ledger::records::{Approval, Blob, CallStatus, Salt, TaskStep, ToolCall};
use ledger::table::Record;
use models::Dialect;
use rusqlite::Connection;
use serde_json::json;
use testkit::{Kept, World};

use crate::dialects::{REQUEST, endpoint, line};

/// Beyond the reflexes, and the file that is written is named.
const NOTE: &str = "work out how much there is to read in here, and note it in out.txt";

async fn rows<T: Record>(world: &World) -> Vec<T> {
    let rows = world.store().await.select(&Select::<T>::all().query).await.unwrap();
    rows.into_iter().map(|row| T::from_row(row).unwrap()).collect()
}

/// Writes and reads a file, then deletes another one, for which the owner is asked, or is done.
fn script(deletes: bool) -> Script {
    let plan = json!({ "subtasks": [{ "intent": "write it down", "success_criteria": [
        { "text": "it is written", "check": { "tool_called": { "tool": "write_file" } } } ] }] });
    let task = json!({ "task": { "task_class": "write", "intent": "write it down" } });
    let answers = [
        Said::text(task.to_string()),
        Said::text(plan.to_string()),
        Said::call("write_file", json!({ "path": "out.txt", "content": "new" })),
        if deletes {
            Said::call("delete_file", json!({ "path": "docs/a.md" }))
        } else {
            Said::call("finish", json!({ "output": "written", "status": "completed" }))
        },
    ];
    answers.into_iter().fold(Script::new(), |script, said| script.then(said))
}

async fn thinking(double: &Double) -> World {
    let mut world = World::new(Kept::InSqlite).await;
    world.file("docs/a.md", "one");
    world.think_with(line(vec![endpoint(Dialect::Chat, &double.url)]));
    world
}

/// As a program wrote it that let every count pass: the digest is right, and the count fits no type. Or the bytes are damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    TooLarge,
    Damaged,
}

/// Makes the step unreadable that holds the plan.
async fn spoil(world: &mut World, how: How) -> u64 {
    let (steps, blobs, salts) =
        (rows::<TaskStep>(world).await, rows::<Blob>(world).await, rows::<Salt>(world).await);
    let said = |step: &TaskStep| blobs.iter().find(|blob| blob.hash == step.body).unwrap();
    let planned = |step: &&TaskStep| String::from_utf8_lossy(&said(step).content).contains("\"planned\"");
    let step = steps.iter().find(planned).expect("a plan");
    let blob = said(step);
    let text = String::from_utf8(blob.content.clone()).unwrap();
    let path = world.path().join(".regent.db");
    let database = Connection::open(path).unwrap();
    let changed = match how {
        How::Damaged => {
            let damage = "UPDATE blobs SET content = substr(content, 1, 20) WHERE hash = ?";
            database.execute(damage, [blob.hash.as_bytes()]).unwrap()
        }
        How::TooLarge => {
            let large = text.replace("\"tokens_in\":12", "\"tokens_in\":18446744073709552000");
            assert_ne!(large, text);
            let salt = salts.iter().find(|salt| Some(&salt.person) == blob.person.as_ref()).unwrap();
            let large = Blob::personal(large.into_bytes(), salt);
            let insert = "INSERT INTO blobs (hash, person, content) VALUES (?, ?, ?)";
            database.execute(insert, (large.hash.as_bytes(), large.person, large.content)).unwrap();
            let drops = "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema \
                         WHERE type = 'trigger' AND tbl_name = 'task_steps'";
            let drops: String = database.query_row(drops, [], |row| row.get(0)).unwrap();
            database.execute_batch(&drops).unwrap();
            let point = "UPDATE task_steps SET body = ? WHERE body = ?";
            database.execute(point, [large.hash.as_bytes(), blob.hash.as_bytes()]).unwrap()
        }
    };
    assert_eq!(changed, 1);
    database.close().unwrap();
    world.restart();
    step.n
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_over_is_shown_and_undone_and_the_next_one_is_told() {
    for how in [How::TooLarge, How::Damaged] {
        let double = Double::start(script(false));
        let mut world = thinking(&double).await;
        let report = world.run(NOTE).await.unwrap();
        assert_eq!(report.status, Status::Done, "{:?}", report.result);
        let n = spoil(&mut world, how).await;
        let view = world.app.tasks().show(&report.short).await.unwrap();
        let why = view.unreadable.expect("it says so");
        if let How::TooLarge = how {
            assert!(why.contains(&format!("step {n} ")), "{why}");
        }
        let unread: Vec<u64> =
            view.journal.iter().filter(|step| step.input == "(unreadable)").map(|step| step.n).collect();
        assert_eq!((unread, view.journal.len() as u64), (vec![n], view.line.steps));
        assert!(view.calls.iter().any(|call| call.tool.as_str() == "write_file"), "{how:?}");
        let problem = world.app.record().replay(&report.short).await.unwrap_err();
        assert_eq!(problem.code, Code::DATABASE_DAMAGED);
        // Another model run in this folder reads what came before.
        let next = Double::start(Script::new().otherwise(Said::text(json!({ "answer": "yes" }).to_string())));
        world.think_with(line(vec![endpoint(Dialect::Chat, &next.url)]));
        let another = world.run("and once more, please").await.unwrap();
        assert_eq!(another.status, Status::Done, "{:?}", another.result);
        let told = next.asked().first().unwrap().user.clone();
        assert!(told.contains("what came of it cannot be read any more"), "{told}");
        let undone = world.app.tasks().undo(&report.short, Undo::ForGood).await.unwrap();
        let back: Vec<_> = undone.put_back.iter().map(|back| (back.path.as_str(), back.as_before)).collect();
        assert_eq!(back, [("out.txt", Before::Nothing)], "{how:?}: {undone:?}");
        assert!(!world.path().join("out.txt").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_waits_is_cancelled_and_what_it_asked_is_withdrawn() {
    for how in [How::TooLarge, How::Damaged] {
        let double = Double::start(script(true));
        let mut world = thinking(&double).await;
        let report = world.run(NOTE).await.unwrap();
        assert_eq!(report.status, Status::Waiting, "{:?}", report.result);
        spoil(&mut world, how).await;
        let problem = world.resume(Some(&report.short)).await.unwrap_err();
        // Other steps than those that this instance wrote are not even read.
        let expected = if how == How::TooLarge { Code::AUTHORITY } else { Code::DATABASE_DAMAGED };
        assert_eq!(problem.code, expected);
        let remedy = format!("regent cancel {}", report.short);
        assert!(problem.remedy.contains(&remedy), "{problem:?}");
        assert_eq!(world.app.tasks().show(&report.short).await.unwrap().line.status, Status::Waiting);
        let cancelled = world.app.tasks().cancel(&report.short).await.unwrap();
        assert_eq!(cancelled.status, Status::Stopped);
        assert_eq!(cancelled.result.unwrap().cause, Some(Cause::Cancelled));
        let asked: Vec<Asked> = rows::<Approval>(&world).await.iter().map(|asked| asked.status).collect();
        assert_eq!(asked, [Asked::Expired]);
        let calls = rows::<ToolCall>(&world).await;
        assert!(calls.iter().all(|call| !matches!(call.status, CallStatus::Waiting | CallStatus::Started)));
        assert_eq!(world.app.tasks().cancel(&report.short).await.unwrap_err().code, Code::NOTHING_TO_CANCEL);
        world.app.tasks().undo(&report.short, Undo::ForGood).await.unwrap();
        assert!(!world.path().join("out.txt").exists() && world.path().join("docs/a.md").exists());
    }
}

/// What the issue found, over HTTP: the largest count that there is, and a plan with the largest number.
#[tokio::test(flavor = "multi_thread")]
async fn the_largest_numbers_leave_a_journal_that_can_be_read() {
    let most = u64::MAX;
    let plan = |max: u64| {
        let check = json!({ "file_count": { "min": 0, "max": max } });
        let criterion = json!({ "text": "they are counted", "check": check });
        Said::text(
            json!({ "subtasks": [{ "intent": "count", "success_criteria": [criterion] }] }).to_string(),
        )
    };
    let task = json!({ "task": { "task_class": "count", "intent": "count" } });
    let script = Script::new()
        .then(Said::text(task.to_string()).using(Usage { input: most, cached: most, out: most, thought: 0 }))
        .then(plan(most))
        .then(plan(9))
        .then(Said::call("find_files", json!({ "under": "notes" })))
        .then(Said::call("finish", json!({ "output": "none", "status": "completed" })));
    for dialect in Dialect::ALL {
        let double = Double::start(script.clone());
        let mut world = crate::dialects::world(dialect, &double).await;
        world.set("[budget.day]\nmoney = \"unlimited\"");
        let report = world.run(REQUEST).await.unwrap();
        assert_eq!(report.status, Status::Done, "{dialect:?}: {:?}", report.result);
        assert!(
            double.asked()[2].user.contains("18446744073709551615 cannot be written exactly"),
            "{dialect:?}"
        );
        assert!(world.app.record().replay(&report.short).await.unwrap().identical);
        let view = world.app.tasks().show(&report.short).await.unwrap();
        assert!(view.cost.iter().any(|role| role.tokens_in >= 1 << 53), "{:?}", view.cost);
        world.resume(Some(&report.short)).await.unwrap();
    }
}
