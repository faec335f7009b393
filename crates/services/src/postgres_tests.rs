//! Real servers: what `Postgres` promises, on every flavour that it matters for.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{FAST, Flavour, Postgres, Stop, shared};
use nix::sys::signal::kill;
use nix::unistd::Pid;

/// Set: this process is the one that is to be killed.
const VICTIM: &str = "SERVICES_VICTIM";

fn is_alive(pid: i32) -> bool {
    // One that has ended and was not waited for yet does not count; only Linux says so.
    let is_dead = std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')));
    kill(Pid::from_raw(pid), None).is_ok() && !is_dead
}

fn comes_true(mut condition: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !condition() {
        if started.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

#[test]
fn what_was_committed_is_there_after_a_crash() {
    let mut server = Postgres::start(Flavour::Plain).unwrap();
    assert_eq!(server.run("postgres", "SHOW fsync; SHOW synchronous_commit").unwrap(), "on\non");
    let url = server.create_database().unwrap();
    server.run_at(&url, "CREATE TABLE notes (text text); INSERT INTO notes VALUES ('still there')").unwrap();
    let pid = server.pid();
    for how in [Stop::Immediate, Stop::Fast] {
        server.stop(how);
        assert_eq!(server.pid(), None);
        assert!(server.run_at(&url, "SELECT 1").unwrap_err().contains("Connection refused"));
        server.resume().unwrap();
        assert_eq!(server.run_at(&url, "SELECT * FROM notes").unwrap(), "still there", "{how:?}");
    }
    assert_ne!(server.pid(), pid);
}

#[test]
fn plain_is_new_enough_without_vector_and_sorts_as_people_do() {
    let server = shared(Flavour::Plain).unwrap();
    let url = server.create_database().unwrap();
    let version: u32 = server.run_at(&url, "SHOW server_version_num").unwrap().parse().unwrap();
    assert!(version >= 150_000, "{version}");
    let error = server.run_at(&url, "CREATE EXTENSION vector").unwrap_err();
    assert!(error.contains("vector"), "{error}");
    assert_eq!(server.run_at(&url, "SELECT 'a' < 'B', 'a' < 'B' COLLATE \"C\"").unwrap(), "t|f");
}

#[test]
fn vector_has_pgvector() {
    let server = shared(Flavour::Vector).unwrap();
    let url = server.create_database().unwrap();
    let sql = "CREATE EXTENSION vector; SELECT '[1,2]'::vector <-> '[1,5]'::vector";
    assert_eq!(server.run_at(&url, sql).unwrap(), "3");
}

#[test]
fn old_is_14() {
    let server = Postgres::start_with(Flavour::Old, FAST).unwrap();
    let version = server.run("postgres", "SHOW server_version").unwrap();
    assert!(version.starts_with("14."), "{version}");
}

#[test]
fn only_its_owner_gets_in_and_only_with_the_password() {
    let server = shared(Flavour::Plain).unwrap();
    let wrong = server.run_at(&server.url_as("regent", "guess", "postgres"), "SELECT 1").unwrap_err();
    assert!(wrong.contains("password authentication failed for user \"regent\""), "{wrong}");
    let unknown = server.run_at(&server.url_as("postgres", "", "postgres"), "SELECT 1").unwrap_err();
    assert!(unknown.contains("FATAL") || unknown.contains("no password supplied"), "{unknown}");
    assert_eq!(server.run("postgres", "SELECT current_user").unwrap(), "regent");
}

#[test]
fn settings_are_those_given_and_the_socket_leads_to_the_same_server() {
    let settings = [("max_connections", "5"), ("cluster_name", "it's mine")];
    let server = Postgres::start_with(Flavour::Plain, &[FAST, &settings].concat()).unwrap();
    let sql = "SHOW max_connections; SHOW cluster_name; SHOW fsync";
    assert_eq!(server.run("postgres", sql).unwrap(), "5\nit's mine\noff");
    assert_eq!(server.run_at(&server.socket_url("postgres"), sql).unwrap(), "5\nit's mine\noff");
    let error = Postgres::start_with(Flavour::Plain, &[("max_connections", "many")]).unwrap_err();
    assert!(error.contains("max_connections"), "{error}");
}

#[test]
fn sql_that_fails_says_why_and_stops_there() {
    let server = shared(Flavour::Plain).unwrap();
    let url = server.create_database().unwrap();
    let error = server.run_at(&url, "CREATE TABLE one (); SELECT nonsense; CREATE TABLE two ()").unwrap_err();
    assert!(error.contains("column \"nonsense\" does not exist"), "{error}");
    assert_eq!(server.run_at(&url, "SELECT to_regclass('one'), to_regclass('two')").unwrap(), "one|");
}

#[test]
fn much_goes_in_and_much_comes_out() {
    let server = shared(Flavour::Plain).unwrap();
    let one = "SELECT repeat('x', 99);\n";
    let rows = server.run("postgres", &one.repeat(5000)).unwrap();
    assert_eq!(rows.len(), 5000 * 100 - 1);
}

#[test]
fn a_server_that_is_paused_goes_on_later_and_can_be_stopped() {
    let mut server = Postgres::start_with(Flavour::Plain, FAST).unwrap();
    server.pause();
    server.unpause();
    assert_eq!(server.run("postgres", "SELECT 1").unwrap(), "1");
    server.pause();
    server.stop(Stop::Fast);
    server.resume().unwrap();
    assert_eq!(server.run("postgres", "SELECT 1").unwrap(), "1");
}

#[test]
fn a_port_that_was_taken_meanwhile_is_said_and_tried_again() {
    let mut server = Postgres::start_with(Flavour::Plain, FAST).unwrap();
    server.stop(Stop::Fast);
    let other = TcpListener::bind(("127.0.0.1", server.port())).unwrap();
    let taken = format!("another process has taken the port {} meanwhile", server.port());
    assert_eq!(server.resume(), Err(taken));
    drop(other);
    assert_eq!(server.resume(), Ok(()));
    assert_eq!(server.run("postgres", "SELECT 1").unwrap(), "1");
}

#[test]
fn two_servers_do_not_meet_and_dropping_one_leaves_nothing_of_it() {
    let one = Postgres::start_with(Flavour::Plain, FAST).unwrap();
    let two = Postgres::start_with(Flavour::Plain, FAST).unwrap();
    one.run("postgres", "CREATE TABLE here ()").unwrap();
    assert_eq!(two.run("postgres", "SELECT to_regclass('here')").unwrap(), "");
    let (pid, folder) = (one.pid().unwrap(), one.folder().to_owned());
    assert!(is_alive(pid) && folder.exists());
    drop(one);
    assert!(!is_alive(pid));
    assert!(!folder.exists());
    assert_eq!(two.run("postgres", "SELECT 1").unwrap(), "1");
}

#[test]
fn a_process_that_is_killed_leaves_no_server_and_no_folder() {
    if std::env::var_os(VICTIM).is_some() {
        let server = Postgres::start_with(Flavour::Plain, FAST).unwrap();
        println!("\nstarted {} {}", server.pid().unwrap(), server.folder().display());
        loop {
            std::thread::park();
        }
    }
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "postgres_tests::a_process_that_is_killed_leaves_no_server_and_no_folder",
            "--nocapture",
        ])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.starts_with("started ")).unwrap();
    let [_, pid, folder] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
    let (pid, folder) = (pid.parse().unwrap(), Path::new(folder));
    assert!(is_alive(pid) && folder.exists());
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(comes_true(|| !is_alive(pid)), "the server {pid} lives on");
    assert!(comes_true(|| !folder.exists()), "{} is still there", folder.display());
}
