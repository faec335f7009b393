//! What an event costs until it is durable, beside bare inserts in the same run: `cargo bench -p ledger-sql --bench durable -- <what>`.
//!
//! It prints and judges nothing but counts: a timed test fails on a busy machine for no fault of the code. What is
//! lost or doubled, however, ends it.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a tool for the terminal that measures time"
)]

mod bare;
mod ours;
mod reference;
mod verify;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ledger::Store;
use ledger_sql::{PostgresStore, SqliteStore};
use services::{Flavour, Postgres};

use bare::Bare;
use ours::Ours;

/// Rows in one bare transaction, and writers of ours in flight.
const TOGETHER: u64 = 64;

const USAGE: &str = "usage: cargo bench -p ledger-sql --bench durable -- <what>\n  \
                     writers|growth|verify [--postgres] [--events N]\n  \
                     bare --rows N [--from N] --file FILE | --url URL\n  \
                     events --rows N [--from N] [--distinct-senders]";

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.first().map(String::as_str) {
        Some("bare") => return reference::write_rows(&args).await,
        Some("events") => return reference::print_events(&args),
        _ => {}
    }
    let events = number(&args, "--events");
    let folder = tempfile::tempdir_in(disk()).expect("a folder");
    let postgres = args.iter().any(|arg| arg == "--postgres");
    let server = postgres.then(|| Postgres::start(Flavour::Plain).expect("a server"));
    let place = Place { folder: folder.path(), server: server.as_ref() };
    match args.first().map(String::as_str) {
        Some("writers") => writers(&place, events.unwrap_or(100_000)).await,
        Some("verify") => verify::measure(&place, events.unwrap_or(300_000)).await,
        Some("growth") => growth(&place, events.unwrap_or(1_000_000)).await,
        _ => println!("{USAGE}"),
    }
}

/// What follows a flag.
fn value<'a>(args: &'a [String], flag: &str) -> Option<&'a str> {
    args.iter().skip_while(|arg| *arg != flag).nth(1).map(String::as_str)
}

fn number(args: &[String], flag: &str) -> Option<u64> {
    value(args, flag).map(|number| number.parse().expect(USAGE))
}

/// Where things are built: a file system with a disk, unlike perhaps the folder for what is temporary.
fn disk() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    program.parent().expect("a folder").to_owned()
}

struct Place<'a> {
    folder: &'a Path,
    server: Option<&'a Postgres>,
}

impl Place<'_> {
    async fn store(&self) -> Arc<dyn Store> {
        match self.server {
            None => Arc::new(SqliteStore::open(&self.folder.join("ours.db")).await.expect("a database")),
            Some(server) => {
                let url = server.create_database().expect("a database");
                Arc::new(PostgresStore::open(&url).await.expect("a schema"))
            }
        }
    }

    async fn ours(&self) -> Ours {
        Ours::begin(self.store().await).await
    }

    async fn bare(&self) -> Bare {
        match self.server {
            None => Bare::sqlite(&self.folder.join("bare.db")),
            Some(server) => Bare::postgres(&server.create_database().expect("a database")).await,
        }
    }
}

/// Rounds of both, one after the other, so that the machine's moods hit both.
async fn writers(place: &Place<'_>, events: u64) {
    const ROUNDS: u64 = 10;
    let (mut ours, mut bare) = (place.ours().await, place.bare().await);
    let each = (events / ROUNDS).next_multiple_of(TOGETHER);
    println!(
        "| round | bare, rows/s | bare, 64 in one statement | ours, events/s | ours / bare | ours / bare in one statement | \
         batches per transaction | p99 ms | resident MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let (mut ratios, mut harder) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let started = Instant::now();
        bare.insert(each).await;
        let bare_rate = rate(each, started);
        let started = Instant::now();
        bare.insert_at_once(each).await;
        let at_once_rate = rate(each, started);
        let started = Instant::now();
        let written = ours.write(each).await;
        let our_rate = rate(each, started);
        ratios.push(our_rate / bare_rate);
        harder.push(our_rate / at_once_rate);
        println!(
            "| {round} | {bare_rate:.0} | {at_once_rate:.0} | {our_rate:.0} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} |",
            our_rate / bare_rate,
            our_rate / at_once_rate,
            written.per_transaction,
            written.p99.as_secs_f64() * 1e3,
            resident_mb(),
        );
    }
    println!(
        "\nmedian ratios {:.2} and {:.2}; {} events, {}",
        median(ratios),
        median(harder),
        ours.count(),
        ours.check().await
    );
}

/// The cost of one more event when so many are there.
async fn growth(place: &Place<'_>, most: u64) {
    const WINDOW: u64 = 64 * 100;
    let (mut ours, mut bare) = (place.ours().await, place.bare().await);
    println!("| stored | ours, µs/event | bare, µs/row | ours / bare | resident MB |");
    println!("|---|---|---|---|---|");
    let sizes = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];
    for size in sizes.into_iter().filter(|size| *size <= most) {
        ours.write(size.saturating_sub(ours.count())).await;
        bare.insert_at_once(size.saturating_sub(bare.count()).next_multiple_of(TOGETHER)).await;
        let started = Instant::now();
        ours.write(WINDOW).await;
        let our_cost = 1e6 / rate(WINDOW, started);
        let started = Instant::now();
        bare.insert(WINDOW).await;
        let bare_cost = 1e6 / rate(WINDOW, started);
        println!(
            "| {size} | {our_cost:.0} | {bare_cost:.0} | {:.2} | {:.1} |",
            our_cost / bare_cost,
            resident_mb()
        );
    }
    println!("\n{}", ours.check().await);
}

fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or_default()
}

fn rate(count: u64, started: Instant) -> f64 {
    count as f64 / started.elapsed().as_secs_f64()
}

fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kb| kb.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

/// What a person wrote; about 250 bytes.
fn content(n: u64) -> String {
    format!("message number {n}: {}", "lorem ipsum dolor sit amet ".repeat(8))
}

/// Keys as most sources give them: unique and in no order.
fn key(n: u64) -> String {
    format!("mail:home:{}", domain::Digest::of(&n.to_be_bytes()).to_string().get(..32).unwrap_or_default())
}
