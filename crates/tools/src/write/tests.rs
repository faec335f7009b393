use super::{Args, Written, run};
use crate::confined::Kind;
use crate::diff::Diff;
use crate::expected::Expected;
use crate::testing::Tree;
#[cfg(target_os = "linux")]
use crate::testing::{SOMEBODY, as_user, list_for};
use crate::workspace::Workspace;
use domain::call::Failure;
use domain::limits::WRITE_BYTES;
use domain::{Digest, Stop};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{from_value, json, to_value};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::sync::Barrier;

fn write(workspace: &Workspace, path: &str, content: &str, replace: bool) -> Result<Written, Failure> {
    let args = Args { path: path.into(), content: content.into(), replace };
    run(workspace, &args, Expected::default(), &Stop::default())
}

#[test]
fn the_record_as_a_model_sees_it() {
    let tree = Tree::new(&[("old.txt", "a\nb\n")]);
    let record = write(tree.workspace(), "./new/deep/a.txt", "one\ntwo", false).unwrap();
    let expected = json!({
        "path": "new/deep/a.txt",
        "bytes": 7,
        "digest": Digest::of(b"one\ntwo").to_string(),
        "created": true,
        "diff": "",
        "diff_whole": true,
        "lines_added": 2,
        "lines_removed": 0,
    });
    assert_eq!(to_value(&record).unwrap(), expected);
    assert_eq!(tree.content("new/deep/a.txt"), b"one\ntwo");

    let record = write(tree.workspace(), "old.txt", "a\nc\n", true).unwrap();
    let expected = Written {
        path: "old.txt".into(),
        bytes: 4,
        digest: Digest::of(b"a\nc\n"),
        created: false,
        diff: Diff::between("old.txt", b"a\nb\n", b"a\nc\n"),
    };
    assert_eq!(record, expected);
    assert_eq!(
        (tree.content("old.txt"), tree.names(".")),
        (b"a\nc\n".to_vec(), vec!["new".into(), "old.txt".into()])
    );
    assert!(from_value::<Args>(json!({ "path": "a", "content": "", "mode": 7 })).is_err());
}

#[test]
fn names_and_what_writing_to_them_says() {
    let (longest, too_long) = ("n".repeat(255), "n".repeat(256));
    let long_message =
        format!("`{}…` is too long: a name may have 255 bytes and a path 4095", "n".repeat(40));
    let deep = "d/".repeat(2_100) + "f";
    let deep_message =
        format!("`{}…` is too long: a name may have 255 bytes and a path 4095", "d/".repeat(20));
    let table: Vec<(&str, Option<&str>)> = vec![
        ("new", None),
        (&longest, None),
        ("trailing. ", None),
        ("dir/new", None),
        ("-rf $(x) `y`", None),
        (&too_long, Some(&long_message)),
        (&deep, Some(&deep_message)),
        ("", Some("the path is empty; write `.` for the workspace itself")),
        (".", Some("`.` is a folder, not a file")),
        ("..", Some("`..` leads out of the workspace")),
        ("a/../b", Some("`a/../b` contains `..`; write the path without it")),
        ("/etc/x", Some("`/etc/x` is absolute; write it relative to the workspace")),
        ("a\nb", Some("`a\\nb` contains a control character")),
        ("a\u{1b}b", Some("`a\\u{1b}b` contains a control character")),
        ("link/new", Some("a link is on the way to `link/new`; name the place that it leads to")),
        ("out/new", Some("a link is on the way to `out/new`; name the place that it leads to")),
        ("file/new", Some("a file is on the way to `file/new`")),
        ("inside", Some("`inside` is a link; name the file that it leads to")),
        ("passwd", Some("`passwd` is a link; name the file that it leads to")),
        ("dangling", Some("`dangling` is a link; name the file that it leads to")),
        ("loop", Some("`loop` is a link; name the file that it leads to")),
        ("dir", Some("`dir` is a folder, not a file")),
        ("fifo", Some("`fifo` is not a regular file")),
        ("socket", Some("`socket` is not a regular file")),
        (
            "FILE",
            Some(
                "`FILE` differs only in case from `file`, which exists; on a disk that does not tell them apart one would replace the other",
            ),
        ),
        (
            "Dir/x",
            Some(
                "`Dir/x` differs only in case from `dir`, which exists; on a disk that does not tell them apart one would replace the other",
            ),
        ),
    ];
    for careful in [false, true] {
        let tree = Tree::new(&[("file", "x"), ("dir/a", "x")]);
        let workspace = tree.workspace().clone();
        let workspace = if careful { workspace.without_openat2() } else { workspace };
        symlink("dir", tree.path("link")).unwrap();
        symlink("/etc", tree.path("out")).unwrap();
        symlink("file", tree.path("inside")).unwrap();
        symlink("/etc/passwd", tree.path("passwd")).unwrap();
        symlink("nowhere", tree.path("dangling")).unwrap();
        symlink("loop", tree.path("loop")).unwrap();
        mkfifo(&tree.path("fifo"), Mode::S_IRWXU).unwrap();
        #[expect(clippy::disallowed_methods, reason = "something that is no file")]
        let _socket = UnixListener::bind(tree.path("socket")).unwrap();
        for (path, refused) in &table {
            let expected = refused.map_or(Ok(true), |message| Err(Failure::logical(message)));
            let result = write(&workspace, path, "new", true).map(|written| written.created);
            assert_eq!(result, expected, "{path:?}");
        }
        assert_eq!((tree.content("file"), tree.content("dir/a")), (b"x".to_vec(), b"x".to_vec()));
    }
}

#[test]
fn a_file_that_exists_is_left_alone_unless_it_may_be_replaced() {
    let tree = Tree::new(&[("a", "old")]);
    let message = "`a` exists already; say `replace` to write it anew, or use `edit_file`";
    assert_eq!(write(tree.workspace(), "a", "new", false), Err(Failure::logical(message)));
    let large = "x".repeat(WRITE_BYTES + 1);
    let message = "the text has 10485761 bytes; at most 10485760 are written at once";
    assert_eq!(write(tree.workspace(), "a", &large, true), Err(Failure::logical(message)));
    assert_eq!(tree.content("a"), b"old");
}

#[test]
fn the_rights_of_the_old_file_are_kept() {
    for mode in [0o600, 0o640, 0o755] {
        let tree = Tree::new(&[("a", "old")]);
        let path = tree.path("a");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        write(tree.workspace(), "a", "new", true).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn who_cannot_keep_the_group_gives_it_no_rights() {
    use std::os::unix::fs::{MetadataExt, chown};
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    // Owner and group of the old file, its mode, and what the new one has.
    let table = [
        ((SOMEBODY, SOMEBODY), 0o664, (SOMEBODY, SOMEBODY), 0o664),
        ((SOMEBODY, 4_711), 0o664, (SOMEBODY, SOMEBODY), 0o604),
        ((4_711, SOMEBODY), 0o666, (SOMEBODY, SOMEBODY), 0o666),
        ((4_711, 4_711), 0o666, (SOMEBODY, SOMEBODY), 0o606),
    ];
    for (owner, mode, expected, new_mode) in table {
        let tree = Tree::new(&[("f", "old")]);
        let path = tree.path("f");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        chown(&path, Some(owner.0), Some(owner.1)).unwrap();
        chown(tree.path("."), Some(SOMEBODY), Some(SOMEBODY)).unwrap();
        as_user(SOMEBODY, || {
            write(tree.workspace(), "f", "new", true).unwrap();
            let found = path.metadata().unwrap();
            assert_eq!((found.uid(), found.gid()), expected, "{owner:?}");
            assert_eq!(found.mode() & 0o777, new_mode, "{owner:?}");
        });
    }
}

/// In the folder the new file gets another group, which can be given back although the owner cannot.
#[cfg(target_os = "linux")]
#[test]
fn the_group_is_kept_even_where_the_owner_cannot_be() {
    use std::os::unix::fs::{MetadataExt, chown};
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let tree = Tree::new(&[("f", "old")]);
    let path = tree.path("f");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    chown(&path, Some(4_711), Some(SOMEBODY)).unwrap();
    chown(tree.path("."), Some(SOMEBODY), Some(4_712)).unwrap();
    std::fs::set_permissions(tree.path("."), PermissionsExt::from_mode(0o2777)).unwrap();
    as_user(SOMEBODY, || {
        write(tree.workspace(), "f", "new", true).unwrap();
        let found = path.metadata().unwrap();
        assert_eq!((found.uid(), found.gid(), found.mode() & 0o777), (SOMEBODY, SOMEBODY, 0o666));
    });
}

/// Only where the disk has access control lists.
#[cfg(target_os = "linux")]
#[test]
fn what_a_list_allowed_is_not_allowed_to_the_group() {
    use rustix::fs::{XattrFlags, setxattr};
    for (name, of) in [("system.posix_acl_access", "f"), ("system.posix_acl_default", ".")] {
        let tree = Tree::new(&[("f", "old")]);
        std::fs::set_permissions(tree.path("f"), PermissionsExt::from_mode(0o660)).unwrap();
        if setxattr(tree.path(of), name, &list_for(4_711), XattrFlags::empty()).is_err() {
            return;
        }
        let mode = || tree.path("f").metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o660);
        write(tree.workspace(), "f", "new", true).unwrap();
        assert_eq!(mode(), 0o600, "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_may_not_be_written_is_neither_replaced_nor_edited() {
    use std::os::unix::fs::chown;
    let root = nix::unistd::geteuid().is_root();
    let refused =
        Failure::environmental("`f` is protected from being written; its owner has to allow it first");
    for (owner, mode, allowed) in
        [(SOMEBODY, 0o444, false), (SOMEBODY, 0o644, true), (4_711, 0o644, false), (4_711, 0o646, true)]
    {
        let tree = Tree::new(&[("f", "old")]);
        let path = tree.path("f");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let check = || {
            let args = from_value(json!({ "path": "f", "old": "old", "new": "new" })).unwrap();
            let edited =
                crate::edit::run(tree.workspace(), &args, Expected::default(), &Stop::default()).map(drop);
            let written = write(tree.workspace(), "f", "newer", true).map(drop);
            let expected = if allowed { Ok(()) } else { Err(refused.clone()) };
            assert_eq!([edited, written], [expected.clone(), expected], "{owner} {mode:o}");
            assert_eq!(tree.content("f"), if allowed { &b"newer"[..] } else { b"old" });
            assert_eq!(tree.names("."), ["f"]);
        };
        if root {
            chown(&path, Some(owner), None).unwrap();
            chown(tree.path("."), Some(SOMEBODY), Some(SOMEBODY)).unwrap();
            as_user(SOMEBODY, check);
        } else if owner == SOMEBODY {
            check();
        }
    }
}

#[test]
fn a_stop_is_heard_before_anything_is_written() {
    let tree = Tree::new(&[("f", "old")]);
    let stop = Stop::default();
    stop.now();
    for (path, replace) in [("f", true), ("new", false)] {
        let args = Args { path: path.into(), content: "new".into(), replace };
        assert_eq!(
            run(tree.workspace(), &args, Expected::default(), &stop),
            Err(Failure::interrupted("stopped"))
        );
    }
    assert_eq!((tree.names("."), tree.content("f")), (vec!["f".into()], b"old".to_vec()));
}

#[test]
fn one_of_many_who_create_the_same_file_wins() {
    const WRITERS: usize = 8;
    for round in 0..50 {
        let tree = Tree::new::<&str>(&[]);
        let start = Barrier::new(WRITERS);
        let won: Vec<_> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let (tree, start) = (&tree, &start);
                    scope.spawn(move || {
                        start.wait();
                        let content = format!("{}", writer % 2); // some write the very same
                        write(tree.workspace(), "d/f", &content, false).map(|_| content)
                    })
                })
                .collect();
            writers.into_iter().filter_map(|writer| writer.join().unwrap().ok()).collect()
        });
        assert_eq!(won.len(), 1, "round {round}");
        assert_eq!(tree.content("d/f"), won[0].as_bytes());
        assert_eq!(tree.names("d"), ["f"]);
    }
}

#[test]
fn the_house_itself_is_closed_to_tools() {
    let tree = Tree::new(&[("house/data", "secret"), ("a", "x"), ("sub/house/b", "y")]);
    let all = tree.workspace().clone();
    let workspace = all.clone().without(&[tree.path("house"), tree.path("not-there")]);
    let closed = |path: &str| Failure::logical(format!("`{path}` is closed to tools"));
    assert_eq!(write(&workspace, "house/x", "x", false), Err(closed("house/x")));
    assert_eq!(write(&workspace, "house/data", "x", true), Err(closed("house/data")));
    assert_eq!(write(&workspace, "house/new/x", "x", true), Err(closed("house/new/x")));
    assert_eq!(workspace.file("house/data").unwrap_err(), closed("house/data"));
    assert_eq!(workspace.place("house/data").unwrap_err(), closed("house/data"));
    assert_eq!(workspace.look_up("house").unwrap_err(), closed("house"));
    symlink("house", tree.path("link")).unwrap();
    assert_eq!(workspace.file("link/data").unwrap_err(), closed("link/data"));
    assert_eq!(workspace.look_up("sub/house").unwrap(), Some(("sub/house".into(), Kind::Folder)));
    assert!(write(&workspace, "sub/house/x", "x", false).is_ok());
    let found = crate::find::run(&workspace, &crate::find::Args::default(), &Stop::default()).unwrap();
    let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((paths, found.complete), (vec!["a", "sub/house/b", "sub/house/x"], true));
    assert_eq!(tree.names("house"), ["data"]);

    let inside_of_it = Workspace::new(tree.path("sub/house")).unwrap().without(&[tree.path("sub")]);
    assert_eq!(inside_of_it.file("b").unwrap_err(), closed("b"));
}

#[test]
fn what_a_killed_write_left_is_never_listed() {
    let tree = Tree::new(&[("d/a", "x"), ("d/.regent-0011223344556677-8899-0.tmp", "half")]);
    let found = crate::glob::run(
        tree.workspace(),
        &from_value(json!({ "pattern": "**/*" })).unwrap(),
        &Stop::default(),
    );
    let paths: Vec<_> = found.unwrap().files.into_iter().map(|file| file.path).collect();
    assert_eq!(paths, ["d/a"]);
}

/// Only where a small disk can be mounted: as root, with a kernel that lets us.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test mounts a disk")]
fn on_a_full_disk_the_old_file_stays_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mount = |program: &str, args: &[&str]| {
        std::process::Command::new(program)
            .args(args)
            .arg(folder.path())
            .status()
            .is_ok_and(|done| done.success())
    };
    if !mount("mount", &["-t", "tmpfs", "-o", "size=64k", "tmpfs"]) {
        return;
    }
    let workspace = Workspace::new(folder.path().into()).unwrap();
    let old = "o".repeat(30_000);
    let results = [
        write(&workspace, "f", &old, false).map(drop),
        write(&workspace, "f", &"n".repeat(60_000), true).map(drop),
        write(&workspace, "g", &"n".repeat(60_000), false).map(drop),
    ];
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let content = std::fs::read_to_string(folder.path().join("f"));
    drop(workspace);
    assert!(mount("umount", &[]));
    let full =
        |path: &str| Err(Failure::environmental(format!("`{path}` cannot be written: no storage space")));
    assert_eq!(results, [Ok(()), full("f"), full("g")]);
    assert_eq!((names, content.unwrap()), (vec!["f".into()], old));
}
