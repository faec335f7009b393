use super::{AllDeleted, Args, look, run};
use crate::delete::{Deleted, What};
use crate::expected::Expected;
use crate::staged::changed_meanwhile;
use crate::testing::{CHANGED, Tree, time};
use domain::call::Failure;
use domain::change::Standing;
use domain::limits::UNDO_BYTES;
use domain::{Digest, Stop};
use std::fs;
use std::os::unix::fs::symlink;

fn args(paths: &[&str]) -> Args {
    Args { paths: paths.iter().map(ToString::to_string).collect() }
}

/// Looks, lets somebody be at it, and does what was looked at.
fn delete(tree: &Tree, paths: &[&str], meanwhile: impl FnOnce()) -> Result<AllDeleted, Failure> {
    let stop = Stop::default();
    let looked = look(tree.workspace(), &args(paths), &stop)?.changes();
    meanwhile();
    run(tree.workspace(), &args(paths), Expected::new(Some(&looked)), &stop)
}

#[test]
fn all_of_them_go_and_links_without_what_they_lead_to() {
    let tree = Tree::new(&[("a.tmp", "one"), ("sub/b.tmp", "two"), ("keep", "x")]);
    symlink("keep", tree.path("link")).unwrap();
    let deleted = delete(&tree, &["./a.tmp", "sub/b.tmp", "link"], || {}).unwrap();
    let file = |path: &str, text: &str| Deleted {
        path: path.into(),
        what: What::File,
        bytes: 3,
        digest: Some(Digest::of(text.as_bytes())),
    };
    let link = Deleted { path: "link".into(), what: What::Link, bytes: 4, digest: None };
    let expected = vec![file("a.tmp", "one"), file("sub/b.tmp", "two"), link];
    assert_eq!(deleted, AllDeleted { deleted: expected, count: 3 });
    assert_eq!((tree.names("."), tree.names("sub")), (vec!["keep".into(), "sub".into()], vec![]));
}

/// One thing that is wrong, and nothing is changed.
#[test]
fn everything_is_checked_before_the_first_one_goes() {
    let tree = Tree::new(&[("a", "1"), ("d/b", "2"), (".git/config", "")]);
    let logical = |message: &str| Failure::logical(message);
    let table = [
        (vec![], logical("it names no file")),
        (vec!["a"; 1_001], logical("it names 1001 files; at most 1000 at once")),
        (vec!["a", "./a"], logical("`a` is named twice")),
        (vec!["a", "none"], Failure::environmental("`none` does not exist in the workspace")),
        (
            vec!["a", "d"],
            logical("`d` is a folder; delete the files in it one by one; the folder itself stays"),
        ),
        (vec!["a", "../x"], logical("`../x` leads out of the workspace")),
        (
            vec!["a", ".git/config"],
            logical("`.git/config` belongs to git; tools do not change what is in there"),
        ),
    ];
    for (paths, wrong) in table {
        assert_eq!(delete(&tree, &paths, || {}), Err(wrong));
        assert!(tree.path("a").exists() && tree.path("d/b").exists());
    }
}

#[test]
fn if_one_is_not_as_it_was_looked_at_nothing_is_done() {
    let tree = Tree::new(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let changed = delete(&tree, &["a", "b", "c"], || tree.write("c", "theirs"));
    assert_eq!(changed, Err(changed_meanwhile("c")));
    assert_eq!(tree.names("."), ["a", "b", "c"]);
    let (stop, others) = (Stop::default(), args(&["a", "c"]));
    let looked = look(tree.workspace(), &args(&["a", "b"]), &stop).unwrap().changes();
    assert_eq!(
        run(tree.workspace(), &others, Expected::new(Some(&looked)), &stop),
        Err(changed_meanwhile("c"))
    );
    let fewer = run(tree.workspace(), &args(&["a"]), Expected::new(Some(&looked)), &stop);
    assert_eq!(fewer, Err(changed_meanwhile("b")));
    assert_eq!(tree.names("."), ["a", "b", "c"]);
}

#[test]
fn after_a_stop_nothing_is_deleted() {
    let tree = Tree::new(&[("a", "1"), ("b", "2")]);
    let stop = Stop::default();
    stop.now();
    let stopped = run(tree.workspace(), &args(&["a", "b"]), Expected::default(), &stop);
    assert_eq!(stopped, Err(Failure::interrupted("stopped")));
    assert_eq!(tree.names("."), ["a", "b"]);
}

/// The disk refuses the second one.
#[cfg(target_os = "linux")]
#[test]
fn a_failure_halfway_says_what_was_done() {
    use crate::testing::{SOMEBODY, as_user};
    use std::os::unix::fs::{PermissionsExt, chown};
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let tree = Tree::new(&[("a", "1"), ("closed/b", "2"), ("c", "3")]);
    for path in [".", "a", "c", "closed", "closed/b"] {
        chown(tree.path(path), Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    }
    fs::set_permissions(tree.path("closed"), PermissionsExt::from_mode(0o500)).unwrap();
    as_user(SOMEBODY, || {
        let why = "`closed/b` cannot be deleted: permission denied";
        let halfway =
            Failure::environmental(format!("1 of 3 was deleted, `a`, and the others were not: {why}"));
        assert_eq!(delete(&tree, &["a", "closed/b", "c"], || {}), Err(halfway));
    });
    assert_eq!(tree.names("."), ["c", "closed"]);
}

/// They have one inode: when the first name goes, the kernel says something new about the second.
#[test]
fn two_names_of_one_file_both_go() {
    let tree = Tree::new(&[("a", "1")]);
    fs::hard_link(tree.path("a"), tree.path("b")).unwrap();
    assert_eq!(delete(&tree, &["a", "b"], || {}).map(|all| all.count), Ok(2));
    assert_eq!(tree.names("."), [""; 0]);
}

#[test]
fn what_is_kept_has_one_limit_for_all_of_them() {
    let half = vec![b'x'; UNDO_BYTES / 2];
    let tree = Tree::new(&[("a", half.clone()), ("b", half.clone()), ("c", half), ("d", b"".to_vec())]);
    let looked = look(tree.workspace(), &args(&["a", "b", "c", "d"]), &Stop::default()).unwrap();
    let kept: Vec<_> = looked.names.iter().map(|sight| sight.can_be_undone()).collect();
    assert_eq!((kept, looked.can_be_undone()), (vec![true, true, false, true], false));
    let named: Vec<_> =
        looked.names.iter().map(|sight| (sight.change.path.as_str(), sight.modified)).collect();
    assert_eq!(named, ["a", "b", "c", "d"].map(|name| (name, Some(time(CHANGED)))));
    assert!(looked.changes().iter().all(|change| matches!(change.from, Standing::File(_))));
    assert_eq!(tree.names("."), ["a", "b", "c", "d"]);
}
