#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use super::{AllMoved, Args, look, run};
use crate::expected::Expected;
use crate::pairs::Pair;
use crate::staged::{changed_meanwhile, taken};
use crate::testing::Tree;
use domain::Stop;
use domain::call::Failure;
use domain::change::Standing;
use domain::limits::DELETED_DIGEST_BYTES;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;

fn args(moves: &[(&str, &str)]) -> Args {
    Args { moves: moves.iter().map(|(from, to)| Pair { from: (*from).into(), to: (*to).into() }).collect() }
}

fn move_all(tree: &Tree, moves: &[(&str, &str)], meanwhile: impl FnOnce()) -> Result<AllMoved, Failure> {
    let stop = Stop::default();
    let looked = look(tree.workspace(), &args(moves), &stop)?.changes();
    meanwhile();
    run(tree.workspace(), &args(moves), Expected::new(Some(&looked)), &stop)
}

#[test]
fn the_very_files_have_other_names() {
    let tree = Tree::new(&[("todo.txt", "1"), ("sub/b", "2"), ("Readme", "3"), ("there/x", "")]);
    let table = [
        ("todo.txt", "tasks.txt", "tasks.txt"),
        ("./sub/b", "there", "there/b"),
        ("Readme", "README", "README"),
    ];
    let inode = |path: &str| fs::metadata(tree.path(path)).unwrap().ino();
    let before = table.map(|(from, ..)| inode(from));
    let pairs = table.map(|(from, to, _)| (from, to));
    let moved = move_all(&tree, &pairs, || {}).unwrap();
    assert_eq!(table.map(|(.., to)| inode(to)), before);
    let names: Vec<_> = moved.moved.iter().map(|moved| (moved.from.as_str(), moved.to.as_str())).collect();
    assert_eq!(names, [("todo.txt", "tasks.txt"), ("sub/b", "there/b"), ("Readme", "README")]);
    assert_eq!(
        (tree.names("."), moved.count),
        (["README", "sub", "tasks.txt", "there"].map(String::from).into(), 3)
    );
}

/// Two names of each file: the new one, which says where it comes from, and the old one.
#[test]
fn what_is_looked_at_is_both_names() {
    let tree = Tree::new(&[("a", "1")]);
    let looked = look(tree.workspace(), &args(&[("a", "new/")]), &Stop::default()).unwrap();
    let [made, gone] = looked.names.as_slice() else { panic!("{looked:?}") };
    let there = tree.workspace().standing("a").unwrap();
    assert_eq!((made.change.path.as_str(), gone.change.path.as_str()), ("new/a", "a"));
    assert_eq!((&made.change.from, &made.change.to), (&Standing::Nothing, &there));
    assert_eq!((&gone.change.from, &gone.change.to), (&there, &Standing::Nothing));
    assert_eq!(
        (made.change.moved_from.as_deref(), made.change.folders.as_slice()),
        (Some("a"), &["new".into()][..])
    );
    assert_eq!((made.content.as_deref(), gone.content.as_deref()), (None, Some(&b"1"[..])));
    assert_eq!(tree.names("."), ["a"]);
}

#[test]
fn everything_is_checked_before_the_first_one_is_moved() {
    let tree = Tree::new(&[("a", "1"), ("b", "2"), (".git/config", "")]);
    let logical = |message: &str| Failure::logical(message);
    let table = [
        (vec![("a", "n"), ("a", "m")], logical("`a` is named twice")),
        (vec![("a", "n"), ("b", "n")], logical("`n` is named twice")),
        (vec![("a", "b"), ("b", "c")], taken("b")),
        (vec![("a", "n"), ("b", "b/")], logical("a file is on the way to `b/b`")),
        (vec![("a", "n"), ("b", "a/b")], logical("a file is on the way to `a/b`")),
        (vec![("a", "n"), ("none", "m")], Failure::environmental("`none` does not exist in the workspace")),
        (
            vec![("a", "n"), (".git/config", "m")],
            logical("`.git/config` belongs to git; tools do not change what is in there"),
        ),
        (
            vec![("a", "n"), ("b", "d/.regent-backup")],
            logical("`d/.regent-backup` has a name that only backups of Regent use; choose another name"),
        ),
        (
            vec![("a", "n"), ("b", "d/Regent.db")],
            logical("`d/Regent.db` has a name that only backups of Regent use; choose another name"),
        ),
    ];
    for (pairs, wrong) in table {
        assert_eq!(move_all(&tree, &pairs, || {}), Err(wrong), "{pairs:?}");
        assert_eq!(tree.names("."), [".git", "a", "b"], "{pairs:?}");
    }
}

#[test]
fn what_was_looked_at_is_moved_or_nothing() {
    let tree = Tree::new(&[("a", "1"), ("b", "2")]);
    let pairs = [("a", "n/a"), ("b", "n/b")];
    assert_eq!(move_all(&tree, &pairs, || tree.write("b", "theirs")), Err(changed_meanwhile("b")));
    assert_eq!(move_all(&tree, &pairs, || tree.write("n/b", "theirs")), Err(taken("n/b")));
    assert_eq!(
        (tree.names("."), tree.names("n")),
        (["a", "b", "n"].map(String::from).into(), vec!["b".into()])
    );
    let stop = Stop::default();
    stop.now();
    assert_eq!(
        run(tree.workspace(), &args(&[("a", "c")]), Expected::default(), &stop),
        Err(Failure::interrupted("stopped"))
    );
    assert_eq!(tree.names("."), ["a", "b", "n"]);
}

/// It is told from another by what the kernel says, and it is said before that it cannot be taken back.
#[test]
fn a_very_large_file_is_moved_and_not_kept() {
    let tree = Tree::new(&[("a", "1")]);
    File::create(tree.path("large")).unwrap().set_len(DELETED_DIGEST_BYTES + 1).unwrap();
    let looked = look(tree.workspace(), &args(&[("large", "huge")]), &Stop::default()).unwrap();
    assert!(!looked.can_be_undone());
    let moved = move_all(&tree, &[("large", "huge")], || {}).unwrap();
    assert_eq!(moved.moved[0].digest, None);
    assert_eq!(tree.names("."), ["a", "huge"]);
}
