//! What a person reads, for none, one and many.

use domain::call::Outcome;
use serde_json::{Value, json};

use super::records::{
    calculated, columns, copied, deleted, file, found, groups, hashed, read, renamed, sized, stats, with,
};
use super::{Asked, End, done, failed};

const LEFT_OUT: &str = "\nSubfolders included; hidden files, ignored files and links left out.";

fn end(request: &str, outcomes: &[Value]) -> End {
    let outcomes: Vec<Outcome> = outcomes.iter().cloned().map(Ok).collect();
    Asked::UTC.worked(request, 0, &outcomes).1
}

fn answer(request: &str, record: Value) -> String {
    match end(request, &[record]) {
        End::Done(output) => output,
        other => panic!("{request}: {other:?}"),
    }
}

fn hit(path: &str, lines: u64, matches: &[(u64, &str)]) -> Value {
    let matches: Vec<_> = matches.iter().map(|(line, text)| json!({ "line": line, "text": text })).collect();
    with(file(path), json!({ "matching_lines": lines, "matches": matches }))
}

#[test]
fn files_are_counted_listed_and_ranked() {
    let a = || with(sized("a.rs", 812), json!({ "modified": "2026-11-15T10:30:59+02:00" }));
    let b = || with(sized("b/b.rs", 1), json!({ "modified": "2026-11-14T00:00:00Z" }));
    let both = "how many rust files are here and which is the largest";
    let table = [
        ("how many rust files are here", found(0, &[]), "No Rust files."),
        ("how many rust files are here", found(1, &[a()]), "1 Rust file."),
        ("how many rust files are in src", found(57, &[a()]), "57 Rust files under src."),
        ("how many files contain x", found(0, &[]), "No files contain `x`."),
        ("how many files contain x", found(1, &[a()]), "1 file contains `x`."),
        ("how many files do not contain x", found(1, &[a()]), "1 file does not contain `x`."),
        ("how many files named a* contain x", found(2, &[a()]), "2 files named `a*` contain `x`."),
        ("how many files were modified today", found(2, &[a()]), "2 files modified today."),
        ("how many files are over 1.5 MB", found(0, &[]), "No files larger than 1.5 MB."),
        ("how many folders are there", found(1, &[]), "1 folder."),
        ("how many non-empty files are in src", found(3, &[]), "3 files under src that are not empty."),
        (both, found(0, &[]), "No Rust files."),
        (both, found(1, &[a()]), "1 Rust file: a.rs (812 bytes)."),
        (both, found(2, &[a()]), "2 Rust files; the largest is a.rs (812 bytes)."),
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
        ("the largest rust file in src", found(0, &[]), "No Rust files under src."),
        (
            "the largest rust file in src",
            found(9, &[b()]),
            "The largest Rust file under src is b/b.rs (1 byte).",
        ),
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
        (
            "which file has the most lines",
            found(2, &[with(a(), json!({ "lines": 1 }))]),
            "The file with the most lines is a.rs (1 line).",
        ),
        (
            "which markdown file has the most words",
            found(2, &[with(a(), json!({ "words": 42 }))]),
            "The Markdown file with the most words is a.rs (42 words).",
        ),
        ("list rust files", found(0, &[]), "No Rust files."),
        ("list rust files", found(1, &[a()]), "a.rs\n1 Rust file."),
        ("list rust files", found(2, &[a(), b()]), "a.rs\nb/b.rs\n2 Rust files."),
        ("list rust files", found(414, &[a(), b()]), "a.rs\nb/b.rs\n… and 412 more\n414 Rust files."),
        ("list rust files, biggest first", found(1, &[a()]), "a.rs (812 bytes)\n1 Rust file."),
        ("list src/*.rs", found(1, &[a()]), "a.rs\n1 file matching `src/*.rs`."),
        ("list the folders in src", found(1, &[file("src/a")]), "src/a\n1 folder under src."),
    ];
    for (request, record, expected) in table {
        assert_eq!(answer(request, record), format!("{expected}{LEFT_OUT}"), "{request}");
    }
}

#[test]
fn whether_there_is_one_is_said_first() {
    let a = || file("docs/a.md");
    let table = [
        ("is there a README.md", found(0, &[]), "No, there is no file `README.md` here."),
        ("is there a README.md", found(1, &[a()]), "Yes: docs/a.md."),
        ("are there any python files in src", found(0, &[]), "No, there are no Python files under src."),
        ("are there any markdown files", found(2, &[a(), file("b.md")]), "Yes, 2:\ndocs/a.md\nb.md"),
        ("are there any markdown files", found(200, &[a()]), "Yes, 200:\ndocs/a.md\n… and 199 more"),
    ];
    for (request, record, expected) in table {
        assert_eq!(answer(request, record), expected, "{request}");
    }
}

#[test]
fn files_with_a_text_are_named_with_its_first_line() {
    let request = "which files contain TODO";
    let (a, b) = (hit("a.rs", 1, &[(12, "  // TODO")]), hit("b.rs", 6, &[(1, "TODO")]));
    let with_lines =
        |count, lines: u64, files: &[Value]| with(found(count, files), json!({ "matching_lines": lines }));
    let table = [
        (with_lines(0, 0, &[]), "No files contain `TODO`."),
        (with_lines(1, 1, std::slice::from_ref(&a)), "1 file contains `TODO` (1 line):\na.rs:12: // TODO"),
        (
            with_lines(2, 7, &[a.clone(), b.clone()]),
            "2 files contain `TODO` (7 lines):\na.rs:12: // TODO\nb.rs:1: TODO",
        ),
        (
            with_lines(5, 31, &[a, b]),
            "5 files contain `TODO` (31 lines):\na.rs:12: // TODO\nb.rs:1: TODO\n… and 3 more",
        ),
    ];
    for (record, expected) in table {
        assert_eq!(answer(request, record), format!("{expected}{LEFT_OUT}"));
    }
}

#[test]
fn matching_lines_are_shown_with_where_they_stand() {
    let record =
        |count, lines: u64, files: &[Value]| with(found(count, files), json!({ "matching_lines": lines }));
    let (a, b) = (hit("a.rs", 2, &[(1, "x TODO"), (9, "TODO")]), hit("b.rs", 3, &[(4, "TODO y")]));
    assert_eq!(
        answer("search for TODO in src", record(2, 5, &[a, b])),
        format!(
            "5 lines with `TODO` in 2 files:\na.rs:1: x TODO\na.rs:9: TODO\nb.rs:4: TODO y\n… and 2 more{LEFT_OUT}"
        )
    );
    assert_eq!(
        answer("search for TODO in src", record(0, 0, &[])),
        format!("No line with `TODO` in the files under src.{LEFT_OUT}")
    );
    let log = || found(1, &[file("app.log")]);
    let one = hit("app.log", 1, &[(3, "ERROR 7")]);
    assert_eq!(
        end("show the lines with ERROR in app.log", &[log(), record(1, 1, &[one])]),
        done("1 line with `ERROR` in app.log:\napp.log:3: ERROR 7")
    );
    assert_eq!(
        end("show the lines without INFO in app.log", &[log(), record(0, 0, &[])]),
        done("No line without `INFO` in app.log.")
    );
}

#[test]
fn lines_words_and_occurrences_are_counted() {
    let one = |more: Value| found(1, &[with(file("docs/a.md"), more)]);
    let many = |more: Value| with(found(3, &[file("a"), file("b"), file("c")]), more);
    let table = [
        ("count lines in a.md", one(json!({ "lines": 1 })), "docs/a.md: 1 line."),
        ("how many words are in a.md", one(json!({ "words": 7 })), "docs/a.md: 7 words."),
        (
            "count the words in all markdown files",
            many(json!({ "words": 70 })),
            "70 words in 3 Markdown files.",
        ),
        ("count the lines of all rust files", many(json!({ "lines": 0 })), "0 lines in 3 Rust files."),
        (
            "count the lines with TODO in src",
            many(json!({ "matching_lines": 5 })),
            "5 lines with `TODO` in 3 files.",
        ),
        (
            "how many times does TODO occur in src",
            with(found(1, &[file("a")]), json!({ "occurrences": 1 })),
            "`TODO` once in 1 file.",
        ),
        (
            "how many times does TODO occur in src",
            many(json!({ "occurrences": 8 })),
            "`TODO` 8 times in 3 files.",
        ),
    ];
    for (request, record, expected) in table {
        let whole = if request.ends_with("a.md") { "" } else { LEFT_OUT };
        assert_eq!(answer(request, record), format!("{expected}{whole}"), "{request}");
    }
}

#[test]
fn sizes_are_exact_where_they_are_asked_for() {
    let total = |count, bytes: u64| with(found(count, &[]), json!({ "bytes": bytes }));
    let table = [
        ("how much space do Rust files take", total(1, 999), "1 Rust file has 999 bytes."),
        (
            "how much space do Rust files take",
            total(3, 119_222),
            "3 Rust files together have 119.2 kB (119222 bytes).",
        ),
        ("total size of docs", total(2, 5), "2 files under docs together have 5 bytes."),
    ];
    for (request, record, expected) in table {
        assert_eq!(answer(request, record), format!("{expected}{LEFT_OUT}"), "{request}");
    }
    let one = found(1, &[sized("docs/README.md", 1_500)]);
    assert_eq!(answer("how big is README.md", one), "docs/README.md has 1.5 kB (1500 bytes).");
    assert_eq!(end("how big is README.md", &[found(0, &[])]), failed("There is no file `README.md` here."));
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
        let expected = format!("The largest file is a ({expected}).{LEFT_OUT}");
        assert_eq!(answer("the largest file", found(2, &[sized("a", bytes)])), expected);
    }
}

#[test]
fn files_are_grouped_by_type_and_folder() {
    let grouped = |count, groups: Value, more: u64| {
        with(found(count, &[]), json!({ "groups": groups, "more_groups": more }))
    };
    let group = |value: &str, count: u64| json!({ "value": value, "count": count, "bytes": 9 });
    let types = json!([group("rs", 3), group("", 1)]);
    let folders = json!([group("src", 3), group(".", 1), group("a\nb", 1)]);
    let table = [
        ("count files by type", grouped(4, types, 0), "4 files by type:\n.rs: 3\nno extension: 1"),
        ("count files by type", grouped(0, json!([]), 0), "No files."),
        (
            "how many files are in each folder",
            grouped(9, folders, 4),
            "9 files by folder:\nsrc: 3\nhere: 1\na\\nb: 1\n… and 4 more",
        ),
    ];
    for (request, record, expected) in table {
        assert_eq!(answer(request, record), format!("{expected}{LEFT_OUT}"), "{request}");
    }
}

#[test]
fn what_was_not_looked_at_is_said() {
    let record = with(found(0, &[]), json!({ "complete": false, "unreadable": 1, "binary_skipped": 4 }));
    let unread = "Not every folder could be read, so there may be more.\n1 file or folder could not be read.";
    assert_eq!(answer("count files", record.clone()), format!("No files.\n{unread}{LEFT_OUT}"));
    assert_eq!(
        answer("search for x", record),
        format!("No line with `x` in the files.\n{unread}\n4 binary files were not searched.{LEFT_OUT}")
    );
    let one = with(found(1, &[file("a")]), json!({ "unreadable": 2, "binary_skipped": 1 }));
    assert_eq!(
        answer("how many files do not contain x", one),
        format!(
            "1 file does not contain `x`.\n2 files or folders could not be read.\n1 binary file was not searched.{LEFT_OUT}"
        )
    );
    let direct = answer("list files directly in src", found(0, &[]));
    let not = "Subfolders not included; hidden files, ignored files and links left out.";
    assert_eq!(direct, format!("No files directly in src.\n{not}"));
}

#[test]
fn a_name_with_control_characters_stays_on_its_line() {
    let odd = || found(1, &[file("a\nb\u{1b}[2J.rs")]);
    assert_eq!(answer("list rust files", odd()), format!("a\\nb\\u{{1b}}[2J.rs\n1 Rust file.{LEFT_OUT}"));
    assert_eq!(answer("is there a rust file", odd()), "Yes: a\\nb\\u{1b}[2J.rs.");
}

#[test]
fn parts_of_a_file_are_shown_as_they_are() {
    let cut = with(read("a/b.txt", "x\ny", &[]), json!({ "truncated": true }));
    let table = [
        ("show a/b.txt", read("a/b.txt", " x\n\ny \n", &[]), " x\n\ny "),
        ("show a/b.txt", read("a/b.txt", "", &[]), "a/b.txt is empty."),
        ("show a/b.txt", cut, "x\ny\nNot the whole file is shown."),
        ("show the first 2 lines of a/b.txt", read("a/b.txt", "", &[(1, " x"), (2, "")]), " x\n"),
        ("show lines 8 to 9 of a/b.txt", read("a/b.txt", "", &[]), "a/b.txt has no such lines."),
    ];
    for (request, record, expected) in table {
        assert_eq!(answer(request, record), expected, "{request}");
    }
}

#[test]
fn tables_are_summed_up() {
    let path = "in data/sales.csv";
    let none = end(&format!("average price {path}"), &[stats(0, 3)]);
    assert_eq!(none, failed("Column Price of data/sales.csv has no numbers."));
    let only = with(stats(2, 9), json!({ "matching_rows": 2 }));
    let few = with(stats(2, 9), json!({ "matching_rows": 1 }));
    let table = [
        ("average price", stats(3, 3), "Column Price of data/sales.csv: average 3.13."),
        (
            "sum of price",
            stats(2, 3),
            "Column Price of data/sales.csv: sum 12.50.\n2 of 3 rows had a number there.",
        ),
        (
            "minimum and maximum of price",
            stats(3, 3),
            "Column Price of data/sales.csv: minimum -1 and maximum 7.",
        ),
        ("how many rows are", columns(), "data/sales.csv has 3 rows, without the header."),
        ("what columns are", columns(), "data/sales.csv has 3 columns: id, region and Price."),
        (
            "how many rows per region",
            groups(4, 2, &[("North", 3), ("S\n", 1)]),
            "Rows of data/sales.csv by region:\nNorth: 3\nS\\n: 1\n… and 2 more\n(nothing): 2",
        ),
        (
            "how many rows where region is North are",
            only,
            "2 rows of data/sales.csv have `North` in column region.",
        ),
        (
            "how many rows where region is North are",
            few,
            "1 row of data/sales.csv has `North` in column region.",
        ),
    ];
    for (request, record, expected) in table {
        assert_eq!(answer(&format!("{request} {path}"), record), expected, "{request}");
    }
}

#[test]
fn hashes_and_sums_are_shown_with_what_they_are_of() {
    assert_eq!(answer("sha256 of a/Cargo.lock", hashed()), "a/Cargo.lock: sha256 00ff");
    assert_eq!(answer("what is 2 + 2", calculated("4", true)), "2 + 2 = 4");
    assert_eq!(answer("what is 1 / 3", calculated("0.3333", false)), "1 / 3 ≈ 0.3333");
}

#[test]
fn what_was_changed_is_named() {
    let two = || found(2, &[file("a.tmp"), file("b.tmp")]);
    let table = [
        ("delete all .tmp files", deleted(&["a.tmp"]), "Deleted a.tmp."),
        ("delete all .tmp files", deleted(&["a.tmp", "b\t.tmp"]), "Deleted 2 files:\na.tmp\nb\\t.tmp"),
        ("copy all .tmp files to x/", copied(&[("a.tmp", "x/a.tmp")]), "Copied a.tmp to x/a.tmp."),
        (
            "rename all .tmp files to .bak",
            renamed(&[("a.tmp", "a.bak"), ("b.tmp", "b.bak")]),
            "Renamed 2 files:\na.tmp to a.bak\nb.tmp to b.bak",
        ),
    ];
    for (request, record, expected) in table {
        assert_eq!(end(request, &[two(), record]), done(expected), "{request}");
    }
}

#[test]
fn how_it_was_looked_for_is_said_once() {
    let spec = "count the rust files here and count the toml files here";
    let of = |number| Asked::UTC.worked(spec, number, &[Ok(found(1, &[]))]).1;
    assert_eq!((of(0), of(1)), (done("1 Rust file."), done(&format!("1 TOML file.{LEFT_OUT}"))));
}
