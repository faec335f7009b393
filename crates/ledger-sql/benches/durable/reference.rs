//! What `cargo xtask bench` compares the program with. The same events two ways: as bare rows, and as lines for `regent events ingest`.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::bare::Bare;
use crate::{USAGE, content, key, number, rate, value};

/// Writes rows into a file or a PostgreSQL database and prints how many per second. Opening the database is not counted.
pub(crate) async fn write_rows(args: &[String]) {
    let rows = number(args, "--rows").expect(USAGE);
    let bare = match (value(args, "--file"), value(args, "--url")) {
        (Some(file), None) => Bare::sqlite(Path::new(file)),
        (None, Some(url)) => Bare::postgres(url).await,
        _ => panic!("{USAGE}"),
    };
    let mut bare = bare.starting_at(number(args, "--from").unwrap_or(0));
    let started = Instant::now();
    bare.insert(rows).await;
    println!("{:.1}", rate(rows, started));
}

/// Prints events as an adapter for mail would send them, one JSON object per line.
pub(crate) fn print_events(args: &[String]) {
    let from = number(args, "--from").unwrap_or(0);
    let to = from + number(args, "--rows").expect(USAGE);
    let distinct = args.iter().any(|arg| arg == "--distinct-senders");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for n in from..to {
        let key = key(n);
        let (account, source_id) =
            key.split_once(':').and_then(|(_, rest)| rest.split_once(':')).expect("a key");
        let sender = if distinct { format!("sender-{n}@example.com") } else { "lea@example.com".to_owned() };
        let event = json!({
            "adapter": "mail", "account": account, "source_id": source_id, "sender": sender, "content": content(n),
        });
        writeln!(out, "{event}").expect("written");
    }
    out.flush().expect("written");
}
