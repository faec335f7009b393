//! Calls that change several names: one question, one call, and each name taken back on its own, on every store.

use std::fs;
use std::sync::{Arc, OnceLock};

use app::Code;
use app::approvals::Act;
use app::record::Check;
use app::tasks::{Before, Left, Obstacle, PutBack, Undo, Undone};
use domain::approval::{Lasting, Status as Asked};
use domain::ask::Action;
use domain::call::Chooser;
use domain::limits::{DELETED_DIGEST_BYTES, UNDO_BYTES};
use domain::probe::{Point, Probe};
use domain::task::{Directive, Status};
use ledger::query::Select;
use ledger::records::{CallStatus, ToolCall};
use ledger::table::Record;
use serde_json::{Value, json};
use testkit::scripted::call;
use testkit::{Kept, Scripted, World};
use tokio::runtime::Builder;
use tokio::sync::Notify;

async fn calls(world: &World) -> Vec<ToolCall> {
    let rows = world.store().await.select(&Select::<ToolCall>::all().query).await.unwrap();
    rows.into_iter().map(|row| ToolCall::from_row(row).unwrap()).collect()
}

async fn undo(world: &World, task: &str) -> Undone {
    world.app.tasks().undo(task, Undo::ForGood).await.unwrap()
}

async fn done(world: &World, tool: &str, args: Value) -> String {
    let report = world.call(tool, args, true).await.unwrap();
    assert_eq!(report.status, Status::Done, "{:?}", report.result);
    report.task.to_string()
}

/// The names in the workspace and what is in them.
fn picture(world: &World) -> Vec<(String, String)> {
    let mut seen = Vec::new();
    let mut folders = vec![world.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(world.path()).unwrap().to_string_lossy().into_owned();
            if name.starts_with(".regent.db") || name == ".house" {
                continue;
            }
            if path.is_dir() {
                seen.push((name, "folder".into()));
                folders.push(path);
            } else {
                seen.push((name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()));
            }
        }
    }
    seen.sort();
    seen
}

fn back(path: &str, as_before: Before) -> PutBack {
    PutBack { path: path.into(), as_before, notes: Vec::new() }
}

fn left(path: &str, why: Obstacle) -> Left {
    Left { path: Some(path.into()), call: None, call_short: String::new(), tool: None, why }
}

async fn sound(world: &World) {
    let check = Check { complete: true, ..Check::default() };
    let audit = world.app.record().verify(&check).await.unwrap();
    assert_eq!(audit.problem(), None, "{audit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_them_is_taken_back_and_the_undo_too() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("a.tmp", "a").file("b.tmp", "same").file("sub/c.tmp", "same").file("todo.txt", "todo");
        let copies =
            json!({ "copies": [{ "from": "a.tmp", "to": "new/" }, { "from": "b.tmp", "to": "new/er/x" }] });
        let moves = json!({ "moves": [{ "from": "todo.txt", "to": "tasks.txt" }, { "from": "a.tmp", "to": "new/" }] });
        let table = [
            ("delete_files", json!({ "paths": ["a.tmp", "b.tmp", "sub/c.tmp"] }), 3),
            ("copy_files", copies, 2),
            ("move_files", moves, 4),
        ];
        let before = picture(&world);
        for (tool, args, names) in table {
            let task = done(&world, tool, args).await;
            let after = picture(&world);
            assert_ne!(before, after, "{tool}");
            let undone = undo(&world, &task).await;
            assert_eq!((undone.put_back.len(), undone.left), (names, vec![]), "{kept:?} {tool}");
            assert_eq!(picture(&world), before, "{kept:?} {tool}");
            let redone = undo(&world, &undone.by.unwrap().to_string()).await;
            assert_eq!((redone.left, picture(&world)), (vec![], after), "{kept:?} {tool}");
            undo(&world, &redone.by.unwrap().to_string()).await;
            assert_eq!(picture(&world), before, "{kept:?} {tool}");
        }
        sound(&world).await;
    }
}

/// What an older house holds is one change, and so is what changes one name today.
#[tokio::test(flavor = "multi_thread")]
async fn one_name_is_kept_as_it_always_was_and_several_as_a_list() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("a", "a").file("b", "b").file("c", "c");
        let one = done(&world, "delete_file", json!({ "path": "a" })).await;
        let several = done(&world, "delete_files", json!({ "paths": ["b", "c"] })).await;
        let calls = calls(&world).await;
        for (task, is_list) in [(&one, false), (&several, true)] {
            let change =
                calls.iter().filter(|call| call.task_id.to_string() == *task).find_map(|call| call.change);
            let rows =
                world.store().await.select(&Select::<ledger::records::Blob>::all().query).await.unwrap();
            let blobs = rows.into_iter().map(|row| ledger::records::Blob::from_row(row).unwrap());
            let body = blobs.into_iter().find(|blob| Some(blob.hash) == change).unwrap();
            let body: Value = serde_json::from_slice(&body.content).unwrap();
            assert_eq!((body.is_array(), body.is_object()), (is_list, !is_list), "{kept:?} {body}");
        }
        assert_eq!(undo(&world, &one).await.put_back, [back("a", Before::File)], "{kept:?}");
        let expected = [back("c", Before::File), back("b", Before::File)];
        assert_eq!(undo(&world, &several).await.put_back, expected, "{kept:?}");
    }
}

/// One question for all of them, which says of each what would be gone; a yes is for all of them as they were.
#[tokio::test(flavor = "multi_thread")]
async fn one_answer_is_for_all_of_them_as_they_were_looked_at() {
    for kept in Kept::each() {
        for disturbed in [false, true] {
            let mut world = World::new(kept).await;
            world.file("a.tmp", "a").file("b.tmp", "b");
            world.file("large.tmp", &"x".repeat(UNDO_BYTES));
            let paths = ["a.tmp", "b.tmp", "large.tmp"];
            world.think(Arc::new(Scripted::new(move |evidence| match evidence.len() {
                0 => call("delete_files", json!({ "paths": paths })),
                _ => Action::done("deleted"),
            })));
            let waits = world.run("delete a.tmp, b.tmp and large.tmp").await.unwrap();
            assert_eq!(waits.problem().map(|problem| problem.code), Some(Code::WAITING), "{kept:?}");
            let asked = world.app.approvals().list().await.unwrap();
            assert_eq!(asked.len(), 1, "{kept:?}: one question");
            let question = asked[0].question.as_ref().unwrap();
            let names: Vec<_> =
                question.names.iter().map(|name| (name.change.path.as_str(), name.undo)).collect();
            assert_eq!(names, [("a.tmp", true), ("b.tmp", true), ("large.tmp", false)]);
            assert_eq!(question.undo(), broker::question::Undo::Some(2, 3));
            let yes = Act::Approve { lasting: Lasting::Once, typed: None, good_for: None };
            world.app.approvals().resolve(&asked[0].short, yes, "terminal").await.unwrap();
            if disturbed {
                world.file("b.tmp", "theirs");
            }
            let report = world.resume(None).await.unwrap();
            if disturbed {
                assert_eq!(report.problem().map(|problem| problem.code), Some(Code::WAITING), "another call");
                assert!(paths.iter().all(|path| world.path().join(path).exists()), "{kept:?}");
                continue;
            }
            assert_eq!(report.result.unwrap().directive, Directive::Accept, "{kept:?}");
            assert!(paths.iter().all(|path| !world.path().join(path).exists()), "{kept:?}");
            let undone = undo(&world, &report.task.to_string()).await;
            assert_eq!(undone.left, [left("large.tmp", Obstacle::TooLarge)], "{kept:?}");
            assert_eq!(
                undone.put_back,
                [back("b.tmp", Before::File), back("a.tmp", Before::File)],
                "{kept:?}"
            );
            let status = world.app.approvals().show(&asked[0].short).await.unwrap().status;
            assert_eq!(status, Asked::Approved);
            assert!(
                world.app.record().recheck(&report.short).await.unwrap().recheck.unwrap().holds,
                "{kept:?}"
            );
            sound(&world).await;
        }
    }
}

/// Two names of one file that is too large to be read: when the first is gone, nobody can say any more whether the second
/// is what was looked at.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_before_a_failure_is_taken_back() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("a", "a").file("z", "z");
        let (one, two) = (world.path().join("one"), world.path().join("two"));
        fs::File::create(&one).unwrap().set_len(DELETED_DIGEST_BYTES + 1).unwrap();
        fs::hard_link(&one, &two).unwrap();
        let report =
            world.call("delete_files", json!({ "paths": ["a", "one", "two", "z"] }), true).await.unwrap();
        let reason = report.result.unwrap().reason.unwrap();
        let expected = "the first 2 of 4 were deleted, up to `one`, and the others were not: `two` was changed by somebody else meanwhile; read it again";
        assert_eq!(reason, expected, "{kept:?}");
        assert!(!one.exists() && two.exists() && world.path().join("z").exists());
        let undone = undo(&world, &report.task.to_string()).await;
        assert_eq!(undone.put_back, [back("a", Before::File)], "{kept:?}");
        let stays = [left("two", Obstacle::ChangedSince), left("one", Obstacle::TooLarge)];
        assert_eq!(
            (undone.left.as_slice(), undone.unchanged.as_slice()),
            (&stays[..], &["z".to_owned()][..])
        );
        sound(&world).await;
    }
}

/// What is moved is in no second place: it never goes from its new name unless the old one is back.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_moved_stays_where_it_is_if_its_old_name_is_taken_or_not_kept() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let large = "x".repeat(UNDO_BYTES + 1);
        world.file("a", "a").file("b", "b").file("large", &large);
        let moves = json!({ "moves": [
            { "from": "a", "to": "n/a" }, { "from": "b", "to": "n/b" }, { "from": "large", "to": "n/large" },
        ] });
        let task = done(&world, "move_files", moves).await;
        world.file("b", "theirs");
        let planned = world.app.tasks().undo(&task, Undo::DryRun).await.unwrap();
        let undone = undo(&world, &task).await;
        let not_back = |path: &str, from: &str| left(path, Obstacle::NotBack(from.into()));
        let stays = [
            left("large", Obstacle::TooLarge),
            not_back("n/large", "large"),
            left("b", Obstacle::ChangedSince),
            not_back("n/b", "b"),
        ];
        assert_eq!(undone.left, stays, "{kept:?}");
        assert_eq!(undone.put_back, [back("a", Before::File), back("n/a", Before::Nothing)], "{kept:?}");
        assert_eq!((planned.put_back, planned.left), (undone.put_back, undone.left), "{kept:?}");
        assert_eq!(fs::read_to_string(world.path().join("n/b")).unwrap(), "b", "{kept:?}");
        assert_eq!(fs::read_to_string(world.path().join("n/large")).unwrap().len(), large.len(), "{kept:?}");
    }
}

/// A file that was moved, changed, and moved on by one task.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_moved_and_changed_comes_back_as_it_was() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("a", "old");
        let calls = [
            ("move_files", json!({ "moves": [{ "from": "a", "to": "b" }] })),
            ("edit_file", json!({ "path": "b", "old": "old", "new": "new" })),
            ("move_files", json!({ "moves": [{ "from": "b", "to": "d/c" }] })),
        ];
        world.think(Arc::new(Scripted::new(move |evidence| {
            let Some((tool, args)) = calls.get(evidence.len()).cloned() else { return Action::done("done") };
            let chosen_by = Chooser::Owner { confirmed: true };
            Action::Call { tool: tool.parse().unwrap(), args, chosen_by }
        })));
        let report = world.run("change some files").await.unwrap();
        assert_eq!(fs::read_to_string(world.path().join("d/c")).unwrap(), "new", "{:?}", report.result);
        let undone = undo(&world, &report.task.to_string()).await;
        assert_eq!(undone.left, [], "{kept:?}");
        assert_eq!(picture(&world), [("a".to_owned(), "old".to_owned())], "{kept:?}");
    }
}

/// Somebody is quicker, between the plan of an undo and its steps: right before what was moved is put back.
#[derive(Default)]
struct Quicker(OnceLock<std::path::PathBuf>);

impl Probe for Quicker {
    fn reached(&self, point: Point<'_>) {
        if let (Point::Running { tool: "put_back", .. }, Some(path)) = (point, self.0.get())
            && !path.exists()
        {
            fs::write(path, "theirs").unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_put_back_at_last_is_still_where_it_was_moved_to() {
    for kept in Kept::each() {
        let quicker = Arc::new(Quicker::default());
        let world = World::probed(kept, Arc::<Quicker>::clone(&quicker)).await;
        world.file("a", "a");
        let task = done(&world, "move_files", json!({ "moves": [{ "from": "a", "to": "b" }] })).await;
        quicker.0.set(world.path().join("a")).unwrap();
        let undone = undo(&world, &task).await;
        let paths: Vec<_> = undone.left.iter().map(|left| left.path.as_deref().unwrap()).collect();
        assert_eq!((undone.put_back.len(), paths), (0, vec!["a", "b"]), "{kept:?}");
        let there = [("a".to_owned(), "theirs".to_owned()), ("b".to_owned(), "a".to_owned())];
        assert_eq!(picture(&world), there, "{kept:?}");
    }
}

/// Dies right before a tool runs.
struct Mortal(Arc<Notify>);

impl Probe for Mortal {
    fn reached(&self, point: Point<'_>) {
        if matches!(point, Point::Running { tool: "delete_files", .. }) {
            self.0.notify_one();
            loop {
                std::thread::park();
            }
        }
    }
}

/// Killed when one of two was deleted: nobody knows how far it came, and what stands there tells.
#[test]
fn killed_in_the_middle_it_is_unknown_and_what_was_done_is_taken_back() {
    for kept in Kept::each() {
        let several = || Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
        let doomed = several();
        let mut world = doomed.block_on(async {
            let died = Arc::new(Notify::new());
            let world = Arc::new(World::probed(kept, Arc::new(Mortal(Arc::clone(&died)))).await);
            world.file("a", "a").file("b", "b");
            let calling = Arc::clone(&world);
            let args = json!({ "paths": ["a", "b"] });
            let running = tokio::spawn(async move { calling.call("delete_files", args, true).await });
            died.notified().await;
            running.abort();
            drop(running.await);
            Arc::try_unwrap(world).unwrap()
        });
        doomed.shutdown_background();
        fs::remove_file(world.path().join("a")).unwrap();
        several().block_on(async {
            world.restart();
            let task = world.resume(None).await.unwrap().task.to_string();
            assert!(calls(&world).await.iter().any(|call| call.status == CallStatus::Unknown), "{kept:?}");
            sound(&world).await;
            let undone = undo(&world, &task).await;
            assert_eq!(undone.put_back, [back("a", Before::File)], "{kept:?}");
            assert_eq!((undone.left, undone.unchanged), (vec![], vec!["b".to_owned()]), "{kept:?}");
            assert_eq!(picture(&world).len(), 2, "{kept:?}");
            sound(&world).await;
        });
    }
}
