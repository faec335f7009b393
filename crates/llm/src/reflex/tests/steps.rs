//! Which calls a job makes, in which order and with which arguments, given what comes back.

use domain::call::{Failure, Outcome};
use serde_json::{Value, json};

use super::records::{all, copied, deleted, file, found, hashed, read, renamed, stats, with, written};
use super::{Asked, End, done, failed};

type Calls = Vec<(&'static str, Value)>;

fn check(request: &str, outcomes: &[Outcome], calls: Calls, end: &End) {
    let calls: Vec<_> = calls.into_iter().map(|(tool, args)| (tool.to_owned(), args)).collect();
    assert_eq!(Asked::UTC.worked(request, 0, outcomes), (calls, end.clone()), "{request}");
}

/// The search for a file by its bare name.
fn by_name(name: &str) -> (&'static str, Value) {
    ("find_files", json!({ "under": ".", "name": name, "order": "name", "limit": 1000 }))
}

/// Everywhere, unless it says where.
fn searches<const N: usize>(table: [(&str, Value); N]) {
    for (request, args) in table {
        let args = with(json!({ "under": "." }), args);
        check(request, &[], vec![("find_files", args)], &End::Open);
    }
}

#[test]
fn questions_about_files_take_one_search() {
    let table = [
        ("how many files are there", json!({ "count_only": true })),
        ("list rust files", json!({ "extensions": ["rs"], "order": "name", "limit": 100 })),
        ("list rust and toml files", json!({ "extensions": ["rs", "toml"], "order": "name", "limit": 100 })),
        (
            "list *.rs in crates/domain",
            json!({ "under": "crates/domain", "name": "*.rs", "order": "name", "limit": 100 }),
        ),
        ("list files in src and docs", json!({ "under": ["src", "docs"], "order": "name", "limit": 100 })),
        (
            "list files directly in src",
            json!({ "under": "src", "direct": true, "order": "name", "limit": 100 }),
        ),
        ("how many files are at the top level", json!({ "direct": true, "count_only": true })),
        (
            "list files outside src and docs",
            json!({ "outside": ["src", "docs"], "order": "name", "limit": 100 }),
        ),
        (
            "list files in src excluding src/gen",
            json!({ "under": "src", "outside": ["src/gen"], "order": "name", "limit": 100 }),
        ),
        (
            "list files except markdown files",
            json!({ "not_extensions": ["md", "markdown"], "order": "name", "limit": 100 }),
        ),
        (
            "list all files except README.md",
            json!({ "not_name": ["README.md"], "order": "name", "limit": 100 }),
        ),
        (
            "list files except src/main.rs",
            json!({ "not_name": ["src/main.rs"], "order": "name", "limit": 100 }),
        ),
        (
            "list files that do not end in .txt",
            json!({ "not_name": ["*.txt"], "order": "name", "limit": 100 }),
        ),
        ("list files whose name starts with test", json!({ "name": "test*", "order": "name", "limit": 100 })),
        ("list files with config in the name", json!({ "name": "*config*", "order": "name", "limit": 100 })),
        (
            "list rust files whose name ends with _test",
            json!({ "extensions": ["rs"], "name": "*_test.*", "order": "name", "limit": 100 }),
        ),
        (
            "list the folders in src",
            json!({ "under": "src", "what": "folders", "order": "name", "limit": 100 }),
        ),
        ("how many empty folders are there", json!({ "what": "folders", "empty": true, "count_only": true })),
        ("list empty files", json!({ "empty": true, "order": "name", "limit": 100 })),
        ("how many non-empty files are there", json!({ "empty": false, "count_only": true })),
        (
            "which markdown files mention Regent",
            json!({ "extensions": ["md", "markdown"], "contains": "Regent", "order": "name", "limit": 100 }),
        ),
        (
            "which files contain the word TODO",
            json!({ "contains": "TODO", "whole_word": true, "order": "name", "limit": 100 }),
        ),
        ("which files do not contain TODO", json!({ "lacks": "TODO", "order": "name", "limit": 100 })),
        (
            "which txt files mention error, ignoring case",
            json!({ "extensions": ["txt"], "contains": "error", "any_case": true, "order": "name", "limit": 100 }),
        ),
        (
            "are there any python files in src",
            json!({ "under": "src", "extensions": ["py"], "order": "name", "limit": 100 }),
        ),
        (
            "is there a folder called docs",
            json!({ "what": "folders", "name": "docs", "order": "name", "limit": 100 }),
        ),
    ];
    searches(table);
}

#[test]
fn what_is_ranked_measured_or_searched_for_takes_one_search() {
    let table = [
        ("show me the 5 largest files", json!({ "order": "largest", "limit": 5 })),
        ("newest file in docs", json!({ "under": "docs", "order": "newest", "limit": 1 })),
        ("the smallest file", json!({ "order": "smallest", "limit": 1 })),
        ("the oldest file", json!({ "order": "oldest", "limit": 1 })),
        ("which file has the most lines", json!({ "measure": ["lines"], "order": "most_lines", "limit": 1 })),
        (
            "which rust file has the fewest lines",
            json!({ "extensions": ["rs"], "measure": ["lines"], "order": "fewest_lines", "limit": 1 }),
        ),
        (
            "which markdown file has the most words",
            json!({ "extensions": ["md", "markdown"], "measure": ["words"], "order": "most_words", "limit": 1 }),
        ),
        ("list rust files, biggest first", json!({ "extensions": ["rs"], "order": "largest", "limit": 100 })),
        ("count files by type", json!({ "group_by": "extension", "order": "name", "limit": 1 })),
        ("how many files are in each folder", json!({ "group_by": "folder", "order": "name", "limit": 1 })),
        (
            "how much space do Rust files take",
            json!({ "extensions": ["rs"], "order": "name", "limit": 1000 }),
        ),
        ("how big is src", json!({ "under": "src", "order": "name", "limit": 1000 })),
        ("how big is README.md", json!({ "name": "README.md", "order": "name", "limit": 1000 })),
        (
            "how big is docs/a.md",
            json!({ "under": "docs", "direct": true, "name": "a.md", "order": "name", "limit": 1000 }),
        ),
        (
            "count lines in main.rs",
            json!({ "name": "main.rs", "measure": ["lines"], "order": "name", "limit": 1000 }),
        ),
        (
            "count the words in all markdown files",
            json!({ "extensions": ["md", "markdown"], "measure": ["words"], "order": "name", "limit": 1000 }),
        ),
        (
            "count the lines with TODO in src",
            json!({ "under": "src", "contains": "TODO", "order": "name", "limit": 1000 }),
        ),
        (
            "how many times does TODO occur in src",
            json!({ "under": "src", "contains": "TODO", "measure": ["occurrences"], "order": "name", "limit": 1000 }),
        ),
        (
            "search for TODO in src",
            json!({ "under": "src", "contains": "TODO", "show_matches": 1000, "order": "name", "limit": 1000 }),
        ),
    ];
    searches(table);
}

#[test]
fn patterns_with_folders_and_files_in_folders_are_globbed() {
    let table = [
        ("list crates/**/*.toml", "crates/**/*.toml", "name", 100),
        ("how many files match \"src/?.rs\"?", "src/?.rs", "name", 1),
        ("name the largest of crates/*/Cargo.toml", "crates/*/Cargo.toml", "largest", 1),
        ("does src/main.rs exist", "src/main.rs", "name", 100),
        ("does \"src/a[1].txt\" exist", "src/a[[]1[]].txt", "name", 100),
    ];
    for (request, pattern, order, limit) in table {
        let args = json!({ "pattern": pattern, "order": order, "limit": limit });
        check(request, &[], vec![("glob", args)], &End::Open);
    }
}

#[test]
fn what_is_done_with_one_file_in_a_folder_takes_one_call() {
    let table = [
        ("show docs/a.md", "read_file", json!({ "path": "docs/a.md" })),
        ("show the first 3 lines of docs/a.md", "read_file", json!({ "path": "docs/a.md", "first": 3 })),
        ("show the last line of docs/a.md", "read_file", json!({ "path": "docs/a.md", "last": 1 })),
        ("lines 3 to 7 of docs/a.md", "read_file", json!({ "path": "docs/a.md", "from": 3, "to": 7 })),
        ("show line 4 of docs/a.md", "read_file", json!({ "path": "docs/a.md", "from": 4, "to": 4 })),
        ("sha256 of docs/a.pdf", "hash", json!({ "path": "docs/a.pdf", "algorithm": "sha256" })),
        ("sha512 of docs/a.pdf", "hash", json!({ "path": "docs/a.pdf", "algorithm": "sha512" })),
        ("average price in d/s.csv", "table_stats", json!({ "path": "d/s.csv", "column": "price" })),
        (
            "sum of price in d/s.csv where region is North",
            "table_stats",
            json!({ "path": "d/s.csv", "column": "price", "where": { "column": "region", "equals": "North" } }),
        ),
        (
            "how many rows in d/s.csv where region is \"New York\"",
            "table_stats",
            json!({ "path": "d/s.csv", "column": "region", "where": { "column": "region", "equals": "New York" } }),
        ),
        ("how many rows does d/s.csv have", "table_columns", json!({ "path": "d/s.csv" })),
        ("what columns are in d/s.csv", "table_columns", json!({ "path": "d/s.csv" })),
        (
            "how many rows of d/s.csv per region",
            "table_groups",
            json!({ "path": "d/s.csv", "column": "region", "limit": 1000 }),
        ),
        ("what is 2 + 2", "calc", json!({ "expression": "2 + 2" })),
    ];
    for (request, tool, args) in table {
        check(request, &[], vec![(tool, args)], &End::Open);
    }
}

#[test]
fn a_bare_name_is_found_first() {
    let table = [
        ("show README.md", "README.md", "read_file", json!({ "path": "docs/README.md" })),
        ("show the last 2 lines of a.log", "a.log", "read_file", json!({ "path": "docs/a.log", "last": 2 })),
        ("sha256 of a.pdf", "a.pdf", "hash", json!({ "path": "docs/a.pdf", "algorithm": "sha256" })),
        (
            "average price in s.csv",
            "s.csv",
            "table_stats",
            json!({ "path": "docs/s.csv", "column": "price" }),
        ),
        ("how many rows does s.csv have", "s.csv", "table_columns", json!({ "path": "docs/s.csv" })),
        ("what columns are in s.csv", "s.csv", "table_columns", json!({ "path": "docs/s.csv" })),
        (
            "how many rows of s.csv per region",
            "s.csv",
            "table_groups",
            json!({ "path": "docs/s.csv", "column": "region", "limit": 1000 }),
        ),
        ("delete a.txt", "a.txt", "delete_files", json!({ "paths": ["docs/a.txt"] })),
        (
            "search for x in a.md",
            "a.md",
            "find_files",
            json!({ "under": "docs", "direct": true, "name": "a.md", "contains": "x", "show_matches": 1000, "order": "name", "limit": 1000 }),
        ),
        (
            "how often does foo appear in a.md",
            "a.md",
            "find_files",
            json!({ "under": "docs", "direct": true, "name": "a.md", "contains": "foo", "measure": ["occurrences"], "order": "name", "limit": 1000 }),
        ),
    ];
    for (request, name, tool, args) in table {
        let path = format!("docs/{name}");
        check(request, &[Ok(all(&[&path]))], vec![by_name(name), (tool, args)], &End::Open);
    }
}

#[test]
fn a_bare_name_means_the_file_here_or_the_only_one() {
    let hash = |path: &str| ("hash", json!({ "path": path, "algorithm": "sha256" }));
    let two = all(&["docs/a.pdf", "a.pdf"]);
    check("sha256 of a.pdf", &[Ok(two)], vec![by_name("a.pdf"), hash("a.pdf")], &End::Open);
    let outcomes = [
        (all(&[]), "There is no file `a.pdf` here."),
        (
            all(&["x/a.pdf", "y/a.pdf"]),
            "I am not sure which file is meant, there are 2: x/a.pdf, y/a.pdf. Say it with its folder.",
        ),
        (
            all(&["x/a.pdf", "y/a.pdf", "z/a.pdf"]),
            "I am not sure which file is meant, there are 3: x/a.pdf, y/a.pdf, …. Say it with its folder.",
        ),
    ];
    for (record, why) in outcomes {
        for request in ["sha256 of a.pdf", "delete a.pdf", "copy a.pdf to b/", "rename a.pdf to b.pdf"] {
            check(request, &[Ok(record.clone())], vec![by_name("a.pdf")], &failed(why));
        }
    }
}

#[test]
fn one_file_by_its_rank_is_found_first() {
    let find = ("find_files", json!({ "under": ".", "order": "largest", "limit": 1000 }));
    let hash = ("hash", json!({ "path": "b/x.bin", "algorithm": "sha256" }));
    check("sha256 of the largest file", &[Ok(all(&["b/x.bin", "a"]))], vec![find, hash], &End::Open);
}

#[test]
fn an_answer_is_written_where_it_is_to_be_saved() {
    let request = "list rust files and write the list to out/list.txt";
    let find = ("find_files", json!({ "under": ".", "extensions": ["rs"], "order": "name", "limit": 1000 }));
    let content = "a.rs\nb/b.rs\n";
    let write = ("write_file", json!({ "path": "out/list.txt", "content": content }));
    let replace = ("write_file", json!({ "path": "out/list.txt", "content": content, "replace": true }));
    let two = || Ok(all(&["a.rs", "b/b.rs"]));
    let there = || Err(Failure::logical("out/list.txt exists already"));
    let left_out = "\nSubfolders included; hidden files, ignored files and links left out.";
    let written_to = done(&format!("a.rs\nb/b.rs\n2 Rust files.{left_out}\nWritten to out/list.txt."));
    check(request, &[two()], vec![find.clone(), write.clone()], &End::Open);
    check(request, &[two(), Ok(written("out/list.txt"))], vec![find.clone(), write.clone()], &written_to);
    let replaced = vec![find.clone(), write.clone(), replace];
    check(request, &[two(), there()], replaced.clone(), &End::Open);
    check(request, &[two(), there(), Ok(written("out/list.txt"))], replaced.clone(), &written_to);
    let twice = failed("There is no answer: write_file failed, out/list.txt exists already.");
    check(request, &[two(), there(), there()], replaced, &twice);
    let full = Err(Failure::environmental("the disk is full."));
    let none = failed("There is no answer: write_file failed, the disk is full.");
    check(request, &[two(), full], vec![find, write], &none);
}

#[test]
fn what_is_written_is_the_bare_answer() {
    let table: [(&str, Vec<Outcome>, &str); 4] = [
        ("count the files in src and save the result to n.txt", vec![Ok(found(57, &[file("a")]))], "57\n"),
        ("save the sum of price in d/sales.csv to n.txt", vec![Ok(stats(3, 3))], "12.50\n"),
        ("compute the sha256 of a/b.txt and save it to n.txt", vec![Ok(hashed())], "00ff\n"),
        (
            "show the first 2 lines of a/b.txt and save it to n.txt",
            vec![Ok(read("a/b.txt", "", &[(1, " x"), (2, "y ")]))],
            " x\ny \n",
        ),
    ];
    for (request, outcomes, content) in table {
        let (calls, end) = Asked::UTC.worked(request, 0, &outcomes);
        let write = ("write_file".to_owned(), json!({ "path": "n.txt", "content": content }));
        assert_eq!((calls.last(), end), (Some(&write), End::Open), "{request}");
    }
}

#[test]
fn a_failed_call_ends_it() {
    let failure = || Err(Failure::environmental("there is no folder `docs`."));
    let why = |tool: &str| failed(&format!("There is no answer: {tool} failed, there is no folder `docs`."));
    for (request, before) in [("count files in docs", vec![]), ("delete a.txt", vec![Ok(all(&["a.txt"]))])] {
        let mut outcomes: Vec<Outcome> = before;
        outcomes.push(failure());
        let (calls, end) = Asked::UTC.worked(request, 0, &outcomes);
        assert_eq!(end, why(&calls.last().unwrap().0), "{request}");
    }
}

#[test]
fn a_record_of_another_shape_is_no_answer() {
    let odd = || Ok(json!({ "files": [] }));
    let why = failed("There is no answer: the tool's record is not as agreed, missing field `count`.");
    for request in ["count files", "delete .tmp files", "sha256 of a.txt"] {
        assert_eq!(Asked::UTC.worked(request, 0, &[odd()]).1, why, "{request}");
    }
}

#[test]
fn all_records_of_a_change_are_read() {
    let outcomes = [
        ("delete a.txt", deleted(&["a.txt"]), "Deleted a.txt."),
        ("copy a.txt to b.txt", copied(&[("a.txt", "b.txt")]), "Copied a.txt to b.txt."),
        ("rename a.txt to b.txt", renamed(&[("a.txt", "b.txt")]), "Renamed a.txt to b.txt."),
    ];
    for (request, record, answer) in outcomes {
        let end = Asked::UTC.worked(request, 0, &[Ok(all(&["a.txt"])), Ok(record)]).1;
        assert_eq!(end, done(answer), "{request}");
    }
}
