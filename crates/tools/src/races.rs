//! The tools against somebody who swaps folders and files for links that lead out, as fast as he can.
//!
//! That these tests catch what they are for was seen by hand: with `Root::folder` made to ask
//! `canonicalize`, compare with the root and then open the path, as the workspace once did, each of the three
//! fails within a second.

#![cfg(all(target_os = "linux", target_env = "gnu"))] // where two names can change places at once

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use domain::Stop;
use domain::call::Failure;
use domain::change::Standing;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json};

use crate::expected::Expected;
use crate::testing::Tree;
use crate::workspace::Workspace;
use crate::{
    copy_files, delete, delete_files, edit, find, glob, hash, move_files, put_back, read, standing, write,
};

const READING_ROUNDS: usize = 5_000;
const FINDING_ROUNDS: usize = 1_000;
/// Fewer, because every write waits for the disk; there are five in a round.
const WRITING_ROUNDS: usize = 400;

/// In the workspace and outside there are the same names. Only what stands in the files tells them apart.
struct Arena {
    tree: Tree,
    workspace: Workspace,
}

impl Arena {
    fn new(careful: bool) -> Self {
        let tree = Tree::new(&[
            ("work/d/f.txt", "inside"),
            ("work/d/victim.txt", "inside"),
            ("work/f.txt", "inside"),
            ("work/keep.txt", "inside"),
            ("outside/f.txt", "OUTSIDE"),
            ("outside/victim.txt", "OUTSIDE"),
            ("outside/only-outside.txt", "OUTSIDE"),
        ]);
        symlink("../outside", tree.path("work/l")).unwrap();
        symlink("../outside/f.txt", tree.path("work/g.txt")).unwrap();
        let workspace = Workspace::new(tree.path("work")).unwrap();
        let workspace = if careful { workspace.without_openat2() } else { workspace };
        Self { tree, workspace }
    }

    /// Runs `round` while the folder and the file change places with the links, and says how often they did.
    fn race(&self, rounds: usize, mut round: impl FnMut(usize)) {
        let (done, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    swap(&self.tree.path("work/d"), &self.tree.path("work/l"));
                    swap(&self.tree.path("work/f.txt"), &self.tree.path("work/g.txt"));
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            });
            let all = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                (0..rounds).for_each(&mut round);
                while swaps.load(Ordering::Relaxed) == 0 {
                    std::thread::yield_now();
                }
            }));
            done.store(true, Ordering::Relaxed);
            all.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
        assert_eq!(self.tree.names("outside"), ["f.txt", "only-outside.txt", "victim.txt"]);
        for name in self.tree.names("outside") {
            assert_eq!(self.tree.content(&format!("outside/{name}")), b"OUTSIDE", "{name}");
        }
    }

    /// A tool that changes something, called by somebody who has not looked before.
    fn change<A: DeserializeOwned, R>(
        &self,
        run: fn(&Workspace, &A, Expected<'_>, &Stop) -> Result<R, Failure>,
        args: Value,
    ) -> Result<R, Failure> {
        run(&self.workspace, &from_value(args).unwrap(), Expected::default(), &Stop::default())
    }

    fn call<A: DeserializeOwned, R>(
        &self,
        run: fn(&Workspace, &A, &Stop) -> Result<R, Failure>,
        args: Value,
    ) -> Result<R, Failure> {
        run(&self.workspace, &from_value(args).unwrap(), &Stop::default())
    }
}

fn swap(a: &Path, b: &Path) {
    renameat2(AT_FDCWD, a, AT_FDCWD, b, RenameFlags::RENAME_EXCHANGE).unwrap();
}

const FILES: [&str; 4] = ["d/f.txt", "l/f.txt", "f.txt", "g.txt"];

#[test]
fn nothing_from_outside_is_read() {
    for careful in [false, true] {
        let arena = Arena::new(careful);
        let inside = arena.call(hash::run, json!({ "text": "inside" })).unwrap().hex;
        arena.race(READING_ROUNDS, |round| {
            let path = FILES[round % FILES.len()];
            if let Ok(content) = arena.call(read::run, json!({ "path": path })) {
                assert_eq!(content.text, "inside");
            }
            let lines = arena.call(read::run, json!({ "path": path, "containing": "OUTSIDE" }));
            assert_eq!(lines.map_or(0, |content| content.matches.len()), 0);
            if let Ok(content) = arena.call(read::run, json!({ "path": path, "last": 1 })) {
                assert_eq!(content.shown[0].text, "inside");
            }
            if let Ok(record) = arena.call(hash::run, json!({ "path": path })) {
                assert_eq!(record.hex, inside);
            }
        });
    }
}

#[test]
fn nothing_from_outside_is_found() {
    for careful in [false, true] {
        let arena = Arena::new(careful);
        arena.race(FINDING_ROUNDS, |round| {
            let found = match round % 5 {
                0 => arena.call(find::run, json!({ "contains": "SIDE" })),
                1 => arena.call(find::run, json!({ "under": "d" })),
                2 => arena
                    .call(find::run, json!({ "under": [".", "d"], "measure": ["lines"], "lacks": "inside" })),
                3 => arena.call(find::run, json!({ "under": "l", "direct": true, "order": "oldest" })),
                _ => arena.call(glob::run, json!({ "pattern": "**/*.txt" })),
            };
            for file in found.map_or_else(|_| Vec::new(), |found| found.files) {
                // A file outside has seven bytes.
                assert_eq!((file.bytes, file.matches), (6, Vec::new()), "{}", file.path);
                assert!(!file.path.contains("only-outside"), "{}", file.path);
            }
        });
    }
}

#[test]
fn nothing_outside_is_written_or_deleted() {
    for careful in [false, true] {
        let arena = Arena::new(careful);
        let mut done = [0; 4];
        arena.race(WRITING_ROUNDS, |round| {
            let path = FILES[round % FILES.len()];
            let folder = ["d", "l"][round % 2];
            let (victim, new) = (format!("{folder}/victim.txt"), format!("{folder}/new/{round}.txt"));
            let results = [
                arena
                    .change(write::run, json!({ "path": path, "content": "inside", "replace": true }))
                    .map(drop),
                arena.change(edit::run, json!({ "path": path, "old": "side", "new": "SIDE" })).map(drop),
                arena.change(delete::run, json!({ "path": victim })).map(drop),
                arena.change(write::run, json!({ "path": new, "content": "inside" })).map(drop),
            ];
            for (count, result) in done.iter_mut().zip(results) {
                *count += usize::from(result.is_ok());
            }
            let again = arena.change(write::run, json!({ "path": victim, "content": "inside" }));
            done[3] += usize::from(again.is_ok());
        });
        assert!(done.iter().any(|&count| count > 0), "{done:?}");
    }
}

#[test]
fn nothing_outside_is_copied_moved_or_deleted_with_others() {
    for careful in [false, true] {
        let arena = Arena::new(careful);
        let mut done = [0; 4];
        arena.race(WRITING_ROUNDS / 2, |round| {
            let folder = ["d", "l"][round % 2];
            let pair = |from: &str, to: &str| json!([{ "from": from, "to": to }]);
            let (copy, victim) = (format!("copies/{round}"), format!("{folder}/victim.txt"));
            let (into, moved) = (format!("{folder}/new/{round}.txt"), format!("{folder}/moved.txt"));
            let results = [
                arena
                    .change(copy_files::run, json!({ "copies": pair(FILES[round % FILES.len()], &copy) }))
                    .map(drop),
                arena.change(copy_files::run, json!({ "copies": pair("keep.txt", &into) })).map(drop),
                arena.change(move_files::run, json!({ "moves": pair(&victim, &moved) })).map(drop),
                arena.change(delete_files::run, json!({ "paths": [into, moved] })).map(drop),
            ];
            if results[0].is_ok() {
                assert_eq!(arena.tree.content(&format!("work/{copy}")), b"inside");
            }
            for (count, result) in done.iter_mut().zip(results) {
                *count += usize::from(result.is_ok());
            }
            drop(arena.change(write::run, json!({ "path": victim, "content": "inside" })));
        });
        assert!(done.iter().any(|&count| count > 0), "{done:?}");
    }
}

#[test]
fn nothing_outside_is_put_back_or_taken_away() {
    let file = Standing::File(standing::of_content(b"inside", 0o600));
    for careful in [false, true] {
        let arena = Arena::new(careful);
        let mut done = 0;
        arena.race(WRITING_ROUNDS, |round| {
            let folder = ["d", "l"][round % 2];
            // Names that are there outside, and folders that are not.
            let path = [format!("{folder}/only-outside.txt"), format!("{folder}/back/{round}.txt")];
            for path in path {
                let folders =
                    if path.contains("/back/") { vec![format!("{folder}/back")] } else { Vec::new() };
                let (from, modes) = (Standing::Nothing, std::collections::BTreeMap::new());
                let there = put_back::Args {
                    path,
                    from,
                    to: file.clone(),
                    folders,
                    modes,
                    with: None,
                    moved_from: None,
                };
                let gone = put_back::Args { from: file.clone(), to: Standing::Nothing, ..there.clone() };
                for (args, content) in [(there, Some(&b"inside"[..])), (gone, None)] {
                    let (expected, stop) = (Expected::default(), Stop::default());
                    done +=
                        usize::from(put_back::run(&arena.workspace, &args, content, expected, &stop).is_ok());
                }
            }
        });
        assert!(done > 0);
    }
}
