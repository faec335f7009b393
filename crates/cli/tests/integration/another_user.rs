//! A second user on the same machine: their servers, their settings, their files. They get nothing, and what they write is
//! not obeyed. Needs root, to be more than one user.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use nix::unistd::{Uid, setfsuid};

use crate::process::{Outcome, Regent};
use crate::world::{REQUEST, World, is_root};

const ME: u32 = 1000;
const OTHER: u32 = 1001;
const ROOT: u32 = 0;
/// Beyond the reflexes.
const BEYOND: &str = "tell me a story about the dog in notes.md";
const KEY: &str = "sk-ant-api03-canary0123456789";

/// A server whose listening socket belongs to a user, and everything that it was sent.
struct Server {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn of(uid: u32) -> Self {
        // A socket belongs to whom the thread counts as when it makes it.
        setfsuid(Uid::from_raw(uid));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        setfsuid(Uid::from_raw(ROOT));
        let port = listener.local_addr().expect("an address").port();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let into = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                stream.set_read_timeout(Some(std::time::Duration::from_millis(500))).expect("patience");
                let mut request = vec![0; 1 << 16];
                let length = stream.read(&mut request).unwrap_or_default();
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let page = match request.split(' ').nth(1) {
                    Some("/health") => "200 OK\r\n\r\n{\"status\":\"ok\"}",
                    Some("/v1/models") => "200 OK\r\n\r\n{\"data\":[{\"id\":\"m\"}]}",
                    _ => "401 No\r\nContent-Length: 2\r\n\r\n{}",
                };
                into.lock().expect("heard").push(request);
                drop(stream.write_all(format!("HTTP/1.0 {page}").as_bytes()));
            }
        });
        Self { port, heard }
    }

    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut self.heard.lock().expect("heard"))
    }

    /// The program, for which this is llama.cpp and nothing else is there.
    fn is_found_by(&self, regent: Regent) -> Regent {
        let url = format!("http://127.0.0.1:{}/v1", self.port);
        regent.env("REGENT_PROVIDER_LLAMACPP_URL", url).env("OLLAMA_HOST", "127.0.0.1:1")
    }
}

/// A world whose instance is below a folder of `uid`, and a program that this user can start.
fn world_of(uid: u32) -> (World, PathBuf) {
    let mut world = World::new();
    std::fs::set_permissions(world.folder(), std::fs::Permissions::from_mode(0o755)).expect("mode");
    let own = world.folder().join("own");
    std::fs::create_dir(&own).expect("folder");
    chown(&own, Some(uid), Some(uid)).expect("chown");
    world.home = own.join("house");
    let (built, program) = (Path::new(env!("CARGO_BIN_EXE_regent")), world.folder().join("regent"));
    std::fs::hard_link(built, &program)
        .or_else(|_| std::fs::copy(built, &program).map(drop))
        .expect("program");
    (world, program)
}

fn regent(world: &World, program: &Path, uid: u32, args: &[&str]) -> Regent {
    world.regent(args).program(program).user(uid)
}

fn said(outcome: &Outcome) -> String {
    format!("{}{}", outcome.stdout, outcome.stderr)
}

#[test]
fn a_server_of_another_user_is_sent_nothing_until_it_is_chosen() {
    if !is_root("listen as another user") {
        return;
    }
    for me in [ME, ROOT] {
        let (world, program) = world_of(me);
        let server = Server::of(OTHER);
        let start = |args: &[&str]| server.is_found_by(regent(&world, &program, me, args)).run();
        let why = format!("port {} belongs to user 1001, not to you", server.port);
        let way = "regent model set brain llamacpp/<model>";
        for args in [&["run", BEYOND][..], &["doctor"], &["model", "list"], &["model", "list", "--json"]] {
            let outcome = start(args);
            assert!(said(&outcome).contains(&why) && said(&outcome).contains(way), "{outcome}");
            assert_eq!(server.heard(), [""; 0], "{outcome}");
        }
        let run = start(&["run", BEYOND]);
        assert!(run.exit == Some(4) && run.stderr.contains("error R4010"), "{run}");
        assert_eq!(server.heard(), [""; 0]);
        // From here on the owner has said so; and was told what goes there.
        let set = start(&["model", "set", "brain", "llamacpp/m"]).succeeds();
        assert!(set.stderr.contains(&format!("go to 127.0.0.1:{} (llamacpp/m)", server.port)), "{set}");
        start(&["run", BEYOND]);
        assert!(server.heard().iter().any(|request| request.contains("story about the dog")));
    }
}

#[test]
fn a_server_of_the_caller_or_of_root_is_found_and_gets_one_notice() {
    if !is_root("listen as another user") {
        return;
    }
    for (me, whose) in [(ME, ME), (ME, ROOT), (ROOT, ROOT)] {
        let (world, program) = world_of(me);
        let server = Server::of(whose);
        let start = |args: &[&str]| server.is_found_by(regent(&world, &program, me, args)).run();
        let notice = format!(
            "your request, and names and contents of files that the task reads, go to 127.0.0.1:{}",
            server.port
        );
        let first = start(&["run", BEYOND]);
        assert!(first.stderr.contains(&notice), "{first}");
        assert!(server.heard().iter().any(|request| request.contains("story about the dog")), "{first}");
        let second = start(&["run", BEYOND]);
        assert!(!second.stderr.contains(&notice), "{second}");
    }
}

/// Where every file of an instance that is obeyed lies, and a command that reads it.
fn files(house: &Path) -> Vec<(PathBuf, &'static [&'static str])> {
    let (run, list): (&'static [&'static str], &'static [&'static str]) =
        (&["run", REQUEST], &["model", "list"]);
    let audit =
        std::fs::read_dir(house.join("data/keys")).expect("keys").map(|entry| entry.expect("key").path());
    let mut all: Vec<(PathBuf, _)> = audit.map(|key| (key, run)).collect();
    for name in ["regent.toml", "data/regent.db", "data/node"] {
        all.push((house.join(name), run));
    }
    for name in ["data/checkpoints.jsonl", "data/tip"] {
        all.push((house.join(name), &["audit", "verify"]));
    }
    for name in ["tool-access.json", "secrets/token", "policies/acl/own.yaml", "policies/vpol/own.yaml"] {
        all.push((house.join(name), run));
    }
    for name in ["prices.toml", "keys/anthropic"] {
        all.push((house.join(name), list));
    }
    all
}

/// An instance with every file that one can have.
fn furnished() -> World {
    let world = World::lived_in();
    let house = &world.home;
    for folder in ["secrets", "keys", "policies", "policies/acl", "policies/vpol"] {
        std::fs::create_dir_all(house.join(folder)).expect("folder");
        std::fs::set_permissions(house.join(folder), std::fs::Permissions::from_mode(0o700)).expect("mode");
    }
    let acl = "- name: lea\n  match: { principal: { id: lea } }\n  effect: allow\n  priority: 81\n";
    for (name, text) in [
        ("tool-access.json", "{}"),
        ("secrets/token", "long enough to be one"),
        ("policies/acl/own.yaml", acl),
        (
            "policies/vpol/own.yaml",
            "- name: own\n  applies_to: { attended: false }\n  mode: strict\n  priority: 99\n",
        ),
        ("prices.toml", ""),
        ("keys/anthropic", KEY),
    ] {
        std::fs::write(house.join(name), text).expect("file");
        std::fs::set_permissions(house.join(name), std::fs::Permissions::from_mode(0o600)).expect("mode");
    }
    let run = world.regent(&["run", REQUEST]).run().succeeds();
    assert!(!run.stderr.contains("mistake"), "{run}");
    world
}

/// What must not be obeyed is seen in what a command says: the owner's number, or that it is no file.
fn refuses(world: &World, args: &[&str], says: &str, path: &Path) {
    let start = |args: &[&str]| world.regent(args).env("OLLAMA_HOST", "127.0.0.1:1").run();
    let outcome = start(args);
    let text = match path.to_string_lossy() {
        // The last good policies stay in force, and a warning says so.
        place if place.contains("policies/acl") => said(&start(&["acl", "validate"])),
        place if place.contains("policies/vpol") => {
            assert!(outcome.stderr.contains("policies/vpol/own.yaml has a mistake"), "{outcome}");
            return;
        }
        _ if args[0] == "model" => said(&outcome),
        _ => {
            assert!(
                outcome.exit.is_some_and(|exit| (2..=4).contains(&exit)),
                "{}: {outcome}",
                path.display()
            );
            said(&outcome) + &said(&start(&["doctor"]))
        }
    };
    assert!(text.contains(says), "{}: {text}", path.display());
}

#[test]
fn no_file_of_another_user_is_obeyed_wherever_it_lies_in_the_instance() {
    if !is_root("give a file away") {
        return;
    }
    let world = furnished();
    for (path, args) in files(&world.home) {
        assert!(path.exists(), "{}", path.display());
        chown(&path, Some(OTHER), None).expect("chown");
        refuses(&world, args, "belongs to user 1001, not to you", &path);
        chown(&path, Some(ROOT), None).expect("chown");
        let mode = std::fs::metadata(&path).expect("file").permissions();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).expect("mode");
        refuses(&world, args, "others can ", &path);
        std::fs::set_permissions(&path, mode).expect("mode");
    }
    world.regent(&["run", REQUEST]).run().succeeds();
}

/// Opening a pipe waits for a writer.
#[test]
fn a_pipe_in_the_place_of_any_file_of_the_instance_is_an_error_at_once() {
    let world = furnished();
    let kept = world.folder().join("kept");
    for (path, args) in files(&world.home) {
        std::fs::rename(&path, &kept).expect("put aside");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::from_bits_truncate(0o600)).expect("pipe");
        refuses(&world, args, "it is no file", &path);
        std::fs::rename(&kept, &path).expect("put back");
    }
    for (name, args) in [
        ("told", &["model", "list"][..]),
        ("confirmed", &["model", "confirm", "anthropic", "proxy.example"]),
        ("tool-access.lock", &["tools", "disable", "calc"]),
        ("restoring", &["status"]),
        ("backups.jsonl", &["backup"]),
        (".draft-old", &["backup"]),
        ("regent.db-wal", &["status"]),
    ] {
        let path = world.data().join(name);
        world.sql(&["PRAGMA wal_checkpoint(TRUNCATE)"]); // nothing is lost with the log
        std::fs::remove_file(&path).ok();
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::from_bits_truncate(0o600)).expect("pipe");
        let outcome = world.regent(args).run();
        assert!(outcome.exit.is_some(), "{name}: {outcome}");
        std::fs::remove_file(&path).expect("remove");
    }
    world.regent(&["run", REQUEST]).run().succeeds();
}

#[test]
fn settings_that_another_user_could_have_written_send_no_key_anywhere() {
    if !is_root("be another user") {
        return;
    }
    let server = Server::of(OTHER);
    let settings = format!("[provider.anthropic]\nurl = \"http://127.0.0.1:{}\"\n", server.port);
    type Change = fn(&Path);
    let changes: [(&str, Change); 7] = [
        ("the file is theirs", |house| chown(house.join("regent.toml"), Some(OTHER), None).expect("chown")),
        ("anybody can write the file", |house| set_mode(&house.join("regent.toml"), 0o666)),
        ("a group can write the file", |house| {
            chown(house.join("regent.toml"), None, Some(OTHER)).expect("chown");
            set_mode(&house.join("regent.toml"), 0o664);
        }),
        ("the instance is theirs", |house| chown(house, Some(OTHER), None).expect("chown")),
        ("anybody can write into the instance", |house| set_mode(house, 0o777)),
        ("anybody can put another instance there", |house| set_mode(house.parent().expect("above"), 0o777)),
        ("a link of theirs leads there", |house| {
            let real = house.with_file_name("real");
            std::fs::rename(house, &real).expect("move");
            symlink(&real, house).expect("link");
            lchown(house, Some(OTHER), None).expect("lchown");
        }),
    ];
    for me in [ME, ROOT] {
        for (what, change) in changes {
            let (world, program) = world_of(me);
            std::fs::create_dir(&world.home).expect("house");
            std::fs::write(world.home.join("regent.toml"), &settings).expect("settings");
            for path in [world.home.clone(), world.home.join("regent.toml")] {
                chown(path, Some(me), Some(me)).expect("chown");
            }
            // It is confirmed, so that nothing else holds the key back.
            let start =
                |args: &[&str]| regent(&world, &program, me, args).env("ANTHROPIC_API_KEY", KEY).run();
            let host = format!("127.0.0.1:{}", server.port);
            start(&["model", "confirm", "anthropic", &host]).succeeds();
            change(&world.home);
            for args in
                [&["run", BEYOND][..], &["run", REQUEST], &["model", "test"], &["status"], &["init", "--yes"]]
            {
                let outcome = start(args).fails(4, "R4009").says(&["nothing was touched", "  do       "]);
                let remedies = ["sudo chown", "chmod go-w", "REGENT_HOME=<folder of your own>"];
                let remedy = remedies.iter().any(|remedy| outcome.stderr.contains(remedy));
                assert!(remedy, "{what}: {outcome}");
                assert_eq!(server.heard(), [""; 0], "{what}: {outcome}");
            }
            start(&["doctor"]).fails(1, "R1004");
            start(&["explain", "R4009"]).succeeds();
        }
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("mode");
}

/// Others may have made it before the owner came; then it is theirs.
#[test]
fn an_instance_that_another_user_made_in_advance_is_not_used() {
    if !is_root("be another user") {
        return;
    }
    let (mut world, program) = world_of(ME);
    let open = world.folder().join("open");
    std::fs::create_dir(&open).expect("folder");
    set_mode(&open, 0o1777);
    world.home = open.join("house");
    regent(&world, &program, ME, &["run", REQUEST]).run().succeeds();
    for entry in ["theirs", "theirs/data"] {
        std::fs::create_dir(open.join(entry)).expect("folder");
        chown(open.join(entry), Some(OTHER), Some(OTHER)).expect("chown");
        set_mode(&open.join(entry), 0o777);
    }
    world.home = open.join("theirs");
    regent(&world, &program, ME, &["run", REQUEST]).run().fails(4, "R4009").says(&["1001"]);
    assert_eq!(std::fs::read_dir(open.join("theirs/data")).expect("folder").count(), 0);
}

#[test]
fn a_key_goes_to_another_host_only_once_that_is_confirmed() {
    let server = Server::of(Uid::effective().as_raw());
    let world = World::new();
    world.write_settings(format!("[provider.anthropic]\nurl = \"http://127.0.0.1:{}\"\n", server.port));
    let start = |args: &[&str]| world.regent(args).env("ANTHROPIC_API_KEY", KEY).run();
    let command = format!("regent model confirm anthropic 127.0.0.1:{}", server.port);
    for args in [&["run", BEYOND][..], &["model", "list"], &["model", "test"]] {
        start(args).fails(4, "R4034").says(&["instead of api.anthropic.com", &command]);
    }
    let doctor = start(&["doctor"]).fails(1, "R1004");
    assert!(doctor.stdout.contains(&command), "{doctor}");
    let set = start(&["model", "set", "brain", "anthropic/claude-x"]).succeeds();
    assert!(set.stderr.contains(&command), "{set}");
    start(&["run", BEYOND]).fails(4, "R4033").says(&[&command]);
    assert_eq!(server.heard(), [""; 0]);
    start(&["model", "confirm", "antropic", "x"]).fails(2, "R2035");
    start(&["model", "confirm", "openai", &format!("127.0.0.1:{}", server.port)]).succeeds();
    start(&["run", BEYOND]).fails(4, "R4033");
    assert_eq!(server.heard(), [""; 0]);
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    start(&words).succeeds();
    start(&["run", BEYOND]);
    assert!(server.heard().iter().any(|request| request.contains(KEY)));
}
