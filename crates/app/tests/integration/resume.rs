//! A process that dies, and one that goes on: on every store, at every durable point.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use app::Code;
use domain::probe::{Point, Probe};
use domain::task::Status;
use testkit::{Kept, World};

const REFERENCE: &str = "how many Rust files are here, and which is the largest?";

/// Counts commits and the calls that ran, and dies (never comes back) after the n-th commit.
struct Mortal {
    dies_after: usize,
    commits: AtomicUsize,
    ran: Arc<Mutex<Vec<String>>>,
    died: Arc<tokio::sync::Notify>,
}

impl Probe for Mortal {
    fn reached(&self, point: Point<'_>) {
        match point {
            Point::Committed if self.commits.fetch_add(1, Ordering::SeqCst) + 1 == self.dies_after => {
                self.died.notify_one();
                // The committer's thread stays here for good: nobody is ever told of this commit.
                loop {
                    std::thread::park();
                }
            }
            Point::Running { tool, .. } => self.ran.lock().expect("not poisoned").push(tool.to_owned()),
            _ => {}
        }
    }
}

/// Runs the request in a runtime of its own, which is left behind when its process "dies".
fn die_after(kept: Kept, commits: usize) -> (World, Arc<Mutex<Vec<String>>>) {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let died = Arc::new(tokio::sync::Notify::new());
    let mortal = Mortal {
        dies_after: commits,
        commits: AtomicUsize::new(0),
        ran: Arc::clone(&ran),
        died: Arc::clone(&died),
    };
    let doomed = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(3)
        .enable_all()
        .build()
        .expect("a runtime");
    let world = doomed.block_on(async {
        let world = Arc::new(World::probed(kept, Arc::new(mortal)).await);
        world.file("src/large.rs", "fn main() {}");
        let request = world.request(REFERENCE);
        let running = {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.app.tasks().run(request).await })
        };
        died.notified().await;
        running.abort();
        drop(running.await);
        Arc::try_unwrap(world).expect("nobody else holds the world")
    });
    doomed.shutdown_background();
    (world, ran)
}

/// What does not come out the same when it is decided again.
async fn differing(world: &World, id: &str) -> Vec<app::record::Line> {
    let why = world.app.record().recheck(id).await.expect("why");
    let lines = why.recheck.expect("it was asked for").lines;
    lines.into_iter().filter(|line| line.again != app::record::Again::Same).collect()
}

#[test]
fn whoever_goes_on_finishes_and_no_tool_runs_twice() {
    for kept in Kept::ALL {
        for commits in 1..=4 {
            let (mut world, ran) = die_after(kept, commits);
            let next = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("a runtime");
            next.block_on(async {
                let counting = Mortal {
                    dies_after: usize::MAX,
                    commits: AtomicUsize::new(0),
                    ran: Arc::clone(&ran),
                    died: Arc::default(),
                };
                world.restart_probed(Arc::new(counting));
                let id = match commits {
                    4 => {
                        Some(world.app.tasks().list(1).await.expect("tasks").first().expect("a task").short.clone())
                    }
                    _ => None,
                };
                // What was left half-way is as explicable as what is over.
                let left = world.app.events().list(1).await.expect("events").remove(0).id.to_string();
                assert_eq!(differing(&world, &left).await, [], "{kept:?} after {commits}");
                let report = world.resume(id.as_deref()).await.expect("a report");
                assert_eq!(differing(&world, &report.short).await, [], "{kept:?} after {commits}");
                assert_eq!(report.status, Status::Done, "{kept:?} after {commits}");
                assert_eq!(report.worked, commits < 4, "{kept:?} after {commits}");
                let mut ran = ran.lock().expect("not poisoned").clone();
                ran.sort();
                assert_eq!(ran, ["deliver", "find_files"], "{kept:?} after {commits}");
                assert_eq!(
                    world.seen(),
                    ["1 Rust file: src/large.rs (12 bytes).\nSubfolders included; hidden files, ignored files and links left out."]
                );
                assert!(world.app.record().verify(&app::record::Check::default()).await.expect("audit").is_sound());
            });
        }
    }
}

#[tokio::test]
async fn a_task_is_not_taken_from_a_process_that_lives() {
    let (mut world, _) = tokio::task::spawn_blocking(|| die_after(Kept::InMemory, 2)).await.expect("joined");
    world.start_another(Arc::new(domain::probe::Silent));
    let refused = world.resume(None).await.expect_err("the first one is alive");
    assert_eq!(refused.code, Code::DRIVEN_ELSEWHERE);
}

#[tokio::test]
async fn nothing_unfinished_and_nothing_called_like_this_is_said_so() {
    for kept in Kept::ALL {
        let world = World::new(kept).await;
        assert_eq!(world.resume(None).await.expect_err("nothing").code, Code::NOTHING_TO_RESUME);
        assert_eq!(world.resume(Some("t-zzzz")).await.expect_err("nothing").code, Code::NO_SUCH_ID);
        assert_eq!(world.resume(Some("banana")).await.expect_err("nothing").code, Code::NO_SUCH_ID);
    }
}
