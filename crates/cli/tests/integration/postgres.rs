//! The real binary on real PostgreSQL servers: what it answers, what it says when the server does not do what it should,
//! and that a password is never shown.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use services::{Address, Flavour, Postgres, Stop};

use crate::process::{Outcome, Regent, Running};
use crate::world::{ANSWER, REQUEST, World, event, events};

const SCHEMA: i64 = ledger_sql::PostgresStore::known_schema();

const SECRET: &str = "open-sesame-4711";

/// A house whose ledger is in a database.
struct House {
    world: World,
    url: String,
}

impl House {
    fn at(url: impl Into<String>) -> Self {
        Self { world: World::new(), url: url.into() }
    }

    fn fresh() -> Self {
        Self::at(shared().create_database().expect("a database"))
    }

    fn regent(&self, args: &[&str]) -> Regent {
        self.world.regent(args).env("REGENT_DATABASE_URL", &self.url)
    }

    fn json(&self, args: &[&str]) -> Vec<Value> {
        self.regent(args).run().succeeds().json()
    }

    /// The keys of the events, in the order in which they were written.
    fn keys(&self) -> Vec<String> {
        let listed = self.json(&["events", "list", "--json", "--limit", "100000"]);
        listed.iter().map(|event| event["key"].as_str().expect("a key").to_owned()).collect()
    }
}

fn shared() -> Address {
    services::shared(Flavour::Plain).expect("a server")
}

fn name_of(url: &str) -> &str {
    url.rsplit('/').next().expect("a name")
}

fn password_of(url: &str) -> &str {
    let login = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@')).expect("a login").0;
    login.split_once(':').expect("a password").1
}

fn hides(outcome: &Outcome, password: &str) {
    assert!(!outcome.stdout.contains(password) && !outcome.stderr.contains(password), "{outcome}");
}

#[test]
fn a_request_is_answered_and_everything_about_it_is_on_record() {
    for (flavour, vectors) in
        [(Flavour::Plain, "no pgvector, the plain fallback"), (Flavour::Vector, "pgvector can be installed")]
    {
        let server = services::shared(flavour).expect("a server");
        let house = House::at(server.create_database().expect("a database"));
        let run = house.regent(&["run", REQUEST]).run().succeeds();
        assert!(run.stdout.starts_with(ANSWER), "{run}");
        house.regent(&["events", "ingest"]).stdin(events(1..=3)).run().succeeds();
        let status = house.json(&["status", "--json"]);
        assert_eq!((&status[0]["today"], &status[0]["unfinished"]), (&json!(1), &json!([])), "{status:?}");
        assert_eq!(status[0]["audit"]["verdict"], "consistent", "{status:?}");
        house.regent(&["status"]).run().succeeds();
        let tasks = house.json(&["tasks", "list", "--json"]);
        let task = tasks[0]["task"].as_str().or(tasks[0]["id"].as_str()).expect("an id").to_owned();
        let why = house.regent(&["why", &task]).run().succeeds();
        assert!(why.stdout.contains("find_files"), "{why}");
        house.regent(&["audit", "verify"]).run().succeeds();
        let doctor = house.regent(&["doctor"]).run().succeeds();
        for word in
            ["PostgreSQL 1", &format!("schema {SCHEMA}"), vectors, "postgres://regent:***@", "fsync = off"]
        {
            assert!(doctor.stdout.contains(word), "`{word}` is missing\n{doctor}");
        }
        house.regent(&["tick"]).run().succeeds();
        assert!(!house.world.database().exists(), "there is no file beside it");
        if flavour == Flavour::Vector {
            server.run_at(&house.url, "CREATE EXTENSION vector SCHEMA public").expect("create");
            let doctor = house.regent(&["doctor"]).run().succeeds();
            assert!(doctor.stdout.contains(&format!("schema {SCHEMA}, pgvector 0.")), "{doctor}");
        }
    }
}

#[test]
fn the_password_is_hidden_wherever_the_url_is_shown() {
    let house = House::fresh();
    let password = password_of(&house.url).to_owned();
    let commands: [&[&str]; 9] = [
        &["config", "show", "--origin"],
        &["config", "show", "--origin", "--json"],
        &["paths"],
        &["paths", "--json"],
        &["init", "--yes"],
        &["doctor"],
        &["doctor", "--json"],
        &["run", REQUEST],
        &["status"],
    ];
    for args in commands {
        let outcome = house.regent(args).run().succeeds();
        hides(&outcome, &password);
        let shows = !["run", "status"].contains(&args[0]);
        assert_eq!(outcome.stdout.contains("regent:***@"), shows, "{outcome}");
    }
    let origin = house.regent(&["config", "show", "--origin"]).run().succeeds();
    assert!(origin.stdout.contains("REGENT_DATABASE_URL"), "{origin}");
    // Nor is it written down anywhere.
    for entry in std::fs::read_dir(house.world.data()).expect("data") {
        let path = entry.expect("entry").path();
        let bytes = if path.is_file() { std::fs::read(&path).expect("read") } else { Vec::new() };
        assert!(!String::from_utf8_lossy(&bytes).contains(&password), "{}", path.display());
    }
}

/// Where libpq looks for a password, too.
#[test]
fn a_password_comes_from_the_environment_or_from_a_file_of_the_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let house = House::fresh();
    let password = password_of(&house.url).to_owned();
    let url = house.url.replace(&format!(":{password}@"), "@");
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join(".pgpass");
    std::fs::write(&file, format!("127.0.0.1:*:{}:regent:{password}\n", name_of(&url))).expect("written");
    let regent = |args: &[&str]| house.world.regent(args).env("REGENT_DATABASE_URL", &url);
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (home, file_name) = (text(folder.path()), text(&file));
    let set_mode =
        |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("set");
    regent(&["init", "--yes"]).env("PGPASSWORD", &password).run().succeeds();
    set_mode(0o600);
    hides(&regent(&["status"]).env("HOME", &home).run().succeeds(), &password);
    regent(&["status"]).env("PGPASSFILE", &file_name).run().succeeds();
    // The variable counts before the file.
    regent(&["status"]).env("HOME", &home).env("PGPASSWORD", "a-wrong-one").run().fails(4, "R4020");
    // Others could read it, so it is not used.
    set_mode(0o640);
    hides(&regent(&["status"]).env("HOME", &home).run().fails(4, "R4020"), &password);
    regent(&["status"]).run().fails(4, "R4020");
}

/// Every way into the database.
const COMMANDS: [&[&str]; 3] = [&["run", REQUEST], &["status"], &["events", "ingest"]];

/// Each command fails with this code, says what to do, and shows no password; `explain` knows the code, `doctor` names it.
fn all_refuse(url: &str, code: &str, words: &[&str]) {
    let house = House::at(url);
    for args in COMMANDS {
        let outcome = house.regent(args).stdin(event("late", "x")).run().fails(4, code).says(words);
        assert_eq!(outcome.stdout, "", "{outcome}");
        assert!(outcome.remedies().contains(&format!("regent explain {code}")), "{outcome}");
        hides(&outcome, password_of(url));
    }
    let outcome = house.regent(&["status", "--json"]).run().fails(4, code);
    assert_eq!(outcome.json()[0]["problem"]["code"], code, "{outcome}");
    hides(&outcome, password_of(url));
    let doctor = house.regent(&["doctor"]).run().fails(1, "R1004");
    assert!(doctor.stdout.contains(&format!("regent explain {code}")), "{doctor}");
    hides(&doctor, password_of(url));
    house.regent(&["explain", code]).run().succeeds();
}

#[test]
fn who_cannot_be_reached_is_r4018() {
    let folder = tempfile::tempdir().expect("folder");
    let socket = folder.path().to_string_lossy().replace('/', "%2F");
    all_refuse(&format!("postgres://ada:{SECRET}@127.0.0.1:1/regent"), "R4018", &["127.0.0.1:1", "ada:***"]);
    all_refuse(&format!("postgres://ada:{SECRET}@{socket}:5432/regent"), "R4018", &["ada:***"]);
    all_refuse(&format!("postgres://ada:{SECRET}@localhost.invalid/regent"), "R4018", &["localhost.invalid"]);
    all_refuse(&format!("postgres://ada:{SECRET}@127.0.0.1:port/regent"), "R4018", &["port"]);
}

#[test]
fn who_does_not_let_us_in_is_r4020() {
    let (server, url) = (shared(), shared().create_database().expect("a database"));
    let name = name_of(&url);
    let (owner, guest) = (format!("owner_of_{name}"), format!("guest_of_{name}"));
    let roles = format!(
        "CREATE ROLE {owner} LOGIN PASSWORD '{SECRET}'; CREATE ROLE {guest} LOGIN PASSWORD '{SECRET}';
         CREATE SCHEMA brainframe AUTHORIZATION {owner}"
    );
    server.run_at(&url, &roles).expect("roles");
    all_refuse(&server.url_as(&guest, "a-wrong-one", name), "R4020", &[&guest]);
    all_refuse(&server.url_as("nobody_at_all", SECRET, name), "R4020", &["nobody_at_all"]);
    all_refuse(&server.url("no_such_database"), "R4020", &["no_such_database"]);
    all_refuse(&server.url_as(&guest, SECRET, name), "R4020", &[&guest, &owner]);
    House::at(server.url_as(&owner, SECRET, name)).regent(&["run", REQUEST]).run().succeeds();
    all_refuse(&server.url_as(&guest, SECRET, name), "R4020", &[&guest, &owner]);
}

#[test]
fn what_is_not_ours_or_not_fit_has_its_code() {
    let server = shared();
    let foreign = server.create_database().expect("a database");
    server
        .run_at(&foreign, "CREATE SCHEMA brainframe; CREATE TABLE brainframe.recipes (name text)")
        .expect("create");
    all_refuse(&foreign, "R4005", &["brainframe"]);
    let newer = House::fresh();
    newer.regent(&["init", "--yes"]).run().succeeds();
    server.run_at(&newer.url, "INSERT INTO brainframe.schema_migrations VALUES (99, 'x')").expect("insert");
    all_refuse(&newer.url, "R4004", &["99"]);
    let old = services::shared(Flavour::Old).expect("a server").create_database().expect("a database");
    all_refuse(&old, "R4021", &["PostgreSQL 14", "PostgreSQL 15"]);
    let read_only = server.create_database().expect("a database");
    let sql = format!("ALTER DATABASE {} SET default_transaction_read_only = on", name_of(&read_only));
    server.run_at(&read_only, &sql).expect("alter");
    all_refuse(&read_only, "R4001", &["read-only"]);
}

#[test]
fn no_connection_left_is_r4019_and_waited_for() {
    let few = [("max_connections", "3"), ("superuser_reserved_connections", "0")];
    let server = Postgres::start_with(Flavour::Plain, &few).expect("a server");
    let house = House::at(server.create_database().expect("a database"));
    house.regent(&["init", "--yes"]).run().succeeds();
    let mut taken: Vec<_> = (0..3).map(|_| hold(&server)).collect();
    let outcome = house.regent(&["status"]).run().fails(4, "R4019");
    hides(&outcome, password_of(&house.url));
    house.regent(&["explain", "R4019"]).run().succeeds();
    // Freed while it waits, it goes on.
    let before = server.refusals();
    let running = house.regent(&["run", REQUEST]).start();
    while server.refusals() == before {
        std::thread::sleep(Duration::from_millis(10));
    }
    taken.drain(..).for_each(drop);
    let outcome = running.finish().succeeds();
    assert!(outcome.stdout.starts_with(ANSWER), "{outcome}");
}

/// A connection of somebody else, for as long as it is held.
fn hold(server: &Address) -> sql_connection::Held {
    sql_connection::Held::open(&server.admin_url())
}

mod sql_connection {
    use tokio::runtime::Runtime;
    use tokio_postgres::Client;

    use crate::postgres_client::connect;

    pub(crate) struct Held {
        runtime: Runtime,
        client: Client,
    }

    impl Held {
        pub(crate) fn open(url: &str) -> Self {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
            let mut tries = 0;
            loop {
                // One that was just closed takes a moment to be free.
                match runtime.block_on(connect(url)) {
                    Ok(client) => return Self { runtime, client },
                    Err(error) => assert!(tries < 100, "{error}"),
                }
                tries += 1;
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }

        pub(crate) fn execute(&mut self, sql: &str) {
            self.runtime.block_on(self.client.batch_execute(sql)).expect("execute");
        }
    }
}

#[test]
fn a_lock_that_nobody_lets_go_is_r4006() {
    let house = House::fresh();
    house.regent(&["init", "--yes"]).run().succeeds();
    let mut other = sql_connection::Held::open(&house.url);
    other.execute(&format!("BEGIN; SELECT pg_advisory_xact_lock({})", 0x7265_6765_6E74_i64));
    house.regent(&["status"]).run().succeeds();
    house.regent(&["run", REQUEST]).run().fails(4, "R4006");
    other.execute("ROLLBACK");
    house.regent(&["run", REQUEST]).run().succeeds();
}

/// A sender that waits for each answer, while the server goes away twice. The process goes on by itself.
#[test]
fn events_come_in_once_while_the_server_stops_and_resumes() {
    const LINES: u32 = 120;
    let mut server = Postgres::start(Flavour::Plain).expect("a server");
    let house = House::at(server.create_database().expect("a database"));
    let mut running = house.regent(&["events", "ingest"]).start();
    let mut stdin = running.take_stdin();
    let mut acknowledged = Vec::new();
    for n in 0..LINES {
        if let Some(how) = match n {
            40 => Some(Stop::Immediate),
            80 => Some(Stop::Fast),
            _ => None,
        } {
            server.stop(how);
        }
        stdin.write_all(event(&n.to_string(), "hello").as_bytes()).expect("it reads");
        if server.pid().is_none() {
            std::thread::sleep(Duration::from_millis(500));
            server.resume().expect("it starts again");
        }
        let answer: Value = serde_json::from_str(&running.line()).expect("an answer");
        assert_eq!(answer["new"], true, "{answer}");
        acknowledged.push(answer["key"].as_str().expect("a key").to_owned());
    }
    drop(stdin);
    running.finish().succeeds();
    let mut keys = house.keys();
    keys.sort_unstable();
    acknowledged.sort_unstable();
    assert_eq!(keys, acknowledged);
    house.regent(&["audit", "verify"]).run().succeeds();
}

/// Away for too long, it says so; what was acknowledged before is there, and the rest comes in when it is sent again.
#[test]
fn a_server_that_stays_away_ends_the_ingest_and_it_can_be_sent_again() {
    let mut server = Postgres::start(Flavour::Plain).expect("a server");
    let house = House::at(server.create_database().expect("a database"));
    let mut running = house.regent(&["events", "ingest"]).start();
    let mut stdin = running.take_stdin();
    stdin.write_all(event("1", "one").as_bytes()).expect("it reads");
    let answer: Value = serde_json::from_str(&running.line()).expect("an answer");
    assert_eq!(answer["new"], true);
    server.stop(Stop::Immediate);
    stdin.write_all(event("2", "two").as_bytes()).expect("it reads");
    let begun = Instant::now();
    let outcome = running.finish().fails(4, "R4018").says(&["what was acknowledged is safe"]);
    assert!((Duration::from_secs(8)..Duration::from_secs(20)).contains(&begun.elapsed()), "{outcome}");
    assert_eq!(outcome.stdout, "", "{outcome}");
    drop(stdin);
    server.resume().expect("it starts again");
    let again =
        house.regent(&["events", "ingest"]).stdin(event("1", "one") + &event("2", "two")).run().succeeds();
    let new: Vec<Value> = again.json().iter().map(|answer| answer["new"].clone()).collect();
    assert_eq!(new, [false, true]);
    assert_eq!(house.keys().len(), 2);
}

#[test]
fn two_houses_cannot_share_a_database() {
    let first = House::fresh();
    first.regent(&["run", REQUEST]).run().succeeds();
    let before = first.keys();
    let second = House::at(first.url.clone());
    for args in [["run", REQUEST].as_slice(), &["events", "ingest"]] {
        let outcome = second.regent(args).stdin(event("1", "one")).run().fails(4, "R4022");
        assert_eq!(outcome.stdout, "", "{outcome}");
        assert!(outcome.remedies().contains(&"regent explain R4022".to_owned()), "{outcome}");
    }
    second.regent(&["explain", "R4022"]).run().succeeds();
    assert_eq!(first.keys(), before);
    first.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn others_work_beside_a_process_that_is_at_work() {
    let house = House::fresh();
    let mut first = house.regent(&["events", "ingest"]).start();
    let mut stdin = first.take_stdin();
    for n in 0..5 {
        stdin.write_all(event(&n.to_string(), "hello").as_bytes()).expect("it reads");
        assert!(first.line().contains("\"new\":true"));
        let run = house.regent(&["run", REQUEST]).run().succeeds();
        assert!(run.stdout.starts_with(ANSWER), "{run}");
        house.regent(&["status"]).run().succeeds();
    }
    drop(stdin);
    first.finish().succeeds();
    // And all at once, in a house that is not there yet.
    let house = House::fresh();
    let running: Vec<Running> = (0..8).map(|_| house.regent(&["run", REQUEST]).start()).collect();
    for running in running {
        let outcome = running.finish().succeeds();
        assert!(outcome.stdout.starts_with(ANSWER), "{outcome}");
    }
    let status = house.json(&["status", "--json"]);
    assert_eq!((&status[0]["today"], &status[0]["unfinished"]), (&json!(8), &json!([])));
    house.regent(&["audit", "verify"]).run().succeeds();
}

/// What is in the file stays in the file, to the byte, and is there again without the setting.
#[test]
fn a_house_with_a_file_begins_afresh_in_a_database() {
    let world = World::lived_in();
    let before = (world.record(), files(&world.data()));
    let house = House { world, url: shared().create_database().expect("a database") };
    assert_eq!(house.keys(), Vec::<String>::new());
    let run = house.regent(&["run", REQUEST]).run().succeeds();
    assert!(run.stdout.starts_with(ANSWER), "{run}");
    house.regent(&["doctor"]).run().succeeds();
    assert_eq!(house.json(&["status", "--json"])[0]["today"], 1);
    assert_eq!(files(&house.world.data()), before.1);
    // By the file of settings, too.
    let settings = format!("[database]\nurl = \"{}\"\n", house.url);
    house.world.write_settings(settings);
    let status = house.world.regent(&["status", "--json"]).run().succeeds().json();
    assert_eq!(status[0]["today"], 1);
    house.world.write_settings("");
    assert_eq!(house.world.record(), before.0);
}

/// The files of the database and the keys, with their bytes.
fn files(data: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in [data.to_owned(), data.join("keys")] {
        for entry in std::fs::read_dir(folder).expect("folder") {
            let path = entry.expect("entry").path();
            // The index of SQLite's log is shared memory: it changes by being looked at.
            if path.is_file() && !path.to_string_lossy().ends_with("-shm") {
                found.insert(path.display().to_string(), std::fs::read(&path).expect("read"));
            }
        }
    }
    found
}

/// Waits until the program has its own idea of what the signal means.
fn listens(running: &mut Running) {
    let bit = 1_u64 << (Signal::SIGINT as i32 - 1);
    while !running.has_ended() {
        let caught = running.status("SigCgt:").unwrap_or_default();
        if u64::from_str_radix(&caught, 16).is_ok_and(|mask| mask & bit != 0) {
            return;
        }
        std::thread::yield_now();
    }
    panic!("it ended before it listened");
}

fn is_interrupted_at_once(mut running: Running) {
    listens(&mut running);
    std::thread::sleep(Duration::from_millis(300)); // until it waits
    assert!(!running.has_ended(), "it waits");
    let begun = Instant::now();
    running.signal(Signal::SIGINT);
    let outcome = running.finish();
    assert_eq!(outcome.exit, Some(130), "{outcome}");
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}\n{outcome}", begun.elapsed());
}

#[test]
fn whoever_waits_for_a_server_can_be_interrupted() {
    let mut server = Postgres::start(Flavour::Plain).expect("a server");
    let house = House::at(server.create_database().expect("a database"));
    house.regent(&["init", "--yes"]).run().succeeds();
    // One that says nothing, while it is opened.
    server.pause();
    for args in COMMANDS {
        let mut running = house.regent(args).start();
        let mut stdin = running.take_stdin();
        drop(stdin.write_all(event("1", "one").as_bytes()));
        is_interrupted_at_once(running);
    }
    server.unpause();
    // One that went away in the middle of the work.
    let mut running = house.regent(&["events", "ingest"]).start();
    let mut stdin = running.take_stdin();
    stdin.write_all(event("1", "one").as_bytes()).expect("it reads");
    assert!(running.line().contains("\"new\":true"));
    server.stop(Stop::Immediate);
    stdin.write_all(event("2", "two").as_bytes()).expect("it reads");
    is_interrupted_at_once(running);
    server.resume().expect("it starts again");
    assert_eq!(house.keys().len(), 1);
    house.regent(&["audit", "verify"]).run().succeeds();
}

/// What SQLite takes, PostgreSQL takes, and the answers are the same: its texts hold no zero byte, ours never have one.
#[test]
fn odd_lines_are_answered_as_on_sqlite() {
    let odd = |field: &str, value: Value| {
        let mut line = json!({ "adapter": "demo", "source_id": "1", "sender": "lea", "content": "x" });
        line[field] = value;
        format!("{line}\n")
    };
    let mut lines = String::new();
    for field in [
        "adapter",
        "source_id",
        "sender",
        "content",
        "container_id",
        "account",
        "platform",
        "content_type",
        "watermark",
    ] {
        for value in ["a\0b", "\u{1F980}", "\u{FFFF}", "a\u{202E}b", "'; DROP TABLE events; --", ""] {
            lines.push_str(&odd(field, json!(value)));
        }
    }
    lines.push_str(&odd("metadata", json!({ "a\0": ["\0", 1e300, -0.0, null] })));
    for time in [
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999Z",
        "1969-12-31T23:59:59.999999Z",
        "-009999-01-02T00:00:00Z",
    ] {
        lines.push_str(&odd("occurred_at", json!(time)));
    }
    lines.push_str(&odd("content", json!("y".repeat(200_000))));
    let answers = |regent: Regent| -> (Option<i32>, Vec<Value>) {
        let outcome = regent.stdin(lines.clone()).run();
        let mut answers = outcome.json();
        answers.iter_mut().for_each(|answer| answer["id"] = Value::Null);
        (outcome.exit, answers)
    };
    let (file, house) = (World::new(), House::fresh());
    let on_file = answers(file.regent(&["events", "ingest"]));
    assert_eq!(on_file.1.len(), lines.lines().count());
    assert_eq!(answers(house.regent(&["events", "ingest"])), on_file);
    let shown = |regent: Regent| -> Vec<Value> {
        let mut events = regent.run().succeeds().json();
        for event in &mut events {
            (event["id"], event["received_at"]) = (Value::Null, Value::Null);
            if event["occurred_at"].as_str().is_some_and(|time| time.starts_with("20")) {
                event["occurred_at"] = Value::Null;
            }
            event["seq"] = Value::Null;
        }
        events
    };
    let list = ["events", "list", "--json", "--limit", "1000"];
    assert_eq!(shown(house.regent(&list)), shown(file.regent(&list)));
    house.regent(&["audit", "verify"]).run().succeeds();
}
