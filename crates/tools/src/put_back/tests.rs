#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use super::{Args, Done, Now, look, run};
use crate::expected::Expected;
use crate::staged::changed_meanwhile;
use crate::testing::{CHANGED, Tree, time};
use crate::{delete, edit, write};
use broker::{Difference, Looked, Sight};
use domain::call::Failure;
use domain::change::{Change, Changes, Content, Standing};
use domain::limits::{DELETED_DIGEST_BYTES, UNDO_BYTES};
use domain::{Digest, Stop, Time};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

/// A call of one of the tools that change something.
#[derive(Clone, Copy, Debug)]
enum Tool {
    Write(&'static str),
    Edit(&'static str, &'static str),
    Delete,
}

impl Tool {
    fn look(self, tree: &Tree, path: &str) -> Result<One, Failure> {
        let (workspace, stop) = (tree.workspace(), &Stop::default());
        let looked = match self {
            Self::Write(content) => write::look(workspace, &write_args(path, content), stop),
            Self::Edit(old, new) => edit::look(workspace, &edit_args(path, old, new), stop),
            Self::Delete => delete::look(workspace, &delete::Args { path: path.into() }, stop),
        };
        looked.map(one)
    }

    fn run(self, tree: &Tree, path: &str, looked: &Change) -> Result<(), Failure> {
        let changes = Changes::from(looked.clone());
        let (workspace, stop, expected) = (tree.workspace(), &Stop::default(), Expected::new(Some(&changes)));
        match self {
            Self::Write(content) => {
                write::run(workspace, &write_args(path, content), expected, stop).map(drop)
            }
            Self::Edit(old, new) => {
                edit::run(workspace, &edit_args(path, old, new), expected, stop).map(drop)
            }
            Self::Delete => {
                delete::run(workspace, &delete::Args { path: path.into() }, expected, stop).map(drop)
            }
        }
    }

    /// Looks, does it, and says what was looked at.
    fn done(self, tree: &Tree, path: &str) -> One {
        let looked = self.look(tree, path).unwrap();
        self.run(tree, path, &looked.change).unwrap();
        looked
    }
}

const EVERY: [Tool; 3] = [Tool::Write("new"), Tool::Edit("old", "new"), Tool::Delete];

fn write_args(path: &str, content: &str) -> write::Args {
    write::Args { path: path.into(), content: content.into(), replace: true }
}

fn edit_args(path: &str, old: &str, new: &str) -> edit::Args {
    edit::Args { path: path.into(), old: old.into(), new: new.into(), all: false }
}

/// What these tools look at is one name.
#[derive(Debug)]
struct One {
    change: Change,
    content: Option<Vec<u8>>,
    modified: Option<Time>,
    diff: Option<Difference>,
}

impl One {
    fn can_be_undone(&self) -> bool {
        let (change, content, modified) = (self.change.clone(), self.content.clone(), self.modified);
        Sight { change, content, modified }.can_be_undone()
    }
}

fn one(looked: Looked) -> One {
    let Ok([Sight { change, content, modified }]) = <[Sight; 1]>::try_from(looked.names) else {
        panic!("it is one name")
    };
    One { change, content, modified, diff: looked.diff }
}

/// What takes back what was looked at.
fn undoing(looked: &One) -> Args {
    let Change { path, from, to, folders, modes, .. } = looked.change.clone();
    Args { path, from: to, to: from, folders, modes, with: None, moved_from: None }
}

fn put(tree: &Tree, args: &Args, content: Option<&[u8]>) -> Result<Done, Failure> {
    let looked = look(tree.workspace(), args, content, &Stop::default());
    let expected = looked.as_ref().ok().map(Looked::changes);
    let done = run(tree.workspace(), args, content, Expected::new(expected.as_ref()), &Stop::default());
    assert_eq!(looked.err(), done.clone().err(), "looking fails where the call does");
    done
}

fn undo(tree: &Tree, looked: &One) -> Result<Done, Failure> {
    put(tree, &undoing(looked), looked.content.as_deref())
}

fn file(content: &[u8], mode: u32) -> Standing {
    let (digest, bytes) = (Digest::of(content), content.len() as u64);
    Standing::File(Content::new(digest, bytes, mode))
}

/// One that is there already.
fn owned(tree: &Tree, content: &[u8], mode: u32) -> Standing {
    let Standing::File(file) = file(content, mode) else { unreachable!() };
    let folder = fs::metadata(tree.path(".")).unwrap();
    Standing::File(Content { owner: Some((folder.uid(), folder.gid())), ..file })
}

fn set_mode(tree: &Tree, path: &str, mode: u32) {
    fs::set_permissions(tree.path(path), Permissions::from_mode(mode)).unwrap();
}

fn mode(tree: &Tree, path: &str) -> u32 {
    fs::symlink_metadata(tree.path(path)).unwrap().permissions().mode() & 0o7777
}

/// The mode of any new file here.
fn usual(tree: &Tree) -> u32 {
    tree.write(".probe", "");
    let mode = mode(tree, ".probe");
    fs::remove_file(tree.path(".probe")).unwrap();
    mode
}

fn changed_since(path: &str) -> Failure {
    Failure::environmental(format!("`{path}` was changed since; it is left as it is"))
}

#[test]
fn looking_says_what_would_change_and_changes_nothing() {
    let tree = Tree::new(&[("a/f.txt", "one\nold\n")]);
    set_mode(&tree, "a/f.txt", 0o640);
    let new = usual(&tree);
    let old = owned(&tree, b"one\nold\n", 0o640);
    let table = [
        (Tool::Write("two"), "./a//f.txt", old.clone(), file(b"two", 0o640), vec![]),
        (Tool::Edit("old", "new"), "a/f.txt", old.clone(), file(b"one\nnew\n", 0o640), vec![]),
        (Tool::Delete, "a/f.txt", old, Standing::Nothing, vec![]),
        (Tool::Write("x"), "a/g", Standing::Nothing, file(b"x", new), vec![]),
        (
            Tool::Write("x"),
            "a/b/c/g",
            Standing::Nothing,
            file(b"x", new),
            vec!["a/b".to_owned(), "a/b/c".into()],
        ),
    ];
    for (tool, path, from, to, folders) in table {
        let looked = tool.look(&tree, path).unwrap();
        let there = from != Standing::Nothing;
        let path = if there { "a/f.txt" } else { path }.to_owned();
        let modes = matches!(tool, Tool::Delete).then(|| ("a".to_owned(), mode(&tree, "a")));
        let modes = modes.into_iter().collect();
        assert_eq!(looked.change, Change { path, from, to, folders, modes, moved_from: None }, "{tool:?}");
        assert_eq!(looked.content, there.then(|| b"one\nold\n".to_vec()), "{tool:?}");
        assert_eq!(looked.modified, there.then(|| time(CHANGED)), "{tool:?}");
        let shown = there && !matches!(tool, Tool::Delete);
        assert_eq!(looked.diff.is_some_and(|diff| diff.text.contains("-old\n")), shown, "{tool:?}");
        assert_eq!((tree.names("."), tree.names("a")), (vec!["a".to_owned()], vec!["f.txt".to_owned()]));
    }
}

#[test]
fn what_is_going_to_fail_is_not_looked_at() {
    let tree = Tree::new(&[("f", "old"), ("dir/x", ""), ("README", "")]);
    let table = [
        (Tool::Edit("absent", "new"), "f"),
        (Tool::Edit("old", "new"), "none"),
        (Tool::Delete, "none"),
        (Tool::Delete, "dir"),
        (Tool::Write("x"), "dir"),
        (Tool::Write("x"), "readme"),
        (Tool::Write("x"), "f/below"),
        (Tool::Write("x"), "../out"),
    ];
    for (tool, path) in table {
        assert!(tool.look(&tree, path).is_err(), "{tool:?} {path}");
    }
}

#[test]
fn a_leftover_of_a_killed_write_is_not_removed_by_looking() {
    let tree = Tree::new(&[("f", "old")]);
    let leftover = crate::leftovers::name("f".as_ref(), Digest::of(b"x"), 0);
    tree.write(&leftover, "half");
    Tool::Write("new").look(&tree, "f").unwrap();
    assert!(tree.names(".").contains(&leftover.to_string_lossy().into_owned()));
}

#[test]
fn what_is_too_large_is_looked_at_and_not_kept() {
    for (bytes, kept) in [(UNDO_BYTES, true), (UNDO_BYTES + 1, false)] {
        let content = vec![b'x'; bytes];
        let tree = Tree::new(&[("large", &content)]);
        let looked = Tool::Delete.done(&tree, "large");
        assert_eq!((looked.content.is_some(), looked.can_be_undone()), (kept, kept));
        let message = "what `large` was is not kept";
        let expected = if kept { Ok(Now::File) } else { Err(Failure::environmental(message)) };
        assert_eq!(undo(&tree, &looked).map(|done| done.now), expected);
    }
}

#[test]
fn bytes_and_permissions_come_back_exactly() {
    for tool in EVERY {
        for bits in [0o755, 0o600, 0o444, 0o640, 0o4755, 0o1777] {
            let tree = Tree::new(&[("f", "old\r\n")]);
            set_mode(&tree, "f", bits);
            // A file that is protected from being written can only be deleted, unless root asks.
            let Ok(looked) = tool.look(&tree, "f") else {
                assert!(bits == 0o444 && !matches!(tool, Tool::Delete));
                continue;
            };
            tool.run(&tree, "f", &looked.change).unwrap();
            let (digest, bytes) = (Some(Digest::of(b"old\r\n")), Some(5));
            let expected = Done { path: "f".into(), now: Now::File, bytes, digest, narrower: false };
            assert_eq!(undo(&tree, &looked), Ok(expected), "{tool:?} {bits:o}");
            assert_eq!(
                (tree.content("f"), mode(&tree, "f")),
                (b"old\r\n".to_vec(), bits),
                "{tool:?} {bits:o}"
            );
            assert_eq!(tree.names("."), ["f"]);
        }
    }
}

#[test]
fn bytes_that_are_no_text_come_back() {
    let content = [0, 255, 10, 13, 0xC3, 0x28];
    let tree = Tree::new(&[("f", content)]);
    let looked = Tool::Delete.done(&tree, "f");
    undo(&tree, &looked).unwrap();
    assert_eq!(tree.content("f"), content);
}

#[test]
fn names_come_back_exactly() {
    for name in ["ä b;rm -rf $(x).txt", "zero\u{200b}width", "-rf", "e\u{301}", "CON", " "] {
        let tree = Tree::new(&[(name, "old")]);
        let looked = Tool::Delete.done(&tree, name);
        undo(&tree, &looked).unwrap();
        assert_eq!((tree.names("."), tree.content(name)), (vec![name.to_owned()], b"old".to_vec()));
    }
}

#[test]
fn links_come_back_as_links_whatever_stands_there_now() {
    let tree = Tree::new(&[("keep", "theirs")]);
    for (target, replaced) in [("keep", false), ("/etc", false), ("nowhere", true)] {
        symlink(target, tree.path("l")).unwrap();
        let mut looked = Tool::Delete.done(&tree, "l");
        assert_eq!(looked.change.from, Standing::Link { to: target.into() });
        if replaced {
            looked.change.to = Tool::Write("mine").done(&tree, "l").change.to;
        }
        let expected = Done { path: "l".into(), now: Now::Link, bytes: None, digest: None, narrower: false };
        assert_eq!(undo(&tree, &looked), Ok(expected));
        assert_eq!(fs::read_link(tree.path("l")).unwrap().to_str(), Some(target));
        assert_eq!(tree.names("."), ["keep", "l"]);
        fs::remove_file(tree.path("l")).unwrap();
    }
    assert_eq!(tree.content("keep"), b"theirs");
}

#[test]
fn what_was_new_is_gone_with_the_folders_made_for_it() {
    let tree = Tree::new(&[("a/keep", "")]);
    let looked = Tool::Write("x").done(&tree, "a/b/c/f");
    assert_eq!(undo(&tree, &looked).unwrap().now, Now::Nothing);
    assert_eq!(tree.names("a"), ["keep"]);
}

#[test]
fn a_folder_with_something_else_in_it_stays() {
    let tree = Tree::new(&[("a/keep", "")]);
    let looked = Tool::Write("x").done(&tree, "a/b/c/f");
    tree.write("a/b/theirs", "");
    undo(&tree, &looked).unwrap();
    assert_eq!(
        (tree.names("a"), tree.names("a/b")),
        (vec!["b".into(), "keep".into()], vec!["theirs".to_owned()])
    );
}

#[test]
fn putting_back_can_itself_be_taken_back() {
    let tree = Tree::new(&[("f", "old")]);
    for (path, tool) in [("f", Tool::Write("new")), ("f", Tool::Delete), ("a/b/new", Tool::Write("x"))] {
        let before = tree.workspace().standing(path);
        let looked = tool.done(&tree, path);
        let after = tree.workspace().standing(path);
        let args = undoing(&looked);
        let content = looked.content.as_deref();
        let undone = one(look(tree.workspace(), &args, content, &Stop::default()).unwrap());
        put(&tree, &args, content).unwrap();
        assert_eq!(tree.workspace().standing(path), before);
        undo(&tree, &undone).unwrap();
        assert_eq!(tree.workspace().standing(path), after, "{path}");
        undo(&tree, &looked).unwrap();
        assert_eq!(tree.workspace().standing(path), before);
    }
    assert_eq!((tree.names("."), tree.content("f")), (vec!["f".to_owned()], b"old".to_vec()));
}

/// What somebody does to the file.
type Spoil = fn(&Tree);

/// Somebody does something between the call and its undoing.
#[test]
fn what_was_changed_since_is_left_alone() {
    let spoil: [(&str, Spoil); 5] = [
        ("other bytes", |tree| tree.write("f", "their")),
        ("other permissions", |tree| set_mode(tree, "f", 0o601)),
        ("a link to the same bytes", |tree| {
            tree.write("copy", "new");
            fs::remove_file(tree.path("f")).unwrap();
            symlink("copy", tree.path("f")).unwrap();
        }),
        ("gone", |tree| fs::remove_file(tree.path("f")).unwrap()),
        ("a folder", |tree| {
            fs::remove_file(tree.path("f")).unwrap();
            fs::create_dir(tree.path("f")).unwrap();
        }),
    ];
    for (what, spoil) in spoil {
        let tree = Tree::new(&[("f", "old")]);
        let looked = Tool::Write("new").done(&tree, "f");
        spoil(&tree);
        let names = tree.names(".");
        let kind = fs::symlink_metadata(tree.path("f")).map(|found| found.file_type()).ok();
        let message = if what == "a folder" {
            Failure::logical("`f` is a folder, not a file")
        } else {
            changed_since("f")
        };
        assert_eq!(undo(&tree, &looked), Err(message), "{what}");
        assert_eq!(tree.names("."), names, "{what}");
        assert_eq!(fs::symlink_metadata(tree.path("f")).map(|found| found.file_type()).ok(), kind, "{what}");
    }
}

/// Somebody does something between the look and the call.
#[test]
fn what_was_changed_after_the_look_is_not_touched() {
    for tool in EVERY {
        let tree = Tree::new(&[("f", "old"), ("other", "old")]);
        let looked = tool.look(&tree, "f").unwrap();
        tree.write("f", "old, and theirs");
        assert_eq!(tool.run(&tree, "f", &looked.change), Err(changed_meanwhile("f")), "{tool:?}");
        assert_eq!(tree.content("f"), b"old, and theirs");
        set_mode(&tree, "other", 0o600);
        let looked = tool.look(&tree, "other").unwrap();
        set_mode(&tree, "other", 0o640);
        assert_eq!(tool.run(&tree, "other", &looked.change), Err(changed_meanwhile("other")), "{tool:?}");
        assert_eq!((tree.content("other"), mode(&tree, "other")), (b"old".to_vec(), 0o640));
        assert_eq!(tree.names("."), ["f", "other"]);
    }
}

#[test]
fn a_link_that_leads_elsewhere_since_the_look_is_not_deleted() {
    let tree = Tree::new(&[("a", ""), ("b", "")]);
    symlink("a", tree.path("l")).unwrap();
    let looked = Tool::Delete.look(&tree, "l").unwrap();
    fs::remove_file(tree.path("l")).unwrap();
    symlink("b", tree.path("l")).unwrap();
    assert_eq!(Tool::Delete.run(&tree, "l", &looked.change), Err(changed_meanwhile("l")));
    assert_eq!(tree.names("."), ["a", "b", "l"]);
}

#[test]
fn what_appeared_or_went_since_the_look_is_not_written_over() {
    let tree = Tree::new(&[("dir/keep", "")]);
    let tool = Tool::Write("new");
    let looked = tool.look(&tree, "dir/f").unwrap();
    tree.write("dir/f", "theirs");
    assert_eq!(tool.run(&tree, "dir/f", &looked.change), Err(changed_meanwhile("dir/f")));
    assert_eq!(tree.content("dir/f"), b"theirs");
    let looked = tool.look(&tree, "dir/g").unwrap();
    fs::remove_dir_all(tree.path("dir")).unwrap();
    assert_eq!(
        tool.run(&tree, "dir/g", &looked.change),
        Err(changed_meanwhile("dir/g")),
        "the folder was to be there"
    );
    assert_eq!(tree.names("."), [""; 0]);
    let looked = tool.look(&tree, "made/f").unwrap();
    fs::create_dir(tree.path("made")).unwrap();
    assert_eq!(
        tool.run(&tree, "made/f", &looked.change),
        Ok(()),
        "a folder that is there already is as good"
    );
}

/// What was decided about is what happens: other arguments do not pass under the same look.
#[test]
fn another_result_than_the_one_that_was_looked_at_is_refused() {
    let tree = Tree::new(&[("f", "old")]);
    let looked = Tool::Write("new").look(&tree, "f").unwrap();
    for tool in [Tool::Write("other"), Tool::Edit("old", "other")] {
        assert_eq!(tool.run(&tree, "f", &looked.change), Err(changed_meanwhile("f")), "{tool:?}");
    }
    assert_eq!((tree.names("."), tree.content("f")), (vec!["f".to_owned()], b"old".to_vec()));
}

#[test]
fn bytes_that_are_not_those_that_were_kept_are_not_written() {
    let tree = Tree::new(&[("f", "old")]);
    let looked = Tool::Delete.done(&tree, "f");
    let damaged = "`f` is not what was kept of it; the database may be damaged";
    let table = [(Some(&b"OLD"[..]), damaged), (Some(b"old "), damaged), (None, "what `f` was is not kept")];
    for (content, message) in table {
        assert_eq!(put(&tree, &undoing(&looked), content), Err(Failure::environmental(message)));
        assert_eq!(tree.names("."), [""; 0]);
    }
}

#[test]
fn what_is_no_way_back_is_refused() {
    let tree = Tree::new(&[("a/f", "x"), ("empty/x", ""), (".git/config", "")]);
    fs::remove_file(tree.path("empty/x")).unwrap();
    let there = tree.workspace().standing("a/f").unwrap();
    let args = |path: &str, from: &Standing, folders: &[&str]| Args {
        path: path.into(),
        from: from.clone(),
        to: Standing::Nothing,
        folders: folders.iter().map(ToString::to_string).collect(),
        modes: BTreeMap::new(),
        with: None,
        moved_from: None,
    };
    let table = [
        (args("a/f", &there, &["empty"]), "`empty` is not on the way to `a/f`"),
        (args("a/f", &there, &["a/f"]), "`a/f` is not on the way to `a/f`"),
        (args("a/f", &there, &["../a"]), "`../a` leads out of the workspace"),
        (args("../f", &there, &[]), "`../f` leads out of the workspace"),
        (
            args(".git/config", &there, &[]),
            "`.git/config` belongs to git; tools do not change what is in there",
        ),
    ];
    for (args, message) in table {
        assert_eq!(put(&tree, &args, None), Err(Failure::logical(message)));
    }
    assert_eq!((tree.names("a"), tree.names("empty")), (vec!["f".to_owned()], vec![]));
}

#[test]
fn after_a_stop_nothing_is_put_back() {
    let stop = Stop::default();
    stop.now();
    for tool in [Tool::Write("new"), Tool::Delete] {
        let tree = Tree::new(&[("f", "old")]);
        let looked = tool.done(&tree, "f");
        let before = tree.names(".");
        let args = undoing(&looked);
        let stopped = run(tree.workspace(), &args, looked.content.as_deref(), Expected::default(), &stop);
        assert_eq!(stopped, Err(Failure::interrupted("stopped")), "{tool:?}");
        assert_eq!(tree.names("."), before);
    }
}

/// A file whose owner cannot be given back, whoever asks: no such number can be set.
fn of_nobody(looked: &One) -> Args {
    let mut args = undoing(looked);
    if let Standing::File(file) = &mut args.to {
        file.owner = Some((u32::MAX, u32::MAX));
    }
    args
}

#[test]
fn what_cannot_be_given_back_to_its_owner_gives_nobody_else_more() {
    let table = [(0o4755, 0o705), (0o2750, 0o700), (0o664, 0o604), (0o604, 0o600), (0o666, 0o606)];
    for (had, has) in table {
        let tree = Tree::new(&[("f", "old")]);
        set_mode(&tree, "f", had);
        let looked = Tool::Delete.done(&tree, "f");
        let args = of_nobody(&looked);
        let undone = one(look(tree.workspace(), &args, Some(b"old"), &Stop::default()).unwrap());
        let done = put(&tree, &args, Some(b"old")).unwrap();
        assert_eq!((done.narrower, mode(&tree, "f")), (true, has), "{had:o}");
        // What is on record is what stands there, so that this can be taken back too.
        assert!(undone.change.to.is_as(&tree.workspace().standing("f").unwrap()), "{had:o}");
        undo(&tree, &undone).unwrap();
        assert_eq!(tree.names("."), [""; 0]);
    }
}

#[test]
fn what_was_kept_without_its_owner_is_put_back_narrow() {
    let tree = Tree::new(&[("f", "old")]);
    set_mode(&tree, "f", 0o4775);
    let mut args = undoing(&Tool::Delete.done(&tree, "f"));
    if let Standing::File(file) = &mut args.to {
        file.owner = None;
    }
    put(&tree, &args, Some(b"old")).unwrap();
    assert_eq!(mode(&tree, "f"), 0o705);
}

#[cfg(target_os = "linux")]
#[test]
fn who_gets_a_file_of_somebody_else_back_cannot_run_it_as_them() {
    use crate::testing::{SOMEBODY, as_user};
    use std::os::unix::fs::chown;
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let tree = Tree::new(&[("f", "old")]);
    chown(tree.path("f"), Some(4_711), Some(4_712)).unwrap();
    set_mode(&tree, "f", 0o6755);
    let looked = Tool::Delete.done(&tree, "f");
    undo(&tree, &looked).unwrap();
    let found = fs::metadata(tree.path("f")).unwrap();
    assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (4_711, 4_712, 0o6755), "root can");
    Tool::Delete.done(&tree, "f");
    set_mode(&tree, ".", 0o777);
    as_user(SOMEBODY, || {
        assert!(undo(&tree, &looked).unwrap().narrower);
        let found = fs::metadata(tree.path("f")).unwrap();
        assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (SOMEBODY, SOMEBODY, 0o705));
    });
}

/// Only where the disk has access control lists.
#[cfg(target_os = "linux")]
#[test]
fn a_list_of_the_folder_or_of_the_file_opens_nothing() {
    use crate::testing::list_for;
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    for (name, of, has) in [("system.posix_acl_access", "f", 0o600), ("system.posix_acl_default", ".", 0o660)]
    {
        for tool in EVERY {
            let tree = Tree::new(&[("f", "old")]);
            set_mode(&tree, "f", 0o660);
            if setxattr(tree.path(of), name, &list_for(4_711), XattrFlags::empty()).is_err() {
                return;
            }
            assert_eq!(mode(&tree, "f"), 0o660);
            let looked = tool.done(&tree, "f");
            let done = undo(&tree, &looked).unwrap();
            assert_eq!((mode(&tree, "f"), done.narrower), (has, has != 0o660), "{tool:?} {name}");
            let mut list = [0; 256];
            assert!(
                getxattr(tree.path("f"), "system.posix_acl_access", &mut list).is_err(),
                "{tool:?} {name}"
            );
        }
    }
}

#[test]
fn what_stood_beside_a_name_that_differs_in_case_comes_back_beside_it() {
    let tree = Tree::new(&[("foo", "one"), ("Foo", "two"), ("DIR/f", "three"), ("dir/f", "four")]);
    if tree.names(".").len() < 4 {
        return; // this disk does not tell them apart
    }
    let looked = Tool::Delete.done(&tree, "Foo");
    undo(&tree, &looked).unwrap();
    let looked = Tool::Delete.done(&tree, "dir/f");
    fs::remove_dir(tree.path("dir")).unwrap();
    undo(&tree, &looked).unwrap();
    assert_eq!((tree.content("foo"), tree.content("Foo")), (b"one".to_vec(), b"two".to_vec()));
    assert_eq!((tree.content("DIR/f"), tree.content("dir/f")), (b"three".to_vec(), b"four".to_vec()));
}

#[test]
fn what_lies_around_is_taken_away_and_nothing_else_is_touched() {
    let tree = Tree::new(&[("f", "old"), ("a/b/x", ""), ("theirs/x", "")]);
    fs::remove_file(tree.path("a/b/x")).unwrap();
    tree.write(crate::leftovers::name("f".as_ref(), Digest::of(b"half"), 0), "half");
    symlink("target", tree.path(crate::leftovers::name("f".as_ref(), Digest::of(b"target"), 0))).unwrap();
    let folders = ["a".to_owned(), "a/b".into()];
    let table =
        [("f", vec![], true), ("a/b/g", folders.to_vec(), true), ("theirs/g", vec!["theirs".into()], false)];
    for (path, folders, untidy) in table {
        assert_eq!(tree.workspace().is_untidy(path, &folders), untidy, "{path}");
        let now = tree.workspace().standing(path).unwrap();
        let args = Args {
            path: path.into(),
            from: now.clone(),
            to: now,
            folders: folders.clone(),
            modes: BTreeMap::new(),
            with: None,
            moved_from: None,
        };
        put(&tree, &args, None).unwrap();
        assert!(!tree.workspace().is_untidy(path, &folders), "{path}");
    }
    assert_eq!(tree.names("."), ["f", "theirs"]);
    assert_eq!((tree.content("f"), tree.names("theirs")), (b"old".to_vec(), vec!["x".to_owned()]));
}

#[test]
fn what_a_killed_write_left_keeps_no_folder() {
    let tree = Tree::new(&[("keep", "")]);
    let looked = Tool::Write("x").done(&tree, "a/f");
    tree.write(
        std::path::Path::new("a").join(crate::leftovers::name("f".as_ref(), Digest::of(b"half"), 0)),
        "half",
    );
    undo(&tree, &looked).unwrap();
    assert_eq!(tree.names("."), ["keep"]);
}

#[test]
fn a_folder_that_is_made_again_lets_nobody_in_who_was_not() {
    let tree = Tree::new(&[("closed/f", "one"), ("open/f", "two")]);
    set_mode(&tree, "closed", 0o700);
    let open = mode(&tree, "open");
    for path in ["closed/f", "open/f"] {
        let looked = Tool::Delete.done(&tree, path);
        fs::remove_dir(tree.path(path).parent().unwrap()).unwrap();
        undo(&tree, &looked).unwrap();
    }
    assert_eq!((mode(&tree, "closed"), mode(&tree, "open")), (0o700, open));
    let mut args = undoing(&Tool::Delete.done(&tree, "open/f"));
    args.modes.clear();
    fs::remove_dir(tree.path("open")).unwrap();
    put(&tree, &args, Some(b"two")).unwrap();
    assert_eq!(mode(&tree, "open"), 0o700, "nobody knows what it was");
}

/// Nothing of it is read, and it is the very file that was looked at or none.
#[test]
fn a_huge_file_is_known_by_what_the_kernel_says_of_it() {
    let tree = Tree::new(&[("huge", "")]);
    let grow =
        |bytes| fs::File::options().write(true).open(tree.path("huge")).unwrap().set_len(bytes).unwrap();
    grow(DELETED_DIGEST_BYTES + 1);
    let looked = Tool::Delete.look(&tree, "huge").unwrap();
    assert!(matches!(looked.change.from, Standing::Large { .. }) && !looked.can_be_undone());
    set_mode(&tree, "huge", 0o600);
    grow(DELETED_DIGEST_BYTES + 2);
    assert_eq!(Tool::Delete.run(&tree, "huge", &looked.change), Err(changed_meanwhile("huge")));
    let looked = Tool::Delete.done(&tree, "huge");
    assert_eq!(undo(&tree, &looked), Err(Failure::environmental("what `huge` was is not kept")));
    assert_eq!(tree.names("."), [""; 0]);
}
