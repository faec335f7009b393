//! Worlds that are too large: how long it takes, and that memory does not grow with them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::{call, workspace};

pub(crate) fn measure(folder: &Path, files: usize, gigabytes: usize) {
    println!("each question in a process of its own; memory is its peak resident size\n");
    println!("| world | tool | arguments | s | MB | answer |\n|---|---|---|---|---|---|");
    let nothing = folder.join("nothing/tree");
    fs::create_dir_all(&nothing).expect("a folder");
    ask(&nothing, "an empty folder", "find_files", &json!({}));
    many(folder, files);
    large(folder, gigabytes);
}

/// Half of them in one folder, the others a hundred to a folder.
fn many(folder: &Path, files: usize) {
    let root = folder.join("many/tree");
    let flat = root.join("flat");
    fs::create_dir_all(&flat).expect("a folder");
    for number in 0..files {
        let place = if number % 2 == 0 { flat.clone() } else { root.join(format!("deep/{}", number / 200)) };
        if number % 200 == 1 {
            fs::create_dir_all(&place).expect("a folder");
        }
        File::create(place.join(format!("a_file_with_a_name_{number:07}.txt"))).expect("a file");
    }
    let world = format!("{files} files");
    let questions = [
        json!({ "limit": 0 }),
        json!({ "order": "newest" }),
        json!({ "contains": "needle" }),
        json!({ "measure": ["lines"], "group_by": "folder", "limit": 0 }),
        json!({ "what": "folders", "empty": true }),
    ];
    for args in questions {
        ask(&root, &world, "find_files", &args);
    }
    ask(&root, &world, "glob", &json!({ "pattern": "**/*7.txt" }));
    fs::remove_dir_all(root).expect("it is removed");
}

fn large(folder: &Path, gigabytes: usize) {
    let root = folder.join("large/tree");
    fs::create_dir_all(&root).expect("a folder");
    let mut log = BufWriter::new(File::create(root.join("app.log")).expect("a file"));
    let lines: String =
        (0..10_000).map(|n| format!("2026-01-01T00:00:00Z INFO request {n:06} took 12 ms\n")).collect();
    for _ in 0..gigabytes * 1_000_000_000 / lines.len() {
        log.write_all(lines.as_bytes()).expect("it is written");
    }
    log.write_all(b"the needle stands in the last line").expect("it is written");
    log.flush().expect("it is written");
    // One line without an end, which takes no room on the disk.
    let hole = File::create(root.join("hole.log")).expect("a file");
    hole.set_len(gigabytes as u64 * 1_000_000_000).expect("a hole");
    let world = format!("{gigabytes} GB");
    let questions = [
        ("read_file", json!({ "path": "app.log", "first": 3 })),
        ("read_file", json!({ "path": "app.log", "last": 3 })),
        ("read_file", json!({ "path": "app.log", "from": 50_000_000, "to": 50_000_001 })),
        ("read_file", json!({ "path": "app.log", "containing": "needle" })),
        ("read_file", json!({ "path": "app.log" })),
        ("find_files", json!({ "contains": "needle" })),
        ("find_files", json!({ "contains": "NEEDLE", "any_case": true })),
        ("find_files", json!({ "name": "app.log", "measure": ["lines", "words"] })),
        ("find_files", json!({ "lines_without": "took", "show_matches": 5 })),
        ("read_file", json!({ "path": "hole.log", "last": 1 })),
        ("read_file", json!({ "path": "hole.log", "containing": "x" })),
    ];
    for (tool, args) in questions {
        ask(&root, &world, tool, &args);
    }
}

fn ask(root: &Path, world: &str, tool: &str, args: &Value) {
    let program = std::env::current_exe().expect("this program");
    let question = [root.to_string_lossy().into_owned(), tool.to_owned(), args.to_string()];
    let output = Command::new(program).arg("one").args(question).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    println!("| {world} | {tool} | `{args}` | {} |", said.trim());
}

/// One question, in a process that does nothing else.
pub(crate) fn one(root: &Path, tool: &str, args: &str) {
    let args: Value = serde_json::from_str(args).expect("arguments");
    let started = Instant::now();
    let mut record = call(&workspace(root), tool, &args);
    let took = started.elapsed().as_secs_f64();
    let listed = record.pointer("/files").and_then(Value::as_array).map_or(0, Vec::len);
    for long in ["files", "text", "shown", "matches", "groups"] {
        record.as_object_mut().expect("a record").remove(long);
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB").trim();
    let kilobytes: u64 = peak.trim_end_matches(" kB").parse().unwrap_or(0);
    let answer = ["count", "lines", "words", "matching_lines", "complete", "truncated"]
        .iter()
        .filter_map(|name| {
            record.get(*name).filter(|value| !value.is_null()).map(|value| format!("{name} {value}"))
        })
        .collect::<Vec<_>>()
        .join(", ");
    println!("{took:.2} | {} | {answer}, {listed} listed", kilobytes / 1000);
}
