//! What a person reads, for none, one and many.

use super::{output, understood};
use serde_json::{Value, json};

const LEFT_OUT: &str = "\nSubfolders included; hidden files, ignored files and links left out.";

fn file(path: &str, bytes: u64, modified: &str) -> Value {
    json!({ "path": path, "bytes": bytes, "modified": modified, "matching_lines": null, "matches": [] })
}

fn matching(path: &str, lines: u64, line: u64, text: &str) -> Value {
    json!({
        "path": path, "bytes": 9, "modified": "2026-11-15T08:30:00Z",
        "matching_lines": lines, "matches": [{ "line": line, "text": text }],
    })
}

fn found(count: u64, files: &[Value]) -> Value {
    json!({
        "count": count, "bytes": 0, "files": files, "complete": true, "unreadable": 0,
        "left_out": "hidden files, ignored files and links", "binary_skipped": 0,
    })
}

fn answer(request: &str, record: Value) -> String {
    output(&understood(request), 0, Ok(record))
}

#[test]
fn about_files() {
    let a = || file("a.rs", 812, "2026-11-15T10:30:59+02:00");
    let b = || file("b/b.rs", 1, "2026-11-14T00:00:00Z");
    let table = [
        ("how many rust files are here", found(0, &[]), "No Rust files."),
        ("how many rust files are here", found(1, &[a()]), "1 Rust file."),
        ("how many rust files are in src", found(57, &[a()]), "57 Rust files under src."),
        ("how many files contain x", found(0, &[]), "No files contain `x`."),
        ("how many files contain x", found(1, &[a()]), "1 file contains `x`."),
        ("how many files named a* contain x", found(2, &[a()]), "2 files named `a*` contain `x`."),
        ("how many rust files are here and which is the largest", found(0, &[]), "No Rust files."),
        (
            "how many rust files are here and which is the largest",
            found(1, &[a()]),
            "1 Rust file: a.rs (812 bytes).",
        ),
        (
            "how many rust files are here and which is the newest",
            found(2, &[a()]),
            "2 Rust files; the newest is a.rs (2026-11-15 08:30 UTC).",
        ),
        (
            "how many files are there, and what are the 2 newest?",
            found(3, &[a(), b()]),
            "3 files; the 2 newest:\na.rs (2026-11-15 08:30 UTC)\nb/b.rs (2026-11-14 00:00 UTC)",
        ),
        (
            "how many files are there, and what are the 3 largest?",
            found(2, &[a(), b()]),
            "2 files, largest first:\na.rs (812 bytes)\nb/b.rs (1 byte)",
        ),
        ("the largest rust file under src", found(0, &[]), "No Rust files under src."),
        (
            "the largest rust file under src",
            found(9, &[b()]),
            "The largest Rust file under src is b/b.rs (1 byte).",
        ),
        ("the largest rust file", found(1, &[b()]), "The largest Rust file is b/b.rs (1 byte)."),
        (
            "the newest file containing x",
            found(9, &[b()]),
            "The newest file that contains `x` is b/b.rs (2026-11-14 00:00 UTC).",
        ),
        (
            "the 2 largest files",
            found(9, &[a(), b()]),
            "The 2 largest files:\na.rs (812 bytes)\nb/b.rs (1 byte)",
        ),
        ("the 5 largest files", found(1, &[a()]), "Only 1 file, largest first:\na.rs (812 bytes)"),
        ("the largest file", found(9, &[]), "9 files, but none of them is named."),
        ("list rust files", found(0, &[]), "No Rust files."),
        ("list rust files", found(1, &[a()]), "a.rs\n1 Rust file."),
        ("list rust files", found(2, &[a(), b()]), "a.rs\nb/b.rs\n2 Rust files."),
        ("list rust files", found(414, &[a(), b()]), "a.rs\nb/b.rs\n… and 412 more\n414 Rust files."),
        ("list src/*.rs", found(1, &[a()]), "a.rs\n1 file matching `src/*.rs`."),
    ];
    for (request, record, expected) in table {
        assert_eq!(answer(request, record), format!("{expected}{LEFT_OUT}"), "{request}");
    }
}

#[test]
fn about_text_in_files() {
    let a = || matching("a.rs", 1, 12, "  // TODO");
    let b = || matching("b.rs", 6, 1, "TODO");
    let table = [
        (found(0, &[]), "No files contain `TODO`."),
        (found(1, &[a()]), "1 file contains `TODO` (1 line):\na.rs:12:   // TODO"),
        (found(2, &[a(), b()]), "2 files contain `TODO` (7 lines):\na.rs:12:   // TODO\nb.rs:1: TODO"),
        (
            found(5, &[a(), b()]),
            "5 files contain `TODO` (7 lines in the first 2):\na.rs:12:   // TODO\nb.rs:1: TODO\n… and 3 more",
        ),
    ];
    for (record, expected) in table {
        assert_eq!(answer("search for TODO", record), format!("{expected}{LEFT_OUT}"));
    }
}

#[test]
fn about_lines_of_one_file() {
    let read = |matching_lines: Option<u64>, truncated: bool, matches: Value| {
        json!({
            "path": "a.md", "bytes": 9, "lines": 9, "text": "…", "truncated": truncated, "valid_utf8": true,
            "matching_lines": matching_lines, "matches": matches,
        })
    };
    let one = json!([{ "line": 3, "text": "x y" }]);
    let table = [
        (read(Some(0), false, json!([])), "a.md does not contain `x`."),
        (read(Some(1), false, one.clone()), "1 line of a.md contains `x`:\na.md:3: x y"),
        (read(Some(8), false, one.clone()), "8 lines of a.md contain `x`:\na.md:3: x y\n… and 7 more"),
        (
            read(Some(0), true, json!([])),
            "The part of a.md that was read does not contain `x`.\nNot the whole file was read, so there may be more.",
        ),
        (read(None, false, one), "There is no answer: a.md was read, but not searched."),
    ];
    for (record, expected) in table {
        assert_eq!(answer("search for x in a.md", record), expected);
    }
}

#[test]
fn what_was_not_looked_at_is_said() {
    let mut record = found(0, &[]);
    record["complete"] = json!(false);
    record["unreadable"] = json!(1);
    record["binary_skipped"] = json!(4);
    let unread = "Not every folder could be read, so there may be more.\n1 file or folder could not be read.";
    assert_eq!(answer("count files", record.clone()), format!("No files.\n{unread}{LEFT_OUT}"));
    assert_eq!(
        answer("search for x", record),
        format!("No files contain `x`.\n{unread}\n4 binary files were not searched.{LEFT_OUT}")
    );
}

#[test]
fn sizes_are_in_thousands_with_one_decimal() {
    let table = [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (18_249, "18.2 kB"),
        (18_250, "18.3 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (2_500_000_000, "2.5 GB"),
        (u64::MAX, "18.4 EB"),
    ];
    for (bytes, expected) in table {
        let record = found(2, &[file("a", bytes, "")]);
        let expected = format!("The largest file is a ({expected}).{LEFT_OUT}");
        assert_eq!(answer("the largest file", record), expected);
    }
}
