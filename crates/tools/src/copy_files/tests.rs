#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use super::{AllCopied, Args, look, run};
use crate::expected::Expected;
use crate::pairs::Pair;
use crate::staged::{changed_meanwhile, taken};
use crate::testing::Tree;
use domain::call::Failure;
use domain::limits::DELETED_DIGEST_BYTES;
use domain::{Digest, Stop};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

fn args(copies: &[(&str, &str)]) -> Args {
    Args { copies: copies.iter().map(|(from, to)| Pair { from: (*from).into(), to: (*to).into() }).collect() }
}

fn copy(tree: &Tree, copies: &[(&str, &str)], meanwhile: impl FnOnce()) -> Result<AllCopied, Failure> {
    let stop = Stop::default();
    let looked = look(tree.workspace(), &args(copies), &stop)?.changes();
    meanwhile();
    run(tree.workspace(), &args(copies), Expected::new(Some(&looked)), &stop)
}

fn mode(tree: &Tree, path: &str) -> u32 {
    fs::metadata(tree.path(path)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn copies_have_the_bytes_and_rights_of_what_they_are_of() {
    let tree = Tree::new(&[("a.csv", "1;2"), ("sub/b.csv", "3;4"), ("there/x", "")]);
    for (path, mode) in [("a.csv", 0o640), ("sub/b.csv", 0o4755)] {
        fs::set_permissions(tree.path(path), Permissions::from_mode(mode)).unwrap();
    }
    let table = [
        ("a.csv", "backup/", "backup/a.csv"),
        ("sub/b.csv", "backup/", "backup/b.csv"),
        ("./a.csv", "there", "there/a.csv"),
        ("sub/b.csv", ".", "b.csv"),
        ("a.csv", "deep/er/name", "deep/er/name"),
    ];
    let pairs: Vec<_> = table.iter().map(|(from, to, _)| (*from, *to)).collect();
    let made = copy(&tree, &pairs, || {}).unwrap();
    assert_eq!(made.count, 5);
    for ((from, _, to), made) in table.iter().zip(&made.made) {
        assert_eq!(
            (tree.content(to), mode(&tree, to)),
            (tree.content(from), mode(&tree, from) & 0o777),
            "{to}"
        );
        let digest = Digest::of(&tree.content(from));
        let expected = (from.trim_start_matches("./"), *to, 3, digest);
        assert_eq!((made.from.as_str(), made.to.as_str(), made.bytes, made.digest), expected);
    }
    assert_eq!(tree.names("backup"), ["a.csv", "b.csv"]);
}

#[test]
fn everything_is_checked_before_the_first_one_is_made() {
    let tree = Tree::new(&[("a", "1"), ("b", "2"), ("d/x", ""), (".git/config", "")]);
    symlink("a", tree.path("link")).unwrap();
    symlink("d", tree.path("way")).unwrap();
    let large = File::create(tree.path("large")).unwrap();
    large.set_len(DELETED_DIGEST_BYTES + 1).unwrap();
    let logical = |message: &str| Failure::logical(message);
    let table = [
        (vec![], logical("it names no file")),
        (vec![("a", "n"), ("none", "m")], Failure::environmental("`none` does not exist in the workspace")),
        (vec![("a", "n"), ("d", "m")], logical("`d` is a folder, not a file")),
        (vec![("a", "n"), ("link", "m")], logical("`link` is a link; name the file that it leads to")),
        (vec![("a", "n"), ("a", "b")], taken("b")),
        (vec![("a", "n"), ("a", "a")], taken("a")),
        (vec![("a", "n"), ("b", "link")], taken("link")),
        (vec![("a", "n"), ("b", "n")], logical("`n` is named twice")),
        (vec![("a", "n/"), ("b", "n/a")], logical("`n/a` is named twice")),
        (vec![("a", "n/m"), ("b", "n")], logical("`n` cannot be a file and a folder")),
        (vec![("a", "n"), ("b", "N")], logical("`N` and `n` differ only in case")),
        (vec![("a", "n/1"), ("b", "N/2")], logical("`N` and `n` differ only in case")),
        (vec![("a", "n"), ("b", "b/c")], logical("a file is on the way to `b/c`")),
        (
            vec![("a", "n"), ("b", "way/c")],
            logical("a link is on the way to `way/c`; name the place that it leads to"),
        ),
        (vec![("a", "n"), ("a", "../x")], logical("`../x` leads out of the workspace")),
        (
            vec![("a", "n"), ("a", ".git/x")],
            logical("`.git/x` belongs to git; tools do not change what is in there"),
        ),
        (
            vec![("a", "n"), ("b", "d/.regent-backup")],
            logical("`d/.regent-backup` has a name that only backups of Regent use; choose another name"),
        ),
        (
            vec![("a", "n"), ("b", "d/Regent.db")],
            logical("`d/Regent.db` has a name that only backups of Regent use; choose another name"),
        ),
        (
            vec![("a", "n"), ("large", "m")],
            logical("`large` has more than 104857600 bytes, too many to copy"),
        ),
        (vec![("a", "n"), ("b", "")], logical("the path is empty; write `.` for the workspace itself")),
    ];
    let before = tree.names(".");
    for (pairs, wrong) in table {
        assert_eq!(copy(&tree, &pairs, || {}), Err(wrong), "{pairs:?}");
        assert_eq!(tree.names("."), before, "{pairs:?}");
    }
    let case = copy(&tree, &[("a", "n"), ("a", "B")], || {}).unwrap_err();
    assert!(case.message.starts_with("`B` differs only in case from `b`"), "{case:?}");
}

#[test]
fn a_copy_is_what_was_looked_at_or_nothing() {
    let tree = Tree::new(&[("a", "1"), ("b", "2")]);
    let pairs = [("a", "n/a"), ("b", "n/b")];
    let other = copy(&tree, &pairs, || tree.write("b", "theirs"));
    assert_eq!(other, Err(changed_meanwhile("b")));
    let appeared = copy(&tree, &pairs, || tree.write("n/b", "theirs"));
    assert_eq!(appeared, Err(taken("n/b")));
    assert_eq!(tree.names("n"), ["b"]);
    let rights = copy(&tree, &[("a", "c")], || {
        fs::set_permissions(tree.path("a"), Permissions::from_mode(0o600)).unwrap();
    });
    assert_eq!(rights, Err(changed_meanwhile("c")));
    assert_eq!(tree.names("."), ["a", "b", "n"]);
}

#[test]
fn after_a_stop_nothing_is_made() {
    let tree = Tree::new(&[("a", "1")]);
    let stop = Stop::default();
    stop.now();
    let stopped = run(tree.workspace(), &args(&[("a", "b")]), Expected::default(), &stop);
    assert_eq!(stopped, Err(Failure::interrupted("stopped")));
    assert_eq!(tree.names("."), ["a"]);
}

/// More than fits into memory at once, and to the last byte.
#[test]
fn large_files_are_copied_in_parts() {
    let text: Vec<u8> = (0..1_000_003_u32).flat_map(u32::to_le_bytes).collect();
    let tree = Tree::new(&[("large", &text)]);
    copy(&tree, &[("large", "copy")], || {}).unwrap();
    assert!(tree.content("copy") == text);
}
