//! Killed by SIGKILL at every step of an upgrade, a backup and a restore: the house works, its audit is consistent, and
//! the next one finishes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::failpoints;
use crate::keeping::backups::{back_up, folders_there, shown_by_forget};
use crate::keeping::old::{audit, below, entries_of, is_hidden, kept, leftovers, old_house, record};
use crate::keeping::server::{OnServer, old_server};
use crate::world::{ANSWER, REQUEST, World, events};

/// Runs the command and kills it at the n-th point, or leaves it alone. The points that it came past.
fn watch(world: &World, url: Option<&str>, args: &[&str], n: Option<usize>) -> Vec<String> {
    let variables: Vec<(&str, &str)> = url.map(|url| ("REGENT_DATABASE_URL", url)).into_iter().collect();
    watch_with(world, &variables, args, n)
}

fn watch_with(world: &World, variables: &[(&str, &str)], args: &[&str], n: Option<usize>) -> Vec<String> {
    static SOCKETS: AtomicUsize = AtomicUsize::new(0);
    let socket = world.folder().join(format!("watch-{}", SOCKETS.fetch_add(1, Ordering::Relaxed)));
    let listener = UnixListener::bind(&socket).expect("a socket");
    let mut command = Command::new(env!("CARGO_BIN_EXE_regent"));
    command.args(args).current_dir(world.workspace()).env_clear().env("REGENT_HOME", &world.home);
    command.env("HOME", world.folder()).env("REGENT_FAULTS", format!("socket={}", socket.display()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.envs(variables.iter().copied());
    let mut child = command.spawn().expect("start");
    let mut stream = BufReader::new(listener.accept().expect("it reports").0);
    let mut points = Vec::new();
    let killed = loop {
        let mut line = String::new();
        if !stream.read_line(&mut line).is_ok_and(|read| read > 0) {
            break false;
        }
        points.push(line.trim_end().to_owned());
        if n == Some(points.len() - 1) {
            child.kill().expect("SIGKILL");
            break true;
        }
        drop(stream.get_mut().write_all(b"go\n")); // one that has just ended needs no answer
    };
    let ended = child.wait().expect("wait");
    assert!(killed || ended.success(), "left alone, it succeeds");
    points
}

/// Where to kill. Every day only where the command itself says where it is: what every command does besides is killed elsewhere.
fn aims(points: &[String]) -> Vec<usize> {
    let own = |at: &usize| services::is_full() || points[*at].starts_with("stage ");
    failpoints::aims(points).into_iter().filter(own).collect()
}

/// Kills at these points, each time in a world of its own.
fn kill_at_each<W>(
    points: impl IntoIterator<Item = usize>,
    make: impl Fn() -> W,
    run: impl Fn(&W, Option<usize>) -> Vec<String>,
    check: impl Fn(&W, &str),
) {
    for n in points {
        let world = make();
        let point = run(&world, Some(n)).pop().expect("it was reached");
        check(&world, &point);
    }
}

fn works(world: &World, point: &str) {
    let run = world.regent(&["run", REQUEST]).run().succeeds();
    assert!(run.stdout.starts_with(ANSWER), "killed at `{point}`: {run}");
    world.regent(&["audit", "verify"]).run().succeeds();
    world.regent(&["doctor"]).run().succeeds();
}

fn passed(points: &[String], stages: &[&str]) {
    for stage in stages {
        assert!(points.iter().any(|point| point == stage), "`{stage}` is not among {points:?}");
    }
}

#[test]
fn an_upgrade() {
    let untouched = std::fs::read(old_house().database()).expect("database");
    let check = |world: &World, point: &str| {
        let after = std::fs::read(world.database()).expect("database");
        let done = ["stage upgraded", "stage list the copy"].contains(&point);
        assert!(done || after == untouched, "killed at `{point}` something was changed");
        works(world, point);
        assert_eq!(entries_of(&audit(world), "house.upgraded").len(), 1, "killed at `{point}`");
        assert_eq!(leftovers(world).len(), 0, "killed at `{point}`");
        for folder in kept(world) {
            world.regent(&["restore", "--dry-run", folder.to_str().expect("text")]).run().succeeds();
        }
    };
    let run = |world: &World, n| watch(world, None, &["upgrade"], n);
    let points = run(&old_house(), None);
    kill_at_each(aims(&points), old_house, run, check);
    let stages = [
        "stage copy files",
        "stage copy database",
        "stage set up scratch",
        "stage bring scratch forward",
        "stage name the copy",
        "stage list the copy",
        "stage migrate",
        "writing audit",
        "stage upgraded",
    ];
    passed(&points, &stages);
}

#[test]
fn a_check_of_an_upgrade() {
    let untouched = std::fs::read(old_house().database()).expect("database");
    let check = |world: &World, point: &str| {
        assert!(std::fs::read(world.database()).expect("database") == untouched, "killed at `{point}`");
        world.regent(&["upgrade", "--check"]).run().succeeds();
        assert_eq!((leftovers(world).len(), kept(world).len()), (0, 0), "killed at `{point}`");
    };
    let run = |world: &World, n| watch(world, None, &["upgrade", "--check"], n);
    let points = run(&old_house(), None);
    kill_at_each(aims(&points), old_house, run, check);
    passed(&points, &["stage bring scratch forward"]);
}

#[test]
fn a_backup() {
    let check = |world: &World, point: &str| {
        works(world, point);
        back_up(world);
        assert_eq!(leftovers(world).len(), 0, "killed at `{point}`");
        for folder in kept(world) {
            world.regent(&["restore", "--dry-run", folder.to_str().expect("text")]).run().succeeds();
        }
    };
    let run = |world: &World, n| watch(world, None, &["backup"], n);
    let points = run(&World::lived_in(), None);
    kill_at_each(aims(&points), World::lived_in, run, check);
    passed(&points, &["stage copy database", "stage name the copy", "stage list the copy", "committed"]);
}

/// In a folder that the owner named nothing is found by looking around: it is on the list before it is there.
#[test]
fn a_backup_to_a_folder_of_the_owner() {
    let usb = |world: &World| below(&world.folder().join("usb"));
    let swap = |world: &World, from: &str, to: &str| {
        drop(std::fs::rename(world.folder().join(from), world.folder().join(to))); // it may not be made yet
    };
    let check = |world: &World, point: &str| {
        let names = usb(world).into_iter().map(|path| path.file_name().expect("a name").to_owned());
        let drafts: Vec<_> = names.filter(|name| is_hidden(name.as_ref())).collect();
        swap(world, "usb", "drawer");
        let away = shown_by_forget(world);
        for draft in &drafts {
            let is_shown = away.iter().any(|kept| {
                kept["folder"].as_str().is_some_and(|path| path.ends_with(draft.to_str().expect("text")))
            });
            assert!(is_shown, "killed at `{point}`, {draft:?} is not among {away:?}");
        }
        assert!(!away.is_empty() || point != "stage list the copy", "the copy has its name");
        swap(world, "drawer", "usb");
        let whole = usb(world).into_iter().filter(|path| !is_hidden(path)).collect::<Vec<_>>();
        assert_eq!(folders_there(&shown_by_forget(world)), whole, "killed at `{point}`");
        assert_eq!(usb(world), whole, "killed at `{point}`, only a whole copy is left");
        assert!(!whole.is_empty() || point != "stage list the copy", "the copy has its name");
        works(world, point);
        // What is gone is not shown any more, wherever the disk is.
        swap(world, "usb", "drawer");
        let away = shown_by_forget(world);
        assert!(away.iter().all(|kept| kept["unfinished"] != true), "killed at `{point}`: {away:?}");
    };
    let run = |world: &World, n| watch(world, None, &["backup", "--to", "../usb"], n);
    let points = run(&World::lived_in(), None);
    let stages = (0..points.len()).filter(|at| services::is_full() || points[*at].starts_with("stage "));
    kill_at_each(stages, World::lived_in, run, check);
    let stages = [
        "stage list the draft",
        "stage make the draft",
        "stage copy files",
        "stage copy database",
        "stage set up scratch",
        "stage look at scratch",
        "stage bring scratch forward",
        "stage name the copy",
        "stage list the copy",
    ];
    passed(&points, &stages);
}

/// A house, a backup of it, and its record then and now.
struct Scene<W> {
    world: W,
    folder: PathBuf,
    then: String,
    now: String,
}

impl<W> Scene<W> {
    fn args(&self) -> [&str; 3] {
        ["restore", "--yes", self.folder.to_str().expect("text")]
    }
}

fn scene() -> Scene<World> {
    let world = World::lived_in();
    let switches = world.home.join("tool-access.json");
    std::fs::write(&switches, r#"{"calc": {"enabled": false}}"#).expect("switches");
    let folder = back_up(&world);
    std::fs::remove_file(&switches).expect("only the backup has them");
    let [then, _] = record(&world);
    world.regent(&["events", "ingest"]).stdin(events(50..=52)).run().succeeds();
    let [now, _] = record(&world);
    Scene { world, folder, then, now }
}

#[test]
fn a_restore() {
    let check = |scene: &Scene<World>, point: &str| {
        scene.world.regent(&["audit", "verify"]).run().succeeds();
        let [events, _] = record(&scene.world);
        let restored = entries_of(&audit(&scene.world), "house.restored").len();
        let whole = [(&scene.then, 1), (&scene.now, 0)].contains(&(&events, restored));
        assert!(whole, "killed at `{point}` it is neither the old nor the new house");
        let switches = scene.world.home.join("tool-access.json").exists();
        assert_eq!(switches, restored == 1, "killed at `{point}`, the switches are not those of the house");
        assert!(!scene.world.data().join("restoring").exists(), "killed at `{point}`");
        works(&scene.world, point);
        scene.world.regent(&scene.args()).run().succeeds();
        let [events, _] = record(&scene.world);
        assert!(events == scene.then, "killed at `{point}`, the next one finishes");
        assert_eq!(leftovers(&scene.world).len(), 0, "killed at `{point}`");
        assert!(!scene.world.home.join(".tool-access.restored").exists(), "killed at `{point}`");
        for folder in kept(&scene.world) {
            scene.world.regent(&["restore", "--dry-run", folder.to_str().expect("text")]).run().succeeds();
        }
    };
    let run = |scene: &Scene<World>, n| watch(&scene.world, None, &scene.args(), n);
    let points = run(&scene(), None);
    // The copy that it makes first is killed as a backup, every day.
    let first = points.iter().position(|point| point == "stage write it down").expect("it is reached");
    let own = |at: &usize| services::is_full() || *at >= first;
    kill_at_each(aims(&points).into_iter().filter(own), scene, run, check);
    passed(&points, &["stage mark", "stage fence the old house", "stage put in place", "stage tidy up"]);
    let moves = points.iter().filter(|point| *point == "stage move a file").count();
    assert!(moves >= 6, "three files each way, and what lies beside the database: {points:?}");
}

/// Nothing of it is in place, and no marker says what it has prepared.
#[test]
fn a_restore_before_its_marker_is_there() {
    let scene = scene();
    let points = watch(&scene.world, None, &scene.args(), None);
    for command in [&["backup"][..], &["forget", "--person", "demo:lea", "--dry-run"]] {
        let scene = self::scene();
        watch(
            &scene.world,
            None,
            &scene.args(),
            points.iter().position(|point| point == "stage place the marker"),
        );
        let prepared = scene.world.home.join(".tool-access.restored");
        let aside =
            || kept(&scene.world).into_iter().any(|path| path.to_string_lossy().contains("/replaced-"));
        let has_draft =
            || leftovers(&scene.world).iter().any(|path| path.to_string_lossy().contains("/.restoring."));
        assert!(prepared.exists() && aside() && has_draft(), "it was killed in the middle");
        scene.world.regent(command).run().succeeds();
        assert!(!prepared.exists() && !aside(), "{command:?}");
        assert_eq!(leftovers(&scene.world).len(), 0, "{command:?}");
        assert!(record(&scene.world)[0] == scene.now, "{command:?}: it is the old house");
        works(&scene.world, "stage place the marker");
    }
}

/// Without an instance there is no data folder: it is tried in the folder for temporary files.
#[test]
fn a_dry_run_of_a_restore_on_a_new_machine() {
    let (old, fresh) = (World::lived_in(), World::new());
    let (folder, temporary) = (back_up(&old), fresh.folder().join("temporary"));
    std::fs::create_dir(&temporary).expect("folder");
    let (folder, place) = (folder.to_str().expect("text"), temporary.to_str().expect("text"));
    let run = |n| watch_with(&fresh, &[("TMPDIR", place)], &["restore", "--dry-run", folder], n);
    let points = run(None);
    assert_eq!(below(&temporary).len(), 0);
    run(points.iter().position(|point| point == "stage look at scratch"));
    assert_eq!(below(&temporary).len(), 1, "it was killed in the middle");
    fresh.regent(&["restore", "--yes", folder]).run().succeeds();
    let forget = fresh.regent(&["forget", "--person", "demo:lea", "--dry-run"]);
    forget.env("TMPDIR", place).run().succeeds();
    assert_eq!(below(&temporary).len(), 0);
}

#[test]
fn a_restore_that_is_killed_again_while_it_is_carried_on() {
    let check = |scene: &Scene<World>, point: &str| {
        scene.world.regent(&["audit", "verify"]).run().succeeds();
        let [events, _] = record(&scene.world);
        assert!(events == scene.then, "killed at `{point}`: it was decided");
        assert!(scene.world.home.join("tool-access.json").exists(), "killed at `{point}`");
        works(&scene.world, point);
    };
    let first = scene();
    let before = watch(&first.world, None, &first.args(), None);
    let decided = before.iter().position(|point| point == "stage put in place").expect("it is reached");
    let cut_off = || {
        let scene = scene();
        watch(&scene.world, None, &scene.args(), Some(decided));
        scene
    };
    let carry_on = |scene: &Scene<World>, n| watch(&scene.world, None, &["audit", "verify"], n);
    let points = carry_on(&cut_off(), None);
    kill_at_each(aims(&points), cut_off, carry_on, check);
    passed(&points, &["stage move a file", "stage tidy up"]);
}

#[test]
fn an_upgrade_on_a_server() {
    let run = |house: &OnServer, n| watch(&house.world, Some(&house.url), &["upgrade"], n);
    let check = |house: &OnServer, point: &str| {
        let is_done = ["stage upgraded", "stage list the copy"].contains(&point);
        assert!(house.schema() == 1 || is_done, "killed at `{point}`");
        house.works();
        assert_eq!(entries_of(&house.audit(), "house.upgraded").len(), 1, "killed at `{point}`");
    };
    let points = run(&old_server(), None);
    kill_at_each(aims(&points), old_server, run, check);
    passed(&points, &["stage migrate", "stage look at it", "stage commit", "stage upgraded"]);
}

#[test]
fn a_restore_on_a_server() {
    let make = || {
        let house = OnServer::lived_in();
        let folder = house.back_up();
        let then = house.events();
        house.regent(&["events", "ingest"]).stdin(events(50..=52)).run().succeeds();
        let now = house.events();
        Scene { world: house, folder, then, now }
    };
    let run =
        |scene: &Scene<OnServer>, n| watch(&scene.world.world, Some(&scene.world.url), &scene.args(), n);
    let check = |scene: &Scene<OnServer>, point: &str| {
        let (house, events) = (&scene.world, scene.world.events());
        let restored = entries_of(&house.audit(), "house.restored").len();
        let whole = [(&scene.then, 1), (&scene.now, 0)].contains(&(&events, restored));
        assert!(whole, "killed at `{point}` it is neither the old nor the new house");
        house.works();
        if point == "stage put in place" {
            house.regent(&scene.args()).run().succeeds();
            assert!(house.events() == scene.then, "killed at `{point}`, the next one finishes");
        }
    };
    let points = run(&make(), None);
    // What comes before is as with a file, and is killed there.
    let own = ["stage mark", "stage replace rows", "stage commit", "stage put in place"];
    let is_own = |at: &usize| services::is_full() || own.contains(&points[*at].as_str());
    kill_at_each(aims(&points).into_iter().filter(is_own), make, run, check);
    passed(&points, &own);
}
