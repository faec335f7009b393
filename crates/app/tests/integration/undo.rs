//! What a task did to the files of its workspace is taken back: byte for byte, through the one door, on every store.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use app::RunRequest;
use app::record::Check;
use app::tasks::{Before, Left, Note, Obstacle, PutBack, Undo, Undone};
use app::tools::DirectRequest;
use app::{Code, Problem};
use domain::ask::Action;
use domain::call::Chooser;
use domain::probe::{Point, Probe};
use domain::task::Status;
use ledger::query::Select;
use ledger::records::{AuditEntry, CallStatus, ToolCall};
use ledger::table::Record;
use serde_json::{Value, json};
use testkit::scripted::call;
use testkit::{Kept, Scripted, World};
use tokio::runtime::Builder;
use tokio::sync::Notify;

async fn rows<T: Record>(world: &World) -> Vec<T> {
    let rows = world.store().await.select(&Select::<T>::all().query).await.unwrap();
    rows.into_iter().map(|row| T::from_row(row).unwrap()).collect()
}

async fn undo(world: &World, task: &str) -> Result<Undone, Problem> {
    world.app.tasks().undo(task, Undo::ForGood).await
}

/// A call by the owner's hand; the task that made it.
async fn done(world: &World, tool: &str, args: Value) -> String {
    let report = world.call(tool, args, true).await.unwrap();
    assert_eq!(report.status, Status::Done, "{:?}", report.result);
    report.task.to_string()
}

/// Everything in the workspace: names, bytes or link targets, permission bits.
fn picture(world: &World) -> Vec<(String, String, u32)> {
    fn walk(folder: &Path, root: &Path, seen: &mut Vec<(String, String, u32)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if name.starts_with(".regent.db") || name == ".house" {
                continue;
            }
            let found = fs::symlink_metadata(&path).unwrap();
            let mode = found.permissions().mode() & 0o7777;
            if found.is_dir() {
                seen.push((name, "folder".into(), mode));
                walk(&path, root, seen);
            } else if found.is_symlink() {
                seen.push((name, fs::read_link(&path).unwrap().to_string_lossy().into_owned(), 0));
            } else {
                seen.push((name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(), mode));
            }
        }
    }
    let mut seen = Vec::new();
    walk(world.path(), world.path(), &mut seen);
    seen.sort();
    seen
}

fn put_back(path: &str, as_before: Before) -> PutBack {
    PutBack { path: path.into(), as_before, notes: Vec::new() }
}

fn left(path: &str, why: Obstacle) -> Left {
    Left { path: Some(path.into()), call: None, call_short: String::new(), tool: None, why }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_change_is_taken_back_and_the_undo_too() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("run.sh", "#!/bin/sh\necho old\n").file("secret", "old").file("fixed", "old\r\n");
        for (name, mode) in [("run.sh", 0o755), ("secret", 0o600), ("fixed", 0o444)] {
            fs::set_permissions(world.path().join(name), Permissions::from_mode(mode)).unwrap();
        }
        symlink("nowhere", world.path().join("link")).unwrap();
        let table = [
            (
                "write_file",
                json!({ "path": "secret", "content": "new", "replace": true }),
                "secret",
                Before::File,
            ),
            ("edit_file", json!({ "path": "run.sh", "old": "old", "new": "new" }), "run.sh", Before::File),
            ("delete_file", json!({ "path": "fixed" }), "fixed", Before::File),
            ("delete_file", json!({ "path": "link" }), "link", Before::Link),
            ("write_file", json!({ "path": "a/b/new", "content": "new" }), "a/b/new", Before::Nothing),
        ];
        let before = picture(&world);
        for (tool, args, path, as_before) in table {
            let task = done(&world, tool, args).await;
            let after = picture(&world);
            assert_ne!(before, after, "{tool}");
            let undone = undo(&world, &task).await.unwrap();
            assert_eq!(
                (undone.put_back, undone.left),
                (vec![put_back(path, as_before)], vec![]),
                "{kept:?} {tool}"
            );
            assert_eq!(picture(&world), before, "{kept:?} {tool}");
            let redone = undo(&world, &undone.by.unwrap().to_string()).await.unwrap();
            assert_eq!((redone.left.len(), picture(&world)), (0, after), "{kept:?} {tool}");
            undo(&world, &redone.by.unwrap().to_string()).await.unwrap();
            assert_eq!(picture(&world), before, "{kept:?} {tool}");
        }
        let check = Check { complete: true, ..Check::default() };
        let verified = world.app.record().verify(&check).await.unwrap();
        assert_eq!((verified.faults, verified.gaps), (vec![], Some(vec![])), "{kept:?}");
    }
}

/// A task that changes several files, some of them several times.
async fn busy(kept: Kept) -> (World, String) {
    let mut world = World::new(kept).await;
    world.file("one", "1").file("two", "2").file("sub/three", "3");
    world.think(Arc::new(Scripted::new(|evidence| match evidence.len() {
        0 => call("write_file", json!({ "path": "made/a", "content": "a" })),
        1 => call("write_file", json!({ "path": "made/b", "content": "b" })),
        2 => call("read_file", json!({ "path": "one" })),
        _ => Action::done("made"),
    })));
    let report = world.run("make made/a and made/b").await.unwrap();
    assert_eq!(report.status, Status::Done, "{:?}", report.result);
    let task = report.task.to_string();
    (world, task)
}

/// One task of several calls by the owner's hand, one after the other, and what happens right before each.
async fn tasked(world: &mut World, calls: Vec<(&'static str, Value)>, before: fn(usize, &Path)) -> String {
    let folder = world.path().to_owned();
    world.think(Arc::new(Scripted::new(move |evidence| {
        before(evidence.len(), &folder);
        let Some((tool, args)) = calls.get(evidence.len()).cloned() else {
            return Action::done("done");
        };
        let chosen_by = Chooser::Owner { confirmed: true };
        Action::Call { tool: tool.parse().unwrap(), args, chosen_by }
    })));
    let report = world.run("change some files").await.unwrap();
    assert_eq!(report.status, Status::Done, "{:?}", report.result);
    report.task.to_string()
}

fn undisturbed(_: usize, _: &Path) {}

fn new(path: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": "new" }))
}

fn delete(path: &str) -> (&'static str, Value) {
    ("delete_file", json!({ "path": path }))
}

/// Each step is looked at when the ones before it are done.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_in_whose_place_a_folder_stands_is_put_back_at_once_and_that_too() {
    for kept in Kept::each() {
        for calls in [
            vec![delete("a"), new("a/b/c"), new("a/d")],
            vec![delete("a"), new("a/b"), delete("a/b")],
            vec![delete("x/a"), new("x/a/a"), delete("x/a/a"), new("x/a/a/a")],
        ] {
            let mut world = World::new(kept).await;
            world.file("a", "old").file("x/a", "old");
            let before = picture(&world);
            let task = tasked(&mut world, calls.clone(), undisturbed).await;
            let after = picture(&world);
            let planned = world.app.tasks().undo(&task, Undo::DryRun).await.unwrap();
            let undone = undo(&world, &task).await.unwrap();
            assert_eq!((undone.problem(), picture(&world)), (None, before.clone()), "{kept:?} {calls:?}");
            assert_eq!(planned.put_back, undone.put_back, "{kept:?} {calls:?}");
            let redone = undo(&world, &undone.by.unwrap().to_string()).await.unwrap();
            assert_eq!(redone.left, [], "{kept:?} {calls:?}");
            if calls.len() != 3 || calls[2].0 == "write_file" {
                assert_eq!(picture(&world), after, "{kept:?} {calls:?}");
            }
            let undone = undo(&world, &redone.by.unwrap().to_string()).await.unwrap();
            assert_eq!((undone.problem(), picture(&world)), (None, before), "{kept:?} {calls:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_that_a_task_left_empty_go_and_then_there_is_nothing_to_do() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("keep", "");
        let before = picture(&world);
        let task = tasked(&mut world, vec![new("made/deep/f"), delete("made/deep/f")], undisturbed).await;
        assert_ne!(picture(&world), before, "{kept:?}");
        let undone = undo(&world, &task).await.unwrap();
        let tidied = PutBack { notes: vec![Note::Tidied], ..put_back("made/deep/f", Before::Nothing) };
        assert_eq!((undone.problem(), undone.put_back), (None, vec![tidied]), "{kept:?}");
        assert_eq!(picture(&world), before, "{kept:?}");
        let problem = undo(&world, &task).await.unwrap_err();
        assert!(problem.what.ends_with("is as it was before"), "{kept:?} {problem}");
    }
}

/// It is put back all the same, so nothing is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_left_between_two_calls_is_put_back_with_a_note() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("f", "old");
        let edit = |old, new| ("edit_file", json!({ "path": "f", "old": old, "new": new }));
        let meddle = |calls, folder: &Path| {
            if calls == 1 {
                fs::write(folder.join("f"), "theirs").unwrap();
            }
        };
        let task = tasked(&mut world, vec![edit("old", "new"), edit("theirs", "newer")], meddle).await;
        let undone = undo(&world, &task).await.unwrap();
        let touched = PutBack { notes: vec![Note::Touched], ..put_back("f", Before::File) };
        assert_eq!((undone.problem(), undone.put_back), (None, vec![touched]), "{kept:?}");
        assert_eq!(fs::read(world.path().join("f")).unwrap(), b"theirs", "{kept:?}");
    }
}

/// The journal says what came first, whatever the clock said.
#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_back_changes_no_order() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("f", "one");
        let clock = Arc::clone(&world.clock);
        world.think(Arc::new(Scripted::new(move |evidence| {
            clock.turn_back(std::time::Duration::from_secs(1));
            let (old, new) = match evidence.len() {
                0 => ("one", "two"),
                1 => ("two", "three"),
                _ => return Action::done("done"),
            };
            let args = json!({ "path": "f", "old": old, "new": new });
            let chosen_by = Chooser::Owner { confirmed: true };
            Action::Call { tool: "edit_file".parse().unwrap(), args, chosen_by }
        })));
        let task = world.run("edit f").await.unwrap().task.to_string();
        assert_eq!(fs::read(world.path().join("f")).unwrap(), b"three", "{kept:?}");
        let undone = undo(&world, &task).await.unwrap();
        assert_eq!(undone.put_back, [put_back("f", Before::File)], "{kept:?}");
        assert_eq!(fs::read(world.path().join("f")).unwrap(), b"one", "{kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_says_what_the_door_would_say() {
    for kept in Kept::each() {
        let (world, task) = busy(kept).await;
        world.app.tools().switch("put_back", false).await.unwrap();
        let planned = world.app.tasks().undo(&task, Undo::DryRun).await.unwrap();
        let off = |path| left(path, Obstacle::Refused("put_back is switched off".into()));
        assert_eq!(
            (planned.put_back, planned.left),
            (vec![], vec![off("made/b"), off("made/a")]),
            "{kept:?}"
        );
    }
}

/// An undo that was killed between two of its steps, or in the middle of one, is gone on with, and says what came of it.
#[test]
fn an_undo_that_was_killed_is_gone_on_with_and_names_its_files() {
    for kept in Kept::each() {
        for after in [false, true] {
            let several = || Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
            let doomed = several();
            let mut world = doomed.block_on(async {
                let died = Arc::new(Notify::new());
                let mortal = Mortal { tool: "put_back", after, died: Arc::clone(&died) };
                let mut world = World::new(kept).await;
                let task = tasked(&mut world, vec![new("a"), new("b")], undisturbed).await;
                world.restart_probed(Arc::new(mortal));
                let world = Arc::new(world);
                let undoing = Arc::clone(&world);
                let running = tokio::spawn(async move { undo(&undoing, &task).await });
                died.notified().await;
                running.abort();
                drop(running.await);
                Arc::try_unwrap(world).unwrap()
            });
            doomed.shutdown_background();
            several().block_on(async {
                world.restart();
                let by = world.resume(None).await.unwrap().task;
                let undone = world.app.tasks().undone_by(by).await.unwrap().unwrap();
                assert_eq!(undone.put_back, [put_back("a", Before::Nothing)], "{kept:?}");
                let left: Vec<_> = undone.left.into_iter().map(|left| left.path.unwrap()).collect();
                assert_eq!(left, ["b"], "{kept:?}: nobody knows");
                assert_eq!(
                    (world.path().join("a").exists(), world.path().join("b").exists()),
                    (false, !after)
                );
            });
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_a_task_changed_is_taken_back_at_once_and_on_record() {
    for kept in Kept::each() {
        let (world, task) = busy(kept).await;
        let undone = undo(&world, &task).await.unwrap();
        let expected = [put_back("made/b", Before::Nothing), put_back("made/a", Before::Nothing)];
        assert_eq!((undone.put_back.as_slice(), undone.problem()), (&expected[..], None), "{kept:?}");
        assert!(!world.path().join("made").exists(), "{kept:?}");
        let by = undone.by.unwrap();
        let calls = rows::<ToolCall>(&world).await.into_iter().filter(|call| call.task_id == by);
        let mut calls: Vec<_> = calls.map(|call| (call.tool_id.to_string(), call.status)).collect();
        calls.sort_by(|a, b| a.0.cmp(&b.0));
        let finished = |tool: &str| (tool.to_owned(), CallStatus::Finished);
        assert_eq!(calls, [finished("deliver"), finished("put_back"), finished("put_back")], "{kept:?}");
        let view = world.app.tasks().show(&by.to_string()).await.unwrap();
        assert_eq!(view.line.task_class.as_deref(), Some("undo"));
        let entries = rows::<AuditEntry>(&world).await;
        assert!(entries.iter().any(|entry| entry.kind == "task.opened" && entry.subject == by.to_string()));
        let again = undo(&world, &task).await.unwrap_err();
        assert_eq!(again.code, Code::NOTHING_TO_UNDO);
        assert!(again.what.ends_with("is as it was before"), "{again}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_says_the_same_and_changes_nothing() {
    for kept in Kept::each() {
        let (world, task) = busy(kept).await;
        let (before, calls) = (picture(&world), rows::<ToolCall>(&world).await.len());
        let planned = world.app.tasks().undo(&task, Undo::DryRun).await.unwrap();
        assert_eq!((picture(&world), rows::<ToolCall>(&world).await.len()), (before, calls), "{kept:?}");
        let undone = undo(&world, &task).await.unwrap();
        assert_eq!((planned.put_back, planned.left), (undone.put_back, undone.left), "{kept:?}");
        assert_eq!((planned.dry_run, planned.by), (true, None));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_changed_since_is_left_and_the_others_are_put_back() {
    for kept in Kept::each() {
        let (world, task) = busy(kept).await;
        world.file("made/a", "theirs");
        let undone = undo(&world, &task).await.unwrap();
        assert_eq!(undone.put_back, [put_back("made/b", Before::Nothing)], "{kept:?}");
        assert_eq!(undone.left, [left("made/a", Obstacle::ChangedSince)], "{kept:?}");
        let problem = undone.problem().unwrap();
        assert_eq!((problem.code, problem.code.exit()), (Code::NOT_ALL_PUT_BACK, 1));
        assert_eq!(fs::read(world.path().join("made/a")).unwrap(), b"theirs");
        assert!(!world.path().join("made/b").exists(), "{kept:?}");
    }
}

/// Several changes to one file are one step, from what was there first.
#[tokio::test(flavor = "multi_thread")]
async fn changes_on_top_of_each_other_are_taken_back_in_one_step() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.think(Arc::new(Scripted::new(|evidence| match evidence.len() {
            0 => call("write_file", json!({ "path": "f", "content": "one" })),
            _ => Action::done("done"),
        })));
        let first = world.run("write f").await.unwrap().task.to_string();
        let second = done(&world, "edit_file", json!({ "path": "f", "old": "one", "new": "two" })).await;
        let early = undo(&world, &first).await.unwrap();
        assert_eq!(early.left, [left("f", Obstacle::ChangedSince)], "{kept:?}: the later task first");
        undo(&world, &second).await.unwrap();
        assert_eq!(fs::read(world.path().join("f")).unwrap(), b"one");
        undo(&world, &first).await.unwrap();
        assert!(!world.path().join("f").exists(), "{kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_undone_says_why() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("f", "old");
        let read = done(&world, "read_file", json!({ "path": "f" })).await;
        let problem = undo(&world, &read).await.unwrap_err();
        assert_eq!((problem.code, problem.code.exit()), (Code::NOTHING_TO_UNDO, 2));
        assert!(problem.what.ends_with("has changed nothing"), "{problem}");
        assert_eq!(undo(&world, "t-none").await.unwrap_err().code, Code::NO_SUCH_ID);
        let large = "x".repeat(domain::limits::UNDO_BYTES + 1);
        world.file("large", &large);
        let task = done(&world, "delete_file", json!({ "path": "large" })).await;
        let undone = undo(&world, &task).await.unwrap();
        assert_eq!((undone.left, undone.by), (vec![left("large", Obstacle::TooLarge)], None), "{kept:?}");
        let huge = fs::File::create(world.path().join("huge")).unwrap();
        huge.set_len(domain::limits::DELETED_DIGEST_BYTES + 1).unwrap();
        let task = done(&world, "delete_file", json!({ "path": "huge" })).await;
        assert_eq!(undo(&world, &task).await.unwrap().left, [left("huge", Obstacle::TooLarge)], "{kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_is_gone_is_said_before_anything_is_done() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("sub/f", "old");
        let RunRequest { surface, wait, .. } = world.request("");
        let (tool, args) = ("delete_file".to_owned(), json!({ "path": "f" }));
        let workspace = world.path().join("sub");
        let request = DirectRequest { tool, args, confirmed: true, workspace, surface, wait };
        let task = world.app.tools().call(request).await.unwrap().task.to_string();
        fs::remove_dir_all(world.path().join("sub")).unwrap();
        let problem = undo(&world, &task).await.unwrap_err();
        assert_eq!(problem.code, Code::WORKSPACE, "{kept:?}");
    }
}

/// What a tool did that does not say what it changes is not passed over in silence.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_says_nothing_about_what_it_changed_is_listed() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("f", "f");
        let tool = json!({
            "tool_id": "notes", "description": "does nobody knows what", "tier": "write_safe",
            "handler_config": { "function": "read_file" },
        });
        world.app.tools().register(&tool.to_string()).await.unwrap();
        let report = world.call("notes", json!({ "path": "f" }), true).await.unwrap();
        let undone = undo(&world, &report.task.to_string()).await.unwrap();
        let told: Vec<_> = undone.left.into_iter().map(|left| (left.path, left.tool, left.why)).collect();
        let tool = Some("notes".parse().unwrap());
        assert_eq!(told, [(None, tool, Obstacle::NotAFile)], "{kept:?}");
    }
}

/// Somebody who is at a file between the look at it and the call.
#[derive(Default)]
struct Meddler(OnceLock<PathBuf>);

impl Probe for Meddler {
    fn reached(&self, point: Point<'_>) {
        match (point, self.0.get()) {
            (Point::Running { tool: "edit_file", .. }, Some(file)) => {
                fs::write(file, "old, and theirs").unwrap();
            }
            (Point::Running { tool: "write_file", .. }, Some(file)) => fs::remove_file(file).unwrap(),
            _ => {}
        }
    }
}

/// It could not be looked at, so nothing of it would be kept: what would have been possible by then is not done.
#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_looked_at_is_not_done() {
    for kept in Kept::each() {
        let meddler = Arc::new(Meddler::default());
        let world = World::probed(kept, Arc::<Meddler>::clone(&meddler)).await;
        world.file("f", "old");
        meddler.0.set(world.path().join("f")).unwrap();
        let report = world.call("write_file", json!({ "path": "f", "content": "new" }), true).await.unwrap();
        let reason = report.result.unwrap().reason.unwrap();
        assert_eq!(reason, "it could not be looked at before; nothing was done, ask again", "{kept:?}");
        assert!(!world.path().join("f").exists(), "{kept:?}");
        let problem = undo(&world, &report.task.to_string()).await.unwrap_err();
        assert_eq!(problem.code, Code::NOTHING_TO_UNDO, "{kept:?}");
        // What is wrong with a call is still said by its tool.
        let args = json!({ "path": "none", "old": "a", "new": "b" });
        let report = world.call("edit_file", args, true).await.unwrap();
        assert_eq!(
            report.result.unwrap().reason.unwrap(),
            "`none` does not exist in the workspace",
            "{kept:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_does_what_was_looked_at_or_nothing() {
    for kept in Kept::each() {
        let meddler = Arc::new(Meddler::default());
        let world = World::probed(kept, Arc::<Meddler>::clone(&meddler)).await;
        world.file("f", "old");
        meddler.0.set(world.path().join("f")).unwrap();
        let args = json!({ "path": "f", "old": "old", "new": "new" });
        let report = world.call("edit_file", args, true).await.unwrap();
        let reason = report.result.unwrap().reason.unwrap();
        assert_eq!(reason, "`f` was changed by somebody else meanwhile; read it again", "{kept:?}");
        assert_eq!(fs::read(world.path().join("f")).unwrap(), b"old, and theirs", "{kept:?}");
        let undone = undo(&world, &report.task.to_string()).await.unwrap();
        assert_eq!(undone.left, [left("f", Obstacle::ChangedSince)], "{kept:?}");
    }
}

/// Dies right before the handler of a call runs, or right after it has.
struct Mortal {
    tool: &'static str,
    after: bool,
    died: Arc<Notify>,
}

impl Probe for Mortal {
    fn reached(&self, point: Point<'_>) {
        let dies = match point {
            Point::Running { tool, .. } if tool == self.tool => !self.after,
            Point::Ran { tool, .. } if tool == self.tool => self.after,
            _ => false,
        };
        if dies {
            self.died.notify_one();
            loop {
                std::thread::park();
            }
        }
    }
}

/// A process is killed while it replaces a file, and another one goes on. Its task.
fn killed(kept: Kept, after: bool) -> World {
    let several = || Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
    let doomed = several();
    let world = doomed.block_on(async {
        let died = Arc::new(Notify::new());
        let mortal = Mortal { tool: "write_file", after, died: Arc::clone(&died) };
        let world = Arc::new(World::probed(kept, Arc::new(mortal)).await);
        world.file("f", "old");
        let running = {
            let world = Arc::clone(&world);
            let args = json!({ "path": "f", "content": "new", "replace": true });
            tokio::spawn(async move { world.call("write_file", args, true).await })
        };
        died.notified().await;
        running.abort();
        drop(running.await);
        Arc::try_unwrap(world).unwrap()
    });
    doomed.shutdown_background();
    world
}

/// Nobody knows whether it ran; what is there tells.
#[test]
fn a_call_of_which_nobody_knows_is_taken_back_if_it_happened() {
    for kept in Kept::each() {
        for after in [false, true] {
            let mut world = killed(kept, after);
            let next = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            next.block_on(async {
                world.restart();
                let task = world.resume(None).await.unwrap().task.to_string();
                let calls = rows::<ToolCall>(&world).await;
                assert!(calls.iter().any(|call| call.status == CallStatus::Unknown), "{kept:?}");
                let undone = undo(&world, &task).await;
                if after {
                    assert_eq!(undone.unwrap().put_back, [put_back("f", Before::File)], "{kept:?}");
                } else {
                    assert_eq!(undone.unwrap_err().code, Code::NOTHING_TO_UNDO, "{kept:?}");
                }
                assert_eq!(fs::read(world.path().join("f")).unwrap(), b"old", "{kept:?}");
            });
        }
    }
}

/// Whatever a model asks for: putting back is the owner's hand.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_cannot_put_back() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("f", "old");
        let now = json!({ "file": { "digest": domain::Digest::of(b"old"), "bytes": 3, "mode": 0o644 } });
        fs::set_permissions(world.path().join("f"), Permissions::from_mode(0o644)).unwrap();
        let args = json!({ "path": "f", "from": now, "to": "nothing" });
        let asked = args.clone();
        world.think(Arc::new(Scripted::new(move |evidence| match evidence.len() {
            0 => call("put_back", asked.clone()),
            _ => Action::done("tried"),
        })));
        drop(world.run("put f back").await);
        assert!(world.path().join("f").exists(), "{kept:?}");
        let ran = rows::<ToolCall>(&world).await.into_iter().find(|call| call.tool_id.as_str() == "put_back");
        assert_ne!(ran.map(|call| call.status), Some(CallStatus::Finished), "{kept:?}");
        done(&world, "put_back", args).await;
        assert!(!world.path().join("f").exists(), "{kept:?}: the owner can");
    }
}
