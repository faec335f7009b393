//! What is understood and what is not, as tables.

use super::super::request::{Files, Job, Place, Request, Show};
use super::super::understand;
use super::super::why::Why;
use domain::limits;

/// `count + largest 1 of rs under .`; jobs are separated by ` | `.
pub(super) fn compact(request: &Request) -> String {
    request.jobs.iter().map(compact_job).collect::<Vec<_>>().join(" | ")
}

fn compact_job(job: &Job) -> String {
    let (files, count, show) = match job {
        Job::Lines { path, text } => return format!("lines of {path} with <{text}>"),
        Job::Files { files, count, show } => (files, count, show),
    };
    let show = show.map(|show| match show {
        Show::List => "list".into(),
        Show::Top(rank, n) => format!("{rank} {n}"),
    });
    let what: Vec<_> = count.then(|| "count".into()).into_iter().chain(show).collect();
    format!("{} of {}", what.join(" + "), compact_files(files))
}

fn compact_files(files: &Files) -> String {
    let kind = files.kind.as_ref().map_or("files".into(), |kind| kind.extensions.join(","));
    let name = files.name.iter().map(|name| format!("named {name}"));
    let text = files.contains.iter().map(|text| format!("with <{text}>"));
    let place = match &files.place {
        Place::Workspace => None,
        Place::Folder(folder) => Some(format!("under {folder}")),
        Place::Pattern(pattern) => Some(format!("matching {pattern}")),
    };
    [kind].into_iter().chain(name).chain(place).chain(text).collect::<Vec<_>>().join(" ")
}

pub(super) const ACCEPTED: &[(&str, &str)] = &[
    // count
    ("how many files are in this folder", "count of files"),
    ("how many files are there?", "count of files"),
    ("How many Rust files do we have here?", "count of rs"),
    ("count the .toml files under crates", "count of toml under crates"),
    ("number of python files in src", "count of py under src"),
    ("what's the total number of Python files in the src folder?", "count of py under src"),
    ("tell me how many JSON files there are", "count of json"),
    ("In crates, how many Rust source files are there?", "count of rs under crates"),
    ("how many files in src are named main.rs", "count of files named main.rs under src"),
    (
        "how many images exist in the folder assets",
        "count of png,jpg,jpeg,gif,webp,svg,bmp,avif,heic,heif,tif,tiff,ico under assets",
    ),
    ("how many files contain TODO", "count of files with <TODO>"),
    ("how many *.rs files are in ./crates/", "count of files named *.rs under crates"),
    ("count files in ./", "count of files"),
    ("count c++ files in \"my docs\"", "count of cpp,cc,cxx,hpp,hh,hxx under my docs"),
    ("count files in images/", "count of files under images"),
    ("count files in crates/.", "count of files under crates"),
    ("how many of the rust files mention x", "count of rs with <x>"),
    // list
    ("list all markdown files", "list of md,markdown"),
    ("LIST ALL MARKDOWN FILES!", "list of md,markdown"),
    ("list *.rs in crates/domain", "list of files named *.rs under crates/domain"),
    ("list crates/**/*.toml", "list of files matching crates/**/*.toml"),
    ("how many files match \"src/?.rs\"?", "count of files matching src/?.rs"),
    ("which Rust files are in src?", "list of rs under src"),
    ("what are the SQL files here", "list of sql"),
    ("can you please show me the .log files in this repository, thank you", "list of log"),
    ("find all pdfs below docs", "list of pdf under docs"),
    ("give me a list of the .RS files", "list of RS"),
    ("how many yaml files are there? list them", "count + list of yaml,yml"),
    // largest and newest
    ("show me the 5 largest files", "largest 5 of files"),
    ("top 3 largest shell files", "largest 3 of sh,bash"),
    ("the largest three files in docs, please", "largest 3 of files under docs"),
    ("what is the biggest rust file under crates/ledger?", "largest 1 of rs under crates/ledger"),
    ("which rust file is the largest?", "largest 1 of rs"),
    ("which 3 html files in web are the newest", "newest 3 of html,htm under web"),
    ("which of the C files is the biggest", "largest 1 of c,h"),
    ("newest file in docs", "newest 1 of files under docs"),
    ("the most recently modified json file", "newest 1 of json"),
    ("name the latest of all csv files", "newest 1 of csv"),
    (
        "list crates/*/Cargo.toml and name the largest",
        "list of files matching crates/*/Cargo.toml | largest 1 of files matching crates/*/Cargo.toml",
    ),
    // search
    ("search for TODO", "list of files with <TODO>"),
    ("grep todo in src", "list of files under src with <todo>"),
    ("search for \"fn main\" in src", "list of files under src with <fn main>"),
    ("search src/ for \"fn main\"", "list of files under src with <fn main>"),
    ("look in the crates folder for unsafe", "list of files under crates with <unsafe>"),
    ("which rust files contain unsafe?", "list of rs with <unsafe>"),
    ("find files containing 'hello world' under docs", "list of files under docs with <hello world>"),
    ("find files under docs that mention “hello world”", "list of files under docs with <hello world>"),
    ("search all Rust files under crates for the text 'don't'", "list of rs under crates with <don't>"),
    ("search the src folder for: 'a: b'", "list of files under src with <a: b>"),
    ("search for TODO in all rust files under src", "list of rs under src with <TODO>"),
    ("search for toml files containing serde", "list of toml with <serde>"),
    ("which files mention TODO, and how many are there", "count + list of files with <TODO>"),
    ("search for regent in README.md", "lines of README.md with <regent>"),
    ("search docs/a.md for `x y`", "lines of docs/a.md with <x y>"),
    ("search for regent in the file LICENSE", "lines of LICENSE with <regent>"),
    ("search for x in .github", "list of files under .github with <x>"),
    ("search for x in site.d/", "list of files under site.d with <x>"),
    // several questions
    ("how many Rust files are here, and which is the largest?", "count + largest 1 of rs"),
    ("Hello! How many Rust files are here? Which one is the largest? Thanks.", "count + largest 1 of rs"),
    ("which is the largest rust file and how many are there?", "count + largest 1 of rs"),
    ("how many .rs files are there and which is the largest Rust file", "count + largest 1 of rs"),
    (
        "how many Rust files are here and which is the newest markdown file?",
        "count of rs | newest 1 of md,markdown",
    ),
    ("how many files are there, and what are the 3 newest?", "count + newest 3 of files"),
    ("which is the largest and which is the newest python file", "largest 1 of py | newest 1 of py"),
    (
        "how many toml files are there, which is the largest, and which is the newest",
        "count + largest 1 of toml | newest 1 of toml",
    ),
    (
        "search for TODO, and search for TODO in README.md",
        "list of files with <TODO> | lines of README.md with <TODO>",
    ),
];

const REFUSED: &[(&str, &str)] = &[
    ("", "nothing is asked"),
    (" ?! ", "nothing is asked"),
    ("hello", "nothing is asked"),
    ("please", "nothing is asked"),
    // words that are not known
    ("delete all .tmp files", "the word `delete` is not one I know"),
    ("what is the weather", "the word `weather` is not one I know"),
    ("how many Rust files are not in docs", "the word `not` is not one I know"),
    ("largest file older than a week", "the word `older` is not one I know"),
    ("count lines in main.rs", "the word `lines` is not one I know"),
    ("list files larger than 1 MB", "the word `larger` is not one I know"),
    ("wie viele Rust-Dateien sind hier", "the word `wie` is not one I know"),
    ("how much space do Rust files take", "the word `much` is not one I know"),
    ("list empty files", "the word `empty` is not one I know"),
    ("list all files and delete them", "the word `delete` is not one I know"),
    ("list rust files and python files", "I do not understand `python` at this place"),
    ("how many rust and toml files are there", "I do not understand `and` at this place"),
    ("how many rust files or toml files", "the word `or` is not one I know"),
    ("the second largest file", "the word `second` is not one I know"),
    ("the smallest file", "the word `smallest` is not one I know"),
    ("list files in src and docs", "the word `docs` is not one I know"),
    (
        "which files contain the word TODO",
        "I am not sure that `the` is the whole text to search for; put the text in quotes",
    ),
    ("how many files are outside docs", "the word `outside` is not one I know"),
    // known words where they do not belong
    ("how many rust files changed today", "I do not understand `changed` at this place"),
    ("rust files", "I do not understand `rust` at this place"),
    ("list", "the request ends too early"),
    ("list files and", "the request ends too early"),
    ("list .github", "the request ends too early"),
    ("list README.md", "the word `README.md` is not one I know"),
    ("how many files are", "the request ends too early"),
    ("list rust python files", "I do not understand `python` at this place"),
    ("top 3 files", "I do not understand `files` at this place"),
    (
        "search for TODO zzz",
        "I am not sure that `TODO` is the whole text to search for; put the text in quotes",
    ),
    ("how many files in the docs", "I am not sure that `docs` is a folder; if it is, write `docs/`"),
    ("count files in markdown", "I am not sure that `markdown` is a folder; if it is, write `markdown/`"),
    ("count files in 2024", "I am not sure that `2024` is a folder; if it is, write `2024/`"),
    ("count files in src in docs", "one question names two places"),
    ("in src, count files in docs", "one question names two places"),
    ("count files named x named y", "one question gives a name twice"),
    ("list files named a[1].txt", "`a[1].txt` is not the name of a file"),
    ("what are toml files?", "I do not understand `toml` at this place"),
    ("what is the toml file", "I do not understand `toml` at this place"),
    (
        "count files in everything",
        "I am not sure that `everything` is a folder; if it is, write `everything/`",
    ),
    ("count files in README.md", "I am not sure that `README.md` is a folder; if it is, write `README.md/`"),
    (
        "in README.md, search for x",
        "I am not sure that `README.md` is a folder; if it is, write `README.md/`",
    ),
    ("how many of", "the request ends too early"),
    // texts
    ("search", "it does not say which text to search for"),
    ("search for", "it does not say which text to search for"),
    ("search in src", "it does not say which text to search for"),
    ("search src/", "it does not say which text to search for"),
    ("search twitter for regent", "I am not sure that `twitter` is a folder; if it is, write `twitter/`"),
    ("search for text in src", "it does not say which text to search for"),
    ("search for \"\"", "it does not say which text to search for"),
    (
        "list files containing nothing",
        "I am not sure that `nothing` is the whole text to search for; put the text in quotes",
    ),
    ("search for fn main", "I am not sure that `fn` is the whole text to search for; put the text in quotes"),
    (
        "search for rust files",
        "I am not sure that `rust` is the whole text to search for; put the text in quotes",
    ),
    (
        "search for main.rs",
        "I am not sure that `main.rs` is the whole text to search for; put the text in quotes",
    ),
    (
        "search for println!",
        "I am not sure that `println` is the whole text to search for; put the text in quotes",
    ),
    ("search for \"a\" \"b\"", "it does not say what the text `b` is for"),
    ("which files containing \"a\" mention \"b\"", "one question gives a text twice"),
    ("list rust files \"a\"", "it does not say what the text `a` is for"),
    ("find \"fn main\"", "it does not say what the text `fn main` is for"),
    ("search for \"a\nb\"", "I search line by line, and the text has several"),
    ("search for \"a", "the quotation mark `\"` is never closed"),
    // patterns
    ("list *.r?", "I am not sure whether the pattern is `*.r` or `*.r?`; put it in quotes"),
    (
        "search for x in crates/**/*.rs",
        "a pattern with folders like `crates/**/*.rs` says it all: I cannot narrow it further",
    ),
    (
        "list rust files in src/*",
        "a pattern with folders like `src/*` says it all: I cannot narrow it further",
    ),
    (
        "list crates/**/*.toml containing serde",
        "a pattern with folders like `crates/**/*.toml` says it all: I cannot narrow it further",
    ),
    ("list files matching TODO", "the word `TODO` is not one I know"),
    // how many
    ("show me the largest files", "it does not say how many of the largest"),
    ("which are the newest", "it does not say how many of the newest"),
    ("the 0 largest files", "I can name 1 to 1000 of the largest, no other number"),
    ("the 1001 largest files", "I can name 1 to 1000 of the largest, no other number"),
    ("the 99999999999999999999 largest files", "I can name 1 to 1000 of the largest, no other number"),
    ("which files are the largest", "it does not say how many of the largest"),
    // which files
    ("which is the largest?", "it does not say which files"),
    ("which is the largest? list all files", "it does not say which files"),
    ("how many are there?", "it does not say which files"),
    ("how many are there, and which is the largest rust file?", "it does not say which files"),
    (
        "how many Rust files are here, and which is the largest file?",
        "I am not sure that all questions are about the same files",
    ),
    (
        "how many rust files are here, how many toml files are here, and which is the largest?",
        "I am not sure that all questions are about the same files",
    ),
    (
        "how many files are in src, and which is the newest python file?",
        "only one of the questions says where; say it for each",
    ),
    ("how many rust files are in src and how many are in docs", "I do not understand `in` at this place"),
    (
        "search for x in README.md and count them",
        "`README.md` is one file, the other question is about several",
    ),
];

#[test]
fn wordings_that_are_understood() {
    for (text, expected) in ACCEPTED {
        let understood = understand(text).map(|request| compact(&request)).map_err(|why| why.to_string());
        assert_eq!(understood.as_deref(), Ok(*expected), "{text}");
    }
}

#[test]
fn wordings_that_are_beyond_it_and_why() {
    for (text, expected) in REFUSED {
        let refused = understand(text).map(|request| compact(&request)).map_err(|why| why.to_string());
        assert_eq!(refused.as_ref().map_err(String::as_str), Err(*expected), "{text}");
    }
}

#[test]
fn a_request_has_no_more_questions_than_a_plan_has_subtasks() {
    let questions = |count| vec!["count files"; count].join(", ");
    assert!(understand(&questions(limits::PLAN_SUBTASKS)).is_ok());
    assert_eq!(understand(&questions(limits::PLAN_SUBTASKS + 1)), Err(Why::TooMany));
}
